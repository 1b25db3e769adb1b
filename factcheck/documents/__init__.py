"""Reads files into values that know their lines, and writes files in one step."""

from factcheck.documents.document import Document, Entry, PathInValue, Place, plain_document
from factcheck.documents.files import (
    MAX_TEXT_BYTES,
    PathOrDash,
    check_writable,
    file_errors,
    name_of,
    read_text,
    refuse_stdin_twice,
    write_text,
    write_with,
)
from factcheck.documents.json_documents import (
    json_entries,
    json_lines,
    json_text,
    parse_json,
    parse_json_line,
)
from factcheck.documents.reading import read_document, read_entries
from factcheck.documents.results import Ids, ResultsFile, read_results
from factcheck.documents.tables import table_entries
from factcheck.documents.values import PlainData, Reader, from_plain, shown, to_plain
from factcheck.documents.yaml_documents import parse_yaml, yaml_text

__all__ = [
    "MAX_TEXT_BYTES",
    "Document",
    "Entry",
    "Ids",
    "PathInValue",
    "PathOrDash",
    "Place",
    "PlainData",
    "Reader",
    "ResultsFile",
    "check_writable",
    "file_errors",
    "from_plain",
    "json_entries",
    "json_lines",
    "json_text",
    "name_of",
    "parse_json",
    "parse_json_line",
    "parse_yaml",
    "plain_document",
    "read_document",
    "read_entries",
    "read_results",
    "read_text",
    "refuse_stdin_twice",
    "shown",
    "table_entries",
    "to_plain",
    "write_text",
    "write_with",
    "yaml_text",
]
