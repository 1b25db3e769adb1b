"""Jobs: many records scored in the background, one job after another, also after a restart.

A row is final once it is written. What a stopped service had in flight is scored again; replies
that had arrived come from the response cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
import threading
from collections.abc import Generator, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    InvalidStateError,
    wait,
)
from contextlib import closing, nullcontext, suppress
from functools import partial
from itertools import chain, repeat, takewhile
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import HTMLResponse, StreamingResponse

from factcheck.errors import BudgetExceeded, ConfigError, describe
from factcheck.facts import CoverageReport
from factcheck.facts.report import Direction
from factcheck.runtime.loop import background
from factcheck.scoring.many import Scored, score_record
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
    """Scores the jobs of one service, one after another, in a thread.

    Raises `ConfigError` if the file cannot be used, or another service uses it.
    """

    def __init__(self, service: Service) -> None:
        self.store = JobStore(service.config)
        self.service = service
        self.problem = ""
        """Reason why no jobs are scored at present, such as a full disk; empty if they are."""
        self._current: tuple[str, Future[Any]] = "", Future()
        """Id of the job that is being scored, and what is done once that is cancelled."""
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="factcheck-jobs", daemon=True)
        self._stopping = False

    def status(self, job: Job) -> JobStatus:
        """Return the status of a job as its owner sees it."""
        if job.state != "queued":
            return job
        state = "running" if self._current[0] == job.id else "queued"
        return job.model_copy(update={"state": state, "problem": self.problem})

    def cancel(self, job: Job) -> None:
        """End a job, unless it has ended; what is in flight of it is cancelled at once."""
        self.store.finish(job, "cancelled")
        current, cancelled = self._current
        if current == job.id:
            with suppress(InvalidStateError):  # somebody else cancelled it, too
                cancelled.set_result(None)

    def start(self) -> None:
        """Score jobs in order of submission; those of keys that are gone wait for them."""
        if n := self.store.n_waiting:
            jobs = "1 unfinished job belongs" if n == 1 else f"{n:,} unfinished jobs belong"
            _log.warning(
                "%s: %s to API keys that this service does not have; start it with them again",
                self.store.path,
                jobs,
            )
        self._thread.start()

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
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, _DRAIN_S)
        self.store.close()

    def _run(self) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                if job := self.store.first_open():
                    self._run_job(job)
                self.problem = ""
            except sqlite3.Error as error:
                again = f"tried again within {_DISK_WAIT_S:g} s"
                self.problem = f"no jobs are scored: {error}; {again}"
                if not self._stopping:
                    _log.error("%s: %s", self.store.path, self.problem)
                    self._wake.wait(_DISK_WAIT_S)
            else:
                if job is None:
                    self._wake.wait()

    def _run_job(self, job: Job) -> None:
        cancelled: Future[Any] = Future()
        self._current = job.id, cancelled
        try:
            self._score(job, cancelled)
        except sqlite3.Error:
            raise
        except CancelledError:  # unless by `cancel`, the process ends; the next one goes on
            self._stopping |= not cancelled.done()
        except Exception as error:  # noqa: BLE001 - kept with the job
            _log.error("job %s failed: %s", job.id, describe(error))
            self.store.finish(job, "failed", describe(error))
        else:
            if not self._stopping:
                self.store.finish(job, "done")
        finally:
            self._current = "", Future()

    def _score(self, job: Job, cancelled: Future[Any]) -> None:
        """Score all records without a row, until the job has ended or its budget is spent."""
        judge, caller = self.service.judges.get(job.judge), self.service.callers.get(job.owner)
        if judge is None:
            raise ConfigError(f"the service no longer has a judge {job.judge!r:.80}")
        scorer, is_spent, signature = judge.scorer, False, ""
        pending = takewhile(lambda _: not (self._stopping or is_spent), self.store.pending(job))
        score = partial(scorer.ascore, direction=job.direction)
        start = asyncio.Lock()
        submitted = (background.submit(score_record(score, record, start)) for record in pending)
        # as many as requests in flight, so that others wait for one of them at most
        most = 1 if scorer.signature.never_flips else scorer.session.concurrency
        scored = _as_completed(submitted, most, cancelled)
        with caller.budget.spending() if caller else nullcontext(), closing(scored):
            for one in scored:
                if BudgetExceeded.code in codes_of(one.outcome):
                    is_spent = True
                    continue
                signature = signature or run_signature(scorer, job.direction)
                if not self.store.keep(job, one, signature):
                    return
                self.problem = ""
                if isinstance(report := one.outcome, CoverageReport):
                    results = (*report.results, *report.claim_results)
                    self.service.meters.count(job.judge, results)
        if is_spent:
            raise BudgetExceeded(
                "the budget is spent; once it is raised, submit the records that have no row again"
            )


def _as_completed(
    submitted: Iterable[Future[Scored]], most: int, cancelled: Future[Any]
) -> Generator[Scored, None, None]:
    """Yield what futures hold as they get it, with `most` at a time; what is left is cancelled.

    Raises `CancelledError` once `cancelled` is done, or a future was cancelled.
    """
    left: set[Future[Scored]] = set()
    try:
        for future in chain(submitted, repeat(None)):
            if future is not None:
                left.add(future)
            elif not left:
                return
            if future is None or len(left) >= most:
                done = wait({cancelled, *left}, return_when=FIRST_COMPLETED).done
                if cancelled in done:
                    raise CancelledError
                left -= done
                yield from (one.result() for one in done)
    finally:
        background.cancel(left)


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
    await asyncio.to_thread(jobs.cancel, job)
    return jobs.status(await asyncio.to_thread(jobs.store.find, job.id, job.owner))


@router.delete("/{job_id}", status_code=204)
def delete(jobs: Shared, job: Annotated[Job, Depends(_job)]) -> None:
    """Delete a job that has ended, with its rows."""
    if job.state == "queued":
        raise Problem(409, "conflict", "the job has not ended; cancel it first, or wait")
    jobs.store.remove(job)
