"""How sure a ranking is: the whole official score, recomputed on resampled instances.

Each replicate draws instances (and, in one design, benchmarks) with replacement, and then sums
up points, takes each benchmark's best tool for 100 percent, and adds up percents, as the
score itself does. What is fixed: verdicts, time bonuses and overheads of the real runs.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Design, Duplicates, Verdict

EPS = 1e-9  # scores nearer than this are equal: they are sums of fractions
_CHUNK = 1_000  # replicates at a time, for memory
Judged = Mapping[str, tuple[pd.DataFrame, ScoringRules]]


@dataclass(frozen=True)
class Replicates:
    """The scores of a ranking's replicates.

    Attributes
    ----------
    track : str
        The ranking's track.
    design : Design
        What was resampled.
    tools : tuple of str
        The tools of the ranking.
    is_extra : ndarray of bool, shape (n_tools,)
        Tools that were not part of the competition: ranked, but moving nobody.
    scores : dict of str to ndarray, shape (n_replicates, n_tools)
        By rule variant; -inf for a tool that takes part in nothing. The same replicate has
        the same instances in all variants.
    ranks : dict of str to ndarray of int, shape (n_replicates, n_tools)
        By rule variant; equal scores share a rank, unless the rules break ties by time.
    seconds : dict of str to ndarray or None, shape (n_replicates, n_tools)
        By rule variant, the run time on solved instances where it breaks ties.
    """

    track: str
    design: Design
    tools: tuple[str, ...]
    is_extra: np.ndarray
    scores: Mapping[str, np.ndarray]
    ranks: Mapping[str, np.ndarray]
    seconds: Mapping[str, np.ndarray | None]

    def ahead(self, variant: str, i: int, j: int) -> np.ndarray:
        """Tell for each replicate whether the i-th tool is above the j-th."""
        scores, seconds = self.scores[variant], self.seconds[variant]
        times = None if seconds is None else (seconds[:, i], seconds[:, j])
        return _is_ahead(scores[:, i], scores[:, j], times)


@dataclass(frozen=True)
class _Block:
    """One benchmark: what each instance gives to each tool, for all variants side by side."""

    points: np.ndarray  # (n_instances, n_variants * n_tools)
    seconds: np.ndarray  # of solved ones, same shape
    takes_part: np.ndarray  # (n_variants, n_tools)


def resample(
    judged: Judged,
    edition: Edition,
    track: str,
    *,
    design: Design = Design.INSTANCES,
    replicates: int = 10_000,
    seed: int = 1,
) -> Replicates:
    """Recompute the ranking of a track on resampled instances.

    Parameters
    ----------
    judged : mapping of str to (DataFrame, ScoringRules)
        By rule variant: judged rows of the full field, of the benchmarks whose percents are
        summed, and the rules they were judged by.
    edition : Edition
        For the scored benchmarks and which tools were not part of the competition.
    track : str
        The track.
    design : Design
        ``instances``: within each benchmark as many instances as it has. ``benchmarks``: as
        many benchmarks as the track has, then instances within each; a benchmark drawn
        twice has its instances drawn twice.
    replicates : int
        How many.
    seed : int
        Equal seeds give equal replicates, whatever the order of rows or tools. Instances
        drawn within a benchmark do not depend on which other benchmarks there are.

    Returns
    -------
    Replicates

    Raises
    ------
    ValueError
        If there are no replicates, or no scored benchmark.
    """
    if replicates < 1:
        raise ValueError(f"expected at least one replicate, got {replicates}")
    names = [b for b in edition.tracks[track].benchmarks if b in edition.scored]
    frames = {variant: _of_benchmarks(*pair, names) for variant, pair in judged.items()}
    rows = pd.concat(frames.values())
    names = [b for b in names if b in set(rows["benchmark"])]
    present = set(rows.loc[rows["takes_part"], "tool"])
    tools = tuple(tool for tool in edition.tools if tool in present)
    if not names or not tools:
        raise ValueError(f"track {track} has no scored benchmark that a tool took part in")
    is_extra = np.isin(tools, edition.extra_tools)
    rules = [pair[1] for pair in judged.values()]
    sums = np.zeros((replicates, len(rules), len(tools)))
    seconds = np.zeros_like(sums)
    for name, chosen in _draws(names, design, track, replicates, seed):
        block = _block([f[f["benchmark"] == name] for f in frames.values()], tools)
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        for at in np.array_split(chosen, -(-len(chosen) // _CHUNK)) if len(chosen) else []:
            percents, times = _percents(block, _counts(rng, len(at), block), rules, is_extra)
            np.add.at(sums, at, percents)
            np.add.at(seconds, at, times)
    scores, ranks, clocks = {}, {}, {}
    for i, (variant, frame) in enumerate(frames.items()):
        present = set(frame.loc[frame["takes_part"], "tool"])
        scores[variant] = np.where(np.isin(tools, list(present)), sums[:, i], -np.inf)
        clocks[variant] = seconds[:, i] if rules[i].ties_by_time else None
        ranks[variant] = _ranks(scores[variant], clocks[variant], is_extra)
    return Replicates(track, design, tools, is_extra, scores, ranks, clocks)


def _of_benchmarks(judged: pd.DataFrame, rules: ScoringRules, names: list[str]) -> pd.DataFrame:
    """Return the rows that can be drawn, instances in an order of their own."""
    rows = judged[judged["benchmark"].isin(names)]
    if rules.duplicates is Duplicates.UNIQUE:
        rows = rows[rows["occurrence"] == 1]
    return rows.sort_values(["benchmark", "index", "instance"], kind="stable")


def _block(frames: list[pd.DataFrame], tools: tuple[str, ...]) -> _Block:
    order = frames[0].drop_duplicates(INSTANCE).set_index(INSTANCE).index
    points, seconds, takes_part = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    for rows in frames:
        solved = rows["run_s"].where(rows["verdict"] == Verdict.CORRECT, 0.0)
        wide = rows.assign(solved_s=solved).pivot_table(
            index=INSTANCE, columns="tool", values=["points", "solved_s"], aggfunc="sum"
        )
        for part, column in ((points, "points"), (seconds, "solved_s")):
            cells = wide[column].reindex(index=order, columns=list(tools), fill_value=0)
            part.append(cells.fillna(0).to_numpy(float))
        present = set(rows.loc[rows["takes_part"], "tool"])
        takes_part.append(np.isin(tools, list(present)))
    return _Block(np.hstack(points), np.hstack(seconds), np.array(takes_part))


def _draws(
    names: list[str], design: Design, track: str, replicates: int, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each benchmark, and the replicates it is in (once for each time it is drawn)."""
    everywhere = np.arange(replicates)
    if design is Design.INSTANCES:
        yield from ((name, everywhere) for name in names)
        return
    rng = np.random.default_rng([seed, zlib.crc32(track.encode())])
    drawn = rng.integers(0, len(names), (replicates, len(names)))
    for i, name in enumerate(names):
        yield name, np.repeat(everywhere, (drawn == i).sum(axis=1))


def _counts(rng: np.random.Generator, n_draws: int, block: _Block) -> np.ndarray:
    """Return how often each instance is drawn, shape (n_draws, n_instances)."""
    n = len(block.points)
    drawn = rng.integers(0, n, (n_draws, n)) + n * np.arange(n_draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=n * n_draws).reshape(n_draws, n).astype(float)


def _percents(
    block: _Block, counts: np.ndarray, rules: list[ScoringRules], is_extra: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return percents and run times, both of shape (n_draws, n_variants, n_tools).

    As `scoring.benchmark_scores`: of the best competitor's points, or a tool's own if it was
    not part of the competition and has more.
    """
    shape = (len(counts), len(rules), len(is_extra))
    points = (counts @ block.points).reshape(shape)
    seconds = (counts @ block.seconds).reshape(shape)
    competes = block.takes_part & ~is_extra
    best = np.where(competes, points, -np.inf).max(axis=2, keepdims=True)
    best = np.maximum(best, np.where(is_extra & block.takes_part, points, -np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        percents = np.where(best > 0, 100 * points / best, 0.0)
    floors = np.array([r.floor_percent for r in rules])[:, None]
    percents = np.where(floors, np.maximum(percents, 0.0), percents)
    return np.where(block.takes_part, percents, 0.0), seconds


def _ranks(scores: np.ndarray, seconds: np.ndarray | None, is_extra: np.ndarray) -> np.ndarray:
    """Rank each tool: one more than the competitors that have more, shape (n, n_tools)."""
    ranks = np.ones(scores.shape, int)
    for j in np.flatnonzero(~is_extra):
        times = None if seconds is None else (seconds[:, [j]], seconds)
        ranks += _is_ahead(scores[:, [j]], scores, times)
    return ranks


def _is_ahead(
    scores: np.ndarray, others: np.ndarray, times: tuple[np.ndarray, np.ndarray] | None
) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        more = scores - others
    ahead = more > EPS
    if times is not None:
        ahead |= (np.abs(more) <= EPS) & (times[0] < times[1])
    return ahead
