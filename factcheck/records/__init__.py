"""Reads facts, lock files and records of source and summary from files of every format."""

from factcheck.records.facts import facts_from_data, facts_from_lines, read_facts
from factcheck.records.lock import LockChange, load_lock, lock_text, write_lock
from factcheck.records.reading import read_records
from factcheck.records.record import Record, as_record

__all__ = [
    "LockChange",
    "Record",
    "as_record",
    "facts_from_data",
    "facts_from_lines",
    "load_lock",
    "lock_text",
    "read_facts",
    "read_records",
    "write_lock",
]
