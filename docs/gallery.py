"""Draw docs/gallery.png, six figures of an edition side by side.

Usage: python docs/gallery.py 2021 <folder with its raw results>
"""

import io
from pathlib import Path

import click
from matplotlib.figure import Figure
from PIL import Image

from vnnanalysis import certainty, figures, portfolio, rank_figures, scatter
from vnnanalysis.analysis import Analysis, compare_variants, open_analysis
from vnnanalysis.display import image_bytes
from vnnanalysis.drawing import new_figure
from vnnanalysis.ranking import ranks_by_variant

WIDTH, HEIGHT, TITLE = 4.8, 3.5, 0.32  # of a figure and its title, in inches
COLUMN = 800  # pixels
COLOURS = 200


def draw(analysis: Analysis) -> dict[str, Figure]:
    """Return figures of the first track by their titles."""
    judged, edition, tools = analysis.judged, analysis.edition, analysis.tools
    track = analysis.overall["track"].iloc[0]
    floor_s = analysis.rules.time_floor_s
    variants = ranks_by_variant(compare_variants(analysis), track)
    intervals = certainty.interval_table(certainty.assess(analysis, seed=1))
    adds = portfolio.complementarity(judged, tools)
    by_benchmark = portfolio.complementarity(judged, tools, by_benchmark=True)
    shares = by_benchmark.pivot_table(index="tool", columns="benchmark", values="shapley")
    shares = shares.reindex(index=list(tools), columns=list(analysis.answered))
    return {
        "Instances solved within a time": figures.cactus(judged, edition, tools, floor_s),
        "The two best tools": scatter.scatter(judged, edition, *analysis.pair, floor_s),
        "Ranks under every variant of the rules": figures.bump(variants, edition),
        "How sure the ranks are": rank_figures.rank_intervals(
            intervals[intervals["track"] == track].drop(columns="track"), edition
        ),
        "What each tool adds": figures.contribution_bars(adds, edition),
        "Shapley values by benchmark": figures.heatmap(shares, "", edition, fmt=".1f"),
    }


def picture(title: str, figure: Figure) -> Image.Image:
    """Return a figure below its title as an image as wide as a column."""
    heading = new_figure(WIDTH, TITLE)
    heading.text(0.02, 0.4, title, va="center", fontsize=11, fontweight="bold")
    figure.set_size_inches(WIDTH, HEIGHT)
    parts = [Image.open(io.BytesIO(image_bytes(part, "png"))) for part in (heading, figure)]
    whole = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)), "white")
    whole.paste(parts[0])
    whole.paste(parts[1], (0, parts[0].height))
    size = (COLUMN, round(COLUMN * whole.height / whole.width))
    return whole.resize(size, Image.Resampling.LANCZOS)


@click.command()
@click.argument("edition")
@click.argument("results", required=False)
@click.option("--out", default=Path(__file__).with_name("gallery.png"), help="The picture.")
def main(edition: str, results: str | None, out: Path) -> None:
    """Draw six figures of an edition side by side."""
    drawn = draw(open_analysis(edition=edition, results=results))
    pictures = [picture(title, figure) for title, figure in drawn.items()]
    height = pictures[0].height
    sheet = Image.new("RGB", (2 * COLUMN, -(-len(pictures) // 2) * height), "white")
    for i, image in enumerate(pictures):
        sheet.paste(image, (i % 2 * COLUMN, i // 2 * height))
    few = sheet.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(out, optimize=True)


if __name__ == "__main__":
    main()
