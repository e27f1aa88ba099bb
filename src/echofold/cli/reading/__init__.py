"""From a file of any kind to one series, its dates, its seasons and its inputs."""

from echofold.cli.reading.panel import parts_of
from echofold.cli.reading.series import LEAST, FileSeries, read_inputs, read_series
from echofold.cli.reading.table import read_table

__all__ = ["LEAST", "FileSeries", "parts_of", "read_inputs", "read_series", "read_table"]
