"""The files of a batch: requests as they are written, answers as they came back."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from factcheck.errors import InputError, JudgeError
from factcheck.judges.llm.batch_state import Batch, open_private

URL: Final = "/v1/chat/completions"
MOST_REQUESTS = 50_000
MOST_BYTES = 190_000_000
"""The provider takes 200 MB; what a megabyte is, is left to it."""

_log = logging.getLogger("factcheck.judge")


def request_id(body: Mapping[str, Any]) -> str:
    """The name of a request in a batch: a digest of its body, so that equal ones are one."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class RequestFiles:
    """Writes requests into as few files as the provider takes, one model to a file.

    Args:
        folder: Where; it exists.
        most_requests: Requests in one file, at most.
        most_bytes: Bytes in one file, at most.
    """

    def __init__(
        self, folder: Path, *, most_requests: int = MOST_REQUESTS, most_bytes: int = MOST_BYTES
    ) -> None:
        self._folder = folder
        self._most_requests = most_requests
        self._most_bytes = most_bytes
        self._ids: set[str] = set()
        self._open: dict[str, _Draft] = {}
        self._done: list[_Draft] = []
        self._error: OSError | None = None

    def add(self, model: str, body: Mapping[str, Any], *, extraction: bool) -> None:
        """Write a request, unless the same one is there already.

        Raises:
            JudgeError: It cannot be written; `finish` will say why.
        """
        name = request_id(body)
        if name in self._ids:
            return
        request = {"custom_id": name, "method": "POST", "url": URL, "body": body}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        try:
            self._draft_for(model, len(line)).write(line, extraction=extraction)
        except OSError as error:
            self._error = self._error or error
            raise JudgeError(f"{model}: the request cannot be written ({error})") from error
        self._ids.add(name)

    def _draft_for(self, model: str, size: int) -> _Draft:
        draft = self._open.get(model)
        if draft is not None and not (
            draft.requests < self._most_requests and draft.size + size <= self._most_bytes
        ):
            draft.file.close()
            self._done.append(self._open.pop(model))
            draft = None
        if draft is None:
            number = len(self._done) + len(self._open)
            draft = self._open[model] = _Draft(model, self._folder / f"{number}.draft")
        return draft

    def finish(self) -> tuple[Batch, ...]:
        """The files, named by what is in them.

        Raises:
            InputError: A request could not be written.
        """
        batches = []
        try:
            for draft in (*self._done, *self._open.values()):
                draft.file.close()
                batch = draft.batch()
                draft.path.replace(self._folder / f"{batch.digest}.requests.jsonl")
                batches.append(batch)
        except OSError as error:
            self._error = self._error or error
        if self._error is not None:
            raise InputError(
                f"cannot write the requests into {self._folder}: "
                f"{self._error.strerror or self._error}; nothing was sent"
            ) from self._error
        return tuple(batches)

    def discard(self) -> None:
        """Remove what was not finished."""
        for draft in (*self._done, *self._open.values()):
            with suppress(OSError):
                draft.file.close()
            draft.path.unlink(missing_ok=True)


class _Draft:
    """A file that requests are still added to."""

    def __init__(self, model: str, path: Path) -> None:
        self.path = path
        self.file = open_private(path)
        self.requests = 0
        self.size = 0
        self._model = model
        self._extractions = 0
        self._digest = hashlib.sha256()

    def write(self, line: bytes, *, extraction: bool) -> None:
        self.file.write(line)
        self._digest.update(line)
        self.requests += 1
        self.size += len(line)
        self._extractions += extraction

    def batch(self) -> Batch:
        return Batch(
            model=self._model,
            digest=self._digest.hexdigest(),
            requests=self.requests,
            extractions=self._extractions,
        )


class _Place(NamedTuple):
    path: Path
    offset: int


class BatchAnswers:
    """What came back, by the id of the request; each answer is given out once.

    A line that cannot be read counts for nothing, and an id that is there twice has no answer.

    Args:
        paths: The files that came back.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._places: dict[str, _Place | None] = {}
        for path in paths:
            self._index(path)
        self.taken: set[str] = set()
        """Ids of the answers that were given out."""

    @property
    def left(self) -> frozenset[str]:
        """Ids of the answers that nobody asked for."""
        return frozenset(name for name, place in self._places.items() if place is not None)

    def take(self, name: str) -> Mapping[str, Any] | None:
        """The line about a request, or `None` if there is none or it was taken already."""
        place = self._places.pop(name, None)
        if place is None:
            return None
        self.taken.add(name)
        with place.path.open("rb") as file:
            file.seek(place.offset)
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
                    self._places[name] = _Place(path, offset)
                offset += len(line)


def _custom_id(line: bytes) -> str | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    name = data.get("custom_id") if isinstance(data, dict) else None
    return name if isinstance(name, str) else None


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
