"""Missing values of a file are left out from its reading to its report, as the library does it."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from echofold import AutoForecaster, EchofoldWarning, load
from echofold._data.season import detected_season
from echofold._search.recipe import forms_of
from echofold._search.verdict import plain_forecasts
from echofold.cli.output import sparkline
from echofold.cli.validate import held_out

MONTHS = pd.date_range("2005-01-01", periods=200, freq="MS", name="month")
STEPS, RNG = np.arange(200), np.random.default_rng(3)
SEASON = 100 + 0.2 * STEPS + 15 * np.sin(2 * np.pi * STEPS / 12) + RNG.normal(0, 3, 200)
LOST = RNG.choice(np.arange(1, 199), 20, replace=False)
GAPS = pd.Series(SEASON.round(2), MONTHS, name="x").where(~np.isin(STEPS, LOST))
ONE = ("--units", "5", "--grid", "small", "--k", "4", "--draws", "1", "--no-log")
ONE += ("--difference", "12", "--final", "retrain")
SAME = {
    "units": 5, "grid": "small", "k": 4, "draws": 1, "log": False, "difference": [(12,)],
    "final": "retrain",
}  # fmt: skip


@pytest.fixture
def forecast(run, tmp_path):
    """What `echofold forecast` says as JSON of a series."""

    def call(series, *options, horizon=12):
        series.to_csv(tmp_path / "gaps.csv")
        args = ("forecast", tmp_path / "gaps.csv", "--horizon", horizon, *options)
        code, out, err = run(*args, "--out", tmp_path / "out", "--json")
        assert code == 0, err
        return json.loads(out, parse_constant=pytest.fail), tmp_path / "out"

    return call


def test_values_are_scored_that_are_there_and_no_others(forecast):
    found, out = forecast(GAPS, *ONE)
    note = "20 of 200 values are missing, the first at 2006-04-01; left out, neither learned from"
    assert len(found["notes"]) == 1 and note in found["notes"][0]
    model = AutoForecaster(12, search=SAME, progress=False)
    with pytest.warns(EchofoldWarning, match="20 values of 200 are missing"):
        model.fit(GAPS)
    assert found["verdict"]["error"] == pytest.approx(model.verdict_.error, rel=1e-9)
    ahead = [one["forecast"] for one in found["forecast"]]
    np.testing.assert_allclose(ahead, model.forecast().mean, rtol=1e-9)
    np.testing.assert_allclose(load(out / "model.echofold").forecast().mean, ahead, rtol=1e-9)
    report = (out / "report.html").read_text()
    assert "20 of 200 values" in report and "diverge" not in report
    absent, _ = forecast(GAPS.dropna(), *ONE)
    assert absent["members"] == found["members"] and absent["simple"] == found["simple"]
    for fill in ("interpolate", "forward"):
        filled, _ = forecast(GAPS, *ONE, "--fill", fill)
        assert abs(filled["verdict"]["error"] / found["verdict"]["error"] - 1) > 0.01


def test_beginnings_with_nothing_to_score_are_left_out(forecast, run, tmp_path):
    late = GAPS[-30:].copy()
    late.iloc[-3:-1] = np.nan
    late.to_csv(tmp_path / "late.csv")
    args = ("validate", tmp_path / "late.csv", "--test", "1", "--origins", "3")
    found = json.loads(run(*args, "--json")[1])
    assert found["origins"] == 1 and found["test"] > 0
    assert "left out, without a value to score: 2 of 3 beginnings." in found["notes"]
    code, out, err = run(*args[:3], "2", "--origins", "2")
    assert code == 0 and "own forecasts" not in err
    assert "1 of 1 true values" in out or "0 of 1 true values" in out


def test_the_last_rows_without_a_value_are_forecast(forecast):
    late = GAPS[-30:].copy()
    late.iloc[-4:] = np.nan
    found, _ = forecast(late, horizon=6)
    words = "the last 4 rows have no value and are left out: the series ends at 2021-04-01."
    assert words in found["notes"]
    assert [found["forecast"][i]["time"] for i in (0, -1)] == ["2021-05-01", "2021-10-01"]


def test_a_plain_forecast_is_given_in_spite_of_gaps(forecast):
    rng = np.random.default_rng(1)
    values = np.resize(10 * rng.normal(size=8), 35) + 0.01 * rng.normal(size=35)
    gaps = pd.Series(values, name="x").where(~np.isin(np.arange(35), [12, 27]))
    found, out = forecast(gaps, "--season", "8", horizon=1)
    assert found["given"] == "mean of values 8 steps apart"
    ahead = pd.read_csv(out / "forecast.csv")
    expected = values[[11, 19, 19]].mean()  # the last is missing, that of a season before is not
    np.testing.assert_allclose(ahead["forecast"], expected)
    assert (ahead["upper_90"] - ahead["lower_90"] < 1).all()


def test_plain_forecasts_repeat_what_is_known():
    values = np.array([1.0, 2, 3, 11, np.nan, 13, 21, 22, np.nan])
    found = plain_forecasts(values, (3,), np.array([9]), 3)
    np.testing.assert_array_equal(found["last value"], [[22.0] * 3])
    np.testing.assert_array_equal(found["value 3 steps ago"], [[21, 22, 13]])
    np.testing.assert_allclose(found["mean"], values[~np.isnan(values)].mean())
    assert np.isfinite(list(found.values())).all()


def test_what_suits_a_series_does_not_depend_on_its_gaps():
    values = GAPS.to_numpy()
    assert forms_of(values, (12,), {}).positive and not forms_of(values - 100, (12,), {}).positive
    with pytest.raises(ValueError, match="value 1 is -"):
        forms_of(values - 200, (12,), {"log": True})
    assert detected_season(GAPS) == detected_season(SEASON) == 12
    assert detected_season(np.full(50, np.nan)) is None


def test_gaps_are_drawn_as_gaps():
    assert sparkline(np.array([0.0, np.nan, 2.0, 7.0]), 0, 7) == "▁ ▃█"
    truth = pd.Series([1.0, np.nan, 3.0])
    ahead = SimpleNamespace(mean=truth.fillna(2.0), lower={0.9: truth - 1}, upper={0.9: truth + 1})
    lines = held_out(ahead, truth, 0.9).splitlines()
    assert lines[0].endswith("▁ █") and lines[5].split()[:2] == ["1", "–"]
    assert lines[-1] == "  2 of 2 true values lie inside their intervals"
