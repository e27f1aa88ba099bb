"""A report is one whole file that loads nothing, and says what the results say."""

import base64
import copy
import hashlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold as ShuffledKFold

from echofold import (
    AutoForecaster,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    WalkForward,
    __version__,
    evaluate,
)
from echofold._search.verdict import compared
from echofold.experiments._tables import EXACT
from echofold.metrics._metric import resolve
from echofold.report import About, write_report
from echofold.report._lead import verdict_on_values
from echofold.reservoirs import Bank, Deep, Leaky

SPACE = {"leak_rate": [0.3, 0.6, 1.0], "spectral_radius": [0.5, 0.9], "ridge": [0.0, 1e-6, 1e-2]}
VOID = {"meta", "link", "br", "img", "hr", "input"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def series(rows=230):
    return np.sin(np.arange(rows) / 5) + 0.1 * np.random.default_rng(0).normal(size=rows)


class Page(HTMLParser):
    """Reads a page: its tags, whether they close, its ids and its text by tag."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.words = [], [], [], []
        self.source = text
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def values(self):
        """Numbers that the page shows, in full precision."""
        return [float(attrs["data-value"]) for _, attrs in self.tags if "data-value" in attrs]

    def code(self):
        (found,) = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", self.source, re.DOTALL)
        return html.unescape(found)


def page(search, folder, name="report.html", **told):
    about = About(**told) if told else None
    return Page(write_report(search, folder / name, about).read_text(encoding="utf-8"))


def verdict(found):
    (words,) = re.findall(r'id="verdict">(.*?)</p>', found.source)
    return html.unescape(words)


def table(found, heading):
    """The table of the page whose first column has a heading, as a frame of text and numbers."""
    for text in re.findall(r"<table.*?</table>", found.source, re.DOTALL):
        rows = [
            [html.unescape(re.sub("<[^>]*>", " ", cell)).strip() for cell in cells]
            for cells in (
                re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)
                for row in re.findall(r"<tr>.*?</tr>", text, re.DOTALL)
            )
        ]
        if rows[0][0] == heading:
            frame = pd.DataFrame(rows[1:], columns=rows[0])
            for name in frame:
                numbers = pd.to_numeric(frame[name], errors="coerce")
                frame[name] = numbers if numbers.notna().all() else frame[name]
            return frame
    raise AssertionError(f"no table of {heading}")


def download(found):
    (link,) = (attrs for attrs in found.of("a") if "download" in attrs)
    assert link["download"] == "forecast.csv"
    return base64.b64decode(link["href"].partition(";base64,")[2]).decode()


@pytest.fixture(scope="module")
def regressor():
    X = series(2000)[:, None]
    y = np.column_stack([np.roll(X[:, 0], 1), np.roll(X[:, 0], 2) ** 2])
    cv = KFold(4, shuffle=True, random_state=0)
    return ESNSearchCV(ESNRegressor(15, random_state=0), SPACE, cv=cv).fit(X, y)


@pytest.fixture(scope="module")
def automatic(forecaster):
    """An automatic forecast by all members, and its honest error."""
    few = {"units": 15, "grid": "small", "draws": 1, "k": 6}
    y = forecaster._reader.data[0]
    model = AutoForecaster(10, search=few, season=None, progress=False).fit(y)
    evaluate(model, y, origins=2)
    return model


@pytest.fixture(scope="module")
def short():
    """One that no networks were searched for."""
    return AutoForecaster(3, progress=False).fit(series(30))


KINDS = ("forecaster", "regressor", "classifier")
PAGES = (*KINDS, "automatic", "short")


@pytest.fixture(scope="module")
def pages(forecaster, regressor, classifier, automatic, short, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    models = (forecaster, regressor, classifier, automatic, short)
    return {
        name: page(one, folder, f"{name}.html") for name, one in zip(PAGES, models, strict=True)
    }


@pytest.mark.parametrize("kind", PAGES)
def test_the_page_is_whole_and_its_ids_are_unique(pages, kind):
    found = pages[kind]
    assert found.source.startswith("<!DOCTYPE html>")
    assert not found.open
    assert len(found.ids) == len(set(found.ids))
    wanted = set(re.findall(r'(?:url\(|href=")#([^")]+)', found.source))
    assert wanted and wanted <= set(found.ids)


@pytest.mark.parametrize("kind", PAGES)
def test_the_page_loads_nothing_and_runs_one_script(pages, kind):
    found = pages[kind]
    assert not re.search(r"https?://|//cdn|@import", found.source)
    assert not found.of("link") + found.of("iframe") + found.of("img")
    for _, attrs in found.tags:
        assert not any(name.startswith("on") for name in attrs)
        for name in ("href", "xlink:href", "src"):
            allowed = ("#", "data:image/png;base64,", "data:text/csv;charset=utf-8;base64,")
            assert attrs.get(name, "#").startswith(allowed)
    assert found.of("script") == [{}]
    (script,) = re.findall("<script>(.*?)</script>", found.source, re.DOTALL)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (m["content"] for m in found.of("meta") if m.get("http-equiv"))
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{allowed}'"
    )


@pytest.mark.parametrize("kind", PAGES)
def test_the_page_suits_phones_dark_rooms_and_paper(pages, kind):
    found = pages[kind]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in found.of(
        "meta"
    )
    for rule in (
        "prefers-color-scheme: dark",
        "@media print",
        "overflow-x: auto",
        "max-width: 700px",
    ):
        assert rule in found.source
    for attrs in found.of("svg"):
        assert attrs["role"] == "img" and attrs["aria-label"] and "width" not in attrs
    drawings = found.source[found.source.index("<main>") :]
    assert "#0072b2" not in drawings  # colours come from the style sheet
    assert "var(--blue)" in drawings


@pytest.mark.parametrize("kind", KINDS)
def test_the_winner_and_its_scores_are_told(pages, kind, request):
    search, found = request.getfixturevalue(kind), pages[kind]
    assert search.best_score_ in found.values()
    assert f"{search.best_score_:.4g}" in found.text
    for name, value in search.best_params_.items():
        assert re.search(
            rf">{name}</th><td>{re.escape(f'{value:g}'.replace('e-0', 'e-'))}<", found.source
        )
    for scheme in search._results:
        assert search._winners.score(search._winner(scheme)) in found.values()
    assert search.best_estimator_.condition_ in found.values()
    assert f"echofold {__version__}" in found.text and f"numpy {np.__version__}" in found.text
    assert str(search.seed_) in found.text


def titles(found):
    return re.findall(r"<figcaption><strong>(.*?)</strong>", found.source)


def test_a_forecaster_gets_its_pictures(pages):
    assert titles(pages["forecaster"]) == [
        "Forecast of tide for 10 steps",
        "Past forecasts of tide against what came",
        "Error by steps ahead",
        "CV: KFold(k=7)",
        "FV: WalkForward(k=4, valid=12)",
        "Ridge path of the winner",
        "Error over leak_rate and spectral_radius",
        "Candidates by CV and by FV",
        "Validation error and error on what followed",
        "tide",
    ]
    wide = [f for f in pages["forecaster"].of("figure") if f.get("class") == "wide"]
    assert len(wide) == 2
    assert len(pages["forecaster"].of("svg")) == 10 + 2  # wide ones once more for narrow screens
    assert "2024-01-01 to 2024-08-17" in pages["forecaster"].text


def test_a_regressor_gets_its_pictures(pages):
    found = titles(pages["regressor"])
    assert found[:6] == [
        "Predicted and true output 0",
        "Predicted and true output 1",
        "Validation predictions of output 0",
        "Validation predictions of output 0, closer",
        "Validation predictions of output 1",
        "Validation predictions of output 1, closer",
    ]
    assert "KFold(k=4, shuffle=True, random_state=0)" in found
    assert not any("Forecast" in title or "steps ahead" in title for title in found)


def test_a_classifier_gets_its_pictures_and_a_true_count_of_errors(pages, classifier):
    found = pages["classifier"]
    assert titles(found)[0] == "Classes said in validation"
    scores = classifier.results_.error_rate.values[0, 0]
    best = scores.mean(axis=0).argmin()
    splits = classifier._schemes["cv"]
    wrong = round(float((scores[:, best] * splits.sizes).sum()))
    assert 0 < wrong < 51
    assert f"{wrong} of 51 validation sequences were given a wrong class" in found.text
    assert "o&lt;d &amp; &#34;d&#34;" in found.source and "o<d" not in found.source


def test_the_honest_error_stands_beside_the_flattered_one(pages, forecaster):
    honest = float(forecaster.evaluation_.rmse.mean())
    assert honest in pages["forecaster"].values()
    assert "On the 10 rows after each of 2 beginnings" in pages["forecaster"].text
    held = 100 * float(forecaster.evaluation_.coverage.mean())
    assert f"Values inside 90 % intervals {held:.1f} %" in pages["forecaster"].text
    assert "not measured" in pages["regressor"].text


def test_the_verdict_is_what_was_measured(pages, forecaster):
    y, starts = forecaster._reader.data[0].to_numpy(), forecaster.evaluation_.start.values
    own = float(forecaster.evaluation_.rmse.mean())
    repeated = np.mean([np.sqrt(np.mean((y[s : s + 10] - y[s - 1]) ** 2)) for s in starts])
    compared = table(pages["forecaster"], "forecast").set_index("forecast")
    errors = compared.iloc[:, 0]
    assert errors["networks"] == pytest.approx(own, rel=1e-3)
    assert errors["last value"] == pytest.approx(repeated, rel=1e-3)
    nearest = errors.drop("networks").min()
    assert own < nearest
    said = verdict(pages["forecaster"])
    assert said.startswith(f"{100 * (1 - own / nearest):.0f} % better than repeating ")
    held = 10 * float(forecaster.evaluation_.coverage.mean())
    assert f"the 90 % interval held {held:.0f} times in 10 on past data" in said
    assert list(compared.iloc[:, 1]) == ["lowest, given above", *[""] * (len(errors) - 1)]


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        (0.92, 1.0, "8 % better than"), (1.06, 1.0, "6 % worse than"), (1.001, 1.0, "as good as"),
        (3.0, 1.0, "3 times as far off as"), (np.inf, 1.0, "much worse than"),
        (0.001, 1.0, "over 99 % better than"),
    ],
)  # fmt: skip
def test_errors_are_compared_in_words(own, other, words):
    assert compared(own, other, resolve("rmse")) == words
    kind = {True: "better than", False: "no better than"}[own < other]
    assert compared(own, other, resolve("log_mse")) == kind  # a share means nothing


def test_a_forecast_that_is_worse_than_a_plain_one_says_so(forecaster, tmp_path, undrawn):
    search = copy.copy(forecaster)
    search.evaluation_ = forecaster.evaluation_.copy(deep=True)
    search.evaluation_["rmse"] *= 1e3
    found = page(search, tmp_path)
    assert "times as far off as" in verdict(found)
    compared = table(found, "forecast").set_index("forecast").iloc[:, 1]
    assert compared["networks"] == "given above" and "lowest" in set(compared)


def test_what_was_not_measured_says_how_to_measure_it(forecaster, tmp_path, undrawn):
    search = copy.copy(forecaster)
    search.evaluation_ = None
    assert "not measured: echofold.evaluate(search, y) does" in verdict(page(search, tmp_path))


def test_members_and_plain_forecasts_stand_beside_an_automatic_one(pages, automatic, short):
    for name, model in (("automatic", automatic), ("short", short)):
        found, said = pages[name], model.verdict_
        assert verdict(found) == said.words and len(said.words) > 50
        beside = table(found, "forecast").set_index("forecast")
        assert list(beside.columns) == ["weight", "rmse on past data", ""]
        errors = beside.iloc[:, 1]
        members = [f"— {one}" for one in model.members_.index]
        assert list(errors.index) == [model.given, *members, *model.baselines_]
        expected = [said.error, *model.members_["error"], *model.baselines_.values()]
        np.testing.assert_allclose(errors, expected, rtol=1e-3)
        shares = beside.loc[members, "weight"].str.rstrip("%").astype(float)
        np.testing.assert_allclose(shares / 100, model.members_["weight"], atol=0.006)
        assert "given above" in beside.iloc[0, 2]
        assert beside.index[beside.iloc[:, 2].str.contains("lowest")] == [errors.idxmin()]
        assert {said.error, said.best_error} <= set(found.values())
        assert f"Values inside 90 % intervals {100 * said.coverage:.1f} %" in found.text
        assert f"Mean of {said.stretches} past stretches, {said.steps} steps each" in found.text
    said = automatic.verdict_
    share = f"{100 * (1 - said.error / said.best_error):.0f} % better than repeating the last value"
    assert verdict(pages["automatic"]).startswith(share)


def test_an_automatic_forecast_is_drawn_tabulated_and_downloaded(pages, automatic, short):
    assert titles(pages["automatic"])[:3] == [
        "Forecast of tide for 10 steps", "Past forecasts of tide against what came",
        "Error by steps ahead",
    ]  # fmt: skip
    assert titles(pages["short"]) == [
        "Forecast of y for 3 steps", "Past forecasts of y against what came", "y"
    ]  # fmt: skip
    for name, model in (("automatic", automatic), ("short", short)):
        expected = model.forecast().to_frame()
        file = pd.read_csv(io.StringIO(download(pages[name])), **EXACT)
        np.testing.assert_array_equal(file.iloc[:, 1:], expected)
        best = sorted(model.baselines_, key=model.baselines_.get)[:3]
        assert list(table(pages[name], "row").columns)[6:] == best


def test_details_of_an_automatic_forecast_are_those_of_its_search_if_any(pages, automatic):
    found, without = pages["automatic"], pages["short"].text
    assert "The networks" in found.text and "The model" in pages["forecaster"].text
    assert automatic.search_.best_score_ in found.values()
    assert float(automatic.evaluation_.rmse.mean()) in found.values()
    assert "On the 10 rows after each of 2 beginnings" in found.text
    for word in ("The networks", "ridge", "reservoir", "condition", "unseen data"):
        assert word not in without
    assert "30 rows" in without and f"echofold {__version__}" in without


def test_a_single_value_has_a_report(tmp_path, undrawn):
    found = page(AutoForecaster(2, progress=False).fit([5.0]), tmp_path)
    assert "not known: there is too little to tell" in verdict(found)
    assert titles(found) == ["Forecast of y for 2 steps", "y"]
    file = pd.read_csv(io.StringIO(download(found)))
    assert file["forecast"].tolist() == [5, 5] and file.iloc[:, 2:].isna().all(axis=None)


@pytest.mark.parametrize("asked", [3, 40])
def test_as_many_steps_as_asked_for_are_drawn_tabulated_and_downloaded(
    forecaster, tmp_path, asked, undrawn
):
    found = page(forecaster, tmp_path, horizon=asked, level=[0.5, 0.9])
    expected = forecaster.forecast(asked, level=[0.5, 0.9]).to_frame()
    assert titles(found)[0] == f"Forecast of tide for {asked} steps"
    file = pd.read_csv(io.StringIO(download(found)), **EXACT)
    assert list(file.columns) == ["row", *expected.columns]
    np.testing.assert_array_equal(file.iloc[:, 1:], expected)
    assert list(file["row"]) == [str(day.date()) for day in expected.index]
    shown = table(found, "row")
    head = ["row", "forecast", "low 50 %", "high 50 %", "low 90 %", "high 90 %", "last value"]
    assert list(shown.columns[:7]) == head and len(shown) == asked
    np.testing.assert_allclose(shown.iloc[:, 1:6], expected, atol=6e-4)  # three decimals
    assert (shown["last value"] == round(forecaster._reader.data[0].iloc[-1], 3)).all()


def test_a_title_and_notes_are_told(forecaster, pages, tmp_path, undrawn):
    found = page(forecaster, tmp_path, title="tides.csv: <tide>", notes=["2 gaps & 1 hole filled."])
    assert "<h1>tides.csv: &lt;tide&gt;</h1>" in found.source
    assert "<li>2 gaps &amp; 1 hole filled.</li>" in found.source
    assert "<h1>Forecast of tide</h1>" in pages["forecaster"].source
    with pytest.raises(TypeError, match="about='tides': expected an echofold.report.About"):
        forecaster.report(tmp_path / "report.html", "tides")


def test_the_error_on_unseen_data_is_that_of_the_first_scheme(forecaster, pages):
    own, other = table(pages["forecaster"], "scheme")["rmse on unseen data"]
    assert float(own) == pytest.approx(float(forecaster.evaluation_.rmse.mean()), rel=1e-3)
    assert other == "not measured"


def test_the_members_of_an_ensemble_are_shown(tmp_path, undrawn):
    y = series(120) + np.arange(120) / 50
    space = {"difference": [(), (1,)], "spectral_radius": [0.8, 0.9], "ridge": [1e-3]}
    search = ESNSearchCV(
        ESNForecaster(8, random_state=0), space, cv=KFold(3), final="ensemble", n_draws=2
    ).fit(y)
    found = table(page(search, tmp_path), "difference")
    members = search.best_estimator_.members
    assert len(members) > 2 and found["draws"].sum() == len(members)
    assert list(found.columns) == ["difference", "spectral_radius", "ridge", "draws", "weight"]
    shares = found["weight"].str.rstrip("%").astype(float)
    np.testing.assert_allclose(shares, 100 * found["draws"] / len(members), atol=0.1)
    told = {(str(one.difference), one.spectral_radius) for one in members}
    assert set(zip(found["difference"], found["spectral_radius"], strict=True)) == told


def test_a_classifier_tells_its_accuracy_and_recalls(pages, classifier):
    found = pages["classifier"]
    scores = classifier.results_.error_rate.values[0, 0]
    wrong = (scores[:, scores.mean(axis=0).argmin()] * classifier._schemes["cv"].sizes).sum()
    accuracy = 1 - wrong / 51
    assert verdict(found).startswith(f"{100 * accuracy:.0f} % of the sequences were recognised")
    assert f"Accuracy in validation {100 * accuracy:.1f} %" in found.text
    recalls = table(found, "class")
    assert recalls["sequences validated"].tolist() == [25, 26]
    assert recalls["recognised"].sum() == 51 - round(wrong)
    share = 100 * recalls["recognised"] / recalls["sequences validated"]
    assert recalls["recall"].tolist() == [f"{one:.0f} %" for one in share]


def test_a_regressor_tells_how_much_it_explains(pages, regressor):
    validation = regressor._winners.outputs("cv")
    there = validation.rows >= 0
    truth, said = validation.truth[there], validation.outputs[there]
    expected = r2_score(truth, said, multioutput="raw_values")
    for value in expected:
        assert np.isclose(pages["regressor"].values(), value, rtol=1e-12).any()
    assert f"R² is {expected.mean():.3f} in the mean of 2 outputs" in verdict(pages["regressor"])
    assert verdict_on_values([("y", -0.5)]).endswith("no better than its mean (R² -0.500).")


@pytest.mark.parametrize("kind", KINDS)
def test_the_code_repeats_the_search(pages, kind, request, capsys):
    search = request.getfixturevalue(kind)
    names = {"forecaster": "y", "regressor": "X y", "classifier": "sequences labels"}[kind].split()
    space = dict(zip(names, search._reader.data, strict=True))
    exec(pages[kind].code(), space)
    assert space["search"].best_params_ == search.best_params_
    assert space["search"].best_score_ == search.best_score_
    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(search.best_params_), repr(search.best_score_)]


def test_the_code_of_a_search_of_kinds(tmp_path, undrawn):
    rng = np.random.default_rng(0)
    sequences, labels = [rng.normal(size=(n, 1)) for n in range(5, 25)], [0, 1] * 10
    kinds = [Bank(3, members=2), Deep(4, leak_rate=(1.0, 0.5)), Leaky(5, topology="ring")]
    estimator = ESNClassifier(reservoir=kinds[0], random_state=0)
    search = ESNSearchCV(estimator, {"reservoir": kinds, "ridge": [0.1]}, cv=3)
    code = page(search.fit(sequences, labels), tmp_path).code()
    assert "from echofold.reservoirs import Bank, Deep, Leaky\n" in code
    space = {"sequences": sequences, "labels": labels}
    exec(code, space)
    assert str(space["search"].best_params_) == str(search.best_params_)  # compared by identity
    assert space["search"].best_score_ == search.best_score_


def test_the_code_of_an_elaborate_search(tmp_path, undrawn):
    W = np.random.default_rng(0).uniform(-0.5, 0.5, size=(8, 8))
    search = ESNSearchCV(
        ESNRegressor(8, W=W, random_state=np.random.RandomState(1)),
        [{"leak_rate": loguniform(0.1, 1), "input_scaling": np.linspace(0.1, 2, 40), "ridge": [1]}],
        cv={"ours": KFold(3, gap=(1, 2)), "theirs": ShuffledKFold(3, shuffle=True, random_state=0)},
        strategy="random",
        n_iter=3,
        metric=["mae", "rmse"],
        n_draws=2,
    ).fit(series()[:, None], y=series())  # fmt: skip
    code = page(search, tmp_path).code()
    assert "import sklearn.model_selection\n" in code and "sklearn.model_selection.KFold(" in code
    assert "# W: the ndarray of shape (8, 8) that was given" in code
    assert max(map(len, code.splitlines()[:-2])) <= 92
    space = {"X": series()[:, None], "y": series(), "W": W}
    exec(code, space)
    assert space["search"].best_params_ == search.best_params_
    assert space["search"].best_score_ == search.best_score_


def test_names_from_the_data_are_text_and_nothing_else(tmp_path):
    names = ["<script>alert(1)</script>", "cost $x_ & $y^", '"quoted" 価格']
    y = pd.DataFrame(np.column_stack([series(120)] * 3) * [1, 5, 1e9], columns=names)
    search = ESNSearchCV(
        ESNForecaster(8, random_state=0), {"ridge": [1e-6, 1e-3]}, cv={"<b>": LeaveOneOut()}
    ).fit(y)
    found = page(search, tmp_path)
    assert len(found.of("script")) == 1  # the page's own
    assert len(found.of("b")) == 1  # of the card, none from the scheme's name
    for name in names:
        assert name in found.text
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", found.source)
    assert {html.escape(names[0], quote=False), html.escape(names[1], quote=False)} <= set(drawn)


STRANGE = ["\ud800x\ufffe\uffff a\x00b\x1b[2J", r"_$\frac{$", "n" * 5000]


@pytest.mark.parametrize("name", STRANGE, ids=lambda name: repr(name)[:20])
def test_any_name_can_be_written(tmp_path, name):
    y = pd.Series(series(120), name=name, index=pd.RangeIndex(120, name=name))
    search = ESNSearchCV(
        ESNForecaster(8, random_state=0), {"ridge": [1e-6]}, cv={"a": KFold(3), name: KFold(4)}
    ).fit(y)
    found = page(search, tmp_path)
    assert not re.search(
        r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", found.source
    )
    for drawn in re.findall(r"<svg.*?</svg>", found.source, re.DOTALL):
        ElementTree.fromstring(drawn.replace("xlink:", ""))  # well-formed
    legible = re.sub(r"[\x00-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", name)
    assert titles(found)[0].startswith(f"Forecast of {legible} for ")


def test_classes_of_any_name_are_told_apart(tmp_path):
    names = ["_hidden", "\ud800", "c" * 500]
    sequences = [np.sin(np.arange(20) / (3 + i % 3)) for i in range(30)]
    search = ESNSearchCV(ESNClassifier(8, random_state=0), {"ridge": [1e-3, 1]}, cv=3)
    found = page(search.fit(sequences, [names[i % 3] for i in range(30)]), tmp_path)
    drawn = [one.strip() for one in re.findall(r"<text[^>]*>([^<]*)</text>", found.source)]
    assert {"_hidden", "\ufffd", "c" * 39 + "…"} <= set(drawn)


def broken(search, value, pruned=False):
    """A copy of a search, most of whose scores are replaced."""
    search = copy.copy(search)
    search._results = {k: v.copy(deep=True) for k, v in search._results.items()}
    for found in search._results.values():
        found["rmse"][0, 1:, 1, :] = value
        if pruned:
            shape = found.sizes["draw"], found.sizes["candidate"], found.sizes["ridge"]
            found["pruned"] = (("draw", "candidate", "ridge"), np.zeros(shape, dtype=bool))
            found["pruned"][0, 2:] = True
    return search


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_counted(forecaster, tmp_path, value, undrawn):
    found = page(broken(forecaster, value), tmp_path)
    assert "15 of 72" in found.text  # five candidates, one of four splits, three ridges
    search = broken(forecaster, value)
    for one in search._results.values():
        one["rmse"][:] = value
    search.best_score_ = np.inf
    found = page(search, tmp_path)
    assert "72 of 72" in found.text and "no finite score" in found.text


def test_lower_bounds_are_told(forecaster, tmp_path, undrawn):
    found = page(broken(forecaster, 1e-9, pruned=True), tmp_path)
    assert "12 of 18 mean scores are lower bounds" in found.text


def test_trouble_is_told_in_words(tmp_path, undrawn):
    y = np.sin(np.arange(150) / 5)
    space = {"ridge": [0.0, 1e-6, 1e-3], "spectral_radius": [0.1, 0.2, 0.3]}
    with pytest.warns(UserWarning, match="collinear"):
        search = ESNSearchCV(ESNForecaster(40, random_state=0), space, cv=KFold(3)).fit(y)
    found = page(search, tmp_path)
    notes = [attrs for attrs in found.of("p") if attrs.get("class") == "warning"]
    assert notes and "states that are collinear to working precision" in found.text
    best = search.best_params_["spectral_radius"]
    assert ("of those searched" in found.text) == (
        best != 0.2 or search.best_params_["ridge"] == 1e-3
    )


def test_a_forecast_that_needs_future_inputs_is_not_drawn_and_says_why(tmp_path, undrawn):
    y = series(150)
    search = ESNSearchCV(ESNForecaster(8, random_state=0), {"ridge": [1e-6]}, cv=KFold(3))
    found = page(search.fit(y, X=np.cos(np.arange(150))), tmp_path)
    assert "needs the future values of the inputs known in advance" in found.text
    assert not any(title.startswith("Forecast") for title in titles(found))
    ahead = np.cos(np.arange(150, 157))
    found = page(search, tmp_path, horizon=7, X=ahead)
    assert titles(found)[0] == "Forecast of y for 7 steps"
    file = pd.read_csv(io.StringIO(download(found)), **EXACT)
    np.testing.assert_array_equal(file["forecast"], search.forecast(7, X=ahead))
    assert file["row"].tolist() == [*range(150, 157)]


def test_a_large_search_stays_small(tmp_path):
    import xarray as xr

    y = series(120)
    space = {"leak_rate": [0.5], "spectral_radius": [0.5], "ridge": np.logspace(-11, 0, 12)}
    cv = {"CV": KFold(5), "FV": WalkForward(5, valid=9)}
    search = ESNSearchCV(ESNForecaster(8, random_state=0), space, cv=cv).fit(y)
    rng = np.random.default_rng(0)
    values = {
        "leak_rate": rng.uniform(0.1, 1, 2000),
        "spectral_radius": rng.uniform(0, 1.5, 2000),
        "input_scaling": np.tile(np.logspace(-2, 1, 10), 200),
    }
    search.candidates_[:] = [
        {name: float(column[i]) for name, column in values.items()} for i in range(2000)
    ]
    for name, found in search._results.items():
        wider = found.isel(candidate=np.zeros(2000, dtype=int)).assign_coords(
            candidate=np.arange(2000)
        )
        wider = wider.assign_coords({k: ("candidate", v) for k, v in values.items()})
        wider["nrmse"] = wider.nrmse * xr.DataArray(rng.lognormal(0, 2, 2000), dims="candidate")
        wider.attrs["hyper_parameters"] = list(values)
        search._results[name] = wider
    search.best_index_ = search._winner("CV").candidate
    path = write_report(search, tmp_path / "large.html")
    assert path.stat().st_size < 3e6
    found = Page(path.read_text(encoding="utf-8"))
    assert "2000 candidates × 12 ridge values" in found.text
    assert len([t for t in titles(found) if t.startswith("Error over")]) == 3


def test_a_long_series_stays_small(tmp_path):
    X = np.random.default_rng(0).normal(size=(60_000, 1))
    search = ESNSearchCV(ESNRegressor(5, random_state=0), {"ridge": [1e-3, 1]}, cv=KFold(5))
    path = write_report(search.fit(X, np.roll(X[:, 0], 1)), tmp_path / "long.html")
    assert path.stat().st_size < 1.5e6


def test_the_file_is_replaced_whole_or_not_at_all(classifier, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    assert write_report(classifier, str(path)) == path
    before = path.read_text(encoding="utf-8")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(classifier, path)
    assert path.read_text(encoding="utf-8") == before
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(ValueError, match="folder .* does not exist"):
        write_report(classifier, tmp_path / "no" / "report.html")


def test_only_fitted_models_have_a_report(tmp_path):
    for model in (ESNSearchCV(ESNForecaster(), {}), AutoForecaster(3)):
        with pytest.raises(NotFittedError):
            write_report(model, tmp_path / "a.html")
    with pytest.raises(TypeError, match="expected a fitted"):
        write_report(ESNForecaster(), tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_what_is_missing_is_named_with_the_extra(forecaster, tmp_path, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError, match=rf"needs {missing}.*echofold\[report\]"):
        write_report(forecaster, tmp_path / "report.html")


def test_the_users_settings_are_left_alone_and_ignored(forecaster, pages, tmp_path):
    with matplotlib.rc_context({"axes.grid": True, "xtick.direction": "in"}):
        before = dict(matplotlib.rcParams)
        again = write_report(forecaster, tmp_path / "again.html").read_text(encoding="utf-8")
        assert dict(matplotlib.rcParams) == before
    assert again == pages["forecaster"].source
    assert not plt.get_fignums()


MEASURE = """
<!doctype html><meta charset="utf-8"><body><pre id="found"></pre><script>
addEventListener("load", () => {
  const frame = document.querySelector("iframe"), page = frame.contentDocument;
  const rect = e => e.getBoundingClientRect();
  const box = e => [rect(e).left, rect(e).top, rect(e).right, rect(e).bottom];
  const seen = e => rect(e).width > 0;
  const all = s => [...page.querySelectorAll(s)].filter(seen);
  const closed = all("details svg").filter(e => e.checkVisibility()).length;
  page.querySelectorAll("details > summary").forEach(summary => summary.click());
  document.getElementById("found").textContent = JSON.stringify({
    width: page.documentElement.scrollWidth,
    figures: all("figure svg").map(box),
    boxes: all("figure, .card, .warning, h1, h2").map(box),
    bars: [...page.querySelectorAll("[id^=splits][id$='-validation'] path")].map(box),
    steps: [...page.querySelectorAll("[id^=steps][id$='-rmse-0'] path")].filter(seen)
      .map(e => e.getAttribute("d"))[0],
    closed,
    scores: [...page.querySelectorAll(":is(b, span)[data-value]")]
      .map(e => [e.dataset.value, e.innerText]),
    letters: Math.min(...all("figure svg text").map(e => box(e)[3] - box(e)[1])),
    background: getComputedStyle(page.body).backgroundColor,
  });
});
</script><iframe style="border:0;width:WIDTHpx;height:3000px" srcdoc="REPORT"></iframe></body>
"""


def chromium(tmp_path, *arguments):
    """What headless Chromium prints."""
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]  # fmt: skip
    return subprocess.run(
        [CHROMIUM, *flags, *arguments], capture_output=True, text=True, timeout=120, check=True
    )


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1300, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_shows_what_the_results_say(forecaster, tmp_path, width, dark):
    report = write_report(forecaster, tmp_path / "report.html")
    frame = tmp_path / "frame.html"
    text = html.escape(report.read_text(encoding="utf-8"))
    frame.write_text(MEASURE.replace("WIDTH", str(width)).replace("REPORT", text), encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    shown = chromium(tmp_path, scheme, "--dump-dom", "--window-size=1400,1000", frame.as_uri())
    assert "CONSOLE" not in shown.stderr
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', shown.stdout)[1]))

    assert found["closed"] == 0  # details are shown when they are asked for
    assert found["width"] <= width  # nothing sticks out sideways
    assert all(0 <= left < right <= width for left, _, right, _ in found["boxes"])
    assert len(found["figures"]) == 10
    assert found["letters"] > 8  # pixels, of the smallest text in a drawing
    assert found["background"] == ("rgb(21, 23, 26)" if dark else "rgb(251, 251, 250)")

    for exact, written in found["scores"]:
        assert float(written) == pytest.approx(float(exact), rel=1e-3)
    assert forecaster.best_score_ in [float(exact) for exact, _ in found["scores"]]

    # Bars lie as the validation rows do, to a pixel.
    bars = np.array(found["bars"])[:, [0, 2]]
    first = forecaster.results_["CV"].sizes["split"]
    for name, drawn in {"CV": bars[:first], "FV": bars[first:]}.items():
        rows = forecaster.results_[name]
        ends = np.column_stack([rows.valid_start, rows.valid_stop])
        expected = (ends - ends.min()) / np.ptp(ends) * np.ptp(drawn) + drawn.min()
        np.testing.assert_allclose(drawn, expected, atol=1)

    # The line of errors is the errors, but for a shift and a scale.
    points = np.array(re.findall(r"[-\d.]+", found["steps"]), dtype=float).reshape(-1, 2)
    residuals = forecaster.best_estimator_.residuals_[:, :, 0]
    error = np.sqrt(np.nanmean(residuals**2, axis=0))
    assert len(points) == len(error)
    assert np.corrcoef(points[:, 1], error)[0, 1] < -0.9999  # downwards on a screen
    np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(points[:, 0]).mean(), atol=0.02)


CLICK = """
<!doctype html><meta charset="utf-8"><body><pre id="found"></pre><script>
addEventListener("load", async () => {
  const page = document.querySelector("iframe").contentDocument;
  const table = page.querySelector("table.sortable");
  const heads = [...table.querySelectorAll("thead th")];
  const cells = column => [...table.tBodies[0].rows].map(row => row.cells[column].textContent);
  const sorts = () => heads.map(head => head.getAttribute("aria-sort"));
  const button = heads[1].querySelector("button");
  const found = {before: cells(1), dates: cells(0), clicks: []};
  for (let i = 0; i < 2; i++) {
    button.click();
    found.clicks.push({values: cells(1), dates: cells(0), sorts: sorts()});
  }
  button.focus();
  found.focused = page.activeElement === button;
  const link = page.getElementById("download");
  found.file = link.download;
  found.text = atob(link.href.split("base64,")[1]);
  const details = [...page.querySelectorAll("details")];
  found.closed = details.every(one => !one.open);
  details.forEach(one => one.querySelector("summary").click());
  found.open = details.every(one => one.open && one.children[1].checkVisibility());
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script><iframe style="border:0;width:1300px;height:3000px" srcdoc="REPORT"></iframe></body>
"""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_clicks_sorts_and_downloads(forecaster, tmp_path):
    report = write_report(forecaster, tmp_path / "report.html", About(horizon=25))
    frame = tmp_path / "frame.html"
    text = html.escape(report.read_text(encoding="utf-8"))
    frame.write_text(CLICK.replace("REPORT", text), encoding="utf-8")
    shown = chromium(tmp_path, "--dump-dom", frame.as_uri())
    assert "CONSOLE" not in shown.stderr
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', shown.stdout)[1]))
    expected = forecaster.forecast(25, level=[0.9]).to_frame()
    values = [float(value) for value in found["before"]]
    np.testing.assert_allclose(values, expected["forecast"], atol=6e-4)
    up, down = found["clicks"]
    for click, sign, word in ((up, 1, "ascending"), (down, -1, "descending")):
        order = np.argsort(sign * expected["forecast"].to_numpy(), kind="stable")
        assert click["dates"] == [found["dates"][i] for i in order]  # whole rows move
        assert click["values"] == [found["before"][i] for i in order]
        assert click["sorts"] == [None, word, *[None] * (len(click["sorts"]) - 2)]
    assert found["focused"] and found["file"] == "forecast.csv"
    file = pd.read_csv(io.StringIO(found["text"]), **EXACT)
    np.testing.assert_array_equal(file.iloc[:, 1:], expected)
    assert found["closed"] and found["open"]


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("kind", PAGES)
def test_a_browser_opens_the_file_without_complaint(request, tmp_path, kind):
    report = write_report(request.getfixturevalue(kind), tmp_path / "report.html")
    text = report.read_text(encoding="utf-8").replace("<details ", "<details open ")
    report.write_text(text, encoding="utf-8")
    picture = tmp_path / "report.png"
    shown = chromium(
        tmp_path, f"--screenshot={picture}", "--window-size=1200,3000",
        report.as_uri(),
    )  # fmt: skip
    assert "CONSOLE" not in shown.stderr  # the page's policy makes a request an error here
    colours = (plt.imread(picture)[:, :, :3] * 255).round().astype(int).reshape(-1, 3)
    blue = (np.abs(colours - [0x00, 0x72, 0xB2]).max(axis=1) <= 2).sum()
    assert blue > 100  # lines and bars are there
    assert (np.abs(colours - [251, 251, 250]).max(axis=1) <= 2).mean() > 0.1
