"""Hashes of arrays and of descriptions."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np


def fingerprint(*arrays: np.ndarray | None) -> str:
    """A hash of data."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        else:
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def hashed(description: Any) -> str:
    """A hash of a description made of lists, dicts, texts and numbers."""
    text = json.dumps(description, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
