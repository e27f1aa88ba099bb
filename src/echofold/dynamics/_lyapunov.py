"""Lyapunov exponents of a forecaster that runs on its own output.

The state of such a loop is ``z = (x, y)``: the reservoir's state and the output that is fed back
next. One step of it is ``x' = step(x, y)``, ``y' = W_out [1; y; x']``.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import check_integer, check_number
from echofold._data.tables import read
from echofold._engine.drive import advance
from echofold._engine.generate import Course, Trajectories, closed_step
from echofold._engine.kind import Reservoirs
from echofold._machine.arrays import few_lengths, jax, jnp
from echofold._machine.device import choose_device, engine
from echofold._machine.notices import warn_of
from echofold._machine.programs import program, scan
from echofold._models.forecast import plausible
from echofold._models.forecaster import ESNForecaster
from echofold.reservoirs._hybrid import Outside

STRETCH = 1024  # steps of one program run: what it gives is small, and a loop that diverges stops
USUAL_COUNT = 10  # exponents, if the loop has so many


class Loop(NamedTuple):
    """A reservoir, its readout ``(1 + features, outputs, 1)``, and what limits its outputs.

    ``past`` are the levels that a ``course.inverse`` reads; without differences it reads none.
    """

    reservoirs: Reservoirs
    readout: Any
    course: Course
    past: Any

    def step(self, z):
        """``z (size + outputs,)`` after one step."""
        size = self.reservoirs.shape[0]
        going = Trajectories(z[:size, None], z[size:, None], jnp.zeros(1), self.past)
        going = closed_step(self.reservoirs, self.readout, self.course, "squared", 0, going)
        return jnp.concatenate([going.x, going.y])[:, 0]


def loop_of(
    r: Reservoirs, readout: np.ndarray, outputs: int, unit=1.0, inverse=None, before=None
) -> Loop:
    """The loop of a ``readout`` of so many outputs; options as `generate` takes them."""
    nothing = np.zeros(1, dtype=int)
    units = (np.ones(outputs) * unit)[:, None]
    course = Course(np.zeros((1, 0)), np.zeros((1, outputs)), nothing, nothing, units, inverse)
    past = np.zeros((0, outputs, 1)) if before is None else before
    return Loop(r, readout[:, :, None], course, past)


@program
def _push(loop: Loop, z, Q, stop, *, steps: int):
    """``Q R = J Q`` along the loop: the last ``z`` and ``Q``, ``log |diag R|`` and outputs.

    ``J`` is the derivative of a step at ``z``. It is never made: its products with the columns of
    ``Q (size + outputs, count)`` come from one pass, with the step itself computed once. Vectors
    are made orthogonal after every step, because those of strongly contracting directions would be
    lost to rounding in the others within a few.
    """

    def step(carry, _):
        z, Q = carry
        z, pushed = jax.vmap(
            lambda v: jax.jvp(loop.step, (z,), (v,)), in_axes=1, out_axes=(None, 1)
        )(Q)
        Q, R = jnp.linalg.qr(pushed)
        return (z, Q), (jnp.log(jnp.abs(jnp.diagonal(R))), z[loop.reservoirs.shape[0] :])

    (z, Q), rows = scan(step, (z, Q), jnp.arange(steps), stop=stop)
    return z, Q, rows


def growth(loop: Loop, z: np.ndarray, steps: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms ``(steps, count)`` of the growth of each direction, and outputs of each step.

    A loop that leaves all bounds ends early: its last output is not finite.
    """
    # Orthonormal directions to begin with, the same every time.
    Q: Any = np.linalg.qr(np.random.RandomState(0).normal(size=(len(z), count)))[0]
    logs, outputs = [], []
    length = min(few_lengths(steps), STRETCH)
    for done in range(0, steps, length):
        rows = min(length, steps - done)
        z, Q, (grown, y) = _push(loop, z, Q, rows, steps=length)
        logs.append(np.asarray(grown)[:rows])
        outputs.append(np.asarray(y)[:rows])
        if not np.isfinite(outputs[-1]).all():
            break
    return np.concatenate(logs), np.concatenate(outputs)


@dataclass(frozen=True)
class LyapunovExponents:
    """Lyapunov exponents of a closed loop, the largest first.

    Attributes
    ----------
    exponents : ndarray of shape (count,)
        For each unit of time. Differences between nearby states grow, or shrink, by
        ``exp(exponent * time)`` along as many directions.
    history : ndarray of shape (steps, count)
        The exponents as they would be, had the run ended after each step.
    times : ndarray of shape (steps,)
        Time at each row of ``history``.
    """

    exponents: np.ndarray
    history: np.ndarray
    times: np.ndarray

    @property
    def kaplan_yorke(self) -> float:
        """The dimension of the attractor by the conjecture of Kaplan and Yorke (1979).

        ``j + (λ_1 + … + λ_j) / |λ_{j+1}|``, with the last ``j`` whose sum is not negative. NaN if
        the exponents do not add up to less than 0: more of them are needed then.

        Examples
        --------
        >>> import numpy as np
        >>> exponents = np.array([0.906, 0.0, -14.572])
        >>> round(LyapunovExponents(exponents, exponents[None], np.ones(1)).kaplan_yorke, 3)
        2.062
        """
        sums = np.cumsum(self.exponents)
        negative = np.flatnonzero(sums < 0)
        if not negative.size:
            return float("nan")
        j = int(negative[0])
        return j + (float(sums[j - 1] / -self.exponents[j]) if j else 0.0)


def lyapunov_exponents(
    model: Any,
    steps: int = 10_000,
    *,
    count: int | None = None,
    step: float = 1.0,
    washout: int = 1000,
    y: Any = None,
) -> LyapunovExponents:
    """Measure the Lyapunov exponents of a trained forecaster, running on its own output.

    If they are those of the system that the data came from, the network has learned not only to
    forecast it but how it moves.

    Parameters
    ----------
    model : ESNForecaster or ESNSearchCV
        Fitted, without inputs known in advance; of a search, its ``best_estimator_``.
    steps : int, default=10000
        Steps to measure over. Errors shrink as ``1 / steps`` for regular motion, and as
        ``1 / sqrt(steps)`` for chaotic.
    count : int, optional
        How many exponents, the largest ones; 10 by default. The loop has one for each unit and
        each output.
    step : float, default=1.0
        Time between two rows of the data, so that exponents are for each unit of time.
    washout : int, default=1000
        Steps before, in which the loop comes to its attractor and directions turn to those that
        grow.
    y : array, series or frame of shape (T,) or (T, outputs), optional
        The loop starts after these rows, from a state at rest before them, instead of after the
        data that the model has seen last.

    Returns
    -------
    LyapunovExponents

    Notes
    -----
    The loop takes ``(x, y)``, the reservoir's state and the output fed back, to the next one, by
    the reservoir's step and the readout of ``[1, y, x]``. Small differences obey its derivative,
    which is exact (not a difference quotient); they are made orthogonal again after every step, and
    the mean logarithm of their growth is the exponent (Benettin, Galgani, Giorgilli and Strelcyn
    1980; Shimada and Nagashima 1979). Exponents below those of the data belong to the reservoir's
    fading memory; if that fades slower than the system contracts, they stand between the system's
    own (Pathak et al. 2017), and the dimension is that of the network, not of the system.

    With ``log`` the exponents are the same as those of the values. With ``difference`` they are
    those of the differences; summing them up adds one exponent of exactly 0 for each value that
    differencing loses, which is not counted. With ``output_range`` a step at which all outputs are
    held at a limit may forget, with an exponent of minus infinity.

    Examples
    --------
    >>> from echofold import ESNForecaster, dynamics, systems
    >>> model = ESNForecaster(
    ...     100, spectral_radius=0.3, input_scaling=0.6, ridge=1e-6, random_state=0
    ... ).fit(systems.henon(3000))
    >>> found = dynamics.lyapunov_exponents(model, 5000)
    >>> bool(abs(found.exponents[0] - systems.LYAPUNOV["henon"]) < 0.03)
    True
    """
    check_integer("steps", steps, 1)
    check_integer("washout", washout, 0)
    check_number("step", step, "a positive number", above=0)
    model = _autonomous(model)
    size = len(model.state_) + len(model.last_)
    count = min(size, USUAL_COUNT) if count is None else count
    allowed = f"an integer of 1 to {size}, the units and outputs together, or None"
    check_number("count", count, allowed, least=1, most=size, kind=Integral)
    r = model._reservoirs()
    with engine(choose_device(model.device)):
        loop = loop_of(r, model.readout_, len(model.last_), **model._limited())
        z = _start(model, y)
        logs, outputs = growth(loop, z, int(washout + steps), int(count))
    _check_outputs(model, outputs)
    times = float(step) * np.arange(1, int(steps) + 1)
    history = np.cumsum(logs[washout:], axis=0) / times[:, None]
    # Nearly equal exponents may come in any order; here they descend.
    history = history[:, np.argsort(-history[-1], kind="stable")]
    return LyapunovExponents(history[-1].copy(), history, times)


def _autonomous(model: Any) -> ESNForecaster:
    """The forecaster, if nothing but its own state drives it."""
    if hasattr(model, "finalize"):  # a search
        check_is_fitted(model, "results_")
        model = model.best_estimator_
    if hasattr(model, "members"):
        raise TypeError(
            f"model is an ensemble of {len(model.members)} networks, each with a loop of its own. "
            "Measure its members one by one: model.members[0], or best_estimator_.members[0]."
        )
    if not isinstance(model, ESNForecaster):
        raise TypeError(
            f"model={model!r}: expected a fitted ESNForecaster, or a fitted ESNSearchCV of one. "
            "Only these run on their own output."
        )
    kind = model._reservoirs().compiled.kind  # raises before `fit`, and for several series
    if isinstance(getattr(kind, "model", None), Outside):
        raise ValueError(
            f"model was fitted with model={model.model!r}, which JAX cannot differentiate. Make it "
            "of jax.numpy operations."
        )
    form = model._representation()
    for given, name in ((model.X_schema_ is not None, "X"), (bool(form.seasons), "season")):
        if given:
            raise ValueError(
                f"model was fitted with {name}: what is known in advance drives the network "
                f"besides its own output. Fit one without {name}."
            )
    if form.lags and model._limits is not None:
        raise ValueError(
            f"model was fitted with difference={form.lags} and output_range: the limits then "
            "depend on the sum of all outputs before, which is no part of the network's state. "
            "Fit one without output_range, or without difference."
        )
    return model


def _start(model: ESNForecaster, y: Any) -> np.ndarray:
    """The loop's state ``(units + outputs,)`` at the end of the data, or of ``y``."""
    if y is None:
        return np.concatenate([model.state_, model.last_])
    table = read(y, "y", field=model._is_of_fields)
    model.y_schema_.check(table.schema, "y")
    form = model._representation()
    if len(table.values) < form.lost + 2:
        raise ValueError(
            f"y has {len(table.values)} rows, expected at least {form.lost + 2} to start the loop "
            "after. Give more, or leave y out."
        )
    values = model.y_scaler_.scaled(form.differences(form.levels(table.values)))
    x = np.asarray(advance(model._reservoirs(), values[:-1]))
    return np.concatenate([x[:, 0], values[-1]])


def _check_outputs(model: ESNForecaster, outputs: np.ndarray) -> None:
    """Raise for outputs ``(steps, outputs)`` that ran away, warn of those far from the data."""
    whole = np.isfinite(outputs).all(axis=1)
    if not whole.all():
        raise ValueError(
            f"model runs away to infinity on its own output, at step {int(whole.argmin()) + 1}, so "
            "it has no exponents. Fit it with a larger ridge or a smaller spectral_radius, or find "
            "both with ESNSearchCV."
        )
    span = getattr(model, "range_", None)
    if span is None or model._representation():
        return
    near = plausible(model.y_scaler_.original(outputs), span).all(axis=1)
    if not near.all():
        words = (
            f"at step {int(near.argmin()) + 1} the network is far outside of the range of its "
            "data: these are exponents of motion that the data have not shown. Fit it with a "
            "larger ridge, or search ridge and spectral_radius with ESNSearchCV."
        )
        warn_of((words,))
