"""Every messy file is read as a person would, with a note, or refused in one line that helps."""

import re

import numpy as np
import pandas as pd
import pytest
from messy_files import FILES

from echofold.cli.output import Output
from echofold.cli.reading import read_series

GIVEN = {
    "column": None, "date": None, "date_format": None, "decimal": None, "fill": "leave",
    "season": None,
}  # fmt: skip


def read(path, content, **options):
    path.write_bytes(content)
    output = Output(quiet=True, as_json=False)
    return read_series(str(path), output.note, **{**GIVEN, **options}), output.notes


def test_there_are_many():
    assert len(FILES) >= 120
    assert len({file.content for file in FILES.values()}) > 100


@pytest.mark.parametrize("name", FILES)
def test_messy_files(tmp_path, name):
    file, path = FILES[name], tmp_path / "file.csv"
    if file.error:
        with pytest.raises(ValueError) as error:
            read(path, file.content, **file.options)
        words = str(error.value)
        assert "\n" not in words and "file.csv" in words and len(words) < 500
        for part in file.error:
            assert re.search(part, words) if "|" in part else part in words, words
        return
    series, notes = read(path, file.content, **file.options)
    np.testing.assert_allclose(series.values, file.values, rtol=1e-12)
    if file.dates is None:
        assert not isinstance(series.values.index, pd.DatetimeIndex)
    else:
        assert series.values.index.equals(pd.DatetimeIndex(file.dates))
    told = " ".join(notes)
    for part in file.notes:
        assert part in told, notes
    assert bool(notes) == bool(file.notes), notes
