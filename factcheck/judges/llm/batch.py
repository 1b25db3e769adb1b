"""Batches: all questions of a run in one file, answered within a day at half the price.

A batch is only another way for requests to travel. To submit one, an ordinary run is made with a
transport that writes requests down; to collect it, the same run is made with one that looks their
answers up, and these go through parsing, accounting and the cache like any others.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Generic, TypeVar

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    InputError,
    JudgeQueued,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.judges.llm.batch_store import (
    Batch,
    BatchClient,
    BatchState,
    BatchStore,
    request_id,
)
from factcheck.judges.llm.errors import NoAccess, from_status
from factcheck.judges.llm.http import error_in
from factcheck.judges.llm.prompts import EXTRACT_FACTS, load_prompt
from factcheck.judges.llm.transports import (
    Answer,
    BatchTransport,
    Body,
    ChatTransport,
    Transport,
)
from factcheck.runtime.loop import background

_OK = 200
_FIRST_ERROR = 400
_log = logging.getLogger("factcheck.judge")
T = TypeVar("T")

Around = Callable[[Transport], Transport]
"""Replaces the transport of each model; the `transport` of a `Session`."""
Run = Callable[[Around], T]
"""Makes an ordinary run in a session with this transport; a record whose facts are still to be
listed raises `JudgeQueued`, which must not end the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """Outcome of a submission, perhaps of an earlier one that was interrupted."""

    batches: tuple[Batch, ...]
    """None if every answer is known already."""

    @property
    def requests(self) -> int:
        return sum(batch.requests for batch in self.batches)

    @property
    def extractions(self) -> int:
        """Requests for lists of facts: once they are collected, submit again for the checks."""
        return sum(batch.extractions for batch in self.batches)

    @property
    def final(self) -> bool:
        return all(batch.final for batch in self.batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected(Submitted, Generic[T]):
    """Outcome of a collection."""

    result: T | None = None
    """Result of the run; `None` while a batch is in progress."""
    used: int = 0
    """Answers that the run asked for."""
    unused: int = 0
    """Answers that it did not ask for, which are lost: other records, or another batch size."""
    unanswered: int = 0
    """Requests of the run that no batch answers; an ordinary run sends them."""


def submit(path: Path, run: Run[object]) -> Submitted:
    """Submit the requests of a run, but those that the cache answers."""
    store = BatchStore(path)
    client = BatchClient(store)
    state = store.read()
    if state is None or state.collected:
        state = _requests_of(store, client.endpoint, run)
    elif state.submitted:
        raise InputError(
            f"{path} holds a batch of {state.created} that is not collected yet; "
            "collect it, or name another file"
        )
    if state is None:
        return Submitted(batches=())
    _require_endpoint(store, state, client)
    state = background.run(client.submit(state))
    return Submitted(batches=state.batches)


def collect(path: Path, run: Run[T]) -> Collected[T]:
    """Make a run whose answers come from the batches, once all of them have ended.

    Doing it again changes nothing: the answers are cached, and no usage is recorded twice.

    Raises:
        InputError: There is no batch to be collected, or the run asks for none of its answers.
    """
    store = BatchStore(path)
    state = store.read()
    if state is None:
        raise InputError(f"{path} does not exist; submit a batch first")
    if not state.submitted:
        raise InputError(f"{path}: the submission was interrupted; submit again to complete it")
    client = BatchClient(store)
    _require_endpoint(store, state, client)
    state = background.run(client.update(state))
    collected: Collected[T] = Collected(batches=state.batches)
    if not collected.final:
        return collected
    inbox = Inbox(store, state)
    result = run(inbox.around)
    if inbox.left and inbox.unanswered and not (inbox.used or state.collected):
        raise InputError(
            f"none of the {inbox.left:,} answers to {path} was asked for; collect them with the "
            "records, judge and batch size they were submitted with"
        )
    store.write(replace(state, collected=True))
    return replace(
        collected,
        result=result,
        used=inbox.used,
        unused=0 if state.collected else inbox.left,
        unanswered=inbox.unanswered,
    )


def _requests_of(store: BatchStore, endpoint: str, run: Run[object]) -> BatchState | None:
    """The state of a batch that is ready to be sent, or `None` if there are no requests."""
    queued: dict[str, list[tuple[Body, bool]]] = {}

    def queue(inner: ChatTransport, body: Body) -> Answer:
        is_extraction = body["messages"][0]["content"] == load_prompt(EXTRACT_FACTS)
        queued[inner.name].append((inner.addressed(body), is_extraction))
        raise JudgeQueued(f"{inner.name}: queued for a batch; collect it when it is done")

    def around(transport: Transport) -> Transport:
        queued.setdefault(transport.name, [])
        return BatchTransport(_require_openai(transport), queue)

    run(around)
    if not queued:
        raise ConfigError("no language model takes part; batches are for judges 'openai/MODEL'")
    batches = [
        batch
        for model, bodies in queued.items()
        if bodies
        for batch in store.add_requests(model, bodies)
    ]
    if not batches:
        return None
    created = datetime.now(timezone.utc).isoformat(timespec="seconds")
    state = BatchState(endpoint=endpoint, created=created, batches=tuple(batches))
    store.write(state)
    return state


def _require_endpoint(store: BatchStore, state: BatchState, client: BatchClient) -> None:
    if state.endpoint != client.endpoint:
        raise InputError(
            f"{store.path} holds a batch of the server {state.endpoint}, "
            f"not of {client.endpoint}; check OPENAI_BASE_URL"
        )


def _require_openai(transport: Transport) -> ChatTransport:
    if not isinstance(transport, ChatTransport):
        raise ConfigError(f"{transport.name} takes no batches; only 'openai/MODEL' can")
    return transport


class Inbox:
    """Transports that look the answers of finished batches up; each is given out once.

    A line that cannot be read counts for nothing, and an id that is there twice has no answer.
    """

    def __init__(self, store: BatchStore, state: BatchState) -> None:
        self._is_recorded = state.collected
        self._lines: dict[str, Mapping[str, Any] | None] = {}
        for batch in state.batches:
            for _, path in store.downloads(batch):
                with path.open("rb") as file:
                    for number, line in enumerate(file, 1):
                        self._add(line, f"{path}, line {number}")
        self.used = 0
        self.unanswered = 0

    @property
    def left(self) -> int:
        """Answers that nobody asked for."""
        return sum(line is not None for line in self._lines.values())

    def around(self, transport: Transport) -> Transport:
        return BatchTransport(_require_openai(transport), self._look_up)

    def _add(self, line: bytes, where: str) -> None:
        try:
            data = json.loads(line)
        except ValueError:
            data = None
        name = data.get("custom_id") if isinstance(data, dict) else None
        if not isinstance(name, str):
            _log.warning("%s: not an answer; skipped", where)
        elif name in self._lines:
            _log.warning("%s: %s has two answers; none counts", where, name)
            self._lines[name] = None
        else:
            self._lines[name] = data

    def _look_up(self, inner: ChatTransport, body: Body) -> Answer:
        line = self._lines.pop(request_id(inner.addressed(body)), None)
        if line is None:
            raise self._queued(f"{inner.name}: not among the answers of the batch")
        self.used += 1
        reply = line.get("response")
        if not isinstance(reply, Mapping) or reply.get("status_code") != _OK:
            raise self._failure(inner.name, line, reply if isinstance(reply, Mapping) else {})
        try:
            answer = inner.read(reply.get("body"))
        except JudgeUnavailable as error:
            raise self._queued(str(error)) from error
        if self._is_recorded:
            return answer._replace(prompt_tokens=0, completion_tokens=0, cached_tokens=0)
        return answer

    def _failure(
        self, name: str, line: Mapping[str, Any], reply: Mapping[str, Any]
    ) -> FactcheckError:
        error, status = error_in(reply.get("body") or line), reply.get("status_code")
        why = error.message or " ".join(error.kinds).strip() or "it does not say why"
        said = f"{name}: no answer from the batch ({why})"
        if isinstance(status, int) and status >= _FIRST_ERROR:
            ours = from_status(status, said, kinds=error.kinds)
            if not ours.retryable:  # one line says nothing about the others
                return JudgeRejected(str(ours)) if isinstance(ours, NoAccess) else ours
        return self._queued(said)

    def _queued(self, said: str) -> JudgeQueued:
        """The batch is over: what another request may mend is left to an ordinary run."""
        self.unanswered += 1
        return JudgeQueued(f"{said}; an ordinary run sends it")
