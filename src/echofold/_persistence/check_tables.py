"""Checks of what a model file says about tables and time, called as those of `checks`."""

from __future__ import annotations

from typing import Any

from echofold._persistence.checks import Check, is_one_of, parts_of, refuse
from echofold._persistence.contents import Parts


def _label(name: str, value: Any) -> None:
    """What may name a column or an index: a scalar, or a tuple of such."""
    if isinstance(value, tuple):
        for part in value:
            _label(name, part)
    elif value is not None and not isinstance(value, bool | int | float | str):
        refuse(name, value, "a name")


def timeline(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Where an index ends; `_persistence.frozen.thaw` sees to all parts but its name."""
    if not isinstance(value, Parts) or value.kind != "Timeline":
        refuse(name, value, "a Timeline")
    _label(f"{name}.name", value.parts.get("name"))


def schema(columns: str) -> Check:
    """What is remembered of a table with this many columns."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> None:
        parts = parts_of(name, value, "Schema", ("kind", "names", "holds", "flat"))
        kind, names, holds, flat = (parts[k] for k in ("kind", "names", "holds", "flat"))
        if not is_one_of(kind, "numpy", "pandas", "polars") or not isinstance(flat, bool):
            refuse(f"{name}.kind and flat", (kind, flat), "a kind of table, and whether it is flat")
        if not isinstance(holds, tuple) or not all(
            is_one_of(held, "numbers", "booleans") for held in holds
        ):
            refuse(f"{name}.holds", holds, "'numbers' or 'booleans' for each column")
        if len(holds) != sizes[columns] or (flat and len(holds) != 1):
            refuse(f"{name}.holds", holds, f"{sizes[columns]} columns, one if flat")
        if names is None:
            if kind != "numpy" and len(holds) > 1:
                refuse(f"{name}.names", names, "a name for each column")
            return
        if kind == "numpy" or not isinstance(names, tuple) or len(names) != len(holds):
            refuse(f"{name}.names", names, "a name for each column of a table that has them")
        _label(f"{name}.names", names)
        _column_names(f"{name}.names", names, kind, flat)

    return check


def _column_names(name: str, names: tuple, kind: str, flat: bool) -> None:
    """Names that the kind of table takes."""
    if len(set(names)) != len(names):
        refuse(name, names, "names that differ")
    if kind == "polars":
        if not all(isinstance(one, str) for one in names):
            refuse(name, names, "strings")
        "".join(names).encode()  # `UnicodeEncodeError`, a `ValueError`, for half a character
    elif not flat:
        import pandas as pd

        try:
            fits = len(pd.Index(names)) == len(names)
        except Exception:  # pandas raises whatever the conversion it tries first raises
            fits = False
        if not fits:
            refuse(name, names, "names that pandas takes")
