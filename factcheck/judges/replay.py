"""Cassettes: judges that record the answers of others, and judges that replay them.

Replay is offline and free, and never guesses. A cassette is an append-only results file with the
answers of one extractor and one judge:

    {"id": "extract SOURCE", "by": {NAME: VALUE}, "facts": [FACT]}
    {"id": "check TEXT STATEMENT", "by": {...}, "verdict": VERDICT}

A FACT is the result of `AtomicFact.to_dict`, a VERDICT that of `Verdict.to_dict`; it applies to the
statement, whatever its id in a run. Sources, texts and statements are identified by digest; only
facts, quotes and reasons are in plain text.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from factcheck.documents import Place, Reader, file_errors
from factcheck.documents.results import ResultsFile, read_run
from factcheck.errors import ConfigError, InputError, JudgeRejected
from factcheck.facts import (
    AtomicFact,
    CheckResult,
    FactSet,
    Usage,
    Verdict,
    digest,
    match_results,
)
from factcheck.judges.ports import Ledger

CassettePath = str | os.PathLike[str]
Ask = Literal["extract", "check"]
Identity = tuple[tuple[str, str], ...]
"""Names and versions of a judge, in order."""
_RUN = "cassette"
"""Signature of the results file, which identifies it as a cassette."""
_LEARNED = frozenset({"form", "system"})
"""Entries of an identity that appear only once the model has refused the default."""
_EXCERPT = 60

logger = logging.getLogger(__name__)


class Recorded(NamedTuple):
    """An answer: the facts of a source, or the verdict on a fact and a text."""

    by: Identity
    answer: tuple[AtomicFact, ...] | Verdict

    def to_row(self) -> dict[str, Any]:
        by, answer = dict(self.by), self.answer
        if isinstance(answer, Verdict):
            return {"by": by, "verdict": answer.to_dict()}
        return {"by": by, "facts": [fact.to_dict() for fact in answer]}


def check_id(text: str, fact: AtomicFact) -> str:
    """Return the id of the verdict on a fact, given the digest of a text."""
    return f"check {text} {digest(fact.text)}"


def read_cassette(path: CassettePath) -> tuple[dict[str, Recorded], str]:
    """Read the answers in a cassette by id, in order, and its digest (eight hexadecimal digits).

    Raises:
        InputError: The file cannot be read, is not a cassette, or has an invalid line.
    """
    signature, rows, _ = read_run(path)
    if signature != _RUN:
        raise InputError(f"{path} is not a factcheck cassette")
    answers = {
        row["id"]: _parse(row, Place(str(path), "line", number))
        for number, row in enumerate(rows, 2)
    }
    with file_errors(str(path), "read"):
        return answers, hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]


def _parse(row: Mapping[str, Any], place: Place) -> Recorded:
    try:
        read = Reader(row, "answer")
        by_entries = read.get("by", dict)
        names = Reader(by_entries, "by")
        by = tuple((name, names.get(name, str)) for name in by_entries)
        if row["id"].startswith("extract "):
            facts = FactSet.from_dict({"facts": read.get("facts", list[dict[str, Any]])})
            return Recorded(by, facts.facts)
        return Recorded(by, Verdict.from_dict(read.get("verdict", dict)))
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def is_same_judge(one: Identity, other: Identity) -> bool:
    """Whether two identities may belong to one judge, before and after learning its dialect.

    A setting that the model refuses becomes `default`, and other adaptations add an entry.
    """
    a, b = dict(one), dict(other)
    return all(
        name in _LEARNED or a.get(name) == b.get(name) or "default" in (a.get(name), b.get(name))
        for name in a.keys() | b.keys()
    )


def _identity(judge: Any) -> Identity:
    return tuple((str(name), str(value)) for name, value in judge.identity.items())


def _describe(by: Identity) -> str:
    return ", ".join(f"{name} {value}" for name, value in by) or "a judge without a name"


class CassetteWriter:
    """Appends answers to a cassette, which is created if it does not exist; thread-safe.

    Answers already recorded are kept and not recorded again. If a write fails, recording stops with
    a warning, and no answer is lost to the caller. A closed writer reopens on the next append.
    """

    def __init__(self, path: CassettePath) -> None:
        self._path = path
        self.failure = ""
        """Why recording stopped; empty while it works."""
        self._lock = threading.Lock()
        self._identities: dict[str, Identity] = {}
        self._file = self._open()
        for name, answer in read_cassette(path)[0].items() if self._file.done else ():
            self._identities.setdefault(name.partition(" ")[0], answer.by)

    def _open(self) -> ResultsFile:
        file = ResultsFile(self._path, lambda: _RUN, resume=True)
        weakref.finalize(self, _close, file)
        return file

    def admit(self, ask: Ask, by: Identity) -> None:
        """Register a judge before any cost is incurred; raises if the cassette has another."""
        known = self._identities.setdefault(ask, by)
        if not is_same_judge(known, by):
            raise ConfigError(
                f"{self._path} was recorded with {_describe(known)}, this is "
                f"{_describe(by)}; record to another file"
            )

    def append(self, answers: Mapping[str, Recorded]) -> None:
        """Record answers by id, unless they are in the cassette."""
        with self._lock:
            try:
                for name in answers if not self.failure else ():
                    if name not in self._file.done:
                        if self._file.closed:
                            self._file = self._open()
                        row = answers[name].to_row()
                        _parse({"id": name, **row}, Place(str(self._path)))
                        self._file.append(name, row)
            except (TypeError, ValueError) as error:  # a judge of one's own may answer anything
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


class RecordingJudge:
    """Records the answers of an extractor (`ask="extract"`) or a checker (`ask="check"`).

    Failed checks are not recorded, so that a replay cannot turn them into verdicts.
    """

    def __init__(self, inner: Any, ask: Ask, cassette: CassetteWriter) -> None:
        self._inner = inner
        self._cassette = cassette
        cassette.admit(ask, _identity(inner))

    @property
    def identity(self) -> Mapping[str, str]:
        identity: Mapping[str, str] = self._inner.identity
        return identity

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        facts: FactSet = await self._inner.extract(source, ledger)
        recorded = Recorded(_identity(self._inner), tuple(facts))
        self._cassette.append({f"extract {digest(source)}": recorded})
        return facts

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        results: Sequence[CheckResult] = await self._inner.check(facts, text, ledger)
        by, name = _identity(self._inner), digest(text)
        verdicts = [each for each in match_results(facts, results) if isinstance(each, Verdict)]
        self._cassette.append({check_id(name, one.fact): Recorded(by, one) for one in verdicts})
        return results


class _Replay:
    """Answers of one kind in a cassette, by id, and the identity of their only judge."""

    def __init__(self, path: CassettePath, ask: Ask, role: str) -> None:
        recorded, self._digest = read_cassette(path)
        self._path = path
        mine = {name: one for name, one in recorded.items() if name.startswith(f"{ask} ")}
        self._answers: dict[str, Any] = {name: one.answer for name, one in mine.items()}
        identities = list(dict.fromkeys(one.by for one in mine.values()))
        self._by: Identity = ()
        self._problem = f"cannot replay {path} as {role}: "
        if not identities:
            self._problem += f"no {role} was recorded in it; record this run again"
        elif not all(is_same_judge(identities[0], other) for other in identities):
            several = " / ".join(map(_describe, identities))
            self._problem += f"it has several ({several}); record each to a separate file"
        else:
            self._by, self._problem = identities[-1], ""

    @property
    def identity(self) -> Mapping[str, str]:
        """Identity of the recorded judge, if unique, and digest of the cassette."""
        return {**dict(self._by), "replay": self._digest}


class ReplayExtractor(_Replay):
    """An `Extractor` that returns the facts in a cassette.

    If the cassette has no extractor, or several, only `extract` raises: a run with given facts
    needs none.

    Args:
        path: The cassette.

    Raises:
        InputError: The cassette cannot be read.
    """

    def __init__(self, path: CassettePath) -> None:
        super().__init__(path, "extract", "extractor")

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        if self._problem:
            raise ConfigError(self._problem)
        name = digest(source)
        facts = self._answers.get(f"extract {name}")
        if facts is None:
            raise JudgeRejected(
                f"{self._path} has no facts for the source {_excerpt(source)}; record it too"
            )
        ledger.book(Usage(cache_hits=1))
        return FactSet(facts, name, tuple(self.identity.items()))


class ReplayChecker(_Replay):
    """A `Checker` that returns the verdicts in a cassette, marked as `cached`.

    Args:
        path: The cassette.

    Raises:
        InputError: The cassette cannot be read.
        ConfigError: It has no verdicts, or those of several judges.
    """

    def __init__(self, path: CassettePath) -> None:
        super().__init__(path, "check", "judge")
        if self._problem:
            raise ConfigError(self._problem)

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        name = digest(text)
        results = []
        for fact in facts:
            verdict = self._answers.get(check_id(name, fact))
            if verdict is None:
                raise JudgeRejected(
                    f"{self._path} has no verdict on {fact.text!r} for the text {_excerpt(text)}; "
                    "record this run again"
                )
            results.append(replace(verdict, fact=fact, cached=True))
        ledger.book(Usage(cache_hits=len(facts)))
        return tuple(results)


def _excerpt(text: str) -> str:
    words = " ".join(text.split())
    return repr(words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 3]}...")
