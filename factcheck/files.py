"""Moved to `factcheck.documents` and `factcheck.records`."""

from factcheck.documents import (
    PathOrDash,
    check_writable,
    file_errors,
    read_text,
    refuse_stdin_twice,
    write_text,
)
from factcheck.records import facts_from_data, facts_from_lines, read_facts

__all__ = [
    "PathOrDash",
    "check_writable",
    "facts_from_data",
    "facts_from_lines",
    "file_errors",
    "read_facts",
    "read_text",
    "refuse_stdin_twice",
    "write_text",
]
