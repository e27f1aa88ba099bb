"""The self-check: silent where results are right, an error where they are not."""

import warnings

import numpy as np
import pytest
from searches import GRID, TASKS, searched

from echofold import (
    Accumulative,
    ESNRegressor,
    KFold,
    LeaveOneOut,
    cross_validate,
    cross_validate_readout,
)
from echofold._folds import extended
from echofold._folds.algorithms import fit_rows
from echofold._folds.choose import VARIANTS


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("algorithm", ["auto", "naive", "small_k", "large_k"])
def test_right_results_pass(task, algorithm):
    model, data = TASKS[task]
    found = cross_validate(
        model, *data, cv=KFold(5), ridge=[0.0, 1e-9, 1.0], algorithm=algorithm, verify=True
    )
    assert found.attrs["verified_splits"] == 3
    plain = cross_validate(model, *data, cv=KFold(5), ridge=[0.0, 1e-9, 1.0], algorithm=algorithm)
    np.testing.assert_array_equal(found.nrmse, plain.nrmse)
    assert plain.attrs["verified_splits"] == 0


@pytest.mark.parametrize("memory", ["pieces", "fold", "frugal"])
def test_right_results_pass_without_states(memory):
    model, data = TASKS["regression"]
    found = cross_validate(model, *data, cv={"a": KFold(5), "b": Accumulative(4)}, memory=memory,
                           verify=True)  # fmt: skip
    assert [one.attrs["verified_splits"] for one in found.values()] == [3, 3]


def test_states_from_elsewhere_and_labels():
    rng = np.random.default_rng(0)
    found = cross_validate_readout(
        rng.normal(size=(40, 4)), rng.normal(size=40), cv=LeaveOneOut(), verify=True
    )
    assert found.attrs["verified_splits"] == 3
    model, data = TASKS["classification"]
    labels = cross_validate(model, *data, cv=3, metric="error_rate", verify=True)
    assert set(labels.data_vars) == {"error_rate", "condition"}


@pytest.mark.parametrize("task", TASKS)
def test_a_search_verifies_every_block(task):
    search = searched(task, verify=True)
    assert search.results_.attrs["verified_splits"] == 3
    twice = searched(task, {**GRID, "units": [11, 12]}, verify=True)
    assert twice.results_.attrs["verified_splits"] == 6
    np.testing.assert_array_equal(search.results_.nrmse, searched(task).results_.nrmse)


@pytest.mark.parametrize("task", TASKS)
def test_wrong_results_are_an_error(task, monkeypatch):
    for way in VARIANTS.values():

        def wrong_readouts(self, splits, right=way.readouts):
            found = right(self, splits)
            return found._replace(W=found.W * (1 + 1e-5))

        def wrong_residuals(self, splits, *asked, right=way.residuals):
            found = right(self, splits, *asked)
            return found._replace(residuals=found.residuals * (1 + 1e-5))

        monkeypatch.setattr(way, "readouts", wrong_readouts)
        monkeypatch.setattr(way, "residuals", wrong_residuals)
    with pytest.raises(
        RuntimeError, match=r"verify=True: .* differ from a plain refit by .* rounding"
    ):
        searched(task, verify=True)
    model, data = TASKS[task]
    with pytest.raises(RuntimeError, match="Use algorithm='naive'"):
        cross_validate(model, *data, cv=KFold(5), verify=True)


def test_ill_conditioned_states_are_no_false_alarm():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 1))
    model = ESNRegressor(60, spectral_radius=0.1, leak_rate=0.4, random_state=0)
    for memory in ("states", "pieces", "frugal"):
        found = cross_validate(
            model, x, np.roll(x[:, 0], 1), cv=KFold(4), ridge=[0.0, 1e-9], memory=memory,
            verify=True,
        )  # fmt: skip
        assert found.attrs["verified_splits"] == 3


def graded(seed, n, m, outlier):
    """Columns in very different units, and one row far away from all others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-6, 6, size=m)
    X[rng.integers(n)] *= outlier
    return X, 100 * rng.normal(size=n)


@pytest.mark.skipif(not extended.AVAILABLE, reason="no extended precision here")
@pytest.mark.parametrize("corrected", [True, False])
def test_plain_refits_are_compared_with_extended_precision(corrected, monkeypatch):
    """Rows of any size are right; where rows are not kept and doubles cannot tell, it is said."""
    if not corrected:
        monkeypatch.setattr("echofold._validation.refit.SMALL", 0)
        monkeypatch.setattr("echofold._folds.algorithms.SPOILED_ROWS", np.inf)
        monkeypatch.setattr("echofold._folds.algorithms.UNLIKE_ROWS", np.inf)
    told = 0
    for seed in range(12):
        X, y = graded(seed, 30, 8, 1e13)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = cross_validate_readout(X, y, cv=KFold(3), ridge=[1e-8, 1e-6], verify=True)
        loose = found.attrs["undetermined_splits"]
        assert bool(said) == bool(loose)
        assert all("extended precision finds otherwise" in str(one.message) for one in said)
        told += loose > 0
        ordinary, _ = graded(seed, 30, 8, 1.0)
        calm = cross_validate_readout(ordinary, y, cv=KFold(3), ridge=[1e-8, 1e-6], verify=True)
        assert calm.attrs["undetermined_splits"] == 0
    assert told == 0 if corrected else 1 <= told < 12


@pytest.mark.skipif(not extended.AVAILABLE, reason="no extended precision here")
@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_extended_precision_solves_what_it_says(penalised, weighted):
    rng = np.random.default_rng(0)
    X, Y, ridge = rng.normal(size=(20, 4)), rng.normal(size=(20, 2)), np.array([1e-6, 1.0])
    weights = rng.uniform(0.5, 2, size=20) if weighted else None
    W = extended.readouts(X, Y, weights, ridge, penalised)
    np.testing.assert_allclose(W.astype(float), fit_rows(X, Y, weights, ridge, penalised), 1e-12)
    least = extended.objectives(W, X, Y, weights, ridge, penalised)
    for change in 1e-4 * rng.normal(size=(5, *W.shape)):
        assert (extended.objectives(W + change, X, Y, weights, ridge, penalised) > least).all()


@pytest.mark.skipif(not extended.AVAILABLE, reason="no extended precision here")
def test_a_plain_refit_that_is_wrong_is_found(monkeypatch):
    from echofold._validation import verify as module

    right = module._readouts
    monkeypatch.setattr(module, "_readouts", lambda *given: 1.001 * right(*given))
    monkeypatch.setattr(module, "_compare", lambda *given: None)  # as if the fast path were, too
    model, data = TASKS["regression"]
    with pytest.raises(RuntimeError, match="above the minimum that extended precision finds"):
        cross_validate(model, *data, cv=KFold(5), ridge=[1e-6], algorithm="naive", verify=True)
