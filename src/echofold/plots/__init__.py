"""Pictures of schemes, searches, forecasts and long runs, with matplotlib.

Every function draws on ``ax``, or on a new figure without it, and returns the axes. Colours are
those of Okabe and Ito, which can be told apart with any colour vision.
"""

from echofold.plots._dynamics import climate, lyapunov
from echofold.plots._errors import error_by_step, error_growth, horizons
from echofold.plots._scores import ridge_path, surface, validation_test
from echofold.plots._series import forecast, forecasts
from echofold.plots._splits import splits

__all__ = [
    "climate", "error_by_step", "error_growth", "forecast", "forecasts", "horizons", "lyapunov",
    "ridge_path", "splits", "surface", "validation_test",
]  # fmt: skip
