"""Candidates of a search: what a space holds, and which a strategy evaluates, on what splits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from echofold._data.arguments import did_you_mean
from echofold._folds.ridge import check_ridge
from echofold._search.selection import comparable, mean_costs, ranked

if TYPE_CHECKING:
    from echofold._search.runner import Runner
    from echofold._validation.record import Record

STRATEGIES = ("grid", "random", "halving", "optuna")
Strategy = Callable[["Runner"], tuple[list[dict[str, Any]], "Record"]]
BATCH = 16  # candidates that Optuna's usual sampler proposes at a time; they share a draw


def check_space(space: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """A space as a list of dicts of values; raise for names that are no parameters."""
    given = [space] if isinstance(space, Mapping) else space
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise TypeError(
            f"space={space!r}: expected a dict from parameter names to values, a list of them, or "
            "'auto'."
        )
    if not any(given):
        raise ValueError(
            f"space={space!r} is empty, so there is nothing to search; give values of at least one "
            "parameter, such as {'ridge': [1e-8, 1e-4, 1]}."
        )
    for name in {name for one in given for name in one}:
        if name not in names:
            raise ValueError(
                f"space has {name!r}, which is not a parameter of the estimator."
                f"{did_you_mean(name, names)} "
                f"Its parameters are {', '.join(names)}."
            )
    return [{name: _values(name, value) for name, value in one.items()} for one in given]


def _values(name: str, value: Any) -> Any:
    """The values of one parameter, or its distribution; a single one counts as a list of one."""
    if hasattr(value, "rvs"):
        return value
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return [value]
    values = list(value)
    if not values:
        raise ValueError(
            f"space[{name!r}] is empty, so the grid has no candidates; give at least one value."
        )
    return [one.item() if isinstance(one, np.generic) else one for one in values]


def split_ridge(
    spaces: list[dict[str, Any]], own: Any, path: bool = False
) -> tuple[list[dict], np.ndarray]:
    """Take the ridge path out of a space; the estimator's own if there is none.

    That is a value, or a ``path`` of them where its own is "auto".
    """
    paths = [d["ridge"] for d in spaces if "ridge" in d]
    if not paths and np.ndim(own) and not path:
        raise ValueError(
            f"ridge={own!r} of the estimator is one for each output, and no path to search; give "
            "space['ridge'], and ridge_per='output' to choose one for each output."
        )
    paths = paths or [list(np.atleast_1d(own))]
    if any(hasattr(path, "rvs") for path in paths):
        raise ValueError(
            "space['ridge'] is a distribution, but the whole ridge path is searched inside every "
            "candidate at once; give a list of values, such as [0, 1e-8, 1e-6, 1e-4, 1e-2, 1]."
        )
    values = check_ridge(paths[0])
    if any(not np.array_equal(values, check_ridge(other)) for other in paths[1:]):
        raise ValueError(
            "the dicts of space have different ridge paths; give the same one in each, because "
            "results share one ridge dimension."
        )
    rest = [{name: v for name, v in d.items() if name != "ridge"} for d in spaces]
    if len(np.unique(values)) != len(values):
        raise ValueError(f"ridge={values.tolist()} has repeated values; list every one once.")
    return rest, values


def grid(spaces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every combination of the values, in the order they are given.

    Examples
    --------
    >>> grid([{"leak_rate": [0.5, 1.0], "units": [50]}])
    [{'leak_rate': 0.5, 'units': 50}, {'leak_rate': 1.0, 'units': 50}]
    """
    candidates = []
    for one in spaces:
        for name, values in one.items():
            if hasattr(values, "rvs"):
                raise ValueError(
                    f"space[{name!r}] is a distribution, which a grid cannot list; use "
                    "strategy='random' with n_iter, or give a list of values."
                )
        candidates += [
            dict(zip(one, values, strict=True)) for values in itertools.product(*one.values())
        ]
    return candidates


def sample(spaces: list[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """``count`` random candidates from lists and ``scipy.stats`` distributions."""
    rng = np.random.RandomState(seed % 2**32)
    candidates = []
    for _ in range(count):
        one = spaces[rng.randint(len(spaces))]
        values = {}
        for name, choice in one.items():
            if hasattr(choice, "rvs"):
                value = choice.rvs(random_state=rng)
                values[name] = value.item() if isinstance(value, np.generic) else value
            else:
                values[name] = choice[rng.randint(len(choice))]
        candidates.append(values)
    return candidates


# --- strategies -----------------------------------------------------------------------------------


def strategy_of(search: Any, spaces: list[dict], seed: int, splits: Any) -> tuple[int, Strategy]:
    """How many candidates a search evaluates, counted in every round, and what does so."""
    per_split, n_iter = search.ridge_per == "split", search.n_iter
    if search.strategy == "optuna":
        return n_iter, lambda runner: ask_optuna(
            runner, spaces, n_iter, seed, per_split, search.sampler
        )
    candidates = grid(spaces) if n_iter is None else sample(spaces, n_iter, seed)
    if search.strategy == "halving":
        total = sum(count for count, _ in halvings(len(candidates), len(splits)))
        return total, lambda runner: (candidates, halve(runner, candidates, per_split))
    return len(candidates), lambda runner: (candidates, runner.run(candidates))


def halvings(candidates: int, splits: int) -> list[tuple[int, int]]:
    """For every round, how many candidates run on, and up to how many splits; two at least on all.

    Examples
    --------
    >>> halvings(8, 10)
    [(8, 3), (4, 5), (2, 10)]
    """
    rounds = max(0, min(math.ceil(math.log2(candidates)) - 1, int(math.log2(splits))))
    return [
        (math.ceil(candidates / 2**step), math.ceil(splits / 2 ** (rounds - step)))
        for step in range(rounds + 1)
    ]


def halve(runner: Runner, candidates: list[dict], ridge_per_split: bool) -> Record:
    """Few splits first, the better half on more of them, the last on all.

    Splits double from round to round and are spread evenly over time. Scores that were not
    computed are NaN.
    """
    _, schemes = runner.reader.problem(candidates[0])
    (splits,) = schemes.values()
    order, draws = _spread(len(splits)), range(len(runner.seeds))
    alive, known = np.arange(len(candidates)), 0
    total: Any = None
    for count, upto in halvings(len(candidates), len(splits)):
        if total is not None:
            costs = runner.costs(total)[:, alive][:, :, order[:known]]
            alive = np.sort(alive[_best_first(costs, ridge_per_split)[:count]])
        only = np.sort(order[known:upto])
        record = runner.run([candidates[i] for i in alive], only)
        if total is None:
            total = record.blank(len(draws), len(candidates), len(splits))
        total.enter(record, draws, alive, only)
        known = upto
    return total


def _best_first(costs: np.ndarray, ridge_per_split: bool) -> np.ndarray:
    """Candidates of ``costs (draw, candidate, split, ridge)``, each at its best ridge."""
    best = []
    for one in np.moveaxis(comparable(costs, ridge_per_split), 1, 0):  # (draw, split, ridge)
        flat = one.reshape(-1, one.shape[2])
        best.append(flat[:, ranked(flat)[0]])
    return ranked(np.stack(best, axis=1))


def _spread(k: int) -> np.ndarray:
    """An order of ``k`` splits in which every beginning is spread over all of them."""
    bits = max(1, (k - 1).bit_length())
    reverse = [int(f"{i:0{bits}b}"[::-1], 2) for i in range(2**bits)]
    return np.array([i for i in reverse if i < k])


def ask_optuna(
    runner: Runner, spaces: list[dict], n_iter: int, seed: int, ridge_per_split: bool, sampler: Any
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
    together = BATCH if sampler is None else 1
    if sampler is None:
        sampler = optuna.samplers.TPESampler(seed=seed % 2**32, constant_liar=True)
    elif not isinstance(sampler, optuna.samplers.BaseSampler):
        raise TypeError(
            f"sampler={sampler!r}: expected a sampler of Optuna, such as "
            "optuna.samplers.GPSampler(seed=0), or None."
        )
    suggest = {name: _suggestion(name, values) for name, values in spaces[0].items()}
    candidates: list[dict] = []
    total: Any = None
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        # A copy: a search that is run again must be given the same candidates.
        study = optuna.create_study(sampler=deepcopy(sampler))
        while len(candidates) < n_iter:
            count = min(together, n_iter - len(candidates))
            trials = [study.ask() for _ in range(count)]
            batch = [{name: ask(trial) for name, ask in suggest.items()} for trial in trials]
            scores = runner.run(batch)
            means = mean_costs(runner.costs(scores), ridge_per_split).mean(axis=0).min(axis=1)
            for trial, mean in zip(trials, means, strict=True):
                study.tell(trial, float(mean) if np.isfinite(mean) else 1e300)
            if total is None:
                total = scores.blank(len(runner.seeds), n_iter)
            places = range(len(candidates), len(candidates) + count)
            total.enter(scores, range(len(runner.seeds)), places)
            candidates += batch
    finally:
        optuna.logging.set_verbosity(before)
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
