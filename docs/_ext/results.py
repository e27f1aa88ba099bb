"""Stored results in pages: benchmarks as tables and curves, the tables of the paper as they are.

A page says where with a comment on a line of its own: ``<!-- benchmarks -->`` takes every file in
``benchmarks/results``, ``<!-- benchmark: coverage -->`` one of them, ``<!-- paper -->`` every
Markdown file of the paper in ``docs/_results``, ``<!-- paper: racca -->`` that of another, and
``<!-- claims -->`` the three numbers of the landing page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "benchmarks" / "results"
PAPER = ROOT / "docs" / "_results"
PICTURES = "/generated/pictures"
OTHERS = ("racca",)  # tables of other papers, shown where a page names them
MARKER = re.compile(
    r"^<!-- (benchmarks|claims|benchmark: (?P<name>\w+)|paper(: (?P<table>\w+))?) -->$",
    re.MULTILINE,
)
HYBRID = ("model", "network", "both")
SHOWN = {  # of folds.json: name in a row, name in the picture, colour, line
    "auto": ("echofold", "#0072B2", "-"),
    "paper_naive": ("naive", "#4D4D4D", ":"),
    "paper_small_k": ("paper, small k", "#E69F00", "--"),
    "paper_large_k": ("paper, large k", "#CC79A7", "-."),
}


def table(header: list[str], rows: list[list[str]], text: int = 1) -> str:
    """A Markdown table with columns of text on the left, one or more, and numbers on the right."""
    rule = [*["---"] * text, *["---:"] * (len(header) - text)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows]) + "\n"


def machine(found: dict[str, Any]) -> str:
    """On what was measured, in a sentence."""
    told = found["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in told.items() if k not in ("cpu", "threads", "gpu"))
    where = f"{told['gpu']} with " if told.get("gpu") else ""
    threads = told.get("threads")
    on = f"{threads} thread{'s' if threads != '1' else ''} of " if threads else ""
    return f"*Measured on {where}{on}{told['cpu']}; {versions}.*\n"


def seconds(value: float) -> str:
    """A time with two or three digits."""
    if value < 1:
        return f"{value * 1e3:.3g}\N{NO-BREAK SPACE}ms"
    return f"{value:.3g}\N{NO-BREAK SPACE}s"


def reservoir(found: dict[str, Any]) -> Iterator[str]:
    """Steps of one reservoir, of many, and in a closed loop."""
    yield "Driving one reservoir, microseconds a step:\n\n"
    yield table(
        ["units, W", "echofold", "reservoirpy", "NumPy loop", "reservoirpy / echofold"],
        [
            [f"{row['units']}, {row['W']}", f"{row['echofold']:.2f}", f"{row['reservoirpy']:.2f}",
             f"{row['numpy']:.2f}", f"{row['reservoirpy'] / row['echofold']:.1f}"]
            for row in found["one"]
        ],
    )  # fmt: skip
    yield "\n135 candidates that share a draw, microseconds for each candidate and step:\n\n"
    yield table(
        ["units", "echofold"], [[str(r["units"]), f"{r['echofold']:.2f}"] for r in found["many"]]
    )
    yield "\nClosed-loop generation of 512 columns, against its matrix product alone:\n\n"
    yield table(
        ["units", "ns a neuron and step", "multiple of the product"],
        [[str(r["units"]), f"{r['ns']:.1f}", f"{r['times_product']:.2f}"]
         for r in found["lockstep"]],
    )  # fmt: skip


def folds(found: dict[str, Any], pictures: Path) -> Iterator[str]:
    """Time against the number of folds, as a picture and a table."""
    pictures.mkdir(parents=True, exist_ok=True)
    fold_curves(found["curves"], pictures / "folds.png")
    yield f"```{{image}} {PICTURES}/folds.png\n:alt: Seconds against the number of folds\n"
    yield ":width: 538px\n```\n\n"
    for units in ("50", "500"):
        rows = found["curves"].get(f"cv_{units}", [])
        shown = [row for row in rows if row["k"] in (2, 5, 10, 63, 630, rows[-1]["k"])]
        yield f"k-fold cross-validation, {units} units:\n\n"
        yield table(
            ["k", *(name for name, *_ in SHOWN.values())],
            [[str(row["k"]), *(seconds(row[key]) if key in row else "–" for key in SHOWN)]
             for row in shown],
        )  # fmt: skip
        yield "\n"
    names = {
        "flatness_from_5": "slowest k from 5 up, as a multiple of k = 10",
        "av_flatness_from_5": "the same for accumulative validation",
        "fv_flatness_from_5": "the same for walk-forward validation",
        "ten_outputs_flatness_from_5": "the same with ten outputs",
        "large_k_paper_over_ours_at_n": "leave-one-out: the paper's large k over ours",
        "naive_over_ours_at_n": "leave-one-out: naive over ours",
    }
    summary = found["summary"]
    rows = []
    for key, name in names.items():
        cells = [summary.get(units, {}).get(key) for units in ("50", "500")]
        if any(cell is not None for cell in cells):
            rows.append([name, *("–" if c is None else f"{c:,.2f}" for c in cells)])
    yield table(["", "50 units", "500 units"], rows)
    if "auto_over_best" in summary:
        told = summary["auto_over_best"]
        yield (
            f"\nOver {told['problems']} problems, the algorithm chosen takes {told['median']:.2f} "
            f"times (median) and at most {told['largest']:.2f} times as long as the better of the "
            "two.\n"
        )


def fold_curves(curves: dict[str, list], path: Path) -> None:
    """Draw seconds against k, for both sizes of reservoir."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    fig, both = pyplot.subplots(
        2, figsize=(5.6, 5.6), sharex=True, sharey=True, layout="constrained"
    )
    for ax, units in zip(both, ("50", "500"), strict=True):
        rows = curves.get(f"cv_{units}", [])
        for key, (name, colour, line) in SHOWN.items():
            points = [(row["k"], row[key]) for row in rows if key in row]
            if points:
                ax.loglog(*zip(*points, strict=True), line, color=colour, label=name)
        ax.set_title(f"{units} units", fontsize="medium")
        ax.set_ylabel("seconds")
        ax.grid(alpha=0.3)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    both[1].set_xlabel("folds k")
    both[0].legend(frameon=False, fontsize="small")
    fig.savefig(path, dpi=192, facecolor="white")
    pyplot.close(fig)


def weight(found: dict[str, Any]) -> Iterator[str]:
    """What a bare installation weighs, and what its parts cost to import."""
    packages = found["packages"]
    small = [row for row in packages if row["megabytes"] < 1]
    rows = [
        [*(", ".join(names).replace("_", "-") for names in ([row["package"]], row["because of"])),
         f"{row['megabytes']:.0f}"]
        for row in packages if row not in small
    ]  # fmt: skip
    rows.append([f"{len(small)} others", "", f"{sum(row['megabytes'] for row in small):.0f}"])
    rows.append(["**together**", "", f"**{sum(row['megabytes'] for row in packages):.0f}**"])
    yield table(["package", "required by", "MB"], rows, text=2)
    yield "\nProcesses that import, in seconds of the processor:\n\n"
    told = found["imports"]
    yield table(
        ["process", "does not import", "seconds", "of its dependencies"],
        [
            [name, ", ".join(told["not imported"][name]), f"{seconds:.2f}",
             f"{told['ratio'][name]:.2f}"]
            for name, seconds in told["seconds"].items() if name != "nothing"
        ],
        text=2,
    )  # fmt: skip


def search(found: dict[str, Any]) -> Iterator[str]:
    """A whole search against the plain way."""
    told = found["search"]
    yield table(
        ["135 candidates × 12 ridge values × 18 splits", "time", "plain way / this"],
        [
            ["plain NumPy, scaled up from a sample", seconds(told["plain_seconds"]), "1"],
            ["echofold", seconds(told["echofold_seconds"]), f"{told['ratio']:.0f}"],
            ["echofold, pruned", seconds(told["pruned_seconds"]), f"{told['ratio_pruned']:.0f}"],
        ],
    )  # fmt: skip
    yield (
        f"\nCompilation is apart: {seconds(told['compilation_seconds'])}, "
        f"{seconds(told['pruned_compilation_seconds'])} with pruning; counted in, the ratio is "
        f"{told['ratio_with_compilation']:.0f}.\n"
    )
    if "four_schemes" in found:
        share = found["four_schemes"]["together_over_apart"]
        yield f"\nFour schemes in one search take {share:.2f} times as long as one after another.\n"
    if "pruning" in found:
        yield "\nSteps of closed-loop runs that pruning leaves, the winner being the same:\n\n"
        yield table(
            ["series", "left"],
            [[name, f"{row['column_steps_left']:.0%}"] for name, row in found["pruning"].items()],
        )


def coverage(found: dict[str, Any]) -> Iterator[str]:
    """Coverage of prediction intervals."""
    thirds = ["first third", "second third", "last third"]
    yield table(
        ["level", "inside", *(f"{third} of the steps" for third in thirds),
         "series with less than half of it"],
        [
            [f"{row['level']:.0%}", f"{row['coverage']:.1%} ± {row['standard_error']:.1%}",
             *(f"{row[third]:.1%}" for third in thirds),
             f"{row['below half of the level']} of {row['series']}"]
            for row in found["coverage"]
        ],
    )  # fmt: skip


def trust(found: dict[str, Any]) -> Iterator[str]:
    """How far every way is off, in roundings of the data."""
    told = found["trust"]
    yield f"{told['count']:,} problems by every algorithm and memory way:\n\n"
    yield table(
        ["way", "problems", "median", "largest", "above 10", "beyond 100, of the values",
         "splits refitted"],
        [
            [way, f"{row['problems']:,}", f"{row['median_roundings']:.1f}",
             f"{row['largest_roundings']:,.0f}", f"{row['share_above_10']:.1%}",
             f"{row['largest_relative_above_100']:.0e}" if row["largest_relative_above_100"]
             else "none", f"{row['share_refitted']:.0%}"]
            for way, row in told["ways"].items()
        ],
    )  # fmt: skip


def precision(found: dict[str, Any]) -> Iterator[str]:
    """Errors of what is selected, and times, in single precision beside double."""
    yield "Errors (NRMSE) of what a search selects, and its time once compiled:\n\n"
    yield table(
        ["data, horizon", "validated, double", "single", "later rows, double", "single",
         "scores differ, median", "from ridge 1e-6, at most", "a warning", "search, double",
         "single"],
        [
            [name, f"{row['double']['validation']:.4g}", f"{row['single']['validation']:.4g}",
             f"{row['double']['test']:.4g}", f"{row['single']['test']:.4g}",
             f"{row['median_difference']:.0e}", f"{row['largest_where_ridge_is_1e-6_or_more']:.0e}",
             "yes" if row["said"] else "no", seconds(row["double"]["seconds"]),
             seconds(row["single"]["seconds"])]
            for name, row in found["cases"].items()
        ],
    )  # fmt: skip
    yield "\nTimes faster:\n\n"
    yield table(
        ["units", "driving", "closed loops"],
        [[str(row["units"]), *(f"{row[stage]['times_faster']:.2f}"
                               for stage in ("drive", "closed loops"))]
         for row in found["times"]],
    )  # fmt: skip


def longer(found: dict[str, Any]) -> Iterator[str]:
    """Memory and time of series that are read in blocks, beside those of arrays."""
    yield table(
        ["job", "rows", "memory, in blocks", "memory, from an array", "time, in blocks",
         "time, from an array"],
        [
            [row["job"], f"{row['rows']:,}", f"{row['blocks']['megabytes']:,.0f} MB",
             f"{row['array']['megabytes']:,.0f} MB" if row["array"] else "–",
             seconds(row["blocks"]["seconds"]),
             seconds(row["array"]["seconds"]) if row["array"] else "–"]
            for row in found["longer"]
        ],
    )  # fmt: skip


def device(found: dict[str, Any]) -> Iterator[str]:
    """Searches on an accelerator beside all cores of its machine."""
    cores = f"{found['cores']} cores, whole fit"
    yield table(
        ["search", "all candidates evaluated", "whole fit", cores, "first time, compiling"],
        [
            [name, *(seconds(row[what]) for what in
             ("device_search_seconds", "device_fit_seconds", "host_seconds",
              "device_first_seconds"))]
            for name, row in found["cases"].items()
        ],
    )  # fmt: skip
    yield "\nHow far scores of both lie apart, relative to their size, where they are stable:\n\n"
    yield table(
        ["search", "stable means", "scores", "within 1e-8", "largest", "largest at a ridge of 0"],
        [
            [name, row["stable_means"], f"{row['compared']:,}",
             f"{row['share_within_1e-8']:.2%}", f"{row['largest_difference_of_stable']:.0e}",
             f"{row['largest_at_ridge_0']:.0e}"]
            for name, row in found["cases"].items()
        ],
    )  # fmt: skip
    yield (
        f"\nThe ill-conditioned electrocardiogram at a ridge of 0, on the device: validation "
        f"{found['ecg']['validation']:.5f}, test {found['ecg']['test']:.5f}.\n"
    )


def first(found: dict[str, Any]) -> Iterator[str]:
    """First and second processes, in time of the processor, or by the clock on an accelerator."""
    clock = "processor" if found["device"] == "cpu" else "wall"
    yield table(
        ["beyond imports", "imports", "first process", "aim", "second process", "aim", "warm",
         "programs"],
        [
            [name, seconds(row[clock]["first process"]["imports"]),
             *(seconds(row[clock][which][step]) for which in ("first process", "second process")
               for step in ("first", "aim")),
             seconds(min(steps["second"] for steps in row[clock].values())),
             str(row["programs"])]
            for name, row in found["cases"].items()
        ],
    )  # fmt: skip
    if "commands" in found:
        yield "\nWhole commands, and a process that only imports what they are made with:\n\n"
        yield table(
            ["command", "first process", "second process", "imports"],
            [
                [f"`{row['command']}`",
                 *(seconds(row[clock][step]) for step in ("first", "second", "imports"))]
                for row in found["commands"]
            ],
        )  # fmt: skip


def roofline(found: dict[str, Any]) -> Iterator[str]:
    """Stages of a search beside a large product and a large copy."""
    yield table(
        ["stage", "ms", "Gflop", "GB", "of a product", "of a copy"],
        [
            [name, f"{1e3 * row['seconds']:.1f}", f"{row['operations'] / 1e9:.1f}",
             f"{row['bytes'] / 1e9:.2f}", f"{row['of_product']:.1%}", f"{row['of_copy']:.1%}"]
            for name, row in found["stages"].items()
        ],
    )  # fmt: skip
    rest = found["timed"] - sum(row["seconds"] for row in found["stages"].values())
    yield (
        f"\nThe whole search takes {seconds(found['search'])}, of which {seconds(rest)} are reading"
        f", scores and the final model. A large product makes {found['product'] / 1e9:,.0f} Gflop/s"
        f" here, a large copy moves {found['copy'] / 1e9:,.0f} GB/s.\n"
    )


def plain(found: dict[str, Any]) -> Iterator[str]:
    """One thread of ours beside one of plain NumPy; collinear inputs; single fits."""
    yield table(
        ["a search of 8 candidates", "echofold", "plain NumPy", "times", "errors differ by"],
        [
            [name, seconds(row["seconds"]), seconds(row["plain_seconds"]), f"{row['times']:.1f}",
             f"{row['median_difference']:.0e}, at most {row['largest_difference']:.0e}"]
            for name, row in found["searches"].items()
        ],
    )  # fmt: skip
    yield (
        "\nWhat 64 inputs that are collinear to rounding cost a cross-validation, of which some "
        "splits are then refitted plainly:\n\n"
    )
    yield table(
        ["readout", "collinear", "generic", "times", "refitted of 10"],
        [
            [name, seconds(row["collinear"]), seconds(row["generic"]), f"{row['times']:.1f}",
             str(row["refitted"])]
            for name, row in found["collinear"].items()
        ],
    )  # fmt: skip
    yield "\nA fit of 2,000 steps beside driving the same network in NumPy:\n\n"
    yield table(
        ["", "fit", "drive", "times"],
        [
            [name, seconds(row["fit"]), seconds(row["drive"]), f"{row['times']:.1f}"]
            for name, row in found["fits"].items()
        ],
    )  # fmt: skip


def compare(found: dict[str, Any]) -> Iterator[str]:
    """Times of two versions side by side."""
    yield table(
        ["job", "before", "now", "now / before"],
        [
            [job, seconds(row["before_ms"] / 1e3), seconds(row["now_ms"] / 1e3),
             f"{row['ratio']:.2f}"]
            for job, row in found["jobs"].items()
        ],
    )  # fmt: skip


def accuracy(found: dict[str, Any]) -> Iterator[str]:
    """Errors of the default forecast beside those of automatic models."""
    yield table(
        ["method", "series", "geometric mean", "echofold on these", "median", "mean", "lowest on",
         "90 % covers", "interval score", "worse than 1.5 × naive", "CPU"],
        [
            [method, str(row["series"]), f"{row['geometric mean']:.2f}",
             f"{row['echofold on these']:.2f}", f"{row['median']:.2f}",
             f"{row['mean']:.2f}", str(row["wins"]), f"{row['covered']:.0%}",
             f"{row['interval score']:.2f}", str(row["worse than 1.5 naive"]),
             seconds(row["seconds"])]
            for method, row in found["summary"].items()
        ],
    )  # fmt: skip
    methods = list(found["summary"])
    yield "\nEvery series:\n\n"
    rows = []
    for name, told in sorted(found["series"].items()):
        lowest = min(one["mase"] for one in told.values())
        cells = [f"{told[m]['mase']:.2f}" if m in told else "–" for m in methods]
        marked = [
            f"**{cell}**" if m in told and told[m]["mase"] == lowest else cell
            for m, cell in zip(methods, cells, strict=True)
        ]
        rows.append([name, *marked])
    yield table(["series", *methods], rows)


def competitions(found: dict[str, Any]) -> Iterator[str]:
    """Errors on short series beside automatic models and their median, by period and length."""
    groups = found["summary"]
    yield table(
        ["method", "series", "MASE", "geometric", "sMAPE", "lowest on", "90 % covers",
         "interval score", "its median", "CPU a series", "MASE / SCUM's"],
        [
            [method, str(row["series"]), f"{row['MASE']:.3f}", f"{row['geometric MASE']:.3f}",
             f"{row['sMAPE']:.2f} %", f"{row['wins']:.0f}", f"{row['covered']:.0%}",
             f"{row['interval score']:.2f}", f"{row['median interval score']:.2f}",
             seconds(row["seconds"]), f"{row['ratio to SCUM']['MASE']:.3f}"]
            for method, row in groups["all"].items()
        ],
    )  # fmt: skip
    yield "\nAs shares of SCUM's, with the standard error of that of the MASE:\n\n"
    yield table(
        ["series", "number", "MASE", "geometric MASE", "sMAPE", "interval score", "90 % covers"],
        [
            [name, str(row["series"]),
             f"{row['ratio to SCUM']['MASE']:.3f} ± {row['ratio to SCUM']['standard error']:.3f}",
             *(f"{row['ratio to SCUM'][key]:.3f}"
               for key in ("geometric MASE", "sMAPE", "interval score")),
             f"{row['covered']:.0%}"]
            for name, row in ((name, rows["echofold"]) for name, rows in groups.items())
        ],
    )  # fmt: skip


def racca(found: dict[str, Any]) -> Iterator[str]:
    """Seven strategies on a grid, by one search and by plain NumPy."""
    draws, together = found["draws"], found["times, all draws, compiling included"]
    yield table(
        ["7 × 7 candidates, 7 strategies", "CPU time a draw", "plain way / this"],
        [
            ["plain NumPy", seconds(found["plain NumPy, CPU s a draw"]), "1"],
            ["echofold", seconds(found["echofold, CPU s a draw"]), f"{found['times']:.1f}"],
        ],
    )
    yield (
        f"\nMedian of {draws} draw{'s' if draws != 1 else ''}; all of them together, with what is "
        f"compiled on the way, {together:.1f} times. Both sides selected the same candidate in "
        f"{found['same candidate selected']} cases; scores differ by "
        f"{found['median difference of log_mse']:.2g} in the median.\n"
    )


def chaotic(found: dict[str, Any]) -> Iterator[str]:
    """Test errors and times of searches, ours and reservoirpy's."""

    def tested(side: dict[str, Any]) -> str:
        away = f", {side['ran away']} ran away" if side.get("ran away") else ""
        return f"{side['error']:.3g}{away}"

    yield table(
        ["task; measure", "echofold", "reservoirpy", "CPU, echofold", "CPU, reservoirpy"],
        [
            [f"{row['task']}; {row['measure']}", tested(row["echofold"]),
             tested(row["reservoirpy"]), seconds(row["echofold"]["cpu"]),
             seconds(row["reservoirpy"]["cpu"])]
            for row in found["tasks"]
        ],
    )  # fmt: skip
    first = [seconds(row["echofold"]["first"]) for row in found["tasks"]]
    yield f"\nCompilation is apart: the first time, ours took {', '.join(first)}.\n"
    for row in found["tasks"]:
        if row["published"]:
            yield f"\nPublished for {row['task']}: {row['published']}.\n"


def fields(found: dict[str, Any]) -> Iterator[str]:
    """How long forecasts of fields hold, and what finding their settings took."""

    def took(row: dict[str, Any]) -> str:
        """CPU on the processor, or time on an accelerator."""
        on = "" if row["device"] == "cpu" else f", {row['device']}"
        return f"{seconds(row['wall' if on else 'cpu'])}{on}"

    yield table(
        ["field", "inside", "neighbourhoods", "median, Lyapunov times", "one in ten below",
         "rows to learn from", "networks validated", "search, CPU"],
        [
            [row["task"], row["settings"].get("reservoir__kind", f"{row['units']} units"),
             str(row["neighbourhoods"]), f"{row['median']:.1f}", f"{row['one in ten below']:.1f}",
             f"{row['rows']:,}", str(row["networks"]), took(row)]
            for row in found["tasks"]
        ],
    )  # fmt: skip
    for row in found["tasks"]:
        if row["published"]:
            yield f"\nPublished for {row['task']}: {row['published']}.\n"


def learning(found: dict[str, Any]) -> Iterator[str]:
    """Learning on: errors along a drift, times of a row, and what is lost to rounding."""
    yield table(
        ["way to learn; NRMSE of 50 steps ahead", "median", "nine in ten below",
         "median, second half", "one step ahead", "CPU for 50 rows"],
        [
            [name, f"{row['median']:.3f}", f"{row['nine in ten']:.2g}",
             f"{row['median, second half']:.3f}", f"{row['nrmse, one step']:.1e}",
             seconds(row["CPU ms for 50 rows"] / 1e3)]
            for name, row in found["drift"].items()
        ],
    )  # fmt: skip
    yield "\nA row, after 2,000 others, beside a fit of 3,000, and how far both are apart:\n\n"
    yield table(
        ["units", "a row", "with forgetting", "moved on, not learned", "a fit", "a fit / a row",
         "apart", "with forgetting, apart"],
        [
            [str(row["units"]), seconds(row["row, learned"]), seconds(row["row, forgetting"]),
             seconds(row["row, moved alone"]), seconds(row["fit"]), f"{row['fit / row']:.0f}",
             f"{row['apart, learned']:.0e}", f"{row['apart, forgetting']:.0e}"]
            for row in found["times"]
        ],
    )  # fmt: skip
    condition = found["collinear"][0]["condition"]
    yield (
        f"\nStates with a condition of {condition:.0e}, 1,000 rows one by one; what is predicted "
        "is off from a QR in extended precision by:\n\n"
    )
    yield table(
        ["ridge", "learned row by row", "one fit", "both apart"],
        [
            [f"{row['ridge']:g}", f"{row['learned off']:.0e}", f"{row['fitted off']:.0e}",
             f"{row['learned and fitted apart']:.0e}"]
            for row in found["collinear"]
        ],
    )  # fmt: skip


def hybrid(found: dict[str, Any]) -> Iterator[str]:
    """How long forecasts hold by a model, by a network, and by both."""

    def told(one: dict[str, Any]) -> str:
        low, middle, high = one["valid"]
        return f"{middle:.1f} ({low:.1f} to {high:.1f})"

    yield table(
        ["units, rows", "model", "network", "both", "CPU, network", "CPU, both"],
        [
            [f"{row['units']}, {row['rows']:,}", *(told(row[n]) for n in HYBRID),
             *(seconds(row[name]["cpu"]) for name in HYBRID[1:])]
            for row in found["sizes"]
        ],
    )  # fmt: skip


def classify(found: dict[str, Any]) -> Iterator[str]:
    """Accuracies of classifiers, and the time they take."""
    sets, methods = found["sets"] | {"mean": found["mean"]}, list(found["mean"])
    yield table(
        ["data", *methods],
        [[name, *(f"{one[m]['accuracy']:.3f}" for m in methods)] for name, one in sets.items()]
        + [["CPU, mean", *(_seconds_of(found["mean"][method]) for method in methods)]],
    )


def classify_sizes(found: dict[str, Any]) -> Iterator[str]:
    """Accuracies and times by the number of sequences."""
    methods = "ESNClassifier()", "MiniRocket"
    yield table(
        ["sequences", "channels", *methods, *(f"CPU, {one}" for one in methods), "times"],
        [
            [str(row["sequences"]), str(row["channels"]),
             *(f"{row[one]['accuracy']:.3f}" for one in methods),
             *(seconds(row[one]["seconds"]) for one in methods), f"{row['times']:.1f}"]
            for row in found["rows"]
        ],
    )  # fmt: skip


def _seconds_of(one: dict[str, float]) -> str:
    return seconds(one["seconds"]) if "seconds" in one else ""


def states(found: dict[str, Any]) -> Iterator[str]:
    """Accuracies by what readouts see, and how good probabilities are."""
    names = list(found["mean"]["accuracy"])
    sets = found["sets"] | {"mean": found["mean"]}
    yield table(
        ["data", *names],
        [[name, *(f"{one['accuracy'][n]:.3f}" for n in names)] for name, one in sets.items()],
    )
    yield "\nProbabilities, of the default:\n\n"
    yield table(
        ["probabilities", "log-loss", "Brier score", "calibration error"],
        [[n, *(f"{v:.3f}" for v in each)] for n, each in found["mean"]["probabilities"].items()],
    )


def progress(found: dict[str, Any]) -> Iterator[str]:
    """The time left that was told beside what it was in fact."""
    rows = [
        [name, *("–" if one[at] is None else f"{one[at]:.2f}" for at in ("10%", "25%", "50%")),
         f"{one['first said']:.0%}", f"{one['worst']:.2f}"]
        for name, one in found["cases"].items()
    ]  # fmt: skip
    yield "Time left as it was told, divided by what was left in fact:\n\n"
    yield table(["work", "after 10 %", "25 %", "50 %", "first told after", "worst"], rows)


def anything(found: dict[str, Any]) -> Iterator[str]:
    """Numbers of a file that has no table of its own."""
    rows = [[" ".join(path), told] for path, told in leaves(found) if path[0] != "machine"]
    yield table(["measured", "value"], rows)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every number or word of nested results with the way to it."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, (*path, name.replace("_", " ")))
    elif isinstance(value, list):
        for number, one in enumerate(value, 1):
            yield from leaves(one, (*path, str(number)))
    else:
        yield path, f"{value:.4g}" if isinstance(value, float) else str(value)


WORDS = {
    "folds": (
        "Time against the number of folds",
        "The paper's speed experiment: a random series of 1,260 values, generative, one ridge. "
        "The paper's three algorithms are coded plainly in NumPy; at 50 units it is checked that "
        "naive and ours give the same errors.",
    ),
    "search": (
        "A whole search",
        "Half-hourly electricity demand, 50 units, the paper's grid, validated on 201 steps.",
    ),
    "device": (
        "Whole searches on an accelerator",
        "12 ridge values; forecasts of half-hourly electricity demand by 18 splits of 201 steps, "
        "the classifier of Japanese vowels by 5. Beside them the same by a thread for every core "
        "of the same machine, candidates shared out evenly, some scaled up from a sample. "
        "The first times are of a version that compiled one program after the other; a first "
        "search takes what the next table tells.",
    ),
    "first_device": (
        "The first search on an accelerator",
        "Searches of the table above in a process that finds no programs kept and in one that "
        "does, in seconds beyond imports; and warm. One or two of them are the start of the card.",
    ),
    "first": (
        "The first second",
        "A forecast of 200 values by a network of 100 units; a search of 24 networks of 50 units "
        "by 4 ridge values on 300 values; the same of 100 units, a tenth connected; the grid of "
        "half-hourly electricity demand, 135 networks by 12 ridge values and 18 splits. Each in a "
        "process that finds no programs kept and in one that does, in seconds of the processor "
        "beyond imports of what it loads; and warm. Most small problems need no program.",
    ),
    "weight": (
        "Installation and imports",
        "Files of a bare installation, and imports beside those of all dependencies, see [What it "
        "weighs](explanation/weight.md).",
    ),
    "plain": (
        "Large networks by hand",
        "10 folds, 8 ridge values from 1e-8, one thread: a search beside what an expert writes in "
        "NumPy: every network driven once, Gram matrices of folds subtracted, one solve for each "
        "fold and ridge value. Where folds are long and networks large, both do little more than "
        "drive them and make one Gram matrix, ours in coordinates that keep the digits.",
    ),
    "roofline": (
        "How near the machine's limits",
        "Stages of a search of 135 networks of 50 units by 12 ridge values and 18 splits of 201 "
        "steps, on one thread: operations and bytes by count, and their shares of what the machine "
        "reaches in a large product of 64-bit matrices and in a large copy.",
    ),
    "roofline_gpu": (
        "How near an accelerator's limits",
        "The same, one program after the other. A drive is one step after another, each of some "
        "microseconds however narrow it is; small factorisations wait for their own columns.",
    ),
    "cores": (
        "All cores",
        "40 networks of 1,000 units on all cores of a machine, beside one of them, in seconds.",
    ),
    "reservoir": ("Running reservoirs", "The loop underneath everything, on one thread."),
    "forms": (
        "Representations",
        "A search over eight representations of a series, against one over the series as it is.",
    ),
    "longer": (
        "Series longer than memory",
        "Peak memory of the process and time, by a series read in blocks and by the same as an "
        "array; 100 units, ten folds and three ridge values. The array is in memory before.",
    ),
    "coverage": (
        "Coverage of prediction intervals",
        "Not a speed: see [Prediction intervals](explanation/intervals.md).",
    ),
    "compare": (
        "This version and the one before",
        "Processor time of the same work by both, in turns; the shortest of all rounds.",
    ),
    "racca": (
        "Validation of chaotic systems",
        "The search of Racca and Magri's Lorenz experiment, see [Chaotic systems]"
        "(howto/chaotic.md). The plain side runs the network anew for every strategy and "
        "candidate, and solves normal equations, which differ from ours by rounding.",
    ),
    "chaotic": (
        "Chaotic systems and other usual tasks",
        "Searches of the same size beside reservoirpy's, tested from many starts; reservoirpy is "
        "searched as its guide recommends, by the error one step ahead.",
    ),
    "fields": (
        "Fields in space and time",
        "How long forecasts of local reservoirs hold, with settings found by a search on the "
        "training data, see [Forecast fields](howto/fields.md).",
    ),
    "classify": (
        "Classification of sequences",
        "Accuracy on test sequences at all defaults beside aeon's MiniRocket, and what "
        "leave-one-out expected; sets inside the package aeon, Japanese vowels, and families that "
        "the script makes; means of three seeds. All was compiled before, which takes a second or "
        "two the first time, of MiniRocket as well.",
    ),
    "classify_sizes": (
        "Classification of many sequences",
        "`python benchmarks/classify.py --sizes 200 2000 5000`: as many made-up sequences of 100 "
        "steps to train on as to tell apart, at all defaults, beside aeon's MiniRocket in the same "
        "process on one thread. All was compiled before.",
    ),
    "states": (
        "What a classifier's readout sees",
        "Accuracy by summaries, see [Classify sequences](howto/classification.md).",
    ),
    "accuracy": (
        "Errors of forecasts",
        "Not a speed: MASE of the defaults on series that come with R, see [When not to use "
        "this](explanation/when.md).",
    ),
    "competitions": (
        "Errors on short series",
        "Not a speed: series of the competitions M1 and M3, see [When not to use this]"
        "(explanation/when.md).",
    ),
    "learning": (
        "Learning on",
        "Rows that are learned one by one, see [Learn on](howto/learning.md).",
    ),
    "progress": (
        "The time left",
        "What long work says while it is done, beside what happened. Nothing is said in the first "
        "second, and before a twentieth of the work; what is compiled once counts apart. The worst "
        "ratio is that of all that was told between a tenth and nine tenths of the time; towards "
        "the end it is one of few seconds.",
    ),
    "hybrid": (
        "A network beside an imperfect model",
        "Lyapunov times that forecasts of Lorenz 63 hold, median and quartiles; the model has a "
        "parameter that is 5 % off. See [Feed outputs back](howto/feedback.md).",
    ),
    "trust": (
        "How right the numbers are",
        "Not a speed either: see [How far to trust the numbers](explanation/trust.md).",
    ),
    "precision": (
        "Single precision",
        '`precision="single"` beside double, see [Run on a GPU](howto/gpu.md). CPU seconds of one '
        "thread, on a machine that others worked on.",
    ),
    "precision_gpu": ("Single precision on an accelerator", "The same, in seconds."),
}
TABLES = {
    "reservoir": reservoir,
    "search": search,
    "coverage": coverage,
    "trust": trust,
    "precision": precision,
    "precision_gpu": precision,
    "accuracy": accuracy,
    "competitions": competitions,
    "compare": compare,
    "longer": longer,
    "device": device,
    "first": first,
    "first_device": first,
    "weight": weight,
    "plain": plain,
    "roofline": roofline,
    "roofline_gpu": roofline,
    "racca": racca,
    "chaotic": chaotic,
    "fields": fields,
    "learning": learning,
    "hybrid": hybrid,
    "classify": classify,
    "classify_sizes": classify_sizes,
    "states": states,
    "progress": progress,
}


def benchmark(name: str, pictures: Path) -> str:
    """The tables of one stored result."""
    found = stored(name)
    if found is None:
        return f"No result is stored; `python benchmarks/{name}.py` makes one.\n"
    parts = folds(found, pictures) if name == "folds" else TABLES.get(name, anything)(found)
    return "".join(parts) + "\n" + machine(found)


def benchmarks(pictures: Path) -> str:
    """A section for every stored result."""
    stored = {path.stem for path in STORED.glob("*.json")}
    order = [name for name in WORDS if name in stored] + sorted(stored - WORDS.keys())
    sections = []
    for name in order:
        title, words = WORDS.get(name, (name.replace("_", " ").capitalize(), ""))
        script = ""
        if (STORED.parent / f"{name}.py").exists():
            script = f"Script: {{download}}`benchmarks/{name}.py <../benchmarks/{name}.py>`."
        told = " ".join(filter(None, (words, script)))
        sections.append(f"## {title}\n\n{told}\n\n{benchmark(name, pictures)}")
    return "\n".join(sections) or "No results are stored; run the scripts in `benchmarks/`.\n"


def paper() -> str:
    """The stored tables of the paper, one heading level down."""
    paths = [path for path in sorted(PAPER.glob("*.md")) if path.stem not in OTHERS]
    return "\n\n".join(map(one_level_down, paths)) or (
        "No run is stored with this build; `echofold reproduce all` makes one.\n"
    )


def other_paper(name: str) -> str:
    """The stored table of another paper; the page that shows it has a title of its own."""
    path = PAPER / f"{name}.md"
    if not path.exists():
        return f"No run is stored with this build; `echofold reproduce {name}` makes one.\n"
    return one_level_down(path).partition("\n")[2].lstrip()


def one_level_down(path: Path) -> str:
    """A stored page with its headings one level down, and links from anywhere."""
    text = re.sub(r"^(#+ )", r"#\1", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.sub(r"\]\((?![a-z]+:|/|#)", "](/_results/", text)


def stored(name: str) -> dict[str, Any] | None:
    """A stored result, if it is there."""
    path = STORED / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def claims() -> str:
    """Three measured numbers as cards, each with the page that shows all of them."""
    accuracy, folds, trust = stored("accuracy"), stored("folds"), stored("trust")
    cards = []
    if accuracy:
        told = accuracy["summary"]
        ours, naive = told["echofold"], told["seasonal naive"]["geometric mean"]
        least = min(
            row["geometric mean"]
            for name, row in told.items()
            if name != "echofold" and row["series"] == ours["series"]
        )
        cards.append(
            f"**MASE {ours['geometric mean']:.2f}**\n\nof the default forecast, the geometric mean "
            f"over {ours['series']} series that come with R. Automatic models of statsforecast "
            f"that were asked about all reach {least:.2f} at best, the season before {naive:.2f}. "
            "Some rules were picked on these. On 216 short series, before anything was chosen by "
            "them, it was level with SCUM, the median of four such models. "
            "[Every series, losses included](explanation/when.md)"
        )
    if folds:
        told = folds["summary"]["50"]
        cards.append(
            f"**{told['naive_over_ours_at_n']:.0f} times as fast**\n\nas refitting, for "
            "leave-one-out of 1,260 rows by 50 units. The slowest number of folds from 5 up takes "
            f"{told['flatness_from_5']:.1f} times as long as ten folds. [Benchmarks](benchmarks.md)"
        )
    if trust:
        ways = [row for way, row in trust["trust"]["ways"].items() if way != "naive"]
        median = max(row["median_roundings"] for row in ways)
        cards.append(
            f"**{median:.1f} roundings**\n\nis how far fast results lie from exact refits in the "
            f"median, by the worst of the fast ways, on {trust['trust']['count']:,} problems, most "
            "of them singular or nearly so. "
            "[How far to trust the numbers](explanation/trust.md)"
        )
    inside = "\n".join(f":::{{container}} card\n{card}\n:::" for card in cards)
    return f"::::{{container}} cards claims\n{inside}\n::::\n"


def speed_table() -> str:
    """What is fast, for the README: ratios of stored results, and who measured them."""
    rows = []

    def add(script: str, what: str, against: str, ratio: float) -> None:
        times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
        rows.append([what, against, f"{times} ×", f"[{script}.py](benchmarks/{script}.py)"])

    if found := stored("search"):
        told = found["search"]
        what = "a search: 135 candidates, 12 ridge values, 18 splits of 201 steps"
        add("search", what, "the plain way in NumPy", told["ratio"])
        add("search", "the same, counting compilation", "the same", told["ratio_with_compilation"])
    if found := stored("device"):
        name = "40 candidates of 500 units"
        row, cores = found["cases"][name], f"{found['cores']} cores of its machine"
        ratio = row["host_seconds"] / row["device_fit_seconds"]
        what = f"a search on an {found['device'].removeprefix('NVIDIA ')}: {name}, likewise"
        add("device", what, cores, ratio)
    if found := stored("folds"):
        for units in ("50", "500"):
            told = found["summary"][units]
            what = f"leave-one-out of 1,260 rows, {units} units"
            if "naive_over_ours_at_n" in told:
                add("folds", what, "refitting every fold", told["naive_over_ours_at_n"])
            against = "the paper's algorithm in NumPy"
            add("folds", what, against, told["large_k_paper_over_ours_at_n"])
    if found := stored("reservoir"):
        for row in found["one"]:
            if row["W"] == "sparse":
                continue
            what = f"driving one reservoir, {row['units']} units, {row['W']}"
            add("reservoir", what, "reservoirpy", row["reservoirpy"] / row["echofold"])
    lines = table(["what", "against", "faster", "script"], rows)
    machines = {
        machine(one).strip("*\n")
        for name in ("folds", "reservoir", "search")
        if (one := stored(name))
    }
    return f"{lines}\n{' '.join(sorted(machines))}\n"


SPEED = re.compile(r"(?<=<!-- speed -->\n).*?(?=<!-- /speed -->)", re.DOTALL)


def on_source_read(app: Any, name: str, source: list[str]) -> None:
    """Fill a page when Sphinx reads it."""
    pictures = Path(app.srcdir) / PICTURES.strip("/")

    def filled(marker: re.Match) -> str:
        if marker["name"]:
            return benchmark(marker["name"], pictures)
        if marker["table"]:
            return other_paper(marker["table"])
        if marker[1] == "claims":
            return claims()
        return benchmarks(pictures) if marker[1] == "benchmarks" else paper()

    source[0] = MARKER.sub(filled, source[0])


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("source-read", on_source_read)
    return {"version": "1", "parallel_read_safe": True}


if __name__ == "__main__":  # put the stored results into the README
    readme = ROOT / "README.md"
    readme.write_text(SPEED.sub(lambda _: f"\n{speed_table()}\n", readme.read_text()))
