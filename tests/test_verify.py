"""The self-check: silent where results are right, an error where they are not."""

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
from echofold._folds.algorithm import Readouts, Residuals
from echofold._folds.choose import WAYS


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
    for way in WAYS.values():

        def wrong_readouts(self, splits, right=way.readouts):
            W, refitted = right(self, splits)
            return Readouts(W * (1 + 1e-5), refitted)

        def wrong_residuals(self, splits, right=way.residuals):
            at, e, refitted = right(self, splits)
            return Residuals(at, e * (1 + 1e-5), refitted)

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
