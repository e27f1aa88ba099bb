"""Trained networks: one fitted on all rows, and the final models of a validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from echofold._engine.states import States
from echofold._machine.device import one_blas_thread
from echofold._validation.refit import Growing


@dataclass(frozen=True)
class Network:
    """A trained network; everything in scaled units.

    ``reservoir`` are the arrays that its kind stores; ``readout (1 + features, outputs)`` acts on
    ``[1, u, x]``; ``state (size,)`` is the one after the last row (zeros for a classifier);
    ``condition`` is that of the states.
    """

    reservoir: dict[str, Any]
    readout: np.ndarray
    state: np.ndarray
    seed: int
    condition: float


def fit_all(
    source: States, ridge: float | np.ndarray, penalised: bool, condition: bool = True
) -> tuple[np.ndarray, float]:
    """Readout on all rows, in one pass over them, and the condition number of the states.

    ``ridge`` is one number, or one for each output. The condition is NaN unless ``condition``: with
    row weights it takes a factorisation of its own.
    """
    problem = source.problem
    grown = Growing(problem, source.columns, penalised)
    plain = grown
    if condition and problem.weights is not None:
        plain = Growing(replace(problem, weights=None), source.columns, penalised)
    with one_blas_thread():
        for row, (X, *_) in source.blocks():
            for one in {grown, plain}:
                one.add(X, slice(row, row + len(X)))
        path, place = np.unique(np.atleast_1d(ridge), return_inverse=True)
        readout = of_outputs(grown.readouts(path), place)
        return readout, plain.condition if condition else np.nan


def of_outputs(W: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Readouts ``(..., 1 + m, outputs)`` whose outputs have ridges of their own.

    ``W (..., ridge, 1 + m, outputs)`` has those of a path, ``place (..., 1 or outputs)`` says which
    of its values each output takes.
    """
    return np.take_along_axis(W, place[..., None, None, :], axis=-3)[..., 0, :, :]


def network(source: States, readout: np.ndarray, seed: int, condition: float) -> Network:
    """Put a readout together with the reservoir it reads."""
    return Network(
        reservoir=source.reservoirs.trained(),
        readout=readout,
        state=source.final()[:, 0],
        seed=seed,
        condition=condition,
    )
