"""Commands about several editions: fetch, editions, export, history."""

from pathlib import Path
from typing import Any

import click

from vnnanalysis.editions import list_editions, read_edition
from vnnanalysis.errors import UsageError
from vnnanalysis.fetch import fetch as fetch_source
from vnnanalysis.fetch import state
from vnnanalysis.files import locate
from vnnanalysis.paths import find, raw_folder

results_root_option = click.option("--results-root", metavar="DIR",
                     help="Folder with the results repositories; data/raw by default.")  # fmt: skip


editions_option = click.option(
    "--editions", "chosen", default="all", show_default=True, metavar="IDS",
    help="Ids and ranges, e.g. 2021-2025,study; of all, those that are on disk.",
)  # fmt: skip
rules_option = click.option(
    "--rules", metavar="NAME",
    help="One rule set for all, e.g. 2026; each edition's own by default.",
)  # fmt: skip
limits_option = click.option(
    "--benchmarks-root", metavar="DIR",
    help="Folder with the benchmark repositories, for time limits.",
)  # fmt: skip


def root_of(given: str | None) -> Path:
    """Return the folder of results repositories that an option names, or the default."""
    root = find(given) if given else raw_folder()
    if given and not root.is_dir():
        raise UsageError(f"no such folder: {root}")
    return root


@click.command()
@click.argument("edition")
@click.option(
    "--benchmarks",
    is_flag=True,
    help="The benchmark files too: networks, properties, time limits (large).",
)
@click.option(
    "--mirror",
    default="",
    metavar="URL",
    help="Fetch the results from here, a clone of the repository.",
)
@click.option("--benchmarks-mirror", default="", metavar="URL",
              help="Fetch the benchmark files from here.")  # fmt: skip
def fetch(edition: str, benchmarks: bool, mirror: str, benchmarks_mirror: str) -> None:
    """Fetch an edition's raw results with git, at the commit that its edition file names."""
    known = read_edition(edition)

    def say(line: str) -> None:
        click.echo(line, err=True)

    click.echo(fetch_source(known.results, mirror=mirror, say=say))
    if benchmarks:
        click.echo(fetch_source(known.benchmark_files, mirror=benchmarks_mirror, say=say))


@click.command()
@results_root_option
def editions(results_root: str | None) -> None:
    """List the known editions, where their files come from, and what is on disk."""
    root = root_of(results_root)
    for name in list_editions():
        edition = read_edition(name)
        click.echo(f"{name}  {edition.title}")
        if edition.tools:
            counts = f"{len(edition.tools)} tools, {len(edition.benchmarks)} benchmarks in "
            click.echo(f"  {counts}{', '.join(edition.tracks)}")
        else:
            click.echo("  tools and benchmarks are taken from the files")
        for kind, source in (("results", edition.results), ("benchmarks", edition.benchmark_files)):
            if source.repository:
                folder = locate(source, name if kind == "results" else source.name, root)
                there = f"{folder} ({state(folder, source)})" if folder else "not on disk"
                click.echo(f"  {kind}: {source.repository} at {source.commit[:7]}; {there}")


@click.command()
@editions_option
@click.option(
    "--format",
    "form",
    type=click.Choice(("parquet", "csv")),
    help="By default what the file's name says, or csv.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write.",
)
@results_root_option
@limits_option
@rules_option
def export(chosen: str, form: str | None, out: Path, **options: Any) -> None:
    """Write the judged rows of several editions as one tidy table (see docs/schema.md)."""
    from vnnanalysis.history import open_editions, write_table

    history = open_editions(editions=chosen, **options)
    named = "parquet" if out.suffix.lower() == ".parquet" else "csv"
    write_table(history.judged, out, form or named)
    names = ", ".join(edition.id for edition in history.editions)
    click.echo(f"{out}: {len(history.judged)} rows of {names}")


@click.command()
@editions_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/editions"),
    show_default=True,
    metavar="DIR",
    help="The folder to write to.",
)
@results_root_option
@limits_option
@rules_option
@click.option("--benchmark", metavar="NAME", help="The recurring benchmark to look at closely.")
def history(
    chosen: str,
    out: Path,
    results_root: str | None,
    benchmarks_root: str | None,
    **more: str | None,
) -> None:
    """Compare editions: what recurs, how far the tools have come (notebook 07_editions)."""
    from vnnanalysis.report import build_history

    roots = {"results_root": results_root, "benchmarks_root": benchmarks_root}
    places = {name: str(find(place)) for name, place in roots.items() if place}
    given = {name: value for name, value in more.items() if value}
    click.echo(build_history({"editions": chosen, **places, **given}, out))
