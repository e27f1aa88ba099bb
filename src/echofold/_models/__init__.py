"""The three estimators, their training and their intervals."""
