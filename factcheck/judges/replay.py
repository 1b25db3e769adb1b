"""Replay: an extractor and a judge that answer from a saved report, or from the rows of a run.

Replay is offline and free, and never guesses: a fact that is undecided in the file stays undecided,
and another text or statement has no answer. A verdict applies to its statement, whatever its id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from factcheck.documents import file_errors, read_text
from factcheck.documents.results import read_results
from factcheck.errors import ConfigError, InputError, JudgeRejected, shorten_middle
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


def _read(path: str | PathLike[str]) -> tuple[list[CoverageReport], str]:
    """Read the reports in a file, and the digest of the file (eight hexadecimal digits).

    Raises `InputError` if the file cannot be read, or holds no reports.
    """
    try:
        if Path(path).suffix.lower() == ".json":
            reports = [CoverageReport.from_json(read_text(path))]
        else:
            rows = [row for row in read_results(path) if "error" not in row]
            reports = [CoverageReport.from_dict(row) for row in rows]
    except InputError as error:
        raise InputError(f"cannot replay {path}: {error}") from error
    with file_errors(str(path), "read"):
        return reports, hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]


class ReplayExtractor:
    """An `Extractor` that returns the facts that were extracted for a report.

    The file is that of `factcheck score --out FILE.json`, or has the rows of `factcheck run --out`.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        reports, replayed = _read(path)
        self._facts: dict[str, tuple[AtomicFact, ...]] = {}
        made_by: tuple[tuple[str, str], ...] = ()
        for report in reports:
            if report.facts.made_by and report.texts:
                made_by = report.facts.made_by
                self._facts.update(_facts_by_source(report.facts, report.texts))
            if report.claims and report.texts:
                self._facts[digest(report.texts.summary.text)] = report.claims.facts
        self.identity: Mapping[str, str] = {**dict(made_by), "replay": replayed}
        """Identity of the extractor that made the facts, and digest of the file."""

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


class ReplayChecker:
    """A `Checker` that returns the results of such a report; verdicts are marked as `cached`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        reports, replayed = _read(path)
        self._results: dict[tuple[str, str], CheckResult] = {}
        judged_by: dict[str, str] = {}
        for report in reports:
            made_by = dict(report.facts.made_by)
            entries = report.signature.entries
            judged_by = {
                name: value
                for name, value in entries
                if name not in _OF_A_REPORT and (name == "judge" or name not in made_by)
            }
            if report.texts:
                self._add(report.texts.summary.text, report.results)
                if len(report.texts.documents) == 1:
                    self._add(report.texts.documents[0].text, report.claim_results)
        if not self._results:
            raise ConfigError(f"cannot replay {path}: it holds no verdicts with their texts")
        self.identity: Mapping[str, str] = {**judged_by, "replay": replayed}
        """Identity of the judge that gave the verdicts, and digest of the file."""

    def _add(self, text: str, results: Sequence[CheckResult]) -> None:
        name = digest(text)
        for result in results:
            key = name, result.fact.text
            if isinstance(result, Verdict) or key not in self._results:
                self._results[key] = result

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        name = digest(text)
        results = []
        for fact in facts:
            result = self._results.get((name, fact.text))
            if result is None:
                raise JudgeRejected(
                    f"{self._path} has no verdict on {fact.text!r} for the text {_excerpt(text)}; "
                    "score this pair again"
                )
            if isinstance(result, Verdict):
                result = replace(result, cached=True)
            results.append(replace(result, fact=fact))
        ledger.book(Usage(cache_hits=len(facts)))
        return tuple(results)


def _excerpt(text: str) -> str:
    return repr(shorten_middle(text, 60))
