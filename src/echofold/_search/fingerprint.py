"""Hashes of arrays and of descriptions."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from echofold._data.lazy import Lazy, Values


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
