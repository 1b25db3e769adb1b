"""Read text files, locate values in them, and write files atomically.

Every file error is a one-line `InputError` that names the file.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Union

from factcheck.errors import InputError

PathOrDash = Union[str, "os.PathLike[str]"]
"""Path of a file, or `-` for standard input."""
MAX_TEXT_BYTES = 16 << 20
"""Maximum size of a text, and of one line of a file read line by line."""
MAX_DOCUMENT_BYTES = 256 << 20
"""Maximum size of a document read as a whole."""
_SHOWN = 40
_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0)
_DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
PathInValue = tuple[str | int, ...]
"""Keys and 0-based positions, such as `("cases", 0, "id")`."""
MAX_DEPTH = 300
"""Maximum nesting depth of a value."""


class Place(NamedTuple):
    """Position of an entry in a file, as shown in messages."""

    name: str
    unit: str = ""
    """`line`, `row` or `record`; empty for a file with a single entry."""
    number: int = 0
    """1-based."""

    def __str__(self) -> str:
        if self.unit:
            return f"{self.name}, {self.unit} {self.number}"
        return self.name


class Unparsed(InputError):
    """Error of a line that is not JSON."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text
        """The line; other bytes than UTF-8 are replaced, and a line that is too long is empty."""


class Entry(NamedTuple):
    """Entry of a file; the value is an `InputError` if it cannot be parsed."""

    place: Place
    value: Any


@dataclass(frozen=True, slots=True)
class Document:
    """Value of a file, with the line numbers of its parts."""

    name: str
    value: Any
    line_of: Callable[[PathInValue], int]
    """Line of a part, or of its closest known parent; 0 if there are no lines."""

    def place(self, path: PathInValue) -> str:
        line = self.line_of(path)
        return f"{self.name}, line {line}" if line else self.name

    def error(self, path: PathInValue, message: str) -> InputError:
        return InputError(f"{self.place(path)}: {message}")

    @contextmanager
    def at(self, path: PathInValue) -> Iterator[None]:
        """Prefix an `InputError` of a `with` block with the place of a part."""
        try:
            yield
        except InputError as error:
            raise self.error(path, str(error)) from error


def plain_document(value: Any, name: str) -> Document:
    """Make a document from a value without a file."""
    return Document(name, value, lambda _: 0)


def line_finder(
    read_lines: Callable[[], Mapping[PathInValue, int]],
) -> Callable[[PathInValue], int]:
    """Make `Document.line_of` from the lines of all parts, determined on first use."""
    lines: dict[PathInValue, int] = {}

    def line_of(path: PathInValue) -> int:
        if not lines:
            lines.update(read_lines())
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 0)

    return line_of


def no_json_value(text: str) -> str:
    """Describe a scalar, such as NaN, that JSON cannot hold."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f"{shown} is not a JSON value; write null, or put it in quotes"


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
        folder = Path(name).parent
        if isinstance(error, FileNotFoundError) and verb == "write":
            missing = f"folder {folder} does not exist"
            reason = "no file can be created there" if folder.is_dir() else missing
            problem = f"cannot write {name}: {reason}"
        elif isinstance(error, FileNotFoundError):
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
    """Read a UTF-8 file with accents composed, plain line ends and no byte order mark.

    Raises:
        InputError: Missing, a directory, unreadable, too large, binary, or not UTF-8.
    """
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
    """Decode UTF-8 with or without byte order mark.

    Raises:
        InputError: Not UTF-8, or binary; names the line.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
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


def lines(path: PathOrDash) -> Iterator[tuple[Place, bytes]]:
    """Yield the lines of a file, without byte order mark.

    A line above the limit is cut off after it; `check_line` refuses it.
    """
    name = name_of(path)
    with open_binary(path) as stream:
        for number, raw in enumerate(iter(lambda: stream.readline(MAX_TEXT_BYTES + 1), b""), 1):
            place = Place(name, "line", number)
            if number == 1:
                if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    decode_text(raw, name)
                raw = raw.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901 - the line itself
            yield place, raw
            while len(raw) > MAX_TEXT_BYTES and not raw.endswith(b"\n"):
                if b"\0" in raw:  # an endless device such as /dev/zero
                    decode_text(raw, name, number)
                raw = stream.readline(MAX_TEXT_BYTES + 1)  # noqa: PLW2901 - the rest of the line


def check_line(raw: bytes, place: Place) -> None:
    """Raise `InputError` for a line that was cut off because it is too long."""
    if len(raw) > MAX_TEXT_BYTES:
        raise InputError(f"{place}: longer than the limit of {MAX_TEXT_BYTES:,} bytes")


def check_writable(path: PathOrDash) -> None:
    """Raise `InputError` for a directory or a missing folder."""
    with file_errors(str(path), "write"):
        target = Path(path)
        if target.is_dir():
            raise InputError(f"{path} is a directory; name a file to write")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: folder {target.parent} does not exist")


def write_text(path: PathOrDash, text: str) -> None:
    r"""Write a UTF-8 file atomically.

    Lone surrogates, which UTF-8 cannot encode, are written as `\udcff`, which JSON reads back.

    Raises:
        InputError: A directory, a missing folder, or not writable.
    """
    data = text.encode("utf-8", "backslashreplace")
    write_with(path, lambda stream: stream.write(data))


def write_with(
    path: PathOrDash, write: Callable[[IO[bytes]], object], *, mode: int = 0o666
) -> None:
    """Write a file atomically; if `write` raises, the file is unchanged.

    Follows symbolic links and writes directly to devices and pipes. A new file gets
    the permissions `mode`; an existing one keeps its own. Raises as `write_text` does.
    """
    check_writable(path)
    with file_errors(str(path), "write"):
        with suppress(FileNotFoundError):
            mode = Path(path).stat().st_mode
            if not stat.S_ISREG(mode):
                with open(path, "wb", opener=_open_at_once) as stream:
                    write(stream)
                return
        target = Path(path).resolve()
        draft = target.with_name(f".factcheck-{secrets.token_hex(8)}.tmp")
        descriptor = os.open(draft, _DRAFT_FLAGS, stat.S_IMODE(mode))
        try:
            with os.fdopen(descriptor, "wb") as stream:
                write(stream)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
