"""Jobs: many records scored in the background, one job after another, also after a restart.

A row is final once it is written. What a stopped service had in flight is scored again; replies
that had arrived come from the response cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from tempfile import TemporaryFile
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from factcheck.errors import BudgetExceeded, ConfigError, describe
from factcheck.facts import CoverageReport
from factcheck.facts.report import Direction
from factcheck.runtime.loop import together
from factcheck.scoring.many import by_source, groups_of, score_group
from factcheck.scoring.run_report import codes_of
from factcheck.scoring.runs import run_signature
from factcheck.server.job_store import Job, JobStore
from factcheck.server.problems import RESPONSES, Problem
from factcheck.server.service import Service

_DRAIN_S = 5.0
"""Seconds for records in flight to finish when the service stops."""
_FIRST_WAIT_S, _MAX_WAIT_S = 30.0, 300.0
"""Seconds until jobs are tried again after a failure of the disk; doubled after each failure."""
_log = logging.getLogger("factcheck.server")


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
    """Jobs of one service; methods without `async` block on the disk.

    Args:
        service: Judges, callers and configuration; see `JobStore`.

    Raises:
        ConfigError: The file cannot be used, or another service uses it.
    """

    def __init__(self, service: Service) -> None:
        self.store = JobStore(service.config)
        self._service = service
        self._budgets = {one.name: one.budget for one in service.callers.values()}
        self.problem = ""
        """Reason why no jobs are scored at present, such as a full disk; empty if they are."""
        self._current: tuple[Job, asyncio.Task[None]] | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def submit(
        self,
        lines: Iterable[bytes],
        *,
        owner: str,
        judge: str | None,
        direction: Direction,
        key: str | None = None,
        digest: str | None = None,
    ) -> JobStatus:
        """Store a job and return its status; a bad line becomes a row with its error.

        Args:
            lines: JSON lines of records, as `factcheck run` reads them.
            owner: Name of the caller; only this caller sees the job.
            judge: Name of a judge; `None` for the first.
            direction: As in `FactCoverage.score`.
            key: Idempotency key; see `JobStore.add`.
            digest: Digest of what is submitted.

        Raises:
            InputError: The judge is unknown, or as `JobStore.add`.
            Problem: As `JobStore.add`.
        """
        name = self._service.judge(judge).name
        job_id = self.store.add(lines, owner, name, direction, key, digest)
        return self.status(job_id, owner)

    def admit(self, owner: str, judge: str | None, key: str | None) -> str:
        """Return the name of the judge of a job to come; raises what `submit` would."""
        name = self._service.judge(judge).name
        self.store.require_room(owner, key)
        return name

    def status(self, job_id: str, owner: str) -> JobStatus:
        """Return the status of a job; raises `Problem` if the owner has no such job."""
        return self._status(self.store.find(job_id, owner))

    def newest(self, owner: str) -> list[JobStatus]:
        """Return the last 100 jobs of an owner, the newest first."""
        return [self._status(job) for job in self.store.newest(owner)]

    def _status(self, job: Job) -> JobStatus:
        n_records, n_rows, n_failed = self.store.counts(job)
        is_current = self._current is not None and self._current[0].number == job.number
        return JobStatus(
            id=job.id,
            state="running" if is_current and job.state == "queued" else job.state,
            judge=job.judge,
            direction=job.direction,
            records=n_records,
            rows=n_rows,
            failed=n_failed,
            problem=job.problem or (self.problem if job.state == "queued" else ""),
        )

    def rows(self, job_id: str, owner: str) -> Iterator[str]:
        """Return the lines of a results file; raises `Problem` if the owner has no such job."""
        return self.store.row_lines(self.store.find(job_id, owner))

    async def cancel(self, job_id: str, owner: str) -> JobStatus:
        """End a job and keep its rows; one that has ended stays as it is.

        Raises:
            Problem: The owner has no such job.
        """
        job = await asyncio.to_thread(self.store.find, job_id, owner)
        await asyncio.to_thread(self.store.finish, job, "cancelled")
        if self._current is not None and self._current[0].number == job.number:
            self._current[1].cancel()
        return await asyncio.to_thread(self.status, job_id, owner)

    def delete(self, job_id: str, owner: str) -> None:
        """Delete a job that has ended, with its rows.

        Raises:
            Problem: The owner has no such job, or it has not ended.
        """
        job = self.store.find(job_id, owner)
        if job.state in {"loading", "queued"}:
            raise Problem(409, "conflict", "the job has not ended; cancel it first, or wait")
        self.store.remove(job.number)

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
        self.store.close()

    async def _run(self) -> None:
        seconds = _FIRST_WAIT_S
        while not self._stopping:
            self._wake.clear()
            try:
                if job := await asyncio.to_thread(self.store.first_open):
                    await self._run_job(job)
                self.problem = ""
            except sqlite3.Error as error:
                seconds = min(2 * seconds, _MAX_WAIT_S) if self.problem else _FIRST_WAIT_S
                self.problem = f"no jobs are scored: {error}; tried again within {seconds:g} s"
                _log.error("%s: %s", self.store.path, self.problem)
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), seconds)
            else:
                if job is None:
                    await self._wake.wait()

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
            await asyncio.to_thread(self.store.finish, job, "failed", describe(error))
        elif not (task.cancelled() or self._stopping):
            await asyncio.to_thread(self.store.finish, job, "done")

    async def _score(self, job: Job) -> None:
        """Score all records without a row; rows are written in the order of completion."""
        judge, budget = self._service.judges.get(job.judge), self._budgets.get(job.owner)
        if judge is None:
            raise ConfigError(f"the service no longer has a judge {job.judge!r:.80}")
        if self._budgets and budget is None:
            raise ConfigError("the service no longer has the API key of this job")
        scorer = judge.scorer
        score = by_source(scorer.ascore_summaries, direction=job.direction)
        groups = groups_of(self.store.pending(job), scorer.summaries_per_call)
        turn = asyncio.Lock()
        is_spent, is_signed = False, False

        async def work() -> None:
            nonlocal is_spent, is_signed
            while not (self._stopping or is_spent):
                async with turn:
                    group = await asyncio.to_thread(next, groups, None)
                if group is None:
                    return
                scored = await score_group(score, group, turn)
                final = [one for one in scored if BudgetExceeded.code not in codes_of(one.outcome)]
                is_spent |= len(final) < len(scored)
                for report in (one.outcome for one in final):
                    if isinstance(report, CoverageReport):
                        results = (*report.results, *report.claim_results)
                        self._service.meters.count(job.judge, results)
                signature = None if is_signed else run_signature(scorer, job.direction)
                await asyncio.to_thread(self.store.keep, job, final, signature)
                is_signed = True
                self.problem = ""

        is_local = scorer.signature.never_flips
        n_workers = 1 if is_local else 2 * scorer.session.concurrency
        with budget.spending() if budget is not None else nullcontext():
            await together(work() for _ in range(n_workers))
        if is_spent:
            raise BudgetExceeded(
                "the budget is spent; once it is raised, submit the records that have no row again"
            )


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
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        description="Repeating a request with its key returns the answer of the first.",
    ),
]
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
    idempotency_key: IdempotencyKey = None,
) -> JobStatus:
    """Score records in the background; the job survives a restart of the service."""
    name = await asyncio.to_thread(jobs.admit, owner, judge, idempotency_key)
    digest = hashlib.sha256(f"{name}\n{direction}\n".encode())
    with TemporaryFile(dir=jobs.store.path.parent) as body:
        async for chunk in request.stream():
            digest.update(chunk)
            await asyncio.to_thread(body.write, chunk)
        body.seek(0)
        status = await asyncio.to_thread(
            jobs.submit,
            body,
            owner=owner,
            judge=name,
            direction=direction,
            key=idempotency_key,
            digest=digest.hexdigest(),
        )
    jobs.wake()
    return status


@router.get("")
def newest(jobs: Shared, owner: Owner) -> list[JobStatus]:
    """Return the caller's last 100 jobs, the newest first."""
    return jobs.newest(owner)


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


@router.post("/{job_id}/cancel")
async def cancel(job_id: str, jobs: Shared, owner: Owner) -> JobStatus:
    """End a job and keep its rows; one that has ended stays as it is."""
    return await jobs.cancel(job_id, owner)


@router.delete(
    "/{job_id}",
    status_code=204,
    responses={409: {**RESPONSES[404], "description": "The job has not ended."}},
)
def delete(job_id: str, jobs: Shared, owner: Owner) -> None:
    """Delete a job that has ended, with its rows."""
    jobs.delete(job_id, owner)
