"""Damaged files are read, or refused in one line of our own, in memory that their size bounds."""

import importlib.util
import os
import traceback
import tracemalloc

import pytest
from damaged import damaged, originals

from echofold.cli.output import Output
from echofold.cli.reading import read_series

PARQUET = importlib.util.find_spec("pyarrow") is not None
FILES = originals(PARQUET)
OPTIONS = [
    {}, {}, {}, {"date": "none"}, {"date_format": "%d.%m.%Y"}, {"decimal": ","}, {"fill": "none"},
    {"fill": "forward"}, {"column": "x"}, {"date": "id"}, {"date": "day", "column": "x"},
    {"duplicates": "sum"}, {"duplicates": "first", "inputs": ("x",)},
    {"id": ("unique_id",), "only": "a"}, {"id": ("shop",), "only": "b", "fill": "forward"},
]  # fmt: skip
BASE, RATIO = 50e6, 30  # bytes, and bytes for each byte of the file


def read(path, **options):
    given = {
        "column": None, "date": None, "date_format": None, "decimal": None, "fill": "leave",
        "season": None, **options,
    }  # fmt: skip
    return read_series(str(path), Output(quiet=True, as_json=False).note, **given)


def check(path, **options):
    """Read a file; the series, or the words in which it was refused."""
    try:
        series = read(path, **options)
    except (ValueError, ImportError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        # Words of another library would name neither the file nor what to do.
        assert "echofold" in last.filename, f"{type(error).__name__}: {error}"
        assert type(error) in (ValueError, ImportError), type(error)
        assert path.name in str(error) or "--" in str(error), str(error)  # words of ours
        assert "\n" not in str(error) and 20 < len(str(error)) < 1500, str(error)[:2000]
        return str(error)
    values = series.values
    assert values.count() >= 1 and values.iloc[[0, -1]].notna().all()
    assert values.index.is_monotonic_increasing and values.index.is_unique
    assert series.headline
    return series


def run(tmp_path, seeds):
    """Read the damaged files of some seeds; how many were read, and the most memory of one."""
    path, fine, peaks = tmp_path / "file.csv", 0, []
    tracemalloc.start()
    try:
        for seed in seeds:
            name, content = damaged(seed, FILES)
            path.write_bytes(content)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                fine += not isinstance(check(path, **OPTIONS[seed % len(OPTIONS)]), str)
            except BaseException as error:
                raise AssertionError(f"seed {seed}, from {name!r}: {error!r}") from error
            peak = tracemalloc.get_traced_memory()[1] - before
            assert peak <= BASE + RATIO * len(content), f"seed {seed}: {peak} of {len(content)}"
            peaks.append((peak, len(content), seed))
    finally:
        tracemalloc.stop()
    return fine, peaks


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_fine_before_they_are_damaged(tmp_path, name):
    path = tmp_path / "file.csv"
    path.write_bytes(FILES[name])
    options = {"column": {"wide": "c3", "parquet": "x", "parquet index": "x"}.get(name)}
    if name in ("panel", "apart"):
        options |= {"id": ({"panel": "unique_id", "apart": "shop"}[name],), "only": "a"}
    assert not isinstance(check(path, **options), str)


def test_damage_is_the_same_every_time():
    assert [damaged(seed, FILES) for seed in range(50)] == [damaged(s, FILES) for s in range(50)]


def test_fifty_damaged_files(tmp_path):
    fine, peaks = run(tmp_path, range(50))
    assert 5 < fine < 45  # damage that breaks nothing, or everything, would test little


# ECHOFOLD_FUZZ=100000 pytest -m fuzz tests/cli/test_cli_damaged.py -n auto
COUNT = int(os.environ.get("ECHOFOLD_FUZZ", "10000"))


@pytest.mark.fuzz
@pytest.mark.parametrize("first", range(0, COUNT, 500))
def test_thousands_of_damaged_files(tmp_path, first):
    fine, peaks = run(tmp_path, range(first, first + 500))
    print(fine, max(peaks), max((p / s, p, s, seed) for p, s, seed in peaks if s > 1e5))
