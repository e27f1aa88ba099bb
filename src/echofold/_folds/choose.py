"""Which algorithm: the one with the lowest estimated cost, unless one is asked for."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from echofold._folds.algorithms import Algorithm, Naive, Size, SmallK
from echofold._folds.leave_out import LeaveOut
from echofold._folds.walk import Walk

VARIANTS: dict[str, type[Algorithm]] = {
    "naive": Naive,
    "small_k": SmallK,
    "leave_out": LeaveOut,
    "walk": Walk,
}
ALGORITHMS = tuple(dict.fromkeys(variant.public for variant in VARIANTS.values()))


@dataclass(frozen=True)
class Choice:
    """One of `VARIANTS`, the estimated seconds of every algorithm for one candidate, and why."""

    variant: str
    costs: dict[str, float]
    reason: str

    @property
    def algorithm(self) -> str:
        """The name that users know it by."""
        return VARIANTS[self.variant].public


def choose_together(sizes: dict[str, Size], algorithm: str) -> dict[str, Choice]:
    """A choice for each of several schemes, of which one may use what another has paid for."""
    choices = {name: choose(size, algorithm) for name, size in sizes.items()}
    variants = {choice.variant for choice in choices.values()}
    if algorithm != "auto" or len(variants) == 1:
        return choices
    return {name: choose(size, algorithm, variants) for name, size in sizes.items()}


def choose(size: Size, algorithm: str, paid: Collection[str] = ()) -> Choice:
    """Pick the variant with the lowest estimated cost, among those of ``algorithm`` or all.

    What schemes share by the variants ``paid`` for costs nothing.
    """
    costs: dict[str, float] = {}
    cheapest: dict[str, str] = {}  # variant of each algorithm
    for name, variant in VARIANTS.items():
        if (seconds := cost(variant, size, name in paid)) < costs.get(variant.public, math.inf):
            costs[variant.public], cheapest[variant.public] = seconds, name
    if algorithm != "auto":
        return Choice(cheapest[algorithm], costs, f"{algorithm} was asked for")
    best = min(costs, key=costs.__getitem__)
    reason = (
        f"{best} has the lowest estimated cost for k={size.k} splits of n={size.n} rows "
        f"with {1 + size.m} columns"
    )
    return Choice(cheapest[best], costs, reason)


def cost(variant: type[Algorithm], size: Size, paid: bool = False) -> float:
    """Estimated seconds for one candidate, without what is ``paid``; infinite if it cannot be."""
    if (work := variant.work(size)) is None:
        return math.inf
    left_out = variant.shared if paid else ()
    each = (n * seconds for name, (seconds, n) in work.items() if name not in left_out)
    return float(sum(each))


def choose_on_device(size: Size, algorithm: str) -> Choice:
    """A Cholesky factor for each split, or rows left out of one of all: what takes fewer products.

    Costs are those of one thread of the host, for comparison.
    """
    costs, reason = choose(size, algorithm).costs, f"{algorithm} was asked for"
    if algorithm == "auto":
        left = float((size.n - size.splits.train_sizes).max())
        solving = size.sets * size.p**3 / 3 + size.n * size.p**2 / size.ridges
        leaving = size.n * size.p**2 + size.sets * (left**2 * size.p + left**3 / 3)
        algorithm = "small_k" if solving <= leaving else "large_k"
        reason = f"on a device, {algorithm} takes the fewest products"
    return Choice("small_k" if algorithm == "small_k" else "leave_out", costs, reason)


def check_algorithm(algorithm: str) -> None:
    """Raise for an algorithm that does not exist."""
    if algorithm not in ("auto", *ALGORITHMS):
        raise ValueError(
            f"algorithm={algorithm!r} is unknown: it must be 'auto', "
            f"{', '.join(map(repr, ALGORITHMS))}."
        )
