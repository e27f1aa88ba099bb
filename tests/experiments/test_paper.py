"""The paper's tables: every published number that can be reproduced is."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold, experiments
from echofold.experiments import _tables
from echofold.experiments.paper import classification, generative, output

# Cells that depend on rounding: readouts of next to no ridge that diverge, or nearly do.
ROUNDING = {
    ("gasoline", "SV"), ("gasoline", "SV _V"), ("electricity", "SV"),
    ("sunspots", "SV _V"), ("sunspots", "CV V_"),
}  # fmt: skip


@pytest.fixture(scope="module")
def vowels():
    return classification.utterances()


def check_cells(table):
    """Every cell within 0.002 of the published one, but for those that depend on rounding."""
    known = table[table.test_published.notna()]
    sound = [row for row in known.itertuples() if (row.dataset, row.scheme) not in ROUNDING]
    assert sound
    for row in sound:
        where = f"{row.dataset}, {row.scheme}, {row.final}"
        assert row.test == pytest.approx(row.test_published, abs=0.002), where
        assert row.validation == pytest.approx(row.validation_published, abs=0.002), where
    return known


# --- what every run of the tests checks -----------------------------------------------------------


def test_published_tables_are_whole():
    def places(experiment, quantity):
        """Data sets, schemes and finals of a quantity."""
        return [key[1:4] for key in _tables.printed() if (key[0], key[4]) == (experiment, quantity)]

    def schemes(experiment, quantity):
        return {scheme for _, scheme, _ in places(experiment, quantity)}

    assert len(places("generative", "validation")) == 40
    assert len(places("generative", "test")) == 112
    assert schemes("generative", "test") == schemes("generative", "validation")
    assert schemes("output", "test") == schemes("output", "validation")
    assert places("classification", "test") == places("classification", "wrong")


def test_labor_cells(tmp_path):
    schemes = ["SV", "SV _V"]  # `pytest -m paper` compares all of them
    files = experiments.run("generative", tmp_path, datasets=["labor"], schemes=schemes, quiet=True)
    table = pd.read_csv(files[1])
    assert len(check_cells(table)) == 4
    text = files[2].read_text()
    assert "| SV | average | 0.957 (0.957) | 1.504 (1.504) |" in text
    assert "Of 4 published test errors 4 are reproduced" in text
    assert "Of 2 published validation errors 2 are reproduced" in text


@pytest.mark.parametrize(
    "seed, wrong, validation",
    [(1, 6, 0.4919), pytest.param(2, 2, 0.4941, marks=pytest.mark.slow)],
)
def test_classification_draws(vowels, seed, wrong, validation):
    with _tables.expecting_collinear_states():
        rows = {row["final"]: row for row in classification.one_draw(seed, vowels, ["CV"])}
    assert rows["average"]["wrong"] == wrong
    # The folds, and so this error, depend on the order in which the draw shuffles.
    assert rows["average"]["validation"] == pytest.approx(validation, abs=1e-4)


def test_released_windows_of_walk_forward_reach_back():
    s = generative.SERIES["labor"]
    found = generative.schemes_of(s)
    for (train, valid), split in zip(
        found[generative.AS_PUBLISHED], found["FV"].splits(s.pairs), strict=True
    ):
        assert (valid[0], valid[-1] + 1) == split.valid
        assert train[-1] + 1 == valid[0]  # no gap
        assert train[0] == max(0, split.train[0][0] - s.valid)


def test_released_splits_of_the_output_task_see_the_future():
    found = output.schemes_of()
    for name in ("AV", "FV"):
        pairs = found[f"{name} as released"]
        for (train, valid), split in zip(pairs, found[name].splits(output.ROWS), strict=True):
            before = train[train < valid[0]]
            assert (before[0], before[-1] + 1) == split.train[0]
            after = train[train > valid[-1]]
            assert len(after) == output.ROWS - split.valid[1]
            assert len(before) + len(after) == len(train)


# --- going on, and bad arguments ------------------------------------------------------------------


def small(monkeypatch):
    """A grid of one candidate."""
    space = {"leak_rate": [0.5], "spectral_radius": [0.9], "ridge": [1e-4]}
    monkeypatch.setattr(generative, "SPACE", space)


def run_labor(out, **options):
    return experiments.run("generative", out, datasets=["labor"], quiet=True, **options)


def test_finished_parts_are_not_computed_again(tmp_path, monkeypatch):
    small(monkeypatch)
    first = [file.read_text() for file in run_labor(tmp_path, draws=2, schemes=["SV", "CV"])]
    assert not (tmp_path / "checkpoints").exists()

    def refused(*_, **__):
        raise AssertionError("searched again")

    monkeypatch.setattr(generative, "task", refused)
    again = [file.read_text() for file in run_labor(tmp_path, draws=2, schemes=["SV", "CV"])]
    assert again == first
    with pytest.raises(AssertionError, match="searched again"):
        run_labor(tmp_path, draws=3, schemes=["SV"])


def test_more_draws_and_schemes_join_those_there(tmp_path, monkeypatch):
    small(monkeypatch)
    run_labor(tmp_path, draws=1, schemes=["SV"])
    asked = []
    errors = generative.final_errors

    def watched(found, schemes, draws, error):
        asked.append((schemes, found.n_draws))
        return errors(found, schemes, draws, error)

    monkeypatch.setattr(generative, "final_errors", watched)
    files = run_labor(tmp_path, draws=1, schemes=["SV", "FV"])
    assert asked == [(["FV"], 1)]
    assert set(pd.read_csv(files[1]).scheme) == {"SV", "FV"}
    files = run_labor(tmp_path, draws=2, schemes=["SV"])
    rows = pd.read_csv(files[0], comment="#")
    assert not rows.duplicated(["dataset", "scheme", "draw", "final"]).any()
    assert set(pd.read_csv(files[1]).scheme) == {"SV"}  # FV has one draw only


def test_other_settings_start_anew(tmp_path, monkeypatch, capsys):
    small(monkeypatch)
    path = run_labor(tmp_path, draws=1, schemes=["SV"])[0]
    other = generative.SPACE | {"ridge": [1e-2]}
    monkeypatch.setattr(generative, "SPACE", other)
    experiments.run("generative", tmp_path, draws=1, datasets=["labor"], schemes=["SV"])
    said = capsys.readouterr().err
    assert "generative_draws.csv was made with other settings" in said
    assert "generative, labor: finished" in said
    assert set(pd.read_csv(path, comment="#").ridge) == {1e-2}
    assert json.loads(path.read_text().splitlines()[0][1:])["space"] == other


def test_an_interrupted_search_goes_on(tmp_path, monkeypatch):
    small(monkeypatch)
    whole = run_labor(tmp_path / "whole", draws=2, schemes=["SV"])[0].read_text()
    errors = generative.final_errors
    monkeypatch.setattr(generative, "final_errors", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_labor(tmp_path, draws=2, schemes=["SV"])
    blocks = sorted((tmp_path / "checkpoints").glob("*/block-*.npz"))
    assert len(blocks) == 2
    before = [block.stat().st_mtime_ns for block in blocks]
    monkeypatch.setattr(generative, "final_errors", errors)
    kept = []
    monkeypatch.setattr(
        shutil, "rmtree", lambda path, **_: kept.extend(b.stat().st_mtime_ns for b in blocks)
    )
    assert run_labor(tmp_path, draws=2, schemes=["SV"])[0].read_text() == whole
    assert kept == before  # read, not written again


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("tables", {}, "name='tables' is unknown"),
        ("generative", {"draws": 0}, "draws=0"),
        ("generative", {"draws": True}, "draws=True"),
        ("generative", {"datasets": ["ecg"]}, "'ecg' is unknown; there are labor"),
        ("generative", {"datasets": "labor"}, "expected a list of names"),
        ("generative", {"schemes": ["XV"]}, "'XV' is unknown; there are SV"),
        ("classification", {"datasets": ["labor"]}, "this experiment has no choice"),
        ("figures", {"draws": 2}, "no meaning for figures"),
    ],
)
def test_bad_arguments(tmp_path, name, options, message):
    with pytest.raises(ValueError, match=message):
        experiments.run(name, tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_star_marks_what_differs():
    assert _tables.with_published(1.0024, 1.0, 0.002) == "1.002 (1.000)"
    assert _tables.with_published(1.0026, 1.0, 0.002) == "1.003 (1.000) *"
    assert _tables.with_published(np.inf, 1.0, 0.002) == "inf (1.000) *"


# --- what the tables need of a search -------------------------------------------------------------


def searched(**options):
    y = np.sin(np.arange(200) / 4) + 0.1 * np.random.RandomState(0).randn(200)
    space = {"leak_rate": [0.3, 1.0], "ridge": [1e-6, 1e-3, 1e-1, 10.0]}
    model = ESNRegressor(20, random_state=1, washout=10)
    return ESNSearchCV(model, space, cv=KFold(5), **options).fit(y[:-1, None], y[1:])


@pytest.mark.parametrize("final", ["average", "retrain", "best"])
def test_individual_ridge_can_be_chosen_after_the_search(final):
    common, individual = searched(), searched(ridge_per="split")
    assert individual.best_score_ < common.best_score_
    for search, other, flag in ((common, individual, True), (individual, common, False)):
        mine = search.finalize(final, ridge_per="split" if flag else "all")
        theirs = other.finalize(final)
        np.testing.assert_array_equal(mine.readout_, theirs.readout_)
        assert mine.ridge == theirs.ridge


def test_individual_ridge_needs_the_scores_that_pruning_drops():
    y = np.sin(np.arange(200) / 4)
    search = ESNSearchCV(
        ESNForecaster(20, random_state=1), {"ridge": [1e-6, 1e-3]}, cv=KFold(5), prune=True
    ).fit(y)
    with pytest.raises(ValueError, match="ridge_per='split'.*prune=False"):
        search.finalize("average", ridge_per="split")


# --- the whole tables -----------------------------------------------------------------------------


@pytest.mark.paper
def test_generative_table(tmp_path):
    table = pd.read_csv(experiments.run("generative", tmp_path, quiet=True)[1])
    cells = check_cells(table)
    assert len(cells) == 112
    same = (cells.test.round(3) - cells.test_published).abs() < 0.002 + 1e-9
    assert same.sum() >= 98
    cells = cells[~cells.scheme.str.startswith("SV")].drop_duplicates(["dataset", "scheme"])
    assert len(cells) == 32
    np.testing.assert_allclose(cells.validation, cells.validation_published, atol=0.002)


@pytest.mark.paper
def test_output_table(tmp_path):
    files = experiments.run("output", tmp_path, schemes=["SV", "CV"], quiet=True)
    table = pd.read_csv(files[1]).set_index(["scheme", "final"])
    cv = table.loc["CV"]
    assert cv.validation.iloc[0] == pytest.approx(0.1745, abs=5e-4)
    expected = {"average": 0.2035, "retrain": 0.2034, "best": 0.2030}
    assert cv.test.to_dict() == pytest.approx(expected, abs=5e-4)
    assert (cv.chosen == "0.7, 0.1, 0").all() and (cv.chosen_times == 5).all()
    assert table.validation["SV", "average"] == pytest.approx(0.2541, abs=5e-4)
    assert table.test["SV", "average"] == pytest.approx(0.221, abs=1e-3)


@pytest.mark.paper
def test_classification_table(tmp_path):
    table = pd.read_csv(experiments.run("classification", tmp_path, quiet=True)[1])
    assert len(table) == 6
    for name, within in (("validation", 0.01), ("test", 0.01), ("wrong", 0.2)):
        for which in ("", "_deviation"):
            np.testing.assert_allclose(
                table[f"{name}{which}"], table[f"{name}_published{which}"], atol=within
            )
