"""What a validation knows of a metric: what it is computed from, how, and which way is better."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from echofold.metrics._errors import TINY, accuracy, error_rate, log_mse, mae, mse, nrmse, r2, rmse
from echofold.metrics._horizon import Horizon, Spread
from echofold.metrics._relative import Scaled, mape, mase, smape

# Sums that only grow in the course of a run
GROWING = ("squared", "absolute", "relative", "symmetric", "lost")
TOGETHER = ("predictions", "lost")  # in an open loop, of all rows of a split together


@dataclass(frozen=True)
class Metric:
    """A metric, what it is computed from, and how.

    ``needs`` is a sum of errors over the validation rows, "squared", "absolute", "relative" (to the
    true values), "symmetric" (to true and computed ones) or "labels" (wrong ones), or the steps
    "lost" of a `Horizon`; or "predictions". A sum is divided by what ``per`` says, "row", "value"
    (of every output), "variation" (of the targets) or "change" (of the series, for every value);
    ``then`` comes a "root", a "log10", the "rest" to one, or nothing. ``words`` tell users of it.
    Scores are as users read them; what is minimised is their ``cost``.
    """

    name: str
    needs: str
    function: Callable[..., float]
    per: str = field(default="value", compare=False)
    then: str = field(default="", compare=False)
    words: str = field(default="", compare=False)
    higher: bool = False

    def finish(self, total: Any, rows: Any, outputs: int, denominator: Any) -> np.ndarray:
        """Turn sums of errors into scores; arrays broadcast, an infinite sum scores infinity.

        ``total`` is the sum of squared or absolute errors, the number of wrong labels or of lost
        steps, ``rows`` the number of validation rows, ``denominator`` what `denominators` returns
        for a metric per "variation", or the mean change of the series.
        """
        if self.needs == "predictions":
            raise TypeError(
                f"metric {self.name!r} has no sums to finish; call function(y_true, y_pred)."
            )
        if isinstance(self.function, Horizon):
            return (np.asarray(rows) - np.asarray(total)) * self.function.step
        if self.per == "variation":
            divisor = np.asarray(denominator)
        else:
            divisor = np.asarray(rows) * (1 if self.per == "row" else outputs)
            divisor = divisor * denominator if self.per == "change" else divisor
        # The sum of a diverged run may be finite and still overflow here.
        with np.errstate(over="ignore"):
            mean = np.asarray(total) / divisor
        if self.then == "log10":
            return np.log10(np.maximum(mean, TINY))
        if self.then == "rest":
            return 1.0 - mean
        return np.sqrt(mean) if self.then == "root" else mean

    def measure(self, y_true: Any, y_pred: Any, spread: Spread) -> float:
        """The score of predictions; ``spread`` is that of all the data."""
        options: dict[str, Any] = {}
        if self.per == "variation":
            if not spread.total:
                raise ValueError(
                    f"the values never change, so metric={self.name!r} has nothing to divide by; "
                    "use metric='rmse'."
                )
            options["scale"] = spread.total
        elif isinstance(self.function, Horizon):
            options["scale"] = spread
        elif isinstance(self.function, Scaled):
            options["scale"] = self.function.scale([] if spread.rows is None else [spread.rows])
        return float(self.function(y_true, y_pred, **options))

    @property
    def worst(self) -> float:
        """The score of a run that cannot be scored."""
        return -np.inf if self.higher else np.inf

    def cost(self, scores: Any) -> Any:
        """What is minimised to find the best scores, and by which they can be compared."""
        return -scores if self.higher else scores

    def times(self, cost: float, factor: float) -> float:
        """The cost of errors that are ``factor`` times those of another cost."""
        if self.then == "log10":
            return cost + 2 * float(np.log10(factor))
        if self.then == "rest":
            return (cost + 1) * factor**2 - 1
        return cost * factor if cost >= 0 else cost / factor


R2 = "share of the variation explained; higher is better"
_METRICS = {
    metric.name: metric
    for metric in (
        Metric("nrmse", "squared", nrmse, "variation", "root", "RMSE relative to the spread"),
        Metric("rmse", "squared", rmse, then="root", words="root mean squared error"),
        Metric("mse", "squared", mse, words="mean squared error"),
        Metric("log_mse", "squared", log_mse, then="log10", words="log10 of the squared error"),
        Metric("mae", "absolute", mae, words="mean absolute error"),
        Metric("mase", "absolute", Scaled(), "change", words="MAE relative to a naive forecast's"),
        Metric("mape", "relative", mape, words="absolute error relative to the true value"),
        Metric("smape", "symmetric", smape, words="the same, to the mean of true and forecast"),
        Metric("r2", "squared", r2, "variation", "rest", R2, higher=True),
        Metric("error_rate", "labels", error_rate, "row", words="share of wrong labels"),
        Metric("accuracy", "labels", accuracy, "row", "rest", "share of right labels", higher=True),
    )
}
OF_VALUES = [metric.name for metric in _METRICS.values() if metric.needs != "labels"]
OF_GROWING_SUMS = "; or ".join(
    [
        ", ".join(metric.name for metric in _METRICS.values() if metric.needs == sum_)
        for sum_ in GROWING[:-1]
    ]
    + ["metrics.horizon(...)"]
)
OF_ERRORS = [name for name in OF_VALUES if not _METRICS[name].higher]
RELATIVE = [name for name in OF_ERRORS if _METRICS[name].per == "variation"]
WITHOUT_UNIT = [
    metric.name
    for metric in _METRICS.values()
    if metric.per != "value" or metric.needs in ("relative", "symmetric") or metric.then == "log10"
]


def resolve(metric: Any) -> Metric:
    """Return the `Metric` of a name or of a callable ``(y_true, y_pred)``.

    A callable with a true attribute ``higher_is_better`` is maximised, and so are scikit-learn's
    functions that are called scores.
    """
    if isinstance(metric, Horizon):
        return Metric("horizon", "lost", metric, words="time until a threshold", higher=True)
    if metric is mase:
        metric = Scaled()
    if isinstance(metric, Scaled):
        return replace(_METRICS["mase"], function=metric)
    names = f"{', '.join(_METRICS)}, metrics.horizon(...), metrics.mase(...)"
    if callable(metric):
        # The library's own functions keep the fast way of computing them.
        for known in _METRICS.values():
            if metric is known.function:
                return known
        if (
            getattr(metric, "__name__", None) == "horizon"
            and metric.__module__ == Horizon.__module__
        ):
            raise TypeError(
                "metric=horizon needs a threshold: metric=metrics.horizon(0.2), say, for errors "
                "above a fifth of the standard deviation."
            )
        name = getattr(metric, "__name__", type(metric).__name__)
        scored = str(getattr(metric, "__module__", "")).startswith("sklearn.metrics")
        higher = bool(getattr(metric, "higher_is_better", scored and name.endswith("_score")))
        return Metric(name, "predictions", metric, higher=higher)
    if not isinstance(metric, str):
        raise TypeError(
            f"metric={metric!r}: expected one of {names}, or a callable (y_true, y_pred)."
        )
    if metric == "horizon":
        raise ValueError(
            "metric='horizon' needs a threshold: metric=metrics.horizon(0.2), say, for errors "
            "above a fifth of the standard deviation."
        )
    if metric not in _METRICS:
        near = difflib.get_close_matches(metric.lower(), _METRICS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(
            f"metric={metric!r} is unknown{hint} "
            f"Expected one of {names}, or a callable (y_true, y_pred)."
        )
    return _METRICS[metric]


def costs_of(dataset: Any) -> np.ndarray:
    """What is minimised, of the scores that a Dataset of results was selected by."""
    scores = dataset[dataset.attrs["metric"]].values
    return -scores if dataset.attrs.get("better") == "higher" else scores
