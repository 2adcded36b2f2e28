"""The command line: thin commands over the package."""

import io
import signal
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from vnnanalysis import __version__
from vnnanalysis.analysis import Analysis, open_analysis
from vnnanalysis.editions import ALL_TRACKS, list_editions
from vnnanalysis.errors import UsageError, VnnAnalysisError, check_known
from vnnanalysis.load import Contest, load_contest
from vnnanalysis.scoring import instance_table
from vnnanalysis.summary import rules_in_short
from vnnanalysis.tables import Table, csv_bytes, slug, to_latex, to_text

LEVELS = ("overall", "benchmark", "instance")
FORMATS = ("table", "csv", "json", "latex")


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


def _settings(texts: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--set {text}: expected NAME=VALUE, such as overhead=single")
        settings[name.strip()] = value.strip()
    return settings


def _shared_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.argument("edition"),
        click.option("--results", metavar="DIR", help="Folder with the edition's raw results."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     help="Set a rule, e.g. overhead=single or conflicts=voting; may repeat."),
        click.option("--track", default=ALL_TRACKS, show_default=True, help="A track, or all."),
        click.option("--only", "benchmarks", metavar="A,B", help="Only these benchmarks."),
        click.option("--tools", metavar="A,B", help="Show only these tools."),
        click.option("--extra", multiple=True, metavar="CSV",
                     help="Tidy csv of a tool outside the competition; may repeat."),
        click.option("--benchmarks", "benchmarks_dir", metavar="DIR",
                     help="The organisers' benchmark repository, for time limits."),
        click.option("--lenient", is_flag=True, help="Set bad rows aside and list them."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Recompute the results of the neural-network verification competition.

    EDITION is an edition's id (2021), the word example, or the path of a tidy csv file with
    the columns tool, benchmark, instance, result, time_s and, if known, timeout_s.
    """


@main.command()
@_shared_options
@click.option("--by", type=click.Choice(LEVELS), default="overall", show_default=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def score(settings: tuple[str, ...], by: str, form: str, **options: Any) -> None:
    """Print scores: overall, by benchmark, or every judged row."""
    options["extra"] = list(options["extra"])
    analysis = open_analysis(settings=_settings(settings), **options)
    _tell_problems(analysis.contest)
    frame = {
        "overall": lambda: analysis.overall,
        "benchmark": lambda: analysis.scores,
        "instance": lambda: instance_table(analysis.shown, analysis.edition),
    }[by]()
    click.echo(_printed(analysis, frame, by, form), nl=False)


def _tell_problems(contest: Contest) -> None:
    for row in contest.problems.itertuples():
        place = f", line {row.line}" if row.line else ""
        place += f", column {row.column}" if row.column else ""
        shown = f" ({row.value})" if row.value else ""
        click.echo(f"note: {row.file}{place}: {row.problem}{shown}", err=True)


def _printed(analysis: Analysis, frame: Any, by: str, form: str) -> str:
    if form == "csv":
        return csv_bytes(frame).decode()
    if form == "json":
        return frame.to_json(orient="records", indent=1, force_ascii=False) + "\n"
    what = {"overall": "overall score", "benchmark": "benchmark scores", "instance": "judged rows"}
    caption = f"{analysis.edition.title}: {what[by]} ({rules_in_short(analysis.rules)})"
    table = Table(
        by, caption, frame, analysis.edition, prefix=analysis.label, is_long=by != "overall"
    )
    return to_latex(table) if form == "latex" else to_text(table)


@main.command()
@click.argument("edition")
@click.option("--results", metavar="DIR", help="Folder with the edition's raw results.")
def check(edition: str, results: str | None) -> None:
    """Compare with the published figures; exit code 1 if one differs without explanation."""
    from vnnanalysis.published import DIFFERENT, compare, report_lines

    contest = load_contest(edition, results)
    _tell_problems(contest)
    figures = compare(contest)
    click.echo("\n".join(report_lines(figures)))
    if (figures["status"] == DIFFERENT).any():
        sys.exit(1)


@main.command()
@_shared_options
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="The report's folder; reports/<edition and variant> by default.")  # fmt: skip
@click.option("--force", is_flag=True, help="Build even if nothing changed.")
def report(settings: tuple[str, ...], out: Path | None, force: bool, **options: Any) -> None:
    """Build the report: page, PDF, tables, figures, csv files, executed notebooks."""
    from vnnanalysis.report import build_report

    chosen = _settings(settings)
    check_known("rule setting of a report", chosen, ["overhead", "conflicts"])
    parameters = {
        **{name: value for name, value in options.items() if value},
        **chosen,
        "extra": [str(Path(path).resolve()) for path in options["extra"]],
    }
    for name in ("benchmarks", "tools"):
        text = options[name] or ""
        parameters[name] = [part.strip() for part in text.split(",") if part.strip()]
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


def _report_name(edition: str, chosen: dict[str, str], options: dict[str, Any]) -> str:
    """Name the report after the edition and the rules; a selection adds a checksum."""
    path = Path(edition)
    name = (
        f"{path.stem}-{path.suffix[1:]}"
        if path.stem in (*list_editions(), "example")
        else path.stem
    )
    parts = [name if path.suffix else edition, *chosen.values()]
    parts += [options["track"]] if options["track"] != ALL_TRACKS else []
    names = ("benchmarks", "tools", "extra", "lenient")
    selection = {name: options[name] for name in names if options[name]}
    if selection:
        parts.append(f"part-{zlib.crc32(repr(selection).encode()) & 0xFFFF:04x}")
    return slug("-".join(parts))


if __name__ == "__main__":
    sys.exit(main())
