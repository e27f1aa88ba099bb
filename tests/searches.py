"""Small problems that the tests of the search share; equal shapes, so that little is compiled."""

from __future__ import annotations

import numpy as np
import xarray as xr
from sklearn.base import clone

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    cross_validate,
)

SEED = 3
RIDGE = [1e-6, 1e-2, 1.0]
GRID = {"leak_rate": [0.3, 1.0], "spectral_radius": [0.5, 1.1], "ridge": RIDGE}
CV = KFold(4)
ROWS = 144  # of the series: 160 pairs less a washout of 16, four validation intervals of 36

_rng = np.random.default_rng(5)
_t = np.arange(161)
SERIES = np.sin(_t / 4) + 0.5 * np.sin(_t / 7.3) + 0.1 * _rng.normal(size=161)
INPUTS = _rng.normal(size=(160, 2))
OUTPUTS = np.stack([np.roll(INPUTS[:, 0], 2), INPUTS[:, 1] * np.roll(INPUTS[:, 0], 1)], axis=1)
LABELS = np.array(["low", "mid", "high"])[np.arange(30) % 3]
SEQUENCES = [
    np.sin(np.arange(9 + i % 4)[:, None] * [0.3, 0.5] * (1 + i % 3)) + _rng.normal(size=2) / 3
    for i in range(30)
]

TASKS = {
    "forecast": (ESNForecaster(12, random_state=SEED), (SERIES,)),
    "regression": (ESNRegressor(12, random_state=SEED), (INPUTS, OUTPUTS)),
    "classification": (ESNClassifier(12, random_state=SEED), (SEQUENCES, LABELS)),
}


def searched(task="forecast", space=None, **options):
    """A search over `GRID` (or ``space``), fitted to the data of a task."""
    estimator, data = TASKS[task]
    options = {"cv": CV, **options}
    return ESNSearchCV(estimator, GRID if space is None else space, **options).fit(*data)


def one_by_one(search, data, scheme=None, **options):
    """Scores ``(draw, candidate, split, ridge)``, each candidate alone by the naive algorithm."""
    found = []
    for draw in range(search.n_draws):
        for candidate in search.candidates_:
            seed = candidate.get("random_state", search.seed_) + draw
            model = clone(search.estimator).set_params(**{**candidate, "random_state": seed})
            model.set_params(**search._reader._aligned)  # all are scored on the same rows
            one = cross_validate(
                model,
                *data,
                cv=search.cv if scheme is None else search.cv[scheme],
                ridge=search.space["ridge"] if isinstance(search.space, dict) else model.ridge,
                metric=search.metric,
                algorithm="naive",
                **options,
            )
            found.append(one)
    names = [name for name in found[0] if found[0][name].dims == ("split", "ridge")]
    shape = (search.n_draws, len(search.candidates_))
    return {
        name: np.array([one[name].values for one in found]).reshape(*shape, *found[0][name].shape)
        for name in names
    }


def identical(one, other):
    """Assert that two searches have the same results to the last bit, and the same final model."""
    left, right = (
        search.results_ if isinstance(search.results_, dict) else {"cv": search.results_}
        for search in (one, other)
    )
    assert list(left) == list(right)
    for name in left:
        xr.testing.assert_identical(_timeless(left[name]), _timeless(right[name]))
    assert one.candidates_ == other.candidates_
    assert (one.best_params_, one.best_score_) == (other.best_params_, other.best_score_)
    np.testing.assert_array_equal(one.best_estimator_.readout_, other.best_estimator_.readout_)


def _timeless(found):
    """Results without the time they took."""
    found = found.drop_vars("seconds")
    found.attrs = {name: value for name, value in found.attrs.items() if name != "seconds"}
    return found


def exploding(length=600):
    """A series that a network learns to multiply by ten, and weights that make it do so.

    The jump back after three values has no weight in training, so a closed loop grows without
    end: after 155 steps its squared error overflows.
    """
    weight = np.ones(length)
    weight[::3] = 0
    start = np.repeat(np.random.default_rng(0).uniform(0.1, 1, -(-length // 3)), 3)[:length]
    return start * 10.0 ** (np.arange(length) % 3), weight
