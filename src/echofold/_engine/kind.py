"""What a kind of reservoir answers, and a batch of candidates of one kind that share a draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jax
import numpy as np
from sklearn.base import BaseEstimator

from echofold._data.scikit_learn import SharesFunctions
from echofold._data.segments import Segments
from echofold._engine.view import View

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
    stored : dict of str to tuple of str
        The arrays that a trained estimator carries as attributes and that files hold, by name, and
        what their axes are: ``"size"``, ``"inputs"``, ``"1 + inputs"``, a name that `axes` knows,
        or any other word. An array of two axes may be a SciPy sparse matrix.
    """

    parameters: ClassVar[tuple[str, ...]] = ()
    compiled_in: ClassVar[tuple[str, ...]] = ()
    objects: ClassVar[tuple[str, ...]] = ()
    _view: View = View()  # what the readout of an estimator sees; set beside the parameters

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

    @abstractmethod
    def columns(self, weights: Any, kinds: Sequence[Any], inputs: int) -> dict[str, np.ndarray]:
        """What differs between the candidates ``kinds``: arrays whose last axis they are."""

    @abstractmethod
    def step(self, weights: Any, columns: Mapping[str, Any], x, u):
        """The states after ``x (size, columns)`` under inputs ``u (inputs, columns or 1)``."""

    def look(self, x, u):
        """What is seen of states from outside, ``(looks, columns)``: by default, all of them."""
        return x

    def looks(self, inputs: int) -> int:
        """How many values `look` gives."""
        return self.size(inputs)

    def constants(self, inputs: int) -> dict[str, Any]:
        """Parameters that programs are compiled for: those named in ``compiled_in``, by default."""
        return {name: getattr(self, name) for name in self.compiled_in}

    def silent(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        """Columns to run free with: without what is meant for training alone, such as noise."""
        return columns

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


class _Steps:
    """A kind as programs see it: those of equal steps share what is compiled."""

    def __init__(self, kind: Reservoir, inputs: int):
        read = kind.constants(inputs)
        self.kind = type(kind)(**read)
        self.kind._view = kind._view
        self.key = type(kind), tuple(read.items()), kind._view

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Steps) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@jax.tree_util.register_pytree_node_class
class Reservoirs:
    """Candidates of one kind that share a draw: arrays for the engine, and how they are stepped.

    ``shape`` is the size of a state and the number of columns, ``looks`` the number of values that
    the readout sees of each state, beside the inputs if ``beside``.
    """

    def __init__(self, kind: Reservoir, weights: Any, columns: Mapping[str, Any], inputs: int):
        self.weights, self._columns = weights, dict(columns)
        count = jax.tree.leaves(self._columns)[0].shape[-1]
        self._fixed = _Steps(kind, inputs), kind.size(inputs), looks_of(kind, inputs), count

    @property
    def shape(self) -> tuple[int, int]:
        """Size of a state, and columns."""
        return self._fixed[1], self._fixed[3]

    @property
    def looks(self) -> int:
        """Values that the readout sees of a state."""
        return self._fixed[2]

    @property
    def beside(self) -> bool:
        """Whether the readout sees the inputs."""
        return self.kind._view.inputs

    @property
    def kept(self) -> int:
        """Values that a drive keeps of each step: what the readout sees, and the state."""
        return self.looks + (0 if self._shown else self.shape[0])

    @property
    def _shown(self) -> bool:
        """Whether what the readout sees begins with the state itself."""
        return self.kind.shows and self.kind._view.shows_states

    @property
    def kind(self) -> Reservoir:
        """The kind, with the parameters that are compiled in; others have their defaults."""
        return self._fixed[0].kind

    def columns(self, index) -> Reservoirs:
        """The candidates at ``index``, one for each column wanted."""
        chosen = jax.tree.map(lambda array: array[..., index], self._columns)
        return self._with(self.weights, chosen, (*self._fixed[:3], len(index)))

    def silent(self) -> Reservoirs:
        """The same, to run free: without what is meant for training alone."""
        return self._with(self.weights, self.kind.silent(self._columns), self._fixed)

    def step(self, x, u):
        """One update of states ``x`` by inputs ``u (inputs, columns or 1)``."""
        return self.kind.step(self.weights, self._columns, x, u)

    def look(self, x, u):
        """What the readout sees of states ``x`` under inputs ``u``: ``(looks, columns)``."""
        return self.kind._view.look(u, self.kind.look(x, u))

    def keep(self, x, u):
        """What the readout sees, then the state unless it is seen: ``(kept, columns)``."""
        look = self.look(x, u)
        return look if self._shown else jax.numpy.concatenate([look, x])

    def state_in(self, kept):
        """The states ``(…, size, columns)`` in what was kept, ``(…, kept, columns)``."""
        first = 0 if self._shown else self.looks
        return kept[..., first : first + self.shape[0], :]

    def warmup(self) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return self.kind.warmup(self._columns)

    def trained(self) -> dict[str, Any]:
        """What an estimator carries of a single candidate."""
        return self.kind.trained(self.weights, self._columns)

    @classmethod
    def _with(cls, weights, columns, fixed) -> Reservoirs:
        made = object.__new__(cls)
        made.weights, made._columns, made._fixed = weights, columns, fixed
        return made

    def tree_flatten(self):
        """Arrays, and what programs are compiled for."""
        return (self.weights, self._columns), self._fixed

    @classmethod
    def tree_unflatten(cls, fixed, arrays):
        """The same from its arrays, or from what stands for them in a trace."""
        return cls._with(arrays[0], arrays[1], fixed)


def looks_of(kind: Reservoir, inputs: int) -> int:
    """Values that the readout of an estimator sees of each state."""
    return kind._view.looks(inputs, kind.looks(inputs))


def row_length(segments: Segments, looks: int, beside: bool) -> int:
    """Columns of a row: inputs of its positions if they stand ``beside``, and looks at states."""
    return segments.positions * (segments.inputs * beside + looks)


def together(kinds: Sequence[Reservoir], inputs: int, seed: int) -> Reservoirs:
    """Candidates that share a draw, side by side."""
    weights = kinds[0].draw(inputs, seed)
    return Reservoirs(kinds[0], weights, kinds[0].columns(weights, kinds, inputs), inputs)


def alone(kind: Reservoir, stored: dict[str, Any], inputs: int) -> Reservoirs:
    """A trained candidate, from what an estimator carries."""
    return Reservoirs(kind, *kind.restored(stored), inputs)
