"""Programs are compiled once for each shape, and forgotten when many others were used since."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from echofold import ESNForecaster, ESNSearchCV, KFold
from echofold._engine.drive import advance, drive, drive_blocks
from echofold._engine.kind import drawn
from echofold._machine import programs as _programs
from echofold._machine.device import engine
from echofold._machine.programs import loop, program, scan
from echofold.datasets import load_electricity
from echofold.reservoirs import Leaky


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(_programs, "_kept", type(_programs._kept)())
    return _programs._kept


@contextmanager
def count_compilations(names):
    """Every compilation of JAX inside, whether it is found on disk or not."""

    def heard(event, seconds, **about):
        if event.endswith("backend_compile_duration"):
            names.append(about.get("fun_name", event))

    jax.monitoring.register_event_duration_secs_listener(heard)
    try:
        yield
    finally:
        if hasattr(jax.monitoring, "unregister_event_duration_listener"):
            jax.monitoring.unregister_event_duration_listener(heard)
        else:  # in older versions
            jax._src.monitoring._unregister_event_duration_listener_by_callback(heard)


def counted():
    traces = []

    @program
    def twice(x, *, add=0):
        traces.append(x.shape)
        return 2 * x + add

    return twice, traces


def test_each_shape_and_each_constant_is_compiled_once(kept):
    twice, traces = counted()
    for _ in range(3):
        for size in (2, 3):
            assert twice(np.ones(size)).tolist() == [2] * size
            assert twice(np.ones(size), add=1).tolist() == [3] * size
    assert sorted(traces) == [(2,), (2,), (3,), (3,)]
    assert len(kept) == 4


def test_only_the_programs_used_last_are_kept(kept, monkeypatch):
    monkeypatch.setattr(_programs, "KEPT", 3)
    twice, traces = counted()
    for size in (1, 2, 3, 1, 4, 1, 2):  # 2 is forgotten when 4 comes, 1 never
        twice(np.ones(size))
    assert traces == [(1,), (2,), (3,), (4,), (2,)]
    assert len(kept) == 3


def test_a_forgotten_program_is_freed(kept, monkeypatch):
    monkeypatch.setattr(_programs, "KEPT", 1)
    twice, _ = counted()
    twice(np.ones(5))
    (one,) = kept.values()
    alive = weakref.ref(one.run.__wrapped__)
    del one
    twice(np.ones(6))
    gc.collect()
    assert alive() is None


@pytest.mark.usefixtures("compiled")
def test_fits_of_many_shapes_keep_few_programs(kept, monkeypatch):
    monkeypatch.setattr(_programs, "KEPT", 4)
    y = np.sin(np.arange(60) / 3)
    for units in range(3, 8):
        ESNForecaster(units, random_state=0).fit(y).forecast(3)
    assert len(kept) == 4


@pytest.mark.usefixtures("compiled")
def test_a_search_and_its_forecast_compile_few_programs(kept):
    y = load_electricity().data
    space = {
        "leak_rate": [0.5, 1.0],
        "spectral_radius": [0.5, 0.9],
        "ridge": np.logspace(-8, 2, 12),
    }
    compiled = []
    with count_compilations(compiled):
        search = ESNSearchCV(ESNForecaster(50, random_state=0, device="cpu"), space, cv=KFold(10))
        search.fit(y).forecast(24)
    assert len(kept) == 5 and len(compiled) <= 8  # JAX's own small ones among them


def test_a_washout_longer_than_a_block_needs_no_program_of_its_own(kept):
    r = drawn([Leaky(50, leak_rate=leak) for leak in np.linspace(0.2, 1, 32)], 1, 0)
    inputs = np.random.default_rng(0).normal(size=(900, 1))
    with engine():
        washed = advance(r, inputs[:400], rows=500)
        blocks = [states for _, states, _ in drive_blocks(r, inputs[400:], washed)]
        assert len(blocks) > 1 and len(kept) == 1
        expected, _ = drive(r, inputs)
        assert np.allclose(np.concatenate(blocks), expected[400:], atol=1e-12)
        silent = advance(r, inputs[:400])
    assert len(kept) == 3 and np.allclose(silent, washed, atol=1e-12)


def test_programs_of_one_work_are_compiled_side_by_side_before_it_is_done(kept, accelerated):
    accelerated(True)
    twice, traces = counted()
    seen = []

    def work():
        one = twice(np.arange(3.0))
        seen.append(np.asarray(one).tolist())  # as the host does, to decide how to go on
        return twice(twice(one, add=1), add=2)

    with engine():
        for _ in range(2):
            assert np.asarray(_programs.side_by_side(work)).tolist() == [4, 12, 20]
    # Gone through once with ones, and then done; all is compiled when it is done again.
    assert seen == [[1, 1, 1], [0, 2, 4], [0, 2, 4]]
    assert len(traces) == len(kept) == 3
    assert all(one.coming is not None and one.compiled for one in kept.values())


def test_work_that_needs_numbers_to_go_on_is_only_foreseen_as_far_as_that(kept, accelerated):
    accelerated(True)
    twice, traces = counted()

    def work():
        most = int(np.asarray(twice(np.arange(3.0))).max())
        if most == 1:
            raise ZeroDivisionError("nobody sees this")
        return twice(np.ones(most))

    with engine():
        assert np.asarray(_programs.side_by_side(work)).tolist() == [2, 2, 2, 2]
    assert traces == [(3,), (4,)]
    assert [one.coming is not None for one in kept.values()] == [True, False]


def test_errors_of_work_that_was_foreseen_are_raised_by_it(kept, accelerated):
    accelerated(True)
    twice, _ = counted()

    def work():
        twice(np.ones(2))
        raise ValueError("this is seen")

    with engine(), pytest.raises(ValueError, match="this is seen"):
        _programs.side_by_side(work)
    with engine():  # and what comes then is run, not gone through
        assert twice(np.ones(2)).tolist() == [2, 2]


def test_options_that_a_compiler_does_not_know_are_left_out(monkeypatch):
    known = {"xla_cpu_enable_fast_min_max": False}
    monkeypatch.setattr(_programs, "OPTIONS", known | {"xla_unheard_of": 1})
    assert _programs._known_options.__wrapped__() == known


def test_a_search_compiles_nothing_while_a_device_waits(kept, accelerated):
    y = np.sin(np.arange(260) / 5) + 0.1 * np.random.default_rng(0).normal(size=260)
    space = {"leak_rate": [0.5, 1.0], "ridge": [1e-6, 1e-2]}

    def best():
        network = ESNForecaster(12, random_state=0, device="cpu")
        return ESNSearchCV(network, space, cv=KFold(4), progress=False).fit(y).best_score_

    found = []
    for on in (False, True):
        accelerated(on)
        kept.clear()
        found.append(best())
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert "_sums" in {key[1].__name__ for key in kept}
    assert all(one.coming is not None for one in kept.values())


def test_rows_from_a_step_on_are_not_run(kept):
    @program
    def ran(rows, stop):
        return scan(lambda x, row: (x + row, x + row), 0.0, rows, stop=stop)

    with engine():
        for stop in (0, 3, 5):
            last, sums = ran(np.ones(5), stop)
            assert last == stop and sums.tolist() == [*range(1, stop + 1), *[0] * (5 - stop)]
    assert len(kept) == 1


def test_threads_that_come_together_compile_once(kept):
    twice, traces = counted()
    together = threading.Barrier(4)

    def work(_):
        together.wait()
        return twice(np.ones(7)).sum()

    with ThreadPoolExecutor(4) as pool:
        assert set(map(float, pool.map(work, range(4)))) == {14.0}
    assert traces == [(7,)]


def test_a_program_that_failed_works_the_next_time(kept):
    calls = []

    @program
    def fails_once(x):
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError
        return x

    with pytest.raises(ZeroDivisionError):
        fails_once(np.ones(2))
    assert fails_once(np.ones(2)).tolist() == [1, 1]


def test_programs_can_be_mapped_and_nested(kept):
    twice, _ = counted()

    @program
    def outer(x):
        return twice(x) + 1

    x = np.arange(6.0).reshape(2, 3)
    assert jax.vmap(twice)(x).tolist() == (2 * x).tolist()
    assert outer(x).tolist() == (2 * x + 1).tolist()


def test_scan_and_loop_are_those_of_jax(kept):
    def step(carry, row):
        x, count = carry
        a, b = row
        x = jnp.tanh(x * a + b)
        return (x, count + 1), (x.sum(), {"x": x})

    rng = np.random.default_rng(0)
    start, rows = (rng.normal(size=3), 0), (rng.normal(size=(5, 3)), rng.normal(size=5))
    found = program(lambda start, rows: scan(step, start, rows))(start, rows)
    expected = jax.jit(lambda start, rows: jax.lax.scan(step, start, rows))(start, rows)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other)
    total = program(lambda a, b: loop(a, b, lambda n, sum: sum + n, 0))
    assert [int(total(a, b)) for a, b in ((0, 5), (3, 5), (4, 4))] == [10, 7, 0]


def test_loops_are_not_written_out(kept):
    written = []

    def step(x, row):
        written.append(row.shape)
        return x + row, None

    program(lambda x, rows: scan(step, x, rows))(np.zeros(2), np.ones((50, 2)))
    assert len(written) <= 3


def test_programs_of_others_are_left_alone(kept, monkeypatch):
    monkeypatch.setattr(_programs, "KEPT", 1)
    traces = []

    @jax.jit
    def theirs(x):
        traces.append(x.shape)
        return x + 1

    twice, _ = counted()
    for size in (1, 2, 3):
        theirs(np.ones(3))
        twice(np.ones(size))
    assert traces == [(3,)]
