"""Cassettes: files of recorded answers, one per line after a header.

    {"factcheck_cassette": 1}
    {"ask": "extract", "source": DIGEST, "by": {NAME: VALUE}, "facts": [FACT]}
    {"ask": "check", "text": DIGEST, "by": {NAME: VALUE}, "fact": STATEMENT, "verdict": VERDICT}

A FACT is what `AtomicFact.to_dict` gives; a VERDICT has label, probability, evidence, reason, judge
and flags. Texts are named by their digest; only facts, quotes and reasons are in clear. A cassette
only grows, and holds the answers of one extractor and one judge. A process that is killed while it
writes leaves a torn last line: readers skip it with a warning, and the next writer cuts it off. One
process at a time records.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from factcheck.documents import Place, Reader, file_errors, json_text, parse_json_line
from factcheck.errors import ConfigError, InputError
from factcheck.facts import AtomicFact, FactSet, Verdict

Identity = tuple[tuple[str, str], ...]
"""Names and versions of a judge, in its order."""
VERSION = 1
"""Of the file format."""
HEADER = b'{"factcheck_cassette": %d}\n' % VERSION
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
    def question(self) -> tuple[str, ...]:
        return ("extract", self.source)

    def to_line(self) -> bytes:
        facts = [fact.to_dict() for fact in self.facts]
        return _line({"ask": "extract", "source": self.source, "by": dict(self.by), "facts": facts})


class RecordedVerdict(NamedTuple):
    """The answer of a judge about one fact and one text, which is named by its digest."""

    text: str
    by: Identity
    verdict: Verdict

    @property
    def question(self) -> tuple[str, ...]:
        return ("check", self.text, self.verdict.fact.text)

    def to_line(self) -> bytes:
        data, fact = self.verdict.to_dict(), self.verdict.fact.text
        verdict = {key: data[key] for key in _VERDICT_KEYS}
        named = {"ask": "check", "text": self.text, "by": dict(self.by)}
        return _line({**named, "fact": fact, "verdict": verdict})


Recorded = RecordedFacts | RecordedVerdict


def _line(data: Mapping[str, Any]) -> bytes:
    return json_text(data).encode() + b"\n"


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


def parse_answer(line: bytes, place: Place) -> Recorded:
    """Inverse of `to_line`."""
    data = parse_json_line(line, place)
    try:
        read = Reader(data, "answer")
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


class Cassette(NamedTuple):
    """What a file holds."""

    answers: list[Recorded]
    """In file order."""
    digest: str
    """Eight hexadecimal digits that stand for the whole file."""
    end: int
    """Where the whole lines end, in bytes; what follows is torn."""


def read_cassette(path: str | os.PathLike[str]) -> Cassette:
    """The answers in a file.

    Raises:
        InputError: It cannot be read, is no cassette, or has a damaged line; names the line.
    """
    with file_errors(str(path), "read"):
        _require_regular(path)
        data = Path(path).read_bytes()
    if not data:
        raise InputError(f"{path} is empty; a cassette starts with a header line")
    answers: list[Recorded] = []
    end = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        place = Place(str(path), "line", number)
        try:
            if number == 1:
                _check_header(line, place)
            elif line.strip():
                answers.append(parse_answer(line, place))
        except InputError:
            if number == 1 or line.endswith(b"\n"):
                raise
            logger.warning("%s: cut off, skipped", place)
            break
        end += len(line)
    return Cassette(answers, hashlib.sha256(data).hexdigest()[:8], end)


class CassetteWriter:
    """Appends answers to a cassette; thread-safe.

    The file is made if it does not exist. What an earlier run recorded stays, and is not recorded
    again. The file is open only while something is written, so there is nothing to close.

    A failed write does not cost the answer it should have kept: recording stops with a warning.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self.failure: str | None = None
        """Why recording stopped; `None` while it works."""
        self._lock = threading.Lock()
        self._known: set[tuple[str, ...]] = set()
        self._identities: dict[type[Recorded], Identity] = {}
        with file_errors(str(path), "write"):
            self._path.touch()
            _require_regular(path)
            with self._path.open("r+b") as file:
                start = file.read(len(HEADER))
                if start != HEADER and HEADER.startswith(start):
                    file.seek(0)
                    file.write(HEADER)
                    return
                found = read_cassette(path)
                file.truncate(found.end)
                file.seek(found.end - 1)
                if file.read(1) != b"\n":
                    file.write(b"\n")
        for answer in found.answers:
            self._known.add(answer.question)
            self._identities.setdefault(type(answer), answer.by)

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
            new = {a.question: a for a in reversed(answers) if a.question not in self._known}
            if self.failure or not new:
                return
            try:
                self._write([*new.values()][::-1])
                self._known |= new.keys()
            except OSError as error:
                self._stop(error.strerror or str(error))
            except (TypeError, ValueError) as error:
                self._stop(f"an answer has no form that can be read back ({error})")

    def _write(self, answers: Sequence[Recorded]) -> None:
        lines = [answer.to_line() for answer in answers]
        for line in lines:
            parse_answer(line, Place(str(self._path)))
        with self._path.open("r+b") as file:  # which must be there: its header is
            file.seek(0, os.SEEK_END)
            file.write(b"".join(lines))

    def _stop(self, problem: str) -> None:
        self.failure = f"cannot record to {self._path}: {problem}"
        logger.warning("%s; nothing more is recorded", self.failure)


def _require_regular(path: str | os.PathLike[str]) -> None:
    mode = os.stat(path).st_mode  # noqa: PTH116 - one rule for every path
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{path} is not a regular file; a cassette is one")


def _check_header(line: bytes, place: Place) -> None:
    try:
        version = Reader(parse_json_line(line, place), "header").get("factcheck_cassette", int)
    except InputError as error:
        raise InputError(f"{place}: this is not a cassette of factcheck") from error
    if version != VERSION:
        raise InputError(
            f"{place}: a cassette of format {version}; this release reads format {VERSION}"
        )
