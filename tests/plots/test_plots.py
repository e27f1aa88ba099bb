"""Plots show the numbers they are given: what is drawn is read back and compared."""

import io
import sys
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.dates import num2date
from scipy.stats import uniform
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import TimeSeriesSplit

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    Recycle,
    SingleSplit,
    WalkForward,
    backtest,
    cross_validate,
    dynamics,
    metrics,
    plots,
)
from echofold._data.rows import complement, intervals_of
from echofold._models.forecast import Forecast
from echofold.plots import _style

EXPONENTS = dynamics.LyapunovExponents(
    np.array([0.9, 0.0, -14.5]),
    np.array([0.9, 0.0, -14.5]) * (1 + 40 / np.arange(1, 5001)[:, None]),
    0.02 * np.arange(1, 5001),
)
SPACE = {"leak_rate": [0.3, 0.6, 1.0], "spectral_radius": [0.5, 0.9], "ridge": [0.0, 1e-6, 1e-2]}
DAYS = pd.date_range("2024-01-01", periods=230, freq="D")


def series(rows=230):
    noise = np.random.default_rng(0).normal(size=rows)
    return np.sin(np.arange(rows) / 5) + 0.1 * noise


@pytest.fixture(scope="module")
def regressor():
    X = series(260)[:, None]
    y = np.column_stack([np.roll(X[:, 0], 1), np.roll(X[:, 0], 2) ** 2])
    cv = {"shuffled": KFold(4, shuffle=True, random_state=0), "steps": KFold(5, valid=80)}
    return ESNSearchCV(ESNRegressor(15, random_state=0), SPACE, cv=cv, metric="rmse").fit(X, y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def draw(ax):
    ax.figure.canvas.draw()
    return ax


def line(ax, label):
    (found,) = (one for one in ax.lines if one.get_label() == label)
    return found


def bars(ax, label):
    """Boxes of one kind as (first row, end, split number)."""
    found = [c for c in ax.collections if c.get_label() == label]
    boxes = [path.vertices for c in found for path in c.get_paths()]
    return {
        (b[:, 0].min(), b[:, 0].max(), round((b[:, 1].min() + b[:, 1].max()) / 2, 6)) for b in boxes
    }


SCHEMES = [
    (SingleSplit(0.2, gap=3), 50),
    (KFold(5, gap=(3, 6)), 100),
    (KFold(4, shuffle=True, random_state=0), 40),
    (KFold(6, valid=30), 100),
    (Accumulative(3, min_train=20), 53),
    (WalkForward(4, valid=10, gap=2), 100),
    (LeaveOneOut(gap=1), 30),
    (Recycle(None, valid=20, start=5, step=15), 100),
    (TimeSeriesSplit(4), 60),
]


@pytest.mark.parametrize(("scheme", "n"), SCHEMES, ids=lambda value: repr(value)[:30])
def test_bars_are_the_rows_of_each_split(scheme, n):
    ax = plots.splits(scheme, n)
    expected = {"training": set(), "left out": set(), "validation": set()}
    for number, (train, valid) in enumerate(scheme.split(np.zeros((n, 1))), 1):
        used = intervals_of(np.concatenate([train, valid]))
        expected["training"] |= {(a, b, number) for a, b in intervals_of(train)}
        expected["validation"] |= {(a, b, number) for a, b in intervals_of(valid)}
        expected["left out"] |= {(a, b, number) for a, b in complement(used, n)}
    for label, boxes in expected.items():
        assert bars(ax, label) == boxes
    assert ax.get_xlim() == (0, n)
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first split is on top


def test_splits_take_an_integer_and_index_pairs():
    assert bars(plots.splits(2, 10), "validation") == {(0, 5, 1), (5, 10, 2)}
    pairs = [(np.arange(5), np.array([6, 7, 9]))]
    assert bars(plots.splits(pairs, 10), "validation") == {(6, 8, 1), (9, 10, 1)}


def test_many_splits_are_sampled_and_say_so():
    ax = plots.splits(LeaveOneOut(), 1000)
    drawn = sorted(bars(ax, "validation"))
    assert len(drawn) == 60
    assert drawn[0] == (0, 1, 1) and drawn[-1] == (999, 1000, 1000)
    assert ax.get_ylabel() == "split (60 of 1000)"


def test_scattered_sets_of_many_rows_are_sampled_in_proportion():
    ax = plots.splits(KFold(5, shuffle=True, random_state=0), 50_000)
    drawn = bars(ax, "validation")
    assert len(drawn) < 2000
    assert sum(b - a for a, b, _ in drawn) / (5 * 50_000) == pytest.approx(0.2, abs=0.03)


def test_series_and_forecasts_of_every_split_are_drawn_where_they_belong(forecaster):
    y = forecaster._reader.data[0]
    for scheme in ("CV", "FV"):
        ax = plots.forecasts(forecaster, scheme=scheme)
        drawn = line(ax, "series")
        np.testing.assert_array_equal(drawn.get_xdata(orig=True), y.index)
        np.testing.assert_array_equal(drawn.get_ydata(), y)
        found = forecaster.results_[scheme]
        winner = forecaster._winner(scheme)
        expected = found.rmse.values[0, winner.candidate, :, winner.ridge[0]]
        x, values = line(ax, "validation forecasts").get_data(orig=True)
        ends = np.flatnonzero(np.isnan(values))
        assert len(ends) == len(expected)
        washout = 22  # a tenth of the pairs
        for split, (start, stop) in enumerate(zip([0, *ends[:-1] + 1], ends, strict=True)):
            dates = pd.DatetimeIndex(x[start:stop])
            assert dates[0] == y.index[int(found.valid_start[split]) + 1 + washout]
            assert dates[-1] == y.index[int(found.valid_stop[split]) + washout]
            error = np.sqrt(np.mean((y[dates].values - values[start:stop]) ** 2))
            assert error == pytest.approx(expected[split])
        dots = ax.lines[2]
        assert len(dots.get_xdata()) == len(expected)
        np.testing.assert_array_equal(dots.get_ydata(), values[[0, *ends[:-1] + 1]])


@pytest.mark.parametrize("scheme", ["shuffled", "steps"])
def test_predictions_of_a_regressor_have_the_errors_of_its_results(regressor, scheme):
    found = plots._series.validation_outputs(regressor, scheme)
    winner = regressor._winner(scheme)
    expected = regressor.results_[scheme].rmse.values[0, winner.candidate, :, winner.ridge[0]]
    y = regressor._reader.data[1]
    for split, rows in enumerate(found.rows):
        keep = rows >= 0
        np.testing.assert_allclose(found.truth[split, keep], y[rows[keep]])
        error = np.sqrt(np.mean((y[rows[keep]] - found.outputs[split, keep]) ** 2))
        assert error == pytest.approx(expected[split])
    ax = plots.forecasts(regressor, scheme=scheme, output=1)
    drawn = line(ax, "validation predictions").get_ydata()
    assert sorted(drawn[~np.isnan(drawn)]) == sorted(found.outputs[found.rows >= 0][:, 1])
    assert ax.get_ylabel() == "output 1"


def test_predictions_of_an_individual_ridge_use_it():
    X = series()[:, None]
    search = ESNSearchCV(
        ESNRegressor(15, random_state=0), SPACE, cv=KFold(4), metric="rmse", ridge_per="split",
        n_draws=2,
    ).fit(X, np.roll(X[:, 0], 2))  # fmt: skip
    found = plots._series.validation_outputs(search)
    draw = search.best_estimator_.seed_
    expected = search.results_.rmse.values[draw, search.best_index_].min(axis=1)
    error = np.sqrt(np.nanmean((found.truth - found.outputs) ** 2, axis=(1, 2)))
    np.testing.assert_allclose(error, expected)


def test_an_excerpt_has_its_rows_alone(regressor):
    ax = plots.forecasts(regressor, scheme="steps", rows=(100, 140))
    np.testing.assert_array_equal(line(ax, "series").get_xdata(), np.arange(100, 140))
    drawn = line(ax, "validation predictions").get_xdata()
    assert drawn.min() == 100 and drawn.max() == 139
    with pytest.raises(ValueError, match=r"rows=\(100, 999\)"):
        plots.forecasts(regressor, scheme="steps", rows=(100, 999))


def test_a_diverging_forecast_leaves_the_series_readable(forecaster, monkeypatch):
    residuals = forecaster.best_estimator_.residuals_.copy()
    residuals[2, 5:] = np.inf
    residuals[3] = 1e30
    monkeypatch.setattr(forecaster.best_estimator_, "residuals_", residuals)
    known = forecaster._winners._validated
    for winner, kept in known.items():
        if winner[0] == "CV":
            outputs = kept.outputs + kept.residuals - residuals
            changed = replace(kept, residuals=residuals, outputs=outputs)
            monkeypatch.setitem(known, winner, changed)
    ax = draw(plots.forecasts(forecaster))
    low, high = ax.get_ylim()
    assert -4 < low < high < 4
    assert [t.get_text() for t in ax.texts] == ["1 of 7 diverge"]
    ax = draw(plots.error_by_step(forecaster))
    drawn = line(ax, "RMSE").get_ydata()
    assert np.isfinite(drawn[:5]).all() and np.isnan(drawn[5:29]).all()


def test_candidates_are_scattered_and_the_selected_one_circled():
    validation = np.array([[0.5, 0.4, np.nan], [0.3, np.inf, 0.6]])
    test = np.array([[0.7, 0.5, 0.1], [0.4, 0.2, np.inf]])
    ax = plots.validation_test(validation, test)
    cloud, chosen = ax.collections
    np.testing.assert_array_equal(cloud.get_offsets(), [[0.5, 0.7], [0.4, 0.5], [0.3, 0.4]])
    np.testing.assert_array_equal(chosen.get_offsets(), [[0.3, 0.4]])
    assert chosen.get_facecolor().size == 0
    assert [t.get_text() for t in ax.texts] == ["3 of 6 not finite"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    other = plots.validation_test(validation, test, chosen=(0, 1)).collections[1]
    np.testing.assert_array_equal(other.get_offsets(), [[0.4, 0.5]])


def test_a_wide_range_of_errors_gets_a_logarithmic_axis():
    ax = plots.validation_test([0.1, 1.0, 100.0], [1.0, 2.0, 3.0], chosen=0)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    draw(ax)
    assert "$" not in "".join(label.get_text() for label in ax.get_xticklabels())
    assert plots.validation_test([-1.0, 1.0, 100.0], [1.0, 2.0, 3.0]).get_xscale() == "linear"


def test_errors_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=r"shape \(2,\) and test \(3,\)"):
        plots.validation_test([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="chosen=7"):
        plots.validation_test([1, 2], [1, 2], chosen=7)


def lowest(found, x, y):
    """The lowest mean score over everything else, by hand."""
    scores = found.rmse.mean(("draw", "split"))
    table = scores.to_dataframe().reset_index()
    return table.groupby([y, x]).rmse.min().unstack()


@pytest.mark.parametrize(("x", "y"), [("leak_rate", "spectral_radius"), ("ridge", "leak_rate")])
def test_the_surface_is_the_lowest_over_all_else(forecaster, x, y):
    ax = draw(plots.surface(forecaster, x, y, scheme="FV"))
    expected = lowest(forecaster.results_["FV"], x, y)
    mesh = ax.collections[0]
    np.testing.assert_allclose(mesh.get_array().reshape(expected.shape), expected)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == [_style.short(float(value)) for value in expected.columns]
    row, column = np.unravel_index(expected.values.argmin(), expected.shape)
    best = line(ax, f"lowest: {_style.short(expected.values.min())}")
    assert (best.get_xdata(), best.get_ydata()) == ([column], [row])
    again = plots.surface(forecaster.results_, x, y, scheme="FV").collections[0]
    np.testing.assert_array_equal(again.get_array(), mesh.get_array())


def test_scattered_candidates_are_points():
    space = {"leak_rate": uniform(0.1, 0.9), "spectral_radius": uniform(0.1, 1), "ridge": [1e-6]}
    search = ESNSearchCV(
        ESNForecaster(10, random_state=0), space, strategy="random", n_iter=12, cv=KFold(3)
    ).fit(series(100))
    ax = draw(plots.surface(search, "leak_rate", "spectral_radius"))
    points = max(ax.collections, key=lambda c: len(c.get_offsets()))
    mean = search.results_.nrmse.mean(("draw", "split")).values[:, 0]
    order = np.argsort(-mean, kind="stable")
    found = search.results_
    places = np.column_stack([found.leak_rate.values, found.spectral_radius.values])
    np.testing.assert_allclose(points.get_offsets(), places[order])
    np.testing.assert_allclose(points.get_array(), mean[order])


def test_what_was_not_searched_has_no_surface(forecaster):
    with pytest.raises(ValueError, match="x='units' was not searched; expected one of 'leak_rate'"):
        plots.surface(forecaster, "units", "leak_rate")
    with pytest.raises(ValueError, match="both 'ridge'"):
        plots.surface(forecaster, "ridge", "ridge")
    with pytest.raises(ValueError, match="scheme='XV' is not one of this search: CV, FV"):
        plots.surface(forecaster, "leak_rate", "ridge", scheme="XV")


def test_the_ridge_path_is_the_mean_over_splits_with_its_middle_half(forecaster):
    found = forecaster.results_["CV"]
    winner = int(found.rmse.mean(("draw", "split")).min("ridge").values.argmin())
    for candidate, at in ((None, winner), (3, 3)):
        ax = draw(plots.ridge_path(forecaster, candidate=candidate))
        scores = found.rmse.values[0, at]
        x, y = line(ax, "mean over splits").get_data()
        np.testing.assert_allclose(y, scores.mean(axis=0))
        np.testing.assert_allclose(x, [-7, -6, -2])  # zero stands one step before the smallest
        assert [label.get_text() for label in ax.get_xticklabels()][0] == "0"
        band = ax.collections[0].get_paths()[0].vertices
        for place, column in zip(x, scores.T, strict=True):
            edges = band[np.isclose(band[:, 0], place), 1]
            low, high = np.sort(column)[[1, 5]]  # of seven splits
            assert edges.min() == pytest.approx(low) and edges.max() == pytest.approx(high)
    with pytest.raises(
        ValueError, match="candidate=6 is not allowed: it must be an integer of 0 to 5"
    ):
        plots.ridge_path(forecaster, candidate=6)


def test_the_ridge_path_of_a_cross_validation():
    found = cross_validate(
        ESNForecaster(10, random_state=0), series(), cv=KFold(5), ridge=[1, 1e-4]
    )
    x, y = line(plots.ridge_path(found), "mean over splits").get_data()
    np.testing.assert_allclose(x, [-4, 0])
    np.testing.assert_allclose(y, found.nrmse.mean("split").values[::-1])
    with pytest.raises(ValueError, match="single scheme"):
        plots.ridge_path(found, scheme="CV")
    with pytest.raises(TypeError, match="got int, expected a fitted ESNSearchCV"):
        plots.ridge_path(3)


def test_lower_bounds_are_marked_and_never_lowest(forecaster):
    found = forecaster.results_["CV"].copy(deep=True)
    found["pruned"] = (("draw", "candidate", "ridge"), np.zeros((1, 6, 3), dtype=bool))
    found["pruned"][0, :, 0] = True
    found["rmse"][0, :, :, 0] = 1e-9
    best = int(found.rmse.values[0, :, :, 1:].mean(axis=1).min(axis=1).argmin())
    ax = draw(plots.ridge_path(found))
    assert len(line(ax, "at best").get_xdata()) == 1
    (ring,) = (one for one in ax.lines if one.get_label().startswith("lowest"))
    assert ring.get_ydata()[0] == found.rmse.values[0, best, :, 1:].mean(axis=0).min()
    mesh = plots.surface(found, "leak_rate", "spectral_radius").collections[0]
    assert mesh.get_array().min() > 1e-6
    assert plots.surface(found, "ridge", "leak_rate").collections[0].get_array().mask[:, 0].all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_break_nothing(forecaster, bad):
    some, none = (forecaster.results_["CV"].copy(deep=True) for _ in range(2))
    some["rmse"][0, 1:, 2, :] = bad
    none["rmse"][:] = bad
    for found in (some, none):
        draw(plots.surface(found, "leak_rate", "spectral_radius"))
        draw(plots.surface(found, "leak_rate", "ridge"))
        draw(plots.ridge_path(found))
        draw(plots.ridge_path(found, candidate=4))
        mean = found.rmse.values.mean(axis=(0, 2))
        draw(plots.validation_test(mean, mean))
    mesh = plots.surface(some, "leak_rate", "spectral_radius").collections[0].get_array()
    assert mesh.mask.sum() == 5  # all but the first candidate
    assert plots.ridge_path(none).texts[0].get_text() == "3 of 3 not finite"


def test_a_forecast_continues_the_dates_of_its_series(forecaster):
    y = forecaster._reader.data[0]
    ahead = forecaster.forecast(20, level=0.8)
    for given in (ahead, ahead._replace(mean=ahead.mean.to_numpy())):
        ax = draw(plots.forecast(y, given, history=50))
        np.testing.assert_array_equal(line(ax, "series").get_xdata(orig=True), y.index[-50:])
        x, mean = line(ax, "forecast").get_data(orig=True)
        np.testing.assert_array_equal(x, ahead.mean.index)
        np.testing.assert_array_equal(mean, ahead.mean)
    band = ax.collections[0].get_paths()[0].vertices
    first = band[np.isclose(band[:, 0], band[:, 0].min()), 1]
    assert first.min() == ahead.lower[0.8].iloc[0]
    assert first.max() == ahead.upper[0.8].iloc[0]
    assert num2date(band[:, 0].min()).date() == ahead.mean.index[0].date()
    assert ax.get_ylabel() == "tide"


def test_a_forecast_of_arrays_continues_the_rows():
    y = np.column_stack([series(), 5 * series()])
    model = ESNForecaster(15, random_state=0).fit(y)
    ax = plots.forecast(y, model.forecast(10), output=1)
    np.testing.assert_array_equal(line(ax, "series").get_ydata(), y[:, 1])
    np.testing.assert_array_equal(line(ax, "forecast").get_xdata(), np.arange(230, 240))
    np.testing.assert_array_equal(line(ax, "forecast").get_ydata(), model.forecast(10)[:, 1])


@pytest.mark.parametrize("index", ["months", "hours", "irregular", "names", "numbers"])
def test_any_index_can_be_drawn(index):
    rows = 120
    indexes = {
        "months": pd.period_range("2000-01", periods=rows, freq="M"),
        "hours": pd.date_range("2024-03-30", periods=rows, freq="h", tz="Europe/Vilnius"),
        "irregular": pd.DatetimeIndex(
            np.delete(pd.date_range("2024", periods=rows + 3), [5, 9, 50])
        ),
        "names": pd.Index([f"row {i}" for i in range(rows)]),
        "numbers": pd.RangeIndex(10, 10 + 2 * rows, 2, name="step"),
    }
    y = pd.Series(series(rows), index=indexes[index])
    search = ESNSearchCV(ESNForecaster(10, random_state=0), {"ridge": [1e-6]}, cv=KFold(3)).fit(y)
    draw(plots.forecasts(search))
    ax = draw(plots.forecast(y, search.forecast(7, level=0.5)))
    x = line(ax, "series").get_xdata(), line(ax, "forecast").get_xdata()
    step = (x[0][1] - x[0][0]) if index != "irregular" else None
    assert (np.diff(np.concatenate(x)) > 0).all()
    if index in ("names", "numbers"):
        assert x[1][0] - x[0][-1] == step
    assert ax.get_xlabel() == {"names": "row", "numbers": "step"}.get(index, "")


def test_several_levels_and_a_forecast_without_its_series():
    days = pd.date_range("2024", periods=5, freq="D")
    mean = pd.Series(np.arange(5.0), index=days)
    one = Forecast(mean, {0.8: mean - 1}, {0.8: mean + 1})
    two = Forecast(mean, {0.5: mean - 1, 0.9: mean - 2}, {0.5: mean + 1, 0.9: mean + 2})
    assert draw(one.plot()).get_legend_handles_labels()[1] == ["forecast", "80 % interval"]
    before = pd.Series(np.ones(50), index=pd.date_range(end="2023-12-31", periods=50, freq="D"))
    ax = draw(two.plot(before, history=20))
    names = ["series", "forecast", "90 % interval", "50 % interval"]
    assert ax.get_legend_handles_labels()[1] == names
    assert len(line(ax, "series").get_xdata()) == 20
    with pytest.raises(ValueError, match="output=1"):
        one.plot(output=1)


def test_diverging_forecasts_are_said():
    y = series(50)
    ax = draw(plots.forecast(y, np.array([1.0, 2.0, np.inf, np.nan])))
    assert "diverges" in ax.texts[0].get_text()
    assert np.isfinite(ax.get_ylim()).all()


def test_a_forecast_that_does_not_fit_its_series_is_refused():
    with pytest.raises(ValueError, match="forecast has 2 columns and y has 1"):
        plots.forecast(series(), np.ones((5, 2)))
    with pytest.raises(
        ValueError, match="output=1 is not allowed: it must be an integer of 0 to 0"
    ):
        plots.forecast(series(), np.ones(5), output=1)
    with pytest.raises(ValueError, match="history=0"):
        plots.forecast(series(), np.ones(5), history=0)


def test_error_by_step_is_the_rmse_over_splits(forecaster):
    residuals = forecaster.best_estimator_.residuals_
    assert np.isnan(residuals).any()  # folds of different lengths
    ax = plots.error_by_step(forecaster)
    steps, drawn = line(ax, "RMSE").get_data()
    np.testing.assert_array_equal(steps, np.arange(1, residuals.shape[1] + 1))
    for step, value in enumerate(drawn):
        there = residuals[:, step, 0][~np.isnan(residuals[:, step, 0])]
        assert value == pytest.approx(np.sqrt(np.mean(there**2)))
    again = plots.error_by_step(forecaster.best_estimator_)
    np.testing.assert_array_equal(line(again, "RMSE").get_ydata(), drawn)


def test_error_by_step_has_a_line_for_each_output():
    y = pd.DataFrame({"a": series(), "cost in $ or $": 3 * series()})
    space = {"ridge": [1e-6]}
    search = ESNSearchCV(ESNForecaster(15, random_state=0), space, cv=WalkForward(5, valid=6)).fit(
        y
    )
    ax = draw(plots.error_by_step(search))
    expected = np.sqrt((search.best_estimator_.residuals_**2).mean(axis=0))
    for name, values in zip(("a", r"cost in \$ or \$"), expected.T, strict=True):
        np.testing.assert_allclose(line(ax, f"RMSE of {name}").get_ydata(), values)


STRANGE = {
    "half a character": ("\ud800x", "\ufffdx"),
    "control characters": ("a\x00b\x1b[2J", "a\ufffdb\ufffd[2J"),
    "no characters": ("a\ufffe\uffff", "a\ufffd\ufffd"),
    "a formula": ("price $USD$_x", "price $USD$_x"),
    "half a formula": (r"$\frac{$", r"$\frac{$"),
    "an escaped formula": (r"\$a$", r"\$a$"),
    "an underscore": ("_hidden", " _hidden"),
    "lines": ("two\nlines\tand\n" * 9, ("two lines and " * 9)[:39] + "…"),
    "very long": ("n" * 5000, "n" * 39 + "…"),
}


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
@pytest.mark.parametrize(("name", "shown"), STRANGE.values(), ids=STRANGE)
def test_any_name_can_be_drawn(name, shown, form):
    y = pd.Series(series(60), name=name, index=pd.RangeIndex(60, name=name))
    ax = plots.forecast(y, np.zeros(5))
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            ax.figure.savefig(written, format=form)
    if form == "svg":
        texts = [e.text for e in ElementTree.fromstring(written.getvalue()).iter() if e.text]
        assert texts.count(shown) == 2  # of the series and of its index


def test_a_name_with_an_underscore_stays_in_the_legend():
    ax = plt.figure().subplots()
    ax.plot([1, 2], label=_style.as_label("_hidden"))
    _style.finished(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [" _hidden"]


@pytest.fixture(scope="module")
def two_climates():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"wind": series(900), "rain": rng.exponential(size=900)})
    return dynamics.climate(truth, truth.iloc[:400] * 1.2, step=0.5)


def test_a_climate_is_its_spectra_and_histograms(two_climates):
    panels = plots.climate(two_climates)
    assert panels.shape == (2, 2)
    for output, (left, right) in enumerate(panels):
        for place, name in enumerate(("truth", "forecast")):
            x, power = line(left, name).get_data()
            np.testing.assert_array_equal(x, two_climates.frequencies)
            np.testing.assert_array_equal(power, two_climates.spectra[place, :, output])
            (steps,) = (patch for patch in right.patches if patch.get_label() == name)
            shares, edges, _ = steps.get_data()
            np.testing.assert_array_equal(shares, two_climates.histograms[place, :, output])
            np.testing.assert_array_equal(edges, two_climates.edges[:, output])
        assert f"{two_climates.spectrum_distance[output]:.1f} dB" in left.texts[0].get_text()
        assert f"{two_climates.histogram_distance[output]:.2f} std" in right.texts[0].get_text()
    assert [right.get_xlabel() for _, right in panels] == ["wind", "rain"]
    assert panels[0, 0].get_yscale() == "log" and panels[1, 0].get_yscale() == "linear"


def test_a_climate_is_drawn_on_pairs_of_axes(two_climates):
    figure, given = plt.subplots(2, 3)
    found = plots.climate(two_climates, ax=given[:, 1:])
    assert (found == given[:, 1:]).all() and not given[0, 0].has_data()
    one = plots.climate(two_climates, ax=plt.subplots(1, 2)[1], output=1)
    assert one.shape == (1, 2) and one[0, 1].get_xlabel() == "rain"
    with pytest.raises(ValueError, match="ax has 2 axes, expected 4: two for each output"):
        plots.climate(two_climates, ax=given[0, :2])
    with pytest.raises(TypeError, match="ax=3: expected matplotlib axes"):
        plots.climate(two_climates, ax=3)
    with pytest.raises(
        ValueError, match="output=2 is not allowed: it must be an integer of 0 to 1"
    ):
        plots.climate(two_climates, output=2)
    with pytest.raises(TypeError, match=r"expected what echofold\.dynamics\.climate returns"):
        plots.climate(series())


def test_a_climate_of_many_outputs_shows_some_and_one_at_rest_is_drawn():
    values = np.random.default_rng(0).normal(size=(200, 20))
    panels = plots.climate(dynamics.climate(values, np.zeros((100, 20))))
    assert panels.shape == (8, 2)
    assert panels[0, 1].get_title(loc="right") == "8 of 20 outputs"
    draw(panels[0, 0])
    assert np.isnan(line(panels[0, 0], "forecast").get_ydata()).all()


def test_exponents_are_drawn_over_time_without_their_beginning():
    ax = draw(plots.lyapunov(EXPONENTS, count=2))
    assert ax.get_legend_handles_labels()[1] == ["0.9", "0"]
    first = line(ax, "0.9")
    assert first.get_ydata()[-1] == EXPONENTS.history[-1, 0]
    low, high = ax.get_ylim()
    assert -0.2 < low < 0 and 0.9 < high < 1.2 < first.get_ydata().max()
    assert ax.get_xlim() == (0, 100)
    for count in (0, True, 1.5):
        with pytest.raises(ValueError, match="count=.* at least 1"):
            plots.lyapunov(EXPONENTS, count=count)
    with pytest.raises(TypeError, match="expected what echofold.dynamics.lyapunov_exponents"):
        plots.lyapunov(series())
    lost = replace(EXPONENTS, history=np.full((5000, 3), -np.inf), exponents=np.full(3, -np.inf))
    draw(plots.lyapunov(lost))


def backtested(model, y, **options):
    return backtest(model, y, 9, 20, metric=[metrics.horizon(0.5), "mae"], **options)


def test_growth_of_errors_is_that_of_the_backtest(forecaster):
    found = backtested(forecaster, forecaster._reader.data[0])
    ax = draw(plots.error_growth(found, step=0.5, unit="days"))
    median = line(ax, "median over starts")
    np.testing.assert_array_equal(median.get_xdata(), 0.5 * np.arange(1, 21))
    expected = np.median(found.error.values, axis=0) / found.attrs["spread"]
    np.testing.assert_allclose(median.get_ydata(), expected)  # of nine, which has a middle one
    assert ax.get_xlabel() == "days" and ax.get_xlim() == (0, 10)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["nine in ten", "middle half", "median over starts", "spread of the series"]
    errors = np.sort(found.error.values, axis=0) / found.attrs["spread"]
    for band, (low, high) in zip(ax.collections, ((0, 8), (2, 6)), strict=True):
        (path,) = band.get_paths()
        drawn = {tuple(vertex) for vertex in path.vertices}
        for row in (low, high):
            assert set(zip(median.get_xdata(), errors[row], strict=True)) <= drawn


def test_growth_of_errors_of_runs_that_diverge(forecaster):
    found = backtested(forecaster, forecaster._reader.data[0]).copy(deep=True)
    found.error[5:, 12:] = np.inf
    found.error[0, 3] = np.nan  # of a forecast, whose truth is there
    ax = draw(plots.error_growth(found))
    median = line(ax, "median over starts").get_ydata()
    assert np.isfinite(median[:12]).all() and np.isfinite(median[12:]).all()
    found.error[4:, 12:] = np.inf
    ax = draw(plots.error_growth(found))
    median = line(ax, "median over starts").get_ydata()
    assert np.isfinite(median[:12]).all() and np.isnan(median[12:]).all()
    assert any("where runs diverge, nothing is drawn" in text.get_text() for text in ax.texts)


def test_horizons_are_counted(forecaster):
    found = backtested(forecaster, forecaster._reader.data[0])
    ax = draw(plots.horizons(found, unit="days"))
    assert sum(bar.get_height() for bar in ax.patches) == 9
    middle = float(found.horizon.median())
    assert ax.lines[0].get_xdata() == pytest.approx([middle, middle])
    labels = ax.get_legend_handles_labels()[1]
    assert labels[0] == "starts" and labels[1].startswith("median")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("days", "forecasts")
    assert draw(plots.horizons(found, metric="mae")).get_xlabel() == "mae"
    found.mae[:2] = np.inf
    ax = draw(plots.horizons(found, metric="mae"))
    assert sum(bar.get_height() for bar in ax.patches) == 7
    assert any("2 of 9 not finite" in text.get_text() for text in ax.texts)


def test_what_is_no_backtest_is_refused(forecaster):
    found = backtested(forecaster, forecaster._reader.data[0])
    for plot in (plots.error_growth, plots.horizons):
        with pytest.raises(TypeError, match="got ndarray, expected the Dataset that backtest"):
            plot(series())
        with pytest.raises(TypeError, match="expected the Dataset that backtest"):
            plot(found[["forecast"]])
    with pytest.raises(TypeError, match="got Dataset, expected a fitted ESNSearchCV"):
        plots.ridge_path(found)  # which has scores, but no ridges
    with pytest.raises(ValueError, match="metric='rmse' was not scored .* 'horizon', 'mae'"):
        plots.horizons(found, metric="rmse")
    for step in (0, -1.0, np.nan, "1"):
        with pytest.raises((TypeError, ValueError), match="step="):
            plots.error_growth(found, step=step)


def test_models_without_validation_errors_are_refused(regressor):
    for model in (ESNForecaster(10, random_state=0).fit(series()), regressor):
        with pytest.raises(ValueError, match="no validation errors by step"):
            plots.error_by_step(model)


def test_unfitted_and_unsuitable_searches_are_refused(classifier):
    search = ESNSearchCV(ESNForecaster(), {})
    for plot in (plots.forecasts, plots.ridge_path):
        with pytest.raises(NotFittedError):
            plot(search)
    with pytest.raises(TypeError, match="expected a fitted ESNSearchCV"):
        plots.forecasts(series())
    with pytest.raises(TypeError, match="ESNClassifier"):
        plots.forecasts(classifier)


def every_plot(search):
    """All plots as functions of axes."""
    y = search._reader.data[0]
    return {
        "splits": lambda ax: plots.splits(WalkForward(12, valid=9, gap=4), 230, ax=ax),
        "forecasts": lambda ax: plots.forecasts(search, ax=ax),
        "validation_test": lambda ax: plots.validation_test([1e-3, 1, 2], [1, 2, 1e4], ax=ax),
        "surface": lambda ax: plots.surface(search, "leak_rate", "spectral_radius", ax=ax),
        "ridge_path": lambda ax: plots.ridge_path(search, ax=ax),
        "forecast": lambda ax: plots.forecast(y, search.forecast(9, level=0.5), ax=ax),
        "error_by_step": lambda ax: plots.error_by_step(search, ax=ax),
        "lyapunov": lambda ax: plots.lyapunov(EXPONENTS, ax=ax),
        "error_growth": lambda ax: plots.error_growth(backtested(search, y), ax=ax),
        "horizons": lambda ax: plots.horizons(backtested(search, y), ax=ax),
    }


PLOTS = tuple(name for name in plots.__all__ if name != "climate")  # which draws on pairs


@pytest.mark.parametrize("name", PLOTS)
def test_axes_given_are_drawn_on_and_returned(forecaster, name):
    _, (left, right) = plt.subplots(1, 2)
    plot = every_plot(forecaster)[name]
    assert plot(right) is right
    assert not left.has_data() and right.has_data()
    assert right.get_ylabel() or name == "forecast"
    assert plot(None) not in (left, right)
    with pytest.raises(TypeError, match="ax=3: expected matplotlib axes"):
        plot(3)


@pytest.mark.parametrize("size", [(3.2, 2.6), (6.4, 4.8)])
@pytest.mark.parametrize("name", PLOTS)
def test_labels_do_not_run_into_each_other(forecaster, name, size):
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    every_plot(forecaster)[name](ax)
    figure.canvas.draw()
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        shown = [
            tick.label1.get_window_extent()
            for tick in axis.get_major_ticks()
            if low <= tick.get_loc() <= high and tick.label1.get_text()
        ]
        assert len(shown) >= 2
        for i, one in enumerate(shown):
            assert not any(one.overlaps(other) for other in shown[i + 1 :])
    legend = ax.get_legend().get_window_extent()
    assert legend.x1 <= figure.bbox.x1 + 1 and legend.y1 <= figure.bbox.y1 + 1
    assert not legend.overlaps(ax.get_window_extent().padded(-2))


def test_colours_are_those_of_okabe_and_ito(forecaster):
    published = {
        "#000000",
        "#e69f00",
        "#56b4e9",
        "#009e73",
        "#f0e442",
        "#0072b2",
        "#d55e00",
        "#cc79a7",
    }
    assert {colour.lower() for colour in _style.CYCLE} <= published
    ax = plots.splits(KFold(3), 30)
    drawn = [to_hex(c.get_facecolor()[0]) for c in ax.collections]
    assert set(drawn) <= published and len(drawn) == 2


def test_long_lines_keep_their_extremes_and_gaps():
    y = np.random.default_rng(0).normal(size=100_000)
    y[12_345], y[77_777] = 50.0, -50.0
    y[40_000:41_000] = np.nan
    x, thin = _style.thinned(np.arange(len(y)), y, 2000)
    assert len(thin) <= 2100
    assert np.nanmax(thin) == 50 and np.nanmin(thin) == -50
    np.testing.assert_array_equal(y[x], thin)
    assert np.isnan(thin[(x >= 40_000) & (x < 41_000)]).all()
    assert np.isnan(thin).any()


def test_without_matplotlib_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"echofold\[report\]"):
        plots.splits(KFold(3), 30)
