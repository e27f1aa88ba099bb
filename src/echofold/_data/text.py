"""Names from the user's data, made fit to be drawn, written and shown in a terminal."""

from __future__ import annotations

import re
from typing import Any

LONG = 40  # characters of a label; more would leave no room for what it stands beside
# Control characters, halves of characters and what is none: fonts, UTF-8, XML or terminals fail.
UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def legible(text: str) -> str:
    r"""Text with a replacement character for everything that cannot be written or drawn.

    Examples
    --------
    >>> legible("half \ud800, bell \x07")
    'half �, bell �'
    """
    return UNFIT.sub("\ufffd", text)


def label(name: Any) -> str:
    r"""A name on one line, and not too long.

    Examples
    --------
    >>> label("units\n sold"), len(label("n" * 1000))
    ('units sold', 40)
    """
    text = " ".join(legible(str(name)[: 10 * LONG]).split())
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
