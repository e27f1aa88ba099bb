"""The prediction horizon, log_mse, and metrics of which the higher is better."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import same_scores
from searches import GRID, INPUTS, OUTPUTS, SEED, SERIES, one_by_one, searched
from test_on_device import accelerated, on_both  # noqa: F401

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    WalkForward,
    cross_validate,
    evaluate,
    metrics,
    plots,
)
from echofold.metrics import horizon, log_mse
from echofold.metrics._metric import resolve

PAIR = np.stack([SERIES, 3 * np.roll(SERIES, 4) + 20], axis=1)


def plain_horizon(truth, outputs, all_rows, threshold, normalise, step):
    """Rows before the first whose error is too large, counted one by one."""
    truth, outputs = truth.reshape(len(truth), -1), outputs.reshape(len(outputs), -1)
    units = {
        "std": np.sqrt(all_rows.var(axis=0).mean()),
        "each": all_rows.std(axis=0),
        "rms": np.sqrt((all_rows**2).mean()),
        None: 1.0,
    }
    unit = units.get(normalise, normalise)
    for n in range(len(truth)):
        error = np.sqrt(np.mean(((truth[n] - outputs[n]) / unit) ** 2))
        if not error <= threshold:
            return n * step
    return len(truth) * step


@pytest.mark.parametrize("normalise", ["std", "each", "rms", None, 0.5, (0.5, 2.0)])
@pytest.mark.parametrize("y", [SERIES, PAIR], ids=["one", "two"])
def test_of_arrays(y, normalise):
    if y.ndim == 1 and isinstance(normalise, tuple):
        with pytest.raises(ValueError, match="normalise has 2 numbers, but there are 1 outputs"):
            horizon(0.3, normalise=normalise)(y, y)
        return
    rng = np.random.default_rng(0)
    found = []
    for size in (0.01, 0.1, 0.5, 2.0):
        outputs = y + size * rng.normal(size=y.shape)
        found.append(horizon(0.3, normalise=normalise, step=0.5)(y, outputs))
        rows = y.reshape(len(y), -1)
        assert found[-1] == plain_horizon(y, outputs, rows, 0.3, normalise, 0.5)
    assert found[0] > found[-1]


def test_a_run_that_diverges_is_lost_where_it_does():
    truth, outputs = np.arange(6.0), np.array([0, 1, 2, np.inf, np.nan, 5])
    assert horizon(0.1)(truth, outputs) == 3
    assert horizon(0.1)(truth, np.full(6, np.nan)) == 0


@pytest.mark.parametrize("cv", [KFold(4), WalkForward(3, min_train=60), KFold(5, valid=50)])
@pytest.mark.parametrize("options", [{}, {"difference": (1,)}, {"output_range": (-3, 30)}], ids=str)
def test_closed_loops_equal_the_plain_definition(cv, options):
    metric = horizon(0.4, step=0.1)
    model = ESNForecaster(15, random_state=SEED, ridge=1e-4, **options)
    ridge = [1e-6, 1e-2]
    found = cross_validate(model, PAIR, cv=cv, ridge=ridge, metric=metric)

    rows = PAIR[-found.attrs["rows"] :]

    def by_hand(truth, outputs):
        return plain_horizon(truth, outputs, rows, 0.4, "std", 0.1)

    expected = cross_validate(model, PAIR, cv=cv, ridge=ridge, metric=by_hand)
    np.testing.assert_allclose(found.horizon, expected.by_hand, rtol=1e-12)
    assert len(np.unique(found.horizon)) > 2
    # With another metric beside it, outputs are kept and the horizon comes from these.
    both = cross_validate(model, PAIR, cv=cv, ridge=ridge, metric=[metric, "mae"])
    np.testing.assert_array_equal(both.horizon, found.horizon)


@pytest.mark.parametrize("memory", ["states", "pieces", "fold", "frugal"])
def test_every_way_of_using_memory(memory):
    options = {"cv": KFold(4), "ridge": [1e-6, 1.0], "metric": horizon(0.2)}
    model = ESNForecaster(15, random_state=SEED)
    expected = cross_validate(model, SERIES, algorithm="naive", **options)
    found = cross_validate(model, SERIES, memory=memory, **options)
    np.testing.assert_array_equal(found.horizon, expected.horizon)


@pytest.mark.parametrize("cv", [KFold(4), KFold(4, gap=3), Accumulative(3, min_train=60)], ids=str)
@pytest.mark.parametrize("memory", ["states", "pieces"])
def test_open_loops(cv, memory):
    options = {"cv": cv, "ridge": [1e-6, 1.0, 100.0], "metric": ["nrmse", horizon(1.0)]}
    model = ESNRegressor(15, random_state=SEED)
    found = cross_validate(model, INPUTS, OUTPUTS, memory=memory, **options)
    rows = OUTPUTS[-found.attrs["rows"] :]

    def by_hand(truth, outputs):
        return plain_horizon(truth, outputs, rows, 1.0, "std", 1.0)

    options["metric"] = by_hand
    expected = cross_validate(model, INPUTS, OUTPUTS, algorithm="naive", **options)
    np.testing.assert_array_equal(found.horizon, expected.by_hand)
    assert len(np.unique(found.horizon)) > 3


def test_open_loops_without_states_are_refused():
    with pytest.raises(ValueError, match=r"metric='horizon' needs all predictions of a split"):
        cross_validate(
            ESNRegressor(9, random_state=0), INPUTS, OUTPUTS, metric=horizon(1.0), memory="frugal"
        )


@pytest.mark.parametrize(
    ("prune", "more"),
    [(False, []), (True, []), (False, ["mae"])],
    ids=["alone", "pruned", "beside another"],
)
def test_on_a_device(accelerated, prune, more):  # noqa: F811
    def work():
        metric = [horizon(0.3), *more]
        return searched(metric=metric, cv=KFold(4), prune=prune, n_draws=2)

    host, device = on_both(accelerated, work)
    if not prune:
        np.testing.assert_array_equal(device.results_.horizon, host.results_.horizon)
    assert device.best_params_ == host.best_params_
    assert device.best_score_ == host.best_score_


def test_steps_without_a_value_are_passed_over():
    y = SERIES.copy()
    y[[40, 41, 90, 130]] = np.nan
    model = ESNForecaster(15, random_state=SEED)
    with pytest.warns(UserWarning, match="missing"):
        found = cross_validate(model, y, cv=KFold(4), ridge=[1e-6, 1e-2], metric=horizon(1e6))
    np.testing.assert_array_equal(found.horizon, 36.0)  # a run goes on over what is missing
    with pytest.warns(UserWarning, match="missing"):
        short = cross_validate(
            model, y, cv=KFold(4), ridge=[1e-6, 1e-2], metric=[horizon(0.3), "mae"]
        )
    with pytest.warns(UserWarning, match="missing"):
        alone = cross_validate(model, y, cv=KFold(4), ridge=[1e-6, 1e-2], metric=horizon(0.3))
    np.testing.assert_array_equal(short.horizon, alone.horizon)
    assert (alone.horizon < 36).any()


# --- which way is better ------------------------------------------------------------------------


def closeness(truth, outputs):
    return -float(np.abs(truth - outputs).mean())


closeness.higher_is_better = True


def test_a_function_says_its_direction():
    up, down = searched(metric=closeness), searched(metric="mae")
    np.testing.assert_allclose(up.results_.closeness, -down.results_.mae, rtol=1e-12)
    assert up.best_params_ == down.best_params_
    assert up.best_score_ == pytest.approx(-down.best_score_)
    assert up.results_.attrs["better"] == "higher" and down.results_.attrs["better"] == "lower"
    for name in ("retrain", "average", "best", "weighted"):
        np.testing.assert_array_equal(up.finalize(name).readout_, down.finalize(name).readout_)
    assert (up.to_frame().closeness.diff().dropna() <= 0).all()
    for key in ("rank_test_score", "mean_test_score"):
        np.testing.assert_allclose(up.cv_results_[key], down.cv_results_[key])
    assert f"{up.best_score_:.4f}" in up.summary()


@pytest.mark.parametrize("strategy", ["halving", "random", "optuna"])
@pytest.mark.parametrize("individual", [False, True])
def test_strategies_climb(strategy, individual):
    options = {"strategy": strategy, "ridge_per": "split" if individual else "all", "n_draws": 2}
    if strategy != "halving":
        options["n_iter"] = 6
    up, down = (searched(metric=metric, **options) for metric in (closeness, "mae"))
    assert up.candidates_ == down.candidates_
    assert up.best_params_ == down.best_params_


def test_ensembles_by_another_direction():
    space = {"difference": [(), (1,)], **GRID}
    up, down = (searched(space=space, metric=metric) for metric in (closeness, "mae"))
    # Twice an error of 0.3 is a closeness of -0.6.
    up, down = (one.finalize("ensemble") for one in (up, down))
    assert len(up.members) == len(down.members)
    np.testing.assert_array_equal(up.forecast(5), down.forecast(5))
    assert len(searched(space=space, metric=horizon(0.3)).finalize("ensemble").members) >= 1
    logs = searched(space=space, metric="log_mse").finalize("ensemble")
    plain = searched(space=space, metric="log_mse")
    assert plain._winners.reader.metrics[0].times(-3.0, 10.0) == pytest.approx(-1.0)
    assert len(logs.members) >= 1


def test_a_run_that_cannot_be_scored_loses():
    y = np.append(SERIES, SERIES[-1] + 1e-3)
    space = {"spectral_radius": [0.5, 30.0], "ridge": [1e-8]}
    search = ESNSearchCV(
        ESNForecaster(12, random_state=SEED), space, cv=KFold(4), metric=closeness
    ).fit(y)
    assert search.best_params_["spectral_radius"] == 0.5


def test_pictures_mark_the_highest():
    search = searched(metric=horizon(0.3))
    best = search.best_params_
    ax = plots.ridge_path(search)
    (line,) = [one for one in ax.get_lines() if str(one.get_label()).startswith("highest, at")]
    assert line.get_ydata()[0] == pytest.approx(search.best_score_)
    ax = plots.surface(search, "leak_rate", "spectral_radius")
    labels = [str(one.get_label()) for one in ax.get_lines()]
    assert any(label.startswith("highest: ") for label in labels)
    assert best["leak_rate"] in GRID["leak_rate"]
    plt.close("all")


def test_a_checkpoint_belongs_to_its_threshold(tmp_path):
    first = searched(metric=horizon(0.3), checkpoint=tmp_path / "kept")
    again = searched(metric=horizon(0.3), checkpoint=tmp_path / "kept")
    np.testing.assert_array_equal(first.results_.horizon, again.results_.horizon)
    with pytest.raises(ValueError, match="another search"):
        searched(metric=horizon(0.31), checkpoint=tmp_path / "kept")


def test_an_honest_error_is_a_horizon_too():
    search = ESNSearchCV(
        ESNForecaster(12, random_state=SEED), {"ridge": [1e-6, 1e-2]},
        cv=KFold(4), metric=horizon(0.3, step=0.5),
    )  # fmt: skip
    found = evaluate(search, SERIES, origins=2, horizon=20)
    assert found.horizon.dims == ("origin",)
    assert ((found.horizon >= 0) & (found.horizon <= 10)).all()


# --- log_mse ------------------------------------------------------------------------------------


def test_log_mse_is_the_mean_of_logarithms():
    logs, squares = searched(metric="log_mse"), searched(metric="mse")
    np.testing.assert_allclose(logs.results_.log_mse, np.log10(squares.results_.mse), rtol=1e-10)
    assert logs.best_score_ == pytest.approx(float(logs.results_.log_mse.mean("split").min()))
    assert log_mse([1.0, 2.0], [1.0, 2.0]) == pytest.approx(-307.65, abs=0.01)
    same_scores(logs.results_.log_mse, one_by_one(logs, (SERIES,))["log_mse"], 1e-7)


# --- pruning ------------------------------------------------------------------------------------


def random_search(number: int, metric):
    """A search of random data, network, space and scheme, without and with pruning."""
    rng = np.random.default_rng(number)
    t = np.arange(161)
    y = np.sin(t / rng.uniform(2, 9)) + rng.uniform(0, 0.5) * rng.normal(size=161)
    if number % 3 == 0:
        y = np.stack([y, np.roll(y, 3) * rng.uniform(1, 50)], axis=1)
    space = {
        "leak_rate": rng.uniform(0.1, 1, 3).tolist(),
        "spectral_radius": rng.uniform(0.1, 1.6, 2).tolist(),
        "input_scaling": rng.uniform(0.1, 2, 2).tolist(),
        "ridge": (10.0 ** rng.uniform(-9, 1, 3)).tolist(),
    }
    cv = [KFold(4), KFold(4, valid=36), WalkForward(4, valid=36, min_train=60)][number % 3]
    estimator = ESNForecaster(12, random_state=number, washout=16)
    options = {"cv": cv, "metric": metric, "n_draws": 1 + number % 2}
    return [ESNSearchCV(estimator, space, prune=prune, **options).fit(y) for prune in (False, True)]


def assert_same_winner(number: int) -> tuple[int, int]:
    metric = [horizon(np.random.default_rng(number).uniform(0.05, 1.5)), "log_mse"][number % 2]
    full, pruned = random_search(number, metric)
    assert pruned.best_params_ == full.best_params_
    assert pruned.best_index_ == full.best_index_
    assert pruned.best_score_ == full.best_score_
    name = full.results_.attrs["metric"]
    cost = resolve(metric).cost
    before, after = (cost(one.results_[name].values) for one in (full, pruned))
    kept = ~pruned.results_.pruned.values
    kept = np.broadcast_to(kept[:, :, None], before.shape)
    np.testing.assert_allclose(after[kept], before[kept], rtol=1e-12)
    assert (after <= before + 1e-9).all()
    return full.results_.attrs["column_steps"], pruned.results_.attrs["column_steps"]


@pytest.mark.parametrize(
    "number", [pytest.param(one, marks=pytest.mark.slow if one > 5 else []) for one in range(12)]
)
def test_pruning_finds_the_same_winner(number):
    assert_same_winner(number)


@pytest.mark.slow
def test_pruning_finds_the_same_winner_in_200_searches():
    steps = np.array([assert_same_winner(number) for number in range(200)])
    assert steps[:, 1].sum() < 0.9 * steps[:, 0].sum()


# --- errors -------------------------------------------------------------------------------------


def test_wrong_arguments_are_named():
    for wrong in (0, -1, np.nan, "0.2", True):
        with pytest.raises(ValueError, match="threshold=.* must be a positive number"):
            horizon(wrong)
    with pytest.raises(ValueError, match="step=0 .* must be a positive number"):
        horizon(0.2, step=0)
    with pytest.raises(ValueError, match="normalise='var' is unknown: it must be 'std', 'each'"):
        horizon(0.2, normalise="var")
    with pytest.raises(ValueError, match=r"metric='horizon' needs a threshold: .*horizon\(0.2\)"):
        searched(metric="horizon")
    with pytest.raises(TypeError, match=r"metric=horizon needs a threshold: .*horizon\(0.2\)"):
        searched(metric=metrics.horizon)
    with pytest.raises(ValueError, match="output 0 is constant"):
        horizon(0.2)(np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match=r"horizon\(0.2\) is the time .*follow each other"):
        cross_validate(
            ESNRegressor(9), INPUTS, OUTPUTS, cv=KFold(4, shuffle=True), metric=horizon(0.2)
        )
    with pytest.raises(ValueError, match=r"horizon\(0.2\) is the time .*follow each other"):
        sequences = [np.ones((5, 1)) * i for i in range(20)]
        cross_validate(ESNClassifier(9), sequences, [0, 1] * 10, cv=2, metric=horizon(0.2))
    assert repr(horizon(0.2, step=0.5)) == "horizon(0.2, step=0.5)"
    assert hash(horizon(0.2)) == hash(horizon(0.2))
