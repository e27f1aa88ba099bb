"""Several series in one argument: lists, dicts of names, frames of all of them; and back again.

A panel is a list or tuple of arrays, series or frames, a dict of names to these, a pandas series or
frame whose rows are labelled by series and by time, or a `LongFrame`. A list of numbers, or of
lists, is one series or table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.long_frames import LongFrame, written_long
from echofold._data.tables import kind_of

KINDS = {
    "list": "a list of series", "tuple": "a tuple of series", "dict": "a dict of series by name",
    "frame": "a frame with a two-level index", "long": "a long frame",
}  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """What several series were given in: a kind of `KINDS`, and their names.

    The names of a list are numbers. ``level`` is the name of a frame's first level; of a long frame
    the columns of names, times and values, and its own kind.
    """

    kind: str
    names: tuple
    level: Any = None

    def write(self, each: Sequence[Any]) -> Any:
        """Results of the series in the kind that these were given in.

        Those that are no tables, and cannot stand in one, are a dict.
        """
        if self.kind in ("list", "tuple"):
            return tuple(each) if self.kind == "tuple" else list(each)
        if self.kind == "dict" or not all(isinstance(e, pd.Series | pd.DataFrame) for e in each):
            return dict(zip(self.names, each, strict=True))
        if self.kind == "long":
            id, time, _, kind = self.level
            tables = [one.to_frame("forecast") if one.ndim == 1 else one for one in each]
            return written_long(dict(zip(self.names, tables, strict=True)), id, time, kind)
        return pd.concat(list(each), keys=self.names, names=[self.level])

    def of(self, data: Any, argument: str, own: str = "y") -> list[Any]:
        """What another argument, of the same kind, has for each series; None if it has nothing.

        ``own`` is the name of the argument that the panel was.
        """
        if data is None:
            return [None] * len(self.names)
        data = self.named(data, argument)
        if not is_panel(data) and (not isinstance(data, list | tuple) or self.kind == "dict"):
            raise TypeError(
                f"{argument} is a {type(data).__name__}, but {own} is {KINDS[self.kind]}. Give "
                f"{argument} in the same kind, with an entry for each series."
            )
        other, each = panel_of(data, argument)
        kind, found = other.kind, dict(zip(other.names, each, strict=True))
        if kind.replace("tuple", "list") != self.kind.replace("tuple", "list"):
            raise TypeError(
                f"{argument} is {KINDS[kind]}, but {own} is {KINDS[self.kind]}. Give {argument} in "
                "the same kind, with an entry for each series."
            )
        self.check_names(found, argument, own)
        return [found[name] for name in self.names]

    def named(self, data: Any, argument: str) -> Any:
        """The argument, a long frame with the columns that are known where the panel was one."""
        if self.kind != "long" or isinstance(data, LongFrame) or not hasattr(data, "columns"):
            return data
        id, time, target, _ = self.level
        others = [name for name in data.columns if name not in (id, time, target)]
        return LongFrame(data, id, time, target if argument == "y" else others)

    def check_names(
        self, found: Collection[Any], argument: str, own: str = "the model", all_: bool = True
    ) -> None:
        """Raise unless series found are those of the panel; some of them, if not ``all_``."""
        there, known = set(found), set(self.names)
        missing = [name for name in self.names if name not in there] if all_ else []
        unexpected = [name for name in found if name not in known]
        if missing or unexpected:
            does, name = ("lacks", missing[0]) if missing else ("has the unexpected", unexpected[0])
            others = len(missing or unexpected) - 1
            more = f" and {others} more" if others else ""
            raise ValueError(
                f"{argument} {does} series {name!r}{more}: {own} has {len(self.names)} series, "
                f"{short(list(self.names))}. Give {argument} for "
                f"{'each of them' if all_ else 'some of them'}, and for no other."
            )


def is_panel(data: Any) -> bool:
    """Whether data are several series, each of which is an array, a series or a frame."""
    if is_named(data) or isinstance(data, LongFrame):
        return True
    if isinstance(data, list | tuple):
        return any(_is_table(one) for one in data)
    return kind_of(data) == "pandas" and data.index.nlevels > 1


def has_one_each(X: Any, y: Any) -> bool:
    """Whether ``y`` has one number, or one row of them, for each of several whole sequences ``X``.

    Sequences are arrays or frames in a list, or an array ``(n, time, inputs)``. An array ``y (n,
    time)`` or ``(n, time, outputs)`` beside the latter has a row for every step, as a list of
    arrays has beside a list.
    """
    shapes, row = _shapes(X), _row_of(y)
    axes, steps = max(map(len, shapes), default=0), {one[0] for one in shapes if one}
    if axes == 0 or row is None:
        return False
    if axes == 1 and len(steps) == 1:
        raise ValueError(
            f"X is a list of {len(shapes)} arrays of shape {shapes[0]}, and y has one entry for "
            "each: they may be rows of one table, or sequences of one input. Give np.array(X) for "
            "a table, or [x[:, None] for x in X] for sequences."
        )
    if row == tuple(steps) and isinstance(X, list | tuple):
        raise ValueError(
            f"y has shape {y.shape}, and X is a list of {len(shapes)} sequences of {row[0]} steps: "
            "y may have a number for every step, or a row of numbers for each sequence. Give "
            "list(y) for the former; for the latter fit some columns of y at a time."
        )
    return len(row) < 2 and row != tuple(steps)


def _shapes(X: Any) -> list[tuple[int, ...]]:
    """Shapes of the sequences that data hold, as a list or an array does; () of what is none."""
    if len(getattr(X, "shape", ())) == 3:
        return [tuple(X.shape[1:])] * len(X)
    return [tuple(getattr(one, "shape", ())) for one in X] if _holds(X) else []


def _row_of(y: Any) -> tuple[int, ...] | None:
    """The shape of an entry of what has one for each sequence; None for several series."""
    if _holds(y):
        return () if len(y) and all(np.ndim(one) == 0 for one in y) else None
    shape = getattr(y, "shape", ())
    return None if len(shape) == 0 or is_panel(y) else tuple(shape[1:])


def _holds(data: Any) -> bool:
    """Whether data are a list, or an array of objects that is used as one."""
    held = isinstance(data, np.ndarray) and data.dtype == object and data.ndim == 1
    return held or isinstance(data, list | tuple)


def is_named(data: Any) -> bool:
    """Whether data are a dict, which some sparse matrices are, too."""
    return isinstance(data, dict) and not hasattr(data, "tocsr")


def _is_table(data: Any) -> bool:
    return kind_of(data) != "numpy" or (hasattr(data, "shape") and len(data.shape) > 0)


def panel_of(data: Any, argument: str) -> tuple[Panel, list[Any]]:
    """What series were given in, and each of them."""
    entries = list(_entries(data, argument))
    if not entries:
        raise ValueError(f"{argument} is empty: it holds no series. Give at least one.")
    names, each = zip(*entries, strict=True)
    if isinstance(data, dict):
        return Panel("dict", names), list(each)
    if isinstance(data, list | tuple):
        return Panel("tuple" if isinstance(data, tuple) else "list", names), list(each)
    if isinstance(data, LongFrame):
        target = data.target if isinstance(data.target, str) else tuple(data.target)
        return Panel("long", names, (data.id, data.time, target, kind_of(data.frame))), list(each)
    return Panel("frame", names, data.index.names[0]), list(each)


def _entries(data: Any, argument: str) -> Iterator[tuple[Any, Any]]:
    """Names and data of each series."""
    if isinstance(data, dict | LongFrame):
        yield from (data if isinstance(data, dict) else data.series()).items()
    elif isinstance(data, list | tuple):
        yield from enumerate(data)
    else:
        _check_index(data.index, argument)
        for name, part in data.groupby(level=0, sort=False, observed=True):
            yield name, part.droplevel(0)


def _check_index(index: Any, argument: str) -> None:
    """Raise for an index that does not name every row by series and time, once."""
    if index.nlevels != 2:
        raise ValueError(
            f"{argument} has an index of {index.nlevels} levels, expected two: series, then time. "
            "Join levels that name a series into one, or drop what is left over."
        )
    if index.get_level_values(0).hasnans:
        row = int(np.argmax(index.get_level_values(0).isna()))
        raise ValueError(f"{argument} has no name of a series in row {row}. Name or drop it.")
    if not index.is_unique:
        name, time = index[index.duplicated()][0]
        raise ValueError(
            f"{argument} has two rows of series {name!r} for {time!s}. Give each series a name of "
            "its own, or drop all but one row."
        )
