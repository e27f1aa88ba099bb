"""What NumPy runs step by step gives the numbers of compiled programs."""

from contextlib import nullcontext

import numpy as np
import pytest
from kinds import KINDS, SEARCHED

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    WalkForward,
    backtest,
    cross_validate,
)
from echofold._machine import device, programs
from echofold.metrics import horizon

RNG = np.random.default_rng(0)
SERIES = 5 + np.sin(np.arange(90) / 4) + 0.1 * RNG.normal(size=90)
BOTH = np.column_stack([SERIES, 20 + 3 * np.cos(np.arange(90) / 5) + RNG.normal(size=90)])
KNOWN = RNG.normal(size=(96, 2))
HOLES = np.where(RNG.random(90) < 0.1, np.nan, SERIES)
WORDS = [RNG.normal(size=(int(n), 2)) + label for n in (4, 7, 9) for label in (0, 1) for _ in "ab"]
LABELS = [label for _ in range(3) for label in (0, 1) for _ in "ab"]
COMPILED = {"swish", "noise", "custom", "custom, looked at"}
COMPILED |= {"foreign", "foreign, held"}  # kinds that NumPy cannot step


@pytest.fixture
def both(monkeypatch):
    """The numbers that work gives without a program, and with."""

    def run(work):
        found = []
        for limit in (np.inf, -1.0):
            with monkeypatch.context() as patch:
                patch.setattr(device, "COMPILING", limit)
                patch.setattr(programs, "_kept", type(programs._kept)())
                found.append(work())
                assert bool(programs._kept) == (limit < 0)
        return found

    return run


def same(found, close=1e-9):
    eager, compiled = (np.asarray(one, dtype=float) for one in found)
    assert eager.shape == compiled.shape
    np.testing.assert_allclose(
        eager, compiled, rtol=close, atol=close * np.nanmax(np.abs(compiled))
    )


@pytest.mark.parametrize("name", sorted(set(KINDS) - COMPILED))
def test_kinds(both, name):
    def work():
        model = ESNForecaster(reservoir=KINDS[name], ridge=1e-3, random_state=0).fit(SERIES)
        return np.concatenate([model.readout_.ravel(), model.state_, model.forecast(6)])

    same(both(work), 1e-7)


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_other_kinds_are_compiled(name):
    model = ESNForecaster(reservoir=KINDS[name])
    assert not model.reservoir.eager
    assert device.choose_device("cpu", device.Work(eager=model.reservoir.eager)) == "cpu"


FORMS = {
    "none": {},
    "logarithm": {"log": True},
    "differences": {"difference": (1, 7)},
    "both": {"log": True, "difference": (1,), "season": 7, "harmonics": 2},
    "limits": {"output_range": (3.5, 6.5)},
    "direct": {"steps": 3},
    "limits, direct": {"output_range": (3.5, 6.5), "steps": 4, "difference": (1,)},
    "squares": {"readout": "inputs+states+squares"},
    "polynomial": {"readout": "polynomial 2"},
    "states": {"readout": "states", "penalize_bias": True},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", ["nrmse", "mae", horizon(0.5)], ids=str)
def test_forecasts(both, form, metric):
    model = ESNForecaster(8, random_state=1, **FORMS[form])
    ridge = [1e-4, 1.0]

    def work():
        cv = Accumulative(3, valid=6) if "steps" in FORMS[form] else KFold(4, valid=9)
        found = cross_validate(model, SERIES, cv=cv, ridge=ridge, metric=metric)
        return next(iter(found.data_vars.values())).values

    same(both(work), 1e-6)


@pytest.mark.parametrize("data", ["outputs", "holes", "known"])
def test_data(both, data):
    y = {"outputs": BOTH, "holes": HOLES, "known": SERIES}[data]
    X = KNOWN if data == "known" else None

    def work():
        given = () if X is None else (X[:90],)
        search = ESNSearchCV(
            ESNForecaster(8, random_state=0),
            {"spectral_radius": [0.5, 0.9], "ridge": [1e-4, 1e-2]},
            cv={"one": KFold(4, valid=6), "two": WalkForward(3, valid=6)},
            n_draws=2,
        )
        with pytest.warns(UserWarning, match="missing") if data == "holes" else nullcontext():
            search.fit(y, *given)
        model = search.best_estimator_.update(
            SERIES[:5] if data == "holes" else y[:5], *(one[:5] for one in given)
        )
        ahead = model.forecast(6, *(X[90:] for _ in given), level=0.8)
        return np.concatenate([
            *(one["nrmse"].values.ravel() for one in search.results_.values()),
            *(np.ravel(part) for part in (ahead.mean, ahead.lower[0.8], ahead.upper[0.8])),
        ])  # fmt: skip

    same(both(work), 1e-6)


@pytest.mark.parametrize("kind", SEARCHED)
def test_searches_prune_and_backtest(both, kind):
    reservoir, space = SEARCHED[kind]
    if not reservoir.eager or "activation" in space:
        pytest.skip("is compiled")

    def work():
        search = ESNSearchCV(
            ESNForecaster(reservoir=reservoir, random_state=0),
            {f"reservoir__{name}": values for name, values in space.items()},
            cv=KFold(4, valid=9), prune=True, n_draws=2,
        ).fit(SERIES)  # fmt: skip
        found = backtest(search.best_estimator_, SERIES, [50, 60, 70], 5, refit=True)
        return np.concatenate([[search.best_score_], np.ravel(found.forecast)])

    same(both(work), 1e-6)


@pytest.mark.parametrize("metric", ["nrmse", "mae"])
def test_regression(both, metric):
    model = ESNRegressor(8, random_state=0)

    def work():
        found = cross_validate(model, KNOWN, KNOWN[:, 0] ** 2, cv=KFold(5), metric=metric)
        return np.append(found[metric].values, model.fit(KNOWN, KNOWN[:, 0]).predict(KNOWN))

    same(both(work))


@pytest.mark.parametrize("states", ["last", "mean", 3])
def test_classification(both, states):
    model = ESNClassifier(8, random_state=0, states=states)

    def work():
        found = cross_validate(model, WORDS, LABELS, cv=3)
        return np.append(found["nrmse" if "nrmse" in found else "error_rate"].values,
                         model.fit(WORDS, LABELS).decision_function(WORDS))  # fmt: skip

    same(both(work))
