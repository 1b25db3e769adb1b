"""Cassette files: reading them line by line, and appending what was answered.

A cassette only grows. A process that was killed while it wrote leaves a torn last line; a reader
passes over it with a warning, and the next writer cuts it off. One process at a time records.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from factcheck.errors import ConfigError, InputError
from factcheck.judges.replay.lines import (
    HEADER,
    Identity,
    Recorded,
    RecordedFacts,
    parse_answer,
    parse_header,
)

logger = logging.getLogger(__name__)


class CassetteReader:
    """The answers of a cassette, in file order; iterate over it once.

    Raises:
        InputError: The file cannot be read, is no cassette, or has a broken line that is not its
            last; raised while iterating, with the number of the line.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._sha256 = hashlib.sha256()
        self.torn_at: int | None = None
        """Where a torn last line starts, in bytes; known when all lines are read."""

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that stand for what was read so far."""
        return self._sha256.hexdigest()[:8]

    def __iter__(self) -> Iterator[Recorded]:
        position = 0
        with _file_errors(self._path, "read"):
            status = Path(self._path).stat()
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise InputError(f"{self._path} is not a regular file; a cassette is one")
        with _file_errors(self._path, "read"), Path(self._path).open("rb") as file:
            for number, line in enumerate(file, 1):
                self._sha256.update(line)
                try:
                    if number == 1:
                        parse_header(line)
                    elif line.strip():
                        yield parse_answer(line)
                except InputError as error:
                    if number == 1 or line.endswith(b"\n"):
                        raise InputError(f"{self._path}, line {number}: {error}") from error
                    self.torn_at = position
                    logger.warning("%s, line %d: cut off, passed over", self._path, number)
                position += len(line)
        if position == 0:
            raise InputError(f"{self._path} is empty; a cassette starts with a header line")


class CassetteWriter:
    """Appends answers to a cassette; thread-safe.

    The file is made if it is not there. What an earlier run recorded stays, and is not recorded
    again. The file is open only while something is written, so there is nothing to close.

    A write that fails does not cost the answer it should have kept: recording stops, a warning is
    logged, and `failure` says why.

    Raises:
        InputError: The file cannot be written, or is something else than a cassette.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        """The file."""
        self.failure: str | None = None
        """Why recording stopped; `None` while it works."""
        self._lock = threading.Lock()
        self._known: set[bytes] = set()
        self._identities: dict[tuple[type[Recorded], str], Identity] = {}
        with _file_errors(path, "write"):
            if _holds_nothing(Path(path)):
                Path(path).write_bytes(HEADER)
            else:
                self._continue()

    def _continue(self) -> None:
        """Learn what the file has, and make sure that it ends with a whole line."""
        answers = CassetteReader(self.path)
        for answer in answers:
            self._known.add(_key(answer))
            self._identities.setdefault((type(answer), _name(type(answer), answer.by)), answer.by)
        with Path(self.path).open("r+b") as file:
            if answers.torn_at is not None:
                file.truncate(answers.torn_at)
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")

    def admit(self, kind: type[Recorded], by: Identity) -> None:
        """Say who will answer, before anything is paid for.

        Raises:
            ConfigError: The cassette has answers of the same name in another version; replay
                could not tell them apart.
        """
        known = self._identities.setdefault((kind, _name(kind, by)), by)
        if known != by:
            raise ConfigError(
                f"{self.path} was recorded with {describe(known)}, this is {describe(by)}; "
                "record to another file"
            )

    def append(self, answers: Sequence[Recorded]) -> None:
        """Record the answers to questions that the cassette does not have yet."""
        with self._lock:
            if self.failure is not None:
                return
            try:
                self._write(self._new_lines(answers))
            except OSError as error:
                self._stop(error.strerror or str(error))
            except (TypeError, ValueError) as error:
                self._stop(f"an answer has no form that can be read back ({error})")

    def _new_lines(self, answers: Sequence[Recorded]) -> list[bytes]:
        lines = []
        for answer in answers:
            key = _key(answer)
            if key not in self._known:
                line = answer.to_line()
                parse_answer(line)
                self._known.add(key)
                lines.append(line)
        return lines

    def _write(self, lines: Sequence[bytes]) -> None:
        """Append each line in one write. The file must be there: its header is."""
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags)
        try:
            for line in lines:
                if os.write(descriptor, line) != len(line):
                    raise OSError("a line was written in part")
        finally:
            os.close(descriptor)

    def _stop(self, problem: str) -> None:
        self.failure = f"cannot record to {self.path}: {problem}"
        logger.warning("%s; nothing more is recorded", self.failure)


def describe(by: Identity) -> str:
    """An identity, for a message."""
    return ", ".join(f"{name} {value}" for name, value in by) or "a judge without a name"


def _name(kind: type[Recorded], by: Identity) -> str:
    return dict(by).get("extractor" if kind is RecordedFacts else "judge", "")


def _key(answer: Recorded) -> bytes:
    """The question in 16 bytes: a writer remembers many."""
    return hashlib.blake2b(answer.question.encode("ascii"), digest_size=16).digest()


def _holds_nothing(path: Path) -> bool:
    """Whether a file is missing, empty, or was cut off within its header."""
    if not path.exists():
        return True
    with path.open("rb") as file:
        start = file.read(len(HEADER))
    return start != HEADER and HEADER.startswith(start)


@contextmanager
def _file_errors(path: str | os.PathLike[str], verb: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        problem = "there is no such file" if verb == "read" else "there is no such folder"
        raise InputError(f"cannot {verb} {path}: {problem}") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a directory; name a file") from error
    except OSError as error:
        raise InputError(f"cannot {verb} {path}: {error.strerror or error}") from error
