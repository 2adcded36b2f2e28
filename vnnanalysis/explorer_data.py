"""What the explorer shows: an analysis under every rule variant, as columns for JSON.

Everything is exact: a browser that undoes `packed` has the values of the frames. Words are
stored once and columns hold their numbers; a column that two variants share is stored once,
and one that hardly differs from another as the rows in which it does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from vnnanalysis import __version__
from vnnanalysis.analysis import Analysis, analyse_variants, variant_words
from vnnanalysis.curves import percent_of_a_point
from vnnanalysis.editions import Edition
from vnnanalysis.explorer_rows import conflicts, differing, json_values, outcomes, packed
from vnnanalysis.figures import SMALLEST_S, tool_style
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.names import short_name
from vnnanalysis.scoring import instance_table
from vnnanalysis.summary import (
    caveats,
    checks_in_words,
    rules_in_short,
    rules_in_words,
    sizes_in_words,
)
from vnnanalysis.tables import plain_name
from vnnanalysis.witness_tables import validation_in_words

WORDS = ("result", "truth", "verdict", "reason", "outcome")  # columns of words, by variant
OWN = "own"  # in the address: the rules of the edition
_KEY = [*INSTANCE, "tool"]
_LINE_WIDTH = 1.4  # of the figures; dashes are in its units
_SYMBOLS = {
    **{"o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down"},
    **{"P": "cross", "X": "x", "<": "triangle-left", ">": "triangle-right", "h": "hexagon"},
    **{"p": "pentagon", "d": "diamond-tall", "8": "octagon"},
}


def explorer_variants(analysis: Analysis) -> list[Analysis]:
    """Return an analysis, and it under all other rules that its edition compares."""
    known = {analysis.rules}
    others = []
    for chosen in analysis.edition.variant_grid():
        rules = analysis.rules.with_settings(chosen)
        if rules not in known:
            known.add(rules)
            others.append(chosen)
    return [analysis, *(variant for _, variant in analyse_variants(analysis, others))]


def explorer_data(analysis: Analysis) -> dict[str, Any]:
    """Collect what the explorer shows.

    Parameters
    ----------
    analysis : Analysis
        Its rules come first, its selection is what is shown.

    Returns
    -------
    dict
        Lists, numbers, texts and None only. ``instances`` are columns; ``rows`` holds an
        instance and a tool for every judged row (their places in ``instances`` and
        ``tools``), ``columns`` the rest of the row, from `packed`, and each of ``variants``
        the places of its columns, its overall scores, its benchmark scores with
        ``worth`` (what a point counts in the overall score, in percent; None where it does
        not), the places of the instances in `differing`, and `conflicts`.
    """
    edition, variants = analysis.edition, explorer_variants(analysis)
    known = {*analysis.judged["tool"], *analysis.tools}  # also one that is chosen, without rows
    tools = [tool for tool in edition.tools if tool in known]
    listed = instance_table(analysis.judged, edition).drop_duplicates(INSTANCE)
    rows = [_rows(variant, analysis.listed) for variant in variants]
    place = {key: i for i, key in enumerate(zip(*(listed[c] for c in INSTANCE), strict=True))}
    tool_place = {tool: i for i, tool in enumerate(tools)}
    words, columns, used = _columns(rows)
    return {
        "title": edition.title,
        "label": edition.id,
        "version": __version__,
        "pair": list(analysis.pair),
        "tools": [_tool(analysis, tool) for tool in tools],
        "tracks": list(dict.fromkeys(edition.track_of(b) for b in analysis.benchmarks)),
        "benchmarks": [_benchmark(edition, name) for name in analysis.benchmarks],
        "instances": _instances(analysis, listed),
        "rows": {
            "instance": [place[key] for key in zip(*(rows[0][c] for c in INSTANCE), strict=True)],
            "tool": [tool_place[tool] for tool in rows[0]["tool"]],
        },
        "words": words,
        "columns": columns,
        "variants": [
            {
                **_variant(variant, name),
                "columns": used[i],
                "differing": [place[key] for key in differing(variant)],
                "conflicts": _conflicts(variant, place, tool_place),
            }
            for i, (variant, name) in enumerate(zip(variants, _names(variants), strict=True))
        ],
    }


def _rows(variant: Analysis, listed: Sequence[str]) -> pd.DataFrame:
    """Return the judged rows of the tools listed, in the edition's order, with their outcomes."""
    shown = variant.judged[variant.judged["tool"].isin(listed)]
    more = shown[_KEY].assign(outcome=outcomes(shown))
    table = instance_table(shown, variant.edition)
    return table.merge(more, how="left", on=_KEY, validate="one_to_one")


def _columns(
    rows: Sequence[pd.DataFrame],
) -> tuple[dict[str, list[str]], dict[str, list[Any]], list[dict[str, int]]]:
    """Return words, stored columns, and for every variant where its columns are."""
    words, columns = {}, {}
    used: list[dict[str, int]] = [{} for _ in rows]

    def store(name: str, arrays: list[np.ndarray], *, shared: int = 0) -> None:
        columns[name], places = packed(arrays)
        for variant, found in zip(used, places[shared:], strict=True):
            variant[name] = found

    for name in WORDS:
        codes, known = pd.factorize(pd.concat([table[name] for table in rows]).astype(object))
        words[name] = list(known)
        store(name, np.split(codes, len(rows)))
    store("points", [table["points"].to_numpy() for table in rows])
    times = [table["corrected_s"].to_numpy(float) for table in rows]
    store("seconds", [rows[0]["run_s"].to_numpy(float), *times], shared=1)  # run times are first
    return words, columns, used


def _tool(analysis: Analysis, tool: str) -> dict[str, Any]:
    """Return a tool's name, and how the figures draw it."""
    edition, style = analysis.edition, tool_style(analysis.edition, tool)
    dash = "solid"
    if style.linestyle != "-":
        dash = ",".join(f"{_LINE_WIDTH * part:g}px" for part in style.linestyle[1])
    return {
        "id": tool,
        "name": plain_name(edition, tool),
        "short": short_name(edition, tool).replace(r"\$", "$"),  # matplotlib's, undone
        "is_listed": tool in analysis.listed,
        "color": to_hex(style.color),
        "dash": dash,
        "symbol": _SYMBOLS[style.marker],
    }


def _benchmark(edition: Edition, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": edition.benchmark_name(name),
        "track": edition.track_of(name),
        "is_scored": name in edition.scored,
    }


def _instances(analysis: Analysis, listed: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of the instances; benchmarks are places."""
    place = {name: i for i, name in enumerate(analysis.benchmarks)}
    limits = analysis.judged.drop_duplicates(INSTANCE)[[*INSTANCE, "timeout_s"]]
    table = listed.merge(limits, how="left", on=INSTANCE, validate="one_to_one")
    return {
        "benchmark": [place[name] for name in table["benchmark"]],
        "index": json_values(table["index"]),
        "name": list(table["instance"]),
        "limit_s": json_values(table["timeout_s"].astype("float64")),
    }


def _names(variants: Sequence[Analysis]) -> list[str]:
    """Name rules in words; by all that differs from the edition's where that is not enough."""
    own = variants[0].edition.rules
    short = [rules_in_short(variant.rules, own) for variant in variants]
    told = []
    for variant, name in zip(variants, short, strict=True):
        words = variant_words(variant.rules, variant.edition)
        more = f" ({', '.join(words)})" if words and short.count(name) > 1 else ""
        told.append(name + (more if words else " (the edition's own)"))
    return told


def _variant(variant: Analysis, name: str) -> dict[str, Any]:
    """Return the rules of a variant in words, its scores, and what to know about them."""
    edition, rules, judged = variant.edition, variant.rules, variant.judged
    return {
        "id": "-".join(variant_words(rules, edition)) or OWN,
        "name": name,
        "rules": rules_in_words(rules, edition),
        "notes": [
            *sizes_in_words(judged, edition),
            *checks_in_words(judged, rules),
            *validation_in_words(variant.contest, variant.benchmarks),
            *_selection_in_words(variant),
        ],
        "caveats": caveats(judged, variant.contest.checks, rules),
        "floor_s": max(rules.time_floor_s, SMALLEST_S),
        "overall": variant.overall.to_dict("list"),
        "scores": {**variant.scores.to_dict("list"), "worth": json_values(_worth(variant))},
    }


def _worth(variant: Analysis) -> pd.Series:
    """Return what a point counts in the overall score, for every row of the benchmark scores."""
    scores, edition = variant.scores, variant.edition
    full = [percent_of_a_point(scores, edition, tool).astype(float) for tool in variant.tools]
    worth = pd.concat(full, keys=variant.tools, names=["tool"])
    return worth.reindex(pd.MultiIndex.from_frame(scores[["tool", "benchmark"]]))


def _selection_in_words(variant: Analysis) -> list[str]:
    """Say that not everything is shown, where that is so."""
    sentences = []
    n_tools = variant.judged.loc[variant.judged["takes_part"], "tool"].nunique()
    if len(variant.tools) < n_tools:
        sentences.append(
            f"Shown are {len(variant.tools)} of {n_tools} tools; points, percents and ranks are "
            "those among all."
        )
    n_all = len(variant.edition.benchmarks)
    if len(variant.benchmarks) < n_all:
        sentences.append(
            f"Shown are {len(variant.benchmarks)} of {n_all} benchmarks; overall scores are sums "
            "over these."
        )
    return sentences


def _conflicts(
    variant: Analysis, place: dict[tuple[str, str], int], tool_place: dict[str, int]
) -> dict[str, list[Any]]:
    """Return `conflicts` with the places of instances and tools."""
    table = conflicts(variant)
    return {
        "instance": [place[key] for key in zip(*(table[c] for c in INSTANCE), strict=True)],
        "truth": list(table["truth"]),
        **{
            name: [[tool_place[tool] for tool in tools] for tools in table[name]]
            for name in ("unsat", "sat", "incorrect")
        },
    }
