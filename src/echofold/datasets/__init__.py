"""Six real data sets, embedded in the package, with their sources and terms."""

from echofold.datasets._dataset import Dataset, SeriesDataset
from echofold.datasets._ecg import ECGDataset, beat_target, load_ecg
from echofold.datasets._series import load_electricity, load_gasoline, load_labor, load_sunspots
from echofold.datasets._vowels import SequenceDataset, load_japanese_vowels

__all__ = [
    "Dataset",
    "ECGDataset",
    "SequenceDataset",
    "SeriesDataset",
    "beat_target",
    "load_ecg",
    "load_electricity",
    "load_gasoline",
    "load_japanese_vowels",
    "load_labor",
    "load_sunspots",
]
