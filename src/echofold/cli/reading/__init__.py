"""From a file of any kind to one series, its dates, its seasons and its inputs."""

from echofold.cli.reading.panel import BETWEEN, Parts, one_of, tables_by_column, tables_by_id
from echofold.cli.reading.series import FileSeries, Inputs, known_inputs, read_inputs, read_series
from echofold.cli.reading.table import FileTable, read_table

__all__ = [
    "BETWEEN", "FileSeries", "FileTable", "Inputs", "Parts", "known_inputs", "one_of",
    "read_inputs", "read_series", "read_table", "tables_by_column", "tables_by_id",
]  # fmt: skip
