"""What a search is, in words that a checkpoint keeps: two searches of one identity are the same."""

from __future__ import annotations

from typing import Any

from echofold._data.problem import Problem
from echofold._folds.splits import RowSplits
from echofold._search.descriptions import described, described_function
from echofold._search.stored_block import data_of, splits_of
from echofold._validation.settings import Settings
from echofold.metrics._metric import TOGETHER, Scaled

# Parameters of a search that change neither its candidates nor their scores.
WITHOUT_EFFECT = (
    "final", "memory", "n_jobs", "executor", "checkpoint", "progress", "verify",
)  # fmt: skip
DESCRIBED_APART = ("estimator", "space", "cv", "metric", "random_state", "sampler")


def identity_of(
    search: Any,
    spaces: list[dict[str, Any]],
    settings: Settings,
    problem: Problem,
    schemes: dict[str, RowSplits],
    seed: int | None,
) -> dict[str, Any]:
    """The identity of a search on these data; a seed of None stands for any."""
    from echofold import __version__

    own = search.estimator.get_params(deep=False)
    left = WITHOUT_EFFECT + DESCRIBED_APART
    rest = {
        name: value for name, value in search.get_params(deep=False).items() if name not in left
    }
    if search.ridge_per == "output":  # which changes the winner alone
        rest["ridge_per"] = "all"
    if search.sampler is not None:  # blocks know their candidates, so its name is enough
        rest["sampler"] = type(search.sampler).__name__
    return {
        "version": __version__,
        "estimator": type(search.estimator).__name__,
        "parameters": {
            name: described(value, name) for name, value in own.items() if name != "random_state"
        },
        "space": [
            {name: described(values, f"space[{name!r}]") for name, values in one.items()}
            for one in spaces
        ],
        "ridge": settings.ridge.tolist(),
        "cv": {name: [splits.name, splits_of(splits)] for name, splits in schemes.items()},
        "metric": [metric.name for metric in settings.metrics],
        "functions": {
            metric.name: described_function(metric.function, "metric")
            for metric in settings.metrics
            if metric.needs in TOGETHER or _is_seasonal(metric.function)
        },
        **rest,
        "prune": bool(search.prune),
        "data": data_of(problem),
        "seed": seed,
    }


def _is_seasonal(metric: Any) -> bool:
    """Whether a metric has a season, which its name does not tell."""
    return isinstance(metric, Scaled) and metric.season != 1
