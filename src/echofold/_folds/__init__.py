"""The algebra of splits; knows neither time nor reservoirs."""
