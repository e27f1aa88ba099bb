"""Results of a search as tables: a DataFrame, scikit-learn's dict, a summary in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from echofold.metrics._metric import costs_of


def frame(dataset, candidates: list[dict[str, Any]]):
    """A row for every candidate and ridge, best first: mean and spread over draws and splits."""
    name = dataset.attrs["metric"]
    scores = dataset[name].values
    count, ridges = scores.shape[1], scores.shape[3]
    columns: dict[str, Any] = {}
    for parameter in dataset.attrs["hyper_parameters"]:
        given = [c.get(parameter) for c in candidates for _ in range(ridges)]
        absent = any(value is None for value in given)  # which pandas would make a NaN
        columns[parameter] = pd.Series(given, dtype=object) if absent else given
    columns["ridge"] = np.tile(dataset.ridge.values, count)
    for metric, variable in dataset.items():
        if not {"split", "ridge"} <= set(variable.dims):
            continue
        values = variable.values
        with np.errstate(invalid="ignore"):
            columns[metric] = values.mean(axis=(0, 2)).ravel()
            columns[f"{metric}_std"] = values.mean(axis=0).std(axis=1).ravel()
    columns["condition"] = np.repeat(dataset.condition.values.max(axis=0), ridges)
    higher = dataset.attrs.get("better") == "higher"
    unsound = ~np.isfinite(columns[name])
    if "pruned" in dataset:
        bounds = dataset.pruned.values.any(axis=0).ravel()
        columns["upper_bound" if higher else "lower_bound"] = bounds
        unsound |= bounds
    return pd.DataFrame(columns).sort_values(
        name, key=lambda means: means.mask(unsound), ascending=not higher, kind="stable",
        ignore_index=True,
    )  # fmt: skip


def scikit_learn_form(dataset, candidates: list[dict[str, Any]]) -> dict[str, Any]:
    """``cv_results_`` of scikit-learn: one entry for each candidate and ridge, errors negated."""
    scores = -costs_of(dataset).mean(axis=0)  # (candidate, split, ridge)
    ridge = dataset.ridge.values
    params = [{**c, "ridge": float(r)} for c in candidates for r in ridge]
    by_split = np.moveaxis(scores, 1, 2).reshape(len(params), -1)
    with np.errstate(invalid="ignore"):
        mean, std = by_split.mean(axis=1), by_split.std(axis=1)
    worst = np.where(np.isfinite(mean), -mean, np.inf)
    seconds = np.repeat(dataset.seconds.values.mean(axis=0) / len(ridge), len(ridge))
    result: dict[str, Any] = {
        "mean_fit_time": seconds,
        "std_fit_time": np.zeros_like(seconds),
        "mean_score_time": np.zeros_like(seconds),  # fitting and scoring are one pass
        "std_score_time": np.zeros_like(seconds),
        "params": params,
        "mean_test_score": mean,
        "std_test_score": std,
        "rank_test_score": stats.rankdata(worst, method="min").astype(np.int32),
    }
    for name in [*dataset.attrs["hyper_parameters"], "ridge"]:
        values = np.ma.masked_all(len(params), dtype=object)
        for i, one in enumerate(params):
            if name in one:
                values[i] = one[name]
        result[f"param_{name}"] = values
    for split in range(by_split.shape[1]):
        result[f"split{split}_test_score"] = by_split[:, split]
    return result


def summary(search) -> str:
    """What was searched, who won and how honest its error is."""
    results = search._results
    first = next(iter(results.values()))
    name = first.attrs["metric"]
    candidates, ridges = first.sizes["candidate"], first.sizes["ridge"]
    draws = first.sizes["draw"]
    labels = {
        scheme: scheme if isinstance(search.cv, dict) else dataset.attrs["scheme"]
        for scheme, dataset in results.items()
    }
    width = 2 + max(6, *map(len, labels.values()))
    lines = [
        f"{candidates} candidates × {ridges} ridge values × {draws} "
        f"draw{'s' if draws > 1 else ''}, {first.attrs['rows']} rows, "
        f"{first.attrs['seconds']:.1f} s",
        f"{'scheme':<{width}}{'splits':>6}  {'validation ' + name:<18}{'not finite':>11}  winner",
    ]
    for scheme, dataset in results.items():
        winner = search._winner(scheme)
        score = search._winners.score(winner)
        bad = int((~np.isfinite(dataset[name].values)).sum())
        params = dict(search.candidates_[winner.candidate])
        params["ridge"] = float(dataset.ridge.values[winner.ridge].mean())
        text = ", ".join(f"{k}={_literal(v)}" for k, v in params.items())
        lines.append(
            f"{labels[scheme]:<{width}}{dataset.sizes['split']:>6}  {score:<18.4f}{bad:>11}  {text}"
        )
        if not np.isfinite(score):
            lines.append(
                "  every candidate diverges on some split; the winner does so least often, in "
                f"{winner.diverged} runs"
            )
    if search.ridge_per == "output":
        lines.append(
            f"scores are with one ridge for all outputs; each has its own: {search.best_score_:.4f}"
        )
    if search.evaluation_ is not None:
        evaluation = search.evaluation_
        lines.append(
            f"honest {name} of the whole search, on {evaluation.sizes['origin']} stretches it had "
            f"not seen: {float(evaluation[name].mean()):.4f} (the winner's validation: "
            f"{search.best_score_:.4f})"
        )
    else:
        lines.append(
            "the winner's score is flattered by having been chosen; evaluate(search, ...) gives an "
            "honest one"
        )
    return "\n".join(lines)


def _literal(value: Any) -> str:
    """A value as it would be typed."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
