"""What all schemes share: splits as intervals and as index arrays, and their drawings."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from echofold._data.arguments import NamedArguments
from echofold._data.rows import Interval, Intervals, rows
from echofold.schemes._places import Gap, check_integer, count_rows


@dataclass(frozen=True)
class Split:
    """One split: the intervals trained on, in order, and the interval validated on."""

    train: Intervals
    valid: Interval


class Scheme(NamedArguments):
    """What all schemes share: scikit-learn's splitter protocol and the drawings.

    ``called`` is the name on the command line. Unless a scheme ``holds_out`` its validation rows,
    they are among those it trains on.
    """

    called = ""
    holds_out = True
    gap: Gap
    _remedy = "a smaller gap"

    def _set(self, **checked: Any) -> None:
        """Store checked arguments in a frozen instance."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _valid(self, n: int) -> list[Interval]:
        """Validation intervals for n rows."""
        raise NotImplementedError

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        """Training intervals, possibly empty ones, around the validation interval (a, b)."""
        return ((0, a - before),)

    def splits(self, n: int) -> list[Split]:
        """Return the splits of ``n`` rows as intervals.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        list of Split
        """
        n = check_integer("n", n, 1)
        pair = self.gap if isinstance(self.gap, tuple) else (self.gap, self.gap)
        before, after = (count_rows("gap", size, n, 0) for size in pair)
        valid = self._valid(n)
        splits = []
        for i, (a, b) in enumerate(valid, 1):
            around = self._train(a, b, before, after, n)
            train = tuple((start, stop) for start, stop in around if start < stop)
            if not train:
                size = before if before == after else f"({before}, {after})"
                raise ValueError(
                    f"split {i} of {len(valid)}: validation rows {a} to {b} with a gap of {size} "
                    f"rows leave no rows to train on; n={n}. Use {self._remedy}."
                )
            splits.append(Split(train, (a, b)))
        return splits

    def _sets(self, n: int) -> list[tuple[Intervals, Intervals]]:
        """Training and validation intervals of every split."""
        return [(s.train, (s.valid,)) for s in self.splits(n)]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple]:
        """Yield (train, valid) index arrays for the rows of X; y and groups are not used."""
        for train, valid in self._sets(length_of(X)):
            yield rows(train), rows(valid)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, which for ``k=None`` depends on the rows of X."""
        k = getattr(self, "k", 1)
        return len(self._sets(length_of(X))) if k is None else k

    def __repr__(self) -> str:
        shown = ((f, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        given = ", ".join(f"{f.name}={value!r}" for f, value in shown if value != f.default)
        return f"{type(self).__name__}({given})"

    def __sklearn_clone__(self) -> Scheme:
        """Clone to itself: a scheme cannot change."""
        return self

    def draw(self, n: int, width: int = 60) -> str:
        """Draw every split of n rows as a line: ``─`` trained on, ``█`` validated on, ``·`` unused.

        Where validation rows are trained on as well they are ``▓``. Up to ``width`` rows have a
        character each; beyond, a character stands for several.

        Examples
        --------
        >>> from echofold.schemes import WalkForward
        >>> print(WalkForward(3, min_train=4, gap=1).draw(10))
        ───·██····
        ··───·██··
        ····───·██
        """
        n, width = check_integer("n", n, 1), check_integer("width", width, 1)
        cells = min(n, width)
        edges = np.arange(cells + 1) * n // cells
        lines = []
        for train, valid in self._sets(n):
            trained, validated = np.zeros((2, n), dtype=int)
            trained[rows(train)] = 1
            validated[rows(valid)] = 1
            most = 2 * np.add.reduceat(trained, edges[:-1]) >= np.diff(edges)
            some = np.maximum.reduceat(validated, edges[:-1])
            block = "█" if self.holds_out else "▓"
            lines.append("".join(np.where(some, block, np.where(most, "─", "·"))))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Small drawing for notebooks, for 100 rows or the first power of ten that fits."""
        name = html.escape(repr(self))
        for n in (100, 1000, 10_000, 100_000):
            try:
                sets = self._sets(n)
                break
            except ValueError:
                continue
        else:
            return f"<code>{name}</code>"
        if len(sets) > 100:
            return f"<code>{name}</code>"
        width, height = 360, max(2, min(8, 160 // len(sets)))
        paths = ["", ""]
        for i, split in enumerate(sets):
            for which, intervals in enumerate(split):
                # Half as high where training rows lie below.
                tall = (height - 1) / 2 if which and not self.holds_out else height - 1
                for a, b in intervals:
                    box = f"{a * width / n:.4g} {i * height}h{(b - a) * width / n:.4g}"
                    paths[which] += f"M{box}v{tall:.4g}H{a * width / n:.4g}z"
        # Blue and vermilion from the Okabe-Ito palette, told apart with any colour vision.
        return (
            f"<div><code>{name}</code>, n = {n}: <span style='color:#0072B2'>training</span>, "
            f"<span style='color:#D55E00'>validation</span><br>"
            f"<svg width='{width}' height='{len(sets) * height}' role='img' aria-label='{name}'>"
            f"<rect width='100%' height='100%' fill='#eeeeee'/>"
            f"<path fill='#0072B2' d='{paths[0]}'/><path fill='#D55E00' d='{paths[1]}'/>"
            "</svg></div>"
        )


def length_of(X: Any) -> int:
    """Number of rows of an array, a sparse matrix, a frame or a list."""
    if X is None:
        raise ValueError("X=None: the number of rows is needed; pass the data as X.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
