"""Whole sequences with a number each, against a loop over time that refits every split."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from model_files import archive, array, members_of
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from echofold import (
    EchofoldWarning,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    LeaveSeriesOut,
    cross_validate,
    evaluate,
    load,
    save,
)
from echofold._validation.refit import Triangle
from echofold.reservoirs import Deep

RNG = np.random.default_rng(11)
LENGTHS = RNG.integers(6, 15, 30)
SEQUENCES = [RNG.normal(size=(n, 2)) * RNG.uniform(0.3, 2) for n in LENGTHS]
ONE = np.array([np.abs(one).mean() for one in SEQUENCES])
TWO = np.column_stack([ONE, [one[-1, 0] for one in SEQUENCES]])
LACKING = TWO.copy()
LACKING[[3, 17], [0, 1]] = np.nan
WEIGHTS = RNG.uniform(0.2, 3, 30)
SETTINGS = {"units": 12, "random_state": 0, "leak_rate": 0.6}
RIDGE = [1e-3, 1.0]
CASES = {
    "mean": ({}, ONE, None),
    "last": ({"states": "last"}, ONE, None),
    "three positions": ({"states": 3}, TWO, None),
    "two outputs, a range": ({"output_range": (0.4, [1.3, np.inf])}, TWO, None),
    "missing, weights": ({"scale": "minmax"}, LACKING, WEIGHTS),
    "penalised bias, unscaled": ({"penalize_bias": True, "scale": None}, ONE, WEIGHTS),
    "states alone": ({"readout": "states"}, ONE, None),
}
SCHEMES = {
    "KFold": KFold(4),
    "shuffled": KFold(4, shuffle=True, random_state=2),
    "leave one out": LeaveOneOut(),
    "groups": GroupKFold(3),
}
GROUPS = np.arange(30) % 7


def rows_of(model, sequences):
    """What the readout sees of each sequence, by a loop over its steps."""
    rows = []
    for one in (one * 1.0 for one in sequences):
        x, seen = np.zeros(len(model.W_)), []
        for u in (one - model.X_scaler_.center) / model.X_scaler_.unit:
            new = np.tanh(model.W_in_ @ np.concatenate([[1.0], u]) + model.W_ @ x)
            x = (1 - model.leak_rate) * x + model.leak_rate * new
            seen.append([*u, *x] if model.readout != "states" else x)
        seen, count = np.array(seen), 2 if model.readout != "states" else 0
        states = model.get_params()["states"]
        if states == "mean":
            parts = seen.mean(axis=0, keepdims=True)
        else:
            many = 1 if states == "last" else states
            parts = seen[[-(-i * len(seen) // many) - 1 for i in range(1, many + 1)]]
        rows.append(np.concatenate([[1.0], parts[:, :count].ravel(), parts[:, count:].ravel()]))
    return np.array(rows)


def solved(model, A, B, w, ridge):
    """The readout of some sequences."""
    penalty = ridge * np.eye(A.shape[1])
    penalty[0, 0] *= model.penalize_bias
    return np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * B))


@pytest.mark.filterwarnings("ignore:y. 2 values of 60 are missing")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", CASES)
def test_validation_equals_a_loop_that_refits(case, scheme):
    params, y, weights = CASES[case]
    params = {"states": "mean"} | params
    model = ESNRegressor(**SETTINGS, ridge=1e-2, **params).fit(SEQUENCES, y, weights)
    A, targets = rows_of(model, SEQUENCES), y.reshape(30, -1)
    there = ~np.isnan(targets).any(axis=1)
    w = there * (1.0 if weights is None else weights)
    B = model.y_scaler_.scaled(np.nan_to_num(targets))
    limits = model.output_range or (-np.inf, np.inf)
    expected = []
    for train, valid in SCHEMES[scheme].split(A, groups=GROUPS):
        valid = valid[there[valid]]
        if not len(valid):
            continue
        errors = []
        for ridge in RIDGE:
            W = solved(model, A[train], B[train], w[train], ridge)
            found = np.clip(model.y_scaler_.original(A[valid] @ W), *limits)
            errors.append(np.abs(found - targets[valid]).mean())
        expected.append(errors)
    options = {"cv": SCHEMES[scheme], "ridge": RIDGE, "metric": "mae", "sample_weight": weights}
    options["groups"] = GROUPS if scheme == "groups" else None
    ways = ("naive", "small_k", "large_k") if scheme != "leave one out" else ("naive", "auto")
    for algorithm in ways:
        found = cross_validate(model, SEQUENCES, y, algorithm=algorithm, verify=True, **options)
        np.testing.assert_allclose(found.mae, expected, rtol=1e-8, err_msg=algorithm)
    np.testing.assert_allclose(model.readout_, solved(model, A, B, w, 1e-2), rtol=1e-8, atol=1e-10)
    new = [one[::-1] for one in SEQUENCES[:5]]
    expected = np.clip(model.y_scaler_.original(rows_of(model, new) @ model.readout_), *limits)
    np.testing.assert_allclose(model.predict(new), expected.reshape((5, *y.shape[1:])), rtol=1e-9)


EQUAL = np.stack([one[:6] for one in SEQUENCES])
KINDS = {
    "list of arrays": (list(EQUAL), ONE),
    "tuple, list of numbers": (tuple(EQUAL), ONE.tolist()),
    "array": (EQUAL, ONE),
    "array of arrays": (np.array([*SEQUENCES, None], dtype=object)[:-1], ONE),
    "frames, a series": ([pd.DataFrame(one, columns=["a", "b"]) for one in EQUAL], pd.Series(ONE)),
    "polars": ([pl.DataFrame(one, schema=["a", "b"]) for one in EQUAL], pl.Series(ONE)),
    "frame of y": (list(EQUAL), pd.DataFrame(TWO, columns=["mean", "last"])),
    "one column": (list(EQUAL), ONE[:, None]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_every_kind_are_told_from_series(kind):
    X, y = KINDS[kind]
    plain = SEQUENCES if kind == "array of arrays" else list(EQUAL)
    y_plain = np.asarray(y, dtype=float)
    model, same = (ESNRegressor(**SETTINGS).fit(*data) for data in ((X, y), (plain, y_plain)))
    assert model.summaries_ == ("mean", "spread", "share", "max", "change", "last")
    np.testing.assert_array_equal(model.predict(X), same.predict(plain))
    assert model.predict(X).shape == y_plain.shape
    assert model.score(X, y) == same.score(plain, y_plain)


def test_sequences_of_one_input_may_have_one_axis():
    flat = [one[:, 0] for one in SEQUENCES]
    model = ESNRegressor(**SETTINGS).fit(flat, ONE)
    columns = [one[:, None] for one in flat]
    same = ESNRegressor(**SETTINGS).fit(columns, ONE)
    np.testing.assert_array_equal(model.predict(flat[:4]), same.predict(columns[:4]))


def test_an_array_of_series_with_a_row_for_every_step_is_a_list_of_them():
    model, same = ESNRegressor(**SETTINGS), ESNRegressor(**SETTINGS)
    for y in (EQUAL[:, :, 0] ** 2, EQUAL**2):
        model.fit(EQUAL, y, np.ones(EQUAL.shape[:2]))
        same.fit(list(EQUAL), list(y), list(np.ones(EQUAL.shape[:2])))
        assert not hasattr(model, "summaries_")
        np.testing.assert_array_equal(model.predict(EQUAL), np.stack(same.predict(list(EQUAL))))
        assert model.score(EQUAL, y) == same.score(list(EQUAL), list(y))
    found = [cross_validate(model, *data, cv=LeaveSeriesOut(3)).nrmse.values
             for data in ((EQUAL, y), (list(EQUAL), list(y)))]  # fmt: skip
    np.testing.assert_array_equal(*found)


def test_a_fit_forgets_what_the_one_before_was_of():
    model, fresh = ESNRegressor(**SETTINGS), ESNRegressor(**SETTINGS)
    series = SEQUENCES[0], SEQUENCES[0][:, 0]
    frame = pd.DataFrame(SEQUENCES[1], columns=["a", "b"])
    model.fit(SEQUENCES, ONE).fit(*series)
    assert not {"summaries_", "normalize_", "ridge_", "X_schema_"} & set(vars(model))
    np.testing.assert_array_equal(
        model.predict(series[0], "last"), fresh.fit(*series).predict(series[0], "last")
    )
    model.fit(frame, frame["a"]).fit(SEQUENCES, ONE)
    assert not hasattr(model, "feature_names_in_")
    assert not model.state_.any() and model.n_features_in_ == 2
    before = model.predict(SEQUENCES)
    with pytest.raises(ValueError, match="y has 3 rows for 30 sequences"):
        model.fit(SEQUENCES, ONE[:3])
    np.testing.assert_array_equal(model.predict(SEQUENCES), before)


def test_folds_of_sorted_targets_are_shuffled():
    order = np.argsort(ONE)
    X, y = [SEQUENCES[i] for i in order], ONE[order]
    model = ESNRegressor(**SETTINGS)
    found = cross_validate(model, X, y, ridge=RIDGE)
    shuffled = cross_validate(model, X, y, cv=KFold(10, shuffle=True, random_state=0), ridge=RIDGE)
    np.testing.assert_array_equal(found.nrmse, shuffled.nrmse)
    five = cross_validate(model, X, y, cv=5, ridge=RIDGE)
    shuffled = cross_validate(model, X, y, cv=KFold(5, shuffle=True, random_state=0), ridge=RIDGE)
    np.testing.assert_array_equal(five.nrmse, shuffled.nrmse)
    assert cross_validate(model, X, y, cv=KFold(10)).attrs["scheme"] == "KFold()"
    assert cross_validate(model, X[:4], y[:4]).sizes["split"] == 4


@pytest.mark.parametrize("final", ["retrain", "average", "best", "weighted"])
@pytest.mark.parametrize("per", ["all", "split", "output"])
def test_searches_find_the_winner_and_make_its_models(final, per):
    space = {"states": ["mean", 2], "leak_rate": [0.3, 1.0], "ridge": RIDGE}
    search = ESNSearchCV(ESNRegressor(**SETTINGS), space, final=final, ridge_per=per, cv=4)
    search.fit(SEQUENCES, TWO)
    assert len(search.candidates_) == 4
    for candidate in search.candidates_:
        alone = ESNRegressor(**SETTINGS | candidate)
        found = cross_validate(alone, SEQUENCES, TWO, cv=4, ridge=RIDGE)
        place = search.candidates_.index(candidate)
        np.testing.assert_allclose(search.results_.nrmse[0, place], found.nrmse, rtol=1e-9)
    assert search.predict(SEQUENCES[:3]).shape == (3, 2)
    assert search.score(SEQUENCES, TWO) == search.best_estimator_.score(SEQUENCES, TWO)
    if final == "retrain" and per != "split":
        same = ESNRegressor(**SETTINGS | search.best_params_).fit(SEQUENCES, TWO)
        np.testing.assert_allclose(search.predict(SEQUENCES), same.predict(SEQUENCES), rtol=1e-9)


def test_a_search_without_a_space_and_its_report(tmp_path):
    X, y = SEQUENCES, pd.Series(ONE, name="size")
    search = ESNSearchCV(ESNRegressor(12, random_state=0)).fit(X, y)
    assert set(search.space_[0]) == {"leak_rate", "spectral_radius", "input_scaling", "ridge"}
    assert search.best_score_ < 0.5
    evaluate(search, X, y, origins=2, horizon=5)
    text = search.report(tmp_path / "report.html").read_text()
    assert "Prediction of size" in text and "On the 5 sequences after" in text
    assert "splits of 30 sequences." in text and ">30 sequences<" in text
    assert "only warm the reservoir up" not in text


def test_other_kinds_of_reservoir_and_draws():
    model = ESNRegressor(reservoir=Deep(units=8, layers=2), random_state=0)
    space = {"reservoir__leak_rate": [0.3, 1.0], "ridge": RIDGE}
    search = ESNSearchCV(model, space, n_draws=2, cv=LeaveOneOut(), verify=True)
    assert search.fit(SEQUENCES, ONE).best_score_ < 1


def test_what_follows_is_scored_in_a_shuffled_order():
    order = np.argsort(ONE)
    X, y, weights = [SEQUENCES[i] for i in order], ONE[order], WEIGHTS[order]
    search = ESNSearchCV(ESNRegressor(**SETTINGS), {"ridge": RIDGE}, cv=3, metric="mae")
    found = evaluate(search, X, y, sample_weight=weights, origins=2, horizon=5)
    rng = np.random.RandomState(0)
    at = np.argsort((rng.permutation(30) + rng.uniform()) / 30, kind="stable")
    for origin, start in enumerate((20, 25)):
        before, after = at[:start], at[start : start + 5]
        search.fit([X[i] for i in before], y[before], sample_weight=weights[before])
        said = search.predict([X[i] for i in after])
        assert found.mae[origin] == np.abs(said - y[after]).mean()
        assert found.validation[origin] == search.best_score_
    with pytest.raises(ValueError, match="evaluate of several series is for forecasts"):
        evaluate(search, EQUAL, EQUAL)


def test_sequences_work_with_tools_of_scikit_learn():
    scores = cross_val_score(make_pipeline(ESNRegressor(**SETTINGS)), SEQUENCES, ONE, cv=3)
    assert scores.shape == (3,) and np.isfinite(scores).all()
    y = LACKING[:, 0]
    with pytest.warns(EchofoldWarning, match="y: 1 value of 30 is missing"):
        model = ESNRegressor(**SETTINGS).fit(SEQUENCES, y)
    there = ~np.isnan(y)
    some = [one for one, has in zip(SEQUENCES, there, strict=True) if has]
    assert np.isclose(model.score(SEQUENCES, y), model.score(some, y[there]), rtol=1e-12)


@pytest.mark.parametrize("states", ["last", "mean", 3])
def test_small_and_compiled_problems_agree(states, compiled, monkeypatch):
    model = ESNRegressor(**SETTINGS, states=states)
    found = cross_validate(model, SEQUENCES, TWO, cv=4, ridge=RIDGE).nrmse
    predicted = model.fit(SEQUENCES, TWO).predict(SEQUENCES)
    monkeypatch.undo()
    eager = cross_validate(model, SEQUENCES, TWO, cv=4, ridge=RIDGE).nrmse
    np.testing.assert_allclose(found, eager, rtol=1e-9)
    eager = model.fit(SEQUENCES, TWO).predict(SEQUENCES)
    np.testing.assert_allclose(predicted, eager, rtol=1e-9)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("states", ["last", "mean", 3])
def test_a_model_is_saved_and_predicts_to_the_bit(states, tmp_path):
    frames = [pd.DataFrame(one, columns=["a", "b"]) for one in SEQUENCES]
    model = ESNRegressor(**SETTINGS, states=states, output_range=(0, np.inf)).fit(frames, TWO)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model", ESNRegressor)
    np.testing.assert_array_equal(loaded.predict(frames), model.predict(frames))
    with pytest.raises(ValueError, match="must have the columns given to fit"):
        loaded.predict([one[["b", "a"]] for one in frames])


def test_files_of_regressors_without_summaries_are_still_read(tmp_path):
    path = tmp_path / "model"
    model = ESNRegressor(**SETTINGS).fit(SEQUENCES[0], SEQUENCES[0][:, 0])
    save(model, path)
    members = members_of(path)
    about = json.loads(members["echofold.json"])
    for name in ("states", "summaries", "normalize"):
        del about["params"][name]
    path.write_bytes(archive(members | {"echofold.json": json.dumps(about).encode()}))
    np.testing.assert_array_equal(load(path).predict(SEQUENCES[0]), model.predict(SEQUENCES[0]))


@pytest.mark.parametrize("states", ["last", 3])
def test_files_of_one_summary_are_still_read(states, tmp_path):
    path = tmp_path / "model"
    model = ESNRegressor(**SETTINGS, states=states, reservoir=None).fit(SEQUENCES, ONE)
    save(model, path)
    members = members_of(path)
    about = json.loads(members["echofold.json"])
    for name in ("summaries", "normalize"):
        del about["params"][name]
    for name in ("summaries_", "normalize_", "ridge_", "validated_"):
        del about["fitted"][name]
    about["fitted"]["states_"], about["params"]["ridge"] = states, 0.1
    path.write_bytes(archive(members | {"echofold.json": json.dumps(about).encode()}))
    np.testing.assert_array_equal(load(path).predict(SEQUENCES), model.predict(SEQUENCES))


SPOILED = {
    "positions": ({"summaries_": {"tuple": [2]}}, "readout_"),
    "too many positions": ({"summaries_": {"tuple": [2**62]}}, "readout_"),
    "no summary": ({"summaries_": {"tuple": ["first"]}}, "summaries_"),
    "one twice": ({"summaries_": {"tuple": ["max", "max"]}}, "summaries_"),
    "none": ({"summaries_": {"tuple": []}}, "summaries_"),
    "a list": ({"summaries_": {"list": ["max"]}}, "summaries_"),
    "a word": ({"summaries_": "max"}, "summaries_"),
    "nothing": ({"summaries_": None}, "summaries_"),
    "both, of one": ({"normalize_": "both"}, "readout_|W_in_"),
    "another norm": ({"normalize_": "auto"}, "normalize_"),
    "a schema alone": ({"summaries_": ..., "X_schema_": ...}, "readout_"),
    "summaries alone": ({"X_schema_": ...}, "belong together"),
    "inputs": ({"n_features_in_": 3}, "n_features_in_"),
    "scaler": (
        {"X_scaler_": {"Scaler": {"center": {"array": "y_scaler_.center.npy"}}}},
        "X_scaler_",
    ),
}


@pytest.mark.parametrize("case", SPOILED)
def test_damaged_files_are_refused(case, tmp_path):
    path, (values, message) = tmp_path / "model", SPOILED[case]
    save(ESNRegressor(**SETTINGS).fit(SEQUENCES, ONE), path)
    members = members_of(path)
    about = json.loads(members["echofold.json"])
    about["fitted"] |= values
    about["fitted"] = {name: one for name, one in about["fitted"].items() if one is not ...}
    path.write_bytes(archive(members | {"echofold.json": json.dumps(about).encode()}))
    with pytest.raises(ValueError, match=message):
        load(path)


def test_a_readout_of_other_positions_is_refused(tmp_path):
    path = tmp_path / "model"
    save(ESNRegressor(**SETTINGS).fit(SEQUENCES, ONE), path)
    members = members_of(path) | {"readout_.npy": array(np.zeros((29, 1)))}
    path.write_bytes(archive(members))
    with pytest.raises(ValueError, match="readout_"):
        load(path)


# --- what is refused ------------------------------------------------------------------------------

BAD = {
    "too few": ((SEQUENCES, ONE[:5]), "y has 5 rows for 30 sequences .* in a list of arrays"),
    "one": ((SEQUENCES[:1], ONE[:1]), "y has 1 rows for 1 sequences .* of at least two"),
    "either way": ((list(EQUAL), EQUAL[:, :, 0]), r"y has shape \(30, 6\), .* Give list\(y\) for"),
    "rows or sequences": (
        ([one[:, 0] for one in EQUAL], ONE), r"rows of one table, or sequences .*x\[:, None\] for"
    ),
    "a dict": ((dict(enumerate(SEQUENCES)), ONE), "X is a dict of series by name"),
    "a dict of numbers": ((SEQUENCES, dict(enumerate(ONE))), "y is a dict of series by name"),
    "text": ((SEQUENCES, ["a"] * 30), "y must hold real numbers"),
    "no number": ((SEQUENCES, np.full(30, np.nan)), "y has no value in column 0"),
    "one number": ((SEQUENCES, [1.0] + 29 * [np.nan]), "y leaves 1 of 30 sequences to train on"),
    "no inputs": (([one * [1.0, np.nan] for one in SEQUENCES], ONE), "X has no value in column 1"),
    "infinite": (([*SEQUENCES[:29], SEQUENCES[29] * np.inf], ONE), r"X\[29\] contains an infinite"),
    "other inputs": (([*SEQUENCES[:29], np.zeros((5, 3))], ONE), r"X\[29\] has 3 inputs"),
    "empty": (([*SEQUENCES[:29], np.zeros((0, 2))], ONE), r"X\[29\] is empty"),
    "weights": ((SEQUENCES, ONE, WEIGHTS[:5]), r"sample_weight has shape \(5,\), expected \(30,\)"),
    "a range": ((SEQUENCES, ONE), "output_range"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_sequences_are_refused_in_words(case):
    data, message = BAD[case]
    model = ESNRegressor(**SETTINGS, output_range=(1, 0) if case == "a range" else None)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(*data)
    assert not hasattr(model, "summaries_")


def test_what_has_no_meaning_for_sequences_is_refused():
    with pytest.raises(ValueError, match="washout=3 .* 'auto' or 0 for sequences"):
        ESNRegressor(**SETTINGS, washout=3).fit(SEQUENCES, ONE)
    with pytest.raises(ValueError, match="states=2 .* None where y has a row for every step"):
        ESNRegressor(**SETTINGS, states=2).fit(SEQUENCES[0], SEQUENCES[0])
    with pytest.raises(ValueError, match="states='first' .* 'last', 'mean' or a positive integer"):
        ESNRegressor(**SETTINGS, states="first").fit(SEQUENCES, ONE)
    model = ESNRegressor(**SETTINGS).fit(SEQUENCES, ONE)
    with pytest.raises(ValueError, match="start='last' goes on with one series"):
        model.predict(SEQUENCES, start="last")
    with pytest.raises(ValueError, match=r"X has shape \(8, 2\); expected a list of"):
        model.predict(np.zeros((8, 2)))
    with pytest.raises(ValueError, match="a sequence has 3 columns, expected the 2 given to fit"):
        model.predict([np.zeros((8, 3))])
    with pytest.raises(ValueError, match="metric='mase' compares errors with changes in time"):
        cross_validate(model, SEQUENCES, ONE, metric="mase")
    with pytest.raises(ValueError, match="counts wrong labels and needs a classifier"):
        cross_validate(model, SEQUENCES, ONE, metric="error_rate")
    with pytest.warns(EchofoldWarning, match=r"X has shape \(30, 2, 40\) .* X.transpose"):
        ESNRegressor(**SETTINGS).fit(RNG.normal(size=(30, 2, 40)), ONE)


# --- what it is for -------------------------------------------------------------------------------


def families(rng, count):
    """Sequences of unequal lengths, and what is to be told of each."""
    lengths = rng.integers(40, 90, count)
    told = rng.uniform(0.1, 1, count)
    noise = [rng.normal(size=n) for n in lengths]
    times = [np.arange(n) + rng.uniform(0, 60) for n in lengths]
    events = [(rng.uniform(size=n) < 0.1) * rng.uniform(0, 1, n) for n in lengths]
    pairs = list(zip(told, times, noise, strict=True))
    return {
        "speed": ([np.sin(s * t) + 0.1 * e for s, t, e in pairs], told),
        "noise": ([np.sin(0.3 * t) + s * e for s, t, e in pairs], told),
        "events": ([e + 0.01 * n for e, n in zip(events, noise, strict=True)],
                   np.array([e.mean() for e in events])),
    }  # fmt: skip


def test_made_up_families_are_recovered():
    rng = np.random.default_rng(3)
    for (name, (train, y)), (test, truth) in zip(
        families(rng, 150).items(), families(rng, 100).values(), strict=True
    ):
        search = ESNSearchCV(
            ESNRegressor(40, random_state=0),
            {"leak_rate": [0.3, 1.0], "input_scaling": [0.5, 2.0], "ridge": [1e-6, 1e-4, 1e-2]},
        )
        search.fit([one[:, None] for one in train], y)
        assert search.score([one[:, None] for one in test], truth) > 0.9, name


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("weights", [None, np.arange(6.0)])
def test_readouts_of_more_numbers_than_sequences_are_found_in_their_space(
    penalised, weights, monkeypatch
):
    """In place of an R factor as large as the numbers: cubes of their number are minutes."""
    monkeypatch.setattr(Triangle, "readouts", None)
    monkeypatch.setattr(Triangle, "condition", None)
    model = ESNRegressor(
        20, states=4, ridge=0.3, scale=None, penalize_bias=penalised, random_state=0
    ).fit(SEQUENCES[:6], ONE[:6], sample_weight=weights)
    X, y, w = model._features(SEQUENCES[:6]), ONE[:6], np.ones(6) if weights is None else weights
    assert X.shape == (6, 88) and model.condition_ > 1e15
    A = np.hstack([np.ones((6, 1)), X])
    penalty = 0.3 * np.diag([float(penalised)] + 88 * [1.0])
    expected = np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w * y))
    np.testing.assert_allclose(model.readout_[:, 0], expected, atol=1e-9)
