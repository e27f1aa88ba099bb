"""Values in words that stay the same in another process, and that change when the values do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from echofold._engine.kind import Reservoir
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
        kind, params = type(value), value.get_params(deep=False).items()
        ours = kind.__module__.startswith("echofold.")
        code = None if ours else described_function(kind, argument)
        return [kind.called(), code, {name: described(one, argument) for name, one in params}]
    if _is_scipys(value):
        family = getattr(value, "dist", value)
        return [family.name, repr(getattr(value, "args", ())), repr(getattr(value, "kwds", {}))]
    text = repr(value)
    # Distributions do not show their contents, and a default repr shows an address.
    if hasattr(value, "rvs") or re.search(r" at 0x[0-9a-fA-F]+", text):
        return [type(value).__name__, described_function(value, argument)]
    return text


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
