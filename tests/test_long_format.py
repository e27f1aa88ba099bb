"""Long frames: taken apart and put together, with both libraries of frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from echofold import ESNForecaster, ESNSearchCV, WalkForward
from echofold.long_format import from_long, to_long

DAYS = pd.date_range("2024-01-01", periods=60, freq="D")
SERIES = {
    "b": pd.Series(np.sin(np.arange(60) / 3), index=DAYS, name="y"),
    "a": pd.Series(np.cos(np.arange(40) / 4), index=DAYS[:40], name="y"),
}
LONG = pd.concat(
    [pd.DataFrame({"unique_id": n, "ds": s.index, "y": s.to_numpy()}) for n, s in SERIES.items()]
)


def test_there_and_back():
    found = from_long(LONG)
    assert list(found) == ["b", "a"]  # in the order of the frame
    for name, (y, X) in found.items():
        pd.testing.assert_series_equal(y, SERIES[name], check_names=False)
        assert X is None and y.index.freq == DAYS.freq
    back = to_long({name: one.y for name, one in found.items()}, model="y")
    pd.testing.assert_frame_equal(back, LONG.reset_index(drop=True))


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order(seed):
    found = from_long(LONG.sample(frac=1, random_state=seed))
    for name, one in found.items():
        pd.testing.assert_series_equal(one.y, SERIES[name], check_names=False)


def test_polars_in_and_out():
    frame = pl.DataFrame(
        {name: LONG[name].tolist() if name == "unique_id" else LONG[name].to_numpy()
         for name in LONG}
    )  # fmt: skip
    found = from_long(frame)
    for name, one in found.items():
        np.testing.assert_array_equal(one.y, SERIES[name])
        assert (one.y.index == SERIES[name].index).all() and one.y.index.freqstr == "D"
    back = to_long({name: one.y for name, one in found.items()}, model="y", like=frame)
    assert isinstance(back, pl.DataFrame) and back.columns == frame.columns
    assert back["unique_id"].to_list() == frame["unique_id"].to_list()
    assert (back["ds"] == frame["ds"]).all() and (back["y"] == frame["y"]).all()


def test_known_inputs_names_and_numbers_as_times():
    frame = pd.DataFrame(
        {"shop": ["x"] * 4, "t": [3, 1, 2, 5], "sold": [3.0, 1, 2, 5], "price": [30, 10, 20, 50]}
    )
    names = {"id": "shop", "time": "t"}
    (y, X), = from_long(frame, value="sold", **names).values()  # fmt: skip
    assert y.tolist() == [1, 2, 3, 5] and X["price"].tolist() == [10, 20, 30, 50]
    (y, X), = from_long(frame, value="sold", freq=1, **names).values()  # fmt: skip
    assert y.index.tolist() == [1, 2, 3, 4, 5] and np.isnan(y[4]) and np.isnan(X.price[4])
    (y, X), = from_long(frame.drop(columns="sold"), value=None, **names).values()  # fmt: skip
    assert y is None and X.columns.tolist() == ["price"]


def test_days_that_are_left_out_are_missing():
    frame = LONG[(LONG.ds != DAYS[7]) | (LONG.unique_id == "a")]
    assert len(from_long(frame)["b"].y) == 59
    found = from_long(frame, freq="D")
    assert found["b"].y.isna().to_numpy().nonzero()[0].tolist() == [7]
    pd.testing.assert_series_equal(found["a"].y, SERIES["a"], check_names=False)
    with pytest.raises(ValueError, match="freq='W'.*2024-01-0.*Give the spacing of the data"):
        from_long(LONG, freq="W")


def test_columns_of_intervals():
    search = ESNSearchCV(
        ESNForecaster(10, random_state=0), {"ridge": [1e-4]}, cv=WalkForward(4, valid=5)
    )
    forecasts = {
        name: search.fit(y).forecast(3, level=[0.8, 0.95])
        for name, (y, _) in from_long(LONG).items()
    }
    found = to_long(forecasts, model="ESN")
    ends = ["ESN-lo-95", "ESN-lo-80", "ESN", "ESN-hi-80", "ESN-hi-95"]
    assert found.columns.tolist() == ["unique_id", "ds", "ESN", *ends[:2], *ends[3:]]
    assert (np.diff(found[ends], axis=1) > 0).all()
    assert found.unique_id.tolist() == ["b"] * 3 + ["a"] * 3
    assert found.ds.tolist() == [*DAYS[-1] + DAYS.freq * np.arange(1, 4), *DAYS[40:43]]
    np.testing.assert_array_equal(found["ESN-hi-95"][3:], forecasts["a"].upper[0.95])


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="frame has no column 'unique_id'; it has 'id', 'ds'"):
        from_long(LONG.rename(columns={"unique_id": "id"}))
    with pytest.raises(ValueError, match="series 'b' has several rows for 2024-01-01"):
        from_long(pd.concat([LONG, LONG[:1]]))
    with pytest.raises(TypeError, match="got list, expected a pandas or polars DataFrame"):
        from_long([1, 2])
    with pytest.raises(TypeError, match="forecasts\\['a'\\]: got ndarray"):
        to_long({"a": np.ones(3)})
    with pytest.raises(ValueError, match="forecasts is empty"):
        to_long({})
    search = ESNSearchCV(
        ESNForecaster(10, random_state=0), {"ridge": [1e-4]}, cv=WalkForward(4, valid=5)
    )
    one = to_long({"b": search.fit(SERIES["b"]).forecast(3, level=0.9)})
    assert list(one)[-2:] == ["ESN-lo-90", "ESN-hi-90"]


def long_frame(times, **more):
    return pd.DataFrame({"unique_id": "a", "ds": times, "y": np.arange(float(len(times))), **more})


def test_texts_of_dates_have_one_reading():
    texts = DAYS[:12].strftime("%Y-%m-%d")
    found = from_long(long_frame(texts[::-1]))["a"].y
    pd.testing.assert_index_equal(found.index, DAYS[:12], check_names=False)
    assert found.tolist() == list(range(11, -1, -1))
    for form in ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y"):
        with pytest.raises(ValueError, match=r"ds='.*' is neither a date.*format="):
            from_long(long_frame(DAYS[:12].strftime(form)))


def test_times_of_other_kinds():
    zone = "Europe/Berlin"
    days = pd.date_range("2024-03-25", periods=12, freq="D", tz=zone)
    frame = long_frame(days)
    local = pl.Series(days.tz_localize(None).to_numpy()).dt.replace_time_zone(zone)
    polars = pl.DataFrame({"unique_id": ["a"] * 12, "ds": local, "y": np.arange(12.0)})
    for given in (frame, polars):
        found = from_long(given, freq="D")["a"].y
        assert list(found.index) == list(days)
    assert from_long(long_frame([1.0, 2.0, 4.0]), freq=1)["a"].y.index.tolist() == [1, 2, 3, 4]
    periods = from_long(long_frame(pd.period_range("2024-01", periods=5, freq="M")))["a"].y
    assert periods.index[0] == pd.Timestamp("2024-01-01") and periods.index.freqstr == "MS"


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: from_long(long_frame([0.5, 1.0, 1.5])), "ds=0.5 is neither"),
        (lambda: from_long(long_frame([1, 2, 3]), freq="D"), "give a positive integer"),
        (lambda: from_long(long_frame([1, 2, 3]), freq=0), "give a positive integer"),
        (lambda: from_long(long_frame(DAYS[:5]), freq="often"), "a frequency of pandas"),
        (
            lambda: from_long(pd.concat([long_frame(DAYS[:5])] * 2, axis=1)),
            "several columns 'unique_id'",
        ),
        (lambda: to_long({"a": SERIES["a"]}, model="ds"), "give each another name"),
    ],
    ids=["fraction", "text for numbers", "zero", "unknown", "twice", "name"],
)  # fmt: skip
def test_what_is_refused_in_words(use, message):
    with pytest.raises(ValueError, match=message):
        use()


def test_names_of_several_parts():
    frame = to_long({("a", 1): SERIES["a"]})
    assert set(frame.unique_id) == {("a", 1)}
