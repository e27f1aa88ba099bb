"""Long frames: taken apart and put together, with both libraries of frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from echofold import AutoForecaster, ESNForecaster, ESNSearchCV, WalkForward, load, save
from echofold.long_format import LongFrame, from_long, to_long

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


# --- wherever several series are taken ------------------------------------------------------------

SHOPS = LONG.rename(columns={"unique_id": "shop", "ds": "day", "y": "sold"})
SHOPS["price"] = np.cos(np.arange(len(SHOPS)))
SHOPS["other"] = "x"
NAMES = {"id": "shop", "time": "day"}
OF_SHOPS = LongFrame(SHOPS, **NAMES, target="sold")


def as_polars(frame):
    dates = {"day": frame["day"].dt.date.tolist()} if "day" in frame else {}
    return pl.DataFrame({name: frame[name].tolist() for name in frame} | dates)


def future(days):
    rows = [
        {"shop": name, "day": y.index[-1] + pd.Timedelta(days=step + 1), "price": step / 9}
        for name, y in SERIES.items()
        for step in range(days)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_one_network_of_a_long_frame_is_that_of_a_dict(kind):
    frame = SHOPS if kind == "pandas" else as_polars(SHOPS)
    prices = {name: SHOPS[SHOPS["shop"] == name].set_index("day")[["price"]] for name in SERIES}
    ahead = {name: part.set_index("day")[["price"]] for name, part in future(3).groupby("shop")}
    model = ESNForecaster(20, random_state=0).fit(
        LongFrame(frame, **NAMES, target="sold"), LongFrame(frame, **NAMES, target=["price"])
    )
    other = ESNForecaster(20, random_state=0).fit(SERIES, prices)
    given = future(3) if kind == "pandas" else as_polars(future(3))
    found, right = model.forecast(3, given), other.forecast(3, ahead)
    assert isinstance(found, type(frame)) and list(found.columns) == ["shop", "day", "forecast"]
    np.testing.assert_array_equal(found["forecast"], np.concatenate([right["b"], right["a"]]))
    assert list(found["shop"]) == ["b"] * 3 + ["a"] * 3
    assert found["day"][0] == right["b"].index[0]


def test_a_search_takes_it_and_has_intervals_as_columns(tmp_path):
    search = ESNSearchCV(ESNForecaster(20, random_state=0), {"ridge": [1e-6, 1]}, cv=WalkForward(3))
    found = search.fit(OF_SHOPS).forecast(2, level=[0.5, 0.9])
    ends = ["lower_50", "upper_50", "lower_90", "upper_90"]
    assert list(found.columns) == ["shop", "day", "forecast", *ends]
    right = search.fit(SERIES).forecast(2, level=[0.5, 0.9])
    np.testing.assert_array_equal(found["upper_90"][:2], right.upper[0.9]["b"])
    save(search.fit(OF_SHOPS).best_estimator_, tmp_path / "model")
    pd.testing.assert_frame_equal(
        load(tmp_path / "model").forecast(2), search.forecast(2), check_exact=True
    )


def test_the_recipe_names_its_columns():
    rows = [SHOPS.assign(shop=SHOPS["shop"] + str(n), sold=SHOPS["sold"] + n) for n in range(6)]
    whole = pd.concat(rows).sample(frac=1, random_state=0)
    model = AutoForecaster(3, progress=False).fit(whole, **NAMES, target="sold")
    assert any("columns price, other of the frame are not used" in one for one in model.notes_)
    parts = {name: one.sort_values("day").set_index("day") for name, one in whole.groupby("shop")}
    parts = {name: parts[name]["sold"].asfreq("D") for name in model.series_}
    other = AutoForecaster(3, progress=False).fit(parts)
    found, right = model.forecast(), other.forecast().to_frame()
    np.testing.assert_array_equal(found.iloc[:, 2:], right)
    assert list(found["shop"]) == list(right.index.get_level_values(0))
    next_ = found[found["shop"] == "a3"][["shop", "day"]].assign(sold=5.0)
    model.update(next_[:1])
    other.update({"a3": next_.set_index("day")["sold"][:1]})
    np.testing.assert_array_equal(model.forecast().iloc[:, 2:], other.forecast().to_frame())


def test_known_inputs_of_the_recipe_are_columns():
    model = AutoForecaster(2, pool="none", progress=False, search={"units": 10, "draws": 1})
    model.fit(SHOPS, X=["price"], **NAMES, target="sold")
    assert model.series_["b"].X_schema_.names == ("price",)
    assert np.isfinite(model.forecast(X=future(2))["forecast"]).all()
    with pytest.raises(ValueError, match="X lacks series 'a'"):
        model.forecast(X=future(2)[:2])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"id": "shop"}, "time=None: of a long frame give id=, time= and target="),
        ({**NAMES, "target": "price2"}, "frame has no column 'price2'"),
        ({"id": "shop", "time": "shop", "target": "sold"}, "name a column twice"),
        ({"id": "shop", "time": "other", "target": "sold"}, "is neither a date"),
        ({"id": "other", "time": "day", "target": "sold"}, "series 'x' has several rows for"),
    ],
)
def test_what_is_wrong_with_columns_is_said(given, words):
    with pytest.raises(ValueError, match=words):
        AutoForecaster(2, progress=False).fit(SHOPS, **given)


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match="expected a pandas or polars DataFrame"):
        AutoForecaster(2, progress=False).fit([1.0, 2.0], **NAMES, target="sold")
