"""Ill-conditioned states of a real recording: 450,000 rows, three settings, known errors."""

from functools import cache

import numpy as np
import pytest

from echofold import ESNRegressor, KFold, cross_validate
from echofold._data.rows import complement
from echofold._folds.naive import naive
from echofold._machine.device import one_blas_thread
from echofold.datasets import beat_target, load_ecg
from echofold.metrics import nrmse

WASHOUT, ROWS, TEST = 5_000, 450_000, 190_000
FOLD = ROWS // 10

# leak, radius, ridge: 10-fold validation error, error of a retrained model on what follows
KNOWN = {
    (0.4, 0.1, 0.0): (0.17491, 0.20615),
    (0.1, 0.1, 0.0): (0.20536, 0.27013),
    (0.4, 0.85, 1e-9): (0.18555, 0.24008),
}
HARDEST = (0.4, 0.1, 0.0)
settings = pytest.mark.parametrize("setting", KNOWN, ids=str)
one_setting = pytest.mark.parametrize(
    "setting",
    [pytest.param(one, marks=[] if one == HARDEST else [pytest.mark.slow]) for one in KNOWN],
    ids=str,
)


@cache
def recording():
    """Voltages from 0 to 1 and the signal that marks normal beats."""
    ecg = load_ecg()
    voltage = ecg.signal[:, :1]
    scaled = (voltage - voltage.min()) / (voltage.max() - voltage.min())
    return scaled, beat_target(ecg, fade=10)


def model(setting):
    leak, radius, ridge = setting
    rng = np.random.RandomState(1)
    W_in = rng.rand(50, 2) - 0.5
    W = rng.rand(50, 50) - 0.5
    return ESNRegressor(
        50, W_in=W_in, W=W, leak_rate=leak, spectral_radius=radius, ridge=ridge,
        washout=WASHOUT, scale=None, output_range=(0, 1),
    )  # fmt: skip


def trained_on():
    X, y = recording()
    return X[: WASHOUT + ROWS], y[: WASHOUT + ROWS]


@pytest.fixture(scope="module")
def hardest():
    """States ``[1, u, x]`` and targets of the rows after the washout, worst conditioned."""
    esn = model(HARDEST)
    problem = esn._read(*trained_on())
    rows = esn._states(problem, 0).kept()[0]
    return np.insert(rows, 0, 1.0, axis=1), problem.targets


@cache
def validated(setting, way="states"):
    """Scores and readouts of ten folds."""
    return cross_validate(
        model(setting), *trained_on(), cv=KFold(10), readouts=True, algorithm="small_k", memory=way
    )


def fold_rows(fold):
    return slice(fold * FOLD, (fold + 1) * FOLD)


def validation_error(X, y, readouts):
    """Mean over folds of the NRMSE of clipped outputs."""
    errors = []
    for fold, W in enumerate(readouts):
        at = fold_rows(fold)
        errors.append(nrmse(y[at], np.clip(X[at] @ W, 0, 1)))
    return np.mean(errors)


@one_setting
def test_validation_and_test_errors(setting):
    expected_validation, expected_test = KNOWN[setting]
    assert float(validated(setting).nrmse.mean()) == pytest.approx(expected_validation, abs=1e-4)
    X, y = recording()
    follows = slice(WASHOUT + ROWS, WASHOUT + ROWS + TEST)
    predicted = model(setting).fit(*trained_on()).predict(X[follows], start="last")
    assert nrmse(y[follows], predicted) == pytest.approx(expected_test, abs=1e-4)


def test_the_states_are_as_ill_conditioned_as_they_look(hardest):
    X, _ = hardest
    found = validated(HARDEST, "pieces")
    with one_blas_thread():
        R = np.linalg.qr(X, mode="r")  # below the first row it is that of the centred states
    assert np.linalg.cond(R) > 1e10
    assert float(found.condition) == pytest.approx(np.linalg.cond(R[1:, 1:]), rel=0.1)
    assert float(found.condition) > 1e9


@pytest.mark.parametrize("way", ["states", "pieces"])
def test_predictions_agree_with_a_qr_of_the_states(hardest, way):
    X, y = hardest
    # The R factor of nine folds is that of their nine R factors.
    with one_blas_thread():
        factors = [
            np.linalg.qr(np.hstack([X[fold_rows(f)], y[fold_rows(f)]]), mode="r") for f in range(10)
        ]
    found = validated(HARDEST, way)
    assert found.attrs["memory"] == way
    for fold in range(10):
        R = np.linalg.qr(np.vstack(factors[:fold] + factors[fold + 1 :]), mode="r")
        W = np.linalg.lstsq(R[:52, :52], R[:52, 52:], rcond=None)[0]
        at = fold_rows(fold)
        difference = X[at] @ W - X[at] @ found.readout.values[fold, 0]
        assert np.abs(difference).max() < 1e-6


def test_plain_normal_equations_are_the_reason_for_whitening(hardest):
    X, y = hardest
    with one_blas_thread():
        grams = np.array([X[fold_rows(f)].T @ X[fold_rows(f)] for f in range(10)])
        crosses = np.array([X[fold_rows(f)].T @ y[fold_rows(f)] for f in range(10)])
    rests = grams.sum(axis=0) - grams, crosses.sum(axis=0) - crosses
    readouts = [np.linalg.solve(A, B) for A, B in zip(*rests, strict=True)]
    assert validation_error(X, y, readouts) > 0.3  # 0.37 or worse, and hanging on rounding
    readouts = validated(HARDEST).readout.values[:, 0]
    assert validation_error(X, y, readouts) == pytest.approx(0.17491, abs=1e-4)


@pytest.mark.slow
@settings
@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k"])
def test_every_algorithm(setting, algorithm):
    found = cross_validate(
        model(setting), *trained_on(), cv=KFold(10), algorithm=algorithm, memory="2GB"
    )
    assert float(found.nrmse.mean()) == pytest.approx(KNOWN[setting][0], abs=1e-4)


@pytest.mark.slow
@settings
@pytest.mark.parametrize("way", ["pieces", "fold", "frugal"])
def test_every_way_to_use_memory(setting, way):
    found = cross_validate(model(setting), *trained_on(), cv=KFold(10), memory=way)
    assert float(found.nrmse.mean()) == pytest.approx(KNOWN[setting][0], abs=1e-4)


@pytest.mark.slow
def test_predictions_of_the_naive_algorithm(hardest):
    X, y = hardest
    first = ((0, FOLD),)
    W = naive(X[:, 1:], y, None, [complement(first, ROWS)], np.zeros(1), False)[0, 0]
    found = cross_validate(model(HARDEST), *trained_on(), cv=KFold(10), readouts=True)
    difference = X[:FOLD] @ (W - found.readout.values[0, 0])
    assert np.abs(difference).max() < 1e-6
