"""What the three estimators share: their parameters and the trained network they carry."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from echofold._data.problem import Problem
from echofold._data.tasks import Task
from echofold._engine.candidates import check_parameters, seed_of
from echofold._engine.leaky import Reservoirs, reservoirs
from echofold._engine.weights import prepare
from echofold._machine.device import engine, resolve
from echofold._machine.fork import check_process
from echofold._models.train import Network, train

Method = TypeVar("Method", bound=Callable[..., Any])


def whole_or_not_at_all(method: Method) -> Method:
    """Make a method that raises, or is interrupted, leave its object as it was.

    A readout must never stand beside the scaler of other data. Fitted values are replaced and
    never changed in place, so the old ones are kept by name alone.
    """

    @wraps(method)
    def guarded(self, *data, **options):
        before = dict(vars(self))
        try:
            return method(self, *data, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded  # type: ignore[return-value]


class ESN(BaseEstimator):
    """An echo state network; `fit` is reading the data, training, and installing the network.

    The two outer steps are separate methods because a search reads once, trains many networks,
    and installs one of them.
    """

    _task: ClassVar[Task]
    _shapes_the_problem: ClassVar[tuple[str, ...]] = ("washout", "scale")  # parameters of `_read`

    W_in_: np.ndarray
    W_: Any
    leak_rate_: float
    readout_: np.ndarray
    state_: np.ndarray
    seed_: int
    condition_: float

    def __init__(
        self,
        units=100,
        *,
        leak_rate=1.0,
        spectral_radius=0.9,
        input_scaling=1.0,
        bias_scaling=1.0,
        connectivity=1.0,
        ridge=1e-6,
        penalize_bias=False,
        washout="auto",
        scale="standard",
        W=None,
        W_in=None,
        random_state=None,
        device="auto",
    ):
        self.units = units
        self.leak_rate = leak_rate
        self.spectral_radius = spectral_radius
        self.input_scaling = input_scaling
        self.bias_scaling = bias_scaling
        self.connectivity = connectivity
        self.ridge = ridge
        self.penalize_bias = penalize_bias
        self.washout = washout
        self.scale = scale
        self.W = W
        self.W_in = W_in
        self.random_state = random_state
        self.device = device

    def _check_parameters(self) -> None:
        """Raise for a parameter that is not allowed, or a device that is not there."""
        check_process()
        check_parameters(self.get_params(deep=False))
        resolve(self.device, 1)

    def _fit(self, problem: Problem):
        """Train on a problem that was read, and install the network."""
        return self._install(
            train(problem, self.get_params(deep=False), seed_of(self.random_state))
        )

    def _install(self, network: Network):
        """Carry ``network`` from now on."""
        # In C order, as a loaded network is: a product may round otherwise in another order.
        self.W_in_ = np.ascontiguousarray(network.W_in)
        self.W_ = network.W
        self.leak_rate_ = network.leak_rate
        self.readout_ = np.ascontiguousarray(network.readout)
        self.state_ = np.ascontiguousarray(network.state)
        self.seed_ = network.seed
        self.condition_ = network.condition
        return self

    def _reservoirs(self) -> Reservoirs:
        """The reservoir carried, ready to run."""
        check_process()
        check_is_fitted(self, "readout_")
        raw = prepare(self.W_in_, self.W_, rescale=False)
        return reservoirs(raw, [self.leak_rate_], [1.0], np.ones((self.W_in_.shape[1], 1)))

    def _engine(self, columns: int = 1):
        """The engine's context, on the device for ``columns`` states side by side."""
        return engine(resolve(self.device, columns))
