"""Results as labelled arrays: every score with the hyper-parameters and rows it belongs to."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import COLLINEAR
from echofold._machine.notices import EchofoldWarning
from echofold._validation.record import Record
from echofold._validation.settings import Settings


def datasets(
    record: Record,
    candidates: Sequence[dict[str, Any]],
    schemes: dict[str, RowSplits],
    settings: Settings,
    attrs: dict[str, Any],
) -> dict[str, Any]:
    """One Dataset over ``(draw, candidate, split, ridge)`` for each scheme of a search."""
    names = list(dict.fromkeys(name for candidate in candidates for name in candidate))
    coords = {
        "draw": np.arange(record.condition.shape[0]),
        "candidate": np.arange(len(candidates)),
        **{
            name: ("candidate", coordinate([candidate.get(name) for candidate in candidates]))
            for name in names
        },
    }
    return {
        scheme: _dataset(
            record, scheme, splits, settings,
            {**coords, "algorithm": ("candidate", np.array(record.algorithm[scheme]))},
            {"hyper_parameters": names, "column_steps": record.column_steps, **attrs},
        )
        for scheme, splits in schemes.items()
    }  # fmt: skip


def datasets_of_one(
    record: Record, schemes: dict[str, RowSplits], settings: Settings, attrs: dict[str, Any]
) -> dict[str, Any]:
    """One Dataset over ``(split, ridge)`` for each scheme, from a record of one candidate."""
    return {
        scheme: _dataset(
            record,
            scheme,
            splits,
            settings,
            {},
            {"algorithm": record.algorithm[scheme][0], **attrs},
        )
        for scheme, splits in schemes.items()
    }


def _dataset(record: Record, scheme: str, splits: RowSplits, settings: Settings, coords, attrs):
    """The Dataset of one scheme; without coordinates of candidates, that of the only one."""
    import xarray as xr

    dims = ("draw", "candidate", "split", "ridge")
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
    else:
        variables = {name: (of[2:], array[0, 0]) for name, (of, array) in variables.items()}
    return xr.Dataset(
        variables,
        {"ridge": settings.ridge, **split_coordinates(splits), **coords},
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


def split_coordinates(splits: RowSplits) -> dict[str, Any]:
    """Where the splits of a scheme lie."""
    return {
        "split": np.arange(len(splits)),
        "valid_start": ("split", np.array([valid[0][0] for valid in splits.valid])),
        "valid_stop": ("split", np.array([valid[-1][1] for valid in splits.valid])),
        "train_rows": ("split", splits.train_sizes),
        "train": ("split", splits.train_in_words),
    }


def warn_once(results: Iterable, settings: Settings, more: Sequence[str] = ()) -> None:
    """At most one warning: which candidates are ill-conditioned or diverge, and what to do."""
    notes: list[str] = list(more)
    for dataset in results:
        for note in describe_trouble(dataset, settings.ridge):
            if note not in notes:
                notes.append(note)
    if notes:
        warnings.warn(EchofoldWarning(*notes), stacklevel=4)


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
            "ridge, a smaller spectral radius or shorter validation intervals."
        )
    return notes


def _some(which: np.ndarray, total: int) -> str:
    """Name a few candidates."""
    if total == 1:
        return "The candidate has"
    named = ", ".join(map(str, which[:5])) + (", …" if len(which) > 5 else "")
    return f"{len(which)} of {total} candidates ({named}) have"
