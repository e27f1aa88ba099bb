"""Blocks of candidates: the units of work of a search, independent of who carries them out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

import numpy as np

from echofold._data.problem import Problem
from echofold._engine.kind import Reservoir, Reservoirs, together
from echofold._engine.states import States, states_of
from echofold._folds.splits import RowSplits
from echofold._machine.available import check_executor, check_process
from echofold._machine.device import DeviceFull, alike, in_threads, one_blas_thread
from echofold._machine.notices import warn_of
from echofold._machine.where import resolve
from echofold._validation.memory import work_of
from echofold._validation.on_device import suits, validate_draws
from echofold._validation.outcome import Validated
from echofold._validation.record import Record, gathered
from echofold._validation.score import runs_closed_loop
from echofold._validation.settings import Settings
from echofold._validation.validate import close_the_loop, validate
from echofold._validation.verify import verify, with_checkable_metrics

STATE_BYTES = 2**27  # states of a block that are kept at a time


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


def run_block(block: Block) -> Record:
    """Validate the candidates of one block."""
    check_process()
    began = time.perf_counter()
    with one_blas_thread():
        draws = _some_where(block)
        pruned, ran = {}, 0
        if block.prune:
            from echofold._search.prune import close_and_prune

            for name in block.schemes:
                parts = [(source, results[name]) for source, results in draws]
                if parts[0][1].starts is None:  # runs of one step cannot be cut short
                    shape = len(draws), len(block.kinds), len(block.settings.ridge)
                    pruned[name] = np.zeros(shape, dtype=bool)
                    continue
                pruned[name], steps = close_and_prune(parts, block.settings)
                ran += steps
        else:
            for source, results in draws:
                before: dict = {}
                for one in results.values():
                    if one.starts is not None:
                        close_the_loop(source, one, block.settings, before)
                    if runs_closed_loop(block.problem, one.splits):
                        columns = len(block.kinds) * len(block.settings.ridge)
                        ran += columns * int((one.splits.runs.steps - 1).sum())
    return gathered(
        [results for _, results in draws],
        [metric.name for metric in block.settings.metrics],
        pruned=pruned,
        seconds=time.perf_counter() - began,
        steps=sum(source.steps for source, _ in draws),
        column_steps=ran,
    )


def _some_where(block: Block) -> list[tuple[States, dict[str, Validated]]]:
    """`_all_draws` on the device of a block, or on the processor if it may and must."""
    try:
        return _all_draws(block)
    except DeviceFull as error:
        if not block.elsewhere:
            raise
        warn_of([f"{error} It was done on the processor, because device='auto'."])
    return _all_draws(replace(block, device="cpu"))


def _all_draws(block: Block) -> list[tuple[States, dict[str, Validated]]]:
    """Readouts (closed loop) or scores (open loop) of every candidate, for every draw.

    On a device, all draws run side by side, and closed loops are run too unless they are pruned.
    """
    problem, settings = block.problem, block.settings
    draws = _drawn(block)
    networks = len(block.kinds) * len(draws)
    work = work_of(problem, block.schemes, block.kinds[0], networks, settings)
    device = resolve(block.device, *work)
    wholes = [states_of(problem, reservoirs, device) for reservoirs in draws]
    if settings.verify:
        settings = with_checkable_metrics(settings)
    if not suits(device, problem, wholes[0].columns, settings):
        return [
            (whole, _one_draw(block, whole, settings, seed))
            for whole, seed in zip(wholes, block.seeds, strict=True)
        ]
    asked = replace(settings, readouts=settings.readouts or settings.verify)
    results = validate_draws(problem, draws, block.schemes, asked, device, close=not block.prune)
    for whole, found, seed in zip(wholes, results, block.seeds, strict=True):
        whole.steps += len(problem.washout) + problem.rows
        if settings.verify:
            verify(whole, found, settings, seed)
    return list(zip(wholes, results, strict=True))


def _drawn(block: Block) -> list[Reservoirs]:
    """The reservoirs of every draw; their radii are found in threads."""
    inputs = block.problem.segments.inputs
    return in_threads(lambda seed: together(block.kinds, inputs, seed), block.seeds)


def _one_draw(block: Block, whole: States, settings: Settings, seed: int) -> dict[str, Validated]:
    """The same for one draw, by the host, some candidates at a time."""
    width = max(1, STATE_BYTES // (8 * block.problem.rows * whole.columns))
    parts = []
    for first in range(0, len(block.kinds), width):
        index = np.arange(first, min(first + width, len(block.kinds)))
        source = states_of(block.problem, whole.reservoirs.columns(index), whole.device)
        parts.append(validate(source, block.schemes, settings, close=False))
        if settings.verify:
            verify(source, parts[-1], settings, seed + first)
        whole.steps += source.steps
    return {name: _join([part[name] for part in parts]) for name in block.schemes}


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
        sum(part.undetermined for part in parts),
        first.way,
    )


def workers(pool: Executor) -> int:
    """Blocks that may run at the same time, and so share the free memory of a machine."""
    # Dask's executor does not tell; a machine has rarely more workers than processors.
    return int(getattr(pool, "_max_workers", None) or os.cpu_count() or 1)


def carry_out(
    blocks: Iterable[tuple[int, Block]], n_jobs: int | None, executor: Executor | None
) -> Iterator[tuple[int, Record]]:
    """Run blocks, here or by workers, and yield their records as they are finished."""
    blocks = list(blocks)
    if executor is None and (n_jobs is None or n_jobs == 1):
        devices = alike(blocks[0][1].device) if blocks else []
        if len(devices) > 1 and len(blocks) > 1:
            yield from _over_devices(blocks, devices)
            return
        for number, block in blocks:
            yield number, run_block(block)
        return
    own = ThreadPoolExecutor(None if n_jobs == -1 else n_jobs) if executor is None else None
    pool = own or executor
    assert pool is not None
    check_executor(pool)
    together = max(1, min(workers(pool), len(blocks)))
    pending: dict[Future, int] = {}
    try:
        for number, block in blocks:
            block = replace(block, settings=replace(block.settings, workers=together))
            pending[pool.submit(run_block, block)] = number
        yield from _finished(pending)
    finally:
        for future in pending:
            future.cancel()
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)


def _finished(pending: dict[Future, int]) -> Iterator[tuple[int, Record]]:
    """Records in the order in which they come."""
    while pending:
        done, _ = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            yield pending.pop(future), future.result()


def _over_devices(
    blocks: list[tuple[int, Block]], devices: list[str]
) -> Iterator[tuple[int, Record]]:
    """Blocks shared out among devices, each of which has a thread and takes one at a time."""
    pools = [ThreadPoolExecutor(1) for _ in devices]
    pending: dict[Future, int] = {}
    try:
        for turn, (number, block) in enumerate(blocks):
            place = turn % len(devices)
            block = replace(block, device=devices[place])
            pending[pools[place].submit(run_block, block)] = number
        yield from _finished(pending)
    finally:
        for pool in pools:
            pool.shutdown(wait=True, cancel_futures=True)
