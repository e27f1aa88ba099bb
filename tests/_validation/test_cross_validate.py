"""Cross-validation of an estimator: the definition, every algorithm, every way to use memory."""

import warnings
from itertools import product

import numpy as np
import pytest
import reference
from cases import (
    CHOICES,
    GAPS,
    INTERVALS,
    RECYCLED,
    RIDGE,
    ROWS,
    SCHEMES,
    STEPPED,
    WITH_GAPS,
    pairwise,
    relative,
    same_scores,
    splits_of,
)
from independent import worst
from searches import exploding
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    TimeSeriesSplit,
)

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    KFold,
    LeaveOneOut,
    SingleSplit,
    WalkForward,
    cross_validate,
)
from echofold._machine.available import available
from echofold._machine.notices import EchofoldWarning
from echofold._validation import settings
from echofold._validation.plan import budget
from echofold.metrics import nrmse

WASHOUT, UNITS, SEED = 10, 6, 2
FEW = [1e-6, 1e-2]
COMMON = {"random_state": SEED, "leak_rate": 0.8, "bias_scaling": 0.5}
FORECASTER = ESNForecaster(UNITS, washout=WASHOUT, **COMMON)
REGRESSOR = ESNRegressor(UNITS, washout=WASHOUT, **COMMON)
CLASSIFIER = ESNClassifier(UNITS, states="last", **COMMON)

_rng = np.random.default_rng(4)
_t = np.arange(WASHOUT + ROWS + 1)
KNOWN = _rng.normal(size=(len(_t), 1))
SERIES = np.sin(_t / 3) + 0.3 * np.roll(KNOWN[:, 0], -1) + 0.3 * _rng.normal(size=len(_t))
SEVERAL = np.stack([SERIES, np.cos(_t / 3), np.sin(_t / 5)], axis=1) + 0.3 * _rng.normal(
    size=(len(_t), 3)
)
INPUTS = _rng.normal(size=(WASHOUT + ROWS, 2))
OUTPUTS = np.stack(
    [np.roll(INPUTS[:, 0], 1), INPUTS[:, 1] * INPUTS[:, 0], np.tanh(INPUTS[:, 1])], axis=1
) + 0.2 * _rng.normal(size=(WASHOUT + ROWS, 3))
WEIGHT = _rng.uniform(0.2, 3, size=len(_t))
LABELS = np.array(["x", "y", "z"])[_rng.integers(3, size=ROWS)]
SEQUENCES = [
    np.sin(np.arange(5 + i % 4)[:, None] * [0.4, 0.7] * (1 + "xyz".index(LABELS[i])))
    + 0.5 * _rng.normal(size=(5 + i % 4, 2))
    for i in range(ROWS)
]

PENALISED = {"penalize_bias": True}
# estimator, data, weights and the like; together: outputs, bias, weights, known inputs
TASKS = {
    "forecast": (FORECASTER, (SERIES, KNOWN), {}),
    "forecast 3": (
        clone(FORECASTER).set_params(**PENALISED),
        (SEVERAL,),
        {"sample_weight": WEIGHT},
    ),
    "regression": (REGRESSOR, (INPUTS, OUTPUTS[:, 0]), {}),
    "regression 3": (
        clone(REGRESSOR).set_params(**PENALISED),
        (INPUTS, OUTPUTS),
        {"sample_weight": WEIGHT[1:]},
    ),
    "classification": (CLASSIFIER, (SEQUENCES, LABELS), {}),
}


def run(task, cv, **options):
    """Cross-validate one of the tasks."""
    estimator, data, more = TASKS[task]
    if isinstance(cv, GroupKFold):
        length = len(data[0])
        options["groups"] = np.arange(length) % 7
    return cross_validate(estimator, *data, cv=cv, **{"ridge": RIDGE, **more, **options})


# --- the definition -----------------------------------------------------------------------------


def by_the_book(task):
    """Rows ``[1, u, x]``, targets, units, weights of the rows, and a closed loop if there is one.

    The loop gives outputs from a readout, a first row and a number of steps.
    """
    estimator, data, more = TASKS[task]
    params = estimator.get_params()
    weights = more.get("sample_weight")
    loop = None
    if task == "classification":
        _, center, unit = reference.standard(np.concatenate(SEQUENCES))
        inputs = [(s - center) / unit for s in SEQUENCES]
        W_in, W = network(params, 2)
        last = [reference.run(W_in, W, params["leak_rate"], u)[-1:] for u in inputs]
        X = np.concatenate(
            [reference.extended(u[-1:], x) for u, x in zip(inputs, last, strict=True)]
        )
        targets = (LABELS[:, None] == np.unique(LABELS)).astype(float)
        return X, targets, np.ones(3), None, None
    if "forecast" in task:
        y, _, unit = reference.standard(data[0].reshape(len(data[0]), -1))
        known = reference.standard(data[1])[0][1:] if len(data) > 1 else np.zeros((len(y) - 1, 0))
        inputs, targets, weights = (
            np.hstack([y[:-1], known]),
            y[1:],
            weights if weights is None else weights[1:],
        )
    else:
        inputs = reference.standard(data[0])[0]
        targets, _, unit = reference.standard(data[1].reshape(len(inputs), -1))
    W_in, W = network(params, inputs.shape[1])
    states = reference.run(W_in, W, params["leak_rate"], inputs)
    if "forecast" in task:

        def loop(readout, first, steps):
            at = WASHOUT + first
            return reference.generate(
                W_in, W, params["leak_rate"], readout, y[at], states[at - 1], known[at:], steps
            )

    X = reference.extended(inputs, states)[WASHOUT:]
    weights = None if weights is None else weights[WASHOUT:]
    return X, targets[WASHOUT:], unit, weights, loop


def network(params, inputs):
    return reference.scaled_weights(
        *reference.drawn(UNITS, inputs, SEED),
        params["spectral_radius"],
        1.0,
        params["bias_scaling"],
    )


def expected_nrmse(task, splits, ridge):
    """Refit every split from its own rows and run it on its validation interval."""
    X, targets, unit, weights, loop = by_the_book(task)
    penalised = TASKS[task][0].penalize_bias
    spread = ((targets - targets.mean(axis=0)) * unit).var(axis=0).sum()
    scores = np.empty((len(splits), len(ridge)))
    for split, (train, (valid,)) in enumerate(zip(splits.train, splits.valid, strict=True)):
        at = np.concatenate([np.arange(*interval) for interval in train])
        w = None if weights is None else weights[at]
        a, b = valid
        for place, beta in enumerate(ridge):
            W = reference.ridge(X[at], targets[at], beta, penalised, w)
            outputs = X[a:b] @ W if loop is None else loop(W, a, b - a)
            scores[split, place] = nrmse(targets[a:b] * unit, outputs * unit, scale=spread)
    return scores


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "scheme",
    [
        "k-fold, gaps",
        "leave one out, gap before",
        "walk forward k-step, gap before",
        "recycle",
        "recycle by steps",
    ],
)
def test_the_definition(task, scheme):
    found = run(task, SCHEMES[scheme], algorithm="naive")
    expected = expected_nrmse(task, splits_of(SCHEMES[scheme]), RIDGE)
    same_scores(found.nrmse, expected)
    assert found.nrmse.dims == ("split", "ridge")


# Two forecasts of one split, and each of them as a split of its own, twice.
APART = [np.r_[5:11, 20:30], np.r_[5:11], np.r_[20:30], np.r_[32:35, 40:41], np.r_[32:35], [40]]
APART = [(np.setdiff1d(np.arange(50), APART[i // 3 * 3]), rows) for i, rows in enumerate(APART)]


@pytest.mark.parametrize("form", [{}, {"difference": 1}, {"difference": (3, 1), "log": True}])
@pytest.mark.parametrize("metric", [["mse", "mae"], "mse", worst])
@pytest.mark.parametrize("memory", ["states", "pieces"])
def test_forecasts_of_a_split_add_up(form, metric, memory, monkeypatch):
    monkeypatch.setattr(settings, "check_one_run", lambda splits: None)
    y = SERIES[: 51 + WASHOUT + int(np.sum(form.get("difference", 0)))]
    model = clone(FORECASTER).set_params(**form)
    y = np.exp(y) if "log" in form else y
    found = cross_validate(model, y, cv=APART, ridge=FEW, metric=metric, memory=memory)
    for first, (a, b) in ((0, (6, 10)), (3, (3, 1))):
        for name in ("mse", "mae", "worst"):
            if name in found:
                both, one, other = found[name].values[first : first + 3]
                mean = (a * one + b * other) / (a + b)
                right = np.maximum(one, other) if name == "worst" else mean
                np.testing.assert_allclose(both, right, rtol=1e-12)


# --- fast equals naive --------------------------------------------------------------------------


TABLE = [(task, f"{scheme}, {gap}") for scheme, gap, task in pairwise(INTERVALS, GAPS, TASKS)]
TABLE += product(TASKS, [scheme for scheme in SCHEMES if scheme not in WITH_GAPS])


@pytest.mark.parametrize(("task", "scheme"), TABLE)
def test_all_algorithms_agree(task, scheme, monkeypatch):
    cv = SCHEMES[scheme]
    if "forecast" in task and scheme in ("shuffled", "groups"):
        with pytest.raises(ValueError, match="not one interval each; a forecast runs over one"):
            run(task, cv)
        monkeypatch.setattr(settings, "check_one_run", lambda splits: None)
    metrics = ["nrmse", "mae", "error_rate"] if task == "classification" else ["nrmse", "mae"]
    plain = run(task, cv, algorithm="naive", readouts=True, metric=metrics)
    assert plain.attrs["algorithm"] == "naive"
    for algorithm in ("small_k", "large_k", "auto"):
        found = run(task, cv, algorithm=algorithm, readouts=True, metric=metrics)
        assert algorithm in ("auto", found.attrs["algorithm"])
        assert relative(found.readout.values, plain.readout.values, 2).max() < 1e-8
        for metric in metrics:
            same_scores(found[metric], plain[metric])


@pytest.mark.parametrize(
    ("scheme", "task", "large"),
    pairwise(
        [*(f"{scheme}, gaps" for scheme in INTERVALS), "recycle"],
        ["forecast 3", "regression 3"],
        ["large_k by leaving out", "large_k by walking"],
    ),
)
def test_both_ways_of_large_k_agree(task, scheme, large, monkeypatch):
    plain = run(task, SCHEMES[scheme], algorithm="naive")
    monkeypatch.setattr(
        "echofold._validation.plan.choose_together",
        lambda sizes, _: dict.fromkeys(sizes, CHOICES[large]),
    )
    same_scores(run(task, SCHEMES[scheme], algorithm="large_k").nrmse, plain.nrmse)


@pytest.mark.parametrize("task", ["forecast", "regression 3", "classification"])
def test_one_ridge_value_is_the_same_as_in_a_path(task):
    path = run(task, KFold(5), algorithm="large_k")
    for place, beta in enumerate(RIDGE):
        one = run(task, KFold(5), ridge=beta, algorithm="large_k")
        assert one.ridge.values == [beta]
        same_scores(one.nrmse[:, 0], path.nrmse[:, place])


def test_the_estimators_own_ridge_is_the_default():
    model = clone(REGRESSOR).set_params(ridge=0.25)
    found = cross_validate(model, INPUTS, OUTPUTS, cv=KFold(5))
    assert found.ridge.values == [0.25]
    same_scores(found.nrmse, run_plain(ridge=0.25).nrmse)
    assert not hasattr(model, "readout_")


def run_plain(**options):
    return cross_validate(REGRESSOR, INPUTS, OUTPUTS, **{"cv": KFold(5), **options})


def test_diverging_runs_are_infinite_for_every_algorithm():
    y, weight = exploding()
    model = ESNForecaster(10, spectral_radius=0.1, random_state=0, scale=None)
    options = {"cv": KFold(2), "ridge": [1e-9, 1e9], "sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            algorithm: cross_validate(model, y, algorithm=algorithm, **options).nrmse.values
            for algorithm in ("naive", "small_k", "large_k")
        }
    diverged = np.isinf(found["naive"])
    assert diverged.any() and not diverged.all()
    for scores in found.values():
        assert np.array_equal(np.isinf(scores), diverged)
        assert not np.isnan(scores).any()


# --- ways to use memory -------------------------------------------------------------------------

WAYS = ["pieces", "fold", "frugal"]


@pytest.mark.parametrize(
    ("scheme", "task", "metric"),
    pairwise(
        [
            *(f"{scheme}, {gap}" for gap in ("no gap", "gaps") for scheme in INTERVALS),
            *RECYCLED,
            *STEPPED,
        ],
        ["forecast", "regression 3"],
        ["nrmse", "mae"],
    ),
)
def test_every_way_to_use_memory_gives_the_same(scheme, task, metric):
    plain = run(task, SCHEMES[scheme], algorithm="naive", metric=metric)
    assert plain.attrs["memory"] == "states"
    for way in WAYS:
        found = run(task, SCHEMES[scheme], memory=way, metric=metric)
        assert found.attrs["memory"] == way
        assert found.attrs["algorithm"] == "small_k"
        assert way in found.attrs["reason"]
        same_scores(found[metric], plain[metric])


@pytest.mark.parametrize("scheme", [*INTERVALS, *RECYCLED])
def test_clipped_outputs_and_several_metrics(scheme):
    model = clone(REGRESSOR).set_params(output_range=(-0.5, 0.7))
    options = {
        "cv": {**INTERVALS, **RECYCLED}[scheme],
        "ridge": RIDGE,
        "metric": ["rmse", "nrmse", "mae", "mse"],
    }
    plain = cross_validate(model, INPUTS, OUTPUTS, algorithm="naive", **options)
    for way in WAYS:
        found = cross_validate(model, INPUTS, OUTPUTS, memory=way, **options)
        loose = cross_validate(REGRESSOR, INPUTS, OUTPUTS, memory=way, **options)
        for metric in options["metric"]:
            same_scores(found[metric], plain[metric])
            assert not np.allclose(loose[metric], plain[metric], rtol=1e-3)  # it does something


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("task", ["forecast", "regression 3"])
@pytest.mark.parametrize("cv", [KFold(5), RECYCLED["recycle"]], ids=repr)
def test_readouts_without_states(task, way, cv):
    plain = run(task, cv, algorithm="naive", readouts=True)
    found = run(task, cv, memory=way, readouts=True)
    assert relative(found.readout.values, plain.readout.values, 2).max() < 1e-8
    assert "readout" not in run(task, KFold(5), memory=way)


def test_shuffled_folds_from_pieces():
    cv = SCHEMES["shuffled"]
    same_scores(
        run("regression 3", cv, memory="pieces").nrmse,
        run("regression 3", cv, algorithm="naive").nrmse,
    )
    for way in ("fold", "frugal"):
        with pytest.raises(ValueError, match="neither leaves out one interval at a time.*'pieces'"):
            run("regression 3", cv, memory=way)


@pytest.mark.parametrize("way", WAYS)
def test_a_perfect_fit_is_not_lost_in_rounding(way):
    target = INPUTS @ [2.0, -1.0] + 5e3
    plain = cross_validate(REGRESSOR, INPUTS, target, cv=KFold(5), ridge=1e-9, algorithm="naive")
    found = cross_validate(REGRESSOR, INPUTS, target, cv=KFold(5), ridge=1e-9, memory=way)
    assert 0 < plain.nrmse.max() < 1e-8
    np.testing.assert_allclose(found.nrmse, plain.nrmse, rtol=1e-3)


def test_a_window_with_fewer_rows_than_columns_loses_nothing_as_it_moves():
    for cv in (WalkForward(30, min_train=6), WalkForward(25, valid=2, min_train=4)):
        plain = run("regression", cv, algorithm="naive")
        for way in WAYS:
            same_scores(run("regression", cv, memory=way).nrmse, plain.nrmse)


@pytest.mark.parametrize("cv", [KFold(6), WalkForward(5, min_train=20), KFold(6, gap=2)], ids=repr)
def test_a_burst_in_one_fold_does_not_spoil_the_others(cv):
    inputs = INPUTS.copy()
    inputs[WASHOUT + 12 : WASHOUT + 17] *= 1e5  # all other rows are lost in a total that has these
    model = clone(REGRESSOR).set_params(scale=None)
    options = {"cv": cv, "ridge": [0.0, 1e-2], "metric": "mse"}
    plain = cross_validate(model, inputs, OUTPUTS, algorithm="naive", **options)
    for way in ("fold", "frugal"):
        found = cross_validate(model, inputs, OUTPUTS, memory=way, **options)
        same_scores(found.mse, plain.mse, 1e-6)


@pytest.mark.parametrize(
    ("memory", "way"),
    [
        (None, "states"),
        ("2GB", "states"),
        (1e9, "states"),
        (np.int64(10**9), "states"),
        (3000, "fold"),
        ("700B", "frugal"),
        ("0.1k", "frugal"),
    ],
)
def test_memory_decides_the_way(memory, way):
    assert run("regression", KFold(5), ridge=FEW, memory=memory).attrs["memory"] == way


def test_memory_for_pieces_only():
    data = np.tile(INPUTS, (10, 1)), np.tile(OUTPUTS[:, 0], 10)
    found = cross_validate(REGRESSOR, *data, cv=KFold(2), ridge=FEW, memory="30 KiB")
    assert found.attrs["memory"] == "pieces"
    same_scores(found.nrmse, cross_validate(REGRESSOR, *data, cv=KFold(2), ridge=FEW).nrmse)


def test_sizes():
    assert budget("2GB") == budget("2 GiB") == budget(2 * 2**30) == 2**31
    assert budget("1.5k") == 1536
    assert budget("3MB") == 3 * 2**20
    assert 0 < budget(None) <= available()


@pytest.mark.parametrize(
    "memory", ["lots", "2 gigs", "", 0, -1, "0GB", "-1GB", np.inf, np.nan, True, [1]]
)
def test_bad_memory(memory):
    with pytest.raises(ValueError, match=r"memory=.* is not understood: give a number of bytes"):
        budget(memory)


@pytest.mark.parametrize("algorithm", ["naive", "large_k"])
@pytest.mark.parametrize("way", WAYS)
def test_an_algorithm_that_needs_states_refuses_to_do_without(algorithm, way):
    with pytest.raises(ValueError, match=f"algorithm='{algorithm}' keeps all states.*'{way}'"):
        run("regression", KFold(5), algorithm=algorithm, memory=way)
    with pytest.raises(ValueError, match=r"keeps all states, .* MiB, but memory=1000 allows"):
        run("regression", KFold(5), algorithm=algorithm, memory=1000)


def test_predictions_need_more_memory_than_a_fold():
    with pytest.raises(ValueError, match="metric='biggest' needs all predictions.*'pieces'"):
        run("regression", KFold(5), metric=biggest, memory="fold")
    same_scores(
        run("regression 3", KFold(5, gap=2), metric=biggest, memory="pieces").biggest,
        run("regression 3", KFold(5, gap=2), metric=biggest, algorithm="naive").biggest,
    )


# --- metrics ------------------------------------------------------------------------------------


def biggest(y_true, y_pred):
    return float(np.abs(y_true - y_pred).max())


def signed(y_true, y_pred):
    assert y_true.shape == y_pred.shape
    return float(np.mean(y_pred - y_true))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k"])
def test_functions_as_metrics(task, algorithm):
    def squares(y_true, y_pred):
        return float(np.mean((y_true - y_pred) ** 2))

    found = run(
        task, KFold(5, gap=(2, 1)), algorithm=algorithm, metric=["mse", squares, signed, biggest]
    )
    same_scores(found.squares, found.mse)
    assert (found.biggest**2 >= found.mse).all()
    assert found.signed.min() < 0
    assert found.attrs["metric"] == "mse"


def test_functions_of_the_library_are_their_names():
    found = run("forecast", KFold(5), metric=nrmse)
    assert list(found.data_vars) == ["nrmse", "condition"]
    same_scores(found.nrmse, run("forecast", KFold(5)).nrmse, 1e-12)


def test_metrics_are_in_original_units():
    one, other = (
        cross_validate(
            FORECASTER, 1000 * SERIES + 7, cv=KFold(5), ridge=FEW, metric=["rmse", "nrmse"]
        ),
        cross_validate(FORECASTER, SERIES, cv=KFold(5), ridge=FEW, metric=["rmse", "nrmse"]),
    )
    same_scores(one.rmse, 1000 * other.rmse)
    same_scores(one.nrmse, other.nrmse)


def test_a_constant_interval_is_measured_against_all_rows():
    target = OUTPUTS[:, 0].copy()
    target[WASHOUT + 12 : WASHOUT + 24] = 0.3
    for way in (None, *WAYS):
        found = cross_validate(
            REGRESSOR, INPUTS, target, cv=KFold(5), ridge=FEW, metric=["nrmse", "mse"], memory=way
        )
        spread = target[WASHOUT:].var()
        same_scores(found.nrmse[1], np.sqrt(found.mse[1] / spread))
        inside = target[WASHOUT : WASHOUT + 12].var()
        same_scores(found.nrmse[0], np.sqrt(found.mse[0] / inside))
    with pytest.raises(ValueError, match="targets are constant over all n=60 rows.*'rmse'"):
        cross_validate(REGRESSOR, INPUTS, np.ones(len(INPUTS)), cv=KFold(5))


def test_error_rate_needs_a_classifier():
    with pytest.raises(ValueError, match="metric='error_rate' counts wrong labels and needs a cl"):
        run("regression", KFold(5), metric="error_rate")
    found = run("classification", KFold(5), metric=["error_rate", "nrmse"])
    counts = found.error_rate * ROWS / 5
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert 0 < found.error_rate.mean() < 0.5  # guessing would be 2/3


# --- what goes in -------------------------------------------------------------------------------


def test_cv_of_every_kind():
    pairs = [(np.arange(12, ROWS), np.arange(12)), (np.arange(48), np.arange(48, ROWS))]
    same_scores(run("forecast", pairs).nrmse, run("forecast", KFold(5)).nrmse[[0, 4]])
    same_scores(run("regression", 5).nrmse, run("regression", KFold(5)).nrmse)
    assert run("regression", None, ridge=FEW).sizes["split"] == 10
    av = run("forecast", TimeSeriesSplit(4))
    same_scores(av.nrmse, run("forecast", Accumulative(4, min_train=12)).nrmse)


def test_an_integer_means_stratified_folds_for_a_classifier():
    found = run("classification", 4, metric="error_rate")
    expected = run(
        "classification", StratifiedKFold(4, shuffle=True, random_state=0), metric="error_rate"
    )
    same_scores(found.error_rate, expected.error_rate)


def test_a_dict_of_schemes_shares_one_pass():
    schemes = {
        "CV": KFold(5),
        "AV": Accumulative(3, min_train=24),
        "FV": WalkForward(3, gap=2),
        "RV": RECYCLED["recycle"],
    }
    for way in ("states", *WAYS):
        found = run("regression", schemes, ridge=FEW, memory=way)
        assert list(found) == list(schemes)
        for name, cv in schemes.items():
            same_scores(found[name].nrmse, run("regression", cv, ridge=FEW).nrmse)
        if way in ("states", "pieces"):
            assert found["CV"].attrs["steps_driven"] <= WASHOUT + ROWS
    with pytest.raises(ValueError, match="cv={} is empty"):
        run("regression", {})


def test_groups_belong_to_the_rows_of_the_data():
    groups = np.arange(WASHOUT + ROWS) // 20  # 0 to 3; the washout is in group 0
    found = cross_validate(REGRESSOR, INPUTS, OUTPUTS, cv=LeaveOneGroupOut(), groups=groups)
    assert found.valid_start.values.tolist() == [0, 10, 30, 50]
    assert found.train_rows.values.tolist() == [50, 40, 40, 50]
    pairs = np.arange(len(SERIES)) // 20  # a pair takes the group of its target
    found = cross_validate(FORECASTER, SERIES, cv=LeaveOneGroupOut(), groups=pairs)
    assert found.valid_start.values.tolist() == [0, 9, 29, 49]
    for bad in (groups[:-1], groups[WASHOUT:], groups[None], 3):
        with pytest.raises(ValueError, match=r"groups has shape .*expected \(70,\): one group"):
            cross_validate(REGRESSOR, INPUTS, OUTPUTS, cv=LeaveOneGroupOut(), groups=bad)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"algorithm": "fast"}, ValueError, "algorithm='fast' is unknown: it must be 'auto', 'na"),
        ({"algorithm": None}, ValueError, "algorithm=None is unknown"),
        ({"ridge": -1}, ValueError, "ridge=-1 is not allowed: it must be a finite number of at"),
        ({"ridge": [1, np.nan]}, ValueError, "ridge=.* is not allowed"),
        ({"ridge": np.inf}, ValueError, "ridge=inf is not allowed"),
        ({"ridge": []}, ValueError, r"ridge=\[\] is not allowed"),
        ({"ridge": "small"}, ValueError, "ridge='small' is not allowed"),
        ({"ridge": [[1, 2]]}, ValueError, "ridge=.* is not allowed"),
        ({"metric": "nmrse"}, ValueError, "metric='nmrse' is unknown; did you mean 'nrmse'"),
        ({"metric": 3}, TypeError, "metric=3: expected one of"),
        ({"metric": []}, ValueError, r"metric=\[\] is empty"),
        ({"metric": ["mse", "mse"]}, ValueError, "metric has 2 entries named 'mse'"),
        ({"metric": [biggest, "mse", biggest]}, ValueError, "2 entries named 'biggest'.*__name__"),
        ({"memory": "lots"}, ValueError, "memory='lots' is not understood"),
        ({"cv": "KFold"}, TypeError, "cv='KFold': expected a scheme such as"),
        ({"cv": KFold(61)}, ValueError, "k=61 folds need at least 61 rows, but n=60"),
        ({"cv": KFold(5, gap=48)}, ValueError, "leave no rows to train on; n=60"),
        ({"sample_weight": np.ones(9)}, ValueError, r"sample_weight has shape \(9,\)"),
        (
            {"sample_weight": (np.arange(70) > 50).astype(float), "cv": SingleSplit(19)},
            ValueError,
            "sample_weight is 0 for every training row of split 1 of 1",
        ),
        ({"weights": 1}, TypeError, "weights"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        cross_validate(REGRESSOR, INPUTS, OUTPUTS, **options)


# --- what comes out -----------------------------------------------------------------------------


def test_the_result_says_what_was_done():
    found = run("forecast", KFold(5, gap=1), metric=["nrmse", "mae"], readouts=True)
    assert found.nrmse.shape == found.mae.shape == (5, len(RIDGE))
    assert found.readout.dims == ("split", "ridge", "feature", "output")
    assert found.readout.shape == (5, len(RIDGE), 1 + 2 + UNITS, 1)
    assert found.ridge.values.tolist() == RIDGE.tolist()
    assert found.valid_start.values.tolist() == [0, 12, 24, 36, 48]
    assert found.valid_stop.values.tolist() == [12, 24, 36, 48, 60]
    assert found.train_rows.values.tolist() == [47, 46, 46, 46, 47]
    attrs = found.attrs
    assert attrs["scheme"] == "KFold(k=5, gap=1)"
    assert attrs["metric"] == "nrmse"
    assert attrs["seed"] == SEED
    assert attrs["steps_driven"] == WASHOUT + ROWS
    assert attrs["refitted_splits"] == 0
    costs = {name: attrs[f"estimated_seconds_{name}"] for name in ("naive", "small_k", "large_k")}
    assert all(cost > 0 for cost in costs.values())
    assert attrs["algorithm"] == min(costs, key=costs.get)
    assert attrs["reason"].startswith(f"{attrs['algorithm']} has the lowest estimated cost")
    asked = run("forecast", KFold(5, gap=1), algorithm="naive").attrs
    assert asked["reason"] == "naive was asked for"


@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k", *WAYS])
def test_the_condition_is_in_the_result(algorithm):
    options = {"memory": algorithm} if algorithm in WAYS else {"algorithm": algorithm}
    rows = by_the_book("regression")[0][:, 1:]
    expected = np.linalg.cond(rows - rows.mean(axis=0))
    found = run("regression", KFold(5), **options)
    assert float(found.condition) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k", *WAYS])
def test_collinear_states_are_one_warning(algorithm):
    options = {"memory": algorithm} if algorithm in WAYS else {"algorithm": algorithm}
    doubled = np.hstack([INPUTS[:, :1]] * 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cross_validate(
            REGRESSOR,
            doubled,
            OUTPUTS[:, 0],
            cv={"one": KFold(5), "two": KFold(20), "three": LeaveOneOut()},
            ridge=[0.0, 1.0],
            readouts=True,
            **options,
        )
    (warning,) = caught
    assert warning.category is EchofoldWarning
    assert warning.filename == __file__
    assert "collinear to working precision" in str(warning.message)
    assert "ridge of 1e-9 or more" in str(warning.message)
    assert float(found["one"].condition) > 1e14
    for one in found.values():  # least norm: both copies of the input get the same weight
        W = one.readout.values[:, 0, 1:3, 0]
        np.testing.assert_allclose(W[:, 0], W[:, 1], rtol=1e-6)


def test_no_warning_without_trouble():
    doubled = np.hstack([INPUTS[:, :1]] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run("forecast", KFold(5))
        cross_validate(REGRESSOR, doubled, OUTPUTS, cv=KFold(5), ridge=[1e-6, 1.0])


def test_a_candidate_that_always_diverges_is_one_warning():
    y, weight = exploding()
    model = ESNForecaster(10, spectral_radius=0.1, random_state=0, scale=None, ridge=1e-9)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cross_validate(model, y, cv=KFold(2), sample_weight=weight)
    assert np.isinf(found.nrmse).all()
    (warning,) = caught
    assert warning.category is EchofoldWarning
    assert "no finite score: all of its runs diverge. Try a larger ridge" in str(warning.message)


@pytest.mark.parametrize("task", TASKS)
def test_the_same_again(task):
    one, other = run(task, KFold(5)), run(task, KFold(5))
    assert one.identical(other)
