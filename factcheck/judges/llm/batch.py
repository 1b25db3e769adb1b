"""Batches: all questions of a run in one file, answered within a day at half the price.

A batch is only another way for requests to travel. To submit one, an ordinary run is made with a
transport that writes requests down; to collect it, the same run is made with one that finds their
answers, and these go through parsing, booking and the cache like any others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from secrets import token_bytes
from typing import Generic, TypeVar

from factcheck.errors import ConfigError, InputError
from factcheck.judges.llm.batch_client import BatchClient
from factcheck.judges.llm.batch_files import RequestFiles
from factcheck.judges.llm.batch_state import Batch, BatchState, BatchStore
from factcheck.judges.llm.batch_transports import Inbox, Outbox
from factcheck.judges.llm.transports import Transport
from factcheck.runtime.loop import background
from factcheck.runtime.retry import RetryPolicy
from factcheck.settings import Settings

T = TypeVar("T")

Around = Callable[[Transport], Transport]
"""Puts another transport around that of each model."""
Run = Callable[[Around], T]
"""Makes an ordinary run with scorers made with this `around`; a record whose facts are still to
be listed raises `JudgeQueued`, which must not end the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What went out."""

    batches: tuple[Batch, ...]
    """Empty where every answer is known already; nothing was sent then."""
    resumed: bool = False
    """Whether an earlier, interrupted submission was completed instead of making a new one."""

    @property
    def requests(self) -> int:
        """Requests in all batches."""
        return sum(batch.requests for batch in self.batches)

    @property
    def extractions(self) -> int:
        """Requests for lists of facts: when they are collected, submit again for the checks."""
        return sum(batch.extractions for batch in self.batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected(Generic[T]):
    """What came back."""

    batches: tuple[Batch, ...]
    result: T | None = None
    """What the run gave; `None` while a batch is under way."""
    used: int = 0
    """Answers that the run asked for."""
    unused: int = 0
    """Answers that it did not ask for: paid, but not kept. Other records, or other facts a call."""
    unanswered: int = 0
    """Requests of the run that no batch answers; an ordinary run asks them."""

    @property
    def final(self) -> bool:
        """Whether every batch has ended, well or badly."""
        return all(batch.final for batch in self.batches)

    @property
    def extractions(self) -> int:
        """Requests for lists of facts: where there were any, submit again for the checks."""
        return sum(batch.extractions for batch in self.batches)


def submit(
    path: Path,
    run: Run[object],
    *,
    settings: Settings | None = None,
    retry: RetryPolicy | None = None,
) -> Submitted:
    """Write down what a run asks and hand it in; what the cache knows is not asked.

    Args:
        path: The state file. One of an interrupted submission is completed, without a new run;
            one that was collected is replaced.
        run: Makes the run.
        settings: Key and address; `None`: those of the environment.
        retry: How often uploads are tried.

    Raises:
        InputError: The file holds a batch that is not collected yet, or cannot be written.
        ConfigError: A model of the run cannot be asked in batches.
        JudgeError: The server could not be asked. Submit again: nothing is sent twice.
    """
    store = BatchStore(path)
    client = BatchClient(store, settings or Settings.from_environment(), retry or RetryPolicy())
    state = store.read()
    resumed = state is not None and not state.submitted
    if state is None or state.collected:
        state = _written_down(store, client.endpoint, run)
    elif state.submitted:
        raise InputError(
            f"{path} holds a batch of {state.created} that is not collected yet; "
            "collect it, or name another file"
        )
    if state is None:
        return Submitted(batches=())
    _require_endpoint(store, state, client)
    state = background.run(client.submit(state))
    return Submitted(batches=state.batches, resumed=resumed)


def collect(
    path: Path,
    run: Run[T],
    *,
    settings: Settings | None = None,
    retry: RetryPolicy | None = None,
) -> Collected[T]:
    """Make a run whose answers come from the batches, once all of them have ended.

    Doing it again changes nothing: answers are known then, and no cost is booked twice.

    Args:
        path: The state file.
        run: Makes the run; with the same judges, records and options as at submission.
        settings: Key and address; `None`: those of the environment.
        retry: How often each question to the server is tried.

    Raises:
        InputError: No batch was submitted, or by another judge, prompt or server.
        JudgeError: The server could not be asked.
    """
    store = BatchStore(path)
    state = store.read()
    if state is None:
        raise InputError(f"{path} does not exist; submit a batch first")
    if not state.submitted:
        raise InputError(f"{path}: the submission was interrupted; submit again to complete it")
    client = BatchClient(store, settings or Settings.from_environment(), retry or RetryPolicy())
    _require_endpoint(store, state, client)
    state = background.run(client.update(state))
    if not all(batch.final for batch in state.batches):
        return Collected(batches=state.batches)
    inbox = Inbox(store, state)
    result = run(inbox.around)
    store.write_booked(state, inbox.booked)
    store.write(replace(state, collected=True))
    return Collected(
        batches=state.batches,
        result=result,
        used=inbox.used,
        unused=inbox.unused,
        unanswered=inbox.unanswered,
    )


def _written_down(store: BatchStore, endpoint: str, run: Run[object]) -> BatchState | None:
    """The state of a batch that is ready to be sent, or `None` if there is nothing to ask."""
    store.make_folder()
    files = RequestFiles(store.folder)
    outbox = Outbox(files, token_bytes(16))
    try:
        run(outbox.around)
        batches = files.finish()
    except BaseException:
        files.discard()
        raise
    if not outbox.shapes:
        raise ConfigError("no language model is asked; batches are for judges 'openai/MODEL'")
    if not batches:
        return None
    state = BatchState(
        secret=outbox.secret,
        endpoint=endpoint,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        shapes=tuple(outbox.shapes.values()),
        batches=batches,
    )
    store.write(state)
    return state


def _require_endpoint(store: BatchStore, state: BatchState, client: BatchClient) -> None:
    if state.endpoint != client.endpoint:
        raise InputError(
            f"{store.path} holds a batch of the server {state.endpoint}, "
            f"not of {client.endpoint}; check OPENAI_BASE_URL"
        )
