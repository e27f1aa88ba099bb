"""Every bad input is refused with a message that names the argument, the trouble and the remedy."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, eye_array
from sklearn.base import clone
from sklearn.linear_model import Ridge

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    WalkForward,
    backtest,
    cross_validate,
    evaluate,
    save,
)
from echofold._data.dates import words_of_dates
from echofold._data.tables import read
from echofold._machine.notices import EchofoldWarning

ROWS = 60
Y = np.sin(np.arange(ROWS) / 3)
X = np.random.default_rng(0).normal(size=(ROWS, 2))
SEQUENCES = [X[i : i + 9] for i in range(10)]
LABELS = [0, 1] * 5
DAYS = pd.date_range("2024-01-01", periods=ROWS, freq="D")


def spoiled(values, at, value):
    copy = np.array(values, dtype=float)
    copy[at] = value
    return copy


@pytest.fixture(scope="module")
def forecaster():
    return ESNForecaster(20, random_state=0).fit(Y)


@pytest.fixture(scope="module")
def with_known():
    known = pd.DataFrame(X, columns=["wind", "sun"], index=DAYS)
    return ESNForecaster(20, random_state=0).fit(pd.Series(Y, index=DAYS), known)


def future(rows=3, columns=("wind", "sun"), start="2024-03-01"):
    index = pd.date_range(start, periods=rows, freq="D")
    return pd.DataFrame(np.ones((rows, len(columns))), columns=list(columns), index=index)


# --- data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (
            spoiled(X, (9, 1), np.inf),
            ValueError,
            r"y contains an infinite value.*column 1 at row 9",
        ),
        (spoiled(X, slice(3, 5), -np.inf), ValueError, r"column 0 at row 3 \(3 more such values\)"),
        (
            pd.DataFrame({"a": Y, "b": spoiled(Y, 4, np.inf)}),
            ValueError,
            r"\(inf\) in column 'b' at row 4. Give a number, or NaN",
        ),
        (
            pd.DataFrame({"a": Y, "b": spoiled(Y, slice(None), np.nan)}),
            ValueError,
            "y has no value in column 'b': all of its 60 rows are missing.*Leave the column out",
        ),
        (pl.DataFrame({"a": [1.0, None]}), ValueError, "y leaves 1 of 1 rows to train on"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "y leaves 1 of 1 rows to train on"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), ValueError, "y leaves 1 of 1 rows"),
        (Y.reshape(3, 4, 5), ValueError, r"y must be one- or two-dimensional.*shape \(3, 4, 5\)"),
        (3.0, ValueError, r"y must be one- or two-dimensional.*shape \(\)"),
        ([[1, 2], [3]], ValueError, "y is not a table"),
        ([], ValueError, r"y is empty: its shape is \(0,\)"),
        (np.zeros((5, 0)), ValueError, "y is empty"),
        (pd.DataFrame(index=range(5)), ValueError, "y is empty"),
        (Y + 1j, ValueError, "y is complex"),
        (csr_array(X), TypeError, r"y is a sparse matrix.*y.toarray\(\)"),
        (["1", "2"], TypeError, "y must hold real numbers, got an array of dtype <U1"),
        (np.array([1, "2"], dtype=object), TypeError, "cannot be read as such: it holds strings"),
        (np.array([1, {}], dtype=object), TypeError, "y must hold real numbers"),
        (DAYS.to_numpy(), TypeError, "y must hold real numbers, got an array of dtype datetime64"),
        (
            pd.DataFrame({"a": Y, "b": ["x"] * ROWS}),
            TypeError,
            "y holds (str|object).*'b'|column 'b'",
        ),
        (pd.DataFrame({"a": Y, "when": DAYS}), TypeError, "y holds datetime64.* in column 'when'"),
        (pd.DataFrame({"c": pd.Categorical([1, 2])}), TypeError, "category in column 'c'.*Encode"),
        (pl.DataFrame({"a": ["x", "y"]}), TypeError, "y holds String in column 'a'"),
        (pd.DataFrame(X, columns=["a", "a"]), ValueError, "two columns named 'a'"),
        (
            pd.Series(Y, index=DAYS[::-1]),
            ValueError,
            "goes back in time at row 1: 2024-02-28.*sort_index",
        ),
        (
            pd.Series(Y[:2], index=pd.DatetimeIndex(["2024-01-01", None])),
            ValueError,
            "no date at row 1",
        ),
        ([1e308, -1e308, 1e308], ValueError, "too large for scale='standard'"),
        ([1.0, 2.0], ValueError, "y gives 1 pairs of successive values.*at least 2 are needed"),
    ],
)
def test_bad_series(y, error, message):
    with pytest.raises(error, match=message):
        ESNForecaster(20).fit(y)


@pytest.mark.parametrize("model", [ESNForecaster(20, washout=58), ESNRegressor(20, washout=59)])
def test_a_series_shorter_than_the_washout(model):
    data = (Y,) if isinstance(model, ESNForecaster) else (X, Y)
    with pytest.raises(ValueError, match=r"washout=5\d uses 5\d: 1 are left.*smaller washout"):
        model.fit(*data)
    with pytest.raises(ValueError, match="0 are left"):
        model.set_params(washout=1000).fit(*data)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ({"X": X[:-1]}, "X has 59 rows and y has 60"),
        ({"X": spoiled(X, (5, 1), np.inf)}, r"X contains .*\(inf\) in column 1 at row 5"),
        ({"X": spoiled(X, (slice(None), 1), np.nan)}, "X has no value in column 1"),
        ({"sample_weight": Y[:-1] ** 2}, r"sample_weight has shape \(59,\), expected \(60,\)"),
        ({"sample_weight": X**2}, r"sample_weight has shape \(60, 2\), expected \(60,\)"),
        ({"sample_weight": Y}, r"sample_weight is -.* at row 10; weights must not be negative"),
        ({"sample_weight": 0 * Y}, "sample_weight is zero in every row"),
        ({"sample_weight": spoiled(Y**2, 2, np.nan)}, "sample_weight contains NaN.* at row 2"),
    ],
)
def test_bad_company_of_a_series(fit, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(20).fit(Y, **fit)


def test_known_inputs_of_other_times_are_refused():
    known = pd.DataFrame(X, index=DAYS + pd.Timedelta("1D"))
    with pytest.raises(ValueError, match="row 0 is 2024-01-01 .*in y and 2024-01-02 .*in X"):
        ESNForecaster(20).fit(pd.Series(Y, index=DAYS), known)


# --- forecasting --------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [0, -3, 2.0, "5", True, None])
def test_bad_horizon(forecaster, horizon):
    with pytest.raises(ValueError, match=f"horizon={horizon!r} is not allowed.*at least 1"):
        forecaster.forecast(horizon)


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        (None, ValueError, "X was given to fit but not to forecast.*each of its 3 values"),
        (future(2), ValueError, "X has 2 rows, but forecast needs 3"),
        (future(4, start="2024-02-28"), ValueError, "X has 4 rows, but forecast needs 3"),
        (
            future(columns=["wind"]),
            ValueError,
            r"X must have.*\['wind', 'sun'\]: it lacks \['sun'\]",
        ),
        (future(columns=["wind", "sun", "rain"]), ValueError, r"has the unexpected \['rain'\]"),
        (future(columns=["wind", "rain"]), ValueError, r"lacks \['sun'\] and has the unexpected"),
        (future(columns=["sun", "wind"]), ValueError, r"in another order, \['sun', 'wind'\]"),
        (future()[["wind"]].to_numpy(), ValueError, "X has 1 column, expected the 2 given to fit"),
        (future().astype({"sun": str}), TypeError, "column 'sun'"),
        (
            future().astype({"sun": bool}),
            TypeError,
            "X holds booleans in column 'sun'.*holds numbers",
        ),
        (future(start="2024-03-02"), ValueError, "row 0 is 2024-03-02.*, expected 2024-03-01"),
        (future().replace(1.0, np.nan), ValueError, "X has no value in column 'wind'"),
    ],
)
def test_bad_known_inputs(with_known, known, error, message):
    with pytest.raises(error, match=message):
        with_known.forecast(3, known)


def test_known_inputs_that_fit_did_not_get(forecaster):
    with pytest.raises(ValueError, match="X was given to forecast but not to fit"):
        forecaster.forecast(3, X[:3])
    with pytest.raises(ValueError, match="X was given to update but not to fit"):
        forecaster.update(Y, X)


@pytest.mark.parametrize("level", [0, 1, 1.5, "high", -0.1])
def test_bad_level(forecaster, level):
    with pytest.raises(ValueError, match=f"level={level!r} is not allowed.*in \\(0, 1\\)"):
        forecaster.forecast(3, level=level)


def test_intervals_need_a_search(forecaster):
    with pytest.raises(ValueError, match="intervals come from ESNSearchCV"):
        forecaster.forecast(3, level=0.9)


@pytest.mark.parametrize(
    ("y", "known", "message"),
    [
        (X[:3], future(), "y has 2 columns, expected the 1 given to fit"),
        (Y[:3], None, "X was given to fit but not to update"),
        (Y[:3], future(2), "X has 2 rows, but update needs 3"),
        (pd.Series(Y[:3], index=DAYS[:3]), future(), "row 0 is 2024-01-01.*expected 2024-03-01"),
        (pd.Series(Y[:3]), future(), "index of y does not follow"),
        ([], future(), "y is empty"),
        (spoiled(Y[:3], 1, np.inf), future(), r"y contains .*\(inf\) in column 0 at row 1"),
    ],
)
def test_bad_updates_change_nothing(with_known, y, known, message):
    before = with_known.state_.copy(), with_known.timeline_
    with pytest.raises(ValueError, match=message):
        with_known.update(y, known)
    assert np.array_equal(with_known.state_, before[0])
    assert with_known.timeline_ == before[1]


# --- regression ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "y", "message"),
    [
        (spoiled(X, (slice(None), 1), np.nan), Y, "X has no value in column 1"),
        (
            pd.DataFrame({"a": spoiled(Y, 8, np.inf)}),
            Y,
            r"X contains .*\(inf\) in column 'a' at row 8",
        ),
        (X, spoiled(Y, 3, np.inf), r"y contains .*\(inf\) in column 0 at row 3"),
        (X, spoiled(Y, slice(None), np.nan), "y has no value in column 0"),
        (X[:-1], Y, "inconsistent numbers of samples"),
        (Y, Y, "Expected 2D array, got 1D array"),
        (X, None, "requires y to be passed"),
    ],
)
def test_bad_regression_data(inputs, y, message):
    with pytest.raises(ValueError, match=message):
        ESNRegressor(20).fit(inputs, y)


def test_bad_prediction_data():
    model = ESNRegressor(20, random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.raises(ValueError, match="start='middle' is not allowed.*'zero' or 'last'"):
        model.predict(X, start="middle")
    with pytest.raises(TypeError, match="X holds (str|object).*column 'b'|column 'b'"):
        model.predict(pd.DataFrame({"a": Y, "b": ["x"] * ROWS}))
    with pytest.raises(ValueError, match=r"X contains .*\(inf\) in column 'b' at row 2"):
        model.predict(pd.DataFrame(spoiled(X, (2, 1), np.inf), columns=["a", "b"]))
    with pytest.raises(ValueError, match="X has no value in column 'b'"):
        model.predict(pd.DataFrame(spoiled(X, (slice(None), 1), np.nan), columns=["a", "b"]))


@pytest.mark.parametrize(
    "given", [(1, 0), (0, 0), 5, (0, 1, 2), ("a", "b"), ([0, 0], [1, 1]), (np.nan, 1), (None, 1)]
)
def test_bad_output_range(given):
    with pytest.raises(ValueError, match="output_range=.*pair.*low below high"):
        ESNRegressor(20, output_range=given).fit(X, Y)


# --- classification -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sequences", "labels", "message"),
    [
        ([*SEQUENCES[:9], np.zeros((0, 2))], LABELS, r"sequences\[9\] is empty.*one time step"),
        ([[], [1.0]], [0, 1], r"sequences\[0\] is empty"),
        ([], [], "sequences is empty: it holds no sequence"),
        (dict(enumerate(SEQUENCES)), LABELS, "sequences is a dict of sequences by name.*a list"),
        (
            pd.concat(dict(enumerate(map(pd.DataFrame, SEQUENCES)))),
            LABELS,
            "sequences is a DataFrame of sequences by name.*a frame for each name",
        ),
        (
            [*SEQUENCES[:9], X[:5, :1]],
            LABELS,
            r"sequences\[9\] has 1 inputs .*sequences\[0\] has 2",
        ),
        (
            [one * [1.0, np.nan] for one in SEQUENCES],
            LABELS,
            "sequences has no value in column 1",
        ),
        ([1.0, 2.0], [0, 1], "sequences holds single numbers"),
        (np.zeros((2, 3, 4, 5)), [0, 1], r"sequences has shape \(2, 3, 4, 5\)"),
        (
            spoiled(X, (4, 1), np.inf),
            [0, 1] * 30,
            r"sequences contains .*\(inf\) in column 1 at row 4",
        ),
        (Y, LABELS, "Reshape your data"),
        (SEQUENCES, LABELS[:-1], "y has 9 labels for 10 sequences"),
        (SEQUENCES, [3] * 10, "y holds one class only, 3"),
        (SEQUENCES, ["a"] * 10, "y holds one class only, 'a'"),
        (SEQUENCES, np.arange(10) / 3, "Unknown label type"),
        (SEQUENCES, None, "requires y to be passed"),
        (
            [pd.DataFrame(X[:5], columns=list("ab")), pd.DataFrame(X[:5], columns=list("ba"))],
            [0, 1],
            r"sequences\[1\] must have the columns of sequences\[0\].*another order",
        ),
    ],
)
def test_bad_sequences(sequences, labels, message):
    with pytest.raises(ValueError, match=message):
        ESNClassifier(20).fit(sequences, labels)


def test_bad_sequences_to_predict():
    model = ESNClassifier(20, random_state=0).fit(SEQUENCES, LABELS)
    with pytest.raises(ValueError, match="a sequence has 1 column, expected the 2 given to fit"):
        model.predict([X[:5, :1]])
    with pytest.raises(ValueError, match=r"sequences\[0\] is empty"):
        model.predict([np.zeros((0, 2))])
    table = ESNClassifier(20, random_state=0).fit(X, [0, 1] * 30)
    with pytest.raises(ValueError, match="X has 1 features, but ESNClassifier is expecting 2"):
        table.predict(X[:, :1])


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"units": 0}, "units=0 is not allowed: it must be an integer of at least 1"),
        ({"units": 2.5}, "units=2.5 is not allowed"),
        ({"leak_rate": 0}, r"leak_rate=0 is not allowed: it must be a number in \(0, 1\]"),
        ({"leak_rate": 1.1}, "leak_rate=1.1 is not allowed"),
        ({"leak_rate": np.nan}, "leak_rate=nan is not allowed"),
        ({"leak_rate": "fast"}, "leak_rate='fast' is not allowed"),
        ({"spectral_radius": -0.1}, "spectral_radius=-0.1 is not allowed"),
        ({"connectivity": 0}, "connectivity=0 is not allowed"),
        ({"ridge": -1e-9}, "ridge=-1e-09 is not allowed: it must be a number of at least 0"),
        ({"ridge": [1e-3]}, r"ridge=\[0.001\] is not allowed"),
        ({"penalize_bias": "no"}, "penalize_bias='no' is not allowed: it must be True or False"),
        ({"input_scaling": np.inf}, "input_scaling=inf is not allowed"),
        ({"input_scaling": [1, 2, 3]}, "input_scaling has 3 values.*network has 1 input"),
        ({"bias_scaling": None}, "bias_scaling=None is not allowed"),
        ({"washout": -1}, "washout=-1 is not allowed: .*or 'auto'"),
        ({"washout": "all"}, "washout='all' is not allowed"),
        ({"scale": "robust"}, "scale='robust' is not allowed: it must be 'standard'"),
        ({"W": np.ones((20, 19))}, r"W must be square, \(units, units\), got shape \(20, 19\)"),
        ({"W": np.eye(10)}, "W has 10 rows but units=20. Pass units=10"),
        ({"W": np.eye(20) * np.nan}, "W must be a two-dimensional array of finite numbers"),
        ({"W": np.eye(20, k=1)}, "W has a spectral radius of zero.*spectral_radius=None"),
        ({"W_in": np.ones((20, 5))}, "W_in has 5 columns, expected 2"),
        ({"W_in": np.ones(20)}, r"W_in must be a two-dimensional.*shape \(20,\)"),
        ({"device": "gpu:99"}, "device='gpu:99' is not available; JAX sees .*cpu:0.*device='auto'"),
        ({"device": "abacus"}, "device='abacus' is not available"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(**{"units": 20} | parameters).fit(Y)


def test_bad_states_and_random_state():
    for states in ("first", 0, 1.5):
        with pytest.raises(ValueError, match=f"states={states!r} is not allowed"):
            ESNClassifier(20, states=states).fit(SEQUENCES, LABELS)
    for summaries in ("median", (), ("mean", "mean"), ("mean", 0), 1.5, [None]):
        with pytest.raises(ValueError, match="summaries=.* is not allowed: it must be 'mean', "):
            ESNClassifier(20, summaries=summaries).fit(SEQUENCES, LABELS)
    with pytest.raises(ValueError, match="states='last' and summaries='max' both say"):
        ESNClassifier(20, states="last", summaries="max").fit(SEQUENCES, LABELS)
    with pytest.raises(ValueError, match="summaries has .* it must give an array of the same"):
        ESNClassifier(20, summaries=lambda x: x.mean(axis=0)).fit(SEQUENCES, LABELS)
    with pytest.raises(ValueError, match="normalize='yes' is not allowed"):
        ESNClassifier(20, normalize="yes").fit(SEQUENCES, LABELS)
    with pytest.raises(TypeError, match="random_state must be an integer"):
        ESNForecaster(20, random_state="lucky").fit(Y)


@pytest.mark.parametrize("W", [eye_array(20), eye_array(20, format="lil"), np.eye(20, dtype=int)])
def test_any_kind_of_matrix_will_do(W):
    assert ESNForecaster(20, W=W, random_state=0).fit(Y).W_.shape == (20, 20)


@pytest.mark.parametrize("cls", [ESNForecaster, ESNRegressor, ESNClassifier])
def test_unknown_keywords(cls):
    with pytest.raises(TypeError, match="'spectral_raduis'. Did you mean 'spectral_radius'?"):
        cls(spectral_raduis=0.9)
    with pytest.raises(TypeError, match="positional"):
        cls(100, 0.5)


@pytest.mark.parametrize(
    "use",
    [
        lambda: ESNForecaster().forecast(3),
        lambda: ESNForecaster().update(Y),
        lambda: ESNRegressor().predict(X),
        lambda: ESNClassifier().predict(SEQUENCES),
    ],
)
def test_use_before_fit(use):
    with pytest.raises(ValueError, match="not fitted yet"):
        use()


def test_reading_leaves_the_data_alone():
    y = np.asfortranarray(X)
    before = y.copy()
    read(y, "y").values[:] = 0
    model = ESNForecaster(20, random_state=0).fit(before)
    model.forecast(3)
    assert np.array_equal(before, X)


def test_weights_that_are_positive_only_in_the_washout():
    weight = np.r_[np.ones(5), np.zeros(95)]
    x = np.sin(np.arange(100.0))
    for fit in (
        lambda: ESNRegressor(5, washout=10).fit(x[:, None], x, sample_weight=weight),
        lambda: ESNForecaster(5, washout=10).fit(x, sample_weight=weight),
    ):
        with pytest.raises(ValueError, match="positive only in the first 1[01] rows, which warm"):
            fit()


# --- names of arguments -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("leaking_rate", "leak_rate"),
        ("leakingRate", "leak_rate"),
        ("lr", "leak_rate"),
        ("sr", "spectral_radius"),
        ("rho", "spectral_radius"),
        ("spectral_radus", "spectral_radius"),
        ("n_reservoir", "units"),
        ("n_units", "units"),
        ("hidden_layer_size", "units"),
        ("reg", "ridge"),
        ("alpha", "leak_rate' or 'ridge"),
        ("seed", "random_state"),
        ("input_scale", "input_scaling"),
        ("sparsity", "connectivity"),
        ("warmup", "washout"),
    ],
)
def test_names_of_other_libraries(name, ours):
    hint = f"{name!r}.* Did you mean '{ours}'\\?"
    with pytest.raises(TypeError, match=f"ESNForecaster has no argument {hint}"):
        ESNForecaster(**{name: 1})
    with pytest.raises(ValueError, match=f"ESNForecaster has no argument {hint}"):
        ESNForecaster().set_params(**{name: 1})
    with pytest.raises(ValueError, match=f"space has {hint}"):
        ESNSearchCV(ESNForecaster(), {name: [1]}).fit(Y)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: KFold(n_splits=3), "KFold has no argument 'n_splits'. Did you mean 'k'?"),
        (lambda: WalkForward(test_size=3), "'test_size'. Did you mean 'valid'?"),
        (lambda: search_of(n_splits=3), "ESNSearchCV has no argument 'n_splits'.*'cv'?"),
        (lambda: search_of(scoring="r2"), "'scoring'. Did you mean 'metric'?"),
        (lambda: search_of(refit=True), "'refit'. Did you mean 'final'?"),
        (lambda: ESNSearchCV(ESNForecaster(), param_grid={}), "Did you mean 'space'?"),
        (lambda: ESNSearchCV(ESNForecaster(), param_distributions={}), "Did you mean 'space'?"),
        (lambda: search_of().set_params(scoring="r2"), "'scoring'. Did you mean 'metric'?"),
        (
            lambda: search_of().set_params(estimator__lr=1),
            "ESNForecaster has no argument 'lr'. Did you mean 'leak_rate'?",
        ),
        (lambda: ESNForecaster().set_params(reservoir__units=1), "reservoir=None has none"),
        (
            lambda: cross_validate(ESNForecaster(20), Y, scoring="r2"),
            "cross_validate has no argument 'scoring'. Did you mean 'metric'?",
        ),
        (
            lambda: search_of().fit(Y, weights=Y),
            "ESNSearchCV.fit has no argument 'weights'. Did you mean 'sample_weight'?",
        ),
        (lambda: evaluate(search_of(), Y, steps=3), "evaluate .*'steps'. Did you mean 'horizon'?"),
        (lambda: ESNForecaster(nonsense=1), "no argument 'nonsense'. Its arguments are units,"),
    ],
)
def test_names_of_other_arguments(use, message):
    with pytest.raises((TypeError, ValueError), match=message.replace("?", "\\?")):
        use()


def search_of(estimator=None, **options):
    estimator = ESNForecaster(20, random_state=0) if estimator is None else estimator
    return ESNSearchCV(estimator, {"ridge": [1.0]}, **{"progress": False, **options})


@pytest.mark.parametrize("cls", [ESNForecaster, ESNRegressor, ESNClassifier, ESNSearchCV, KFold])
def test_signatures_are_those_of_the_constructors(cls):
    given = inspect.signature(cls).parameters
    assert list(given) == list(inspect.signature(cls.__init__).parameters)[1:]
    assert not {"args", "options", "kwargs"} & set(given)
    if cls is not ESNSearchCV:
        assert type(pickle.loads(pickle.dumps(cls()))) is cls
    if cls not in (KFold, ESNSearchCV):
        assert clone(cls(30)).units == 30


def test_a_subclass_may_take_more():
    class Mine(ESNForecaster):
        def __init__(self, units=100, *, colour="red"):
            super().__init__(units)
            self.colour = colour

    assert Mine(colour="blue").get_params(deep=False) == {"units": 100, "colour": "blue"}
    with pytest.raises(TypeError, match="Mine has no argument 'color'. Did you mean 'colour'"):
        Mine(color="blue")


# --- what stands in the wrong place --------------------------------------------------------------


@pytest.mark.parametrize("inputs", [X, X[:, :1], pd.DataFrame(X), X.tolist()])
@pytest.mark.parametrize(
    "use",
    [
        lambda X, y: ESNForecaster(20).fit(X, y),
        lambda X, y: search_of().fit(X, y),
        lambda X, y: cross_validate(ESNForecaster(20), X, y),
        lambda X, y: evaluate(search_of(), X, y, origins=2, horizon=5),
    ],
    ids=["fit", "search", "cross_validate", "evaluate"],
)
def test_inputs_before_the_series(inputs, use):
    for y in (Y, pd.Series(Y)):
        with pytest.raises(ValueError, match=r"the series first.* Use fit\(y, X\)"):
            use(inputs, y)


def test_orders_that_are_meant():
    model = ESNForecaster(20, random_state=0)
    right = model.fit(Y, X).forecast(3, X[:3])
    assert np.array_equal(model.fit(X=X, y=Y).forecast(3, X[:3]), right)
    assert model.fit(X, Y[:, None]).forecast(3, Y[:3, None]).shape == (3, 2)
    assert model.fit(Y[:, None], X=Y).forecast(3, Y[:3]).shape == (3, 1)
    assert model.fit(X, X=Y).forecast(3, X=Y[:3]).shape == (3, 2)
    assert search_of().fit(X, X=Y).forecast(3, X=Y[:3]).shape == (3, 2)
    assert model.fit(Y, Y).forecast(3, Y[:3]).shape == (3,)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: search_of(ESNForecaster).fit(Y), "ESNForecaster is a class.*ESNForecaster()"),
        (lambda: cross_validate(ESNForecaster, Y), "ESNForecaster is a class"),
        (lambda: evaluate(search_of(ESNForecaster), Y), "ESNForecaster is a class"),
        (lambda: search_of(Ridge()).fit(X, Y), "estimator=Ridge.*scikit-learn's GridSearchCV"),
        (lambda: cross_validate(Ridge(), X, Y), "estimator=Ridge.*cross_validate_readout"),
        (lambda: evaluate(search_of(Ridge()), X, Y), "estimator=Ridge"),
        (lambda: evaluate(Ridge(), X, Y), "search=Ridge.*expected an ESNSearchCV"),
        (lambda: evaluate(ESNForecaster(), Y), "is an estimator.*cross_validate.*backtest"),
        (lambda: cross_validate(search_of(), Y), "is an ESNSearchCV.*use evaluate"),
        (lambda: search_of(search_of()).fit(Y), "is an ESNSearchCV"),
        (lambda: backtest(Ridge(), Y, 3, 5), "model=Ridge.*expected a fitted ESNForecaster"),
        (lambda: backtest(ESNForecaster, Y, 3, 5), "expected a fitted ESNForecaster"),
    ],
)  # fmt: skip
def test_estimators_in_the_wrong_place(use, message):
    with pytest.raises(TypeError, match=message.replace("()", "\\(\\)")):
        use()


def test_folders_that_are_missing(forecaster, tmp_path):
    path = tmp_path / "missing" / "one"
    with pytest.raises(FileNotFoundError, match="missing' does not exist; create it first"):
        save(forecaster, path)
    with pytest.raises(ValueError, match="missing' does not exist. Create it first"):
        search_of().fit(Y).report(path)
    assert not path.parent.exists()
    search_of(checkpoint=path).fit(Y)  # of which the folder is made
    assert path.is_dir()


# --- dates --------------------------------------------------------------------------------------


def without(index, *rows):
    return index.delete(list(rows))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (DAYS, ""),
        (without(DAYS, 5, 6, 9), r"3 of 60 dates of y are missing, the first 2024-01-06.*'D'"),
        (pd.bdate_range("2024-01-01", periods=60), ""),
        (without(pd.bdate_range("2024-01-01", periods=60), 7), r"1 of 60.*2024-01-10.*'B'"),
        (without(pd.date_range("2024-01-01", periods=60, freq="h"), 30), r"2024-01-02 06.*'h'"),
        (
            without(pd.date_range("2024-03-25", periods=240, freq="h", tz="Europe/Vilnius"), 3),
            r"1 of 240 dates",
        ),
        (without(pd.date_range("2024-01-07", periods=60, freq="W"), 3), r"2024-01-28.*'W-SUN'"),
        (without(pd.date_range("2000-01-31", periods=60, freq="ME"), 1), r"2000-02-29.*'ME'"),
        (without(pd.date_range("2000-01-01", periods=60, freq="QS"), 4), r"2001-01-01.*'QS-JAN'"),
        (without(pd.period_range("2000-01", periods=60, freq="M"), 2), r"2000-03.*period_range"),
        (pd.DatetimeIndex(10**17 + 10**12 * np.arange(60) ** 2), "not evenly spaced"),
        (DAYS[:1].append(DAYS[:-1]), "repeat themselves in 1 of 60 rows, first in row 1"),
        (pd.RangeIndex(60), ""),
    ],
    ids=[
        "days", "days with holes", "working days", "holidays", "hours", "clock change", "weeks",
        "months", "quarters", "periods", "irregular", "repeated", "numbers",
    ],
)  # fmt: skip
def test_dates_that_cannot_be_continued(index, message, recwarn):
    y = pd.Series(np.sin(np.arange(len(index)) / 3), index=index)
    numbered = bool(message)
    forecast = ESNForecaster(20, random_state=0).fit(y).forecast(1)
    assert (forecast.index[0] == len(y)) == (numbered or isinstance(index, pd.RangeIndex))
    found = [str(one.message) for one in recwarn]
    assert len(found) == numbered
    for one in found:
        assert f"numbered from {len(y)} on" in one
    if message:
        with pytest.warns(EchofoldWarning, match=message):
            ESNForecaster(20, random_state=0).fit(y)


@pytest.mark.parametrize("freq", ["D", "B", "ME"])
def test_the_remedy_for_holes_works(freq):
    index = without(pd.date_range("2024-01-01", periods=60, freq=freq), 7, 20)
    even = pd.Series(np.sin(np.arange(58) / 3), index=index).asfreq(freq)
    assert words_of_dates(even.index) == ()
    with pytest.warns(EchofoldWarning, match="missing"):
        model = ESNForecaster(20, random_state=0).fit(even)
    assert model.forecast(1).index[0] == pd.date_range(index[0], periods=61, freq=freq)[-1]


@pytest.mark.parametrize(
    "use",
    [
        lambda y: search_of().set_params(estimator__washout=2).fit(y),
        lambda y: cross_validate(ESNForecaster(20, random_state=0), y, ridge=[1.0]),
    ],
    ids=["search", "cross_validate"],
)
def test_searches_tell_of_dates_once(use, recwarn):
    use(pd.Series(Y, index=pd.date_range("2024-01-01", periods=61, freq="D").delete(4)))
    assert sum("1 of 61 dates of y is missing" in str(one.message) for one in recwarn) == 1


# --- axes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(20, 3, 150), (20, 1, 24), (20, 6, 100)])
def test_axes_that_look_swapped(shape, recwarn):
    sequences = np.random.default_rng(0).normal(size=shape)
    labels = [0, 1] * 10
    model = ESNClassifier(10, random_state=0)
    with pytest.warns(EchofoldWarning, match=r"give sequences.transpose\(0, 2, 1\)"):
        model.fit(sequences, labels)
    with pytest.warns(EchofoldWarning, match=r"give sequences.transpose\(0, 2, 1\)"):
        search_of(model, cv=2).fit(sequences, labels)
    recwarn.clear()
    model.fit(sequences.transpose(0, 2, 1), labels)
    model.fit(list(sequences), labels)
    model.fit(np.ones((20, 12, 29)) + sequences[:, :1, :1], labels)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: ESNForecaster(10**6).fit(Y), "units=1000000: .* needs at least 7,450.6 GiB"),
        (lambda: ESNSearchCV(ESNForecaster(), {"units": [9, 10**6]}).fit(Y), "units=1000000"),
        (lambda: ESNForecaster(9, season=1e9, harmonics=10**8).fit(Y), "harmonics=100000000"),
        (lambda: ESNRegressor(9, scale=None).fit(1e160 * Y[:, None], Y), "too large for"),
    ],
)
def test_sizes_are_refused_before_memory_is_taken(made, words):
    with pytest.raises(ValueError, match=words):
        made()
