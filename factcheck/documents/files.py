"""Read text files, locate values in them, and write files atomically.

Every file error is a one-line `InputError` that names the file.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, Union

from factcheck.errors import InputError, shorten_middle

PathOrDash = Union[str, "os.PathLike[str]"]
"""Path of a file, or `-` for standard input."""
MAX_TEXT_BYTES = 16 << 20
"""Maximum size of a text, and of one line of a file read line by line."""
MAX_DOCUMENT_BYTES = 256 << 20
"""Maximum size of a document read as a whole."""
_SHOWN = 40
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0)
_DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
PathInValue = tuple[str | int, ...]
"""Keys and 0-based positions, such as `("cases", 0, "id")`."""
MAX_DEPTH = 300
"""Maximum nesting depth of a value."""
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"


class Line(NamedTuple):
    """Line of a file."""

    number: int
    """1-based."""
    text: str
    """Without byte order mark; of a line with an error, what can be read of it."""
    error: InputError | None = None
    """Why the line cannot be read; names the file and the line."""


class Unparsed(InputError):
    """Error of a line that is not JSON."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text
        """The line."""


class Entry(NamedTuple):
    """Entry of a file; the value is an `InputError` if it cannot be parsed."""

    place: str
    """For messages, such as `pairs.jsonl, line 7` or `pairs.json, record 7`."""
    value: Any


@dataclass(frozen=True, slots=True)
class Document:
    """Value of a file."""

    name: str
    value: Any
    lines: Mapping[PathInValue, int] = field(default_factory=dict)
    """Lines of parts, as far as known."""

    def place(self, path: PathInValue) -> str:
        """Name a part, by the line of the closest part that has one, or else by its path."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        if known in self.lines:
            return f"{self.name}, line {self.lines[known]}"
        return place_in(self.name, path)

    def error(self, path: PathInValue, message: str) -> InputError:
        return InputError(f"{self.place(path)}: {message}")


def place_in(name: str, path: PathInValue) -> str:
    """Name a part of a value: `cards.json: 'cases', item 2`."""
    for step in path:
        name += f", item {step + 1}" if isinstance(step, int) else f": {step!r:.80}"
    return name


def no_json_value(text: str) -> str:
    """Describe a scalar, such as NaN, that JSON cannot hold."""
    return f"{shorten_middle(text, _SHOWN)} is not a JSON value; write null, or put it in quotes"


def name_of(path: PathOrDash) -> str:
    """Return the name of a file for messages."""
    return "standard input" if path == "-" else str(path)


def refuse_stdin_twice(*paths: PathOrDash | None) -> None:
    """Raise `InputError` if more than one path is `-`: standard input can be read only once."""
    if sum(path == "-" for path in paths) > 1:
        raise InputError("'-' (standard input) can stand for one file only; name a file instead")


@contextmanager
def file_errors(name: str, verb: str) -> Iterator[None]:
    """Convert operating system errors to `InputError`s such as `cannot read data.json: ...`."""
    try:
        yield
    except (BrokenPipeError, InputError):
        raise
    except (OSError, ValueError) as error:
        problem = f"cannot {verb} {name}: {getattr(error, 'strerror', 0) or error}"
        if isinstance(error, FileNotFoundError) and verb == "read":
            problem = f"{name} does not exist; check the path"
        elif isinstance(error, IsADirectoryError):
            problem = f"{name} is a directory; name a file"
        raise InputError(problem) from error


@contextmanager
def open_binary(path: PathOrDash) -> Iterator[IO[bytes]]:
    """Open a file or standard input for reading, without blocking on a pipe without a writer."""
    name = name_of(path)
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file instead")
        with file_errors(name, "read"):
            yield sys.stdin.buffer
        return
    with file_errors(name, "read"), open(path, "rb", opener=_open_at_once) as stream:
        if stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode) and not stream.peek(1):
            raise InputError(f"{name} is a pipe without a writer; name a file instead")
        yield stream


def _open_at_once(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _NON_BLOCKING)
    if _NON_BLOCKING:
        os.set_blocking(descriptor, True)
    return descriptor


def read_text(path: PathOrDash, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Read a UTF-8 file with accents composed, plain line ends and no byte order mark."""
    name = name_of(path)
    data = bytearray()
    with open_binary(path) as stream:
        while chunk := stream.read(1 << 20):
            data += chunk
            if b"\0" in chunk:
                break  # binary, or an endless device such as /dev/zero
            if len(data) > max_bytes:
                raise InputError(f"{name} is larger than the limit of {max_bytes:,} bytes")
    text = unicodedata.normalize("NFC", decode_text(data, name))
    if "\r" in text:
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def decode_text(data: bytes | bytearray, name: str, first_line: int = 1) -> str:
    """Decode UTF-8 with or without byte order mark; its error names the line."""
    if data.startswith(_UTF_16):
        raise InputError(f"{name} is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8")
    offset = data.find(b"\0")
    if offset < 0:
        try:
            return data.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            offset = error.start
    line = first_line + data.count(b"\n", 0, offset)
    column = offset - data.rfind(b"\n", 0, offset) - 1
    problem, hint = (
        (f"not UTF-8 (byte 0x{data[offset]:02x}", "convert it: iconv -f LATIN1 -t UTF-8")
        if data[offset]
        else ("not a text file (NUL byte", "give plain text in UTF-8")
    )
    raise InputError(f"{name}, line {line}: {problem} at byte {column} of the line); {hint}")


def read_lines(path: PathOrDash) -> Iterator[Line]:
    """Yield the lines of a file, with their line ends."""
    name = name_of(path)
    with open_binary(path) as stream:
        for number, raw in enumerate(iter(lambda: stream.readline(MAX_TEXT_BYTES + 1), b""), 1):
            if len(raw) > MAX_TEXT_BYTES:
                where = f"{name}, line {number}"
                _skip_line(stream, raw, where)
                problem = f"{where}: longer than the limit of {MAX_TEXT_BYTES:,} bytes"
                yield Line(number, "", InputError(problem))
                continue
            try:
                line = Line(number, decode_text(raw, name, number))
            except InputError as error:
                if raw.startswith(_UTF_16) and number == 1:
                    raise
                line = Line(number, raw.decode("utf-8", "replace"), error)
            yield line


def _skip_line(stream: IO[bytes], raw: bytes, where: str) -> None:
    while len(raw) > MAX_TEXT_BYTES and not raw.endswith(b"\n"):
        if b"\0" in raw:  # an endless device such as /dev/zero
            raise InputError(f"{where}: not a text file (NUL byte); give plain text in UTF-8")
        raw = stream.readline(MAX_TEXT_BYTES + 1)


def check_writable(path: PathOrDash) -> None:
    """Raise `InputError` for a directory or a missing folder."""
    with file_errors(str(path), "write"):
        target = Path(path)
        if target.is_dir():
            raise InputError(f"{path} is a directory; name a file to write")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: folder {target.parent} does not exist")


def write_text(path: PathOrDash, text: str, *, mode: int = 0o666) -> None:
    r"""Write a UTF-8 file atomically.

    Lone surrogates, which UTF-8 cannot encode, are written as `\udcff`, which JSON reads back.
    Follows symbolic links and writes directly to devices and pipes. A new file gets the
    permissions `mode`; an existing one keeps its own.
    """
    data = text.encode("utf-8", "backslashreplace")
    check_writable(path)
    with file_errors(str(path), "write"):
        with suppress(FileNotFoundError):
            mode = Path(path).stat().st_mode
            if not stat.S_ISREG(mode):
                with open(path, "wb", opener=_open_at_once) as stream:
                    stream.write(data)
                return
        target = Path(path).resolve()
        draft = target.with_name(f".factcheck-{secrets.token_hex(8)}.tmp")
        descriptor = os.open(draft, _DRAFT_FLAGS, stat.S_IMODE(mode))
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
