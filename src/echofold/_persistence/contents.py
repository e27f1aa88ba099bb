"""What a model file says: named values as JSON, arrays beside it as ``.npy`` members.

Reading bounds what parsing may cost, and makes nothing but numbers, strings, tuples, views of the
members, and objects of the few kinds below, whose parts are checked before. Whether they are what
an estimator holds is for `_persistence.expected` to say.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from echofold._data.dates import Timeline
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema
from echofold._engine.kind import KINDS, Reservoir
from echofold._machine.archives import array_in
from echofold._models.base import Stored
from echofold._models.learning import Learning
from echofold._persistence.expected import LEARNING, check, require

LONGEST = 4_000_000  # bytes of JSON; with the next, a text parses in less than 40 MB
MOST_VALUES = 150_000
DEEPEST = 32
LONGEST_NAME = 100
MOST_DIGITS = 4_300  # as Python's own limit, which can be lifted
FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
CLASS = "class"  # of a reservoir, beside its parameters, none of which Python lets be called so
CSR = {
    "data": Stored("values"),
    **dict.fromkeys(("indices", "indptr"), Stored("indices")),
    "shape": Stored("sizes"),
}
SCALER = {"center": Stored("floats", ("columns",)), "unit": Stored("positive", ("columns",))}
SCHEMA = {
    "kind": Stored("table"),
    "names": Stored("label"),
    "holds": Stored("contents"),
    "flat": Stored("truth"),
    "shape": Stored("shape", optional=True),
}
TIMELINE = {"kind": Stored("word"), "rows": Stored("count"), "name": Stored("label")}
TIMELINES = {
    "dates": TIMELINE
    | {"last": Stored("date"), "step": Stored("frequency")}
    | {"unit": Stored("resolution"), "tz": Stored("zone", optional=True)},
    "periods": TIMELINE | {"last": Stored("integer"), "step": Stored("frequency")},
    "integers": TIMELINE | {"last": Stored("place"), "step": Stored("step")},
    "rows": TIMELINE | dict.fromkeys(("last", "step"), Stored("nothing")),
}
MOST_STEPS = 100_000  # of a calendar offset, which pandas may take one by one
# Periods in a year, at most; they are counted from 1970.
A_YEAR = {"Y": 1, "A": 1, "Q": 4, "M": 12, "W": 53, "B": 262, "D": 366, "h": 8784, "H": 8784}
A_YEAR |= {"min": 527_040, "T": 527_040, "s": 31_622_400, "S": 31_622_400}


# --- writing --------------------------------------------------------------------------------------


def encode(value: Any, name: str, members: dict[str, bytes]) -> Any:
    """JSON for a value: itself, or ``{kind: parts}``; arrays become ``members``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        held = [encode(part, f"{name}.{i}", members) for i, part in enumerate(value)]
        return {type(value).__name__: held}
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, members)
    kind, parts = parts_of(value, name)
    return {kind: encode_parts(parts, name, members)}


def encode_parts(parts: dict[str, Any], name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """JSON for named values; ``name`` is of what they are parts of."""
    return {k: encode(v, f"{name}.{k}".lstrip("."), members) for k, v in parts.items()}


def encode_each(
    each: Sequence[dict[str, Any]], name: str, members: dict[str, bytes]
) -> dict[str, Any]:
    """JSON for named values of many things; arrays of one name become a member together.

    Values that are the same for all are there once. An array that one of them has not has a shape
    of -1.
    """
    held: list[dict[str, bytes]] = [{} for _ in each]
    values = [encode_parts(one, "", own) for one, own in zip(each, held, strict=True)]
    columns = {key: [one[key] for one in values] for key in values[0]}
    arrays = {}
    for member in dict.fromkeys(part for own in held for part in own):
        found = [np.load(io.BytesIO(own[member])) if member in own else None for own in held]
        axes = next(one.ndim for one in found if one is not None)
        shapes = np.array([(-1,) * axes if one is None else one.shape for one in found])
        flat = np.concatenate([one.ravel() for one in found if one is not None])
        parts = {"shapes": shapes, "values": flat}
        arrays[member] = encode_parts(parts, f"{name}.{member.removesuffix('.npy')}", members)
    same = {key: column for key, column in columns.items() if all(v == column[0] for v in column)}
    return {
        "count": len(each),
        "same": {key: column[0] for key, column in same.items()},
        "each": {key: column for key, column in columns.items() if key not in same},
        "arrays": arrays,
    }


def _encode_array(array: np.ndarray, name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """An array as a member, or as a list of strings if NumPy holds them as objects."""
    if array.dtype.kind in "OT":
        strings = array.tolist()
        if array.ndim != 1 or not all(isinstance(value, str) for value in strings):
            raise TypeError(
                f"{name} is an array of Python objects, which cannot be saved without pickle. "
                "Give labels that are all strings, or all numbers."
            )
        return {"strings": strings}
    member = io.BytesIO()
    np.save(member, array, allow_pickle=False)
    members[f"{name}.npy"] = member.getvalue()
    return {"array": f"{name}.npy"}


def parts_of(value: Any, name: str) -> tuple[str, dict[str, Any]]:
    """The kind of an object and its parts; `TypeError` for one that no file holds."""
    if hasattr(value, "tocsr"):
        rows = value.tocsr()
        return "csr", {part: getattr(rows, part) for part in CSR}
    if isinstance(value, Timeline):
        return "Timeline", _timeline_parts(value)
    if isinstance(value, Schema) and value.shape is None:
        return "Schema", {part: held for part, held in vars(value).items() if part != "shape"}
    if isinstance(value, Schema | Scaler):
        return type(value).__name__, vars(value)
    if isinstance(value, Learning):
        return "Learning", value.parts()
    if not isinstance(value, Reservoir):
        raise TypeError(
            f"{name} holds a {type(value).__name__}, which cannot be saved without pickle: "
            "numbers, strings, arrays and sparse matrices can. Change it and fit again."
        )
    if value.objects:
        raise TypeError(
            f"{name} is a {type(value).__name__}, whose {', '.join(value.objects)} cannot be saved "
            "without pickle. Write what it does into a subclass of echofold.reservoirs.Reservoir, "
            "which files call by its name, and fit again."
        )
    return "Reservoir", {CLASS: value.called(), **value.get_params(deep=False)}


def _timeline_parts(ends: Timeline) -> dict[str, Any]:
    """A timeline as plain strings and numbers, from which the same one can be made."""
    parts = vars(ends) | {"name": None}  # what its name is, is for the value itself to say
    if ends.kind == "dates":
        tz = ends.last.tz
        parts |= {"last": ends.last.isoformat(), "step": ends.step.freqstr}
        parts |= {"unit": ends.last.unit, "tz": None if tz is None else str(tz)}
    elif ends.kind == "periods":
        parts |= {"last": ends.last.ordinal, "step": ends.last.freqstr}
    try:
        same = vars(_timeline("", parts)) == vars(ends) | {"name": None}
    except ValueError:
        same = False
    if not same:
        raise ValueError(
            f"the index of y, with frequency {ends.step!r} from {ends.last!s}, cannot be stored: "
            "its frequency or time zone has no name that pandas reads back. Use a frequency and "
            "time zone that have one, or fit without an index."
        )
    return parts | {"name": ends.name}


# --- reading --------------------------------------------------------------------------------------


def parse(text: bytes | bytearray) -> Any:
    """JSON, parsed after a look at its size and depth; `ValueError` for more than is sensible."""
    if len(text) > LONGEST:
        raise ValueError(f"{len(text)} bytes of JSON, expected at most {LONGEST}")
    # Without its strings, a text shows its structure. A pair of backslashes goes before an escaped
    # quote; counting comes first because taking strings out costs memory for each.
    bare = text.replace(rb"\\", b"").replace(rb"\"", b"")
    if bare.count(b'"') <= 2 * MOST_VALUES:
        bare = re.sub(rb'"[^"]*"', b"", bare)
    if sum(map(bare.count, (b"[", b"{", b",", b":", b'"'))) > MOST_VALUES:
        raise ValueError(f"JSON of more than {MOST_VALUES} values")
    depth = 0
    for bracket in re.sub(rb"[^][}{]+", b"", bare):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEEPEST:
            raise ValueError(f"JSON that is nested more than {DEEPEST} deep")
    return json.loads(
        text.decode("ascii"),
        parse_int=_integer,
        parse_constant=_no_constant,
        object_pairs_hook=_unique,
    )


def _integer(digits: str) -> int:
    """An integer; Python takes a time that grows with the square of its length."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _no_constant(word: str) -> None:
    """Raise for the words that Python reads beside JSON's own."""
    raise ValueError(f"{word}, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose names must differ and, as they are put into messages, be short."""
    named = dict(pairs)
    if len(named) != len(pairs) or any(len(name) > LONGEST_NAME for name in named):
        raise ValueError("an object with two values of one name, or a name that is too long")
    return named


def decode(value: Any, name: str, members: dict[str, Any]) -> Any:
    """The value that JSON stands for; an array takes its member, so that none is taken twice."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    single = isinstance(value, dict) and len(value) == 1
    kind, held = next(iter(value.items())) if single else (None, None)
    if kind == "float" and isinstance(held, str) and held in FLOATS:
        return FLOATS[held]
    if kind == "array" and isinstance(held, str):
        if held not in members:
            raise ValueError(f"{name} is in {short(held)}, which is not there or taken already")
        return array_in(members.pop(held), held)
    if kind == "strings" and isinstance(held, list) and all(isinstance(s, str) for s in held):
        return np.array(held, dtype=object)
    if kind in ("list", "tuple") and isinstance(held, list):
        parts = [decode(part, f"{name}.{i}", members) for i, part in enumerate(held)]
        return parts if kind == "list" else tuple(parts)
    if kind in MAKERS:
        return MAKERS[kind](name, decode_parts(held, name, members))
    raise ValueError(
        f"{name} is {short(value)}, expected a value or one kind of value with what it holds"
    )


def decode_parts(parts: Any, name: str, members: dict[str, Any]) -> dict[str, Any]:
    """The named values that JSON stands for."""
    if not isinstance(parts, dict):
        raise ValueError(f"{name} is {short(parts)}, expected named values")
    return {k: decode(v, f"{name}.{k}", members) for k, v in parts.items()}


def decode_each(held: Any, name: str, members: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The named values of each of many things that JSON stands for, as `encode_each` wrote it."""
    fine = isinstance(held, dict) and held.keys() == {"count", "same", "each", "arrays"}
    require(fine, name, held, "a count, what is the same, what is not, and arrays")
    count = held["count"]
    fine = type(count) is int and 1 <= count <= MOST_VALUES
    require(fine, f"{name}.count", count, "a number of series")
    for part in ("same", "each", "arrays"):
        require(isinstance(held[part], dict), f"{name}.{part}", held[part], "named values")
    for key, column in held["each"].items():
        fine = isinstance(column, list) and len(column) == count
        require(fine, f"{name}.each.{key}", column, f"{count} values")
    arrays = {
        member: _taken_apart(decode_parts(parts, f"{name}.{member}", members), member, count)
        for member, parts in held["arrays"].items()
    }
    for place in range(count):
        own: dict[str, Any] = {}
        for member, each in arrays.items():
            if (array := each[place]) is not None:
                file = io.BytesIO()
                np.save(file, array, allow_pickle=False)
                own[member] = file.getvalue()
        values = held["same"] | {key: column[place] for key, column in held["each"].items()}
        yield decode_parts(values, "", own)
        require(not own, f"{name} {place}", sorted(own), "arrays that belong to a value")


def _taken_apart(parts: dict[str, Any], name: str, count: int) -> list[np.ndarray | None]:
    """The arrays of many things, of their shapes and of all values one after the other."""
    check(name, parts, {"shapes": Stored("integers"), "values": Stored("values")})
    shapes, values = parts["shapes"], parts["values"]
    there = (shapes >= 0).all(axis=1)
    sizes = np.where(there, np.where(there[:, None], shapes, 0).astype(float).prod(axis=1), 0.0)
    fine = len(shapes) == count and ((shapes == -1).all(axis=1) | there).all()
    fine = fine and sizes.sum() == len(values)
    require(bool(fine), f"{name}.shapes", shapes, f"shapes of {count} arrays of {len(values)}")
    flat = iter(np.split(values, np.cumsum(sizes[there]).astype(int)[:-1]))
    return [
        next(flat).reshape(shape) if own else None
        for shape, own in zip(shapes.tolist(), there, strict=True)
    ]


# --- objects --------------------------------------------------------------------------------------


def _checked(
    name: str, kind: str, parts: dict[str, Any], table: dict[str, Stored], **sizes: int
) -> list[Any]:
    """The parts of an object in the order of their table, by which they are checked."""
    check(f"{name}, a {kind} of {', '.join(table)}", parts, table, sizes, f"{name}.")
    return [parts[part] for part in table]


def _reservoir(name: str, parts: dict[str, Any]) -> Reservoir:
    """A reservoir by its kind and parameters, which it checks itself when it is used."""
    called = parts.get(CLASS)
    known = "a kind of reservoir that is known here; import what defines it first"
    require(isinstance(called, str) and called in KINDS, name, called, known)
    kind = KINDS[str(called)]
    without = "a kind of reservoir without functions, which no file holds"
    require(not kind.objects, name, called, without)
    params = kind._get_param_names()
    held = "plain or reservoir" if kind._of_fields else "plain"
    table = dict.fromkeys((CLASS, *params), Stored(held))
    return kind(**dict(zip(params, _checked(name, "Reservoir", parts, table)[1:], strict=True)))


def _sparse(name: str, parts: dict[str, Any]) -> Any:
    """A sparse matrix whose indices all point inside it; nothing that reads it checks them."""
    data, indices, starts, shape = _checked(name, "csr", parts, CSR)
    if len(indices) != len(data) or len(starts) != shape[0] + 1:
        raise ValueError(
            f"{name} has {len(data)} values, {len(indices)} indices and {len(starts)} pointers "
            f"for shape {shape}"
        )
    if starts[0] != 0 or starts[-1] != len(data) or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{name}.indptr does not rise from 0 to {len(data)}")
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        raise ValueError(f"{name}.indices points outside of {shape[1]} columns")
    return csr_array((data, indices, starts), shape=shape)


def _scaler(name: str, parts: dict[str, Any]) -> Scaler:
    """How columns are scaled."""
    _, unit = _checked(name, "Scaler", parts, SCALER)
    return Scaler(*_checked(name, "Scaler", parts, SCALER, columns=len(unit)))


def _learning(name: str, parts: dict[str, Any]) -> Learning:
    """What `partial_fit` goes on from."""
    _checked(name, "Learning", parts, LEARNING)
    size = {"all": len(parts["R"]), "all but one": len(parts["R"]) - 1}
    _checked(name, "Learning", parts, LEARNING, **size)
    return Learning.of_parts(**parts)


def _schema(name: str, parts: dict[str, Any]) -> Schema:
    """What is remembered of a table."""
    parts = {"shape": None, **parts}  # which tables have not
    kind, names, holds, flat, shape = _checked(name, "Schema", parts, SCHEMA)
    fine = shape is None or (kind == "numpy" and math.prod(shape) == len(holds))
    require(fine, f"{name}.shape", shape, "that of all columns")
    require(not flat or len(holds) == 1, f"{name}.holds", holds, "one column if flat")
    fine = kind == "numpy" or len(holds) <= 1
    if names is not None:
        fine = isinstance(names, tuple) and len(names) == len(holds) == len(set(names))
        fine = fine and _are_names(names, kind, flat)
    require(fine, f"{name}.names", names, f"names that {kind} takes, one for each column")
    return Schema(kind, names, holds, flat, shape)


def _are_names(names: tuple, kind: str, flat: bool) -> bool:
    """Whether the kind of table takes these names of columns."""
    if kind == "polars" and all(isinstance(one, str) for one in names):
        "".join(names).encode()  # `UnicodeEncodeError`, a `ValueError`, for half a character
        return True
    if kind != "pandas" or flat:
        return kind == "pandas"
    try:
        return len(pd.Index(names)) == len(names)
    except Exception:  # pandas raises whatever the conversion it tries first raises
        return False


def _timeline(name: str, parts: dict[str, Any]) -> Timeline:
    """Where an index ends."""
    kind = parts.get("kind")
    known = isinstance(kind, str) and kind in TIMELINES
    require(known, f"{name}.kind", kind, "a kind of index")
    table = TIMELINES[str(kind)]
    _, rows, called, last, step, *zone = _checked(name, "Timeline", parts, table)
    if kind in ("dates", "periods"):
        last, step = _calendar(name, last, step, *zone)
    return Timeline(str(kind), last, step, rows, called)


def _calendar(name: str, last: Any, step: str, unit: str = "", tz: str | None = None) -> Any:
    """The last date, or the last period if it has no ``unit``, and the offset to the next."""
    a_year = A_YEAR.get(re.sub(r"\d|-.*", "", step), 2**63)
    known = bool(unit) or abs(last) < min(10_000 * a_year, 2**63)
    require(known, f"{name}.last", last, "a period of the calendar")
    try:
        if unit:
            date, offset = pd.Timestamp(last).as_unit(unit), pd.tseries.frequencies.to_offset(step)
            date = date if tz is None else date.tz_convert(tz)
        else:
            date = pd.Period(ordinal=last, freq=step)
            offset = date.freq
    except Exception as error:  # pandas raises whatever its parsers and the zone's file raise
        raise ValueError(f"pandas does not read {last} by {step}: {error}") from error
    most = 2**63 if isinstance(offset, pd.offsets.Tick) else MOST_STEPS
    require(1 <= offset.n <= most, f"{name}.step", step, f"1 to {most} units")
    require(not unit or 1 <= date.year <= 9999, f"{name}.last", last, "a year of the calendar")
    return date, offset


MAKERS: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "csr": _sparse,
    "Timeline": _timeline,
    "Schema": _schema,
    "Learning": _learning,
    "Scaler": _scaler,
    "Reservoir": _reservoir,
}
