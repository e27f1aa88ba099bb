"""Values in words that stay the same in another process, and that change when the values do.

A function or an object is described by what it is made of: code, constants, and the values that
code refers to. Code is compared as Python compiled it, so that comments and the place of a function
do not matter. What comes from an installed library is taken by name and version. Whatever else has
no lasting description (open files, locks, generators of random numbers) is refused.
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import functools
import hashlib
import json
import pickle
import random
import re
import site
import sys
import sysconfig
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from echofold._data.lazy import Lazy, Values
from echofold._engine.kind import Reservoir


def fingerprint(*arrays: Values | None) -> str:
    """A hash of data; of those that are not in memory, block by block."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        else:
            digest.update(repr((array.dtype.str, array.shape)).encode())
            parts = (rows for _, rows in array.blocks()) if isinstance(array, Lazy) else [array]
            for part in parts:
                digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:32]


def hashed(description: Any) -> str:
    """A hash of a description made of lists, dicts, texts and numbers."""
    text = json.dumps(description, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented))
RANDOM = (np.random.RandomState, np.random.Generator, np.random.BitGenerator, random.Random)
DYNAMIC = ("eval", "exec", "globals", "__import__")
GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
# What Python itself enters into a class, which says where it stands or repeats what it does.
OF_A_CLASS = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__",
    "__annotate__", "__annotate_func__", "__annotations_cache__", "__firstlineno__",
    "__static_attributes__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__",
    "__dataclass_params__", "__orig_bases__", "__parameters__",
}  # fmt: skip


class Opaque(Exception):
    """Something that has no description that lasts."""


class Contents:
    """Descriptions of values, as nested lists; ``versions`` are those of libraries met so far."""

    def __init__(self):
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
            return [kind.__name__, *self._each(value)]
        if kind in (set, frozenset):  # their order hangs on the process
            return [kind.__name__, *sorted(map(json.dumps, self._each(value)))]
        if kind is dict:
            return ["dict", *([self.of(k), self.of(v)] for k, v in value.items())]
        if isinstance(value, RANDOM):
            raise Opaque(f"it holds a {kind.__name__}, whose numbers change as they are drawn")
        if kind is np.ndarray or kind.__module__.partition(".")[0] in ("jax", "jaxlib"):
            return self._array(value)
        if kind is ModuleType:
            if self._installed(value.__name__):
                return ["module", value.__name__]
            raise Opaque(f"it hands on the module {value.__name__!r} as a whole")
        if id(value) in self._open:
            return ["again", self._open.index(id(value))]
        if id(value) not in self._done:
            self._held.append(value)
            self._open.append(id(value))
            self._done[id(value)] = hashed(self._object(value))
            self._open.pop()
        return self._done[id(value)]

    def _each(self, values) -> list[Any]:
        return [self.of(value) for value in values]

    def _array(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            if not hasattr(value, "__array__") or not hasattr(value, "dtype"):
                return self._object(value)
            value = np.asarray(value)
        if value.dtype.hasobject:
            return ["array", list(value.shape), *self._each(value.ravel().tolist())]
        return ["array", fingerprint(value)]

    def _object(self, value: Any) -> Any:
        """Describe what may refer to itself."""
        if name := self._public_name(value):
            return ["library", *name]
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, CodeType):
            return self._code(value)
        if isinstance(value, MethodType):
            return ["method", self.of(value.__func__), self.of(value.__self__)]
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, property):
            return ["property", *self._each([value.fget, value.fset, value.fdel])]
        if isinstance(value, staticmethod | classmethod):
            return [type(value).__name__, self.of(value.__func__)]
        if isinstance(value, functools.cached_property):
            return ["cached", self.of(value.func)]
        if isinstance(value, MemberDescriptorType | GetSetDescriptorType):
            return ["slot", value.__name__]
        if hasattr(value, "tocsr"):
            W = value.tocsr()
            return ["sparse", list(W.shape), *self._each([W.data, W.indices, W.indptr])]
        # A cache or a compiler, which does not change what the function gives.
        if hasattr(value, "__wrapped__") and self._installed(type(value).__module__):
            return ["wrapped", self.of(type(value)), self.of(value.__wrapped__)]
        return self._instance(value)

    def _function(self, function: FunctionType) -> Any:
        cells = []
        for cell in function.__closure__ or ():
            try:
                cells.append(self.of(cell.cell_contents))
            except ValueError:  # nothing in it yet
                cells.append("empty")
        more = {k: v for k, v in vars(function).items() if k != "__wrapped__"}
        return [
            "function", self.of(function.__code__), self.of(function.__defaults__),
            self.of(function.__kwdefaults__), cells, self.of(more),
            self._referred(function.__code__, function.__globals__),
        ]  # fmt: skip

    def _code(self, code: CodeType) -> Any:
        self.versions["python"] = ".".join(map(str, sys.version_info[:2]))  # which compiled it
        arguments = code.co_argcount + code.co_kwonlyargcount
        return [
            "code", code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
            code.co_flags, code.co_code.hex(), code.co_exceptiontable.hex(), code.co_names,
            code.co_varnames[:arguments], self._each(code.co_consts),
        ]  # fmt: skip

    def _referred(self, code: CodeType, scope: dict[str, Any]) -> dict[str, Any]:
        """The global values that code refers to, by name."""
        references: dict[str, Any] = {}
        steps = list(dis.get_instructions(code))
        for at, step in enumerate(steps):
            if step.opname == "IMPORT_NAME":
                level, name = steps[at - 2].argval, step.argval
                if level != 0 or not self._installed(name):
                    raise Opaque(f"it imports {name!r} while it runs; import it at the top")
                references[f"import {name}"] = "module"
            elif step.opname in GLOBAL:
                name = step.argval
                if name in scope:
                    name, value = self._attribute(name, scope[name], steps[at + 1 :])
                    references[name] = self.of(value)
                elif name in DYNAMIC:
                    raise Opaque(f"it calls {name}, which may refer to anything")
                else:
                    references[name] = "builtin" if hasattr(builtins, name) else "missing"
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                references |= self._referred(constant, scope)
        return references

    def _attribute(self, name: str, value: Any, steps: list) -> tuple[str, Any]:
        """Follow ``module.name`` into modules that are not of an installed library."""
        for step in steps:
            own = isinstance(value, ModuleType) and not self._installed(value.__name__)
            if not own or step.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                break
            name, value = f"{name}.{step.argval}", getattr(value, step.argval, None)
        return name, value

    def _class(self, value: type) -> Any:
        members = {k: v for k, v in vars(value).items() if k not in OF_A_CLASS}
        return [
            "class", value.__name__, self._each(value.__bases__), self.of(type(value)),
            [[name, self.of(members[name])] for name in sorted(members)],
        ]  # fmt: skip

    def _instance(self, value: Any) -> Any:
        """Describe an object by what a pickle of it would hold."""
        kind = type(value)
        try:
            reduced = copyreg.dispatch_table.get(kind, lambda one: one.__reduce_ex__(4))(value)
        except Exception:  # whatever its author raises where it cannot be taken apart
            reduced = None
        if not isinstance(reduced, tuple):
            raise Opaque(f"it holds {_shown(value)}, which has no description that lasts")
        parts = [list(part) if hasattr(part, "__next__") else part for part in reduced]
        if hasattr(value, "rvs") and len(parts) > 2 and isinstance(parts[2], dict):
            # Which generator it would draw from by itself; a search brings its own.
            parts[2] = {k: v for k, v in parts[2].items() if k != "_random_state"}
        self._held.append(parts)
        return ["instance", self.of(kind), *self._each(parts)]

    def _public_name(self, value: Any) -> tuple[str, str] | None:
        """Module and name under which an installed library has this very object."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        homes = [getattr(value, "__module__", None)]
        if isinstance(value, np.ufunc):
            homes = ["numpy", "scipy.special"]
        if isinstance(value, BuiltinFunctionType) and homes == [None]:
            homes = ["numpy"]
        for home in homes:
            found = sys.modules.get(home) if isinstance(home, str) else None
            for part in str(name).split("."):
                found = getattr(found, part, None)
            if home and found is value and self._installed(home):
                return home, str(name)
        return None

    def _installed(self, module: str) -> bool:
        """Whether a module belongs to Python, to an installed library or to this one."""
        top = module.partition(".")[0]
        if (version := _version(top)) is None:
            return False
        self.versions.update(version)
        return True


@functools.cache
def _version(top: str) -> dict[str, str] | None:
    """Name and version of the library of a top module; None for one that is not installed."""
    python = {"python": ".".join(map(str, sys.version_info[:2]))}
    if top == "echofold":
        from echofold import __version__

        return {top: __version__}
    spec = sys.modules[top].__spec__ if top in sys.modules else _found(top)
    origin = getattr(spec, "origin", None)
    if spec is None or origin in (None, "built-in", "frozen"):
        return python if top in sys.stdlib_module_names else None
    places = [*site.getsitepackages(), site.getusersitepackages()]
    places += [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    if any(Path(origin).is_relative_to(place) for place in places):
        version = getattr(sys.modules.get(top), "__version__", None) or _distribution(top)
        return None if version is None else {top: str(version)}
    of_python = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    return python if any(Path(origin).is_relative_to(place) for place in of_python) else None


def _found(top: str) -> Any:
    from importlib.util import find_spec

    try:
        return find_spec(top)
    except (ImportError, ValueError):
        return None


def _distribution(top: str) -> str | None:
    """Version of the distribution that a top module comes from."""
    from importlib import metadata

    names = metadata.packages_distributions().get(top)
    return metadata.version(names[0]) if names else None


def _shown(value: Any) -> str:
    kind = type(value)
    return f"an object of {kind.__module__}.{kind.__qualname__}"


def described(value: Any, argument: str = "value") -> Any:
    """A value of a parameter in words; raise a TypeError that names ``argument`` if none hold."""
    if isinstance(value, list | tuple):
        return [described(one, argument) for one in value]
    if hasattr(value, "tocsr"):
        W = value.tocsr()
        return ["sparse", list(W.shape), fingerprint(W.data, W.indices, W.indptr)]
    if hasattr(value, "shape") and np.ndim(value):
        return ["array", list(value.shape), fingerprint(np.asarray(value))]
    if isinstance(value, Reservoir):
        return _described_kind(value, argument)
    if isinstance(value, dict):
        return {str(name): described(one, argument) for name, one in value.items()}
    if callable(getattr(value, "step", None)):  # what goes into a `Foreign`; its repr tells little
        return _described_object(value, argument)
    if _is_scipys(value):
        family = getattr(value, "dist", value)
        return [family.name, repr(getattr(value, "args", ())), repr(getattr(value, "kwds", {}))]
    text = repr(value)
    # Distributions do not show their contents, and a default repr shows an address.
    if hasattr(value, "rvs") or re.search(r" at 0x[0-9a-fA-F]+", text):
        return [type(value).__name__, described_function(value, argument)]
    return text


def _described_kind(value: Reservoir, argument: str) -> list[Any]:
    """A reservoir by its class and its parameters."""
    kind, params = type(value), value.get_params(deep=False)
    code = None if kind.__module__.startswith("echofold.") else described_function(kind, argument)
    words = {
        name: (_described_object if name in kind.objects else described)(one, argument)
        for name, one in params.items()
    }
    return [kind.called(), code, words]


def _described_object(value: Any, argument: str) -> Any:
    """A function by what it does; another object by its class and by what a pickle of it holds.

    An object of a library may hold a generator of random numbers that it has drawn from already.
    """
    if value is None or callable(value) and hasattr(value, "__name__"):
        return described_function(value, argument)
    try:
        contents = hashlib.sha256(pickle.dumps(value)).hexdigest()
    except Exception as error:  # whatever its author raises where it cannot be taken apart
        raise TypeError(
            f"{argument}={value!r} cannot be used with a checkpoint, which must notice when it "
            f"changes: it cannot be pickled ({error}). Search without checkpoint."
        ) from error
    return [described_function(type(value), argument), contents]


def described_function(value: Any, argument: str) -> dict[str, Any]:
    """What a function, or any other object, is made of: a hash, and the versions it hangs on.

    Raises a TypeError that names ``argument`` if it holds something that has no description.
    """
    contents = Contents()
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


def _is_scipys(value: Any) -> bool:
    """Whether this is a distribution of ``scipy.stats``, alone or as ``uniform(0, 1)``.

    Its name and parameters say all about it, other than about one made of a histogram, say.
    """
    if not hasattr(value, "rvs"):
        return False
    from scipy import stats

    family = getattr(value, "dist", value)
    own: Any = getattr(stats, str(getattr(family, "name", None)), None)
    numbers = (*getattr(value, "args", ()), *getattr(value, "kwds", {}).values())
    return (
        type(family) is type(own)
        and (family.a, family.b) == (own.a, own.b)  # its ends can be moved
        and all(np.ndim(number) == 0 for number in numbers)
    )
