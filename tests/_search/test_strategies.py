"""Which candidates are evaluated: random ones, the better half on and on, Optuna's."""

import builtins
import math

import numpy as np
import pytest
from scipy import stats
from searches import CV, GRID, INPUTS, OUTPUTS, RIDGE, SERIES, TASKS, one_by_one, searched

from echofold import Accumulative, ESNSearchCV, KFold
from echofold._machine.notices import EchofoldWarning
from echofold._search.candidates import _spread, halvings

RANDOM = {
    "leak_rate": stats.uniform(0.1, 0.9),
    "spectral_radius": [0.5, 0.9, 1.1],
    "input_scaling": stats.loguniform(0.1, 2),
    "ridge": RIDGE,
}
MANY = {"leak_rate": [0.1, 0.3, 0.6, 1.0], "spectral_radius": [0.5, 1.1], "ridge": RIDGE}


def random_search(**options):
    return searched("regression", RANDOM, strategy="random", **{"n_iter": 6, **options})


# --- random ---------------------------------------------------------------------------------------


def test_random_candidates_come_from_lists_and_distributions():
    search = random_search(n_iter=40)
    assert len(search.candidates_) == 40
    assert {c["spectral_radius"] for c in search.candidates_} == {0.5, 0.9, 1.1}
    leak = np.array([c["leak_rate"] for c in search.candidates_])
    scaling = np.array([c["input_scaling"] for c in search.candidates_])
    assert len(set(leak)) == len(set(scaling)) == 40
    assert leak.min() > 0.1 and leak.max() < 1 and np.ptp(leak) > 0.5
    assert scaling.min() > 0.1 and scaling.max() < 2
    assert 0.3 < np.median(scaling) < 0.7  # evenly in the logarithm
    assert all(type(c["leak_rate"]) is float for c in search.candidates_)
    assert search.results_.leak_rate.values.tolist() == leak.tolist()
    assert search.results_.ridge.values.tolist() == RIDGE


def test_random_candidates_score_as_they_do_alone():
    search = random_search(n_iter=3, n_draws=2)
    plain = one_by_one(search, (INPUTS, OUTPUTS))["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse, plain, rtol=1e-7)


def test_a_seed_makes_random_candidates_reproducible():
    first, again = random_search(), random_search()
    assert first.candidates_ == again.candidates_
    np.testing.assert_array_equal(first.results_.nrmse, again.results_.nrmse)
    assert random_search(random_state=4).candidates_ != first.candidates_


def test_random_candidates_of_several_spaces():
    spaces = [{"leak_rate": stats.uniform(0.1, 0.8)}, {"units": stats.randint(5, 8)}]
    search = ESNSearchCV(TASKS["regression"][0], spaces, cv=CV, strategy="random", n_iter=12)
    search.fit(INPUTS, OUTPUTS)
    kinds = [tuple(c) for c in search.candidates_]
    assert set(kinds) == {("leak_rate",), ("units",)}
    units = [c["units"] for c in search.candidates_ if "units" in c]
    assert set(units) <= {5, 6, 7} and all(type(u) is int for u in units)
    assert np.isfinite(search.results_.nrmse).all()


def test_distributions_where_they_make_no_sense():
    with pytest.raises(ValueError, match=r"space\['leak_rate'\] is a distribution.*'random'"):
        searched(space=RANDOM)
    with pytest.raises(ValueError, match=r"space\['ridge'\] is a distribution.*list of values"):
        searched(space={"ridge": stats.loguniform(1e-8, 1)}, strategy="random", n_iter=2)


# --- halving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("candidates", [2, 3, 8, 9, 100])
@pytest.mark.parametrize("splits", [1, 2, 5, 10])
def test_rounds_of_halving(candidates, splits):
    rounds = halvings(candidates, splits)
    counts, upto = zip(*rounds, strict=True)
    assert counts[0] == candidates and upto[-1] == splits
    assert all(b == math.ceil(a / 2) for a, b in zip(counts, counts[1:], strict=False))
    assert all(a < b <= 2 * a for a, b in zip(upto, upto[1:], strict=False))
    assert counts[-1] >= 2  # a choice is left for the last round, on all splits
    cost = sum(c * (b - a) for c, a, b in zip(counts, (0, *upto), upto, strict=False))
    assert cost <= candidates * splits


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 10])
def test_splits_are_taken_from_all_over(k):
    order = _spread(k)
    assert sorted(order) == list(range(k))
    if k >= 7:
        assert np.ptp(order[: k // 2]) >= k // 2


@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_halving_keeps_the_better_half(task):
    full, half = (
        searched(task, MANY, n_draws=2),
        searched(task, MANY, n_draws=2, strategy="halving"),
    )
    found = half.results_.nrmse
    known = ~np.isnan(found.values).any(axis=(0, 3))  # (candidate, split)
    assert sorted(known.sum(axis=1)) == [1] * 4 + [2] * 2 + [4] * 2
    finalists = np.flatnonzero(known.all(axis=1))
    assert half.best_index_ in finalists
    np.testing.assert_allclose(
        found.values[:, known], full.results_.nrmse.values[:, known], rtol=1e-6
    )
    # Round by round: those that went on were better on the splits seen so far.
    order = _spread(4)
    alive = np.arange(8)
    for upto, count in ((1, 4), (2, 2)):
        seen = full.results_.nrmse.values[:, alive][:, :, order[:upto]]
        mean = seen.mean(axis=(0, 2)).min(axis=1)
        alive = np.sort(alive[np.argsort(mean, kind="stable")[:count]])
        assert known[alive][:, order[: 2 * upto]].all()
    assert alive.tolist() == finalists.tolist()
    last = full.results_.nrmse.values[:, finalists].mean(axis=(0, 2)).min(axis=1)
    assert half.best_index_ == finalists[last.argmin()]
    assert half.best_score_ == pytest.approx(last.min(), rel=1e-6)
    rank = sorted(full.to_frame().groupby(["leak_rate", "spectral_radius"]).nrmse.min())
    assert half.best_score_ <= rank[3] * (1 + 1e-6)  # in the better half of the full search
    assert half.results_.attrs["column_steps"] <= full.results_.attrs["column_steps"] * 0.6


def test_halving_of_random_candidates_and_of_one():
    search = searched("regression", RANDOM, strategy="halving", n_iter=5)
    assert len(search.candidates_) == 5
    assert np.isfinite(search.results_.nrmse.values[0, search.best_index_]).all()
    assert "not finite" in search.summary()
    alone = searched("regression", {"ridge": RIDGE}, strategy="halving")
    np.testing.assert_array_equal(
        alone.results_.nrmse, searched("regression", {"ridge": RIDGE}).results_.nrmse
    )


def test_halving_with_individual_ridges_and_few_splits():
    search = searched("regression", MANY, strategy="halving", ridge_per="split", cv=KFold(2))
    each = search.results_.nrmse.min("ridge", skipna=False).mean("split", skipna=False)[0]
    assert search.best_score_ == pytest.approx(float(each.min()), rel=1e-14)


def test_halving_takes_one_scheme():
    schemes = {"CV": CV, "AV": Accumulative(2)}
    with pytest.raises(ValueError, match="strategy='halving' compares .* one scheme, but cv has 2"):
        searched(strategy="halving", cv=schemes)
    one = searched("regression", strategy="halving", cv={"CV": CV})
    assert list(one.results_) == ["CV"]


# --- Optuna ---------------------------------------------------------------------------------------


def test_optuna_proposes_batches(monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.setattr("echofold._search.candidates.BATCH", 8)
    batches = []
    from echofold._search.runner import Runner

    run = Runner.run
    monkeypatch.setattr(
        Runner, "run", lambda self, batch: batches.append(list(batch)) or run(self, batch)
    )
    space = {
        "leak_rate": stats.uniform(0.05, 0.95),
        "spectral_radius": stats.uniform(0.0, 1.5),
        "input_scaling": stats.loguniform(0.01, 10),
        "ridge": RIDGE,
    }
    search = searched("regression", space, strategy="optuna", n_iter=30)
    assert [len(batch) for batch in batches] == [8, 8, 8, 6]
    assert search.candidates_ == [candidate for batch in batches for candidate in batch]
    assert search.results_.sizes["candidate"] == 30
    np.testing.assert_allclose(
        search.results_.nrmse[:, -6:],
        one_by_one(search, (INPUTS, OUTPUTS))["nrmse"][:, -6:],
        rtol=1e-7,
    )
    mean = search.results_.nrmse.mean("split").min("ridge").values[0]
    assert search.best_score_ == pytest.approx(mean.min())
    assert mean.min() < mean[:8].min()  # it learned from the first batch
    assert np.median(mean[-14:]) < np.median(mean[:8])


def test_optuna_is_reproducible_and_quiet(capsys):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.INFO)
    space = {"leak_rate": stats.uniform(0.1, 0.9), "spectral_radius": [0.5, 1.1], "ridge": RIDGE}
    found = [
        searched("regression", space, strategy="optuna", n_iter=20, random_state=seed)
        for seed in (0, 0, 1)
    ]
    assert found[0].candidates_ == found[1].candidates_ != found[2].candidates_
    np.testing.assert_array_equal(found[0].results_.nrmse, found[1].results_.nrmse)
    assert optuna.logging.get_verbosity() == optuna.logging.INFO
    assert capsys.readouterr().err == ""


def test_optuna_understands_many_kinds_of_space():
    optuna = pytest.importorskip("optuna")
    space = {
        "units": stats.randint(4, 7),
        "leak_rate": optuna.distributions.FloatDistribution(0.2, 0.4, step=0.1),
        "spectral_radius": stats.loguniform(0.1, 1),
        "input_scaling": [[0.5, 1.0]],
        "bias_scaling": 0.5,
        "penalize_bias": [True, False],
    }
    search = searched("regression", space, strategy="optuna", n_iter=8)
    assert {c["units"] for c in search.candidates_} <= {4, 5, 6}
    assert {round(c["leak_rate"], 9) for c in search.candidates_} <= {0.2, 0.3, 0.4}
    assert all(0.1 <= c["spectral_radius"] <= 1 for c in search.candidates_)
    assert {c["penalize_bias"] for c in search.candidates_} == {True, False}
    for candidate in search.candidates_:
        assert candidate["input_scaling"] == [0.5, 1.0]
        assert candidate["bias_scaling"] == 0.5


def test_optuna_goes_on_past_scores_that_are_not_finite():
    pytest.importorskip("optuna")

    def undefined(y_true, y_pred):
        return np.nan

    with pytest.warns(EchofoldWarning, match="3 of 3 candidates .* no finite score"):
        search = searched("regression", MANY, strategy="optuna", n_iter=3, metric=undefined)
    assert np.isnan(search.results_.undefined).all()
    assert search.best_score_ == np.inf


def test_spaces_that_optuna_does_not_know():
    pytest.importorskip("optuna")
    with pytest.raises(ValueError, match=r"space\['leak_rate'\].*knows the distributions uniform"):
        searched(space={"leak_rate": stats.norm(0.5, 0.1)}, strategy="optuna", n_iter=2)
    with pytest.raises(ValueError, match="takes one dict as space"):
        searched(space=[GRID, GRID], strategy="optuna", n_iter=2)


def test_a_missing_optuna_is_named(monkeypatch):
    imported = builtins.__import__

    def without_optuna(name, *rest, **more):
        if name.partition(".")[0] == "optuna":
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_optuna)
    with pytest.raises(ImportError, match=r"pip install 'echofold\[optuna\]'"):
        ESNSearchCV(TASKS["forecast"][0], GRID, strategy="optuna", n_iter=2).fit(SERIES)


@pytest.mark.parametrize("name", ["RandomSampler", "QMCSampler", "CmaEsSampler", "GPSampler"])
def test_any_sampler_of_optuna_proposes(name, tmp_path):
    optuna = pytest.importorskip("optuna")
    needs = {"GPSampler": "torch", "CmaEsSampler": "cmaes"}
    if name in needs:
        pytest.importorskip(needs[name])
    sampler = getattr(optuna.samplers, name)(seed=1)
    space = {"leak_rate": stats.uniform(0.1, 0.9), "ridge": RIDGE}
    options = {"strategy": "optuna", "n_iter": 12, "sampler": sampler}
    one = searched(space=space, checkpoint=tmp_path / "kept", **options)
    again = searched(space=space, **options)  # the sampler given is not changed by a search
    assert one.candidates_ == again.candidates_ and len(one.candidates_) == 12
    assert one.best_params_ == again.best_params_
    resumed = searched(space=space, checkpoint=tmp_path / "kept", **options)
    assert resumed.candidates_ == one.candidates_
    with pytest.raises(ValueError, match="another search"):
        options["sampler"] = None
        searched(space=space, checkpoint=tmp_path / "kept", **options)


def test_wrong_samplers_are_named():
    pytest.importorskip("optuna")
    with pytest.raises(TypeError, match="sampler='gp': expected a sampler of Optuna"):
        searched(strategy="optuna", n_iter=3, sampler="gp")
    with pytest.raises(ValueError, match="sampler=3 has no meaning for strategy='grid'"):
        searched(sampler=3)
