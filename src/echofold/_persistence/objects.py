"""Values that a model file holds by their parts: sparse matrices, reservoirs, tables and time.

Parts may be from a stranger. They are checked before an object is made of them, without a copy of
an array; whatever is wrong with them is a `ValueError`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from reprlib import repr as short
from typing import Any, NoReturn

import numpy as np

from echofold._data.dates import Timeline
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema
from echofold._engine.kind import KINDS, Reservoir

CLASS = "class"  # of a reservoir, beside its parameters, none of which Python lets be called so
CSR = ("data", "indices", "indptr", "shape")
FREQUENCY = r"\d{0,18}[A-Za-z]{1,6}(-[A-Za-z0-9]{1,4}){0,4}"
# A zone's key, an offset, or the zone of this machine. No other name: pandas opens a file by it.
ZONE = (
    r"(?!dateutil)[A-Za-z][A-Za-z0-9_+-]{0,39}(/[A-Za-z0-9_+-]{1,40}){0,3}"
    r"|UTC[+-]\d\d:\d\d(:\d\d)?|tzlocal\(\)"
)
MOST_STEPS = 100_000  # of a calendar offset, which pandas may take one by one
# Periods in a year, at most; they are counted from 1970.
A_YEAR = {"Y": 1, "A": 1, "Q": 4, "M": 12, "W": 53, "B": 262, "D": 366, "h": 8784, "H": 8784}
A_YEAR |= {"min": 527_040, "T": 527_040, "s": 31_622_400, "S": 31_622_400}


# --- checks of single values ----------------------------------------------------------------------


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    """Raise, saying what was got and what was expected."""
    if isinstance(value, np.ndarray):
        value = f"an array of {value.dtype} and shape {value.shape}"
    elif hasattr(value, "tocsr") or isinstance(value, Scaler | Schema | Timeline | Reservoir):
        value = f"a {type(value).__name__}"
    else:
        value = short(value)
    raise ValueError(f"{name} is {value}, expected {expected}")


def require(fine: bool, name: str, value: Any, expected: str) -> None:
    """Raise unless a value is fine."""
    if not fine:
        refuse(name, value, expected)


def is_integer(value: Any, below: float = math.inf) -> bool:
    """Whether a value is an integer (no boolean), smaller than ``below`` either way."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < below


def is_count(value: Any) -> bool:
    """Whether a value is a positive integer of 63 bits."""
    return is_integer(value, 2**63) and value >= 1


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, within what a float or a 64-bit integer holds."""
    return is_integer(value, 2**64) or (isinstance(value, float) and math.isfinite(value))


def is_one_of(value: Any, *words: str) -> bool:
    """Whether a value is one of these words; an array would compare item by item."""
    return isinstance(value, str) and value in words


def is_label(value: Any) -> bool:
    """Whether a value may name a column or an index: a scalar, or a tuple of such."""
    if isinstance(value, tuple):
        return all(map(is_label, value))
    return value is None or isinstance(value, bool | int | float | str)


def is_matrix(value: Any) -> bool:
    """Whether a value is a matrix of numbers, dense or sparse."""
    dense = isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.size > 0
    return dense or hasattr(value, "tocsr")


def is_plain(value: Any, deepest: int = 2) -> bool:
    """Whether a value may be given as a parameter of a reservoir."""
    if isinstance(value, list | tuple):
        return deepest > 0 and all(is_plain(part, deepest - 1) for part in value)
    return value is None or isinstance(value, bool | str) or is_number(value) or is_matrix(value)


def fits(found: Sequence[int], shape: Sequence[int | str]) -> bool:
    """Whether sizes are those of a shape, in which a word stands for any size from 1 on."""
    same = len(found) == len(shape) and all(size >= 1 for size in found)
    return same and all(isinstance(n, str) or n == m for n, m in zip(shape, found, strict=True))


def are_floats(value: Any, shape: Sequence[int | str], finite: bool = True) -> bool:
    """Whether a value is an array of 64-bit floats."""
    plain = isinstance(value, np.ndarray) and value.dtype == np.float64
    return plain and fits(value.shape, shape) and (not finite or bool(np.isfinite(value).all()))


def _parts(name: str, kind: str, parts: dict[str, Any], expected: Sequence[str]) -> list[Any]:
    """The parts of an object in this order, which must be these."""
    if set(parts) != set(expected):
        found, wanted = short(sorted(parts)), ", ".join(expected)
        raise ValueError(f"{name} is a {kind} of {found}, expected a {kind} of {wanted}")
    return [parts[part] for part in expected]


# --- objects --------------------------------------------------------------------------------------


def taken_apart(value: Any, name: str) -> tuple[str, dict[str, Any]]:
    """The kind of an object and its parts; `TypeError` for one that no file holds."""
    if hasattr(value, "tocsr"):
        rows = value.tocsr()
        return "csr", {part: getattr(rows, part) for part in CSR}
    if isinstance(value, Timeline):
        return "Timeline", _timeline_parts(value)
    if isinstance(value, Schema | Scaler):
        return type(value).__name__, vars(value)
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


def _reservoir(name: str, parts: dict[str, Any]) -> Reservoir:
    """A reservoir by its kind and parameters, which it checks itself when it is used."""
    called = parts.get(CLASS)
    known = "a kind of reservoir that is known here; import what defines it first"
    require(isinstance(called, str) and called in KINDS, name, called, known)
    kind = KINDS[str(called)]
    without = "a kind of reservoir without functions, which no file holds"
    require(not kind.objects, name, called, without)
    _parts(name, "Reservoir", parts, (CLASS, *kind._get_param_names()))
    for parameter, held in parts.items():
        require(is_plain(held), f"{name}.{parameter}", held, "numbers or words")
    return kind(**{parameter: held for parameter, held in parts.items() if parameter != CLASS})


def _sparse(name: str, parts: dict[str, Any]) -> Any:
    """A sparse matrix whose indices all point inside it; nothing that reads it checks them."""
    from scipy.sparse import csr_array

    data, indices, starts, shape = _parts(name, "csr", parts, CSR)
    sizes = isinstance(shape, tuple) and len(shape) == 2 and all(map(is_count, shape))
    require(sizes, f"{name}.shape", shape, "two sizes")
    for part, kinds in (("data", "iuf"), ("indices", "i"), ("indptr", "i")):
        value = parts[part]
        if (
            not isinstance(value, np.ndarray)
            or value.ndim != 1
            or value.dtype.kind not in kinds
            or not value.dtype.isnative
            or (kinds == "i" and value.dtype.itemsize < 4)
        ):
            refuse(f"{name}.{part}", value, "one axis of numbers, 32- or 64-bit for indices")
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
    center, unit = _parts(name, "Scaler", parts, ("center", "unit"))
    positive = are_floats(unit, ["columns"]) and bool((unit > 0).all())
    require(positive, f"{name}.unit", unit, "positive numbers of float64, one for each column")
    each = "finite numbers of float64, one for each unit"
    require(are_floats(center, [len(unit)]), f"{name}.center", center, each)
    return Scaler(center, unit)


def _schema(name: str, parts: dict[str, Any]) -> Schema:
    """What is remembered of a table."""
    kind, names, holds, flat = _parts(name, "Schema", parts, ("kind", "names", "holds", "flat"))
    table = is_one_of(kind, "numpy", "pandas", "polars") and isinstance(flat, bool)
    words = "a kind of table, and whether it is flat"
    require(table, f"{name}.kind and flat", (kind, flat), words)
    several = isinstance(holds, tuple) and all(
        is_one_of(held, "numbers", "booleans") for held in holds
    )
    require(several, f"{name}.holds", holds, "'numbers' or 'booleans' for each column")
    require(not flat or len(holds) == 1, f"{name}.holds", holds, "one column if flat")
    if names is None:
        unnamed = kind == "numpy" or len(holds) <= 1
        require(unnamed, f"{name}.names", names, "a name for each column")
    else:
        named = kind != "numpy" and isinstance(names, tuple) and len(names) == len(holds)
        words = "a name for each column of a table that has them"
        require(named and is_label(names), f"{name}.names", names, words)
        _check_names(f"{name}.names", names, kind, flat)
    return Schema(kind, names, holds, flat)


def _check_names(name: str, names: tuple, kind: str, flat: bool) -> None:
    """Raise unless the kind of table takes these names of columns."""
    require(len(set(names)) == len(names), name, names, "names that differ")
    if kind == "polars":
        require(all(isinstance(one, str) for one in names), name, names, "strings")
        "".join(names).encode()  # `UnicodeEncodeError`, a `ValueError`, for half a character
    elif not flat:
        import pandas as pd

        try:
            fits = len(pd.Index(names)) == len(names)
        except Exception:  # pandas raises whatever the conversion it tries first raises
            fits = False
        require(fits, name, names, "names that pandas takes")


# --- time -----------------------------------------------------------------------------------------


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


def _timeline(name: str, parts: dict[str, Any]) -> Timeline:
    """Where an index ends. Strings are short and of a known form before pandas reads them."""
    kind = parts.get("kind")
    require(is_one_of(kind, *LABELS), f"{name}.kind", kind, "a kind of index")
    forms = {"rows": is_count, "name": is_label, **LABELS[str(kind)]}
    _parts(name, "Timeline", parts, ("kind", *forms))
    for part, form in forms.items():
        fine = form(parts[part]) if callable(form) else _matches(form, parts[part])
        require(bool(fine), f"{name}.{part}", parts[part], "what an index of its kind has")
    last, step = parts["last"], parts["step"]
    if kind in ("dates", "periods"):
        last, step = _calendar(name, **{part: parts[part] for part in LABELS[kind]})
    return Timeline(str(kind), last, step, parts["rows"], parts["name"])


def _calendar(name: str, last: Any, step: str, unit: str = "", tz: str | None = None) -> Any:
    """The last date, or the last period if it has no ``unit``, and the offset to the next."""
    import pandas as pd

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


def _matches(form: str, text: Any) -> bool:
    """Whether it is a text of this form."""
    return isinstance(text, str) and re.fullmatch(form, text, re.ASCII) is not None


# What tells where each kind of index ends: texts of a form, or values that pass a test.
LABELS: dict[str, dict[str, str | Callable[[Any], bool]]] = {
    "dates": {
        "last": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?([+-]\d\d:\d\d)?",
        "step": FREQUENCY,
        "unit": "s|ms|us|ns",
        "tz": lambda tz: tz is None or _matches(ZONE, tz),
    },
    "periods": {"last": is_integer, "step": FREQUENCY},
    "integers": {
        "last": lambda last: is_integer(last, 2**64),
        "step": lambda step: is_integer(step, 2**64) and step != 0,
    },
    "rows": dict.fromkeys(("last", "step"), lambda value: value is None),
}
MADE: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "csr": _sparse,
    "Timeline": _timeline,
    "Schema": _schema,
    "Scaler": _scaler,
    "Reservoir": _reservoir,
}
