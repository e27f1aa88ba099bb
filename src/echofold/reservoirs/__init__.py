"""Kinds of reservoir. `Leaky` is the paper's; subclass `Reservoir` to add one of your own."""

from echofold._engine.kind import Reservoir
from echofold.reservoirs._bank import Bank
from echofold.reservoirs._custom import Custom, Foreign
from echofold.reservoirs._deep import Deep
from echofold.reservoirs._edge import EdgeOfStability
from echofold.reservoirs._leaky import Leaky
from echofold.reservoirs._leaky import reservoir_of as reservoir_of
from echofold.reservoirs._local import Local
from echofold.reservoirs._nvar import NVAR
from echofold.reservoirs._plastic import Plastic

__all__ = [
    "NVAR", "Bank", "Custom", "Deep", "EdgeOfStability", "Foreign", "Leaky", "Local", "Plastic",
    "Reservoir",
]  # fmt: skip
