"""Cross-validate echo state networks at the cost of training one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from echofold._models import ESTIMATORS

if TYPE_CHECKING:
    from echofold import baselines, datasets, dynamics, metrics, plots, reservoirs, schemes, systems
    from echofold._data.calendar import calendar
    from echofold._data.lazy import ParquetColumns
    from echofold._machine.compilations import keep_compilations
    from echofold._machine.notices import EchofoldWarning
    from echofold._models.classifier import ESNClassifier
    from echofold._models.forecaster import ESNForecaster
    from echofold._models.regressor import ESNRegressor
    from echofold._persistence.save_and_load import load, save
    from echofold._search.auto import AutoForecaster
    from echofold._search.backtest import backtest
    from echofold._search.evaluate import evaluate
    from echofold._search.search import ESNSearchCV
    from echofold._search.totals import forecast_totals
    from echofold._validation.cross_validate import cross_validate, cross_validate_readout
    from echofold.schemes import (
        Accumulative,
        KFold,
        LeaveOneOut,
        LeaveSeriesOut,
        Recycle,
        SingleSplit,
        WalkForward,
    )

__version__ = "0.2.0"
_NAMES = {  # loaded on first use, so that importing the package costs little
    "_data.calendar": ("calendar",),
    "_data.lazy": ("ParquetColumns",),
    "_machine.compilations": ("keep_compilations",),
    "_validation.cross_validate": ("cross_validate", "cross_validate_readout"),
    **{f"_models.{module}": (name,) for name, module in ESTIMATORS.items()},
    "_search.auto": ("AutoForecaster",),
    "_search.backtest": ("backtest",),
    "_search.evaluate": ("evaluate",),
    "_persistence.save_and_load": ("load", "save"),
    "_machine.notices": ("EchofoldWarning",),
    "_search.search": ("ESNSearchCV",),
    "_search.totals": ("forecast_totals",),
    "schemes": (
        "Accumulative",
        "KFold",
        "LeaveOneOut",
        "LeaveSeriesOut",
        "Recycle",
        "SingleSplit",
        "WalkForward",
    ),  # fmt: skip
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
__all__ = [  # as a text, which type checkers read
    "Accumulative", "AutoForecaster", "ESNClassifier", "ESNForecaster", "ESNRegressor",
    "ESNSearchCV", "EchofoldWarning", "KFold", "LeaveOneOut", "LeaveSeriesOut", "ParquetColumns",
    "Recycle", "SingleSplit", "WalkForward", "backtest", "baselines", "calendar", "cross_validate",
    "cross_validate_readout", "datasets", "dynamics", "evaluate", "forecast_totals",
    "keep_compilations", "load", "metrics", "plots", "reservoirs", "save", "schemes", "systems",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_HOME.get(name, name)}")
    globals()[name] = value = getattr(module, name) if name in _HOME else module
    return value


def __dir__() -> list[str]:
    return __all__
