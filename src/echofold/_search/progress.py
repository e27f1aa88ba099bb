"""A bar while a search runs: candidates done, the best score so far, the time left."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Does nothing; also the interface of those that show something."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, done: int, best: float) -> None:
        """Show that ``done`` evaluations are finished, and the best score so far."""


class _Bar(Progress):
    """A bar by rich, in a terminal or a notebook."""

    def __init__(self, total: int, name: str):
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("best {task.fields[best]}"), TimeRemainingColumn(),
        )  # fmt: skip
        from rich.console import Console

        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(name, total=total, best="–")

    def __enter__(self):
        self.bar.start()
        return self

    def __exit__(self, *_):
        self.bar.stop()

    def update(self, done: int, best: float) -> None:
        self.bar.update(self.task, completed=done, best=f"{best:.4g}")


class _Lines(Progress):
    """Plain lines, about one every two seconds."""

    def __init__(self, total: int, name: str):
        self.total, self.name = total, name
        self.began = self.last = time.monotonic()

    def update(self, done: int, best: float) -> None:
        now = time.monotonic()
        if now - self.last < 2 and done < self.total:
            return
        self.last = now
        left = (now - self.began) * (self.total / max(done, 1) - 1)
        print(
            f"{self.name}: {done} of {self.total}, best {best:.4g}, {left:.0f} s left",
            file=sys.stderr, flush=True,
        )  # fmt: skip


def progress(setting: Any, total: int, name: str) -> Progress:
    """What to show: ``"auto"`` a bar in a terminal or notebook and nothing elsewhere."""
    if setting not in ("auto", True, False, None):
        raise ValueError(f"progress={setting!r} is not allowed: it must be 'auto', True or False.")
    seen = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not setting or (setting == "auto" and not seen):
        return Progress()
    try:
        return _Bar(total, name) if seen else _Lines(total, name)
    except ImportError:  # rich comes with the extra "progress"
        return _Lines(total, name)
