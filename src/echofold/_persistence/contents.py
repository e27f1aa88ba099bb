"""What a model file says: named values as JSON, arrays beside it as ``.npy`` members.

Reading bounds what parsing may cost and makes nothing but numbers, strings, tuples, views of the
members, and parts of objects that are named but not made. Whether they are what an estimator
holds is for `_persistence.expected` to say.
"""

from __future__ import annotations

import io
import json
import math
import re
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from echofold._data.dates import Timeline
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema
from echofold._engine.kind import Reservoir
from echofold._persistence.frozen import freeze

LONGEST = 4_000_000  # bytes of JSON; with the next, a text parses in less than 40 MB
MOST_VALUES = 150_000
DEEPEST = 32
LONGEST_NAME = 100
MOST_DIGITS = 4_300  # of an integer, as Python's own limit
PARTED = ("csr", "Timeline", "Schema", "Scaler", "Reservoir")
CLASS = "class"  # of a reservoir, beside its parameters, none of which Python lets be called so
FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
# The header as NumPy writes it, for plain numbers, booleans and strings only.
HEADER = re.compile(
    rb"\{'descr': '([<>|])([biufUS])([1-9]\d{0,9})', 'fortran_order': (True|False), "
    rb"'shape': \((|\d{1,18},|\d{1,18}(?:, \d{1,18}){1,7})\), \} *\n"
)
ALIGNED = 64  # bytes; an array elsewhere would have to be copied
SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16)}  # bytes


class Parts(NamedTuple):
    """A sparse matrix or an object of the library, by its parts."""

    kind: str
    parts: dict[str, Any]


# --- writing ------------------------------------------------------------------------------------


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
    if hasattr(value, "tocsr"):
        csr = value.tocsr()
        parts = {k: getattr(csr, k) for k in ("data", "indices", "indptr", "shape")}
        return {"csr": encode_parts(parts, name, members)}
    if isinstance(value, Timeline):
        return {"Timeline": encode_parts(freeze(value), name, members)}
    if isinstance(value, Reservoir):
        _check_savable(value, name)
        parts = {CLASS: value.called(), **value.get_params(deep=False)}
        return {"Reservoir": encode_parts(parts, name, members)}
    if isinstance(value, Schema | Scaler):
        return {type(value).__name__: encode_parts(vars(value), name, members)}
    raise TypeError(
        f"{name} holds a {type(value).__name__}, which cannot be saved without pickle: numbers, "
        "strings, arrays and sparse matrices can. Change it and fit again."
    )


def _check_savable(kind: Reservoir, name: str) -> None:
    """Raise for a reservoir made of functions or objects that a file cannot hold."""
    if kind.objects:
        raise TypeError(
            f"{name} is a {type(kind).__name__}, whose {', '.join(kind.objects)} cannot be saved "
            "without pickle. Write what it does into a subclass of echofold.reservoirs.Reservoir, "
            "which files call by its name, and fit again."
        )


def encode_parts(parts: dict[str, Any], name: str, members: dict[str, bytes]) -> dict[str, Any]:
    """JSON for named values; ``name`` is of what they are parts of."""
    return {k: encode(v, f"{name}.{k}".lstrip("."), members) for k, v in parts.items()}


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


# --- reading ------------------------------------------------------------------------------------


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


def decode(value: Any, name: str, members: dict[str, Any]) -> Any:
    """The value that JSON stands for; an array takes its member, so that none is taken twice."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind, held = next(iter(value.items())) if _is_single(value) else (None, None)
    if kind == "float" and isinstance(held, str) and held in FLOATS:
        return FLOATS[held]
    if kind == "array" and isinstance(held, str):
        if held not in members:
            raise ValueError(f"{name} is in {short(held)}, which is not there or taken already")
        return _array(members.pop(held), held)
    if kind == "strings" and isinstance(held, list) and all(isinstance(s, str) for s in held):
        return np.array(held, dtype=object)
    if kind in ("list", "tuple") and isinstance(held, list):
        parts = [decode(part, f"{name}.{i}", members) for i, part in enumerate(held)]
        return parts if kind == "list" else tuple(parts)
    if kind in PARTED:
        return Parts(kind, decode_parts(held, name, members))
    raise ValueError(
        f"{name} is {short(value)}, expected a value or one kind of value with what it holds"
    )


def decode_parts(parts: Any, name: str, members: dict[str, Any]) -> dict[str, Any]:
    """The named values that JSON stands for."""
    if not isinstance(parts, dict):
        raise ValueError(f"{name} is {short(parts)}, expected named values")
    return {k: decode(v, f"{name}.{k}", members) for k, v in parts.items()}


def _array(member: Any, name: str) -> np.ndarray:
    """A view of an ``.npy`` member, which holds exactly what its header says."""
    length = int.from_bytes(member[8:10], "little")
    header = HEADER.fullmatch(member[10 : 10 + length])
    if bytes(member[:8]) != b"\x93NUMPY\1\0" or header is None or (10 + length) % ALIGNED:
        raise ValueError(f"{name} is not an array of plain numbers or strings as NumPy saves it")
    order, kind, width, fortran, sizes = (part.decode() for part in header.groups())
    shape = tuple(int(size) for size in re.findall(r"\d+", sizes))
    itemsize = int(width) * (4 if kind == "U" else 1)
    held = len(member) - 10 - length
    if itemsize * math.prod(shape) != held or itemsize not in SIZES.get(kind, (itemsize,)):
        raise ValueError(f"{name} has {held} bytes for shape {shape} of {kind}{width}")
    dtype = np.dtype(f"{order}{kind}{width}")
    if not held:
        return np.zeros(shape, dtype)
    # NumPy and Python take for granted that booleans and characters are such.
    raw, most = {"b": ("u1", 1), "U": (f"{order}u4", 0x10FFFF)}.get(kind, (None, 0))
    if raw is not None and np.frombuffer(member, raw, offset=10 + length).max() > most:
        raise ValueError(f"{name} holds what is neither a boolean nor a character")
    array = np.frombuffer(member, dtype, offset=10 + length)
    array = array.reshape(shape, order="F" if fortran == "True" else "C")
    return array if array.flags.aligned else array.copy()


def _is_single(value: Any) -> bool:
    """Whether JSON is an object with one entry."""
    return isinstance(value, dict) and len(value) == 1


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
