"""What is asked of a validation, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from echofold._folds import Choice
from echofold._splits import RowSplits
from echofold.metrics import Metric


@dataclass(frozen=True)
class Settings:
    """What is asked of a validation."""

    ridge: np.ndarray
    penalised: bool
    metrics: list[Metric]
    algorithm: str = "auto"
    memory: Any = None
    readouts: bool = False
    device: str = "cpu"
    verify: bool = False
    workers: int = 1  # that share the free memory


@dataclass
class Validated:
    """Results of one scheme. Arrays are ``(candidates, splits, ridge, ...)``.

    ``W`` holds the readouts ``(..., 1 + m, outputs)`` where they were asked for or needed;
    ``starts (candidates, splits, m)`` the true rows at which closed loops begin.
    """

    splits: RowSplits
    choice: Choice
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    W: Any = None
    starts: Any = None
    condition: Any = None
    refitted: int = 0
    verified: int = 0
    way: str = "states"
