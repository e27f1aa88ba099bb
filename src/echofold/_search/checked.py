"""Arguments of a search: each by itself, and what they can do together with a task."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from echofold._data.arguments import check_count, check_network
from echofold._folds.choose import check_algorithm
from echofold._search.finals import FINALS, check_forecasts
from echofold._search.space import check_space, split_ridge
from echofold._search.strategies import STRATEGIES
from echofold._validation.plan import budget
from echofold._validation.settings import Settings, check_metrics, check_prunable
from echofold._validation.verify import check_verifiable
from echofold.metrics._metric import OF_GROWING_SUMS

RIDGE_PER = ("all", "split", "output")


def check_arguments(search: Any) -> tuple[list[dict[str, Any]], Settings]:
    """Check the arguments that do not depend on data."""
    check_network(search.estimator)
    own = search.estimator.get_params(deep=False)
    names = list(search.estimator.get_params())
    spaces, ridge = split_ridge(check_space(search.space, names), own["ridge"])
    check_algorithm(search.algorithm)
    budget(search.memory)
    for name, allowed in (
        ("final", FINALS), ("select", ("mean", "draw")), ("strategy", STRATEGIES),
        ("ridge_per", RIDGE_PER),
    ):  # fmt: skip
        check_one_of(name, getattr(search, name), allowed)
    check_count("n_draws", search.n_draws)
    if search.strategy in ("random", "optuna") or (
        search.strategy == "halving" and search.n_iter is not None
    ):
        check_count("n_iter", search.n_iter, f"strategy={search.strategy!r} needs it")
    elif search.strategy == "grid" and search.n_iter is not None:
        raise ValueError(
            f"n_iter={search.n_iter!r} has no meaning for strategy='grid'; leave it out, or use "
            "strategy='random'."
        )
    if search.sampler is not None and search.strategy != "optuna":
        raise ValueError(
            f"sampler={search.sampler!r} has no meaning for strategy={search.strategy!r}; leave it "
            "out, or use strategy='optuna'."
        )
    if search.n_jobs is not None and search.n_jobs != -1:
        check_count("n_jobs", search.n_jobs)
    settings = Settings(
        ridge, bool(own["penalize_bias"]), check_metrics(search.metric), search.algorithm,
        search.memory, verify=bool(search.verify),
    )  # fmt: skip
    return spaces, settings


def check_task(search: Any, problem, schemes, settings: Settings) -> None:
    """Check what ensembles, pruning and halving can do with this task."""
    if FINALS[search.final].several:
        check_forecasts(problem.task)
    if search.ridge_per == "output" and problem.task.fed_back:
        raise ValueError(
            "ridge_per='output' needs a regressor or a classifier, whose outputs are apart; got "
            f"{type(search.estimator).__name__}. Use ridge_per='all'."
        )
    if search.verify:
        check_verifiable(problem)
    if search.prune:
        check_prunable(problem, schemes)
        needs = {metric.needs for metric in settings.metrics}
        if not problem.task.fed_back or len(needs) > 1 or needs & {"predictions", "labels"}:
            raise ValueError(
                "prune=True needs a forecaster and metrics made of one kind of growing error "
                f"({OF_GROWING_SUMS}); got {type(search.estimator).__name__} with "
                f"metric={search.metric!r}. Use prune=False."
            )
        if search.ridge_per == "split" or search.strategy == "halving":
            raise ValueError(
                "prune=True drops ridge values and needs complete runs, so it goes neither "
                "with ridge_per='split' nor with strategy='halving'. Use prune=False."
            )
    if search.strategy == "halving" and len(schemes) > 1:
        raise ValueError(
            f"strategy='halving' compares candidates by one scheme, but cv has {len(schemes)}. "
            "Give one scheme, or use strategy='grid'."
        )


def check_one_of(name: str, value: Any, allowed: Collection[str]) -> None:
    """Raise unless a value is one of those allowed."""
    if value not in allowed:
        raise ValueError(
            f"{name}={value!r} is unknown: it must be {', '.join(map(repr, allowed))}."
        )
