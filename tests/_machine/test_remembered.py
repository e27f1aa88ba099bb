"""What is kept between calls is bounded by its size."""

import gc
import tracemalloc

import numpy as np
import pytest

import echofold._engine.weights as _weights
import echofold.reservoirs as _reservoirs
from echofold import KFold, LeaveOneOut, WalkForward
from echofold._folds import splits as _splits
from echofold._machine import available as _remembered
from echofold._machine.available import remembered


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(_remembered, "MOST_BYTES", 100)
    calls = []

    @remembered(size=len)
    def letters(count, letter="a"):
        calls.append(count)
        return letter * count

    return letters, calls


def test_equal_calls_share_a_result(counted):
    letters, calls = counted
    assert letters(5) is letters(5)
    assert letters(5, "b") == "bbbbb"
    assert calls == [5, 5]


def test_the_oldest_results_make_room(counted):
    letters, calls = counted
    for count in (40, 50, 40, 60, 40, 50):  # 50 makes room for 60, then 60 for 50
        assert len(letters(count)) == count
    assert calls == [40, 50, 60, 50]
    assert list(letters.kept) == [(40,), (50,)]


def test_one_result_is_kept_however_large(counted):
    letters, calls = counted
    assert letters(500) is letters(500)
    assert list(letters.kept) == [(500,)]
    letters(3)
    assert list(letters.kept) == [(3,)]


def test_drawn_weights_are_bounded_by_their_size(monkeypatch):
    size = 8 * 40 * (40 + 2)
    monkeypatch.setattr(_remembered, "MOST_BYTES", 3 * size)
    drawn = [_reservoirs.Leaky(40).draw(1, seed) for seed in range(9)]
    assert len(_weights.drawn.kept) == 3
    assert _reservoirs.Leaky(40).draw(1, 8) is drawn[8]
    sparse = _reservoirs.Leaky(40, connectivity=0.05).draw(1, 0)
    assert _weights.bytes_of(sparse) == 8 * 40 * 2 + 12 * 40 * 2


@pytest.mark.parametrize("scheme", [LeaveOneOut(), KFold(20, gap=3), WalkForward(200, valid=5)])
def test_the_size_of_splits_is_that_of_all_they_may_hold(scheme):
    gc.collect()
    tracemalloc.start()
    splits = _splits._of_any(scheme, 1500, None, None)
    tables = (splits.valid_rows, splits.left_out_rows, splits.sizes, splits.left_out)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(tables) == 4
    assert 0.5 * held < _splits._bytes(splits) < 3 * held


def test_splits_are_bounded_by_their_size(monkeypatch):
    monkeypatch.setattr(_remembered, "MOST_BYTES", 2**20)
    for n in range(2000, 2020):
        splits = _splits.resolve_cv(LeaveOneOut(), n)
    kept = _splits._of_scheme.kept.values()
    assert sum(size for _, size in kept) <= 2**20 or len(kept) == 1
    assert _splits.resolve_cv(LeaveOneOut(), n) is splits
    assert np.array_equal(splits.sizes, np.ones(n))
