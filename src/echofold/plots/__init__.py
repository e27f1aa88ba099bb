"""Pictures of schemes, searches, forecasts and long runs, with matplotlib.

Every function draws on ``ax``, or on a new figure without it, and returns the axes. Colours are
those of Okabe and Ito, which can be told apart with any colour vision.
"""

from echofold.plots._backtest import error_growth, horizons
from echofold.plots._dynamics import climate, lyapunov
from echofold.plots._scores import ridge_path, validation_test
from echofold.plots._series import forecast, forecasts
from echofold.plots._splits import splits
from echofold.plots._steps import error_by_step
from echofold.plots._surface import surface

__all__ = [
    "climate",
    "error_by_step",
    "error_growth",
    "forecast",
    "forecasts",
    "horizons",
    "lyapunov",
    "ridge_path",
    "splits",
    "surface",
    "validation_test",
]
