"""Batch API: all requests of a run in one file, answered within a day at half the price.

A batch is just another transport. Submitting one is an ordinary run whose transport records the
requests; collecting it is the same run with a transport that looks the answers up, after which
parsing, accounting and caching work as usual. Equal runs produce equal requests, so the only thing
stored in between is a private state file that names the batches and holds neither texts nor keys.
The state is saved after each step that creates something at the provider.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final

from factcheck.documents import PlainData, file_errors, parse_json, write_with
from factcheck.errors import (
    ConfigError,
    FactcheckError,
    InputError,
    JudgeQueued,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.judges.llm.errors import UNREADABLE, NoAccess, from_status, redacted
from factcheck.judges.llm.http import ServerError, error_in
from factcheck.judges.llm.providers import access_to
from factcheck.judges.llm.questions import EXTRACT_FACTS, load_prompt
from factcheck.judges.llm.transports import (
    Answer,
    BatchTransport,
    Body,
    ChatTransport,
    Transport,
)
from factcheck.settings import Model, Settings

if TYPE_CHECKING:
    from pathlib import Path

    import openai

URL: Final = "/v1/chat/completions"
MAX_REQUESTS = 50_000
"""Maximum number of requests in a file, set by the provider."""
MAX_BYTES = 190_000_000
"""Maximum size of a file: the provider's 200 MB, with a margin for either kind of megabyte."""
_NAME = "the batch endpoint"
_TIMEOUT_S = 600.0
"""Timeout of one request in seconds; files are large."""
_RETRIES = 4
"""Maximum number of retries of idempotent requests."""
_PRIVATE = 0o600
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
_OK = 200
_FIRST_ERROR = 400
_log = logging.getLogger("factcheck.judge")

Around = Callable[[Transport], Transport]
"""Wraps the transport of each model; the `transport` of a `Session`."""
Run = Callable[[Around], object]
"""Performs an ordinary run in a session with this transport. Records whose facts are yet to be
extracted raise `JudgeQueued`, which must not end the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(PlainData):
    """A file of requests to one model, and its status."""

    model: str
    """`openai/MODEL`."""
    digest: str
    """SHA-256 of the request file."""
    requests: int
    extractions: int
    """Number of requests that extract facts; the others check them."""
    file_id: str | None = None
    batch_id: str | None = None
    status: str | None = None
    """The provider's status at the last query."""
    completed: int = 0
    problem: str | None = None
    """The provider's error message for the batch as a whole."""


@dataclass(frozen=True, slots=True)
class BatchState(PlainData):
    """Contents of a state file: everything needed to collect the submitted batches."""

    endpoint: str
    batches: tuple[Batch, ...] = ()

    @property
    def submitted(self) -> bool:
        return all(batch.batch_id is not None for batch in self.batches)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a submission or a collection."""

    batches: tuple[Batch, ...]
    """Empty if all answers are cached."""
    used: int = 0
    """Number of answers that the run requested."""
    unused: int = 0
    """Number of answers that it did not request: the records or the batch size differ."""
    unanswered: int = 0
    """Number of requests without an answer in any batch; an ordinary run sends them."""

    @property
    def requests(self) -> int:
        return sum(batch.requests for batch in self.batches)

    @property
    def extractions(self) -> int:
        """Number of extraction requests; once collected, submit again for the checks."""
        return sum(batch.extractions for batch in self.batches)

    @property
    def final(self) -> bool:
        return all(batch.status in _FINAL for batch in self.batches)


def submit(path: Path, run: Run) -> Outcome:
    """Submit the requests of a run that are not in the cache.

    An interrupted submission is resumed without duplicate uploads or batches.

    Raises:
        InputError: The file is not a state file, or names batches not collected yet.
        ConfigError: The run uses no model, or one without batch support.
    """
    state = _read(path)
    if state.batches and state.submitted:
        raise InputError(
            f"{path} holds a batch that is not collected yet; collect it, or name another file"
        )
    files = _requests_of(run)
    if not files and not state.batches:
        return Outcome(())
    with _connected() as client:
        return Outcome(_submitted(client, path, state, files))


def collect(path: Path, run: Run) -> Outcome:
    """Perform a run with the answers of its batches, once all of them have ended.

    The state file is removed when no answer is left; by then, all of them are cached.

    Raises:
        InputError: There is no batch to collect, or the run requests none of its answers.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist; submit a batch first")
    state = _read(path)
    if not state.submitted:
        raise InputError(f"{path}: the submission was interrupted; submit again to complete it")
    with _connected() as client:
        found = [client.batches.retrieve(batch.batch_id or "") for batch in state.batches]
        done = Outcome(tuple(map(_updated, state.batches, found)))
        if not done.final:
            return done
        ids = [file_id for one in found for file_id in (one.output_file_id, one.error_file_id)]
        contents = [client.files.content(file_id).read() for file_id in ids if file_id]
    inbox = _Inbox(line for content in contents for line in content.splitlines())
    run(inbox.around)
    if inbox.left and inbox.unanswered and not inbox.used:
        raise InputError(
            f"the run requested none of the {inbox.left:,} answers to {path}; collect them with "
            "the records, judge and batch size of the submission"
        )
    if not inbox.left:
        path.unlink()
    return replace(done, used=inbox.used, unused=inbox.left, unanswered=inbox.unanswered)


def _read(path: Path) -> BatchState:
    endpoint = access_to(Model("openai/batches"), Settings.from_environment()).endpoint
    if not path.exists():
        return BatchState(endpoint)
    with file_errors(str(path), "read"):
        data = path.read_bytes()
    try:
        state = BatchState.from_dict(parse_json(data, str(path)).value)
    except ValueError as error:
        raise InputError(f"{path} is not the state of a batch: {error}") from error
    if state.endpoint != endpoint:
        raise InputError(
            f"{path} holds a batch of the server {state.endpoint}, "
            f"not of {endpoint}; check OPENAI_BASE_URL"
        )
    return state


def _requests_of(run: Run) -> dict[Batch, bytes]:
    """Perform a run that only queues requests, and return them as files."""
    queued: dict[str, dict[bytes, bool]] = {}

    def queue(inner: ChatTransport, body: Body) -> Answer:
        body = inner.addressed(body)
        request = {"custom_id": request_id(body), "method": "POST", "url": URL, "body": body}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        queued[inner.name][line] = body["messages"][0]["content"] == load_prompt(EXTRACT_FACTS)
        raise JudgeQueued(f"{inner.name}: queued for a batch; collect it when it is done")

    def around(transport: Transport) -> Transport:
        queued.setdefault(transport.name, {})
        return BatchTransport(_require_openai(transport), queue)

    run(around)
    if not queued:
        raise ConfigError("the run uses no language model; batches need a judge 'openai/MODEL'")
    return dict(file for model, lines in queued.items() for file in request_files(model, lines))


def request_files(model: str, lines: Mapping[bytes, bool]) -> Iterator[tuple[Batch, bytes]]:
    """Pack requests to a model into as few files as the provider allows, deterministically.

    Args:
        model: Name of the model.
        lines: Serialised requests, and whether each is an extraction.
    """
    left = sorted(lines)
    while left:
        ends = islice(accumulate(map(len, left)), MAX_REQUESTS)
        n = max(1, sum(end <= MAX_BYTES for end in ends))
        chunk, left = left[:n], left[n:]
        data, extractions = b"".join(chunk), sum(lines[line] for line in chunk)
        digest = hashlib.sha256(data).hexdigest()
        yield Batch(model=model, digest=digest, requests=n, extractions=extractions), data


def request_id(body: Body) -> str:
    """Return the `custom_id` of a request: a digest of its body, so that equal ones coincide."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _require_openai(transport: Transport) -> ChatTransport:
    if not isinstance(transport, ChatTransport):
        raise ConfigError(f"{transport.name} does not support batches; use 'openai/MODEL'")
    return transport


def _submitted(
    client: openai.OpenAI, path: Path, state: BatchState, files: Mapping[Batch, bytes]
) -> tuple[Batch, ...]:
    """Upload the files and create their batches, unless an interrupted submission has."""
    created: dict[str | None, str] = {}
    if state.batches:  # it may have created batches that it did not record
        for found in client.batches.list(limit=100):
            created.setdefault(found.input_file_id, found.id)
    contents = {batch.digest: data for batch, data in files.items()}
    batches = {batch.digest: batch for batch in files}
    for batch in state.batches:
        batch_id = batch.batch_id or created.get(batch.file_id)
        if batch_id or batch.digest in contents:
            batches[batch.digest] = replace(batch, batch_id=batch_id)

    def save(batch: Batch | None = None) -> None:
        if batch is not None:
            batches[batch.digest] = batch
        _write(path, BatchState(state.endpoint, tuple(batches.values())))

    save()
    for digest in [*batches]:
        batch = batches[digest]
        if batch.file_id is None:
            content = ("requests.jsonl", contents[digest])
            file = client.files.create(file=content, purpose="batch")
            batch = replace(batch, file_id=file.id)
            save(batch)
        if batch.batch_id is None:  # no retries: it may exist even without a response
            new = client.with_options(max_retries=0).batches.create(
                input_file_id=batch.file_id or "", endpoint=URL, completion_window="24h"
            )
            save(replace(batch, batch_id=new.id))
    return tuple(batches.values())


def _write(path: Path, state: BatchState) -> None:
    data = json.dumps(state.to_dict(), indent=1, ensure_ascii=False).encode()
    write_with(path, lambda file: file.write(data), mode=_PRIVATE)


@contextmanager
def _connected() -> Iterator[openai.OpenAI]:
    import openai

    access = access_to(Model("openai/batches"), Settings.from_environment())
    try:
        with openai.OpenAI(
            api_key=access.key or "none",
            base_url=access.base_url,
            max_retries=_RETRIES,
            timeout=_TIMEOUT_S,
        ) as client:
            yield client
    except openai.APIStatusError as error:
        message, kinds = f"{_NAME}: {redacted(error)}", (error.code, error.type)
        raise from_status(error.status_code, message, kinds=kinds) from error
    except openai.APIConnectionError as error:
        raise JudgeUnavailable(
            f"{_NAME}: cannot reach {access.host} "
            f"({redacted(error.__cause__ or error)}); check the network and OPENAI_BASE_URL"
        ) from error
    except (openai.OpenAIError, *UNREADABLE) as error:
        raise JudgeUnavailable(f"{_NAME}: {redacted(error)}") from error


def _updated(batch: Batch, found: openai.types.Batch) -> Batch:
    counts, problems = found.request_counts, (found.errors and found.errors.data) or []
    return replace(
        batch,
        status=found.status,
        completed=counts.completed if counts else 0,
        problem="; ".join(problem.message or "" for problem in problems) or None,
    )


class _Inbox:
    """Looks up the answers of finished batches; each is used once.

    Unreadable lines are skipped, and so are both answers of a duplicate id.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.used = 0
        self.unanswered = 0
        self._lines: dict[str, Mapping[str, Any] | None] = {}
        for line in lines:
            try:
                data = json.loads(line)
            except ValueError:
                data = None
            name = data.get("custom_id") if isinstance(data, dict) else None
            if not isinstance(name, str):
                _log.warning("a line of the batch is not an answer; skipped")
            elif name in self._lines:
                _log.warning("%s has two answers in the batch; none counts", name)
                self._lines[name] = None
            else:
                self._lines[name] = data

    @property
    def left(self) -> int:
        """Number of unused answers."""
        return sum(line is not None for line in self._lines.values())

    def around(self, transport: Transport) -> Transport:
        return BatchTransport(_require_openai(transport), self._look_up)

    def _look_up(self, inner: ChatTransport, body: Body) -> Answer:
        line = self._lines.pop(request_id(inner.addressed(body)), None)
        if line is None:
            raise self._queued(f"{inner.name}: not among the answers of the batch")
        self.used += 1
        reply = line.get("response")
        reply = reply if isinstance(reply, Mapping) else {}
        if reply.get("status_code") != _OK:
            raise self._failure(inner.name, error_in(reply.get("body") or line), reply)
        try:
            return inner.read(reply.get("body"))
        except JudgeUnavailable as error:
            raise self._queued(str(error)) from error

    def _failure(self, name: str, error: ServerError, reply: Mapping[str, Any]) -> FactcheckError:
        why = error.message or " ".join(error.kinds).strip() or "no reason given"
        problem, status = f"{name}: no answer from the batch ({why})", reply.get("status_code")
        if isinstance(status, int) and status >= _FIRST_ERROR:
            failure = from_status(status, problem, kinds=error.kinds)
            if isinstance(failure, NoAccess):  # of one line; it must not stop the others
                failure = JudgeRejected(str(failure))
            if not failure.retryable:
                return failure
        return self._queued(problem)

    def _queued(self, problem: str) -> JudgeQueued:
        """Return an error that leaves the request to an ordinary run."""
        self.unanswered += 1
        return JudgeQueued(f"{problem}; an ordinary run sends it")
