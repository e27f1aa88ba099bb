"""How stable the schemes are over many random draws: table and figure of docs/paper.md.

    python tools/stability.py DESTINATION [--draws 50]

Runs the generative experiment with the four schemes without gaps (about an hour for 50 draws on
one thread) and writes ``stability.csv``, ``stability.md`` and ``stability.svg``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

SCHEMES = ("SV", "CV", "AV", "FV")
KEYS = ["dataset", "scheme", "final"]
WILD = 3.0  # an NRMSE above this is a run that went astray


def summarize(rows: pd.DataFrame) -> pd.DataFrame:
    """Quartiles of the test error over draws, and the share of wild runs."""
    groups = rows.groupby(KEYS)
    table = (
        groups.test.quantile([0.25, 0.5, 0.75]).unstack().set_axis(["q1", "median", "q3"], axis=1)
    )
    table["wild"] = rows.assign(wild=rows.test > WILD).groupby(KEYS).wild.mean()
    table["validation"] = groups.validation.median()
    return table.reset_index()


def markdown(table: pd.DataFrame, draws: int) -> str:
    """The table for the documentation."""
    lines = [
        "# Stability over draws",
        "",
        f"Median (quartiles) of the test NRMSE over {draws} draws instead of 5, and how many of "
        f"them went astray (NRMSE above {WILD:g}).",
        "",
        "| series | scheme | final | test | astray | validation, median |",
        "|:--|:--|:--|--:|--:|--:|",
    ]
    for row in table.itertuples():
        lines.append(
            f"| {row.dataset} | {row.scheme} | {row.final} | {row.median:.3f} ({row.q1:.3f} to "
            f"{row.q3:.3f}) | {row.wild:.0%} | {row.validation:.3f} |"
        )
    return "\n".join([*lines, ""])


def draw(table: pd.DataFrame, path: Path) -> None:
    """Medians and quartiles, a panel for each series."""
    import matplotlib.pyplot as plt

    colours = {"average": "#0072B2", "best": "#E69F00", "retrain": "#009E73"}
    names = list(dict.fromkeys(table.dataset))
    figure, axes = plt.subplots(1, len(names), figsize=(9, 3), layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        for shift, (final, colour) in zip((-0.2, 0, 0.2), colours.items(), strict=True):
            part = table[(table.dataset == name) & (table.final == final)].set_index("scheme")
            at = [i + shift for i, scheme in enumerate(SCHEMES) if scheme in part.index]
            part = part.loc[[scheme for scheme in SCHEMES if scheme in part.index]]
            ax.vlines(at, part.q1, part.q3, color=colour, linewidth=3, alpha=0.5)
            ax.plot(at, part["median"], "o", color=colour, label=final, markersize=5)
        ax.set(title=name, xticks=range(len(SCHEMES)), xticklabels=SCHEMES)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("test NRMSE")
    axes[-1].legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    """Run the draws and write what the documentation shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--draws", type=int, default=50)
    options = parser.parse_args()
    from echofold.experiments.paper import generative

    out = options.destination
    draws, *_ = generative.run(out, draws=options.draws, schemes=list(SCHEMES))
    table = summarize(pd.read_csv(draws, comment="#"))
    table.to_csv(out / "stability.csv", index=False)
    (out / "stability.md").write_text(markdown(table, options.draws))
    draw(table, out / "stability.svg")


if __name__ == "__main__":
    main()
