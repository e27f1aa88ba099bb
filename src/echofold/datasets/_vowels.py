"""The utterances to classify."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from echofold.datasets._dataset import Dataset, read_arrays


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


def load_japanese_vowels() -> SequenceDataset:
    """Utterances of the vowels /ae/ by nine speakers, to be told apart.

    Returns
    -------
    SequenceDataset
        270 sequences to train on, 30 of each speaker, and 370 to test on; 7 to 29
        frames of 12 LPC cepstrum coefficients; labels "1" to "9".

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
    arrays = read_arrays("japanese_vowels.npz")
    return SequenceDataset(
        name="japanese_vowels",
        train=_sequences(arrays["train"], arrays["train_lengths"]),
        train_labels=arrays["train_labels"],
        test=_sequences(arrays["test"], arrays["test_lengths"]),
        test_labels=arrays["test_labels"],
        units="LPC cepstrum coefficients",
        description="Utterances of the Japanese vowels /ae/ by nine male speakers, 7 to 29 frames "
        "of 12 LPC cepstrum coefficients, 270 to train on and 370 to test on; tell the speaker.",
        source="UCI Machine Learning Repository, Japanese Vowels (Kudo, Toyama and Shimbo)",
        terms="Creative Commons Attribution 4.0 International (CC BY 4.0).",
    )


def _sequences(millionths: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """Cut the stacked frames into sequences of floats."""
    # The published values have six decimals: dividing integers rounds as parsing the text does.
    return np.split(millionths / 1e6, np.cumsum(lengths)[:-1])
