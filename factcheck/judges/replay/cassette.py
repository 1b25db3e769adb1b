"""Cassettes: recorded answers, as the rows of a results file.

    {"id": ID, "ask": "extract", "source": DIGEST, "by": {NAME: VALUE}, "facts": [FACT]}
    {"id": ID, "ask": "check", "text": DIGEST, "by": {...}, "fact": STATEMENT, "verdict": VERDICT}

A FACT is what `AtomicFact.to_dict` gives; a VERDICT has label, probability, evidence, reason, judge
and flags. Texts are named by their digest; only facts, quotes and reasons are in clear. A cassette
only grows, and holds the answers of one extractor and one judge.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from factcheck.documents import Place, Reader, file_errors
from factcheck.documents.results import ResultsFile, read_results, read_signature
from factcheck.errors import ConfigError, InputError
from factcheck.facts import AtomicFact, FactSet, Verdict, digest

Identity = tuple[tuple[str, str], ...]
"""Names and versions of a judge, in its order."""
_RUN = "cassette"
"""What stands for the settings of a run in the results file."""
_FACT_ID = "recorded"
"""Id of every fact in a cassette: a verdict holds for the statement, whatever its id in a run."""
_LEARNED = frozenset({"form", "system"})
"""What an identity says only of a model that does not take what is usual."""
_VERDICT_KEYS = ("label", "probability", "evidence", "reason", "judge", "flags")

logger = logging.getLogger(__name__)


class RecordedFacts(NamedTuple):
    """Answer of an extractor for one source, which is named by its digest."""

    source: str
    by: Identity
    facts: tuple[AtomicFact, ...]

    @property
    def id(self) -> str:
        return f"extract {self.source}"

    def to_row(self) -> dict[str, Any]:
        facts = [fact.to_dict() for fact in self.facts]
        return {"ask": "extract", "source": self.source, "by": dict(self.by), "facts": facts}


class RecordedVerdict(NamedTuple):
    """The answer of a judge about one fact and one text, which is named by its digest."""

    text: str
    by: Identity
    verdict: Verdict

    @property
    def id(self) -> str:
        return f"check {self.text} {digest(self.verdict.fact.text)}"

    def to_row(self) -> dict[str, Any]:
        data, fact = self.verdict.to_dict(), self.verdict.fact.text
        verdict = {key: data[key] for key in _VERDICT_KEYS}
        named = {"ask": "check", "text": self.text, "by": dict(self.by)}
        return {**named, "fact": fact, "verdict": verdict}


Recorded = RecordedFacts | RecordedVerdict


def identity_of(entries: Mapping[str, str]) -> Identity:
    return tuple((str(name), str(value)) for name, value in entries.items())


def describe_identity(by: Identity) -> str:
    return ", ".join(f"{name} {value}" for name, value in by) or "a judge without a name"


def is_same_judge(one: Identity, other: Identity) -> bool:
    """Whether two identities may be of one judge, which learned in between how it has to be asked.

    A model that refuses a setting is from then on at its server's `default`, and what it needs
    besides has an entry of its own.
    """
    a, b = dict(one), dict(other)
    return all(
        name in _LEARNED or a.get(name) == b.get(name) or "default" in (a.get(name), b.get(name))
        for name in a.keys() | b.keys()
    )


def parse_answer(row: Mapping[str, Any], place: object) -> Recorded:
    """Inverse of `to_row`; an `InputError` begins with the place."""
    try:
        read = Reader(row, "answer")
        by_entries = read.get("by", dict)
        names = Reader(by_entries, "by")
        by = tuple((name, names.get(name, str)) for name in by_entries)
        if read.get("ask", Literal["extract", "check"]) == "extract":
            facts = FactSet.from_dict({"facts": read.get("facts", list[dict[str, Any]])})
            return RecordedFacts(read.get("source", str), by, facts.facts)
        fact = {"id": _FACT_ID, "text": read.get("fact", str)}
        verdict = Verdict.from_dict({**read.get("verdict", dict), "fact": fact})
        return RecordedVerdict(read.get("text", str), by, verdict)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def read_cassette(path: str | os.PathLike[str]) -> tuple[list[Recorded], str]:
    """The answers in a file, in its order, and eight hexadecimal digits that stand for it.

    Raises:
        InputError: It cannot be read, is no cassette, or has a damaged line; names the line.
    """
    if read_signature(path) != _RUN:
        raise InputError(f"{path} is not a cassette of factcheck")
    rows = enumerate(read_results(path), 2)
    answers = [parse_answer(row, Place(str(path), "line", number)) for number, row in rows]
    with file_errors(str(path), "read"):
        return answers, hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]


class CassetteWriter:
    """Appends answers to a cassette; thread-safe.

    The file is made if it does not exist. What an earlier run recorded stays, and is not recorded
    again. A failed write does not cost the answer it should have kept: recording stops with a
    warning. One that was closed opens again when something is recorded.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self.failure: str | None = None
        """Why recording stopped; `None` while it works."""
        self._lock = threading.Lock()
        self._identities: dict[type[Recorded], Identity] = {}
        self._file = self._open()
        for answer in read_cassette(path)[0] if self._file.done else ():
            self._identities.setdefault(type(answer), answer.by)

    def _open(self) -> ResultsFile:
        file = ResultsFile(self._path, lambda: _RUN, resume=True)
        weakref.finalize(self, _close, file)
        return file

    def admit(self, kind: type[Recorded], by: Identity) -> None:
        """Say who will answer, before anything is paid for."""
        known = self._identities.setdefault(kind, by)
        if not is_same_judge(known, by):
            raise ConfigError(
                f"{self._path} was recorded with {describe_identity(known)}, this is "
                f"{describe_identity(by)}; record to another file"
            )

    def append(self, answers: Sequence[Recorded]) -> None:
        """Record the answers to questions that the cassette does not have yet."""
        with self._lock:
            try:
                for answer in () if self.failure else answers:
                    if answer.id not in self._file.done:
                        row = answer.to_row()
                        parse_answer(row, self._path)
                        if self._file.closed:
                            self._file = self._open()
                        self._file.append(answer.id, row)
            except (TypeError, ValueError) as error:
                self.failure = f"cannot record to {self._path}: {error}"
                logger.warning("%s; nothing more is recorded", self.failure)

    def close(self) -> None:
        with self._lock:
            _close(self._file)

    async def aclose(self) -> None:
        self.close()


def _close(file: ResultsFile) -> None:
    with suppress(InputError):  # a full disk, which `append` has told
        file.close()
