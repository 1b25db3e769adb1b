"""The network side of a batch: upload, create, poll, download.

Every step that leaves something at the provider is saved before the next one begins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from factcheck.errors import InputError
from factcheck.judges.llm.batch_store import (
    URL,
    Batch,
    BatchState,
    BatchStore,
    file_digest,
    open_private,
)
from factcheck.judges.llm.errors import UNREADABLE, from_openai
from factcheck.judges.llm.transports import connect_openai, endpoint, require_access
from factcheck.runtime.retry import RetryPolicy

if TYPE_CHECKING:
    import openai

    from factcheck.settings import Settings

T = TypeVar("T")

_TIMEOUT_S = 600.0
"""Seconds one step may take; files are large."""
_NAME = "the batch endpoint"


class BatchClient:
    """Talks to the server whose batches a state is about; runs in the background loop."""

    def __init__(self, store: BatchStore, settings: Settings, retry: RetryPolicy) -> None:
        require_access("a batch", settings)
        self._store = store
        self._settings = settings
        self._retry = retry

    @property
    def endpoint(self) -> str:
        return endpoint(self._settings.openai_base_url)

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
        """Poll the unfinished batches, and download the files of the finished ones."""
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
        """The batch that was made of an uploaded file, if there is one."""

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
        return connect_openai(self._settings, _TIMEOUT_S)


async def _translated(step: Callable[[], Awaitable[T]]) -> T:
    import openai

    try:
        return await step()
    except (openai.OpenAIError, *UNREADABLE) as error:
        raise from_openai(error, _NAME) from error
