"""Documentation that the three estimators share, written once."""

from __future__ import annotations

import inspect
from typing import TypeVar

PARAMETERS = """\
units : int, default=100
    Units of the reservoir.
leak_rate : float in (0, 1], default=1.0
    How far a state moves towards its new value in one step.
spectral_radius : float or None, default=0.9
    ``W`` is rescaled to this spectral radius; None leaves it as it is.
input_scaling : float or array of shape (inputs,), default=1.0
    Multiplies the columns of ``W_in`` that belong to inputs (of a forecaster: the outputs fed
    back, then the columns of ``X``).
bias_scaling : float, default=1.0
    Multiplies the first column of ``W_in``.
connectivity : float in (0, 1], default=1.0
    Share of units that each unit is connected to.
ridge : float, default=1e-6; of a forecaster, whose errors feed on themselves, 1e-2
    Regularisation of the readout; 0 gives the least-squares solution of minimum norm. Regressors
    and classifiers take a list too, one for each output.
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
reservoir : object of `echofold.reservoirs`, optional
    Another kind of reservoir than the one that ``units`` to ``connectivity``, ``W`` and ``W_in``
    describe; those are then left at their defaults. In a search, ``reservoir`` takes a list of
    them, and ``reservoir__name`` values of a parameter of the given one.
readout : str or callable, default="inputs+states"
    What the readout sees beside a constant: "inputs+states" or "states", either of them with
    "+squares" of the states; "polynomial 2" (or 3 to 5), all products of inputs and states up to
    that degree; or a function of inputs ``u (inputs, networks)`` and states ``x (units,
    networks)`` made of ``jax.numpy`` operations, which gives ``(features, networks)``."""

ATTRIBUTES = """\
reservoir_ : object of `echofold.reservoirs`
    The kind of reservoir as fitted. It adds the arrays that it needs as attributes:
W_in_, W_, leak_rate_ : arrays of shape (units, 1 + inputs) and (units, units), and float
    Those of the leaky one: the weights as used, all scalings applied, and its leak rate.
seed_ : int
    Seed that the weights were drawn from.
condition_ : float
    Condition number of the training problem."""

Class = TypeVar("Class", bound=type)


def documented(cls: Class) -> Class:
    """Fill the shared parameters and attributes into a class's documentation.

    They stand at ``%(parameters)s`` and ``%(attributes)s``.
    """
    shared = {"parameters": PARAMETERS, "attributes": ATTRIBUTES}
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") % shared
    return cls
