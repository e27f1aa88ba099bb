"""Runs reservoirs; knows nothing of folds."""
