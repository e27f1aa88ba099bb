"""Model files that someone made to do harm; see `wrong_files`."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "fuzz_models.py"


def outcome(first, count, folder):
    """What happened to the files of these seeds, in a process of their own."""
    under_way = folder / f"seed-{first}"
    command = [sys.executable, PROGRAM, str(first), str(count), under_way]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"at seed {under_way.read_text()}: {done.stderr[-2000:]}"
    return json.loads(done.stdout)


def assert_harmless(found, count):
    assert found["wrong"] == []
    happened = found["happened"]
    assert happened["refused"] + happened["loaded"] == count
    assert happened["refused"] > 0.5 * count and happened["loaded"] > 0.02 * count


def test_wrong_model_files_are_refused_or_harmless(tmp_path):
    assert_harmless(outcome(0, 100, tmp_path), 100)


@pytest.mark.fuzz
def test_many_wrong_model_files_are_refused_or_harmless(tmp_path):
    size = 2_500
    with ThreadPoolExecutor(2) as pool:
        parts = range(1_000_000, 1_020_000, size)
        for found in pool.map(lambda first: outcome(first, size, tmp_path), parts):
            print(json.dumps(found))
            assert_harmless(found, size)
