import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as skl
from sklearn.base import clone
from sklearn.linear_model import Ridge

from echofold._data.rows import intervals_of, rows
from echofold._folds.splits import resolve_cv
from echofold.schemes import (
    Accumulative,
    KFold,
    LeaveOneOut,
    Recycle,
    SingleSplit,
    Split,
    WalkForward,
)

SCHEMES = [
    SingleSplit(),
    SingleSplit(7, gap=2),
    KFold(),
    KFold(4, valid=0.3, gap=(1, 2)),
    KFold(4, shuffle=True, random_state=3),
    Accumulative(4),
    Accumulative(3, valid=5, min_train=10, gap=0.1),
    WalkForward(5),
    WalkForward(3, valid=0.2, min_train=12, gap=3),
    LeaveOneOut(),
    LeaveOneOut(gap=(0, 4)),
    KFold(3, start=5),
    KFold(None, valid=0.2, start=0.1, step=3, gap=1),
    Accumulative(None, valid=8, start=0.6, step=2),
    WalkForward(2, valid=5, min_train=12, start=20, step=0.1),
    Recycle(),
    Recycle(3, valid=6, start=2),
    Recycle(None, valid=6, start=2, step=5),
]
INTERVALS = [s for s in SCHEMES if not getattr(s, "shuffle", False)]

TABLE = [
    (SingleSplit(), 25, [(((0, 23),), (23, 25))]),
    (SingleSplit(4, gap=(3, 9)), 10, [(((0, 3),), (6, 10))]),
    (
        KFold(3),
        10,
        [(((4, 10),), (0, 4)), (((0, 4), (7, 10)), (4, 7)), (((0, 7),), (7, 10))],
    ),
    (
        KFold(3, gap=2),
        10,
        [(((6, 10),), (0, 4)), (((0, 2), (9, 10)), (4, 7)), (((0, 5),), (7, 10))],
    ),
    (
        KFold(3, gap=(1, 3)),
        10,
        [(((7, 10),), (0, 4)), (((0, 3),), (4, 7)), (((0, 6),), (7, 10))],
    ),
    # span 10 - 3 = 7 over 3 steps: 3, 2, 2
    (
        KFold(4, valid=3),
        10,
        [
            (((3, 10),), (0, 3)),
            (((0, 3), (6, 10)), (3, 6)),
            (((0, 5), (8, 10)), (5, 8)),
            (((0, 7),), (7, 10)),
        ],
    ),
    # rest 12 - 5 = 7 in 3 folds: 3, 2, 2
    (
        Accumulative(3, min_train=5),
        12,
        [(((0, 5),), (5, 8)), (((0, 8),), (8, 10)), (((0, 10),), (10, 12))],
    ),
    (
        WalkForward(3, min_train=5),
        12,
        [(((0, 5),), (5, 8)), (((3, 8),), (8, 10)), (((5, 10),), (10, 12))],
    ),
    (
        WalkForward(3, min_train=5, gap=(2, 7)),
        12,
        [(((0, 3),), (5, 8)), (((3, 6),), (8, 10)), (((5, 8),), (10, 12))],
    ),
    # span 12 - 2 - 4 = 6 over 4 steps: 2, 2, 1, 1
    (
        Accumulative(5, valid=2, min_train=4, gap=1),
        12,
        [
            (((0, 3),), (4, 6)),
            (((0, 5),), (6, 8)),
            (((0, 7),), (8, 10)),
            (((0, 8),), (9, 11)),
            (((0, 9),), (10, 12)),
        ],
    ),
    (
        WalkForward(3, valid=0.25, min_train=0.5),
        8,
        [(((0, 4),), (4, 6)), (((1, 5),), (5, 7)), (((2, 6),), (6, 8))],
    ),
    (Accumulative(1, min_train=4), 10, [(((0, 4),), (4, 10))]),
    (Accumulative(1, valid=2, min_train=4), 10, [(((0, 8),), (8, 10))]),
    (WalkForward(1, valid=2, min_train=4), 10, [(((4, 8),), (8, 10))]),
    (
        LeaveOneOut(),
        3,
        [(((1, 3),), (0, 1)), (((0, 1), (2, 3)), (1, 2)), (((0, 2),), (2, 3))],
    ),
    (
        LeaveOneOut(gap=(1, 0)),
        3,
        [(((1, 3),), (0, 1)), (((2, 3),), (1, 2)), (((0, 1),), (2, 3))],
    ),
    # rows 4 to 10 in 2 folds; the first rows are only trained on
    (KFold(2, start=4), 10, [(((0, 4), (7, 10)), (4, 7)), (((0, 7),), (7, 10))]),
    # span 10 - 3 - 2 = 5 over 2 steps: 3, 2
    (
        KFold(3, valid=3, start=2),
        10,
        [(((0, 2), (5, 10)), (2, 5)), (((0, 5), (8, 10)), (5, 8)), (((0, 7),), (7, 10))],
    ),
    # every 2 rows: 1, 3, 5 and 7, of which the last would end at 11
    (
        KFold(None, valid=4, start=1, step=2, gap=(0, 1)),
        10,
        [(((0, 1), (6, 10)), (1, 5)), (((0, 3), (8, 10)), (3, 7)), (((0, 5),), (5, 9))],
    ),
    (KFold(2, valid=2, step=6), 10, [(((2, 10),), (0, 2)), (((0, 6), (8, 10)), (6, 8))]),
    (KFold(None, valid=6, step=6), 10, [(((6, 10),), (0, 6))]),
    # a fifth of 10 rows from one to the next, beginning at 0.3 of them
    (
        KFold(2, valid=0.4, start=0.3, step=0.2),
        10,
        [(((0, 3), (7, 10)), (3, 7)), (((0, 5), (9, 10)), (5, 9))],
    ),
    # rest 12 - 6 = 6 in 2 folds
    (Accumulative(2, min_train=5, start=6), 12, [(((0, 6),), (6, 9)), (((0, 9),), (9, 12))]),
    # span 12 - 2 - 6 = 4 over 2 steps: 2, 2
    (
        Accumulative(3, valid=2, min_train=4, start=6, gap=1),
        12,
        [(((0, 5),), (6, 8)), (((0, 7),), (8, 10)), (((0, 9),), (10, 12))],
    ),
    # from min_train on
    (
        Accumulative(None, valid=4, min_train=5, step=2),
        12,
        [(((0, 5),), (5, 9)), (((0, 7),), (7, 11))],
    ),
    (Accumulative(1, valid=4, min_train=5, step=2), 12, [(((0, 5),), (5, 9))]),
    (
        WalkForward(3, valid=4, min_train=5, start=6, step=1, gap=2),
        12,
        [(((1, 4),), (6, 10)), (((2, 5),), (7, 11)), (((3, 6),), (8, 12))],
    ),
    # span 10 - 3 = 7 over 3 steps, as in k-step: 3, 2, 2
    (Recycle(4, valid=3), 10, [(((0, 10),), (a, a + 3)) for a in (0, 3, 5, 7)]),
    (Recycle(3, valid=0.4, start=0.2), 10, [(((0, 10),), (a, a + 4)) for a in (2, 4, 6)]),
    (Recycle(None, valid=4, start=1, step=2), 10, [(((0, 10),), (a, a + 4)) for a in (1, 3, 5)]),
    (Recycle(1, valid=4), 10, [(((0, 10),), (6, 10))]),
    (Recycle(1, valid=4, start=1, step=9), 10, [(((0, 10),), (1, 5))]),
    (Recycle(1, valid=10), 10, [(((0, 10),), (0, 10))]),
]


@pytest.mark.parametrize("scheme, n, expected", TABLE, ids=lambda x: repr(x)[:40])
def test_hand_computed_tables(scheme, n, expected):
    assert scheme.splits(n) == [Split(train, valid) for train, valid in expected]


@pytest.mark.parametrize(
    "size, n, count", [(0.29, 100, 29), (0.1, 19, 1), (0.7, 130, 91), (1 / 3, 3, 1), (0.999, 10, 9)]
)
def test_fractions_are_rounded_down_as_written(size, n, count):
    assert SingleSplit(size).splits(n)[0].valid == (n - count, n)


gaps = st.one_of(st.integers(0, 6), st.tuples(st.integers(0, 6), st.integers(0, 6)))


def _before_after(gap):
    return gap if isinstance(gap, tuple) else (gap, gap)


def _starts(splits):
    return [s.valid[0] for s in splits]


@given(k=st.integers(2, 12), more=st.integers(0, 80), gap=gaps)
def test_kfold_partitions_and_respects_gaps(k, more, gap):
    n = k * 15 + more
    splits = KFold(k, gap=gap).splits(n)
    before, after = _before_after(gap)
    sizes = [b - a for a, b in (s.valid for s in splits)]
    assert np.array_equal(rows(s.valid for s in splits), np.arange(n))
    assert max(sizes) - min(sizes) <= 1 and sizes == sorted(sizes, reverse=True)
    for s in splits:
        a, b = s.valid
        kept = [i for i in range(n) if i < a - before or i >= b + after]
        assert rows(s.train).tolist() == kept


@given(k=st.integers(2, 12), valid=st.integers(1, 30), more=st.integers(0, 80))
def test_kstep_spreads_starts_evenly(k, valid, more):
    n = valid + k - 1 + more
    splits = KFold(k, valid=valid).splits(n)
    starts, steps = _starts(splits), np.diff(_starts(splits))
    assert (starts[0], starts[-1]) == (0, n - valid)
    assert {b - a for a, b in (s.valid for s in splits)} == {valid}
    assert steps.min() >= 1 and np.ptp(steps) <= 1
    assert (np.diff(steps) <= 0).all()


@given(
    scheme=st.sampled_from([Accumulative, WalkForward]),
    k=st.integers(1, 12),
    valid=st.one_of(st.none(), st.integers(1, 20)),
    least=st.integers(7, 30),
    gap=gaps,
    more=st.integers(0, 60),
)
def test_forward_schemes(scheme, k, valid, least, gap, more):
    n = least + k + (valid or 1) - 1 + more
    splits = scheme(k, valid=valid, min_train=least, gap=gap).splits(n)
    before, _ = _before_after(gap)
    assert len(splits) == k
    for s in splits:
        a, b = s.valid
        start = a - least if scheme is WalkForward else 0
        assert s.train == ((start, a - before),)
        if scheme is WalkForward:
            assert len(rows(s.train)) == least - before
    starts = np.array(_starts(splits))
    if valid is None:
        sizes = [b - a for a, b in (s.valid for s in splits)]
        assert np.array_equal(rows(s.valid for s in splits), np.arange(least, n))
        assert max(sizes) - min(sizes) <= 1 and sizes == sorted(sizes, reverse=True)
    else:
        assert starts[-1] == n - valid and (k == 1 or starts[0] == least)
        assert k < 3 or (np.ptp(np.diff(starts)) <= 1 and (np.diff(starts, 2) <= 0).all())


@given(
    k=st.one_of(st.none(), st.integers(2, 9)),
    valid=st.integers(1, 12),
    start=st.integers(0, 20),
    step=st.integers(1, 15),
    n=st.integers(1, 90),
)
def test_steps_are_as_given_and_as_many_as_fit(k, valid, start, step, n):
    fit = len(range(start, n - valid + 1, step))
    for scheme in (KFold, Recycle):
        made = scheme(k, valid=valid, start=start, step=step)
        if not fit or (k or 0) > fit:
            with pytest.raises(ValueError, match=f"n={n}"):
                made.splits(n)
            continue
        if scheme is KFold and valid == n:
            continue  # nothing to train on
        starts = range(start, start + (k or fit) * step, step)
        assert [s.valid for s in made.splits(n)] == [(a, a + valid) for a in starts]
        assert made.get_n_splits(np.zeros(n)) == len(starts)


@given(st.sets(st.integers(0, 60)))
def test_runs_and_rows_are_inverse(indices):
    found = intervals_of(list(indices))
    assert rows(found).tolist() == sorted(indices)
    assert all(b < c for (_, b), (c, _) in zip(found, found[1:], strict=False))


def test_shuffled_folds_match_scikit_learn():
    ours = list(KFold(4, shuffle=True, random_state=3).split(np.zeros(18)))
    theirs = list(skl.KFold(4, shuffle=True, random_state=3).split(np.zeros(18)))
    for (train, valid), (their_train, their_valid) in zip(ours, theirs, strict=True):
        assert np.array_equal(train, their_train) and np.array_equal(valid, their_valid)
    assert [len(v) for _, v in ours] == [5, 5, 4, 4]


@pytest.mark.parametrize("scheme", INTERVALS, ids=repr)
def test_split_yields_the_rows_of_splits(scheme):
    for s, (train, valid) in zip(scheme.splits(40), scheme.split(np.zeros((40, 2))), strict=True):
        assert np.array_equal(train, rows(s.train)) and np.array_equal(valid, range(*s.valid))


def test_split_accepts_lists_frames_and_sparse():
    import pandas as pd
    import scipy.sparse

    for X in (list(range(9)), pd.DataFrame({"x": range(9)}), scipy.sparse.eye(9, format="csr")):
        assert [v.tolist() for _, v in KFold(3).split(X)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_scikit_learn_interop(scheme):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    scoring = "neg_mean_squared_error"
    scores = skl.cross_val_score(Ridge(), X, y, cv=scheme, scoring=scoring)
    expected = [
        -np.mean((Ridge().fit(X[train], y[train]).predict(X[valid]) - y[valid]) ** 2)
        for train, valid in scheme.split(X)
    ]
    assert len(scores) == scheme.get_n_splits(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-9)
    search = clone(skl.GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=scheme, scoring=scoring))
    assert search.fit(X, y).cv == scheme


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_equality_hash_repr_and_copies(scheme):
    kinds = (SingleSplit, KFold, Accumulative, WalkForward, LeaveOneOut, Recycle)
    names = {c.__name__: c for c in kinds}
    again = eval(repr(scheme), names)
    for other in (again, copy.deepcopy(scheme), pickle.loads(pickle.dumps(scheme)), clone(scheme)):
        assert other == scheme and hash(other) == hash(scheme)
    assert len({*SCHEMES, again}) == len(SCHEMES)
    with pytest.raises(AttributeError):
        scheme.gap = 3


def test_repr_shows_only_what_differs():
    assert repr(KFold()) == "KFold()"
    assert repr(KFold(np.int64(5), gap=[1, 0.1])) == "KFold(k=5, gap=(1, 0.1))"
    assert repr(SingleSplit(0.2)) == "SingleSplit(valid=0.2)"
    assert repr(WalkForward(valid=7)) == "WalkForward(valid=7)"
    assert repr(Recycle()) == "Recycle()"
    assert repr(KFold(None, valid=9, start=2, step=3)) == "KFold(k=None, valid=9, start=2, step=3)"


def test_a_gap_may_be_zero_in_any_form():
    expected = KFold(4).splits(20)
    assert all(KFold(4, gap=g).splits(20) == expected for g in (0, 0.0, (0, 0), [0.0, 0], 0.01))


def test_number_of_splits():
    assert [s.get_n_splits() for s in (SingleSplit(), KFold(7), WalkForward(3))] == [1, 7, 3]
    assert LeaveOneOut().get_n_splits(np.zeros(13)) == 13
    stepped = KFold(None, valid=3, step=2)
    assert stepped.get_n_splits(np.zeros(10)) == 4
    for scheme in (LeaveOneOut(), stepped):
        with pytest.raises(ValueError, match="X=None: the number of rows is needed"):
            scheme.get_n_splits()


def test_draw():
    assert KFold(3, gap=1).draw(9).split("\n") == ["███·─────", "──·███·──", "─────·███"]
    # Each character stands for 10 rows; one validation row is enough to be seen.
    lines = Accumulative(2, valid=1, min_train=50).draw(100, width=10).split("\n")
    assert lines == ["─────█····", "─────────█"]
    # Characters of 4 rows show training when at least half of their rows are trained on.
    assert SingleSplit(4, gap=2).draw(16, width=4) == "──" + "─█"
    assert SingleSplit(4, gap=3).draw(16, width=4) == "──" + "·█"
    assert KFold(2, shuffle=True, random_state=0).draw(10).count("█") == 10
    assert Recycle(2, valid=3).draw(6).split() == ["▓▓▓───", "───▓▓▓"]


@pytest.mark.parametrize(
    "scheme, n, validations",
    [
        (KFold(4, gap=2), 100, 4),
        (KFold(valid=500), 1000, 10),
        (LeaveOneOut(), 100, 100),
        (Recycle(7), 100, 7),
    ],
)
def test_html_draws_every_split(scheme, n, validations):
    page = scheme._repr_html_()
    assert f"n = {n}:" in page and page.startswith(f"<div><code>{scheme!r}</code>")
    assert page.split("d='")[2].count("M") == validations
    assert len(page) < 20_000


def test_html_without_a_drawing():
    assert KFold(500)._repr_html_() == "<code>KFold(k=500)</code>"
    assert KFold(valid=10**6)._repr_html_() == "<code>KFold(valid=1000000)</code>"


BAD_ARGUMENTS = [
    (lambda: KFold(1), ValueError, "k=1 is not allowed: it must be an integer of at least 2"),
    (lambda: KFold(2.0), ValueError, "k=2.0 is not allowed: it must be an integer of at least 2"),
    (lambda: KFold(True), ValueError, "k=True is not allowed"),
    (
        lambda: Accumulative(0),
        ValueError,
        "k=0 is not allowed: it must be an integer of at least 1",
    ),
    (lambda: WalkForward(0), ValueError, "k=0 is not allowed: it must be an integer of at least 1"),
    (
        lambda: KFold(valid=0),
        ValueError,
        "valid=0 is not allowed: it must be a number of rows, an integer of at least 1",
    ),
    (lambda: KFold(valid=1.0), ValueError, "valid=1.0 is not allowed: it must be a number of rows"),
    (lambda: SingleSplit(0.0), ValueError, "valid=0.0 is not allowed: it must be a number of rows"),
    (
        lambda: SingleSplit(None),
        ValueError,
        "valid=None is not allowed: it must be a number of rows",
    ),
    (
        lambda: SingleSplit(float("nan")),
        ValueError,
        "valid=nan is not allowed: it must be a number of rows",
    ),
    (
        lambda: Accumulative(valid="a"),
        ValueError,
        "valid='a' is not allowed: it must be a number of rows",
    ),
    (lambda: Accumulative(min_train=0), ValueError, "min_train=0 is not allowed"),
    (
        lambda: WalkForward(min_train=1.5),
        ValueError,
        "min_train=1.5 is not allowed: it must be a number of rows",
    ),
    (lambda: KFold(gap=-1), ValueError, "gap=-1 is not allowed: .* an integer of at least 0"),
    (
        lambda: KFold(gap=(1, -0.5)),
        ValueError,
        "gap after=-0.5 is not allowed: it must be a number of rows",
    ),
    (
        lambda: KFold(gap=(1, 2, 3)),
        ValueError,
        r"gap=\(1, 2, 3\) is not allowed: it must be one size or a",
    ),
    (
        lambda: LeaveOneOut(gap="1"),
        ValueError,
        "gap='1' is not allowed: it must be a number of rows",
    ),
    (lambda: KFold(shuffle=1), TypeError, "shuffle=1: expected True or False"),
    (lambda: KFold(shuffle=True, valid=3), ValueError, "valid=3 with shuffle=True"),
    (lambda: KFold(shuffle=True, gap=(0, 1)), ValueError, r"gap=\(0, 1\) with shuffle=True"),
    (lambda: KFold(shuffle=True, start=3), ValueError, "start=3 with shuffle=True"),
    (lambda: KFold(start=-1), ValueError, "start=-1 is not allowed: .* an integer of at least 0"),
    (
        lambda: KFold(start=None),
        ValueError,
        "start=None is not allowed: it must be a number of rows",
    ),
    (
        lambda: WalkForward(start=1.5),
        ValueError,
        "start=1.5 is not allowed: it must be a number of rows",
    ),
    (
        lambda: KFold(valid=3, step=0),
        ValueError,
        "step=0 is not allowed: .* an integer of at least 1",
    ),
    (
        lambda: KFold(valid=3, step="a"),
        ValueError,
        "step='a' is not allowed: it must be a number of rows",
    ),
    (lambda: Accumulative(step=3), ValueError, "step=3 without valid.*Give valid, or drop step"),
    (lambda: KFold(None), ValueError, "k=None means as many .* step=None; give step, or k as"),
    (lambda: Recycle(None, valid=3), ValueError, "k=None means as many .* at least 1"),
    (lambda: Recycle(0), ValueError, "k=0 is not allowed: it must be an integer of at least 1"),
    (
        lambda: Recycle(valid=None),
        ValueError,
        "valid=None is not allowed: it must be a number of rows",
    ),
    (
        lambda: Recycle(start=None),
        ValueError,
        "start=None is not allowed: it must be a number of rows",
    ),
    (lambda: Recycle(gap=1), TypeError, "gap"),
    (lambda: Recycle(1, start=3), ValueError, "start=3 with k=1 and step=None.*stands at the end"),
    (lambda: KFold(random_state=1), ValueError, "random_state=1 has no effect"),
    (lambda: KFold(shuffle=True, random_state=-1), ValueError, "random_state=-1 is not"),
    (lambda: KFold(shuffle=True, random_state="a"), ValueError, "random_state='a' is not"),
]

BAD_DATA = [
    (KFold(), 0, "n=0 is not allowed: it must be an integer of at least 1"),
    (KFold(20), 10, "k=20 folds need at least 20 rows, but n=10; use a smaller k"),
    (KFold(3, shuffle=True), 9, r"shuffle=True\) has no intervals.*use split\(X\)"),
    (KFold(valid=120), 100, "valid=120 rows do not fit in n=100 rows"),
    (SingleSplit(120), 100, "valid=120 rows do not fit in n=100 rows"),
    (SingleSplit(0.01), 50, "valid=0.01 of n=50 rows is 0 rows, but at least 1 is needed"),
    (
        KFold(10, valid=95),
        100,
        "k=10 steps need 10 different starts, but valid=95 leaves only 6 in n=100 rows",
    ),
    (KFold(2, valid=100), 100, "k=2 steps need 2 different starts, .* leaves only 1 in n=100"),
    (SingleSplit(101), 100, "valid=101 rows do not fit in n=100 rows; use a smaller valid"),
    (Accumulative(min_train=0.01), 50, "min_train=0.01 of n=50 rows is 0 rows"),
    (Accumulative(6, min_train=95), 100, "k=6 folds need at least min_train=95 [+] 6 rows"),
    (WalkForward(2, valid=30, min_train=80), 100, "min_train=80 [+] valid=30 rows do not fit"),
    (
        WalkForward(5, valid=8, min_train=90),
        100,
        "k=5 steps need 5 different starts, but min_train=90 [+] valid=8 leaves only 3 in n=100",
    ),
    (
        KFold(10, gap=60),
        100,
        "split 4 of 10: validation rows 30 to 40 with a gap of 60 rows leave no rows to train on; "
        "n=100. Use a smaller gap or shorter",
    ),
    (
        Accumulative(2, min_train=5, gap=(5, 0)),
        20,
        r"split 1 of 2: validation rows 5 to 13 with a gap of \(5, 0\) rows leave no rows to train "
        "on; n=20. Use a smaller gap or a larger min_train",
    ),
    (SingleSplit(10), 10, "split 1 of 1: .* gap of 0 rows .* Use a smaller gap or a smaller valid"),
    (LeaveOneOut(), 1, "split 1 of 1: validation rows 0 to 1 .* or more rows"),
    (KFold(5, start=96), 100, "k=5 folds need at least start=96 [+] 5 rows.* smaller k or start"),
    (KFold(5, valid=9, start=95), 100, "start=95 [+] valid=9 rows .*smaller valid or start"),
    (
        KFold(5, valid=9, start=90),
        100,
        "k=5 steps need 5 different starts, but start=90 [+] valid=9 leaves only 2 in n=100",
    ),
    (
        KFold(12, valid=20, start=5, step=8),
        100,
        "k=12 intervals, one every step=8 rows, need start=5 [+] 11 × 8 [+] valid=20 rows, but "
        "n=100, where 10 fit; use k=10, or k=None for as many as fit, or a smaller step, valid "
        "or start",
    ),
    (Recycle(9, valid=20, step=0.3), 50, "k=9 .* need 8 × 15 [+] valid=20 .* 3 fit; use k=3"),
    (Recycle(None, valid=60, step=5), 50, "valid=60 rows do not fit in n=50 rows"),
    (KFold(None, valid=5, step=0.01), 50, "step=0.01 of n=50 rows is 0 rows"),
    (
        Accumulative(2, start=40),
        100,
        "start=40 is before row 50, but min_train=0.5 of n=100 rows are trained on before.*use "
        "start=50 or more, or a smaller min_train",
    ),
]


@pytest.mark.parametrize("make, error, message", BAD_ARGUMENTS)
def test_argument_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("scheme, n, message", BAD_DATA)
def test_data_errors(scheme, n, message):
    with pytest.raises(ValueError, match=message):
        scheme.splits(n)


def test_shuffled_folds_need_enough_rows():
    with pytest.raises(ValueError, match="k=5 folds need at least 5 rows, but n=4"):
        list(KFold(5, shuffle=True).split(np.zeros(4)))


def _pairs(found):
    return [(rows(t), rows(v)) for t, v in zip(found.train, found.valid, strict=True)]


Y = np.repeat([0, 1, 2], 10)
GROUPS = np.tile([0, 1, 2, 3, 4], 6)


@pytest.mark.parametrize(
    "splitter, intervals",
    [
        (skl.TimeSeriesSplit(4, gap=2), True),
        (skl.KFold(3), True),
        (skl.LeaveOneOut(), True),
        (skl.GroupKFold(3), False),
        (skl.StratifiedKFold(5), False),
        (skl.KFold(3, shuffle=True, random_state=0), False),
        (skl.ShuffleSplit(3, random_state=0), False),
        (KFold(3, shuffle=True, random_state=0), False),
        (WalkForward(3, gap=1), True),
    ],
    ids=repr,
)
def test_resolve_keeps_the_rows_of_every_splitter(splitter, intervals):
    groups = GROUPS if isinstance(splitter, skl.GroupKFold) else None
    found = resolve_cv(splitter, 30, groups=groups, labels=Y)
    expected = list(splitter.split(np.zeros(30), Y, groups))
    assert found.intervals is intervals and found.name == repr(splitter)
    for (train, valid), (e_train, e_valid) in zip(_pairs(found), expected, strict=True):
        assert np.array_equal(train, np.sort(e_train)) and np.array_equal(valid, np.sort(e_valid))


def test_resolve_forms():
    found = resolve_cv(3, 10)
    assert found.name == "KFold(k=3)" and found.intervals
    assert found.valid == [((0, 4),), ((4, 7),), ((7, 10),)]
    assert found.train[1] == ((0, 4), (7, 10))

    stratified = resolve_cv(5, 30, labels=Y)
    expected = skl.StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(30), Y)
    for (_, valid), (_, e_valid) in zip(_pairs(stratified), expected, strict=True):
        assert np.array_equal(valid, e_valid)
        assert np.bincount(Y[valid]).tolist() == [2, 2, 2]
    assert resolve_cv(KFold(3), 30, labels=Y).name == "KFold(k=3)"

    mask = np.arange(6) < 4
    given_splits = resolve_cv(((t, v) for t, v in [([3, 1, 0], [5, 4]), (mask, ~mask)]), 6)
    assert given_splits.train == [((0, 2), (3, 4)), ((0, 4),)]
    assert given_splits.valid == [((4, 6),), ((4, 6),)]
    mixed = resolve_cv([([0], [1, 2]), ([0], [1, 3])], 4)
    assert mixed.valid == [((1, 3),), ((1, 2), (3, 4))] and not mixed.intervals
    assert given_splits.name == "2 given splits" and given_splits.intervals


def test_resolve_names_splitters_without_a_repr():
    class Halves:
        def split(self, X, y=None, groups=None):
            yield np.arange(2), np.arange(2, len(X))

    assert resolve_cv(Halves(), 5).name == "Halves"


@pytest.mark.parametrize(
    "cv, error, message",
    [
        (True, TypeError, "cv=True: expected a scheme"),
        ("kfold", TypeError, "cv='kfold': expected a scheme"),
        (2.5, TypeError, "cv=2.5: expected a scheme"),
        ({"a": KFold(3)}, TypeError, "cv={'a': .*expected a scheme"),
        (KFold, TypeError, "cv=<class .*expected a scheme"),
        (1, ValueError, "k=1 is not allowed: it must be an integer of at least 2"),
        ([], ValueError, "cv=0 given splits gives no splits for n=6 rows"),
        ([[0, 1, 2]], TypeError, r"split 1 of 1: got list, expected a \(train, valid\) pair"),
        ([([0], [1]), 3], TypeError, "split 2 of 2: got int, expected"),
        ([([0, 1], [])], ValueError, "split 1 of 1, validation rows: there are none"),
        ([(np.zeros(6, bool), [1])], ValueError, "training rows: there are none"),
        ([([0.0, 1.0], [2])], TypeError, r"training rows: got an array of float64 of shape \(2,\)"),
        ([([True, False], [2])], TypeError, "got an array of bool .* mask of n=6 rows"),
        ([([[0, 1]], [2])], TypeError, r"shape \(1, 2\), expected a one-dimensional"),
        ([([0, 1], [6])], ValueError, r"validation rows: index 6 is outside 0 to 5 \(n=6\)"),
        ([([-1, 1], [2])], ValueError, "training rows: index -1 is outside 0 to 5"),
        ([([0, 0, 1], [2])], ValueError, "training rows: 3 indices name only 2 rows"),
        ([([0, 2, 3], [2, 3])], ValueError, "2 rows are in both .* row 2 first"),
    ],
)
def test_resolve_errors(cv, error, message):
    with pytest.raises(error, match=message):
        resolve_cv(cv, 6)


def test_default_folds():
    assert resolve_cv(None, 30).name == repr(KFold(10))
    assert resolve_cv(None, 6).name == "KFold(k=6)"  # a tiny series
    of_classes = resolve_cv(None, 30, labels=Y)  # sorted by class
    for train, valid in _pairs(of_classes):
        assert np.bincount(Y[train]).tolist() == [9, 9, 9]
        assert np.bincount(Y[valid]).tolist() == [1, 1, 1]
    assert len(resolve_cv(None, 7, labels=np.array([0, 0, 0, 1, 1, 1, 1]))) == 3
    assert len(resolve_cv(None, 5, labels=np.array([0, 1, 1, 1, 1]))) == 2
    for labels in (None, Y):
        for cv in (None, 3):
            for train, valid in _pairs(resolve_cv(cv, 30, groups=GROUPS, labels=labels)):
                assert not set(GROUPS[train]) & set(GROUPS[valid])
    with pytest.raises(
        ValueError, match="cv=1 is not allowed: it must be an integer of at least 2"
    ):
        resolve_cv(1, 6, labels=np.zeros(6, dtype=int))
    with pytest.raises(ValueError, match="cannot split these 4 rows: n_splits=3"):
        resolve_cv(3, 4, labels=np.array([0, 0, 1, 1]))
