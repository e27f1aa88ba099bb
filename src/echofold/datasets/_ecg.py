"""The electrocardiogram with annotated beats, and the target made from them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

import numpy as np

from echofold.datasets._dataset import Dataset, read_arrays

# Of the recorder: the reading at 0 mV, and readings for each mV.
_ZERO, _GAIN = 1024, 200


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ECGDataset(Dataset):
    """An electrocardiogram with the annotations of its beats.

    Attributes
    ----------
    signal : ndarray of shape (samples, channels)
        Voltages in mV.
    channels : tuple of str
        Names of the leads.
    sampling_rate : int
        Samples a second.
    beats : ndarray of shape (annotations,)
        Sample number of each annotation, counted from 0, ascending.
    symbols : ndarray of shape (annotations,)
        What each annotation marks: "N" a normal beat, "A" an atrial premature beat,
        "V" a premature ventricular contraction, "+" the start of a rhythm, which is
        not a beat.
    """

    signal: np.ndarray
    channels: tuple[str, ...]
    sampling_rate: int
    beats: np.ndarray
    symbols: np.ndarray

    def _shape(self) -> str:
        return f"{self.signal.shape} at {self.sampling_rate} Hz, {len(self.beats)} annotations"


def load_ecg() -> ECGDataset:
    """Half an hour of two-lead electrocardiogram with every beat annotated.

    Returns
    -------
    ECGDataset
        Record 100 of the MIT-BIH Arrhythmia Database: 650000 samples of two leads at
        360 Hz, 2274 annotations, 2239 of them normal beats.

    Examples
    --------
    >>> from echofold.datasets import load_ecg
    >>> ecg = load_ecg()
    >>> ecg
    <ecg: (650000, 2) at 360 Hz, 2274 annotations, mV; PhysioNet, MIT-BIH Arrhythmia Database, \
record 100 (Moody and Mark)>
    >>> int((ecg.symbols == "N").sum())
    2239
    """
    arrays = read_arrays("ecg.npz")
    # Differences of neighbouring readings fit in 8 bits; their integer sums are exact.
    readings = np.cumsum(arrays["differences"], axis=1, dtype=np.int64)
    readings += arrays["offsets"][:, np.newaxis]
    return ECGDataset(
        name="ecg",
        signal=((readings - _ZERO) / _GAIN).T,
        channels=("MLII", "V5"),
        sampling_rate=360,
        beats=arrays["beats"],
        symbols=arrays["symbols"],
        units="mV",
        description="Ambulatory electrocardiogram, two leads, 360 Hz, 30 minutes, 650000 samples, "
        "with 2274 annotations, 2239 of them normal beats.",
        source="PhysioNet, MIT-BIH Arrhythmia Database, record 100 (Moody and Mark)",
        terms="Open Data Commons Attribution License (ODC-By) 1.0.",
    )


def beat_target(
    ecg: ECGDataset, symbol: str = "N", fade: int = 10, length: int | None = None
) -> np.ndarray:
    """Signal that peaks at every beat of one kind.

    Parameters
    ----------
    ecg : ECGDataset
        Record with annotations.
    symbol : str
        Which annotations to mark.
    fade : int
        Samples over which the signal falls from 1 to 0 on both sides of a beat.
        The paper speaks of a neighbourhood of 5 samples.
    length : int, optional
        How many samples from the beginning to return; all of them by default.

    Returns
    -------
    ndarray of shape (length,)
        ``max(0, 1 - |t - beat| / fade)``, the largest over all beats.

    Examples
    --------
    >>> from echofold.datasets import beat_target, load_ecg
    >>> ecg = load_ecg()
    >>> target = beat_target(ecg, fade=4)
    >>> first = ecg.beats[ecg.symbols == "N"][0]
    >>> target[first - 4 : first + 5].tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    samples = len(ecg.signal)
    fade = _integer("fade", fade, low=1, high=samples)
    length = samples if length is None else _integer("length", length, low=1, high=samples)
    beats = ecg.beats[ecg.symbols == symbol]
    if len(beats) == 0:
        known = ", ".join(repr(str(s)) for s in np.unique(ecg.symbols))
        raise ValueError(
            f"symbol is {symbol!r}, which no annotation of this record has; use one of {known}."
        )
    target = np.zeros(length)
    # From far to near, so that where beats overlap the larger value is written last.
    for distance in range(fade - 1, -1, -1):
        for positions in (beats - distance, beats + distance):
            inside = positions[(positions >= 0) & (positions < length)]
            target[inside] = 1 - distance / fade
    return target


def _integer(name: str, value: int, *, low: int, high: int) -> int:
    """The argument as an int between the bounds, or an error that names it."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(
            f"{name} is {value!r} of type {type(value).__name__}; pass an integer."
        ) from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; pass an integer from {low} to {high}.")
    return number
