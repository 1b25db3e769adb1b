"""The two ends of a batch as transports: one writes requests down, the other looks answers up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    InputError,
    JudgeQueued,
    JudgeUnavailable,
)
from factcheck.judges.llm.batch_files import BatchAnswers, RequestFiles, request_id
from factcheck.judges.llm.batch_state import BatchState, BatchStore
from factcheck.judges.llm.errors import from_status
from factcheck.judges.llm.fences import one_line
from factcheck.judges.llm.modules import FactChecker, KeyFactExtraction, fingerprint
from factcheck.judges.llm.prompts import CHECK_FACTS, EXTRACT_FACTS, load_prompt
from factcheck.judges.llm.transports import BatchTransport, ChatTransport, Transport

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

_OK = 200
_FIRST_ERROR = 400


class Outbox:
    """Writes the requests of all models into files."""

    def __init__(self, files: RequestFiles, secret: bytes) -> None:
        self.secret = secret
        self.shapes: dict[str, Mapping[str, str]] = {}
        self._files = files

    def around(self, transport: Transport) -> Transport:
        """A transport that writes instead of sending."""
        inner = _require_openai(transport)
        self.shapes[inner.name] = _shape(inner)
        return _Queueing(inner, self.secret, self._files)


class _Queueing(BatchTransport):
    """Writes requests down."""

    def __init__(self, inner: ChatTransport, secret: bytes, files: RequestFiles) -> None:
        super().__init__(inner, secret)
        self._files = files

    async def send(self, request: Request) -> Response:
        """Write the request; raises `JudgeQueued`, always."""
        body = self._inner.body(request)
        first = body["messages"][0]["content"]
        self._files.add(self.name, body, extraction=first == load_prompt(EXTRACT_FACTS))
        raise JudgeQueued(f"{self.name}: queued for a batch; collect it when it is done")


class _Answering(BatchTransport):
    """Looks answers up."""

    def __init__(self, inner: ChatTransport, secret: bytes, inbox: Inbox) -> None:
        super().__init__(inner, secret)
        self._inbox = inbox

    async def send(self, request: Request) -> Response:
        """The answer from the batch."""
        return self._inbox.answer(self._inner, request)


class Inbox:
    """Gives the answers of finished batches to the models that asked.

    Raises:
        InputError: A file that came back cannot be read.
    """

    def __init__(self, store: BatchStore, state: BatchState) -> None:
        self._path = store.path
        self._state = state
        self._shapes = {shape["model"]: shape for shape in state.shapes}
        self._booked = store.read_booked(state)
        paths = [path for batch in state.batches for _, path in store.downloads(batch)]
        self._answers = BatchAnswers(paths)
        self.unanswered = 0

    @property
    def used(self) -> int:
        """Answers that were asked for."""
        return len(self._answers.taken)

    @property
    def unused(self) -> int:
        """Answers that were not asked for, now or earlier."""
        return len(self._answers.left - self._booked)

    @property
    def booked(self) -> frozenset[str]:
        """Requests whose cost is on some ledger now."""
        return self._booked | self._answers.taken

    def around(self, transport: Transport) -> Transport:
        """A transport that looks answers up instead of sending.

        Raises:
            InputError: The batches are of other models, or asked in another way.
        """
        inner = _require_openai(transport)
        kept = self._shapes.get(inner.name)
        if kept is None:
            names = " and ".join(sorted(self._shapes))
            raise InputError(f"{self._path} holds a batch for {names}, not for {inner.name}")
        for key, value in _shape(inner).items():
            if kept.get(key) != value:
                raise InputError(
                    f"{self._path} was submitted with {key} {kept.get(key)!r}, and now it is "
                    f"{value!r}; collect it with what it was submitted with, or submit again"
                )
        return _Answering(inner, self._state.secret, self)

    def answer(self, inner: ChatTransport, request: Request) -> Response:
        """The answer to a request.

        Raises:
            JudgeQueued: There is none, or one that may be had by asking again.
            FactcheckError: The answer is an error for good.
        """
        name = request_id(inner.body(request))
        line = self._answers.take(name)
        if line is None:
            raise self._put_off(f"{inner.name}: not among the answers of the batch")
        return self._read(inner, line, booked=name in self._booked)

    def _read(self, inner: ChatTransport, line: Mapping[str, Any], *, booked: bool) -> Response:
        from dspy import lm15

        reply = line.get("response")
        if not isinstance(reply, Mapping) or reply.get("status_code") != _OK:
            raise self._failure(inner, line)
        try:
            response = inner.response(reply.get("body"))
        except JudgeUnavailable as error:
            raise self._put_off(str(error)) from error
        if booked:
            nothing = lm15.Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0)
            return replace(response, usage=nothing)
        return response

    def _failure(self, inner: ChatTransport, line: Mapping[str, Any]) -> FactcheckError:
        error = _error_in(line)
        said = f"{inner.name}: no answer from the batch ({error.message or 'it does not say why'})"
        if error.status is not None:
            ours = from_status(error.status, said, kinds=error.kinds)
            if not ours.retryable:
                return ours
        return self._put_off(said)

    def _put_off(self, said: str) -> JudgeQueued:
        """What asking again may mend is left to an ordinary run; the batch is over."""
        self.unanswered += 1
        return JudgeQueued(f"{said}; an ordinary run asks for it")


class _LineError(NamedTuple):
    message: str
    kinds: tuple[str, ...]
    status: int | None
    """HTTP status of the reply; `None` where the request was never carried out."""


def _error_in(line: Mapping[str, Any]) -> _LineError:
    """What a line says went wrong, in its reply or in place of one; nothing in it is certain."""
    reply = line.get("response")
    reply = reply if isinstance(reply, Mapping) else {}
    body = reply.get("body")
    error = (body.get("error") if isinstance(body, Mapping) else None) or line.get("error")
    error = error if isinstance(error, Mapping) else {}
    kinds = tuple(str(error[key]) for key in ("code", "type") if error.get(key))
    status = reply.get("status_code")
    return _LineError(
        message=one_line(error.get("message") or " ".join(kinds)),
        kinds=kinds,
        status=status if isinstance(status, int) and status >= _FIRST_ERROR else None,
    )


def _require_openai(transport: Transport) -> ChatTransport:
    if not isinstance(transport, ChatTransport):
        raise ConfigError(f"{transport.name} cannot be asked in batches; only 'openai/MODEL' can")
    return transport


def _shape(inner: ChatTransport) -> Mapping[str, str]:
    """What shapes the requests to a model and their answers, by name."""
    return {
        "model": inner.name,
        **inner.identity,
        "extract": fingerprint(KeyFactExtraction, EXTRACT_FACTS),
        "check": fingerprint(FactChecker, CHECK_FACTS),
    }
