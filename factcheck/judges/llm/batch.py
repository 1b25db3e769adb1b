"""Batch APIs: all requests of a run at once, answered within a day at half the price.

A batch is just another transport. Submitting one is an ordinary run whose transport records the
requests; collecting it is the same run with a transport that looks the answers up, after which
parsing, accounting and caching work as usual. Equal runs produce equal requests, so the only thing
stored in between is a private state file that names the batches and holds neither texts nor keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, Final

from factcheck.documents import (
    PlainData,
    check_writable,
    file_errors,
    json_text,
    parse_json,
    write_with,
)
from factcheck.errors import ConfigError, InputError, JudgeQueued, JudgeUnavailable
from factcheck.judges.llm.errors import UNREADABLE, from_dspy, from_status, redacted
from factcheck.judges.llm.http import at, error_in
from factcheck.judges.llm.providers import access_to
from factcheck.judges.llm.transports import (
    Answer,
    BatchTransport,
    Body,
    ChatTransport,
    LMTransport,
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
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
_OK = 200
_UNSENT = frozenset({"dropped", "clamped", "substituted"})
_ANTHROPIC_URL = "https://api.anthropic.com/v1"
_NEWEST = 100
"""Number of batches searched for one that was created without a reply."""

Around = Callable[[Transport], Transport]
"""Wraps the transport of each model; the `transport` of a `Session`."""
Line = Mapping[str, Any]
"""What became of one request."""
Run = Callable[[Around], object]
"""Performs an ordinary run in a session with this transport. Records whose facts are yet to be
extracted raise `JudgeQueued`, which must not end the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(PlainData):
    """A file of requests to one model, and its status."""

    model: str
    """`openai/MODEL` or `anthropic/MODEL`."""
    batch_id: str
    requests: int
    status: str | None = None
    """The provider's status at the last query."""
    completed: int = 0
    problem: str | None = None
    """The provider's error message for the batch as a whole."""
    ids: tuple[str, ...] = ()
    """Digests of the requests in order, where the provider numbers them."""


@dataclass(frozen=True, slots=True)
class BatchState(PlainData):
    """Contents of a state file: everything needed to collect the submitted batches."""

    batches: tuple[Batch, ...]


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
    """Number of requests without an answer in any batch: submit again, or send them in an ordinary
    run. Checks are among them if the facts were extracted by the batch."""

    @property
    def requests(self) -> int:
        return sum(batch.requests for batch in self.batches)

    @property
    def final(self) -> bool:
        return all(batch.status in _FINAL for batch in self.batches)


def submit(path: Path, run: Run) -> Outcome:
    """Submit the requests of a run that are not in the cache.

    The state is saved after each batch; an error before the last leaves those before it to collect.

    Raises:
        InputError: The file exists, or cannot be written.
        ConfigError: The run uses no model, or one without batch support.
    """
    if path.exists():
        raise InputError(f"{path} names a batch that is not collected yet; collect it first")
    check_writable(path)
    batches: tuple[Batch, ...] = ()
    for model, lines in _requests_of(run):
        batches += (_sent(model, lines),)
        _write(path, BatchState(batches))
    return Outcome(batches)


def _sent(model: str, lines: Sequence[bytes]) -> Batch:
    if _is_anthropic(model):
        return _sent_to_anthropic(model, lines)
    with _connected() as client:
        content = ("requests.jsonl", b"".join(lines))
        file = client.files.create(file=content, purpose="batch")
        new = _create(client, file.id)
    return Batch(model=model, batch_id=new.id, requests=len(lines))


def _create(client: openai.OpenAI, file_id: str) -> openai.types.Batch:
    """Create the batch of a file; one that was created without a reply is found, not paid twice."""
    import openai

    try:
        return client.with_options(max_retries=0).batches.create(
            input_file_id=file_id, endpoint=URL, completion_window="24h"
        )
    except (openai.APIConnectionError, openai.InternalServerError):
        for batch in client.batches.list(limit=_NEWEST).data:
            if batch.input_file_id == file_id:
                return batch
        raise


def collect(path: Path, run: Run) -> Outcome:
    """Perform a run with the answers of its batches, once all of them have ended.

    The state file is removed when no answer is left; by then, all of them are cached.

    Raises:
        InputError: There is no batch to collect, or the run requests none of its answers.
    """
    done = Outcome(tuple(map(_refreshed, _read(path).batches)))
    if not done.final:
        return done
    inbox = _Inbox(chain.from_iterable(map(_answers_to, done.batches)))
    run(inbox.around)
    if inbox.lines and inbox.unanswered and not inbox.used:
        raise InputError(
            f"the run requested none of the {len(inbox.lines):,} answers to {path}; collect them "
            "with the records, judge and batch size of the submission"
        )
    if not inbox.lines:
        path.unlink()
    return replace(done, used=inbox.used, unused=len(inbox.lines), unanswered=inbox.unanswered)


def _refreshed(batch: Batch) -> Batch:
    """Return a batch with the provider's status."""
    if _is_anthropic(batch.model):
        with _anthropic() as client:
            return replace(batch, status=client.batch_status(batch.batch_id).status)
    with _connected() as client:
        found = client.batches.retrieve(batch.batch_id)
    counts, problems = found.request_counts, (found.errors and found.errors.data) or []
    return replace(
        batch,
        status=found.status,
        completed=counts.completed if counts else 0,
        problem="; ".join(problem.message or "" for problem in problems) or None,
    )


def _answers_to(batch: Batch) -> Iterator[Line]:
    if _is_anthropic(batch.model):
        yield from _answers_of_anthropic(batch)
        return
    with _connected() as client:
        found = client.batches.retrieve(batch.batch_id)
        files = filter(None, (found.output_file_id, found.error_file_id))
        contents = [client.files.content(file_id).read() for file_id in files]
    for content in contents:
        yield from _lines_of(content)


def _lines_of(content: bytes) -> Iterator[Line]:
    for line in content.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def _is_anthropic(model: str) -> bool:
    return model.startswith("anthropic/")


@contextmanager
def _anthropic() -> Iterator[Any]:
    """Yield the client of Anthropic that comes with DSPy, and translate its errors."""
    from dspy import lm15

    key = Settings.from_environment().variable("ANTHROPIC_API_KEY")
    if not key:
        raise ConfigError("set ANTHROPIC_API_KEY, with which batches are sent and collected")
    try:
        with closing(lm15.AnthropicLM(api_key=key, base_url=_ANTHROPIC_URL)) as client:
            yield client
    except (Exception, SystemExit) as error:
        raise from_dspy(error, "Anthropic's batches") from error


def _sent_to_anthropic(model: str, lines: Sequence[bytes]) -> Batch:
    """Create a batch; its requests are numbered there, so that their ids are kept here.

    Raises:
        ConfigError: A setting would not be sent, or no key is set.
    """
    from dspy import lm15

    queued = [json.loads(line) for line in lines]
    bodies = [{**each["body"], "model": model.partition("/")[2]} for each in queued]
    requests = [lm15.request_from_openai_chat(body) for body in bodies]
    with _anthropic() as client:
        unsent = [
            c.field.removeprefix("config.") for c in client.plan(requests[0]) if c.action in _UNSENT
        ]
        if unsent:
            raise ConfigError(f"{model} takes no {', '.join(unsent)} as set; set it to null")
        try:
            new = client.batch_submit(lm15.BatchRequest(requests=requests))
        except (lm15.TransportError, lm15.ServerError) as error:
            raise JudgeUnavailable(
                f"{model}: no reply to the submission ({redacted(error)}); before you submit "
                "again, look in Anthropic's console whether the batch was created"
            ) from error
    ids = tuple(each["custom_id"] for each in queued)
    return Batch(model=model, batch_id=new.id, requests=len(ids), ids=ids)


def _answers_of_anthropic(batch: Batch) -> Iterator[Line]:
    with _anthropic() as client:
        entries = client.batch_results(batch.batch_id)
    for entry in entries:
        why = getattr(entry.error, "message", entry.outcome)
        status_code = _OK if entry.response else 0
        reply = {"status_code": status_code, "body": entry.response or {"error": why}}
        yield {"custom_id": batch.ids[entry.index], "response": reply}


def _write(path: Path, state: BatchState) -> None:
    data = json_text(state.to_dict()).encode()
    write_with(path, lambda file: file.write(data), mode=0o600)


def _read(path: Path) -> BatchState:
    if not path.exists():
        raise InputError(f"{path} does not exist; submit a batch first")
    with file_errors(str(path), "read"):
        data = path.read_bytes()
    try:
        return BatchState.from_dict(parse_json(data, str(path)).value)
    except ValueError as error:
        raise InputError(f"{path} is not the state of a batch: {error}") from error


def _requests_of(run: Run) -> list[tuple[str, list[bytes]]]:
    """Perform a run that only queues requests, and return models and lines of the files."""
    queued: dict[str, set[bytes]] = {}

    def queue(inner: ChatTransport | LMTransport, body: Body) -> Answer:
        body = inner.addressed(body)
        request = {"custom_id": request_id(body), "method": "POST", "url": URL, "body": body}
        queued[inner.name].add(json.dumps(request, ensure_ascii=False).encode() + b"\n")
        raise JudgeQueued(f"{inner.name}: queued for a batch; collect it when it is done")

    def around(transport: Transport) -> Transport:
        queued.setdefault(transport.name, set())
        return BatchTransport(_require_batches(transport), queue)

    run(around)
    if not queued:
        raise ConfigError(
            "the run uses no language model; batches need a judge 'openai/MODEL' or "
            "'anthropic/MODEL'"
        )
    return [(model, file) for model, lines in queued.items() for file in request_files(lines)]


def request_files(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Pack serialised requests into as few files as the provider allows."""
    left = sorted(lines)
    while left:
        ends = islice(accumulate(map(len, left)), MAX_REQUESTS)
        n = max(1, sum(end <= MAX_BYTES for end in ends))
        yield left[:n]
        left = left[n:]


def request_id(body: Body) -> str:
    """Return the `custom_id` of a request: a digest of its body, so that equal ones coincide."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _require_batches(transport: Transport) -> ChatTransport | LMTransport:
    if isinstance(transport, ChatTransport):
        return transport
    is_its_own = _is_anthropic(transport.name) and transport.endpoint is None
    if isinstance(transport, LMTransport) and is_its_own:
        return transport
    raise ConfigError(
        f"{transport.name} does not support batches; use 'openai/MODEL' or 'anthropic/MODEL'"
    )


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


class _Inbox:
    """Looks up the answers of finished batches; each is used once. Unreadable lines are skipped."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.used = 0
        self.unanswered = 0
        self.lines: dict[str, Line] = {}
        """Unused answers."""
        for line in lines:
            with suppress(TypeError, KeyError):  # of one line
                self.lines[line["custom_id"]] = line

    def around(self, transport: Transport) -> Transport:
        return BatchTransport(_require_batches(transport), self._look_up)

    def _look_up(self, inner: ChatTransport | LMTransport, request: Body) -> Answer:
        line = self.lines.pop(request_id(inner.addressed(request)), None)
        if line is None:
            raise self._queued(f"{inner.name}: not among the answers of the batch")
        self.used += 1
        body = at(line, "response", "body")
        if at(line, "response", "status_code") != _OK:
            error = error_in(body or line)
            why = error.message or " ".join(error.kinds).strip() or "no reason given"
            raise self._queued(f"{inner.name}: no answer from the batch ({why})")
        try:
            return inner.read(body)
        except JudgeUnavailable as problem:
            raise self._queued(str(problem)) from problem

    def _queued(self, problem: str) -> JudgeQueued:
        """Return an error that leaves the request to an ordinary run."""
        self.unanswered += 1
        return JudgeQueued(f"{problem}; an ordinary run sends it")
