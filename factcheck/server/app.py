"""The application: routes, deadlines, idempotency, health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

import factcheck
from factcheck.documents import json_text, parse_json, plain_document, to_plain
from factcheck.errors import FactcheckError, InputError
from factcheck.records.facts import facts_of
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage
from factcheck.server import jobs
from factcheck.server.access import Gate, ServerConfig, require_bounded
from factcheck.server.models import CheckAnswer, CheckRequest
from factcheck.server.problems import RESPONSES, Problem, answer_problem


class Service:
    """Judges shared by all requests."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.session = Session(
            cache=config.cache,
            budget=config.budget,
            concurrency=config.concurrency,
            rpm=config.rpm,
            tpm=config.tpm,
        )
        self.scorers = {
            name: FactCoverage(spec, session=self.session) for name, spec in config.judges.items()
        }
        self.in_flight = 0

    def scorer(self, name: str | None) -> FactCoverage:
        """Return the scorer of a judge by its name; `None`: the first one."""
        known = list(self.scorers)
        if name is not None and name not in self.scorers:
            raise InputError(f"unknown judge {name!r:.60}; use one of {', '.join(known)}")
        return self.scorers[name or known[0]]

    async def answer(self, work: Callable[[], Awaitable[Any]]) -> Response:
        """Run `work` in the background loop and return its result as JSON."""
        if self.in_flight >= self.config.max_in_flight:
            detail = f"{self.in_flight} requests are being judged; try again"
            raise Problem(503, "busy", detail, retry_after_s=1)

        async def as_json() -> str:
            return json_text(await work())

        self.in_flight += 1
        try:
            body = await background.hop(as_json())
        finally:
            self.in_flight -= 1
        return Response(body, media_type="application/json")


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            data = parse_json(await self.body(), "the body").value
        except InputError as error:
            raise Problem(400, InputError.code, str(error)) from None
        try:
            require_bounded(data, self.app.state.service.config)
        except InputError as error:
            raise Problem(422, InputError.code, str(error)) from None
        return data


class StrictRoute(APIRoute):
    """A route whose body is strict JSON within the limits of the service."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Any:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Shared = Annotated[Service, Depends(_service)]
router = APIRouter(route_class=StrictRoute, responses=RESPONSES)


@router.post("/v1/check", response_model=CheckAnswer)
async def check(body: CheckRequest, service: Shared) -> Response:
    """Check facts against a text."""
    scorer = service.scorer(body.judge)
    given = body.facts if isinstance(body.facts, dict) else body.model_dump()["facts"]
    facts = facts_of(plain_document(given, "facts"))

    async def work() -> Any:
        return {"results": to_plain(await scorer.acheck(facts, body.text))}

    return await service.answer(work)


@router.get("/healthz", responses={})
async def healthz() -> dict[str, str]:
    """Answer while the process runs."""
    return {"status": "ok"}


def create_app(config: ServerConfig) -> FastAPI:
    """Create the application; the caller serves it on `config.host`.

    Raises:
        ConfigError: A judge is unknown, its key is missing, the cache is invalid, or the file of
            the jobs cannot be used.
    """
    service = Service(config)
    job_queue = jobs.Jobs(config, service.scorers) if config.jobs_path is not None else None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if job_queue is not None:
            job_queue.start()
        try:
            yield
        finally:
            if job_queue is not None:
                await job_queue.stop()
            await asyncio.shield(background.hop(service.session.aclose()))

    app = FastAPI(
        title="factcheck",
        version=factcheck.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.state.jobs = job_queue
    app.include_router(router)
    app.include_router(jobs.router)
    for kind in (HTTPException, RequestValidationError, FactcheckError):
        app.add_exception_handler(kind, answer_problem)
    app.add_middleware(Gate, config=config, observe=lambda *_: None)
    return app
