"""Chaotic and other systems to test on, made by our own code.

Flows are given at times ``skip + i * step`` and integrated in equal sub-steps, short enough for
an error of about 1e-8 of the values over one Lyapunov time. The same seed gives the same bits on
the same machine.
"""

from __future__ import annotations

from echofold.systems._flows import lorenz63, lorenz96, rossler
from echofold.systems._kuramoto_sivashinsky import kuramoto_sivashinsky
from echofold.systems._mackey_glass import mackey_glass
from echofold.systems._tasks import henon, narma10, superimposed_oscillators

__all__ = [
    "LYAPUNOV",
    "henon",
    "kuramoto_sivashinsky",
    "lorenz63",
    "lorenz96",
    "mackey_glass",
    "narma10",
    "rossler",
    "superimposed_oscillators",
]

#: Largest Lyapunov exponents at the default parameters, by the name of the function, for each unit
#: of the system's time (each step of a map). Small errors grow by e in ``1 / LYAPUNOV[name]``.
LYAPUNOV = {
    "lorenz63": 0.9056,  # Sprott 2003
    "lorenz96": 1.68,  # measured; Lorenz and Emanuel 1998: errors double in 2.1 days, 1.65
    "rossler": 0.0714,  # Sprott 2003
    "mackey_glass": 0.0051,  # measured; 0.006 and 0.007 are quoted too
    "kuramoto_sivashinsky": 0.048,  # Cvitanović, Davidchack and Siminos 2010
    "henon": 0.4192,  # Sprott 2003
}
