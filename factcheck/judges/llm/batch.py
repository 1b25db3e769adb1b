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
from http import HTTPStatus
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final

from factcheck.documents import (
    Reader,
    check_writable,
    file_errors,
    json_text,
    parse_json,
    to_plain,
    write_text,
)
from factcheck.errors import ConfigError, InputError, JudgeQueued, JudgeUnavailable
from factcheck.judges.llm.errors import UNREADABLE, from_dspy, from_status, redacted
from factcheck.judges.llm.providers import access_to
from factcheck.judges.llm.transports import (
    Answer,
    Body,
    ChatTransport,
    LMTransport,
    Transport,
    WrappedTransport,
    at,
    changed_in,
    error_in,
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
PRICE_SHARE: Final = 0.5
"""Price of a request in a batch as a fraction of the list price."""
_NAME = "the batch endpoint"
_TIMEOUT_S = 600.0
"""Timeout of one request in seconds; files are large."""
_RETRIES = 4
"""Maximum number of retries of idempotent requests."""
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
_ANTHROPIC_URL = "https://api.anthropic.com/v1"
_NEEDED = "a judge 'openai/MODEL' or 'anthropic/MODEL'"
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
class Batch:
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
    batches: list[Batch] = []
    for model, lines in _requests_of(run):
        batches.append(_endpoint_of(model).submit(model, lines))
        _write(path, batches)
    return Outcome(tuple(batches))


def collect(path: Path, run: Run) -> Outcome:
    """Perform a run with the answers of its batches, once all of them have ended.

    The state file is removed when no answer is left; by then, all of them are cached.

    Raises:
        InputError: There is no batch to collect, or the run requests none of its answers.
    """
    batches = [_endpoint_of(batch.model).refreshed(batch) for batch in _read(path)]
    done = Outcome(tuple(batches))
    if not done.final:
        return done
    inbox = _Inbox()
    for batch in batches:
        inbox.add(_endpoint_of(batch.model).answers_to(batch))
    run(inbox.around)
    if inbox.lines and inbox.unanswered and not inbox.used:
        raise InputError(
            f"the run requested none of the {len(inbox.lines):,} answers to {path}; collect them "
            "with the records, judge and batch size of the submission"
        )
    if not inbox.lines:
        path.unlink()
    return replace(done, used=inbox.used, unused=len(inbox.lines), unanswered=inbox.unanswered)


class _OpenAI:
    """Batches of OpenAI: a file of requests, and files of answers."""

    def submit(self, model: str, lines: Sequence[bytes]) -> Batch:
        with self._client(model) as client:
            content = ("requests.jsonl", b"".join(lines))
            file = client.files.create(file=content, purpose="batch")
            new = self._create(client, file.id)
        return Batch(model=model, batch_id=new.id, requests=len(lines))

    def _create(self, client: openai.OpenAI, file_id: str) -> openai.types.Batch:
        """Create the batch of a file; one created without a reply is found, not paid twice."""
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

    def refreshed(self, batch: Batch) -> Batch:
        """Return a batch with the provider's status."""
        with self._client(batch.model) as client:
            found = client.batches.retrieve(batch.batch_id)
        counts, problems = found.request_counts, (found.errors and found.errors.data) or []
        return replace(
            batch,
            status=found.status,
            completed=counts.completed if counts else 0,
            problem="; ".join(problem.message or "" for problem in problems) or None,
        )

    def answers_to(self, batch: Batch) -> Iterator[Line]:
        with self._client(batch.model) as client:
            found = client.batches.retrieve(batch.batch_id)
            files = filter(None, (found.output_file_id, found.error_file_id))
            contents = [client.files.content(file_id).read() for file_id in files]
        for line in b"\n".join(contents).splitlines():
            with suppress(ValueError):  # of one line
                yield json.loads(line)

    @contextmanager
    def _client(self, model: str) -> Iterator[openai.OpenAI]:
        """Yield OpenAI's client, and translate its errors."""
        import openai

        access = access_to(Model(model), Settings.from_environment())
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
        except (openai.OpenAIError, *UNREADABLE) as error:
            why = redacted(error.__cause__ or error)
            raise JudgeUnavailable(f"{_NAME} at {access.host} gave no answer ({why})") from error


class _Anthropic:
    """Batches of Anthropic, by its client that comes with DSPy."""

    def submit(self, model: str, lines: Sequence[bytes]) -> Batch:
        """Create a batch; its requests are numbered there, so that their ids are kept here.

        Raises:
            ConfigError: A setting would not be sent, or no key is set.
        """
        from dspy import lm15

        queued = [json.loads(line) for line in lines]
        bodies = [{**each["body"], "model": model.partition("/")[2]} for each in queued]
        requests = [lm15.request_from_openai_chat(body) for body in bodies]
        with self._client() as client:
            unsent = changed_in(client.plan(requests[0]), "dropped", "clamped", "substituted")
            if unsent:
                names = ", ".join(unsent)
                raise ConfigError(f"{model} takes no {names} as set; set it to null")
            try:
                new = client.batch_submit(lm15.BatchRequest(requests=requests))
            except (lm15.TransportError, lm15.ServerError) as error:
                raise JudgeUnavailable(
                    f"{model}: no reply to the submission ({redacted(error)}); before you submit "
                    "again, look in Anthropic's console whether the batch was created"
                ) from error
        ids = tuple(each["custom_id"] for each in queued)
        return Batch(model=model, batch_id=new.id, requests=len(ids), ids=ids)

    def refreshed(self, batch: Batch) -> Batch:
        """Return a batch with the provider's status."""
        with self._client() as client:
            return replace(batch, status=client.batch_status(batch.batch_id).status)

    def answers_to(self, batch: Batch) -> Iterator[Line]:
        with self._client() as client:
            entries = client.batch_results(batch.batch_id)
        for entry in entries:
            why = getattr(entry.error, "message", entry.outcome)
            status_code = HTTPStatus.OK if entry.response else 0
            reply = {"status_code": status_code, "body": entry.response or {"error": why}}
            yield {"custom_id": batch.ids[entry.index], "response": reply}

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """Yield the client, and translate its errors."""
        from dspy import lm15

        key = Settings.from_environment().variable("ANTHROPIC_API_KEY")
        if not key:
            raise ConfigError("set ANTHROPIC_API_KEY, with which batches are sent and collected")
        try:
            with closing(lm15.AnthropicLM(api_key=key, base_url=_ANTHROPIC_URL)) as client:
                yield client
        except (Exception, SystemExit) as error:
            raise from_dspy(error, "Anthropic's batches") from error


def _endpoint_of(model: str) -> _OpenAI | _Anthropic:
    return _Anthropic() if model.startswith("anthropic/") else _OpenAI()


def _write(path: Path, batches: Sequence[Batch]) -> None:
    write_text(path, json_text({"batches": to_plain(batches)}), mode=0o600)


def _read(path: Path) -> Sequence[Batch]:
    if not path.exists():
        raise InputError(f"{path} does not exist; submit a batch first")
    with file_errors(str(path), "read"):
        data = path.read_bytes()
    try:
        state = parse_json(data, str(path)).value
        batches: Sequence[Batch] = Reader(state, "the state").get("batches", tuple[Batch, ...])
    except ValueError as error:
        raise InputError(f"{path} is not the state of a batch: {error}") from error
    return batches


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
        return _in_batches(transport, queue)

    run(around)
    if not queued:
        raise ConfigError(f"the run uses no language model; batches need {_NEEDED}")
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


def _in_batches(transport: Transport, answer: Callable[[Any, Body], Answer]) -> Transport:
    """Return a transport that gets its answers from a batch; requests equal those of any run."""
    is_anthropic = isinstance(_endpoint_of(transport.name), _Anthropic)
    if not isinstance(transport, ChatTransport) and not (is_anthropic and not transport.endpoint):
        raise ConfigError(f"{transport.name} does not support batches; use {_NEEDED}")
    return WrappedTransport(transport, answer, PRICE_SHARE)


class _Inbox:
    """Looks up the answers of finished batches; each is used once. Unreadable lines are skipped."""

    def __init__(self) -> None:
        self.used = 0
        self.unanswered = 0
        self.lines: dict[str, Line] = {}
        """Unused answers."""

    def add(self, lines: Iterable[Line]) -> None:
        for line in lines:
            with suppress(TypeError, KeyError):  # of one line
                self.lines[line["custom_id"]] = line

    def around(self, transport: Transport) -> Transport:
        return _in_batches(transport, self._look_up)

    def _look_up(self, inner: ChatTransport | LMTransport, request: Body) -> Answer:
        try:
            return self._answer(inner, self.lines.pop(request_id(inner.addressed(request)), None))
        except JudgeUnavailable as problem:
            self.unanswered += 1
            raise JudgeQueued(f"{problem}; an ordinary run sends it") from problem

    def _answer(self, inner: ChatTransport | LMTransport, line: Line | None) -> Answer:
        if line is None:
            raise JudgeUnavailable(f"{inner.name}: not among the answers of the batch")
        self.used += 1
        body = at(line, "response", "body")
        if at(line, "response", "status_code") != HTTPStatus.OK:
            error = error_in(body or line)
            why = error.message or " ".join(error.kinds).strip() or "no reason given"
            raise JudgeUnavailable(f"{inner.name}: no answer from the batch ({why})")
        return inner.read(body)
