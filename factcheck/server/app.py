"""The application: routes of all modules, health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from pydantic import BaseModel
from starlette.exceptions import HTTPException

import factcheck
from factcheck.errors import FactcheckError
from factcheck.server import chat, jobs, judging, pages
from factcheck.server.access import Gate, ServerConfig
from factcheck.server.judging import KEY
from factcheck.server.problems import RESPONSES, Problem, answer_problem
from factcheck.server.service import Service

router = APIRouter()


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answer while the process runs."""
    return {"status": "ok"}


@router.get("/readyz", responses=RESPONSES)
async def readyz(request: Request) -> dict[str, str]:
    """Answer whether requests are served."""
    if not request.app.state.service.is_ready:
        raise Problem(503, "busy", "the service is starting or stopping")
    return {"status": "ready"}


@router.get("/metrics", response_class=Response, responses=RESPONSES, dependencies=[KEY])
async def metrics(request: Request) -> Response:
    """Return requests, latencies, verdicts, usage and open jobs in the format of Prometheus."""
    text = await asyncio.to_thread(generate_latest, request.app.state.service.meters.registry)
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


class ModelAnswer(BaseModel):
    """A judge in the form of OpenAI's models."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "factcheck"


class ModelsAnswer(BaseModel):
    """The judges that callers can name, the default first."""

    object: Literal["list"] = "list"
    data: list[ModelAnswer]


@router.get("/v1/models", responses=RESPONSES, dependencies=[KEY])
async def models(request: Request) -> ModelsAnswer:
    """List the judges."""
    return ModelsAnswer(data=[ModelAnswer(id=name) for name in request.app.state.service.judges])


def create_app(config: ServerConfig) -> FastAPI:
    """Create the application; the caller serves it on `config.host`.

    Raises:
        ConfigError: A judge is unknown, its key is missing, the cache is invalid, or the file of
            the jobs cannot be used.
    """
    service = Service(config)
    queue = jobs.Jobs(service) if config.jobs_path is not None else None
    service.meters.jobs_open.set_function(lambda: queue.store.n_open if queue is not None else 0)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        if queue is not None:
            queue.start()
        try:
            yield
        finally:
            if queue is not None:
                await queue.stop()
            await service.stop()

    app = FastAPI(
        title="factcheck",
        version=factcheck.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would name the host that the caller claims
    )
    app.state.service = service
    app.state.jobs = queue
    shown = (pages.router,) if config.ui else ()
    for part in (judging.router, chat.router, jobs.router, router, *shown):
        app.include_router(part)
    for kind in (HTTPException, RequestValidationError, FactcheckError):
        app.add_exception_handler(kind, answer_problem)
    app.add_middleware(Gate, config=config, callers=service.callers, observe=service.meters.observe)
    return app
