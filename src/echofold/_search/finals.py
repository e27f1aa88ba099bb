"""The final models: how one readout is made of the readouts of splits (the paper's section 2.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from echofold._data.problem import Task

Combined = tuple[np.ndarray, np.ndarray]  # a readout, and the ridge it stands for


@dataclass(frozen=True)
class FinalModel:
    """A final model by the name that users ask for it by, and in words.

    ``combine(W, error, ridge)`` makes it of the splits' readouts ``W (splits, 1 + m, outputs)``,
    their errors ``(splits,)``, infinite where a run diverged, and ridges
    ``(splits, 1 or outputs)``. Without it the readout is trained anew on all rows. With ``several``
    the winner is not alone: candidates of other representations, and all draws, are trained anew
    and their forecasts combined.
    """

    name: str
    words: str
    combine: Callable[[np.ndarray, np.ndarray, np.ndarray], Combined] | None = None
    several: bool = False


def check_forecasts(task: Task) -> None:
    """Raise for a task whose outputs an ensemble cannot combine."""
    if not task.fed_back:
        raise ValueError(
            "final='ensemble' combines forecasts, and needs a search of an ESNForecaster. Use "
            "'retrain', 'average', 'best' or 'weighted'."
        )


def mean_ridge(ridge: np.ndarray) -> np.ndarray:
    """The mean of the splits' ridges ``(splits, 1 or outputs)``."""
    # The mean of equal numbers may round to another one, which would not be on the path.
    return ridge[0] if (ridge == ridge[0]).all() else ridge.mean(axis=0)


def _average(W: np.ndarray, error: np.ndarray, ridge: np.ndarray) -> Combined:
    return W.mean(axis=0), mean_ridge(ridge)


def _best(W: np.ndarray, error: np.ndarray, ridge: np.ndarray) -> Combined:
    best = int(error.argmin())
    return W[best], ridge[best]


def _weighted(W: np.ndarray, error: np.ndarray, ridge: np.ndarray) -> Combined:
    if not np.isfinite(error).any():
        return _average(W, error, ridge)
    if (error == 0).any():
        weights = (error == 0).astype(float)
    else:
        weights = (error.min() / error) ** 2
    return np.tensordot(weights / weights.sum(), W, axes=1), mean_ridge(ridge)


FINALS = {
    final.name: final
    for final in (
        FinalModel("retrain", "retrained on all data"),
        FinalModel("average", "average of the readouts of all splits", _average),
        FinalModel("best", "readout of the split with the lowest error", _best),
        FinalModel(
            "weighted", "readouts of all splits, weighted by inverse squared error", _weighted
        ),
        FinalModel(
            "ensemble", "mean of the best networks of representations and draws", several=True
        ),
    )
}
