"""Small things that all floors use: names and numbers in words, guesses, rows that are read."""

import numpy as np
import pandas as pd

from echofold._data.arguments import did_you_mean
from echofold._data.dates import words_of_dates
from echofold._data.lazy import Lazy
from echofold._data.missing import filled
from echofold._data.season import detected_season
from echofold._data.tables import read, read_sequences, words_of_axes
from echofold._data.text import figure, guarded, in_words, label, legible, short, shown, unguarded


def test_numbers_in_tables_labels_and_sentences():
    assert [figure(one) for one in (0.5, 1355.4, None, np.inf)] == ["0.5000", "1,355", "–", "∞"]
    assert [short(one) for one in (1e-08, 0.30000000000000004, "last")] == ["1e-8", "0.3", "last"]
    words = [in_words(one) for one in (0.123456, 1355, np.inf, "last")]
    assert words == ["0.1235", "1355", "not finite", "last"]


def test_names_are_fit_to_be_shown():
    assert legible("half \ud800, bell \x07") == "half �, bell �"
    assert label("units\n sold") == "units sold"
    assert len(label("n" * 1000)) == 40
    assert shown("two\nlines") == r"'two\nlines'"


def test_cells_that_look_like_formulas_come_back_as_they_were():
    assert [guarded(one) for one in ("=1+1", "'n", "x-1")] == ["'=1+1", "''n", "x-1"]
    assert [unguarded(one) for one in ("'=1+1", "'n")] == ["=1+1", "'n"]


def test_names_that_were_meant():
    assert did_you_mean("leaking_rate", ["units", "leak_rate", "ridge"]) == (
        " Did you mean 'leak_rate'?"
    )
    assert did_you_mean("spectral_raduis", ["units", "spectral_radius"]) == (
        " Did you mean 'spectral_radius'?"
    )


def test_tables_and_sequences():
    assert read([1, 2, 3], "y").values.shape == (3, 1)
    sequences, _ = read_sequences([[1, 2, 3], [4, 5]])
    assert [one.shape for one in sequences] == [(3, 1), (2, 1)]
    (words,) = words_of_axes(np.zeros((40, 6, 100)))
    assert words.partition(";")[0] == (
        "sequences has shape (40, 6, 100) and is read as 40 sequences of 6 steps with 100 inputs"
    )
    assert words_of_axes(np.zeros((40, 100, 6))) == ()


def test_a_date_that_is_missing():
    days = pd.date_range("2024-01-01", periods=6, freq="D").delete(2)
    (words,) = words_of_dates(days)
    assert words.partition(".")[0] == (
        "1 of 6 dates of y is missing, the first 2024-01-03 00:00:00 (frequency 'D')"
    )


def test_seasons_and_noise():
    t = np.arange(120)
    assert detected_season(t / 20 + np.sin(2 * np.pi * t / 12)) == 12
    assert detected_season(np.random.RandomState(0).normal(size=120)) is None


def test_missing_values_are_the_last_known():
    y = np.array([np.nan, 1.0, 2.0, np.nan, np.nan, np.nan])[:, None]
    assert filled(y)[:, 0].tolist() == [1, 1, 2, 2, 2, 2]
    assert filled(y, every=2)[:, 0].tolist() == [1, 1, 2, 1, 2, 1]


def test_rows_that_are_read_when_they_are_asked_for():
    rows = Lazy.of(np.arange(10.0)[:, None])
    assert rows[2:5].shape == (3, 1)
    assert np.asarray(rows[2:5])[:, 0].tolist() == [2, 3, 4]
    assert rows[[7, 3]][:, 0].tolist() == [7, 3]
