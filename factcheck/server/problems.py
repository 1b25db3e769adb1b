"""Problem details (RFC 9457): every error of the service as JSON with a stable code."""

from __future__ import annotations

import asyncio
import logging
import math
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from factcheck.documents import json_text
from factcheck.errors import (
    BudgetExceeded,
    DeadlineExceeded,
    FactcheckError,
    InputError,
    JudgeError,
    shorten,
)

MEDIA_TYPE = "application/problem+json"
_STATUS_OF: tuple[tuple[type[FactcheckError], int], ...] = (
    (InputError, 422),
    (BudgetExceeded, 429),
    (DeadlineExceeded, 503),
    (JudgeError, 502),
)
_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
        "code": {"type": "string", "description": "Stable code, such as `input` or `busy`."},
    },
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "Problem details of an error.",
        "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
    }
}
"""Documentation of the errors of any route."""
_log = logging.getLogger("factcheck.server")


class Problem(HTTPException):
    """An error to answer a request with; `detail` must hold no text, key or trace."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        retry_after_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        retry = {} if retry_after_s is None else {"Retry-After": str(math.ceil(retry_after_s))}
        super().__init__(status, shorten(detail), {**(headers or {}), **retry})
        self.code = code

    @property
    def details(self) -> dict[str, Any]:
        title = HTTPStatus(self.status_code).phrase
        data = {"type": "about:blank", "title": title, "status": self.status_code}
        return {**data, "detail": self.detail, "code": self.code}

    def response(self) -> Response:
        return Response(json_text(self.details), self.status_code, self.headers, MEDIA_TYPE)


def problem_of(error: BaseException) -> Problem:
    """Convert any exception; the message of an unexpected one is neither returned nor logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return Problem(422, InputError.code, f"{place}: {first['msg']}")
    if isinstance(error, HTTPException):
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        return Problem(error.status_code, code, str(error.detail), headers=error.headers)
    for kind, status in _STATUS_OF:
        if isinstance(error, kind):
            return Problem(status, error.code, str(error))
    if isinstance(error, asyncio.CancelledError):
        return Problem(503, "busy", "the service is stopping", retry_after_s=1)
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s in a request\n%s", type(error).__name__, frames)
    code = error.code if isinstance(error, FactcheckError) else "internal"
    return Problem(500, code, "the service failed; its log names the place")


async def answer_problem(_: Request, error: Exception) -> Response:
    """Exception handler of the application."""
    return problem_of(error).response()
