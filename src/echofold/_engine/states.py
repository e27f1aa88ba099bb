"""States of a block of candidates: kept whole, or handed out block by block as they are made.

Rows are what the readout sees, ``[u(n), x(n)]`` by default (the column of ones is added where
readouts are computed), one array ``(rows, m)`` for each candidate; of whole sequences what these
are summed up by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from echofold._data.problem import Problem, Segments
from echofold._engine.drive import (
    adapted,
    advance,
    block_length,
    drive,
    drive_blocks,
    drive_sequences,
    drive_side_by_side,
    inputs_first,
    rows_of_sequences,
    rows_of_series,
    rows_of_several,
)
from echofold._engine.generate import ACCELERATOR_COLUMNS, WIDE_COLUMNS
from echofold._engine.kind import Reservoir, Reservoirs, drawn, is_eager_kind
from echofold._engine.summaries import Factors, Features
from echofold._machine.arrays import equal_parts, few_lengths, jax, pad_rows
from echofold._machine.device import Work, accelerated, choose_device, engine, here
from echofold._machine.progress import passing

PILOT_SEGMENTS = 16
REMEMBERED = 2**25  # bytes of rows that were kept for a validation, for a final model to find
ROWS_BYTES = 2**26  # of rows of several series that are handed out together
SUMMED_UP = 2**17  # values of states of sequences side by side: with their sums they fill the cache
LEAST_COLUMNS = 64
SAVED_STATES = 8  # latest ends of passes to start again from; a split needs three at most


class Whole:
    """A source of rows that one readout is learned from, all of them as they are.

    ``count`` rows stand for each row of the problem that is split, and the readout is that at
    ``place`` of so many ``readouts``.
    """

    count, place, readouts = 1, 0, 1

    @property
    def parts(self) -> Sequence[Any]:
        """What each readout is learned from: this."""
        return [self]

    def of_part(self, X: Any) -> Any:
        """Rows that a readout is learned from: the same."""
        return X


class States(Whole):
    """Where the states of a series come from: the ``source`` of a validation or a fit.

    `kept` gives all rows ``(rows, m)`` of every candidate, `blocks` the same piece by piece,
    `begins` what closed loops start from. Reservoir steps that are driven are counted.

    Attributes
    ----------
    streams : bool
        Whether rows can be handed out without keeping them all.
    candidates : int
        Number of candidates run side by side.
    columns : int
        Number of columns ``m`` of the rows.
    dtype : dtype
        In which states are driven; rows have 64 bits.
    held : int
        Numbers that are in memory of each row while all are made.
    steps : int
        Reservoir steps driven over rows and washout, for each candidate.
    pilot_steps : int
        Steps driven only to learn the whitening.
    """

    streams = True

    def __init__(self, problem: Problem, reservoirs: Reservoirs, device: str = "cpu"):
        self.problem, self.reservoirs, self.device = problem, reservoirs, device
        self.candidates = reservoirs.shape[1]
        self.columns = problem.segments.columns(reservoirs.looks, reservoirs.beside)
        self.dtype = reservoirs.dtype
        self.held = problem.segments.row_length(reservoirs.looks, reservoirs.beside)
        self.steps = self.pilot_steps = 0
        self._kept: list[np.ndarray] | None = None
        self._saved: dict[int, np.ndarray] = {}  # row -> state before it
        self._watched: dict[int, np.ndarray] = {}  # row -> its inputs and states, once passed
        self._wanted = np.zeros(0, dtype=int)

    @cached_property
    def parts(self) -> Sequence[Any]:
        """What each readout is learned from: these states, or those of parts of a field."""
        groups = self.reservoirs.compiled.kind._groups()
        if groups is None:
            return [self]
        return [PartsOfField(self, groups, place) for place in range(len(groups))]

    def of_features(self, W: np.ndarray) -> np.ndarray:
        """Readouts of what the reservoir shows, from those of the rows: the same, of a series."""
        return W

    def factors(self) -> Factors | None:
        """Singular values of the rows of the only candidate, where rows come from them."""
        return None

    def alone(self, candidate: int) -> States:
        """The states of one of the candidates, to be driven anew."""
        return type(self)(self.problem, self.reservoirs.take(np.array([candidate])), self.device)

    def kept(self) -> list[np.ndarray]:
        """All rows of every candidate; later passes of a single one find them here."""
        if self._kept is not None:
            return self._kept
        rows = [np.empty((self.problem.rows, self.columns)) for _ in range(self.candidates)]
        for _ in self.blocks(into=rows):
            pass
        if self.candidates == 1 and rows[0].nbytes <= REMEMBERED:
            self._kept = rows
        return rows

    def blocks(
        self, start: int = 0, stop: int | None = None, save: Sequence[int] = (),
        into: list[np.ndarray] | None = None,
    ) -> Iterator[tuple[int, list]]:  # fmt: skip
        """Drive over the rows ``start … stop``, yielding ``(first row, rows of every candidate)``.

        Starts from the nearest state saved by an earlier pass: every pass saves its last, and the
        states before the rows ``save``. Rows are put ``into`` arrays of all rows if there are any.
        """
        stop = self.problem.rows if stop is None else stop
        if self._kept is not None and not self._wanted_of(start, stop):
            size = block_length((self.reservoirs.kept, self.candidates), stop - start)
            for first in range(start, stop, size):
                yield first, [rows[first : min(first + size, stop)] for rows in self._kept]
            return
        inputs = self.problem.inputs
        with engine(self.device):
            nearest, x = self._state_before(start)
            if nearest < start:
                x = advance(self.reservoirs, inputs[nearest:start], x)
                self.steps += start - nearest
            for at, states, last in drive_blocks(self.reservoirs, inputs[start:stop], x):
                self.steps += len(states)
                for row in save:
                    if start + at <= row < start + at + len(states):
                        before = self.reservoirs.state_in(states[row - start - at - 1])
                        self._save(row, x if row == start + at else before)
                span = slice(start + at, start + at + len(states))
                self._watch(span, states)
                parts = None if into is None else [kept[span] for kept in into]
                yield start + at, self._rows(inputs[span], states, parts)
                passing(span.stop, self.problem.rows)
                x = last
            self._save(stop, x)

    def watch(self, rows: Sequence[int] | np.ndarray) -> None:
        """Remember inputs and states of these rows when they are passed."""
        self._wanted = np.union1d(self._wanted, np.asarray(rows, dtype=int))

    def begins(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Inputs and states ``(candidates, len(rows), inputs + size)`` at some rows.

        Those that were not watched, or not passed, are driven to.
        """
        self.watch(rows)
        if missing := self._wanted_of(0, self.problem.rows):
            for _ in self.blocks(missing[0], missing[-1] + 1):
                pass
        return np.stack([self._watched[int(row)] for row in rows], axis=1)

    def _wanted_of(self, start: int, stop: int) -> list[int]:
        """Rows that are watched for, of some, and have not been passed."""
        first, last = np.searchsorted(self._wanted, [start, stop])
        return [row for row in self._wanted[first:last].tolist() if row not in self._watched]

    def _watch(self, span: slice, states: np.ndarray) -> None:
        """Remember rows that are watched, of a block of states."""
        wanted = self._wanted_of(span.start, span.stop)
        if not wanted:
            return
        passed = np.asarray(states)[np.array(wanted) - span.start]
        for row, x in zip(wanted, self.reservoirs.state_in(passed), strict=True):
            inputs = np.asarray(self.problem.inputs[row])
            beside = np.broadcast_to(inputs, (x.shape[1], len(inputs)))
            self._watched[row] = np.hstack([beside, x.T])

    def final(self) -> np.ndarray:
        """State after the last row, ``(units, candidates)``."""
        if (x := self._saved.get(self.problem.rows)) is None:
            with engine(self.device):
                nearest, x = self._state_before(self.problem.rows)
                x = advance(self.reservoirs, self.problem.inputs[nearest:], x)
            self.steps += self.problem.rows - nearest
        return np.asarray(x, dtype=float)

    def pilot(self, rows: int) -> list[np.ndarray]:
        """About ``rows`` states spread over the series; all of them if there are no more.

        Segments start from rest and are warmed up for long: what is left of the start must be
        small against the smallest directions of the states, not against the states.
        """
        if rows >= self.problem.rows:
            before = self.steps
            kept, self._kept = self.kept(), None  # which a pilot is not meant for
            self.pilot_steps, self.steps = self.steps - before, before
            return kept
        length = -(-rows // PILOT_SEGMENTS)
        warmup = self.reservoirs.warmup()
        segments = []
        for first in np.linspace(0, self.problem.rows - length, PILOT_SEGMENTS).astype(int):
            begin, x = max(0, first - warmup), None
            with engine(self.device):
                if begin == 0:
                    _, x = self._state_before(0)
                x = advance(self.reservoirs, self.problem.inputs[begin:first], x)
                inputs = np.asarray(self.problem.inputs[first : first + length])
                states, _ = drive(self.reservoirs, inputs, x)
            segments.append(self._rows(inputs, states))
            self.pilot_steps += first + length - begin
        return [np.concatenate(parts) for parts in zip(*segments, strict=True)]

    def _state_before(self, row: int) -> tuple[int, np.ndarray | None]:
        """The nearest saved state at or before ``row``, or the one after the washout."""
        earlier = [saved for saved in self._saved if saved <= row]
        if earlier:
            return max(earlier), self._saved[max(earlier)]
        washout = self.problem.washout
        if len(washout):
            x = np.asarray(advance(self.reservoirs, washout, rows=self.problem.rows))
        else:
            x = self.reservoirs.state()
        self.steps += len(washout)
        self._saved[0] = x
        return 0, x

    def _save(self, row: int, x) -> None:
        """Keep the state before ``row``, and forget old ones so that memory stays flat in k."""
        self._saved.pop(row, None)
        self._saved[row] = np.array(x)  # a view would keep the block that it came from
        if len(self._saved) > SAVED_STATES:
            del self._saved[next(saved for saved in self._saved if saved > 0)]

    def _rows(self, inputs: np.ndarray, states, into: list | None = None) -> list[np.ndarray]:
        """What the readout sees of each candidate, of states ``(rows, kept, candidates)``."""
        looks = np.asarray(states)[:, : self.reservoirs.looks]
        width = inputs.shape[1] if self.reservoirs.beside else 0
        if into is None:
            shape = (len(looks), width + looks.shape[1])
            into = [np.empty(shape) for _ in range(looks.shape[2])]
        beside = np.asarray(inputs) if width else looks[:, :0, 0]
        for candidate, rows in enumerate(into):
            rows[:, :width] = beside
            rows[:, width:] = looks[:, :, candidate]
        return into


class PartsOfField(Whole):
    """Rows of those parts of a field that share a readout, as `States` of them.

    Each row of the field, what is seen of all parts, is ``count`` rows here, one of each part; and
    the problem has their targets. ``groups (readouts, count, outputs of a part)`` are the outputs
    of all readouts, of which this is the one at ``place``.
    """

    streams = True

    def __init__(self, source: States, groups: np.ndarray, place: int):
        self.source, self.groups, self.place = source, groups, place
        self.readouts, self.count, outputs = groups.shape
        self.columns = source.columns // (self.readouts * self.count)
        self.candidates, self.dtype, self.device = source.candidates, source.dtype, source.device
        problem = source.problem

        def wide(values: np.ndarray | None) -> np.ndarray | None:
            return None if values is None else np.repeat(values, self.count)

        self.problem = replace(
            problem, targets=problem.targets[:, groups[place]].reshape(-1, outputs), grid=None,
            weights=wide(problem.weights), present=wide(problem.present),
        )  # fmt: skip

    def of_part(self, X: Any) -> Any:
        """Rows ``(…, rows · count, m)`` of ``X (…, rows, m of all parts)``."""
        *more, rows, _ = X.shape
        if self.readouts > 1:
            X = X.reshape(*more, rows, self.readouts, -1)[..., self.place, :]
        return X.reshape(*more, rows * self.count, self.columns)

    def alone(self, candidate: int) -> PartsOfField:
        """Those of one of the candidates."""
        return PartsOfField(self.source.alone(candidate), self.groups, self.place)

    def kept(self) -> list[np.ndarray]:
        """All rows of every candidate."""
        return [self.of_part(X) for X in self.source.kept()]

    def blocks(
        self, start: int = 0, stop: int | None = None, save: Sequence[int] = ()
    ) -> Iterator[tuple[int, list]]:
        """The rows ``start … stop``, whole rows of the field, as `States` hands them out."""
        stop = None if stop is None else stop // self.count
        save = [row // self.count for row in save]
        for first, block in self.source.blocks(start // self.count, stop, save):
            yield first * self.count, [self.of_part(X) for X in block]

    def pilot(self, rows: int) -> list[np.ndarray]:
        """About ``rows`` rows spread over the series; all of them if there are no more."""
        return [self.of_part(X) for X in self.source.pilot(-(-rows // self.count))]


class StatesOfSeries(States):
    """States of several series, each driven from rest, some side by side.

    A block of rows is that of some series, whole.
    """

    def __init__(self, problem: Problem, reservoirs: Reservoirs, device: str = "cpu"):
        super().__init__(problem, reservoirs, device)
        self._ends: dict[int, np.ndarray] = {}  # series -> state (size, candidates) at its end

    def blocks(
        self, start: int = 0, stop: int | None = None, save: Sequence[int] = (),
        into: list[np.ndarray] | None = None,
    ) -> Iterator[tuple[int, list]]:  # fmt: skip
        """Drive along the series that have rows in ``start … stop``, yielding blocks of them."""
        bounds = self.problem.bounds
        stop = self.problem.rows if stop is None else stop
        first, last = self.problem.series_of(np.array([start, stop - 1]))
        for part in self._together(int(first), int(last) + 1):
            span = slice(int(bounds[part.start]), int(bounds[part.stop]))
            if self._kept is not None and not self._wanted_of(span.start, span.stop):
                yield span.start, [rows[span] for rows in self._kept]
                continue
            rows = [one[span] for one in into] if into is not None else self._blank(span)
            with engine(self.device):
                self._drive(np.arange(part.start, part.stop), rows, span.start)
            yield span.start, rows
            passing(span.stop, self.problem.rows)

    def _blank(self, span: slice) -> list[np.ndarray]:
        """Room for rows of every candidate."""
        shape = span.stop - span.start, self.columns
        return [np.empty(shape) for _ in range(self.candidates)]

    def _together(self, first: int, last: int) -> Iterator[slice]:
        """Parts of the series ``first … last`` whose rows are held at the same time."""
        bounds, most = self.problem.bounds, ROWS_BYTES // (8 * self.columns * self.candidates)
        while first < last:
            stop = int(np.searchsorted(bounds, bounds[first] + most, side="right")) - 1
            stop = min(max(stop, first + 1), last)
            yield slice(first, stop)
            first = stop

    def _drive(self, series: np.ndarray, into: list[np.ndarray], before: int) -> None:
        """Rows of some series put into arrays whose first row is ``before``.

        The shortest are driven first, so that little of the work is padding.
        """
        r, segments, bounds = self.reservoirs, self.problem.segments, self.problem.bounds
        widest = ACCELERATOR_COLUMNS if accelerated() else WIDE_COLUMNS
        width = max(1, min(len(series), widest // self.candidates))
        series = series[np.argsort(segments.lengths[series], kind="stable")]
        for some in np.split(series, np.arange(width, len(series), width)):
            inputs = [self.problem.each[one].segments.steps for one in some.tolist()]
            wide = 1 << (len(some) - 1).bit_length()  # of few sizes, because each is compiled once
            for step, states in drive_side_by_side(r, inputs, wide):
                for place, one in enumerate(some.tolist()):
                    # Steps of this series that are rows, or its last
                    length, washout = len(inputs[place]), int(segments.washouts[one])
                    begin, end = max(step, washout), min(step + len(states), length)
                    if begin >= end:
                        continue
                    own = states[begin - step : end - step, ..., place]
                    row = int(bounds[one]) + begin - washout
                    self._watch(slice(row, row + end - begin), own)
                    at = slice(row - before, row - before + end - begin)
                    self._rows(inputs[place][begin:end], own, [rows[at] for rows in into])
                    if end == length:
                        self._ends[one] = r.state_in(own[-1]).copy()
            self.steps += sum(map(len, inputs))

    def final(self) -> np.ndarray:
        """State at the end of every series, ``(size, series)`` of the only candidate."""
        count = len(self.problem.each)
        if len(self._ends) < count:
            for _ in self.blocks():
                pass
        ends = [self._ends[series][:, 0] for series in range(count)]
        return np.stack(ends, axis=1).astype(float)

    def pilot(self, rows: int) -> list[np.ndarray]:
        """About ``rows`` rows of series spread over all; all of them if there are no more."""
        if rows >= self.problem.rows:
            return super().pilot(rows)
        before, bounds, count = self.steps, self.problem.bounds, len(self.problem.each)
        wanted = max(PILOT_SEGMENTS, -(-rows * count // self.problem.rows))
        chosen = np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(int))
        parts = []
        share = -(-int((bounds[chosen + 1] - bounds[chosen]).sum()) // rows)
        for series in chosen.tolist():
            (_, block), *_ = self.blocks(int(bounds[series]), int(bounds[series + 1]))
            parts.append([X[::share].copy() for X in block])
        self.pilot_steps, self.steps = self.pilot_steps + self.steps - before, before
        return [np.concatenate(each) for each in zip(*parts, strict=True)]


class StatesOfSequences(States):
    """States of many short sequences, of which a few numbers are kept; always all at once.

    Where features are seen alike, rows are `Features` of them.
    """

    streams = False

    def __init__(self, problem: Problem, reservoirs: Reservoirs, device: str = "cpu"):
        super().__init__(problem, reservoirs, device)
        self.alike = problem.segments.seen.alike

    def kept(self) -> list[np.ndarray]:
        """All rows of every candidate; those of a single one are found again."""
        if self.candidates > 1:
            return [one.rows for one in self._each()] if self.alike else list(self._driven())
        if self._kept is None:
            self._kept = [self._of_one.rows] if self.alike else list(self._driven())
        return self._kept

    def factors(self) -> Factors | None:
        """Singular values of the rows of the only candidate; None if they are not seen alike."""
        return self._of_one.factors if self.alike else None

    @cached_property
    def _of_one(self) -> Features:
        """Features of the only candidate."""
        (found,) = self._each()
        return found

    def _each(self) -> Iterator[Features]:
        """Features of each candidate, which are seen alike."""
        for X in self._driven():
            yield Features(X, sizes_of(X, self.reservoirs, self.problem.segments))

    def _driven(self) -> np.ndarray:
        """Features ``(candidates, n, features)`` as they come."""
        segments = self.problem.segments
        self.steps += segments.longest
        with engine(self.device):
            return sequence_features(self.reservoirs, segments)

    def blocks(self, *_: Any, **__: Any) -> Iterator[tuple[int, list]]:
        """All rows of every candidate, as one block."""
        yield 0, self.kept()

    def final(self) -> np.ndarray:
        """A state at rest: nothing goes on after a sequence."""
        return np.zeros(self.reservoirs.shape)

    def of_features(self, W: np.ndarray) -> np.ndarray:
        """Readouts of features, from those of the rows of the only candidate."""
        return self._of_one.readout(W) if self.alike else W


class GivenStates(Whole):
    """States measured or computed elsewhere: one "candidate", all rows there already."""

    streams = False
    candidates = 1
    dtype = np.dtype(float)
    steps = 0
    pilot_steps = 0

    def __init__(self, problem: Problem, rows: np.ndarray):
        self.problem = problem
        self.rows = rows
        self.columns = self.held = rows.shape[1]

    def alone(self, candidate: int) -> GivenStates:
        """The states of the only candidate."""
        return self

    def of_features(self, W: np.ndarray) -> np.ndarray:
        """Readouts themselves."""
        return W

    def kept(self) -> list[np.ndarray]:
        """All rows."""
        return [self.rows]

    def blocks(self) -> Iterator[tuple[int, list]]:
        """All rows, as one block."""
        yield 0, self.kept()


def states_of(problem: Problem, reservoirs: Reservoirs, device: str) -> States:
    """The states of candidates, whatever their problem is made of."""
    if problem.segments.seen is not None:
        return StatesOfSequences(problem, reservoirs, device)
    if problem.each:
        return StatesOfSeries(problem, reservoirs, device)
    return States(problem, reservoirs, device)


def prepared(kind: Reservoir, reservoirs: Reservoirs, problem: Problem, device: str) -> Reservoirs:
    """Candidates of a kind that have adapted to all inputs of a problem, if they do."""
    if not kind.adapts():
        return reservoirs
    with engine(device):
        found = adapted(reservoirs, problem.segments, kind.adapts())
    if not all(np.isfinite(values).all() for values in found.columns.values()):
        raise ValueError(
            f"reservoir={kind!r} adapts without bounds. Use a lower rate or a larger sigma."
        )
    return found


def single(problem: Problem, kind: Reservoir, seed: int, device: str) -> States:
    """The states of one candidate."""
    reservoirs = drawn([kind], problem.segments.n_inputs, seed)
    steps, count = len(problem.washout) + problem.rows, 1
    if problem.each or problem.segments.seen is not None:
        steps, count = problem.segments.longest, problem.segments.count
    eager = is_eager_kind(kind) and problem.segments.eager
    work = Work(steps * (1 + kind.adapts()), count, reservoirs.shape[0], eager=eager)
    device = choose_device(device, work)
    return states_of(problem, prepared(kind, reservoirs, problem, device), device)


def sequence_features(
    reservoirs: Reservoirs, segments: Segments, columns: int | None = None
) -> np.ndarray:
    """What is seen of every sequence: ``(candidates, n, features)``.

    Callers hold `_machine.device.engine`. Columns are those of the readout without its leading one:
    of the inputs, if it sees them, then of the states, each with the place first and the unit last.
    Sequences run side by side, ``columns`` states wide (None: as suits the device), shortest
    first, so that little of the work is padding.
    """
    candidates, inputs = reservoirs.shape[1], segments.n_inputs * reservoirs.beside
    width = segments.row_length(reservoirs.looks, reservoirs.beside)
    features = np.empty((candidates, segments.count, width))
    wide = min(WIDE_COLUMNS, max(LEAST_COLUMNS, SUMMED_UP // reservoirs.shape[0]))
    columns = columns or (ACCELERATOR_COLUMNS if accelerated() else wide)
    if not here.eager:
        reservoirs = jax.device_put(reservoirs)  # once, not for every block
    for chosen, steps in _blocks(segments.lengths, max(1, columns // candidates)):
        present = chosen[chosen >= 0]
        batch = segments.batch(present, len(chosen), steps)
        found = np.asarray(drive_sequences(reservoirs, *batch, seen=segments.seen))
        found = found[..., : len(present)].transpose(2, 3, 0, 1)
        features[:, present] = inputs_first(found, inputs)
    return features


def sizes_of(X: np.ndarray, r: Reservoirs, segments: Segments) -> np.ndarray:
    """How large the value is ``(features,)`` that each feature is of, among ``X (n, features)``."""
    places, inputs = segments.seen.places, segments.n_inputs * r.beside
    X = X[:, places * inputs :]
    sizes = np.maximum(X.max(axis=0), -X.min(axis=0)).reshape(places, -1)
    states = sizes.max(axis=0)
    beside = np.abs(segments.steps).max(axis=0)[:inputs]
    return np.concatenate([np.tile(beside, places), np.tile(states, places)])


def _blocks(lengths: np.ndarray, most: int):
    """Yield the sequences of each block, all equally many (-1 is padding), and its steps."""
    count = -(-len(lengths) // most)
    size = -(-len(lengths) // count)
    order = np.full(count * size, -1)
    order[: len(lengths)] = np.argsort(lengths, kind="stable")
    for chosen in order.reshape(count, size):
        yield chosen, few_lengths(int(lengths[chosen[chosen >= 0]].max()))


# Several draws side by side on a device. A step of an accelerator takes 4 to 8 µs however narrow it
# is, so all candidates of all draws take it together: `Reservoirs` whose arrays have the draws as
# their first axis. Callers hold `_machine.device.engine`.
FINE = 5  # bits of a length that are kept: a device steps through padding too


def stacked(draws: Sequence[Reservoirs]) -> Reservoirs:
    """Reservoirs of equal shapes as one, with an axis more."""
    return jax.tree.map(lambda *arrays: np.stack(arrays), *draws)


def some(r: Reservoirs, draws: slice, candidates: slice) -> Reservoirs:
    """Some candidates of some draws."""
    chosen = jax.tree.map(lambda array: array[draws], r)
    return chosen.take(np.arange(r.shape[1])[candidates])


def room_of_rows(rows: int) -> int:
    """Rows that are made room for, because each number of them is compiled once."""
    return few_lengths(rows, 64, FINE)


def rows_of(r: Reservoirs, problem: Problem, begins: np.ndarray) -> tuple[Any, Any]:
    """Rows of every candidate of every draw, ``(draws · candidates, room, m)``.

    And the inputs and states ``(draws · candidates, len(begins), inputs + size)`` at the rows that
    closed loops begin with.
    """
    segments, room = problem.segments, room_of_rows(problem.rows)
    if segments.seen is not None:
        every, steps = np.arange(problem.rows), few_lengths(segments.longest)
        sequences, lengths = segments.batch(every, room, steps)
        there = np.where(np.arange(room) < problem.rows, lengths, 0)
        return rows_of_sequences(r, sequences, there, seen=segments.seen), None
    if problem.each:
        series = problem.series_of(np.arange(problem.rows))
        steps = np.arange(problem.rows) - problem.bounds[series] + segments.washouts[series]
        inputs = np.moveaxis(segments.padded, 0, 2)
        inputs = pad_rows(inputs, few_lengths(segments.longest, 64, FINE))
        at = (pad_rows(each, room) for each in (steps, series))
        return rows_of_several(r, inputs, *at, problem.rows, begins)
    washout = few_lengths(len(problem.washout), 64, FINE) if len(problem.washout) else 0
    inputs = np.concatenate([problem.washout, problem.inputs])
    inputs = pad_rows(inputs, washout + room)
    return rows_of_series(r, inputs, len(problem.washout), problem.rows, begins, room=room)


def network_groups(draws: int, candidates: int, most: int) -> Iterator[tuple[int, slice, slice]]:
    """At most ``most`` networks in a row: the first, and of what draws and candidates they are.

    All groups are equally large, because each size is compiled once; the last may overlap.
    """
    if most >= candidates:
        for _, part in equal_parts(draws, most // candidates):
            yield part.start * candidates, part, slice(0, candidates)
        return
    for draw in range(draws):
        for _, part in equal_parts(candidates, most):
            yield draw * candidates + part.start, slice(draw, draw + 1), part
