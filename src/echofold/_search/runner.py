"""From candidates to scores: data are read once for all that share them, then run in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from copy import deepcopy
from dataclasses import InitVar, dataclass, replace
from itertools import chain, product
from typing import Any

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import candidate_seed
from echofold._data.problem import Problem
from echofold._engine.kind import Reservoir
from echofold._folds.splits import RowSplits
from echofold._machine.device import (
    EAGER,
    Work,
    choose_device,
    is_accelerator,
    one_blas_thread,
    peers,
)
from echofold._machine.progress import Progress, finals_ahead
from echofold._search.blocks import Block, carry_out
from echofold._search.checkpoint import Checkpoint, expected
from echofold._search.selection import mean_costs
from echofold._validation.plan import work_of
from echofold._validation.record import Record
from echofold._validation.settings import Settings, check_pool, resolve_schemes
from echofold._validation.validate import NARROWEST
from echofold.metrics._metric import Metric

WIDEST = 32  # candidates in a block: few enough to show progress, many enough for the engine
BUSY = 2.0  # estimated seconds of a block: large networks are to keep many cores busy
ALONE = 0.8  # times what a network costs in a block, that one does which is validated by itself
NETWORKS = 4096  # in a block on an accelerator: candidates times draws


@dataclass(eq=False)
class Reader:
    """Problems and splits of candidates.

    Parameters of an estimator that change how data are read are its ``_shapes_the_problem``. Those
    that decide where scored rows begin are its ``_skips_rows``: where candidates of ``spaces`` have
    several values, all are scored on the rows after the longest.
    """

    estimator: Any
    data: tuple
    fit_params: dict[str, Any]
    groups: Any
    cv: Any
    metrics: list[Metric]
    spaces: InitVar[list[dict[str, Any]]]

    def __post_init__(self, spaces: list[dict[str, Any]]) -> None:
        self._own = self.estimator.get_params(deep=False)
        self._aligned: dict[str, Any] = {}
        self._washouts: list[int] | None = None
        self._found: dict[tuple, tuple[Any, Problem, dict[str, RowSplits]]] = {}
        names = [name for name in self.estimator._skips_rows if name in self._own]
        values = product(*(values_of(name, spaces, self._own[name]) for name in names))
        openings = [dict(zip(names, one, strict=True)) for one in values]
        if len(openings) > 1:
            skipped = np.max([self._read(one)[1].skipped for one in openings], axis=0)
            if np.ndim(skipped):  # of several series, each by itself
                self._washouts = skipped.tolist()
            else:
                self._aligned = {"washout": int(skipped)}

    def _read(self, params: dict[str, Any], washouts: Any = None) -> tuple[Any, Problem]:
        """An estimator that read the data with some parameters, and the problem they became."""
        reader = clone(self.estimator).set_params(**params)
        reader._washouts = washouts
        return reader, reader._read(*self.data, **self.fit_params)

    def params(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """All parameters of a candidate; ``reservoir__size`` is one of its reservoir."""
        if any("__" in name for name in candidate):
            return clone(self.estimator).set_params(**candidate).get_params(deep=False)
        return {**self._own, **candidate}

    def problem(self, candidate: dict[str, Any]) -> tuple[Problem, dict[str, RowSplits]]:
        """The problem that a candidate is validated on, and its splits by every scheme."""
        return self._entry(candidate)[1:]

    def model(self, candidate: dict[str, Any], seed: int) -> tuple[Any, Problem]:
        """An estimator of a candidate that read the data, to be trained, and its own problem."""
        params = {**candidate, "random_state": seed}
        if self._aligned or self._washouts is not None:
            return self._read(params)
        reader, problem, _ = self._entry(candidate)
        model = deepcopy(reader)
        for one in [model, *getattr(model, "series_", {}).values()]:
            one.set_params(**params)
        return model, problem

    def _entry(self, candidate: dict[str, Any]) -> tuple[Any, Problem, dict[str, RowSplits]]:
        """What read the data of a candidate, its problem and splits."""
        params = self.params(candidate) | self._aligned
        shaping = {name: params[name] for name in self.estimator._shapes_the_problem}
        key = tuple(map(repr, shaping.values()))
        if key not in self._found:
            reader, problem = self._read(shaping, self._washouts)
            schemes = resolve_schemes(self.cv, problem, self.groups, self.metrics)
            if self._found:
                _check_as_many(next(iter(self._found.values()))[2], schemes)
            self._found[key] = reader, problem, schemes
        return self._found[key]


def values_of(name: str, spaces: list[dict[str, Any]], own: Any) -> list[Any]:
    """Values that a parameter takes in a search, ``own`` by default; of a range, the largest.

    Examples
    --------
    >>> values_of("washout", [{"washout": [10, 50]}, {"units": [20]}], "auto")
    [10, 50, 'auto']
    """
    values: list[Any] = []
    for one in spaces:
        given = one.get(name, [own])
        for value in [given] if hasattr(given, "rvs") else given:
            if hasattr(value, "rvs"):
                values.append(int(value.support()[1]))
            elif hasattr(value, "choices"):  # Optuna's distributions
                values += value.choices
            else:
                values.append(getattr(value, "high", value))
    return values


def _check_as_many(before: dict[str, RowSplits], now: dict[str, RowSplits]) -> None:
    """Candidates that shape the data differently must still have equally many splits."""
    for name in before:
        if len(before[name]) != len(now[name]):
            raise ValueError(
                f"candidates have different numbers of splits by {before[name].name}: "
                f"{len(before[name])} and {len(now[name])}. Give washout one value, or a scheme "
                "with a fixed number of splits."
            )


@dataclass
class Runner:
    """Everything that stays the same while candidates are evaluated, and what was done so far."""

    reader: Reader
    settings: Settings
    seeds: tuple[int, ...]
    together: bool  # whether all draws of a candidate are compared while they run (pruning)
    prune: bool
    n_jobs: int | None
    executor: Executor | None
    checkpoint: Checkpoint | None
    progress: Progress
    foreseen: Callable[[dict[str, Any], int], None]  # told of a candidate that a device is to run
    total: int  # evaluations
    finals: Callable[[int], int]  # networks of the final model, if there are so many problems
    done: int = 0
    best: float = np.inf
    _blocks: int = 0
    _cut: int = 0  # evaluations in blocks so far
    _cost: float = 0.0  # of these blocks, in estimated seconds,
    _ahead: float = 0.0  # of those that were not known from a checkpoint,
    _spent: float = 0.0  # of those that are done,
    _whole: float = 0.0  # and of all that is to be done
    _shapes: frozenset = frozenset()  # of blocks that are done: others may be compiled

    def blocks(self, candidates: Sequence[dict[str, Any]], only: Any = None) -> list[Block]:
        """Cut candidates into blocks that share a problem and a draw."""
        groups: dict[tuple, list[tuple[int, Reservoir]]] = {}
        for place, candidate in enumerate(candidates):
            params = self.reader.params(candidate)
            problem, _ = self.reader.problem(candidate)
            kind = self.reader.estimator._check_values(params, not problem.task.ordered)
            kind = kind._on(problem.grid)
            kind = self.reader.estimator._with_model(kind, params, problem)
            seed = candidate_seed(candidate, self.seeds[0])
            draw = type(kind), kind.shared(), kind._view, kind._precision, seed
            fitting = self.reader.estimator._fitting(params, problem)
            key = (id(problem), *fitting.values(), params["device"], draw)
            groups.setdefault(key, []).append((place, kind))
        each = (self._blocks_of(group, candidates[group[0][0]], only) for group in groups.values())
        return list(chain.from_iterable(each))

    def _blocks_of(
        self, group: list[tuple[int, Reservoir]], first: dict[str, Any], only: Any
    ) -> Iterator[Block]:
        """Blocks of candidates by place and kind, which share what ``first`` of them has."""
        problem, schemes = self.reader.problem(first)
        if only is not None:
            schemes = {name: splits.part(only) for name, splits in schemes.items()}
        params, seed = self.reader.params(first), candidate_seed(first, self.seeds[0])
        settings = replace(self.settings, **self.reader.estimator._fitting(params, problem))
        if settings.pool != "all":
            check_pool(problem, schemes, settings)
        networks, together = len(group) * len(self.seeds), self.together
        work = work_of(problem, schemes, group[0][1], networks, settings)
        # Not by the number of cores: how many run side by side changes how products are rounded.
        each = sum(one.on_processor for one in work) / networks
        width = min(WIDEST, max(NARROWEST, int(BUSY / each)))
        count = max(-(-len(group) // WIDEST), len(group) // width)  # none is narrower than that
        device = self._device(params["device"], work)
        if is_accelerator(device):
            together = True
            width = max(1, NETWORKS // len(self.seeds))
            if self.executor is None:
                width = min(width, -(-len(group) // len(peers(device))))
            count = -(-len(group) // width)
        width = len(group) if self.prune else -(-len(group) // count)
        numbers = range(len(self.seeds))
        for draws in [tuple(numbers)] if together else [(draw,) for draw in numbers]:
            for start in range(0, len(group), width):
                places, kinds = zip(*group[start : start + width], strict=True)
                yield Block(
                    candidates=places,
                    kinds=kinds,
                    device=device if self.executor is None or device == EAGER else params["device"],
                    draws=draws,
                    seeds=tuple(seed + draw for draw in draws),
                    problem=problem,
                    schemes=schemes,
                    settings=settings,
                    prune=self.prune,
                    elsewhere=params["device"] == "auto",
                    cost=each * len(places) * len(draws),
                )

    def _device(self, device: str, work: Sequence[Work]) -> str:
        """Where candidates are validated, as far as can be told from here."""
        if self.executor is None or device == "cpu":
            return choose_device(device, *work)
        # Its workers may be other machines, and decide themselves about accelerators.
        return choose_device("cpu", *work) if device == "auto" else device

    def run(self, candidates: Sequence[dict[str, Any]], only: Any = None) -> Record:
        """Evaluate candidates, on some of the splits if ``only`` names them."""
        blocks = self.blocks(candidates, only)
        if not self._blocks and self.executor is None and is_accelerator(blocks[0].device):
            self.foreseen(candidates[blocks[0].candidates[0]], blocks[0].seeds[0])
        first, self._blocks = self._blocks, self._blocks + len(blocks)
        wanted = expected(blocks, candidates) if self.checkpoint else []
        records: dict[int, Record] = {}
        waiting = []
        for place, block in enumerate(blocks):
            kept = self.checkpoint.load(first + place, wanted[place]) if self.checkpoint else None
            if kept is None:
                waiting.append((place, block))
            else:
                records[place] = kept
        self._plan(blocks, waiting)
        for place, kept in records.items():
            self._count(blocks[place], kept, 0.0)
        with one_blas_thread():  # outermost, so that worker threads find it set already
            for place, record in carry_out(waiting, self.n_jobs, self.executor):
                if self.checkpoint is not None:
                    self.checkpoint.save(first + place, record, wanted[place])
                records[place] = record
                self._count(blocks[place], record, blocks[place].cost)
        total = records[0].blank(len(self.seeds), len(candidates))
        for place, block in enumerate(blocks):
            total.enter(records[place], block.draws, block.candidates)
        return total

    def costs(self, record: Record) -> np.ndarray:
        """What candidates are compared by, ``(draw, candidate, split, ridge)``."""
        metric = self.settings.metrics[0]
        return metric.cost(record.first(metric.name))

    def _plan(self, blocks: list[Block], waiting: list[tuple[int, Block]]) -> None:
        """Estimate what all of the search costs: of blocks that are not known yet, what others do.

        After these come final models, whose networks are validated one by one.
        """
        self._cut += sum(len(block.candidates) * len(block.draws) for block in blocks)
        self._cost += sum(block.cost for block in blocks)
        self._ahead += sum(block.cost for _, block in waiting)
        networks = self.finals(len(self.reader._found)) * (1 + finals_ahead())
        each = self._cost / self._cut
        self._whole = self._ahead + each * (max(0, self.total - self._cut) + ALONE * networks)

    def _count(self, block: Block, record: Record, cost: float) -> None:
        """Show how many evaluations are done, and the best score so far."""
        self._spent += cost
        units = block.kinds[0].size(block.problem.segments.n_inputs)
        shape = id(block.problem), units, len(block.candidates)
        new = shape not in self._shapes
        self._shapes |= {shape}
        self.done += len(block.candidates) * len(block.draws)
        pruned = record.pruned.get(next(iter(record.scores)), False)
        costs = np.where(pruned, np.inf, mean_costs(self.costs(record), False))
        self.best = min(self.best, costs.min())
        best = self.settings.metrics[0].cost(self.best)
        self.progress.update(self.done, best, self._spent, self._whole, new)
