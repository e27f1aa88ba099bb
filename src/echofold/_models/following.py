"""Rows that follow the data of a forecaster: how it reads, drives along and stands after them.

What is missing in them is filled from what came before, as one `fit` to all rows would fill it. So
there may be two states at the end of data: the one of the forecaster, along its own forecasts in
place of values that are missing there, and the one along filled values, which rows that come later
are learned with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from echofold._data.lazy import Lazy, Values, mapped
from echofold._data.missing import (
    AS_INPUTS,
    AS_TARGETS,
    KNOWN,
    filled,
    filled_after,
    how_filled,
    words_of_table,
)
from echofold._data.represent import Form
from echofold._data.tables import Table, read_rows, read_weights
from echofold._engine.drive import advance
from echofold._models.forecast import words_of_known
from echofold._models.learning import Learning, aged

KNOWN_BY = 16  # rows at either end of data, by which they are known again


class Following(NamedTuple):
    """Pairs that follow: inputs, targets, levels with those before, and what `partial_fit` needs.

    Rows are ``there`` if all their values are, and ``whole`` if those of their differences are.
    """

    inputs: np.ndarray
    targets: np.ndarray
    levels: np.ndarray
    there: np.ndarray
    whole: np.ndarray
    past: np.ndarray


class More(NamedTuple):
    """Rows that `partial_fit` was given, of which those after ``done`` have no value."""

    y: np.ndarray
    known: np.ndarray
    span: np.ndarray
    on: Following
    states: np.ndarray
    done: int
    learned: tuple[np.ndarray, np.ndarray, np.ndarray]
    pending: np.ndarray | None
    notes: tuple[str, ...]


def read_on(model: Any, y: Any, X: Any, sample_weight: Any, forgetting: float) -> More:
    """Read what follows, drive along it, and tell which rows are learned from."""
    r, learning = model._reservoirs(), model.learning_
    table, span = read_rows(y, "y", False, empty=True)
    rows, outputs = table.values.shape
    model.y_schema_.check(table.schema, "y")
    if model.timeline_ is not None:
        model.timeline_.check_follows(table.index, "y")
    form, first = model._representation(), getattr(model, "steps_", 0)
    model._check_allowed(table.values, form, model._limits)
    known, how = form.waves(first, first + rows), np.zeros((rows, 0))
    given = model._table_following(X, rows, "partial_fit")
    if given is not None and model.X_scaler_ is not None:
        _, before, how = _parts(learning.past)
        here = model.X_scaler_.scaled(given.values)
        here, how = filled_after(before[:, outputs:], how[:, outputs:], here, form.season)
        known, how = np.hstack([here[-rows:], known]), how[-rows:]
    own = read_weights(sample_weight, rows, some=False)
    on = following(model, table.values, known, how)
    begin = model.state_ if learning.behind is None else learning.behind
    (kept,) = model._driven(r, [on.inputs], begin[:, None])
    states = r.state_in(kept[:, :, None])[:, :, 0]
    done = int(np.flatnonzero(on.there)[-1]) + 1 if on.there.any() else 0
    rows_X = np.hstack([on.inputs, kept[:, : r.looks]]) if r.beside else kept[:, : r.looks]
    more = np.column_stack([rows_X, on.targets, aged(rows, forgetting, on.whole * 1.0)])
    more[:, -1] *= 1.0 if own is None else own
    if learning.pending is not None:
        last = learning.pending.copy()
        last[:, -1] *= forgetting**rows
        more = np.vstack([last, more])
    learned, pending = in_steps_of(more, rows_X.shape[1], model._steps_at_once)
    words = words_of_table(table, "y", f"{AS_TARGETS} {AS_INPUTS}") + words_of_known(X)
    return More(table.values, known, span, on, states, done, learned, pending, words)


def following(
    model: Any, y: np.ndarray, known: np.ndarray, how: np.ndarray | None = None
) -> Following:
    """Pairs that follow the data so far, with what is missing of ``y`` filled.

    ``how (rows, known inputs)`` tells which of these were; None stands for none.
    """
    form, (rows, outputs) = model._representation(), y.shape
    there, before, filling = _parts(model.learning_.past)
    there = np.concatenate([there, ~np.isnan(y).any(axis=1)])
    own = before[:, :outputs], filling[:, :outputs]
    values, of_values = filled_after(*own, y, form.season)
    levels, differences = form.represented(values)
    w = model.y_scaler_.scaled(differences)
    given = before.shape[1] - outputs
    known_too = np.vstack([before[:, outputs:], known[:, :given]])
    how = np.vstack([filling[:, outputs:], np.full((rows, given), KNOWN) if how is None else how])
    past = np.column_stack([there, values, known_too, of_values, how])
    return Following(
        np.hstack([w[-rows - 1 : -1], known]), w[-rows:], levels, there[-rows:],
        form.whole(there)[-rows:], past[-form.reach :],
    )  # fmt: skip


def _parts(past: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of last rows: whether all was there, values and known inputs, and how these were filled."""
    columns = (past.shape[1] - 1) // 2
    return past[:, 0] > 0, past[:, 1 : 1 + columns], past[:, 1 + columns :]


def stand_after(model: Any, more: More) -> None:
    """Stand after rows that were learned from, forecasts in place of the last if missing."""
    done, rows, form = more.done, len(more.y), model._representation()
    if done:
        model.state_, model.last_ = more.states[done - 1].copy(), more.on.targets[done - 1].copy()
        if hasattr(model, "represented_"):
            model.steps_ += done
        if form.lost:
            end = len(more.on.levels) - rows + done
            model.levels_ = more.on.levels[end - form.lost : end].copy()
    model._move(more.y[done:], more.known[done:])
    if hasattr(model, "ends_"):
        first, last = model.ends_
        first = np.concatenate([first, more.y[: max(KNOWN_BY - len(first), 0)]])
        last = np.concatenate([last, more.y])[-len(first) :]
        model.rows_, model.ends_ = model.rows_ + len(more.y), np.stack([first, last])
    model._passed(rows, more.span)
    behind = None if done == rows else more.states[-1].copy()
    model.learning_ = replace(
        model.learning_, past=more.on.past, behind=behind, pending=more.pending
    )


def learning_after(model: Any, y: np.ndarray, known: np.ndarray) -> Learning | None:
    """What `partial_fit` goes on from after rows that are not learned from, if it can."""
    learning = getattr(model, "learning_", None)
    if learning is None or not len(learning.past):
        return learning
    on, behind = following(model, y, known), learning.behind
    if behind is not None or not on.there.all():
        begin = model.state_ if behind is None else behind
        with model._engine(len(y)):
            behind = np.array(advance(model._reservoirs(), on.inputs, begin[:, None]))[:, 0]
    pending = None if learning.pending is None else learning.pending[:0]
    return replace(learning, past=on.past, behind=behind, pending=pending)


def ends_of(values: Values) -> np.ndarray:
    """The first and the last rows ``(2, rows, outputs)`` of data, by which these are known again.

    They are what `trained_part` looks for.
    """
    some = min(len(values), KNOWN_BY)
    return np.stack([np.array(values[:some]), np.array(values[len(values) - some :])])


def trained_part(model: Any, y: np.ndarray) -> tuple[int, int]:
    """From where to where the rows of ``y (T, outputs)`` are those that a model was trained on.

    It is told by the first and the last of them, and by nothing if neither is there, just once.
    """
    if not hasattr(model, "ends_"):  # of an older file
        return 0, 0
    some, rows = model.ends_.shape[1], model.rows_
    first, last = (places_of(one, y) for one in model.ends_)
    if len(first) == 1:
        return first[0], min(first[0] + rows, len(y))
    if len(last) == 1:
        return max(last[0] + some - rows, 0), last[0] + some
    return 0, 0


def places_of(rows: np.ndarray, y: np.ndarray) -> list[int]:
    """Where these rows begin in ``y``; rows that are all alike are no mark of a place."""
    if len(y) < len(rows) or np.array_equal(rows[1:], rows[:-1], equal_nan=True):
        return []
    starts = np.flatnonzero((y[: len(y) - len(rows) + 1] == rows[0]).all(axis=1)).tolist()
    ends = (y[row : row + len(rows)] for row in starts)
    return [
        row
        for row, there in zip(starts, ends, strict=True)
        if np.array_equal(there, rows, equal_nan=True)
    ]


def past_of(model: Any, values: Values, given: Table | None, form: Form) -> np.ndarray:
    """The last rows of data, as `Learning` has them."""
    tables = [values]
    if given is not None and model.X_scaler_ is not None:
        tables.append(mapped(model.X_scaler_.scaled, given.values))
    reach, season = form.reach, form.season
    last = [np.asarray(mapped(partial(filled, every=season), one)[-reach:]) for one in tables]
    there = ~np.isnan(np.asarray(values[-reach:])).any(axis=1, keepdims=True)
    how = [
        np.full_like(rows, KNOWN) if isinstance(table, Lazy)
        else how_filled(table, season)[-reach:]
        for table, rows in zip(tables, last, strict=True)
    ]  # fmt: skip
    return np.hstack([there, *last, *how])


def in_steps_of(rows: np.ndarray, columns: int, steps: int) -> tuple[Any, np.ndarray | None]:
    """States, targets of so many steps and weights of rows that have these, and the rows left.

    Of ``rows`` of states, the target of the first step and its weight, as
    `_data.problem.in_steps` makes targets of them.
    """
    X, Y, weights = rows[:, :columns], rows[:, columns:-1], rows[:, -1]
    if steps == 1:
        return (X, Y, weights), None
    count = max(len(rows) - steps + 1, 0)
    at = np.arange(count)[:, None] + np.arange(steps)
    whole = np.where((weights[at] > 0).all(axis=1), weights[at].mean(axis=1), 0.0)
    return (X[:count], Y[at].reshape(count, steps * Y.shape[1]), whole), rows[count:].copy()
