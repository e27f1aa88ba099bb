"""The one table of cases: schemes, gaps, bias, weights, outputs and ridge values.

Tests of the readouts go through all of it. Tests that also run a reservoir, or a device, take the
same schemes, whose validation intervals have one length, so that little is compiled, and go through
them by `pairwise`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from echofold import Accumulative, KFold, LeaveOneOut, Recycle, SingleSplit, WalkForward
from echofold._folds import choose
from echofold._folds.choose import Choice
from echofold._folds.splits import RowSplits, resolve_cv

ROWS = 60
COLUMNS = 8
RIDGE = np.array([0, 1e-9, 1e-6, 1e-3, 1.0, 1e3])

INTERVALS = {
    "single": SingleSplit(12),
    "k-fold": KFold(5),
    "k-step": KFold(7, valid=12),
    "leave one out": LeaveOneOut(),
    "accumulative": Accumulative(3, min_train=24),
    "accumulative k-step": Accumulative(6, valid=12, min_train=20),
    "walk forward": WalkForward(3, min_train=24),
    "walk forward k-step": WalkForward(6, valid=12, min_train=20),
}
GAPS = {"no gap": 0, "gap before": (3, 0), "gap after": (0, 3), "gaps": (2, 4)}
WITH_GAPS = {
    f"{scheme}, {gap}": replace(cv, gap=GAPS[gap])
    for scheme, cv in INTERVALS.items()
    for gap in GAPS
}
GROUPS = np.arange(ROWS) % 7
SPLITTERS = {
    "shuffled": KFold(5, shuffle=True, random_state=0),
    "time series": TimeSeriesSplit(4),
    "groups": GroupKFold(4),
}
# Validation rows that are trained on, in one training set for all splits.
RECYCLED = {
    "recycle": Recycle(5, valid=12),
    "recycle by steps": Recycle(None, valid=12, start=3, step=5),
}
STEPPED = {
    "k-fold by steps": KFold(None, valid=12, start=3, step=9, gap=(2, 4)),
    "accumulative by steps": Accumulative(4, valid=12, min_train=20, start=24, step=5),
    "walk forward by steps": WalkForward(4, valid=12, min_train=20, start=24, step=5, gap=2),
}
SCHEMES = {**WITH_GAPS, **SPLITTERS, **RECYCLED, **STEPPED}

# Ways to the readouts; the two of large_k are told apart, whichever would be chosen.
CHOICES = {
    "naive": Choice("naive", {}, ""),
    "small_k": Choice("small_k", {}, ""),
    "large_k by leaving out": Choice("leave_out", {}, ""),
    "large_k by walking": Choice("walk", {}, ""),
}


def at_work(choice: Choice, rows):
    """The algorithm that was chosen, on these rows."""
    return choose.VARIANTS[choice.variant].on(rows)


# (outputs, penalised bias, weighted rows)
VARIANTS = list(product((1, 3), (False, True), (False, True)))

_rng = np.random.default_rng(0)
X = _rng.normal(size=(ROWS, COLUMNS)) @ (np.eye(COLUMNS) + 0.3 * _rng.normal(size=(COLUMNS,) * 2))
X += _rng.normal(size=COLUMNS)
Y = X[:, :3] + _rng.normal(size=(ROWS, 3))
WEIGHTS = _rng.uniform(0.2, 3, size=ROWS)


def pairwise(*dimensions: Iterable) -> list[tuple]:
    """Combinations such that every two values of two dimensions occur together in at least one.

    Greedy and without chance: each is the first that holds most pairs not met so far.
    """
    lists = [list(values) for values in dimensions]
    places = list(combinations(range(len(lists)), 2))
    every = list(product(*(range(len(values)) for values in lists)))
    held = [{(a, b, one[a], one[b]) for a, b in places} for one in every]
    missing = set().union(*held)
    found = []
    while missing:
        best = max(range(len(every)), key=lambda one: len(held[one] & missing))
        missing -= held[best]
        found.append(tuple(values[i] for values, i in zip(lists, every[best], strict=True)))
    return found


def splits_of(cv, n: int = ROWS) -> RowSplits:
    """Splits of a scheme of the table."""
    return resolve_cv(cv, n, groups=GROUPS if isinstance(cv, GroupKFold) else None)


def relative(found: np.ndarray, expected: np.ndarray, dims: int) -> np.ndarray:
    """Largest difference over the last ``dims`` axes, relative to the largest expected value."""
    axes = tuple(range(-dims, 0))
    size = np.abs(expected).max(axis=axes)
    return np.abs(found - expected).max(axis=axes) / np.where(size > 0, size, 1.0)


def same_scores(found, expected, tolerance: float = 1e-8) -> None:
    """Assert equal scores where they are finite, and infinite ones at the same places."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    assert np.array_equal(np.isfinite(found), finite)
    assert finite.any()
    assert not np.isnan(found).any()
    np.testing.assert_allclose(found[finite], expected[finite], rtol=tolerance, atol=0)
