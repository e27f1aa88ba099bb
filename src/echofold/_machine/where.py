"""Where work is done: on the processor or on an accelerator, by what it would take there.

Seconds are rough, of one thread of a processor and of a data-centre GPU after compilation. They
need to be right to a factor of a few only; ``benchmarks/device.py`` measures both.
"""

from __future__ import annotations

from typing import NamedTuple

from echofold._machine.device import DeviceFull, find, is_accelerator, works
from echofold._machine.notices import warn_of

WORTH_IT = 2.0  # seconds that an accelerator must save: loading its programs takes about as long
STEP = 7e-6  # seconds for a step of an accelerator, however narrow
UNIT, SQUARE = 2e-9, 4e-11  # seconds for a unit, and for its square, of a step on a processor
FASTER = 500.0  # times that an accelerator does large products faster than one thread


class Work(NamedTuple):
    """Steps of reservoirs side by side, in a row, and seconds of algebra on a processor."""

    steps: int = 1
    columns: int = 1
    units: int = 1
    algebra: float = 0.0

    @property
    def on_processor(self) -> float:
        """Estimated seconds on one thread."""
        each = UNIT * self.units + SQUARE * self.units**2
        return self.steps * self.columns * each + self.algebra

    @property
    def on_accelerator(self) -> float:
        """Estimated seconds on an accelerator."""
        return self.steps * STEP + self.on_processor / FASTER


def resolve(device: str, *work: Work) -> str:
    """The device that ``"auto"`` stands for, or ``device`` itself, checked to be there."""
    if device != "auto":
        find(device)
        if is_accelerator(device) and not works(device):
            raise DeviceFull(device)
        return device
    if sum(one.on_processor - one.on_accelerator for one in work) < WORTH_IT:
        return "cpu"  # without asking JAX, which starts it: no process could be forked from then on
    import jax

    best = jax.default_backend()
    if is_accelerator(best) and not works(best):
        warn_of([f"The memory of device {best!r} is full, so the work is done on the processor."])
        return "cpu"
    return best
