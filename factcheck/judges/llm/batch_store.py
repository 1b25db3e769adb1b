"""The files of a batch between submitting and collecting, and the requests to its server.

The state file names the batches; a folder beside it holds the requests and the answers. All are
private, without any key. What leaves something at the provider is saved before the next step.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, ClassVar, Final

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

URL: Final = "/v1/chat/completions"
MAX_REQUESTS = 50_000
"""In one file; a limit of the provider."""
MAX_BYTES = 190_000_000
"""In one file: the provider takes 200 MB, whatever a megabyte is to it."""
_NAME = "the batch endpoint"
_TIMEOUT_S = 600.0
"""Seconds one step may take; files are large."""
_RETRIES = 4
"""Of what leaves nothing behind when it is done twice."""
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

    def content(self, batch: Batch) -> bytes:
        """The file of requests; raises `InputError` if it is not the one that was written."""
        path = self.requests(batch)
        with file_errors(str(path), "read"):
            data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != batch.digest:
            raise InputError(
                f"{path} was changed since it was written; remove {self.path} and submit again"
            )
        return data

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

    def __init__(self, store: BatchStore) -> None:
        self._access = access_to(Model("openai/batches"), Settings.from_environment())
        self._store = store

    @property
    def endpoint(self) -> str:
        return self._access.endpoint

    async def submit(self, state: BatchState) -> BatchState:
        # Uploaded by an earlier run, which may have ended before it learned that a batch was made.
        unsure = {batch.file_id for batch in state.batches if batch.file_id and not batch.batch_id}
        made: dict[str, str] = {}
        async with self._connected() as client:
            for batch in state.batches:
                if batch.file_id is None:
                    content = (self._store.requests(batch).name, self._store.content(batch))
                    file = await client.files.create(file=content, purpose="batch")
                    state = self._keep(state, replace(batch, file_id=file.id))
            if unsure:
                async for found in client.batches.list(limit=100):
                    made.setdefault(found.input_file_id, found.id)
            for batch in state.batches:
                file_id = batch.file_id or ""
                if batch.batch_id is None and file_id in made:
                    state = self._keep(state, replace(batch, batch_id=made[file_id]))
                elif batch.batch_id is None:  # once only: it may exist although no response came
                    new = await client.with_options(max_retries=0).batches.create(
                        input_file_id=file_id, endpoint=URL, completion_window="24h"
                    )
                    state = self._keep(state, replace(batch, batch_id=new.id))
        return state

    async def update(self, state: BatchState) -> BatchState:
        async with self._connected() as client:
            for batch in state.batches:
                if not batch.final:
                    found = await client.batches.retrieve(batch.batch_id or "")
                    state = self._keep(state, batch.updated(found))
            for batch in state.batches:
                for file_id, path in self._store.downloads(batch) if batch.final else ():
                    if not path.exists():
                        reply = await client.files.content(file_id)
                        _write(path, await reply.aread())
        return state

    def _keep(self, state: BatchState, batch: Batch) -> BatchState:
        batches = tuple(batch if old.digest == batch.digest else old for old in state.batches)
        state = replace(state, batches=batches)
        self._store.write(state)
        return state

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[openai.AsyncOpenAI]:
        import openai

        try:
            async with openai.AsyncOpenAI(
                api_key=self._access.key or "none",
                base_url=self._access.base_url,
                max_retries=_RETRIES,
                timeout=_TIMEOUT_S,
                http_client=openai.DefaultAioHttpClient(),
            ) as client:
                yield client
        except (openai.OpenAIError, *UNREADABLE) as error:
            raise from_openai(error, _NAME) from error
