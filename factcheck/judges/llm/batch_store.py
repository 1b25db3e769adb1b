"""The files of a batch between submitting and collecting, and the requests to its server.

The state file names the batches; a folder beside it holds the requests and the answers. All are
private, without any key. What leaves something at the provider is saved before the next step.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from factcheck.documents import PlainData, file_errors, parse_json
from factcheck.documents.files import write_with
from factcheck.errors import InputError
from factcheck.judges.llm.errors import UNREADABLE, from_openai
from factcheck.judges.llm.providers import access_to
from factcheck.settings import Model, Settings

if TYPE_CHECKING:
    from pathlib import Path

    import openai

    from factcheck.judges.llm.transports import Body
    from factcheck.runtime.retry import RetryPolicy

T = TypeVar("T")

URL: Final = "/v1/chat/completions"
MAX_REQUESTS = 50_000
"""In one file; a limit of the provider."""
MAX_BYTES = 190_000_000
"""In one file: the provider takes 200 MB, whatever a megabyte is to it."""
_NAME = "the batch endpoint"
_TIMEOUT_S = 600.0
"""Seconds one step may take; files are large."""
_PRIVATE = 0o600
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})


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

    def updated(self, found: openai.types.Batch) -> Batch:
        """The batch as the provider describes it now."""
        counts = found.request_counts
        problems = (found.errors and found.errors.data) or []
        return replace(
            self,
            status=found.status,
            completed=counts.completed if counts else 0,
            failed=counts.failed if counts else 0,
            problem="; ".join(problem.message or "" for problem in problems) or None,
            output_file_id=found.output_file_id,
            error_file_id=found.error_file_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState(PlainData):
    """Everything needed to collect what was submitted."""

    VERSION: ClassVar[int] = 2

    endpoint: str
    created: str
    """When the requests were written, as an ISO time."""
    batches: tuple[Batch, ...]
    collected: bool = False
    """Whether the answers are in the cache and their usage is on a ledger."""
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
        if not self.path.exists():
            return None
        with file_errors(str(self.path), "read"):
            data = self.path.read_bytes()
        try:
            state = BatchState.from_dict(parse_json(data, str(self.path)).value)
        except ValueError as error:
            raise InputError(f"{self.path} is not the state of a batch: {error}") from error
        if state.version != BatchState.VERSION:
            raise InputError(
                f"{self.path} is not the state of a batch of this version of factcheck; "
                "collect it with the one that wrote it"
            )
        return state

    def write(self, state: BatchState) -> None:
        _write(self.path, json.dumps(state.to_dict(), indent=1, ensure_ascii=False).encode())

    def add_requests(self, model: str, bodies: Iterable[tuple[Body, bool]]) -> list[Batch]:
        """Write the different requests to a model into as few files as the provider takes.

        Each body comes with whether it lists facts.
        """
        lines: dict[bytes, bool] = {}
        for body, is_extraction in bodies:
            request = {"custom_id": request_id(body), "method": "POST", "url": URL, "body": body}
            lines[json.dumps(request, ensure_ascii=False).encode() + b"\n"] = is_extraction
        batches: list[Batch] = []
        with file_errors(str(self.folder), "make"):
            self.folder.mkdir(mode=0o700, exist_ok=True)
        while lines:
            ends = accumulate(map(len, lines))
            n = max(1, sum(end <= MAX_BYTES for end in islice(ends, MAX_REQUESTS)))
            some = {line: lines.pop(line) for line in list(islice(lines, n))}
            data = b"".join(some)
            batch = Batch(
                model=model,
                digest=hashlib.sha256(data).hexdigest(),
                requests=len(some),
                extractions=sum(some.values()),
            )
            _write(self.requests(batch), data)
            batches.append(batch)
        return batches

    def requests(self, batch: Batch) -> Path:
        return self.folder / f"{batch.digest}.requests.jsonl"

    def downloads(self, batch: Batch) -> list[tuple[str, Path]]:
        kinds = (("output", batch.output_file_id), ("errors", batch.error_file_id))
        return [(id_, self.folder / f"{batch.digest}.{kind}.jsonl") for kind, id_ in kinds if id_]


def _write(path: Path, data: bytes) -> None:
    write_with(path, lambda file: file.write(data), mode=_PRIVATE)


def request_id(body: Body) -> str:
    """The name of a request in a batch: a digest of its body, so that equal ones are one."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class BatchClient:
    """Talks to the server whose batches a state is about; runs in the background loop."""

    def __init__(self, store: BatchStore, retry: RetryPolicy) -> None:
        self._access = access_to(Model("openai/batches"), Settings.from_environment())
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
        with file_errors(str(path), "read"):
            data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != batch.digest:
            raise InputError(
                f"{path} was changed since it was written; "
                f"remove {self._store.path} and submit again"
            )

        async def upload() -> str:
            made = await client.files.create(file=(path.name, data), purpose="batch")
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
            return batch.updated(await client.batches.retrieve(batch.batch_id or ""))

        return await self._retrying(look)

    async def _download(self, client: openai.AsyncOpenAI, file_id: str, path: Path) -> None:
        async def download() -> None:
            async with client.files.with_streaming_response.content(file_id) as reply:
                _write(path, await reply.read())

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
