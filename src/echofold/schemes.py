"""How a time axis is split into training and validation rows.

Intervals are half-open, ``(a, b)`` holds the rows ``a .. b - 1``. Sizes (``valid``, ``min_train``,
``gap``) are row counts when integers and fractions of all rows, rounded down, when floats below 1.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from echofold._data.rows import Interval, Intervals, rows, runs

Size = int | float
Gap = Size | tuple[Size, Size]


@dataclass(frozen=True)
class Split:
    """One split: the intervals trained on, in order, and the interval validated on."""

    train: Intervals
    valid: Interval


def _integer(name: str, value: Any, least: int) -> int:
    """Check a count."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r}: expected an integer of at least {least}.")
    if value < least:
        raise ValueError(f"{name}={value}: expected an integer of at least {least}.")
    return int(value)


def _size(name: str, value: Any, least: int) -> Size:
    """Check a size: a count of at least ``least`` rows, or a fraction below 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"{name}={value!r}: expected a number of rows (an integer of at least {least}) "
            "or a fraction of the rows (a float below 1)."
        )
    if isinstance(value, Integral):
        return _integer(name, value, least)
    fraction = float(value)
    if not (0 < fraction < 1 or fraction == least == 0):
        raise ValueError(
            f"{name}={fraction}: a float is a fraction of the rows and must lie between 0 and 1; "
            "write a count of rows as an integer."
        )
    return fraction


def _gap(value: Any) -> Gap:
    """Check a gap, one size or a (before, after) pair of sizes."""
    if not isinstance(value, tuple | list):
        return _size("gap", value, 0)
    if len(value) != 2:
        raise ValueError(f"gap={value!r}: expected one size or a (before, after) pair of sizes.")
    return (_size("gap before", value[0], 0), _size("gap after", value[1], 0))


def _count(name: str, size: Size, n: int, least: int) -> int:
    """Turn a checked size into a number of rows."""
    if isinstance(size, int):
        return size
    # 0.29 * 100 is 28.999999999999996 in binary: without the nudge a row would be lost.
    count = math.floor(size * n * (1 + 1e-12))
    if count < least:
        raise ValueError(
            f"{name}={size} of n={n} rows is {count} rows, but at least {least} is needed; "
            f"use a larger fraction or a count."
        )
    return count


def _edges(start: int, length: int, parts: int) -> list[int]:
    """Cut ``length`` rows into parts, the first ``length mod parts`` of them one longer."""
    size, longer = divmod(length, parts)
    return [start + i * size + min(i, longer) for i in range(parts + 1)]


def _validation(k: int, valid: Size | None, first: int, n: int) -> list[Interval]:
    """Place k validation intervals in the rows ``first .. n - 1``: k-fold or k-step."""
    before = f"min_train={first} + " if first else ""
    if valid is None:
        if n - first < k:
            raise ValueError(
                f"k={k} folds need at least {before}{k} rows, but n={n}; "
                f"use a smaller {'k or min_train' if first else 'k'}."
            )
        return list(pairwise(_edges(first, n - first, k)))
    length = _count("valid", valid, n, 1)
    span = n - length - first
    if span < 0:
        raise ValueError(
            f"{before}valid={length} rows do not fit in n={n} rows; "
            f"use a smaller {'min_train or valid' if first else 'valid'}."
        )
    if span < k - 1:
        raise ValueError(
            f"k={k} steps need {k} different starts, but {before}valid={length} leaves only "
            f"{span + 1} in n={n} rows; use a smaller k or valid."
        )
    starts = _edges(first, span, k - 1) if k > 1 else [n - length]
    return [(a, a + length) for a in starts]


class _Scheme:
    """What all schemes share: scikit-learn's splitter protocol and the drawings.

    ``called`` is the name on the command line.
    """

    called = ""
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
        n = _integer("n", n, 1)
        pair = self.gap if isinstance(self.gap, tuple) else (self.gap, self.gap)
        before, after = (_count("gap", size, n, 0) for size in pair)
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
        for train, valid in self._sets(_length(X)):
            yield rows(train), rows(valid)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return getattr(self, "k", 1)

    def __repr__(self) -> str:
        shown = ((f, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        given = ", ".join(f"{f.name}={value!r}" for f, value in shown if value != f.default)
        return f"{type(self).__name__}({given})"

    def __sklearn_clone__(self) -> _Scheme:
        """Clone to itself: a scheme cannot change."""
        return self

    def draw(self, n: int, width: int = 60) -> str:
        """Draw every split of n rows as a line: ``─`` trained on, ``█`` validated on, ``·`` unused.

        Up to ``width`` rows have a character each; beyond, a character stands for several.

        Examples
        --------
        >>> from echofold.schemes import WalkForward
        >>> print(WalkForward(3, min_train=4, gap=1).draw(10))
        ───·██····
        ··───·██··
        ····───·██
        """
        n, width = _integer("n", n, 1), _integer("width", width, 1)
        cells = min(n, width)
        edges = np.arange(cells + 1) * n // cells
        lines = []
        for train, valid in self._sets(n):
            trained, validated = np.zeros((2, n), dtype=int)
            trained[rows(train)] = 1
            validated[rows(valid)] = 1
            most = 2 * np.add.reduceat(trained, edges[:-1]) >= np.diff(edges)
            some = np.maximum.reduceat(validated, edges[:-1])
            lines.append("".join(np.where(some, "█", np.where(most, "─", "·"))))
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
                for a, b in intervals:
                    box = f"{a * width / n:.4g} {i * height}h{(b - a) * width / n:.4g}"
                    paths[which] += f"M{box}v{height - 1}H{a * width / n:.4g}z"
        # Blue and vermilion from the Okabe-Ito palette, told apart with any colour vision.
        return (
            f"<div><code>{name}</code>, n = {n}: <span style='color:#0072B2'>training</span>, "
            f"<span style='color:#D55E00'>validation</span><br>"
            f"<svg width='{width}' height='{len(sets) * height}' role='img' aria-label='{name}'>"
            f"<rect width='100%' height='100%' fill='#eeeeee'/>"
            f"<path fill='#0072B2' d='{paths[0]}'/><path fill='#D55E00' d='{paths[1]}'/>"
            "</svg></div>"
        )


def _length(X: Any) -> int:
    """Number of rows of an array, a sparse matrix, a frame or a list."""
    if X is None:
        raise ValueError("X=None: the number of rows is needed; pass the data as X.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


@dataclass(frozen=True, repr=False)
class SingleSplit(_Scheme):
    """Validate once, on the last rows.

    Parameters
    ----------
    valid : int or float, default 0.1
        Rows validated on.
    gap : int, float or pair, default 0
        Rows left out of training before the validation rows; of a pair the first counts.

    Examples
    --------
    >>> from echofold.schemes import SingleSplit
    >>> SingleSplit(0.2, gap=3).splits(50)
    [Split(train=((0, 37),), valid=(40, 50))]
    """

    called = "single"
    valid: Size = 0.1
    _: KW_ONLY
    gap: Gap = 0
    _remedy = "a smaller gap or a smaller valid"

    def __post_init__(self) -> None:
        self._set(valid=_size("valid", self.valid, 1), gap=_gap(self.gap))

    def _valid(self, n: int) -> list[Interval]:
        return _validation(1, self.valid, 0, n)


@dataclass(frozen=True, repr=False)
class KFold(_Scheme):
    """Cross-validation: train on everything before and after the validation interval.

    Parameters
    ----------
    k : int, default 10
        Number of splits, at least 2.
    valid : int or float, optional
        Without it the rows are divided into ``k`` folds. With it ``k`` intervals of this many
        rows are spread evenly from the first to the last position, overlapping if they must.
    gap : int, float or pair, default 0
        Rows left out of training on both sides, or ``(before, after)``.
    shuffle : bool, default False
        Draw the rows of each fold at random; for data whose rows are not ordered in time.
    random_state : int, optional
        Seed of the shuffle.

    Examples
    --------
    >>> from echofold.schemes import KFold
    >>> KFold(3, gap=1).splits(10)[1]
    Split(train=((0, 3), (8, 10)), valid=(4, 7))
    """

    called = "k-fold"
    k: int = 10
    _: KW_ONLY
    valid: Size | None = None
    gap: Gap = 0
    shuffle: bool = False
    random_state: int | None = None
    _remedy = "a smaller gap or shorter validation intervals"

    def __post_init__(self) -> None:
        valid = None if self.valid is None else _size("valid", self.valid, 1)
        self._set(k=_integer("k", self.k, 2), valid=valid, gap=_gap(self.gap))
        if not isinstance(self.shuffle, bool):
            raise TypeError(f"shuffle={self.shuffle!r}: expected True or False.")
        if self.random_state is not None:
            self._set(random_state=_integer("random_state", self.random_state, 0))
        if self.shuffle and valid is not None:
            raise ValueError(
                f"valid={valid} with shuffle=True: shuffled folds have n / k rows; drop one."
            )
        if self.shuffle and self.gap not in (0, (0, 0)):
            raise ValueError(
                f"gap={self.gap} with shuffle=True: shuffled rows have no neighbours; drop one."
            )
        if self.random_state is not None and not self.shuffle:
            raise ValueError(
                f"random_state={self.random_state} has no effect with shuffle=False; "
                "set shuffle=True or drop it."
            )

    def _valid(self, n: int) -> list[Interval]:
        if self.shuffle:
            raise ValueError(
                f"{self!r} has no intervals, because its rows are drawn at random; "
                "use split(X), which yields index arrays."
            )
        return _validation(self.k, self.valid, 0, n)

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((0, a - before), (b + after, n))

    def _sets(self, n: int) -> list[tuple[Intervals, Intervals]]:
        if not self.shuffle:
            return super()._sets(n)
        order = np.random.RandomState(self.random_state).permutation(n)
        return [
            (runs(np.delete(order, np.s_[a:b])), runs(order[a:b]))
            for a, b in _validation(self.k, None, 0, n)
        ]


@dataclass(frozen=True, repr=False)
class Accumulative(_Scheme):
    """Train on all rows before the validation interval, which moves forward.

    Parameters
    ----------
    k : int, default 10
        Number of splits.
    valid : int or float, optional
        Without it the rows after ``min_train`` are divided into ``k`` folds. With it ``k``
        intervals of this many rows are spread evenly from ``min_train`` to the end; a single one
        stands at the end.
    min_train : int or float, default 0.5
        Rows before the first validation interval.
    gap : int, float or pair, default 0
        Rows left out of training before the validation interval; of a pair the first counts.

    Examples
    --------
    >>> from echofold.schemes import Accumulative
    >>> Accumulative(3, min_train=4, gap=1).splits(10)[1]
    Split(train=((0, 5),), valid=(6, 8))
    """

    called = "accumulative"
    k: int = 10
    _: KW_ONLY
    valid: Size | None = None
    min_train: Size = 0.5
    gap: Gap = 0
    _remedy = "a smaller gap or a larger min_train"

    def __post_init__(self) -> None:
        valid = None if self.valid is None else _size("valid", self.valid, 1)
        self._set(k=_integer("k", self.k, 1), valid=valid, gap=_gap(self.gap))
        self._set(min_train=_size("min_train", self.min_train, 1))

    def _valid(self, n: int) -> list[Interval]:
        return _validation(self.k, self.valid, _count("min_train", self.min_train, n, 1), n)


@dataclass(frozen=True, repr=False)
class WalkForward(Accumulative):
    """Train on a window of ``min_train`` rows that ends where the validation interval begins.

    The validation intervals are those of `Accumulative`.

    Parameters
    ----------
    k, valid
        As in `Accumulative`.
    min_train : int or float, default 0.5
        Rows of the window, and rows before the first validation interval.
    gap : int, float or pair, default 0
        Rows left out at the end of the window, which keeps its start.

    Examples
    --------
    >>> from echofold.schemes import WalkForward
    >>> WalkForward(3, min_train=4, gap=1).splits(10)[1]
    Split(train=((2, 5),), valid=(6, 8))
    """

    called = "walk-forward"

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((a - _count("min_train", self.min_train, n, 1), a - before),)


@dataclass(frozen=True, repr=False)
class LeaveOneOut(_Scheme):
    """Cross-validation with folds of one row.

    Parameters
    ----------
    gap : int, float or pair, default 0
        Rows left out of training on both sides of the row, or ``(before, after)``.

    Examples
    --------
    >>> from echofold.schemes import LeaveOneOut
    >>> LeaveOneOut(gap=(0, 1)).splits(4)[1]
    Split(train=((0, 1), (3, 4)), valid=(1, 2))
    """

    called = "leave-one-out"
    _: KW_ONLY
    gap: Gap = 0
    _remedy = "a smaller gap or more rows"
    _train = KFold._train

    def __post_init__(self) -> None:
        self._set(gap=_gap(self.gap))

    def _valid(self, n: int) -> list[Interval]:
        return list(pairwise(range(n + 1)))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of rows of X, which is the number of splits."""
        return _length(X)


BY_NAME: dict[str, type[_Scheme]] = {
    scheme.called: scheme for scheme in (SingleSplit, KFold, Accumulative, WalkForward, LeaveOneOut)
}


def sizes_of(scheme: type[_Scheme]) -> tuple[str, ...]:
    """The arguments of a scheme that say how many and how long its splits are.

    Examples
    --------
    >>> sizes_of(SingleSplit)
    ('valid', 'gap')
    """
    names = [one.name for one in fields(scheme)]  # type: ignore[arg-type]
    return tuple(name for name in ("k", "valid", "min_train", "gap") if name in names)
