"""The benchmarks of an edition: what they are about, how large they are, what their networks are.

What they are about comes from the edition's file, the rest from the runs, the time limits and
the networks at hand.
"""

from pathlib import Path

import pandas as pd

from vnnanalysis import overview
from vnnanalysis.analysis import Analysis
from vnnanalysis.editions import About
from vnnanalysis.load import benchmark_folder
from vnnanalysis.networks import benchmark_facts, span

COLUMNS = [
    *("benchmark", "track", "scored", "application", "network_types", "largest_file"),
    *("instances", "networks", "limit_min_s", "limit_max_s", "tools", "files", "networks_read"),
    *("operators", "parameters_min", "parameters_max", "inputs", "outputs", "gaps"),
]
# Printed columns that wrap, and how they share the line.
_SHARES = {
    "benchmark": 6.0,
    "track": 4.0,
    "application": 5.2,
    "network_types": 5.6,
    "largest_file": 3.4,
    "networks": 4.0,
    "limits_s": 3.0,
    "operators": 7.5,
    "parameters": 5.4,
}
_IN_SIZES = ["track", "instances", "tools"]  # also columns of `overview.sizes`


def benchmark_overview(
    analysis: Analysis, benchmarks_dir: str | Path | None = None
) -> pd.DataFrame:
    """Describe the benchmarks of an analysis.

    Parameters
    ----------
    analysis : Analysis
        The selected benchmarks.
    benchmarks_dir : path, optional
        The organisers' benchmark repository, for the networks; what ``fetch`` brought by
        default.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`, one row per benchmark in the edition's order. Application, network
        types and the size of the largest file are those that the edition's file states;
        `tools` counts those of the competition that took part; limits are in seconds. From
        `files` on, columns are those of `networks.benchmark_facts`. What is not known is
        missing.
    """
    edition = analysis.edition
    is_extra = analysis.runs["tool"].isin(edition.extra_tools)  # whose rows name no file
    runs = analysis.runs[~is_extra]
    facts = benchmark_facts(runs, edition, benchmark_folder(edition, benchmarks_dir))
    table = overview.sizes(runs, edition).drop(columns=["rows", "tools"])
    own = analysis.judged[~analysis.judged["tool"].isin(edition.extra_tools)]
    tools = own[own["takes_part"]].groupby("benchmark")["tool"].nunique()
    table["tools"] = table["benchmark"].map(tools).fillna(0).astype("int64")
    about = [edition.about.get(benchmark, About()) for benchmark in table["benchmark"]]
    for column in ("application", "network_types", "largest_file"):
        texts = pd.Series([getattr(a, column) for a in about], table.index, dtype="str")
        table[column] = texts.mask(texts == "")
    limits = runs[~runs["is_test"]].groupby("benchmark")["timeout_s"]
    table["limit_min_s"] = table["benchmark"].map(limits.min())
    table["limit_max_s"] = table["benchmark"].map(limits.max())
    return table.merge(facts, how="left", on="benchmark", validate="one_to_one")[COLUMNS]


def printed(table: pd.DataFrame) -> pd.DataFrame:
    """Shorten an overview for print: ranges as text, no column of which nothing is known.

    Parameters
    ----------
    table : DataFrame
        From `benchmark_overview`.

    Returns
    -------
    DataFrame
        Columns benchmark, track (with a word if the benchmark is not scored), application,
        network_types, largest_file, instances, networks ("8 (7 read)" where operators and
        parameters are those of only some), tools, limits_s ("100", or "30 to 300"),
        operators, parameters ("13,305", or "4,610 to 70,152"). Where both applications and
        operators are known, the line is full, and track, instances and tools are left to the
        table of `overview.sizes`.
    """
    is_plain = table["scored"] | (table["track"] == "unscored")
    some = table["networks_read"].between(1, table["files"] - 1)
    n_networks, n_read = table["networks"].astype("str"), table["networks_read"].astype("str")
    shown = pd.DataFrame(
        {
            "benchmark": table["benchmark"],
            "track": table["track"].where(is_plain, table["track"] + ", unscored"),
            **{c: table[c] for c in ("application", "network_types", "largest_file", "instances")},
            "networks": n_networks.where(~some, n_networks + " (" + n_read + " read)"),
            "tools": table["tools"],
            "limits_s": _spans(table, "limit_min_s", "limit_max_s"),
            "operators": table["operators"],
            "parameters": _spans(table, "parameters_min", "parameters_max"),
        }
    )
    shown = shown.dropna(axis="columns", how="all")
    is_full = {"application", "operators"} <= set(shown)
    return shown.drop(columns=_IN_SIZES) if is_full else shown


def _spans(table: pd.DataFrame, least: str, greatest: str) -> list[str | None]:
    ends = table[[least, greatest]].astype("float64").itertuples(index=False)
    return [span(pair) for pair in ends]


def widths(shown: pd.DataFrame) -> dict[str, float]:
    """Return how the columns of a printed overview that wrap share the line."""
    return {column: share for column, share in _SHARES.items() if column in shown}
