"""The estimators, their training and their intervals."""

ESTIMATORS = {  # module of each, one for each task; model files call them by these names
    "ESNForecaster": "forecaster",
    "ESNRegressor": "regressor",
    "ESNClassifier": "classifier",
}
