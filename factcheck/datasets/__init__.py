"""Records in: pairs of source and summary from JSON lines, tables, Parquet files and folders."""

from factcheck.datasets.reading import read_records
from factcheck.datasets.record import Record, as_record

__all__ = ["Record", "as_record", "read_records"]
