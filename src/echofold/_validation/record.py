"""One record of scores, from a block of candidates to the Dataset of a whole search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from echofold._validation.outcome import Validated

# Notes that add up over blocks.
COUNTED = ("refitted_splits", "verified_splits", "undetermined_splits")


@dataclass
class Record:
    """Scores of candidates by every scheme, and how they came about.

    ``scores[scheme][metric]`` is ``(draws, candidates, splits, ridge)``, ``pruned[scheme]``
    ``(draws, candidates, ridge)`` and True where scores are lower bounds; ``condition`` and
    ``seconds`` are ``(draws, candidates)``; ``readouts[scheme]``, where they were asked for, are
    ``(draws, candidates, splits, ridge, features, outputs)``. ``algorithm[scheme]`` has a name for
    every candidate; ``notes[scheme]`` are those of the first block, with the counts of all.
    """

    scores: dict[str, dict[str, np.ndarray]]
    condition: np.ndarray
    seconds: np.ndarray
    algorithm: dict[str, list[str]]
    notes: dict[str, dict[str, Any]]
    pruned: dict[str, np.ndarray] = field(default_factory=dict)
    readouts: dict[str, np.ndarray] = field(default_factory=dict)
    steps: int = 0
    column_steps: int = 0  # steps of closed-loop trajectories that were run

    def blank(self, draws: int, candidates: int, splits: int | None = None) -> Record:
        """A record of the same schemes and metrics, for these numbers, with nothing in it yet."""

        def empty(like: np.ndarray, fill, cut: bool = False) -> np.ndarray:
            shape = (draws, candidates, *like.shape[2:])
            if cut and splits is not None:
                shape = (*shape[:2], splits, *shape[3:])
            return np.full(shape, fill, dtype=like.dtype)

        return Record(
            {
                scheme: {metric: empty(array, np.nan, cut=True) for metric, array in each.items()}
                for scheme, each in self.scores.items()
            },
            condition=empty(self.condition, np.nan),
            seconds=empty(self.seconds, 0.0),
            algorithm={scheme: [""] * candidates for scheme in self.scores},
            notes={
                scheme: {**notes, **dict.fromkeys(COUNTED, 0)}
                for scheme, notes in self.notes.items()
            },
            pruned={scheme: empty(array, False) for scheme, array in self.pruned.items()},
        )

    def enter(
        self, part: Record, draws: Iterable[int], candidates: Iterable[int], splits: Any = None
    ) -> None:
        """Put ``part`` in the places of its draws, candidates and (all by default) splits."""
        draws, candidates = list(draws), list(candidates)
        at = np.ix_(draws, candidates)
        for scheme, each in part.scores.items():
            for metric, array in each.items():
                places = at if splits is None else np.ix_(draws, candidates, splits)
                self.scores[scheme][metric][places] = array
            for place, name in zip(candidates, part.algorithm[scheme], strict=True):
                self.algorithm[scheme][place] = name
            for name in COUNTED:
                self.notes[scheme][name] += part.notes[scheme].get(name, 0)
        for scheme, array in part.pruned.items():
            self.pruned[scheme][at] = array
        self.condition[at] = part.condition
        self.seconds[at] += part.seconds
        self.steps += part.steps
        self.column_steps += part.column_steps

    def first(self, metric: str) -> np.ndarray:
        """Scores by the first scheme, the one to select by."""
        return next(iter(self.scores.values()))[metric]


def gathered(
    draws: Sequence[dict[str, Validated]],
    metrics: Sequence[str],
    *,
    readouts: bool = False,
    pruned: dict[str, np.ndarray] | None = None,
    seconds: float = 0.0,
    steps: int = 0,
    column_steps: int = 0,
) -> Record:
    """The record of one batch of candidates, from what each draw gave by every scheme."""
    condition = np.stack([next(iter(one.values())).condition for one in draws])
    by = {scheme: [one[scheme] for one in draws] for scheme in draws[0]}
    W = {scheme: np.stack([one.W for one in each]) for scheme, each in by.items() if readouts}
    return Record(
        {
            scheme: {name: np.stack([one.scores[name] for one in each]) for name in metrics}
            for scheme, each in by.items()
        },
        condition=condition,
        seconds=np.full(condition.shape, seconds / condition.size),
        algorithm={
            scheme: [each[0].choice.algorithm] * condition.shape[1] for scheme, each in by.items()
        },
        notes={scheme: _notes(each) for scheme, each in by.items()},
        pruned=pruned or {},
        readouts=W,
        steps=steps,
        column_steps=column_steps,
    )


def _notes(draws: list[Validated]) -> dict[str, Any]:
    """How the scores of one scheme came about."""
    one = draws[0]
    return {
        "reason": one.choice.reason,
        **{f"estimated_seconds_{name}": cost for name, cost in one.choice.costs.items()},
        "memory": one.way,
        "refitted_splits": sum(draw.refitted for draw in draws),
        "verified_splits": sum(draw.verified for draw in draws),
        "undetermined_splits": sum(draw.undetermined for draw in draws),
    }
