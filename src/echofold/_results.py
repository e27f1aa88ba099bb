"""Results as labelled arrays: every score with the hyper-parameters and rows it belongs to."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from echofold._evaluator import Scores
    from echofold._select import Winner
    from echofold._splits import RowSplits
    from echofold._validated import Settings, Validated

COLLINEAR = 1e13  # condition number from which states are collinear to working precision


class EchofoldWarning(UserWarning):
    """Something about the numbers that a user should know."""


def dataset(draws: Sequence[Validated], settings: Settings, attrs: dict[str, Any]):
    """One Dataset over ``(draw, candidate, split, ridge)`` from the results of each draw."""
    import xarray as xr

    first = draws[0]
    dims = ("draw", "candidate", "split", "ridge")
    variables: dict[str, Any] = {
        metric.name: (dims, np.stack([one.scores[metric.name] for one in draws]))
        for metric in settings.metrics
    }
    variables["condition"] = (dims[:2], np.stack([one.condition for one in draws]))
    if settings.readouts:
        variables["readout"] = ((*dims, "feature", "output"), np.stack([one.W for one in draws]))
    splits = first.splits
    return xr.Dataset(
        variables,
        {"ridge": settings.ridge, **split_coordinates(splits)},
        {
            "scheme": splits.name,
            "metric": settings.metrics[0].name,
            "algorithm": first.choice.algorithm,
            "reason": first.choice.reason,
            **{f"estimated_seconds_{k}": v for k, v in first.choice.costs.items()},
            "memory": first.way,
            "refitted_splits": sum(one.refitted for one in draws),
            "verified_splits": sum(one.verified for one in draws),
            **attrs,
        },
    )


def search_datasets(
    scores: Scores,
    candidates: Sequence[dict[str, Any]],
    schemes: dict[str, RowSplits],
    settings: Settings,
    attrs: dict[str, Any],
) -> dict[str, Any]:
    """One Dataset for each scheme of a search, with hyper-parameters as coordinates."""
    import xarray as xr

    names = list(dict.fromkeys(name for candidate in candidates for name in candidate))
    hyper = {
        name: ("candidate", coordinate([candidate.get(name) for candidate in candidates]))
        for name in names
    }
    found = {}
    for scheme, splits in schemes.items():
        dims = ("draw", "candidate", "split", "ridge")
        variables: dict[str, Any] = {
            name: (dims, array) for name, array in scores.by[scheme].items()
        }
        variables["condition"] = (dims[:2], scores.condition)
        variables["seconds"] = (dims[:2], scores.seconds)
        if scheme in scores.pruned:
            variables["pruned"] = (("draw", "candidate", "ridge"), scores.pruned[scheme])
        coords = {**split_coordinates(splits), "ridge": settings.ridge, **hyper}
        coords["candidate"] = np.arange(len(candidates))
        coords["draw"] = np.arange(scores.condition.shape[0])
        coords["algorithm"] = ("candidate", np.array(scores.algorithm[scheme]))
        text = [" ".join(f"{a}:{b}" for a, b in train) for train in splits.train]
        coords["train"] = ("split", np.array([t if len(t) < 80 else t[:77] + "..." for t in text]))
        found[scheme] = xr.Dataset(
            variables,
            coords,
            {
                "scheme": splits.name,
                "metric": settings.metrics[0].name,
                "hyper_parameters": names,
                "rows": splits.n,
                **scores.notes[scheme],
                "steps_driven": scores.steps,
                "column_steps": scores.column_steps,
                **attrs,
            },
        )
    return found


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


def split_coordinates(splits: RowSplits) -> dict[str, Any]:
    """Where the splits of a scheme lie."""
    return {
        "split": np.arange(len(splits)),
        "valid_start": ("split", splits.valid_rows[:, 0]),
        "valid_stop": ("split", np.array([valid[-1][1] for valid in splits.valid])),
        "train_rows": ("split", splits.train_sizes),
    }


def warn_once(results: Iterable, settings: Settings, more: Sequence[str] = ()) -> None:
    """At most one warning: which candidates are ill-conditioned or diverge, and what to do."""
    notes: list[str] = list(more)
    for found in results:
        for note in describe_trouble(found, settings.ridge):
            if note not in notes:
                notes.append(note)
    if notes:
        warnings.warn(" ".join(notes), EchofoldWarning, stacklevel=4)


def describe_winner(winner: Winner, found) -> list[str]:
    """A sentence about a winner that diverges, because every candidate does."""
    if np.isfinite(winner.score):
        return []
    runs = found.sizes["split"] * (found.sizes["draw"] if winner.draw is None else 1)
    return [
        f"Every candidate diverges on some split, so no mean score is finite; chosen is the one "
        f"that diverges least often, in {winner.diverged} of {runs} runs. Search larger ridge "
        "values, smaller spectral radii or shorter validation intervals."
    ]


def describe_trouble(found, ridge: np.ndarray) -> list[str]:
    """Sentences about collinear states and diverging candidates."""
    notes = []
    condition = np.atleast_1d(found.condition.values).ravel()
    collinear = np.flatnonzero(~(condition < COLLINEAR))
    if len(collinear) and (ridge == 0).any():
        notes.append(
            f"{_some(collinear, len(condition))} states that are collinear to working precision "
            f"(condition number above {COLLINEAR:.0e}); at ridge=0 the readout of least norm is "
            "used. Add a ridge of 1e-9 or more if it should not hang on rounding."
        )
    scores = found[found.attrs["metric"]].values.reshape(len(condition), -1)
    lost = np.flatnonzero(~np.isfinite(scores).any(axis=1))
    if len(lost):
        notes.append(
            f"{_some(lost, len(condition))} no finite score: all of its runs diverge. Try a larger "
            "ridge, a smaller spectral radius or shorter validation intervals."
        )
    return notes


def _some(which: np.ndarray, total: int) -> str:
    """Name a few candidates."""
    if total == 1:
        return "The candidate has"
    named = ", ".join(map(str, which[:5])) + (", …" if len(which) > 5 else "")
    return f"{len(which)} of {total} candidates ({named}) have"
