"""Candidates in, scores out: groups by shared draw, blocks, workers, checkpoint, progress."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from echofold._candidates import candidate_seed, check_parameters, draw_key
from echofold._checkpoint import Checkpoint
from echofold._cross_validate import resolve_schemes
from echofold._device import one_blas_thread
from echofold._kept import expected
from echofold._progress import Progress
from echofold._splits import RowSplits
from echofold._tasks import Problem
from echofold._validated import Settings
from echofold._work import MOST, Block, Outcome, carry_out

COUNTED = ("refitted_splits", "verified_splits")
SHAPE_THE_PROBLEM = ("washout", "scale", "states", "output_range")


@dataclass
class Scores:
    """Scores of some candidates: ``by[scheme][metric]`` is ``(draws, candidates, splits, ridge)``.

    ``pruned[scheme]`` is ``(draws, candidates, ridge)``; ``condition`` and ``seconds`` are
    ``(draws, candidates)``; ``notes[scheme]`` come from the first block, but for counts of splits,
    which are those of all.
    """

    by: dict[str, dict[str, np.ndarray]]
    pruned: dict[str, np.ndarray]
    condition: np.ndarray
    seconds: np.ndarray
    algorithm: dict[str, list[str]]
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    steps: int = 0
    column_steps: int = 0


@dataclass
class Evaluator:
    """Everything that stays the same while candidates are evaluated."""

    estimator: Any
    data: tuple
    fit_params: dict[str, Any]
    groups: Any
    cv: Any
    settings: Settings
    seeds: tuple[int, ...]
    together: bool  # whether all draws of a candidate are compared while they run (pruning)
    prune: bool = False
    n_jobs: int | None = None
    executor: Executor | None = None
    checkpoint: Checkpoint | None = None
    progress: Progress = field(default_factory=Progress)
    done: int = 0
    best: float = np.inf
    washout: int | None = None  # of every candidate, where those of the space differ
    _problems: dict[tuple, tuple[Problem, dict[str, RowSplits]]] = field(default_factory=dict)
    _blocks: int = 0
    _own: dict[str, Any] | None = None

    def release(self) -> None:
        """Let go of what serves a running search only and cannot be copied or pickled."""
        self.progress, self.executor, self.checkpoint = Progress(), None, None

    def params(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """All parameters of a candidate."""
        if self._own is None:
            self._own = self.estimator.get_params(deep=False)
        return {**self._own, **candidate}

    def align(self, washouts: Sequence[Any]) -> None:
        """Score all candidates on the rows after the longest of these washouts."""
        if len(set(washouts)) > 1:
            lengths = [len(self.problem({"washout": one})[0].washout) for one in washouts]
            self.washout = max(lengths)
            self._problems.clear()

    def problem(self, candidate: dict[str, Any]) -> tuple[Problem, dict[str, RowSplits]]:
        """The problem that a candidate is validated on, and its splits by every scheme."""
        params = self.params(candidate)
        if self.washout is not None:
            params["washout"] = self.washout
        key = tuple(repr(params.get(name)) for name in SHAPE_THE_PROBLEM)
        if key not in self._problems:
            from sklearn.base import clone

            shaping = {name: params[name] for name in SHAPE_THE_PROBLEM if name in params}
            reader = clone(self.estimator).set_params(**shaping)
            problem = reader._read(*self.data, **self.fit_params)
            schemes = resolve_schemes(self.cv, problem, self.groups, self.settings.metrics)
            for known, _ in zip(self._problems.values(), range(1), strict=False):
                _same_splits(known[1], schemes)
            self._problems[key] = problem, schemes
        return self._problems[key]

    def blocks(self, candidates: Sequence[dict[str, Any]], only: Any = None) -> list[Block]:
        """Cut candidates into blocks that share a problem and a draw."""
        groups: dict[tuple, list[int]] = {}
        for place, candidate in enumerate(candidates):
            params = self.params(candidate)
            check_parameters(params)
            problem, _ = self.problem(candidate)
            draw = draw_key(params, candidate_seed(candidate, self.seeds[0]))
            key = (id(problem), bool(params["penalize_bias"]), params["device"], draw)
            groups.setdefault(key, []).append(place)
        found = []
        for places in groups.values():
            problem, schemes = self.problem(candidates[places[0]])
            if only is not None:
                schemes = {name: splits.part(only) for name, splits in schemes.items()}
            first = self.params(candidates[places[0]])
            settings = replace(self.settings, penalised=bool(first["penalize_bias"]))
            seed = candidate_seed(candidates[places[0]], self.seeds[0])
            seeds = tuple(seed + d for d in range(len(self.seeds)))
            width = len(places) if self.prune else MOST
            numbers = [tuple(range(len(seeds)))] if self.together else [
                (d,) for d in range(len(seeds))
            ]  # fmt: skip
            for draws in numbers:
                for start in range(0, len(places), width):
                    chosen = places[start : start + width]
                    found.append(
                        Block(
                            tuple(chosen),
                            tuple(self.params(candidates[place]) for place in chosen),
                            draws,
                            tuple(seeds[d] for d in draws),
                            problem,
                            schemes,
                            settings,
                            self.prune,
                        )
                    )
        return found

    def run(self, candidates: Sequence[dict[str, Any]], only: Any = None) -> Scores:
        """Evaluate candidates, on some of the splits if ``only`` names them."""
        blocks = self.blocks(candidates, only)
        first, self._blocks = self._blocks, self._blocks + len(blocks)
        wanted = expected(blocks, candidates) if self.checkpoint else []
        found: dict[int, Outcome] = {}
        waiting = []
        for place, block in enumerate(blocks):
            kept = self.checkpoint.load(first + place, wanted[place]) if self.checkpoint else None
            if kept is None:
                waiting.append((place, block))
            else:
                found[place] = self._count(block, kept)
        with one_blas_thread():  # outermost, so that worker threads find it set already
            for place, outcome in carry_out(waiting, self.n_jobs, self.executor):
                if self.checkpoint is not None:
                    self.checkpoint.save(first + place, outcome, wanted[place])
                found[place] = self._count(blocks[place], outcome)
        return _assemble(blocks, [found[i] for i in range(len(blocks))], len(candidates))

    def _count(self, block: Block, outcome: Outcome) -> Outcome:
        """Show progress."""
        self.done += len(block.candidates) * len(block.draws)
        scheme = next(iter(outcome.scores))
        scores = outcome.scores[scheme][self.settings.metrics[0].name].mean(axis=2)
        if scheme in outcome.pruned:
            scores = np.where(outcome.pruned[scheme], np.inf, scores)
        self.best = min(self.best, np.where(np.isnan(scores), np.inf, scores).min())
        self.progress.update(self.done, self.best)
        return outcome


def add_counts(total: dict[str, dict[str, Any]], more: dict[str, dict[str, Any]]) -> None:
    """Add the counts among notes, in place."""
    for scheme, notes in more.items():
        for name in COUNTED:
            total[scheme][name] += notes.get(name, 0)


def _same_splits(before: dict[str, RowSplits], now: dict[str, RowSplits]) -> None:
    """Candidates that shape the data differently must still have equally many splits."""
    for name in before:
        if len(before[name]) != len(now[name]):
            raise ValueError(
                f"candidates have different numbers of splits by {before[name].name}: "
                f"{len(before[name])} and {len(now[name])}. Give washout one value, or a scheme "
                "with a fixed number of splits."
            )


def _assemble(blocks: list[Block], outcomes: list[Outcome], candidates: int) -> Scores:
    """Put the outcomes of blocks in the places of their candidates and draws."""
    first = outcomes[0]
    draws = 1 + max(d for block in blocks for d in block.draws)

    def empty(like: np.ndarray, fill) -> np.ndarray:
        return np.full((draws, candidates, *like.shape[2:]), fill, dtype=like.dtype)

    found = Scores(
        by={
            scheme: {metric: empty(array, np.nan) for metric, array in metrics.items()}
            for scheme, metrics in first.scores.items()
        },
        pruned={scheme: empty(array, False) for scheme, array in first.pruned.items()},
        condition=empty(first.condition, np.nan),
        seconds=empty(first.condition, np.nan),
        algorithm={scheme: [""] * candidates for scheme in first.scores},
        notes={scheme: dict(notes) for scheme, notes in first.notes.items()},
    )
    for notes in found.notes.values():
        notes |= dict.fromkeys(COUNTED, 0)
    for block, outcome in zip(blocks, outcomes, strict=True):
        at = np.ix_(block.draws, block.candidates)
        for scheme, metrics in outcome.scores.items():
            for metric, array in metrics.items():
                found.by[scheme][metric][at] = array
            for place in block.candidates:
                found.algorithm[scheme][place] = outcome.algorithm[scheme]
        for scheme, array in outcome.pruned.items():
            found.pruned[scheme][at] = array
        add_counts(found.notes, outcome.notes)
        found.condition[at] = outcome.condition
        found.seconds[at] = outcome.seconds / outcome.condition.size
        found.steps += outcome.steps
        found.column_steps += outcome.column_steps
    return found
