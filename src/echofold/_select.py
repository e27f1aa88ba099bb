"""Which candidate wins: robust to scores that are infinite or missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Winner:
    """A candidate with its ridge (one, or one for each split) and its score.

    ``draw`` is the draw it was selected in, None for all of them together.
    """

    candidate: int
    ridge: np.ndarray  # places in the ridge path, (splits,); all the same unless individual
    score: float
    draw: int | None


def mean_scores(scores: np.ndarray, individual: bool) -> np.ndarray:
    """Means over splits of ``scores (draw, candidate, split, ridge)``, infinite where not finite.

    As ``(draw, candidate, ridge)``; with a ridge for each split, ``(draw, candidate, 1)``.
    """
    worst = np.where(np.isnan(scores), np.inf, scores)
    if individual:
        worst = worst.min(axis=3, keepdims=True)
    return worst.mean(axis=2)


def select(scores: np.ndarray, individual: bool, draw: int | None, eligible=None) -> Winner:
    """The lowest score, over the mean of all draws or within one of them.

    ``eligible (draw, candidate, ridge)`` excludes what may not win, such as lower bounds.
    """
    mean = mean_scores(scores, individual)
    if eligible is not None:
        allowed = eligible.all(axis=2, keepdims=True) if individual else eligible
        mean = np.where(allowed, mean, np.inf)
    mean = mean.mean(axis=0) if draw is None else mean[draw]
    candidate, ridge = np.unravel_index(mean.argmin(), mean.shape)
    splits = scores.shape[2]
    if individual:
        at = scores[slice(None) if draw is None else [draw]][:, candidate]
        chosen = np.where(np.isnan(at), np.inf, at).mean(axis=0).argmin(axis=1)
    else:
        chosen = np.full(splits, ridge)
    return Winner(int(candidate), chosen, float(mean[candidate, ridge]), draw)
