"""What several editions have in common: sizes, recurring benchmarks, progress, who was first."""

import posixpath
from collections.abc import Iterable

import pandas as pd

from vnnanalysis.errors import check_known
from vnnanalysis.history import History
from vnnanalysis.layouts import INSTANCE, stem_names
from vnnanalysis.shapley import temporal_shapley
from vnnanalysis.terms import Result, Verdict

NONE = "no benchmark"  # where none recurs


def solved_by_edition(history: History) -> pd.DataFrame:
    """Count what every tool solved in every edition it took part in.

    Returns
    -------
    DataFrame
        Columns edition, tool, instances (of the benchmarks it took part in), verified,
        falsified, solved, incorrect and percent (solved of those instances); most solved
        first.
    """
    rows = history.judged[history.judged["takes_part"] & (history.judged["excluded"] == "")]
    correct = rows["verdict"] == Verdict.CORRECT
    facts = rows.assign(
        verified=correct & (rows["result"] == Result.UNSAT),
        falsified=correct & (rows["result"] == Result.SAT),
        solved=correct,
        incorrect=rows["verdict"] == Verdict.INCORRECT,
    )
    groups = facts.groupby(["edition", "tool_family"])
    table = groups[["verified", "falsified", "solved", "incorrect"]].sum()
    table.insert(0, "instances", groups.size())
    table["percent"] = 100 * table["solved"] / table["instances"]
    table = table.reset_index().rename(columns={"tool_family": "tool"})
    return table.sort_values(
        ["edition", "solved", "tool"], ascending=[True, False, True], ignore_index=True
    )


def edition_sizes(history: History) -> pd.DataFrame:
    """Count benchmarks, instances and tools of every edition, and what the tools solve together.

    Returns
    -------
    DataFrame
        Columns edition, benchmarks, instances, tools, solved (by at least one tool), percent,
        disputed (some say unsat and some sat).
    """
    rows = history.judged[history.judged["excluded"] == ""]
    keys = ["edition", *INSTANCE]
    facts = rows.assign(
        solved=rows["verdict"] == Verdict.CORRECT,
        disputed=(rows["n_unsat"] > 0) & (rows["n_sat"] > 0),
    )
    instances = facts.groupby(keys)[["solved", "disputed"]].any().reset_index()
    counted = instances.groupby("edition")[["solved", "disputed"]].sum()
    part = rows[rows["takes_part"]].groupby("edition")
    table = pd.DataFrame(
        {
            "benchmarks": instances.groupby("edition")["benchmark"].nunique(),
            "instances": instances.groupby("edition").size(),
            "tools": part["tool"].nunique(),
            "solved": counted["solved"],
            "percent": 100 * counted["solved"] / instances.groupby("edition").size(),
            "disputed": counted["disputed"],
        }
    )
    return table.reset_index()


def _identified(history: History) -> pd.DataFrame:
    """Add a column identity: a benchmark's family with the file names of network and property.

    Where an edition has one pair of names of a family in several folders (safenlp), the last
    folder is part of all names of the family; where it lists an instance twice, the second is
    another.
    """
    rows = history.judged[history.judged["excluded"] == ""]
    stems = pd.Series(stem_names(rows), rows.index)
    paths = rows["network"] + "\n" + rows["property"]
    twins = paths.groupby([rows["edition"], rows["benchmark"], stems]).transform("nunique") > 1
    in_folders = rows["family"].isin(set(rows["family"][twins]))
    folders = [
        "/".join(posixpath.basename(posixpath.dirname(path)) for path in pair)
        for pair in zip(rows["network"], rows["property"], strict=True)
    ]
    named = stems.mask(in_folders, pd.Series(folders, rows.index, dtype="str") + "/" + stems)
    again = "#" + rows["occurrence"].astype("str")
    named = named + again.where(rows["occurrence"] > 1, "")
    return rows.assign(identity=rows["family"] + "/" + named)


def recurring_instances(history: History) -> pd.DataFrame:
    """Return the rows of instances that at least two editions have.

    Instances are the same if their benchmarks' names are, without years, and the file names
    of network and property. What the files contain is not compared.

    Returns
    -------
    DataFrame
        The judged rows, with a column identity.
    """
    rows = _identified(history)
    n_editions = rows.groupby("identity")["edition"].transform("nunique")
    return rows[n_editions > 1]


def recurring_benchmarks(history: History) -> pd.DataFrame:
    """List the benchmarks that recur, with how many instances each edition shares.

    Returns
    -------
    DataFrame
        Columns benchmark (family), one per edition (its instances that another edition has
        too; missing where it has none), and shared_by_all: instances that all of
        the benchmark's editions have. Most widespread first.
    """
    rows = recurring_instances(history)
    pairs = rows[["family", "edition", "identity"]].drop_duplicates()
    counts = pairs.pivot_table(
        index="family", columns="edition", values="identity", aggfunc="nunique"
    )
    counts = counts.reindex(columns=[e.id for e in history.editions])
    n_editions = counts.notna().sum(axis=1)
    spread = pairs.groupby(["family", "identity"])["edition"].nunique().reset_index()
    full = spread[spread["edition"] == spread["family"].map(n_editions)]
    counts = counts.astype("Int64")
    counts["shared_by_all"] = full.groupby("family").size().reindex(counts.index, fill_value=0)
    order = pd.DataFrame({"n": -n_editions, "name": counts.index}, index=counts.index)
    counts = counts.loc[order.sort_values(["n", "name"]).index]
    return counts.rename_axis(index="benchmark", columns=None).reset_index()


def progress(history: History, benchmark: str | None = None) -> tuple[str, pd.DataFrame]:
    """Follow the tools over the editions on the instances of one benchmark that recur.

    Parameters
    ----------
    history : History
        The editions.
    benchmark : str, optional
        A benchmark of `recurring_benchmarks`; the most widespread by default.

    Returns
    -------
    str
        The benchmark, or `NONE` if none recurs.
    DataFrame
        Rows: tools; columns: editions; values: percent solved of the edition's instances
        that another edition has too; missing where the tool did not take part.
    """
    rows = recurring_instances(history)
    known = list(recurring_benchmarks(history)["benchmark"])
    if benchmark is not None:
        check_known("recurring benchmark", [benchmark], known)
    chosen = benchmark or next(iter(known), NONE)
    rows = rows[(rows["family"] == chosen) & rows["takes_part"]]
    # an edition that has a benchmark of two years has some instances twice: one counts
    solved = (rows["verdict"] == Verdict.CORRECT).groupby(
        [rows["tool_family"], rows["edition"], rows["identity"]]
    )
    percent = (100.0 * solved.any()).rename("percent").reset_index()
    table = percent.pivot_table(
        index="tool_family", columns="edition", values="percent", aggfunc="mean"
    )
    order = [t for t in history.edition.tools if t in table.index]
    return chosen, table.reindex(index=order).rename_axis(index="tool", columns=None)


def temporal_credit(history: History, benchmarks: Iterable[str] = ()) -> pd.DataFrame:
    """Share the solved recurring instances among the tools, earlier editions first.

    An instance is credited to the tools of the first edition in which one solves it, in
    equal parts (`shapley.temporal_shapley`).

    Parameters
    ----------
    history : History
        The editions.
    benchmarks : iterable of str
        Benchmarks of `recurring_benchmarks`; all by default.

    Returns
    -------
    DataFrame
        Columns benchmark, edition, tool, solved (recurring instances it solved) and shapley
        (those credited to it).
    """
    rows = recurring_instances(history)
    chosen = list(benchmarks) or list(recurring_benchmarks(history)["benchmark"])
    check_known("recurring benchmark", chosen, dict.fromkeys(rows["family"]))
    parts = [pd.DataFrame(columns=["benchmark", "edition", "tool", "solved", "shapley"])]
    for benchmark in chosen:
        here = rows[(rows["family"] == benchmark) & rows["takes_part"]]
        if here.empty:
            continue
        player = here["edition"] + "\n" + here["tool_family"]
        correct = here.assign(player=player, solved=here["verdict"] == Verdict.CORRECT)
        solved = correct.pivot_table(
            index="identity", columns="player", values="solved", aggfunc="any"
        ).eq(True)
        periods = pd.Series({name: name.partition("\n")[0] for name in solved.columns})
        credit = temporal_shapley(solved, periods)
        parts.append(
            pd.DataFrame(
                {
                    "benchmark": benchmark,
                    "edition": periods.reindex(credit.index),
                    "tool": [str(name).partition("\n")[2] for name in credit.index],
                    "solved": solved.sum().reindex(credit.index),
                    "shapley": credit,
                }
            ).sort_values(["edition", "shapley"], ascending=[True, False], kind="stable")
        )
    credit = pd.concat(parts[1:] or parts, ignore_index=True)
    return credit.astype({"solved": "int64", "shapley": "float64"})


def first_solved(credit: pd.DataFrame) -> pd.DataFrame:
    """Sum up `temporal_credit`: instances first solved in each edition (columns) by benchmark."""
    table = credit.pivot_table(
        index="benchmark", columns="edition", values="shapley", aggfunc="sum", sort=False
    )
    table = table[sorted(table.columns)].round(6)
    return table.rename_axis(columns=None)


def history_sentences(history: History) -> list[str]:
    """Say which editions are shown, and what recurs."""
    sizes, recurring = edition_sizes(history), recurring_benchmarks(history)
    rows = recurring_instances(history)
    return [
        f"Editions: {len(history.editions)}; instances: {sizes['instances'].sum()}.",
        f"Benchmarks that recur: {len(recurring)}; instances that at least two editions have: "
        f"{rows['identity'].nunique()}.",
    ]


def percents(solved: pd.DataFrame) -> pd.DataFrame:
    """Put `solved_by_edition` side by side: percent solved, tools by editions."""
    table = solved.pivot_table(index="tool", columns="edition", values="percent", sort=False)
    return table[sorted(table.columns)].rename_axis(columns=None)


def credit_by_tool(credit: pd.DataFrame) -> pd.DataFrame:
    """Sum up `temporal_credit` by tool: a column per edition and the total; largest first."""
    table = credit.pivot_table(
        index="tool", columns="edition", values="shapley", aggfunc="sum", sort=False
    )
    table = table[sorted(table.columns)]
    table["total"] = table.sum(axis=1)
    table = table.sort_values("total", ascending=False, kind="stable")
    return table.rename_axis(columns=None).reset_index()
