"""Neighbourhoods of a field, each with a reservoir of its own and all with the same weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer, check_one_of, refuse
from echofold._engine.kind import Compiled, Grid, Reservoir
from echofold._machine.arrays import namespace, of_each
from echofold._machine.available import check_room
from echofold.reservoirs._leaky import Leaky

BORDERS = ("periodic", "open")
READOUTS = ("shared", "own")
OWN_SIZES = {"size": "local size", "inputs": "local inputs", "1 + inputs": "1 + local inputs"}


@dataclass(eq=False, repr=False)
class Local(Reservoir):
    """Small reservoirs side by side along a field, for its forecasts [1]_.

    The field is cut into neighbourhoods of ``cells``. Each has a reservoir, all with the same
    weights, that is driven by its cells and a ``margin`` on each side; the readout of a
    neighbourhood gives the next values of its own cells. In a closed loop neighbourhoods meet by
    what their margins see.

    With an `ESNForecaster` whose ``reservoir`` this is, ``y`` may be ``(time, cells)``, ``(time,
    cells, variables)``, ``(time, rows, columns)`` or ``(time, rows, columns, variables)``, and
    forecasts have the same shape. All cells of a variable are scaled alike.

    Parameters
    ----------
    kind : object of `echofold.reservoirs`, default=Leaky()
        The reservoir of a neighbourhood: any kind. Its parameters are searched as
        ``reservoir__kind__name``.
    cells : int or pair of int, default=8
        Cells of a neighbourhood, by which those of the field are divided without a rest; of a field
        with rows and columns a pair.
    margin : int or pair of int, default=8
        Cells that it sees beyond its own, on each side.
    border : {"periodic", "open"}, default="periodic"
        What is beyond the last cell: the first one, or nothing (the mean of the variable; zero
        without ``scale``).
    readouts : {"shared", "own"}, default="shared"
        Whether all neighbourhoods have one readout, as suits a field that is alike everywhere, and
        learn it from all of their rows; or each has its own.

    Notes
    -----
    The readout of a neighbourhood sees ``[1, u, x]``, its cells with their margin beside its
    states, or what ``readout`` of the forecaster asks for. ``readout_`` is ``(1 + features, outputs
    of a neighbourhood)``, with ``"own"`` those of all of them side by side. Known inputs ``X`` go
    to every neighbourhood.

    References
    ----------
    .. [1] J. Pathak, B. Hunt, M. Girvan, Z. Lu and E. Ott, "Model-free prediction of large
       spatiotemporally chaotic systems from data: a reservoir computing approach", Physical Review
       Letters 120, 2018.

    Examples
    --------
    >>> from echofold import ESNForecaster
    >>> from echofold.reservoirs import Leaky, Local
    >>> from echofold.systems import lorenz96
    >>> y = lorenz96(600, 0.05, size=12)
    >>> local = Local(Leaky(40, input_scaling=0.2), cells=2, margin=2)
    >>> model = ESNForecaster(reservoir=local, ridge=1e-6, random_state=0).fit(y[:500])
    >>> model.forecast(10).shape, model.readout_.shape  # 1 + 6 cells + 40 states
    ((10, 12), (47, 2))
    >>> bool(abs(model.forecast(5) - y[500:505]).mean() < 1)
    True
    """

    shows = False
    _of_fields = True
    _places = (np.zeros((0, 0), dtype=int),) * 2  # windows and own cells, where it is compiled

    kind: Any = None
    _: KW_ONLY
    cells: Any = 8
    margin: Any = 8
    border: str = "periodic"
    readouts: str = "shared"

    # --- the reservoir of a neighbourhood -------------------------------------------------------

    @property
    def _inside(self) -> Reservoir:
        """The reservoir of one neighbourhood, with what its readout sees."""
        inside = Leaky() if self.kind is None else copy(self.kind)
        inside._view, inside._precision = self._view, self._precision
        return inside

    @property
    def stored(self) -> Mapping[str, tuple[str, ...]]:
        """The arrays of one neighbourhood, which are those of all."""
        own = self._inside.stored
        return {name: tuple(OWN_SIZES.get(axis, axis) for axis in own[name]) for name in own}

    @property
    def eager(self) -> bool:
        return self._inside.eager

    def axes(self, inputs: int) -> dict[str, int]:
        inside, own = self._inside.free(), self._inputs(inputs)
        sizes = (inside.size(own), own, 1 + own)
        return inside.axes(own) | dict(zip(OWN_SIZES.values(), sizes, strict=True))

    def size(self, inputs: int) -> int:
        """Number of values in the states of all neighbourhoods."""
        return self._count * self._inside.size(self._inputs(inputs))

    def check(self) -> None:
        if self.kind is not None and not isinstance(self.kind, Reservoir):
            refuse("kind", self.kind, "an object of echofold.reservoirs")
        if isinstance(self.kind, Local):
            raise ValueError("kind is a Local itself: neighbourhoods are cut once. Give its kind.")
        self._inside.check()
        if self._inside.adapts():
            raise ValueError(
                f"kind={self.kind!r} adapts to what each neighbourhood sees, and all have the same "
                "weights. Use another kind."
            )
        pair = isinstance(self.cells, tuple)
        if pair and len(self.cells) != 2:
            refuse("cells", self.cells, "a number of cells, or a pair of them for rows and columns")
        for one in self.cells if pair else [self.cells]:
            check_integer("cells", one, 1, "" if pair else ", or a pair of these")
        several = isinstance(self.margin, tuple)
        if several and (not pair or len(self.margin) != 2):
            refuse("margin", self.margin, f"a number of cells{', or a pair of them' * pair}")
        for one in self.margin if several else [self.margin]:
            check_integer("margin", one, 0)
        check_one_of("border", self.border, BORDERS)
        check_one_of("readouts", self.readouts, READOUTS)

    def free(self) -> Reservoir:
        inside = self._inside
        if inside.free() is inside:
            return self
        quiet = copy(self)
        quiet.kind = inside.free()
        return quiet

    def draw(self, inputs: int, seed: int) -> Any:
        """The weights of one neighbourhood."""
        return self._inside.draw(self._inputs(inputs), seed)

    def columns(self, weights: Any, kinds: Sequence[Any], inputs: int) -> dict[str, np.ndarray]:
        """What differs between the candidates, as of the reservoirs inside of them."""
        inside = [kind._inside for kind in kinds]
        return inside[0].columns(weights, inside, self._inputs(inputs))

    def silent(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._inside.silent(columns)

    def warmup(self, columns: Mapping[str, Any]) -> int:
        return self._inside.warmup(columns)

    def trained(self, weights: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
        return self._inside.trained(weights, columns)

    def restored(self, stored: dict[str, Any]) -> tuple[Any, dict[str, np.ndarray]]:
        return self._inside.restored(stored)

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        self._inside.check_stored(stored, self._inputs(inputs))

    def shared(self) -> tuple:
        inside = self._inside
        own = self.cells, self.margin, self.border, self.readouts
        return type(inside), *inside.shared(), *own

    # --- the field ------------------------------------------------------------------------------

    @property
    def _dimensions(self) -> int:
        """Along how many dimensions the field is cut."""
        return len(self.cells) if isinstance(self.cells, tuple) else 1

    def _along(self, value: Any) -> tuple[int, ...]:
        """Cells or a margin along each dimension."""
        each = value if isinstance(value, tuple) else (value,) * self._dimensions
        return tuple(map(int, each))

    def _grid_of(self, axes: tuple[int, ...]) -> Grid:
        """Shape of a field of data with so many values along their axes after time."""
        if len(axes) == self._dimensions:
            return *axes, 1
        if len(axes) == self._dimensions + 1:
            return axes
        one = "(time, cells) or (time, cells, variables)"
        two = "(time, rows, columns) or (time, rows, columns, variables)"
        raise ValueError(
            f"y has the axes (time, {', '.join(map(str, axes))}), but cells={self.cells!r} of its "
            f"reservoirs.Local is for {one if self._dimensions == 1 else two}. Give "
            f"{'a pair as cells for ' + two if self._dimensions == 1 else 'an integer for ' + one}."
        )

    def _on(self, grid: Grid | None) -> Reservoir:
        if grid is None:
            raise ValueError(
                "reservoirs.Local is for fields that an ESNForecaster forecasts. If this is one, "
                "and others are searched, give it a Local as its own reservoir, by which y is read."
            )
        cells, sizes = grid[:-1], self._along(self.cells)
        if len(cells) != len(sizes):
            raise ValueError(
                f"cells={self.cells!r} has another number of dimensions than the field, which is "
                f"{cells}. Give {'one number' if len(cells) == 1 else 'a pair'}."
            )
        for count, size, margin in zip(cells, sizes, self._along(self.margin), strict=True):
            if count % size:
                fit = [n for n in range(1, count + 1) if count % n == 0]
                raise ValueError(
                    f"{count} cells cannot be cut into neighbourhoods of cells={self.cells!r}. Use "
                    f"one of {', '.join(map(str, fit))}."
                )
            most = (count - size) // 2 if self.border == "periodic" else count
            if margin > most:
                raise ValueError(
                    f"cells={self.cells!r} with margin={self.margin!r} on both sides is more than "
                    f"the {count} cells of the field with border={self.border!r}. Use a margin of "
                    f"at most {most}."
                )
        self._grid = grid
        seen = self._count * self._inputs(int(np.prod(grid)))
        check_room(8.0 * seen, f"margin={self.margin!r}: what neighbourhoods see", "a smaller one")
        return self

    @property
    def _shape(self) -> Grid:
        """Shape of the field."""
        if self._grid is None:
            raise ValueError(
                "a reservoirs.Local has no size before the field that it is on is known, and an "
                "ESNForecaster that has it was fitted."
            )
        return self._grid

    @property
    def _count(self) -> int:
        """Number of neighbourhoods."""
        pairs = zip(self._shape, self._along(self.cells), strict=False)
        return int(np.prod([cells // size for cells, size in pairs]))

    def _inputs(self, inputs: int) -> int:
        """Inputs of one neighbourhood: what it sees of the field, and all that is known."""
        *cells, variables = self._shape
        pairs = zip(self._along(self.cells), self._along(self.margin), strict=True)
        own = variables * int(np.prod([size + 2 * margin for size, margin in pairs]))
        return own + inputs - int(np.prod(self._shape))

    def _cut(self, margins: tuple[int, ...], outside: int) -> np.ndarray:
        """Numbers ``(neighbourhoods, values)`` of what each sees, ``outside`` beyond the border."""
        numbers = np.arange(int(np.prod(self._shape))).reshape(self._shape)
        pads, sizes = [(margin, margin) for margin in margins], self._along(self.cells)
        if self.border == "periodic":
            numbers = np.pad(numbers, [*pads, (0, 0)], mode="wrap")
        else:
            numbers = np.pad(numbers, [*pads, (0, 0)], constant_values=outside)
        seen: Any = numbers
        for axis, (size, margin) in enumerate(zip(sizes, margins, strict=True)):
            seen = np.lib.stride_tricks.sliding_window_view(seen, size + 2 * margin, axis)
            seen = seen[(slice(None),) * axis + (slice(None, None, size),)]
        return np.moveaxis(seen, len(sizes), -1).reshape(self._count, -1)

    def _groups(self) -> np.ndarray:
        tiles = self._cut((0,) * self._dimensions, 0)
        return tiles[None] if self.readouts == "shared" else tiles[:, None]

    def _compiled(self, inputs: int) -> Compiled:
        inside, own = self._inside._compiled(self._inputs(inputs)), copy(self)
        own.kind = inside.kind
        windows = self._cut(self._along(self.margin), inputs)
        known = np.arange(int(np.prod(self._shape)), inputs)
        windows = np.hstack([windows, np.tile(known, (len(windows), 1))])
        own._places = windows, self._cut((0,) * self._dimensions, 0)
        cut = self.cells, self.margin, self.border, self.readouts, self._shape, inputs
        return Compiled((Local, inside.key, *cut), own)

    # --- what is compiled -----------------------------------------------------------------------
    # A state is ``(values, neighbourhoods)`` in C order, so that as ``(values, neighbourhoods ·
    # columns)`` it is one of the reservoir inside, with more columns.

    def _around(self, u, columns: int):
        """Inputs ``(own inputs, neighbourhoods · columns)`` of ``u (inputs, columns or 1)``."""
        xp, (windows, _) = namespace(u), self._places
        if self.border == "open":
            u = xp.concatenate([u, xp.zeros((1, u.shape[1]), u.dtype)])
        seen = xp.broadcast_to(u[windows.T], (*windows.T.shape, columns))
        return seen.reshape(windows.shape[1], -1)

    def step(self, weights: Any, columns: Mapping[str, Any], x, u):
        """One update of all neighbourhoods."""
        xp, count, wide = namespace(x), len(self._places[0]), x.shape[1]
        each = of_each(lambda array: xp.tile(array, count), columns)
        around = self._around(u, wide)
        return self.kind.step(weights, each, x.reshape(-1, count * wide), around).reshape(-1, wide)

    def _see(self, x, u):
        """What the readouts see, ``(neighbourhoods · features, columns)``."""
        xp, count, wide = namespace(x), len(self._places[0]), x.shape[1]
        around = self._around(u, wide)
        seen = self.kind._see(x.reshape(-1, count * wide), around)
        if self._view.inputs:
            seen = xp.concatenate([around, seen])
        return xp.swapaxes(seen.reshape(-1, count, wide), 0, 1).reshape(-1, wide)

    @property
    def _beside(self) -> bool:
        """Inputs stand in what is seen: those of a neighbourhood, in its row."""
        return False

    def _seen(self, inputs: int) -> int:
        return self._count * self._features(inputs)

    def _features(self, inputs: int) -> int:
        own, inside = self._inputs(inputs), self._inside
        return own * self._view.inputs + inside._seen(own)

    def _outputs(self, readout, u, seen):
        """Outputs of all cells, by readouts ``(1 + features, those of neighbourhoods)``."""
        xp, (_, tiles), (features, _, wide) = namespace(seen), self._places, readout.shape
        count, values = tiles.shape
        readouts = readout.shape[1] // values
        seen = xp.moveaxis(seen.reshape(readouts, count // readouts, features - 1, wide), 3, 0)
        W = xp.moveaxis(readout.reshape(features, readouts, values, wide), (3, 1), (0, 1))
        y = W[:, :, :1] + seen @ W[:, :, 1:]  # (columns, readouts, neighbourhoods of each, values)
        y = xp.moveaxis(y.reshape(wide, -1), 0, 1)
        return y[np.argsort(tiles.ravel())]
