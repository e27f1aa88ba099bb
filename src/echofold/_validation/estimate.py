"""What a validation would take, by which `_machine.where` decides where it is done."""

from __future__ import annotations

from echofold._data.problem import Problem
from echofold._data.segments import Sequences
from echofold._engine.kind import Reservoir, looks_of, row_length
from echofold._folds.algorithm import Size
from echofold._folds.choose import choose
from echofold._folds.splits import RowSplits
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
    if isinstance(segments, Sequences):
        work = [Work(segments.steps.shape[1], networks * problem.rows, units)]
    else:
        work = [Work(len(problem.washout) + problem.rows, networks, units)]
    ridges, outputs = len(settings.ridge), problem.targets.shape[1]
    for splits in schemes.values():
        closed = runs_closed_loop(problem, splits)
        size = Size(splits, m, outputs, ridges, settings.readouts or closed)
        algebra = min(choose(size, "auto").costs.values())
        steps = int(splits.sizes.max()) if closed else 0
        work.append(Work(steps, networks * len(splits) * ridges, units, networks * algebra))
    return work
