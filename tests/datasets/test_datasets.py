"""The embedded data sets hold the original values, bit by bit, on the right time axis."""

import dataclasses
import hashlib
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from echofold import datasets

LOADERS = {
    "labor": datasets.load_labor,
    "gasoline": datasets.load_gasoline,
    "sunspots": datasets.load_sunspots,
    "electricity": datasets.load_electricity,
    "ecg": datasets.load_ecg,
    "japanese_vowels": datasets.load_japanese_vowels,
}
FILES = files("echofold.datasets") / "files"


@pytest.fixture(scope="module")
def ecg():
    return datasets.load_ecg()


@pytest.fixture(scope="module")
def vowels():
    return datasets.load_japanese_vowels()


def digest(array, dtype="<f8"):
    """First 16 digits of the SHA-256 of the array's bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(array, dtype=dtype).tobytes()).hexdigest()[:16]


def decimal_years(name):
    """The time column of an embedded CSV file."""
    return np.loadtxt((FILES / f"{name}.csv").open(), delimiter=",", skiprows=1, usecols=0)


# The digests were computed from the original files with float(), apart from the package.
@pytest.mark.parametrize(
    ("name", "n", "ends", "total", "extremes", "bits"),
    [
        ("labor", 360, (3.4, 3.8, 6.8, 6.4), 1835.6, (2.5, 9.0), "94ef677297b11ea8"),
        (
            "gasoline",
            1355,
            (6.621, 6.433, 8.069, 8.039),
            11589.727,
            (6.321, 9.815),
            "f3942d73e67550cb",
        ),
        ("sunspots", 3177, (58.0, 62.6, 66.0, 37.0), 165092.2, (0.0, 253.8), "3f45b53c283f7706"),
        (
            "electricity",
            4032,
            (22262, 21756, 24610, 23132),
            119416293,
            (18640, 38777),
            "bf5e0b0766e3717c",
        ),
    ],
)
def test_series_values_are_the_originals(name, n, ends, total, extremes, bits):
    values = LOADERS[name]().data.to_numpy()
    assert values.shape == (n,)
    assert values.dtype == np.float64
    assert tuple(values[[0, 1, -2, -1]]) == ends
    assert values.sum() == pytest.approx(total, rel=1e-14)
    assert (values.min(), values.max()) == extremes
    assert digest(values) == bits


@pytest.mark.parametrize(
    ("name", "first", "last", "frequency", "season"),
    [
        ("labor", "1948-01-01", "1977-12-01", "MS", 12),
        ("gasoline", "1991-02-08", "2017-01-20", "W-FRI", 52),
        ("sunspots", "1749-01-01", "2013-09-01", "MS", 132),
        ("electricity", "2000-06-05 00:00", "2000-08-27 23:30", "30min", 336),
    ],
)
def test_series_time_axis(name, first, last, frequency, season):
    dataset = LOADERS[name]()
    index = dataset.data.index
    assert isinstance(index, pd.DatetimeIndex)
    assert index[0] == pd.Timestamp(first)
    assert index[-1] == pd.Timestamp(last)
    assert dataset.frequency == index.freqstr == frequency
    assert dataset.season == season
    assert dataset.data.name == name


def test_labor_months_agree_with_the_file():
    months = pd.read_csv((FILES / "labor.csv").open())["month"]
    assert list(datasets.load_labor().data.index.strftime("%Y-%m")) == list(months)


def test_sunspot_months_agree_with_the_decimal_years():
    index = datasets.load_sunspots().data.index
    np.testing.assert_allclose(
        index.year + (index.month - 1) / 12, decimal_years("sunspots"), rtol=0, atol=1e-9
    )


def test_gasoline_weeks_agree_with_the_decimal_years():
    index = datasets.load_gasoline().data.index
    assert set(index.day_of_week) == {4}
    new_year = index.to_period("Y").start_time
    days_in_year = np.where(index.is_leap_year, 366, 365)
    years = index.year + ((index - new_year) / pd.Timedelta(days=1)) / days_in_year
    # The decimal years start at 1991.1, rounded down from the first Friday by 1.5 days.
    lag = (np.asarray(years) - decimal_years("gasoline")) * 365.25
    assert lag.min() > 0.9
    assert lag.max() < 1.8


def test_electricity_weekends_are_low():
    data = datasets.load_electricity().data
    daily = data.groupby(data.index.day_of_week).mean()
    assert daily.loc[5:].max() < daily.loc[:4].min()


def test_ecg_is_the_original(ecg):
    assert ecg.signal.shape == (650_000, 2)
    assert ecg.signal.dtype == np.float64
    assert ecg.signal[0].tolist() == [-0.145, -0.065]
    assert ecg.signal[77].tolist() == [0.84, 0.21]
    assert ecg.signal[-1].tolist() == [-1.28, 0.0]
    assert np.rint(ecg.signal * 200 + 1024).sum(axis=0).tolist() == [625781133, 640765524]
    assert digest(ecg.signal) == "3feae7ced04da540"
    assert ecg.sampling_rate == 360
    assert ecg.channels == ("MLII", "V5")


def test_ecg_annotations_are_the_originals(ecg):
    assert len(ecg.beats) == len(ecg.symbols) == 2274
    assert ecg.beats[[0, 1, 2, -1]].tolist() == [18, 77, 370, 649991]
    assert (np.diff(ecg.beats) > 0).all()
    assert int(ecg.beats.sum()) == 738342143
    assert digest(ecg.beats, "<i4") == "fdc580759aaa1750"
    kinds, counts = np.unique(ecg.symbols, return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "+": 1,
        "A": 33,
        "N": 2239,
        "V": 1,
    }
    assert ecg.beats[ecg.symbols == "V"].tolist() == [546792]


def test_annotations_count_samples_from_zero(ecg):
    normal = ecg.beats[ecg.symbols == "N"]
    window = ecg.signal[normal[1:-1, np.newaxis] + np.arange(-3, 4), 0]
    peak = window.mean(axis=0).argmax() - 3
    assert peak == 0


def test_beat_target_of_the_record(ecg):
    target = datasets.beat_target(ecg)
    normal = ecg.beats[ecg.symbols == "N"]
    assert target.shape == (650_000,)
    assert target.min() == 0.0
    assert target.max() == 1.0
    np.testing.assert_array_equal(np.flatnonzero(target == 1.0), normal)
    assert len(normal) == 2239
    # One triangle has area `fade`; the last beat is 8 samples before the end.
    assert target.sum() == pytest.approx(2239 * 10 - 0.1, abs=1e-8)


@pytest.mark.parametrize("fade", [1, 2, 5, 10, 25])
def test_beat_target_is_the_formula_where_beats_overlap_and_touch_the_ends(ecg, fade):
    beats = np.array([2, 9, 14, 15, 40, 58])
    symbols = np.array(["N", "N", "V", "N", "N", "N"])
    small = dataclasses.replace(ecg, signal=np.zeros((60, 2)), beats=beats, symbols=symbols)
    distance = np.abs(np.arange(60)[:, np.newaxis] - beats[symbols == "N"])
    expected = np.maximum(0, 1 - distance / fade).max(axis=1)
    np.testing.assert_allclose(datasets.beat_target(small, fade=fade), expected, atol=1e-15)


def test_beat_target_length_cuts_the_full_target(ecg):
    length = 366  # the beat at 370 lies outside and fades into the cut
    short = datasets.beat_target(ecg, length=length)
    assert short[-1] == pytest.approx(0.5)
    np.testing.assert_array_equal(short, datasets.beat_target(ecg)[:length])


def test_beat_target_of_another_symbol(ecg):
    target = datasets.beat_target(ecg, "V", fade=3)
    assert np.flatnonzero(target).tolist() == [546790, 546791, 546792, 546793, 546794]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"symbol": "Q"}, ValueError, r"symbol='Q' is unknown.*'\+', 'A', 'N', 'V'"),
        ({"fade": 0}, ValueError, "fade=0 is not allowed: it must be an integer of 1"),
        ({"fade": 2.5}, ValueError, "fade=2.5 is not allowed"),
        ({"length": 0}, ValueError, "length=0"),
        ({"length": 650_001}, ValueError, "length=650001 is .* of 1 to 650000"),
        ({"length": "all"}, ValueError, "length='all' is not allowed"),
    ],
)
def test_beat_target_rejects(ecg, arguments, error, message):
    with pytest.raises(error, match=message):
        datasets.beat_target(ecg, **arguments)


@pytest.mark.parametrize(
    ("part", "n", "frames", "longest", "bits", "first", "last", "counts"),
    [
        (
            "train",
            270,
            4274,
            26,
            "d59459acf8706ea6",
            1.860936,
            0.173642,
            [30] * 9,
        ),
        (
            "test",
            370,
            5687,
            29,
            "6487381885c02801",
            1.635533,
            0.224688,
            [31, 35, 88, 44, 29, 24, 40, 50, 29],
        ),
    ],
)
def test_vowels_are_the_originals(vowels, part, n, frames, longest, bits, first, last, counts):
    sequences, labels = getattr(vowels, part), getattr(vowels, f"{part}_labels")
    lengths = [len(s) for s in sequences]
    assert len(sequences) == len(labels) == n
    assert {s.shape[1] for s in sequences} == {12}
    assert (min(lengths), max(lengths), sum(lengths)) == (7, longest, frames)
    assert sequences[0][0, 0] == first
    assert sequences[-1][-1, -1] == last
    assert digest(np.concatenate(sequences)) == bits
    speakers, found = np.unique(labels, return_counts=True)
    assert speakers.tolist() == list("123456789")
    assert found.tolist() == counts
    assert labels.tolist() == sorted(labels)


def test_vowel_lengths_are_in_the_original_order(vowels):
    assert [len(s) for s in vowels.train[:5]] == [20, 26, 22, 20, 21]
    assert [len(s) for s in vowels.test[:5]] == [19, 17, 19, 18, 24]


@pytest.mark.parametrize("name", LOADERS)
def test_every_dataset_describes_itself(name):
    dataset = LOADERS[name]()
    assert isinstance(dataset, datasets.Dataset)
    assert dataset.name == name
    text = repr(dataset)
    assert text.startswith(f"<{name}: ")
    assert dataset.units in text
    assert dataset.source in text
    assert "\n" not in text
    assert len(text) < 200
    assert dataset.description.endswith(".")
    assert dataset.terms
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "other"


def test_representation_gives_the_shape(ecg, vowels):
    assert "(360,)" in repr(datasets.load_labor())
    assert "(650000, 2) at 360 Hz" in repr(ecg)
    assert "270 + 370 sequences, 12 channels" in repr(vowels)


def test_loading_twice_shares_no_memory():
    first, second = datasets.load_labor(), datasets.load_labor()
    first.data.iloc[0] = -1.0
    assert second.data.iloc[0] == 3.4
    assert datasets.load_labor().data.iloc[0] == 3.4


def test_embedded_files_are_small_and_attributed():
    sizes = {f.name: len(f.read_bytes()) for f in FILES.iterdir()}
    assert sum(sizes.values()) < 3_000_000
    text = (FILES / "SOURCES.md").read_text(encoding="utf-8")
    for name in sizes:
        assert name == "SOURCES.md" or f"`{name}`" in text
    for owner in ("Bureau of Labor", "Energy Information", "SILSO", "Taylor", "Moody", "Kudo"):
        assert owner in text
    assert "ODC Attribution License" in text
    assert "Creative Commons Attribution 4.0" in text


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()


def test_loading_needs_no_wfdb():
    code = (
        "import sys; sys.modules['wfdb'] = None\n"
        "from echofold import datasets as d\n"
        "d.load_labor(), d.load_gasoline(), d.load_sunspots(), d.load_electricity()\n"
        "d.load_japanese_vowels(), d.beat_target(d.load_ecg())\n"
        "print(*[m for m in sys.modules if m.startswith('wfdb.')], 'done')"
    )
    assert run_python(code) == ["done"]


def test_importing_datasets_leaves_pandas_alone():
    # A bare parent package, so that only what `datasets` itself imports is seen.
    root = str(files("echofold.datasets") / "..")
    code = (
        "import sys, types\n"
        f"parent = types.ModuleType('echofold'); parent.__path__ = [{root!r}]\n"
        "sys.modules['echofold'] = parent\n"
        "import echofold.datasets\n"
        "print('pandas' in sys.modules, 'scipy' in sys.modules, 'jax' in sys.modules)"
    )
    assert run_python(code) == ["False", "False", "False"]
