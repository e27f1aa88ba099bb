"""Write the data files that are embedded in ``echofold.datasets`` from their originals.

Usage::

    python tools/embed_datasets.py SOURCE [DESTINATION]

``SOURCE`` is a folder with ``labor.csv``, ``gasoline.csv``, ``sunspots.csv``, ``electricity.csv``,
``JapaneseVowels_TRAIN.ts``, ``JapaneseVowels_TEST.ts`` and, in a folder ``mitdb``, the files
``100.dat``, ``100.hea`` and ``100.atr`` of the MIT-BIH Arrhythmia Database. ``DESTINATION`` is
``src/echofold/datasets/files`` of this repository unless given. Needs the ``wfdb`` package, which
the library itself does not.

- The four CSV files are copied as they are.
- ``ecg.npz``: ``offsets`` (2,) int16, the first reading of each channel; ``differences``
  (2, 650000) int8, each reading minus the one before it, the first one 0; ``beats`` int32, sample
  numbers from 0; ``symbols``, one character each.
- ``japanese_vowels.npz``: for ``train`` and ``test``, the utterances one after the other as int32
  millionths (frames, 12), ``*_lengths`` in frames, ``*_labels``.

Everything is compared with the originals, bit by bit, before it is written. Running it twice
writes the same bytes.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
import wfdb

SERIES = ("labor", "gasoline", "sunspots", "electricity")
FILES = Path(__file__).resolve().parents[1] / "src" / "echofold" / "datasets" / "files"


def ecg_arrays(record: Path) -> dict[str, np.ndarray]:
    """Readings of both channels as differences, and the annotations."""
    readings = wfdb.rdrecord(str(record), physical=False).d_signal.T
    annotations = wfdb.rdann(str(record), "atr")
    arrays = {
        "offsets": readings[:, 0].astype(np.int16),
        "differences": np.diff(readings, axis=1, prepend=readings[:, :1]).astype(np.int8),
        "beats": annotations.sample.astype(np.int32),
        "symbols": np.array(annotations.symbol),
    }
    restored = arrays["offsets"][:, np.newaxis] + np.cumsum(
        arrays["differences"], axis=1, dtype=np.int64
    )
    voltages = wfdb.rdrecord(str(record)).p_signal
    if not np.array_equal(restored, readings) or not np.array_equal(
        (restored.T - 1024) / 200, voltages
    ):
        raise ValueError(f"{record} does not survive storage as 8-bit differences.")
    return arrays


def vowel_arrays(path: Path, part: str) -> dict[str, np.ndarray]:
    """Frames, lengths and labels of one .ts file."""
    frames, labels = [], []
    for line in path.read_text().splitlines():
        if line.strip() and line[0] not in "#@":
            *channels, label = line.strip().split(":")
            frames.append(np.array([c.split(",") for c in channels], dtype=float).T)
            labels.append(label)
    values = np.concatenate(frames)
    millionths = np.rint(values * 1e6).astype(np.int32)
    if (millionths / 1e6).tobytes() != values.tobytes():
        raise ValueError(f"{path} has values that are not whole millionths.")
    return {
        part: millionths,
        f"{part}_lengths": np.array([len(f) for f in frames], dtype=np.int32),
        f"{part}_labels": np.array(labels),
    }


def embed(source: Path, destination: Path) -> None:
    """Write every embedded file."""
    destination.mkdir(parents=True, exist_ok=True)
    for name in SERIES:
        shutil.copyfile(source / f"{name}.csv", destination / f"{name}.csv")
    ecg = ecg_arrays(source / "mitdb" / "100")
    np.savez_compressed(destination / "ecg.npz", **ecg)
    np.savez_compressed(
        destination / "japanese_vowels.npz",
        **vowel_arrays(source / "JapaneseVowels_TRAIN.ts", "train"),
        **vowel_arrays(source / "JapaneseVowels_TEST.ts", "test"),
    )
    for path in sorted(destination.iterdir()):
        print(f"{path.stat().st_size:>9,}  {path.name}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Write the embedded data files.")
    parser.add_argument("source", type=Path, help="folder with the originals")
    parser.add_argument("destination", type=Path, nargs="?", default=FILES)
    arguments = parser.parse_args()
    embed(arguments.source, arguments.destination)


if __name__ == "__main__":
    main()
