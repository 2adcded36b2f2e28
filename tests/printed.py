"""What a careful reader of a printed figure complains of."""

import itertools

from matplotlib.text import Text

from vnnanalysis.drawing import PAGE, SMALLEST_PT, TALLEST


def printed_texts(figure):
    """Return all texts that are drawn: visible, not empty, of ticks only those on the axes."""
    figure.draw_without_rendering()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                off = not low <= tick.get_loc() <= high
                if off or not axes.get_visible() or not axes.axison:
                    hidden |= {tick.label1, tick.label2}
        if not axes.get_visible() or not axes.axison:
            hidden |= {axes.xaxis.label, axes.yaxis.label}
        if not axes.get_visible():
            hidden |= set(axes.findobj(Text))
    texts = figure.findobj(Text)
    return [t for t in texts if t.get_visible() and t.get_text().strip() and t not in hidden]


def complaints(figure):
    """Return what is wrong with a figure, in words; nothing if it can be printed."""
    texts = printed_texts(figure)
    width, height = figure.get_size_inches()
    found = []
    if width > PAGE + 1e-6 or height > TALLEST + 1e-6:
        found.append(f"{width:.2f} x {height:.2f} inches")
    box = figure.get_tightbbox()
    if min(box.x0, box.y0) < -0.01 or box.x1 > width + 0.01 or box.y1 > height + 0.01:
        found.append(f"cut: {box}")
    found += [f"{t.get_fontsize():.2f} pt: {t}" for t in texts if t.get_fontsize() < SMALLEST_PT]
    boxes = [(t, t.get_window_extent()) for t in texts if t.get_rotation() in (0, 90)]
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1:
            found.append(f"{one.get_text()!r} over {other.get_text()!r}")
    for legend, axes in itertools.product(figure.legends, figure.axes):
        if axes.get_visible() and legend.get_window_extent().overlaps(axes.bbox):
            found.append("a legend over the axes")
    return found
