"""The application: routes of all modules, health, metrics, and pages for people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html import escape
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.exceptions import HTTPException

import factcheck
from factcheck.documents import json_text
from factcheck.errors import FactcheckError
from factcheck.reports import render
from factcheck.reports.html import document_html, script
from factcheck.reports.page import Item, Page, Section
from factcheck.reports.text import one_line
from factcheck.server import jobs, judging
from factcheck.server.access import RESPONSES, Gate, Problem, ServerConfig, answer_problem
from factcheck.server.judging import KEY
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


@router.get("/v1/models", responses=RESPONSES, dependencies=[KEY])
async def models(request: Request) -> dict[str, Any]:
    """List the judges in the form of OpenAI's models, the default first."""
    more = {"object": "model", "created": 0, "owned_by": "factcheck"}
    judges = request.app.state.service.judges
    return {"object": "list", "data": [{"id": name, **more} for name in judges]}


_HEADERS = {
    "Content-Security-Policy": "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""What a page cannot say of itself; its own policy is in its head."""
_SAMPLES = {"source-example": "harbour.txt", "summary-example": "harbour_summary.txt"}
pages = APIRouter(include_in_schema=False)


@pages.get("/")
async def check(request: Request) -> HTMLResponse:
    """Return the page that checks texts."""
    room, state = files("factcheck.server"), request.app.state
    body = (room / "page.html").read_text("utf-8")
    if state.service.callers:
        body = body.replace('id="ask" hidden', 'id="ask"')
    if state.jobs is not None:
        body = body.replace('id="jobs" hidden', 'id="jobs"')
    for name, file in _SAMPLES.items():
        text = (files("factcheck") / "samples" / file).read_text("utf-8")
        body += f'<template id="{name}">{escape(text)}</template>\n'
    own = (room / "page.js").read_text("utf-8")
    html = document_html("factcheck", body, script(), own, policy="; connect-src 'self'")
    return HTMLResponse(html, headers=_HEADERS)


@pages.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Return the OpenAPI description as a page, which asks no other host for anything."""
    schema = request.app.openapi()
    sections = [
        _section(schema, f"{method.upper()} {path}", operation)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]
    lines = ("With all parameters, as a file: /openapi.json",)
    page = Page("Requests of the service", lines=lines, sections=tuple(sections))
    return HTMLResponse(render(page, "html"), headers=_HEADERS)


def _section(schema: Mapping[str, Any], title: str, operation: Mapping[str, Any]) -> Section:
    """Describe a request: what it does, and an example of its body."""
    first, _, rest = operation["description"].replace("`", "").partition("\n\n")
    items = [Item("", one_line(rest))] if rest else []
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        example = content.get("example")
        if example is None:
            name = content["schema"]["$ref"].rpartition("/")[2]
            example = json_text(schema["components"]["schemas"][name]["examples"][0])
        items.append(Item(kind, one_line(example)))
    return Section(title, meaning=first, items=tuple(items))


def create_app(config: ServerConfig) -> FastAPI:
    """Create the application; the caller serves it on `config.host`."""
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
    shown = (pages,) if config.ui else ()
    for part in (judging.router, jobs.router, router, *shown):
        app.include_router(part)
    for kind in (HTTPException, RequestValidationError, FactcheckError):
        app.add_exception_handler(kind, answer_problem)
    app.add_middleware(Gate, callers=service.callers, observe=service.meters.observe)
    return app
