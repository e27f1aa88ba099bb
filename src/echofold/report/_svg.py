"""Drawings as SVG that stands inside a page and takes its colours from the page's style."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

from echofold.plots import _style

TEXT = "#262626"
# Colours of the drawings and the variables of the style sheet that stand for them.
COLOURS = {
    TEXT: "ink",
    _style.INK: "series",
    _style.PALE: "pale",
    _style.BLUE: "blue",
    _style.VERMILION: "vermilion",
    _style.GREEN: "green",
    _style.PURPLE: "purple",
    _style.ORANGE: "orange",
    _style.SKY: "sky",
}
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, and in the reader's font
    "font.size": 10,
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.linewidth": 0.7,
    "path.simplify": False,  # the plots thin long lines themselves
    "savefig.dpi": 200,  # of clouds of points, which are images inside
}


def svg(plot: Callable[..., Any], size: tuple[float, float], name: str, label: str) -> str:
    """What ``plot(ax=…)`` draws at a ``size`` in inches; ``name`` makes its ids unique."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Characters that matplotlib's font lacks: the reader's will have them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        matplotlib.rcdefaults()
        settings: Any = {**SETTINGS, "svg.hashsalt": name}
        matplotlib.rcParams.update(settings)
        figure = Figure(figsize=size, layout="constrained")
        plot(ax=figure.subplots())
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True)
    return _inline(written.getvalue(), name, label)


def _inline(text: str, name: str, label: str) -> str:
    """The bare element, with unique ids and the page's colours."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'href="#|url\(#', lambda match: f"{match[0]}{name}-", rest)
    for colour, variable in COLOURS.items():
        rest = re.sub(rf"(?<=: ){colour}\b", f"var(--{variable})", rest, flags=re.IGNORECASE)
    # Two decimals of a point are finer than any screen.
    rest = re.sub(r"(?<= d=\")[^\"]*", _rounded, rest)
    quoted = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<svg {box[0]} role="img" aria-label="{quoted}">{rest.strip()}'


def _rounded(path: re.Match) -> str:
    return re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", path[0]).replace(" \n", "\n")
