"""The Files and Batches endpoints of the local server."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from factcheck.testing.replies import ChatRequest, HttpResponse, Request, error_response, response

_OK = 200
_Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """How batches on the local server proceed."""

    polls: int = 0
    """Retrievals of a batch before it has ended."""
    ending: Literal["completed", "expired", "cancelled", "failed"] = "completed"
    carried_out: int | None = None
    """Requests answered before a batch expires or is cancelled; `None`: all of them."""
    shuffled: bool = False
    """Answers come back in another order, as the real endpoint may do it."""
    lost: Collection[int] = ()
    """Places of requests, from 0, missing from both result files."""
    creations: Sequence[Literal["made", "refused", "unanswered"]] = ()
    """Outcome of each attempt to create a batch, in order, and then `"made"`: refused with
    HTTP 500, or made while the client's connection breaks."""


@dataclass(slots=True)
class _Batch:
    id: str
    input_file_id: str
    endpoint: str
    requests: Sequence[_Line]
    problem: str | None
    status: str = "validating"
    looks: int = 0
    files: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class BatchService:
    """Keeps files and batches; lives in the server's thread.

    Args:
        plan: How batches proceed.
        chat: Answers the requests in them.
    """

    def __init__(self, plan: BatchPlan, chat: Callable[[ChatRequest], HttpResponse]) -> None:
        self._plan = plan
        self._chat = chat
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, _Batch] = {}
        self._creations = iter(plan.creations)
        self.routes: Sequence[tuple[str, str, Callable[..., HttpResponse]]] = (
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{id}/content", self._content),
            ("POST", "/v1/batches", self._create),
            ("GET", "/v1/batches", self._list),
            ("GET", "/v1/batches/{id}", self._retrieve),
        )
        """Method, path and function of each endpoint."""

    def _upload(self, request: Request) -> HttpResponse:
        form = request.body if isinstance(request.body, dict) else {}
        content = form.get("file")
        if form.get("purpose") != b"batch" or not isinstance(content, bytes):
            return error_response(request, 400, "a batch file is needed", "invalid_body")
        described = {"object": "file", "bytes": len(content), "created_at": int(time.time())}
        named = {"filename": "requests.jsonl", "purpose": "batch", "status": "processed"}
        return response(request, {"id": self._store(content), **described, **named})

    def _store(self, content: bytes) -> str:
        file_id = f"file-{len(self._files)}"
        self._files[file_id] = content
        return file_id

    def _content(self, request: Request, file_id: str) -> HttpResponse:
        if file_id not in self._files:
            return error_response(request, 404, f"no file {file_id}", "not_found")
        headers = {"content-type": "application/octet-stream"}
        return HttpResponse(_OK, headers, self._files[file_id])

    def _create(self, request: Request) -> HttpResponse:
        outcome = next(self._creations, "made")
        if outcome == "refused":
            return error_response(request, 500, "no batch was made", "server_error")
        asked = request.body if isinstance(request.body, dict) else {}
        content = self._files.get(str(asked.get("input_file_id")))
        if content is None or asked.get("completion_window") != "24h":
            return error_response(request, 400, "no such file or window", "invalid_body")
        requests = [_parsed(line) for line in content.splitlines()]
        batch = _Batch(
            id=f"batch_{len(self._batches)}",
            input_file_id=asked["input_file_id"],
            endpoint=str(asked.get("endpoint")),
            requests=requests,
            problem=_problem(requests, asked.get("endpoint")),
        )
        self._batches[batch.id] = batch
        made = response(request, _as_json(batch))
        return made if outcome == "made" else made._replace(close=True)

    def _list(self, request: Request) -> HttpResponse:
        newest_first = [_as_json(batch) for batch in reversed(self._batches.values())]
        return response(request, {"object": "list", "data": newest_first, "has_more": False})

    def _retrieve(self, request: Request, batch_id: str) -> HttpResponse:
        batch = self._batches.get(batch_id)
        if batch is None:
            return error_response(request, 404, f"no batch {batch_id}", "not_found")
        batch.looks += 1
        if batch.status in {"validating", "in_progress"}:
            batch.status = "in_progress"
            if batch.looks > self._plan.polls:
                self._end(batch, request)
        return response(request, _as_json(batch))

    def _end(self, batch: _Batch, request: Request) -> None:
        plan = self._plan
        if plan.ending == "failed" and batch.problem is None:
            batch.problem = "the batch failed as planned"
        batch.status = "failed" if batch.problem else plan.ending
        if batch.problem:
            return
        results = [self._result(place, batch, request) for place in range(len(batch.requests))]
        good = [place for place, line in enumerate(results) if _succeeded(line)]
        batch.counts = {"completed": len(good), "failed": len(results) - len(good)}
        for name, wanted in (("output_file_id", True), ("error_file_id", False)):
            kept = [
                line
                for place, line in enumerate(results)
                if place not in plan.lost and (place in good) is wanted
            ]
            if plan.shuffled:
                random.Random(len(kept)).shuffle(kept)  # noqa: S311 - the same order every time
            if kept:
                content = "".join(json.dumps(line) + "\n" for line in kept)
                batch.files[name] = self._store(content.encode())

    def _result(self, place: int, batch: _Batch, request: Request) -> _Line:
        """The line about a request in one of the result files."""
        line, plan = batch.requests[place], self._plan
        result = {"id": f"batch_req_{place}", "custom_id": line["custom_id"]}
        if plan.carried_out is not None and place >= plan.carried_out:
            message = "This request could not be executed before the completion window expired."
            error = {"code": f"batch_{plan.ending}", "message": message}
            return {**result, "response": None, "error": error}
        asked = ChatRequest("POST", str(line["url"]), request.headers, line["body"], place, 1)
        answer = self._chat(asked)
        reply = {
            "status_code": answer.status,
            "request_id": answer.headers.get("x-request-id", ""),
            "body": _parsed(answer.body),
        }
        return {**result, "response": reply, "error": None}


def _succeeded(line: _Line) -> bool:
    return line["response"] is not None and line["response"]["status_code"] == _OK


def _problem(requests: Sequence[Any], endpoint: object) -> str | None:
    """Why the endpoint itself would refuse a file of requests, or `None`."""
    if not requests or not all(isinstance(line, dict) for line in requests):
        return "a line is not a JSON object"
    names = [line.get("custom_id") for line in requests]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return "the custom_id of each request must be a unique string"
    if {(line.get("method"), line.get("url")) for line in requests} != {("POST", endpoint)}:
        return "method and url must be those of the batch"
    if not all(isinstance(line.get("body"), dict) for line in requests):
        return "a request has no body"
    if len({line["body"].get("model") for line in requests}) != 1:
        return "all requests of a file must name the same model"
    return None


def _as_json(batch: _Batch) -> Mapping[str, Any]:
    problems = [{"code": "invalid_file", "message": batch.problem, "line": None, "param": None}]
    failed = batch.status == "failed"
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "errors": {"object": "list", "data": problems} if failed else None,
        "input_file_id": batch.input_file_id,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": batch.files.get("output_file_id"),
        "error_file_id": batch.files.get("error_file_id"),
        "created_at": int(time.time()),
        "request_counts": {
            "completed": 0,
            "failed": 0,
            **batch.counts,
            "total": len(batch.requests),
        },
    }


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")
