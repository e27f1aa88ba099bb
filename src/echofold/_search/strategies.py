"""Which candidates a search evaluates: grid, random, successive halving, Optuna."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from echofold._search.evaluator import Evaluator
from echofold._search.select import mean_costs, ranked
from echofold._search.space import grid, sample
from echofold._validation.record import Record

STRATEGIES = ("grid", "random", "halving", "optuna")
BATCH = 16  # candidates that Optuna's usual sampler proposes at a time; they share a draw


def candidates_of(strategy: str, spaces: list[dict], n_iter: int | None, seed: int) -> list[dict]:
    """The candidates to begin with; Optuna proposes its own."""
    if strategy == "grid" or (strategy == "halving" and n_iter is None):
        return grid(spaces)
    if strategy == "optuna":
        return []
    assert n_iter is not None
    return sample(spaces, n_iter, seed)


def evaluate_all(evaluator: Evaluator, candidates: list[dict]) -> tuple[list[dict], Record]:
    """Every candidate on every split."""
    return candidates, evaluator.run(candidates)


def halve(
    evaluator: Evaluator, candidates: list[dict], individual: bool
) -> tuple[list[dict], Record]:
    """Few splits first, the better half on more of them, the last on all.

    Splits double from round to round and are spread evenly over time. Scores that were not
    computed are NaN.
    """
    _, schemes = evaluator.reader.problem(candidates[0])
    (splits,) = schemes.values()
    order = _spread(len(splits))
    alive = np.arange(len(candidates))
    total: Record | None = None
    known = 0
    for count, upto in halvings(len(candidates), len(splits)):
        if total is not None:
            metric = evaluator.settings.metrics[0]
            costs = metric.cost(total.first(metric.name)[:, alive][:, :, order[:known]])
            alive = np.sort(alive[_best_first(costs, individual)[:count]])
        only = np.sort(order[known:upto])
        record = evaluator.run([candidates[i] for i in alive], only)
        if total is None:
            total = record.blank(len(evaluator.seeds), len(candidates), len(splits))
        total.enter(record, range(len(evaluator.seeds)), alive, only)
        known = upto
    assert total is not None
    return candidates, total


def _best_first(costs: np.ndarray, individual: bool) -> np.ndarray:
    """Candidates of ``costs (draw, candidate, split, ridge)``, each at its best ridge."""
    runs = np.moveaxis(np.where(np.isnan(costs), np.inf, costs), 1, 0)
    best = []
    for one in runs:  # (draw, split, ridge)
        each = one.min(axis=2, keepdims=True) if individual else one
        flat = each.reshape(-1, each.shape[2])
        best.append(flat[:, ranked(flat)[0]])
    return ranked(np.stack(best, axis=1))


def halvings(candidates: int, splits: int) -> list[tuple[int, int]]:
    """For every round, how many candidates run on, and up to how many splits; two at least on all.

    Examples
    --------
    >>> halvings(8, 10)
    [(8, 3), (4, 5), (2, 10)]
    """
    rounds = min(math.ceil(math.log2(candidates)) - 1, int(math.log2(splits)))
    return [
        (math.ceil(candidates / 2**step), math.ceil(splits / 2 ** (rounds - step)))
        for step in range(rounds + 1)
    ]


def _spread(k: int) -> np.ndarray:
    """An order of ``k`` splits in which every beginning is spread over all of them."""
    bits = max(1, (k - 1).bit_length())
    reverse = [int(f"{i:0{bits}b}"[::-1], 2) for i in range(2**bits)]
    return np.array([i for i in reverse if i < k])


def ask_optuna(
    evaluator: Evaluator, spaces: list[dict], n_iter: int, seed: int, individual: bool, sampler: Any
) -> tuple[list[dict], Record]:
    """Let a sampler of Optuna propose candidates.

    Its usual one proposes batches, each of which shares its draws; another is asked for one
    candidate at a time, so that it knows of all scores before.
    """
    try:
        import optuna
    except ImportError:
        raise ImportError(
            "strategy='optuna' needs the package optuna: pip install 'echofold[optuna]'."
        ) from None
    if len(spaces) != 1:
        raise ValueError("strategy='optuna' takes one dict as space, not a list of them.")
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        together = BATCH if sampler is None else 1
        if sampler is None:
            sampler = optuna.samplers.TPESampler(seed=seed % 2**32, constant_liar=True)
        elif not isinstance(sampler, optuna.samplers.BaseSampler):
            raise TypeError(
                f"sampler={sampler!r}: expected a sampler of Optuna, such as "
                "optuna.samplers.GPSampler(seed=0), or None."
            )
        # A copy: a search that is run again must be given the same candidates.
        study = optuna.create_study(sampler=deepcopy(sampler))
        suggest = {name: _suggestion(name, values) for name, values in spaces[0].items()}
        candidates: list[dict] = []
        total: Record | None = None
        while len(candidates) < n_iter:
            count = min(together, n_iter - len(candidates))
            trials = [study.ask() for _ in range(count)]
            batch = [{name: ask(trial) for name, ask in suggest.items()} for trial in trials]
            scores = evaluator.run(batch)
            metric = evaluator.settings.metrics[0]
            costs = metric.cost(scores.first(metric.name))
            means = mean_costs(costs, individual).mean(axis=0).min(axis=1)
            for trial, mean in zip(trials, means, strict=True):
                study.tell(trial, float(mean) if np.isfinite(mean) else 1e300)
            if total is None:
                total = scores.blank(len(evaluator.seeds), n_iter)
            places = range(len(candidates), len(candidates) + count)
            total.enter(scores, range(len(evaluator.seeds)), places)
            candidates += batch
    finally:
        optuna.logging.set_verbosity(before)
    assert total is not None
    return candidates, total


def _suggestion(name: str, values: Any) -> Callable:
    """How Optuna proposes a parameter: a list, a scipy distribution or one of Optuna's own."""
    import optuna

    if isinstance(values, list):
        only = values[0]
        if isinstance(only, optuna.distributions.BaseDistribution):
            return lambda trial: trial._suggest(name, only)
        places = list(range(len(values)))
        return lambda trial: values[trial.suggest_categorical(name, places)]
    kind = type(getattr(values, "dist", values)).__name__
    low, high = values.support()
    if kind == "randint_gen":
        return lambda trial: trial.suggest_int(name, int(low), int(high))
    if kind in ("uniform_gen", "reciprocal_gen"):
        log = kind == "reciprocal_gen"
        return lambda trial: trial.suggest_float(name, float(low), float(high), log=log)
    raise ValueError(
        f"space[{name!r}]: strategy='optuna' knows the distributions uniform, loguniform and "
        "randint of scipy.stats, Optuna's own, and lists; use one of these."
    )
