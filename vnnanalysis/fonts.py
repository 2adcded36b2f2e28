"""Which characters figures can print: those of matplotlib's font, and of others installed here."""

from collections.abc import Sequence
from functools import cache

from matplotlib import font_manager

FIRST = "DejaVu Sans"  # comes with matplotlib
OTHERS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans SC",
    "Source Han Sans SC", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback",
    "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "SimHei", "Yu Gothic", "Malgun Gothic",
    "Arial Unicode MS", "Unifont",
)  # fmt: skip


def families(wanted: Sequence[str] = OTHERS) -> list[str]:
    """Return the fonts to look for a character in, in this order.

    Parameters
    ----------
    wanted : sequence of str
        Font families for what matplotlib's own font does not have; those that are not
        installed are left out, since matplotlib would warn of them.
    """
    installed = set(font_manager.get_font_names())
    return [FIRST, *(family for family in wanted if family in installed)]


@cache
def _characters(fonts: tuple[str, ...]) -> frozenset[int]:
    paths = (font_manager.findfont(font, fallback_to_default=False) for font in fonts)
    return frozenset().union(*(font_manager.get_font(path).get_charmap() for path in paths))


def printable(text: str, fonts: Sequence[str] | None = None) -> str:
    r"""Write characters that no font has as their number, instead of as a box each.

    Parameters
    ----------
    text : str
        Plain text.
    fonts : sequence of str, optional
        Font families; those of `families` if None.

    Examples
    --------
    >>> printable("α,β-CROWN")
    'α,β-CROWN'
    >>> printable("验证", [FIRST])
    '\\u9a8c\\u8bc1'
    """
    if text.isascii() and text.isprintable():
        return text
    known = _characters(tuple(_installed() if fonts is None else fonts))
    return "".join(
        character if ord(character) in known else character.encode("unicode_escape").decode()
        for character in text
    )


@cache
def _installed() -> tuple[str, ...]:
    return tuple(families())
