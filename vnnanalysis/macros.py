r"""LaTeX macros for the numbers of a report, so that an organiser's own text never goes stale.

A macro's name is made of words: what it is about, then the benchmark and tool, then the
quantity, as in ``\vnnOverallABCrownScore``. TeX allows only letters there, so digits are
spelled and everything else separates words.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from vnnanalysis import overview
from vnnanalysis.analysis import Analysis
from vnnanalysis.editions import Edition
from vnnanalysis.rules import words
from vnnanalysis.scoring import statistic_titles
from vnnanalysis.summary import checks_of_sats, rules_in_short
from vnnanalysis.tables import FORMATS, MISSING, latex_text

PREFIX = "vnn"
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_TOKEN = re.compile(r"[0-9]|[A-Za-z]+")
Numbers = Iterator[tuple[tuple[str, ...], str]]  # words of a name, and the value


def macro_word(text: str) -> str:
    """Turn a name into letters that a TeX macro can have.

    Examples
    --------
    >>> macro_word("a-b-CROWN"), macro_word("cifar10_resnet"), macro_word("NV.jl")
    ('ABCrown', 'CifarOneZeroResnet', 'NVJl')
    >>> macro_word("alpha_beta_crown"), macro_word("VeriNet"), macro_word("β")
    ('AlphaBetaCrown', 'VeriNet', 'Beta')
    """
    ascii_text = "".join(map(_ascii, text))
    tokens = _TOKEN.findall(ascii_text)
    return "".join(_DIGITS[int(t)] if t.isdigit() else _capital(t) for t in tokens) or "Nameless"


def _ascii(character: str) -> str:
    """Return a letter without its accents; the last word of its Unicode name if it has none."""
    if character.isascii():
        return character
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or f" {unicodedata.name(character, 'sign').split()[-1].lower()} "


def _capital(word: str) -> str:
    is_shout = word.isupper() and len(word) > 2
    return word.capitalize() if is_shout else word[:1].upper() + word[1:]


def macro_words(names: Iterable[str]) -> dict[str, str]:
    """Give every name a word of its own; where two would be the same, later ones are numbered.

    Examples
    --------
    >>> macro_words(["a_b", "a-b"])
    {'a_b': 'AB', 'a-b': 'ABTwo'}
    """
    given: dict[str, str] = {}
    for name in names:
        given[name] = _unused(macro_word(name), given.values())
    return given


def _unused(word: str, taken: Collection[str]) -> str:
    number, free = 1, word
    while free in taken:
        number += 1
        free = word + macro_word(str(number))
    return free


def macros(
    analysis: Analysis,
    *,
    statistics: pd.DataFrame,
    variants: Sequence[tuple[Mapping[str, str], Analysis]],
    adds: pd.DataFrame,
    disputed: pd.DataFrame,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """Collect the numbers of the report's tables and sentences, as they are printed there.

    Parameters
    ----------
    analysis : Analysis
        For overall scores, benchmark scores and sizes.
    statistics : DataFrame
        From `scoring.statistics`.
    variants : sequence of (dict, Analysis)
        From `analysis.analyse_variants`.
    adds : DataFrame
        From `portfolio.complementarity`.
    disputed : DataFrame
        From `disputes.dispute_list`.
    texts : mapping of str to sequence of str
        Paragraphs of the report by name; each is a macro too.

    Returns
    -------
    dict of str to str
        LaTeX texts by macro, without backslash; all names differ.
    """
    named = _Named(analysis.edition)
    numbers = [
        *_sizes(analysis, disputed, adds, named),
        *_overall("Overall", analysis.overall, named),
        *(n for chosen, v in variants for n in _overall(_variant(chosen), v.overall, named)),
        *_of_frame("Benchmark", analysis.scores, {"benchmark": named.benchmarks} | named.tool),
        *_statistics(statistics, named),
        *_of_frame("Complementarity", adds, named.tool),
        *(
            ((f"Text{macro_word(name)}",), " ".join(map(latex_text, t)))
            for name, t in texts.items()
        ),
    ]
    found: dict[str, str] = {}
    for parts, value in numbers:
        found[_unused(PREFIX + "".join(parts), found)] = value
    return found


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(map(latex_text, sentences))


class _Named:
    """The words of an edition's tools, benchmarks and tracks."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self.tool = {"tool": macro_words(edition.tools)}
        self.benchmarks = macro_words(edition.benchmarks)
        self.tracks = macro_words(edition.tracks)
        if len(self.tracks) == 1:  # nothing to tell apart
            self.tracks = dict.fromkeys(self.tracks, "")


def _of_frame(section: str, table: pd.DataFrame, keys: Mapping[str, Mapping[str, str]]) -> Numbers:
    """Name every number of a frame: the section, the row's keys, the column."""
    columns = [c for c in table if c not in keys and pd.api.types.is_numeric_dtype(table[c])]
    for row in table[[*keys, *columns]].to_dict("records"):
        stem = (section, *(words[row[key]] for key, words in keys.items()))
        for column in columns:
            yield (*stem, _quantity(str(column))), latex_text(printed(str(column), row[column]))


def _quantity(column: str) -> str:
    """Name a column: by its heading where that is a word (points are printed as score)."""
    word = {"points": "score", "value": ""}.get(column, re.sub("_s$", "_seconds", column))
    return "".join(macro_word(part) for part in word.split("_") if part)


def printed(column: str, value: Any) -> str:
    """Return a number as the tables print it."""
    if value is None or value is pd.NA or value != value:
        return MISSING
    if column in FORMATS:
        return FORMATS[column](value)
    return f"{value:.1f}" if isinstance(value, float) else f"{value}"


def _overall(section: str, overall: pd.DataFrame, named: "_Named") -> Numbers:
    return _of_frame(section, overall, {"track": named.tracks} | named.tool)


def _variant(chosen: Mapping[str, str]) -> str:
    known = words()
    values = (v if v in known else f"{name} {v}" for name, v in chosen.items())
    return "Variant" + "".join(map(macro_word, values))


def _statistics(statistics: pd.DataFrame, named: "_Named") -> Numbers:
    short = {title: name for name, title in statistic_titles(named.edition).items()}
    for title, rows in statistics.groupby("statistic", sort=False):
        is_overhead = short[str(title)] == "overhead"
        table = rows if is_overhead else rows.drop(columns="cpu_mode").astype({"value": int})
        yield from _overall(macro_word(short[str(title)]), table, named)


def _sizes(
    analysis: Analysis, disputed: pd.DataFrame, adds: pd.DataFrame, named: "_Named"
) -> Numbers:
    edition, judged = analysis.edition, analysis.judged
    competed = judged["takes_part"] & ~judged["tool"].isin(edition.extra_tools)
    sizes = overview.sizes(analysis.runs, edition)
    yield ("Edition",), latex_text(edition.title)
    yield ("Rules",), latex_text(rules_in_short(analysis.rules, edition.rules))
    yield ("Tools",), str(judged.loc[competed, "tool"].nunique())
    yield ("Benchmarks",), str(len(sizes))
    yield ("Instances",), str(int(sizes["instances"].sum()))
    yield ("Disputed",), str(len(disputed))
    yield ("Together",), f"{adds['shapley'].sum():.0f}"
    checks = checks_of_sats(judged)
    yield ("Sats",), str(int(checks.sum()))
    for check, count in checks.items():
        if check:
            yield ("Check", macro_word(str(check))), str(count)
    counts = sizes[["benchmark", "instances", "networks", "tools"]]
    yield from _of_frame("Size", counts, {"benchmark": named.benchmarks})


def to_tex(found: Mapping[str, str]) -> str:
    """Return the lines that define macros."""
    return "".join(f"\\newcommand{{\\{name}}}{{{value}}}\n" for name, value in found.items())
