"""Storage of jobs in SQLite: records as they came, and their rows once they are final."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from factcheck.documents import check_writable, json_text, parse_json
from factcheck.documents.results import RESULTS_END, results_header
from factcheck.errors import ConfigError, InputError
from factcheck.facts.report import Direction
from factcheck.records import Record, as_record
from factcheck.scoring import RecordFailure
from factcheck.scoring.many import Scored
from factcheck.scoring.runs import row_of
from factcheck.server.access import MAX_BODY_BYTES, Problem, ServerConfig, require_bounded

_FORMAT = 4
"""Version of the tables, kept as `user_version`."""
_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, owner TEXT NOT NULL,
    judge TEXT NOT NULL, direction TEXT NOT NULL, state TEXT NOT NULL, signature TEXT NOT NULL,
    problem TEXT NOT NULL, key TEXT, digest TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS jobs_by_key ON jobs (owner, key);
CREATE TABLE IF NOT EXISTS records (
    job TEXT NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, failed INTEGER, content BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_place ON records (job, place);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_id ON records (job, id);
CREATE INDEX IF NOT EXISTS records_by_outcome ON records (job, failed);
"""
"""`content` is the record as it came, and its row once `failed` is 0 or 1."""
_ORPHANS = "DELETE FROM records WHERE job NOT IN (SELECT id FROM jobs)"
"""Removes records of jobs that did not arrive in full, or were being deleted."""
_JOBS = (
    "SELECT jobs.*, count(job) AS records, count(failed) AS rows, total(failed) AS failed "
    "FROM jobs LEFT JOIN records ON records.job = jobs.id WHERE {} GROUP BY number "
    "ORDER BY number DESC LIMIT {}"
)
_OPEN = "SELECT id, owner FROM jobs WHERE state = 'queued' ORDER BY number"
_ADD = "INSERT INTO jobs VALUES (NULL, ?, ?, ?, ?, 'queued', '', '', ?, ?)"
_PAGE_OF = (
    "SELECT place, content FROM records "
    "WHERE job = ? AND (failed IS NULL) = ? AND place > ? ORDER BY place LIMIT ?"
)
_LOCK_WAIT_S = 2.0
_PAGE = 200
"""Number of records read or written in one transaction."""
_MAX_LISTED = 200
"""Maximum number of jobs in the list of one owner."""
_MAX_OPEN = 100
"""Maximum number of unfinished jobs of one owner."""
_RETRY_S = 60.0
_BOM = b"\xef\xbb\xbf"
_MAX_LINES = 100_000
"""Maximum number of lines of a job, blank ones included."""


class JobStatus(BaseModel):
    """Progress of a job."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    id: str = Field(examples=["0f8fad5bd9cb469fa16570867728950e"])
    state: Literal["queued", "running", "done", "cancelled", "failed"]
    judge: str = Field(examples=["local"])
    direction: Direction
    records: int
    """Number of lines that are not blank."""
    rows: int
    """Number of rows so far, one per record."""
    failed: int
    """Number of rows with an error instead of a report."""
    problem: str
    """Why the job failed, or why no job is scored at present; empty if neither."""


class Job(JobStatus):
    """A job as stored; `running` is known to its runner only."""

    owner: str
    """Digest of the API key that submitted it; empty if the service had no keys."""
    signature: str
    """Signature of its rows; empty before the first."""
    digest: str | None
    """Digest of what was submitted."""


class JobStore:
    """Jobs in a database that no other process can use until `close`; thread-safe, but blocking.

    The file is created if it does not exist, readable by its owner only.
    """

    def __init__(self, config: ServerConfig) -> None:
        self._owners = {key.sha256 for key in config.keys} or {""}
        self.path = path = Path(str(config.jobs_path))
        self._lock = threading.Lock()
        check_writable(path)
        try:
            path.touch(mode=0o600)
            self._db = sqlite3.connect(path, timeout=_LOCK_WAIT_S, check_same_thread=False)
            self._db.row_factory = sqlite3.Row
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            if self._all("PRAGMA user_version")[0][0] not in {0, _FORMAT}:
                raise ConfigError(f"{path} was written by another version; name another file")
            tables = f"BEGIN; {_TABLES} PRAGMA user_version = {_FORMAT}; {_ORPHANS}; COMMIT;"
            self._db.executescript(tables)
        except (sqlite3.Error, OSError) as error:
            if "locked" in str(error):
                raise ConfigError(
                    f"{path} is in use by another service; stop it, or name another file"
                ) from error
            raise ConfigError(f"cannot use {path} for jobs: {error}") from error

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def admit(self, owner: str, key: str | None) -> Job | None:
        """Return the job that has the idempotency key, if any; one job too many is a `Problem`."""
        if found := self._job("owner = ? AND key = ?", owner, key):
            return found
        if sum(of_job == owner for _, of_job in self._all(_OPEN)) >= _MAX_OPEN:
            detail = f"{_MAX_OPEN} jobs are unfinished; wait for one to end, or cancel it"
            raise Problem(429, "rate", detail, retry_after_s=_RETRY_S)
        return None

    def add(
        self,
        lines: IO[bytes],
        owner: str,
        judge: str,
        direction: str,
        key: str | None = None,
        digest: str | None = None,
    ) -> str:
        """Store a job, JSON lines of records as `factcheck run` reads them, and return its id.

        Only the owner, known by the digest of the key, sees the job. If a job has the idempotency
        key, it is returned; `digest`, of what is submitted, must then be its own. Raises
        `InputError` if a line is no record, there are none or too many, or the key was used for
        another job; `Problem` if the owner has too many unfinished jobs, or the disk is full.
        """
        if first := self.admit(owner, key):
            if first.digest != digest:
                raise InputError("the idempotency key was used for another job; use a new key")
            return first.id
        job_id, entries = secrets.token_hex(16), self._entries(lines)
        values = job_id, owner, judge, direction, key, digest
        try:
            while page := [(job_id, *entry) for entry in islice(entries, _PAGE)]:
                with self._lock, self._db:
                    self._db.executemany("INSERT INTO records VALUES (?, ?, ?, NULL, ?)", page)
            self._change(_ADD, *values)
        except BaseException as error:
            with suppress(sqlite3.Error):  # if the disk is full, they are removed at the next start
                self._change("DELETE FROM records WHERE job = ?", job_id)
            if isinstance(error, sqlite3.Error):
                raise Problem(503, "busy", f"the job cannot be stored: {error}") from error
            raise
        return job_id

    def _entries(self, lines: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
        """Yield place, id and content of each line that is not blank."""
        first_use: dict[str, int] = {}
        place = 0
        for number, line in enumerate(iter(lambda: lines.readline(MAX_BODY_BYTES + 1), b""), 1):
            where = f"job, line {number}"
            if number > _MAX_LINES:
                raise InputError(f"the job has more than {_MAX_LINES:,} lines; split it")
            if len(line) > MAX_BODY_BYTES:
                raise InputError(f"{where}: longer than the limit of {MAX_BODY_BYTES:,} bytes")
            line = line.removeprefix(_BOM)  # noqa: PLW2901 - of the first line
            if not line.strip():
                continue
            place += 1
            data = parse_json(line.rstrip(), "job", number).value
            try:
                require_bounded(data)
                name = as_record(data, place).id
            except InputError as error:
                problem = str(error).removeprefix(f"record {place}: ")
                raise InputError(f"{where}: {problem}") from error
            if (first := first_use.setdefault(name, number)) != number:
                raise InputError(f"{where}: the id {name!r:.80} was used before, in line {first}")
            yield place, name, line
        if not place:
            raise InputError("the job holds no records; send one JSON object per line")

    def find(self, job_id: str, owner: str) -> Job:
        """Return a job; raises `Problem` if the owner has no such job."""
        if found := self._job("jobs.id = ? AND owner = ?", job_id, owner):
            return found
        raise Problem(404, "not_found", f"there is no job {job_id!r:.80}")

    def owned(self, owner: str) -> list[Job]:
        """Return the last 200 jobs of an owner, the latest first."""
        found = self._all(_JOBS.format("owner = ?", _MAX_LISTED), owner)
        return [Job(**row) for row in found]

    def first_open(self) -> Job | None:
        """Return the unfinished job that was submitted first with a key of the service."""
        for job_id, owner in self._all(_OPEN):
            if owner in self._owners:
                return self._job("jobs.id = ? AND state = 'queued'", job_id)
        return None

    @property
    def n_open(self) -> int:
        """Number of unfinished jobs."""
        return len(self._all(_OPEN))

    @property
    def n_waiting(self) -> int:
        """Number of unfinished jobs that belong to keys the service does not have."""
        return sum(owner not in self._owners for _, owner in self._all(_OPEN))

    def row_lines(self, job: Job) -> Iterator[str]:
        """Yield a results file, many lines at a time: the rows so far, in record order.

        Without the closing line, rows were missing when their page was read.
        """
        yield results_header(job.signature)
        n_missing = job.records
        for page in self._pages(job, pending=False):
            n_missing -= len(page)
            yield "".join(f"{content.decode()}\n" for _, content in page)
        if not n_missing:
            yield RESULTS_END

    def pending(self, job: Job) -> Iterator[Record]:
        """Yield the records without a row, in order."""
        for page in self._pages(job, pending=True):
            for place, line in page:
                yield as_record(parse_json(line, "job").value, place)

    def _pages(self, job: Job, *, pending: bool) -> Iterator[list[tuple[int, bytes]]]:
        """Yield place and content of records of a job, in order, a page at a time."""
        place = 0
        while page := self._all(_PAGE_OF, job.id, pending, place, _PAGE):
            yield page
            place = page[-1][0]

    def keep(self, job: Job, scored: Scored, signature: str) -> None:
        """Write the row of a record, unless the job has ended meanwhile.

        `job` is as it was when its scoring began or went on. Raises `ConfigError` if the rows that
        it has are of another judge, that is of another signature.
        """
        if job.signature not in {"", signature}:
            raise ConfigError(
                f"the judge {job.judge!r} has changed since the job began; "
                "submit the records that have no row as a new job"
            )
        record = scored.record
        if record is None:
            raise AssertionError("stored records are valid")
        failed = isinstance(scored.outcome, RecordFailure)
        text = json_text({"id": record.id, **row_of(*scored)}).encode()
        update = "UPDATE records SET failed = ?, content = ? WHERE id = ? AND job = ?"
        sign = "UPDATE jobs SET signature = ? WHERE id = ? AND state = 'queued'"
        with self._lock, self._db:
            if self._db.execute(sign, (signature, job.id)).rowcount:
                self._db.execute(update, (failed, text, record.id, job.id))

    def finish(self, job: Job, state: str, problem: str = "") -> None:
        """End a job, unless it has ended."""
        finish = "UPDATE jobs SET state = ?, problem = ? WHERE id = ? AND state = 'queued'"
        self._change(finish, state, problem, job.id)

    def remove(self, job: Job) -> None:
        self._change("DELETE FROM jobs WHERE id = ?", job.id)
        self._change("DELETE FROM records WHERE job = ?", job.id)

    def _job(self, where: str, *values: Any) -> Job | None:
        found = self._all(_JOBS.format(where, 1), *values)
        return Job(**found[0]) if found else None

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _change(self, statement: str, *values: Any) -> None:
        with self._lock, self._db:
            self._db.execute(statement, values)
