"""Results files: append-only JSON lines that survive a killed run and can be resumed.

The first line identifies the run; every other line is the final row of one record, written with a
single system call. A complete run adds a closing line; without one, records may be without a row.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import IO, Any

from factcheck.documents.files import (
    MAX_DOCUMENT_BYTES,
    PathOrDash,
    check_writable,
    file_errors,
    open_binary,
)
from factcheck.documents.json_documents import json_text, parse_json
from factcheck.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: concurrent runs on one file are not detected
    fcntl = None  # type: ignore[assignment]

_FORMAT = 1
_MARK = b'{"factcheck_results":'
_END = {"complete": True}
RESULTS_END = '{"complete": true}\n'
"""The closing line of a results file."""
_log = logging.getLogger(__name__)


class ResultsFile(AbstractContextManager["ResultsFile"]):
    """Results file opened for writing by a single process and thread; a context manager.

    Rows survive a kill of the process as soon as `append` returns. The file is synced to disk only
    when closed, so a power failure may lose the last rows; a resumed run computes them again.

    Args:
        path: A regular file, or one that does not exist yet.
        signature: Returns the signature of the run, which is equal for equal settings. Called when
            the first row is written, since the first replies may reveal settings of the server.
        resume: Whether to continue after existing rows, discarding a truncated last line. If false,
            a file with rows is an error.

    Raises:
        InputError: The file is not writable, has rows without `resume`, belongs to another run, is
            damaged, or is being written by another process.
    """

    def __init__(
        self, path: str | os.PathLike[str], signature: Callable[[], str], *, resume: bool
    ) -> None:
        self.path = path
        self.done: set[str] = set()
        """Ids of the records with a row."""
        self.complete = False
        """Whether every record has a row, which closing writes down; the next row resets it."""
        self._signature = signature
        self._end = 0
        check_writable(path)
        with file_errors(str(path), "write"):
            self._file = Path(path).open("a+b", buffering=0)  # noqa: SIM115 - `close` closes it
            try:
                lock_for_writing(self._file.fileno(), path)
                self._load(resume=resume)
            except BaseException:
                self._file.close()
                raise

    def _load(self, *, resume: bool) -> None:
        self._file.seek(0)
        with open(self._file.fileno(), "rb", closefd=False) as stream:
            if not resume:
                if len([*islice(_lines(stream, self.path), 2)]) > 1:
                    raise InputError(
                        f"{self.path} already has results; continue with --resume, "
                        "or name another file"
                    )
                self._file.truncate(0)  # a run that ended before its first record
                stream.seek(0)
            for row in _lines(stream, self.path):
                if self._end == 0 and row["run"] != self._signature():
                    theirs, ours = _differences(row["run"], self._signature())
                    raise InputError(
                        f"{self.path} has rows of a run with {theirs}, not {ours}; use the "
                        "settings of that run, or name another file"
                    )
                if "id" in row:
                    self.done.add(row["id"])
                if row == _END:
                    self.complete = True
                else:
                    self._end = stream.tell()
        self._file.truncate(self._end)

    def append(self, id: str, row: Mapping[str, Any]) -> None:  # noqa: A002 - its name in a row
        """Append the final row of a record; a failure, as of a full disk, leaves no part of it."""
        if id in self.done:
            raise InputError(f"{self.path}: {id!r:.80} already has a row; ids must be unique")
        text = json_text({"id": id, **row}) + "\n"
        self.complete = False
        self._write(text)
        self.done.add(id)

    def _write(self, text: str) -> None:
        """Write text, after the header if it is the first."""
        if self._end == 0:
            text = results_header(self._signature()) + text
        if self.closed:
            raise InputError(f"{self.path} was closed, or writing to it failed; open it again")
        remaining = memoryview(text.encode())
        size = len(remaining)
        try:
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except BaseException as error:
            try:
                self._file.truncate(self._end)
            except OSError:
                # A resumed run removes the partial line; until then nothing may follow it.
                self._file.close()
            if not isinstance(error, OSError):
                raise
            raise InputError(
                f"cannot write {self.path}: {error.strerror}; rows kept: {len(self.done):,}; "
                "make room, then continue with --resume"
            ) from error
        self._end += size

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        """Sync the file to disk and close it; closing twice is allowed."""
        if self.closed:
            return
        try:
            self._write(RESULTS_END if self.complete else "")
            with file_errors(str(self.path), "write"):
                os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def lock_for_writing(descriptor: int, path: str | os.PathLike[str]) -> None:
    """Lock a regular file, if its file system has locks, until it is closed."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise InputError(f"{path} is not a regular file; results need one")
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(
            f"another run is writing to {path}; wait for it to end, or name another file"
        ) from error
    except OSError:
        return  # as a file system without locks says


def results_header(signature: str) -> str:
    """Return the first line of a results file."""
    head = {"factcheck_results": _FORMAT, "run": signature, "version": version("summary-factcheck")}
    return json_text(head) + "\n"


def read_results(path: PathOrDash) -> Iterator[dict[str, Any]]:
    """Yield the rows of a results file, in order.

    A last line truncated by a crash is ignored, with a warning in the log; other damage is an
    `InputError`.
    """
    with open_binary(path) as stream:
        yield from (row for row in _lines(stream, path) if "id" in row)


def read_run(path: PathOrDash) -> tuple[str, list[dict[str, Any]], bool]:
    """Return signature and rows of a run, and whether it is complete; raises as `read_results`."""
    with open_binary(path) as stream:
        lines = list(_lines(stream, path))
    rows = [line for line in lines if "id" in line]
    return (str(lines[0]["run"]) if lines else ""), rows, lines[-1:] == [_END]


def _differences(one: str, other: str) -> Iterator[str]:
    """Yield for each signature the entries that the other lacks, or all if there are none."""
    for own, others in ((one, other), (other, one)):
        only = (entry for entry in own.split("|") if entry not in others.split("|"))
        yield "|".join(only) or own


def _lines(stream: IO[bytes], path: PathOrDash) -> Iterator[dict[str, Any]]:
    """Yield the validated header, rows and end of a results file."""
    ids: set[str] = set()
    for number, raw in enumerate(iter(lambda: stream.readline(MAX_DOCUMENT_BYTES), b""), 1):
        place = f"{path}, line {number}"
        if number == 1 and not (raw.startswith(_MARK) or _MARK.startswith(raw)):
            raise InputError(f"{path} is not a results file of factcheck; name another file")
        data = None
        if raw.endswith(b"\n"):
            with suppress(InputError):
                data = parse_json(raw[:-1], str(path), number).value
        if not isinstance(data, dict):
            if stream.read(1):
                raise InputError(
                    f"{place}: not a JSON object; the file is damaged: "
                    "remove this line, or name another file"
                )
            _log.warning("%s was cut off; it is ignored", place)
            return
        if number == 1:
            if data["factcheck_results"] != _FORMAT or not isinstance(data.get("run"), str):
                raise InputError(f"{path} was written by another version of factcheck")
        elif data != _END or stream.read(1):
            _add_id(data, place, ids)
        yield data


def _add_id(row: Mapping[str, Any], place: str, ids: set[str]) -> None:
    name = row.get("id")
    if not isinstance(name, str):
        raise InputError(f"{place}: the row has no id; the file is damaged")
    if name in ids:
        raise InputError(f"{place}: {name!r:.80} has two rows; the file is damaged")
    ids.add(name)
