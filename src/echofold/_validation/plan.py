"""How a validation goes about it: on which machine, by which algorithms, in how much memory.

=========  ===================  ==========================  =========================
mode       passes over the data memory, for each candidate  what is kept
=========  ===================  ==========================  =========================
device     1                    rows · m, of the device     every state
states     1                    rows · m                    every state
pieces     1 (2 [#]_)           pieces · Nr²                moments of every piece
fold       2                    Nr² + Nr · rows / k         states of one fold
frugal     3                    Nr²                         moments of one split
=========  ===================  ==========================  =========================

.. [#] A second one where scores cannot come from moments: clipped outputs, other metrics.

The passes of "fold" and "frugal" are those of k-fold validation without gaps; a window that grows
takes up to 3 and one that slides up to 4.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from echofold._data.problem import Problem
from echofold._engine.kind import Reservoir, is_eager_kind
from echofold._engine.states import GivenStates, States, room_of_rows
from echofold._folds.algorithms import Size
from echofold._folds.choose import Choice, choose, choose_on_device, choose_together
from echofold._folds.many_rows import bytes_of
from echofold._folds.splits import Pieces, RowSplits, cut
from echofold._machine.available import available
from echofold._machine.device import EAGER, Work, is_accelerator, memory_of
from echofold._validation.record import Validated
from echofold._validation.settings import Settings, check_pool

MODES = ("states", "pieces", "fold", "frugal")
STREAMED = MODES[1:]
SURELY_FREE = 2**25  # bytes that need no look at the free memory, which takes up to 1 ms
KEPT_AT_MOST = 2**29  # bytes of states kept without being asked to, for each block of candidates
OWN = {
    "none": "that is of the longest series, and others are solved by what suits them",
    "shrunk": "that is of the common readout, which series correct by naive or small_k",
}


@dataclass(frozen=True)
class Plan:
    """A mode of the table above, what rows are cut into, and every scheme with its algorithm.

    ``pieces`` are those of the schemes that are solved from moments; where there are none, it is
    one piece of all rows. Nothing is in the results of ``schemes`` yet.
    """

    mode: str
    pieces: Pieces
    schemes: dict[str, Validated]


def plan_of(source: States | GivenStates, schemes: dict[str, RowSplits], settings) -> Plan:
    """Choose machine, algorithms and memory, and cut the rows where splits meet."""
    problem = source.problem
    if settings.pool != "all":
        check_pool(problem, schemes, settings)
    eager = isinstance(source, States) and source.device == EAGER
    part = source.parts[0]  # others have as many rows
    own = {name: splits.times(part.count) for name, splits in schemes.items()}
    shape = part.columns, part.problem.targets.shape[1]
    sizes = sizes_of(problem, own, shape, settings, eager)
    if isinstance(source, States) and suits_device(source, settings):
        mode = "device"
        choices = {n: choose_on_device(size, settings.algorithm) for n, size in sizes.items()}
    else:
        mode = _mode(part, own, settings)
        choices = choose_together(sizes, settings.algorithm)
    if mode in STREAMED and settings.pool != "none":
        reason = f"small_k is the algorithm that needs no states (memory: {mode})"
        choices = {name: Choice("small_k", one.costs, reason) for name, one in choices.items()}
    few = [own[name] for name, one in choices.items() if one.variant == "small_k"]
    if mode in ("fold", "frugal") or settings.pool == "none":  # split by split
        few = []
    kept = "states" if mode == "device" else mode
    found = {
        name: Validated(schemes[name], choices[name], size.closed, mode=kept)
        for name, size in sizes.items()
    }
    if settings.pool != "all":
        for one in found.values():
            one.choice = replace(one.choice, reason=f"{one.choice.reason}; {OWN[settings.pool]}")
    return Plan(mode, cut(part.problem.rows, few), found)


def sizes_of(
    problem: Problem, schemes, shape: tuple[int, int], settings: Settings, eager: bool = False
) -> dict[str, Size]:
    """What the costs of every scheme are estimated from; ``shape`` are columns and outputs."""
    ridges = len(settings.ridge)
    alone, apart = settings.pool == "none", settings.pool != "all"
    return {
        name: Size(
            _longest(splits) if alone else splits,
            *shape,
            ridges,
            settings.readouts,
            apart or runs_closed_loop(problem, splits),
            eager,
        )
        for name, splits in schemes.items()
    }


def runs_closed_loop(problem: Problem, splits: RowSplits) -> bool:
    """Whether outputs come back as inputs, or must be brought back first to be compared.

    A single step ahead of a series as it is is the same with and without. Residuals of a field are
    those of its parts, so what is compared is always run.
    """
    several = splits.runs.longest > 1 or problem.steps > 1 or problem.grid is not None
    return problem.task.fed_back and (several or problem.brought_back)


def _longest(splits: RowSplits) -> RowSplits:
    """The splits of the longest of several series, trained on its own rows alone."""
    return splits.trained_alone(max(splits.of_series, key=lambda one: one.splits.n))


def work_of(
    problem: Problem, schemes: dict[str, RowSplits], kind: Reservoir, networks: int, settings
) -> list[Work]:
    """Driving and validating so many networks of one kind, by every scheme."""
    segments = problem.segments
    groups = kind._groups()
    readouts, rows, outputs = (1, 1, problem.targets.shape[1]) if groups is None else groups.shape
    parts = readouts * rows  # each is a reservoir
    units = kind._size(segments.n_inputs) // parts
    m = segments.columns(kind._seen(segments.n_inputs), kind._beside) // parts
    own = {name: splits.times(rows) for name, splits in schemes.items()}
    eager = is_eager_kind(kind) and segments.eager
    steps = segments.longest * (1 + kind.adapts())
    work = [Work(steps, networks * segments.count * parts, units, eager=eager)]
    for name, size in sizes_of(problem, own, (m, outputs), settings).items():
        runs = schemes[name].runs
        steps, count = (runs.longest, len(runs)) if size.closed else (0, size.k)
        algebra = networks * readouts * min(choose(size, "auto").costs.values())
        work.append(Work(steps, networks * count * size.ridges * parts, units, algebra, eager))
    return work


def suits_device(source: States, settings: Settings) -> bool:
    """Whether a validation is done on the device from end to end, all states being kept there."""
    problem = source.problem
    if not is_accelerator(source.device) or settings.algorithm == "naive":
        return False
    if problem.lazy or settings.pool != "all":
        return False
    if problem.segments.seen is not None and problem.segments.seen.alike:  # rows are of the host
        return False
    return settings.memory not in STREAMED and bytes_on_device(source) < memory_of(source.device)


def bytes_on_device(source: States) -> int:
    """Memory of a device that one network takes; several series are as long as the longest."""
    problem = source.problem
    rows = problem.segments.longest * problem.segments.count if problem.each else problem.rows
    return bytes_of(room_of_rows(rows), source.columns)


def budget(memory: Any, workers: int = 1) -> int:
    """Bytes that may be used: half of what is free, or as given (``2e9``, ``"2GB"``).

    What is free is shared by ``workers`` that run at the same time; what is given is for each.
    """
    if memory is None or memory in MODES:
        return available() // (2 * workers)
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kKMGT]?)i?B?\s*", memory)
        if match and float(match[1]) > 0:
            return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))
    elif not isinstance(memory, bool) and hasattr(memory, "__float__") and 0 < memory < math.inf:
        return int(memory)
    raise ValueError(
        f"memory={memory!r} is not understood: give a number of bytes, a size such as '2GB', one "
        f"of {', '.join(map(repr, MODES))}, or None for half of what is free."
    )


def _mode(source: States | GivenStates, schemes: dict[str, RowSplits], settings: Settings) -> str:
    """How the host uses memory for these candidates."""
    if not source.streams:
        return "states"
    keeps = settings.algorithm in ("naive", "large_k")
    if keeps and settings.memory in STREAMED:
        raise ValueError(
            f"algorithm={settings.algorithm!r} keeps all states, which memory={settings.memory!r} "
            "does not. Use memory='states' or None, or algorithm='auto' or 'small_k'."
        )
    problem, m, each = source.problem, source.columns, 8 * source.candidates
    of_all = each * source.readouts  # what is kept of states is that of the whole field
    bounds = min(sum(2 + 4 * len(splits.valid) for splits in schemes.values()), problem.rows)
    fold = max(int((splits.n - splits.train_sizes).max()) for splits in schemes.values())
    if problem.each and settings.memory in ("fold", "frugal"):
        raise ValueError(
            f"memory={settings.memory!r} is for one series, and these are {len(problem.each)}. "
            "Use memory=None, 'states' or 'pieces'."
        )
    mode = choose_mode(
        settings.memory,
        states=of_all * problem.rows * m,
        pieces=each * bounds * (1 + m + problem.targets.shape[1]) ** 2 * 3,
        fold=of_all * fold * m,
        wants_states=keeps,
        workers=settings.workers,
        lazy=problem.lazy,
        # A pass for each readout would drive all of the field.
        most=KEPT_AT_MOST * source.readouts,
    )
    return "pieces" if problem.each and mode != "states" else mode


def choose_mode(
    memory: Any, states: int, pieces: int, fold: int, wants_states: bool, workers: int = 1,
    lazy: bool = False, most: int = KEPT_AT_MOST,
) -> str:  # fmt: skip
    """A mode that fits; ``states``, ``pieces`` and ``fold`` are bytes.

    States are kept while they are small, of at ``most`` so many bytes, or when an algorithm was
    asked for that needs them; never those of a ``lazy`` series.
    """
    if lazy and (memory == "states" or wants_states):
        asked = "memory='states' keeps" if memory == "states" else "this algorithm keeps"
        raise ValueError(
            f"{asked} the states of all rows, but the series is so long that it is read in blocks. "
            "Use algorithm='auto' or 'small_k' with memory=None, or 'pieces', 'fold' or 'frugal'; "
            "or, if they fit into memory, give the data as np.asarray of what is stored."
        )
    if memory in MODES:
        return memory
    if memory is None and states <= SURELY_FREE and not lazy:
        return "states"
    allowed = budget(memory, workers)
    if not lazy and states <= (allowed if wants_states else min(allowed, most)):
        return "states"
    if wants_states:
        raise ValueError(
            f"this algorithm keeps all states, {states / 2**20:,.0f} MiB, but memory={memory!r} "
            f"allows {allowed / 2**20:,.0f} MiB. Allow more memory or use algorithm='auto'."
        )
    return "pieces" if pieces <= allowed else "fold" if fold <= allowed else "frugal"
