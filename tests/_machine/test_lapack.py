"""LAPACK by pointers gives SciPy's bits, and lets other threads run meanwhile."""

import threading
import time

import numpy as np
import pytest
from scipy import linalg
from scipy.linalg import lapack as of_scipy

from echofold._machine import lapack as of_ours

RNG = np.random.default_rng(0)


def square(n, order="C"):
    return np.array(np.triu(RNG.normal(size=(n, n))) + 3 * np.eye(n), order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_all_routines_give_the_bits_of_scipy(n, order):
    A, F, g = square(n, order), square(n, order), RNG.normal(size=(n, 2))
    results, nb = [], min(4, n)
    for library in (of_scipy, of_ours):
        R, V, T = library.dtpqrt(n, nb, A, F)[:3]
        top, below = library.dtpmqrt(n, V, T, 0 * g, g, side="L", trans="T")[:2]
        found = [R, V, T, top, below]
        found += [library.dtrtrs(A, g, trans=trans)[0] for trans in (0, 1)]
        results.append(found)
    for expected, found in zip(*results, strict=True):
        assert np.array_equal(expected, found)
    assert np.array_equal(linalg.solve_triangular(A, g), of_ours.solve_triangular(A, g))


def test_arrays_are_left_alone_unless_they_may_be_overwritten():
    A, F = square(6, "F"), square(6, "F")
    before = A.copy(), F.copy()
    R = of_ours.dtpqrt(6, 2, A, F)[0]
    assert np.array_equal(A, before[0]) and np.array_equal(F, before[1])
    again = of_ours.dtpqrt(6, 2, A, F, overwrite_a=True)[0]
    assert again is A and np.array_equal(again, R) and np.array_equal(F, before[1])


def test_a_triangle_without_an_inverse_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="row 2"):
        of_ours.solve_triangular(np.array([[1.0, 2.0], [0.0, 0.0]]), np.ones(2))


def test_arguments_that_lapack_refuses_are_an_error():
    with pytest.raises(ValueError, match="dtpqrt"):
        of_ours.dtpqrt(9, 2, square(3), square(3))


def test_other_threads_run_meanwhile():
    # While a factorisation is under way this thread goes on: by SciPy's functions it would wait
    # for the end, and find it over.
    A, rows = square(600, "F"), np.asfortranarray(RNG.normal(size=(2000, 600)))
    times = []

    def work():
        times.append(time.perf_counter())
        of_ours.dtpqrt(0, 32, A, rows)
        times.append(time.perf_counter())

    thread, turns = threading.Thread(target=work), [time.perf_counter()]
    thread.start()
    while thread.is_alive():
        turns.append(time.perf_counter())
    assert np.diff(turns).max() < 0.8 * (times[1] - times[0])
