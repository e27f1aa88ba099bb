"""What entry points do by their defaults, on seven kinds of data: docs/explanation/defaults.md.

``test_cell`` runs the cells of that page's table. Seeds are fixed, automatic forecasts search less
than they would by default, and classifiers are evaluated on two stretches; all else is a default.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from echofold import (
    AutoForecaster,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    backtest,
    cross_validate,
    cross_validate_readout,
    evaluate,
)
from echofold.long_format import from_long, to_long

PAGE = Path(__file__).resolve().parents[1] / "docs/explanation/defaults.md"
KINDS = ("sorted", "grouped", "trending", "constant", "tiny", "intermittent", "two seasons")
SPACE = {"leak_rate": [0.3, 1.0], "ridge": [1e-6, 1e-2, 1.0]}
TINY = (3, 5, 8, 15)
T = 60
GROUPS = np.repeat(np.arange(6), T // 6)  # rows of six subjects, below each other
NEVER_CHANGES = "the targets are constant over all n=.*; use metric='rmse'"


def series(kind):
    noise = np.random.default_rng(0)
    t = np.arange(T)
    of = {
        "sorted": lambda: np.sort(noise.gamma(2, 3, T)),
        "grouped": lambda: 10.0 * (GROUPS % 3) + np.sin(t / 2) + 0.2 * noise.normal(size=T),
        "trending": lambda: 100 + 2 * t + noise.normal(size=T),
        "constant": lambda: np.full(T, 7.3),
        "tiny": lambda: 5 + noise.normal(size=15),
        "intermittent": lambda: np.where(noise.uniform(size=T) < 0.7, 0, noise.poisson(4, T) + 1.0),
        "two seasons": lambda: 100 + 20 * np.sin(t[:24] * np.pi / 6) + noise.normal(size=24),
    }
    return of[kind]()


def rows(kind):
    """Inputs and outputs; outputs follow the inputs where nothing else is said."""
    y = series(kind)
    X = np.random.default_rng(1).normal(size=(len(y), 2))
    if kind != "constant":
        X[:, 0] += (y - y.mean()) / y.std()
    return X, y


def sequences(kind):
    """Sequences of 24 steps and their labels: slow and quick waves."""
    noise = np.random.default_rng(2)
    labels = np.arange(T) % 2
    if kind == "sorted":
        labels = np.sort(labels)
    if kind == "grouped":
        labels = GROUPS % 2
    waves = np.sin(np.arange(24) / (2.0 + 2 * labels[:, None])) + 0.3 * noise.normal(size=(T, 24))
    if kind == "trending":
        waves = waves + 0.3 * np.arange(24)
    if kind == "constant":
        waves = np.full((T, 24), 7.3)
    if kind == "intermittent":
        waves = np.where(noise.uniform(size=waves.shape) < 0.7, 0, np.round(3 + 3 * waves))
    if kind == "two seasons":
        t = np.arange(24) * np.pi / 6
        waves = np.sin(t * (1 + labels[:, None])) + 0.2 * noise.normal(size=(T, 24))
    return waves, labels


def near(values, y):
    """Finite, and within the range of the data and two more on either side."""
    room = 2 * np.ptp(y) + 1e-6
    values = np.asarray(values)
    return bool((values >= y.min() - room).all() and (values <= y.max() + room).all())


def scored(found):
    return bool(np.isfinite(found[found.attrs["metric"]]).all())


def searched(estimator, *data, **more):
    return ESNSearchCV(estimator, SPACE, progress=False).fit(*data, **more)


def keeps_together(found):
    """Whether folds of rows are those of whole groups."""
    whole = GROUPS[-found.attrs["rows"] :]  # rows after the washout
    edges = {0, *(np.flatnonzero(np.diff(whole)) + 1).tolist(), len(whole)}
    return {*found.valid_start.values.tolist(), *found.valid_stop.values.tolist()} <= edges


ASSERTED: set[str] = set()  # by the cell that runs: whether it refuses, whether it warns


def refuses(text):
    ASSERTED.add("refused")
    return pytest.raises(ValueError, match=text)


def warns(text):
    ASSERTED.add("warns")
    return pytest.warns(UserWarning, match=text)


# The entry points; each takes a kind of data and asserts what its row of the page says.


def forecaster(kind):
    y, model = series(kind), ESNForecaster(random_state=0)
    if kind == "grouped":
        months = list(pd.date_range("2024-01-01", periods=T // 6, freq="MS"))
        with refuses("goes back in time at row 10.*fit each on its own"):
            model.fit(pd.Series(y, months * 6))
    if kind == "tiny":
        assert all(near(model.fit(y[:n]).forecast(12), y[:n]) for n in TINY)
        with refuses("y gives 1 pairs.*at least 2.*Give a longer series"):
            model.fit(y[:2])
    elif kind == "intermittent":
        assert near(model.fit(y).forecast(12), y)
        with warns("far outside of the data.* use a larger ridge"):
            assert not near(model.set_params(random_state=1).fit(y).forecast(12), y)
    else:
        ahead = model.fit(y).forecast(12)
        assert near(ahead, y)
        assert kind != "constant" or abs(ahead - 7.3).max() < 1e-6
        assert kind != "trending" or (np.diff(ahead) > 0).all()


def automatic(kind):
    y, few = series(kind), {"units": 5, "grid": "small", "draws": 1, "k": 4}
    model = AutoForecaster(6, search=few, progress=False)
    if kind == "grouped":
        months = list(pd.date_range("2024-01-01", periods=T // 6, freq="MS"))
        with refuses("goes back in time at row 10"):
            model.fit(pd.Series(y, months * 6))
    for n in (1, 2, *TINY) if kind == "tiny" else (len(y),):
        ahead = model.fit(y[:n]).forecast()
        assert near(ahead.mean, y[:n]) and (model.search_ is None) == (n < 36 or kind == "constant")
        assert np.isnan(ahead.lower[0.9]).all() if n == 1 else (ahead.lower[0.9] < np.inf).all()
    assert kind != "constant" or abs(ahead.mean - 7.3).max() < 1e-9
    assert kind != "trending" or (np.diff(ahead.mean) > 0).all()
    assert kind != "intermittent" or min(ahead.mean.min(), ahead.lower[0.9].min()) >= 0


def regressor(kind):
    (X, y), model = rows(kind), ESNRegressor(random_state=0)
    if kind == "tiny":
        assert all(near(model.fit(X[:n], y[:n]).predict(X[:n]), y[:n]) for n in (2, *TINY))
        with refuses("1 sample.*minimum of 2 is required"):
            model.fit(X[:1], y[:1])
        return
    found = model.fit(X, y).predict(X[-5:], start="last")
    assert near(found, y)
    assert kind != "constant" or abs(found - 7.3).max() < 1e-6


def classifier(kind):
    (X, labels), model = sequences(kind), ESNClassifier(random_state=0)
    if kind == "constant":
        with refuses("y holds one class only, 1; .*at least two"):
            model.fit(X, np.ones(T, dtype=int))
        labels = np.arange(T) % 3 // 2  # two of three are zeros
        assert not model.fit(X, labels).predict(X).any()
        return
    for n in (2, 3, 15) if kind == "tiny" else (T,):
        assert (model.fit(X[:n], labels[:n]).predict(X[:n]) == labels[:n]).mean() > 0.9


def validated_forecaster(kind):
    y, model = series(kind), ESNForecaster(random_state=0)
    if kind == "constant":
        for validate in cross_validate, searched:
            with refuses(NEVER_CHANGES):
                validate(model, y)
    elif kind == "tiny":
        for n in TINY:
            found = cross_validate(model, y[:n])
            assert scored(found) and len(found.split) == min(10, n - 1)
        assert near(searched(model, y).forecast(12), y)
    else:
        found = cross_validate(model, y)
        assert scored(found) and found.attrs["scheme"] == "KFold()"
        assert (found.train_rows > found.attrs["rows"] // 2).all()  # also what comes later
        assert near(searched(model, y).forecast(12), y)
    if kind == "grouped":
        assert found.nrmse.mean() > 2
        assert keeps_together(cross_validate(model, y, groups=GROUPS))


def validated_regressor(kind):
    (X, y), model = rows(kind), ESNRegressor(random_state=0)
    if kind == "constant":
        for validate in (lambda: cross_validate(model, X, y), lambda: searched(model, X, y)):
            with refuses(NEVER_CHANGES):
                validate()
        with refuses(NEVER_CHANGES):
            cross_validate_readout(X, y)
        flat = cross_validate_readout(np.ones((T, 2)), X[:, 0])  # states that never change
        means = [np.delete(X[:, 0], np.s_[a : a + 6]).mean() for a in range(0, T, 6)]
        errors = [
            np.sqrt(((part - mean) ** 2).sum() / ((part - part.mean()) ** 2).sum())
            for part, mean in zip(X[:, 0].reshape(10, 6), means, strict=True)
        ]
        np.testing.assert_allclose(flat.nrmse[:, 0], errors, rtol=1e-6)
        return
    for n in (2, *TINY) if kind == "tiny" else (len(y),):
        found = cross_validate(model, X[:n], y[:n]), cross_validate_readout(X[:n], y[:n])
        assert all(scored(one) and len(one.split) == min(10, n) for one in found)
    assert near(searched(model, X, y).predict(X), y)
    if kind == "sorted":
        assert found[0].nrmse.mean() > 1
    if kind == "grouped":
        assert keeps_together(cross_validate(model, X, y, groups=GROUPS))
        assert keeps_together(cross_validate_readout(X, y, groups=GROUPS))


def validated_classifier(kind):
    (X, labels), model = sequences(kind), ESNClassifier(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of classes that a fold was not trained on
        if kind == "constant":
            with refuses("y holds one class only"):
                searched(model, X, np.ones(T, dtype=int))
            assert cross_validate(model, X, labels).nrmse.min() > 0.99
            return
        for n in TINY[1:] if kind == "tiny" else (T,):
            found = cross_validate(model, X[:n], labels[:n], metric=["error_rate", "nrmse"])
            fewest = np.bincount(labels[:n]).min()
            assert found.attrs["scheme"].startswith(f"StratifiedKFold(n_splits={min(10, fewest)}")
            assert found.error_rate.mean() < (0.5 if kind == "intermittent" else 0.3)
        assert (searched(model, X, labels).predict(X) == labels).mean() > 0.9
    if kind == "grouped":
        found = cross_validate(model, X, labels, groups=GROUPS)
        assert found.attrs["scheme"].startswith("StratifiedGroupKFold(n_splits=6")
        assert keeps_together(found)
    if kind == "tiny":
        with refuses("one sequence of each of its 2 classes.*at least two"):
            cross_validate(model, X[:2], labels[:2])
        with warns(r"not trained on \(1\).*at least two sequences"):
            cross_validate(model, X[:3], labels[:3])


def evaluated(kind):
    y, search = series(kind), ESNSearchCV(ESNForecaster(random_state=0), SPACE, progress=False)
    X, labels = sequences(kind)
    if kind == "constant":
        with refuses(NEVER_CHANGES):
            evaluate(search, y)
        return
    if kind == "tiny":
        for n in TINY:
            with refuses(f"of {n} rows.*20 are needed. Give more than 20"):
                evaluate(search, y[:n])
        return
    if kind == "two seasons":
        with refuses("leave 14 of 24 rows.*20 are needed. Use fewer"):
            evaluate(search, y)
        with refuses("leave 19 of 34 rows"):
            evaluate(search, series("trending")[:34])
        return
    assert scored(evaluate(search, y))
    search.estimator = ESNClassifier(random_state=0)
    if kind == "sorted":
        assert (
            evaluate(search, X, labels, origins=2).nrmse.max() < 0.9
        )  # classes are in every stretch
    if kind == "grouped":
        assert scored(evaluate(search, X, labels, origins=2, groups=GROUPS))
    if kind == "intermittent":
        with refuses(NEVER_CHANGES):  # the first beginning has zeros only
            search.estimator = ESNForecaster(random_state=0)
            evaluate(search, np.append(np.zeros(54), y[-6:] + np.arange(6)))


def backtested(kind):
    y, model = series(kind), ESNForecaster(random_state=0)
    if kind == "constant":
        with refuses("never change, so metric='nrmse'.*metric='rmse'"):
            backtest(model.fit(y), y, 5, 4)
        assert backtest(model.fit(y), y, 5, 4, metric="rmse").rmse.max() < 1e-6
        return
    if kind == "tiny":
        seen = backtest(model.fit(y), y, 5, 1)
        again = backtest(model, y, 5, 1, refit=True)  # noise, which nothing can forecast
        assert scored(seen) and seen.nrmse[1:].max() < 0.2 < again.nrmse.mean()
        y = y[:3]
        with refuses("horizon=4"):
            backtest(model.fit(y), y, 1, 4)
        assert near(backtest(model, y, 1, 1).forecast, y)
        return
    found = backtest(model.fit(y), y, 5, 4)
    assert scored(found) and near(found.forecast[1:], y)


LESS = ("--grid", "small", "--units", 5, "--draws", 1, "--k", 4)


def file_of(kind, folder):
    """The series of a kind as months; the grouped one below each other, with a name each."""
    y = series(kind).round(2)
    months = 10 if kind == "grouped" else len(y)
    dates = np.tile(pd.date_range("2020-01-01", periods=months, freq="MS"), len(y) // months)
    frame = pd.DataFrame({"month": dates, "y": y})
    if kind == "grouped":
        frame.insert(0, "subject", np.array(list("abcdef"))[GROUPS])
    frame.to_csv(folder / "y.csv", index=False)
    return folder / "y.csv", y


def refused(result, words):
    """A command refuses a file, in words."""
    ASSERTED.add("refused")
    assert result[0] == 1 and words in result[2].replace("\n", " ")


APART = "holds 6 series, told apart by 'subject'"


def beginnings_of(path, y, kind):
    """A file as it is, or beginnings of a tiny one, with their values."""
    lines = path.read_text().splitlines(keepends=True)
    for n in TINY if kind == "tiny" else (len(y),):
        path.write_text("".join(lines[: 1 + n]))
        yield y[:n]


def forecast_command(kind, run, folder):
    path, y = file_of(kind, folder)
    call = ("forecast", path, "--horizon", 6, "--out", folder / "out", *LESS)
    if kind == "grouped":
        refused(run(*call), APART)
        return
    for values in beginnings_of(path, y, kind):
        code, _, said = run(*call)
        assert code == 0
        assert ("too few for networks, which need 36" in said) == (len(values) < 36)
        assert ("all values are equal" in said) == (kind == "constant")
        written = pd.read_csv(folder / "out/forecast.csv")
        assert near(written["forecast"], values) and len(written) == 6
        assert (written["lower_90"] <= written["upper_90"]).all()
    assert kind != "trending" or (np.diff(written["forecast"]) > 0).all()
    assert kind != "constant" or abs(written["forecast"] - 7.3).max() < 1e-9
    if kind == "intermittent":
        assert written["lower_90"].min() == 0
        run(*call, "--allow-negative")
        assert pd.read_csv(folder / "out/forecast.csv")["lower_90"].min() < 0


def validate_command(kind, run, folder):
    path, y = file_of(kind, folder)
    call = ("validate", path, *LESS)
    if kind == "grouped":
        refused(run(*call), APART)
        return
    for values in beginnings_of(path, y, kind):
        code, said, _ = run(*call)
        assert code == 0 and "automatic forecast" in said and "last value" in said
        assert ("accumulative" in said) == (len(values) > 40 and kind != "constant")
        assert "nan" not in said and "inf " not in said and "true values lie inside" in said
        assert kind != "two seasons" or "on the last 2 values" in said
    if kind == "tiny":
        path.write_text("month,y\n2020-01-01,5\n")
        refused(run(*call), "leaves nothing to learn from")


def long_frame(kind):
    y = series(kind)
    frame = pd.DataFrame({"unique_id": "a", "ds": np.arange(len(y)), "y": y})
    if kind == "grouped":
        frame["ds"] %= T // 6
        with refuses("series 'a' has several rows for 0. .*by id="):
            from_long(frame)
        frame["unique_id"] = GROUPS
    if kind == "tiny":
        assert from_long(frame[:1])["a"].y.tolist() == y[:1].tolist()
        frame = frame[:3]
    if kind == "sorted":  # by value, and not by time
        frame["ds"] = np.random.default_rng(0).permutation(T)
    parts = from_long(frame)
    back = to_long({name: one.y for name, one in parts.items()}, model="y")
    expected = frame.sort_values(["unique_id", "ds"], ignore_index=True)
    pd.testing.assert_frame_equal(back, expected, check_dtype=False)


ENTRIES = {
    "AutoForecaster: fit, forecast": automatic,
    "ESNForecaster: fit, forecast": forecaster,
    "ESNRegressor: fit, predict": regressor,
    "ESNClassifier: fit, predict": classifier,
    "cross_validate, ESNSearchCV of a forecaster": validated_forecaster,
    "cross_validate, ESNSearchCV of a regressor; cross_validate_readout": validated_regressor,
    "cross_validate, ESNSearchCV of a classifier": validated_classifier,
    "evaluate": evaluated,
    "backtest": backtested,
    "echofold forecast FILE --horizon N": forecast_command,
    "echofold validate FILE": validate_command,
    "from_long, to_long": long_frame,
}
COMMANDS = (forecast_command, validate_command)


def table():
    """The page's table: its head, and a list of cells for each row."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[0], {row[0].replace("`", ""): row[1:] for row in cells[2:]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_cell(entry, kind, run, tmp_path):
    check = ENTRIES[entry]
    ASSERTED.clear()
    check(kind, *((run, tmp_path) if check in COMMANDS else ()))
    cell = table()[1][entry][KINDS.index(kind)]
    assert {word for word in ("refused", "warns") if word in cell} == ASSERTED


def test_page_has_these_cells():
    head, body = table()
    assert tuple(head[1:]) == KINDS and list(body) == list(ENTRIES)
    assert all(len(row) == len(KINDS) and all(row) for row in body.values())
