"""Microseconds a step of running reservoirs, against reservoirpy and a plain NumPy loop.

    python benchmarks/reservoir.py

In one run on one thread: one reservoir of 50 and of 500 units, dense and sparse (10 connections a
unit); 135 candidates that share a draw; and lockstep generation as a multiple of the time of its
matrix product alone.
"""

from __future__ import annotations

import _common  # first: it sets the number of threads
import numpy as np

from echofold._engine.drive import drive
from echofold._engine.generate import Course, begin, proceed
from echofold._engine.kind import drawn
from echofold._engine.weights import draw, prepare
from echofold._machine.device import engine
from echofold.reservoirs import Leaky

LEAK = 0.3


def numpy_loop(W_in, W, inputs, leak=LEAK):
    """The paper's equation 1, step by step."""
    x = np.zeros(W.shape[0])
    states = np.empty((len(inputs), len(x)))
    for n, u in enumerate(inputs):
        x = (1 - leak) * x + leak * np.tanh(W_in @ np.append(1.0, u) + W @ x)
        states[n] = x
    return states


def one_reservoir(units: int, connectivity: float, steps: int) -> dict[str, float]:
    """Microseconds a step of the three, driving one reservoir."""
    from reservoirpy.nodes import Reservoir

    inputs = np.random.RandomState(0).rand(steps, 1)
    W_in, W = draw(units, 1, connectivity, 1)
    weights = prepare(W_in, W, rescale=True)
    reservoirs = drawn([Leaky(units, leak_rate=LEAK, connectivity=connectivity)], 1, 1)
    scaled = W * (0.9 / weights.radius)
    node = Reservoir(units, lr=0.3, W=scaled, Win=W_in[:, 1:], bias=W_in[:, 0])
    node.run(inputs[:10])
    node.reset()
    ours, reference = (
        np.asarray(drive(reservoirs, inputs)[0])[:, :, 0],
        numpy_loop(W_in, scaled, inputs),
    )
    assert np.abs(ours - reference).max() < 1e-10
    assert np.abs(np.asarray(node.run(inputs)) - reference).max() < 1e-6
    return {
        "echofold": _common.seconds(lambda: drive(reservoirs, inputs)[0].block_until_ready()),
        "reservoirpy": _common.seconds(lambda: node.run(inputs), least=0.2),
        "numpy": _common.seconds(lambda: numpy_loop(W_in, scaled, inputs), least=0.2),
    }


def many_candidates(units: int, steps: int, count: int = 135) -> float:
    """Seconds of driving candidates that share a draw."""
    inputs = np.random.RandomState(0).rand(steps, 1)
    candidates = [
        Leaky(units, leak_rate=0.1 + 0.8 * i / count, spectral_radius=i / count)
        for i in range(count)
    ]
    reservoirs = drawn(candidates, 1, 1)
    return _common.seconds(lambda: drive(reservoirs, inputs)[0].block_until_ready())


def lockstep(units: int, columns: int, steps: int) -> tuple[float, float]:
    """Seconds of closed-loop generation, and of its matrix product alone."""
    import jax
    import jax.numpy as jnp

    rng = np.random.RandomState(0)
    reservoirs = drawn([Leaky(units, leak_rate=LEAK)] * columns, 1, 1)
    readout = jnp.asarray(rng.rand(2 + units, 1, columns) * 0.02)
    x = jnp.asarray(rng.rand(units, columns))
    zeros = jnp.zeros(columns, dtype=int)
    course = Course(
        jnp.zeros((steps, 0)), jnp.asarray(rng.rand(steps, 1)), zeros, zeros + steps, jnp.ones(1)
    )
    going = begin(reservoirs, readout, jnp.zeros((1, columns)), x, course)

    def generate():
        proceed(reservoirs, readout, going, course, 1, steps)[0].error.block_until_ready()

    W = jnp.asarray(reservoirs.weights.W * 0.1)
    product = jax.jit(
        lambda W, x: jax.lax.scan(lambda x, _: (W @ x, None), x, None, length=steps)[0]
    )
    return _common.seconds(generate), _common.seconds(lambda: product(W, x).block_until_ready())


def main() -> None:
    """Measure, print and store."""
    results: dict = {"one": [], "many": [], "lockstep": []}
    with engine("cpu"):
        print("one reservoir, µs a step")
        print(f"{'units':>6} {'W':>7} {'echofold':>9} {'reservoirpy':>12} {'numpy':>8}   ratios")
        for units, steps in ((50, 4000), (500, 1000)):
            for kind, connectivity in (("dense", 1.0), ("sparse", 10 / units)):
                took = one_reservoir(units, connectivity, steps)
                us = {name: 1e6 * t / steps for name, t in took.items()}
                ratios = [us[name] / us["echofold"] for name in ("reservoirpy", "numpy")]
                print(
                    f"{units:>6} {kind:>7} {us['echofold']:>9.2f} {us['reservoirpy']:>12.2f} "
                    f"{us['numpy']:>8.2f}   {ratios[0]:.1f}× {ratios[1]:.1f}×"
                )
                results["one"].append({"units": units, "W": kind, **us})
        print("\n135 candidates that share a draw, µs a reservoir-step")
        for units, steps in ((50, 1000), (500, 50)):
            us = 1e6 * many_candidates(units, steps) / steps / 135
            alone = next(r for r in results["one"] if r["units"] == units and r["W"] == "dense")
            print(
                f"{units:>6} units: {us:.2f} ({alone['echofold'] / us:.1f}× one by one, "
                f"{alone['reservoirpy'] / us:.1f}× reservoirpy)"
            )
            results["many"].append({"units": units, "echofold": us})
        print("\nlockstep generation, ns a neuron-step, and as a multiple of its product alone")
        for units, columns in ((50, 512), (200, 512), (500, 512)):
            steps = 200 if units == 50 else 40
            took, alone = lockstep(units, columns, steps)
            unit = 1e9 / (units * columns * steps)
            print(f"{units:>6} units: {took * unit:.2f} ns, {took / alone:.2f}×")
            results["lockstep"].append(
                {"units": units, "ns": took * unit, "times_product": took / alone}
            )
    _common.store("reservoir", results)


if __name__ == "__main__":
    main()
