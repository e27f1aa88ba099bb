"""Which algorithm: the one with the lowest estimated cost, unless one is asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from echofold._folds.algorithms import Algorithm, KeptRows, Naive, Refitting, Size, SmallK
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

    def on(self, rows: KeptRows, scheme: str) -> Algorithm:
        """The algorithm at work on these rows, for the splits of a scheme."""
        variant = VARIANTS[self.variant]
        refits = rows.spoiled and variant is not Naive
        return (Refitting if refits else variant)(rows, scheme)


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
        if not variant.applies(size):
            continue
        if (cost := variant.cost(size, name in paid)) < costs.get(variant.public, float("inf")):
            costs[variant.public], cheapest[variant.public] = cost, name
    if algorithm != "auto":
        return Choice(cheapest[algorithm], costs, f"{algorithm} was asked for")
    best = min(costs, key=costs.__getitem__)
    reason = (
        f"{best} has the lowest estimated cost for k={size.k} splits of n={size.n} rows "
        f"with {1 + size.m} columns"
    )
    return Choice(cheapest[best], costs, reason)


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
