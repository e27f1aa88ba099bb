"""Compiled programs, of which only those used last are kept.

JAX keeps what it compiles for every shape until the process ends, about 2 MB each. Here each
shape of a kernel's arguments has a `jax.jit` of its own, and forgetting that one frees what belongs
to it. Programs of others are left alone.

JAX also keeps a trace of its own small functions (``jnp.tanh``, the slices of ``lax.scan``) for
every shape they were ever called with. A kernel is therefore traced with these inlined, which is
what `jax.disable_jit` does, and loops by `scan` and `loop`, which need none of them.

Inside of an eager `engine` a kernel is not compiled: NumPy runs its text.

A compiler for accelerators takes up to two seconds for a kernel, on one core. Work done by
`side_by_side` is therefore gone through twice if need be: where a program is missing, first with
arrays that only have a shape, by which all programs that will be needed are compiled in threads.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, wraps
from operator import itemgetter
from threading import Lock, RLock
from typing import Any, TypeVar

import numpy as np

from echofold._machine.arrays import jax, jnp, lax, of_each
from echofold._machine.compilations import keeping
from echofold._machine.device import accelerated, engine, here

PIECE = 2**13  # words handed to Python in one array: see `outside`
KEPT = 64  # programs of all kernels together, for each device; a search uses 4 to 15
# What the compiler is told for cards of NVIDIA. To choose among many ways of a product it would
# compile and time each of them, half of all its time, for a few per cent of a warm search; without
# that its own kernels are poor, and those of the vendor's library good.
OPTIONS = {
    "xla_gpu_autotune_level": 0,
    "xla_gpu_enable_triton_gemm": False,
    "xla_gpu_enable_cublaslt": True,
}

Result = TypeVar("Result")


class Coming:
    """An array that is not there yet, of a known shape; ones, for the host that wants to see it.

    Whatever is found in it is then sound, so that nothing needs to be mended.
    """

    def __init__(self, struct: Any):
        self.struct, self.shape, self.dtype = struct, struct.shape, struct.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.ones(self.shape, dtype or self.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def reshape(self, *shape: int) -> Coming:
        return Coming(jax.eval_shape(lambda array: array.reshape(shape), self.struct))


class _Program:
    """A kernel for one shape; threads that come at the same time compile it once."""

    def __init__(self, kernel: Callable, static: dict[str, Any]):
        def run(*args):  # a new function each time: what JAX keeps lives as long as it does
            with jax.disable_jit():
                return kernel(*args, **static)

        run.__name__ = run.__qualname__ = kernel.__name__
        self.run: Callable = jax.jit(run, compiler_options=_options())
        self.compiled = False
        self.compiling = RLock()
        self.coming: tuple[Future, Any] | None = None  # in a thread, and what it will give

    def first(self, *args):
        with self.compiling:
            if self.coming is not None and not self.compiled:
                self.run = self.coming[0].result()
            with keeping():
                result = self.run(*args)
            self.compiled = True
        return result

    def begin(self, args) -> Any:
        """Have it compiled in a thread; what it will give."""
        with self.compiling:
            if self.coming is None:
                known = jax.tree.map(lambda one: getattr(one, "struct", one), args)
                traced = self.run.trace(*known)  # type: ignore[attr-defined]
                future: Future = Future()
                if self.compiled:
                    future.set_result(self.run)
                else:
                    future = _compilers().submit(_compiled, traced.lower(), here.device)
                self.coming = future, jax.tree.map(Coming, traced.out_info)
            return self.coming[1]


def _compiled(lowered, device: str) -> Callable:
    with engine(device), keeping():
        return lowered.compile()


@cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), "compiling")


def _options() -> dict[str, Any] | None:
    """What the compiler of the enclosing `engine` is told."""
    return _known_options() if here.device.partition(":")[0] in ("gpu", "cuda") else None


@cache
def _known_options() -> dict[str, Any]:
    """Those that this version of the compiler knows."""

    def knows(options: dict[str, Any]) -> bool:
        try:
            with keeping():
                jax.jit(lambda: 0, compiler_options=options).lower().compile()
        except jax.errors.JaxRuntimeError:
            return False
        return True

    if knows(OPTIONS):
        return OPTIONS
    return {name: value for name, value in OPTIONS.items() if knows({name: value})}


def side_by_side(work: Callable[[], Result]) -> Result:
    """What ``work()`` gives, of which all programs are compiled at the same time.

    ``work`` changes nothing but what it makes itself: on an accelerator it may be called twice.
    """
    if here.rehearsing or not accelerated():
        return work()
    before, here.work = here.work, work
    try:
        return work()
    finally:
        here.work = before


def _rehearse(work: Callable[[], object]) -> None:
    """Go through some work with arrays that are `Coming`."""
    here.rehearsing = True
    try:
        with suppress(Exception):  # whatever is wrong is said when it is done in earnest
            work()
    finally:
        here.rehearsing = False


def foresee(work: Callable[[], object]) -> None:
    """Have programs of later ``work`` on an accelerator compiled, beside what is done meanwhile."""
    _compilers().submit(_rehearse, work)


def put(arrays: Any) -> Any:
    """Arrays on the device of the enclosing `engine`, which may take seconds the first time."""
    return arrays if here.rehearsing else jax.device_put(arrays)


_kept: OrderedDict[tuple, _Program] = OrderedDict()
_lock = Lock()


def program(kernel: Callable) -> Callable:
    """Compile a kernel for each shape of its arguments; keyword arguments are constants of it.

    A call costs 5 to 20 µs more than one of a `jax.jit`.
    """

    @wraps(kernel)
    def call(*args, **static):
        if here.eager:
            with np.errstate(all="ignore"):  # JAX says nothing either
                return kernel(*args, **static)
        leaves, structure = jax.tree.flatten(args)
        shapes = tuple([getattr(leaf, "shape", ()) for leaf in leaves])
        key = here.device, kernel, structure, shapes, tuple(static.items())
        if here.work is not None and key not in _kept:
            work, here.work = here.work, None
            _rehearse(work)
        with _lock:
            entry = _kept.get(key)
            if entry is None:
                entry = _kept[key] = _Program(kernel, static)
                while len(_kept) > KEPT * len({device for device, *_ in _kept}):
                    _kept.popitem(last=False)
            else:
                _kept.move_to_end(key)
        if here.rehearsing:
            return entry.begin(args)
        return entry.run(*args) if entry.compiled else entry.first(*args)

    return call


def _inlined(function: Callable) -> Callable:
    """Trace what a loop repeats with JAX's own functions inlined."""

    def traced(*args):
        with jax.disable_jit():
            return function(*args)

    return traced


def loop(first, stop, body: Callable, carry):
    """``carry = body(n, carry)`` for ``n = first … stop − 1``; both may be computed."""
    if here.eager:
        for n in range(first, stop):
            carry = body(n, carry)
        return carry
    with jax.disable_jit(False):  # or the loop itself would be written out
        return lax.while_loop(
            _inlined(lambda state: state[0] < stop),
            _inlined(lambda state: (state[0] + 1, body(*state))),
            (first, carry),
        )[1]


def scan(step: Callable, carry, rows, unroll: int = 1, stop=None):
    """``carry, out = step(carry, row)`` for each row of ``rows``; the last carry, and every out.

    ``unroll`` steps are written out for each turn of the loop, which an accelerator pays for. Rows
    from ``stop`` on, which may be computed, are not run, and their outs are zero.
    """
    if here.eager:
        return _scan(step, carry, rows, stop)
    count = jax.tree.leaves(rows)[0].shape[0]

    def row(n):
        return jax.tree.map(lambda array: entry(array, n), rows)

    def several(first, state, times: int):
        carry, kept = state
        outs = []
        for n in range(times):
            carry, out = step(carry, row(first + n))
            outs.append(jax.tree.map(lambda one: lax.expand_dims(one, (0,)), out))
        together = jax.tree.map(lambda *parts: lax.concatenate(parts, 0), *outs)
        return carry, jax.tree.map(
            lambda array, new: lax.dynamic_update_slice_in_dim(array, new, first, 0), kept, together
        )

    with jax.disable_jit(False):
        _, shapes = jax.eval_shape(_inlined(lambda carry: step(carry, row(0))), carry)
    kept = jax.tree.map(lambda one: lax.full((count, *one.shape), 0, one.dtype), shapes)
    if stop is not None:
        return loop(0, stop, lambda n, state: several(n, state, 1), (carry, kept))
    whole, rest = divmod(count, unroll)
    state = loop(0, whole, lambda n, state: several(n * unroll, state, unroll), (carry, kept))
    return several(whole * unroll, state, rest) if rest else state


def _scan(step: Callable, carry, rows, stop: int | None):
    """`scan` by NumPy."""
    count = len(rows[0] if isinstance(rows, tuple) else rows)
    outs: Any = None

    def enter(array, new):
        array[n] = new

    for n in range(count if stop is None else stop):
        carry, out = step(carry, of_each(itemgetter(n), rows))
        if outs is None:
            outs = of_each(lambda one: np.zeros((count, *np.shape(one))), out)
        of_each(enter, outs, out)
    return carry, outs


def when(condition, then: Callable, otherwise: Callable):
    """What one of two functions gives, by a condition that may be computed."""
    if here.eager:
        return then() if condition else otherwise()
    return lax.cond(condition, then, otherwise)


def entry(array, n):
    """``array[n]``, of a number that may be computed."""
    return array[n] if here.eager else lax.dynamic_index_in_dim(array, n, keepdims=False)


def entered(array, new, n):
    """The array with a ``new`` entry at ``n``."""
    if not here.eager:
        return lax.dynamic_update_index_in_dim(array, new, n, 0)
    array = array.copy()
    array[n] = new
    return array


def turns(first: int, stop: int, body: Callable, carry, unroll: int):
    """`loop` between two known steps, with ``unroll`` of them written out for each turn."""
    whole, rest = divmod(stop - first, unroll)

    def several(begin, carry, times: int):
        for n in range(times):
            carry = body(begin + n, carry)
        return carry

    carry = loop(0, whole, lambda n, carry: several(first + n * unroll, carry, unroll), carry)
    return several(first + whole * unroll, carry, rest)


def outside(function: Callable, values, rows: int):
    """What a function of NumPy arrays gives ``(rows, columns)`` for ``values (…, columns)``.

    It is called from inside of a program. JAX copies what it hands to Python, and the larger arrays
    in a thread of the pool that the program itself runs in: if all threads wait so, none is left to
    copy. Pieces are small enough to be copied at once. And these threads know nothing of 64-bit
    floats, which the engine asks for in its own, so that numbers travel as pairs of 32-bit words.
    """
    height, columns = values.shape

    def call(*pieces) -> np.ndarray:
        words = np.concatenate([np.asarray(piece) for piece in pieces], axis=-1)
        given = words.view(np.float64).reshape(-1, height, columns)
        with np.errstate(all="ignore"):
            found = np.array([function(one) for one in given], dtype=float)
        return found.reshape(*words.shape[:-1], -1).view(np.uint32)

    words = lax.bitcast_convert_type(values.astype(jnp.float64), jnp.uint32).ravel()
    pieces = [words[first : first + PIECE] for first in range(0, words.shape[0], PIECE)]
    shape = jax.ShapeDtypeStruct((2 * rows * columns,), jnp.uint32)
    found = jax.pure_callback(call, shape, *pieces, vmap_method="broadcast_all")
    return lax.bitcast_convert_type(found.reshape(rows, columns, 2), jnp.float64)
