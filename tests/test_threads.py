"""Threads of a user's own: they may fit at the same time, and ask one model."""

import sys
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
    backtest,
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


def ahead(model, steps):
    """A forecast as one array, of one series or of several."""
    found = model.forecast(steps)
    found = found.mean if isinstance(found, Forecast) else found
    return np.concatenate(list(found.values())) if isinstance(found, dict) else found


@pytest.mark.parametrize(
    ("fitted", "ask"),
    [
        (lambda: ESNForecaster(15, random_state=0).fit(Y), ahead),
        (lambda: ESNForecaster(15, random_state=0).fit(PANEL), ahead),
        (searched, ahead),
        (automatic, ahead),
        (lambda: AutoForecaster(4).fit(PANEL), ahead),
        (searched, lambda search, n: backtest(search, Y, [100, 150], n).error.values),
        (lambda: ESNRegressor(15, random_state=0).fit(Y[:-1, None], Y[1:]),
         lambda model, n: model.predict(Y[:, None], start="last")[n:]),
        (lambda: ESNClassifier(15, random_state=0).fit(SEQUENCES, LABELS),
         lambda model, n: model.predict_proba(SEQUENCES[n:])),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")  # of rows that are known
def test_many_threads_ask_one_model(fitted, ask):
    model = fitted()  # which nobody has asked before
    work = [lambda n=n: ask(model, n) for n in (3, 7)]
    for n, found in enumerate(by_threads(work, 12)):
        np.testing.assert_array_equal(found, work[n % 2]())
