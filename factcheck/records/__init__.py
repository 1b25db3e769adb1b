"""Reads facts, lock files and records of source and summary from files of every format."""

from factcheck.records.reading import Record, as_record

__all__ = ["Record", "as_record"]
