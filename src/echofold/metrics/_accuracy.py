"""The share of labels that are right, which is what scikit-learn scores classifiers by."""

from __future__ import annotations

from typing import Any

from echofold.metrics._errors import error_rate


def accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Share of labels that are right; the higher the better.

    Examples
    --------
    >>> from echofold.metrics import accuracy
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    return 1.0 - error_rate(labels_true, labels_pred)
