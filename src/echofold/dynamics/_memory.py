"""How much of its past input a reservoir holds: the memory capacity of Jaeger (2001)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import check_count, check_integer, check_number, seed_of
from echofold._engine.kind import Reservoir, drawn
from echofold._models.base import ESN
from echofold._models.regressor import ESNRegressor

LEAST_STEPS, STEPS_EACH = 4000, 20  # by default: at least, and for each unit and delay


@dataclass(frozen=True)
class MemoryCapacity:
    """What a reservoir remembers of an input without structure.

    Attributes
    ----------
    total : float
        The sum over delays: about the number of steps remembered. At most the number of units,
        but for the error of a run that ends.
    by_delay : ndarray of shape (delays,)
        The squared correlation between the input ``d`` steps ago and what the best linear readout
        makes of the present state, for ``d = 1, 2, …``.
    """

    total: float
    by_delay: np.ndarray


def memory_capacity(
    reservoir_or_estimator: Any,
    delays: int | None = None,
    *,
    steps: int | None = None,
    ridge: float = 0.0,
    random_state: Any = 0,
) -> MemoryCapacity:
    """Measure how well past inputs can be read from the states of a reservoir.

    Parameters
    ----------
    reservoir_or_estimator : Reservoir, ESNForecaster, ESNRegressor, ESNClassifier or ESNSearchCV
        A kind of reservoir, or an estimator whose reservoir is meant; of a fitted search, its
        ``best_estimator_``. It is given one input. A fitted estimator of one input has the weights
        it was fitted with.
    delays : int, optional
        Look back so many steps; twice the units by default.
    steps : int, optional
        Steps of input to train readouts on, and again as many to measure on. By default 20 for
        each unit and delay, at least 4000. What is left of a correlation of 0 adds about
        ``delays / steps`` to the total.
    ridge : float, default=0.0
        Of the readouts. Above 0, what is remembered is measured as if states were noisy.
    random_state : int, RandomState, Generator or None, default=0
        Draws the input, and weights that the estimator does not fix itself.

    Returns
    -------
    MemoryCapacity

    Notes
    -----
    ``MC = Σ_d corr²(u(n − d), y_d(n))``, where ``y_d`` is a readout of ``[1, u(n), x(n)]`` trained
    on the first half of the run and ``corr`` is of the second. ``u`` is uniform on [−1, 1], drawn
    anew at each step, so that ``input_scaling`` is the largest input. Delay 0, which the readout
    sees directly, is not counted. For a reservoir of ``N`` units ``MC ≤ N``; linear ones come
    close, and what is not linear has less (Jaeger 2001). All delays are outputs of one readout:
    states are made and factorised once.

    Examples
    --------
    >>> from echofold import dynamics
    >>> from echofold.reservoirs import Leaky
    >>> small = dynamics.memory_capacity(Leaky(20, input_scaling=0.1, bias_scaling=0.0))
    >>> large = dynamics.memory_capacity(Leaky(20, input_scaling=3.0, bias_scaling=0.0))
    >>> large.total < small.total < 20
    True
    """
    kind, seed, device = _reservoir(reservoir_or_estimator, random_state)
    units = kind.free().size(1)
    if delays is None:
        delays = 2 * units
    check_count("delays", delays)
    if steps is None:
        steps = max(LEAST_STEPS, STEPS_EACH * (units + delays))
    check_integer("steps", steps, units + 3, ", more than values in a row of the readout")
    check_number("ridge", ridge, "a number of at least 0", least=0)
    warmup = drawn([kind], 1, seed).warmup()
    # The input has a stream of its own, whatever else a seed may draw.
    rng = np.random.default_rng([seed_of(random_state) % 2**32, 1])
    u = rng.uniform(-1, 1, size=delays + warmup + 2 * steps)
    delayed = np.lib.stride_tricks.sliding_window_view(u, delays + 1)[:, -2::-1]
    inputs, trained = u[delays:, None], warmup + steps
    model = ESNRegressor(
        reservoir=kind, ridge=ridge, washout=warmup, scale=None, random_state=seed, device=device
    ).fit(inputs[:trained], delayed[:trained])
    found = model.predict(inputs[trained:], start="last").reshape(steps, delays)
    by_delay = _squared_correlations(found, delayed[trained:])
    return MemoryCapacity(float(by_delay.sum()), by_delay)


def _reservoir(given: Any, random_state: Any) -> tuple[Reservoir, int, str]:
    """The kind of reservoir that is meant, checked, the seed of its weights, and its device."""
    device = "auto"
    if hasattr(given, "finalize"):  # a search
        check_is_fitted(given, "results_")
        given = given.best_estimator_
    if isinstance(given, ESN):
        kind = getattr(given, "reservoir_", None) or given._kind(given.get_params(deep=False))
        own, device = getattr(given, "seed_", given.random_state), given.device
        random_state = random_state if own is None else own
    elif isinstance(given, Reservoir):
        kind = given
    else:
        raise TypeError(
            f"reservoir_or_estimator={given!r}: expected a reservoir, such as "
            "echofold.reservoirs.Leaky(100), or an estimator with one."
        )
    kind.check()
    if kind._of_fields:
        raise ValueError(
            "a reservoirs.Local remembers a field, of which there is no single input. Measure the "
            "kind inside of it, its attribute kind."
        )
    return copy(kind), seed_of(random_state), device


def _squared_correlations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of the columns of ``a`` and ``b (rows, columns)``; 0 where one of them is constant."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = (a * a).sum(axis=0) * (b * b).sum(axis=0)
    return np.divide((a * b).sum(axis=0) ** 2, size, out=np.zeros(len(size)), where=size > 0)
