"""Kinds of reservoir: what one answers, what a readout sees of it, candidates of it side by side.

`Reservoir` is what users subclass, `View` what ``readout=`` of an estimator asks for: its columns
are computed here alone, for driven states and for closed loops alike. `Reservoirs` are candidates
of one kind that share a draw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement
from math import comb
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from echofold._data.scikit_learn import BaseEstimator, SharesFunctions
from echofold._machine.arrays import jax, jnp, namespace, of_each, once_imported

MOST_COLUMNS = 20_000  # of a polynomial: the readout is solved by a matrix of their square
Grid = tuple[int, ...]  # of a field: cells along each dimension, then variables
PRECISIONS: dict[str, np.dtype] = {"double": np.dtype(np.float64), "single": np.dtype(np.float32)}


@dataclass(frozen=True)
class View:
    """What stands in a row beside its one: inputs or not, then what `look` gives.

    ``inputs`` tells whether the inputs ``u`` do. The states ``x``, as the reservoir shows them,
    come first, then their squares or the products of ``[u, x]`` up to ``degree``; a ``function``
    of ``(u, x)`` stands in the place of all this.
    """

    inputs: bool = True
    squares: bool = False
    degree: int = 1
    function: Callable | None = None

    def look(self, u, x):
        """Columns ``(looks, columns)`` of inputs ``u (inputs, columns or 1)`` and ``x``."""
        if self.function is not None:
            return self.function(wide_as(u, x), x)
        if self.squares:
            return namespace(x).concatenate([x, x * x])
        if self.degree > 1:
            values = namespace(x).concatenate([wide_as(u, x), x])
            each = [products(values, degree) for degree in range(2, self.degree + 1)]
            return namespace(x).concatenate([x, *each])
        return x

    def looks(self, inputs: int, shown: int) -> int:
        """How many columns `look` gives, for so many inputs and values shown of a state."""
        if self.function is not None:
            return features_of("readout", self.function, inputs=inputs, states=shown)
        if self.squares:
            return 2 * shown
        terms = comb(inputs + shown + self.degree, self.degree) - 1 - inputs  # of degree 1 and more
        if self.degree > 1 and terms > MOST_COLUMNS:
            raise ValueError(
                f"readout='polynomial {self.degree}' of {inputs} inputs and {shown} values of a "
                f"state has {terms} columns, more than {MOST_COLUMNS}. Use fewer units, a lower "
                "degree, or 'inputs+states+squares'."
            )
        return terms if self.degree > 1 else shown


VIEWS = {
    "states": View(inputs=False),
    "inputs+states": View(),
    "states+squares": View(inputs=False, squares=True),
    "inputs+states+squares": View(squares=True),
    **{f"polynomial {degree}": View(degree=degree) for degree in range(2, 6)},
}
KINDS: dict[str, type[Reservoir]] = {}  # by module and name, as model files call them


class Reservoir(SharesFunctions, BaseEstimator, ABC):
    """A kind of reservoir, with the values of its parameters.

    Subclass it to add a kind: its constructor takes parameters as keywords, all with defaults, and
    keeps them as attributes of the same names. The readout, validation, search, closed loops,
    devices and files then work for it as for any other.

    States are ``(size, columns)``: units first, one column for every candidate (and, in a closed
    loop, for every split and ridge). `step` and `look` are compiled by JAX, so they are pure
    functions of ``jax.numpy`` arrays.

    Attributes
    ----------
    parameters : tuple of str
        Names of parameters that may differ between columns. Candidates that differ in nothing else
        share a draw, and run side by side.
    compiled_in : tuple of str
        Names of other parameters that `step` and `look` read from ``self``: hashable constants,
        such as the name of an activation.
    objects : tuple of str
        Names of parameters that are functions or objects of the user's. What they do is not in a
        file, so an estimator with such a kind cannot be saved.
    shows : bool
        Whether what `look` gives begins with the state itself.
    eager : bool
        Whether `step` and `look` work on NumPy's arrays too, so that small problems need not be
        compiled; False by default.
    stored : dict of str to tuple of str
        The arrays that a trained estimator carries as attributes and that files hold, by name, and
        what their axes are: ``"size"``, ``"inputs"``, ``"1 + inputs"``, a name that `axes` knows,
        or any other word. An array of two axes may be a SciPy sparse matrix.
    """

    parameters: ClassVar[tuple[str, ...]] = ()
    compiled_in: ClassVar[tuple[str, ...]] = ()
    objects: ClassVar[tuple[str, ...]] = ()
    _of_fields: ClassVar[bool] = False  # whether each part of a field has a row of its own
    _view: View = View()  # what the readout of an estimator sees; set beside the parameters
    _precision: str = "double"  # of weights and states; set with it
    _given: int | None = None  # inputs that are data, where others are computed from these
    _grid: Grid | None = None  # of the field that it is on; set where data are known

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        KINDS[cls.called()] = cls

    @classmethod
    def called(cls) -> str:
        """The name that model files call this kind by."""
        home = cls.__module__
        if home.startswith("echofold."):
            home = home.partition("._")[0]  # which file of ours defines it is nobody's business
        return f"{home}.{cls.__qualname__}"

    @property
    def stored(self) -> Mapping[str, tuple[str, ...]]:
        """The arrays that a trained estimator carries, and what their axes are."""
        return {}

    @property
    def shows(self) -> bool:
        """Whether what `look` gives begins with the state itself."""
        return True

    @abstractmethod
    def size(self, inputs: int) -> int:
        """Number of values in a state, under so many inputs."""

    @abstractmethod
    def check(self) -> None:
        """Raise a ValueError for a parameter that is not allowed."""

    @abstractmethod
    def draw(self, inputs: int, seed: int) -> Any:
        """The weights of a seed: arrays, in any tree of tuples and dicts, for all candidates."""

    def columns(self, weights: Any, kinds: Sequence[Any], inputs: int) -> dict[str, np.ndarray]:
        """What differs between the candidates ``kinds``: arrays whose last axis they are.

        By default the values of ``parameters``.
        """
        own = self.parameters
        return side_by_side([{name: getattr(kind, name) for name in own} for kind in kinds])

    @abstractmethod
    def step(self, weights: Any, columns: Mapping[str, Any], x, u):
        """The states after ``x (size, columns)`` under inputs ``u (inputs, columns or 1)``."""

    def adapts(self) -> int:
        """How often candidates adapt to all inputs, before any state of theirs is seen."""
        return 0

    def adapted(self, weights: Any, columns: Mapping[str, Any], x, u):
        """The states after ``x`` under inputs ``u``, and columns that have adapted to them."""
        return self.step(weights, columns, x, u), columns

    def look(self, x, u):
        """What is seen of states from outside, ``(looks, columns)``: by default, all of them."""
        return x

    def looks(self, inputs: int) -> int:
        """How many values `look` gives."""
        return self.size(inputs)

    @property
    def _beside(self) -> bool:
        """Whether inputs stand beside what the readout sees of states, in every row."""
        return self._view.inputs

    def _see(self, x, u):
        """What the readout sees of states, ``(seen, columns)``: what ``readout=`` makes of them."""
        return self._view.look(u, self.look(x, u))

    def _seen(self, inputs: int) -> int:
        """How many values `_see` gives."""
        return self._view.looks(inputs, self.looks(inputs))

    def _features(self, inputs: int) -> int:
        """Columns of a row: inputs if they stand beside, and what is seen of states."""
        return inputs * self._beside + self._seen(inputs)

    def _groups(self) -> np.ndarray | None:
        """Outputs ``(readouts, rows, outputs of a row)`` that each of several readouts gives.

        None if there is one row for each step, and one readout that gives all outputs.
        """
        return None

    def _outputs(self, readout, u, seen):
        """``y = W_out [1; u; x]`` of a readout ``(1 + features, outputs)`` for each column.

        ``u (inputs, columns)`` are the inputs that stand beside what is ``seen (…, columns)``.
        """
        y = readout[0] + (readout[1 + len(u) :] * seen[:, None]).sum(axis=0)
        for j in range(len(u)):
            y = y + readout[1 + j] * u[j]
        return y

    def _compiled(self, inputs: int) -> Compiled:
        """The kind as programs see it."""
        read = self.constants(inputs)
        kind = type(self)(**read)
        kind._view = self._view
        return Compiled((type(self), tuple(read.items()), self._view), kind)

    def _on(self, grid: Grid | None) -> Reservoir:
        """The kind on a field of such a shape, or on a series that is none; `self`, changed."""
        if grid is not None and not self._of_fields:
            raise ValueError(
                f"y was read as a field of shape {grid}, for a reservoirs.Local, but "
                f"{type(self).__name__} is none. Compare kinds inside of it: "
                "{'reservoir__kind': [...]}."
            )
        return self

    def constants(self, inputs: int) -> dict[str, Any]:
        """Parameters that programs are compiled for: those named in ``compiled_in``, by default."""
        return {name: getattr(self, name) for name in self.compiled_in}

    def silent(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        """Columns to run free with: without what is meant for training alone, such as noise."""
        return columns

    @property
    def eager(self) -> bool:
        """Whether NumPy can step it too: all that it calls is of the arrays' own library."""
        return False

    def free(self) -> Reservoir:
        """The kind that a trained network runs as: without what is meant for training alone."""
        return self

    def axes(self, inputs: int) -> dict[str, int]:
        """Sizes by names that ``stored`` uses beside ``"size"`` and the inputs."""
        return {}

    def warmup(self, columns: Mapping[str, Any]) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return 1000

    @abstractmethod
    def trained(self, weights: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The ``stored`` arrays of a batch of one candidate."""

    @abstractmethod
    def restored(self, stored: dict[str, Any]) -> tuple[Any, dict[str, np.ndarray]]:
        """Weights and columns of one candidate, from its ``stored`` arrays."""

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise a ValueError for ``stored`` arrays of a file that `restored` must not see.

        Their shapes, by ``stored``, and that they are finite numbers, was checked before.
        """

    def shared(self) -> tuple:
        """Equal for candidates that can share a draw: all but ``parameters``, by default."""
        rest = {k: v for k, v in self.get_params(deep=False).items() if k not in self.parameters}
        return tuple((k, id(v) if hasattr(v, "shape") else repr(v)) for k, v in rest.items())


@dataclass(frozen=True)
class Compiled:
    """A kind with the parameters that are compiled in; those of equal keys share programs."""

    key: tuple
    kind: Reservoir = field(compare=False)


@dataclass(frozen=True, eq=False)
class Reservoirs:
    """Candidates of one kind that share a draw: arrays for the engine, and how they are stepped.

    ``shape`` is the size of a state and the number of columns, ``looks`` the number of values that
    the readout sees of each state, beside the inputs if ``beside``, and ``kept`` that of values a
    drive keeps of each step: what the readout sees, and the state unless that begins with it.
    Weights, columns and states are of ``dtype``; whatever else there is has 64 bits.
    """

    weights: Any
    columns: Mapping[str, Any]
    compiled: Compiled
    shape: tuple[int, int]
    looks: int
    beside: bool
    kept: int
    dtype: np.dtype

    @classmethod
    def of(cls, kind: Reservoir, weights: Any, columns: Mapping, inputs: int) -> Reservoirs:
        """Candidates of a kind, from their weights and columns."""
        compiled, size, looks = kind._compiled(inputs), kind.size(inputs), kind._seen(inputs)
        shape = size, _columns_of(columns)
        kept = looks if kind.shows and kind._view.function is None else looks + size
        dtype = PRECISIONS[kind._precision]
        columns = dict(columns)
        if dtype != PRECISIONS["double"]:
            weights, columns = of_each(partial(_of_type, dtype), (weights, columns))
        return cls(weights, columns, compiled, shape, looks, kind._beside, kept, dtype)

    @property
    def parts(self) -> int:
        """Rows of a readout at each step: of a field one for each neighbourhood."""
        groups = self.compiled.kind._groups()
        return 1 if groups is None else groups.shape[0] * groups.shape[1]

    def take(self, index) -> Reservoirs:
        """The candidates at ``index``, one for each column wanted."""
        chosen = of_each(itemgetter((..., index)), self.columns)
        return replace(self, columns=chosen, shape=(self.shape[0], len(index)))

    def silent(self) -> Reservoirs:
        """The same, to run free: without what is meant for training alone."""
        return replace(self, columns=self.compiled.kind.silent(self.columns))

    def step(self, x, u):
        """One update of states ``x`` by inputs ``u (inputs, columns or 1)``."""
        x, u = _of_type(self.dtype, x), _of_type(self.dtype, u)
        return _of_type(self.dtype, self.compiled.kind.step(self.weights, self.columns, x, u))

    def adapted(self, x, u):
        """The states after ``x`` under inputs ``u``, and columns that have adapted to them."""
        x, u = _of_type(self.dtype, x), _of_type(self.dtype, u)
        return self.compiled.kind.adapted(self.weights, self.columns, x, u)

    def state(self, x=None):
        """A state ``x`` to drive from, on the host at rest if there is none."""
        return np.zeros(self.shape, self.dtype) if x is None else _of_type(self.dtype, x)

    def look(self, x, u):
        """What the readout sees of states ``x`` under inputs ``u``: ``(looks, columns)``."""
        return self.compiled.kind._see(x, _of_type(self.dtype, u))

    def keep(self, x, u):
        """What the readout sees, then the state unless it is seen: ``(kept, columns)``."""
        look = self.look(x, u)
        return look if self.kept == self.looks else namespace(x).concatenate([look, x])

    def state_in(self, kept):
        """The states ``(…, size, columns)`` in what was kept, ``(…, kept, columns)``."""
        first = 0 if self.kept == self.looks else self.looks
        return kept[..., first : first + self.shape[0], :]

    def warmup(self) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return self.compiled.kind.warmup(self.columns)

    def trained(self) -> dict[str, Any]:
        """What an estimator carries of a single candidate: in 64 bits, which lose nothing."""
        found, double = self.compiled.kind.trained(self.weights, self.columns), PRECISIONS["double"]
        return found if self.dtype == double else of_each(partial(_of_type, double), found)


once_imported(
    lambda: jax.tree_util.register_dataclass(
        Reservoirs,
        ["weights", "columns"],
        ["compiled", "shape", "looks", "beside", "kept", "dtype"],
    )
)


def _of_type(dtype: np.dtype, array: Any) -> Any:
    """Floating-point numbers of another type; those that are of this one, and all else, as is."""
    own = getattr(array, "dtype", dtype)
    if own is dtype or own == dtype or getattr(own, "kind", "") != "f":
        return array
    return array.astype(dtype)


def _columns_of(columns: Any) -> int:
    """How many candidates there are: the last axis of every array."""
    while isinstance(columns, Mapping | tuple):
        columns = next(iter(columns.values() if isinstance(columns, Mapping) else columns))
    return columns.shape[-1]


def side_by_side(values: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Values of candidates as arrays whose last axis they are; without any, as many columns."""
    return {
        name: np.stack([np.asarray(one[name], dtype=float) for one in values], axis=-1)
        for name in values[0]
    } or {"candidate": np.zeros(len(values))}  # fmt: skip


def is_eager_kind(kind: Reservoir) -> bool:
    """Whether NumPy can step a kind, and compute what the readout sees of it."""
    return kind.eager and kind._view.function is None


def drawn(kinds: Sequence[Reservoir], inputs: int, seed: int) -> Reservoirs:
    """Candidates that share a draw, side by side."""
    weights = kinds[0].draw(inputs, seed)
    return Reservoirs.of(kinds[0], weights, kinds[0].columns(weights, kinds, inputs), inputs)


def restored(kind: Reservoir, stored: dict[str, Any], inputs: int) -> Reservoirs:
    """A trained candidate, from what an estimator carries."""
    return Reservoirs.of(kind, *kind.restored(stored), inputs)


def products(values, degree: int):
    """Products ``(terms, columns)`` of ``degree`` of the ``values (count, columns)``, each once."""
    chosen = np.array(list(combinations_with_replacement(range(values.shape[0]), degree)))
    product = values[chosen[:, 0]]
    for factor in range(1, degree):
        product = product * values[chosen[:, factor]]
    return product


def wide_as(u, x):
    """Inputs, given once for all columns, for every column."""
    return namespace(x).broadcast_to(u, (u.shape[0], x.shape[1]))


TRIED = 3  # columns of the arrays that users' functions are tried with
SIDE_BY_SIDE = "made of jax.numpy operations, with networks side by side in the last axis"


def tried(name: str, function: Callable, given: str, *args: Any, rule: str) -> Any:
    """Shapes that a user's function gives for ``args``, arrays or shapes, which ``given`` tells."""
    try:
        return jax.eval_shape(function, *args)
    except Exception as error:  # whatever a user's function raises
        raise ValueError(
            f"{name}={function!r} failed for {given}: {error}. It must be {rule}."
        ) from error


def of_shape(rows: int, columns: int = TRIED) -> Any:
    """An array that is not there, for `tried`."""
    return jax.ShapeDtypeStruct((rows, columns), jnp.result_type(float))


def check_each_value(name: str, function: Callable) -> None:
    """Raise unless a user's function gives a number for each value of an array, by itself."""
    given, rule = "an array of shape (2, 3)", "made of jax.numpy operations, each value by itself"
    found = tried(name, function, given, of_shape(2, 3), rule=rule)
    if getattr(found, "shape", None) != (2, 3):
        raise ValueError(
            f"{name} has {function!r}, which gave {found} for {given}: it must give an array of "
            "the same shape, each value by itself."
        )


def features_of(name: str, function: Callable, **arrays: int) -> int:
    """How many features a user's function gives for arrays of so many rows, by what they are.

    It must do so for any number of networks.
    """
    shapes = [of_shape(rows) for rows in arrays.values()]
    given = " and ".join(f"{what} of shape ({rows}, {TRIED})" for what, rows in arrays.items())
    seen = tried(name, function, given, *shapes, rule=SIDE_BY_SIDE)
    if getattr(seen, "ndim", 0) != 2 or seen.shape[1] != TRIED or not seen.shape[0]:
        raise ValueError(
            f"{name}={function!r} gave shape {getattr(seen, 'shape', None)} for {given}, expected "
            f"(features, {TRIED}): networks are side by side in the last axis."
        )
    return int(seen.shape[0])
