"""Which candidates a search evaluates: grid, random, successive halving, Optuna."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from echofold._evaluator import Evaluator, Scores, add_counts
from echofold._select import mean_scores, ranked
from echofold._space import grid, sample

STRATEGIES = ("grid", "random", "halving", "optuna")
BATCH = 16  # candidates that Optuna proposes at a time; they share a draw


def candidates_of(strategy: str, spaces: list[dict], n_iter: int | None, seed: int) -> list[dict]:
    """The candidates to begin with; Optuna proposes its own."""
    if strategy == "grid" or (strategy == "halving" and n_iter is None):
        return grid(spaces)
    if strategy == "optuna":
        return []
    assert n_iter is not None
    return sample(spaces, n_iter, seed)


def evaluate_all(evaluator: Evaluator, candidates: list[dict]) -> tuple[list[dict], Scores]:
    """Every candidate on every split."""
    return candidates, evaluator.run(candidates)


def halve(
    evaluator: Evaluator, candidates: list[dict], individual: bool
) -> tuple[list[dict], Scores]:
    """Few splits first, the better half on more of them, the last on all.

    Splits double from round to round and are spread evenly over time. Scores that were not
    computed are NaN.
    """
    _, schemes = evaluator.problem(candidates[0])
    (splits,) = schemes.values()
    order = _spread(len(splits))
    alive = np.arange(len(candidates))
    total: Scores | None = None
    known = 0
    for count, upto in halvings(len(candidates), len(splits)):
        if total is not None:
            name = evaluator.settings.metrics[0].name
            scores = next(iter(total.by.values()))[name][:, alive][:, :, order[:known]]
            alive = np.sort(alive[_best_first(scores, individual)[:count]])
        only = np.sort(order[known:upto])
        found = evaluator.run([candidates[i] for i in alive], only)
        total = _spread_out(found, total, len(candidates), len(splits), alive, only)
        known = upto
    assert total is not None
    return candidates, total


def _best_first(scores: np.ndarray, individual: bool) -> np.ndarray:
    """Candidates of ``scores (draw, candidate, split, ridge)``, each at its best ridge."""
    runs = np.moveaxis(np.where(np.isnan(scores), np.inf, scores), 1, 0)
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


def _spread_out(found: Scores, total: Scores | None, candidates, splits, alive, only) -> Scores:
    """Enter the scores of some candidates on some splits into those of all."""
    draws, ridges = found.condition.shape[0], next(iter(next(iter(found.by.values())).values()))
    shape = (draws, candidates, splits, ridges.shape[3])
    if total is None:
        total = Scores(
            {s: {m: np.full(shape, np.nan) for m in metrics} for s, metrics in found.by.items()},
            {},
            np.full(shape[:2], np.nan),
            np.zeros(shape[:2]),
            {s: [""] * candidates for s in found.by},
            found.notes,
        )
    else:
        add_counts(total.notes, found.notes)
    for scheme, metrics in found.by.items():
        for metric, array in metrics.items():
            total.by[scheme][metric][np.ix_(range(draws), alive, only)] = array
        for place, algorithm in zip(alive, found.algorithm[scheme], strict=True):
            total.algorithm[scheme][place] = algorithm
    total.condition[:, alive] = found.condition
    total.seconds[:, alive] += found.seconds
    total.steps += found.steps
    total.column_steps += found.column_steps
    return total


def ask_optuna(
    evaluator: Evaluator, spaces: list[dict], n_iter: int, seed: int, individual: bool
) -> tuple[list[dict], Scores]:
    """Let Optuna's sampler propose batches of candidates; each batch shares its draws."""
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
        sampler = optuna.samplers.TPESampler(seed=seed % 2**32, constant_liar=True)
        study = optuna.create_study(sampler=sampler)
        suggest = {name: _suggestion(name, values) for name, values in spaces[0].items()}
        candidates: list[dict] = []
        found: list[Scores] = []
        while len(candidates) < n_iter:
            count = min(BATCH, n_iter - len(candidates))
            trials = [study.ask() for _ in range(count)]
            batch = [{name: ask(trial) for name, ask in suggest.items()} for trial in trials]
            scores = evaluator.run(batch)
            first = next(iter(scores.by.values()))[evaluator.settings.metrics[0].name]
            means = mean_scores(first, individual).mean(axis=0).min(axis=1)
            for trial, mean in zip(trials, means, strict=True):
                study.tell(trial, float(mean) if np.isfinite(mean) else 1e300)
            candidates += batch
            found.append(scores)
    finally:
        optuna.logging.set_verbosity(before)
    return candidates, _concatenate(found)


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


def _concatenate(parts: list[Scores]) -> Scores:
    """Scores of consecutive batches as one."""
    first = parts[0]
    for part in parts[1:]:
        add_counts(first.notes, part.notes)
    return Scores(
        {
            s: {m: np.concatenate([p.by[s][m] for p in parts], axis=1) for m in metrics}
            for s, metrics in first.by.items()
        },
        {s: np.concatenate([p.pruned[s] for p in parts], axis=1) for s in first.pruned},
        np.concatenate([p.condition for p in parts], axis=1),
        np.concatenate([p.seconds for p in parts], axis=1),
        {s: [a for p in parts for a in p.algorithm[s]] for s in first.by},
        first.notes,
        sum(p.steps for p in parts),
        sum(p.column_steps for p in parts),
    )
