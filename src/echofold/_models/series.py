"""A network of a series: how data become a problem, and what is remembered of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from echofold._data.arguments import read_range, series_first
from echofold._data.dates import Timeline, check_aligned, timeline, words_of_dates
from echofold._data.lazy import Lazy, beside, is_long
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
        if is_long(y, X):
            return self._read_long(y, X, sample_weight)
        table = read(y, "y", missing=True)
        self.y_schema_ = table.schema
        self.timeline_ = None if table.index is None else timeline(table.index, "y")
        require_some(table.values, "y", table.schema.names)
        form = representation_of(self.get_params())
        present, rows = present_rows(table.values, "y"), len(table.values)
        if present is not None:  # what comes after the last value is moved over when trained
            rows = int(np.flatnonzero(present)[-1]) + 1
            present = present[:rows]
        series = self._learn(table.values[:rows], present, form, form.season)
        levels = form.levels(series, "y")
        values = self.y_scaler_.scaled(form.differences(levels))
        self.last_ = values[-1]
        self._represent(form, levels)
        self._limit(np.nanmin(table.values, axis=0), np.nanmax(table.values, axis=0))
        self._check_inside(table.values)
        known = form.waves(0, len(table.values))
        self.X_schema_ = self.X_scaler_ = None
        if X is not None:
            known = np.hstack([self._learn_known(X, table, form.season), known])
        weights = read_weights(sample_weight, len(table.values))
        problem = self._pairs(
            values, known[:rows], self.washout, form, levels, series,
            None if weights is None else weights[:rows], present,
        )  # fmt: skip
        words = words_of_table(table, "y", f"{AS_TARGETS} {AS_INPUTS}")
        words += words_of_known(X)
        words += () if table.index is None else words_of_dates(table.index, "y")
        if rows == len(table.values):
            return replace(problem, missing=words) if words else problem
        words += (f"After row {rows - 1} of y {ON_ITS_OWN}",)
        return replace(problem, missing=words, later=(table.values[rows:], known[rows:]))

    def _read_long(self, y, X, sample_weight) -> Problem:
        """`_read` for series longer than memory: rows are read when they are asked for."""
        form = representation_of(self.get_params())
        table = read_long(y, "y")
        spread = check_complete(table.values, y, "y")
        self.y_schema_ = table.schema
        self.timeline_ = None if table.index is None else timeline(table.index, "y")
        self._limit(spread.low, spread.high)
        for start, block in table.values.blocks() if self._limits is not None or form else ():
            self._check_inside(block, start)
            form.levels(block, "y", start)
        levels = table.values.mapped(partial(form.levels, argument="y"))
        values = self._learned(levels, form)
        self.last_ = values[-1]
        self._represent(form, levels)
        known, rows = [], len(levels)
        self.X_schema_ = self.X_scaler_ = None
        if X is not None:
            given = read_long(X, "X")
            self._check_known(given, table)
            check_complete(given.values, X, "X")
            self.X_schema_ = given.schema
            self.X_scaler_ = Scaler.learned(given.values, self.scale, "X")
            known.append(given.values.mapped(self.X_scaler_.scaled))
        if form.seasons:
            known.append(Lazy(form.waves, rows, form.waves(0, 0).shape[1]))
        weights = read_weights(sample_weight, rows)
        together = beside(*known) if known else None
        return self._pairs(values, together, self.washout, form, levels, table.values, weights)

    def _pairs(
        self,
        values,
        known,
        washout,
        form: Representation,
        levels,
        series,
        weights=None,
        present=None,
    ) -> Problem:
        """The problem of scaled values, in the units and limits that were learned."""
        limits = None if self._limits is None else form.limits(self._limits)
        return forecasting(
            values, known, washout, self.y_scaler_, form, levels, series, weights, limits, present
        )

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
        self._check_inside(table.values)
        present, season = present_rows(table.values, "y"), form.season
        values = table.values if present is None else filled(table.values, season)
        levels = form.levels(values, "y")
        known = form.waves(first or 0, (first or 0) + len(values))
        if (X is None) != (self.X_schema_ is None):
            given = "fit" if X is None else "backtest"
            raise ValueError(
                f"X was given to {given} alone: inputs known in advance must be given to both, a "
                "row for each row of y."
            )
        if self.X_schema_ is not None and self.X_scaler_ is not None:
            given_X = read(X, "X", missing=True)
            self.X_schema_.check(given_X.schema, "X")
            self._check_known(given_X, table)
            known = np.hstack([self.X_scaler_.scaled(filled(given_X.values, season)), known])
        scaled = self.y_scaler_.scaled(form.differences(levels))
        return self._pairs(scaled, known, washout, form, levels, values, present=present)

    def _learn(
        self, y: np.ndarray, present, form: Representation, season: int | None
    ) -> np.ndarray:
        """Learn the scaling from what is known of ``y``, and give its values, filled."""
        levels = form.levels(y, "y")
        self._check_length(len(y), form)
        if present is not None:
            require_two(form.whole(present), "y", "rows")
        self.y_scaler_ = Scaler.learned(form.differences(levels), self.scale, "y")
        return y if present is None else filled(y, season)

    def _check_length(self, rows: int, form: Representation) -> None:
        """Raise for a series that is too short for its differences."""
        if form.lost and rows < form.lost + 3:
            raise ValueError(
                f"y has {rows} values, of which difference={self.difference!r} loses {form.lost}; "
                "at least 3 must be left. Give a longer series or smaller lags."
            )

    def _learned(self, levels: Lazy, form: Representation) -> Lazy:
        """Learn the scaling of levels that are not in memory, and give them represented."""
        self._check_length(len(levels), form)
        differences = levels.mapped(form.differences, form.lost) if form.lost else levels
        self.y_scaler_ = Scaler.learned(differences, self.scale, "y")
        return differences.mapped(self.y_scaler_.scaled)

    def _learn_known(self, X, y: Table, season: int | None) -> np.ndarray:
        """Read known inputs for the rows of ``y`` and learn their scaling; scaled, and filled."""
        given = read(X, "X", missing=True)
        self._check_known(given, y)
        require_some(given.values, "X", given.schema.names)
        self.X_schema_ = given.schema
        self.X_scaler_ = Scaler.learned(given.values, self.scale, "X")
        return self.X_scaler_.scaled(filled(given.values, season))

    @staticmethod
    def _check_known(given: Table, y: Table) -> None:
        """Raise unless known inputs belong to the rows of ``y``."""
        rows = len(y.values)
        if len(given.values) != rows:
            raise ValueError(
                f"X has {len(given.values)} rows and y has {rows}; row t of X belongs "
                "to y(t). Give X for the times of y here, and its future rows to forecast."
            )
        check_aligned(y.index, given.index, "X")

    def _limit(self, low: np.ndarray, high: np.ndarray) -> None:
        """Remember the range of the data, and the one that they, and outputs, must lie in."""
        self.range_ = np.array([low, high])
        if hasattr(self, "output_range_"):
            del self.output_range_  # of an earlier fit
        limits = read_range(self.output_range, len(low))
        if limits is not None:
            self.output_range_ = limits

    @property
    def _limits(self) -> np.ndarray | None:
        """The output range ``(2, outputs)`` of what was fitted, if there is one."""
        return getattr(self, "output_range_", None)

    def _check_inside(self, values: np.ndarray, first: int = 0) -> None:
        """Raise for values, from row ``first`` on, outside of the output range, if there is one."""
        limits = self._limits
        if limits is None:
            return
        outside = (values < limits[0]) | (values > limits[1])
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise ValueError(
                f"y holds {values[row, column]:.6g} in row {first + row}, outside of "
                f"output_range={self.output_range!r}. Give a range that holds all values."
            )

    def _represent(self, form: Representation, levels: np.ndarray) -> None:
        """Remember how the series is represented, if it is not left as it is."""
        for name in {"represented_", "levels_", "steps_"} & vars(self).keys():
            delattr(self, name)  # of an earlier fit
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
        pandas = fitted["y_schema_"].kind == "pandas"
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

    def _read_known(self, X, rows: int, method: str) -> np.ndarray:
        """Known inputs of the next ``rows`` rows: those given, scaled, then seasons."""
        form, passed = self._representation(), getattr(self, "steps_", 0)
        waves = form.waves(passed, passed + rows)
        if X is None and self.X_schema_ is None:
            return waves
        if X is None or self.X_schema_ is None or self.X_scaler_ is None:
            given, not_given = ("fit", method) if X is None else (method, "fit")
            raise ValueError(
                f"X was given to {given} but not to {not_given}: inputs known in advance must be "
                f"given to both. {method} needs one row of X for each of its {rows} values."
            )
        table = read(X, "X", missing=True)
        self.X_schema_.check(table.schema, "X")
        if len(table.values) != rows:
            raise ValueError(
                f"X has {len(table.values)} rows, but {method} needs {rows}: one for each value, "
                "starting right after the data so far."
            )
        if self.timeline_ is not None and self.timeline_.kind in ("dates", "periods"):
            self.timeline_.check_follows(table.index, "X")
        require_some(table.values, "X", table.schema.names)
        whole = filled(table.values, form.season)
        return np.hstack([self.X_scaler_.scaled(whole), waves])

    def _in_blocks(self, y, X) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """New data longer than memory, checked in whole and then given a few rows at a time."""
        table, given = read_long(y, "y"), None if X is None else read_long(X, "X")
        form = self._representation()
        self.y_schema_.check(table.schema, "y")
        if self.timeline_ is not None:
            self.timeline_.check_follows(table.index, "y")
        check_complete(table.values, y, "y")
        if given is not None:
            self._check_known(given, table)
            check_complete(given.values, X, "X")
        for start, block in table.values.blocks():
            self._check_inside(block, start)
            form.levels(block, "y", start)
        for start, block in table.values.blocks():
            known = None if given is None else given.values[start : start + len(block)]
            yield (
                block[:, 0] if table.schema.flat else block,
                None if known is None else np.asarray(known),
            )

    def _write(self, values: np.ndarray):
        """Give a forecast in the kind of ``y``."""
        index = None if self.timeline_ is None else self.timeline_.following(len(values))
        return write(values, self.y_schema_, index)


def _representation(fitted: Mapping[str, Any]) -> Representation:
    """How a series is represented, by the fitted values of a model."""
    stored = fitted.get("represented_")
    return Form() if stored is None else read_representation(stored)
