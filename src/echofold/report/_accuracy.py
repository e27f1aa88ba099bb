"""How right a classifier or a regressor was about validation rows, in numbers people know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.tables import Table
from echofold.plots._series import ValidationOutputs, column_name


@dataclass(frozen=True)
class Recognised:
    """Counts ``(true, said)`` of validation sequences by class."""

    counts: np.ndarray
    classes: Any

    @property
    def total(self) -> int:
        """Validation sequences; one that several splits validate counts for each."""
        return int(self.counts.sum())

    @property
    def right(self) -> int:
        """Those of the right class."""
        return int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """The share of them."""
        return self.right / self.total

    @property
    def most_frequent(self) -> float:
        """What share would be right by always saying the most frequent class."""
        return float(self.counts.sum(axis=1).max() / self.total)

    @property
    def recalls(self) -> list[tuple[str, int, int, float]]:
        """Each class with its sequences, how many were recognised, and their share."""
        sums = self.counts.sum(axis=1)
        right = np.diagonal(self.counts)
        return [
            (str(name), int(count), int(hit), hit / count if count else float("nan"))
            for name, count, hit in zip(self.classes, sums, right, strict=True)
        ]


def recognised(search: Any, validation: ValidationOutputs) -> Recognised:
    """What the winner's splits said of sequences that they were not trained on."""
    classes = search.best_estimator_.classes_
    there = validation.rows >= 0
    true, said = validation.truth[there].argmax(axis=1), validation.outputs[there].argmax(axis=1)
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (true, said), 1)
    return Recognised(counts, classes)


def explained(table: Table, validation: ValidationOutputs) -> list[tuple[str, float]]:
    """R² of every output over all validation rows that have a value, by the output's name."""
    found = []
    for output in range(validation.truth.shape[2]):
        truth, said = pairs(validation, output)
        with np.errstate(over="ignore", invalid="ignore"):
            missed = float(((truth - said) ** 2).sum())
        total = float(((truth - truth.mean()) ** 2).sum())
        r2 = 1 - missed / total if total else float("nan")
        found.append((column_name(table, output), r2))
    return found


def pairs(validation: ValidationOutputs, output: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth and outputs of the validation rows that have both."""
    truth, said = validation.truth[:, :, output].ravel(), validation.outputs[:, :, output].ravel()
    both = np.isfinite(truth) & np.isfinite(said)
    return truth[both], said[both]
