"""Trained networks: one fitted on all rows, and the final models of a validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._engine.states import States
from echofold._folds.moments import solve, whitening
from echofold._folds.naive import fit_rows
from echofold._machine.device import one_blas_thread
from echofold._validation.memory import KEPT_AT_MOST
from echofold._validation.refit import refit
from echofold._validation.streamed import learn_whitening


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
    source: States, ridge: float, penalised: bool, condition: bool = True
) -> tuple[np.ndarray, float]:
    """Readout on all rows, and the condition number of the states (NaN if it costs a QR more)."""
    problem, path = source.problem, np.array([ridge])
    with one_blas_thread():
        if not source.streams or 8 * problem.rows * source.columns <= KEPT_AT_MOST:
            X = source.kept()[0]
            readout = fit_rows(X, problem.targets, problem.weights, path, penalised)[0]
            return readout, whitening(X).condition if condition else np.nan
        shift = problem.targets.mean(axis=0)
        (white,), total, (condition_number,) = learn_whitening(source, shift)
        solved = solve(total, white, shift, path, penalised, whitened=False)
        if solved.trusted[0]:
            return solved.W[0, 0], condition_number
        (W,) = refit(source, [(0, ((0, problem.rows),))], path, penalised)
        return W[0], condition_number


def network(source: States, readout: np.ndarray, seed: int, condition: float) -> Network:
    """Put a readout together with the reservoir it reads."""
    return Network(
        reservoir=source.reservoirs.trained(),
        readout=readout,
        state=source.final()[:, 0],
        seed=seed,
        condition=condition,
    )
