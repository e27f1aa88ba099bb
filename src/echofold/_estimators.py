"""The three estimators, from one door."""

from echofold._classifier import ESNClassifier
from echofold._forecaster import ESNForecaster, Forecast
from echofold._regressor import ESNRegressor

__all__ = ["ESNClassifier", "ESNForecaster", "ESNRegressor", "Forecast"]
