"""What the three estimators share: parameters, their documentation, training, the network."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import (
    NamedParameters,
    check_integer,
    check_number,
    is_integer,
    refuse,
    seed_of,
)
from echofold._data.lazy import is_long
from echofold._data.problem import Problem, Task
from echofold._data.scikit_learn import BaseEstimator, SharesFunctions
from echofold._data.tables import appended, read, read_weights
from echofold._engine.drive import drive_side_by_side
from echofold._engine.generate import generate
from echofold._engine.kind import Grid, Reservoir, Reservoirs, is_eager_kind, restored
from echofold._engine.states import States, single, states_of
from echofold._folds.leave_out import Decomposed
from echofold._machine.arrays import few_lengths, pad_rows
from echofold._machine.available import check_process, check_room
from echofold._machine.device import Work, choose_device, engine, one_blas_thread
from echofold._machine.notices import warn_of
from echofold._machine.progress import one_piece
from echofold._models.learning import Learning, aged
from echofold._validation.own_readouts import fit_own
from echofold._validation.refit import Growing, Kept, Triangle, of_outputs
from echofold._validation.settings import Settings, describe_few, describe_rounding
from echofold.reservoirs import reservoir_of

if TYPE_CHECKING:
    import xarray as xr

WIDTH = 64  # sequences whose states are given out that are driven side by side

Method = TypeVar("Method", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

PARAMETERS = """\
units : int, default=100
    Units of the reservoir.
leak_rate : float in (0, 1], default=1.0
    How far a state moves towards its new value in one step.
spectral_radius : float or None, default=0.9
    ``W`` is rescaled to this spectral radius; None leaves it as it is.
input_scaling : float or array of shape (inputs,), default=1.0
    Multiplies the columns of ``W_in`` that belong to inputs (outputs that are fed back first, then
    the columns of ``X``, and what a forecaster's ``model`` says last).
bias_scaling : float, default=1.0
    Multiplies the first column of ``W_in``.
connectivity : float in (0, 1], default=1.0
    Share of units that each unit is connected to.
ridge : float or "auto", default="auto"; of a forecaster, whose errors feed on themselves, 1e-2
    Regularisation of the readout; 0 gives the least-squares solution of minimum norm. Regressors
    and classifiers take a list too, one for each output. Of these "auto" is, for whole sequences,
    the one with the least squared error by exact leave-one-out, and 1e-6 for series.
penalize_bias : bool, default=False
    Whether the ridge applies to the bias of the readout too.
scale : {"standard", "minmax", None}, default="standard"
    How columns of inputs and outputs are scaled: to zero mean and unit variance, to [0, 1], or
    not at all. Learned in `fit` over all time steps, undone in what is predicted.
W : array or SciPy sparse matrix of shape (units, units), optional
    Recurrent weights, instead of drawn ones; rescaled to ``spectral_radius``.
W_in : array of shape (units, 1 + inputs), optional
    Input weights, instead of drawn ones, the first column for the bias; multiplied by the
    scalings.
random_state : int, RandomState, Generator or None, default=None
    Seed of the drawn weights.
device : str, default="auto"
    Where to run: "auto", "cpu", "gpu", or one of several, as "gpu:1".
precision : {"double", "single"}, default="double"
    Of weights and states, driven and in closed loops: "single" takes 32 bits, in which ordinary
    GPUs are far quicker. Readouts, outputs and errors have 64 bits in both. A search in single
    precision warns where another candidate might win in double.
reservoir : object of `echofold.reservoirs`, None or, of regressors and classifiers, "auto"
    Another kind of reservoir than the one that ``units`` to ``connectivity``, ``W`` and ``W_in``
    describe; those are then left at their defaults. "auto" is a `reservoirs.Bank` for whole
    sequences, as long as these are, and None otherwise. In a search, ``reservoir`` takes a list of
    them, and ``reservoir__name`` values of a parameter of the given one.
readout : str or callable, default="inputs+states"
    What the readout sees beside a constant: "inputs+states" or "states", either of them with
    "+squares" of the states; "polynomial 2" (or 3 to 5), all products of inputs and states up to
    that degree; or a function of inputs ``u (inputs, networks)`` and states ``x (units,
    networks)`` made of ``jax.numpy`` operations, which gives ``(features, networks)``."""

SEQUENCES = """\
summaries : str, int, callable or tuple of these, optional
    What the readout sees of a whole sequence: of every input and every state over its steps the
    "mean", the "spread" (standard deviation), the "share" of positive values, the largest ("max"),
    the mean size of the "change" from one step to the next, and the "last"; an integer stands for
    the values at that many positions spread evenly; a function of values, made of ``jax.numpy``
    operations and each value by itself, for its mean. By default all that have names. A readout
    sees them in units of their standard deviations and their number, so that one ridge suits all.
states : {"mean", "last"} or int, optional
    A single summary instead, in the units of the states.
normalize : {"auto", True, False, "both"}, default="auto"
    Whether each sequence is brought to zero mean and unit variance, input by input; "both" gives
    the network both side by side. "auto" is "both" for a `reservoirs.Bank`, which is the default,
    else False."""

ATTRIBUTES = """\
reservoir_ : object of `echofold.reservoirs`
    The kind of reservoir as fitted. It adds the arrays that it needs as attributes:
W_in_, W_, leak_rate_ : arrays of shape (units, 1 + inputs) and (units, units), and float
    Those of the leaky one: the weights as used, all scalings applied, and its leak rate.
seed_ : int
    Seed that the weights were drawn from.
condition_ : float
    Condition number of the training problem, computed when it is first asked for."""


def documented(cls: Class) -> Class:
    """Fill what all share into ``%(parameters)s`` and ``%(attributes)s`` of a documentation."""
    shared = {"parameters": PARAMETERS, "attributes": ATTRIBUTES, "sequences": SEQUENCES}
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") % shared
    return cls


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


@dataclass(frozen=True)
class Stored:
    """A fitted value: what it is, and the sizes of its axes or columns.

    ``what`` names a check of `_persistence.expected`; ``axes`` are sizes of the network by name,
    such as "outputs", or words for sizes that may be any. It may be None if ``optional``, missing
    unless ``always``, and infinite unless ``finite``.
    """

    what: str
    axes: tuple[str, ...] = ()
    optional: bool = False
    always: bool = True
    finite: bool = True


class ESN(NamedParameters, SharesFunctions, BaseEstimator):
    """An echo state network; `fit` is reading the data, training, and installing the network.

    The two outer steps are separate methods because a search reads once, trains many networks,
    and installs one of them.
    """

    _task: ClassVar[Task]
    _shapes_the_problem: ClassVar[tuple[str, ...]] = ("washout", "scale")  # parameters of `_read`
    _skips_rows: ClassVar[tuple[str, ...]] = ("washout",)  # of these, those that skip rows
    _washouts: list[Any] | None = None  # of several series, where a search aligns candidates
    _stored: ClassVar[Mapping[str, Stored]] = {}  # fitted values that a task adds, in model files

    reservoir_: Reservoir
    learning_: Learning

    @classmethod
    def _kind(cls, params: dict[str, Any], whole: bool = False, check: bool = False) -> Reservoir:
        """The reservoir that parameters stand for, on ``whole`` sequences or on series."""
        return reservoir_of(params, check)

    @classmethod
    def _check_values(cls, params: dict[str, Any], whole: bool = False) -> Reservoir:
        """The reservoir; raise for a parameter outside its range, naming it and the remedy."""
        kind = cls._kind(params, whole, check=True)
        units = int(getattr(kind, "units", None) or 1)  # a foreign one may not tell
        check_room(8.0 * units**2, f"units={units}: a network of that size", "fewer units")
        cls._check_ridge(params["ridge"])
        if not isinstance(params["penalize_bias"], bool | np.bool_):
            refuse("penalize_bias", params["penalize_bias"], "True or False")
        if params.get("washout", "auto") != "auto":
            check_integer("washout", params["washout"], 0, ", or 'auto'")
        if params["scale"] not in ("standard", "minmax", None):
            refuse("scale", params["scale"], "'standard', 'minmax' or None")
        return kind

    @classmethod
    def _check_ridge(cls, ridge: Any) -> None:
        """Raise unless ``ridge`` is a number, or one for each output where outputs are apart."""
        several, expected = np.ndim(ridge) == 1 and not isinstance(ridge, str), "a number"
        if not cls._task.fed_back:
            expected += ", or one for each output,"
        for value in ridge if several and not cls._task.fed_back and len(ridge) else [ridge]:
            check_number("ridge", value, f"{expected} of at least 0", least=0)

    def _searched(self, names: set[str], task: Task) -> Self:
        """A copy to search parameters of these names on."""
        return clone(self)

    def _own_ridge(self, task: Task) -> Any:
        """The ridge that is given, or a path of them where data decide."""
        return self.ridge

    def _ridge_on(self, source: States) -> float | np.ndarray:
        """The ridge for these states."""
        return self._ridge_of(source.problem.targets.shape[1])

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
        choose_device(self.device)

    def _task_on(self, *data: Any) -> Task:
        """The task that data make of it."""
        return self._task

    def _states(self, problem: Problem, seed: int) -> States:
        """The states that this network has on a problem."""
        kind = self._with_model(self._kind_on(problem), vars(self), problem)
        return single(problem, kind, seed, self.device)

    def _kind_on(self, problem: Problem) -> Reservoir:
        """The reservoir for a problem."""
        kind = self._kind(self.get_params(deep=False), not problem.task.ordered)
        return kind._on(problem.grid)

    @classmethod
    def _grid_of(cls, params: Mapping[str, Any], fitted: Mapping[str, Any]) -> Grid | None:
        """Cells and variables of the field that data of these fitted values are, if they are."""
        return None

    @classmethod
    def _with_model(cls, kind: Reservoir, params: Mapping[str, Any], problem: Problem) -> Reservoir:
        """The reservoir beside a model of the series, if parameters have one."""
        return kind

    @classmethod
    def _fitting(cls, params: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
        """How readouts are fitted, in words of `Settings`; those of one series are not pooled."""
        own = {name: params[name] for name in ("pool", "shrink") if problem.each and name in params}
        return {"penalised": bool(params["penalize_bias"]), **own}

    def _fit(self, problem: Problem):
        """Train on a problem that was read, and install the network."""
        self._forget("_waiting")
        seed = seed_of(self.random_state)
        source = self._states(problem, seed)
        with one_piece("fitting"):
            ridge = self._ridge_on(source)
            found = fit_all(source, ridge, **self._fitting(vars(self), problem))
        part = source.parts[0]  # what one readout is learned from
        few = describe_few(part.problem, part.columns, ridge, found.freedom)
        warn_of([*problem.notes, *describe_rounding(problem, source.dtype), *few])
        self._install(source, found.readout, seed, found.seen)
        return self._begin_learning(problem, found)

    @cached_property
    def condition_(self) -> float:
        """Condition number of the training problem."""
        return self._factor.condition

    def _begin_learning(self, problem: Problem, found: Fitted) -> Self:
        """Keep what `partial_fit` adds rows to, if all rows were trained on as they are."""
        seen = problem.segments.seen
        if found.rows is None or not hasattr(self, "partial_fit") or (seen and seen.alike):
            return self
        before = vars(self).get("learning_") or Learning()
        self.learning_ = replace(before, rows=found.rows.alone())
        if before.pending is not None and found.last is not None:
            last = found.last[len(found.last) - len(before.pending) :]
            self.learning_ = replace(self.learning_, pending=np.hstack([last, before.pending]))
        return self

    def _fit_first(self, y: Any, X: Any, sample_weight: Any, forgetting: float) -> Self:
        """`fit` to the first parts of a series, which wait until two rows can be trained on.

        They wait where all that is learned is the readout: no scale, nor anything by their length.
        """
        table = None if is_long(y, X) else read(y, "y", missing=True)
        rows = len(y) if table is None else len(table.values)
        waits = table is not None and self.scale is None and is_integer(self.washout)
        waits = waits and getattr(self, "steps", 1) != "direct"
        weights = read_weights(sample_weight, rows, some=not waits)
        if forgetting < 1:
            weights = aged(rows, forgetting, weights)
        if (before := vars(self).get("_waiting")) is not None:
            y, X = appended(before[0], y, "y"), appended(before[1], X, "X")
            if weights is not None or before[2] is not None:
                old, new = np.ones(len(y) - rows), np.ones(rows)
                old = old if before[2] is None else before[2]
                weights = np.append(forgetting**rows * old, new if weights is None else weights)
        if waits:
            self._check_parameters()
            there = ~np.isnan(read(y, "y", missing=True).values).any(axis=1)
            known = np.zeros((1, 0)) if X is None else read(X, "X", missing=True).values
            empty = np.isnan(known).all(axis=0).any()  # a column that cannot be filled yet
            if empty or np.count_nonzero(self._trained(there, weights)) < 2:
                self._waiting = y, X, weights
                return self
        return self.fit(y=y, X=X, sample_weight=weights)

    def _take_in(self, rows: Sequence[np.ndarray], decay: float) -> None:
        """Learn from rows, after a decay of the weights of those before."""
        X, Y, weights = rows
        self.learning_ = self.learning_.extended(X, Y, weights, decay)
        ridge = self._ridge_of(Y.shape[1])
        readout = self.learning_.readout(ridge, bool(self.penalize_bias))
        self.readout_ = np.ascontiguousarray(readout)

    def _learned_on(self, what: str = "partial_fit") -> Learning:
        """What `partial_fit` goes on from; raise where there is nothing."""
        found = getattr(self, "learning_", None)
        if found is None or found.rows is None:
            raise ValueError(
                f"{what} has nothing to go on from: the model was loaded from a file without it, "
                "or its readout is not the fit of all rows, as that of an average, an ensemble, "
                "or series with readouts of their own; or it is one of several series, which learn "
                "on together, by the model that was fitted to them; or it sees summaries in units "
                "of their spread, which states='mean' does not. Save the model with save(model, "
                "path, learning=True), or fit it again."
            )
        if self.reservoir_.free() is not self.reservoir_:
            raise ValueError(
                f"{what} cannot go on with a reservoir that is noisy in training: the noise of "
                "rows that follow is not known. Fit it without noise, or fit all data again."
            )
        return found

    def _install(self, source: States, readout: np.ndarray, seed: int, seen: float | Triangle):
        """Carry a reservoir, and the readout that was trained on its states, from now on.

        ``seen`` is the condition of these states, or the R factor that tells it when asked for.
        """
        states = source.final()
        if "reservoir_" in vars(self):
            self._forget(*self.reservoir_.stored)  # maybe of another kind
        self.reservoir_ = copy(self._kind_on(source.problem))
        for name, array in source.reservoirs.trained().items():
            setattr(self, name, array)
        # In C order, as a loaded network is: a product may round otherwise in another order.
        self.readout_ = np.ascontiguousarray(source.of_features(readout))
        self.state_ = np.ascontiguousarray(states[:, 0])
        self._forget("condition_", "_factor")
        self.seed_ = seed
        if isinstance(seen, Triangle):
            self._factor = seen
        else:
            self.condition_ = seen
        problem = self._quiet(source.problem)
        if problem is not source.problem or self.reservoir_.free() is not self.reservoir_:
            # It runs otherwise from now on.
            device = choose_device(self.device, self._work(len(problem.washout) + problem.rows))
            states = states_of(problem, self._running(problem.segments.n_inputs), device).final()
            self.state_ = np.ascontiguousarray(states[:, 0])
        return self._at_ends(source.problem, states)

    def _quiet(self, problem: Problem) -> Problem:
        """The problem without noise that is for training alone."""
        return problem

    def _on_its_own(self, known: np.ndarray, x: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Scaled outputs ``(rows, outputs)`` in a closed loop along ``known (rows, inputs)``.

        It begins with the state ``x`` before the outputs ``last``.
        """
        ahead = pad_rows(known, few_lengths(len(known)))
        first, readout = np.concatenate([last, known[0]]), self.readout_[:, :, None]
        r, limited = self._reservoirs(), self._limited()
        with self._engine(len(known)):
            outputs = generate(
                r, readout, first[:, None], x[:, None], ahead, len(ahead), behind=True, **limited
            )
        return outputs[: len(known), :, 0]

    def _limited(self) -> dict[str, Any]:
        """What keeps a closed loop inside of the output range, if there is one."""
        return {}

    def _at_ends(self, problem: Problem, states: np.ndarray) -> Self:
        """Stand at the ends of the data, whose ``states`` are ``(size, 1 or series)``."""
        return self

    def _forget(self, *names: str) -> None:
        """Have no such values of an earlier fit."""
        for name in vars(self).keys() & set(names):
            delattr(self, name)

    def _reservoirs(self) -> Reservoirs:
        """The reservoir carried, ready to run."""
        check_process()
        check_is_fitted(self, "readout_")
        return self._running(self._sizes(vars(self))["inputs"])

    def _running(self, inputs: int) -> Reservoirs:
        """The reservoir carried, of so many inputs."""
        stored = {name: getattr(self, name) for name in self.reservoir_.stored}
        return restored(self._free_kind(), stored, inputs)

    def _free_kind(self) -> Reservoir:
        """The reservoir carried, as it runs."""
        return self.reservoir_.free()

    @classmethod
    def _sizes(cls, fitted: Mapping[str, Any]) -> dict[str, int]:
        """Outputs, inputs, and positions in a row, of the network that has these fitted values."""
        scaler = fitted["X_scaler_"]
        inputs = 0 if scaler is None else len(scaler.center)
        outputs = fitted["readout_"].shape[1]
        each = {"outputs": outputs, "steps * outputs": outputs}
        return {**each, "inputs": inputs, "positions": 1}

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Raise a ValueError for stored values that do not belong together."""

    def _driven(
        self, r: Reservoirs, each: Sequence[np.ndarray], begin: Any = 0.0
    ) -> list[np.ndarray]:
        """What is kept of the states ``(steps, kept)`` along ``each (steps, inputs)``.

        They begin at rest, or at one state ``begin (size, 1)``; some run side by side.
        """
        found = [np.empty((len(one), 0)) for one in each]
        order = sorted(range(len(each)), key=lambda place: len(each[place]))
        for first in range(0, len(each), WIDTH):
            some = order[first : first + WIDTH]
            inputs = [each[place] for place in some]
            with self._engine(len(inputs[-1]), len(some)):
                wide = 1 << (len(some) - 1).bit_length()  # of few sizes: each is compiled once
                driven = drive_side_by_side(r, inputs, wide, begin)
                states = np.concatenate([part[:, :, 0] for _, part in driven]).astype(float)
            for column, place in enumerate(some):
                found[place] = states[: len(each[place]), :, column].copy()
        return found

    def _engine(self, steps: int = 1, columns: int = 1):
        """The engine's context, on the device for so many steps of ``columns`` side by side."""
        return engine(choose_device(self.device, self._work(steps, columns)))

    def _is_eager(self) -> bool:
        """Whether NumPy can compute what the readout sees."""
        return True

    def _work(self, steps: int, columns: int = 1) -> Work:
        """So many steps of ``columns`` side by side."""
        eager = is_eager_kind(self._free_kind()) and self._is_eager()
        return Work(steps, columns, len(self.state_), eager=eager)


def state_array(
    states: np.ndarray,
    index: Any,
    washout: int,
    dims: tuple[str, ...] = ("sequence", "time", "state"),
) -> xr.DataArray:
    """States ``(…, rows, states)`` as users get them: with an index, or numbers of rows."""
    import xarray as xr

    dims = dims[-states.ndim :]
    rows = states.shape[dims.index("time")]
    times = np.arange(rows) if index is None else np.asarray(index)
    return xr.DataArray(states, {"time": times}, dims, "states", {"washout": washout})


class Fitted(NamedTuple):
    """A readout on all rows, and what more rows can be added to.

    The latter are the R factor, and of targets of several steps the last rows, which are not
    trained on yet; None where series have readouts of their own. ``seen`` is the condition of the
    states, or the R factor that tells it: of large networks that takes as long as the readout.
    ``freedom`` is that which the ridge leaves to one readout of fewer rows than weights, and 0
    where nobody asks for it.
    """

    readout: np.ndarray
    seen: float | Triangle
    rows: Growing | None = None
    last: np.ndarray | None = None
    freedom: float = 0.0


def decomposed(source: States, penalised: bool) -> Decomposed | None:
    """All rows by their singular values, where rows come from these and are weighed equally."""
    problem = source.problem
    factors = source.factors() if problem.weights is None else None
    return factors and Decomposed(*factors, problem.targets, penalised)


def fit_all(
    source: States, ridge: float | np.ndarray, penalised: bool, condition: bool = True, **pool: Any
) -> Fitted:
    """Readout on all rows, in one pass over them, and the condition number of the states.

    ``ridge`` is one number, or one for each output. The condition is NaN unless ``condition``: with
    row weights it takes a factorisation of its own. Where series have readouts of their own, by
    what `Settings` say of ``pool`` and ``shrink``, these stand behind the common one (zeros where
    there is none) as ``(1 + series, 1 + m, outputs)``.
    """
    problem = source.problem
    settings = Settings(np.atleast_1d(ridge), penalised, [], "naive", **pool)
    if settings.pool != "all":
        if settings.pool == "none":
            return Fitted(*fit_own(source, None, settings))
        common = fit_all(source, ridge, penalised, condition)
        return common._replace(
            readout=fit_own(source, common.readout, settings)[0], rows=None, last=None
        )
    path, place = np.unique(np.atleast_1d(ridge), return_inverse=True)
    if (rows := decomposed(source, penalised)) is not None:
        return Fitted(of_outputs(rows.readouts(path), place), rows.condition)
    parts = [_Part(part, penalised, condition) for part in source.parts]
    last, ahead = np.empty((0, source.columns)), problem.steps - 1
    with one_blas_thread():
        for row, (X, *_) in source.blocks():
            for part in parts:
                part.add(X, row)
            if ahead:
                last = np.concatenate([last, X[-ahead:]])[-ahead:]
        found = [of_outputs(part.solved.readouts(path), place) for part in parts]
        field, plain = len(parts) > 1 or parts[0].source is not source, parts[0].plain
        seen: float | Triangle = np.nan
        if condition and not field and isinstance(plain, Growing):
            seen = plain.alone()
        elif condition:
            seen = max(part.plain.condition for part in parts)
        free = parts[0].freedom(path[0]) if condition else 0.0
        if field:
            return Fitted(np.concatenate(found, axis=-1), seen, freedom=free)
        return Fitted(found[0], seen, parts[0].grown, last, free)


class _Part:
    """What grows with the rows that one readout is learned from."""

    def __init__(self, source: Any, penalised: bool, condition: bool):
        self.source, problem = source, source.problem
        self.grown = Growing(problem, source.columns, penalised)
        # Of whole sequences a readout may see many more numbers than there are sequences.
        few = not source.streams and problem.rows < source.columns
        self.solved = Kept(problem, source.columns, penalised) if few else self.grown
        self.plain = self.solved
        if condition and problem.weights is not None and not few:
            self.plain = Growing(replace(problem, weights=None), source.columns, penalised)

    def freedom(self, ridge: float) -> float:
        """What a ridge leaves of the freedom of weights that are more than rows; else 0."""
        source = self.source
        many = source.problem.task.ordered and source.problem.trained_rows <= source.columns
        return self.grown.freedom(ridge) if many else 0.0

    def add(self, X: np.ndarray, row: int) -> None:
        """Take in rows of the source, from ``row`` on."""
        X, count = self.source.of_part(X), self.source.count
        for one in {self.grown, self.plain, self.solved}:
            one.add(X, slice(row * count, row * count + len(X)))
