"""The files of a batch between submitting and collecting, and the requests to its server.

The state file names the batches; a folder beside it holds the requests and the answers. All are
private, without any key. What leaves something at the provider is saved before the next step.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from factcheck.documents import PlainData, parse_json
from factcheck.errors import InputError, JudgeError
from factcheck.judges.llm.errors import UNREADABLE, from_openai
from factcheck.judges.llm.providers import access_to
from factcheck.runtime.retry import RetryPolicy
from factcheck.settings import Model

if TYPE_CHECKING:
    import openai

    from factcheck.settings import Settings

URL: Final = "/v1/chat/completions"
MAX_REQUESTS = 50_000
"""In one file; a limit of the provider."""
MAX_BYTES = 190_000_000
"""In one file: the provider takes 200 MB, whatever a megabyte is to it."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})

_log = logging.getLogger("factcheck.judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(PlainData):
    """One file of requests to one model, and what became of it."""

    model: str
    """`openai/MODEL`."""
    digest: str
    """SHA-256 of the file of requests."""
    requests: int
    extractions: int
    """Requests that list facts; the others check them."""
    file_id: str | None = None
    batch_id: str | None = None
    status: str | None = None
    """As the provider calls it."""
    completed: int = 0
    failed: int = 0
    problem: str | None = None
    """Error of the batch as a whole, as the provider describes it."""
    output_file_id: str | None = None
    error_file_id: str | None = None

    def __post_init__(self) -> None:
        if not _DIGEST.fullmatch(self.digest):
            raise InputError("batch: 'digest' is not a SHA-256 digest")

    @property
    def final(self) -> bool:
        return self.status in _FINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState(PlainData):
    """Everything needed to collect what was submitted."""

    VERSION: ClassVar[int] = 1

    endpoint: str
    created: str
    """When the requests were written, as an ISO time."""
    shapes: tuple[Mapping[str, str], ...]
    """For each model: its name under `model`, and what shapes its requests and answers."""
    batches: tuple[Batch, ...]
    collected: bool = False
    """Whether everything that will ever come is in the cache."""
    recorded: tuple[str, ...] = ()
    """Ids of the requests whose usage is on a ledger."""
    version: int = VERSION

    @property
    def submitted(self) -> bool:
        return all(batch.batch_id is not None for batch in self.batches)


class BatchStore:
    """The state file, and the folder beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.with_name(path.name + ".files")

    def read(self) -> BatchState | None:
        try:
            state = BatchState.from_dict(parse_json(self.path.read_bytes(), str(self.path)).value)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror or error}") from error
        except ValueError as error:
            raise InputError(f"{self.path} is not the state of a batch: {error}") from error
        if state.version != BatchState.VERSION:
            raise InputError(
                f"{self.path} is not the state of a batch of this version of factcheck; "
                "collect it with the one that wrote it"
            )
        return state

    def write(self, state: BatchState) -> None:
        """Replace the state in one step: a crash leaves the old one or the new one."""
        path, text = self.path, json.dumps(state.to_dict(), indent=1, ensure_ascii=False)
        draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with open_private(draft) as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error

    def make_folder(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make {self.folder}: {error.strerror or error}") from error

    def requests(self, batch: Batch) -> Path:
        return self.folder / f"{batch.digest}.requests.jsonl"

    def downloads(self, batch: Batch) -> tuple[tuple[str, Path], ...]:
        kinds = (("output", batch.output_file_id), ("errors", batch.error_file_id))
        return tuple(
            (file_id, self.folder / f"{batch.digest}.{kind}.jsonl")
            for kind, file_id in kinds
            if file_id is not None
        )


class RequestFiles:
    """Writes requests into as few files as the provider takes, one model to a file."""

    def __init__(
        self, folder: Path, *, max_requests: int = MAX_REQUESTS, max_bytes: int = MAX_BYTES
    ) -> None:
        self._folder = folder
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self._ids: set[str] = set()
        self._open: dict[str, _Draft] = {}
        self._done: list[_Draft] = []
        self._error: OSError | None = None

    def add(self, model: str, body: Mapping[str, Any], *, extraction: bool) -> None:
        name = request_id(body)
        if name in self._ids:
            return
        request = {"custom_id": name, "method": "POST", "url": URL, "body": body}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        try:
            draft = self._draft_for(model, len(line))
            draft.file.write(line)
        except OSError as error:
            self._error = self._error or error
            raise JudgeError(f"{model}: the request cannot be written ({error})") from error
        draft.requests += 1
        draft.extractions += extraction
        self._ids.add(name)

    def _draft_for(self, model: str, size: int) -> _Draft:
        draft = self._open.get(model)
        if draft is not None and (
            draft.requests >= self._max_requests or draft.file.tell() + size > self._max_bytes
        ):
            draft.file.close()
            self._done.append(self._open.pop(model))
            draft = None
        if draft is None:
            number = len(self._done) + len(self._open)
            path = self._folder / f"{number}.draft"
            draft = self._open[model] = _Draft(model, path, open_private(path))
        return draft

    def finish(self) -> tuple[Batch, ...]:
        batches = []
        try:
            for draft in (*self._done, *self._open.values()):
                draft.file.close()
                digest = file_digest(draft.path)
                draft.path.replace(self._folder / f"{digest}.requests.jsonl")
                batches.append(
                    Batch(
                        model=draft.model,
                        digest=digest,
                        requests=draft.requests,
                        extractions=draft.extractions,
                    )
                )
        except OSError as error:
            self._error = self._error or error
        if self._error is not None:
            raise InputError(
                f"cannot write the requests into {self._folder}: "
                f"{self._error.strerror or self._error}; nothing was sent"
            ) from self._error
        return tuple(batches)

    def discard(self) -> None:
        for draft in (*self._done, *self._open.values()):
            with suppress(OSError):
                draft.file.close()
            draft.path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Draft:
    """A file of requests that is still open."""

    model: str
    path: Path
    file: Any
    requests: int = 0
    extractions: int = 0


class BatchAnswers:
    """The answers of a batch, by the id of the request; each is given out once.

    A line that cannot be read counts for nothing, and an id that is there twice has no answer.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._places: dict[str, tuple[Path, int] | None] = {}
        for path in paths:
            self._index(path)
        self.taken: set[str] = set()
        """Ids of the answers that were given out."""

    @property
    def left(self) -> frozenset[str]:
        return frozenset(name for name, place in self._places.items() if place is not None)

    def take(self, name: str) -> Mapping[str, Any] | None:
        """The line about a request, or `None` if there is none or it was taken already."""
        place = self._places.pop(name, None)
        if place is None:
            return None
        self.taken.add(name)
        path, offset = place
        with path.open("rb") as file:
            file.seek(offset)
            line: Mapping[str, Any] = json.loads(file.readline())
        return line

    def _index(self, path: Path) -> None:
        offset = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                name = _custom_id(line)
                if name is None:
                    _log.warning("%s, line %d: not an answer; skipped", path, number)
                elif name in self._places:
                    _log.warning("%s, line %d: %s has two answers; none counts", path, number, name)
                    self._places[name] = None
                else:
                    self._places[name] = (path, offset)
                offset += len(line)


def _custom_id(line: bytes) -> str | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    name = data.get("custom_id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else None


def request_id(body: Mapping[str, Any]) -> str:
    """The name of a request in a batch: a digest of its body, so that equal ones are one."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def open_private(path: Path) -> Any:
    """A file opened for writing bytes, emptied, that only its owner can read."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


T = TypeVar("T")

_TIMEOUT_S = 600.0
"""Seconds one step may take; files are large."""
_NAME = "the batch endpoint"


class BatchClient:
    """Talks to the server whose batches a state is about; runs in the background loop."""

    def __init__(self, store: BatchStore, settings: Settings, retry: RetryPolicy) -> None:
        self._access = access_to(Model("openai/batches"), settings)
        self._store = store
        self._retry = retry

    @property
    def endpoint(self) -> str:
        return self._access.endpoint

    async def submit(self, state: BatchState) -> BatchState:
        # Uploaded by an earlier run, which may have ended before it learned that a batch was made.
        unsure = {batch.digest for batch in state.batches if batch.file_id and not batch.batch_id}
        async with self._connected() as client:
            for batch in state.batches:
                if batch.file_id is None:
                    file_id = await self._upload(client, batch)
                    state = self._keep(state, replace(batch, file_id=file_id))
            for batch in state.batches:
                if batch.batch_id is None:
                    found = batch.digest in unsure and await self._find(client, batch)
                    batch_id = found or await self._create(client, batch)
                    state = self._keep(state, replace(batch, batch_id=batch_id))
        return state

    async def update(self, state: BatchState) -> BatchState:
        async with self._connected() as client:
            for batch in state.batches:
                if not batch.final:
                    state = self._keep(state, await self._poll(client, batch))
            for batch in state.batches:
                for file_id, path in self._store.downloads(batch) if batch.final else ():
                    if not path.exists():
                        await self._download(client, file_id, path)
        return state

    def _keep(self, state: BatchState, batch: Batch) -> BatchState:
        batches = tuple(batch if old.digest == batch.digest else old for old in state.batches)
        state = replace(state, batches=batches)
        self._store.write(state)
        return state

    async def _upload(self, client: openai.AsyncOpenAI, batch: Batch) -> str:
        path = self._store.requests(batch)
        try:
            same = file_digest(path) == batch.digest
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from error
        if not same:
            raise InputError(
                f"{path} was changed since it was written; "
                f"remove {self._store.path} and submit again"
            )

        async def upload() -> str:
            with path.open("rb") as file:
                made = await client.files.create(file=(path.name, file), purpose="batch")
            return made.id

        return await self._retrying(upload)

    async def _create(self, client: openai.AsyncOpenAI, batch: Batch) -> str:
        """Make a batch; never repeated: it may exist although no response came."""

        async def create() -> str:
            made = await client.batches.create(
                input_file_id=batch.file_id or "", endpoint=URL, completion_window="24h"
            )
            return made.id

        return await _translated(create)

    async def _find(self, client: openai.AsyncOpenAI, batch: Batch) -> str | None:
        async def find() -> str | None:
            async for made in client.batches.list(limit=100):
                if made.input_file_id == batch.file_id:
                    return made.id
            return None

        return await self._retrying(find)

    async def _poll(self, client: openai.AsyncOpenAI, batch: Batch) -> Batch:
        async def look() -> Batch:
            found = await client.batches.retrieve(batch.batch_id or "")
            counts = found.request_counts
            problems = (found.errors and found.errors.data) or []
            return replace(
                batch,
                status=found.status,
                completed=counts.completed if counts else 0,
                failed=counts.failed if counts else 0,
                problem="; ".join(problem.message or "" for problem in problems) or None,
                output_file_id=found.output_file_id,
                error_file_id=found.error_file_id,
            )

        return await self._retrying(look)

    async def _download(self, client: openai.AsyncOpenAI, file_id: str, path: Path) -> None:
        async def download() -> None:
            draft = path.with_suffix(".draft")
            try:
                async with client.files.with_streaming_response.content(file_id) as reply:
                    with open_private(draft) as file:
                        async for block in reply.iter_bytes():
                            file.write(block)
                draft.replace(path)
            except OSError as error:
                with suppress(OSError):
                    draft.unlink()
                raise InputError(f"cannot write {path}: {error.strerror or error}") from error

        await self._retrying(download)

    async def _retrying(self, step: Callable[[], Awaitable[T]]) -> T:
        """Do a step that leaves nothing behind when it is done twice."""

        async def attempt() -> T:
            return await _translated(step)

        result: T = await self._retry.retrying()(attempt)
        return result

    def _connected(self) -> openai.AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            api_key=self._access.key or "none",
            base_url=self._access.base_url,
            max_retries=0,
            timeout=_TIMEOUT_S,
            http_client=openai.DefaultAioHttpClient(),
        )


async def _translated(step: Callable[[], Awaitable[T]]) -> T:
    import openai

    try:
        return await step()
    except (openai.OpenAIError, *UNREADABLE) as error:
        raise from_openai(error, _NAME) from error
