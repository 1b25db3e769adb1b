"""Reads text files, places in them and their values; writes files in one step.

Every problem with a file is an `InputError` of one line that names the file.
"""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Union, cast

from factcheck.errors import InputError

PathOrDash = Union[str, "os.PathLike[str]"]
"""A file, or `-` for standard input."""
MAX_TEXT_BYTES = 16 << 20
"""Size limit of a text, and of one line of a file that is read line by line."""
MAX_DOCUMENT_BYTES = 256 << 20
"""Size limit of a document that is read as a whole."""
_CHUNK_BYTES = 1 << 20
_NON_BLOCKING = getattr(os, "O_NONBLOCK", 0)
_DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
PathInValue = tuple[str | int, ...]
"""Keys and positions, such as `("cases", 0, "id")`."""
MAX_DEPTH = 300
"""Nesting limit of a value."""


class Place(NamedTuple):
    """Position of an entry in a file, as shown in messages."""

    name: str
    unit: str = ""
    """`line`, `row` or `record`; empty for a file that is one entry."""
    number: int = 0
    """Counted from 1."""

    def __str__(self) -> str:
        return f"{self.name}, {self.unit} {self.number}" if self.unit else self.name


class Entry(NamedTuple):
    """One entry of a file; the value is an `InputError` if the entry cannot be read."""

    place: Place
    value: Any


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file, and the lines of its parts."""

    name: str
    value: Any
    line_of: Callable[[PathInValue], int]
    """Line of a part, or of the nearest part around it; 0 where there are no lines."""

    def place(self, path: PathInValue) -> str:
        line = self.line_of(path)
        return f"{self.name}, line {line}" if line else self.name

    def error(self, path: PathInValue, message: str) -> InputError:
        return InputError(f"{self.place(path)}: {message}")


def plain_document(value: Any, name: str) -> Document:
    """A document for a value that does not come from a file."""
    return Document(name, value, lambda _: 0)


def line_finder(
    read_lines: Callable[[], Mapping[PathInValue, int]],
) -> Callable[[PathInValue], int]:
    """`Document.line_of` from the lines of all parts, which are read when first needed."""
    lines: dict[PathInValue, int] = {}

    def line_of(path: PathInValue) -> int:
        if not lines:
            lines.update(read_lines())
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 0)

    return line_of


def name_of(path: PathOrDash) -> str:
    """Name of a file in messages."""
    return "standard input" if path == "-" else str(path)


def refuse_stdin_twice(*paths: PathOrDash | None) -> None:
    """Raise `InputError` if more than one path is `-`: standard input can be read only once."""
    if sum(path == "-" for path in paths) > 1:
        raise InputError("'-' (standard input) can stand for one file only; name a file instead")


@contextmanager
def file_errors(name: str, verb: str) -> Iterator[None]:
    """Turn errors of the operating system into an `InputError`: cannot `verb` the file `name`."""
    try:
        yield
    except FileNotFoundError as error:
        if verb == "write":
            folder = Path(name).parent
            why = "no file can be made there" if folder.is_dir() else f"there is no folder {folder}"
            raise InputError(f"cannot write {name}: {why}") from error
        raise InputError(f"{name} does not exist; check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a directory; name a file") from error
    except PermissionError as error:
        raise InputError(f"cannot {verb} {name}: permission denied") from error
    except BrokenPipeError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"cannot {verb} {name}: {getattr(error, 'strerror', 0) or error}"
        ) from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot {verb} {name!r}: {error}") from error


@contextmanager
def open_binary(path: PathOrDash) -> Iterator[IO[bytes]]:
    """Open a file or standard input for reading; never waits for a pipe without a writer."""
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
    """Read a UTF-8 file; line ends become line feeds, a byte order mark is removed.

    Raises:
        InputError: Missing, a directory, not readable, too large, binary, or not UTF-8.
    """
    name = name_of(path)
    data = bytearray()
    with open_binary(path) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            data += chunk
            if b"\0" in chunk:
                break  # binary, or an endless device such as /dev/zero
            if len(data) > max_bytes:
                raise InputError(f"{name} is larger than the limit of {max_bytes:,} bytes")
    text = decode_text(data, name)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def decode_text(data: bytes | bytearray, name: str, first_line: int = 1) -> str:
    """Decode UTF-8 with or without byte order mark; an `InputError` names the line."""
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
    """Lines of a file without the byte order mark; `*.gz` is decompressed."""
    name = name_of(path)
    with open_binary(path) as opened:
        packed = name.lower().endswith(".gz")
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=opened)) if packed else opened
        for number, raw in enumerate(iter(lambda: stream.readline(MAX_TEXT_BYTES + 1), b""), 1):
            place = Place(name, "line", number)
            if number == 1:
                if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    decode_text(raw, name)
                raw = raw.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901 - the line itself
            if len(raw) > MAX_TEXT_BYTES:
                raise InputError(f"{place}: longer than the limit of {MAX_TEXT_BYTES:,} bytes")
            yield place, raw


def check_writable(path: PathOrDash) -> None:
    """Raise `InputError` for a directory, a missing folder, or a link of another user."""
    with file_errors(str(path), "write"):
        target = Path(path)
        if target.is_dir():
            raise InputError(f"{path} is a directory; name a file to write")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {target.parent}")
        if target.is_symlink() and hasattr(os, "geteuid"):
            owner = target.lstat().st_uid
            if owner not in {os.geteuid(), target.parent.stat().st_uid}:
                raise InputError(f"{path} is a link made by another user; name the file itself")


def write_text(path: PathOrDash, text: str) -> None:
    r"""Write a UTF-8 file in one step: a reader finds the old text or the new one.

    Lone surrogates, which have no UTF-8 form, are written as `\udcff`, which JSON reads back.

    Raises:
        InputError: A directory, a missing folder, another user's link, or not writable.
    """
    data = text.encode("utf-8", "backslashreplace")
    write_with(path, lambda stream: stream.write(data))


def write_with(
    path: PathOrDash, write: Callable[[IO[bytes]], object], *, mode: int = 0o666
) -> None:
    """Write a file in one step, as `write_text` does; if `write` raises, the file stays as it was.

    A link of the caller's is followed, a device or pipe is written to. A new file has the rights of
    `mode`; one that exists keeps its own.
    """
    check_writable(path)
    with file_errors(str(path), "write"):
        target = Path(path).resolve()
        with suppress(FileNotFoundError):
            mode = target.stat().st_mode
            if not stat.S_ISREG(mode):
                with open(target, "wb", opener=_open_at_once) as stream:
                    write(stream)
                return
        draft = target.with_name(f".factcheck-{secrets.token_hex(8)}.tmp")
        descriptor = os.open(draft, _DRAFT_FLAGS, stat.S_IMODE(mode))
        try:
            with os.fdopen(descriptor, "wb") as stream:
                write(stream)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
