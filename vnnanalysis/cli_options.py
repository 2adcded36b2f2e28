"""What commands about one edition share: their options, and how they print a frame."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from vnnanalysis.analysis import Analysis, open_analysis
from vnnanalysis.cli_validate import tell_problems
from vnnanalysis.editions import ALL_TRACKS
from vnnanalysis.errors import UsageError
from vnnanalysis.summary import caveats, rules_in_short
from vnnanalysis.tables import Table, csv_bytes, to_latex, to_text
from vnnanalysis.witness_tables import validation_in_words

FORMS = ("table", "csv", "json", "latex")

form_option = click.option(
    "--format", "form", type=click.Choice(FORMS), default="table", show_default=True
)


def parse_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """Read rule settings written as NAME=VALUE."""
    settings = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--set {text}: expected NAME=VALUE, such as overhead=single")
        settings[name.strip()] = value.strip()
    return settings


validate_option = click.option(
    "--validate/--no-validate",
    default=True,
    show_default=True,
    help="Validate counterexamples where networks and properties are at hand.",
)


def shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of every command that judges one edition."""
    options = [
        click.argument("edition"),
        click.option("--results", metavar="DIR", help="Folder with the edition's raw results."),
        click.option("--rules", metavar="NAME",
                     help="Another edition's rules, e.g. 2026, or a variant, e.g. 2025-zero."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     help="Set a rule, e.g. overhead=single or conflicts=voting; may repeat."),
        click.option("--checks", multiple=True, metavar="FILE",
                     help="Table of verdicts on counterexamples, csv or parquet; may repeat."),
        click.option("--track", default=ALL_TRACKS, show_default=True,
                     help="A track of the edition, scored, unscored, or all."),
        click.option("--only", "benchmarks", metavar="A,B", help="Only these benchmarks."),
        click.option("--tools", metavar="A,B", help="Show only these tools."),
        click.option("--extra", multiple=True, metavar="CSV",
                     help="Tidy csv of a tool outside the competition; may repeat."),
        click.option("--benchmarks", "benchmarks_dir", metavar="DIR",
                     help="The organisers' benchmark repository: limits, networks, properties."),
        validate_option,
        click.option("--lenient", is_flag=True, help="Set bad rows aside and list them."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def opened(settings: tuple[str, ...], options: dict[str, Any]) -> Analysis:
    """Open the analysis that the shared options ask for; tell what its readers have to know."""
    options |= {name: list(options[name]) for name in ("extra", "checks")}
    analysis = open_analysis(settings=parse_settings(settings), **options)
    contest = analysis.contest
    tell_problems(contest)
    missing = caveats(analysis.judged, contest.checks, analysis.rules)
    validated = validation_in_words(contest, analysis.benchmarks)
    tell([*analysis.edition.remarks, *validated, *missing])
    return analysis


def tell(notes: Iterable[str]) -> None:
    """Write notes to stderr."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


def print_frame(
    analysis: Analysis, frame: Any, name: str, what: str, form: str, *, is_long: bool = False
) -> None:
    """Write a frame to stdout, in one of `FORMS`."""
    if form == "csv":
        text = csv_bytes(frame).decode()
    elif form == "json":
        text = frame.to_json(orient="records", indent=1, force_ascii=False) + "\n"
    else:
        rules = rules_in_short(analysis.rules, analysis.edition.rules)
        caption = f"{analysis.edition.title}: {what} ({rules})"
        table = Table(
            name, caption, frame, analysis.edition, prefix=analysis.label, is_long=is_long
        )
        text = to_latex(table) if form == "latex" else to_text(table)
    click.echo(text, nl=False)
