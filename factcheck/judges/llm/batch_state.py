"""What is remembered of a batch between submitting and collecting: one small file, private.

The state file names the batches; a folder beside it holds what was asked and what came back.
Neither ever holds a key.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from factcheck.documents import Reader
from factcheck.errors import InputError

_VERSION = 1
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One file of requests to one model, and what became of it."""

    model: str
    """`openai/MODEL`."""
    digest: str
    """SHA-256 of the file of requests."""
    requests: int
    extractions: int
    """How many of the requests list facts; the others check them."""
    file_id: str | None = None
    """Id of the uploaded file."""
    batch_id: str | None = None
    status: str | None = None
    """The provider's word for where it is."""
    completed: int = 0
    failed: int = 0
    problem: str | None = None
    """What the provider says went wrong with the batch as a whole."""
    output_file_id: str | None = None
    error_file_id: str | None = None

    @property
    def final(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _FINAL

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Batch:
        """Inverse of `dataclasses.asdict`; raises `InputError` for data of another shape."""
        read = Reader(data, "batch")
        if not _DIGEST.fullmatch(read.text("digest")):
            raise InputError("batch: 'digest' is not a SHA-256 digest")
        numbers = ("requests", "extractions", "completed", "failed")
        kept: dict[str, Any] = {name: read.integer(name) for name in numbers}
        for name in ("file_id", "batch_id", "status", "problem", "output_file_id", "error_file_id"):
            kept[name] = read.text(name, None)
        return cls(model=read.text("model"), digest=read.text("digest"), **kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """Everything needed to collect what was submitted."""

    secret: bytes = field(repr=False)
    """What the prompts were rendered with."""
    endpoint: str
    """Host and path of the server that has the batches."""
    created: str
    """When the requests were written, as an ISO time."""
    shapes: tuple[Mapping[str, str], ...]
    """For each model: its name under `model`, and what shapes its requests and answers."""
    batches: tuple[Batch, ...]
    collected: bool = False
    """Whether everything that will ever come is in the cache."""

    @property
    def submitted(self) -> bool:
        """Whether every batch was created."""
        return all(batch.batch_id is not None for batch in self.batches)

    def to_json(self) -> str:
        """The content of a state file."""
        data = {name.name: getattr(self, name.name) for name in fields(self)}
        data |= {
            "version": _VERSION,
            "secret": self.secret.hex(),
            "shapes": [dict(shape) for shape in self.shapes],
            "batches": [asdict(batch) for batch in self.batches],
        }
        return json.dumps(data, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> BatchState:
        """Inverse of `to_json`; raises `InputError` for anything else."""
        read = Reader(json.loads(text), "state of a batch")
        if read.integer("version") != _VERSION:
            raise InputError("written by another version of factcheck; collect it with that one")
        return cls(
            secret=bytes.fromhex(read.text("secret")),
            endpoint=read.text("endpoint"),
            created=read.text("created"),
            shapes=tuple(
                {str(key): str(value) for key, value in shape.items()}
                for shape in read.mappings("shapes")
            ),
            batches=tuple(Batch.from_dict(batch) for batch in read.mappings("batches")),
            collected=read.flag("collected", default=False),
        )


class BatchStore:
    """The state file, and the folder beside it.

    Args:
        path: The state file; the folder has the same name with `.files` added.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.with_name(path.name + ".files")

    def read(self) -> BatchState | None:
        """What was written, or `None` if there is no file yet.

        Raises:
            InputError: It cannot be read, or is no state of a batch.
        """
        try:
            return BatchState.from_json(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror or error}") from error
        except (InputError, ValueError) as error:
            raise InputError(f"{self.path} is no state of a batch: {error}") from error

    def write(self, state: BatchState) -> None:
        """Replace the state in one step: a crash leaves the old one or the new one."""
        self._replace(self.path, state.to_json())

    def make_folder(self) -> None:
        """The folder is there, and only its owner can look into it."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make {self.folder}: {error.strerror or error}") from error

    def requests(self, batch: Batch) -> Path:
        """Where its requests are."""
        return self.folder / f"{batch.digest}.requests.jsonl"

    def downloads(self, batch: Batch) -> tuple[tuple[str, Path], ...]:
        """Ids of the files it came back with, and where each belongs."""
        kinds = (("output", batch.output_file_id), ("errors", batch.error_file_id))
        return tuple(
            (file_id, self.folder / f"{batch.digest}.{kind}.jsonl")
            for kind, file_id in kinds
            if file_id is not None
        )

    def read_booked(self, state: BatchState) -> frozenset[str]:
        """Ids of the requests whose cost is booked already."""
        try:
            return frozenset(self._booked(state).read_text("ascii").split())
        except FileNotFoundError:
            return frozenset()

    def write_booked(self, state: BatchState, ids: frozenset[str]) -> None:
        """Remember that the cost of these requests is booked."""
        self._replace(self._booked(state), "\n".join(sorted(ids)))

    def _booked(self, state: BatchState) -> Path:
        return self.folder / f"{state.batches[0].digest}.booked.txt"

    def _replace(self, path: Path, text: str) -> None:
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


def open_private(path: Path) -> Any:
    """A file opened for writing bytes, emptied, that only its owner can read."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")
