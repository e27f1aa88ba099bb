"""Fast equals naive, on matrices: readouts and scores of every split by every algorithm."""

from itertools import combinations, product

import cases
import numpy as np
import pytest
import reference
from cases import (
    CHOICES,
    COLUMNS,
    RIDGE,
    SCHEMES,
    VARIANTS,
    at_work,
    pairwise,
    relative,
    splits_of,
)
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st
from passing import Passing

from echofold import Accumulative, KFold, LeaveOneOut, Recycle, SingleSplit, WalkForward
from echofold._data.problem import CLASSIFICATION, REGRESSION, Problem, Segments
from echofold._data.rows import rows
from echofold._folds.algorithms import KeptRows, Size
from echofold._folds.choose import choose
from echofold._folds.splits import cut, resolve_cv
from echofold._validation.score import score_residuals
from echofold._validation.settings import Settings
from echofold._validation.validate import validate
from echofold.metrics._metric import resolve

METRICS = [resolve(name) for name in ("mse", "nrmse", "mae")]
LEAVING = {name: CHOICES[name] for name in CHOICES if name != "large_k by walking"}


def kept(splits, X, Y, weights, ridge, penalised):
    return KeptRows(X, Y, weights, ridge, penalised, cut(len(X), [splits]))


def results(splits, choice, X, Y, weights, ridge, penalised, labels=None):
    """Readouts, and scores ``(metrics, splits, ridge)``, of one way to them."""
    data = (splits, X, Y, weights, ridge, penalised)
    W = at_work(choice, kept(*data)).readouts(splits).W
    # Anew, because some ways get residuals without readouts.
    _, _, at, residuals = at_work(choice, kept(*data)).residuals(splits)
    outputs = Y.shape[1]
    kind = REGRESSION if labels is None else CLASSIFICATION
    problem = Problem(
        kind, Y, Segments.series(X), np.ones(outputs), np.zeros(outputs), labels=labels
    )
    metrics = METRICS if labels is None else [*METRICS, resolve("error_rate")]
    scores = score_residuals(problem, splits, at, residuals, metrics)
    return W, np.stack([scores[metric.name] for metric in metrics])


def defined(splits, X, Y, weights, ridge, penalised):
    """Readouts of every split as the paper's equation 5 has it."""
    extended = np.hstack([np.ones((len(X), 1)), X])
    found = []
    for train in map(rows, splits.train):
        w = None if weights is None else weights[train]
        found.append([reference.ridge(extended[train], Y[train], b, penalised, w) for b in ridge])
    return np.array(found)


def predicted(W, X):
    """Outputs ``(splits, ridge, rows, outputs)`` on all rows."""
    return W[:, :, :1] + X @ W[:, :, 1:]


def walks(splits, columns):
    return splits.train_sizes.min() > columns


# --- the table ----------------------------------------------------------------------------------


def test_any_two_values_meet_in_a_pairwise_table():
    dimensions = "abcdefgh", range(4), range(5), (False, True), (False, True)
    found = pairwise(*dimensions)
    for (a, one), (b, other) in combinations(enumerate(dimensions), 2):
        assert {(row[a], row[b]) for row in found} == set(product(one, other))
    assert len(found) <= 42  # 40 are needed, of 640


ONE_SIDED = ("leave one out, gap before", "leave one out, gap after")  # sixty splits each


@pytest.mark.parametrize(
    "scheme",
    [pytest.param(one, marks=pytest.mark.slow if one in ONE_SIDED else []) for one in SCHEMES],
)
def test_all_algorithms_agree(scheme):
    splits = splits_of(SCHEMES[scheme])
    assert walks(splits, COLUMNS)
    for outputs, penalised, weighted in VARIANTS:
        data = (cases.X, cases.Y[:, :outputs], cases.WEIGHTS if weighted else None)
        W, scores = results(splits, CHOICES["naive"], *data, RIDGE, penalised)
        assert relative(W, defined(splits, *data, RIDGE, penalised), 2).max() < 1e-8
        for name, choice in CHOICES.items():
            # Walking compiles for each number of outputs, and is no different for one.
            if choice.variant == "walk" and outputs == 1 and scheme != "walk forward, no gap":
                continue
            fast, fast_scores = results(splits, choice, *data, RIDGE, penalised)
            assert relative(fast, W, 2).max() < 1e-8, name
            np.testing.assert_allclose(fast_scores, scores, rtol=1e-8, err_msg=name)


BOTH = (False, True)
FEW = pairwise(SCHEMES, [(1e-9, 1e3), (1e-6,), (1.0, 1e-3)], (1, 3), BOTH, BOTH)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_or_two_ridge_values_are_factored_another_way(scheme):
    splits = splits_of(SCHEMES[scheme])
    for few, outputs, penalised, weighted in (row[1:] for row in FEW if row[0] == scheme):
        data = (cases.X, cases.Y[:, :outputs], cases.WEIGHTS if weighted else None)
        W, scores = results(splits, CHOICES["naive"], *data, np.array(few), penalised)
        for name in ("small_k", "large_k by leaving out"):
            fast, fast_scores = results(splits, CHOICES[name], *data, np.array(few), penalised)
            assert relative(fast, W, 2).max() < 1e-8, name
            np.testing.assert_allclose(fast_scores, scores, rtol=1e-8, err_msg=name)


@pytest.mark.parametrize("scheme", ["k-fold, no gap", "k-step, gaps", "leave one out, no gap"])
def test_classes(scheme):
    splits = splits_of(SCHEMES[scheme])
    labels = cases.Y.argmax(axis=1)
    data = (cases.X, np.eye(3)[labels], None)
    _, scores = results(splits, CHOICES["naive"], *data, RIDGE, False, labels)
    assert 0 < scores[3].mean() < 2 / 3  # better than guessing
    for choice in CHOICES.values():
        _, fast = results(splits, choice, *data, RIDGE, False, labels)
        np.testing.assert_allclose(fast, scores, rtol=1e-8)


def test_several_schemes_share_pieces():
    schemes = {name: splits_of(cv) for name, cv in SCHEMES.items()}
    data = (cases.X, cases.Y, cases.WEIGHTS, RIDGE, False)
    together = KeptRows(*data, cut(cases.ROWS, schemes.values()))
    for splits in schemes.values():
        W = at_work(CHOICES["small_k"], together).readouts(splits).W
        alone = at_work(CHOICES["naive"], kept(splits, *data)).readouts(splits).W
        assert relative(W, alone, 2).max() < 1e-8


# --- beyond the table ---------------------------------------------------------------------------


@st.composite
def problems(draw):
    """Splits and data of any small shape; the edges are as likely as the middle."""
    n = draw(st.integers(4, 36))
    k = draw(st.one_of(st.just(2), st.just(n), st.integers(2, n)))
    valid = draw(st.one_of(st.none(), st.just(1), st.integers(1, max(1, n // 2))))
    min_train = draw(st.one_of(st.just(1), st.integers(1, n - 1)))
    gap = draw(st.one_of(st.just(0), st.tuples(st.integers(0, 3), st.integers(0, 3))))
    cv = draw(
        st.sampled_from(
            [
                lambda: SingleSplit(valid or 2, gap=gap),
                lambda: KFold(k, valid=valid, gap=gap),
                lambda: LeaveOneOut(gap=gap),
                lambda: Accumulative(k, valid=valid, min_train=min_train, gap=gap),
                lambda: WalkForward(k, valid=valid, min_train=min_train, gap=gap),
                lambda: Recycle(k, valid=valid or 2),
                lambda: Recycle(None, valid=valid or 2, start=min_train, step=k),
                lambda: KFold(None, valid=valid or 2, start=min_train, step=k, gap=gap),
            ]
        )
    )()
    columns, outputs = draw(st.integers(1, 12)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, Y = rng.normal(size=(n, columns)), rng.normal(size=(n, outputs))
    weights = rng.uniform(0.2, 3, size=n) if draw(st.booleans()) else None
    return cv, X, Y, weights, draw(st.booleans())


def conditions(splits, X):
    """Condition number of the training rows of each split, within their rank."""
    found = []
    for train in splits.train:
        s = np.linalg.svd(np.insert(X[rows(train)], 0, 1.0, axis=1), compute_uv=False)
        found.append(s[0] / s[s > 1e-10 * s[0]][-1])
    return np.array(found)


def agree(problem, choices):
    """Assert that these ways agree on the splits that are well-conditioned."""
    cv, X, Y, weights, penalised = problem
    try:
        splits = resolve_cv(cv, len(X))
    except ValueError as error:
        event("refused")
        assert any(name in str(error) for name in ("k=", "valid=", "gap", "min_train=", "start="))
        return
    good = conditions(splits, X) < 1e3
    assume(good.any())
    event("fewer rows than columns" if not walks(splits, X.shape[1]) else "more rows")
    W, scores = results(splits, CHOICES["naive"], X, Y, weights, RIDGE, penalised)
    for choice in choices:
        if choice.variant == "walk" and not walks(splits, X.shape[1]):
            continue
        fast, fast_scores = results(splits, choice, X, Y, weights, RIDGE, penalised)
        assert relative(fast, W, 2)[good].max() < 1e-8
        np.testing.assert_allclose(fast_scores[:, good], scores[:, good], rtol=1e-8, atol=1e-12)


def small(n, columns):
    rng = np.random.default_rng(n * columns)
    return rng.normal(size=(n, columns)), rng.normal(size=(n, 1)), None, False


@settings(deadline=None, max_examples=60)
@given(problems())
@example((KFold(2), *small(12, 3)))
@example((KFold(12), *small(12, 3)))
@example((KFold(10, valid=3), *small(12, 3)))  # a step of one row
@example((WalkForward(9, valid=1, min_train=4), *small(13, 2)))
@example((LeaveOneOut(), *small(6, 12)))
@example((KFold(3), *small(7, 6)))  # more rows than columns, but not in training
@example((Accumulative(5, min_train=1), *small(6, 9)))
@example((KFold(3, gap=4), *small(12, 2)))  # no rows to train on
@example((Recycle(3, valid=2), *small(6, 12)))
@example((Recycle(3, valid=2), *small(12, 3)))
def test_any_shape(problem):
    agree(problem, [CHOICES["small_k"], CHOICES["large_k by leaving out"]])


@settings(deadline=None, max_examples=8)  # every shape is compiled
@given(problems())
@example((WalkForward(20, min_train=10), *small(30, 3)))
def test_any_shape_by_walking(problem):
    agree(problem, [CHOICES["large_k by walking"]])


@settings(deadline=None, max_examples=40)
@given(problems(), st.integers(1, 40), st.booleans())
@example((LeaveOneOut(), *small(6, 12)), 4, True)
@example((WalkForward(9, valid=1, min_train=4), *small(13, 6)), 5, False)
@example((KFold(4), *small(24, 3)), 5, True)
def test_any_shape_while_rows_pass_by(problem, block, blind):
    cv, X, Y, weights, penalised = problem
    try:
        splits = resolve_cv(cv, len(X))
    except ValueError:
        return
    pilot = np.arange(len(X))
    if blind and len(X) > 4 * (1 + X.shape[1]):
        # The pilot sees every other row, and there the first column is zero.
        event("blind")
        X, pilot = X.copy(), pilot[::2]
        X[pilot, 0] = 0
    good = conditions(splits, X) < 1e3
    assume(good.any())
    _, scores = results(splits, CHOICES["naive"], X, Y, weights, RIDGE, penalised)
    ones, zeros = np.ones(Y.shape[1]), np.zeros(Y.shape[1])
    task = Problem(REGRESSION, Y, Segments.series(X), ones, zeros, weights=weights)
    for way in ("pieces", "fold", "frugal"):
        asked = Settings(RIDGE, penalised, METRICS, memory=way)
        found = validate(Passing(task, block, pilot), {"cv": splits}, asked)["cv"]
        for metric, expected in zip(METRICS, scores, strict=True):
            close = {"rtol": 1e-7, "atol": 1e-12}
            np.testing.assert_allclose(found.scores[metric.name][0, good], expected[good], **close)


@pytest.mark.parametrize(
    "cv", [KFold(4, gap=50), LeaveOneOut(gap=59), WalkForward(3, gap=30), SingleSplit(gap=54)]
)
def test_gaps_that_leave_no_training_rows(cv):
    with pytest.raises(ValueError, match=r"gap of \d+ rows leave no rows to train on; n=60. Use a"):
        resolve_cv(cv, cases.ROWS)


# --- trouble ------------------------------------------------------------------------------------

TROUBLED = [
    KFold(5),
    KFold(12, gap=2),
    LeaveOneOut(),
    Accumulative(4),
    WalkForward(5),
    Recycle(4, valid=12),
]
COLLINEAR = {
    "duplicate": lambda X: np.hstack([X, X[:, :1]]),
    "sum": lambda X: np.hstack([X, X[:, :1] + X[:, 1:2]]),
    "constant": lambda X: np.hstack([X, np.full((len(X), 1), 3.7)]),
    "large constant": lambda X: np.hstack([X, np.full((len(X), 1), 1e6 / 3)]),
    "zero": lambda X: np.hstack([X, np.zeros((len(X), 1))]),
}


def least_norm(X, Y, weights, penalised):
    """Readout of least norm at a ridge of 0: of all columns, or of all but the bias."""
    root = np.sqrt(np.ones(len(X)) if weights is None else weights)[:, None]
    if penalised:
        X = np.insert(X, 0, 1.0, axis=1)
        return np.linalg.lstsq(root * X, root * Y, rcond=1e-12)[0]
    x, y = (
        np.average(X, axis=0, weights=root[:, 0] ** 2),
        np.average(Y, axis=0, weights=root[:, 0] ** 2),
    )
    w = np.linalg.lstsq(root * (X - x), root * (Y - y), rcond=1e-9)[0]
    return np.vstack([y - x @ w, w])


@pytest.mark.parametrize("cv", TROUBLED, ids=repr)
@pytest.mark.parametrize("kind", COLLINEAR)
def test_collinear_columns_at_ridge_zero_give_the_readout_of_least_norm(cv, kind):
    splits, X, Y = splits_of(cv), COLLINEAR[kind](cases.X[:, :5]), cases.Y[:, :1]
    ridge = np.array([0.0, 1e-3, 1.0])
    for penalised, weights in ((False, None), (True, None), (False, cases.WEIGHTS)):
        expected = [
            least_norm(X[at], Y[at], None if weights is None else weights[at], penalised)
            for at in map(rows, splits.train)
        ]
        # Least squares on rows that hold 3e5 beside a penalty of 0.03 is no measure.
        truth = None
        if kind != "large constant":
            truth = defined(splits, X, Y, weights, ridge[1:], penalised)
        for name, choice in CHOICES.items():
            found = kept(splits, X, Y, weights, ridge, penalised)
            W = at_work(choice, found).readouts(splits).W
            assert relative(W[:, 0], np.array(expected), 2).max() < 1e-8, name
            truth = W[:, 1:] if truth is None else truth
            assert relative(W[:, 1:], truth, 2).max() < 1e-8, name
            if kind == "duplicate":
                assert found.condition > 1e14


@pytest.mark.parametrize(
    ("cv", "start", "stop"),
    [
        (KFold(5), 12, 24),
        (KFold(5), 17, 18),
        (KFold(12, gap=2), 10, 15),
        (LeaveOneOut(), 12, 13),
        (Accumulative(4), 40, 52),
        (WalkForward(5), 3, 20),
    ],
    ids=repr,
)
@pytest.mark.parametrize("constant", [False, True])
def test_leaving_rows_out_that_make_the_rest_rank_deficient(cv, start, stop, constant):
    indicator = np.zeros((cases.ROWS, 1))
    indicator[start:stop] = 1 if constant else np.arange(1, 1 + stop - start)[:, None]
    X, Y, splits = np.hstack([cases.X[:, :5], indicator]), cases.Y[:, :1], splits_of(cv)
    ridge = np.array([0.0, 1e-9, 1e-3, 1.0])
    for penalised in (False, True):
        found = {
            name: at_work(choice, kept(splits, X, Y, None, ridge, penalised)).readouts(splits)
            for name, choice in CHOICES.items()
        }
        W = found["naive"][0]
        lost = [split for split, at in enumerate(splits.train) if not indicator[rows(at)].any()]
        assert lost
        assert np.abs(W[lost, :, -1]).max() < 1e-7  # least norm: a column never seen gets no weight
        for name, (fast, refitted, *_) in found.items():
            error = np.abs(predicted(fast, X) - predicted(W, X)).max()
            assert error < 1e-8 * np.abs(predicted(W, X)).max(), name
            if name == "large_k by leaving out":
                assert refitted >= len(lost)


@pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(8)], ids=repr)
@pytest.mark.parametrize("penalised", [False, True])
def test_a_rank_in_doubt_among_unlike_columns_needs_no_refit(cv, penalised):
    """Columns of sizes 1 to 1,000, and two that differ by ``2 ** -49``: negligible, not zero."""
    rng = np.random.default_rng(0)
    given = rng.integers(-8, 9, (80, 14)).astype(float)
    X, Y, splits = given[:, :12].copy(), rng.normal(size=(80, 2)), resolve_cv(cv, 80)
    X[:, 3] = X[:, 4] + given[:, 12] * 2.0**-49
    X[:, 7], X[:, 8] = given[:, 13] / 512, given[:, 13] / 128
    ridge = np.array([0.0, 1e-6, 1.0])
    found = {
        name: at_work(CHOICES[name], kept(splits, X, Y, None, ridge, penalised)).readouts(splits)
        for name in ("naive", "large_k by leaving out")
    }
    W, refitted, *_ = found["large_k by leaving out"]
    assert refitted == 0
    np.testing.assert_allclose(predicted(W, X), predicted(found["naive"].W, X), atol=1e-11)


@pytest.mark.parametrize("deviations", [10, 1e2, 1e3, 1e4])
@pytest.mark.parametrize("cv", [WalkForward(12, min_train=12), KFold(6), LeaveOneOut()], ids=repr)
def test_an_outlier_that_comes_and_goes(cv, deviations):
    X, Y, splits = cases.X[:, :5].copy(), cases.Y[:, :1], splits_of(cv)
    X[20] *= deviations  # in a window, and then no more
    expected = defined(splits, X, Y, None, RIDGE[[2, 3, 4]], False)
    for name, choice in CHOICES.items():
        W = at_work(choice, kept(splits, X, Y, None, RIDGE, False)).readouts(splits).W
        assert relative(W[:, [2, 3, 4]], expected, 2).max() < 1e-8, name


def test_weights_of_zero_leave_rows_out():
    splits = splits_of(KFold(5))
    weights = np.where(np.arange(cases.ROWS) % 3 == 0, 0.0, cases.WEIGHTS)
    pairs = [(rows(splits.train[s]), rows(splits.valid[s])) for s in range(5)]
    some = splits_of([(train[weights[train] > 0], valid) for train, valid in pairs])
    data = (cases.X, cases.Y)
    expected, _ = results(some, CHOICES["naive"], *data, weights, RIDGE, False)
    for name, choice in CHOICES.items():
        W, _ = results(splits, choice, *data, weights, RIDGE, False)
        assert relative(W, expected, 2).max() < 1e-8, name


# --- the choice ---------------------------------------------------------------------------------


def test_the_choice_is_the_cheapest_and_says_so():
    for n, m, cv in ((1260, 50, KFold(5)), (1260, 50, LeaveOneOut()), (300, 400, KFold(10))):
        splits = resolve_cv(cv, n)
        chosen = choose(Size(splits, m, 1, 1), "auto")
        assert set(chosen.costs) == {"naive", "small_k", "large_k"}
        assert chosen.costs[chosen.algorithm] == min(chosen.costs.values())
        assert "lowest estimated cost" in chosen.reason and f"k={len(splits)}" in chosen.reason
        assert all(cost > 0 for cost in chosen.costs.values())
    assert choose(Size(resolve_cv(LeaveOneOut(), 1260), 50, 1, 1), "auto").algorithm == "large_k"
    assert choose(Size(resolve_cv(KFold(20), 20_000), 50, 1, 1), "auto").algorithm == "small_k"


@pytest.mark.parametrize("algorithm", ["naive", "small_k", "large_k"])
def test_an_algorithm_asked_for_is_taken(algorithm):
    chosen = choose(Size(resolve_cv(KFold(5), 100), 10, 1, 1), algorithm)
    assert chosen.algorithm == algorithm
    assert chosen.reason == f"{algorithm} was asked for"


def test_walking_needs_more_rows_than_columns():
    few = choose(Size(resolve_cv(WalkForward(500, min_train=10), 1000), 12, 1, 1), "large_k")
    many = choose(Size(resolve_cv(WalkForward(500, min_train=100), 1000), 12, 1, 1), "large_k")
    assert few.variant == "leave_out"
    assert many.variant == "walk"


def test_the_cost_of_large_k_is_flat_in_k():
    costs = [
        choose(Size(resolve_cv(KFold(k), 1260), 50, 1, 1), "auto").costs["large_k"]
        for k in (60, 1260)
    ]
    naive = [
        choose(Size(resolve_cv(KFold(k), 1260), 50, 1, 1), "auto").costs["naive"]
        for k in (60, 1260)
    ]
    assert costs[1] < 3 * costs[0]
    assert naive[1] > 15 * naive[0]
