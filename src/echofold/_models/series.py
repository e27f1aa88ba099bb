"""A network of a series: how data become a problem, and what is remembered of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from echofold._data.arguments import read_range, series_first
from echofold._data.dates import Timeline, check_aligned, timeline, words_of_dates
from echofold._data.lazy import Lazy, Values, beside, mapped
from echofold._data.missing import (
    AS_INPUTS,
    AS_TARGETS,
    ON_ITS_OWN,
    filled,
    present_rows,
    require_two,
    words_of_table,
)
from echofold._data.problem import FORECASTING, Problem, forecasting
from echofold._data.represent import (
    OPENINGS,
    PARAMETERS,
    Form,
    Representation,
    read_representation,
    representation_of,
)
from echofold._data.scaling import Scaler
from echofold._data.sources import is_long
from echofold._data.tables import (
    Schema,
    Table,
    check_complete,
    read,
    read_long,
    read_weights,
    require_some,
    write,
)
from echofold._models.base import ESN
from echofold._models.forecast import words_of_known
from echofold._models.stored import Stored


class SeriesESN(ESN):
    """Reads series and known inputs, and remembers their scaling, representation and end."""

    y_schema_: Schema
    X_schema_: Schema | None
    y_scaler_: Scaler
    X_scaler_: Scaler | None
    timeline_: Timeline | None
    last_: np.ndarray
    residuals_: np.ndarray | None
    log_residuals_: np.ndarray
    runs_: int
    range_: np.ndarray
    output_range_: np.ndarray
    represented_: tuple
    levels_: np.ndarray
    steps_: int

    _task = FORECASTING
    _shapes_the_problem = ("washout", "scale", *PARAMETERS, "output_range")
    _openings = ("washout", *OPENINGS)
    _stored = {
        "y_schema_": Stored("schema", ("outputs",)),
        "X_schema_": Stored("schema", ("known",), optional=True),
        "y_scaler_": Stored("scaler", ("outputs",)),
        "X_scaler_": Stored("scaler", ("known",), optional=True),
        "timeline_": Stored("timeline", optional=True),
        "last_": Stored("floats", ("outputs",)),
        "residuals_": Stored(
            "floats", ("count", "horizon", "outputs"), optional=True, finite=False
        ),
        "log_residuals_": Stored(
            "floats", ("count", "horizon", "outputs"), always=False, finite=False
        ),
        "runs_": Stored("count", always=False),
        "range_": Stored("floats", ("ends", "outputs"), always=False),
        "output_range_": Stored("range", ("outputs",), always=False, finite=False),
        "represented_": Stored("representation", always=False),
        "levels_": Stored("floats", ("lost", "outputs"), always=False),
        "steps_": Stored("count", always=False),
    }

    @series_first
    def _read(self, y, X=None, sample_weight=None) -> Problem:
        """Check parameters and data, learn the scaling, and set the problem up."""
        self._check_parameters()
        form, long = representation_of(self.get_params()), is_long(y, X)
        table, span = read_rows(y, "y", long)
        self.y_schema_ = table.schema
        self.timeline_ = None if table.index is None else timeline(table.index, "y")
        limits = read_range(self.output_range, span.shape[1])
        self._check_allowed(table.values, form, limits)
        present, rows = None if long else present_rows(table.values, "y"), len(table.values)
        if present is not None:  # what comes after the last value is moved over when trained
            rows = int(np.flatnonzero(present)[-1]) + 1
            present = present[:rows]
        values = table.values[:rows]
        self._check_length(rows, form)
        if present is not None:
            require_two(form.whole(present), "y", "rows")
        self.y_scaler_ = Scaler.learned(_represented(values, form)[1], self.scale, "y")
        levels, differences = _represented(_filled(values, form), form)
        self.last_ = self.y_scaler_.scaled(differences[-1])
        self._represent(form, levels)
        self._limit(span, limits)
        self.X_schema_ = self.X_scaler_ = given = None
        if X is not None:
            given, _ = read_rows(X, "X", long)
            self._check_beside(given, table)
            self.X_schema_ = given.schema
            self.X_scaler_ = Scaler.learned(given.values, self.scale, "X")
        known = self._known(given, form, 0, len(table.values), long)
        weights = read_weights(sample_weight, len(table.values))
        weights = None if weights is None else weights[:rows]
        problem = self._pairs(values, known[:rows], form, self.washout, present, weights)
        if long:
            return problem
        words = words_of_table(table, "y", f"{AS_TARGETS} {AS_INPUTS}")
        words += words_of_known(X)
        words += () if table.index is None else words_of_dates(table.index, "y")
        if rows == len(table.values):
            return replace(problem, missing=words)
        words += (f"After row {rows - 1} of y {ON_ITS_OWN}",)
        return replace(problem, missing=words, later=(table.values[rows:], known[rows:]))

    def _problem(self, table: Table, X, first: int | None, washout: int | str) -> Problem:
        """The problem of another series, in the units that were learned.

        ``first`` is the row of the data of `fit` that it begins with.
        """
        form = self._representation()
        if form.seasons and first is None:
            raise ValueError(
                "first=None, but the model has a season: say which row of the data given to fit y "
                "begins with, first=0 if both begin alike."
            )
        self.y_schema_.check(table.schema, "y")
        self._check_length(len(table.values), form)
        self._check_allowed(table.values, form, self._limits)
        if (X is None) != (self.X_schema_ is None):
            given = "fit" if X is None else "backtest"
            raise ValueError(
                f"X was given to {given} alone: inputs known in advance must be given to both, a "
                "row for each row of y."
            )
        beside_y = None
        if self.X_schema_ is not None:
            beside_y, _ = read_rows(X, "X", False)
            self.X_schema_.check(beside_y.schema, "X")
            self._check_beside(beside_y, table)
        known = self._known(beside_y, form, first or 0, len(table.values))
        present = present_rows(table.values, "y")
        return self._pairs(table.values, known, form, washout, present)

    def _pairs(
        self, values: Values, known: Values, form: Representation, washout, present, weights=None
    ) -> Problem:
        """The problem of a series and what is known beside it, in the units that were learned."""
        series = _filled(values, form)
        levels, differences = _represented(series, form)
        limits = None if self._limits is None else form.limits(self._limits)
        scaled = mapped(self.y_scaler_.scaled, differences)
        return forecasting(
            scaled, known, washout, self.y_scaler_, form, levels, series, weights, limits, present
        )

    def _known(
        self, X: Table | None, form: Representation, first: int, rows: int, long: bool = False
    ) -> Values:
        """Inputs known in advance: those given, filled and scaled, then waves from ``first`` on."""
        waves: Values = form.waves(first, first if long else first + rows)
        if long:
            waves = Lazy(form.waves, rows, waves.shape[1], first)
        if X is None or self.X_scaler_ is None:
            return waves
        return beside(mapped(self.X_scaler_.scaled, _filled(X.values, form)), waves)

    def _read_known(self, X, rows: int, method: str, long: bool = False) -> Any:
        """Known inputs of the ``rows`` rows after the data so far."""
        if (X is None) != (self.X_schema_ is None):
            given, not_given = ("fit", method) if X is None else (method, "fit")
            raise ValueError(
                f"X was given to {given} but not to {not_given}: inputs known in advance must be "
                f"given to both. {method} needs one row of X for each of its {rows} values."
            )
        table = None
        if self.X_schema_ is not None:
            table, _ = read_rows(X, "X", long)
            self.X_schema_.check(table.schema, "X")
            if len(table.values) != rows:
                raise ValueError(
                    f"X has {len(table.values)} rows, but {method} needs {rows}: one for each "
                    "value, starting right after the data so far."
                )
            if self.timeline_ is not None and self.timeline_.kind in ("dates", "periods"):
                self.timeline_.check_follows(table.index, "X")
        return self._known(table, self._representation(), getattr(self, "steps_", 0), rows, long)

    def _check_length(self, rows: int, form: Representation) -> None:
        """Raise for a series that is too short for its differences."""
        if form.lost and rows < form.lost + 3:
            raise ValueError(
                f"y has {rows} values, of which difference={self.difference!r} loses {form.lost}; "
                "at least 3 must be left. Give a longer series or smaller lags."
            )

    @staticmethod
    def _check_beside(given: Table, y: Table) -> None:
        """Raise unless known inputs belong to the rows of ``y``."""
        rows = len(y.values)
        if len(given.values) != rows:
            raise ValueError(
                f"X has {len(given.values)} rows and y has {rows}; row t of X belongs "
                "to y(t). Give X for the times of y here, and its future rows to forecast."
            )
        check_aligned(y.index, given.index, "X")

    def _limit(self, span: np.ndarray, limits: np.ndarray | None) -> None:
        """Remember the range of the data, and the one that they, and outputs, must lie in."""
        self.range_ = span
        self._forget("output_range_")
        if limits is not None:
            self.output_range_ = limits

    @property
    def _limits(self) -> np.ndarray | None:
        """The output range ``(2, outputs)`` of what was fitted, if there is one."""
        return getattr(self, "output_range_", None)

    def _check_allowed(self, values: Values, form: Representation, limits) -> None:
        """Raise for values that have no level, or are outside of the ``limits (2, outputs)``."""
        for first, block in blocks_of(values) if form or limits is not None else ():
            form.levels(block, "y", first)
            outside = np.zeros(0) if limits is None else (block < limits[0]) | (block > limits[1])
            if outside.any():
                row, column = np.argwhere(outside)[0]
                raise ValueError(
                    f"y holds {block[row, column]:.6g} in row {first + row}, outside of "
                    f"output_range={self.output_range!r}. Give a range that holds all values."
                )

    def _represent(self, form: Representation, levels: Values) -> None:
        """Remember how the series is represented, if it is not left as it is."""
        self._forget("represented_", "levels_", "steps_")
        if form or form.seasons:
            self.represented_ = form.stored
            self.steps_ = len(levels)
        if form.lost:
            self.levels_ = np.asarray(levels[-form.lost :])

    def _representation(self) -> Representation:
        """How the series that was fitted is represented."""
        return _representation(vars(self))

    def _levels(self) -> np.ndarray:
        """The last levels, from which differences are summed up."""
        return getattr(self, "levels_", np.zeros((0, len(self.last_))))

    @property
    def _network_inputs(self) -> int:
        """Number of inputs of the network carried: outputs fed back, then known inputs."""
        given = 0 if self.X_scaler_ is None else len(self.X_scaler_.center)
        return len(self.last_) + given + self._representation().waves(0, 0).shape[1]

    @classmethod
    def _check_values(cls, params: dict[str, Any]) -> None:
        super()._check_values(params)
        representation_of(params)

    @classmethod
    def _stored_sizes(cls, fitted: dict[str, Any], outputs: int, scaled: int) -> dict[str, int]:
        form = _representation(fitted)
        inputs = outputs + scaled + form.waves(0, 0).shape[1]
        return {"inputs": inputs, "known": scaled, "positions": 1, "lost": form.lost}

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        if (fitted["X_schema_"] is None) != (sizes["known"] == 0):
            raise ValueError("X_schema_ and X_scaler_ belong together")
        pandas = fitted["y_schema_"].parts["kind"] == "pandas"
        if (fitted["timeline_"] is not None) != pandas:
            raise ValueError("timeline_ must be there for pandas data, and None for other")
        if ("levels_" in fitted) != (sizes["lost"] > 0):
            raise ValueError("levels_ must be there if, and only if, differences are summed up")
        if ("steps_" in fitted) != ("represented_" in fitted):
            raise ValueError("steps_ and represented_ belong together")
        if "range_" in fitted and (
            len(fitted["range_"]) != 2 or (fitted["range_"][0] > fitted["range_"][1]).any()
        ):
            raise ValueError("range_ must be the lowest and the highest value of each output")

    def _write(self, values: np.ndarray):
        """Give a forecast in the kind of ``y``."""
        index = None if self.timeline_ is None else self.timeline_.following(len(values))
        return write(values, self.y_schema_, index)


def _representation(fitted: Mapping[str, Any]) -> Representation:
    """How a series is represented, by the fitted values of a model."""
    stored = fitted.get("represented_")
    return Form() if stored is None else read_representation(stored)


def read_rows(
    data: Any, argument: str, long: bool, empty: bool = False
) -> tuple[Table, np.ndarray]:
    """A table, and the range ``(2, columns)`` of its values.

    What is ``long`` is read in blocks, and complete. Else values may be missing; no column may be
    ``empty`` unless it is said.
    """
    if long:
        table = read_long(data, argument)
        spread = check_complete(table.values, data, argument)
        return table, np.array([spread.low, spread.high])
    table = read(data, argument, missing=True)
    if not empty:
        require_some(table.values, argument, table.schema.names)
    return table, np.array([np.fmin.reduce(table.values), np.fmax.reduce(table.values)])


def blocks_of(values: Values) -> Iterable[tuple[int, np.ndarray]]:
    """Rows as ``(first row, some rows)``; those in memory are one block."""
    return values.blocks() if isinstance(values, Lazy) else [(0, values)]


def _filled(values: Values, form: Representation) -> Values:
    """Values without holes."""
    return mapped(partial(filled, every=form.season), values)


def _represented(values: Values, form: Representation) -> tuple[Values, Values]:
    """Levels, and differences of them."""
    levels = mapped(partial(form.levels, argument="y"), values)
    return levels, mapped(form.differences, levels, form.lost)
