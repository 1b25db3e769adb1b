"""The local server with the endpoints for files and batches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from typing import Any, Literal

from factcheck.testing import ChatAnswer, LocalOpenAIServer, Reply, Request
from factcheck.testing.server import body_of

_OK = 200
_KEYS = ("custom_id", "response", "error")
_NO_RESULTS = '{"torn\n[1]\n{}\n'
"""Lines that every file of results begins with, and that have to be skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Scripted behaviour of batches on the local server."""

    polls: int = 0
    """Number of retrievals of a batch before it ends."""
    ending: Literal["completed", "expired", "failed"] = "completed"
    carried_out: int | None = None
    """Number of requests answered before a batch expires; `None` for all."""
    lost: Collection[int] = ()
    """Indices of requests missing from both result files."""
    creations: Iterable[bool | None] = ()
    """Whether attempts to create a batch succeed, in order, or get HTTP 500; later ones do. `None`:
    the batch is created, but the reply is HTTP 500."""


def form_of(request: Request) -> dict[str, bytes]:
    """Read the fields of a form."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    form: dict[str, Any] = {}
    for part in message_from_bytes(head + request.body, policy=HTTP).iter_parts():
        name = part.get_param("name", header="content-disposition")
        form[str(name)] = part.get_payload(decode=True)
    return form


class BatchServer(LocalOpenAIServer):
    """Stores files and batches; requests of batches are answered, but not recorded."""

    def __init__(self, answer: ChatAnswer, plan: BatchPlan) -> None:
        super().__init__(answer)
        self._plan = plan
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._polls: Counter[str] = Counter()
        self._creations = iter(plan.creations)

    def routes(self) -> Sequence[tuple[str, str, Callable[..., Reply]]]:
        return (
            *super().routes(),
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{id}/content", self._content),
            ("POST", "/v1/batches", self._create),
            ("GET", "/v1/batches", self._list),
            ("GET", "/v1/batches/{id}", self._retrieve),
        )

    def _upload(self, request: Request) -> Reply:
        form = form_of(request)
        assert form["purpose"] == b"batch"
        return _json_reply({"id": self._store(form["file"]), "object": "file"})

    def _store(self, content: bytes) -> str:
        file_id = f"file-{len(self._files)}"
        self._files[file_id] = content
        return file_id

    def _content(self, _request: Request, file_id: str) -> Reply:
        return Reply(raw_body=self._files[file_id])

    def _create(self, request: Request) -> Reply:
        outcome = next(self._creations, True)
        failure = Reply(status=500, error={"message": "the creation failed as planned"})
        if outcome is False:
            return failure
        body = request.body
        assert body["completion_window"] == "24h"
        batch = {
            "id": f"batch_{len(self._batches)}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "status": "in_progress",
        }
        self._batches[batch["id"]] = batch
        return _json_reply(batch) if outcome else failure

    def _list(self, _request: Request) -> Reply:
        newest_first = [*reversed(self._batches.values())]
        return _json_reply({"object": "list", "data": newest_first, "has_more": False})

    def _retrieve(self, request: Request, batch_id: str) -> Reply:
        if batch_id not in self._batches:
            return Reply(status=404, error={"message": f"no batch {batch_id}"})
        batch = self._batches[batch_id]
        self._polls[batch_id] += 1
        if batch["status"] == "in_progress" and self._polls[batch_id] > self._plan.polls:
            self._end(batch, request)
        return _json_reply(batch)

    def _end(self, batch: dict[str, Any], request: Request) -> None:
        plan = self._plan
        lines = [_parsed(line) for line in self._files[batch["input_file_id"]].splitlines()]
        names = {str(line["custom_id"]) for line in lines}
        models = {str(line["body"]["model"]) for line in lines}
        assert len(names) == len(lines)
        assert len(models) == 1
        batch["status"] = plan.ending
        if plan.ending == "failed":
            errors = [{"code": "invalid_file", "message": "the batch failed as planned"}]
            batch["errors"] = {"data": errors}
            return
        for place, line in enumerate(lines):
            line.update(self._result(place, line, request))
        succeeded = [(line["response"] or {}).get("status_code") == _OK for line in lines]
        counts = {"completed": sum(succeeded), "failed": succeeded.count(False)}
        batch["request_counts"] = {**counts, "total": len(lines)}
        for name, good in (("output_file_id", True), ("error_file_id", False)):
            results = [
                {key: line[key] for key in _KEYS}
                for place, line in enumerate(lines)
                if succeeded[place] is good and place not in plan.lost
            ]
            if results:  # not in request order, which the real endpoint does not guarantee
                content = "".join(json.dumps(line) + "\n" for line in reversed(results))
                batch[name] = self._store(f"{_NO_RESULTS}{content}".encode())

    def _result(self, place: int, line: Mapping[str, Any], request: Request) -> Mapping[str, Any]:
        if self._plan.carried_out is not None and place >= self._plan.carried_out:
            message = "This request could not be executed before the completion window expired."
            error = {"code": f"batch_{self._plan.ending}", "message": message}
            return {"response": None, "error": error}
        chat = Request("POST", str(line["url"]), request.headers, line["body"], place, 1)
        answer = self.chat(chat)
        reply = {"status_code": answer.status, "body": _parsed(body_of(answer))}
        return {"response": reply, "error": None}


def _json_reply(result: Mapping[str, Any]) -> Reply:
    return Reply(raw_body=json.dumps(result).encode())


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")
