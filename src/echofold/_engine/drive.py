"""Run reservoirs on given inputs: states of series, block by block, and of sequences.

A column is a candidate. Nothing here knows about folds, nor what a step of a reservoir is. Callers
hold `_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from echofold._data.problem import Segments
from echofold._engine.kind import Reservoirs
from echofold._engine.summaries import Step, Summaries
from echofold._machine.arrays import few_lengths, jax, jnp, lax, namespace, of_each, pad_rows
from echofold._machine.device import accelerated, here
from echofold._machine.programs import entry, loop, program, scan

WINDOWS = 512  # driven side by side
SILENT_STEPS = 2**12  # steps driven at a time when no states are kept
LEAST_SILENT = 64  # rows of these: those that are padding are not run
FEW = 4  # blocks whose states are kept for nothing, because another program takes longer
LEAST_STEPS = 256  # in a block: a series of fewer is no faster
SIDE_BY_SIDE = 2**24  # bytes of states of segments that are driven side by side
BLOCK_BYTES = 2**21  # states of one block of time steps: they are read again from the cache


# Rows from ``length`` on are padding. An accelerator, which would ask the host after every step
# whether there is another, runs them idly.
@program
def _drive(r: Reservoirs, inputs, x, length):
    """What is seen of states, and the last."""

    def step(x, u):
        x = r.step(x, u[:, None])
        return x, r.keep(x, u[:, None])

    if not accelerated():
        x, states = scan(step, x, inputs, stop=length)
        return states, x
    _, states = scan(step, x, inputs)
    return states, r.state_in(states[length - 1])


@program
def _drive_silent(r: Reservoirs, inputs, x, length):
    """Only the last state."""

    def step(n, x):
        return r.step(x, inputs[n][:, None])

    if not accelerated():
        return loop(0, length, step, x)
    return loop(0, inputs.shape[0], lambda n, x: jnp.where(n < length, step(n, x), x), x)


@program
def _adapt(r: Reservoirs, inputs, begins, x, length):
    """The last states, and columns that have adapted to the inputs of every step before ``length``.

    States are at rest again where one of ``begins (steps,)`` is true.
    """
    xp = namespace(x)

    def step(n, going):
        x, columns = going
        at_rest = xp.where(begins[n], 0, x).astype(x.dtype)
        return replace(r, columns=columns).adapted(at_rest, inputs[n][:, None])

    def step_if_there(n, going):
        return jax.tree.map(lambda old, new: jnp.where(n < length, new, old), going, step(n, going))

    if not accelerated():
        return loop(0, length, step, (x, r.columns))
    return loop(0, inputs.shape[0], step_if_there, (x, r.columns))


def adapted(r: Reservoirs, segments: Segments, epochs: int) -> Reservoirs:
    """Candidates that have adapted to all steps of segments, each from rest, so many times."""
    steps, begins = len(segments.steps), np.zeros(len(segments.steps), dtype=bool)
    begins[np.cumsum(segments.lengths) - segments.lengths] = True
    size = steps if here.eager else min(few_lengths(steps, LEAST_SILENT), SILENT_STEPS)
    x = r.state()
    for first in [*range(0, steps, size)] * epochs:
        part = np.asarray(segments.steps[first : first + size])
        there = pad_rows(part, size), pad_rows(begins[first : first + size], size)
        x, columns = _adapt(r, *there, x, len(part))
        r = replace(r, columns=columns)
    return replace(r, columns=of_each(np.asarray, r.columns))


def drive(r: Reservoirs, inputs, x=None):
    """Drive with ``inputs (T, inputs)`` from state ``x``.

    Returns what is kept of each step, ``(T, kept, columns)``, of which the first values are what
    the readout sees; and the last state ``(size, columns)``.
    """
    return _drive(r, inputs, r.state(x), len(inputs))


def advance(r: Reservoirs, inputs, x=None, rows: int = 0):
    """The state after driving with ``inputs``, in memory that does not grow with their length.

    If there are ``rows`` to drive over afterwards, few blocks before them need no other program.
    """
    x = r.state(x)
    block = block_length((r.kept, r.shape[1]), rows) if rows else 0
    if len(inputs) <= FEW * block and not accelerated():
        for _, _, last in drive_blocks(r, inputs, x, block):
            x = last
        return x
    size = max(1, min(few_lengths(len(inputs), LEAST_SILENT), SILENT_STEPS))
    for start in range(0, len(inputs), size):
        part = np.asarray(inputs[start : start + size])
        x = _drive_silent(r, pad_rows(part, size), x, len(part))
    return x


def drive_blocks(r: Reservoirs, inputs, x=None, size: int | None = None) -> Iterator[tuple]:
    """Yield ``(start, states, last)`` for consecutive blocks of rows, so that none need be kept.

    ``states`` is ``(rows, kept, columns)``; the final, shorter block is cut to its rows.
    """
    x = r.state(x)
    size = size or block_length((r.kept, r.shape[1]), len(inputs))
    for start in range(0, len(inputs), size):
        part = np.asarray(inputs[start : start + size])
        states, x = _drive(r, pad_rows(part, size), x, len(part))
        yield start, np.asarray(states)[: len(part)], x


@program
def _drive_side_by_side(r: Reservoirs, inputs, x, stop):
    """What is kept of each step ``(steps, kept, columns)``, and the last states.

    ``inputs`` are ``(steps, inputs, segments)``, ``r`` has the columns of all segments for every
    candidate, one candidate after the other. Steps from ``stop`` on are not run.
    """
    xp = namespace(inputs)
    candidates = r.shape[1] // inputs.shape[2]

    def step(x, u):
        u = xp.tile(u, (1, candidates))
        x = r.step(x, u)
        return x, r.keep(x, u)

    x, states = scan(step, x, inputs, stop=stop)
    return states, x


def drive_side_by_side(
    r: Reservoirs, inputs: list[np.ndarray], width: int, begin: Any = 0.0
) -> Iterator[tuple]:
    """Drive segments ``(steps, inputs)``, ``width`` columns of each candidate wide.

    They begin at rest, or at one state ``begin (size, 1)``.

    Yields ``(first step, states)`` for blocks of steps, ``states (steps, kept, candidates,
    segments)``; those of a segment that is over go on under inputs of zero.
    """
    candidates, longest = r.shape[1], max(map(len, inputs))
    width = len(inputs) if here.eager else width
    wide = r.take(np.repeat(np.arange(candidates), width))
    most = max(1, SIDE_BY_SIDE // (8 * r.kept * wide.shape[1]))
    size = min(longest if here.eager else few_lengths(longest), most)
    x = wide.state(np.zeros(wide.shape) + begin)
    for first in range(0, longest, size):
        stop = min(size, longest - first)
        part = np.zeros((stop if here.eager else size, inputs[0].shape[1], width))
        for place, one in enumerate(inputs):
            there = one[first : first + stop]
            part[: len(there), :, place] = there
        states, x = _drive_side_by_side(wide, part, x, stop)
        found = np.asarray(states)[:stop].reshape(stop, r.kept, candidates, width)
        yield first, found[..., : len(inputs)]


def block_length(shape: tuple[int, int], steps: int) -> int:
    """Rows in a block: as even as possible, of few sizes so that few shapes are compiled."""
    most = max(64, BLOCK_BYTES // (8 * shape[0] * shape[1]))
    blocks = max(1, -(-steps // most))
    even = max(-(-steps // blocks // 64) * 64, LEAST_STEPS)
    return min(even, -(-most // 64) * 64)


def after_windows(r: Reservoirs, windows: np.ndarray) -> np.ndarray:
    """States ``(windows, size)`` of one candidate after windows ``(windows, steps, inputs)``."""
    found = np.empty((len(windows), r.shape[0]))
    for first in range(0, len(windows), WINDOWS):
        part = windows[first : first + WINDOWS]
        wide = r.take(np.zeros(few_lengths(len(part)), dtype=int))
        inputs = np.moveaxis(pad_rows(part, wide.shape[1]), 0, 2)
        found[first : first + len(part)] = np.asarray(_after_windows(wide, inputs)).T[: len(part)]
    return found


@program
def _after_windows(r: Reservoirs, inputs):
    """Last states ``(size, columns)`` after ``inputs (steps, inputs, columns)``, from rest."""
    rest = namespace(inputs).zeros(r.shape, r.dtype)
    return loop(0, inputs.shape[0], lambda n, x: r.step(x, inputs[n]), rest)


def summaries_of_sequences(r: Reservoirs, inputs, lengths, *, seen: Summaries):
    """Drive every candidate with every sequence at once, keeping what is ``seen`` of them.

    ``inputs`` is ``(sequences, steps, inputs)``, padded at the end, ``lengths (sequences,)`` how
    many are no padding. Returns ``(places, values, columns, sequences)``; values are the inputs, if
    the readout sees them, and what it sees of states.
    """
    size, candidates = r.shape
    sequences, steps = inputs.shape[:2]
    xp = namespace(inputs)
    wide = r.take(xp.repeat(xp.arange(candidates), sequences))
    lengths = xp.tile(lengths, candidates)

    def step(n, carry):
        x, before, totals = carry
        u = xp.tile(entry(inputs, n), (1, candidates))
        x = wide.step(x, u)
        values = xp.asarray(wide.look(x, u), dtype=float)
        values = xp.concatenate([u, values]) if r.beside else values
        now = Step(n, values, before, lengths, n < lengths)
        return x, values, seen.add(totals, now)

    inputs = xp.transpose(inputs, (1, 2, 0))
    count = candidates * sequences
    values = xp.zeros((r.looks + inputs.shape[1] * r.beside, count))
    begin = xp.zeros((size, count), r.dtype), values, seen.begin(values)
    # Beyond the longest there is nothing but padding.
    stop = xp.minimum(xp.max(lengths), steps)
    _, _, totals = loop(0, stop, step, begin)
    found = seen.end(totals, lengths)
    return found.reshape(*found.shape[:2], candidates, sequences)


drive_sequences = program(summaries_of_sequences)


UNROLLED = 8  # steps written out for each turn of a loop of an accelerator


@program
def rows_of_series(r: Reservoirs, inputs, washout, n, begins, *, room: int):
    """`_engine.states.rows_of` for a series, with all draws side by side."""

    def drive(r: Reservoirs):
        def step(x, u):
            x = r.step(x, u[:, None])
            return x, r.keep(x, u[:, None])

        return scan(step, jnp.zeros(r.shape, r.dtype), inputs, UNROLLED)[1]

    kept = jax.vmap(drive)(r)  # (draws, steps, kept, candidates)
    kept = lax.dynamic_slice_in_dim(kept, washout, room, axis=1)
    beside = lax.dynamic_slice_in_dim(inputs, washout, room, axis=0)
    return _rows_and_begins(r, beside, kept, n, begins)


@program
def rows_of_several(r: Reservoirs, inputs, steps, series, n, begins):
    """`_engine.states.rows_of` for ``inputs (steps, inputs, series)``, with all draws side by side.

    A row is one of the ``steps (rows,)`` of one of the ``series (rows,)``.
    """
    candidates, count = r.shape[1], inputs.shape[2]

    def drive(r: Reservoirs):
        wide = r.take(jnp.repeat(jnp.arange(candidates), count))

        def step(x, u):
            u = jnp.tile(u, (1, candidates))
            x = wide.step(x, u)
            return x, wide.keep(x, u)

        return scan(step, jnp.zeros(wide.shape, r.dtype), inputs, UNROLLED)[1]

    kept = jax.vmap(drive)(r)  # (draws, steps, kept, candidates · series)
    kept = kept.reshape(*kept.shape[:3], candidates, count)
    kept = jnp.moveaxis(kept, 4, 2)[:, steps, series]  # (draws, rows, kept, candidates)
    return _rows_and_begins(r, jnp.moveaxis(inputs, 2, 1)[steps, series], kept, n, begins)


def _rows_and_begins(r: Reservoirs, beside, kept, n, begins):
    """Rows of networks, zeros from row ``n`` on, and inputs and states at the rows ``begins``.

    Of what is ``kept (draws, rows, kept, candidates)``, with the inputs ``beside (rows, inputs)``.
    """
    start = _beside(beside[begins], _network_first(r.state_in(kept[:, begins])))
    rows = _network_first(kept[:, :, : r.looks])
    rows = _beside(beside, rows) if r.beside else rows
    there = (jnp.arange(len(beside)) < n)[:, None]
    return jnp.where(there, rows, 0.0), start


def _network_first(values):
    """``(draws, rows, values, candidates)`` as ``(draws · candidates, rows, values)``, in 64 bits.

    What is computed of rows are sums and factors, in whatever precision states were driven.
    """
    draws, rows, width, candidates = values.shape
    values = jnp.transpose(values, (0, 3, 1, 2)).astype(jnp.float64)
    return values.reshape(draws * candidates, rows, width)


def _beside(inputs, values):
    """Inputs ``(rows, inputs)`` beside the ``values (networks, rows, …)`` of every network."""
    inputs = jnp.broadcast_to(inputs, (len(values), *inputs.shape))
    return jnp.concatenate([inputs, values], axis=2)


@program
def rows_of_sequences(r: Reservoirs, sequences, lengths, *, seen: Summaries):
    """`_engine.states.rows_of` for sequences, zeros for those without steps."""
    there = (lengths > 0)[:, None]
    lengths = jnp.maximum(lengths, 1)
    found = jax.vmap(lambda one: summaries_of_sequences(one, sequences, lengths, seen=seen))(r)
    found = jnp.moveaxis(found, (3, 4), (1, 2))  # (draws, candidates, rows, places, values)
    rows = inputs_first(found, sequences.shape[2] * r.beside)
    return jnp.where(there, rows.reshape(-1, *rows.shape[2:]), 0.0)


def inputs_first(found, inputs: int):
    """Features ``(…, places, values)`` in a row: those of all inputs, then those of states."""
    both = found[..., :inputs], found[..., inputs:]
    return namespace(found).concatenate([one.reshape(*one.shape[:-2], -1) for one in both], axis=-1)
