"""Commands about counterexamples: validate, witness."""

import dataclasses
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import pandas as pd

from vnnanalysis.analysis import parse_names
from vnnanalysis.checks import load_checks
from vnnanalysis.editions import Edition, read_edition
from vnnanalysis.errors import UsageError, check_known
from vnnanalysis.files import results_folder
from vnnanalysis.known_verdicts import compare_verdicts, known_rules
from vnnanalysis.load import Contest, benchmark_folder, load_contest
from vnnanalysis.measured_cache import Cache, default_place
from vnnanalysis.rows import Log
from vnnanalysis.sidecars import check_sidecars, write_sidecars
from vnnanalysis.tables import csv_bytes
from vnnanalysis.terms import Bounds, Check
from vnnanalysis.validate import check_has_witnesses, measure_sats, verdict_table
from vnnanalysis.verdicts import NAMED, WitnessRules, named_rules
from vnnanalysis.witness_files import Sat, find_files
from vnnanalysis.witness_tables import validation_in_words

_SHOWN = 10  # differences


def tell_problems(contest: Contest) -> None:
    """Print what was odd in the files, a line each."""
    for row in contest.problems.itertuples():
        place = f", line {row.line}" if row.line else ""
        place += f", column {row.column}" if row.column else ""
        shown = f" ({row.value})" if row.value else ""
        click.echo(f"note: {row.file}{place}: {row.problem}{shown}", err=True)


def _names(_: click.Context, option: click.Parameter, text: str | None) -> list[str]:
    return parse_names(str(option.name), text)


@click.command()
@click.argument("edition")
@click.option("--results", metavar="DIR", help="Folder with the edition's raw results.")
@click.option(
    "--benchmarks",
    metavar="DIR",
    help="The organisers' benchmark repository, or a folder with several.",
)
@click.option("--only", metavar="A,B", callback=_names, help="Only these benchmarks.")
@click.option("--tools", metavar="A,B", callback=_names, help="Only these tools.")
@click.option(
    "--rules", metavar="NAME", help=f"Judge as in {', '.join(NAMED)}; as in the edition by default."
)
@click.option(
    "--bounds",
    type=click.Choice([str(b) for b in Bounds]),
    help="How inputs are compared with their bounds; as the rules say by default.",
)
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Processes; one per processor by default."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the verdicts to this .csv or .parquet file.",
)
@click.option("--sidecars", is_flag=True, help="Write a json file beside every counterexample.")
@click.option(
    "--cache/--no-cache",
    "use_cache",
    default=True,
    show_default=True,
    help="Take measurements of the same files from earlier runs.",
)
@click.option("--lenient", is_flag=True, help="Set bad rows aside and list them.")
def validate(edition: str, out: Path | None, **options: Any) -> None:
    """Validate the counterexample of every sat with onnxruntime.

    Compares with the verdicts that are known; exit code 1 if one differs.
    """
    _check_out(out)
    known = read_edition(edition)
    rules = _rules(known, options["rules"], options["bounds"])
    if known.layout is None:
        raise UsageError(f"{known.title} has no counterexample files to validate")
    folder = results_folder(known, options["results"])
    check_has_witnesses(known, folder)
    contest = load_contest(edition, folder, lenient=options["lenient"], validate=False,
                           with_checks=False)  # fmt: skip
    if contest.is_lenient:
        tell_problems(contest)
    sats = _selection(contest, folder, **{k: options[k] for k in ("benchmarks", "only", "tools")})
    if options["sidecars"]:
        check_sidecars(sats)
    cache = Cache(default_place() if options["use_cache"] else None)
    measured = measure_sats(
        contest.edition.id, sats, n_jobs=options["jobs"], cache=cache, is_shown=True
    )
    validated = dataclasses.replace(contest, measurements=measured)
    for told in filter(None, [cache.problem, *validation_in_words(validated)]):
        click.echo(f"note: {told}", err=True)
    table = verdict_table(measured, rules)
    if out is not None:
        _write(table, out)
    if options["sidecars"]:
        click.echo(f"{write_sidecars(sats, table)} side-cars written", err=True)
    click.echo(_summary(table, rules))
    is_known = known.verdict_tolerance is not None and rules == known_rules(known)
    n_different = _compare(contest, table) if is_known else 0
    sys.exit(int(n_different > 0))


def _selection(
    contest: Contest, folder: Path, *, benchmarks: str | None, only: list[str], tools: list[str]
) -> list[Sat]:
    """Return the sats to validate, and their files."""
    edition = contest.edition
    check_known("benchmark", only, edition.benchmarks)
    check_known("tool", tools, edition.tools)
    repository = benchmark_folder(edition, benchmarks)
    if repository is None:
        told = f"the networks and properties of {edition.title}"
        raise UsageError(f"{told}: name the benchmark repository with --benchmarks")
    if not repository.is_dir():
        raise UsageError(f"no such folder: {repository}")
    sats = [
        sat for sat in find_files(edition, contest.runs, folder, repository)
        if (not only or sat.benchmark in only) and (not tools or sat.tool in tools)
    ]  # fmt: skip
    if not sats:
        raise UsageError("no tool said sat there: nothing to validate")
    return sats


def _check_out(out: Path | None) -> None:
    """Refuse what cannot be written, before anything is measured."""
    if out is None:
        return
    if out.suffix not in (".csv", ".parquet"):
        raise UsageError(f"--out {out}: expected a name that ends in .csv or .parquet")
    if out.is_dir():
        raise UsageError(f"--out {out}: expected a file, found a folder")
    _put(out, None)


def _write(table: pd.DataFrame, out: Path) -> None:
    if out.suffix == ".csv":
        _put(out, csv_bytes(table))
        return
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    _put(out, buffer.getvalue())


def _put(out: Path, content: bytes | None) -> None:
    """Write a file at once, or only find out whether it could be written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}-", delete=False) as f:
            part = Path(f.name)
            f.write(content or b"")
        if content is None:
            part.unlink()
            return
        part.chmod(0o644)
        part.replace(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None


def _rules(edition: Edition, name: str | None, bounds: str | None) -> WitnessRules:
    """Return the rules asked for, or the edition's own."""
    if name:
        return named_rules(name, bounds)
    own = known_rules(edition)
    return dataclasses.replace(own, bounds=Bounds(bounds)) if bounds else own


def _summary(table: pd.DataFrame, rules: WitnessRules) -> str:
    words = [str(c) for c in Check if str(c) in set(table["verdict"])]
    tools = list(dict.fromkeys(table["tool"]))
    counts = pd.crosstab(table["tool"], table["verdict"]).reindex(index=tools, columns=words)
    counts.loc["all"] = counts.sum()
    counts = counts.rename_axis(index=None, columns=None)
    settings = ", ".join(f"{k} {v}" for k, v in rules.words.items())
    names = " or ".join(name for name, named in NAMED.items() if named == rules)
    told = f", rules of {names}" if names else ""
    return f"{len(table)} sats{told} ({settings})\n{counts.to_string()}"


def _compare(contest: Contest, table: pd.DataFrame) -> int:
    """Print how our verdicts compare with known ones; return how many differ."""
    known = load_checks(contest.edition, contest.runs, [], None, Log())
    compared = compare_verdicts(table, known)
    counts = compared["status"].value_counts()
    n_equal, n_different = (int(counts.get(status, 0)) for status in ("equal", "different"))
    absent = int(counts.get("not_available", 0))
    origin = contest.edition.verdict_origin
    click.echo(
        f"{origin} verdicts: {n_equal + n_different} compared, {n_equal} equal, "
        f"{absent} not available here"
    )
    shown = compared[compared["status"] == "different"].head(_SHOWN)
    for row in shown.rename(columns={"index": "position"}).itertuples():
        click.echo(
            f"  {row.benchmark} {row.position} {row.tool}: {origin} {row.known}, "
            f"here {row.found} ({row.reason})"
        )
    return n_different


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--network",
    "networks",
    multiple=True,
    required=True,
    metavar="FILE",
    help="The .onnx file, or NAME=FILE for each of several; may repeat.",
)
@click.option(
    "--property",
    "prop",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The .vnnlib file.",
)
def witness(file: Path, networks: tuple[str, ...], prop: Path) -> None:
    """Explain one counterexample: against each bound and clause, claimed and replayed."""
    from vnnanalysis.explain import explain

    named = []
    for text in networks:
        name, sign, path = text.partition("=")
        is_named = (bool(sign) and len(networks) > 1) or (bool(sign) and not Path(text).exists())
        named.append((name, Path(path)) if is_named else ("", Path(text)))
    if len(named) > 1 and "" in dict(named):
        raise UsageError("--network: expected NAME=FILE for each of several networks")
    if len(dict(named)) < len(named):
        raise UsageError("--network: expected each network once")
    for line in explain(file, named, prop):
        click.echo(line)
