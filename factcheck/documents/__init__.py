"""Read files into values with line numbers; write files atomically."""

from factcheck.documents.files import (
    MAX_TEXT_BYTES,
    Document,
    Entry,
    PathInValue,
    PathOrDash,
    Place,
    check_writable,
    file_errors,
    name_of,
    plain_document,
    read_text,
    refuse_stdin_twice,
    write_text,
    write_with,
)
from factcheck.documents.json_documents import (
    PlainData,
    Reader,
    from_plain,
    json_text,
    parse_json,
    parse_json_line,
    shown,
    to_plain,
)

__all__ = [
    "MAX_TEXT_BYTES", "Document", "Entry", "PathInValue", "PathOrDash", "Place", "PlainData",
    "Reader", "check_writable", "file_errors", "from_plain", "json_text", "name_of", "parse_json",
    "parse_json_line", "plain_document", "read_text", "refuse_stdin_twice", "shown", "to_plain",
    "write_text", "write_with",
]  # fmt: skip
