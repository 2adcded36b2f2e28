"""Command that runs a grid of notebooks: batch."""

import sys
from pathlib import Path

import click

EXAMPLE = """\
out = "reports/grid"
editions = ["example"]             # ids, or paths of tidy csv files
overhead = ["single", "none"]      # each edition's own if left out
conflicts = ["per-tool", "ignore"] # each edition's own if left out
tracks = ["all"]                   # all if left out
notebooks = ["03_scores"]          # all about one edition if left out

[parameters]                       # more that notebooks take
settings = { incorrect_points = -100 }

# [results]                        # if they are not in data/raw
# 2021 = "../vnncomp2021_results"
"""
_EPILOG = f"A grid file:\n\n{EXAMPLE}".replace("\n\n", "\n\n\b\n")  # keeps its line ends


@click.command(epilog=_EPILOG)
@click.argument("grid", metavar="GRID.toml", type=click.Path(path_type=Path))
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="Notebooks at once; as many as there are processors by default.")  # fmt: skip
@click.option("--force", is_flag=True, help="Run what is up to date too.")
def batch(grid: Path, jobs: int | None, force: bool) -> None:
    """Run notebooks on every combination of editions, rules and tracks in a grid file.

    Paths are relative to the file. Each run has a folder of its own,
    OUT/EDITION/OVERHEAD-CONFLICTS-TRACK/NOTEBOOK. What is up to date is not run again, so that
    the same command goes on after an interruption. OUT/comparison.html puts the scores side
    by side. Exit code 1 if a run failed, 130 if interrupted.
    """
    from vnnanalysis.batch import PAGE, outcome_text, run_batch
    from vnnanalysis.batch_grid import read_grid

    try:
        read = read_grid(grid)
        done = run_batch(read, force=force, n_processes=jobs)
    except KeyboardInterrupt:
        click.echo("interrupted; the same command goes on", err=True)
        sys.exit(130)
    click.echo(outcome_text(read, done))
    click.echo(f"{read.out / PAGE}")
    if done.is_interrupted:
        click.echo(
            "interrupted; without --force, the same command goes on where this one stopped",
            err=True,
        )
        sys.exit(130)
    sys.exit(int(done.has_failed))
