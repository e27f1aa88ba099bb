"""The moving drawing of a reservoir: a small network that really runs, as an SVG with CSS.

``python docs/_ext/drawing.py`` writes ``docs/_static/reservoir.svg``, which a page includes as it
is, so that its lines take the colour of the text. Units light up by their states after an impulse;
the readout was trained to say the impulse again some steps later.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

UNITS, STEPS, DELAY, SECONDS = 26, 24, 6, 7.2
INPUT, OUTPUT = (52, 150), (668, 150)
BLUE, ORANGE = "#2f8fd8", "#e07b1a"  # legible on white and on black
TARGET = Path(__file__).parents[1] / "_static" / "reservoir.svg"


def places(rng: np.random.Generator) -> np.ndarray:
    """Points of an ellipse, no two of them close, from left to right."""
    points: list[np.ndarray] = []
    while len(points) < UNITS:
        point = rng.uniform(-1, 1, 2) * (175, 122)
        if np.hypot(*(point / (175, 122))) < 1 and all(
            np.hypot(*(point - other)) > 40 for other in points
        ):
            points.append(point)
    return np.array(sorted(points, key=lambda point: point[0])) + (350, 150)


def network(points: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Weights between near units, and from the input to those on the left."""
    W = np.zeros((UNITS, UNITS))
    for i, point in enumerate(points):
        near = np.argsort(np.hypot(*(points - point).T))[1:6]
        W[i, rng.choice(near, 3, replace=False)] = rng.normal(size=3)
    W *= 0.95 / np.abs(np.linalg.eigvals(W)).max()
    return W, np.where(np.arange(UNITS) < 6, rng.choice([-1, 1], UNITS), 0)


def run(W: np.ndarray, W_in: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """States after each input."""
    x, states = np.zeros(UNITS), []
    for u in inputs:
        x = np.tanh(0.5 * W_in * u + W @ x)
        states.append(x)
    return np.array(states)


def brightness(rng: np.random.Generator, W: np.ndarray, W_in: np.ndarray) -> np.ndarray:
    """How bright input, units and output are at each step after an impulse, from 0 to 1."""
    noise = rng.normal(size=2000)
    states, wanted = run(W, W_in, noise)[DELAY:], noise[:-DELAY]
    readout = np.linalg.solve(states.T @ states + 1e-3 * np.eye(UNITS), states.T @ wanted)
    impulses = np.tile(np.eye(STEPS)[1], 3)
    echo = run(W, W_in, impulses)[-STEPS:]
    answer = np.maximum(echo @ readout, 0)
    units = np.abs(echo) / np.abs(echo).max()
    shown = np.column_stack([impulses[-STEPS:], np.sqrt(units), answer / answer.max()])
    return np.where(shown < 0.03, 0, shown)


def keyframes(name: str, values: np.ndarray) -> str:
    """A CSS animation of the opacity that goes through the values."""
    steps = "".join(
        f"{100 * k / STEPS:.4g}%{{opacity:{value:.2g}}}" for k, value in enumerate(values)
    )
    return f"@keyframes {name}{{{steps}100%{{opacity:{values[0]:.2g}}}}}"


def line(start: object, end: object, style: str, more: str = "") -> str:
    """A line between two points."""
    (x, y), (v, w) = np.asarray(start), np.asarray(end)
    return f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{v:.0f}" y2="{w:.0f}" class="{style}"{more}/>'


def drawing() -> str:
    """The whole file."""
    rng = np.random.default_rng(7)
    points = places(rng)
    W, W_in = network(points, rng)
    values = brightness(rng, W, W_in)
    everything = np.vstack([INPUT, points, OUTPUT])
    edges = [(0, 1 + i, "in") for i in np.flatnonzero(W_in)]
    edges += [(1 + j, 1 + i, "") for i, j in zip(*np.nonzero(W), strict=True)]
    edges += [(1 + i, UNITS + 1, "out") for i in range(UNITS)]
    parts = [line(everything[a], everything[b], f"wire {kind}") for a, b, kind in edges]
    parts += [
        line(everything[a], everything[b], f"flow {kind}",
             f' style="animation-name:rv{a},rv-flow"')
        for a, b, kind in edges
    ]  # fmt: skip
    for k, (x, y) in enumerate(everything):
        kind = {0: "in", UNITS + 1: "out"}.get(k, "")
        where = f'cx="{x:.0f}" cy="{y:.0f}" r="{9 if not kind else 15}"'
        parts.append(f'<circle {where} class="unit {kind}"/>')
        parts.append(f'<circle {where} class="glow {kind}" style="animation-name:rv{k}"/>')
    for x, first, second in (
        (INPUT[0], "input", "an impulse"),
        (350, "reservoir", "random, never trained"),
        (OUTPUT[0], "output", f"again, {DELAY} steps later"),
    ):
        y = 300 if x == 350 else 190
        parts.append(f'<text x="{x}" y="{y}">{first}</text>')
        parts.append(f'<text x="{x}" y="{y + 17}" class="small">{second}</text>')
    parts.append('<text x="570" y="52" class="out">readout</text>')
    parts.append('<text x="570" y="69" class="small out">all that is trained</text>')
    frames = "".join(keyframes(f"rv{k}", values[:, k]) for k in range(UNITS + 2))
    return STYLE.format(
        frames=frames, inside="".join(parts), blue=BLUE, orange=ORANGE, time=SECONDS
    )


STYLE = """<svg class="reservoir" viewBox="-20 10 760 320" role="img" \
aria-label="An impulse enters a network of units at random places, wanders through it as a fading \
echo, and is gathered by a readout" xmlns="http://www.w3.org/2000/svg"><style>\
.reservoir{{width:100%;max-width:760px;color:inherit}}\
.reservoir text{{fill:currentColor;font:600 15px sans-serif;text-anchor:middle}}\
.reservoir text.small{{font-size:12.5px;font-weight:400}}.reservoir text.out{{fill:{orange}}}\
@media (max-width:600px){{.reservoir text{{font-size:21px}}\
.reservoir text.small{{font-size:17px}}}}\
.reservoir line{{stroke:currentColor;stroke-width:1.2}}\
.reservoir .wire{{opacity:.22}}.reservoir .wire.out{{opacity:.3;stroke-dasharray:1 4}}\
.reservoir .in{{stroke:{blue}}}.reservoir .out{{stroke:{orange}}}\
.reservoir text.out{{stroke:none}}\
.reservoir .unit{{fill:var(--pst-color-background,#fff);stroke:currentColor;stroke-width:1.4}}\
.reservoir .unit.in{{stroke:{blue}}}.reservoir .unit.out{{stroke:{orange}}}\
.reservoir .glow{{fill:{blue};stroke:none}}.reservoir .glow.out{{fill:{orange}}}\
.reservoir .flow{{stroke:{blue};stroke-width:2.2;stroke-dasharray:7 11}}\
.reservoir .flow.out{{stroke:{orange};stroke-width:1.4}}\
.reservoir .flow,.reservoir .glow{{animation-duration:{time}s,.9s;\
animation-iteration-count:infinite;animation-timing-function:linear}}\
@keyframes rv-flow{{from{{stroke-dashoffset:18}}to{{stroke-dashoffset:0}}}}{frames}\
@media (prefers-reduced-motion:reduce){{.reservoir .flow,.reservoir .glow\
{{animation:none}}.reservoir .flow{{opacity:.15}}.reservoir .glow{{opacity:.5}}}}\
</style>{inside}</svg>
"""

if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
