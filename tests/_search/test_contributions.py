"""What inputs are worth: the winner validated again without them, and said so."""

import numpy as np
import pandas as pd
import pytest

from echofold import AutoForecaster, ESNForecaster, ESNSearchCV, cross_validate, load, save
from echofold._search import contributions as module
from echofold._search.contributions import MOST, contributions_of, words_of
from echofold.report import About

ROWS, HORIZON = 120, 6
RNG = np.random.RandomState(0)
KNOWN = pd.DataFrame(
    {
        "price": RNG.uniform(1, 2, ROWS + HORIZON),
        "noise": RNG.normal(size=ROWS + HORIZON),
        "DE holiday": (RNG.uniform(size=ROWS + HORIZON) < 0.1) * 1.0,
        "DE working day": (RNG.uniform(size=ROWS + HORIZON) < 0.7) * 1.0,
    },
    pd.date_range("2024-01-01", periods=ROWS + HORIZON),
)
Y = (
    50 - 15 * KNOWN["price"] - 8 * KNOWN["DE holiday"] + 0.3 * RNG.normal(size=ROWS + HORIZON)
)[:ROWS].rename("sales")  # fmt: skip
SEARCH = {"units": 12, "grid": "small", "k": 5, "draws": 2, "log": False, "difference": 1}


@pytest.fixture(scope="module")
def model():
    model = AutoForecaster(HORIZON, search=SEARCH, season=1, progress=False)
    return model.fit(Y, KNOWN[:ROWS])


def test_inputs_that_matter_are_told_from_others(model):
    found = model.contributions()
    assert found.index.tolist() == ["nothing", "price", "noise", "calendar DE", "all inputs"]
    assert found["ratio"]["price"] > 1.5 and found["worse"]["price"] == 1
    assert found["ratio"]["calendar DE"] > 1.3
    assert found["ratio"]["noise"] < 1.2
    assert found["ratio"]["all inputs"] > 1.5
    assert found["error"]["nothing"] == pytest.approx(model.search_.best_score_, rel=1e-12)
    pd.testing.assert_frame_equal(found, model.contributions())


@pytest.mark.parametrize("select", ["mean", "draw"])
def test_errors_are_those_of_a_plain_validation(select):
    """Of the network of the search, with an input that never changes."""
    path, draws = [1e-4, 1e-2, 1.0], 2
    search = ESNSearchCV(
        ESNForecaster(12, random_state=3), {"leak_rate": [0.3, 1.0], "ridge": path},
        n_draws=draws, select=select, metric="rmse", progress=False,
    ).fit(Y, KNOWN[:ROWS])  # fmt: skip
    found, known = contributions_of(search), KNOWN[:ROWS]
    winner = search._winner("cv")
    candidate = search.candidates_[winner.candidate]
    seeds = range(draws) if select == "mean" else [winner.draw]
    left_out = {"nothing": [], "noise": ["noise"], "calendar DE": list(KNOWN.columns[2:])}
    for name, columns in left_out.items():
        each = [
            cross_validate(
                ESNForecaster(12, random_state=3 + seed, leak_rate=candidate["leak_rate"]),
                Y, X=known.assign(**dict.fromkeys(columns, 7.0)), ridge=path, metric="rmse",
            ).rmse.values
            for seed in seeds
        ]  # fmt: skip
        assert found["error"][name] == pytest.approx(np.mean(each, axis=(0, 1)).min(), rel=1e-9)


def test_many_inputs_take_as_long_as_few(monkeypatch):
    wide = np.column_stack([KNOWN[:ROWS], RNG.normal(size=(ROWS, 50))])
    names = [*KNOWN.columns, *(f"noise {place}" for place in range(50))]
    model = AutoForecaster(HORIZON, search=SEARCH | {"draws": 1}, progress=False)
    model.fit(Y, pd.DataFrame(wide, Y.index, names))
    calls, validate = [], module.validate
    monkeypatch.setattr(module, "validate", lambda *how: calls.append(1) or validate(*how))
    found = model.contributions()
    assert len(calls) == len(found) == MOST + 3
    assert found.index[1:4].tolist() == ["price", "noise", "calendar DE"]
    assert found.index[-2:].tolist() == [f"{53 - MOST} others", "all inputs"]


def test_inputs_that_do_harm_are_named():
    rows = [
        {"left_out": "nothing", "ratio": 1.0, "worse": 0.0},
        {"left_out": "good", "ratio": 1.3, "worse": 0.9},
        {"left_out": "idle", "ratio": 0.99, "worse": 0.4},
        {"left_out": "bad", "ratio": 0.8, "worse": 0.2},
        {"left_out": "all inputs", "ratio": 0.9, "worse": 0.3},
    ]
    words = words_of(rows, "RMSE")
    assert words[1] == "The network is better without 'bad', 'all inputs': try it so."
    assert len(words_of(rows[:3], "RMSE")) == 1


def test_a_report_tells_of_them(model, tmp_path, undrawn):
    about = About(X=KNOWN[ROWS:])
    page = model.report(tmp_path / "report.html", about).read_text()
    assert "What the inputs are worth" in page and '<th scope="row">calendar DE</th>' in page
    ratio = model.contributions()["ratio"]["price"]
    assert f"{100 * ratio - 100:+.1f} %" in page


def test_what_has_no_contributions(model, tmp_path):
    save(model, tmp_path / "model")
    with pytest.raises(ValueError, match="is from a file, and has no data: contributions need"):
        load(tmp_path / "model").contributions()
    plain = AutoForecaster(2, progress=False).fit(Y[:20])
    with pytest.raises(ValueError, match="was given no inputs"):
        plain.contributions()
    with pytest.raises(ValueError, match="has no networks to ask"):
        plain.fit(Y[:20], KNOWN[:20]).contributions()
    with pytest.raises(ValueError, match=r"series_\[name\].contributions\(\)"):
        AutoForecaster(2, progress=False).fit({"a": Y[:9], "b": Y[:9]}).contributions()
