"""Lines of a file, and JSON lines: one object a line."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from factcheck.datasets.record import Entry, Place
from factcheck.documents import PathOrDash, file_errors
from factcheck.errors import InputError


def jsonl_entries(path: PathOrDash) -> Iterator[Entry]:
    """One entry a line that is not blank."""
    for place, raw in lines(path):
        if not raw.strip():
            continue
        data: Mapping[str, Any] | InputError
        try:
            data = _object(raw, place)
        except InputError as error:
            data = error
        yield Entry(place, data)


def lines(path: PathOrDash) -> Iterator[tuple[Place, bytes]]:
    """The lines of a file, its byte order mark removed; of `*.gz`, those of what is inside.

    Raises:
        InputError: Not readable, damaged, or UTF-16.
    """
    name = "standard input" if path == "-" else str(path)
    try:
        with file_errors(name, "read"), _opened(path) as stream:
            for number, raw in enumerate(stream, 1):
                if number > 1:
                    yield Place(name, "line", number), raw
                    continue
                if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise InputError(f"{name} is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8")
                yield Place(name, "line", 1), raw.removeprefix(b"\xef\xbb\xbf")
    except (EOFError, zlib.error) as error:
        raise InputError(f"cannot read {name}: {error}") from error


def _opened(path: PathOrDash) -> AbstractContextManager[Iterable[bytes]]:
    if path == "-":
        return nullcontext(sys.stdin.buffer)
    return gzip.open(path) if str(path).lower().endswith(".gz") else Path(path).open("rb")


def text_problem(raw: bytes, place: Place) -> InputError | None:
    """Why a line is not text in UTF-8, or `None` if it is."""
    if (offset := raw.find(b"\0")) >= 0:
        return InputError(f"{place}: NUL byte at byte {offset} of the line; this is not plain text")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return InputError(
            f"{place}: not UTF-8 (byte 0x{raw[error.start]:02x} at byte {error.start} of the line);"
            " is the file a mixture of encodings?"
        )
    return None


def _object(raw: bytes, place: Place) -> Mapping[str, Any]:
    if problem := text_problem(raw, place):
        raise problem
    try:
        data = json.loads(raw.decode())
    except json.JSONDecodeError as error:
        raise InputError(
            f"{place}: not valid JSON ({error.msg}, character {error.pos}); "
            "every line must hold one whole object"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: JSON that cannot be read ({error})") from error
    if not isinstance(data, dict):
        raise InputError(f"{place}: expected a JSON object, not {type(data).__name__}")
    return data
