"""Frame of all routes that judge: strict JSON, deadlines, idempotency keys, examples."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict

from factcheck.documents import parse_json
from factcheck.server.access import require_bounded
from factcheck.server.problems import RESPONSES
from factcheck.server.service import Service

KEY = Depends(HTTPBearer(auto_error=False))
"""Documents the API key, which `Gate` checks."""
Work = Callable[[Service, Any], Awaitable[Any]]


async def _require_strict(request: Request) -> None:
    """Refuse JSON with duplicate keys or NaN, or beyond the limits of the service."""
    data = parse_json(await request.body(), "the body").value
    require_bounded(data, request.app.state.service.config)


DeadlineMs = Annotated[
    int | None,
    Header(
        ge=1,
        le=10**12,
        description="Milliseconds after which undecided facts are returned as such.",
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        description="Repeating a request with its key returns the answer of the first.",
    ),
]


class JudgedRouter(APIRouter):
    """Routes of the judges: a POST request with strict JSON, and an answer within its deadline."""

    def __init__(self) -> None:
        super().__init__(responses=RESPONSES, dependencies=[KEY, Depends(_require_strict)])

    def judged(self, path: str, answer: Any) -> Callable[[Work], Work]:
        """Serve a function of the service and a request; its result has the form of `answer`."""

        def add(work: Work) -> Work:
            async def endpoint(
                request: Request,
                body: Any,
                factcheck_deadline_ms: DeadlineMs = None,
                idempotency_key: IdempotencyKey = None,
            ) -> Response:
                service: Service = request.app.state.service
                limits = factcheck_deadline_ms, idempotency_key
                return await service.answer(request, lambda: work(service, body), *limits)

            endpoint.__name__, endpoint.__doc__ = work.__name__, work.__doc__
            endpoint.__annotations__["body"] = get_type_hints(work)["body"]
            self.add_api_route(path, endpoint, methods=["POST"], response_model=answer)
            return work

        return add


def example(**example: Any) -> ConfigDict:
    """Return the configuration of a request with an example."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class Body(BaseModel):
    """A request; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
