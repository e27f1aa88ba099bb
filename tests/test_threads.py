"""Threads of a user's own: they may fit at the same time, and forecast by one model."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from echofold import (
    AutoForecaster,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
)
from echofold._models.forecast import Forecast

THREADS = 4
RNG = np.random.default_rng(0)
Y = np.sin(np.arange(230) / 5) + 0.1 * RNG.normal(size=230)
PANEL = {name: (2 + place) * Y[: 60 + 9 * place] for place, name in enumerate("abc")}
SEQUENCES = [np.sin(np.arange(20) / (3 + n % 2)) + 0.1 * RNG.normal(size=20) for n in range(24)]
LABELS = [n % 2 for n in range(24)]


@pytest.fixture(autouse=True)
def _threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def searched():
    space = {"leak_rate": [0.3, 1.0], "ridge": [0.0, 1e-6, 1e-2]}
    search = ESNSearchCV(ESNForecaster(15, random_state=1), space, cv=KFold(7), n_jobs=2)
    return search.fit(Y)


def automatic():
    return AutoForecaster(5).fit(Y[:90])


WORK = [
    lambda: ESNForecaster(15, random_state=0).fit(Y).forecast(10),
    lambda: ESNClassifier(15, random_state=0).fit(SEQUENCES, LABELS).predict_proba(SEQUENCES),
    lambda: ESNRegressor(15, random_state=0).fit(Y[:-1, None], Y[1:]).predict(Y[:, None]),
    lambda: searched().forecast(10, level=0.9).upper[0.9],
    lambda: automatic().forecast().mean,
]


def by_threads(work, count):
    with ThreadPoolExecutor(THREADS) as pool:
        futures = [pool.submit(work[n % len(work)]) for n in range(count)]
        return [future.result() for future in futures]


def test_estimators_fitted_side_by_side_have_the_bits_of_those_fitted_in_turn():
    alone = [one() for one in WORK]
    for n, found in enumerate(by_threads(WORK, 2 * len(WORK))):
        np.testing.assert_array_equal(found, alone[n % len(WORK)])


def test_compiled_networks_of_other_sizes_side_by_side(compiled):
    work = [lambda n=n: ESNForecaster(n, random_state=0).fit(Y).forecast(5) for n in (15, 16)]
    alone = [one() for one in work]
    for n, found in enumerate(by_threads(work, 8)):
        np.testing.assert_array_equal(found, alone[n % 2])


@pytest.mark.parametrize(
    "fitted",
    [
        lambda: ESNForecaster(15, random_state=0).fit(Y),
        lambda: ESNForecaster(15, random_state=0).fit(PANEL),
        searched,
        automatic,
        lambda: AutoForecaster(4).fit(PANEL),
    ],
)
def test_one_model_forecasts_from_many_threads(fitted):
    model = fitted()  # has not forecast before threads ask it to

    def ahead(horizon):
        found = model.forecast(horizon)
        found = found.mean if isinstance(found, Forecast) else found
        return np.concatenate(list(found.values())) if isinstance(found, dict) else found

    horizons = [3, 7]
    work = [lambda steps=steps: ahead(steps) for steps in horizons]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps beyond those validated
        together = by_threads(work, 12)
        for n, found in enumerate(together):
            np.testing.assert_array_equal(found, ahead(horizons[n % 2]))
