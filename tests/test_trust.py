"""Rank deficiency of every origin: every algorithm and memory way against extended precision."""

import families
import numpy as np
import precise
import pytest
from cases import CHOICES, pairwise
from deviations import WAYS, deviations
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    KFold,
    LeaveOneOut,
    WalkForward,
    cross_validate,
    cross_validate_readout,
)
from echofold._folds.splits import resolve_cv

RIDGE = np.array([0, 1e-9, 1e-6, 1e-3, 1.0, 1e3])
# Deviations are measured in what one rounding of the data does. Most are below 5; where leaving
# rows out magnifies rounding, some are larger, but then minute against the values.
MOST_ROUNDINGS = 100
RELATIVE = 1e-9
SCHEMES = {
    "k-fold": KFold(4),
    "k-step": KFold(5, valid=3, gap=1),
    "leave one out": LeaveOneOut(),
    "accumulative": Accumulative(3, min_train=0.4),
    "walk forward": WalkForward(4, min_train=0.4, gap=(1, 0)),
    "shuffled": KFold(4, shuffle=True, random_state=0),
}
needs_long_double = pytest.mark.skipif(not precise.AVAILABLE, reason="no extended precision here")


def problem(seed, family, n=20, m=5):
    """States, targets and weights of a family, weights only where every split keeps some."""
    rng = np.random.default_rng(seed)
    X = families.states(rng, family, n, m)
    return X, families.targets(rng, X, 1 + seed % 2), families.weights(rng, X)


def right_to_rounding(X, Y, weights, splits, penalised, ways):
    """Assert that no way is off by many roundings, unless that is minute."""
    for way, one in deviations(X, Y, weights, splits, RIDGE, penalised, ways, trials=2).items():
        assert one.roundings < MOST_ROUNDINGS or one.relative < RELATIVE, (way, one)


@needs_long_double
@pytest.mark.parametrize("family", families.FAMILIES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_way_is_right_to_rounding(family, scheme):
    seed = list(families.FAMILIES).index(family) + 20 * list(SCHEMES).index(scheme)
    X, Y, weights = problem(seed, family)
    splits = resolve_cv(SCHEMES[scheme], len(X))
    # Walking compiles for each shape, so one number of outputs and few schemes stand for all.
    walks = [] if Y.shape[1] == 2 or scheme not in ("k-fold", "walk forward") else CHOICES
    ways = [*walks, "naive", "small_k", "large_k by leaving out", *WAYS]
    right_to_rounding(X, Y, weights, splits, bool(seed // 2 % 2), dict.fromkeys(ways))


@needs_long_double
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1e3, 1e6])
def test_rows_of_any_size(size, seed):
    rng, n, m = np.random.default_rng(seed), 20 + 7 * seed, 3 + 4 * seed
    X, Y = rng.normal(size=(n, m)), rng.normal(size=(n, 1 + seed % 2))
    X[rng.integers(n)] *= size
    if seed % 2:
        X *= size ** rng.uniform(-1, 0, size=(n, 1))
    weights, ridge = rng.uniform(0.5, 2, size=n) if seed > 1 else None, np.array([1e-8, 1e-6, 1e-3])
    ways = dict.fromkeys(["naive", "small_k", "large_k by leaving out", *WAYS])
    given = X, Y, weights, resolve_cv(KFold(5), n), ridge, seed == 0, ways
    for way, one in deviations(*given, trials=2).items():
        minute = 1e-12 if way == "naive" else RELATIVE
        assert one.roundings < MOST_ROUNDINGS or one.relative < minute, (way, one)


FEW_ROWS = pairwise(
    ["plain", "graded", "low_rank", "repeated", "event"],
    [(8, 10), (9, 9), (6, 11)],
    [KFold(3), LeaveOneOut()],
    [False, True],
)


@needs_long_double
@pytest.mark.parametrize(  # every second: each family by two shapes, or one
    ("family", "shape", "cv", "penalised"),
    [
        pytest.param(*case, marks=pytest.mark.slow if place % 2 else [])
        for place, case in enumerate(FEW_ROWS)
    ],
    ids=str,
)
def test_fewer_rows_than_columns(family, shape, cv, penalised):
    X, Y, _ = problem(shape[0] % 3, family, *shape)
    ways = ["naive", "small_k", "large_k by leaving out", *WAYS]
    right_to_rounding(X, Y, None, resolve_cv(cv, len(X)), penalised, ways)


@needs_long_double
@settings(deadline=None, max_examples=8)
@given(
    st.sampled_from(list(families.FAMILIES)),
    st.sampled_from(list(SCHEMES)),
    st.integers(12, 30),
    st.integers(1, 14),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@example("unequal", "k-fold", 20, 2, True, 2)  # a mean far from zero, and a penalised bias
@example("unequal", "k-step", 20, 6, True, 3)
def test_any_family_and_shape(family, scheme, n, m, penalised, seed):
    X, Y, weights = problem(seed, family, n, m)
    assume(np.isfinite(X).all())
    splits = resolve_cv(SCHEMES[scheme], n)
    ways = ["naive", "small_k", "large_k by leaving out", *WAYS]
    right_to_rounding(X, Y, weights, splits, penalised, ways)


# --- what users met -------------------------------------------------------------------------------


def same(found, plain, metric="rmse"):
    np.testing.assert_allclose(found[metric], plain[metric], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["auto", "small_k", "large_k"])
def test_rank_deficient_states_with_fewer_rows_than_columns(algorithm):
    rng = np.random.default_rng(0)
    states = rng.normal(size=(20, 5)) @ rng.normal(size=(5, 30))
    given = {"states": states, "targets": rng.normal(size=20), "cv": KFold(4), "ridge": 1e-3}
    plain = cross_validate_readout(**given, algorithm="naive", readouts=True)
    found = cross_validate_readout(**given, algorithm=algorithm, readouts=True)
    same(found, plain, "nrmse")
    assert float(found.nrmse.mean()) == pytest.approx(1.7217, abs=1e-4)  # it was 1.5850
    np.testing.assert_allclose(found.readout, plain.readout, atol=1e-9)


def test_a_network_without_memory():
    y = np.random.default_rng(1).normal(size=60)
    model = ESNForecaster(80, spectral_radius=0.0, random_state=0)
    given = {"cv": KFold(5, valid=1), "ridge": 1e-4, "metric": "rmse"}
    plain = cross_validate(model, y, algorithm="naive", **given)
    for algorithm in ("auto", "large_k"):
        same(cross_validate(model, y, algorithm=algorithm, **given), plain)


@pytest.mark.parametrize(("steps", "states"), [(5, "last"), (1, 3)])
def test_sequences_that_are_repeated_or_short(steps, states):
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(steps, 2)) for _ in range(8)] * 2
    given = {"cv": 4, "metric": ["rmse", "error_rate"]}
    model = ESNClassifier(random_state=0, states=states)
    data = (sequences, list("ab" * 8))
    plain = cross_validate(model, *data, algorithm="naive", **given)
    for algorithm in ("auto", "large_k", "small_k"):
        found = cross_validate(model, *data, algorithm=algorithm, **given)
        same(found, plain)
        same(found, plain, "error_rate")


@pytest.mark.parametrize("kind", ["multiples", "weekdays", "constant"])
def test_collinear_inputs_by_every_memory_way(kind):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(150, 1))
    X = {
        "multiples": np.hstack([x, 2 * x]),
        "weekdays": np.hstack([np.eye(7)[np.arange(150) % 7], x]),
        "constant": np.ones((150, 1)),
    }[kind]
    y = np.roll(x[:, 0], 1) + 0.1 * rng.normal(size=150)
    given = {"cv": KFold(5), "ridge": [1e-9, 1e-6, 1e-3], "metric": "rmse"}
    for radius in (0.0, 0.8):
        model = ESNRegressor(15, spectral_radius=radius, random_state=0)
        plain = cross_validate(model, X, y, algorithm="naive", **given)
        for memory in ("states", *WAYS):
            same(cross_validate(model, X, y, memory=memory, **given), plain)


@pytest.mark.parametrize(
    ("scale", "size", "ridge"), [("standard", 1.0, 0.0), (None, 1e6, 1e-8), (None, 1e6, 0.0)]
)
def test_an_input_that_is_not_zero_in_one_fold_only(scale, size, ridge):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.zeros((200, 2))
        X[:, 0] = rng.normal(size=200)
        first = int(rng.integers(20, 160))
        X[first : first + 10, 1] = size * rng.normal(size=10)
        y = np.roll(X[:, 0], 1) + X[:, 1] / size + 0.1 * rng.normal(size=200)
        model = ESNRegressor(12, random_state=seed, scale=scale, input_scaling=[1.0, 1 / size])
        given = {"cv": KFold(8), "ridge": ridge, "metric": "rmse"}
        plain = cross_validate(model, X, y, algorithm="naive", **given)
        for memory in ("states", *WAYS):
            found = cross_validate(model, X, y, memory=memory, **given)
            same(found, plain)


def test_how_many_splits_were_handed_over_is_told():
    X, Y, _ = problem(0, "event", 60, 4)
    found = cross_validate_readout(X, Y, cv=KFold(6), ridge=0.0, algorithm="small_k")
    assert 1 <= found.attrs["refitted_splits"] <= 2
    assert cross_validate_readout(X[:, 2:], Y, cv=KFold(6)).attrs["refitted_splits"] == 0
