"""Moved to `factcheck.records`."""

from factcheck.records import Record, as_record, read_records

__all__ = ["Record", "as_record", "read_records"]
