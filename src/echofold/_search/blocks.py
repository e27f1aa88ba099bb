"""Blocks of candidates: the units of work of a search, independent of who carries them out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np

from echofold._data.problem import Problem
from echofold._engine.kind import Reservoir, drawn
from echofold._engine.states import States, prepared, states_of
from echofold._folds.splits import RowSplits
from echofold._machine.available import check_executor, check_process
from echofold._machine.device import (
    EAGER,
    DeviceFull,
    choose_device,
    in_threads,
    one_blas_thread,
    peers,
)
from echofold._machine.notices import warn_of
from echofold._validation.plan import work_of
from echofold._validation.record import Record, gathered
from echofold._validation.settings import Settings
from echofold._validation.validate import Batch, validate_draws
from echofold._validation.verify import verify, with_checkable_metrics


@dataclass(frozen=True)
class Block:
    """Candidates that share a problem, and for each draw the weights.

    ``candidates`` are their places in the whole search, ``kinds`` their reservoirs, ``draws`` the
    numbers of the draws and ``seeds`` the seeds of these.
    """

    candidates: tuple[int, ...]
    kinds: tuple[Reservoir, ...]
    device: str
    draws: tuple[int, ...]
    seeds: tuple[int, ...]
    problem: Problem
    schemes: dict[str, RowSplits]
    settings: Settings
    prune: bool = False
    elsewhere: bool = False  # on the processor, if the device turns out to be full
    cost: float = 0.0  # estimated seconds on one thread


def run_block(block: Block) -> Record:
    """Validate the candidates of one block."""
    check_process()
    began = time.perf_counter()
    pruned, ran = {}, 0
    with one_blas_thread():
        sources, results = _validate(block)
        for name, splits in block.schemes.items():
            if not results[0][name].closed:
                if block.prune:  # runs of one step cannot be cut short
                    shape = len(results), len(block.kinds), len(block.settings.ridge)
                    pruned[name] = np.zeros(shape, dtype=bool)
                continue
            if block.prune:
                from echofold._search.prune import close_and_prune

                each = [of_draw[name] for of_draw in results]
                parts = list(zip(sources, each, strict=True))
                pruned[name], steps = close_and_prune(parts, block.settings)
            else:
                columns = len(results) * len(block.kinds) * len(block.settings.ridge)
                steps = columns * int((splits.runs.steps - 1).sum())
            ran += steps
    return gathered(
        results,
        [metric.name for metric in block.settings.metrics],
        pruned=pruned,
        seconds=time.perf_counter() - began,
        steps=sum(source.steps for source in sources),
        column_steps=ran,
    )


def _validate(block: Block) -> tuple[list[States], list[Batch]]:
    """`_validate_on` the device of a block, or on the processor if it may and must."""
    try:
        return _validate_on(block.device, block)
    except DeviceFull as error:
        if not block.elsewhere:
            raise
        warn_of([f"{error} It was done on the processor, because device='auto'."])
    return _validate_on("cpu", block)


def _validate_on(device: str, block: Block) -> tuple[list[States], list[Batch]]:
    """Sources and results of every draw, closed loops included unless they are to be pruned."""
    problem, settings = block.problem, block.settings
    # Radii of the draws are found in threads.
    inputs = problem.segments.n_inputs
    draws = list(in_threads(lambda seed: drawn(block.kinds, inputs, seed), block.seeds))
    work = problem, block.schemes, block.kinds[0], len(block.kinds) * len(draws), settings
    if device != EAGER:
        device = choose_device(device, *(work_of(*work) if device == "auto" else ()))
        device = "cpu" if device == EAGER else device  # that was for the whole search to decide
    draws = [prepared(block.kinds[0], reservoirs, problem, device) for reservoirs in draws]
    sources = [states_of(problem, reservoirs, device) for reservoirs in draws]
    if settings.verify:
        settings = with_checkable_metrics(settings)
    results = validate_draws(sources, block.schemes, settings, loops=not block.prune)
    if settings.verify:
        for source, found, seed in zip(sources, results, block.seeds, strict=True):
            verify(source, found, settings, seed)
    return sources, results


def workers(pool: Executor) -> int:
    """Blocks that may run at the same time, and so share the free memory of a machine."""
    # Dask's executor does not tell; a machine has rarely more workers than processors.
    return int(getattr(pool, "_max_workers", None) or os.cpu_count() or 1)


def carry_out(
    blocks: Iterable[tuple[int, Block]], n_jobs: int | None, executor: Executor | None
) -> Iterator[tuple[int, Record]]:
    """Run blocks, here or by workers, and yield their records as they are finished.

    Where neither is given, each of several devices has a thread, and takes one block at a time.
    """
    blocks = list(blocks)
    pools: list[Executor] = [] if executor is None else [executor]
    if executor is None and n_jobs not in (None, 1):
        pools = [ThreadPoolExecutor(os.cpu_count() if n_jobs == -1 else n_jobs)]
    if pools:
        check_executor(pools[0])
        together = max(1, min(workers(pools[0]), len(blocks)))
        # Large networks are few blocks: what is left of the cores factors their candidates.
        threads = -(-workers(pools[0]) // together) if executor is None else 1
        blocks = [
            (number, replace(block, settings=replace(
                block.settings, workers=together, threads=threads)))
            for number, block in blocks
        ]  # fmt: skip
    elif len(blocks) > 1 and len(devices := peers(blocks[0][1].device)) > 1:
        pools = [ThreadPoolExecutor(1) for _ in devices]
        blocks = [
            (number, replace(block, device=device))
            for (number, block), device in zip(blocks, cycle(devices), strict=False)
        ]
    if not pools:
        for number, block in blocks:
            yield number, run_block(block)
        return
    pending: dict[Future, int] = {}
    try:
        for (number, block), pool in zip(blocks, cycle(pools), strict=False):
            pending[pool.submit(run_block, block)] = number
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield pending.pop(future), future.result()
    finally:
        for future in pending:
            future.cancel()
        for pool in pools:
            if pool is not executor:
                pool.shutdown(wait=True, cancel_futures=True)
