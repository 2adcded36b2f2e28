"""Where editions, published figures, notebooks, templates and the example lie."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_TREE = _PACKAGE.parent


def root() -> Path:
    """Return the folder that holds ``data``, ``notebooks`` and ``reports``.

    In a checkout that is the repository; in an installed package it is the copy of the
    same folders inside the wheel.
    """
    in_checkout = (_TREE / "data" / "editions").is_dir() and (_TREE / "pyproject.toml").is_file()
    return _TREE if in_checkout else _PACKAGE / "_share"


def resource(*parts: str) -> Path:
    """Return the path of something that ships with the project."""
    return root().joinpath(*parts)


def raw_folder() -> Path:
    """Return where raw results are looked for: ``data/raw`` of the checkout, or of this folder."""
    return root() / "data" / "raw" if root() == _TREE else Path.cwd() / "data" / "raw"


def find(path: str | Path) -> Path:
    """Resolve a user's path against the working directory, then the repository.

    A notebook opened from ``notebooks/`` has another working directory than one that is
    run from the repository, and both may name the same file.
    """
    here = Path(path).expanduser()
    if here.is_absolute() or here.exists():
        return here.resolve()
    there = root() / here
    return there.resolve() if there.exists() else here.resolve()
