"""One BLAS thread while anyone is inside, and as many as before when the last has left."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from echofold import ESNForecaster
from echofold._machine.device import engine, one_blas_thread


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    limits = threadpool_limits(2, user_api="blas")
    _release()
    assert threads() == {2}
    yield
    limits.restore_original_limits()
    _release()


def _release():
    for library in ThreadpoolController().lib_controllers:
        getattr(library, "clear_controlling_thread", lambda: None)()


def test_nested():
    with one_blas_thread():
        with engine(), one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_threads_that_leave_in_the_order_they_came():
    inside, left = threading.Event(), threading.Event()
    seen = {}

    def second():
        with one_blas_thread():
            inside.set()
            left.wait(60)
            seen["second"] = threads()

    other = threading.Thread(target=second)
    with one_blas_thread():
        other.start()
        inside.wait(60)
    seen["first has left"] = threads()
    left.set()
    other.join()
    assert seen == {"first has left": {1}, "second": {1}}
    assert threads() == {2}


def test_many_threads_at_once():
    together = threading.Barrier(8)

    def work(number):
        seen = set()
        for turn in range(20):
            together.wait()
            with one_blas_thread():
                seen |= threads() if (number + turn) % 8 == 0 else set()
        return seen

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(work, range(8))) == {1}
    assert threads() == {2}


def test_an_error_inside_lifts_the_limit():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert threads() == {2}


def test_fits_in_threads_leave_the_number_of_blas_threads_alone():
    y = np.sin(np.arange(80) / 3)
    ESNForecaster(6, random_state=0).fit(y)
    together = threading.Barrier(4)

    def work(seed):
        for _ in range(5):
            together.wait()
            ESNForecaster(6, random_state=seed).fit(y)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert threads() == {2}


def test_the_limit_is_set_once_for_all_that_are_inside(monkeypatch):
    calls = []
    with one_blas_thread():
        set_limit = type(ThreadpoolController()).limit
        monkeypatch.setattr(
            ThreadpoolController,
            "limit",
            lambda *args, **kwargs: calls.append(1) or set_limit(*args, **kwargs),
        )
        with one_blas_thread(), one_blas_thread():
            assert threads() == {1}
    assert not calls
    assert threads() == {2}
