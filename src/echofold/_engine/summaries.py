"""What a readout sees of a whole sequence: numbers that sum up its values, step by step.

A value is an input or what is seen of a unit. Sequences pass side by side, as columns, and nothing
is kept of a step but what each summary adds up: memory does not grow with their lengths.
`Summaries` are those that an estimator asks for, `Features` the rows that readouts see of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dormqr

from echofold._data.arguments import is_integer, refuse
from echofold._engine.kind import check_each_value
from echofold._machine.arrays import namespace
from echofold._machine.device import one_blas_thread

CONSTANT = 1e-9  # a spread of a feature beside the size of its value that is rounding
LITTLE = 0.01  # a spread beside that of most features, both beside their sizes, that is a unit


class Step(NamedTuple):
    """A step of all sequences, which are columns: its ``number`` from 0, values, and lengths.

    ``x (values, columns)`` and those of the step ``before`` (zeros before the first), and
    ``lengths (columns,)``, of which those that are over are not ``there (columns,)``.
    """

    number: Any
    x: Any
    before: Any
    lengths: Any
    there: Any


class Summary(ABC):
    """A summary: arrays that it `begin`s with, what a step `add`s, and what is seen at the `end`.

    The arrays are a tuple of ``(values, columns)``, and ``(places, values, columns)`` at the end.
    """

    begins: tuple[float, ...] = (0.0,)
    places: int = 1

    def begin(self, like) -> tuple:
        """What there is before the first step, of values like these."""
        return tuple(namespace(like).zeros_like(like) + one for one in self.begins)

    @abstractmethod
    def add(self, total: tuple, step: Step) -> tuple:
        """What there is after a step; columns that are not there need no care."""

    def end(self, total: tuple, lengths):
        """What is seen of sequences of these lengths."""
        return total[0][None]


class Mean(Summary):
    """The mean over the steps of a function of the values, by default of themselves."""

    def __init__(self, function: Callable | None = None):
        self.function = function

    def add(self, total: tuple, step: Step) -> tuple:
        return (total[0] + (step.x if self.function is None else self.function(step.x)),)

    def end(self, total: tuple, lengths):
        return (total[0] / lengths)[None]


class Spread(Summary):
    """The standard deviation, from means and squares that are moved along (Welford 1962)."""

    begins = (0.0, 0.0)

    def add(self, total: tuple, step: Step) -> tuple:
        mean, squares = total
        apart = step.x - mean
        mean = mean + apart * (1 / (step.number + 1))
        return mean, squares + apart * (step.x - mean)

    def end(self, total: tuple, lengths):
        xp = namespace(total[0])
        return xp.sqrt(total[1] / lengths)[None]


class Share(Mean):
    """The share of steps at which a value is positive."""

    def __init__(self):
        super().__init__(lambda x: (x > 0).astype(x.dtype))


class Extreme(Summary):
    """The largest value."""

    begins = (-np.inf,)

    def add(self, total: tuple, step: Step) -> tuple:
        return (namespace(step.x).maximum(total[0], step.x),)


class Change(Summary):
    """The mean size of the change from one step to the next; zero of a single step."""

    def add(self, total: tuple, step: Step) -> tuple:
        xp = namespace(step.x)
        return (total[0] + (step.number > 0) * xp.abs(step.x - step.before),)

    def end(self, total: tuple, lengths):
        return (total[0] / namespace(total[0]).maximum(lengths - 1, 1))[None]


class Positions(Summary):
    """The values at ``D`` steps spread evenly: ``ceil(i · length / D) − 1`` for ``i = 1 … D``."""

    def __init__(self, places: int):
        self.places = places
        self.begins = places * (0.0,)

    def add(self, total: tuple, step: Step) -> tuple:
        xp = namespace(step.x)
        at = [-(-i * step.lengths // self.places) - 1 for i in range(1, self.places + 1)]
        return tuple(
            xp.where(step.number == one, step.x, kept) for one, kept in zip(at, total, strict=True)
        )

    def end(self, total: tuple, lengths):
        return namespace(total[0]).stack(total)


SUMMARIES: dict[str, Callable[[], Summary]] = {
    "mean": Mean,
    "spread": Spread,
    "share": Share,
    "max": Extreme,
    "change": Change,
    "last": lambda: Positions(1),
}
DEFAULT = tuple(SUMMARIES)
EXPECTED = (
    f"{', '.join(map(repr, SUMMARIES))}, a positive integer (values at so many positions), a "
    "function of values, or several different ones of these in a tuple"
)


@dataclass(frozen=True)
class Summaries:
    """What is asked for: names, numbers of positions and functions, and in what units.

    If ``alike``, readouts see every feature in its standard deviations, and one ridge suits all.
    """

    items: tuple
    alike: bool = True

    @classmethod
    def of(cls, given: Any) -> Summaries:
        """What is given as ``summaries``; an error if it is none."""
        several = given if isinstance(given, list | tuple) else (given,)
        items = tuple(int(one) if is_integer(one) else one for one in several)
        for one in items:
            named = isinstance(one, str) and one in SUMMARIES
            if not (named or callable(one) or (is_integer(one) and one >= 1)):
                refuse("summaries", given, EXPECTED)
            if callable(one):
                check_each_value("summaries", one)
        if not items or len(set(items)) < len(items):
            refuse("summaries", given, EXPECTED)
        return cls(items)

    @cached_property
    def each(self) -> tuple[Summary, ...]:
        """The summaries themselves."""
        return tuple(
            Mean(one) if callable(one) else SUMMARIES[one]() if isinstance(one, str)
            else Positions(one) for one in self.items
        )  # fmt: skip

    @property
    def eager(self) -> bool:
        """Whether NumPy can compute them: none is a function of the user's."""
        return not any(map(callable, self.items))

    @property
    def places(self) -> int:
        """How many features there are of each value."""
        return sum(one if isinstance(one, int) else 1 for one in self.items)

    def begin(self, like) -> tuple:
        """What there is before the first step, of values ``like (values, columns)``."""
        return tuple(one.begin(like) for one in self.each)

    def add(self, totals: tuple, step: Step) -> tuple:
        """What there is after a step; sequences that are over stay as they are."""
        where = namespace(step.x).where
        return tuple(
            tuple(
                where(step.there, new, old)
                for new, old in zip(one.add(total, step), total, strict=True)
            )
            for one, total in zip(self.each, totals, strict=True)
        )

    def end(self, totals: tuple, lengths):
        """Features ``(places, values, columns)``."""
        each = zip(self.each, totals, strict=True)
        found = [one.end(total, lengths) for one, total in each]
        return namespace(found[0]).concatenate(found)


class Factors(NamedTuple):
    """Singular values of rows: ``rows = T s Qt``, ``T (n, r)`` and ``Qt (r, m)``.

    Columns of ``T`` are orthonormal, and orthogonal to a vector of ones where ``s > 0``. With
    ``r = n − 1`` they are so everywhere, and together with it they span all there is.
    """

    T: np.ndarray
    s: np.ndarray
    Qt: np.ndarray


class Features:
    """Features of sequences as rows for readouts, all in their standard deviations.

    Units are such that a row of ``p`` features has the size of one: their standard deviations times
    the root of ``p``. The array ``X (n, p)`` is used up.

    All is found from one QR of the longer side of ``Z (n, p)``, the features less their means in
    these units, and one SVD of its triangle, ``O(n p min(n, p))``. Where there are fewer sequences
    than features and one, a ridge knows only the space that the sequences span. With ``Zᵀ = QR``,
    ``N (n, n − 1)`` a basis of what is orthogonal to a vector of ones, as ``Z`` is, and
    ``RN = L s Bᵀ``, rows are ``N B s Bᵀ (n, n − 1)``, and a readout ``w`` of them is ``Q L Bᵀ w``
    of the features. So ridge regression takes ``O(n³)`` for any number of features, and is the same
    to rounding. Otherwise rows are ``Z``, ``Z = QR``, ``R = L s Bᵀ`` and ``Z = Q L s Bᵀ``.

    Features that are the same for all sequences, up to rounding of values of these ``sizes``, are
    not seen. Those that differ by less than a hundredth of what is usual have that as their unit:
    the largest value of a state that is near one in each of these sequences may be far from it in
    another, which would be thousands of standard deviations.
    """

    def __init__(self, X: np.ndarray, sizes: np.ndarray):
        self.center, spread = X.mean(axis=0), X.std(axis=0)
        sizes = np.maximum(sizes, np.maximum(X.max(axis=0), -X.min(axis=0)))
        seen = spread > CONSTANT * sizes
        if seen.any():
            usual = np.median(spread[seen] / sizes[seen])
            spread = np.maximum(spread, LITTLE * usual * sizes)
        unit = np.where(seen, spread, 1.0) * np.sqrt(max(1, int(np.count_nonzero(seen))))
        self.share = np.where(seen, 1 / unit, 0.0)  # what features are multiplied by
        X -= self.center
        X *= self.share
        self._Z, self._few = X, len(X) <= X.shape[1] + 1

    @cached_property
    def rows(self) -> np.ndarray:
        """What readouts are solved on, ``(n, p)`` or ``(n, n − 1)``."""
        if not self._few:
            return self._Z
        T, s, Qt = self.factors
        with one_blas_thread():
            return (T * s) @ Qt

    @cached_property
    def factors(self) -> Factors:
        """The singular values of the rows."""
        with one_blas_thread():
            if not self._few:
                reflectors, R = qr(self._Z, mode="raw", check_finite=False)
                L, s, Bt = np.linalg.svd(R[: R.shape[1]])
                return Factors(_reflected(reflectors, L), s, Bt)
            Z, self._Z = self._Z, np.empty(0)  # used up: a readout needs its reflectors alone
            self._reflectors, R = qr(Z.T, mode="raw", overwrite_a=True, check_finite=False)
            self._turn, s, Bt = np.linalg.svd(_without_mean(R[: len(Z)]), full_matrices=False)
            return Factors(_with_mean(Bt.T), s, Bt)

    def readout(self, W: np.ndarray) -> np.ndarray:
        """Readouts ``(…, 1 + features, outputs)`` that do to features what ``W`` do to rows."""
        bias, w = W[..., :1, :], W[..., 1:, :]
        if self._few:
            w = self.factors.Qt @ w
            w = np.moveaxis(self._turn @ w, -2, 0)
            with one_blas_thread():
                wide = _reflected(self._reflectors, w.reshape(len(w), -1))
            w = np.moveaxis(wide.reshape(len(wide), *w.shape[1:]), 0, -2)
        w = w * self.share[:, None]
        return np.concatenate([bias - self.center @ w[..., None, :, :], w], axis=-2)


def _reflected(raw: tuple, M: np.ndarray) -> np.ndarray:
    """``QM`` of the raw form of a QR; ``M`` has zeros below its rows."""
    reflectors, tau = raw[0][:, : len(raw[1])], raw[1]
    wide = np.zeros((len(reflectors), M.shape[1]), order="F")
    wide[: len(M)] = M
    work = int(dormqr("L", "N", reflectors, tau, wide, -1)[1][0])
    return dormqr("L", "N", reflectors, tau, wide, work, overwrite_c=True)[0]


def _without_mean(M: np.ndarray) -> np.ndarray:
    """``MN``: of the reflection that leads ones to the first axis, ``N`` is all other columns."""
    v = _mirror(M.shape[1])
    return M[:, 1:] - 2 * (M @ v)[:, None] * v[1:]


def _with_mean(M: np.ndarray) -> np.ndarray:
    """``NM`` of the same ``N``."""
    v = _mirror(1 + len(M))
    found = -2 * v[:, None] * (v[1:] @ M)
    found[1:] += M
    return found


def _mirror(n: int) -> np.ndarray:
    """The unit vector of the reflection that leads ``n`` ones to the first axis."""
    v = np.full(n, n**-0.5)
    v[0] -= 1.0
    return v / np.linalg.norm(v)
