"""Many series at once: a recipe for each, with networks that all share as one more member.

Networks that are trained on all series forecast the same past stretches as the other members of
each, from models that were trained on what was before. How much they weigh is not assumed: it is
the share with the lowest error there, over all series of about that length.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import astuple, replace
from functools import lru_cache, partial
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from echofold._data.arguments import check_count, refuse, seed_of
from echofold._data.dates import Indexes, words_of_dates
from echofold._data.missing import words_of_table
from echofold._data.panels import Panel, panel_of
from echofold._data.problem import in_series, in_words_of
from echofold._data.text import one_line
from echofold._machine.archives import array_in, read_archive
from echofold._machine.available import check_executor
from echofold._machine.device import one_blas_thread
from echofold._machine.files import write_atomically
from echofold._machine.notices import said_once, warn_of
from echofold._machine.progress import progress
from echofold._models.base import Stored
from echofold._models.combination import (
    POOLED,
    Asked,
    Past,
    SeasonsBefore,
    forecasts_of,
    side_by_side,
)
from echofold._models.forecast import Forecast, forecast_of, levels_of, of_all, words_beyond
from echofold._models.pooled import RIDGES, Pool, Series, drawn_from
from echofold._search.checkpoint import Elsewhere
from echofold._search.recipe import LARGEST
from echofold._search.verdict import (
    EXACT,
    Verdict,
    compared,
    held_in_words,
    phrase,
    plain_forecasts,
)
from echofold.metrics._metric import resolve

POOLS = ("auto", "all", "none")
SEVERAL = 10  # series, from which on networks are worth sharing
OWN = 250  # values, from which on those of a series' own do most of its forecast
STRETCHES = 3  # of the past, one after the other, that all members forecast
FEWER = 3.0  # the power of errors: a few stretches, one after the other, tell less than many
BLOCK, POOLED_BLOCK = 16, 256  # series in one task, of members and of pooled networks
WAVE = 64  # tasks that an executor is given at a time
SHARES = np.linspace(0, 0.8, 9)  # of pooled networks, which are compared
CLASSES, CLASS = 4, 50  # of series by length, at most, and series in each, at least
WORST = 10.0  # times the typical change of a series: larger errors count as much
LEAST = 3  # values of a series that networks are trained on
# By these the time left is told, in microseconds: of a value or a row, for other members, training
# of networks, these run, and members weighed; of a series, and of each value, that is fitted alone.
OTHERS, TRAINED, RUN, WEIGHED_IN = 290.0, 80.0, 60.0, 70.0
ALONE, ALONE_EACH = 3e6, 2000.0
FAILURES = (ValueError, TypeError)

One = Any  # an AutoForecaster of one series


def fit_panel(
    model: Any, y: Any, X: Any, own: Mapping[Any, Mapping[str, Any]] | None = None
) -> None:
    """Fit an AutoForecaster to several series, some of which have parameters of their ``own``."""
    panel, each = panel_of(y, "y")
    known = panel.of(X, "X")
    ones: dict[Any, One] = {}
    failed: dict[Any, str] = {}
    lengths = np.array([getattr(one, "shape", np.shape(one))[0] for one in each])
    shares = [_shares_networks(model, one, X) for one in each]
    if model.pool == "auto" and sum(shares) < SEVERAL:
        shares = [False] * len(each)
    together: dict[Any, One] = {}
    indexes = Indexes()
    costs = np.where(shares, OTHERS + RUN + WEIGHED_IN, 0) * lengths  # of training as it is known
    costs += np.where(shares, 0, ALONE + ALONE_EACH * lengths)
    with progress(model.progress, len(each), "series") as bar, said_once():
        pairs = zip(panel.names, each, known, shares, strict=True)
        for place, (name, values, inputs, shared) in enumerate(pairs):
            one = _alone(model, name, shared)
            one.set_params(**(own or {}).get(name, {}))
            try:
                if shared:
                    one._begin(values, inputs, indexes)
                    together[name] = one
                else:
                    one.fit(values, inputs)
                ones[name] = one
            except FAILURES as error:
                if isinstance(error, Elsewhere):
                    raise
                failed[name] = one_line(error)
                left = _of_the_rest(model, name, values)
                ones |= {} if left is None else {name: left}
            if not shared:
                spent = np.where(shares, 0, costs)[: place + 1].sum()
                bar.update(place + 1 - len(together), np.nan, spent, costs.sum())
        if len(failed) == len(each):
            name, words = next(iter(failed.items()))
            raise ValueError(f"none of {len(each)} series can be forecast: {name!r}: {words}")
        if together:
            done = len(each) - len(together), np.where(shares, 0, costs).sum()
            ones |= _fit_pooled(model, together, bar, *done)
    model.panel_, model.series_, model.failed_ = panel, ones, failed
    model.evaluation_ = None
    _judge(model, bool(together), X is not None)


def _shares_networks(model: Any, values: Any, X: Any) -> bool:
    """Whether a series shares networks with others, rather than have its own."""
    if model.pool != "auto":
        return model.pool == "all"
    asked = X is not None or any((model.search or {}).values())
    shape = getattr(values, "shape", np.shape(values))
    return not asked and shape[1:] in ((), (1,)) and shape[0] < OWN


def _alone(model: Any, name: Any, shared: bool) -> One:
    """An unfitted forecaster of one series of a panel; its finished work is kept by its name.

    One that shares networks is handed to workers, and has none itself.
    """
    params = model.get_params(deep=False)
    kept, own = params["checkpoint"], {"pool": "none", "progress": False}
    own |= {"executor": None} if shared else {}
    digest = sha256(repr(name).encode()).hexdigest()[:16]
    own["checkpoint"] = None if kept is None else f"{kept}/{digest}"
    return type(model)(**params | own)


def _of_the_rest(model: Any, name: Any, values: Any) -> One | None:
    """A forecaster, without networks, of the numbers that a series holds; None if it has none."""
    try:
        numbers = pd.to_numeric(pd.Series(values).squeeze(), errors="coerce")
        one = _alone(model, name, shared=True)
        one._begin(numbers.where(numbers.abs() <= LARGEST).astype(float), None)
        one._combine()
    except FAILURES:
        return None
    return one


# --- pooled networks ------------------------------------------------------------------------------


class _Block(NamedTuple):
    """Some series of similar length: a forecaster of each, its values, and rows of its past."""

    ones: list[One]
    values: list[np.ndarray]
    rows: list[np.ndarray]


WEIGHED = (  # what weighing finds out of a series
    "names_", "weights_", "member_errors_", "baselines_", "verdict_", "notes_", "outputs_",
    "residuals_", "log_residuals_", "runs_", "given_", "ahead_",
)  # fmt: skip


def _fit_pooled(
    model: Any, ones: Mapping[Any, One], bar: Any, done: int, spent: float
) -> dict[Any, One]:
    """Fit members of every series, of which pooled networks are one; others are ``done``.

    What is of single series is done by blocks of them, one pass after the other.
    """
    names, horizon = list(ones), model.horizon
    names.sort(key=lambda name: len(ones[name].table_.values))
    each = [ones[name] for name in names]
    values = [one.table_.values[:, 0] for one in each]
    rows = [past_stretches(len(y), horizon) for y in values]

    def blocks(size: int) -> list[_Block]:
        firsts = range(0, len(each), size)
        return [_Block(*(part[at : at + size] for part in (each, values, rows))) for at in firsts]

    for one, y in zip(each, values, strict=True):
        one._set_members(y, {})
    run, seed = _workers(model.n_jobs, model.executor), seed_of(model.random_state)
    others: list[np.ndarray] = []
    trains = _trains(each, values, rows, horizon, seed)
    in_work = run(partial(_learned, horizon, seed, model.device), trains)  # processes begin at once
    learned = TRAINED * sum(len(y) for train in trains for y, _ in train)
    counted = np.cumsum([0, *map(len, values)])
    whole = spent + learned + (OTHERS + RUN + WEIGHED_IN) * counted[-1]

    def show(cost: float) -> None:
        bar.update(done + len(others), np.nan, spent + cost, whole)

    for said in _others(run, blocks(BLOCK), horizon, model.checkpoint):
        for own in said:
            one, at = each[len(others)], rows[len(others)]
            one.next_ = own[:, -1].copy()
            others.append(own[:, :-1, : at.shape[1]].copy())
        show(OTHERS * counted[len(others)])
    pools: list[Pool] = []
    for pool in in_work:
        pools.append(pool)
        show(OTHERS * counted[-1] + learned * len(pools) / len(trains))
    tasks = (_seen(block) for block in blocks(POOLED_BLOCK))
    pooled: list[Any] = []
    for found in run(partial(_pooled_of, pools, horizon), tasks):
        pooled += found
        show(OTHERS * counted[-1] + learned + RUN * counted[len(pooled)])
    plain = [_combined(one, said) for one, said in zip(each, others, strict=True)]
    ridge, shares, model.gain_ = _shares(each, values, rows, plain, [said for said, _ in pooled])
    model.pool_ = pools[0].at(ridge)
    del plain
    known = zip(each, taken(others), taken(pooled), shares, strict=True)
    given = (
        (one, other, past[ridge], ahead[ridge], share) for one, other, (past, ahead), share in known
    )
    weighed = iter(lambda: list(islice(given, POOLED_BLOCK)), [])
    owns = (own for block in run(partial(_weighed, model.pool_), weighed) for own in block)
    for one, y, at, own in zip(each, values, rows, owns, strict=True):
        vars(one).update(own)
        one.past_ = Past(at, y[at], np.empty((0, *at.shape)), side_by_side(at), FEWER)
        one.pool_ = model.pool_ if POOLED in one.names_ else None
        for name in ("_priors", "_seasons_before"):  # what only a fit needs
            vars(one).pop(name, None)
    return dict(ones)


def taken(each: list[Any]) -> Iterator[Any]:
    """What a list holds, one by one; it is gone from the list then."""
    each.reverse()
    while each:
        yield each.pop()


def _weighed(pool: Pool, task: list[tuple]) -> list[dict[str, Any]]:
    """What is found for each of some series, by what members and pooled networks said."""
    for one, outputs, past, ahead, share in task:
        table, values = one.table_, one.table_.values[:, 0]
        rows = past_stretches(len(values), one.horizon)
        one.notes_ += words_of_table(table, "y", "Other values take their place.")
        one.notes_ += () if table.index is None else words_of_dates(table.index)
        if share:
            one._set_members(values, {POOLED: float(share)})
            outputs = np.concatenate([past[None], outputs])
            one.pool_, one.ahead_ = pool, ahead.copy()
        found = Past(rows, values[rows], outputs, side_by_side(rows), FEWER)
        one._weigh(one._repeated(values, found, min(one.seasons_, default=1)))
    return [{name: getattr(one, name) for name in WEIGHED} for one, *_ in task]


def begun(n_jobs: int | None, series: int) -> Iterator:
    """What comes when the processes that so many series need have loaded the library."""
    count = min(-(-series // BLOCK), os.cpu_count() or 1)
    return iter(_workers(n_jobs, None)(_loaded, range(count)))


def _loaded(number: int) -> int:
    """A task that needs nothing but this module."""
    return number


def _workers(n_jobs: int | None, executor: Any) -> Callable[[Callable, Iterable], Iterator]:
    """What carries out tasks: this process, others, or the workers of an executor."""
    if executor is not None:
        if not callable(getattr(executor, "map", None)):
            refuse("executor", executor, "one with a method map, or None")
        check_executor(executor)
        return partial(_in_waves, executor.map)
    if n_jobs in (None, 1):
        return map
    if n_jobs != -1:
        check_count("n_jobs", n_jobs)
    from joblib import Parallel, delayed

    return lambda function, tasks: Parallel(n_jobs, return_as="generator")(
        delayed(function)(task) for task in tasks
    )


def _in_waves(map_: Callable, function: Callable, tasks: Iterable) -> Iterator:
    """Results in the order of the tasks, of which so many are handed out at a time, and the next.

    An executor takes all that it is given at once; there may be more than memory holds.
    """
    tasks, before = iter(tasks), iter(())
    while wave := list(islice(tasks, WAVE)):
        now = iter(map_(function, wave))
        yield from before
        before = now
    yield from before


@lru_cache(1000)
def past_stretches(length: int, horizon: int) -> np.ndarray:
    """Rows ``(stretches, steps)`` of the later half, one after the other, up to the end.

    Examples
    --------
    >>> past_stretches(20, 4).tolist()
    [[8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19]]
    >>> past_stretches(7, 6).tolist()
    [[5, 6]]
    """
    if length < 2:
        return np.zeros((0, 1), dtype=int)
    first = max(1, length // 3, length - length // 2 - horizon // 2)
    starts = [length - back * horizon for back in range(STRETCHES, 0, -1)]
    starts = [start for start in starts if start >= first]
    steps = horizon if starts else max(1, min(horizon, length // 3))
    rows = np.array(starts or [length - steps])[:, None] + np.arange(steps)
    rows.flags.writeable = False  # all series of this length hold it
    return rows


def _others(
    run: Callable, blocks: Sequence[_Block], horizon: int, folder: Any
) -> Iterator[list[np.ndarray]]:
    """What members that are no networks said of the past of each block, and of what is next."""
    kept = _Kept(folder)
    files = [kept.file_of(block) for block in blocks]
    known = [kept.read(file, len(block.ones)) for file, block in zip(files, blocks, strict=True)]
    lacking = (block for block, one in zip(blocks, known, strict=True) if one is None)
    done = run(partial(_past_of, horizon), map(_all_asked, lacking))
    for file, one in zip(files, known, strict=True):
        yield kept.write(file, next(done)) if one is None else one


class _Kept:
    """Finished blocks in a folder, by what they were made of; nowhere without one.

    Files are whole or not there, so that a killed fit goes on when it is started again; one that is
    damaged is made anew.
    """

    def __init__(self, folder: Any):
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def file_of(self, block: _Block) -> Path | None:
        """The file of a block."""
        if self.folder is None:
            return None
        made_of = sha256(version("echofold").encode())
        for one, values, rows in zip(*block, strict=True):
            made_of.update(repr((one.names_, one._told, one.once_, one.horizon)).encode())
            made_of.update(values.tobytes() + b"\0" + rows.tobytes())
        return self.folder / f"series-{made_of.hexdigest()[:32]}.npz"

    def read(self, file: Path | None, count: int) -> list[np.ndarray] | None:
        """What a file holds of so many series; None unless it is there and sound."""
        if file is None or not file.is_file():
            return None
        try:
            with open(file, "rb") as opened:
                members = read_archive(opened)
            names = [f"arr_{place}.npy" for place in range(count)]
            found = [array_in(members[name], name) for name in names]
        except (OSError, ValueError, KeyError):
            return None
        sound = all(one.dtype == np.float64 and one.ndim == 3 for one in found)
        return found if sound else None

    def write(self, file: Path | None, found: list[np.ndarray]) -> list[np.ndarray]:
        """Keep what was found."""
        if file is not None:
            content = io.BytesIO()
            np.savez(content, *found)
            write_atomically(file, content.getvalue())
        return found


def _all_asked(block: _Block) -> list[Asked]:
    """What is asked of other members: a block's past stretches, and what is next."""
    return [
        one._asked(values, np.append(at[:, 0], len(values)), one._seasons_before)
        for one, values, at in zip(*block, strict=True)
    ]


def _past_of(horizon: int, asked: list[Asked]) -> list[np.ndarray]:
    """Forecasts ``(members, stretches + 1, horizon)`` of a block's series; the last from the end.

    All starts of all of them are one pass.
    """
    with one_blas_thread():
        return forecasts_of(asked, horizon)


class _Seen(NamedTuple):
    """A series, the rows of its past, and the seasons as they are seen before a row."""

    values: np.ndarray
    rows: np.ndarray
    seasons: SeasonsBefore

    def before(self, row: int) -> Series:
        """The values before a row, and their seasons."""
        return self.values[:row], self.seasons(row)


def _seen(block: _Block) -> list[_Seen]:
    """The series of a block, without their forecasters."""
    return [
        _Seen(values, rows, one._seasons_before) for one, values, rows in zip(*block, strict=True)
    ]


def _trains(
    each: Sequence[One], values: list[np.ndarray], rows: list[np.ndarray], horizon: int, seed: int
) -> list[list[Series]]:
    """What networks are trained on: all values, and those before the last stretches of all.

    All series are cut alike, so that none is seen beyond the beginning of a stretch of another.
    """
    trains = []
    for back in range(STRETCHES + 1):
        cut = np.array([len(y) - back * horizon for y in values])
        able = np.flatnonzero(cut >= (LEAST if back else 0))
        if back > max(map(len, rows)) or not len(able):
            break
        chosen = able[drawn_from(cut[able], seed)]
        trains.append(
            [(values[at][: cut[at]], each[at]._seasons_before(int(cut[at]))) for at in chosen]
        )
    return trains


def _learned(horizon: int, seed: int, device: str, series: list[Series]) -> Pool:
    """Networks that are learned from series."""
    with one_blas_thread():
        return Pool.learned(series, horizon, seed, device)


def _pooled_of(
    pools: list[Pool], horizon: int, block: list[_Seen]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """What pooled networks say of a block's series.

    Of the past ``(ridges, stretches, steps)``, NaN where nothing was trained, and of what is next
    ``(ridges, horizon)``.
    """
    found = [np.full((len(RIDGES), *one.rows.shape), np.nan) for one in block]
    with one_blas_thread():
        for back, pool in enumerate(pools[1:], 1):
            begun = [
                (place, len(at) - back)
                for place, (_, at, _) in enumerate(block)
                if len(at) >= back and at.shape[1] and (back == 1 or at.shape[1] == horizon)
            ]
            ahead = pool.ahead(
                [
                    block[place].before(int(block[place].rows[stretch, 0]))
                    for place, stretch in begun
                ]
            )
            for number, (place, stretch) in enumerate(begun):
                found[place][:, stretch] = ahead[:, number, : found[place].shape[2]]
        ahead = pools[0].ahead([one.before(len(one.values)) for one in block])
    return [(past, ahead[:, place].copy()) for place, past in enumerate(found)]


def unit_of(one: One, values: np.ndarray) -> float:
    """The mean absolute change over a season, or a step, that errors are told in; 1 without any."""
    season = min(one.seasons_, default=1)
    for lag in (season, 1):
        changes = np.abs(values[lag:] - values[:-lag])
        if changes.size and np.nanmean(np.append(changes, 0.0)) > 0:
            return float(np.nanmean(changes))
    return 1.0


def _combined(one: One, outputs: np.ndarray) -> np.ndarray:
    """The mean of other members, by what they weigh before errors are known."""
    weights = np.array(list(one._priors.values()))
    return np.tensordot(weights / weights.sum(), outputs, 1)


def _shares(each: Sequence[One], values, rows, plain, pooled) -> tuple[int, np.ndarray, float]:
    """The ridge of pooled networks, and what they weigh ``(series,)`` among the members of each.

    And how much lower that makes the mean error, as a share of it.
    """
    errors = np.full((len(RIDGES), len(SHARES), len(each)), np.nan)
    work = zip(each, values, rows, plain, pooled, strict=True)
    for place, (one, y, at, other, own) in enumerate(work):
        mixed = SHARES[:, None, None] * own[:, None] + (1 - SHARES)[:, None, None] * other
        size = np.abs(mixed - y[at])
        size = np.where(size < EXACT * float(np.abs(one.range_).max()), 0.0, size)
        if np.isfinite(size).any():
            size = np.minimum(size / unit_of(one, y), WORST)
            errors[:, :, place] = np.nanmean(size, axis=(2, 3))
    there = np.isfinite(errors).all(axis=(0, 1))
    if not there.any():
        return 0, np.zeros(len(each)), 0.0
    ridge = int(errors[:, :, there].mean(axis=2).min(axis=1).argmin())
    best = errors[ridge][:, there].mean(axis=1).argmin()
    shares, lengths = np.full(len(each), SHARES[best]), np.array(list(map(len, values)))
    classes = min(CLASSES, int(there.sum()) // CLASS)
    if classes > 1:
        edges = np.quantile(lengths[there], np.arange(1, classes) / classes)
        class_ = np.searchsorted(edges, lengths, side="right")
        for one in range(classes):
            own = there & (class_ == one)
            if own.sum() >= CLASS:
                best_there = errors[ridge][:, own].mean(axis=1).argmin()
                shares[class_ == one] = (SHARES[best] + SHARES[best_there]) / 2
    # A share between two that were compared errs at most as much as these do in the mean.
    ends = np.array([np.searchsorted(SHARES, shares[there] + off) for off in (-1e-9, 1e-9)])
    found = errors[ridge][ends - [[0], [1]], np.flatnonzero(there)].mean()
    return ridge, shares, float(1 - found / (errors[ridge, 0, there].mean() or 1.0))


# --- the verdict ----------------------------------------------------------------------------------


def _judge(model: Any, pooled: bool, inputs: bool) -> None:
    """Errors over all series, in units of each one's mean change over a season; what is said."""
    _sum_up(model, errors_of(model.series_.values()))
    model.verdict_ = _verdict(model.errors_, model, resolve("mase"))
    model.notes_ = _notes(model, pooled)
    if pooled and inputs:
        model.notes_.append("inputs known in advance are not used: pooled networks have none.")


def errors_of(ones: Iterable[One]) -> pd.DataFrame:
    """Errors of forecasts on past stretches, and of plain ones there: a row for each series."""
    own, plain = [], []
    for one in ones:
        values, rows = one.table_.values[:, 0], one.past_.rows
        truth = one.past_.truth
        own.append(error_of(one, truth, one.outputs_))
        found = _plain(one, values, rows[:, 0], rows.shape[1])
        plain.append({name: error_of(one, truth, each) for name, each in found.items()})
    errors = pd.DataFrame(plain)
    errors.insert(0, "forecast", own)
    return errors


def part_of(model: Any, names: Sequence[Any], ones: Mapping[Any, One]) -> Any:
    """The same panel, of some of its series alone, ``ones`` by name; what is said is of these."""
    part = copy(model)
    part.panel_, part.series_ = replace(model.panel_, names=tuple(names)), dict(ones)
    part.failed_ = {name: model.failed_[name] for name in names if name in model.failed_}
    _judge(part, hasattr(model, "pool_"), any(one.X_schema_ for one in ones.values()))
    return part


def _sum_up(model: Any, errors: pd.DataFrame) -> None:
    """Errors by series, their means, and the mean weights of members."""
    index = pd.Index(list(model.series_), name="series", tupleize_cols=False)
    model.errors_ = errors.set_axis(index)
    everywhere = errors.dropna(axis=1, how="all")
    model.baselines_ = {name: float(everywhere[name].mean()) for name in everywhere.columns[1:]}
    members = [dict(zip(one.names_, one.weights_, strict=True)) for one in model.series_.values()]
    weights = pd.DataFrame(members).fillna(0.0).mean()
    model.names_, model.weights_ = tuple(weights.index), weights.to_numpy()
    model.member_errors_ = None  # in the units of each series


def error_of(one: One, truth: np.ndarray, outputs: np.ndarray) -> float:
    """The mean absolute error in units of the series' mean change over a season; NaN of nothing."""
    size = np.abs(outputs - truth)
    size[size < EXACT * float(np.abs(one.range_).max())] = 0.0
    unit = unit_of(one, one.table_.values[:, 0])
    return float(np.nanmean(size)) / unit if np.isfinite(size).any() else np.nan


def plain_ahead(one: One, horizon: int) -> dict[str, np.ndarray]:
    """Plain forecasts ``(1, horizon)`` of what comes after a series, by name."""
    values = one.table_.values[:, 0]
    return _plain(one, values, np.array([len(values)]), horizon)


def _plain(one: One, values: np.ndarray, starts: np.ndarray, steps: int) -> dict[str, np.ndarray]:
    """Plain forecasts ``(starts, steps)`` by name, inside of the limits of a series."""
    found = plain_forecasts(values, one.seasons_, starts, steps)
    return {name: np.clip(each, *one.limits_[:, 0]) for name, each in found.items()}


def _verdict(errors: pd.DataFrame, model: Any, metric: Any) -> Verdict:
    """How the forecasts of all series compare with the best plain one."""
    full = [name for name in errors.columns[1:] if errors[name].notna().sum() >= len(errors) / 2]
    there = errors["forecast"].notna()
    if not there.any() or not full:
        return Verdict(
            "How good these forecasts will be is not known: there is too little to tell.", "mase"
        )
    error = float(errors["forecast"].mean())
    best = min(full, key=lambda name: errors[name].mean())
    both = errors[["forecast", best]].dropna()
    own, least = float(both["forecast"].mean()), float(both[best].mean())
    better = int((both["forecast"] <= both[best]).sum())
    index = next(iter(model.series_.values())).table_.index
    steps = max(one.past_.rows.shape[1] for one in model.series_.values())
    words = (
        f"{compared(own, least, metric)} {phrase(best, index)}, the best plain forecast for "
        f"all, in the mean over {len(both)} series; no worse than it in {better} of them"
    )
    level = levels_of(model.level)[-1]
    held = [
        one.verdict_.coverage for one in model.series_.values() if one.verdict_.coverage is not None
    ]
    coverage = float(np.mean(held)) if held else None
    if coverage is not None:
        words = f"{words}; {held_in_words(coverage, level)}"
    return Verdict(
        f"{words[0].upper()}{words[1:]}.", "mase", error, best, least, own, coverage, level,
        sum(len(one.past_.rows) for one in model.series_.values()), steps,
    )  # fmt: skip


def _notes(model: Any, pooled: bool) -> list[str]:
    """What was used and why, and which series failed."""
    notes, shown = [], 5
    if pooled:
        part = np.array([POOLED in one.names_ for one in model.series_.values()])
        share = model.members_["weight"].get(POOLED, 0.0)
        words = "networks that were trained on all series together"
        if part.any():
            words += (
                f" make up {share:.0%} of the forecasts, of {int(part.sum())} of {len(part)} "
                f"series: errors on the past are {max(model.gain_, 0.0):.1%} lower with them"
            )
        else:
            words += " were tried, and errors on the past are no lower with them: they are left out"
        notes.append(f"{words}.")
    said: dict[str, list[Any]] = {}
    for name, one in model.series_.items():
        for words in one.notes_:
            said.setdefault(words, []).append(name)
    for words, names in islice(said.items(), shown):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        notes.append(f"series {names[0]!r}{more}: {words}")
    if len(said) > shown:
        notes.append(f"{len(said) - shown} more notes are in notes_ of single series (series_).")
    for name, words in islice(model.failed_.items(), shown):
        left = (
            "what is left is forecast without networks" if name in model.series_ else "no forecast"
        )
        notes.append(f"series {name!r}, {left}: {words}")
    if len(model.failed_) > shown:
        notes.append(f"what is wrong with {len(model.failed_) - shown} more series is in failed_.")
    return notes


# --- forecasts ------------------------------------------------------------------------------------


def forecast_panel(model: Any, horizon: int, X: Any, levels: Any) -> Forecast:
    """Forecasts of all series, in the kind that they were given in."""
    panel: Panel = model.panel_
    found = forecasts_by_name(model, horizon, X, levels)
    if panel.kind in ("frame", "long"):  # which have no rows for what has no forecast
        panel = replace(panel, names=tuple(name for name in found if name in model.series_))
    return of_all(panel, [found[name] for name in panel.names])


def forecasts_by_name(model: Any, horizon: int, X: Any, levels: Any) -> dict[Any, Forecast]:
    """The forecast of each series, NaN where there is none."""
    panel: Panel = model.panel_
    known = dict(zip(panel.names, panel.of(X, "X"), strict=True))
    look_ahead(model, horizon)
    found, words = {}, list[tuple[Any, tuple[str, ...]]]()
    with said_once():
        for name, one in model.series_.items():
            with in_words_of(name):
                inputs = inputs_of(model, name, known[name])
                found[name] = forecast_of(one, horizon, inputs, levels, warn=False)
            words.append((name, words_beyond(one.residuals_, horizon)))
        warn_of(in_series(words))
    for name in model.failed_.keys() - found.keys():
        nothing = np.full(horizon, np.nan)
        empty = dict.fromkeys(levels_of(levels), nothing)
        found[name] = Forecast(nothing, empty, empty)
    return {name: found[name] for name in panel.names}


def inputs_of(model: Any, name: Any, known: Any) -> Any:
    """What a series is told of inputs: nothing if it failed, and is forecast without networks."""
    return None if name in model.failed_ and model.series_[name].X_schema_ is None else known


def look_ahead(model: Any, horizon: int) -> None:
    """Let members forecast all series that need it side by side."""
    asked = [one for one in model.series_.values() if one.given_ is None and one._lacks(horizon)]
    for at in range(0, len(asked), BLOCK):
        block = asked[at : at + BLOCK]
        for one, said in zip(
            block, _past_of(horizon, [one._asked_ahead() for one in block]), strict=True
        ):
            one._say(said)
    short = [one for one in model.series_.values() if getattr(one, "pool_", None) is not None]
    short = [one for one in short if one.ahead_ is None or len(one.ahead_) < horizon]
    if short:
        series = [(one.values_, one.seasons_) for one in short]
        for one, ahead in zip(short, model.pool_.continued(series, horizon), strict=True):
            one._look_ahead(ahead)


def _named(X: Any) -> tuple[tuple, list[Any]]:
    """Names of series, and what they are known to have."""
    panel, each = panel_of(X, "X")
    return panel.names, each


def update_panel(model: Any, y: Any, X: Any) -> None:
    """Move the series of a panel on, all or none; of a dict, or a long frame, those in it."""
    panel = model.panel_
    y, X = panel.named(y, "y"), panel.named(X, "X")
    given, each = panel_of(y, "y")
    if given.kind in ("dict", "long"):
        panel.check_names(given.names, "y", all_=False)
        known = {} if X is None else dict(zip(*_named(X), strict=True))
    else:
        each, given = panel.of(y, "y"), panel
        known = dict(zip(panel.names, panel.of(X, "X"), strict=True))
    moved = dict(model.series_)
    for name, values in zip(given.names, each, strict=True):
        if name in moved:
            moved[name] = copy(moved[name]).update(values, known.get(name))
    model.series_ = moved


# --- files ----------------------------------------------------------------------------------------

STORED = {
    "said": Stored("plain"),
    "failed": Stored("plain"),
    "missing": Stored("plain"),
    "errors": Stored("floats", ("series", "plain"), finite=False),
    "plain": Stored("titles"),
    "gain": Stored("number", optional=True),
    "pool_": Stored("floats", ("networks", "ridges", "1 + m", "steps"), optional=True),
    "pooled_": Stored("plain"),
}


def parts_of(model: Any) -> dict[str, Any]:
    """What a file holds of a fitted panel beside its series."""
    pool, names = getattr(model, "pool_", None), model.panel_.names
    return {
        "said": (astuple(model.verdict_), tuple(model.notes_)),
        "failed": tuple((names.index(name), words) for name, words in model.failed_.items()),
        "missing": tuple(at for at, name in enumerate(names) if name not in model.series_),
        "errors": model.errors_.to_numpy(dtype=float),
        "plain": tuple(model.errors_.columns),
        "gain": getattr(model, "gain_", None),
        "pool_": None if pool is None else pool.readouts,
        "pooled_": () if pool is None else pool.networks,
    }


def restored(model: Any, panel: Panel, each: Sequence[One], parts: dict[str, Any]) -> Any:
    """The fitted panel that a file describes; raise a ValueError unless that fits together."""
    verdict, notes = parts["said"]
    names = [name for at, name in enumerate(panel.names) if at not in set(parts["missing"])]
    columns, readouts = parts["plain"], parts["pool_"]
    shared = [one for one in each if one.pool_ is not None]
    sound = (
        len(names) == len(each) > 0
        and parts["errors"].shape == (len(each), len(columns))
        and columns[0] == "forecast"
        and all(isinstance(one, str) for one in (*columns, *notes, verdict[0]))
        and (readouts is not None or not shared)
    )
    if not sound:
        raise ValueError("its series, errors and shared networks do not belong together")
    model.panel_, model.series_ = panel, dict(zip(names, each, strict=True))
    model.failed_ = {panel.names[at]: str(words) for at, words in parts["failed"]}
    model.verdict_, model.notes_ = Verdict(*verdict), list(notes)
    if parts["gain"] is not None:
        model.gain_ = parts["gain"]
    if readouts is not None:
        model.pool_ = Pool.restored(parts["pooled_"], readouts)
    for one in shared:
        one.pool_ = model.pool_
    _sum_up(model, pd.DataFrame(parts["errors"], columns=list(columns)))
    return model
