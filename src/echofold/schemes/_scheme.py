"""Schemes: which rows are trained on and which are validated on.

All have `Scheme` in common: where validation stretches stand (folds, even steps, or steps of a
given length), splits as intervals and as index arrays, and drawings.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, fields
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from echofold._data.arguments import NamedArguments, check_integer, is_integer, refuse
from echofold._data.rows import Interval, Intervals, intervals_of, rows

Size = int | float  # a number of rows, or a fraction of all
Gap = Size | tuple[Size, Size]
SIZES = {"valid": 1, "start": 0, "step": 1, "min_train": 1}  # that place intervals, and the least


@dataclass(frozen=True)
class Split:
    """One split: the intervals trained on, in order, and the interval validated on."""

    train: Intervals
    valid: Interval


def _check_size(name: str, value: Any, least: int) -> Size:
    """Check a size: a count of at least ``least`` rows, or a fraction below 1."""
    if is_integer(value) and value >= least:
        return int(value)
    fraction = isinstance(value, Real) and not isinstance(value, Integral)
    if not fraction or not (0 < value < 1 or value == least == 0):
        counts = f"a number of rows, an integer of at least {least}"
        refuse(name, value, f"{counts}, or a fraction of the rows, a float between 0 and 1")
    return float(value)


def _check_gap(value: Any) -> Gap:
    """Check a gap, one size or a (before, after) pair of sizes."""
    if not isinstance(value, tuple | list):
        return _check_size("gap", value, 0)
    if len(value) != 2:
        refuse("gap", value, "one size or a (before, after) pair of sizes")
    return (_check_size("gap before", value[0], 0), _check_size("gap after", value[1], 0))


def _count_rows(name: str, size: Size, n: int, least: int) -> int:
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


def _length_of(X: Any) -> int:
    """Number of rows of an array, a sparse matrix, a frame or a list."""
    if X is None:
        raise ValueError("X=None: the number of rows is needed; pass the data as X.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class Scheme(NamedArguments):
    """What all schemes share: where intervals stand, scikit-learn's splitter protocol, drawings.

    A scheme is a frozen dataclass whose fields are among the arguments below; those that it does
    not have are as they are here. None stands for what follows from other arguments, where it is
    the default. ``called`` is the name on the command line. Unless a scheme ``holds_out`` its
    validation rows, they are among those it trains on.
    """

    called = ""
    holds_out = True
    k: int | None = 1
    valid: Size | None = None
    start: Size | None = 0
    step: Size | None = None
    min_train: Size | None = None
    gap: Gap = 0
    _fewest = 1  # of k
    _remedy = "a smaller gap"

    def __post_init__(self) -> None:
        for name, least in SIZES.items():
            value = getattr(self, name)
            if value is not None or getattr(type(self), name) is not None:
                self._set(**{name: _check_size(name, value, least)})
        k, valid, start, step = self.k, self.valid, self.start, self.step
        if step is not None and valid is None:
            raise ValueError(
                f"step={step!r} without valid: how long is an interval? Give valid, or drop step, "
                "and the rows are divided into k folds."
            )
        if k is None and step is None:
            raise ValueError(
                "k=None means as many intervals as fit, one every step rows, but step=None; give "
                f"step, or k as an integer of at least {self._fewest}."
            )
        self._set(k=None if k is None else check_integer("k", k, self._fewest))
        if k == 1 and valid is not None and step is None and start:
            raise ValueError(
                f"start={start!r} with k=1 and step=None: a single interval stands at the end, "
                "wherever others would begin; give step to have it stand at start, or drop start."
            )
        self._set(gap=_check_gap(self.gap))

    def _set(self, **checked: Any) -> None:
        """Store checked arguments in a frozen instance."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _first(self, n: int) -> tuple[str, int]:
        """The argument that says at which row validation may begin, and that row."""
        assert self.start is not None
        return "start", _count_rows("start", self.start, n, 0)

    def _valid(self, n: int) -> list[Interval]:
        """Validation stretches for n rows."""
        k, (name, first) = self.k, self._first(n)
        before, or_first = (f"{name}={first} + ", f" or {name}") if first else ("", "")
        if self.valid is None:
            assert k is not None
            if n - first < k:
                raise ValueError(
                    f"k={k} folds need at least {before}{k} rows, but n={n}; "
                    f"use a smaller k{or_first}."
                )
            return list(pairwise(_edges(first, n - first, k)))
        length = _count_rows("valid", self.valid, n, 1)
        span = n - length - first  # from the first possible start to the last
        if span < 0:
            raise ValueError(
                f"{before}valid={length} rows do not fit in n={n} rows; "
                f"use a smaller valid{or_first}."
            )
        if self.step is None:
            assert k is not None
            if span < k - 1:
                raise ValueError(
                    f"k={k} steps need {k} different starts, but {before}valid={length} leaves "
                    f"only {span + 1} in n={n} rows; use a smaller k or valid."
                )
            starts = _edges(first, span, k - 1) if k > 1 else [n - length]
        else:
            step = _count_rows("step", self.step, n, 1)
            fit = span // step + 1
            if k is not None and k > fit:
                smaller = f"step, valid{or_first}" if first else "step or valid"
                raise ValueError(
                    f"k={k} intervals, one every step={step} rows, need {before}{k - 1} × {step} + "
                    f"valid={length} rows, but n={n}, where {fit} fit; use k={fit}, or k=None for "
                    f"as many as fit, or a smaller {smaller}."
                )
            starts = [first + i * step for i in range(fit if k is None else k)]
        return [(a, a + length) for a in starts]

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        """Training intervals, possibly empty ones, around the validation stretch (a, b)."""
        return ((0, a - before),)

    def splits(self, n: int) -> list[Split]:
        """Return the splits of ``n`` rows: for each a `Split`, which holds intervals."""
        n = check_integer("n", n, 1)
        pair = self.gap if isinstance(self.gap, tuple) else (self.gap, self.gap)
        before, after = (_count_rows("gap", size, n, 0) for size in pair)
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
        """Training and validation stretches of every split."""
        return [(s.train, (s.valid,)) for s in self.splits(n)]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple]:
        """Yield (train, valid) index arrays for the rows of X; y and groups are not used."""
        for train, valid in self._sets(_length_of(X)):
            yield rows(train), rows(valid)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, which for ``k=None`` depends on the rows of X."""
        return len(self._sets(_length_of(X))) if self.k is None else self.k

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
        name, sets = html.escape(repr(self)), []
        for n in (100, 1000, 10_000, 100_000):
            with suppress(ValueError):
                sets = self._sets(n)
                break
        if not 0 < len(sets) <= 100:
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


# --- training before the validation stretch ----------------------------------------------------


@dataclass(frozen=True, repr=False)
class SingleSplit(Scheme):
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


@dataclass(frozen=True, repr=False)
class Accumulative(Scheme):
    """Train on all rows before the validation stretch, which moves forward.

    Parameters
    ----------
    k, valid, step
        As in `KFold`, but ``k`` may be 1: a single interval of ``valid`` rows stands at the end.
    start : int or float, optional
        Row at which the first validation stretch begins, at least ``min_train``, which is also
        the default. All rows before it are trained on.
    min_train : int or float, default 0.5
        Rows before the first validation stretch.
    gap : int, float or pair, default 0
        Rows left out of training before the validation stretch; of a pair the first counts.

    Examples
    --------
    >>> from echofold.schemes import Accumulative
    >>> Accumulative(3, min_train=4, gap=1).splits(10)[1]
    Split(train=((0, 5),), valid=(6, 8))
    >>> [split.valid for split in Accumulative(None, valid=4, step=2).splits(16)]
    [(8, 12), (10, 14), (12, 16)]
    """

    called = "accumulative"
    k: int | None = 10
    _: KW_ONLY
    valid: Size | None = None
    start: Size | None = None
    step: Size | None = None
    min_train: Size = 0.5
    gap: Gap = 0
    _remedy = "a smaller gap or a larger min_train"

    def _first(self, n: int) -> tuple[str, int]:
        least = _count_rows("min_train", self.min_train, n, 1)
        if self.start is None:
            return "min_train", least
        name, first = super()._first(n)
        if first < least:
            raise ValueError(
                f"start={first} is before row {least}, but min_train={self.min_train} of n={n} "
                f"rows are trained on before the first validation stretch; use start={least} or "
                "more, or a smaller min_train."
            )
        return name, first


@dataclass(frozen=True, repr=False)
class WalkForward(Accumulative):
    """Train on a window of ``min_train`` rows that ends where the validation stretch begins.

    The validation stretches are those of `Accumulative`.

    Parameters
    ----------
    k, valid, start, step
        As in `Accumulative`.
    min_train : int or float, default 0.5
        Rows of the window, and the fewest rows before the first validation stretch.
    gap : int, float or pair, default 0
        Rows left out at the end of the window, which keeps its start.

    Examples
    --------
    >>> from echofold.schemes import WalkForward
    >>> WalkForward(3, min_train=4, gap=1).splits(10)[1]
    Split(train=((2, 5),), valid=(6, 8))
    >>> WalkForward(2, min_train=4, valid=3, start=5, step=1).splits(10)[1]
    Split(train=((2, 6),), valid=(6, 9))
    """

    called = "walk-forward"

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((a - _count_rows("min_train", self.min_train, n, 1), a - before),)


# --- training on both sides of it, or on all rows -----------------------------------------------


@dataclass(frozen=True, repr=False)
class KFold(Scheme):
    """Cross-validation: train on everything before and after the validation stretch.

    Parameters
    ----------
    k : int or None, default 10
        Number of splits, at least 2; None, with ``step``, for as many as fit.
    valid : int or float, optional
        Without it the rows from ``start`` on are divided into ``k`` folds. With it ``k`` intervals
        of this many rows are spread evenly from ``start`` to the last position, overlapping if
        they must.
    start : int or float, default 0
        Row at which the first validation stretch begins; rows before it are only trained on.
    step : int or float, optional
        Rows from the beginning of an interval of ``valid`` rows to the beginning of the next, which
        overlap if ``step`` is smaller than ``valid``.
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
    >>> [split.valid for split in KFold(3, valid=4, start=1, step=2).splits(10)]
    [(1, 5), (3, 7), (5, 9)]
    """

    called = "k-fold"
    k: int | None = 10
    _: KW_ONLY
    valid: Size | None = None
    start: Size = 0
    step: Size | None = None
    gap: Gap = 0
    shuffle: bool = False
    random_state: int | None = None
    _fewest = 2
    _remedy = "a smaller gap or shorter validation stretches"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shuffle, bool):
            raise TypeError(f"shuffle={self.shuffle!r}: expected True or False.")
        if self.random_state is not None:
            self._set(random_state=check_integer("random_state", self.random_state, 0))
        if self.shuffle:
            for name, given, why in (
                ("valid", self.valid is not None, "folds have n / k rows"),
                ("start", self.start, "rows have no order"),
                ("gap", self.gap not in (0, (0, 0)), "rows have no neighbours"),
            ):
                if given:
                    value = getattr(self, name)
                    raise ValueError(f"{name}={value} with shuffle=True: shuffled {why}; drop one.")
        elif self.random_state is not None:
            raise ValueError(
                f"random_state={self.random_state} has no effect with shuffle=False; "
                "set shuffle=True or drop it."
            )

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((0, a - before), (b + after, n))

    def _valid(self, n: int) -> list[Interval]:
        if self.shuffle:
            raise ValueError(
                f"{self!r} has no intervals, because its rows are drawn at random; "
                "use split(X), which yields index arrays."
            )
        return super()._valid(n)

    def _sets(self, n: int) -> list[tuple[Intervals, Intervals]]:
        if not self.shuffle:
            return super()._sets(n)
        order = np.random.RandomState(self.random_state).permutation(n)
        return [
            (intervals_of(np.delete(order, np.s_[a:b])), intervals_of(order[a:b]))
            for a, b in super()._valid(n)
        ]


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Scheme):
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
    k, valid, step = None, 1, 1
    _: KW_ONLY
    gap: Gap = 0
    _remedy = "a smaller gap or more rows"
    _train = KFold._train


@dataclass(frozen=True, repr=False)
class LeaveSeriesOut(Scheme):
    """Cross-validation over several series: whole series are left out, and validated on.

    For a model of several series that is to forecast others (`ESNForecaster.fit` of a list, a dict
    or a frame with a two-level index). Series that stand beside each other are left out together.

    Parameters
    ----------
    k : int, optional
        Number of groups of series, each of which is left out once; by default each series alone.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, LeaveSeriesOut, cross_validate
    >>> panel = [np.sin(np.arange(60) / (5 + i)) for i in range(4)]
    >>> model = ESNForecaster(20, steps=5, random_state=0)
    >>> cross_validate(model, panel, cv=LeaveSeriesOut(2)).sizes["split"]
    2
    """

    called = "leave-series-out"
    k: int | None = None
    valid, step = 1, 1
    _fewest = 2

    def _sets_of_series(self, series: int) -> list[tuple[list[int], list[int]]]:
        """Numbers of the series that each split trains on and is validated on."""
        k = series if self.k is None else self.k
        if not 2 <= k <= series:
            raise ValueError(
                f"cv={self!r} needs at least {max(2, k)} series, got {series}; give more series, "
                "or use another k or scheme."
            )
        every = list(range(series))
        return [(every[:a] + every[b:], every[a:b]) for a, b in pairwise(_edges(0, series, k))]

    def _sets(self, n: int) -> list[tuple[Intervals, Intervals]]:
        raise ValueError(
            f"{self!r} splits several series in one model, got {n} rows of one series. Give a "
            "list, a dict or a frame with a two-level index of at least two series, or use a "
            "scheme that splits rows, such as KFold."
        )

    def splits(self, n: int) -> list[Split]:
        """There are none of the rows of one series."""
        self._sets(n)
        return []


@dataclass(frozen=True, repr=False)
class Recycle(Scheme):
    """Train on all rows, and validate in intervals inside of them: for closed loops.

    **Validation rows are trained on.** In an open loop, as in regression and classification, the
    score is therefore a training error, which says little about new data. In a closed loop the
    network runs on its own outputs; how long it keeps to the course is a test even where it was
    trained on that course. Racca and Magri (2021) call this recycle validation, with ``step`` its
    chaotic version, and recommend it for chaotic systems. All splits have the same readout, so
    there is one factorisation whatever ``k`` is.

    Parameters
    ----------
    k : int or None, default 10
        Number of validation stretches; None, with ``step``, for as many as fit.
    valid : int or float, default 0.1
        Rows of each interval. Without ``step`` they are spread evenly from ``start`` to the last
        position, overlapping if they must; a single one stands at the end.
    start : int or float, default 0
        Row at which the first interval begins.
    step : int or float, optional
        Rows from the beginning of an interval to the beginning of the next.

    Notes
    -----
    Prediction intervals may be too narrow: they are made of errors in rows that were trained on.

    A. Racca and L. Magri (2021). Robust optimization and validation of echo state networks for
    learning chaotic dynamics. Neural Networks 142, 252-268.

    Examples
    --------
    >>> from echofold.schemes import Recycle
    >>> Recycle(3, valid=4).splits(10)[1]
    Split(train=((0, 10),), valid=(3, 7))
    >>> print(Recycle(None, valid=4, step=2).draw(10))
    ▓▓▓▓──────
    ──▓▓▓▓────
    ────▓▓▓▓──
    ──────▓▓▓▓
    """

    called = "recycle"
    holds_out = False
    k: int | None = 10
    _: KW_ONLY
    valid: Size = 0.1
    start: Size = 0
    step: Size | None = None

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((0, n),)
