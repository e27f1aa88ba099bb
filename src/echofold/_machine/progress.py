"""What is shown while work is done: candidates, the best score so far, the time left, rows driven.

Whoever waits for long work enters a `Progress`; whoever drives rows tells how far they are by
`passing`, and need not know whether anyone looks. A `Pace` tells how long it will still take.
"""

from __future__ import annotations

import sys
import time
from typing import Any

ENOUGH = 0.05  # of the work, before which an estimate would be a guess
SLACK = 1.0  # seconds: shorter than that is no pace


class Pace:
    """The time left of ``total`` pieces of work of about equal cost.

    The first piece counts only until there are others: it may have compiled what they share.
    """

    def __init__(self, total: float):
        self.total, self.began = total, time.monotonic()
        self.first: tuple[float, float] | None = None

    def left(self, done: float) -> float | None:
        """Seconds left when ``done`` pieces are finished; None as long as nothing can be said."""
        now = time.monotonic()
        if done >= self.total:
            return 0.0
        if done <= 0 or now - self.began < SLACK:
            return None
        since, before = self.first or (self.began, 0.0)
        if self.first is None:
            self.first = now, done
        if done < ENOUGH * self.total:
            return None
        if done <= before or now <= since:
            since, before = self.began, 0.0
        return max(0.0, (now - since) * (self.total - done) / (done - before))


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
        self.last, self.pace = time.monotonic(), Pace(total or 1)

    def __enter__(self):
        _shown.append(self)
        return self

    def __exit__(self, *_):
        _shown.remove(self)

    def update(self, done: int, best: float) -> None:
        """Show that ``done`` evaluations are finished, and the best score so far."""

    def within(self, words: str) -> None:
        """Show how far the evaluation is that is under way."""

    def left(self, done: int) -> str:
        """The time left in words; none as long as it cannot be told."""
        left = self.pace.left(done)
        return "" if left is None else f"{in_time(left)} left"


def passing(done: int, total: int, what: str = "rows driven") -> None:
    """Tell whoever waits that ``done`` of ``total`` rows, or other steps, were passed."""
    if _shown:
        _shown[-1].within(f"{done / total:.0%} of {total:,} {what}")


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
                BarColumn(), MofNCompleteColumn(), TextColumn("best {task.fields[best]}"),
                TextColumn("{task.fields[left]}"),
            ]  # fmt: skip
        columns.append(TextColumn("{task.fields[within]}"))
        self.bar = Columns(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(name, total=total, best="–", within="", left="")

    def __enter__(self):
        self.bar.start()
        return super().__enter__()

    def __exit__(self, *_):
        super().__exit__()
        self.bar.stop()

    def update(self, done: int, best: float) -> None:
        left = self.left(done)
        self.bar.update(self.task, completed=done, best=f"{best:.4g}", within="", left=left)
        self.last = time.monotonic()

    def within(self, words: str) -> None:
        now = time.monotonic()
        if now - self.last >= WAIT:  # short passes would only flicker
            self.last = now - WAIT + 0.2
            self.bar.update(self.task, within=words)


class _Lines(Progress):
    """Plain lines, about one every two seconds."""

    done = 0

    def update(self, done: int, best: float) -> None:
        self.done, left = done, self.left(done)
        wait = WAIT if self.total is None or done < self.total else 0.0
        self._say(f"{done} of {self.total}, best {best:.4g}{left and f', {left}'}", wait)

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
