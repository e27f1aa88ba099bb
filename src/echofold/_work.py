"""Blocks of candidates: the units of work of a search, independent of who carries them out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from echofold._candidates import batch, draw_for
from echofold._device import one_blas_thread, resolve
from echofold._fork import check_executor, check_process
from echofold._splits import RowSplits
from echofold._states import States
from echofold._tasks import Problem
from echofold._validate import close_the_loop, validate
from echofold._validated import Settings, Validated
from echofold._verify import verify, with_checkable_metrics

MOST = 32  # candidates in a block: small enough to show progress, wide enough for the engine
STATE_BYTES = 2**27  # states of a block that are kept at a time


@dataclass(frozen=True)
class Block:
    """Candidates that share a problem, and for each draw the weights.

    ``candidates`` are their places in the whole search, ``params`` their parameters, ``draws`` the
    numbers of the draws and ``seeds`` the seeds of these.
    """

    candidates: tuple[int, ...]
    params: tuple[dict[str, Any], ...]
    draws: tuple[int, ...]
    seeds: tuple[int, ...]
    problem: Problem
    schemes: dict[str, RowSplits]
    settings: Settings
    prune: bool = False


@dataclass
class Outcome:
    """Scores of a block: ``scores[scheme][metric]`` is ``(draws, candidates, splits, ridge)``."""

    scores: dict[str, dict[str, np.ndarray]]
    condition: np.ndarray  # (draws, candidates)
    pruned: dict[str, np.ndarray]  # (draws, candidates, ridge), True where scores are lower bounds
    algorithm: dict[str, str]
    notes: dict[str, Any]  # reasons, estimated seconds, memory, refitted splits
    seconds: float
    steps: int
    column_steps: int  # steps of closed-loop trajectories that were run


def run_block(block: Block) -> Outcome:
    """Validate the candidates of one block."""
    check_process()
    began = time.perf_counter()
    with one_blas_thread():
        found = [_one_draw(block, seed) for seed in block.seeds]
        pruned, ran = {}, 0
        if block.prune:
            from echofold._prune import close_and_prune

            for name in block.schemes:
                parts = [(source, results[name]) for source, results in found]
                if parts[0][1].starts is None:  # runs of one step cannot be cut short
                    shape = len(found), len(block.params), len(block.settings.ridge)
                    pruned[name] = np.zeros(shape, dtype=bool)
                    continue
                pruned[name], steps = close_and_prune(parts, block.settings)
                ran += steps
        else:
            for source, results in found:
                for one in results.values():
                    if one.starts is not None:
                        settings = replace(block.settings, device=source.device)
                        close_the_loop(block.problem, source.reservoirs, one, settings)
                        runs = one.splits.sizes.sum() - len(one.splits)
                        ran += int(runs) * len(block.params) * len(block.settings.ridge)
    first = found[0][1]
    return Outcome(
        scores={
            name: {
                metric.name: np.stack([results[name].scores[metric.name] for _, results in found])
                for metric in block.settings.metrics
            }
            for name in block.schemes
        },
        condition=np.stack([next(iter(results.values())).condition for _, results in found]),
        pruned=pruned,
        algorithm={name: one.choice.algorithm for name, one in first.items()},
        notes={name: _notes([results[name] for _, results in found]) for name in first},
        seconds=time.perf_counter() - began,
        steps=sum(source.steps for source, _ in found),
        column_steps=ran,
    )


def _notes(draws: list[Validated]) -> dict[str, Any]:
    one = draws[0]
    return {
        "reason": one.choice.reason,
        **{f"estimated_seconds_{name}": cost for name, cost in one.choice.costs.items()},
        "memory": one.way,
        "refitted_splits": sum(draw.refitted for draw in draws),
        "verified_splits": sum(draw.verified for draw in draws),
    }


def _one_draw(block: Block, seed: int) -> tuple[States, dict[str, Validated]]:
    """Readouts (closed loop) or scores (open loop) of every candidate with one draw's weights."""
    inputs = block.problem.network_inputs
    draw = draw_for(block.params[0], inputs, seed)
    reservoirs = batch(draw, block.params, inputs)
    columns = len(block.params) * len(block.settings.ridge) * max(map(len, block.schemes.values()))
    device = resolve(block.params[0]["device"], columns)
    whole = States(block.problem, reservoirs, device)
    settings = block.settings
    if settings.verify:
        settings = with_checkable_metrics(settings)
    width = max(1, STATE_BYTES // (8 * block.problem.rows * whole.columns))
    parts = []
    for first in range(0, len(block.params), width):
        index = np.arange(first, min(first + width, len(block.params)))
        source = States(block.problem, reservoirs.columns(index), device)
        parts.append(validate(source, block.schemes, settings, close=False))
        if settings.verify:
            verify(source, parts[-1], settings, seed + first)
        whole.steps += source.steps
    return whole, {name: _join([part[name] for part in parts]) for name in block.schemes}


def _join(parts: list[Validated]) -> Validated:
    """Results of consecutive candidates as one."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]

    def joined(name: str):
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    return Validated(
        first.splits,
        first.choice,
        {name: np.concatenate([part.scores[name] for part in parts]) for name in first.scores},
        joined("W"),
        joined("starts"),
        joined("condition"),
        sum(part.refitted for part in parts),
        sum(part.verified for part in parts),
        first.way,
    )


def workers(pool: Executor) -> int:
    """Blocks that may run at the same time, and so share the free memory of a machine."""
    # Dask's executor does not tell; a machine has rarely more workers than processors.
    return int(getattr(pool, "_max_workers", None) or os.cpu_count() or 1)


def carry_out(
    blocks: Iterable[tuple[int, Block]], n_jobs: int | None, executor: Executor | None
) -> Iterator[tuple[int, Outcome]]:
    """Run blocks, here or by workers, and yield their outcomes as they are finished."""
    if executor is None and (n_jobs is None or n_jobs == 1):
        for number, block in blocks:
            yield number, run_block(block)
        return
    own = ThreadPoolExecutor(None if n_jobs == -1 else n_jobs) if executor is None else None
    pool = own or executor
    assert pool is not None
    check_executor(pool)
    blocks = list(blocks)
    together = max(1, min(workers(pool), len(blocks)))
    pending: dict[Future, int] = {}
    try:
        for number, block in blocks:
            block = replace(block, settings=replace(block.settings, workers=together))
            pending[pool.submit(run_block, block)] = number
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield pending.pop(future), future.result()
    finally:
        for future in pending:
            future.cancel()
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)
