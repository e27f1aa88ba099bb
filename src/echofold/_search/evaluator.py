"""Candidates in, scores out: groups by shared draw, blocks, workers, checkpoint, progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from echofold._data.arguments import candidate_seed
from echofold._engine.kind import Reservoir
from echofold._machine.device import choose_device, is_accelerator, one_blas_thread, peers
from echofold._machine.progress import Progress
from echofold._search.blocks import Block, carry_out
from echofold._search.checkpoint import Checkpoint, expected
from echofold._search.reader import Reader
from echofold._validation.plan import work_of
from echofold._validation.record import Record
from echofold._validation.settings import Settings
from echofold.reservoirs import reservoir_of

WIDEST = 32  # candidates in a block: few enough to show progress, many enough for the engine
NETWORKS = 4096  # in a block on an accelerator: candidates times draws


@dataclass
class Evaluator:
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
    done: int = 0
    best: float = np.inf
    _blocks: int = 0

    def blocks(self, candidates: Sequence[dict[str, Any]], only: Any = None) -> list[Block]:
        """Cut candidates into blocks that share a problem and a draw."""
        groups: dict[tuple, tuple[list[int], list[Reservoir]]] = {}
        for place, candidate in enumerate(candidates):
            params = self.reader.params(candidate)
            self.reader.estimator._check_values(params)
            problem, _ = self.reader.problem(candidate)
            kind, seed = reservoir_of(params), candidate_seed(candidate, self.seeds[0])
            draw = type(kind), kind.shared(), kind._view, seed
            key = (id(problem), bool(params["penalize_bias"]), params["device"], draw)
            places, kinds = groups.setdefault(key, ([], []))
            places.append(place)
            kinds.append(kind)
        return [
            block
            for places, kinds in groups.values()
            for block in self._blocks_of(places, kinds, candidates[places[0]], only)
        ]

    def _blocks_of(
        self, places: list[int], kinds: list[Reservoir], first: dict[str, Any], only: Any
    ) -> Iterator[Block]:
        """Blocks of the candidates at ``places``, which share what ``first`` of them has."""
        problem, schemes = self.reader.problem(first)
        if only is not None:
            schemes = {name: splits.part(only) for name, splits in schemes.items()}
        params, seed = self.reader.params(first), candidate_seed(first, self.seeds[0])
        settings = replace(self.settings, penalised=bool(params["penalize_bias"]))
        width, together = WIDEST, self.together
        work = problem, schemes, kinds[0], len(places) * len(self.seeds), settings
        device = self._device(params["device"], work)
        if is_accelerator(device):
            together = True
            width = max(1, NETWORKS // len(self.seeds))
            if self.executor is None:
                width = min(width, -(-len(places) // len(peers(device))))
        width = len(places) if self.prune else width
        numbers = range(len(self.seeds))
        for draws in [tuple(numbers)] if together else [(draw,) for draw in numbers]:
            for start in range(0, len(places), width):
                chosen = slice(start, start + width)
                yield Block(
                    candidates=tuple(places[chosen]),
                    kinds=tuple(kinds[chosen]),
                    device=params["device"] if self.executor is not None else device,
                    draws=draws,
                    seeds=tuple(seed + draw for draw in draws),
                    problem=problem,
                    schemes=schemes,
                    settings=settings,
                    prune=self.prune,
                    elsewhere=params["device"] == "auto",
                )

    def _device(self, device: str, work: tuple) -> str:
        """Where candidates are validated, as far as can be told from here."""
        if self.executor is not None:  # its workers may be other machines, and decide themselves
            return "cpu" if device == "auto" else device
        return choose_device(device, *work_of(*work))

    def run(self, candidates: Sequence[dict[str, Any]], only: Any = None) -> Record:
        """Evaluate candidates, on some of the splits if ``only`` names them."""
        blocks = self.blocks(candidates, only)
        first, self._blocks = self._blocks, self._blocks + len(blocks)
        wanted = expected(blocks, candidates) if self.checkpoint else []
        records: dict[int, Record] = {}
        waiting = []
        for place, block in enumerate(blocks):
            kept = self.checkpoint.load(first + place, wanted[place]) if self.checkpoint else None
            if kept is None:
                waiting.append((place, block))
            else:
                records[place] = self._count(block, kept)
        with one_blas_thread():  # outermost, so that worker threads find it set already
            for place, record in carry_out(waiting, self.n_jobs, self.executor):
                if self.checkpoint is not None:
                    self.checkpoint.save(first + place, record, wanted[place])
                records[place] = self._count(blocks[place], record)
        total = records[0].blank(len(self.seeds), len(candidates))
        for place, block in enumerate(blocks):
            total.enter(records[place], block.draws, block.candidates)
        return total

    def _count(self, block: Block, record: Record) -> Record:
        """Show progress."""
        self.done += len(block.candidates) * len(block.draws)
        scheme = next(iter(record.scores))
        metric = self.settings.metrics[0]
        costs = metric.cost(record.first(metric.name).mean(axis=2))
        if scheme in record.pruned:
            costs = np.where(record.pruned[scheme], np.inf, costs)
        self.best = min(self.best, np.where(np.isnan(costs), np.inf, costs).min())
        self.progress.update(self.done, metric.cost(self.best))
        return record
