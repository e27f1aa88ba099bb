"""Every bad input is refused with a message that names the argument, the trouble and the remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, eye_array

from echofold import ESNClassifier, ESNForecaster, ESNRegressor
from echofold._data.tables import read

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
        (future(4), ValueError, "X has 4 rows, but forecast needs 3"),
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
        ([], [], "sequences is empty"),
        (
            [*SEQUENCES[:9], X[:5, :1]],
            LABELS,
            r"sequences\[9\] has 1 inputs .*sequences\[0\] has 2",
        ),
        (
            [*SEQUENCES[:9], spoiled(X[:5], (3, 1), np.nan)],
            LABELS,
            r"sequences\[9\] contains NaN in column 1 at row 3",
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
    with pytest.raises(TypeError, match="random_state must be an integer"):
        ESNForecaster(20, random_state="lucky").fit(Y)


@pytest.mark.parametrize("W", [eye_array(20), eye_array(20, format="lil"), np.eye(20, dtype=int)])
def test_any_kind_of_matrix_will_do(W):
    assert ESNForecaster(20, W=W, random_state=0).fit(Y).W_.shape == (20, 20)


@pytest.mark.parametrize("cls", [ESNForecaster, ESNRegressor, ESNClassifier])
def test_unknown_keywords(cls):
    with pytest.raises(TypeError, match="spectral_raduis"):
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
