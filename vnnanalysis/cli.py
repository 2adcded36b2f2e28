"""The command line: thin commands over the package."""

import io
import signal
import sys
import zlib
from pathlib import Path
from typing import Any

import click

from vnnanalysis import __version__
from vnnanalysis.analysis import parse_names
from vnnanalysis.cli_batch import batch
from vnnanalysis.cli_insight import complementarity, rank
from vnnanalysis.cli_options import (
    form_option,
    opened,
    parse_settings,
    print_frame,
    shared_options,
    validate_option,
)
from vnnanalysis.cli_several import (
    editions,
    export,
    fetch,
    history,
    results_root_option,
    root_of,
)
from vnnanalysis.cli_validate import tell_problems, witness
from vnnanalysis.cli_validate import validate as validate_command
from vnnanalysis.editions import ALL_TRACKS, EXAMPLE, list_editions, read_edition
from vnnanalysis.errors import UsageError, VnnAnalysisError
from vnnanalysis.files import locate
from vnnanalysis.load import load_contest
from vnnanalysis.paths import resource
from vnnanalysis.rules import words
from vnnanalysis.scoring import instance_table
from vnnanalysis.tables import slug
from vnnanalysis.witness_tables import validation_in_words

LEVELS = ("overall", "benchmark", "instance")


class _Group(click.Group):
    """Turns our errors into one line on stderr and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # for terminals without Greek
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clean up as after Ctrl-C
        try:
            return super().invoke(ctx)
        except VnnAnalysisError as error:
            raise click.ClickException(str(error)) from None


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Recompute the results of the neural-network verification competition.

    EDITION is an edition's id (2021), the word example, or the path of a tidy csv file with
    the columns tool, benchmark, instance, result, time_s and, if known, timeout_s.
    """


@main.command()
@shared_options
@click.option("--by", type=click.Choice(LEVELS), default="overall", show_default=True)
@form_option
def score(settings: tuple[str, ...], by: str, form: str, **options: Any) -> None:
    """Print scores: overall, by benchmark, or every judged row."""
    analysis = opened(settings, options)
    frame = {
        "overall": lambda: analysis.overall,
        "benchmark": lambda: analysis.scores,
        "instance": lambda: instance_table(analysis.shown, analysis.edition),
    }[by]()
    what = {"overall": "overall score", "benchmark": "benchmark scores", "instance": "judged rows"}
    print_frame(analysis, frame, by, what[by], form, is_long=by != "overall")


@main.command()
@click.argument("edition", required=False)
@click.option("--all", "every", is_flag=True, help="Every edition, one line each.")
@click.option("--results", metavar="DIR", help="Folder with the edition's raw results.")
@results_root_option
@click.option(
    "--checks",
    multiple=True,
    metavar="FILE",
    help="Table of verdicts on counterexamples, csv or parquet; may repeat.",
)
@click.option(
    "--benchmarks",
    metavar="DIR",
    help="The organisers' benchmark repository: limits, networks, properties.",
)
@validate_option
def check(
    edition: str | None,
    every: bool,
    results: str | None,
    results_root: str | None,
    checks: tuple[str, ...],
    benchmarks: str | None,
    validate: bool,
) -> None:
    """Compare with the published figures; exit code 1 if one differs without explanation."""
    from vnnanalysis.published import DIFFERENT, compare, report_lines

    if every == bool(edition):
        raise UsageError("check: name one edition, or --all")
    if every:
        if results or checks or benchmarks:
            raise UsageError("check --all: takes --results-root and nothing else")
        sys.exit(_check_all(root_of(results_root)))
    if results is None and results_root is not None:
        located = locate(read_edition(str(edition)).results, str(edition), root_of(results_root))
        results = str(located or root_of(results_root))
    contest = load_contest(str(edition), results, checks=checks, benchmarks=benchmarks,
                           validate=validate)  # fmt: skip
    tell_problems(contest)
    for told in validation_in_words(contest):
        click.echo(f"note: {told}", err=True)
    figures = compare(contest)
    click.echo("\n".join(report_lines(figures)))
    if (figures["status"] == DIFFERENT).any():
        sys.exit(1)


def _check_all(root: Path) -> int:
    """Print one line per edition; return the exit code."""
    from vnnanalysis.published import DIFFERENT, compare, has_published, one_line

    failed = False
    for name in list_editions():
        source = read_edition(name).results
        folder = locate(source, name, root)
        if not has_published(resource("data", "published", name)):
            click.echo(f"{name}: no figures are published yet, nothing to compare")
            continue
        if folder is None:
            failed = True
            click.echo(f"{name}: no {source.name} in {root}; fetch it with 'fetch {name}'")
            continue
        try:
            figures = compare(load_contest(name, folder))
        except VnnAnalysisError as error:
            failed = True
            click.echo(f"{name}: {error}")
            continue
        failed |= bool((figures["status"] == DIFFERENT).any())
        click.echo(f"{name}: {one_line(figures)}")
    return int(failed)


@main.command()
@shared_options
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="The report's folder; reports/<edition and variant> by default.")  # fmt: skip
@click.option("--force", is_flag=True, help="Build even if nothing changed.")
def report(settings: tuple[str, ...], out: Path | None, force: bool, **options: Any) -> None:
    """Build the report: page, PDF, tables, figures, csv files, executed notebooks."""
    from vnnanalysis.report import build_report

    chosen = parse_settings(settings)
    parameters: dict[str, Any] = {
        **{name: value for name, value in options.items() if value or name == "validate"},
        **{name: chosen[name] for name in ("overhead", "conflicts") if name in chosen},
        "settings": {n: v for n, v in chosen.items() if n not in ("overhead", "conflicts")},
    }
    for name in ("extra", "checks"):
        parameters[name] = [str(Path(path).resolve()) for path in options[name]]
    for name in ("benchmarks", "tools"):
        parameters[name] = parse_names(name, options[name])
    if options["edition"].endswith((".csv", ".toml")):
        parameters["edition"] = str(Path(options["edition"]).resolve())
    for name in ("results", "benchmarks_dir"):
        if options[name]:
            parameters[name] = str(Path(options[name]).resolve())
    target = out or Path("reports") / _report_name(options["edition"], chosen, options)
    built = build_report(
        parameters, target, force=force, say=lambda line: click.echo(line, err=True)
    )
    click.echo(f"{built / 'index.html'}")


@main.command()
@shared_options
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help="The page; reports/<edition and variant>-explorer.html by default.")  # fmt: skip
def explorer(settings: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Write one page to explore the results in a browser, without the rest of a report."""
    from vnnanalysis.explorer import write_explorer

    name = _report_name(options["edition"], parse_settings(settings), options)
    path = out or Path("reports") / f"{name}-explorer.html"
    analysis = opened(settings, options)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        click.echo(write_explorer(analysis, path))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _report_name(edition: str, chosen: dict[str, str], options: dict[str, Any]) -> str:
    """Name the report after the edition and the rules; a selection adds a checksum."""
    path = Path(edition)
    name = (
        f"{path.stem}-{path.suffix[1:]}" if path.stem in (*list_editions(), EXAMPLE) else path.stem
    )
    known = words()
    rules = [f"rules-{options['rules']}"] if options["rules"] else []
    said = [v if known.get(v) == n else f"{n}={v}" for n, v in chosen.items()]
    parts = [name if path.suffix else edition, *rules, *said]
    parts += [options["track"]] if options["track"] != ALL_TRACKS else []
    names = ("benchmarks", "tools", "extra", "checks", "lenient")
    selection = {name: options[name] for name in names if options[name]}
    if selection:
        parts.append(f"part-{zlib.crc32(repr(selection).encode()) & 0xFFFF:04x}")
    return slug("-".join(parts))


main.add_command(batch)
main.add_command(complementarity)
main.add_command(rank)
main.add_command(fetch)
main.add_command(editions)
main.add_command(export)
main.add_command(history)
main.add_command(validate_command)
main.add_command(witness)
if __name__ == "__main__":
    sys.exit(main())
