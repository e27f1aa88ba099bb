"""Results of a validation: of one batch by one scheme, of all blocks, and as labelled arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from echofold._folds.choose import Choice
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import COLLINEAR
from echofold._machine.arrays import namespace
from echofold._machine.notices import warn_of
from echofold._validation.settings import Settings


@dataclass
class Validated:
    """Candidates validated by one scheme. Arrays are ``(candidates, splits, ridge, ...)``.

    ``W`` holds the readouts ``(..., 1 + m, outputs)`` where they were asked for or needed;
    ``starts (candidates, runs, inputs + size)`` the true inputs and states at which closed loops
    begin, until they are run. On a device both stay there.
    """

    splits: RowSplits
    choice: Choice
    closed: bool = False  # whether scores come from closed loops
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    W: Any = None
    starts: Any = None
    condition: Any = None
    refitted: int = 0
    verified: int = 0
    undetermined: int = 0
    mode: str = "states"  # of memory

    def enter(self, place: int, of: int, scores: dict[str, Any], W: Any) -> None:
        """Results of one of so many candidates."""
        for name, values in scores.items():
            self.scores.setdefault(name, np.empty((of, *values.shape)))[place] = values
        if W is not None:
            self.W = np.empty((of, *W.shape)) if self.W is None else self.W
            self.W[place] = W

    def part(self, networks: slice) -> Validated:
        """The results of some candidates; counts stay with the first."""
        scores = {name: values[networks] for name, values in self.scores.items()}
        some: dict[str, Any] = {
            name: None if (array := getattr(self, name)) is None else array[networks]
            for name in ("W", "starts", "condition")
        }
        if networks.start:
            some |= dict.fromkeys(COUNTS, 0)
        return replace(self, scores=scores, **some)


COUNTS = ("refitted", "verified", "undetermined")


def joined(parts: Sequence[tuple[int, Validated]]) -> Validated:
    """Results of all candidates, from parts and the first candidate of each; parts may overlap."""
    first = parts[0][1]
    if len(parts) == 1:
        return first
    ends = [place + len(part.condition) for place, part in parts]
    skips = [end - place for (place, _), end in zip(parts, [0, *ends[:-1]], strict=True)]

    def whole(arrays: Sequence[Any]) -> Any:
        if arrays[0] is None:
            return None
        new = [array[skip:] for array, skip in zip(arrays, skips, strict=True)]
        return namespace(new[0]).concatenate(new)

    found = [part for _, part in parts]
    scores = {name: whole([one.scores[name] for one in found]) for name in first.scores}
    arrays = {n: whole([getattr(one, n) for one in found]) for n in ("W", "starts", "condition")}
    arrays |= {name: sum(getattr(one, name) for one in found) for name in COUNTS}
    return replace(first, scores=scores, **arrays)


COUNTED = tuple(f"{name}_splits" for name in COUNTS)  # notes that add up over blocks


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
        shape = draws, candidates
        return Record(
            {
                scheme: {
                    metric: np.full((*shape, splits or array.shape[2], array.shape[3]), np.nan)
                    for metric, array in each.items()
                }
                for scheme, each in self.scores.items()
            },
            condition=np.full(shape, np.nan),
            seconds=np.zeros(shape),
            algorithm={scheme: [""] * candidates for scheme in self.scores},
            notes={
                scheme: {**notes, **dict.fromkeys(COUNTED, 0)}
                for scheme, notes in self.notes.items()
            },
            pruned={
                scheme: np.zeros((*shape, array.shape[2]), dtype=bool)
                for scheme, array in self.pruned.items()
            },
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
        "memory": one.mode,
        **{f"{name}_splits": sum(getattr(draw, name) for draw in draws) for name in COUNTS},
    }


def datasets(
    record: Record,
    candidates: Sequence[dict[str, Any]] | None,
    schemes: dict[str, RowSplits],
    settings: Settings,
    attrs: dict[str, Any],
) -> dict[str, Any]:
    """One Dataset over ``(draw, candidate, split, ridge)`` for each scheme of a search.

    With no ``candidates``, it is over ``(split, ridge)``, from a record of one.
    """
    coords: dict[str, Any] = {}
    if candidates is not None:
        names = list(dict.fromkeys(name for candidate in candidates for name in candidate))
        attrs = {"hyper_parameters": names, "column_steps": record.column_steps, **attrs}
        coords = {"draw": np.arange(len(record.condition)), "candidate": np.arange(len(candidates))}
        for name in names:
            values = coordinate([candidate.get(name) for candidate in candidates])
            coords[name] = ("candidate", values)
    return {
        scheme: _dataset(record, scheme, splits, settings, coords, attrs)
        for scheme, splits in schemes.items()
    }


def _dataset(record: Record, scheme: str, splits: RowSplits, settings: Settings, coords, attrs):
    """The Dataset of one scheme; without coordinates of candidates, that of the only one."""
    import xarray as xr

    dims, algorithm = ("draw", "candidate", "split", "ridge"), record.algorithm[scheme]
    variables: dict[str, Any] = {
        metric.name: (dims, record.scores[scheme][metric.name]) for metric in settings.metrics
    }
    variables["condition"] = (dims[:2], record.condition)
    if scheme in record.readouts:
        variables["readout"] = ((*dims, "feature", "output"), record.readouts[scheme])
    if coords:
        variables["seconds"] = (dims[:2], record.seconds)
        if scheme in record.pruned:
            variables["pruned"] = (("draw", "candidate", "ridge"), record.pruned[scheme])
        coords = {**coords, "algorithm": ("candidate", np.array(algorithm))}
    else:
        variables = {name: (of[2:], array[0, 0]) for name, (of, array) in variables.items()}
        attrs = {"algorithm": algorithm[0], **attrs}
    return xr.Dataset(
        variables,
        {
            "ridge": settings.ridge,
            "split": np.arange(len(splits)),
            "valid_start": ("split", np.array([valid[0][0] for valid in splits.valid])),
            "valid_stop": ("split", np.array([valid[-1][1] for valid in splits.valid])),
            "train_rows": ("split", splits.train_sizes),
            "train": ("split", splits.train_in_words),
            **coords,
        },
        {
            "scheme": splits.name,
            "metric": settings.metrics[0].name,
            "better": "higher" if settings.metrics[0].higher else "lower",
            "rows": splits.n,
            **record.notes[scheme],
            "steps_driven": record.steps,
            **attrs,
        },
    )


def coordinate(values: list) -> np.ndarray:
    """Values of one hyper-parameter as a coordinate; what is no number or text is described."""
    if all(isinstance(v, bool | int | float | str) for v in values):
        kinds = {type(v) for v in values}
        if len(kinds) == 1 or kinds <= {int, float}:
            return np.array(values)
    return np.array([_described(v) for v in values])


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None and np.size(value) > 8:
        return f"{type(value).__name__} {shape}"
    return str(value)


def warn_once(results: Iterable, settings: Settings, more: Sequence[str] = ()) -> None:
    """At most one warning: which candidates are ill-conditioned or diverge, and what to do."""
    notes: list[str] = list(more)
    for dataset in results:
        for note in describe_trouble(dataset, settings.ridge):
            if note not in notes:
                notes.append(note)
    warn_of(notes)


def describe_trouble(dataset, ridge: np.ndarray) -> list[str]:
    """Sentences about collinear states and diverging candidates."""
    notes = []
    condition = np.atleast_1d(dataset.condition.values).ravel()
    collinear = np.flatnonzero(~(condition < COLLINEAR))
    if len(collinear) and (ridge == 0).any():
        notes.append(
            f"{_some(collinear, len(condition))} states that are collinear to working precision "
            f"(condition number above {COLLINEAR:.0e}); at ridge=0 the readout of least norm is "
            "used. Add a ridge of 1e-9 or more if it should not hang on rounding."
        )
    if loose := dataset.attrs.get("undetermined_splits"):
        notes.append(
            f"{loose} of {dataset.attrs['verified_splits']} splits that were verified have "
            "predictions that extended precision finds otherwise, though their objective is at its "
            "minimum: columns or rows differ so much in size that the ridge cannot tell readouts "
            "apart. Scale the inputs, or use a larger ridge."
        )
    scores = dataset[dataset.attrs["metric"]].values.reshape(len(condition), -1)
    lost = np.flatnonzero(~np.isfinite(scores).any(axis=1))
    if len(lost):
        notes.append(
            f"{_some(lost, len(condition))} no finite score: all of its runs diverge. Try a larger "
            "ridge, a smaller spectral radius or shorter validation stretches."
        )
    return notes


def _some(which: np.ndarray, total: int) -> str:
    """Name a few candidates."""
    if total == 1:
        return "The candidate has"
    named = ", ".join(map(str, which[:5])) + (", …" if len(which) > 5 else "")
    return f"{len(which)} of {total} candidates ({named}) have"
