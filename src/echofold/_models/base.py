"""What the three estimators share: their parameters and the trained network they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import NamedParameters, check_integer, check_number, refuse, seed_of
from echofold._data.problem import Problem, Task
from echofold._data.scikit_learn import SharesFunctions
from echofold._engine.kind import Reservoir, Reservoirs, alone
from echofold._engine.states import States, single, states_of
from echofold._machine.available import check_process, check_room
from echofold._machine.device import Work, engine, resolve
from echofold._machine.notices import warn_of
from echofold._machine.progress import one_piece
from echofold._models.stored import Stored
from echofold._models.train import Network, fit_all, network
from echofold.reservoirs import reservoir_of

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


class ESN(NamedParameters, SharesFunctions, BaseEstimator):
    """An echo state network; `fit` is reading the data, training, and installing the network.

    The two outer steps are separate methods because a search reads once, trains many networks,
    and installs one of them.
    """

    _task: ClassVar[Task]
    _shapes_the_problem: ClassVar[tuple[str, ...]] = ("washout", "scale")  # parameters of `_read`
    _openings: ClassVar[tuple[str, ...]] = ("washout",)  # of these, those that skip rows
    _stored: ClassVar[Mapping[str, Stored]] = {}  # fitted values that a task adds, in model files

    reservoir_: Reservoir
    X_scaler_: Any
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
        reservoir=None,
        readout="inputs+states",
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
        self.reservoir = reservoir
        self.readout = readout

    @classmethod
    def _check_values(cls, params: dict[str, Any]) -> None:
        """Raise for a parameter outside its range, naming it, its value and the remedy."""
        kind = reservoir_of(params)
        kind.check()
        units = int(getattr(kind, "units", None) or 1)  # a foreign one may not tell
        check_room(8.0 * units**2, f"units={units}: a network of that size", "fewer units")
        cls._check_ridge(params["ridge"])
        if not isinstance(params["penalize_bias"], bool | np.bool_):
            refuse("penalize_bias", params["penalize_bias"], "True or False")
        if params.get("washout", "auto") != "auto":
            check_integer("washout", params["washout"], 0, ", or 'auto'")
        if params["scale"] not in ("standard", "minmax", None):
            refuse("scale", params["scale"], "'standard', 'minmax' or None")

    @classmethod
    def _check_ridge(cls, ridge: Any) -> None:
        """Raise unless ``ridge`` is a number, or one for each output where outputs are apart."""
        several, expected = np.ndim(ridge) == 1 and not isinstance(ridge, str), "a number"
        if not cls._task.fed_back:
            expected += ", or one for each output,"
        for value in ridge if several and not cls._task.fed_back and len(ridge) else [ridge]:
            check_number("ridge", value, f"{expected} of at least 0", lambda value: value >= 0)

    def _ridge_of(self, outputs: int) -> float | np.ndarray:
        """The ridge, a number or an array ``(outputs,)``."""
        if np.ndim(self.ridge) == 0:
            return float(self.ridge)
        if len(self.ridge) != outputs:
            raise ValueError(
                f"ridge has {len(self.ridge)} values for {outputs} outputs. Give one for each, or "
                "one number for all."
            )
        return np.asarray(self.ridge, dtype=float)

    def _check_parameters(self) -> None:
        """Raise for a parameter that is not allowed, or a device that is not there."""
        check_process()
        self._check_values(self.get_params(deep=False))
        resolve(self.device)

    def _states(self, problem: Problem, seed: int) -> States:
        """The states that this network has on a problem."""
        return single(problem, reservoir_of(self.get_params(deep=False)), seed, self.device)

    def _fit(self, problem: Problem):
        """Train on a problem that was read, and install the network."""
        seed = seed_of(self.random_state)
        source = self._states(problem, seed)
        with one_piece("fitting"):
            ridge = self._ridge_of(problem.targets.shape[1])
            readout, condition = fit_all(source, ridge, bool(self.penalize_bias))
        warn_of(problem.missing)
        return self._install(network(source, readout, seed, condition), problem)

    def _install(self, network: Network, problem: Problem):
        """Carry ``network``, trained on ``problem``, from now on."""
        if hasattr(self, "reservoir_"):
            self._forget(*self.reservoir_.stored)  # maybe of another kind
        self.reservoir_ = copy(reservoir_of(self.get_params(deep=False)))
        for name, array in network.reservoir.items():
            setattr(self, name, array)
        # In C order, as a loaded network is: a product may round otherwise in another order.
        self.readout_ = np.ascontiguousarray(network.readout)
        self.state_ = np.ascontiguousarray(self._state_after(network, problem))
        self.seed_ = network.seed
        self.condition_ = network.condition
        return self

    def _forget(self, *names: str) -> None:
        """Have no such values of an earlier fit."""
        for name in vars(self).keys() & set(names):
            delattr(self, name)

    def _reservoirs(self) -> Reservoirs:
        """The reservoir carried, ready to run."""
        check_process()
        check_is_fitted(self, "readout_")
        stored = {name: getattr(self, name) for name in self.reservoir_.stored}
        return alone(self.reservoir_.free(), stored, self._network_inputs)

    def _state_after(self, network: Network, problem: Problem) -> np.ndarray:
        """The state at the end of the data, of the network as it runs from now on."""
        if self.reservoir_.free() is self.reservoir_:
            return network.state
        r = self._reservoirs()
        work = Work(len(problem.washout) + problem.rows, 1, r.shape[0])
        return states_of(problem, r, resolve(self.device, work)).final()[:, 0]

    @property
    def _network_inputs(self) -> int:
        """Number of inputs of the network carried."""
        return len(self.X_scaler_.center)

    @classmethod
    def _stored_sizes(cls, fitted: dict[str, Any], outputs: int, scaled: int) -> dict[str, int]:
        """Inputs, and positions in a row, of a network in a file; ``scaled`` are columns of X."""
        return {"inputs": scaled, "positions": 1}

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Raise a ValueError for stored values that do not belong together."""

    def _engine(self, steps: int = 1, columns: int = 1):
        """The engine's context, on the device for so many steps of ``columns`` side by side."""
        return engine(resolve(self.device, Work(steps, columns, len(self.state_))))
