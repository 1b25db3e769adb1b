"""The lines of a cassette: a header, and one answer a line. Pure; files are `cassette`'s business.

    {"factcheck_cassette": 1}
    {"ask": "extract", "source": DIGEST, "by": {NAME: VALUE}, "facts": [FACT]}
    {"ask": "check", "text": DIGEST, "by": {NAME: VALUE}, "fact": STATEMENT, "verdict": VERDICT}

A FACT is what `AtomicFact.to_dict` gives; a VERDICT has label, probability, evidence, reason,
judge and flags. Texts are named by their digest; only facts, quotes and reasons are in clear.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from factcheck.documents import Reader
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, Verdict

Identity = tuple[tuple[str, str], ...]
"""What a judge says about itself, in its order."""
VERSION = 1
"""Of this format."""
HEADER = b'{"factcheck_cassette": %d}\n' % VERSION
"""The first line of every cassette."""
_RECORDED_ID = "recorded"
"""Id of a fact in a cassette: a verdict holds for the statement, whatever its id in a run."""
_VERDICT_KEYS = ("label", "probability", "evidence", "reason", "judge", "flags")


class RecordedFacts(NamedTuple):
    """What an extractor answered for one source."""

    source: str
    """`digest` of the source."""
    by: Identity
    facts: tuple[AtomicFact, ...]

    @property
    def question(self) -> str:
        """Equal for two answers to the same question by the same extractor."""
        return json.dumps(["extract", self.source, self.by])

    def to_line(self) -> bytes:
        """The answer as one line."""
        facts = [fact.to_dict() for fact in self.facts]
        return _line({"ask": "extract", "source": self.source, "by": dict(self.by), "facts": facts})


class RecordedVerdict(NamedTuple):
    """What a judge answered about one fact and one text."""

    text: str
    """`digest` of the text."""
    by: Identity
    verdict: Verdict

    @property
    def question(self) -> str:
        """Equal for two answers to the same question by the same judge."""
        return json.dumps(["check", self.text, self.verdict.fact.text, self.by])

    def to_line(self) -> bytes:
        """The answer as one line."""
        data = self.verdict.to_dict()
        return _line(
            {
                "ask": "check",
                "text": self.text,
                "by": dict(self.by),
                "fact": self.verdict.fact.text,
                "verdict": {key: data[key] for key in _VERDICT_KEYS},
            }
        )


Recorded = RecordedFacts | RecordedVerdict
"""One answer in a cassette."""


def parse_header(line: bytes) -> None:
    """Accept the first line of a cassette.

    Raises:
        InputError: It is something else, or a cassette of another version.
    """
    try:
        version = Reader(_parse(line), "header").integer("factcheck_cassette")
    except InputError as error:
        raise InputError("this is not a cassette of factcheck") from error
    if version != VERSION:
        raise InputError(f"a cassette of format {version}; this release reads format {VERSION}")


def parse_answer(line: bytes) -> Recorded:
    """Inverse of `to_line`.

    Raises:
        InputError: The line is not JSON, or not an answer.
    """
    read = Reader(_parse(line), "answer")
    by = _identity(read)
    if read.choice("ask", ("extract", "check")) == "extract":
        facts = FactSet.from_dict({"facts": read.mappings("facts")})
        return RecordedFacts(read.text("source"), by, facts.facts)
    fact = {"id": _RECORDED_ID, "text": read.text("fact")}
    verdict = Verdict.from_dict({**read.mapping_required("verdict"), "fact": fact})
    return RecordedVerdict(read.text("text"), by, verdict)


def identity_of(entries: Mapping[str, str]) -> Identity:
    """The identity of a judge or extractor, as it is kept in a cassette."""
    return tuple((str(name), str(value)) for name, value in entries.items())


def _identity(read: Reader) -> Identity:
    by = read.mapping_required("by")
    values = Reader(by, "by")
    return tuple((name, values.text(name)) for name in by)


def _line(data: Mapping[str, Any]) -> bytes:
    """One line of JSON, readable where it can be: only lone surrogates have to be escaped."""
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(data, allow_nan=False).encode("ascii") + b"\n"


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8") from error
    except (ValueError, RecursionError) as error:
        detail = error.msg if isinstance(error, json.JSONDecodeError) else "not readable"
        raise InputError(f"not valid JSON ({detail})") from error
