"""What a trained network is as a dynamical system, and what a reservoir remembers.

Measures for networks that run on their own output for long: how fast small differences grow, and
whether what is generated behaves as the data do, when values themselves can no longer be compared.
"""

from __future__ import annotations

from echofold.dynamics._climate import ClimateComparison, climate
from echofold.dynamics._lyapunov import LyapunovExponents, lyapunov_exponents
from echofold.dynamics._memory import MemoryCapacity, memory_capacity

__all__ = [
    "ClimateComparison", "LyapunovExponents", "MemoryCapacity", "climate", "lyapunov_exponents",
    "memory_capacity",
]  # fmt: skip
