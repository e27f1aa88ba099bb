"""Leaky reservoirs from raw weights, for tests of the engine."""

from echofold._engine.kind import Reservoirs
from echofold.reservoirs import Leaky
from echofold.reservoirs._leaky import leaky_columns


def reservoirs(weights, leak, radius, scaling) -> Reservoirs:
    """A batch of candidates with these leak rates, radii and scalings ``(1 + inputs, columns)``."""
    kind = Leaky(weights.W_in.shape[0])
    columns = leaky_columns(weights, leak, radius, scaling)
    return Reservoirs.of(kind, weights, columns, weights.W_in.shape[1] - 1)
