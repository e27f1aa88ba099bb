"""The figures of the paper, drawn from the schemes, the data sets and the experiments."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from echofold import (
    Accumulative,
    ESNForecaster,
    KFold,
    LeaveOneOut,
    SingleSplit,
    WalkForward,
    __version__,
    cross_validate,
    datasets,
)
from echofold._machine.files import write_atomically
from echofold.experiments import _tables, generative, speed
from echofold.experiments._tables import Say, expecting_collinear_states
from echofold.metrics import nrmse

# Okabe and Ito's colours, which can be told apart with any colour vision.
BLUE, VERMILION, GREEN, ORANGE, GREY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#BBBBBB"
DRAWS = (1, 2)  # that figure 4 shows
STYLE: dict[Any, Any] = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "figure.constrained_layout.use": True, "svg.fonttype": "none",
    "svg.hashsalt": "echofold", "legend.frameon": False,
}  # fmt: skip


def run(out: Path, quiet: bool = False) -> list[Path]:
    """Draw every figure as PNG and SVG."""
    say, files = Say(quiet), []
    makers: dict[str, Callable[[], Any]] = {
        "figure1_data_splits": data_splits,
        "figure2_schemes": schemes,
        "figure3_series": series,
        "figure4_validation_test": lambda: validation_test(electricity_candidates(out, say)),
        "figure5_ecg": ecg,
        "figure6_speed": lambda: speed_curves(_speeds(out, quiet)),
    }
    from matplotlib import rc_context

    for name, make in makers.items():
        with rc_context(STYLE):
            figure = make()
            for kind in ("png", "svg"):
                path = out / f"{name}.{kind}"
                path.parent.mkdir(parents=True, exist_ok=True)
                # A date in the file would make equal figures differ.
                metadata = {"Date": None} if kind == "svg" else None
                drawn = io.BytesIO()
                figure.savefig(drawn, format=kind, dpi=200, metadata=metadata)
                files.append(write_atomically(path, drawn.getvalue()))
            _close(figure)
        say(f"figures, {name}: drawn", timed=True)
    return files


def _close(figure: Any) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)


def _bars(ax: Any, row: float, parts: list[tuple[float, float]], colour: str, label=None) -> None:
    """Intervals as bars in one row, with thin white edges between them."""
    ax.broken_barh(
        [(a, b - a) for a, b in parts], (row - 0.36, 0.72), facecolors=colour, edgecolors="white",
        linewidths=0.6, label=label,
    )  # fmt: skip


def _moved(interval: tuple[int, int], by: int) -> tuple[int, int]:
    return interval[0] + by, interval[1] + by


def data_splits(n: int = 60, washout: int = 6, test: int = 10) -> Any:
    """Figure 1: how data are divided, from all of them to leave-one-out."""
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6.4, 3.0))
    end = washout + n
    single = SingleSplit(test).splits(n)[0]
    _bars(ax, 0, [(0, end + test)], GREY)
    for row in range(1, 6):
        _bars(ax, row, [(0, washout)], ORANGE, "initialisation" if row == 1 else None)
        _bars(ax, row, [(end, end + test)], GREEN, "testing" if row == 1 else None)
    _bars(ax, 1, [(washout, end)], GREY, "data, or folds")
    _bars(ax, 2, [_moved(part, washout) for part in single.train], BLUE, "training")
    _bars(ax, 2, [_moved(single.valid, washout)], VERMILION, "validation")
    folds = {3: KFold(2), 4: KFold(4), 5: LeaveOneOut()}
    for row, scheme in folds.items():
        _bars(ax, row, [_moved(split.valid, washout) for split in scheme.splits(n)], GREY)
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


def schemes(n: int = 120, k: int = 5) -> Any:
    """Figure 2: the schemes, with folds on the left and steps on the right."""
    from matplotlib import pyplot

    from echofold import plots

    half = {"min_train": n // 2}
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
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(4, 1, figsize=(6.4, 6.4))
    for ax, (name, lengths) in zip(axes, generative.SERIES.items(), strict=True):
        data = getattr(datasets, f"load_{name}")()
        start = lengths.washout + lengths.pairs + 1
        stop = start + lengths.valid
        values = data.data
        ax.plot(values.index, values, color=GREY, linewidth=0.7)
        ax.plot(values.index[:start], values.iloc[:start], color=BLUE, linewidth=0.7)
        # One value back, so that the lines meet.
        test = slice(start - 1, stop)
        ax.plot(values.index[test], values.iloc[test], color=VERMILION, linewidth=0.9)
        ax.set_title(name.capitalize(), fontsize=9, loc="left")
        ax.set_ylabel(data.units.replace("million barrels", "million\nbarrels"))
        ax.margins(x=0.01)
    lines = [pyplot.Line2D([], [], color=colour) for colour in (BLUE, VERMILION, GREY)]
    figure.legend(
        lines, ["training and validation", "testing", "not used"], loc="outside upper center",
        ncols=3,
    )  # fmt: skip
    return figure


def electricity_candidates(out: Path, say: Say) -> pd.DataFrame:
    """Validation and test error of every candidate on Electricity, by SV and FV."""
    name = "electricity"
    s = generative.SERIES[name]
    y, test = s.parts(name)
    every = generative.schemes_of(s)
    settings = {"echofold": __version__, "space": generative.SPACE}
    space, keys = generative.SPACE, ("draw", "leak_rate", "spectral_radius", "ridge", "scheme")
    rows = _tables.Rows(out / "figure4_candidates.csv", settings, keys, say)
    for draw, leak in product(DRAWS, space["leak_rate"]):
        for radius in space["spectral_radius"]:
            if len(rows.where(draw=draw, leak_rate=leak, spectral_radius=radius)):
                continue
            model = ESNForecaster(
                50, leak_rate=leak, spectral_radius=radius, washout=s.washout, scale=None,
                penalize_bias=True, random_state=draw,
            )  # fmt: skip
            with expecting_collinear_states():
                results = cross_validate(
                    model, y, cv={"SV": every["SV"], "FV": every["FV"]}, ridge=space["ridge"],
                    readouts=True,
                )  # fmt: skip
            rows.add({"draw": draw, **row} for row in _candidate_rows(model, results, y, test))
        say(f"figures, draw {draw}, candidates of leak rate {leak}: finished", timed=True)
    return rows.frame


def _candidate_rows(model: ESNForecaster, results, y, test) -> list[dict[str, Any]]:
    """Errors for every ridge: retrained for SV, averaged for FV."""
    rows = []
    for i, ridge in enumerate(generative.SPACE["ridge"]):
        model.set_params(ridge=ridge).fit(y)
        errors = {"SV": nrmse(test, model.forecast(len(test)))}
        model.readout_ = results["FV"].readout.isel(ridge=i).mean("split").values
        errors["FV"] = nrmse(test, model.forecast(len(test)))
        rows += [
            {
                "leak_rate": model.leak_rate, "spectral_radius": model.spectral_radius,
                "ridge": ridge, "scheme": scheme, "test": error,
                "validation": float(results[scheme].nrmse.isel(ridge=i).mean("split")),
            }
            for scheme, error in errors.items()
        ]  # fmt: skip
    return rows


def validation_test(frame: pd.DataFrame) -> Any:
    """Figure 4: test against validation error of every candidate, for SV and FV."""
    from matplotlib import pyplot

    from echofold import plots

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


def ecg(before: float = 3.2, after: float = 3.2) -> Any:
    """Figure 5: a sample of the electrocardiogram with its target and the premature beat."""
    from matplotlib import pyplot

    data = datasets.load_ecg()
    premature = int(data.beats[data.symbols == "V"][0])
    rate = data.sampling_rate
    at = slice(premature - int(before * rate), premature + int(after * rate))
    seconds = np.arange(at.start, at.stop) / rate
    figure, (upper, lower) = pyplot.subplots(
        2, 1, figsize=(6.4, 3.2), sharex=True, height_ratios=(3, 1)
    )
    upper.plot(seconds, data.signal[at, 0], color=BLUE, linewidth=0.9)
    lower.plot(seconds, datasets.beat_target(data, fade=10)[at], color=VERMILION, linewidth=0.9)
    peak = data.signal[premature, 0]
    upper.annotate(
        "premature ventricular\ncontraction", (premature / rate, peak), xytext=(12, 30),
        textcoords="offset points", va="top", fontsize=8,
        arrowprops={"arrowstyle": "-", "linewidth": 0.6},
    )  # fmt: skip
    upper.set_ylabel("input, mV")
    lower.set_ylabel("target")
    lower.set_xlabel("seconds from the beginning of the record")
    upper.margins(x=0)
    lower.margins(x=0)
    figure.align_ylabels()
    return figure


def _speeds(out: Path, quiet: bool) -> pd.DataFrame:
    """Results of the speed experiment, which is run if it has not been."""
    if not (out / "speed.csv").exists():
        speed.run(out, quiet=quiet)
    return pd.read_csv(out / "speed.csv", comment="#", **_tables.EXACT)


def speed_curves(frame: pd.DataFrame) -> Any:
    """Figure 6: seconds against the number of folds."""
    from matplotlib import pyplot

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
