"""The figures of the paper, drawn from the schemes, the data sets and the experiments."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot, rc_context
from matplotlib.lines import Line2D

from echofold import (
    Accumulative,
    ESNForecaster,
    KFold,
    LeaveOneOut,
    SingleSplit,
    WalkForward,
    cross_validate,
    datasets,
    plots,
)
from echofold._machine.files import write_atomically
from echofold.experiments import _tables as tables
from echofold.experiments.paper import generative, speed
from echofold.metrics import nrmse
from echofold.plots._style import BLUE, GREEN, ORANGE, VERMILION

GREY = "#BBBBBB"
DRAWS = (1, 2)  # that figure 4 shows
STYLE: dict[Any, Any] = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "figure.constrained_layout.use": True, "svg.fonttype": "none",
    "svg.hashsalt": "echofold", "legend.frameon": False,
}  # fmt: skip


def run(out: Path, quiet: bool = False) -> list[Path]:
    """Draw every figure as PNG and SVG."""
    say, files = tables.Say(quiet), []
    makers: dict[str, Callable[[], Any]] = {
        "figure1_data_splits": data_splits,
        "figure2_schemes": schemes,
        "figure3_series": series,
        "figure4_validation_test": lambda: validation_test(electricity_candidates(out, say)),
        "figure5_ecg": ecg,
        "figure6_speed": lambda: speed_curves(out, quiet),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, make in makers.items():
        with rc_context(STYLE):
            figure = make()
            for kind in ("png", "svg"):
                # A date in the file would make equal figures differ.
                metadata = {"Date": None} if kind == "svg" else None
                drawn = io.BytesIO()
                figure.savefig(drawn, format=kind, dpi=200, metadata=metadata)
                files.append(write_atomically(out / f"{name}.{kind}", drawn.getvalue()))
            pyplot.close(figure)
        say(f"figures, {name}: drawn", timed=True)
    return files


def _bars(ax: Any, row: float, parts: list[tuple[float, float]], colour: str, label=None) -> None:
    """Intervals as bars in one row, with thin white edges between them."""
    ax.broken_barh(
        [(a, b - a) for a, b in parts], (row - 0.36, 0.72), facecolors=colour, edgecolors="white",
        linewidths=0.6, label=label,
    )  # fmt: skip


def data_splits() -> Any:
    """Figure 1: how data are divided, from all of them to leave-one-out."""
    figure, ax = pyplot.subplots(figsize=(6.4, 3.0))
    n, washout, test = 60, 6, 10
    end = washout + n

    def moved(interval: tuple[int, int]) -> tuple[int, int]:
        return interval[0] + washout, interval[1] + washout

    single = SingleSplit(test).splits(n)[0]
    _bars(ax, 0, [(0, end + test)], GREY)
    for row in range(1, 6):
        _bars(ax, row, [(0, washout)], ORANGE, "initialisation" if row == 1 else None)
        _bars(ax, row, [(end, end + test)], GREEN, "testing" if row == 1 else None)
    _bars(ax, 1, [(washout, end)], GREY, "data, or folds")
    _bars(ax, 2, [*map(moved, single.train)], BLUE, "training")
    _bars(ax, 2, [moved(single.valid)], VERMILION, "validation")
    for row, scheme in {3: KFold(2), 4: KFold(4), 5: LeaveOneOut()}.items():
        _bars(ax, row, [moved(split.valid) for split in scheme.splits(n)], GREY)
    names = ["a) all data", "b) test split off", "c) single validation (SV)", "d) 2 folds"]
    ax.set_yticks(range(6), [*names, "    4 folds", "e) leave one out"])
    for label in ax.get_yticklabels():
        label.set_horizontalalignment("left")
    ax.tick_params(axis="y", length=0, pad=125)
    ax.set_ylim(5.6, -0.6)
    ax.set_xlim(0, end + test)
    ax.set_xticks([])
    ax.set_xlabel("time →", loc="right")
    ax.spines[["left", "bottom"]].set_visible(False)
    figure.legend(loc="outside upper right", ncols=5, handlelength=1.2, columnspacing=1.2)
    return figure


def schemes() -> Any:
    """Figure 2: the schemes, with folds on the left and steps on the right."""
    n, k, half = 120, 5, {"min_train": 60}
    drawn = {
        f"{k}-fold cross-validation (CV)": KFold(k),
        f"{k}-step cross-validation (CV)": KFold(k, valid=36),
        f"{k}-fold accumulative validation (AV)": Accumulative(k, **half),
        f"{k}-step accumulative validation (AV)": Accumulative(k, valid=24, **half),
        f"{k}-fold walk-forward validation (FV)": WalkForward(k, **half),
        f"{k}-step walk-forward validation (FV)": WalkForward(k, valid=24, **half),
    }
    figure, axes = pyplot.subplots(3, 2, figsize=(6.8, 4.6), sharex=True, sharey=True)
    for ax, (title, scheme) in zip(axes.flat, drawn.items(), strict=True):
        plots.splits(scheme, n, ax=ax)
        handles, labels = ax.get_legend_handles_labels()
        ax.get_legend().remove()
        ax.set_title(title, fontsize=9, loc="left")
        ax.set(xlabel="", ylabel="")
    for ax in axes[:, 0]:
        ax.set(ylabel="split", yticks=range(1, k + 1))
    for ax in axes[-1]:
        ax.set_xlabel("time →", loc="right")
        ax.set_xticks([])
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def series() -> Any:
    """Figure 3: the four series with their test intervals."""
    figure, axes = pyplot.subplots(4, 1, figsize=(6.4, 6.4))
    for ax, (name, lengths) in zip(axes, generative.SERIES.items(), strict=True):
        data = getattr(datasets, f"load_{name}")()
        start, values = lengths.washout + lengths.pairs + 1, data.data
        # One value back, so that the lines meet.
        test = values.iloc[start - 1 : start + lengths.valid]
        for part, colour, width in (
            (values, GREY, 0.7), (values.iloc[:start], BLUE, 0.7), (test, VERMILION, 0.9)
        ):  # fmt: skip
            ax.plot(part.index, part, color=colour, linewidth=width)
        ax.set_title(name.capitalize(), fontsize=9, loc="left")
        ax.set_ylabel(data.units.replace("million barrels", "million\nbarrels"))
        ax.margins(x=0.01)
    lines = [Line2D([], [], color=colour) for colour in (BLUE, VERMILION, GREY)]
    names = ["training and validation", "testing", "not used"]
    figure.legend(lines, names, loc="outside upper center", ncols=3)
    return figure


def electricity_candidates(out: Path, say: tables.Say) -> pd.DataFrame:
    """Validation and test error of every candidate on Electricity, by SV and FV."""
    s, space = generative.SERIES["electricity"], generative.SPACE
    y, test = s.parts("electricity")
    cv = {name: generative.schemes_of(s)[name] for name in ("SV", "FV")}
    keys = ("draw", "leak_rate", "spectral_radius", "ridge", "scheme")
    rows = tables.Rows(out / "figure4_candidates.csv", {"space": space}, keys, say)
    for draw, leak in product(DRAWS, space["leak_rate"]):
        for radius in space["spectral_radius"]:
            part = {"draw": draw, "leak_rate": leak, "spectral_radius": radius}
            if len(rows.where(**part)):
                continue
            model = ESNForecaster(
                50, leak_rate=leak, spectral_radius=radius, washout=s.washout, scale=None,
                penalize_bias=True, random_state=draw,
            )  # fmt: skip
            with tables.expecting_collinear_states():
                found = cross_validate(model, y, cv=cv, ridge=space["ridge"], readouts=True)
            rows.add(part | row for row in _candidate_rows(model, found, y, test))
        say(f"figures, draw {draw}, candidates of leak rate {leak}: finished", timed=True)
    return rows.frame


def _candidate_rows(model: ESNForecaster, found: Any, y, test) -> list[dict[str, Any]]:
    """Errors for every ridge: retrained for SV, averaged for FV."""
    rows = []
    for i, ridge in enumerate(generative.SPACE["ridge"]):
        model.set_params(ridge=ridge).fit(y)
        errors = {"SV": nrmse(test, model.forecast(len(test)))}
        model.readout_ = found["FV"].readout.isel(ridge=i).mean("split").values
        errors["FV"] = nrmse(test, model.forecast(len(test)))
        for scheme, error in errors.items():
            validation = float(found[scheme].nrmse.isel(ridge=i).mean("split"))
            rows.append({"ridge": ridge, "scheme": scheme, "test": error, "validation": validation})
    return rows


def validation_test(frame: pd.DataFrame) -> Any:
    """Figure 4: test against validation error of every candidate, for SV and FV."""
    figure, axes = pyplot.subplots(
        len(DRAWS), 2, figsize=(6.8, 3.4 * len(DRAWS)), sharex=True, sharey=True, squeeze=False
    )
    titles = {"SV": "SV, retrained", "FV": "k-step FV, averaged"}
    low, high = 0.2, 2.5
    for ax, (draw, scheme) in zip(axes.flat, product(DRAWS, titles), strict=True):
        part = frame[(frame.draw == draw) & (frame.scheme == scheme)]
        plots.validation_test(part.validation, part.test, ax=ax)
        handles, labels = ax.get_legend_handles_labels()
        ax.get_legend().remove()
        for text in list(ax.texts):
            text.remove()
        outside = (part[["validation", "test"]] >= high).any(axis=1).sum()
        ax.text(
            0.98, 0.03, f"{outside} of {len(part)} lie outside", ha="right", fontsize=8,
            transform=ax.transAxes,
        )  # fmt: skip
        ax.set_title(f"{titles[scheme]}, draw {draw}", fontsize=9, loc="left")
        ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
            axis.set_ticks([], minor=True)
    for ax in axes.flat:
        ax.label_outer()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def ecg() -> Any:
    """Figure 5: a sample of the electrocardiogram with its target and the premature beat."""
    data = datasets.load_ecg()
    premature = int(data.beats[data.symbols == "V"][0])
    rate = data.sampling_rate
    at = slice(premature - int(3.2 * rate), premature + int(3.2 * rate))
    seconds = np.arange(at.start, at.stop) / rate
    figure, axes = pyplot.subplots(2, 1, figsize=(6.4, 3.2), sharex=True, height_ratios=(3, 1))
    upper, lower = axes
    upper.plot(seconds, data.signal[at, 0], color=BLUE, linewidth=0.9)
    lower.plot(seconds, datasets.beat_target(data, fade=10)[at], color=VERMILION, linewidth=0.9)
    peak = data.signal[premature, 0]
    upper.annotate(
        "premature ventricular\ncontraction", (premature / rate, peak), xytext=(12, 30),
        textcoords="offset points", va="top", fontsize=8,
        arrowprops={"arrowstyle": "-", "linewidth": 0.6},
    )  # fmt: skip
    upper.set_ylabel("input, mV")
    lower.set(xlabel="seconds from the beginning of the record", ylabel="target")
    for ax in axes:
        ax.margins(x=0)
    figure.align_ylabels()
    return figure


def speed_curves(out: Path, quiet: bool) -> Any:
    """Figure 6: seconds against the number of folds, which are measured if they have not been."""
    if not (out / "speed.csv").exists():
        speed.run(out, quiet=quiet)
    frame = pd.read_csv(out / "speed.csv", comment="#", **tables.EXACT)
    figure, axes = pyplot.subplots(1, 2, figsize=(6.8, 3.2))
    looks = {
        "naive": ("naive", GREY, "s"), "small_k": ("small k", ORANGE, "o"),
        "large_k": ("large k", BLUE, "^"), "auto": ("automatic choice", VERMILION, "."),
    }  # fmt: skip
    for ax, (units, part) in zip(axes, frame.groupby("units"), strict=True):
        for algorithm, (label, colour, marker) in looks.items():
            line = part[part.algorithm == algorithm].sort_values("k")
            dashes = "--" if algorithm == "auto" else "-"
            ax.plot(
                line.k, line.seconds, dashes, marker=marker, color=colour, label=label,
                linewidth=1.1, markersize=4,
            )  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="number of folds k")
        ax.set_title(f"{units} units", fontsize=9, loc="left")
        ax.grid(True, which="major", linewidth=0.4, color="#DDDDDD")
    axes[0].set_ylabel("seconds")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure
