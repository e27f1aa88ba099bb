"""The three tasks: what sets one apart from the others, wherever that matters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A task as the rest of the library sees it; an estimator has one, and so has a `Problem`.

    ``data`` are the names of what `fit` takes by position, of which the first ``needed`` must be
    there and the one at ``targets`` holds the targets. Outputs that are ``fed_back`` become inputs
    of the next step, and are validated over intervals of steps; ``ahead`` is the number of rows
    from an input to its target. Rows with ``labels`` are split in proportion to their classes.
    ``rows`` and ``outputs`` are what users call them.
    """

    name: str
    data: tuple[str, ...]
    needed: int
    targets: int
    fed_back: bool = False
    ahead: int = 0
    labels: bool = False
    rows: str = "rows"
    outputs: str = "predictions"


FORECASTING = Task(
    "forecasting",
    data=("y", "X", "sample_weight"),
    needed=1,
    targets=0,
    fed_back=True,
    ahead=1,
    outputs="forecasts",
)
REGRESSION = Task("regression", data=("X", "y", "sample_weight"), needed=2, targets=1)
CLASSIFICATION = Task(
    "classification",
    data=("sequences", "labels"),
    needed=2,
    targets=1,
    labels=True,
    rows="sequences",
)
