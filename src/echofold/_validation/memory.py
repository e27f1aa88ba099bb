"""How much memory may be used, and which of the four ways of validating fits in it.

=========  ===================  ==========================  =========================
way        passes over the data memory, for each candidate  what is kept
=========  ===================  ==========================  =========================
states     1                    rows · m                    every state
pieces     1 (2 [#]_)           pieces · Nr²                moments of every piece
fold       2                    Nr² + Nr · rows / k         states of one fold
frugal     3                    Nr²                         moments of one split
=========  ===================  ==========================  =========================

.. [#] A second one where scores cannot come from moments: clipped outputs, other metrics.

The passes of "fold" and "frugal" are those of k-fold validation without gaps; a window that grows
takes up to 3 and one that slides up to 4. What a validation would take is estimated here too, for
`_machine.where` to decide where it is done.
"""

from __future__ import annotations

import math
import re
from typing import Any

from echofold._data.problem import Problem
from echofold._engine.kind import Reservoir, looks_of, row_length
from echofold._folds.algorithm import Size
from echofold._folds.choose import choose
from echofold._folds.splits import RowSplits
from echofold._machine.available import available
from echofold._machine.where import Work
from echofold._validation.score import runs_closed_loop
from echofold._validation.settings import Settings


def work_of(
    problem: Problem,
    schemes: dict[str, RowSplits],
    kind: Reservoir,
    networks: int,
    settings: Settings,
) -> list[Work]:
    """Driving and validating so many networks of one kind, by every scheme."""
    segments = problem.segments
    units = kind.size(segments.inputs)
    m = row_length(segments, looks_of(kind, segments.inputs), kind._view.inputs)
    work = [Work(segments.longest, networks * segments.count, units)]
    ridges, outputs = len(settings.ridge), problem.targets.shape[1]
    for splits in schemes.values():
        closed = runs_closed_loop(problem, splits)
        size = Size(splits, m, outputs, ridges, settings.readouts or closed)
        algebra = min(choose(size, "auto").costs.values())
        steps = int(splits.sizes.max()) if closed else 0
        work.append(Work(steps, networks * len(splits) * ridges, units, networks * algebra))
    return work


WAYS = ("states", "pieces", "fold", "frugal")
SURELY_FREE = 2**25  # bytes that need no look at the free memory, which takes up to 1 ms
KEPT_AT_MOST = 2**28  # bytes of states kept without being asked to, for each block of candidates


def budget(memory: Any, workers: int = 1) -> int:
    """Bytes that may be used: half of what is free, or as given (``2e9``, ``"2GB"``).

    What is free is shared by ``workers`` that run at the same time; what is given is for each.
    """
    if memory is None or memory in WAYS:
        return available() // (2 * workers)
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kKMGT]?)i?B?\s*", memory)
        if match and float(match[1]) > 0:
            return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))
    elif not isinstance(memory, bool) and hasattr(memory, "__float__") and 0 < memory < math.inf:
        return int(memory)
    raise ValueError(
        f"memory={memory!r} is not understood: give a number of bytes, a size such as '2GB', one "
        f"of {', '.join(map(repr, WAYS))}, or None for half of what is free."
    )


def choose_way(
    memory: Any,
    states: int,
    pieces: int,
    fold: int,
    wants_states: bool,
    workers: int = 1,
    lazy: bool = False,
) -> str:
    """Pick a way of validating; ``states``, ``pieces`` and ``fold`` are bytes.

    States are kept while they are small, or when an algorithm was asked for that needs them; never
    those of a ``lazy`` series.
    """
    if lazy:
        return _way_of_lazy(memory, pieces, fold, wants_states, workers)
    if memory in WAYS:
        return memory
    if memory is None and states <= SURELY_FREE:
        return "states"
    allowed = budget(memory, workers)
    if states <= (allowed if wants_states else min(allowed, KEPT_AT_MOST)):
        return "states"
    if wants_states:
        raise ValueError(
            f"this algorithm keeps all states, {states / 2**20:,.0f} MiB, but memory={memory!r} "
            f"allows {allowed / 2**20:,.0f} MiB. Allow more memory or use algorithm='auto'."
        )
    if pieces <= allowed:
        return "pieces"
    return "fold" if fold <= allowed else "frugal"


def _way_of_lazy(memory: Any, pieces: int, fold: int, wants_states: bool, workers: int) -> str:
    """The way of a series that is read in blocks, of which no states are kept."""
    if memory == "states" or wants_states:
        asked = "memory='states' keeps" if memory == "states" else "this algorithm keeps"
        raise ValueError(
            f"{asked} the states of all rows, but the series is so long that it is read in blocks. "
            "Use algorithm='auto' or 'small_k' with memory=None, or 'pieces', 'fold' or 'frugal'; "
            "or, if they fit into memory, give the data as np.asarray of what is stored."
        )
    if memory in WAYS:
        return memory
    allowed = budget(memory, workers)
    return "pieces" if pieces <= allowed else "fold" if fold <= allowed else "frugal"
