"""Jobs: many records scored one job after another, kept in SQLite and continued after a restart.

A row is final once it is written. What a stopped service had in flight is scored again; replies
that had arrived come from the response cache.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, Literal, NamedTuple, get_args

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from factcheck.documents import MAX_TEXT_BYTES, Place, check_writable, json_text, parse_json_line
from factcheck.documents.results import results_header
from factcheck.errors import BudgetExceeded, ConfigError, InputError, describe
from factcheck.facts import CoverageReport
from factcheck.facts.report import Direction
from factcheck.records import Record, as_record
from factcheck.runtime.loop import together
from factcheck.scoring import FactCoverage, RecordFailure
from factcheck.scoring.many import Scored, by_source, groups_of, score_group
from factcheck.scoring.run_report import codes_of
from factcheck.scoring.runs import row_of, run_signature
from factcheck.server.access import require_bounded
from factcheck.server.problems import RESPONSES, Problem
from factcheck.server.service import Service

_FORMAT = 1
"""Version of the tables, kept as `user_version`."""
_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, owner TEXT NOT NULL,
    judge TEXT NOT NULL, direction TEXT NOT NULL, state TEXT NOT NULL, signature TEXT NOT NULL,
    problem TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS records (
    job INTEGER NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, failed INTEGER, content BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_place ON records (job, place);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_id ON records (job, id);
CREATE INDEX IF NOT EXISTS records_by_outcome ON records (job, failed);
"""
"""`content` is the record as it came, and its row once `failed` is 0 or 1."""
_PAGE_OF = (
    "SELECT place, content FROM records "
    "WHERE job = ? AND (failed IS NULL) = ? AND place > ? ORDER BY place LIMIT ?"
)
_LOCK_WAIT_S = 2.0
_DRAIN_S = 5.0
"""Seconds for records in flight to finish when the service stops."""
_PAGE = 200
"""Number of records read or written in one transaction."""
_MAX_OPEN = 100
"""Maximum number of unfinished jobs of one owner."""
_RETRY_S = 60.0
_BUDGET = BudgetExceeded.code
_log = logging.getLogger("factcheck.server")


class Job(NamedTuple):
    """A job as stored."""

    number: int
    """Order of submission."""
    id: str
    owner: str
    """Name of the API key that submitted it."""
    judge: str
    direction: Direction
    state: Literal["loading", "queued", "done", "cancelled", "failed"]
    """`loading` while its records arrive."""
    signature: str
    """Signature of its rows; empty before the first."""
    problem: str
    """Reason of a failure."""


class JobStatus(BaseModel):
    """Progress of a job."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    id: str = Field(examples=["0f8fad5bd9cb469fa16570867728950e"])
    state: Literal["loading", "queued", "running", "done", "cancelled", "failed"]
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


class Jobs:
    """Jobs of one service; opens the database, which no other process can use until `stop`.

    All methods without `async` block on the disk and may be called from any thread.

    Args:
        service: `jobs_path` of its configuration is created if it does not exist, readable by its
            owner only; the limits on texts and lists hold for each record.

    Raises:
        ConfigError: The file cannot be used, or another service uses it.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._budgets = {one.name: one.budget for one in service.callers.values()}
        self._path = path = str(service.config.jobs_path)
        self._lock = threading.Lock()
        self._current: tuple[Job, asyncio.Task[None]] | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._checked = 0
        """Number of the last job whose signature was compared with that of its rows."""
        self.folder = Path(path).parent
        check_writable(path)
        try:
            Path(path).touch(mode=0o600)
            self._db = sqlite3.connect(path, timeout=_LOCK_WAIT_S, check_same_thread=False)
            self._open()
        except (sqlite3.Error, OSError) as error:
            if "locked" in str(error):
                raise ConfigError(
                    f"{path} is in use by another service; stop it, or name another file"
                ) from error
            raise ConfigError(f"cannot use {path} for jobs: {error}") from error

    def _open(self) -> None:
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode = WAL")
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version not in {0, _FORMAT}:
            raise ConfigError(f"{self._path} was written by another version; name another file")
        self._db.executescript(f"{_TABLES} PRAGMA user_version = {_FORMAT};")
        for (number,) in self._all("SELECT number FROM jobs WHERE state = 'loading'"):
            self._remove(number)

    def submit(
        self, lines: Iterable[bytes], *, owner: str, judge: str | None, direction: str
    ) -> JobStatus:
        """Store a job and return its status; a bad line becomes a row with its error.

        Args:
            lines: JSON lines of records, as `factcheck run` reads them.
            owner: Name of the caller; only this caller sees the job.
            judge: Name of a judge; `None` for the first.
            direction: As in `FactCoverage.score`.

        Raises:
            InputError: The judge or the direction is unknown, or there are no records.
            Problem: The owner has too many unfinished jobs, or the disk is full.
        """
        judge = self._service.judge(judge).name
        if direction not in get_args(Direction):
            raise InputError(f"direction {direction!r:.80} is not one of {get_args(Direction)}")
        open_jobs = "SELECT count(*) FROM jobs WHERE owner = ? AND state IN ('loading', 'queued')"
        if self._all(open_jobs, owner)[0][0] >= _MAX_OPEN:
            detail = f"{_MAX_OPEN} jobs are unfinished; wait for one to end, or cancel it"
            raise Problem(429, "rate", detail, retry_after_s=_RETRY_S)
        job_id = secrets.token_hex(16)
        new = "INSERT INTO jobs VALUES (NULL, ?, ?, ?, ?, 'loading', '', '')"
        number = 0
        try:
            number = self._change(new, job_id, owner, judge, direction)
            self._load(number, lines)
            self._change("UPDATE jobs SET state = 'queued' WHERE number = ?", number)
        except BaseException as error:
            with suppress(sqlite3.Error):
                self._remove(number)
            if isinstance(error, sqlite3.Error):
                raise Problem(503, "busy", f"the job cannot be stored: {error}") from error
            raise
        return self.status(job_id, owner)

    def _load(self, number: int, lines: Iterable[bytes]) -> None:
        entries = self._entries(lines)
        n_records = 0
        while page := [(number, *entry) for entry in islice(entries, _PAGE)]:
            n_records += len(page)
            with self._lock, self._db:
                self._db.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", page)
        if not n_records:
            raise InputError("the job holds no records; send one JSON object per line")

    def _entries(self, lines: Iterable[bytes]) -> Iterator[tuple[int, str, int | None, bytes]]:
        """Yield place, id, `failed` and content of each line that is not blank."""
        first_use: dict[str, int] = {}
        place = 0
        for line_number, raw in enumerate(lines, 1):
            if not (line := raw.removeprefix(b"\xef\xbb\xbf").strip()):
                continue
            place += 1
            try:
                name = self._id_of(line, place, Place("job", "line", line_number), first_use)
                yield place, name, None, line
            except InputError as error:
                name = f"line {line_number}"
                while name in first_use:
                    name += "*"
                first_use[name] = line_number
                failure = RecordFailure(name, error.code, str(error))
                yield place, name, 1, _row_text(name, Scored(None, failure))

    def _id_of(self, line: bytes, place: int, where: Place, first_use: dict[str, int]) -> str:
        """Validate a record and return its id, which `first_use` has not seen before."""
        if len(line) > MAX_TEXT_BYTES:
            raise InputError(f"{where}: longer than the limit of {MAX_TEXT_BYTES:,} bytes")
        data = parse_json_line(line, where)
        try:
            require_bounded(data, self._service.config)
            record = as_record(data, place)
        except InputError as error:
            raise InputError(f"{where}: {str(error).removeprefix(f'record {place}: ')}") from error
        first = first_use.setdefault(record.id, where.number)
        if first != where.number:
            raise InputError(f"{where}: the id {record.id!r:.80} was used before, in line {first}")
        return record.id

    def status(self, job_id: str, owner: str) -> JobStatus:
        """Return the status of a job.

        Raises:
            Problem: The owner has no such job.
        """
        job = self._find(job_id, owner)
        counts = "SELECT count(*), count(failed), total(failed) FROM records WHERE job = ?"
        ((n_records, n_rows, n_failed),) = self._all(counts, job.number)
        is_current = self._current is not None and self._current[0].number == job.number
        return JobStatus(
            id=job.id,
            state="running" if is_current and job.state == "queued" else job.state,
            judge=job.judge,
            direction=job.direction,
            records=n_records,
            rows=n_rows,
            failed=int(n_failed),
            problem=job.problem or (self.problem if job.state == "queued" else ""),
        )

    @property
    def problem(self) -> str:
        """Reason why no jobs are scored, such as a full disk; empty if they are."""
        if self._task is None or not self._task.done() or self._task.cancelled():
            return ""
        error = self._task.exception()
        return f"no jobs are scored until the service restarts: {error}" if error else ""

    @property
    def n_open(self) -> int:
        """Number of unfinished jobs."""
        (count,) = self._all("SELECT count(*) FROM jobs WHERE state = 'queued'")[0]
        return int(count)

    def rows(self, job_id: str, owner: str) -> Iterator[str]:
        """Yield the lines of a results file: header, then the rows so far, in record order.

        Raises:
            Problem: The owner has no such job.
        """
        job = self._find(job_id, owner)
        rows = (f"{content.decode()}\n" for _, content in self._pages(job, pending=False))
        return chain([results_header(job.signature)], rows)

    def _pages(self, job: Job, *, pending: bool) -> Iterator[tuple[int, bytes]]:
        """Yield place and content of records of a job, in order, a page at a time."""
        place = 0
        while page := self._all(_PAGE_OF, job.number, pending, place, _PAGE):
            yield from page
            place = page[-1][0]

    async def cancel(self, job_id: str, owner: str) -> bool:
        """Cancel an unfinished job and return true; delete a finished one and return false.

        Raises:
            Problem: The owner has no such job.
        """
        job = await asyncio.to_thread(self._find, job_id, owner)
        if job.state != "queued":
            await asyncio.to_thread(self._remove, job.number)
            return False
        await asyncio.to_thread(self._finish, job, "cancelled")
        if self._current is not None and self._current[0].number == job.number:
            self._current[1].cancel()
        return True

    def start(self) -> None:
        """Score jobs in a task of the running loop, in order of submission."""
        self._wake = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Look for new jobs; call it in the loop after `submit`."""
        self._wake.set()

    async def stop(self) -> None:
        """Give records in flight 5 s to finish, stop scoring and close the database."""
        self._stopping = True
        if self._task is not None:
            self._wake.set()
            await asyncio.wait([self._task], timeout=_DRAIN_S)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with self._lock:
            self._db.close()

    async def _run(self) -> None:
        query = "SELECT * FROM jobs WHERE state = 'queued' ORDER BY number LIMIT 1"
        try:
            while not self._stopping:
                self._wake.clear()
                if found := await asyncio.to_thread(self._all, query):
                    await self._run_job(Job(*found[0]))
                else:
                    await self._wake.wait()
        except sqlite3.Error as error:
            _log.error("jobs have stopped: %s: %s", self._path, error)
            raise

    async def _run_job(self, job: Job) -> None:
        task = asyncio.create_task(self._score(job))
        self._current = job, task
        try:
            await asyncio.wait([task])
        finally:
            self._current = None
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, sqlite3.Error):
            raise error
        if error is not None:
            _log.error("job %s failed: %s", job.id, describe(error))
            await asyncio.to_thread(self._finish, job, "failed", describe(error))
        elif not (task.cancelled() or self._stopping):
            await asyncio.to_thread(self._finish, job, "done")

    async def _score(self, job: Job) -> None:
        """Score all records without a row; rows are written in the order of completion."""
        judge, budget = self._service.judges.get(job.judge), self._budgets.get(job.owner)
        if judge is None:
            raise ConfigError(f"the service no longer has a judge {job.judge!r:.80}")
        if self._budgets and budget is None:
            raise ConfigError("the service no longer has the API key of this job")
        scorer = judge.scorer
        score = by_source(scorer.ascore_summaries, direction=job.direction)
        groups = groups_of(self._pending(job), scorer.summaries_per_call)
        turn = asyncio.Lock()
        is_spent = False

        async def work() -> None:
            nonlocal is_spent
            while not (self._stopping or is_spent):
                async with turn:
                    group = await asyncio.to_thread(next, groups, None)
                if group is None:
                    return
                scored = await score_group(score, group, turn)
                final = [one for one in scored if _BUDGET not in codes_of(one.outcome)]
                is_spent |= len(final) < len(scored)
                for report in (one.outcome for one in final):
                    if isinstance(report, CoverageReport):
                        self._service.meters.count(job.judge, report.results)
                await asyncio.to_thread(self._keep, job, scorer, final)

        is_local = scorer.signature.never_flips
        n_workers = 1 if is_local else 2 * scorer.session.concurrency
        with budget.spending() if budget is not None else nullcontext():
            await together(work() for _ in range(n_workers))
        if is_spent:
            raise BudgetExceeded(
                "the budget is spent; once it is raised, submit the records that have no row again"
            )

    def _pending(self, job: Job) -> Iterator[Record]:
        for place, line in self._pages(job, pending=True):
            yield as_record(parse_json_line(line, Place("job", "record", place)), place)

    def _keep(self, job: Job, scorer: FactCoverage, scored: Iterable[Scored]) -> None:
        """Write rows, all or none.

        Raises:
            ConfigError: The rows that the job has are of another judge.
        """
        rows = [
            (
                isinstance(one.outcome, RecordFailure),
                _row_text(record.id, one),
                job.number,
                record.id,
            )
            for one in scored
            if (record := one.record)
        ]
        with self._lock, self._db:
            if job.number != self._checked:
                signature = run_signature(scorer, job.direction)
                if job.signature not in {"", signature}:
                    raise ConfigError(
                        f"the judge {job.judge!r} has changed since the job began; "
                        "submit the records that have no row as a new job"
                    )
                self._db.execute(
                    "UPDATE jobs SET signature = ? WHERE number = ?", (signature, job.number)
                )
                self._checked = job.number
            self._db.executemany(
                "UPDATE records SET failed = ?, content = ? WHERE job = ? AND id = ?", rows
            )

    def _finish(self, job: Job, state: str, problem: str = "") -> None:
        self._change(
            "UPDATE jobs SET state = ?, problem = ? WHERE number = ? AND state = 'queued'",
            *(state, problem, job.number),
        )

    def _remove(self, number: int) -> None:
        self._change("DELETE FROM records WHERE job = ?", number)
        self._change("DELETE FROM jobs WHERE number = ?", number)

    def _find(self, job_id: str, owner: str) -> Job:
        found = self._all("SELECT * FROM jobs WHERE id = ? AND owner = ?", job_id, owner)
        if not found:
            raise Problem(404, "not_found", f"there is no job {job_id!r:.80}")
        return Job(*found[0])

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _change(self, statement: str, *values: Any) -> int:
        """Execute a statement in a transaction; return the number of an inserted row."""
        with self._lock, self._db:
            return self._db.execute(statement, values).lastrowid or 0


def _row_text(record_id: str, scored: Scored) -> bytes:
    return json_text({"id": record_id, **row_of(*scored)}).encode()


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs | None = request.app.state.jobs
    if jobs is None:
        raise Problem(404, "not_found", "this service keeps no jobs; it was started without a file")
    return jobs


async def _owner(request: Request) -> str:
    name: str = request.state.caller.name
    return name


Shared = Annotated[Jobs, Depends(_jobs)]
Owner = Annotated[str, Depends(_owner)]
_LINES = "application/x-ndjson"
router = APIRouter(prefix="/v1/jobs", responses=RESPONSES)
_BODY = {
    "required": True,
    "content": {
        _LINES: {
            "schema": {"type": "string", "description": "Records, one JSON object per line."},
            "example": '{"id": "a", "source": "Rome is big.", "summary": "Rome is a city."}\n',
        }
    },
}


@router.post("", status_code=202, openapi_extra={"requestBody": _BODY})
async def submit(
    request: Request,
    jobs: Shared,
    owner: Owner,
    judge: str | None = None,
    direction: Direction = "coverage",
) -> JobStatus:
    """Score records in the background; the job survives a restart of the service."""
    with TemporaryFile(dir=jobs.folder) as body:
        async for chunk in request.stream():
            await asyncio.to_thread(body.write, chunk)
        body.seek(0)
        status = await asyncio.to_thread(
            jobs.submit, body, owner=owner, judge=judge, direction=direction
        )
    jobs.wake()
    return status


@router.get("/{job_id}")
def status(job_id: str, jobs: Shared, owner: Owner) -> JobStatus:
    """Return the progress of a job."""
    return jobs.status(job_id, owner)


@router.get(
    "/{job_id}/rows",
    response_class=StreamingResponse,
    responses={200: {"content": {_LINES: {"schema": {"type": "string"}}}}},
)
def rows(job_id: str, jobs: Shared, owner: Owner) -> Response:
    """Return the rows so far as JSON lines, the file that `factcheck run --out` writes."""
    return StreamingResponse(jobs.rows(job_id, owner), media_type=_LINES)


@router.delete("/{job_id}", status_code=204)
async def cancel(job_id: str, jobs: Shared, owner: Owner) -> None:
    """Cancel a job that has not ended, keeping its rows; delete one that has."""
    await jobs.cancel(job_id, owner)
