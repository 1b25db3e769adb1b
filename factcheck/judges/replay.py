"""Replay: an extractor and a judge that answer from a saved report, or from the rows of a run.

Replay is offline and free, and never guesses: a fact that is undecided in the file, another text
and another statement have no answer. A verdict applies to its statement, whatever its id in a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from factcheck.documents import file_errors, read_text
from factcheck.documents.results import is_results, read_results
from factcheck.errors import ConfigError, InputError, JudgeRejected, shorten
from factcheck.facts import (
    AtomicFact,
    CheckResult,
    CoverageReport,
    FactSet,
    Texts,
    Usage,
    Verdict,
    digest,
)
from factcheck.judges.ports import Ledger

_OF_A_REPORT = frozenset({"facts", "undecided", "weights", "version"})
"""Entries of a signature that are not those of a judge."""


def _reports(path: str | PathLike[str]) -> Iterator[CoverageReport]:
    if not is_results(path):
        yield CoverageReport.from_json(read_text(path))
        return
    for row in read_results(path):
        if "error" not in row:
            yield CoverageReport.from_dict(row)


class _Replay:
    """The reports in a file.

    Args:
        path: A report of `factcheck score --out FILE.json`, or the rows of `factcheck run --out`.

    Raises:
        InputError: The file cannot be read, or holds no reports.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        try:
            self._reports = [*_reports(path)]
        except InputError as error:
            raise InputError(f"cannot replay {path}: {error}") from error
        with file_errors(str(path), "read"):
            self._digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]


class ReplayExtractor(_Replay):
    """An `Extractor` that returns the facts that were extracted for a report."""

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(path)
        self._facts: dict[str, tuple[AtomicFact, ...]] = {}
        self._made_by: tuple[tuple[str, str], ...] = ()
        for report in self._reports:
            if report.facts.made_by and report.texts:
                self._made_by = report.facts.made_by
                self._facts.update(_facts_by_source(report.facts, report.texts))
            if report.claims and report.texts:
                self._facts[digest(report.texts.summary.text)] = report.claims.facts

    @property
    def identity(self) -> Mapping[str, str]:
        """Identity of the extractor that made the facts, and digest of the file."""
        return {**dict(self._made_by), "replay": self._digest}

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        name = digest(source)
        if name not in self._facts:
            raise JudgeRejected(
                f"{self._path} has no facts for the source {_excerpt(source)}; score it, too"
            )
        ledger.book(Usage(cache_hits=1))
        return FactSet(self._facts[name], name, tuple(self.identity.items()))


def _facts_by_source(facts: FactSet, texts: Texts) -> Iterator[tuple[str, tuple[AtomicFact, ...]]]:
    """Yield the facts of each document, or of the only text, as they were extracted."""
    if not facts.documents:
        if facts.source_digest is not None:
            yield facts.source_digest, tuple(replace(fact, weight=1.0) for fact in facts)
        return
    for name, document in zip(facts.documents, texts.documents, strict=False):
        own = []
        for fact in facts:
            if name in fact.documents:
                span = fact.span if fact.documents[0] == name else None
                own.append(replace(fact, span=span, documents=(), weight=1.0))
        yield digest(document.text), tuple(own)


class ReplayChecker(_Replay):
    """A `Checker` that returns the verdicts of a report, marked as `cached`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(path)
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        self._by: dict[str, str] = {}
        for report in self._reports:
            made_by = dict(report.facts.made_by)
            entries = report.signature.entries
            self._by = {
                name: value
                for name, value in entries
                if name not in _OF_A_REPORT and (name == "judge" or name not in made_by)
            }
            if report.texts:
                self._add(report.texts.summary.text, report.results)
                if len(report.texts.documents) == 1:
                    self._add(report.texts.documents[0].text, report.claim_results)
        if not self._verdicts:
            raise ConfigError(f"cannot replay {path}: it holds no verdicts with their texts")

    def _add(self, text: str, results: Sequence[CheckResult]) -> None:
        name = digest(text)
        for result in results:
            if isinstance(result, Verdict):
                self._verdicts[name, result.fact.text] = result

    @property
    def identity(self) -> Mapping[str, str]:
        """Identity of the judge that gave the verdicts, and digest of the file."""
        return {**self._by, "replay": self._digest}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        name = digest(text)
        results = []
        for fact in facts:
            verdict = self._verdicts.get((name, fact.text))
            if verdict is None:
                raise JudgeRejected(
                    f"{self._path} has no verdict on {fact.text!r} for the text {_excerpt(text)}; "
                    "score this pair again"
                )
            results.append(replace(verdict, fact=fact, cached=True))
        ledger.book(Usage(cache_hits=len(facts)))
        return tuple(results)


def _excerpt(text: str) -> str:
    return repr(shorten(text, 60))
