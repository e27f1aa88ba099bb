"""From a file of any kind to one series, its dates, its seasons and its inputs."""

from echofold.cli.reading.panel import parts_of
from echofold.cli.reading.series import LEAST, Series, read_inputs, read_series
from echofold.cli.reading.table import Table, read_table

__all__ = ["LEAST", "Series", "Table", "parts_of", "read_inputs", "read_series", "read_table"]
