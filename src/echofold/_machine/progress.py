"""What is shown while work is done: candidates, the best score so far, the time left, rows driven.

Whoever waits for long work enters a `Progress`; whoever drives rows tells how far they are by
`passing`, and need not know whether anyone looks. A `Pace` tells how long it will still take.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

ENOUGH = 0.05  # of the work, before which an estimate would be a guess
SLACK = 1.0  # seconds: shorter than that is no pace
LIKE = 0.1  # of what is done, that must be like other pieces to tell the pace by itself


class Pace:
    """The time left of work in pieces of which the costs are known, in any unit.

    The first piece, and others that are new in kind, count only until there are enough of what is
    like these: they may have compiled what they share.
    """

    def __init__(self) -> None:
        self.began = self.latest = time.monotonic()
        self.done = 0.0
        self.like = self.new = (0.0, 0.0)  # costs and seconds of pieces so far

    def left(self, done: float, total: float, new: bool = False) -> float | None:
        """Seconds left when ``done`` of ``total`` is; None as long as nothing can be said.

        ``new`` tells whether the latest piece was the first of its kind.
        """
        now = time.monotonic()
        if done > self.done:
            piece = done - self.done, max(0.0, now - self.latest)
            if new or not self.done:
                self.new = self.new[0] + piece[0], self.new[1] + piece[1]
            else:
                self.like = self.like[0] + piece[0], self.like[1] + piece[1]
            self.done, self.latest = done, now
        if done >= total:
            return 0.0
        if not self.done or now - self.began < SLACK or done < ENOUGH * total:
            return None
        cost, seconds = self.like
        if cost < LIKE * self.done:
            cost, seconds = cost + self.new[0], seconds + self.new[1]
        return seconds / cost * (total - done)


class _Following(NamedTuple):
    """What follows the work that is shown: so many seconds, and more final models."""

    seconds: float
    finals: float


_following: list[_Following] = []


@contextmanager
def before(seconds: float = 0.0, finals: float = 0.0) -> Iterator[None]:
    """Tell what is shown inside that so much follows it, as is part of the time left."""
    one = _Following(seconds, finals)
    _following.append(one)
    try:
        yield
    finally:
        _following.remove(one)


def finals_ahead() -> float:
    """Final models that will be made of a search beside its own."""
    return sum(one.finals for one in _following)


def in_time(seconds: float) -> str:
    """A duration as people say it.

    Examples
    --------
    >>> in_time(0.2), in_time(48.4), in_time(200), in_time(5000)
    ('0 s', '48 s', '3 min', '1 h 23 min')
    """
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


WAIT = 2.0  # seconds between lines, and before a bar says anything of one piece of work
SELDOM = 10.0  # seconds between lines about one piece of work
_shown: list[Progress] = []  # the latest one that was entered is told of rows


class Progress:
    """Shows nothing; others show evaluations or, without a ``total``, one piece of work."""

    def __init__(self, total: int | None = None, name: str = ""):
        self.total, self.name = total, name
        self.last, self.pace = time.monotonic(), Pace()

    def __enter__(self):
        _shown.append(self)
        return self

    def __exit__(self, *_):
        _shown.remove(self)

    def update(
        self, done: int, best: float, cost: float = 0.0, of: float = 0.0, new: bool = False
    ) -> None:
        """Show that ``done`` evaluations are finished, and the best score so far.

        They are so much of the ``cost`` of all that is to be done; ``new`` as of `Pace.left`.
        """

    def within(self, words: str) -> None:
        """Show how far the evaluation is that is under way."""

    def left(self, done: int, cost: float, of: float, new: bool) -> float | None:
        """Seconds left, with those of what follows; None as long as nothing can be said."""
        left = self.pace.left(*((cost, of, new) if of else (done, self.total or 1, new)))
        return None if left is None else left + sum(one.seconds for one in _following)

    def words(self, done: int, cost: float, of: float, new: bool) -> str:
        """The time left in words; none as long as it cannot be told."""
        left = self.left(done, cost, of, new)
        return "" if left is None else f"{in_time(left)} left"


def passing(done: int, total: int, what: str = "rows driven") -> None:
    """Tell whoever waits that ``done`` of ``total`` rows, or other steps, were passed."""
    if _shown:
        _shown[-1].within(f"{done / total:.0%} of {total:,} {what}")


def _best(score: float) -> str:
    """The best score in words; none where there are no scores."""
    return "" if math.isnan(score) else f"best {score:.4g}"


class _Bar(Progress):
    """A bar by rich, in a terminal or a notebook; without a ``total`` only words."""

    def __init__(self, total: int | None, name: str):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Columns

        super().__init__(total, name)
        columns: list[Any] = [TextColumn("{task.description}")]
        if total is not None:
            columns += [
                BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[best]}"),
                TextColumn("{task.fields[left]}"),
            ]  # fmt: skip
        columns.append(TextColumn("{task.fields[within]}"))
        self.bar = Columns(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(name, total=total, best="", within="", left="")

    def __enter__(self):
        self.bar.start()
        return super().__enter__()

    def __exit__(self, *_):
        super().__exit__()
        self.bar.stop()

    def update(
        self, done: int, best: float, cost: float = 0.0, of: float = 0.0, new: bool = False
    ) -> None:
        left = self.words(done, cost, of, new)
        self.bar.update(self.task, completed=done, best=_best(best), within="", left=left)
        self.last = time.monotonic()

    def within(self, words: str) -> None:
        now = time.monotonic()
        if now - self.last >= WAIT:  # short passes would only flicker
            self.last = now - WAIT + 0.2
            self.bar.update(self.task, within=words)


class _Lines(Progress):
    """Plain lines, about one every two seconds."""

    done = 0

    def update(
        self, done: int, best: float, cost: float = 0.0, of: float = 0.0, new: bool = False
    ) -> None:
        again, self.done = done == self.done, done
        words = filter(
            None, (f"{done} of {self.total}", _best(best), self.words(done, cost, of, new))
        )
        wait = WAIT if self.total is None or done < self.total or again else 0.0
        self._say(", ".join(words), wait)

    def within(self, words: str) -> None:
        self._say(words if self.total is None else f"{self.done} of {self.total}, {words}", SELDOM)

    def _say(self, words: str, wait: float) -> None:
        """Print a line, unless the last one is more recent than ``wait`` seconds."""
        now = time.monotonic()
        if now - self.last >= wait:
            self.last = now
            print(f"{self.name}: {words}", file=sys.stderr, flush=True)


class _Late(Progress):
    """Nothing at first: one piece of work is shown once it has taken a while, by another."""

    shown: Progress | None = None

    def __exit__(self, *_):
        if self.shown is not None:
            self.shown.__exit__()
        super().__exit__()

    def within(self, words: str) -> None:
        if time.monotonic() - self.last >= WAIT:
            self.shown = _shown_by(None, self.name).__enter__()


def progress(setting: Any, total: int, name: str) -> Progress:
    """What to show: ``"auto"`` a bar in a terminal or notebook and nothing elsewhere."""
    if setting not in ("auto", True, False, None):
        raise ValueError(f"progress={setting!r} is not allowed: it must be 'auto', True or False.")
    return _shown_by(total, name) if setting and (setting is True or _seen()) else Progress()


def one_piece(name: str, setting: Any = "auto") -> Progress:
    """What to show of one piece of work, such as a fit; only if it takes long."""
    return _Late(None, name) if setting and (setting != "auto" or _seen()) else Progress()


def _seen() -> bool:
    """Whether someone looks: there is a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _shown_by(total: int | None, name: str) -> Progress:
    """A bar where someone looks, lines elsewhere."""
    try:
        return _Bar(total, name) if _seen() else _Lines(total, name)
    except ImportError:  # rich comes with the extra "progress"
        return _Lines(total, name)
