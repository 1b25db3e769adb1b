"""Cassettes: recorded answers, stored as rows of a results file.

    {"id": ID, "ask": "extract", "source": DIGEST, "by": {NAME: VALUE}, "facts": [FACT]}
    {"id": ID, "ask": "check", "text": DIGEST, "by": {...}, "fact": STATEMENT, "verdict": VERDICT}

A FACT is the result of `AtomicFact.to_dict`; a VERDICT has label, probability, evidence, reason,
judge and flags. Texts are identified by digest; only facts, quotes and reasons are in plain text. A
cassette is append-only and holds the answers of one extractor and one judge.
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
"""Names and versions of a judge, in order."""
_RUN = "cassette"
"""Signature of the results file, which identifies it as a cassette."""
_FACT_ID = "recorded"
"""Id of every recorded fact: a verdict applies to the statement, whatever its id in a run."""
_LEARNED = frozenset({"form", "system"})
"""Entries of an identity that appear only once the model has refused the default."""
_VERDICT_KEYS = ("label", "probability", "evidence", "reason", "judge", "flags")

logger = logging.getLogger(__name__)


class RecordedFacts(NamedTuple):
    """Facts extracted from one source, which is identified by digest."""

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
    """Verdict on one fact and one text, which is identified by digest."""

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
    """Whether two identities may belong to one judge, before and after learning its dialect.

    A setting that the model refuses becomes `default`, and other adaptations add an entry.
    """
    a, b = dict(one), dict(other)
    return all(
        name in _LEARNED or a.get(name) == b.get(name) or "default" in (a.get(name), b.get(name))
        for name in a.keys() | b.keys()
    )


def parse_answer(row: Mapping[str, Any], place: object) -> Recorded:
    """Parse the result of `to_row`; the message of an `InputError` begins with the place."""
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
    """Read the answers in a cassette, in order, and its digest (eight hexadecimal digits).

    Raises:
        InputError: The file cannot be read, is not a cassette, or has an invalid line.
    """
    if read_signature(path) != _RUN:
        raise InputError(f"{path} is not a factcheck cassette")
    rows = enumerate(read_results(path), 2)
    answers = [parse_answer(row, Place(str(path), "line", number)) for number, row in rows]
    with file_errors(str(path), "read"):
        return answers, hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]


class CassetteWriter:
    """Appends answers to a cassette, which is created if it does not exist; thread-safe.

    Answers already recorded are kept and not recorded again. If a write fails, recording stops with
    a warning, and no answer is lost to the caller. A closed writer reopens on the next append.
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
        """Register a judge before any cost is incurred; raises if the cassette has another."""
        known = self._identities.setdefault(kind, by)
        if not is_same_judge(known, by):
            raise ConfigError(
                f"{self._path} was recorded with {describe_identity(known)}, this is "
                f"{describe_identity(by)}; record to another file"
            )

    def append(self, answers: Sequence[Recorded]) -> None:
        """Record answers to questions not in the cassette yet."""
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
    with suppress(InputError):  # a full disk, already reported by `append`
        file.close()
