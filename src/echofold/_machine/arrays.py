"""Text that is written once for arrays of the host and of a device."""

from __future__ import annotations

from typing import Any

import numpy as np


def namespace(array: Any) -> Any:
    """NumPy for its arrays, `jax.numpy` for all others."""
    if isinstance(array, np.ndarray):
        return np
    import jax.numpy as jnp

    return jnp
