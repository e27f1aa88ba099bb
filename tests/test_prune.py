"""Pruning is exact: the same winner with the same scores, and what was dropped is marked."""

import numpy as np
import pytest
from searches import CV, RIDGE, SEED, SERIES, TASKS, searched

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    WalkForward,
    datasets,
)

WIDE = {"leak_rate": [0.1, 0.3, 1.0], "spectral_radius": [0.2, 0.6, 1.4], "ridge": RIDGE}


@pytest.fixture(autouse=True)
def few_looks(monkeypatch):
    """Look at the bounds less often, because every length of a run is compiled once."""
    monkeypatch.setattr("echofold._search.prune.SEGMENTS", 4)


def pair(**options):
    """The same search without and with pruning."""
    options = {"space": WIDE, **options}
    return searched(**options), searched(**options, prune=True)


def assert_exact(full, pruned, scheme=None):
    """Whatever is not dropped has its full scores; what is dropped has lower bounds."""
    a = full.results_ if scheme is None else full.results_[scheme]
    b = pruned.results_ if scheme is None else pruned.results_[scheme]
    dropped = b.pruned.broadcast_like(b[a.attrs["metric"]]).transpose(*a[a.attrs["metric"]].dims)
    assert b.pruned.dtype == bool and b.pruned.dims == ("draw", "candidate", "ridge")
    for name in [n for n in a if a[n].dims == ("draw", "candidate", "split", "ridge")]:
        before, after = a[name].values, b[name].values
        np.testing.assert_allclose(after[~dropped.values], before[~dropped.values], rtol=1e-12)
        assert (after <= before * (1 + 1e-12)).all()
    assert b.attrs["column_steps"] <= a.attrs["column_steps"]
    assert (b.condition == a.condition).all()


@pytest.mark.parametrize("metric", ["nrmse", "rmse", "mse", "mae", ["nrmse", "rmse"]])
def test_same_winner_with_the_same_scores(metric, monkeypatch):
    if metric == "nrmse":
        monkeypatch.undo()
    full, pruned = pair(metric=metric)
    assert_exact(full, pruned)
    assert pruned.best_params_ == full.best_params_
    assert pruned.best_index_ == full.best_index_
    assert pruned.best_score_ == pytest.approx(full.best_score_, rel=1e-12)
    np.testing.assert_array_equal(pruned.best_estimator_.readout_, full.best_estimator_.readout_)
    np.testing.assert_array_equal(pruned.forecast(9), full.forecast(9))
    assert pruned.results_.pruned.any()
    assert pruned.results_.attrs["column_steps"] < 0.9 * full.results_.attrs["column_steps"]


def test_the_winner_is_not_dropped_and_every_dropped_one_is_worse():
    full, pruned = pair()
    mean = full.results_.nrmse.mean(["draw", "split"]).values
    bound = pruned.results_.nrmse.mean(["draw", "split"]).values
    dropped = pruned.results_.pruned.values[0]
    assert not dropped[np.unravel_index(mean.argmin(), mean.shape)]
    assert (mean[dropped] > full.best_score_).all()
    assert (bound[dropped] > full.best_score_ * (1 - 1e-12)).all()
    assert (bound[dropped] < mean[dropped]).any()  # they were cut short


@pytest.mark.parametrize("seed", range(6))
def test_close_races(seed):
    """On noise all candidates are nearly as bad as each other."""
    noise = np.random.default_rng(seed).normal(size=161)
    found = []
    for prune in (False, True):
        model = ESNForecaster(12, random_state=seed)
        found.append(ESNSearchCV(model, WIDE, cv=CV, prune=prune).fit(noise))
    assert_exact(*found)
    full, pruned = found
    assert pruned.best_params_ == full.best_params_
    mean, bound = (one.results_.nrmse.mean(["draw", "split"]).values for one in found)
    dropped = pruned.results_.pruned.values[0]
    assert (bound[dropped] > full.best_score_ * (1 - 1e-12)).all()
    assert (mean[dropped] >= bound[dropped] * (1 - 1e-12)).all()


def test_dropped_candidates_stand_last_in_the_table():
    _, pruned = pair()
    table = pruned.to_frame()
    assert table.lower_bound.is_monotonic_increasing  # False before True
    assert table.lower_bound.sum() == int(pruned.results_.pruned.sum())
    assert table.nrmse[0] == pytest.approx(pruned.best_score_)
    assert "lower_bound" not in searched(space=WIDE).to_frame()


@pytest.mark.parametrize("select", ["mean", "draw"])
def test_several_draws(select):
    full, pruned = pair(n_draws=3, select=select)
    assert_exact(full, pruned)
    assert pruned.best_params_ == full.best_params_
    assert pruned.best_score_ == pytest.approx(full.best_score_, rel=1e-12)
    assert pruned.best_estimator_.seed_ == full.best_estimator_.seed_
    assert pruned.results_.attrs["column_steps"] < full.results_.attrs["column_steps"]
    dropped = pruned.results_.pruned.values
    if select == "mean":  # dropped in all draws or in none
        assert (dropped == dropped[:1]).all()
        with pytest.raises(ValueError, match="draw=1.*select='draw'"):
            pruned.finalize("retrain", draw=1)
    else:
        assert (dropped != dropped[:1]).any()
        for draw in range(3):
            np.testing.assert_array_equal(
                pruned.finalize("retrain", draw=draw).readout_,
                full.finalize("retrain", draw=draw).readout_,
            )


def test_several_schemes_and_intervals_of_different_lengths():
    schemes = {
        "CV": KFold(5),
        "AV": Accumulative(2, valid=29, min_train=50),
        "FV": WalkForward(3, min_train=58, gap=1),
    }
    full, pruned = pair(cv=schemes)
    for name in schemes:
        assert_exact(full, pruned, name)
        for final in ("retrain", "average"):
            np.testing.assert_array_equal(
                pruned.finalize(final, scheme=name).readout_,
                full.finalize(final, scheme=name).readout_,
            )
    assert pruned.best_params_ == full.best_params_


def test_known_inputs_several_outputs_and_groups_of_candidates(monkeypatch):
    y = np.stack([SERIES, np.roll(SERIES, 3)], axis=1)
    known = np.cos(np.arange(161) / 4)
    space = {"connectivity": [0.5, 1.0], "leak_rate": [0.3, 1.0], "ridge": RIDGE}
    monkeypatch.setattr("echofold._search.prune.SEGMENTS", 2)
    found = []
    for prune in (False, True):
        model = ESNForecaster(12, random_state=SEED)
        found.append(ESNSearchCV(model, space, cv=CV, prune=prune).fit(y, X=known))
    assert_exact(*found)
    assert found[0].best_params_ == found[1].best_params_


@pytest.mark.parametrize("memory", ["pieces", "frugal"])
def test_with_little_memory(memory):
    space = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
    full, pruned = searched(space=space), searched(space=space, prune=True, memory=memory)
    assert pruned.best_params_ == full.best_params_
    assert pruned.best_score_ == pytest.approx(full.best_score_, rel=1e-6)


def test_runs_of_one_step_have_nothing_to_cut():
    full, pruned = pair(cv=LeaveOneOut())
    assert_exact(full, pruned)
    assert not pruned.results_.pruned.any()
    np.testing.assert_array_equal(pruned.results_.nrmse, full.results_.nrmse)


def test_optuna_and_random_candidates():
    for strategy in ("random", "optuna"):
        full, pruned = pair(strategy=strategy, n_iter=5)
        if strategy == "random":
            assert pruned.candidates_ == full.candidates_
            assert_exact(full, pruned)
            assert pruned.best_params_ == full.best_params_
        assert np.isfinite(pruned.best_score_)
        assert not pruned.results_.pruned.values[:, pruned.best_index_].all()


@pytest.mark.parametrize(
    "metric", [lambda t, y: 0.0, ["nrmse", "mae"], ["nrmse", lambda t, y: 0.0]]
)
def test_metrics_that_need_not_grow_are_refused(metric):
    with pytest.raises(
        ValueError,
        match=r"prune=True needs .*_mse, r2; or mae, mase; or mape; or smape; or me.*Use prune=F",
    ):
        searched(prune=True, metric=metric)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_other_tasks_are_refused(task):
    with pytest.raises(ValueError, match=f"got {type(TASKS[task][0]).__name__}"):
        searched(task, prune=True)


@pytest.mark.parametrize("options", [{"ridge_per": "split"}, {"strategy": "halving"}])
def test_what_needs_complete_runs_is_refused(options):
    with pytest.raises(ValueError, match="ridge_per='split' nor with strategy='halving'"):
        searched(prune=True, **options)


@pytest.mark.slow
@pytest.mark.parametrize("series", ["labor", "gasoline", "sunspots", "electricity"])
def test_less_work_on_real_series(series, monkeypatch):
    monkeypatch.undo()
    y = getattr(datasets, f"load_{series}")().data
    space = {
        "leak_rate": [0.1, 0.3, 0.5, 0.7, 0.9],
        "spectral_radius": [0.0, 0.4, 0.8, 1.2],
        "ridge": [10.0**e for e in range(-9, 3)],
    }
    valid = len(y) // 20
    model = ESNForecaster(50, random_state=0)
    full, pruned = (
        ESNSearchCV(model, space, cv=KFold(18, valid=valid), prune=prune).fit(y)
        for prune in (False, True)
    )
    assert pruned.best_params_ == full.best_params_
    assert pruned.best_score_ == pytest.approx(full.best_score_, rel=1e-9)
    steps = [search.results_.attrs["column_steps"] for search in (full, pruned)]
    assert steps[1] < 0.85 * steps[0]
