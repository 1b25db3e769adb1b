"""Result rows: a file of JSON lines that only grows, survives a killed run, and can be resumed.

The first line identifies the run that the rows belong to; every further line is the final row of
one record, written whole with one call.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any

from factcheck.documents.files import (
    MAX_DOCUMENT_BYTES,
    Place,
    check_writable,
    file_errors,
    open_binary,
)
from factcheck.documents.json_documents import json_text, parse_json_line
from factcheck.errors import InputError

try:
    import fcntl
except ImportError:  # on Windows, two runs on one file go unnoticed
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from typing_extensions import Self

_FORMAT = 1
_MARK = b'{"factcheck_results":'
_OPEN_FLAGS = (
    os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_log = logging.getLogger(__name__)


class ResultsFile:
    """A results file open for writing, by one process and one thread; a context manager.

    A row is in the hands of the operating system when `append` returns: killing the process loses
    nothing. The file is synced to disk when it is closed, not after every row, so a power cut may
    cost the last rows; resuming computes them again.

    Args:
        path: A regular file, or one that does not exist yet.
        signature: Gives the signature of the run: equal for equal settings. It is asked when the
            first row is written, as the first answers may show how they are had.
        resume: Whether to continue after existing rows. A last line that was cut off by a crash is
            removed. Without it, only a file without rows is accepted.

    Raises:
        InputError: The file cannot be written, has rows already, belongs to another run, is
            damaged, or another process is writing to it.
    """

    def __init__(
        self, path: str | os.PathLike[str], signature: Callable[[], str], *, resume: bool
    ) -> None:
        self.path = path
        self.done: set[str] = set()
        """Ids that have a row."""
        self._signature = signature
        self._end = 0
        check_writable(path)
        with file_errors(str(path), "write"):
            self._descriptor = os.open(path, _OPEN_FLAGS, 0o666)
            try:
                self._lock()
                self._load(resume=resume)
            except BaseException:
                os.close(self._descriptor)
                raise

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise InputError(f"{self.path} is not a regular file; results need one")
        if fcntl is None:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"another run is writing {self.path}; wait for it to end, or name another file"
            ) from error
        except OSError as error:
            if error.errno not in {errno.ENOLCK, errno.ENOTSUP}:  # a file system without locks
                raise

    def _load(self, *, resume: bool) -> None:
        with open(self._descriptor, "rb", closefd=False) as stream:
            if not resume:
                head, rest = stream.readline(MAX_DOCUMENT_BYTES), stream.read(1)
                if head and (rest or not head.startswith(_MARK)):
                    raise InputError(
                        f"{self.path} has results already; continue with --resume, "
                        "or name another file"
                    )
                os.ftruncate(self._descriptor, 0)  # a run that ended before its first record
                stream.seek(0)
            for row in _rows(stream, self.path, self.done):
                if self._end == 0 and row.get("run") != self._signature():
                    theirs, ours = _differences(str(row.get("run")), self._signature())
                    raise InputError(
                        f"{self.path} holds the rows of a run with {theirs}, not {ours}; use the "
                        "settings of that run, or name another file"
                    )
                self._end = stream.tell()
        os.ftruncate(self._descriptor, self._end)

    def append(self, id: str, row: Mapping[str, Any]) -> None:  # noqa: A002 - its name in a row
        """Write the final row of a record, as one line.

        Raises:
            InputError: The row cannot be written (a full disk, say), and nothing of it is in the
                file; or the record has a row.
            ValueError: A number is not finite, or the row has another `id`.
        """
        if row.get("id", id) != id:
            raise ValueError(f"the row of {id!r} has the id {row['id']!r}")
        if id in self.done:
            raise InputError(f"{self.path}: {id!r:.80} has a row already; ids must be unique")
        self._write({"id": id, **row})
        self.done.add(id)

    def _write(self, data: Mapping[str, Any] | None = None) -> None:
        """Write a line, after the header if it is the first; without data, only the header."""
        text = "" if data is None else json_text(data) + "\n"
        if self._end == 0:
            head = {"factcheck_results": _FORMAT, "run": self._signature()}
            text = json_text({**head, "version": version("factcheck")}) + "\n" + text
        if self._descriptor < 0:
            raise InputError(f"{self.path} was closed, or could not be written; open it again")
        left = memoryview(text.encode())
        size = len(left)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except BaseException as error:
            try:
                os.ftruncate(self._descriptor, self._end)
            except OSError:
                # The torn line stays until a resumed run cuts it off; nothing may follow it.
                os.close(self._descriptor)
                self._descriptor = -1
            if not isinstance(error, OSError):
                raise
            raise InputError(
                f"cannot write {self.path}: {error.strerror}; its {len(self.done)} rows are kept: "
                "make room, then continue with --resume"
            ) from error
        self._end += size

    @property
    def closed(self) -> bool:
        return self._descriptor < 0

    def close(self) -> None:
        """Sync the file to disk and close it; closing twice is allowed."""
        if self._descriptor < 0:
            return
        self._write()
        with file_errors(str(self.path), "write"):
            try:
                os.fsync(self._descriptor)
            finally:
                os.close(self._descriptor)
                self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_results(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Rows of a results file, in order; one is held at a time.

    A last line that was cut off by a crash is ignored, with a warning in the log. Any other damage,
    or an id with two rows, is an `InputError`.
    """
    with open_binary(path) as stream:
        rows = _rows(stream, path, set())
        next(rows, None)
        yield from rows


def read_signature(path: str | os.PathLike[str]) -> str:
    """Signature of the run whose rows a results file holds; raises like `read_results`."""
    with open_binary(path) as stream:
        return str(next(_rows(stream, path, set()), {}).get("run", ""))


def _differences(one: str, other: str) -> Iterator[str]:
    """The entries in which two signatures differ; the whole where that leaves nothing."""
    for own, others in ((one, other), (other, one)):
        only = (entry for entry in own.split("|") if entry not in others.split("|"))
        yield "|".join(only) or own


def _rows(
    stream: IO[bytes], path: str | os.PathLike[str], ids: set[str]
) -> Iterator[dict[str, Any]]:
    """The checked header and the rows of a results file; adds their ids to `ids`."""
    for number, raw in enumerate(iter(lambda: stream.readline(MAX_DOCUMENT_BYTES), b""), 1):
        place = Place(str(path), "line", number)
        if number == 1 and not (raw.startswith(_MARK) or _MARK.startswith(raw)):
            raise InputError(f"{path} is not a results file; name another file")
        data = None
        if raw.endswith(b"\n"):
            with suppress(InputError):
                data = parse_json_line(raw, place)
        if not isinstance(data, dict):
            if stream.read(1):
                raise InputError(
                    f"{place}: not a JSON object; the file is damaged: "
                    "remove that line, or name another file"
                )
            _log.warning("%s was cut off; it is ignored", place)
            return
        if number == 1:
            if data["factcheck_results"] != _FORMAT:
                raise InputError(f"{path} was written by another version of factcheck")
        elif not isinstance(name := data.get("id"), str):
            raise InputError(f"{place}: a row without id; the file is damaged")
        elif name in ids:
            raise InputError(f"{place}: a second row of {name!r:.80}")
        else:
            ids.add(name)
        yield data
