"""Jobs: many records scored in the background, one job after another, also after a restart.

A row is final once it is written. What a stopped service had in flight is scored again; replies
that had arrived come from the response cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
from contextlib import nullcontext
from functools import cache, partial
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Annotated

from anyio import CancelScope, move_on_after
from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import HTMLResponse, StreamingResponse

from factcheck.errors import BudgetExceeded, ConfigError, describe
from factcheck.facts import CoverageReport
from factcheck.facts.report import Direction
from factcheck.runtime.loop import background, together
from factcheck.scoring.many import score_record
from factcheck.scoring.run_report import RunReport, codes_of
from factcheck.scoring.runs import run_signature
from factcheck.server.access import RESPONSES, Problem
from factcheck.server.job_store import Job, JobStatus, JobStore
from factcheck.server.judging import KEY
from factcheck.server.service import LINES, Service

_DRAIN_S = 5.0
"""Seconds for records in flight to finish when the service stops."""
_DISK_WAIT_S = 30.0
"""Seconds until jobs are tried again after a failure of the disk."""
_MAX_PAGE = 1_000
"""Maximum number of rows on the page of a job."""
_log = logging.getLogger("factcheck.server")


class Jobs:
    """Scores the jobs of one service, one after another, in a task of its event loop."""

    def __init__(self, service: Service) -> None:
        self.store = JobStore(service.config)
        self.service = service
        self.problem = ""
        """Reason why no jobs are scored at present, such as a full disk; empty if they are."""
        self.task: asyncio.Task[None] | None = None
        self._running: dict[str, CancelScope] = {}
        """What cancels the job that is being scored, by its id."""
        self._wake = asyncio.Event()
        self._stopping = False

    def status(self, job: Job) -> JobStatus:
        """Return the status of a job as its owner sees it."""
        if job.state != "queued":
            return job
        state = "running" if job.id in self._running else "queued"
        return job.model_copy(update={"state": state, "problem": self.problem})

    async def cancel(self, job: Job) -> None:
        """End a job, unless it has ended; what is in flight of it is cancelled at once."""
        await asyncio.to_thread(self.store.finish, job, "cancelled")
        if scope := self._running.get(job.id):
            scope.cancel()

    def start(self) -> None:
        """Score jobs in order of submission; those of keys that are gone wait for them."""
        if n := self.store.n_waiting:
            jobs = "1 unfinished job belongs" if n == 1 else f"{n:,} unfinished jobs belong"
            _log.warning(
                "%s: %s to API keys that this service does not have; start it with them again",
                self.store.path,
                jobs,
            )
        self.task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Look for new jobs."""
        self._wake.set()

    def pause(self) -> None:
        """Begin no more records; those in flight are finished."""
        self._stopping = True

    async def stop(self) -> None:
        """Give records in flight 5 s to finish, stop scoring and close the database."""
        self.pause()
        self.wake()
        if self.task is not None:
            await asyncio.wait([self.task], timeout=_DRAIN_S)
            self.task.cancel()
            await asyncio.wait([self.task])
        self.store.close()

    async def _run(self) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                job = await asyncio.to_thread(self.store.first_open)
                if job is not None:
                    await self._run_job(job)
                self.problem = ""
            except sqlite3.Error as error:
                again = f"tried again within {_DISK_WAIT_S:g} s"
                self.problem = f"no jobs are scored: {error}; {again}"
                _log.error("%s: %s", self.store.path, self.problem)
                with move_on_after(_DISK_WAIT_S):
                    await self._wake.wait()
            else:
                if job is None:
                    await self._wake.wait()

    async def _run_job(self, job: Job) -> None:
        try:
            with CancelScope() as self._running[job.id]:
                await self._score(job)
                if not self._stopping:
                    await asyncio.to_thread(self.store.finish, job, "done")
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - kept with the job
            _log.error("job %s failed: %s", job.id, describe(error))
            await asyncio.to_thread(self.store.finish, job, "failed", describe(error))
        finally:
            del self._running[job.id]

    async def _score(self, job: Job) -> None:
        """Score all records without a row, until the service stops or the budget is spent."""
        judge, caller = self.service.judges.get(job.judge), self.service.callers.get(job.owner)
        if judge is None:
            raise ConfigError(f"the service no longer has a judge {job.judge!r:.80}")
        scorer, is_spent = judge.scorer, False
        score = partial(scorer.ascore, direction=job.direction)
        signature = cache(lambda: run_signature(scorer, job.direction))
        pending, reading, start = self.store.pending(job), asyncio.Lock(), asyncio.Lock()

        async def work() -> None:
            nonlocal is_spent
            while not (self._stopping or is_spent):
                async with reading:
                    record = await asyncio.to_thread(next, pending, None)
                if record is None:
                    return
                scored = await background.hop(score_record(score, record, start))
                if BudgetExceeded.code in codes_of(scored.outcome):
                    is_spent = True
                    return
                await asyncio.to_thread(self.store.keep, job, scored, signature())
                self.problem = ""
                if isinstance(report := scored.outcome, CoverageReport):
                    self.service.meters.count(judge.name, (*report.results, *report.claim_results))

        # as many as requests in flight, so that others wait for one of them at most
        n = 1 if scorer.signature.never_flips else scorer.session.concurrency
        with caller.budget.spending() if caller else nullcontext():
            await together(work() for _ in range(n))
        if is_spent:
            raise BudgetExceeded(
                "the budget is spent; once it is raised, submit the records that have no row again"
            )


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs | None = request.app.state.jobs
    if jobs is None:
        raise Problem(404, "not_found", "this service keeps no jobs; it was started without a file")
    return jobs


Shared = Annotated[Jobs, Depends(_jobs)]


async def _job(job_id: str, jobs: Shared, request: Request) -> Job:
    return await asyncio.to_thread(jobs.store.find, job_id, request.state.caller.owner)


IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        description="Repeating a submission with its key returns the job of the first.",
    ),
]
router = APIRouter(prefix="/v1/jobs", responses=RESPONSES, dependencies=[KEY])
_BODY = {
    "required": True,
    "content": {
        LINES: {
            "schema": {"type": "string", "description": "Records, one JSON object per line."},
            "example": '{"id": "a", "source": "Rome is big.", "summary": "Rome is a city."}\n',
        }
    },
}


@router.post("", status_code=202, openapi_extra={"requestBody": _BODY})
async def submit(
    request: Request,
    jobs: Shared,
    judge: str | None = None,
    direction: Direction = "coverage",
    idempotency_key: IdempotencyKey = None,
) -> JobStatus:
    """Score records in the background; the job survives a restart of the service."""
    name, key = jobs.service.judge(judge).name, idempotency_key
    owner: str = request.state.caller.owner
    await asyncio.to_thread(jobs.store.admit, owner, key)
    digest = hashlib.sha256(f"{name}\n{direction}\n".encode())
    with TemporaryFile(dir=jobs.store.path.parent) as body:
        async for chunk in request.stream():
            digest.update(chunk)
            await asyncio.to_thread(body.write, chunk)
        body.seek(0)
        sent = body, owner, name, direction, key, digest.hexdigest()
        job_id = await asyncio.to_thread(jobs.store.add, *sent)
    jobs.wake()
    return jobs.status(await asyncio.to_thread(jobs.store.find, job_id, owner))


@router.get("")
async def listing(request: Request, jobs: Shared) -> list[JobStatus]:
    """Return the caller's last 200 jobs, the latest first."""
    found = await asyncio.to_thread(jobs.store.owned, request.state.caller.owner)
    return [jobs.status(job) for job in found]


@router.get("/{job_id}")
async def status(jobs: Shared, job: Annotated[Job, Depends(_job)]) -> JobStatus:
    """Return the progress of a job."""
    return jobs.status(job)


@router.get(
    "/{job_id}/rows",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}}},
)
def rows(jobs: Shared, job: Annotated[Job, Depends(_job)]) -> Response:
    """Return the rows so far as JSON lines, the file that `factcheck run --out` writes."""
    return StreamingResponse(jobs.store.row_lines(job), media_type=LINES)


@router.get("/{job_id}/page", response_class=HTMLResponse)
def page(jobs: Shared, job: Annotated[Job, Depends(_job)]) -> str:
    """Return the rows so far as a page, the one that `factcheck report` makes of them."""
    if job.rows > _MAX_PAGE:
        detail = (
            f"a page has at most {_MAX_PAGE:,} rows, the job has {job.rows:,}; "
            "download the rows, and use 'factcheck report ROWS.jsonl --out PAGE.html'"
        )
        raise Problem(413, "too_large", detail)
    with NamedTemporaryFile("w", dir=jobs.store.path.parent, encoding="utf-8") as file:
        file.writelines(jobs.store.row_lines(job))
        file.flush()
        return RunReport.read(file.name).to_html()


@router.post("/{job_id}/cancel")
async def cancel(jobs: Shared, job: Annotated[Job, Depends(_job)]) -> JobStatus:
    """End a job and keep its rows; one that has ended stays as it is."""
    await jobs.cancel(job)
    return jobs.status(await asyncio.to_thread(jobs.store.find, job.id, job.owner))


@router.delete("/{job_id}", status_code=204)
def delete(jobs: Shared, job: Annotated[Job, Depends(_job)]) -> None:
    """Delete a job that has ended, with its rows."""
    if job.state == "queued":
        raise Problem(409, "conflict", "the job has not ended; cancel it first, or wait")
    jobs.store.remove(job)
