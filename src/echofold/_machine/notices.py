"""What users are warned of: one kind of warning, at the line that called the library."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NUMBER = re.compile(r"\d[\d.,:/-]*")


class EchofoldWarning(UserWarning):
    """Something about the numbers that a user should know, in one or more sentences.

    Examples
    --------
    >>> import warnings
    >>> from echofold import EchofoldWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", EchofoldWarning)  # or "ignore"
    """

    __module__ = "echofold"  # where it is imported from, as users see it

    def __str__(self) -> str:
        return " ".join(map(str, self.args))


# Filters of Python are of the whole process: changing them takes the warnings of other threads.
_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@contextmanager
def collected() -> Iterator[list[str]]:
    """The sentences that the enclosed work warns of in this thread, for whoever can say more."""
    said: list[str] = []
    before = _heard.set(said)
    try:
        yield said
    finally:
        _heard.reset(before)


@contextmanager
def said_once() -> Iterator[None]:
    """Give every sentence of the enclosed work once, whatever numbers it has each time."""
    with collected() as said:
        yield
    sentences: dict[str, str] = {}
    for words in said:
        sentences.setdefault(NUMBER.sub("", words), words)
    warn_of(sentences.values())


def warn_of(words: Iterable[str]) -> None:
    """One warning of these sentences, if there are any, at the line that called the library."""
    said = EchofoldWarning(*words)
    if (heard := _heard.get()) is not None:
        heard += said.args
        return
    if not said.args:
        return
    frame, level = sys._getframe(1), 2
    ours = ("echofold.", "contextlib")
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(said, stacklevel=level)
