"""What was run: participation, labels, gaps and oddities, before any score."""

from collections.abc import Sequence

import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.judging import is_counting_answer
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.terms import ANSWERS, Result


def sizes(runs: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Count the instances, networks and rows of every benchmark, and the tools with an answer.

    Rows of tools outside the competition are not counted.

    Returns
    -------
    DataFrame
        Columns benchmark, track, scored, instances, networks (missing where the files name
        none), rows, tools.
    """
    real = runs[~runs["is_test"] & ~runs["tool"].isin(edition.extra_tools)]
    groups = real.groupby("benchmark", sort=False)
    answered = real[is_counting_answer(real)].groupby("benchmark")["tool"].nunique()
    table = pd.DataFrame(
        {
            "instances": groups["instance"].nunique(),
            "networks": groups["network"].nunique(),
            "rows": groups.size(),
            "tools": answered,
        }
    ).rename_axis("benchmark")
    table = table.reindex([b for b in edition.benchmarks if b in table.index]).reset_index()
    table["tools"] = table["tools"].fillna(0).astype(int)
    is_named = pd.Series(edition.layout is not None, table.index)  # not in a tidy file
    table["networks"] = table["networks"].astype("Int64").where(is_named)
    table.insert(1, "track", [edition.track_of(b) for b in table["benchmark"]])
    table.insert(2, "scored", [b in edition.scored for b in table["benchmark"]])
    return table


def participation(judged: pd.DataFrame, edition: Edition, tools: Sequence[str]) -> pd.DataFrame:
    """Count the answers of every tool (rows) on every benchmark (columns).

    Missing where the tool does not take part, which is not the same as zero.
    """
    answered = judged[is_counting_answer(judged)]
    counts = answered.pivot_table(
        index="tool", columns="benchmark", values="result", aggfunc="count"
    )
    benchmarks = [b for b in edition.benchmarks if b in set(judged["benchmark"])]
    return counts.reindex(index=list(tools), columns=benchmarks)


def result_counts(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Count every tool's results (rows: tools, columns: results); excluded rows left out."""
    kept = judged[judged["excluded"] == ""]
    counts = kept.pivot_table(index="tool", columns="result", values="instance", aggfunc="count")
    counts = counts.reindex(index=list(tools), columns=[str(r) for r in Result])
    return counts.fillna(0).astype(int)


def label_counts(runs: pd.DataFrame) -> pd.DataFrame:
    """List every raw label with the result it was read as.

    Returns
    -------
    DataFrame
        Columns result, label, rows, tools (the tools that wrote it).
    """
    known = runs[runs["result_raw"].notna()]
    groups = known.groupby(["result", "result_raw"])["tool"]
    table = groups.agg(rows="size", tools=lambda t: ", ".join(dict.fromkeys(t))).reset_index()
    table["result_raw"] = table["result_raw"].replace("", "(empty)")
    order = {str(r): i for i, r in enumerate(Result)}
    table = table.sort_values(
        ["result", "rows"], key=lambda c: c.map(order) if c.name == "result" else -c, kind="stable"
    )
    return table.rename(columns={"result_raw": "label"}).reset_index(drop=True)


def gaps(judged: pd.DataFrame, edition: Edition, tools: Sequence[str]) -> pd.DataFrame:
    """List where a tool has no row for some of a benchmark's instances.

    Returns
    -------
    DataFrame
        Columns tool, benchmark, missing, instances; empty where nothing is missing.
    """
    n_instances = judged.drop_duplicates(INSTANCE).groupby("benchmark").size()
    rows = judged.groupby(["tool", "benchmark"]).size()
    full = pd.MultiIndex.from_product(
        [list(tools), [b for b in edition.benchmarks if b in n_instances.index]],
        names=["tool", "benchmark"],
    )
    table = rows.reindex(full, fill_value=0).rename("rows").reset_index()
    table["instances"] = table["benchmark"].map(n_instances)
    table["missing"] = table["instances"] - table["rows"]
    table = table[table["missing"] > 0].reset_index(drop=True)
    return table[["tool", "benchmark", "missing", "instances"]]


def times(runs: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Describe every tool's times, so that odd ones stand out.

    Returns
    -------
    DataFrame
        Columns tool, rows, not_run (preparation failed: no run time), shortest_answer_s,
        longest_answer_s, longest_run_s, late_answers (over the limit; missing where
        no limit is known).
    """
    real = runs[~runs["is_test"]]
    answered = real[is_counting_answer(real)].groupby("tool")["run_s"]
    late = (is_counting_answer(real) & (real["run_s"] > real["timeout_s"])).astype("Int64")
    late = late.where(real["timeout_s"].notna())
    groups = real.groupby("tool")
    table = pd.DataFrame(
        {
            "rows": groups.size(),
            "not_run": real["run_s"].isna().groupby(real["tool"]).sum(),
            "shortest_answer_s": answered.min(),
            "longest_answer_s": answered.max(),
            "longest_run_s": groups["run_s"].max(),
            "late_answers": late.groupby(real["tool"]).sum(min_count=1),
        }
    ).rename_axis("tool")
    return table.reindex([t for t in tools if t in table.index]).reset_index()


def excluded(judged: pd.DataFrame) -> pd.DataFrame:
    """Count the rows that do not count, by reason: columns reason, rows, answers."""
    rows = judged[judged["excluded"] != ""]
    is_answer = rows["result"].isin([str(r) for r in ANSWERS])
    groups = rows.assign(answers=is_answer).groupby("excluded", sort=False)["answers"]
    table = groups.agg(rows="size", answers="sum").rename_axis("reason")
    return table.reset_index()
