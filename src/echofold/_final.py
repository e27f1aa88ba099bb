"""Trained networks: one fitted on all rows, and the final models of a validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold import metrics
from echofold._candidates import batch, draw_for
from echofold._device import one_blas_thread, resolve
from echofold._lockstep import closed_loop_outputs, flatten
from echofold._memory import KEPT_AT_MOST
from echofold._moments import solve, whitening
from echofold._naive import fit_rows
from echofold._refit import refit
from echofold._reservoir import Reservoirs
from echofold._splits import RowSplits
from echofold._states import States
from echofold._streamed import learn_whitening
from echofold._tasks import Problem
from echofold._validate import validate
from echofold._validated import Settings
from echofold._weights import Sparse

FINALS = ("retrain", "average", "best", "weighted")


@dataclass(frozen=True)
class Network:
    """A trained network; everything in scaled units.

    ``W_in (units, 1 + inputs)`` and ``W (units, units)``, dense or SciPy sparse, are scaled and
    ready to use; ``readout (1 + features, outputs)`` acts on ``[1, u, x]``; ``state (units,)`` is
    the one after the last row (zeros for a classifier); ``condition`` is that of the states.
    """

    W_in: np.ndarray
    W: Any
    leak_rate: float
    readout: np.ndarray
    state: np.ndarray
    seed: int
    condition: float


def train(problem: Problem, params: dict[str, Any], seed: int) -> Network:
    """Fit one network on all rows."""
    source = single(problem, params, seed)
    readout, condition = fit_all(source, float(params["ridge"]), bool(params["penalize_bias"]))
    return network(source, readout, seed, condition)


def single(problem: Problem, params: dict[str, Any], seed: int) -> States:
    """The states of one candidate."""
    inputs = problem.network_inputs
    reservoirs = batch(draw_for(params, inputs, seed), [params], inputs)
    return States(problem, reservoirs, resolve(params["device"], 1))


def fit_all(
    source: States, ridge: float, penalised: bool, condition: bool = True
) -> tuple[np.ndarray, float]:
    """Readout on all rows, and the condition number of the states (NaN if it costs a QR more)."""
    problem, path = source.problem, np.array([ridge])
    with one_blas_thread():
        if 8 * problem.rows * source.columns <= KEPT_AT_MOST or problem.sequences is not None:
            X = source.kept()[0]
            readout = fit_rows(X, problem.targets, problem.weights, path, penalised)[0]
            return readout, whitening(X).condition if condition else np.nan
        shift = problem.targets.mean(axis=0)
        (white,), total, (found,) = learn_whitening(source, shift)
        solved = solve(total, white, shift, path, penalised, whitened=False)
        if solved.trusted[0]:
            return solved.W[0, 0], found
        (W,) = refit(source, [(0, ((0, problem.rows),))], path, penalised)
        return W[0], found


def network(source: States, readout: np.ndarray, seed: int, condition: float) -> Network:
    """Put a readout together with the reservoir it reads."""
    r = source.reservoirs
    return Network(
        W_in=np.asarray(r.W_in) * r.scaling[:, 0],
        W=_scaled(r),
        leak_rate=float(r.leak[0]),
        readout=readout,
        state=source.final()[:, 0],
        seed=seed,
        condition=condition,
    )


def _scaled(r: Reservoirs):
    """``W`` of a single candidate, scaled; SciPy's form if it is sparse."""
    if not isinstance(r.W, Sparse):
        return r.W * r.gain[0]
    from scipy.sparse import csr_array

    units, connections = r.W.columns.shape
    starts = np.arange(0, units * connections + 1, connections)
    values = (r.W.values * r.gain[0]).ravel()
    W = csr_array((values, r.W.columns.ravel(), starts), shape=(units, units))
    W.eliminate_zeros()
    return W


@dataclass(frozen=True)
class Readouts:
    """What a validation leaves for final models of one candidate.

    ``W (splits, 1 + m, outputs)``, ``rmse (splits,)`` and ``ridge (splits,)`` belong to the
    splits; ``residuals (splits, steps, outputs)``, in original units, are those of closed-loop
    validation (None for other tasks), NaN past the end of a shorter interval.
    """

    W: np.ndarray
    rmse: np.ndarray
    ridge: np.ndarray
    train_rows: np.ndarray
    residuals: np.ndarray | None


def validate_winner(source: States, splits: RowSplits, ridge: np.ndarray, penalised: bool):
    """Readouts and errors of every split at its ridge ``(splits,)``."""
    path, place = np.unique(ridge, return_inverse=True)
    settings = Settings(
        path, penalised, [metrics.resolve("rmse")], readouts=True, device=source.device
    )
    one = validate(source, {"winner": splits}, settings)["winner"]
    at = (0, np.arange(len(splits)), place)
    W = one.W[at]
    residuals = None
    if source.problem.kind == "forecast":
        starts = one.starts
        if starts is None:
            starts = source.kept()[0][splits.valid_rows[:, 0]][None]
        residuals = _closed_loop_residuals(source, splits, W, starts)
    return Readouts(W, one.scores["rmse"][at], ridge, splits.train_sizes, residuals)


def _closed_loop_residuals(source: States, splits: RowSplits, W, starts) -> np.ndarray:
    """Residuals of each split's forecast, step by step, in original units."""
    problem = source.problem
    runs = flatten(W[None, :, None], starts, np.array([valid[0] for valid in splits.valid]))
    outputs = closed_loop_outputs(problem, source.reservoirs, runs, source.device)
    rows = splits.valid_rows
    residuals = (problem.targets[np.minimum(rows, problem.rows - 1)] - outputs) * problem.unit
    residuals[rows >= problem.rows] = np.nan
    return residuals


def final_readout(
    final: str, source: States, found: Readouts, penalised: bool, correct_ridge: bool
) -> tuple[np.ndarray, float]:
    """The readout of a final model, and the ridge it stands for.

    The paper's section 2.4: "retrain" on all rows, with the mean of the splits' ridges;
    "average" the splits' readouts; take the "best" split's; or average them "weighted" by the
    inverse of their squared errors. A ridge acts against a sum over rows, so ``correct_ridge``
    raises it in proportion when retraining on more rows than the splits had.
    """
    # The mean of equal numbers may round to another one, which would not be on the path.
    same = (found.ridge == found.ridge[0]).all()
    ridge = float(found.ridge[0] if same else found.ridge.mean())
    if final == "retrain":
        if correct_ridge:
            ridge *= source.problem.rows / found.train_rows.mean()
        return fit_all(source, ridge, penalised, condition=False)[0], ridge
    if final == "average":
        return found.W.mean(axis=0), ridge
    error = np.where(np.isfinite(found.rmse), found.rmse, np.inf)
    if final == "best":
        best = int(error.argmin())
        return found.W[best], float(found.ridge[best])
    if final != "weighted":
        raise ValueError(f"final={final!r} is unknown: it must be {', '.join(map(repr, FINALS))}.")
    if not np.isfinite(error).any():
        return found.W.mean(axis=0), ridge
    if (error == 0).any():
        weights = (error == 0).astype(float)
    else:
        weights = (error.min() / error) ** 2
    return np.tensordot(weights / weights.sum(), found.W, axes=1), ridge
