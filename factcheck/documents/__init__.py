"""Read files into values with line numbers; write files atomically."""

from factcheck.documents.files import (
    MAX_TEXT_BYTES,
    Document,
    Entry,
    PathInValue,
    PathOrDash,
    check_writable,
    file_errors,
    name_of,
    read_text,
    refuse_stdin_twice,
    write_text,
)
from factcheck.documents.json_documents import (
    PlainData,
    Reader,
    from_plain,
    json_text,
    parse_json,
    shown,
    to_plain,
)

__all__ = [
    "MAX_TEXT_BYTES", "Document", "Entry", "PathInValue", "PathOrDash", "PlainData",
    "Reader", "check_writable", "file_errors", "from_plain", "json_text", "name_of", "parse_json",
    "read_text", "refuse_stdin_twice", "shown", "to_plain",
    "write_text",
]  # fmt: skip
