"""How long work that is under way will still take, from the pace of what was done."""

from __future__ import annotations

import time

ENOUGH = 0.05  # of the work, before which an estimate would be a guess
SLACK = 1.0  # seconds: shorter than that is no pace


class Pace:
    """The time left of ``total`` pieces of work of about equal cost.

    The first piece counts only until there are others: it may have compiled what they share.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch("time.monotonic", side_effect=[0.0, 30.0, 40.0, 50.0]):
    ...     pace = Pace(12)
    ...     [pace.left(done) for done in (1, 2, 3)]
    [330.0, 100.0, 90.0]
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
