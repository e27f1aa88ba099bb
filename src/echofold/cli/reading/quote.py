"""Cells and names from a file as messages show them: quoted, on one line, and not too long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

LONG = 60  # characters of a cell or a name


def shown(value: Any) -> str:
    r"""A cell or a name in quotes, on one line, and cut if it is long.

    Examples
    --------
    >>> print(shown("two\nlines"))
    'two\nlines'
    """
    text = str(value)
    return repr(text if len(text) <= LONG else f"{text[: LONG - 1]}…")


def listed(names: Iterable[Any]) -> str:
    """Names in quotes, the first ten of them."""
    first = [shown(name) for name in islice(names, 11)]
    return ", ".join(first[:10]) + (", …" if len(first) > 10 else "")


def one_line(error: BaseException) -> str:
    """What another library says about an error, for the middle of a sentence."""
    text = " ".join(str(error).split()).rstrip(".")
    return (text if len(text) <= 3 * LONG else f"{text[: 3 * LONG - 1]}…") or type(error).__name__
