"""From (scaled) data of any task to the rows that readouts are trained and validated on.

A `Problem` is all that the rest of the library sees of a data set: `Segments` of time that a
reservoir is driven along, each begun at rest, and a target for each row that is kept of them. A
series is one segment of which every step after the washout is a row; whole sequences are segments
which are summed up in one row each. The washout is already set apart,
so row 0 is the first row that any scheme may split. Everything is in scaled units; ``unit`` says
what one scaled unit of each output is worth, so that errors can be given in original ones.

Several series in one model are a `Problem` of several segments, which knows the problem of ``each``
(`joined`): rows of one follow those of the one before, and what belongs to a series, such as its
unit, is asked for by rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from echofold._data.lazy import Lazy, Values, hstack, mapped
from echofold._data.missing import filled, require_two
from echofold._data.represent import Form
from echofold._data.scaling import Scaler


@dataclass(frozen=True)
class Task:
    """A task as the rest of the library sees it; an estimator has one, and so has a `Problem`.

    ``data`` are the names of what `fit` takes by position, of which the first ``needed`` must be
    there and the one at ``targets`` holds the targets. Outputs that are ``fed_back`` become inputs
    of the next step, and are validated over intervals of steps; ``ahead`` is the number of rows
    from an input to its target. Rows that are not ``ordered`` in time are whole sequences, which
    are shuffled before they are split; those with ``labels`` in proportion to their classes.
    ``rows`` and ``outputs`` are what users call them.
    """

    name: str
    data: tuple[str, ...]
    needed: int
    targets: int
    fed_back: bool = False
    ahead: int = 0
    ordered: bool = True
    labels: bool = False
    rows: str = "rows"
    outputs: str = "predictions"


FORECASTING = Task(
    "forecasting", ("y", "X", "sample_weight"), needed=1, targets=0, fed_back=True, ahead=1,
    outputs="forecasts",
)  # fmt: skip
REGRESSION = Task("regression", ("X", "y", "sample_weight"), needed=2, targets=1)
FEEDBACK = replace(REGRESSION, name="regression with feedback", fed_back=True)
EXTRINSIC = replace(REGRESSION, name="extrinsic regression", ordered=False, rows="sequences")
CLASSIFICATION = Task(
    "classification", ("sequences", "labels"), needed=2, targets=1, ordered=False, labels=True,
    rows="sequences",
)  # fmt: skip
NONE = partial(np.zeros, (0, 0))


@dataclass(frozen=True, eq=False)
class Segments:
    """Steps of all segments, one after the other, and what is known of each.

    Every step after the washout is a row. Where it says what is ``seen`` of a whole segment
    (`_engine.summaries.Summaries`), that is one row instead.
    """

    steps: Values  # (steps, inputs); `Lazy` where the only segment is longer than memory
    lengths: np.ndarray  # (segments,), steps of each
    washouts: np.ndarray  # (segments,), how many of these only warm the state up
    seen: Any = None

    @classmethod
    def series(cls, inputs: Values, washout: int = 0) -> Segments:
        """One segment of ``inputs (steps, inputs)``: every step after the washout is a row."""
        return cls(inputs, np.array([len(inputs)]), np.array([washout]))

    @classmethod
    def sequences(cls, sequences: list[np.ndarray], seen: Any) -> Segments:
        """A segment and a row for each of ``sequences (time, inputs)``."""
        lengths = np.array([len(s) for s in sequences])
        return cls(np.concatenate(sequences), lengths, 0 * lengths, seen)

    @cached_property
    def count(self) -> int:
        """Number of segments."""
        return len(self.lengths)

    @cached_property
    def longest(self) -> int:
        """Steps of the longest segment."""
        return int(self.lengths.max())

    @cached_property
    def n_inputs(self) -> int:
        """Number of inputs of the reservoir."""
        return self.steps.shape[1]

    @property
    def eager(self) -> bool:
        """Whether NumPy can compute what is seen."""
        return self.seen is None or self.seen.eager

    def row_length(self, looks: int, beside: bool) -> int:
        """Columns of a row: inputs if they stand beside, and looks at states, at every place."""
        values = self.n_inputs * beside + looks
        return values if self.seen is None else self.seen.places * values

    def columns(self, looks: int, beside: bool) -> int:
        """Columns of rows as readouts are solved: seen alike, always fewer than sequences."""
        width = self.row_length(looks, beside)
        return width if self.seen is None or not self.seen.alike else min(width, self.count - 1)

    @property
    def rows(self) -> np.ndarray:
        """Rows ``(segments,)`` of each segment; those of one follow those of the one before."""
        return self.lengths - self.washouts if self.seen is None else np.ones_like(self.lengths)

    @cached_property
    def beside(self) -> Values:
        """Inputs ``(rows, inputs)`` of every row that is a step; of sequences all their steps."""
        if self.count == 1 or self.seen is not None:
            return self.steps[self.washouts[0] :]
        ends = np.cumsum(self.lengths)
        return np.concatenate(
            [self.steps[end - rows : end] for end, rows in zip(ends, self.rows, strict=True)]
        )

    def washout(self, segment: int = 0) -> Values:
        """Inputs ``(washout, inputs)`` that only warm the state up before a segment's first row."""
        start = int(self.lengths[:segment].sum())
        return self.steps[start : start + self.washouts[segment]]

    @cached_property
    def padded(self) -> np.ndarray:
        """Steps ``(segments, longest, inputs)`` side by side, with zeros at the end."""
        padded = np.zeros((self.count, self.longest, self.n_inputs))
        padded[np.arange(self.longest) < self.lengths[:, None]] = self.steps
        return padded

    def batch(self, some: np.ndarray, width: int, steps: int) -> tuple[Any, Any]:
        """Steps ``(width, steps, inputs)`` of some sequences, and their lengths ``(width,)``.

        Zeros fill the steps up, sequences of one step the width.
        """
        sequences, lengths = np.zeros((width, steps, self.n_inputs)), np.ones(width, dtype=int)
        most = min(steps, self.longest)
        sequences[: len(some), :most] = self.padded[some, :most]
        lengths[: len(some)] = self.lengths[some]
        return sequences, lengths

    @property
    def apart(self) -> tuple[np.ndarray | None, ...]:
        """What tells these segments from others with the same inputs beside their states."""
        return (None, None) if self.seen is None else (self.lengths, np.array(repr(self.seen)))


@dataclass(frozen=True)
class Problem:
    """Rows to learn from: what is kept of ``segments`` should map to ``targets``.

    Of a series longer than memory, ``targets``, ``known``, ``levels``, ``series`` and the inputs of
    ``segments`` are `Lazy`: rows that are read when they are asked for.
    """

    task: Task
    targets: np.ndarray  # (n, outputs)
    segments: Segments  # what the reservoir is driven along
    unit: np.ndarray  # (outputs,): what one scaled unit of each output is worth
    offset: np.ndarray  # (outputs,): original value of a scaled zero of each
    known: np.ndarray = field(default_factory=NONE)  # (n, known inputs), last of the inputs
    weights: np.ndarray | None = None  # (n,), for training only

    # Outputs are clipped to a range (low, high) of arrays (outputs,), scaled, before scoring.
    output_range: tuple[np.ndarray, np.ndarray] | None = None

    # Of classes: the number of each row's (n,), and what users call them (outputs,).
    labels: np.ndarray | None = None
    classes: np.ndarray = field(default_factory=NONE)

    # Of forecasts: how targets represent a series, all levels of it (series, outputs), and its
    # values, which levels may lose digits of: these are scored against. Outputs are kept inside of
    # limits, levels (low, high) of arrays (outputs,), before they are fed back. A row may have
    # targets of several steps, (n, steps * outputs): its own value, and those of the rows after it.
    steps: int = 1
    form: Form = Form()
    levels: np.ndarray = field(default_factory=NONE)
    series: np.ndarray = field(default_factory=NONE)
    limits: tuple[np.ndarray, np.ndarray] | None = None

    # Rows (n,) that have a value of every output, None if all have: only those are scored. Others
    # have weight zero, and numbers in place of targets. What is known of the rows after the last
    # one that has a value, which no scheme splits: values (m, outputs) in original units, NaN where
    # missing, known inputs (m, known inputs), and the inputs
    # (m, inputs) of the reservoir where values are filled.
    present: np.ndarray | None = None
    later: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    notes: tuple[str, ...] = ()  # what users should know about missing or strange values

    # Of a field that is cut into neighbourhoods: cells along each dimension, then variables.
    grid: tuple[int, ...] | None = None

    # Of a panel: the names of its series and, if there are several, the problem of each.
    each: tuple[Problem, ...] = ()
    names: tuple = ()

    @cached_property
    def rows(self) -> int:
        """Number of rows that schemes split."""
        return len(self.targets)

    @cached_property
    def lazy(self) -> bool:
        """Whether rows are not in memory, but read when they are asked for."""
        return isinstance(self.targets, Lazy)

    @cached_property
    def inputs(self) -> Any:
        """Inputs ``(n, …)`` that stand beside the states."""
        return self.segments.beside

    @cached_property
    def washout(self) -> Any:
        """Inputs ``(washout, inputs)`` before row 0."""
        return self.segments.washout()

    @cached_property
    def brought_back(self) -> bool:
        """Whether outputs that are fed back become levels of the series on the way."""
        return bool(self.form) or self.limits is not None

    @property
    def skipped(self) -> Any:
        """Rows of the data before row 0, ``(series,)`` of several: washout and differences."""
        return self.form.lost + (self.segments.washouts if self.each else len(self.washout))

    @property
    def first_target(self) -> Any:
        """The row of the data, of its own of each of several series, with the target of row 0."""
        return self.skipped + self.task.ahead

    @property
    def data_rows(self) -> int:
        """Rows of the data: those skipped, those split, and those after the last value."""
        if self.each:
            return sum(one.data_rows for one in self.each)
        return self.first_target + self.rows + (0 if self.later is None else len(self.later[0]))

    @cached_property
    def bounds(self) -> np.ndarray:
        """The first row of each of several series, and the number of all rows."""
        return np.append(0, np.cumsum(self.segments.rows))

    def series_of(self, rows: np.ndarray) -> np.ndarray:
        """Which of several series has each of ``rows (…)``, of which none is padding."""
        return np.searchsorted(self.bounds, rows, side="right") - 1

    @cached_property
    def _units(self) -> tuple[np.ndarray, np.ndarray]:
        """``unit`` and ``offset (series, outputs)`` of each of several series."""
        return np.stack([one.unit for one in self.each]), np.stack([e.offset for e in self.each])

    def unit_at(self, rows: np.ndarray) -> np.ndarray:
        """The ``unit`` of outputs in ``rows (…)``: ``(…, outputs)``, or that of the only series."""
        return self._units[0][self.series_of(rows)] if self.each else self.unit

    def offset_at(self, rows: np.ndarray) -> np.ndarray:
        """The same of their ``offset``."""
        return self._units[1][self.series_of(rows)] if self.each else self.offset

    @cached_property
    def _places(self) -> np.ndarray:
        """Row of ``levels`` and ``series`` less row of the problem, of each of several series."""
        before = np.append(0, np.cumsum([len(one.series) for one in self.each])[:-1])
        return before + self.first_target - self.bounds[:-1]

    def place_of(self, rows: np.ndarray) -> np.ndarray:
        """Where the targets of ``rows (…)`` are in ``levels`` and ``series``."""
        return rows + (self._places[self.series_of(rows)] if self.each else self.first_target)

    @property
    def known_rows(self) -> int:
        """Number of rows that have a value."""
        return self.rows if self.present is None else int(np.count_nonzero(self.present))

    def is_scored(self, rows: np.ndarray) -> np.ndarray:
        """Which of ``rows`` are scored: those that have a value; ``n`` or more is padding."""
        real = rows < self.rows
        if self.present is None:
            return real
        return real & self.present[np.minimum(rows, self.rows - 1)]

    @cached_property
    def scored(self) -> Problem:
        """The same rows as they are scored: targets of one step, that are no more brought back."""
        if not self.brought_back:
            if self.steps == 1:
                return self
            scored = tuple(one.scored for one in self.each)
            return replace(self, targets=self.targets[:, : len(self.unit)], steps=1, each=scored)
        if self.each:
            scored = tuple(one.scored for one in self.each)
            return replace(
                self, targets=np.concatenate([one.targets for one in scored]), each=scored,
                form=Form(), levels=NONE(), series=NONE(), limits=None, steps=1,
            )  # fmt: skip
        first, ones = self.first_target, np.ones_like(self.unit)
        return replace(
            self, targets=self.series[first : first + self.rows], unit=ones, offset=0 * ones,
            form=Form(), levels=NONE(), series=NONE(), limits=None, steps=1,
        )  # fmt: skip

    def before(self, rows: np.ndarray) -> np.ndarray:
        """Levels ``(…, lost, outputs)`` before the targets of ``rows (…)``, oldest first."""
        at = self.place_of(np.asarray(rows))[..., None] + np.arange(-self.form.lost, 0)
        return self.levels[at]

    def values(self, outputs: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Values ``(runs, steps, outputs)`` of closed-loop outputs from ``rows (runs,)`` on."""
        unit, offset = self.unit_at(rows[:, None]), self.offset_at(rows[:, None])
        levels = self.form.back(offset + unit * outputs, self.before(rows))
        # Outputs were kept inside of the limits, but for rounding.
        return self.form.values(levels if self.limits is None else np.clip(levels, *self.limits))

    def original(self, outputs: np.ndarray, rows: Any = None) -> np.ndarray:
        """Scaled outputs ``(…, outputs)`` in original units, clipped to the output range.

        Of several series ``rows (…)`` tell which each is of.
        """
        return self.offset_at(rows) + self.unit_at(rows) * self.clip(outputs)

    def clip(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs (last axis) within the output range, where there is one."""
        return outputs if self.output_range is None else np.clip(outputs, *self.output_range)


def joined(problems: Sequence[Problem], names: Sequence[Any]) -> Problem:
    """Several series as one problem; one alone is its own.

    All have the same task, outputs, form and limits.
    """
    first = problems[0]
    notes = in_series([(name, one.notes) for name, one in zip(names, problems, strict=True)])
    if len(problems) == 1:
        return replace(first, names=tuple(names), notes=notes)

    def together(name: str) -> np.ndarray:
        return np.concatenate([getattr(one, name) for one in problems])

    def of_rows(name: str, otherwise: Any) -> np.ndarray | None:
        """Values of rows that some series have."""
        each = [getattr(one, name) for one in problems]
        if all(values is None for values in each):
            return None
        full = [np.full(one.rows, otherwise) for one in problems]
        pairs = zip(each, full, strict=True)
        return np.concatenate([none if values is None else values for values, none in pairs])

    segments = Segments(
        np.concatenate([one.segments.steps for one in problems]),
        np.concatenate([one.segments.lengths for one in problems]),
        np.concatenate([one.segments.washouts for one in problems]),
    )
    several, nowhere = tuple(problems), np.full_like(first.unit, np.nan)  # seen if ever used
    return replace(
        first, targets=together("targets"), segments=segments, unit=nowhere, offset=nowhere,
        known=together("known"), weights=of_rows("weights", 1.0), levels=together("levels"),
        series=together("series"), present=of_rows("present", True), later=None,
        notes=notes, each=several, names=tuple(names),
    )  # fmt: skip


@contextmanager
def in_words_of(name: Any) -> Iterator[None]:
    """Say which of several series an error is about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"series {name!r}: {error}") from error


def in_series(words: Sequence[tuple[Any, Sequence[str]]], shown: int = 3) -> tuple[str, ...]:
    """Sentences about series by their names, those of the first few that have any."""
    those = [(name, each) for name, each in words if each]
    told = [f"series {name!r}: {' '.join(each)}" for name, each in those[:shown]]
    if len(those) > shown:
        told.append(f"{len(those) - shown} more series have notes of the same kind.")
    return tuple(told)


def forecasting(
    values, X, washout: int | str, scaler: Scaler, form: Form, limits, present, sample_weight=None
) -> Problem:
    """Pairs of a series: input ``[y(t), X(t+1)]``, target ``y(t+1)``.

    Of ``values (n + 1, outputs)``, ``y`` are scaled differences of levels, as the ``form`` says;
    ``X (n + 1, known)`` is scaled already. What the form loses is part of the washout, so that all
    forms have their targets at the same times. Values that are not ``present (n + 1,)`` are filled,
    and so is what is made of them: these are no targets to train on. Values are kept inside of
    ``limits (2, outputs)``.
    """
    series = mapped(partial(filled, every=form.season), values)
    levels, differences = form.represented(series)
    y = mapped(scaler.scaled, differences)
    first = max(_washout(washout, len(values) - 1, "y", "pairs of successive values"), form.lost)
    inputs = hstack(y[:-1], X[1 + form.lost :])
    whole = None if present is None else form.whole(present)
    return Problem(
        task=FORECASTING,
        targets=y[1 + first - form.lost :],
        segments=Segments.series(inputs, first - form.lost),
        known=X[1 + first :],
        weights=_weights(sample_weight, 1 + first, whole),
        present=_from(present, 1 + first),
        unit=scaler.unit,
        offset=scaler.center,
        form=form,
        levels=levels,
        series=series,
        limits=None if limits is None else form.limits(limits),
    )


def with_feedback(
    X, values, washout: int | str, scaler: Scaler, limits, present, sample_weight=None,
    noise: np.ndarray | float = 0.0,
) -> Problem:  # fmt: skip
    """Pairs of a regressor whose outputs come back: input ``[y(t−1), X(t)]``, target ``y(t)``.

    They are those of a forecaster whose ``values (n, outputs)`` begin one row before, where they
    are zero in scaled units; ``X (n, inputs)`` is scaled already. To outputs that come back, scaled
    ``noise (n, outputs)`` is added.
    """

    def after(first, rest):
        row = None if rest is None else np.broadcast_to(first, rest[:1].shape)
        return None if rest is None else np.concatenate([row, rest])

    problem = forecasting(
        after(scaler.center, values), after(0.0, X), washout, scaler, Form(), limits,
        after(True, present), after(1.0, sample_weight),
    )  # fmt: skip
    steps = np.array(problem.segments.steps)
    steps[:, : values.shape[1]] += noise
    return replace(
        problem, task=FEEDBACK, segments=replace(problem.segments, steps=steps),
        levels=problem.levels[1:], series=problem.series[1:],
    )  # fmt: skip


def without_noise(problem: Problem) -> Problem:
    """The same with true outputs coming back."""
    outputs = problem.series.shape[1]
    steps = np.array(problem.segments.steps)
    steps[0, :outputs] = 0.0
    steps[1:, :outputs] = (problem.series[:-1] - problem.offset) / problem.unit
    return replace(problem, segments=replace(problem.segments, steps=steps))


def in_steps(problem: Problem, steps: int) -> Problem:
    """The same rows with targets ``(n, steps * outputs)`` of so many steps from each on.

    Trained on are rows whose targets all have a weight, which is the mean of theirs: not the last
    ones, of which some are not known yet.
    """
    if steps == 1:
        return problem
    at = np.arange(problem.rows)[:, None] + np.arange(steps)
    there, at = at < problem.rows, np.minimum(at, problem.rows - 1)
    targets = np.where(there[:, :, None], problem.targets[at], 0.0).reshape(problem.rows, -1)
    weights = there * (1.0 if problem.weights is None else problem.weights[at])
    weights = np.where((weights > 0).all(axis=1), weights.mean(axis=1), 0.0)
    return replace(problem, targets=targets, weights=weights, steps=steps)


def check_steps(problem: Problem) -> Problem:
    """The problem, if it has rows whose targets of several steps can all be trained on."""
    if problem.steps > 1 and np.count_nonzero(np.asarray(problem.weights)) < 2:
        raise ValueError(
            f"steps={problem.steps} needs rows that are followed by as many values, and "
            f"{problem.rows} rows after the washout have fewer than two of them. Give a longer "
            "series, fewer steps or steps='closed'."
        )
    return problem


def after_washout(X: Values, washout: int | str) -> Segments:
    """Inputs ``X (n, inputs)`` of which those of the washout only warm the state up."""
    return Segments.series(X, _washout(washout, len(X), "X", "rows"))


def regression(
    segments: Segments, y, scaler: Scaler, sample_weight=None, output_range=None, present=None
) -> Problem:
    """Scaled inputs to targets ``y (n, outputs)``, of the same time step or of whole sequences.

    ``output_range (2, outputs)`` is in original units. Targets that are not ``present (n,)`` are
    numbers without a meaning.
    """
    whole, first = segments.seen is not None, int(segments.washouts[0])
    what = "sequences" if whole else "rows after the washout"
    return Problem(
        task=EXTRINSIC if whole else REGRESSION,
        targets=y[first:],
        segments=segments,
        weights=_weights(sample_weight, first, present, what),
        present=_from(present, first),
        unit=scaler.unit,
        offset=scaler.center,
        output_range=None if output_range is None else tuple(scaler.scaled(output_range)),
    )


def classification(segments: Segments, labels, classes: np.ndarray) -> Problem:
    """Sequences to one output per class, 1 for the true one and 0 otherwise."""
    return Problem(
        task=CLASSIFICATION,
        targets=np.eye(len(classes))[labels],
        segments=segments,
        unit=np.ones(len(classes)),
        offset=np.zeros(len(classes)),
        labels=np.asarray(labels),
        classes=classes,
    )


def _from(present: np.ndarray | None, first: int) -> np.ndarray | None:
    """Which rows from ``first`` on have a value; None if all have."""
    return None if present is None or present[first:].all() else present[first:]


def _weights(
    sample_weight: np.ndarray | None, first: int, trained: np.ndarray | None,
    what: str = "rows after the washout",
) -> np.ndarray | None:  # fmt: skip
    """Weights of the rows from ``first`` on, zero where not ``trained``; some must be positive."""
    given, trained = None if sample_weight is None else sample_weight[first:], _from(trained, first)
    if trained is not None:
        given = trained * (1.0 if given is None else given)
        require_two(given, what)
    elif given is not None and not given.any():
        raise ValueError(
            f"sample_weight is positive only in the first {first} rows, which warm the state up "
            "and are not trained on. Give some later row a positive weight, or a smaller washout."
        )
    return given


def washout_of(washout: int | str, rows: int) -> int:
    """How many of so many first rows only warm the state up."""
    return min(200, rows // 10) if washout == "auto" else int(washout)


def _washout(washout: int | str, rows: int, argument: str, what: str) -> int:
    """Rows that only warm the state up; an error when none would be left to learn from."""
    first = washout_of(washout, rows)
    if rows - first < 2:
        raise ValueError(
            f"{argument} gives {rows} {what}, of which washout={washout!r} uses {first}: "
            f"{max(rows - first, 0)} are left, at least 2 are needed. "
            "Give a longer series or a smaller washout."
        )
    return first
