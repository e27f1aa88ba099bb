"""Six real data sets, embedded in the package, with their sources and terms.

Four series to forecast, an electrocardiogram with its beats, and utterances to classify.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import numpy as np

from echofold._data.arguments import check_integer, check_one_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Dataset", "ECGDataset", "SequenceDataset", "SeriesDataset", "beat_target", "load_ecg",
    "load_electricity", "load_gasoline", "load_japanese_vowels", "load_labor", "load_sunspots",
]  # fmt: skip

_ZERO, _GAIN = 1024, 200  # of the recorder of the ECG: its reading at 0 mV, readings for each mV


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dataset(ABC):
    """A data set with its description, source and terms of use.

    Attributes
    ----------
    name : str
        Short name, the one in the loader's name.
    description : str
        What was measured, when, and how many values there are.
    units : str
        Units of the values.
    source : str
        Who measured and published the data.
    terms : str
        Under which terms the data may be passed on.
    """

    name: str
    description: str
    units: str
    source: str
    terms: str

    @abstractmethod
    def _shape(self) -> str:
        """Size of the data in words, for the representation."""

    def __repr__(self) -> str:
        return f"<{self.name}: {self._shape()}, {self.units}; {self.source}>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SeriesDataset(Dataset):
    """One evenly sampled series.

    Attributes
    ----------
    data : pandas.Series
        Values as 64-bit floats, indexed by time.
    season : int
        Length of the longest cycle worth modelling, in samples.
    """

    data: pd.Series[float]
    season: int

    @property
    def frequency(self) -> str:
        """Spacing of the samples as a pandas frequency string."""
        return self.data.index.freqstr

    def _shape(self) -> str:
        return f"{self.data.shape}"


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
        What each annotation marks: "N" a normal beat, "A" an atrial premature beat, "V" a
        premature ventricular contraction, "+" the start of a rhythm, which is not a beat.
    """

    signal: np.ndarray
    channels: tuple[str, ...]
    sampling_rate: int
    beats: np.ndarray
    symbols: np.ndarray

    def _shape(self) -> str:
        return f"{self.signal.shape} at {self.sampling_rate} Hz, {len(self.beats)} annotations"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SequenceDataset(Dataset):
    """Sequences of different lengths with one label each, already split in two.

    Attributes
    ----------
    train, test : list of ndarray of shape (time, channels)
        The sequences.
    train_labels, test_labels : ndarray of str
        Class of each sequence.
    """

    train: list[np.ndarray]
    train_labels: np.ndarray
    test: list[np.ndarray]
    test_labels: np.ndarray

    def _shape(self) -> str:
        return f"{len(self.train)} + {len(self.test)} sequences, {self.train[0].shape[1]} channels"


def load_labor() -> SeriesDataset:
    """Monthly unemployment rate in the United States, 1948 to 1977.

    Returns
    -------
    SeriesDataset
        360 values in percent, indexed by the first day of each month.

    Examples
    --------
    >>> from echofold.datasets import load_labor
    >>> labor = load_labor()
    >>> labor
    <labor: (360,), percent; US Bureau of Labor Statistics, series LNS14000000>
    >>> float(labor.data["1975-05-01"])
    9.0
    """
    return _series("labor")


def load_gasoline() -> SeriesDataset:
    """Weekly supply of finished motor gasoline in the United States, 1991 to 2017.

    Returns
    -------
    SeriesDataset
        1355 values in million barrels a day, indexed by the Friday that ends each week.

    Examples
    --------
    >>> from echofold.datasets import load_gasoline
    >>> gasoline = load_gasoline()
    >>> float(gasoline.data.iloc[0]), gasoline.frequency, gasoline.season
    (6.621, 'W-FRI', 52)
    """
    return _series("gasoline")


def load_sunspots() -> SeriesDataset:
    """Monthly mean sunspot numbers, 1749 to 2013.

    Returns
    -------
    SeriesDataset
        3177 values, indexed by the first day of each month. The season is the solar cycle, about
        11 years.

    Examples
    --------
    >>> from echofold.datasets import load_sunspots
    >>> sunspots = load_sunspots()
    >>> float(sunspots.data.iloc[0]), sunspots.data.index[0].year, sunspots.season
    (58.0, 1749, 132)
    """
    return _series("sunspots")


def load_electricity() -> SeriesDataset:
    """Half-hourly electricity demand in England and Wales, 12 weeks of summer 2000.

    Returns
    -------
    SeriesDataset
        4032 values in megawatts, indexed by the start of each half-hour. The season is the week,
        336 samples; the day, 48 samples, is a cycle too.

    Examples
    --------
    >>> from echofold.datasets import load_electricity
    >>> electricity = load_electricity()
    >>> float(electricity.data.iloc[0]), electricity.frequency, electricity.season
    (22262.0, '30min', 336)
    """
    return _series("electricity")


def _embedded(name: str) -> Traversable:
    return files("echofold.datasets") / "files" / name


def _about(name: str) -> dict[str, Any]:
    """What is known of a data set, as its fields are called."""
    about = json.loads(_embedded("about.json").read_text(encoding="ascii"))
    return {"name": name, **about[name]}


def _series(name: str) -> SeriesDataset:
    """Read the last column of the embedded CSV file and index it by time."""
    import pandas as pd

    # numpy rounds to the nearest double; the default parser of pandas does not promise it.
    with _embedded(f"{name}.csv").open(encoding="ascii") as stream:
        values = np.loadtxt(stream, delimiter=",", skiprows=1, usecols=-1)
    about = _about(name)
    index = pd.date_range(periods=len(values), **about.pop("times"))
    return SeriesDataset(data=pd.Series(values, index=index, name=name), **about)


def _arrays(name: str) -> dict[str, np.ndarray]:
    """All arrays of an embedded .npz file."""
    with _embedded(name).open("rb") as stream, np.load(stream) as archive:
        return dict(archive)


def load_ecg() -> ECGDataset:
    """Half an hour of two-lead electrocardiogram with every beat annotated.

    Returns
    -------
    ECGDataset
        Record 100 of the MIT-BIH Arrhythmia Database: 650000 samples of two leads at 360 Hz, 2274
        annotations, 2239 of them normal beats.

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
    arrays = _arrays("ecg.npz")
    # Differences of neighbouring readings fit in 8 bits; their integer sums are exact.
    readings = np.cumsum(arrays["differences"], axis=1, dtype=np.int64)
    readings += arrays["offsets"][:, np.newaxis]
    return ECGDataset(
        signal=((readings - _ZERO) / _GAIN).T,
        channels=("MLII", "V5"),
        sampling_rate=360,
        beats=arrays["beats"],
        symbols=arrays["symbols"],
        **_about("ecg"),
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
        Samples over which the signal falls from 1 to 0 on both sides of a beat. The paper speaks
        of a neighbourhood of 5 samples.
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
    check_integer("fade", fade, 1, most=samples)
    length = samples if length is None else check_integer("length", length, 1, most=samples)
    beats = ecg.beats[ecg.symbols == symbol]
    if len(beats) == 0:
        check_one_of("symbol", symbol, np.unique(ecg.symbols).tolist())
    target = np.zeros(length)
    # From far to near, so that where beats overlap the larger value is written last.
    for distance in range(fade - 1, -1, -1):
        for positions in (beats - distance, beats + distance):
            inside = positions[(positions >= 0) & (positions < length)]
            target[inside] = 1 - distance / fade
    return target


def load_japanese_vowels() -> SequenceDataset:
    """Utterances of the vowels /ae/ by nine speakers, to be told apart.

    Returns
    -------
    SequenceDataset
        270 sequences to train on, 30 of each speaker, and 370 to test on; 7 to 29 frames of 12 LPC
        cepstrum coefficients; labels "1" to "9".

    Examples
    --------
    >>> from echofold.datasets import load_japanese_vowels
    >>> vowels = load_japanese_vowels()
    >>> vowels
    <japanese_vowels: 270 + 370 sequences, 12 channels, LPC cepstrum coefficients; \
UCI Machine Learning Repository, Japanese Vowels (Kudo, Toyama and Shimbo)>
    >>> vowels.train[0].shape, str(vowels.train_labels[0])
    ((20, 12), '1')
    """
    arrays = _arrays("japanese_vowels.npz")
    # The published values have six decimals: dividing integers rounds as parsing the text does.
    train, test = (
        np.split(arrays[part] / 1e6, np.cumsum(arrays[f"{part}_lengths"])[:-1])
        for part in ("train", "test")
    )
    return SequenceDataset(
        train=train,
        train_labels=arrays["train_labels"],
        test=test,
        test_labels=arrays["test_labels"],
        **_about("japanese_vowels"),
    )
