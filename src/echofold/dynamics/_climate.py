"""The long run of a series beside another's: how often values occur, and which waves they make."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.arguments import check_integer, check_number
from echofold._data.tables import Table, read

FLOOR = 1e-6  # of the highest peak: waves below are numerical noise, or leakage of the window
LEAST, MOST = 16, 1024  # rows of a stretch that spectra are averages of, by default
LEAST_ROWS = 4 * LEAST


@dataclass(frozen=True)
class ClimateComparison:
    """The long-run behaviour of two series, and how far apart it is.

    Distances are 0 for the same behaviour. Those of the two halves of the truth, beside them, tell
    what is reached by chance.

    Attributes
    ----------
    frequencies : ndarray of shape (frequencies,)
        In cycles for each unit of time, without 0.
    spectra : ndarray of shape (2, frequencies, outputs)
        Power density of the truth, then of the forecast.
    edges : ndarray of shape (bins + 1, outputs)
        Ends of the bins, which both histograms share.
    histograms : ndarray of shape (2, bins, outputs)
        Share of the values in each bin: of the truth, then of the forecast.
    spectrum_distance, spectrum_baseline : ndarray of shape (outputs,)
        Root of the mean squared difference of spectra in decibels, over frequencies that have any
        power; of forecast and truth, and of two halves of the truth.
    histogram_distance, histogram_baseline : ndarray of shape (outputs,)
        How far values must be moved, on average, to turn one distribution into the other, in
        standard deviations of the truth (Wasserstein distance); of the same pairs.
    names : tuple or None
        Of the outputs, if the truth has any.
    """

    frequencies: np.ndarray
    spectra: np.ndarray
    edges: np.ndarray
    histograms: np.ndarray
    spectrum_distance: np.ndarray
    spectrum_baseline: np.ndarray
    histogram_distance: np.ndarray
    histogram_baseline: np.ndarray
    names: tuple | None = None

    def to_frame(self) -> pd.DataFrame:
        """The distances as a pandas frame with a row for each output."""
        columns = (
            "spectrum_distance", "spectrum_baseline", "histogram_distance", "histogram_baseline",
        )  # fmt: skip
        parts = {name: getattr(self, name) for name in columns}
        return pd.DataFrame(parts, index=None if self.names is None else list(self.names))


def climate(
    truth: Any, forecast: Any, *, step: float = 1.0, bins: int = 50, segment: int | None = None
) -> ClimateComparison:
    """Compare the long-run behaviour of a forecast with that of the true series.

    Values of a chaotic series cannot be forecast for long. Whether a network that runs on its own
    output still behaves as the series does is seen in its power spectrum and in how often each
    value occurs.

    Parameters
    ----------
    truth : array, series or frame of shape (T,) or (T, outputs)
        Values of the system, at least 64. They need not be of the times of the forecast.
    forecast : array, series or frame of shape (F,) or (F, outputs)
        Values that a network generated, for as long as possible.
    step : float, default=1.0
        Time between two rows.
    bins : int, default=50
        Bins of the histograms, over the range of both series.
    segment : int, optional
        Rows of the stretches that spectra are averages of: more resolve finer frequencies and
        average over fewer. By default a power of 2 of 16 to 1024, about an eighth of the shorter
        one of the forecast and half of the truth.

    Returns
    -------
    ClimateComparison

    Notes
    -----
    Spectra are by Welch's (1967) method, with Hann windows that overlap by half. They are compared
    at frequencies where one of them is above a millionth of the highest peak of the truth, which is
    added to both.

    Examples
    --------
    >>> from echofold import dynamics, systems
    >>> truth, other = systems.henon(4000), systems.henon(4000, random_state=1)
    >>> same = dynamics.climate(truth, other)
    >>> bool((same.histogram_distance < 2 * same.histogram_baseline).all())
    True
    >>> dynamics.climate(truth, truth + 1.0).histogram_distance.round(2)
    array([1.38, 4.6 ])
    """
    from scipy.signal import welch

    check_number("step", step, "a positive number", above=0)
    check_integer("bins", bins, 2)
    known, made = read(truth, "truth"), read(forecast, "forecast")
    _check_series(known, made)
    a, b = known.values, made.values
    halves = a[: len(a) // 2], a[len(a) // 2 :]
    length = _segment(segment, min(map(len, (a, b, *halves))))
    spectra = [welch(part, fs=1 / step, nperseg=length, axis=0) for part in (a, b, *halves)]
    # Stretches are centred, so nothing is left at frequency 0.
    powers = [power[1:] for _, power in spectra]
    floor = FLOOR * powers[0].max(axis=0)
    counted = [power > floor for power in powers[:2]]
    edges = np.linspace(np.minimum(a.min(0), b.min(0)), np.maximum(a.max(0), b.max(0)), bins + 1)
    return ClimateComparison(
        spectra[0][0][1:],
        np.stack(powers[:2]),
        edges,
        np.stack([_histogram(part, edges) for part in (a, b)]),
        _decibels_apart(powers[0], powers[1], floor, counted[0] | counted[1]),
        _decibels_apart(powers[2], powers[3], floor, counted[0]),
        _moved(a, b) / a.std(axis=0),
        _moved(*halves) / a.std(axis=0),
        known.schema.names,
    )


def _check_series(truth: Table, forecast: Table) -> None:
    """Raise unless two series can be compared."""
    truth.schema.check(forecast.schema, "forecast", "of truth")
    for table, name in ((truth, "truth"), (forecast, "forecast")):
        if len(table.values) < LEAST_ROWS:
            raise ValueError(
                f"{name} has {len(table.values)} rows, expected at least {LEAST_ROWS}: spectra are "
                "averages over stretches. Give a longer series."
            )
    constant = np.flatnonzero(np.ptp(truth.values, axis=0) == 0)
    if constant.size:
        raise ValueError(
            f"truth is constant in column {constant[0]}, so there is nothing to compare with. "
            "Leave that column out of both series."
        )


def _segment(given: int | None, rows: int) -> int:
    """Rows of a stretch, for series of at least ``rows``."""
    if given is None:
        return int(np.clip(2 ** int(np.log2(rows / 8)), LEAST, MOST))
    allowed = (
        f"an integer of 2 to {rows}, the rows of the shorter one of the forecast and half of the "
        "truth, or None"
    )
    check_number("segment", given, allowed, least=2, most=rows, kind=Integral)
    return int(given)


def _decibels_apart(a: np.ndarray, b: np.ndarray, floor: np.ndarray, counted: np.ndarray):
    """Distances ``(outputs,)`` of spectra ``(frequencies, outputs)`` where they are ``counted``."""
    apart = 10 * np.log10((a + floor) / (b + floor))
    return np.sqrt(np.mean(apart**2, axis=0, where=counted))


def _histogram(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Shares ``(bins, outputs)`` of the values in each bin."""
    counts = [np.histogram(*pair)[0] for pair in zip(values.T, edges.T, strict=True)]
    return np.stack(counts, axis=1) / len(values)


def _moved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Wasserstein distances ``(outputs,)`` between columns of ``a`` and ``b``."""
    from scipy.stats import wasserstein_distance

    return np.array([wasserstein_distance(*pair) for pair in zip(a.T, b.T, strict=True)])
