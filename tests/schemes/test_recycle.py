"""One training set for several splits: solved once, by every way, and right in a search."""

import numpy as np
import pytest
from cases import relative, same_scores
from searches import ROWS, SERIES, TASKS, searched
from sklearn.base import clone

from echofold import (
    Accumulative,
    ESNForecaster,
    KFold,
    Recycle,
    cross_validate,
    evaluate,
)
from echofold._folds import algorithms, leave_out, many_rows, walk
from echofold._folds.algorithms import Size
from echofold._folds.choose import VARIANTS, choose, cost
from echofold._folds.splits import resolve_cv
from echofold._machine.device import here
from echofold._search.selection import FINALS
from echofold._validation import streamed
from echofold._validation import verify as verify_module

RIDGE = [0.0, 1e-6, 1.0]
CV = Recycle(4, valid=36)


# --- how much is solved -------------------------------------------------------------------------


@pytest.fixture
def solved(monkeypatch):
    """How many training sets are solved, in the order they are."""
    counts = []

    def count(module, name, of):
        right = getattr(module, name)

        def counted(*args, **options):
            if not here.rehearsing:  # when programs are compiled, and nothing is solved
                counts.append(of(*args))
            return right(*args, **options)

        monkeypatch.setattr(module, name, counted)

    count(algorithms, "fit_rows", lambda *_: 1)
    for module in (algorithms, streamed):
        count(module, "solve", lambda M, *_: len(M))
    count(leave_out, "leave_out", lambda X, Y, w, splits, *_: len(splits))
    count(walk, "walk", lambda X, Y, w, splits, *_: len(splits))
    count(many_rows, "readouts_of", lambda moments, members, *_: len(members))
    count(many_rows, "leave_rows_out", lambda X, at, Y, w, M, rows, *_: len(rows))
    return counts


WAYS_TO_SOLVE = [
    *({"algorithm": name} for name in ("naive", "small_k", "large_k", "auto")),
    *({"memory": way} for way in ("pieces", "fold", "frugal")),
]


@pytest.mark.parametrize("options", WAYS_TO_SOLVE, ids=str)
@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_there_is_one_factorisation_for_any_number_of_splits(task, options, solved):
    model, data = TASKS[task]
    for k in (2, 40):
        cross_validate(model, *data, cv=Recycle(k, valid=36), ridge=RIDGE, **options)
        assert solved == [1]
        solved.clear()
    cross_validate(model, *data, cv=KFold(4), ridge=RIDGE, **options)
    assert sum(solved) == 4  # which the count would not miss


@pytest.mark.parametrize(
    ("task", "algorithm"),
    [
        ("forecast", "small_k"),
        ("regression", "large_k"),
        pytest.param("forecast", "large_k", marks=pytest.mark.slow),
        pytest.param("regression", "small_k", marks=pytest.mark.slow),
    ],
)
def test_there_is_one_on_a_device(task, algorithm, solved, accelerated):
    accelerated(True)
    model, data = TASKS[task]
    options = {"cv": Recycle(40, valid=36), "ridge": [1e-6, 1.0], "algorithm": algorithm}
    found = cross_validate(clone(model).set_params(device="cpu"), *data, **options)
    assert solved == [1]
    accelerated(False)
    plain = cross_validate(model, *data, **{**options, "algorithm": "naive"})
    same_scores(found.nrmse, plain.nrmse)


def test_a_self_check_refits_once(monkeypatch):
    counts = []
    right = verify_module.refit

    def counted(rows, todo, *path):
        counts.append(len(todo))
        return right(rows, todo, *path)

    monkeypatch.setattr(verify_module, "refit", counted)
    model, data = TASKS["regression"]
    assert cross_validate(model, *data, cv=CV, verify=True).attrs["verified_splits"] == 3
    assert counts == [1, 1]  # of the data, and of data moved by one rounding


@pytest.mark.parametrize("way", VARIANTS)
def test_the_estimated_work_hardly_grows(way):
    def seconds(k):
        return cost(VARIANTS[way], Size(resolve_cv(Recycle(k, valid=20), 2000), 100, 1, 5))

    assert seconds(2) < seconds(200) < 2 * seconds(2)  # what grows is predicting 200 intervals


def test_the_fewest_products_are_one_refit():
    size = Size(resolve_cv(Recycle(100, valid=20), 2000), 100, 1, 5)
    assert (
        min(choose(size, "auto").costs.values())
        < 0.05
        * choose(Size(resolve_cv(KFold(100, valid=20), 2000), 100, 1, 5), "naive").costs["naive"]
    )


# --- training sets that splits share ------------------------------------------------------------


def test_distinct_training_sets():
    a, b = np.arange(20, 60), np.arange(40)
    pairs = [(a, [0, 1]), (b, [50, 51]), (a, [5, 6]), (b, [40, 41]), (a, [1, 2])]
    splits = resolve_cv(pairs, 60)
    assert splits.distinct.train == [((20, 60),), ((0, 40),)]
    assert splits.spread(np.array([3, 7])).tolist() == [3, 7, 3, 7, 3]
    assert splits.spread(np.array([[3, 7]]), axis=1).tolist() == [[3, 7, 3, 7, 3]]
    alone = resolve_cv(KFold(5), 60)
    assert alone.distinct is alone and alone.spread(alone.sizes) is alone.sizes
    recycled = resolve_cv(CV, 60)
    assert recycled.distinct.train == [((0, 60),)] and not recycled.held_out
    assert not recycled.part([1, 2]).held_out and alone.held_out
    assert not recycled.with_values(np.arange(60) > 30).held_out


@pytest.mark.usefixtures("compiled")  # or nothing walks from set to set
@pytest.mark.parametrize("options", WAYS_TO_SOLVE[:5], ids=str)
@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_given_splits_with_the_same_training_rows_are_solved_once(task, options, solved):
    a, b = np.arange(60, ROWS), np.arange(100)
    pairs = [(a, range(36)), (b, range(100, 136)), (a, range(20, 56)), (b, range(105, 141))]
    model, data = TASKS[task]
    found = cross_validate(model, *data, cv=pairs, ridge=RIDGE, **options)
    assert sum(solved) == 2
    for place, pair in enumerate(pairs):
        one = cross_validate(model, *data, cv=[pair], ridge=RIDGE, algorithm="naive")
        same_scores(found.nrmse[place], one.nrmse[0])


def test_given_splits_may_not_overlap():
    model, data = TASKS["regression"]
    with pytest.raises(ValueError, match="36 rows are in both the training and the validation"):
        cross_validate(model, *data, cv=list(CV.split(np.zeros(ROWS))))


# --- in a search --------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["forecast", "regression"])
@pytest.mark.parametrize("final", [name for name in FINALS if name != "ensemble"])
def test_every_final_model_is_the_one_fitted_to_all_rows(task, final):
    search = searched(task, cv=CV, final=final, verify=True)
    model, data = TASKS[task]
    plain = clone(model).set_params(**search.best_params_).fit(*data)
    assert relative(search.best_estimator_.readout_, plain.readout_, 2) < 1e-8


def test_an_ensemble_and_draws():
    search = searched(cv=CV, final="ensemble", n_draws=2)
    assert np.isfinite(search.best_estimator_.forecast(12)).all()


@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_a_ridge_for_each_split(task):
    search = searched(task, cv=CV, ridge_per="split", final="average")
    scores = search.results_.nrmse.values[0]
    assert search.best_score_ == pytest.approx(scores.min(axis=2).mean(axis=1).min(), rel=1e-9)


def test_pruning_finds_the_same_winner():
    plain, pruned = searched(cv=CV), searched(cv=CV, prune=True)
    assert pruned.best_params_ == plain.best_params_
    assert pruned.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)


def test_intervals_and_an_honest_error():
    search = searched(cv=CV)
    assert search.best_estimator_.forecast(12, level=0.9).lower[0.9].shape == (12,)
    found = evaluate(clone(search), SERIES, horizon=12, origins=2)
    assert np.isfinite(found.nrmse).all()


def test_a_training_error_in_an_open_loop():
    """It cannot be above that of rows held out, with nothing to lose by fitting."""
    model, data = TASKS["regression"]
    recycled = cross_validate(model, *data, cv=Recycle(4, valid=36), ridge=0.0, metric="mse")
    held_out = cross_validate(model, *data, cv=KFold(4), ridge=0.0, metric="mse")
    assert recycled.valid_start.values.tolist() == held_out.valid_start.values.tolist()
    assert float(recycled.mse.mean()) < float(held_out.mse.mean())
    assert recycled.train_rows.values.tolist() == [ROWS] * 4


def test_a_checkpoint_knows_its_scheme(tmp_path):
    first, again = (searched(cv=CV, checkpoint=tmp_path) for _ in range(2))
    assert first.results_.attrs["scheme"] == "Recycle(k=4, valid=36)"
    np.testing.assert_array_equal(first.results_.nrmse, again.results_.nrmse)
    with pytest.raises(ValueError, match="checkpoint"):
        searched(cv=Recycle(4, valid=36, start=1), checkpoint=tmp_path)


@pytest.mark.parametrize("algorithm", ["auto", "naive", "small_k", "large_k"])
def test_schemes_do_not_solve_again_what_another_has(algorithm, monkeypatch):
    schemes = {
        "some": KFold(3, valid=12, start=12, step=12),
        "more": KFold(None, valid=12, step=6),
        "all": Recycle(3, valid=12),
        "again": Recycle(7, valid=12),
        "before": Accumulative(3, valid=12, min_train=24),
    }
    y = np.sin(np.arange(80) / 4) + 0.1 * np.random.default_rng(0).normal(size=80)
    model = ESNForecaster(8, random_state=0, washout=9)
    options = {"ridge": [1e-6, 1e-2], "algorithm": algorithm}
    alone = {name: cross_validate(model, y, cv=cv, **options) for name, cv in schemes.items()}
    solved = []
    for way in VARIANTS.values():
        plain = way.solve

        def counted(self, splits, plain=plain):
            solved.extend(splits.train)
            return plain(self, splits)

        monkeypatch.setattr(way, "solve", counted)
    together = cross_validate(model, y, cv=schemes, **options)
    assert len(solved) == len(set(solved)) > 6
    for name in schemes:
        np.testing.assert_allclose(together[name].nrmse, alone[name].nrmse, rtol=1e-9)
