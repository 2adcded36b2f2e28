import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from printed import complaints, printed_texts

from vnnanalysis import drawing
from vnnanalysis.editions import list_editions, read_edition


def lightness_and_hue(colour):
    """Convert sRGB to CIELAB, white of D65."""
    linear = np.where(
        np.array(colour) <= 0.04045,
        np.array(colour) / 12.92,
        ((np.array(colour) + 0.055) / 1.055) ** 2.4,
    )
    return lab_of(linear)


def lab_of(linear):
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
        for part in np.array(matrix) @ linear / [0.9505, 1, 1.089]
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_colours_of_tools_can_be_told_apart():
    """CIE76 differences; 2.3 is just noticeable, thin lines need much more."""
    places = [lightness_and_hue(colour) for colour in drawing.COLOURS]
    assert len(places) == 16
    pairs = itertools.combinations(places, 2)
    assert min(np.linalg.norm(one - other) for one, other in pairs) > 25
    assert max(place[0] for place in places) < 75  # not too pale on white


def test_colours_of_an_edition_differ():
    for edition in map(read_edition, list_editions()):
        styles = [drawing.tool_style(edition, tool) for tool in edition.tools]
        assert len({style.color for style in styles}) == len(styles)


@pytest.mark.parametrize(
    ("low", "high", "most", "numbers"),
    [
        pytest.param(0.8, 1200, 8, [1, 10, 100, 1000], id="decades"),
        pytest.param(0.01, 1e4, 3, [1, 1000], id="every-third"),
        pytest.param(0.8, 9, 8, [1, 2, 5], id="within-a-decade"),
        pytest.param(3, 30, 8, [5, 10, 20], id="across-one"),
        pytest.param(0.8, 11, 8, [1, 10], id="two"),
    ],
)
def test_round_numbers(low, high, most, numbers):
    assert drawing.round_numbers(low, high, most) == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("floor", "values", "low"),
    [
        (0.01, [0.97, 3], 0.5), (0.01, [1.0], 1), (0.01, [19], 10), (0.01, [5.5], 5),
        (1.0, [0.2], 1), (0.01, [], 0.01), (0.01, [0.0, 2.5], 2), (0.01, [0.02], 0.02),
    ],
)  # fmt: skip
def test_a_log_axis_begins_just_below_the_smallest_value(floor, values, low):
    assert drawing.lowest(floor, values) == pytest.approx(low)


def matrix(n_rows, n_columns, text, name="tool{}"):
    rows, columns = ([name.format(k) for k in range(n)] for n in (n_rows, n_columns))
    values = pd.DataFrame(np.arange(n_rows * n_columns).reshape(n_rows, -1), rows, columns)
    texts = np.full(values.shape, text)
    size = drawing.matrix_size(rows, columns, texts)

    @drawing.styled
    def draw():
        figure = drawing.new_figure(size.width, size.height)
        drawing.draw_matrix(figure.add_subplot(), values, texts, size, cmap="Blues")
        return figure

    return size, draw()


LONG = "a name that is too long, {:02d}"


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "text", "name", "is_upright", "has_numbers"),
    [
        pytest.param(1, 1, "7", "t{}", False, True, id="one"),
        pytest.param(9, 13, "100", "tool{}", False, True, id="small"),
        pytest.param(30, 25, "1234", "tool{}", True, True, id="upright"),
        pytest.param(30, 25, "99", LONG, False, True, id="long-names"),
        pytest.param(30, 30, "-0.99", LONG, True, False, id="no-room"),
    ],
)
def test_matrices_fit_on_a_page_and_numbers_into_their_cells(
    n_rows, n_columns, text, name, is_upright, has_numbers
):
    size, figure = matrix(n_rows, n_columns, text, name)
    assert (size.is_upright, size.font > 0) == (is_upright, has_numbers)
    assert complaints(figure) == []
    axes = figure.axes[0]
    cell = axes.bbox.width / n_columns, axes.bbox.height / n_rows
    for number in axes.texts[:1]:
        box = number.get_window_extent()
        assert box.width <= cell[0]
        assert box.height <= 1.3 * cell[1]  # the box of a text has room for descenders
    assert len(axes.texts) == has_numbers * n_rows * n_columns
    assert len(figure.axes) == 2 - has_numbers  # otherwise a scale of colours


def test_names_of_narrow_columns_stand_upright():
    assert matrix(3, 10, "1")[0].turn == 45
    assert matrix(3, 40, "1")[0].turn == 90


def test_what_is_wrong_with_a_figure_is_found():
    @drawing.styled
    def draw():
        figure = drawing.new_figure(drawing.PAGE + 1, 2)
        axes = figure.add_subplot()
        axes.text(0.5, 0.5, "one", fontsize=5)
        axes.text(0.505, 0.5, "other")
        axes.plot([0, 1], label="line")
        figure.text(0.99, 0.5, "off the page")
        figure.legend(loc="center")
        return figure

    found = complaints(draw())
    assert [words.split()[0] for words in found[:3]] == ["7.38", "cut:", "5.00"]
    assert "'one' over 'other'" in found
    assert found[-1] == "a legend over the axes"
    assert "0.2" in [text.get_text() for text in printed_texts(draw())]


def test_an_empty_figure_holds_its_text():
    figure = drawing.empty_figure("a long name that says why there is nothing to draw, " * 4)
    assert complaints(figure) == []
    assert to_rgb(figure.get_facecolor()) == (1, 1, 1)
