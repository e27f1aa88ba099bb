"""What a model file says: named values as JSON, arrays beside it as ``.npy`` members.

Reading bounds what parsing may cost, and makes nothing but numbers, strings, tuples, views of the
members and the few kinds of `_persistence.objects`. Whether they are what an estimator holds is for
`_persistence.expected` to say.
"""

from __future__ import annotations

import io
import json
import math
import re
from reprlib import repr as short
from typing import Any

import numpy as np

from echofold._machine.archives import array_in
from echofold._persistence.objects import MADE, taken_apart

LONGEST = 4_000_000  # bytes of JSON; with the next, a text parses in less than 40 MB
MOST_VALUES = 150_000
DEEPEST = 32
LONGEST_NAME = 100
MOST_DIGITS = 4_300  # of an integer, as Python's own limit
FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


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
    kind, parts = taken_apart(value, name)
    return {kind: encode_parts(parts, name, members)}


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
    if kind in MADE:
        return MADE[kind](name, decode_parts(held, name, members))
    raise ValueError(
        f"{name} is {short(value)}, expected a value or one kind of value with what it holds"
    )


def decode_parts(parts: Any, name: str, members: dict[str, Any]) -> dict[str, Any]:
    """The named values that JSON stands for."""
    if not isinstance(parts, dict):
        raise ValueError(f"{name} is {short(parts)}, expected named values")
    return {k: decode(v, f"{name}.{k}", members) for k, v in parts.items()}
