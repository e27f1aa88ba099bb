"""The Lorenz table of Racca and Magri: data, networks and splits by hand, published medians."""

import numpy as np
import pandas as pd
import pytest

from echofold import backtest, experiments
from echofold.experiments import _tables, racca
from echofold.metrics import horizon

L = racca.LYAPUNOV_TIME


def rows_of_data():
    return racca.lorenz(racca.FIRST_TEST + racca.TESTS * racca.VALID + racca.LONGEST)


# --- data, networks, splits -----------------------------------------------------------------------


def test_lorenz_by_forward_euler():
    y = racca.lorenz(20_000)
    x1, x2, x3 = y[:-1].T
    slope = np.stack([10 * (x2 - x1), x1 * (28 - x3) - x2, x1 * x2 - 8 / 3 * x3], axis=1)
    np.testing.assert_allclose(y[1:], y[:-1] + 0.01 * slope, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(y[0], racca.START)


def test_weights_are_those_of_the_seed():
    found = racca.weights(3)
    W_in, W = found["W_in"], found["W"]
    assert W_in.shape == (100, 4) and W.shape == (100, 100)
    assert ((W_in != 0).sum(axis=1) == 1).all()  # each unit hears one input, or the bias
    assert ((W_in != 0).sum(axis=0) > 10).all()
    assert np.abs(W_in * [1, *racca.SPREAD]).max() <= 1
    assert 2.5 < (W != 0).sum() / 100 < 3.5
    rng = np.random.RandomState(3)
    heard, weight = rng.randint(0, 4), rng.uniform(-1, 1)
    place, size = (0, 1.0) if heard == 3 else (heard + 1, racca.SPREAD[heard])
    assert W_in[0, place] == weight / size
    np.testing.assert_array_equal(racca.weights(3)["W"], W)
    assert (racca.weights(4)["W"] != W).any()


def test_splits_are_those_of_the_paper():
    """In Lyapunov times of the 11 after the washout: what is trained on, and validated on."""
    everything = [(0, 11)]
    apart = {2: [(0, 2), (5, 11)], 5: [(0, 5), (8, 11)], 8: [(0, 8)]}
    around = {0: [(3, 11)]} | {a: [(0, a), (a + 3, 11)] for a in range(1, 8)} | {8: [(0, 8)]}
    expected = {
        "SSV": {8: [(0, 8)]},
        "WFV": {5: [(0, 5)], 8: [(3, 8)]},
        "WFVc": {6: [(0, 6)], 7: [(1, 7)], 8: [(2, 8)]},
        "KFV": apart,
        "KFVc": around,
        "RV": dict.fromkeys((2, 5, 8), everything),
        "RVc": dict.fromkeys(range(9), everything),
    }
    assert [*expected, "LOO"] == list(racca.SCHEMES)
    for name, splits in expected.items():
        found = list(racca.STRATEGIES[name].splits(11 * L))
        assert [split.valid for split in found] == [(a * L, (a + 3) * L) for a in splits], name
        for split, train in zip(found, splits.values(), strict=True):
            assert list(split.train) == [(a * L, b * L) for a, b in train], name


def test_a_network_has_eleven_lyapunov_times_to_learn_from():
    y = racca.lorenz(racca.ROWS)
    with _tables.expecting_collinear_states():
        model = racca.network(1, ridge=racca.RIDGE, input_scaling=1.25, bias_scaling=1.25).fit(y)
    assert model.readout_.shape == (101, 3)  # a bias and the states alone
    assert racca.ROWS - 1 - model.washout == 11 * L
    np.testing.assert_allclose(model.W_in_, 1.25 * racca.weights(1)["W_in"], rtol=1e-12)
    np.testing.assert_allclose(
        np.abs(np.linalg.eigvals(model.W_.toarray())).max(), model.spectral_radius
    )


# --- draws ----------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(racca, "RADII", [0.4, 0.7])
    monkeypatch.setattr(racca, "SCALINGS", [1.25])
    monkeypatch.setattr(racca, "TESTS", 2)
    monkeypatch.setattr(racca, "LONGEST", 8 * L)


def test_one_draw(small):
    y = rows_of_data()
    with _tables.expecting_collinear_states():
        rows = racca.one_draw(1, "as published", ["SSV", "RVc"], y)
        search = racca.search(1, [racca.RIDGE], ["SSV", "RVc"], y)
    assert [row["scheme"] for row in rows] == ["SSV", "RVc"]
    for row in rows:
        scores = search.results_[row["scheme"]].log_mse.mean("split").values[0, :, 0]
        radius = racca.RADII[int(scores.argmin())]
        assert row["validation"] == scores.min() and row["spectral_radius"] == radius
        assert row["ridge"] == racca.RIDGE and row["input_scaling"] == 1.25
        horizons = {}
        for one in racca.RADII:
            model = racca.network(
                1, ridge=racca.RIDGE, spectral_radius=one, input_scaling=1.25, bias_scaling=1.25
            )
            with _tables.expecting_collinear_states():
                model.fit(y[: racca.ROWS])
            horizons[one] = np.mean([by_hand(model, y, 24 * L), by_hand(model, y, 27 * L)])
        assert row["test"] == pytest.approx(horizons[radius], abs=2 / L)
        better = min(horizons, key=horizons.get) != radius
        assert row["rank_correlation"] == pytest.approx(1 if better else -1)


def by_hand(model, y, start):
    """Lyapunov times until the error exceeds a fifth of the root mean square of the values."""
    found = backtest(model, y, [start], racca.LONGEST, washout=racca.WASHOUT - 1)
    error = np.sqrt(((found.forecast - found.truth) ** 2).mean("output")).values[0]
    wrong = error / np.sqrt((y**2).mean()) > 0.2
    return (wrong.argmax() if wrong.any() else len(wrong)) / L


def test_files_and_going_on(small, tmp_path, monkeypatch):
    files = experiments.run("racca", tmp_path, draws=1, schemes=["SSV", "RV"], quiet=True)
    assert [file.name for file in files] == ["racca_draws.csv", "racca.csv", "racca.md"]
    draws = pd.read_csv(files[0], comment="#")
    assert len(draws) == 4 and set(draws.part) == set(racca.PARTS)
    assert set(draws[draws.part == "as published"].ridge) == {racca.RIDGE}
    path = draws[draws.part == "ridge path"]
    assert set(path.ridge) <= set(racca.PATH) and path.rank_correlation.isna().all()
    table = pd.read_csv(files[1])
    assert table.published.tolist() == [5.88, 6.15] * 2
    text = files[2].read_text()
    row = draws.iloc[0]
    assert f"| SSV | {row.test:.2f} ({row.test:.2f} to {row.test:.2f}) | 5.88 |" in text
    assert "## As published: one ridge" in text and "## A path of ridge values" in text
    assert "mean over 2 starts" in text and "over 1 draw. Published" in text
    first = [file.read_text() for file in files]

    def refused(*_, **__):
        raise AssertionError("searched again")

    searched, search = [], racca.search
    monkeypatch.setattr(racca, "search", refused)
    again = experiments.run("racca", tmp_path, draws=1, schemes=["SSV", "RV"], quiet=True)
    assert [file.read_text() for file in again] == first

    def watched(seed, ridge, schemes, y):
        searched.append((seed, len(ridge), schemes))
        return search(seed, ridge, schemes, y)

    monkeypatch.setattr(racca, "search", watched)
    experiments.run("racca", tmp_path, draws=1, schemes=["SSV", "KFV"], quiet=True)
    assert searched == [(1, 1, ["KFV"]), (1, len(racca.PATH), ["KFV"])]
    with pytest.raises(ValueError, match="'XV' is unknown; there are SSV, WFV"):
        experiments.run("racca", tmp_path, schemes=["XV"])


# --- the published numbers ------------------------------------------------------------------------


@pytest.mark.paper
def test_medians_are_near_the_published(tmp_path):
    files = experiments.run("racca", tmp_path, draws=3, quiet=True)
    table = pd.read_csv(files[1]).set_index(["part", "scheme"])
    theirs = table.loc["as published"].drop("LOO")
    assert ((theirs["median"] - theirs.published).abs() < 0.7).all()
    assert (theirs.rank_correlation > 0.6).all()
    ours = table.loc["ridge path"].drop("LOO")
    assert ours["median"].median() > 9


@pytest.mark.paper
def test_no_ridge_takes_sound_arithmetic():
    """A winner of the ridge path, trained by normal equations, is lost at once."""
    y = rows_of_data()
    with _tables.expecting_collinear_states():
        rows = racca.one_draw(1, "ridge path", ["RVc"], y)
        scaling, radius = rows[0]["input_scaling"], rows[0]["spectral_radius"]
        model = racca.network(
            1, ridge=0.0, spectral_radius=radius, input_scaling=scaling, bias_scaling=scaling
        ).fit(y[: racca.ROWS])
    assert rows[0]["ridge"] == 0 and rows[0]["test"] > 10
    x, X = np.zeros(100), np.ones((racca.ROWS - 1, 101))
    for n, u in enumerate(y[: racca.ROWS - 1]):
        x = np.tanh(model.W_in_[:, 0] + model.W_in_[:, 1:] @ u + model.W_ @ x)
        X[n, 1:] = x
    X, Y = X[racca.WASHOUT - 1 :], y[racca.WASHOUT : racca.ROWS]
    np.testing.assert_allclose(X @ model.readout_, Y, atol=1e-5)
    model.readout_ = np.linalg.solve(X.T @ X, X.T @ Y)
    time = horizon(0.2, normalise="rms", step=1 / L)
    starts = racca.FIRST_TEST + racca.VALID * np.arange(20)
    assert backtest(model, y, starts, 2 * L, washout=L, metric=time).horizon.mean() < 0.5
