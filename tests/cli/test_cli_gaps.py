"""Missing values of a file are left out from its reading to its report, as the library does it."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from echofold import EchofoldWarning, ESNForecaster, ESNSearchCV, KFold, load
from echofold._data.season import detected_season
from echofold._search.plain import Better, plain_forecasts
from echofold.cli.defaults import suiting
from echofold.cli.output import sparkline
from echofold.cli.validate import held_out

MONTHS = pd.date_range("2005-01-01", periods=200, freq="MS", name="month")
STEPS, RNG = np.arange(200), np.random.default_rng(3)
SEASON = 100 + 0.2 * STEPS + 15 * np.sin(2 * np.pi * STEPS / 12) + RNG.normal(0, 3, 200)
LOST = RNG.choice(np.arange(1, 199), 20, replace=False)
GAPS = pd.Series(SEASON.round(2), MONTHS, name="x").where(~np.isin(STEPS, LOST))
SMALL = ("--units", "12", "--grid", "small", "--k", "4", "--draws", "1")
ONE = ("--no-log", "--difference", "12", "--scheme", "k-fold", "--final", "retrain")
SPACE = {
    # of `ONE` representation
    "leak_rate": [0.3, 1.0], "spectral_radius": [0.9], "difference": [(12,)], "log": [False],
    "season": [None], "ridge": [1e-6, 1e-3, 1e-1, 1.0, 10.0],
}  # fmt: skip


@pytest.fixture
def forecast(run, tmp_path):
    """What `echofold forecast` says as JSON of a series."""

    def call(series, *options, horizon=12):
        series.to_csv(tmp_path / "gaps.csv")
        args = ("forecast", tmp_path / "gaps.csv", "--horizon", horizon, *SMALL, *options)
        code, out, err = run(*args, "--out", tmp_path / "out", "--json")
        assert code == 0, err
        return json.loads(out, parse_constant=pytest.fail), tmp_path / "out"

    return call


def test_values_are_scored_that_are_there_and_no_others(forecast):
    found, out = forecast(GAPS, *ONE)
    (row,) = found["schemes"]
    note = "20 of 200 values are missing, the first at 2006-04-01; left out, neither learned from"
    assert len(found["notes"]) == 1 and note in found["notes"][0]
    search = ESNSearchCV(
        ESNForecaster(12, random_state=0), SPACE, cv=KFold(4, valid=12), metric="rmse"
    )
    with pytest.warns(EchofoldWarning, match="20 values of 200 are missing"):
        search.fit(GAPS)
    assert row["validation"] == pytest.approx(search.best_score_, rel=1e-9)
    ahead = [one["forecast"] for one in found["forecast"]]
    np.testing.assert_allclose(ahead, search.forecast(12), rtol=1e-9)
    np.testing.assert_allclose(load(out / "model.echofold").forecast(12), ahead, rtol=1e-9)
    report = (out / "report.html").read_text()
    assert "20 of 200 values" in report and "diverge" not in report
    absent, _ = forecast(GAPS.dropna(), *ONE)
    assert absent["schemes"] == found["schemes"]
    for fill in ("interpolate", "forward"):
        filled, _ = forecast(GAPS, *ONE, "--fill", fill)
        assert abs(filled["schemes"][0]["validation"] / row["validation"] - 1) > 0.01


def test_beginnings_with_nothing_to_score_are_left_out(forecast, run, tmp_path):
    late = GAPS.copy()
    late.iloc[-3:-1] = np.nan
    found, _ = forecast(late, *ONE, "--origins", "3", horizon=1)
    assert found["origins"] == 1 and found["schemes"][0]["expected"] is not None
    assert "left out, without a value to score: 2 of 3 beginnings." in found["notes"]
    args = ("--test", "2", "--origins", "2", *SMALL, *ONE)
    code, out, err = run("validate", tmp_path / "gaps.csv", *args)
    assert code == 0 and "own forecasts" not in err
    assert "1 of 1 true values" in out or "0 of 1 true values" in out


def test_the_last_rows_without_a_value_are_forecast(forecast):
    late = GAPS.copy()
    late.iloc[-4:] = np.nan
    found, _ = forecast(late, *ONE, "--origins", "0", horizon=6)
    words = "the last 4 rows have no value and are left out: the series ends at 2021-04-01."
    assert words in found["notes"]
    assert [found["forecast"][i]["time"] for i in (0, -1)] == ["2021-05-01", "2021-10-01"]


def test_a_plain_forecast_is_given_in_spite_of_gaps(forecast):
    rng = np.random.default_rng(0)
    values = pd.Series(np.tile(10 * rng.normal(size=30), 4) + 0.01 * rng.normal(size=120), name="x")
    gaps = values.where(~np.isin(np.arange(120), [95, 70, 33]))
    options = ("--season", "30", "--difference", "1", "--origins", "1")
    found, out = forecast(gaps, *options, horizon=10)
    assert found["given"] == "value 30 steps ago"
    ahead = pd.read_csv(out / "forecast.csv")
    expected = values[90:100].to_numpy(copy=True)
    expected[5] = values[65]  # that of a season before
    np.testing.assert_allclose(ahead["forecast"], expected)
    assert (ahead["upper_90"] - ahead["lower_90"] < 1).all()


def test_plain_forecasts_repeat_what_is_known():
    values = np.array([1.0, 2, 3, 11, np.nan, 13, 21, 22, np.nan])
    found = plain_forecasts(values, (3,), np.array([9]), 3)
    np.testing.assert_array_equal(found["last value"], [[22.0] * 3])
    np.testing.assert_array_equal(found["value 3 steps ago"], [[21, 22, 13]])
    assert np.isfinite(list(found.values())).all()
    better = Better("blend", 1.0, 2.0, np.ones((3, 3, 1)), 2, seasons=(3,))
    given = better.forecast(pd.Series(values), pd.RangeIndex(9, 12), (0.9,))
    np.testing.assert_array_equal(given.mean, found["blend"][0])


def test_what_suits_a_series_does_not_depend_on_its_gaps():
    assert suiting(GAPS, (12,)).positive and not suiting(GAPS - 100, (12,)).positive
    with pytest.raises(ValueError, match="value 1 is -"):
        suiting(GAPS - 200, (12,), log=True)
    assert detected_season(GAPS) == detected_season(SEASON) == 12
    assert detected_season(np.full(50, np.nan)) is None


def test_gaps_are_drawn_as_gaps():
    assert sparkline(np.array([0.0, np.nan, 2.0, 7.0]), 0, 7) == "▁ ▃█"
    truth = pd.Series([1.0, np.nan, 3.0])
    ahead = SimpleNamespace(mean=truth.fillna(2.0), lower={0.9: truth - 1}, upper={0.9: truth + 1})
    lines = held_out(ahead, truth, 0.9).splitlines()
    assert lines[0].endswith("▁ █") and lines[5].split()[:2] == ["1", "–"]
    assert lines[-1] == "  2 of 2 true values lie inside their intervals"
