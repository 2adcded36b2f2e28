"""The page that puts the overall scores of a grid's rule variants side by side."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import jinja2
import pandas as pd

from vnnanalysis import __version__
from vnnanalysis.batch_grid import Grid
from vnnanalysis.display import image_bytes
from vnnanalysis.editions import Edition
from vnnanalysis.figures import bump
from vnnanalysis.paths import resource
from vnnanalysis.ranking import ranks_by_variant, swaps
from vnnanalysis.summary import swap_sentences
from vnnanalysis.tables import Table, slug, to_html

COLUMNS = ["edition", "track", "overhead", "conflicts", "rank", "tool", "score"]


@dataclass(frozen=True)
class Compared:
    """The overall scores of one edition under all rule variants of a grid.

    Attributes
    ----------
    name : str
        The edition's name in the grid.
    edition : Edition
        For titles and the names of tools.
    overall : DataFrame
        Columns overhead, conflicts, track, rank, tool, score.
    notes : tuple of str
        What a reader has to know.
    """

    name: str
    edition: Edition
    overall: pd.DataFrame
    notes: tuple[str, ...]


def comparison(compared: Iterable[Compared]) -> pd.DataFrame:
    """Put the overall scores of all editions and rule variants in one frame.

    Returns
    -------
    DataFrame
        Columns edition, track, overhead, conflicts, rank, tool, score: of each edition its
        tracks, variants and tools, best first.
    """
    parts = [
        rows.assign(edition=one.name)[COLUMNS]
        for one in compared
        for _, rows in one.overall.groupby("track", sort=False)
    ]
    return pd.concat(parts or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)


def scores_and_ranks(overall: pd.DataFrame) -> pd.DataFrame:
    """Put the variants of one track side by side.

    Parameters
    ----------
    overall : DataFrame
        Columns overhead, conflicts, rank, tool, score.

    Returns
    -------
    DataFrame
        Columns tool, ``<overhead>, <conflicts> / rank`` and ``... / score`` for each variant,
        best_rank and worst_rank; in the order of the first variant.
    """
    table = overall[["tool"]].drop_duplicates()
    for (overhead, conflicts), rows in overall.groupby(["overhead", "conflicts"], sort=False):
        names = {column: f"{overhead}, {conflicts} / {column}" for column in ("rank", "score")}
        part = rows[["tool", *names]].rename(columns=names)
        table = table.merge(part, how="left", on="tool", validate="one_to_one")
    ranks = overall.groupby("tool")["rank"].agg(best_rank="min", worst_rank="max")
    return table.join(ranks, on="tool", validate="one_to_one").reset_index(drop=True)


def comparison_page(
    grid: Grid, compared: Iterable[Compared], states: Mapping[Any, tuple[str, str]]
) -> str:
    """Return the page: one self-contained HTML file for the grid's folder.

    Parameters
    ----------
    grid : Grid
        The grid.
    compared : iterable of Compared
        Its editions.
    states : mapping of Path to (str, str)
        By folder of a run: its state, and its problem if it failed.
    """
    loader = jinja2.FileSystemLoader(resource("reports", "templates"))
    env = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    further = grid.file.table.get("parameters", {})
    page = env.get_template("comparison.html.j2").render(
        parts=[_part(one, track) for one in compared for track in _tracks(one)],
        runs=_runs(grid, states),
        notebooks=[notebook.stem for notebook in grid.notebooks],
        n_failed=sum(state == "failed" for state, _ in states.values()),
        n_missing=sum(state == "not run" for state, _ in states.values()),
        further=[(n, json.dumps(value, ensure_ascii=False)) for n, value in further.items()],
        name=grid.file.path.name,
        version=__version__,
    )
    return page + "\n"


def _tracks(one: Compared) -> list[str]:
    return list(dict.fromkeys(one.overall["track"])) or [""]


def _part(one: Compared, track: str) -> dict[str, Any]:
    """Return what the page says of one track; an edition without scored benchmarks has none."""
    variants = one.overall[one.overall["track"] == track].reset_index(drop=True)
    title = one.edition.title + (f", track {track}" if track else "")
    part: dict[str, Any] = {"id": slug(f"{one.name}-{track}"), "title": title, "notes": one.notes}
    part |= {"sentences": [], "table": "", "figure": "", "pairs": ""}
    if variants.empty:
        return part | {"sentences": ["None of these benchmarks is scored."]}
    table = _html(one, f"scores-{track}", f"overall scores and ranks, track {track}; columns: how "
                  "start-up time is subtracted, who is right in a conflict",
                  scores_and_ranks(variants))  # fmt: skip
    if len(variants[["overhead", "conflicts"]].drop_duplicates()) < 2:
        return part | {"table": table}
    pairs = swaps(variants).drop(columns="track")
    caption = f"pairs of tools whose order depends on the rules, track {track}"
    return part | {
        "sentences": swap_sentences(variants, one.edition),
        "table": table,
        "figure": _figure(variants, track, one.edition),
        "pairs": _html(one, f"swaps-{track}", caption, pairs) if len(pairs) else "",
    }


def _html(one: Compared, name: str, caption: str, frame: pd.DataFrame) -> str:
    formats = {c: "{:.1f}".format for c in frame.columns if c.endswith(" / score")}
    title = f"{one.edition.title}: {caption}"
    return to_html(Table(f"{one.name}-{name}", title, frame, one.edition, formats=formats))


def _figure(variants: pd.DataFrame, track: str, edition: Edition) -> str:
    """Return the ranks by variant as an image in text."""
    ranks = ranks_by_variant(variants, track)
    figure = bump(ranks, edition)
    figure.set_figwidth(max(7.2, 2.2 + 0.85 * len(ranks.columns)))
    return base64.b64encode(image_bytes(figure, "svg")).decode()


def _runs(grid: Grid, states: Mapping[Any, tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a row for each edition and variant, with a cell for each notebook."""
    rows: dict[Sequence[str], list[dict[str, str]]] = {}
    for run in grid.runs:
        state, problem = states[run.folder]
        is_there = (grid.out / run.folder).is_dir()
        folder = quote(run.folder.as_posix()) if is_there else ""
        cell = {"folder": folder, "file": quote(run.notebook.name), "name": run.notebook.stem,
                "state": state, "problem": problem}  # fmt: skip
        rows.setdefault(run.variant, []).append(cell)
    return [{"variant": variant, "cells": cells} for variant, cells in rows.items()]
