"""How forecasts and verdicts show themselves: briefly, and without a word of the user's as HTML."""

import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context

from echofold import AutoForecaster, load, save
from echofold._models import display
from echofold._models.forecast import Forecast

HOSTILE = "<script>alert('1')</script><img src=x onerror=alert(1)>&amp;\"'"
OURS = {"div", "b", "br", "img", "table", "thead", "tbody", "tr", "th", "td", "code", "ul", "li"}
STEPS = 30
VALUES = 100 + np.arange(STEPS, dtype=float)
DAYS = pd.date_range("2024-01-01", periods=STEPS)


def around(mean, *levels):
    return Forecast(mean, {k: mean - 10 * k for k in levels}, {k: mean + 10 * k for k in levels})


def several(names, kind=dict):
    each = {name: pd.Series(VALUES + at, DAYS) for at, name in enumerate(names)}
    if kind is pd.concat:
        return around(pd.concat(each, names=["series", None]), 0.9)
    ends = [{k: v + by for k, v in each.items()} for by in (0, -9, 9)]
    parts = ends if kind is dict else [kind(one.values()) for one in ends]
    return Forecast(parts[0], {0.9: parts[1]}, {0.9: parts[2]})


class Page(HTMLParser):
    """Tags with their attributes, rows of the table as text, and all words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.words = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        self.words += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def images(self):
        return [attributes for tag, attributes in self.tags if tag == "img"]


def page(shown):
    found = Page(shown._repr_html_())
    assert {tag for tag, _ in found.tags} <= OURS
    known = {"style", "colspan", "width", "alt", "src"}
    assert all(set(attributes) <= known for _, attributes in found.tags)
    return found


def test_first_and_last_rows_of_a_forecast():
    forecast = around(pd.Series(VALUES, DAYS, name="tide"), 0.5, 0.9)
    found = page(forecast)
    assert found.words.startswith("Forecast of tide, 30 steps")
    assert found.rows[0] == ["", *forecast.to_frame().columns]
    assert found.rows[1] == ["2024-01-01", "100.0", "95.00", "105.0", "91.00", "109.0"]
    assert found.rows[9] == ["… 18 more steps …"]
    assert [row[0] for row in found.rows[10:]] == [f"2024-01-{day}" for day in (27, 28, 29, 30)]
    (image,) = found.images()
    assert image["src"].startswith("data:image/png;base64,iVBOR")
    lines = repr(forecast).splitlines()
    assert lines[0] == "Forecast of tide, 30 steps" and len(lines) == 15
    assert [line.split() for line in lines[2:10]] == found.rows[1:9]


@pytest.mark.parametrize("steps", [1, 2, 12, 13])
def test_no_more_rows_than_a_dozen(steps):
    found = page(Forecast(VALUES[:steps], {}, {}))
    assert len(found.rows) == 1 + min(steps, 12) + (steps > 12)
    assert len(found.images()) == (steps > 1)  # one value is no line


def test_no_name_becomes_a_part_of_the_page():
    shown = [
        around(pd.Series(VALUES, pd.Index(DAYS, name=HOSTILE), name=HOSTILE), 0.9),
        around(pd.DataFrame({HOSTILE: VALUES, f"{HOSTILE}2": VALUES}), 0.9),
        Forecast(pd.Series(VALUES[:3], [HOSTILE, "b", "c"]), {}, {}),
        several([HOSTILE, "b"]),
        several([HOSTILE, "b"], pd.concat),
    ]
    for forecast in shown:
        assert "<script>alert" in page(forecast).words


@pytest.mark.parametrize("kind", [dict, list, tuple, pd.concat])
def test_of_many_series_the_first_few(kind):
    forecast = several("abcde", kind)
    found = page(forecast)
    assert found.words.startswith("Forecast of 5 series, 30 steps")
    assert found.words.endswith("and 2 more series")
    names = ["series 0", "series 1", "series 2"] if kind in (list, tuple) else ["a", "b", "c"]
    assert [row[0] for row in found.rows[1::6]] == names
    assert found.rows[8] == ["2024-01-01", "101.0", "92.00", "110.0"]
    assert found.rows[11] == ["… 26 more steps …"]
    assert "and 2 more series" in repr(forecast) and len(repr(forecast).splitlines()) == 21
    with pytest.raises(TypeError, match="of several"):
        forecast.plot()


def test_of_many_outputs_the_first_few():
    found = page(around(np.tile(VALUES[:, None, None], (1, 20, 30)), 0.9))  # a field
    assert found.words.startswith("Forecast of 600 outputs, 30 steps")
    assert found.words.endswith("and 597 more outputs")
    each = {name: np.tile(VALUES[:, None], 2) for name in "ab"}
    assert "a, the first of 2 outputs" in page(Forecast(each, {}, {})).words


def test_values_of_any_kind_and_size():
    odd = np.array([np.nan, np.inf, -np.inf, 1e-9, 12_345_678.9, 1e300])
    for mean in (odd, pd.Series(odd), pl.Series("level", odd)):
        found = page(Forecast(mean, {}, {}))
        cells = [row[1] for row in found.rows[1:]]
        assert cells == ["–", "∞", "−∞", "1e-09", "12,345,679", "1e+300"]


def test_no_figure_is_left_open_and_no_setting_changed():
    import matplotlib
    from matplotlib import pyplot

    before, settings = pyplot.get_fignums(), dict(matplotlib.rcParams)
    around(VALUES, 0.9)._repr_html_()
    assert pyplot.get_fignums() == before and dict(matplotlib.rcParams) == settings


def test_without_matplotlib_the_table_alone(monkeypatch):
    for name in [one for one in sys.modules if one.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    found = page(around(VALUES, 0.9))
    assert not found.images() and len(found.rows) == 14


def test_the_verdict_of_a_forecaster(tmp_path):
    model = AutoForecaster(3, season=4, search={"units": 5, "draws": 1, "k": 4}, progress=False)
    assert "sk-top-container" in model._repr_html_()
    assert "sk-top-container" in model._repr_mimebundle_()["text/html"]
    model.fit(VALUES + np.tile([0.0, 3, 1, 5, 2], 6))
    model.notes_ += [HOSTILE] + ["another"] * 7
    found = page(model)
    assert model.verdict_.words in found.words and HOSTILE in found.words
    assert f"{len(model.notes_) - display.NOTES} more notes" in found.words
    weights = {row[0]: row[1] for row in found.rows[1:] if row[1]}
    assert weights == {name: f"{100 * one:.0f} %" for name, one in model.members_["weight"].items()}
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
    assert repr(model).startswith("AutoForecaster(horizon=3")
    save(model, tmp_path / "model.echofold")
    loaded = load(tmp_path / "model.echofold")._repr_html_()
    assert loaded.split("<b>")[1] == model._repr_html_().split("<b>")[1]
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_the_verdict_on_several_series():
    each = {name: VALUES + np.tile([0.0, 3, 1, 5, 2], 6) for name in "ab"}
    model = AutoForecaster(2, pool="none", search={"units": 5, "draws": 1, "k": 4}, progress=False)
    found = page(model.fit(each))
    assert ", 2 series" in found.words and model.verdict_.words in found.words
