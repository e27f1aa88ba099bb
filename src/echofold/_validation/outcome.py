"""What comes out of the validation of one batch of candidates by one scheme."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from echofold._folds.choose import Choice
from echofold._folds.splits import RowSplits


@dataclass
class Validated:
    """Results of one scheme. Arrays are ``(candidates, splits, ridge, ...)``.

    ``W`` holds the readouts ``(..., 1 + m, outputs)`` where they were asked for or needed;
    ``starts (candidates, splits, inputs + size)`` the true inputs and states at which closed loops
    begin.
    """

    splits: RowSplits
    choice: Choice
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    W: Any = None
    starts: Any = None
    condition: Any = None
    refitted: int = 0
    verified: int = 0
    undetermined: int = 0
    way: str = "states"
