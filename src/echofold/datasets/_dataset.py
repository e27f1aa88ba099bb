"""What every data set carries, and how the embedded files are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


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

    data: pd.Series
    season: int

    @property
    def frequency(self) -> str:
        """Spacing of the samples as a pandas frequency string."""
        return self.data.index.freqstr

    def _shape(self) -> str:
        return f"{self.data.shape}"


def embedded(name: str) -> Traversable:
    """Handle of an embedded file."""
    return files("echofold.datasets") / "files" / name


def read_arrays(name: str) -> dict[str, np.ndarray]:
    """All arrays of an embedded .npz file."""
    with embedded(name).open("rb") as stream, np.load(stream) as archive:
        return dict(archive)
