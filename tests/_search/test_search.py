"""A whole search: its scores are those of each candidate alone, and what is made of them."""

import copy
import io
import multiprocessing
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from searches import (
    CV,
    GRID,
    INPUTS,
    OUTPUTS,
    RIDGE,
    ROWS,
    SEED,
    SERIES,
    TASKS,
    exploding,
    identical,
    one_by_one,
    searched,
)
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.model_selection import KFold as StandardKFold

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    WalkForward,
    cross_validate,
    datasets,
    reservoirs,
)
from echofold._machine.notices import EchofoldWarning
from echofold._search.selection import FINALS, mean_costs, select

SCHEMES = {
    "CV": KFold(4),
    "AV": Accumulative(2, valid=36, min_train=50),
    "FV": WalkForward(2, valid=36, min_train=50, gap=2),
}
LISTS = [
    {"units": [12], "connectivity": [0.5], "leak_rate": [0.3, 1.0]},
    {"penalize_bias": [True], "scale": ["minmax"]},
    {"washout": [5, 16], "bias_scaling": [0.2]},
    {"random_state": [11], "input_scaling": [0.5]},
    {"spectral_radius": [None, 0.0]},
]


def largest_error(y_true, y_pred):
    return float(np.abs(np.asarray(y_true) - y_pred).max())


@pytest.fixture(scope="module")
def forecast_search():
    return searched(n_draws=2, metric=["nrmse", "mae"])


# --- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["auto", "small_k", "large_k"])
@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_every_candidate_alone(task, algorithm):
    cv = 3 if task == "classification" else CV
    search = searched(task, cv=cv, n_draws=2, algorithm=algorithm)
    plain = one_by_one(search, TASKS[task][1])
    assert search.results_.nrmse.shape == (2, 4, 3 if task == "classification" else 4, 3)
    np.testing.assert_allclose(search.results_.nrmse, plain["nrmse"], rtol=1e-7)
    assert np.ptp(plain["nrmse"], axis=(0, 1)).min() > 1e-4  # none stands for another


@pytest.mark.parametrize("task", TASKS)
def test_every_metric_at_once(task):
    metric = ["mae", "rmse", largest_error] + ["error_rate"] * (task == "classification")
    search = searched(task, {"leak_rate": [0.3, 1.0], "ridge": RIDGE}, metric=metric, cv=CV)
    plain = one_by_one(search, TASKS[task][1])
    assert list(plain) == ["mae", "rmse", "largest_error"] + metric[3:]
    for name, values in plain.items():
        np.testing.assert_allclose(search.results_[name], values, rtol=1e-7, atol=1e-12)
    assert search.best_score_ == search.results_.mae.mean(["draw", "split"]).min()


def test_candidates_that_share_no_draw_or_no_problem():
    search = ESNSearchCV(TASKS["forecast"][0], LISTS, cv=CV, n_draws=2).fit(SERIES)
    plain = one_by_one(search, (SERIES,))
    assert search.results_.sizes["candidate"] == 8
    np.testing.assert_allclose(search.results_.nrmse, plain["nrmse"], rtol=1e-7)
    assert search.results_.sizes["ridge"] == 1


def test_block_sizes_do_not_matter(monkeypatch, forecast_search):
    monkeypatch.setattr("echofold._validation.validate.SURELY_FREE", 0)
    monkeypatch.setattr("echofold._validation.validate.STATE_BYTES", 1)  # one candidate at a time
    monkeypatch.setattr("echofold._search.runner.WIDEST", 3)
    search = searched(n_draws=2, metric=["nrmse", "mae"])
    for name in ("nrmse", "mae"):
        np.testing.assert_allclose(search.results_[name], forecast_search.results_[name], rtol=1e-9)
    np.testing.assert_allclose(
        search.results_.condition, forecast_search.results_.condition, rtol=1e-6
    )


def test_weights_known_inputs_and_groups_reach_the_candidates():
    weight = np.linspace(0.1, 1, 161)
    space = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
    known = np.cos(np.arange(161) / 4)
    search = ESNSearchCV(TASKS["forecast"][0], space, cv=CV)
    search.fit(SERIES, X=known, sample_weight=weight)
    plain = one_by_one(search, (SERIES,), X=known, sample_weight=weight)
    np.testing.assert_allclose(search.results_.nrmse, plain["nrmse"], rtol=1e-7)

    groups = np.arange(160) % 5
    search = ESNSearchCV(TASKS["regression"][0], space, cv=GroupKFold(4))
    search.fit(INPUTS, OUTPUTS, groups=groups)
    plain = one_by_one(search, (INPUTS, OUTPUTS), groups=groups)
    np.testing.assert_allclose(search.results_.nrmse, plain["nrmse"], rtol=1e-7)


@pytest.mark.parametrize("memory", ["pieces", "fold", "frugal"])
def test_memory_ways_give_the_same_search(memory):
    search, other = searched("regression"), searched("regression", memory=memory)
    assert other.results_.attrs["memory"] == memory
    np.testing.assert_allclose(search.results_.nrmse, other.results_.nrmse, rtol=1e-7)
    assert search.best_params_ == other.best_params_


def test_several_schemes_at_once_drive_the_reservoir_once():
    search = searched(cv=SCHEMES)
    assert list(search.results_) == ["CV", "AV", "FV"]
    for name, scheme in SCHEMES.items():
        alone = searched(cv=scheme)
        together = search.results_[name]
        np.testing.assert_allclose(together.nrmse, alone.results_.nrmse, rtol=1e-9)
        np.testing.assert_array_equal(together.valid_start, alone.results_.valid_start)
        assert together.attrs["steps_driven"] == alone.results_.attrs["steps_driven"]
        assert together.attrs["scheme"] == repr(scheme)
        assert search.to_frame(name).nrmse[0] == pytest.approx(alone.best_score_, rel=1e-9)
    first = search.results_["CV"].nrmse.mean(["draw", "split"])
    assert search.best_score_ == first.min()


def test_the_default_is_ten_fold():
    search = ESNSearchCV(TASKS["regression"][0], {"ridge": RIDGE}).fit(INPUTS, OUTPUTS)
    assert search.results_.sizes["split"] == 10
    assert search.results_.attrs["scheme"] == repr(KFold(10))


def test_cross_validate_and_a_search_of_one_agree():
    alone = cross_validate(TASKS["regression"][0], INPUTS, OUTPUTS, cv=CV, ridge=RIDGE)
    search = searched("regression", {"ridge": RIDGE})
    np.testing.assert_array_equal(search.results_.nrmse[0, 0], alone.nrmse)


# --- draws and selection --------------------------------------------------------------------------


def test_selection_by_the_mean_or_within_the_best_draw():
    mean, draw = searched(n_draws=3), searched(n_draws=3, select="draw")
    np.testing.assert_array_equal(mean.results_.nrmse, draw.results_.nrmse)
    over_splits = mean.results_.nrmse.mean("split")
    over_draws = over_splits.mean("draw")
    assert mean.best_score_ == pytest.approx(float(over_draws.min()), rel=1e-14)
    at = over_draws.argmin(["candidate", "ridge"])
    assert mean.best_index_ == at["candidate"]
    assert mean.best_params_["ridge"] == RIDGE[int(at["ridge"])]
    assert draw.best_score_ == pytest.approx(float(over_splits.min()), rel=1e-14)
    at = over_splits.argmin(["draw", "candidate", "ridge"])
    assert draw.best_index_ == at["candidate"]
    assert draw.best_estimator_.seed_ == SEED + int(at["draw"])
    assert draw.best_score_ < mean.best_score_


def test_every_split_takes_its_own_ridge():
    search = searched("regression", ridge_per="split", n_draws=2)
    each = search.results_.nrmse.min("ridge").mean("split").mean("draw")
    assert search.best_score_ == pytest.approx(float(each.min()), rel=1e-14)
    assert search.best_index_ == each.values.argmin()
    assert search.best_score_ < searched("regression", n_draws=2).best_score_


def test_random_state_of_the_search_comes_before_the_estimators():
    other = searched(random_state=SEED + 1)
    assert other.seed_ == SEED + 1
    np.testing.assert_allclose(
        other.results_.nrmse[0], searched(n_draws=2).results_.nrmse[1], rtol=1e-12
    )


def test_none_as_the_seed_of_a_candidate_is_the_seed_of_the_search():
    space = {"random_state": [None, 11], "leak_rate": [0.3, 1.0], "ridge": RIDGE}
    search = searched("regression", space, n_draws=2)
    plain = searched("regression", {"leak_rate": [0.3, 1.0], "ridge": RIDGE}, n_draws=2)
    other = searched(
        "regression", {"leak_rate": [0.3, 1.0], "ridge": RIDGE}, n_draws=2, random_state=11
    )
    np.testing.assert_array_equal(search.results_.nrmse[:, :2], plain.results_.nrmse)
    np.testing.assert_array_equal(search.results_.nrmse[:, 2:], other.results_.nrmse)
    only = searched("regression", {"random_state": [None]})
    assert only.best_params_["random_state"] is None
    assert only.best_estimator_.seed_ == SEED
    assert "random_state" in only.to_frame()


@pytest.mark.parametrize("seed", [np.random.RandomState(0), 1.5, "3", True])
def test_other_seeds_of_candidates_are_refused(seed):
    with pytest.raises(TypeError, match=r"space\['random_state'\] has .*an integer, or None"):
        searched("regression", {"random_state": [seed]})


def test_candidates_with_and_without_a_seed_of_their_own_do_not_share_draws():
    spaces = [{"random_state": [SEED], "leak_rate": [0.3]}, {"leak_rate": [0.3]}]
    found = searched("regression", spaces, random_state=8).results_.nrmse
    for place, seed in enumerate((SEED, 8)):
        alone = searched("regression", {"leak_rate": [0.3]}, random_state=seed).results_.nrmse
        np.testing.assert_array_equal(found[:, place], alone[:, 0])


def test_without_a_seed_one_is_drawn_and_kept():
    space = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
    search = ESNSearchCV(ESNForecaster(12), space, cv=CV).fit(SERIES)
    assert search.results_.attrs["seed"] == search.seed_
    again = ESNSearchCV(ESNForecaster(12), space, cv=CV, random_state=search.seed_).fit(SERIES)
    np.testing.assert_array_equal(search.results_.nrmse, again.results_.nrmse)
    assert ESNSearchCV(ESNForecaster(12), space, cv=CV).fit(SERIES).seed_ != search.seed_


SCORES = np.array([[0.5, 0.2, 0.4], [0.3, 0.6, 0.1]])[None, :, None, :] * np.ones((2, 2, 4, 3))


@pytest.mark.parametrize("bad", [np.inf, np.nan, -np.nan])
def test_one_score_that_is_not_finite_loses(bad):
    scores = SCORES.copy()
    assert select(scores, False, None).candidate == 1
    scores[0, 1, 2, 2] = bad
    winner = select(scores, False, None)
    assert (winner.candidate, winner.ridge[0], winner.cost) == (0, 1, pytest.approx(0.2))
    assert select(scores, False, 1).candidate == 1  # the other draw knows nothing of it
    single = select(scores, True, None)  # each split takes another ridge instead
    assert single.candidate == 1
    assert single.cost == pytest.approx((7 * 0.1 + 0.3) / 8)
    assert np.isinf(mean_costs(scores, False)[0, 1, 2])


def test_individual_ridges_are_chosen_split_by_split():
    scores = SCORES.copy()
    scores[:, 1, 2, 0] = 0.05
    scores[:, 1, 3, 2] = np.nan
    winner = select(scores, True, None)
    assert winner.candidate == 1
    assert winner.ridge.tolist() == [2, 2, 0, 0]
    assert winner.cost == pytest.approx((0.1 + 0.1 + 0.05 + 0.3) / 4)


def test_lower_bounds_do_not_win():
    eligible = np.ones((2, 2, 3), dtype=bool)
    eligible[:, 1, 2] = False
    winner = select(np.where(eligible[:, :, None], SCORES, np.inf), False, None)
    assert (winner.candidate, winner.ridge[0]) == (0, 1)


def test_scores_that_are_not_finite_lose_and_are_counted():
    calls = []

    def fails_at_first(y_true, y_pred):
        calls.append(1)
        return np.nan if len(calls) <= 2 else largest_error(y_true, y_pred)

    search = searched("regression", {"ridge": RIDGE}, metric=fails_at_first)
    assert int(np.isnan(search.results_.fails_at_first).sum()) == 2
    assert search.best_params_ == {"ridge": 1.0}
    line = search.summary().splitlines()[2]
    assert line.split()[:4] == ["KFold(k=4)", "4", f"{search.best_score_:.4f}", "2"]
    assert search.to_frame().ridge.tolist()[0] == 1.0
    assert search.to_frame().fails_at_first.isna().tolist() == [False, True, True]
    assert search.cv_results_["rank_test_score"].tolist() == [2, 2, 1]


@pytest.mark.parametrize("prune", [False, True])
def test_when_all_diverge_the_result_says_so(prune):
    y, weight = exploding()
    search = ESNSearchCV(
        ESNForecaster(12, washout=12, scale=None, input_scaling=0, random_state=SEED),
        {"leak_rate": [0.3, 1.0], "ridge": [1e-6, 1e-4]},
        cv=KFold(3),
        prune=prune,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(y, sample_weight=weight)
    (warning,) = caught
    assert warning.category is EchofoldWarning
    assert "2 of 2 candidates (0, 1) have no finite score" in str(warning.message)
    assert "larger ridge" in str(warning.message)
    assert np.isinf(search.results_.nrmse).all()
    assert search.best_score_ == np.inf
    assert "every candidate diverges" in search.summary()
    assert search.summary().splitlines()[2].split()[3] == "12"
    assert np.isfinite(search.best_estimator_.readout_).all()
    with pytest.warns(EchofoldWarning, match="far outside of the data"):
        mean, _, upper = search.forecast(8, level=0.9)
    assert (upper[0.9] - mean > 100).all()  # and says so: the series itself stays below 100
    for final in ("average", "best", "weighted"):
        assert np.isfinite(search.finalize(final).readout_).all()


# --- results --------------------------------------------------------------------------------------


def test_results_are_labelled(forecast_search):
    found = forecast_search.results_
    assert isinstance(found, xr.Dataset)
    assert dict(found.sizes) == {"draw": 2, "candidate": 4, "split": 4, "ridge": 3}
    for name in ("nrmse", "mae"):
        assert found[name].dims == ("draw", "candidate", "split", "ridge")
    assert found.leak_rate.dims == found.spectral_radius.dims == ("candidate",)
    assert found.leak_rate.values.tolist() == [0.3, 0.3, 1.0, 1.0]
    assert found.spectral_radius.values.tolist() == [0.5, 1.1, 0.5, 1.1]
    assert found.ridge.values.tolist() == RIDGE
    assert found.valid_start.values.tolist() == [0, 36, 72, 108]
    assert found.valid_stop.values.tolist() == [36, 72, 108, 144]
    assert found.train_rows.values.tolist() == [108] * 4
    assert found.train.values.tolist() == ["36:144", "0:36 72:144", "0:72 108:144", "0:108"]
    assert set(found.algorithm.values) <= {"naive", "small_k", "large_k"}
    assert found.condition.dims == found.seconds.dims == ("draw", "candidate")
    assert (found.condition > 1).all() and (found.seconds > 0).all()
    attrs = found.attrs
    assert attrs["metric"] == "nrmse"
    assert attrs["hyper_parameters"] == ["leak_rate", "spectral_radius"]
    assert (attrs["rows"], attrs["strategy"], attrs["seed"]) == (ROWS, "grid", SEED)
    assert attrs["steps_driven"] == 2 * 160  # one pass for each draw
    assert attrs["column_steps"] == 2 * 4 * 3 * (144 - 4)
    assert attrs["reason"] and attrs["memory"] == "states" and attrs["seconds"] > 0
    best = found.nrmse.sel(ridge=forecast_search.best_params_["ridge"])
    assert best.mean(["draw", "split"]).min() == pytest.approx(forecast_search.best_score_)


def test_the_algorithm_asked_for_is_the_one_used():
    for algorithm in ("naive", "small_k", "large_k"):
        found = searched("regression", algorithm=algorithm).results_
        assert set(found.algorithm.values) == {algorithm}
        assert found.attrs["reason"] == f"{algorithm} was asked for"


def test_odd_hyper_parameters_become_text():
    W = [np.eye(12), np.diag(np.linspace(0.1, 1, 12))]
    search = searched("regression", {"W": W, "spectral_radius": [None, 0.9], "ridge": [1e-2]})
    found = search.results_
    assert found.W.values.tolist() == ["ndarray (12, 12)"] * 4
    assert found.spectral_radius.values.tolist() == ["None", "0.9"] * 2
    np.testing.assert_allclose(
        found.nrmse, one_by_one(search, (INPUTS, OUTPUTS))["nrmse"], rtol=1e-7
    )


def test_to_frame(forecast_search):
    table = forecast_search.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == [
        "leak_rate", "spectral_radius", "ridge", "nrmse", "nrmse_std", "mae", "mae_std", "condition"
    ]  # fmt: skip
    assert len(table) == 12
    assert table.nrmse.is_monotonic_increasing
    assert table.nrmse[0] == pytest.approx(forecast_search.best_score_)
    first = table.iloc[0][["leak_rate", "spectral_radius", "ridge"]].to_dict()
    assert first == forecast_search.best_params_
    found = forecast_search.results_
    for row in table.itertuples():
        here = (found.leak_rate == row.leak_rate) & (found.spectral_radius == row.spectral_radius)
        scores = found.isel(candidate=int(here.values.argmax())).sel(ridge=row.ridge)
        assert row.mae == pytest.approx(float(scores.mae.mean()))
        assert row.nrmse_std == pytest.approx(float(scores.nrmse.mean("draw").std()))


def test_cv_results_have_the_shape_of_scikit_learn():
    space = {"leak_rate": [0.3, 1.0], "ridge": [1e-2, 1.0]}
    model = ESNRegressor(12, random_state=SEED)
    theirs = GridSearchCV(model, space, cv=2, refit=False).fit(INPUTS, OUTPUTS[:, 0]).cv_results_
    search = ESNSearchCV(model, space, cv=KFold(2)).fit(INPUTS, OUTPUTS[:, 0])
    ours = search.cv_results_
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        assert len(ours[name]) == len(values) == 4, name
        assert isinstance(ours[name], type(values)), name
    key = [(p["leak_rate"], p["ridge"]) for p in ours["params"]]
    assert sorted(key) == sorted((p["leak_rate"], p["ridge"]) for p in theirs["params"])
    assert ours["param_ridge"].tolist() == [p["ridge"] for p in ours["params"]]
    assert ours["param_leak_rate"].tolist() == [p["leak_rate"] for p in ours["params"]]
    assert ours["rank_test_score"].dtype == theirs["rank_test_score"].dtype
    mean = -search.results_.nrmse.isel(draw=0).mean("split").values.ravel()
    np.testing.assert_allclose(ours["mean_test_score"], mean)
    np.testing.assert_allclose(
        [ours["split0_test_score"], ours["split1_test_score"]],
        -search.results_.nrmse.isel(draw=0).values.transpose(1, 0, 2).reshape(2, 4),
    )
    np.testing.assert_array_equal(
        ours["rank_test_score"], pd.Series(-mean).rank(method="min").astype(int)
    )
    assert ours["params"][int(ours["rank_test_score"].argmin())] == search.best_params_
    assert len(pd.DataFrame(ours)) == 4


def test_cv_results_mask_parameters_that_a_candidate_does_not_have():
    search = ESNSearchCV(
        TASKS["regression"][0],
        [{"leak_rate": [0.3], "ridge": RIDGE}, {"bias_scaling": [0.1], "ridge": RIDGE}],
        cv=CV,
    ).fit(INPUTS, OUTPUTS)
    leak = search.cv_results_["param_leak_rate"]
    assert np.ma.getmaskarray(leak).tolist() == [False] * 3 + [True] * 3


def test_summary(forecast_search):
    text = forecast_search.summary()
    lines = text.splitlines()
    assert lines[0].startswith("4 candidates × 3 ridge values × 2 draws, 144 rows, ")
    assert lines[2].startswith("KFold(k=4)")
    assert f"{forecast_search.best_score_:.4f}" in lines[2]
    for name, value in forecast_search.best_params_.items():
        assert f"{name}={value:.4g}" in lines[2]
    assert "evaluate(search, ...)" in lines[3]
    assert len(searched(cv=SCHEMES).summary().splitlines()) == 6


def test_the_search_passes_calls_on_to_its_best_estimator(forecast_search):
    best = forecast_search.best_estimator_
    np.testing.assert_array_equal(forecast_search.forecast(5), best.forecast(5))
    np.testing.assert_array_equal(
        forecast_search.forecast(5, level=0.8).lower[0.8], best.forecast(5, level=0.8).lower[0.8]
    )
    search = searched("regression")
    best = search.best_estimator_
    np.testing.assert_array_equal(
        search.predict(INPUTS[:9], start="last"), best.predict(INPUTS[:9], start="last")
    )
    assert search.score(INPUTS, OUTPUTS) == best.score(INPUTS, OUTPUTS)
    search = searched("classification", {"ridge": RIDGE}, cv=3)
    sequences = TASKS["classification"][1][0]
    np.testing.assert_array_equal(
        search.predict(sequences), search.best_estimator_.predict(sequences)
    )
    assert search.decision_function(sequences).shape == (30, 3)


def test_the_estimator_and_the_arguments_stay_as_they_were():
    estimator = ESNForecaster(12, random_state=SEED)
    before = estimator.get_params()
    space = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
    search = ESNSearchCV(estimator, space, cv=CV)
    copy = clone(search)
    assert copy.get_params(deep=False)["space"] == space
    assert search.fit(SERIES) is search
    assert estimator.get_params() == before
    assert not hasattr(estimator, "readout_")
    assert space == {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
    np.testing.assert_array_equal(copy.fit(SERIES).results_.nrmse, search.results_.nrmse)
    np.testing.assert_array_equal(search.fit(SERIES).results_.nrmse, copy.results_.nrmse)


COPIES = {
    "pickle": lambda search: pickle.loads(pickle.dumps(search)),
    "deepcopy": copy.deepcopy,
    "joblib": lambda search: joblib.load(_dumped(search)),
}


def _dumped(search):
    file = io.BytesIO()
    joblib.dump(search, file)
    file.seek(0)
    return file


@pytest.fixture(scope="module")
def spawned():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module", params=["bar", "pool"])
def to_copy(request, spawned, tmp_path_factory):
    """A fitted search that has shown a bar, or has worked in other processes."""
    pytest.importorskip("rich")
    options = {"progress": True} if request.param == "bar" else {"executor": spawned}
    options["checkpoint"] = tmp_path_factory.mktemp("copied") / "c"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        return searched(n_draws=2, cv={"a": CV, "b": KFold(3)}, **options), options


@pytest.mark.parametrize("way", COPIES)
def test_a_fitted_search_can_be_copied(way, to_copy, tmp_path, undrawn):
    search, options = to_copy
    again = COPIES[way](search)
    identical(again, search)
    assert again.executor is None
    assert search.executor is options.get("executor")
    np.testing.assert_array_equal(again.forecast(5), search.forecast(5))
    for final in FINALS:
        for scheme in "ab":
            one, other = (s.finalize(final, scheme=scheme) for s in (again, search))
            np.testing.assert_array_equal(one.readout_, other.readout_)
    pd.testing.assert_frame_equal(again.to_frame(), search.to_frame())
    assert again.summary() == search.summary()
    again.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000
    identical(again.fit(SERIES), search)


@pytest.mark.parametrize("fitted", [False, True])
def test_a_clone_of_a_search_has_the_same_executor(spawned, fitted):
    estimator, data = TASKS["regression"]
    search = ESNSearchCV(estimator, GRID, cv=CV, executor=spawned)
    if fitted:
        search.fit(*data)
    again = clone(search)
    assert again.executor is spawned
    assert again.estimator is not estimator and again.space is not GRID
    assert not hasattr(again, "results_")
    assert again.get_params(deep=False).keys() == search.get_params(deep=False).keys()


def test_a_failed_refit_leaves_the_earlier_search(monkeypatch):
    def fails(*_, **__):
        raise MemoryError("in the search")

    search = searched("regression")
    expected = search.predict(INPUTS)
    with monkeypatch.context() as patch:
        patch.setattr("echofold._search.runner.Runner.run", fails)
        with pytest.raises(MemoryError, match="in the search"):
            search.fit(9 * INPUTS[:100, :1], 9 * OUTPUTS[:100, 0])
    np.testing.assert_array_equal(search.predict(INPUTS), expected)
    again = search.finalize("retrain")  # from the data of the earlier search
    np.testing.assert_array_equal(again.readout_, search.best_estimator_.readout_)


def test_numpy_values_and_single_values_are_lists_too():
    space = {"leak_rate": np.array([0.3, 1.0]), "spectral_radius": 0.5, "ridge": np.array(RIDGE)}
    search = ESNSearchCV(TASKS["forecast"][0], space, cv=CV).fit(SERIES)
    assert search.candidates_ == [
        {"leak_rate": 0.3, "spectral_radius": 0.5},
        {"leak_rate": 1.0, "spectral_radius": 0.5},
    ]
    assert type(search.best_params_["leak_rate"]) is float
    np.testing.assert_allclose(
        search.results_.nrmse[0], searched().results_.nrmse[0][[0, 2]], rtol=1e-9
    )


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"space": {}}, ValueError, r"space=\{\} is empty.*at least one parameter"),
        ({"space": []}, ValueError, r"space=\[\] is empty"),
        ({"space": [{}, {}]}, ValueError, r"space=\[\{\}, \{\}\] is empty"),
        ({"space": {"leak_rate": []}}, ValueError, r"space\['leak_rate'\] is empty.*no candidates"),
        ({"space": {"ridge": []}}, ValueError, r"space\['ridge'\] is empty"),
        ({"space": 3}, TypeError, "space=3: expected a dict"),
        (
            {"space": {"leek_rate": [0.1]}},
            ValueError,
            "'leek_rate', which is not a parameter.*mean 'leak_rate'.*parameters are .*washout",
        ),
        ({"space": {"radius": [1.0]}}, ValueError, "'radius'.*Did you mean 'spectral_radius'"),
        ({"space": {"alpha": [1.0]}}, ValueError, "'alpha', which is not a parameter of the est"),
        ({"space": {"ridge": [1e-3, -1]}}, ValueError, r"ridge=\[0.001, -1\] is not allowed.*0"),
        ({"space": {"ridge": -1}}, ValueError, r"ridge=\[-1\] is not allowed"),
        ({"space": {"ridge": [np.nan]}}, ValueError, "ridge=.*must be a finite number"),
        ({"space": {"ridge": [1, 1]}}, ValueError, "repeated values"),
        ({"space": [{"ridge": [1]}, {"ridge": [2]}]}, ValueError, "different ridge paths"),
        ({"space": {"leak_rate": [0.5, 2]}}, ValueError, r"leak_rate=2 .*a number in \(0, 1\]"),
        ({"cv": KFold(200)}, ValueError, "k=200 folds need at least 200 rows, but n=144"),
        (
            {"cv": Accumulative(3, valid=10, min_train=5, gap=10)},
            ValueError,
            "rows 5 to 15 with a gap of 10 rows leave no rows to train on; n=144",
        ),
        ({"cv": {}}, ValueError, r"cv=\{\} is empty"),
        ({"cv": "KFold"}, TypeError, "cv='KFold': expected a scheme"),
        ({"final": "mean"}, ValueError, "final='mean' is unknown.*'retrain', 'average', 'best'"),
        ({"select": "best"}, ValueError, "select='best' is unknown: it must be 'mean', 'draw'"),
        ({"strategy": "bayes"}, ValueError, "strategy='bayes' is unknown.*'grid', 'random'"),
        ({"algorithm": "fast"}, ValueError, "algorithm='fast' is unknown"),
        ({"strategy": "random"}, ValueError, "n_iter=None.*strategy='random' needs it"),
        ({"strategy": "optuna"}, ValueError, "n_iter=None.*strategy='optuna' needs it"),
        ({"strategy": "halving", "n_iter": 0}, ValueError, "n_iter=0 is not allowed"),
        ({"n_iter": 5}, ValueError, "n_iter=5 has no meaning for strategy='grid'"),
        ({"n_draws": 0}, ValueError, "n_draws=0 is not allowed: it must be a positive integer"),
        ({"n_draws": 1.5}, ValueError, "n_draws=1.5 is not allowed"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0 is not allowed"),
        ({"metric": "r3"}, ValueError, "metric='r3' is unknown"),
        ({"metric": []}, ValueError, r"metric=\[\] is empty"),
        ({"metric": "error_rate"}, ValueError, "'error_rate' counts wrong labels.*classifier"),
        ({"memory": "lots"}, ValueError, "memory='lots' is not understood"),
        ({"random_state": "x"}, TypeError, "random_state must be an integer"),
    ],
)
def test_bad_arguments(options, error, message):
    options = {"space": {"leak_rate": [0.3]}, "cv": CV, **options}
    search = ESNSearchCV(TASKS["forecast"][0], **options)
    with pytest.raises(error, match=message):
        search.fit(SERIES)


def test_bad_data_is_refused_as_by_the_estimator():
    with pytest.raises(ValueError, match=r"y contains .*\(inf\) in column 0 at row 3"):
        ESNSearchCV(TASKS["forecast"][0], GRID).fit(np.where(np.arange(161) == 3, np.inf, SERIES))


def test_questions_to_a_search_that_was_not_fitted():
    from sklearn.exceptions import NotFittedError

    search = ESNSearchCV(TASKS["forecast"][0], GRID)
    for ask in (search.summary, search.to_frame, lambda: search.forecast(2)):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(NotFittedError):
        _ = search.cv_results_


def test_a_scheme_that_is_not_there(forecast_search):
    with pytest.raises(ValueError, match="scheme='AV' is not one of this search: cv"):
        forecast_search.to_frame("AV")


# --- at real size ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_scores_at_real_size(task):
    if task == "forecast":
        model, data = ESNForecaster(50, random_state=0), (datasets.load_gasoline().data,)
        cv = {"CV": KFold(10), "AV": Accumulative(10), "steps": KFold(18, valid=201)}
    elif task == "regression":
        y = np.asarray(datasets.load_electricity().data, dtype=float).ravel()
        model, data, cv = ESNRegressor(100, random_state=0), (y[:-1], y[1:]), {"CV": KFold(20)}
        data = (data[0][:, None], data[1])
    else:
        vowels = datasets.load_japanese_vowels()
        model, cv = ESNClassifier(50, states=3, random_state=0), {"CV": KFold(10)}
        data = (vowels.train, vowels.train_labels)
    space = {
        "leak_rate": [0.1, 0.5, 0.9],
        "spectral_radius": [0.3, 0.9],
        "ridge": [1e-8, 1e-6, 1e-4, 1e-2, 1.0],
    }
    search = ESNSearchCV(model, space, cv=cv, n_draws=2).fit(*data)
    for name in cv:
        plain = one_by_one(search, data, scheme=name)["nrmse"]
        found = search.results_[name].nrmse.values
        # A run that explodes multiplies the last bits of its readout by as much as its values.
        stable = plain < 2
        assert stable.mean() > 0.8
        np.testing.assert_allclose(found[stable], plain[stable], rtol=1e-4)
        np.testing.assert_allclose(found, plain, rtol=0.1)
        assert found.mean(axis=(0, 2)).argmin() == plain.mean(axis=(0, 2)).argmin()


# --- every candidate diverges, washouts that differ -----------------------------------------------


def test_where_every_candidate_diverges_the_one_that_does_least_often_wins():
    scores = np.array(
        [[[[np.inf], [np.inf], [0.1]], [[0.2], [np.inf], [0.9]], [[9.0], [8.0], [np.inf]]]]
    )
    winner = select(scores, False, None)
    assert (winner.candidate, winner.diverged, winner.cost) == (1, 1, np.inf)
    finite = np.concatenate([scores, np.full_like(scores, 0.5)], axis=1)
    assert select(finite, False, None).candidate == 3


@pytest.mark.filterwarnings("default::echofold.EchofoldWarning")
def test_a_diverging_winner_is_said():
    y, weight = exploding()
    search = ESNSearchCV(
        ESNForecaster(10, random_state=0, spectral_radius=0.5, scale=None),
        {"leak_rate": [1.0, 0.9], "ridge": [1e-9, 1e-6]},
        cv=KFold(3, valid=190),
    )
    with pytest.warns(EchofoldWarning, match=r"Every candidate diverges .* in \d of 3 runs"):
        search.fit(y, sample_weight=weight)
    assert search.best_score_ == np.inf
    assert "the winner does so least often" in search.summary()


def test_candidates_with_different_washouts_are_scored_on_the_same_rows():
    found = searched(space={"washout": [0, "auto", 60], "ridge": [1e-4]})
    alone = searched(space={"washout": [60], "ridge": [1e-4]})
    assert found.results_.attrs["rows"] == 160 - 60
    for candidate in range(3):
        np.testing.assert_allclose(
            found.results_.nrmse[:, candidate], alone.results_.nrmse[:, 0], rtol=1e-10
        )
    for final in ("retrain", "average"):  # retrained on all rows after its own washout
        model = found.finalize(final)
        assert np.isfinite(model.forecast(5)).all()
    # Scores are equal to rounding, so which of the three wins is left to it.
    own = {"washout": found.best_params_["washout"]}
    assert model.washout == own["washout"]
    plain = ESNForecaster(12, random_state=SEED, ridge=1e-4, **own).fit(SERIES)
    np.testing.assert_allclose(found.finalize("retrain").forecast(5), plain.forecast(5), rtol=1e-9)


def test_washouts_that_differ_leave_equally_many_rows_out_one_by_one():
    options = {"cv": LeaveOneOut(), "space": {"washout": [0, 16], "ridge": [1e-4]}}
    assert searched(**options).results_.sizes["split"] == 144


def test_classes_in_order_are_validated_by_default():
    """Contiguous folds would hold classes that training has not seen; those are named."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["ebb", "flow", "calm"], 8)
    sequences = [
        np.sin(np.arange(30) * {"ebb": 0.2, "flow": 0.5, "calm": 1.1}[label])
        + 0.2 * rng.normal(size=30)
        for label in labels
    ]
    space = {"leak_rate": [0.4, 1.0], "ridge": [1e-3, 1.0]}
    search = ESNSearchCV(ESNClassifier(15, random_state=0), space, metric="error_rate")
    search.fit(sequences, labels)
    assert search.best_score_ < 0.2
    assert "StratifiedKFold(n_splits=8" in search.results_.attrs["scheme"]
    for cv in (KFold(3), {"CV": KFold(3)}, StandardKFold(3), [(np.arange(16), np.arange(16, 24))]):
        with pytest.warns(EchofoldWarning, match="validated on .* not trained on .*'calm'") as said:
            ESNSearchCV(search.estimator, space, cv=cv, metric="error_rate").fit(sequences, labels)
        assert len(said) == 1
    with pytest.warns(EchofoldWarning, match="a class that they were not trained on .'ebb'."):
        cross_validate(search.estimator, sequences[7:], labels[7:])


def test_groups_are_kept_together_or_refused():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 1)), rng.normal(size=60), np.arange(60) % 6
    model = ESNRegressor(5, washout=0, random_state=0)
    found = cross_validate(model, X, y, groups=groups)
    assert found.attrs["scheme"].startswith("GroupKFold") and found.sizes["split"] == 6
    with pytest.raises(ValueError, match=r"cv=KFold\(k=3\) does not look at groups"):
        cross_validate(model, X, y, groups=groups, cv=KFold(3))


# --- without a space ------------------------------------------------------------------------------


def test_a_space_that_suits_a_series():
    months = pd.date_range("2015-01-01", periods=60, freq="MS")
    y = pd.Series(50 + 9 * np.sin(np.arange(60) * np.pi / 6), months)
    search = ESNSearchCV(ESNForecaster(5, random_state=0), cv=KFold(2)).fit(y)
    assert [one["difference"] for one in search.space_] == 2 * [[()], [(1,)], [(12,)], [(12, 1)]]
    assert {one["log"][0] for one in search.space_} == {False, True}
    assert search.space == "auto" and len(search.candidates_) == 32
    np.testing.assert_array_equal(
        search.forecast(3),
        ESNSearchCV(search.estimator, search.space_, cv=KFold(2)).fit(y).forecast(3),
    )
    few = ESNSearchCV(ESNForecaster(5, random_state=0), cv=KFold(2)).fit(-y.to_numpy()[:20])
    assert [one["difference"] for one in few.space_] == [[()], [(1,)], [(1, 1)]]


def test_what_was_set_stays_as_it_is():
    y = np.sin(np.arange(60.0))
    given = ESNForecaster(5, difference=(1,), ridge=0.5, leak_rate=0.7, random_state=0)
    search = ESNSearchCV(given, cv=KFold(2)).fit(y)
    assert search.best_estimator_.difference == (1,) and search.best_params_["ridge"] == 0.5
    for space in search.space_:
        assert not space.keys() & {"difference", "ridge", "leak_rate"}
    kind = ESNForecaster(reservoir=reservoirs.EdgeOfStability(5), random_state=0)
    assert not ESNSearchCV(kind, cv=KFold(2)).fit(y).space_[0].keys() & {"leak_rate"}


def test_spaces_of_regressors_and_classifiers():
    rng = np.random.RandomState(0)
    u = rng.rand(60, 1)
    found = ESNSearchCV(ESNRegressor(5, random_state=0), cv=KFold(2)).fit(u, np.roll(u, 1))
    assert found.best_score_ < 0.6 and len(found.candidates_) == 27
    sequences = [np.sin(np.arange(12) * speed + rng.rand()) for speed in (0.3, 1.1) * 10]
    names = ["slow", "fast"] * 10
    found = ESNSearchCV(ESNClassifier(5, random_state=0), cv=2).fit(sequences, names)
    assert found.score(sequences, names) > 0.9


def test_a_space_of_another_name_is_refused():
    with pytest.raises(TypeError, match="a list of them, or 'auto'"):
        ESNSearchCV(ESNForecaster(5), "large").fit(np.arange(30.0))
