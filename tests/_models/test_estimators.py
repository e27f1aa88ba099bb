import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from scipy.sparse import csr_array

from echofold import (
    AutoForecaster,
    EchofoldWarning,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
)
from echofold._engine.weights import draw
from echofold._models.classifier import nearest, probabilities

UNITS, ROWS, WASHOUT, HORIZON = 40, 150, 15, 12
SETTINGS = {
    "leak_rate": 0.6,
    "spectral_radius": 0.8,
    "input_scaling": 0.5,
    "bias_scaling": 0.3,
    "ridge": 1e-2,
}
NETWORKS = pytest.mark.parametrize("connectivity", [1.0, 0.05])
BIAS = pytest.mark.parametrize("penalize_bias", [False, True])
WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def weights_of(connectivity, inputs, seed=3):
    """Scaled weights of the reference."""
    W_in, W = draw(UNITS, inputs, connectivity, seed)
    if connectivity == 1:
        W_in, W = reference.drawn(UNITS, inputs, seed)
    dense = W.toarray() if hasattr(W, "toarray") else W
    return reference.scaled_weights(W_in, dense, 0.8, 0.5, 0.3)


def series(outputs, rows=ROWS):
    t = np.arange(rows)[:, None]
    noise = np.random.default_rng(1).normal(size=(rows, outputs))
    return 5 + 3 * np.sin(t / (4 + np.arange(outputs))) + 0.3 * noise


def known_inputs(rows=ROWS + HORIZON):
    return 10 * np.random.default_rng(2).normal(size=(rows, 2)) - 4


def reference_forecaster(y, X, connectivity, penalize_bias, weights=None):
    """A callable ``(values of y so far, X up to the last forecast value) -> forecast``."""
    scaled, center, unit = reference.standard(y)
    known = np.zeros((len(y), 0))
    if X is not None:
        known, X_center, X_unit = reference.standard(X[: len(y)])
    inputs = np.hstack([scaled[:-1], known[1:]])
    W_in, W = weights_of(connectivity, inputs.shape[1])
    states = reference.run(W_in, W, 0.6, inputs)
    used = None if weights is None else weights[1 + WASHOUT :]
    rows = reference.extended(inputs, states)[WASHOUT:]
    readout = reference.ridge(rows, scaled[1 + WASHOUT :], 1e-2, penalize_bias, used)

    def forecast(so_far, X_all, steps):
        values = (so_far - center) / unit
        known = np.zeros((len(values) + steps, 0)) if X is None else (X_all - X_center) / X_unit
        x = reference.run(W_in, W, 0.6, np.hstack([values[:-1], known[1 : len(values)]]))[-1]
        ahead = known[len(values) :]
        return center + unit * reference.generate(
            W_in, W, 0.6, readout, values[-1], x, ahead, steps
        )

    return forecast


@NETWORKS
@BIAS
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("with_X", [False, True])
def test_forecaster_equals_the_reference(connectivity, penalize_bias, outputs, with_X):
    y = series(outputs)
    X = known_inputs() if with_X else None
    model = ESNForecaster(
        UNITS, connectivity=connectivity, penalize_bias=penalize_bias, random_state=3,
        washout=WASHOUT, **SETTINGS,
    ).fit(y, X if X is None else X[:ROWS])  # fmt: skip
    found = model.forecast(HORIZON, X if X is None else X[ROWS:])
    plain = reference_forecaster(y, X, connectivity, penalize_bias)
    assert np.allclose(found, plain(y, X, HORIZON), rtol=0, atol=1e-10)
    assert hasattr(model.W_, "tocsr") == (connectivity < 1)


@WEIGHTED
def test_update_then_forecast_equals_the_reference_on_all_the_data(weighted):
    whole, X = series(2, ROWS + 30), known_inputs(ROWS + 30 + HORIZON)
    weights = np.linspace(0, 3, ROWS) if weighted else None
    model = ESNForecaster(UNITS, random_state=3, washout=WASHOUT, **SETTINGS)
    model.fit(whole[:ROWS], X[:ROWS], sample_weight=weights)
    plain = reference_forecaster(whole[:ROWS], X, 1.0, False, weights)
    before = model.forecast(HORIZON, X[ROWS : ROWS + HORIZON])
    assert np.allclose(before, plain(whole[:ROWS], X[: ROWS + HORIZON], HORIZON), atol=1e-10)
    readout = model.readout_.copy()
    assert model.update(whole[ROWS : ROWS + 10], X[ROWS : ROWS + 10]) is model
    model.update(whole[ROWS + 10 :], X[ROWS + 10 : ROWS + 30])
    assert np.array_equal(model.readout_, readout)
    found = model.forecast(HORIZON, X[ROWS + 30 :])
    assert np.allclose(found, plain(whole, X, HORIZON), rtol=0, atol=1e-10)


def test_forecasting_does_not_move_the_estimator_and_horizons_nest():
    model = ESNForecaster(UNITS, random_state=0).fit(series(1)[:, 0])
    long = model.forecast(HORIZON)
    assert long.shape == (HORIZON,)
    assert np.array_equal(model.forecast(HORIZON), long)
    assert np.array_equal(model.forecast(1), long[:1])


@NETWORKS
@BIAS
@WEIGHTED
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (4, 2)])
def test_regressor_equals_the_reference(connectivity, penalize_bias, weighted, inputs, outputs):
    rng = np.random.default_rng(4)
    X = 3 * rng.normal(size=(ROWS + HORIZON, inputs)) + 1
    y = np.roll(X[:, :1], 1) * np.arange(1, outputs + 1) + rng.normal(size=(len(X), outputs))
    weights = rng.uniform(size=ROWS) if weighted else None
    model = ESNRegressor(
        UNITS, connectivity=connectivity, penalize_bias=penalize_bias, random_state=3,
        washout=WASHOUT, **SETTINGS,
    ).fit(X[:ROWS], y[:ROWS], sample_weight=weights)  # fmt: skip

    _, X_center, X_unit = reference.standard(X[:ROWS])
    targets, center, unit = reference.standard(y[:ROWS])
    u = (X - X_center) / X_unit
    W_in, W = weights_of(connectivity, inputs)
    states = reference.run(W_in, W, 0.6, u)
    rows = reference.extended(u, states)[WASHOUT:ROWS]
    used = None if weights is None else weights[WASHOUT:]
    readout = reference.ridge(rows, targets[WASHOUT:], 1e-2, penalize_bias, used)
    assert np.allclose(model.readout_, readout, rtol=0, atol=1e-10)
    expected = center + unit * reference.outputs(readout, u, states)
    assert np.allclose(model.predict(X), expected, rtol=0, atol=1e-10)
    after = model.predict(X[ROWS:], start="last")
    assert np.allclose(after, expected[ROWS:], rtol=0, atol=1e-10)


def test_regressor_predicts_in_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(ROWS, 1))
    model = ESNRegressor(UNITS, random_state=0).fit(X, np.roll(X[:, 0], 1))
    whole = model.predict(X)
    monkeypatch.setattr("echofold._engine.drive.BLOCK_BYTES", 8 * UNITS * 64)
    assert np.allclose(model.predict(X), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("output_range", [(-0.5, 0.25), ([-0.5, -1], [0.25, np.inf])])
def test_regressor_clips_in_original_units(output_range):
    X = np.random.default_rng(0).normal(size=(ROWS, 1))
    Y = np.column_stack([X[:, 0], 2 * X[:, 0]])
    free = ESNRegressor(UNITS, random_state=0).fit(X, Y).predict(X)
    clipped = ESNRegressor(UNITS, random_state=0, output_range=output_range).fit(X, Y).predict(X)
    assert np.array_equal(clipped, np.clip(free, *output_range))
    assert (clipped != free).any()


def sequences_of(inputs, count=24):
    rng = np.random.default_rng(5)
    lengths = rng.integers(2, 30, size=count)
    return [2 * rng.normal(size=(n, inputs)) + i % 3 for i, n in enumerate(lengths)]


@NETWORKS
@BIAS
@pytest.mark.parametrize("inputs", [1, 3])
@pytest.mark.parametrize("states", ["last", "mean", 4])
def test_classifier_equals_the_reference(connectivity, penalize_bias, inputs, states):
    sequences = sequences_of(inputs)
    labels = np.arange(len(sequences)) % 3
    model = ESNClassifier(
        UNITS, connectivity=connectivity, penalize_bias=penalize_bias, random_state=3,
        states=states, **SETTINGS,
    ).fit(sequences, labels)  # fmt: skip

    _, center, unit = reference.standard(np.concatenate(sequences))
    W_in, W = weights_of(connectivity, inputs)
    rows = []
    for sequence in sequences:
        u = (sequence - center) / unit
        x = reference.run(W_in, W, 0.6, u)
        if states == "last":
            rows.append(np.concatenate([[1.0], u[-1], x[-1]]))
        elif states == "mean":
            rows.append(np.concatenate([[1.0], u.mean(axis=0), x.mean(axis=0)]))
        else:
            at = [int(np.ceil(i * len(u) / states)) - 1 for i in range(1, states + 1)]
            rows.append(np.concatenate([[1.0], *u[at], *x[at]]))
    rows = np.array(rows)
    readout = reference.ridge(rows, np.eye(3)[labels], 1e-2, penalize_bias)
    assert np.allclose(model.readout_, readout, rtol=0, atol=1e-10)
    assert np.allclose(model.decision_function(sequences), rows @ readout, rtol=0, atol=1e-10)
    assert np.array_equal(model.predict(sequences), (rows @ readout).argmax(axis=1))


def test_sequences_come_in_four_forms():
    stack = np.random.default_rng(0).normal(size=(12, 9, 1))
    labels = np.arange(12) % 2
    model = ESNClassifier(UNITS, random_state=0)
    expected = model.fit(list(stack), labels).decision_function(list(stack))
    assert expected.shape == (12,)
    for given in (stack, stack[:, :, 0], list(stack[:, :, 0]), pd.DataFrame(stack[:, :, 0])):
        found = model.fit(given, labels).decision_function(given)
        assert np.allclose(found, expected, rtol=0, atol=1e-12)
    ragged = np.empty(2, dtype=object)
    ragged[:] = [stack[0, :4], stack[1]]
    assert np.allclose(model.decision_function(ragged)[1], expected[1], atol=1e-12)


def test_sequences_do_not_depend_on_their_company():
    sequences = sequences_of(2)
    model = ESNClassifier(UNITS, random_state=0).fit(sequences, np.arange(24) % 3)
    together = model.decision_function(sequences)
    for i in (0, 7, 23):
        assert np.allclose(model.decision_function([sequences[i]])[0], together[i], atol=1e-12)


def test_string_labels_and_two_classes():
    sequences = sequences_of(1)
    labels = np.where(np.arange(24) % 3 == 0, "low", "high")
    model = ESNClassifier(UNITS, random_state=0).fit(sequences, pd.Series(labels))
    assert model.classes_.tolist() == ["high", "low"]
    predicted = model.predict(sequences)
    assert set(predicted) <= {"high", "low"}
    assert np.array_equal(predicted == "low", model.decision_function(sequences) > 0)
    assert model.score(sequences, labels) > 0.8


def test_given_weights_are_scaled_as_drawn_ones_are():
    y = series(1)
    W_in, W = reference.drawn(UNITS, 1, 3)
    drawn = ESNForecaster(UNITS, random_state=3, **SETTINGS).fit(y)
    given = ESNForecaster(UNITS, W=W, W_in=W_in, **SETTINGS).fit(y)
    assert np.array_equal(given.W_, drawn.W_)
    assert np.array_equal(given.forecast(5), drawn.forecast(5))
    settings = SETTINGS | {"spectral_radius": None}
    raw = ESNForecaster(UNITS, W=csr_array(W), W_in=W_in, **settings).fit(y)
    assert np.array_equal(raw.W_, W)


@pytest.mark.parametrize(("scale", "center", "unit"), [("minmax", 2.0, 6.0), (None, 0.0, 1.0)])
def test_other_scales(scale, center, unit):
    y = np.clip(series(1), 2, 8)  # its range is 2 to 8
    assert (y.min(), y.max()) == (2, 8)
    model = ESNForecaster(UNITS, scale=scale, random_state=3, **SETTINGS).fit(y)
    assert model.y_scaler_.center == center
    assert model.y_scaler_.unit == unit
    inner = ESNForecaster(UNITS, scale=None, random_state=3, **SETTINGS).fit((y - center) / unit)
    assert np.allclose(model.forecast(5), center + unit * inner.forecast(5), atol=1e-10)


def test_a_constant_column_is_forecast_as_constant():
    y = np.column_stack([series(1)[:, 0], np.full(ROWS, 0.1)])
    assert y.std(axis=0)[1] > 0  # by rounding
    model = ESNForecaster(UNITS, random_state=0).fit(y)
    assert (model.y_scaler_.center[1], model.y_scaler_.unit[1]) == (0.1, 1.0)
    assert np.allclose(model.forecast(5)[:, 1], 0.1, atol=1e-8)


def test_auto_washout():
    short = ESNRegressor(UNITS)._read(np.zeros((95, 1)) + np.arange(95)[:, None], np.arange(95))
    assert len(short.washout) == 9
    long = ESNForecaster(UNITS)._read(np.arange(3001.0))
    assert (len(long.washout), long.rows) == (200, 2800)


# --- frames -------------------------------------------------------------------------------------

DAYS = pd.date_range("2024-01-01", periods=ROWS, freq="D")


@pytest.mark.parametrize(
    ("index", "following"),
    [
        (DAYS, pd.date_range("2024-05-30", periods=3, freq="D")),
        (DAYS.as_unit("s"), pd.date_range("2024-05-30", periods=3, freq="D")),
        (pd.DatetimeIndex(list(DAYS)), pd.date_range("2024-05-30", periods=3, freq="D")),
        (
            pd.date_range("2000-01-31", periods=ROWS, freq="ME", tz="Europe/Vilnius"),
            pd.DatetimeIndex(["2012-07-31", "2012-08-31", "2012-09-30"], tz="Europe/Vilnius"),
        ),
        (
            pd.period_range("2000Q1", periods=ROWS, freq="Q"),
            pd.period_range("2037Q3", periods=3, freq="Q"),
        ),
        (pd.RangeIndex(100, 100 + 5 * ROWS, 5), pd.RangeIndex(850, 865, 5)),
        (pd.Index(np.arange(ROWS) + 7), pd.RangeIndex(157, 160)),
        (pd.Index([f"row {i}" for i in range(ROWS)]), pd.RangeIndex(150, 153)),
        (DAYS[:1].append(DAYS[:-1] + pd.Timedelta("9h")), pd.RangeIndex(150, 153)),
    ],
)
@pytest.mark.filterwarnings("ignore:The dates of y are not evenly spaced")
def test_a_pandas_index_is_continued(index, following):
    y = pd.Series(series(1)[:, 0], index=index.rename("when"), name="load")
    model = ESNForecaster(UNITS, random_state=0).fit(y)
    forecast = model.forecast(3)
    assert isinstance(forecast, pd.Series)
    assert forecast.name == "load"
    assert (forecast.index == following).all()  # dates of any unit
    assert type(forecast.index) is type(following)
    assert forecast.index.name == "when"
    if isinstance(following, pd.DatetimeIndex):
        assert forecast.index.dtype == index.dtype
    later = model.update(y.to_numpy()[:2]).forecast(1)
    assert later.index[0] == following[2]


def test_frames_come_back_as_frames_with_the_values_of_arrays():
    y, X = series(2), known_inputs()
    names, inputs = ["heat", "cold"], ["wind", "sun"]
    model = ESNForecaster(UNITS, random_state=0).fit(y, X[:ROWS])
    plain = model.forecast(3, X[ROWS : ROWS + 3])
    assert isinstance(plain, np.ndarray)

    frame = pd.DataFrame(X, columns=inputs, index=pd.date_range(DAYS[0], periods=len(X)))
    model.fit(pd.DataFrame(y, columns=names, index=DAYS), frame[:ROWS])
    found = model.forecast(3, frame[ROWS : ROWS + 3])
    assert list(found.columns) == names
    assert found.index.equals(frame.index[ROWS : ROWS + 3])
    assert np.array_equal(found.to_numpy(), plain)

    model.fit(pl.DataFrame(y, schema=names), pl.DataFrame(X[:ROWS], schema=inputs))
    found = model.forecast(3, pl.DataFrame(X[ROWS : ROWS + 3], schema=inputs))
    assert isinstance(found, pl.DataFrame)
    assert found.columns == names
    assert np.array_equal(found.to_numpy(), plain)


def test_polars_series_and_column_vectors_keep_their_shape():
    y = series(1)
    found = ESNForecaster(UNITS, random_state=0).fit(pl.Series("load", y[:, 0])).forecast(3)
    assert isinstance(found, pl.Series)
    assert found.name == "load"
    column = ESNForecaster(UNITS, random_state=0).fit(y).forecast(3)
    assert column.shape == (3, 1)
    assert np.array_equal(found.to_numpy(), column[:, 0])


def test_dtypes_that_hold_numbers_are_read_alike():
    y = series(1)[:, 0]
    flags = np.arange(ROWS + 2) % 7 == 0
    numbers = ESNForecaster(UNITS, random_state=0).fit(y, flags[:ROWS].astype(float))
    expected = numbers.forecast(2, flags[ROWS:].astype(float))
    for given in (
        pd.DataFrame({"flag": flags}),
        pd.DataFrame({"flag": pd.array(flags, dtype="boolean")}),
        pd.DataFrame({"flag": pd.array(flags.astype(int), dtype="Int64")}),
        pd.DataFrame({"flag": flags.astype(int).astype(object)}),
        pl.DataFrame({"flag": flags}),
        flags[:, None],
    ):
        model = ESNForecaster(UNITS, random_state=0).fit(y, given[:ROWS])
        assert np.array_equal(model.forecast(2, given[ROWS:]), expected)


def test_regressor_takes_polars():
    from sklearn.utils import validation

    X, y = known_inputs(ROWS), series(1)[:, 0]
    plain = ESNRegressor(UNITS, random_state=0).fit(X, y)
    frame = pl.DataFrame(X, schema=["a", "b"])
    framed = ESNRegressor(UNITS, random_state=0).fit(frame, pl.Series("y", y))
    assert np.array_equal(framed.predict(frame), plain.predict(X))
    if validation._get_feature_names(frame) is not None:  # scikit-learn knows this polars
        assert framed.feature_names_in_.tolist() == ["a", "b"]


def test_seeds_repeat_and_none_is_remembered():
    y = series(1)
    free = ESNForecaster(UNITS).fit(y)
    again = ESNForecaster(UNITS, random_state=free.seed_).fit(y)
    assert np.array_equal(free.forecast(5), again.forecast(5))
    generator = ESNForecaster(UNITS, random_state=np.random.default_rng(0)).fit(y)
    other = ESNForecaster(UNITS, random_state=np.random.default_rng(1)).fit(y)
    assert generator.seed_ != other.seed_


def test_refit_forgets_the_earlier_data():
    y, X = series(1), known_inputs(ROWS)
    model = ESNForecaster(UNITS, random_state=0).fit(y, X)
    model.residuals_ = np.zeros((1, 1, 1))
    forecast = model.fit(y).forecast(5)
    assert model.residuals_ is None
    assert np.array_equal(forecast, ESNForecaster(UNITS, random_state=0).fit(y).forecast(5))


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("cls", [ESNForecaster, ESNRegressor, ESNClassifier])
def test_a_failed_refit_leaves_the_earlier_fit(cls, error, monkeypatch):
    def fails(*_, **__):
        raise error("in training")

    sequences = [pd.DataFrame({"a": np.sin(np.arange(9) * (1 + i % 2))}) for i in range(12)]
    X, y = known_inputs(ROWS), series(2)
    first, second, use = {
        ESNForecaster: ((y, X), (pd.Series(9 * y[:, 0]),), lambda m: m.forecast(3, X=X[:3])),
        ESNRegressor: ((X, y), (pd.DataFrame(X[:, :1], columns=["a"]), 9 * y[:, 0]),
                       lambda m: m.predict(X)),
        ESNClassifier: ((sequences, [0, 1] * 6), (9 * X.T, ["b", "c"]),
                        lambda m: m.predict(sequences)),
    }[cls]  # fmt: skip
    model = cls(20, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr("echofold._models.base.fit_all", fails)
        with pytest.raises(error, match="in training"):
            model.fit(*first)
        assert vars(model) == vars(cls(20, random_state=0))  # not half fitted
    before = use(model.fit(*first))
    known = dict(vars(model))
    with monkeypatch.context() as patch:
        patch.setattr("echofold._models.base.fit_all", fails)
        with pytest.raises(error, match="in training"):
            model.fit(*second)
    np.testing.assert_array_equal(use(model), before)
    assert vars(model).keys() == known.keys()
    assert all(vars(model)[name] is value for name, value in known.items())
    model.fit(*second)  # and it can still be fitted


def test_a_failed_update_leaves_the_state(monkeypatch):
    index = pd.date_range("2024-01-01", periods=ROWS, freq="D")
    y = pd.Series(series(1)[:, 0], index=index)
    model = ESNForecaster(20, random_state=0).fit(y[:100])
    before = model.forecast(3)

    def fails(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("echofold._data.dates.Timeline.moved", fails)
        with pytest.raises(KeyboardInterrupt):
            model.update(y[100:110])
    pd.testing.assert_series_equal(model.forecast(3), before)


def test_summaries_stand_for_all_that_have_names_and_states_for_one():
    sequences = [np.random.default_rng(i).normal(size=(20 + i, 2)) for i in range(12)]
    labels = [0, 1] * 6
    names = ("mean", "spread", "share", "max", "change", "last")
    models = [
        ESNClassifier(UNITS, random_state=0, ridge=0.1, **seen).fit(sequences, labels)
        for seen in ({}, {"summaries": names}, {"states": "mean"}, {"summaries": "mean"})
    ]
    assert np.array_equal(models[0].readout_, models[1].readout_)
    assert models[2].readout_.shape == models[3].readout_.shape == (1 + 2 + UNITS, 2)
    assert not np.allclose(models[2].readout_, models[3].readout_)  # in other units


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_sum_to_one_and_agree_with_predictions(classes):
    rng = np.random.default_rng(0)
    sequences = [
        np.sin(np.arange(30) * (1 + i % classes) / 4) + 0.6 * rng.normal(size=30) for i in range(60)
    ]
    labels = np.array(list("dcba"))[np.arange(60) % classes]
    model = ESNClassifier(UNITS, ridge=1.0, random_state=0).fit(sequences[:30], labels[:30])
    found = model.predict_proba(sequences)
    assert found.shape == (60, classes)
    assert np.allclose(found.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert (found > 0).all()
    best = model.classes_[found.argmax(axis=1)]
    assert (best == model.predict(sequences)).all()
    assert model.score(sequences, labels) == (best == labels).mean()
    # Better than knowing nothing, on sequences that were not trained on.
    right = found[30:][labels[30:, None] == model.classes_]
    assert -np.log(right).mean() < np.log(classes)


def test_outputs_become_the_nearest_distribution():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(40, 5)) * np.logspace(-3, 3, 40)[:, None]
    near = nearest(outputs)
    assert (near >= 0).all()
    assert np.allclose(near.sum(axis=1), 1)
    others = rng.dirichlet(np.ones(5), size=2000)
    for point, given in zip(near, outputs, strict=True):
        assert np.sum((point - given) ** 2) <= np.sum((others - given) ** 2, axis=1).min() + 1e-9
    order = probabilities(outputs)
    inside = np.abs(outputs).max(axis=1) < 1  # beyond, some are equally unlikely
    assert (order[inside].argsort(axis=1) == outputs[inside].argsort(axis=1)).all()
    assert (order.argmax(axis=1) == outputs.argmax(axis=1)).all()


def test_forecasters_do_not_predict_and_say_what_they_do():
    y = series(1, 60)[:, 0]
    search = ESNSearchCV(ESNForecaster(5, random_state=0), {"ridge": [1e-2]}, cv=KFold(3))
    members = {"final": "ensemble", "cv": KFold(3)}
    ensemble = ESNSearchCV(ESNForecaster(5, random_state=0), {"ridge": [1e-2]}, **members)
    models = [ESNForecaster(5).fit(y), AutoForecaster(3, progress=False).fit(y[:9])]
    assert not any(hasattr(model, "predict") for model in models)
    for model in [*models, search.fit(y), ensemble.fit(y)]:
        with pytest.raises(AttributeError, match=r"no attribute 'predict': .*forecast\(horizon\)"):
            model.predict(3)
    with pytest.raises(AttributeError, match="no attribute 'forcast'$"):
        models[0].forcast(3)


def test_more_weights_than_rows_are_told():
    y = series(1, 60)[:, 0]
    with pytest.warns(
        EchofoldWarning,
        match="^22 weights of the readout.* fitted to 4 rows, and ridge=0.01 leaves 4 ",
    ):
        ESNForecaster(20, random_state=0).fit(y[:5])
    with pytest.warns(EchofoldWarning, match="^52 weights .* fitted to 51 rows,"):
        ESNRegressor(50, washout=9, random_state=0).fit(y[:, None], y)
    rows = np.arange(60) >= 10
    with pytest.warns(EchofoldWarning, match="^53 weights .* fitted to 50 rows,"):
        model = ESNForecaster(50, washout=5, ridge=1e-6, random_state=0)
        model.fit(y, y[:, None], sample_weight=rows * 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ESNForecaster(50, washout=7, ridge=1e-6, random_state=0).fit(y)  # as many
        ESNRegressor(50, washout=8, random_state=0).fit(y[:, None], y)
        ESNClassifier(random_state=0).fit([y[:20], y[20:40], y[40:]], [0, 1, 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_that_the_ridge_does_not_leave_free_are_not_told(weighted):
    y, weights = np.cumsum(series(1, 60)[:, 0]), None
    if weighted:
        weights = np.random.default_rng(0).uniform(0.1, 2, 60)
    for ridge in (1e-3, 0.1, 1.0, 3.0, 30.0):
        model = ESNForecaster(60, ridge=ridge, washout=5, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(y, sample_weight=weights)
        u = (y - y.mean()) / y.std()
        rows = np.column_stack([u, model.states(y)])[5:-1]
        w = np.ones(54) if weights is None else weights[6:]
        s = np.linalg.svd((rows - w @ rows / w.sum()) * np.sqrt(w)[:, None], compute_uv=False)
        free = 1 + (s**2 / (s**2 + ridge)).sum()
        told = [f"leaves {free:.0f} of them free" in str(one.message) for one in caught]
        assert told == ([True] if free > 27 else []), free


@pytest.mark.parametrize("kind", ["dates", "periods"])
def test_known_inputs_that_reach_too_far_are_cut_by_their_dates(kind):
    months = pd.period_range("2015-01", periods=100, freq="M")
    index = months if kind == "periods" else months.to_timestamp()
    X = pd.DataFrame(known_inputs(100), index, columns=["a", "b"])
    y = pd.Series(series(1, 80)[:, 0], index[:80])
    search = ESNSearchCV(ESNForecaster(5, random_state=0), {"ridge": [1e-2]}, cv=KFold(3))
    auto = AutoForecaster(4, search={"units": 5, "grid": "small", "draws": 1}, progress=False)
    for model in (ESNForecaster(5, random_state=0), search, auto):
        model.fit(y, X[:80])
        expected = model.forecast(4, X=X[80:84])
        for more in (X[80:], X, X[::-1]):
            assert np.array_equal(mean_of(model.forecast(4, X=more)), mean_of(expected))
    plain = ESNForecaster(5, random_state=0).fit(y, X[:80])
    holes = X.drop(X.index[82])
    for wrong in (X.to_numpy()[80:], holes[80:].reset_index(drop=True), holes[80:], X[70:83]):
        with pytest.raises(ValueError, match="rows, but forecast needs 4"):
            plain.forecast(4, X=wrong)
    several = {"one": y, "two": 2 * y}
    both = ESNForecaster(5, random_state=0).fit(several, {"one": X[:80], "two": X[:80]})
    found = both.forecast(4, X={"one": X[80:], "two": X[80:84]})
    assert found["one"].equals(both.forecast(4, X={"one": X[80:84], "two": X[80:84]})["one"])


def mean_of(forecast):
    return np.asarray(forecast.mean if hasattr(forecast, "lower") else forecast)
