"""What a search is, in words that a checkpoint keeps: two searches of one identity are the same.

Numbers and names are kept as they are shown, anything else as a hash of what it is made of: code as
Python compiled it, so that comments and the place of a function do not matter, constants, and the
values that code refers to. What comes from an installed library is taken by name and version.
Whatever has no lasting description (open files, locks, generators of random numbers) is refused.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import json
import random
import sys
import types
from importlib import metadata
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from echofold._data.lazy import Values, blocks_of
from echofold._data.problem import Problem
from echofold._engine.kind import Reservoir
from echofold._folds.splits import RowSplits
from echofold._validation.settings import Settings
from echofold.metrics._metric import TOGETHER

# Parameters of a search that change neither its candidates nor their scores, or are told otherwise.
LEFT_OUT = {
    "final", "memory", "n_jobs", "executor", "checkpoint", "progress", "verify",
    "estimator", "space", "cv", "metric", "random_state", "sampler",
}  # fmt: skip


def identity_of(
    search: Any, spaces: list[dict[str, Any]], settings: Settings, problem: Problem,
    schemes: dict[str, RowSplits], seed: int | None,
) -> dict[str, Any]:  # fmt: skip
    """The identity of a search on these data; a seed of None stands for any."""
    from echofold import __version__

    own, rest = (one.get_params(deep=False) for one in (search.estimator, search))
    rest = {name: value for name, value in rest.items() if name not in LEFT_OUT}
    if search.ridge_per == "output":  # which changes the winner alone
        rest["ridge_per"] = "all"
    if search.sampler is not None:  # blocks know their candidates, so its name is enough
        rest["sampler"] = type(search.sampler).__name__
    return {
        "version": __version__,
        "estimator": type(search.estimator).__name__,
        "parameters": {
            name: described(value, name) for name, value in own.items() if name != "random_state"
        },
        "space": described(spaces, "space"),
        "ridge": settings.ridge.tolist(),
        "cv": {name: [splits.name, splits_of(splits)] for name, splits in schemes.items()},
        "metric": [metric.name for metric in settings.metrics],
        "functions": {
            metric.name: contents_of(metric.function, "metric")
            for metric in settings.metrics
            if metric.needs in TOGETHER  # or has a season, which its name does not tell
            or getattr(metric.function, "season", 1) != 1
        },
        **rest,
        "prune": bool(search.prune),
        "data": data_of(problem),
        "seed": seed,
    }


def data_of(problem: Problem) -> str:
    """A hash of the data of a problem."""
    return fingerprint(
        problem.targets, problem.inputs, problem.washout, problem.weights,
        *problem.segments.apart, problem.unit, problem.offset, np.array(repr(problem.form)),
        problem.levels, problem.present, *(problem.later or ()),
        *(np.array(data_of(one)) for one in problem.each),
    )  # fmt: skip


def splits_of(splits: RowSplits) -> str:
    """A hash of the rows of splits."""
    return fingerprint(np.array(repr((splits.train, splits.valid))))


def fingerprint(*arrays: Values | None) -> str:
    """A hash of data; of those that are not in memory, block by block."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        else:
            digest.update(repr((array.dtype.str, array.shape)).encode())
            for _, part in blocks_of(array):
                digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:32]


def hashed(description: Any) -> str:
    """A hash of a description made of lists, dicts, texts and numbers."""
    text = json.dumps(description, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# --- values of parameters -------------------------------------------------------------------------

PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented))


def described(value: Any, argument: str = "value") -> Any:
    """A value of a parameter in words, with a hash of its contents where words do not tell all."""
    if isinstance(value, list | tuple):
        return [described(one, argument) for one in value]
    if isinstance(value, dict):
        return {str(name): described(one, f"{argument}[{name!r}]") for name, one in value.items()}
    if isinstance(value, PLAIN):
        return repr(value)
    kind = type(value)
    if isinstance(value, Reservoir):
        own = kind.__module__.startswith("echofold.")
        code = None if own else contents_of(kind, argument)
        return [kind.called(), code, described(value.get_params(deep=False), argument)]
    name = getattr(getattr(value, "dist", None), "name", kind.__name__)  # of a distribution
    shown = [repr(getattr(value, part)) for part in ("args", "kwds") if hasattr(value, part)]
    return [name, *shown, contents_of(value, argument)]


def contents_of(value: Any, argument: str) -> dict[str, Any]:
    """What a function, or any other object, is made of: a hash, and the versions it hangs on.

    Raises a TypeError that names ``argument`` if it holds something that has no description.
    """
    # A node of another library may hold the generator that it draws from, as it stands.
    node = callable(getattr(value, "step", None)) and not hasattr(value, "__name__")
    contents = Contents(draws=node)
    try:
        code = hashed(contents.of(value))
    except (Opaque, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise TypeError(
            f"{argument}={value!r} cannot be used with a checkpoint, which must notice when it "
            f"changes: {why}. Give a plain function of numbers, texts, arrays and other such "
            "functions, or search without checkpoint."
        ) from None
    return {"code": code, "versions": dict(sorted(contents.versions.items()))}


# --- functions and objects ------------------------------------------------------------------------

RANDOM = (np.random.RandomState, np.random.Generator, np.random.BitGenerator, random.Random)
DYNAMIC = ("eval", "exec", "globals", "__import__")
GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
PYTHON = {"python": ".".join(map(str, sys.version_info[:2]))}
# What tells one object from another where a pickle does not; of code, all but where it stands.
ATTRIBUTES: dict[type, tuple[str, ...]] = {
    types.CodeType: (
        "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_code",
        "co_exceptiontable", "co_names", "co_varnames", "co_consts",
    ),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
}  # fmt: skip


class Opaque(Exception):
    """Something that has no description that lasts."""


class Contents:
    """Descriptions of values, as nested lists; ``versions`` are those of libraries met so far."""

    def __init__(self, draws: bool):
        self.draws = draws
        self.versions: dict[str, str] = {}
        self._done: dict[int, Any] = {}
        self._open: list[int] = []
        self._held: list[Any] = []  # an object that is gone would lend its id to another

    def of(self, value: Any) -> Any:
        """Describe any value."""
        kind = type(value)
        if kind in PLAIN:
            return [kind.__name__, repr(value)]
        if kind in (list, tuple):
            return [kind.__name__, *map(self.of, value)]
        if kind in (set, frozenset):  # their order hangs on the process
            return [kind.__name__, *sorted(json.dumps(self.of(one)) for one in value)]
        if kind is dict:
            return ["dict", *([self.of(k), self.of(v)] for k, v in value.items())]
        if kind is np.ndarray and not value.dtype.hasobject:
            return ["array", fingerprint(value)]
        if isinstance(value, RANDOM) and not self.draws:
            raise Opaque(f"it holds a {kind.__name__}, whose numbers change as they are drawn")
        if id(value) in self._open:
            return ["again", self._open.index(id(value))]
        if id(value) not in self._done:
            self._held.append(value)
            self._open.append(id(value))
            self._done[id(value)] = hashed(self._object(value))
            self._open.pop()
        return self._done[id(value)]

    def _object(self, value: Any) -> Any:
        """Describe what may refer to itself."""
        kind = type(value)
        if kind is types.ModuleType:
            if self._installed(value.__name__):
                return ["module", value.__name__]
            raise Opaque(f"it hands on the module {value.__name__!r} as a whole")
        if name := self._library_name(value):
            return ["library", *name]
        if kind in ATTRIBUTES:
            return [kind.__name__, *(self.of(getattr(value, name)) for name in ATTRIBUTES[kind])]
        if kind is types.FunctionType:
            return self._function(value)
        if isinstance(value, type):
            # Of what begins with underscores only what is done: the rest says where it stands.
            members = {
                name: self.of(member)
                for name, member in vars(value).items()
                if name != "_abc_impl" and (callable(member) or not name.startswith("__"))
            }
            return ["class", value.__name__, self.of(value.__bases__), self.of(kind), members]
        if hasattr(value, "tocsr"):  # sparse; what it remembers of itself changes as it is used
            W = value.tocsr()
            return ["sparse", self.of([W.shape, W.data, W.indices, W.indptr])]
        # A cache or a compiler, which does not change what the function gives.
        if hasattr(value, "__wrapped__") and self._installed(kind.__module__):
            return ["wrapped", self.of(kind), self.of(value.__wrapped__)]
        return self._instance(value)

    def _function(self, function: types.FunctionType) -> Any:
        self.versions |= PYTHON  # which compiled it
        cells = []
        for cell in function.__closure__ or ():
            try:
                cells.append(self.of(cell.cell_contents))
            except ValueError:  # nothing in it yet
                cells.append("empty")
        more = {k: v for k, v in vars(function).items() if k != "__wrapped__"}
        parts = function.__code__, function.__defaults__, function.__kwdefaults__, more
        referred = self._referred(function.__code__, function.__globals__)
        return ["function", *map(self.of, parts), cells, referred]

    def _referred(self, code: types.CodeType, scope: dict[str, Any]) -> dict[str, Any]:
        """The global values that code refers to, by name."""
        references: dict[str, Any] = {}
        steps = list(dis.get_instructions(code))
        for at, step in enumerate(steps):
            name = step.argval
            if step.opname == "IMPORT_NAME":
                if steps[at - 2].argval != 0 or not self._installed(name):  # relative, or own
                    raise Opaque(f"it imports {name!r} while it runs; import it at the top")
            elif step.opname in GLOBAL and name in scope:
                value, after = scope[name], at + 1
                # ``module.name`` is followed into modules that are not of an installed library.
                while type(value) is types.ModuleType and not self._installed(value.__name__):
                    if steps[after].opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                        break
                    name = f"{name}.{steps[after].argval}"
                    value, after = getattr(value, steps[after].argval, None), after + 1
                references[name] = self.of(value)
            elif step.opname in GLOBAL and name in DYNAMIC:
                raise Opaque(f"it calls {name}, which may refer to anything")
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                references |= self._referred(constant, scope)
        return references

    def _instance(self, value: Any) -> Any:
        """Describe an object by what a pickle of it would hold."""
        kind = type(value)
        try:
            reduced = copyreg.dispatch_table.get(kind, lambda one: one.__reduce_ex__(4))(value)
        except Exception:  # whatever its author raises where it cannot be taken apart
            reduced = None
        if not isinstance(reduced, tuple):
            what = f"an object of {kind.__module__}.{kind.__qualname__}"
            raise Opaque(f"it holds {what}, which has no description that lasts")
        parts = [list(part) if hasattr(part, "__next__") else part for part in reduced]
        if hasattr(value, "rvs") and len(parts) > 2 and isinstance(parts[2], dict):
            # Which generator it would draw from by itself; a search brings its own.
            parts[2] = {k: v for k, v in parts[2].items() if k != "_random_state"}
        self._held.append(parts)
        return ["instance", self.of(kind), self.of(parts)]

    def _library_name(self, value: Any) -> tuple[str, str] | None:
        """Module and name under which an installed library has this very object."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        own = getattr(value, "__module__", None)
        # Functions of C, such as universal ones of NumPy, do not always tell where they are.
        for place in [own] if isinstance(own, str) else ["numpy", "scipy.special"]:
            try:
                found = attrgetter(str(name))(sys.modules[place])
            except (AttributeError, KeyError):
                continue
            if found is value and self._installed(place):
                return place, str(name)
        return None

    def _installed(self, module: str) -> bool:
        """Whether a module belongs to Python, to an installed library or to this one."""
        version = _version(module.partition(".")[0])
        self.versions |= version or {}
        return version is not None


@functools.cache
def _version(top: str) -> dict[str, str] | None:
    """Name and version of the library of a top module; None for one that is not installed."""
    if top in sys.stdlib_module_names:
        return PYTHON
    try:
        origin = getattr(find_spec(top), "origin", None)
    except (ImportError, ValueError):
        return None
    if top != "echofold" and not {"site-packages", "dist-packages"} & set(Path(origin or "").parts):
        return None
    version = getattr(sys.modules.get(top), "__version__", None)
    names = metadata.packages_distributions().get(top) if version is None else None
    version = metadata.version(names[0]) if names else version
    return None if version is None else {top: str(version)}
