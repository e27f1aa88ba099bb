"""The code that repeats a search."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from echofold._data.arguments import given_params
from echofold._engine.kind import Reservoir

WIDTH = 88
BY_ADDRESS = (object.__repr__, type.__repr__)  # no expression, but what or where something is
ELSEWHERE = ("estimator", "space", "random_state", "executor", "progress", "checkpoint")


class Written:
    """Expressions for values, and the imports and remarks that they need."""

    def __init__(self, *names: str) -> None:
        self.imports: dict[str, set[str]] = {"echofold": {*names}}
        self.whole: set[str] = set()
        self.remarks: list[str] = []

    def value(self, value: Any, name: str, indent: int = 0) -> str:
        """An expression for a value; one that has none is called ``name`` and remarked on."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return repr(value)
        if isinstance(value, Mapping):
            inner = indent + 4
            pairs = [f"{k!r}: {self.value(v, str(k), inner)}" for k, v in value.items()]
            return _bracketed("{", pairs, "}", indent)
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biufU":
            value = value.tolist()
        if isinstance(value, list | tuple | range) and len(value) <= 200:
            if not any(_indices(v) for v in value):
                return self._listed(value, name, indent)
        elif isinstance(value, Reservoir):
            return self.call(value, indent)
        elif hasattr(value, "rvs") and hasattr(value, "dist"):
            return self._distribution(value)
        elif hasattr(value, "split") and type(value).__repr__ not in BY_ADDRESS:
            return self._imported(type(value).__module__, type(value).__name__, repr(value))
        return self._remark(value, name)

    def call(self, value: Any, indent: int) -> str:
        """An estimator, or a kind of reservoir, with the parameters that differ from defaults."""
        given = [
            f"{k}={self.value(v, k, indent)}"
            for k, v in given_params(value).items()
            if k != "random_state" or isinstance(v, Integral)
        ]
        name = type(value).__name__
        expression = _bracketed(f"{name}(", given, ")", indent)
        return self._imported(type(value).__module__, name, expression)

    def script(self, data: str, *lines: str) -> str:
        """What expressions import, a word on the data, the remarks, and lines with expressions."""
        head = []
        for module in sorted(self.imports):
            if module in self.whole:
                head.append(f"import {module}")
            if names := sorted(self.imports[module]):
                head.append(f"from {module} import {', '.join(names)}")
        return "\n".join([*head, "", f"# {data}", *self.remarks, *lines])

    def _listed(self, values: Any, name: str, indent: int) -> str:
        left, right = ("(", ",)" if len(values) == 1 else ")") if type(values) is tuple else "[]"
        return _bracketed(left, [self.value(v, name, indent + 4) for v in values], right, indent)

    def _distribution(self, frozen: Any) -> str:
        keywords = [f"{k}={self.value(v, k)}" for k, v in frozen.kwds.items()]
        arguments = [self.value(v, "argument") for v in frozen.args] + keywords
        name = frozen.dist.name
        return self._imported("scipy.stats", name, f"{name}({', '.join(arguments)})")

    def _imported(self, module: str, name: str, expression: str) -> str:
        """An expression with a name that is imported from where users find it."""
        public = [part for part in module.split(".") if not part.startswith("_")]
        ours = public[0] == "echofold" and public[1:2] != ["reservoirs"]
        place = "echofold" if ours else ".".join(public)
        here = self.imports.setdefault(place, set())
        if any(name in names for names in self.imports.values() if names is not here):
            self.whole.add(place)  # two of one name: this one in full
            return f"{place}.{expression}"
        here.add(name)
        return expression

    def _remark(self, value: Any, name: str) -> str:
        shape = f" of shape {value.shape}" if hasattr(value, "shape") else ""
        if callable(value) and hasattr(value, "__name__"):
            name = value.__name__ if value.__name__.isidentifier() else name
        self.remarks.append(f"# {name}: the {type(value).__name__}{shape} that was given")
        return name


def code_of(search: Any, data: str) -> str:
    """Python that repeats the search; ``data`` describes what it was fitted on."""
    written, reader = Written("ESNSearchCV"), search._reader
    lines = [written.call(search.estimator, 4), written.value(search.space_, "space", 4)]
    for name, value in given_params(search).items():
        if name not in ELSEWHERE:
            lines.append(f"{name}={written.value(value, name, 4)}")
    own = search.estimator.random_state if search.random_state is None else search.random_state
    if search.random_state is not None or not isinstance(own, Integral) or own != search.seed_:
        lines.append(f"random_state={search.seed_}")
    named = [*reader.fit_params, *(["groups"] if reader.groups is not None else [])]
    names = [*search.estimator._task.data[: len(reader.data)], *named]
    arguments = [f"{name}={name}" if name in named else name for name in names]
    return written.script(
        f"{', '.join(names)}: {' '.join(data.split())}",
        "search = ESNSearchCV(", *(f"    {line}," for line in lines),
        f").fit({', '.join(arguments)})",
        f"print(search.best_params_)  # {' '.join(str(search.best_params_).split())}",
        f"print(search.best_score_)  # {search.best_score_!r}",
    )  # fmt: skip


def code_of_recipe(model: Any, ahead: Any) -> str:
    """Python that repeats an automatic forecast."""
    written = Written()
    call, known = written.call(model, 0), ", X" if model.X_schema_ is not None else ""
    return written.script(
        f"y{known}: {len(ahead.table.values)} values",
        f"model = {call}.fit(y{known})",
        f"forecast = model.forecast({'X=...' if known else ''})",
        f"print(model.verdict_)  # {model.verdict_}",
    )


def _bracketed(left: str, parts: list[str], right: str, indent: int) -> str:
    """Parts between brackets, on one line if they fit."""
    line = f"{left}{', '.join(parts)}{right}"
    if indent + len(line) <= WIDTH and "\n" not in line:
        return line
    pad = " " * (indent + 4)
    if all(len(part) < 30 and "\n" not in part for part in parts):
        body = textwrap.fill(
            ", ".join(parts) + ",", WIDTH, initial_indent=pad, subsequent_indent=pad,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    else:
        body = "\n".join(f"{pad}{part}," for part in parts)
    return f"{left}\n{body}\n{' ' * indent}{right.lstrip(',')}"


def _indices(value: Any) -> bool:
    """Whether a value is a pair of index arrays."""
    return isinstance(value, tuple) and any(hasattr(part, "shape") for part in value)
