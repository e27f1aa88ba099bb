"""Values in words that stay the same in another process, and that change when the values do."""

from __future__ import annotations

import hashlib
import pickle
import re
from typing import Any

import numpy as np

from echofold._engine.kind import Reservoir
from echofold._models.stored import named_in_files
from echofold._search.fingerprint import fingerprint, hashed
from echofold._search.made_of import Contents, Opaque


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
    kind, params = type(value), named_in_files(value._added, value.get_params(deep=False))
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
