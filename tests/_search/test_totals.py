"""Forecasts of series and of their sums, which add up."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from echofold import AutoForecaster, ESNForecaster, forecast_totals
from echofold._models.reconciliation import minimum_trace, shrunk
from echofold._search import totals
from echofold.report import About

H, ROWS = 4, 28
MONTHS = pd.date_range("2020-01-01", periods=ROWS, freq="QS", name="quarter")
IDS = [(shop, item) for shop in "ab" for item in "xyz"]


def sales(seed=0, low=0.0):
    rng, t = np.random.default_rng(seed), np.arange(ROWS)
    common = np.cumsum(rng.normal(0, 0.03, ROWS))
    return {
        one: pd.Series(
            np.maximum(
                np.exp(3 + common + 0.2 * np.sin(2 * np.pi * (t + n) / 4)) + rng.normal(0, 1, ROWS),
                low,
            ),
            MONTHS,
            name="sold",
        )
        for n, one in enumerate(IDS)
    }


def found_of(y, method="mint", horizon=H, X=None, X_ahead=None, **options):
    model = AutoForecaster(horizon, progress=False, **options)
    return forecast_totals(model, y, X, X_ahead, method=method)


@pytest.fixture(scope="module")
def found():
    return found_of(sales())


def check_sums(found, given):
    """Every sum is that of its series, in the decimals that are written."""
    mean = {
        name: [Decimal(repr(float(v))) for v in one] for name, one in found.forecast.mean.items()
    }
    for name in [one for one in mean if "(all)" in one]:
        own = [
            mean[one]
            for one in given
            if all(part in ("(all)", mine) for part, mine in zip(name, one, strict=True))
        ]
        assert own and [sum(each) for each in zip(*own, strict=True)] == mean[name]


def check_intervals(found, low=0.0):
    for name, mean in found.forecast.mean.items():
        ends = [found.forecast.lower[0.9], found.forecast.lower[0.5]]
        ends += [found.forecast.upper[0.5], found.forecast.upper[0.9]]
        each = np.stack([low + 0 * mean, *(end[name] for end in ends)])
        assert (np.diff(each, axis=0) >= 0).all()
        assert (each[2] <= mean).all() and (mean <= each[3]).all()


@pytest.mark.parametrize("method", ["mint", "bottom-up"])
def test_all_levels_add_up(found, method):
    both = {"mint": found, "bottom-up": found_of(sales(), "bottom-up")}
    own = both[method]
    assert list(own.forecast.mean)[:3] == [("(all)", "(all)"), ("a", "(all)"), ("b", "(all)")]
    assert list(own.forecast.mean)[6:] == IDS
    check_sums(own, IDS)
    check_intervals(own)
    assert own.forecast.mean["a", "x"].index[0] == MONTHS[-1] + MONTHS.freq
    assert list(own.errors.index) == ["total", "id 1", "id 2", "id 1 / id 2"]
    assert own.errors["series"].tolist() == [1, 2, 3, 6]
    alone = own.model.forecast().mean
    for one in IDS:
        if method == "bottom-up":
            np.testing.assert_allclose(own.forecast.mean[one], alone[one], rtol=1e-9)
        else:
            assert not np.allclose(own.forecast.mean[one], alone[one], rtol=1e-4)


def test_reconciled_by_the_errors_on_the_past(found):
    """By a plain loop: errors by date, the covariance, and all forecasts at once."""
    names = list(found.forecast.mean)
    ones = [found.model.series_[name] for name in names]
    errors = np.full((3 * H, len(ones)), np.nan)
    for column, one in enumerate(ones):
        for row, error in zip(one.past_.rows.ravel(), one.residuals_.ravel(), strict=True):
            errors[ROWS - 1 - row, column] = error
    A = np.array(
        [[all(p in ("(all)", q) for p, q in zip(s, one, strict=True)) for one in IDS]
         for s in names[:6]], float
    )  # fmt: skip
    size = np.array([np.abs(one.values_).mean() for one in ones])
    run = np.arange(3 * H) // H

    def reconciled(which, given):
        return minimum_trace(A, shrunk(errors[which], run[which], size, A))(given)

    alone = found.model.forecast().mean
    mean = reconciled(run >= 0, np.stack([alone[name] for name in names]))
    for row, name in enumerate(names[6:]):
        np.testing.assert_allclose(found.forecast.mean[name], mean[row], rtol=1e-9)
    # Of the past each stretch is reconciled by the errors on the others.
    outputs = np.full((len(ones), 3 * H), np.nan)
    for column, one in enumerate(ones):
        outputs[column, ROWS - 1 - one.past_.rows.ravel()] = one.outputs_.ravel()
    left = []
    for stretch in range(3):
        series = reconciled(run != stretch, outputs[:, run == stretch])
        left.append(np.concatenate([A @ series, series]))
    left = np.concatenate(left, axis=1)
    own = [*found.sums.values(), *found.given.series_.values()]
    for column, one in enumerate(own):
        back = ROWS - 1 - one.past_.rows
        np.testing.assert_allclose(one.outputs_, left[column, back], rtol=1e-9)
        np.testing.assert_allclose(one.residuals_[:, :, 0], one.past_.truth - one.outputs_)
    sizes = [np.abs(y.to_numpy()[4:] - y.to_numpy()[:-4]).mean() for y in sales().values()]
    scaled = [
        np.abs(one.residuals_).mean() / unit for one, unit in zip(own[6:], sizes, strict=True)
    ]
    assert found.errors.loc["id 1 / id 2", "reconciled"] == pytest.approx(np.mean(scaled))
    assert found.verdict.error == pytest.approx(np.mean(scaled))


def test_the_verdict_is_about_what_was_given(found):
    assert "in the mean over 6 series" in found.verdict.words
    assert list(found.given.series_) == IDS and list(found.sums) == list(found.forecast.mean)[:6]
    assert len(found.model.series_) == 12
    assert found.notes[0] == (
        "sums are forecast as further series, the total, 2 by id 1, 3 by id 2; all levels add up "
        "by minimum trace."
    )
    one = found.errors.loc["total"]
    share = one["reconciled"] / one["alone"] - 1
    words = f"{abs(share):.1%} {'lower' if share < 0 else 'higher'} of the total"
    assert words in found.notes[1]


def test_a_series_and_a_dict_are_alike(found):
    y = pd.concat(sales(), names=["shop", "item", "quarter"])
    own = found_of(y)
    assert own.errors.index.tolist() == ["total", "shop", "item", "shop / item"]
    for name, mean in found.forecast.mean.items():
        np.testing.assert_array_equal(own.forecast.mean[name], mean)
    one = found_of(y["a"], pool="none")
    assert list(one.forecast.mean) == ["(all)", "x", "y", "z"]


def test_limits_hold_and_sums_are_sums_of_what_is_kept():
    """Where demand falls to nothing, minimum trace alone would go below."""
    y = sales()
    for n, one in enumerate(IDS[:4]):
        values = np.where(np.arange(ROWS) < 24, 30.0 + n, 0.0)
        y[one] = pd.Series(values, MONTHS, name="sold")
    found = found_of(y)
    check_sums(found, IDS)
    check_intervals(found)
    least = min(one.min() for one in found.forecast.mean.values())
    assert least == 0
    assert any("would have had to leave the limits of their values" in one for one in found.notes)
    for one in [*found.sums.values(), *found.given.series_.values()]:
        assert (one.outputs_ >= 0).all()


def test_limits_that_are_given_are_of_each_series():
    y = sales()
    most = max(one.max() for one in y.values())
    found = found_of(y, minimum=0, maximum=most)
    assert found.given.failed_ == {} and len(found.sums) == 6
    for name, mean in found.forecast.mean.items():
        count = np.prod([{0: 2, 1: 3}[n] if part == "(all)" else 1 for n, part in enumerate(name)])
        assert (mean <= count * most + 1e-9).all()
        assert (found.forecast.upper[0.9][name] <= count * most + 1e-9).all()
    lifted = found_of({n: one - 30 for n, one in y.items()}, minimum=-np.inf)
    assert not lifted.given.failed_


def test_series_that_begin_and_end_apart():
    y = sales()
    y["a", "x"] = y["a", "x"][20:]
    y["a", "y"] = y["a", "y"][-2:]
    y["b", "x"] = y["b", "x"][:-2]
    y["b", "y"] = y["b", "y"][: -H - 1]
    found = found_of(y)
    check_sums(found, [one for one in IDS if one != ("b", "y")])
    check_intervals(found)
    mean = found.forecast.mean
    assert mean["b", "x"].index.equals(mean["(all)", "(all)"].index)
    assert mean["b", "y"].index[0] == MONTHS[-H - 1]
    assert found.errors.loc["id 1 / id 2", "series"] == 5
    assert len(found.given.errors_) == 6


def test_what_was_not_there_is_not_known_in_the_past():
    """A launch is no error of other series: nothing was forecast of it, and nothing is counted."""
    y = sales()
    late = {**y, ("b", "z"): 1000 * y["b", "z"][-6:]}
    found = found_of(late, "bottom-up")
    one = found.sums["b", "(all)"]
    said = [found.given.series_["b", item].outputs_[0] for item in "xy"]
    np.testing.assert_allclose(one.outputs_[0], np.sum(said, axis=0), rtol=1e-9)


def test_a_series_too_short_to_be_forecast_then_is_taken_to_stay():
    """It has 10 values, and a forecast of the last 4 alone: before that, its value at the time."""
    y = sales()
    short = {**y, ("b", "z"): y["b", "z"][-10:]}
    found = found_of(short, "bottom-up")
    assert len(found.model.series_["b", "z"].outputs_) == 1
    said = np.sum([found.given.series_["b", item].outputs_[1] for item in "xy"], axis=0)
    expected = said + short["b", "z"].iloc[1]  # the last that is known where the stretch begins
    np.testing.assert_allclose(found.sums["b", "(all)"].outputs_[1], expected, rtol=1e-9)


def test_limits_hold_on_the_past_and_sums_are_sums_of_that():
    y = sales()
    for n, one in enumerate(IDS[:4]):
        values = np.where(np.arange(ROWS) < 14 + n, 30.0 + n, 0.0)
        y[one] = pd.Series(values, MONTHS, name="sold")
    found = found_of(y)
    for name, one in found.sums.items():
        own = [
            found.given.series_[each].outputs_
            for each in IDS
            if all(p in ("(all)", q) for p, q in zip(name, each, strict=True))
        ]
        np.testing.assert_allclose(one.outputs_, np.sum(own, axis=0), rtol=1e-9)
    assert min(one.outputs_.min() for one in found.given.series_.values()) == 0


@pytest.mark.parametrize("length", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["walk", "constant", "zero", "equal"])
def test_short_and_plain_series(length, kind):
    values = {
        "walk": lambda n: 5 + np.random.default_rng(n).normal(size=length),
        "constant": lambda n: np.full(length, n + 1.0),
        "zero": lambda n: np.zeros(length),
        "equal": lambda n: np.arange(length) % 3 + 1.0,
    }[kind]
    y = {one: values(n) for n, one in enumerate(IDS)}
    found = found_of(y)
    check_sums(found, IDS)
    for name, mean in found.forecast.mean.items():
        assert np.isfinite(mean).all()
        if kind in ("constant", "zero"):
            expected = sum(
                values(n)[0] for n, one in enumerate(IDS)
                if all(p in ("(all)", q) for p, q in zip(name, one, strict=True))
            )  # fmt: skip
            np.testing.assert_allclose(mean, expected, rtol=1e-9)


def test_one_series_alone():
    found = found_of({"a": sales()["a", "x"]})
    np.testing.assert_array_equal(found.forecast.mean["(all)"], found.forecast.mean["a"])


def test_inputs_are_of_the_given_series():
    y = {one: values.to_numpy() for one, values in list(sales().items())[:2]}
    known = {one: np.arange(ROWS + H) % 3.0 for one in y}
    past = {one: values[:ROWS] for one, values in known.items()}
    ahead = {one: values[ROWS:] for one, values in known.items()}
    search = {"units": 5, "grid": "small", "draws": 1, "k": 3, "log": False, "difference": [()]}
    found = found_of(y, X=past, X_ahead=ahead, season=4, search=search)
    check_sums(found, list(y))
    assert found.given.series_["a", "x"].X_schema_ is not None
    assert next(iter(found.sums.values())).X_schema_ is None


def test_its_page(found, tmp_path):
    pytest.importorskip("jinja2")
    about = About(totals=found)
    text = found.given.report(tmp_path / "index.html", about).read_text()
    main = text.partition("<main>")[2].partition("<script>")[0]
    assert main.index("<h2>Sums</h2>") < main.index("The largest errors")
    assert main.count('<th scope="row">(all) / (all)</th>') == 1
    assert text.count("<svg") == 1 + 6 + 6 + 8 and "nan" not in main
    for level in found.errors.index:
        assert f'<th scope="row">{level}</th>' in main


@pytest.mark.parametrize(
    ("y", "options", "error", "words"),
    [
        ([np.ones(9)], {}, TypeError, "y is a list, expected a dict of series by name"),
        ({}, {}, TypeError, "y is a dict"),
        ({"a": np.ones(9)}, {"method": "ols"}, ValueError, "method='ols'.*'mint'"),
        ({"(all)": np.ones(9)}, {}, ValueError, "stands for what was summed over"),
        ({("a", "b"): np.ones(9), "c": np.ones(9)}, {}, ValueError, "has 1 id, and others have 2"),
        ({"a": np.ones(9), "b": np.ones(7)}, {}, ValueError, "no dates"),
        ({"a": np.ones(9)}, {"X": np.ones(9)}, TypeError, "X is a ndarray, expected a dict"),
        ({"a": np.full(9, 1e200)}, {}, ValueError, "none of 2 series can be forecast|no sum"),
    ],
)
def test_wrong_arguments(y, options, error, words):
    with pytest.raises(error, match=words):
        found_of(y, **options)


def test_the_model_is_left_alone():
    model = AutoForecaster(H, progress=False)
    forecast_totals(model, dict(list(sales().items())[:2]))
    assert not hasattr(model, "series_")


def test_folds_are_bounded(monkeypatch):
    """However many stretches there are, the past is reconciled in a few parts."""
    used = []
    right = totals.minimum_trace
    monkeypatch.setattr(totals, "minimum_trace", lambda A, W: used.append(1) or right(A, W))
    t = np.arange(400)
    y = {name: np.sin(t / 5 + n) + 5 + 0.1 * np.sin(t) for n, name in enumerate("ab")}
    search = {"units": 5, "grid": "small", "draws": 1, "log": False, "difference": [()]}
    found = found_of(y, search=search)
    assert len(used) == totals.FOLDS + 1
    assert np.isfinite(found.errors.to_numpy()).all()


def test_numbered_rows_are_summed_by_their_numbers():
    years = {
        "a": pd.Series(np.arange(30.0) + 5, pd.RangeIndex(1950, 1980)),
        "b": pd.Series(np.ones(32), pd.RangeIndex(1950, 1982)),
        "c": pd.Series(np.full(20, 100.0), pd.RangeIndex(1962, 1982)),
    }
    whole = found_of(years, horizon=3).model.series_["(all)"].table_
    assert list(whole.index[:2]) == [1950, 1951] and len(whole.values) == 32
    np.testing.assert_array_equal(whole.values[[0, 11, 12], 0], [6, 17, 118])


def test_what_cannot_be_totalled_is_said():
    y = {name: one.droplevel(0) if one.index.nlevels > 1 else one for name, one in sales().items()}
    with pytest.raises(TypeError, match="model is a ESNForecaster, expected an AutoForecaster"):
        forecast_totals(ESNForecaster(5), y)
    with pytest.raises(ValueError, match=r"series \(\) has no id"):
        found_of({(): y[IDS[0]], ("a",): y[IDS[1]]})
    frame = pd.concat({"a": y[IDS[0]], np.nan: y[IDS[1]]}, names=["shop", "quarter"])
    with pytest.raises(ValueError, match="some rows of y have no id"):
        found_of(frame)
    X = {name: np.zeros((len(one), 1)) for name, one in y.items()}
    short = {**y, IDS[1]: y[IDS[1]].iloc[:-2]}
    X[IDS[1]] = X[IDS[1]][:-2]
    with pytest.raises(ValueError, match=r"series \('a', 'y'\) ends before others, and so do"):
        found_of(short, X=X, X_ahead={name: np.zeros((H, 1)) for name in y})
