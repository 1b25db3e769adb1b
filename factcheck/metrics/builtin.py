"""Metrics of this package over `EvalCase`s; `ReferenceMatch` is another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from factcheck.errors import FactcheckError, InputError
from factcheck.judges.ports import Ledger
from factcheck.keywords.forms import as_keywords, found_in, unmet_keywords
from factcheck.keywords.matching import keyword_similarity
from factcheck.metrics.cases import EvalCase, MetricResult
from factcheck.metrics.evaluation import FunctionMetric
from factcheck.reports.text import plural
from factcheck.scoring import FactCoverage


class KeywordMetric(FunctionMetric):
    """The fraction of keywords that occur in the output.

    Args:
        keywords: Keywords in any form of `factcheck.keywords`; by default, the `expected_output` of
            each case is its list of keywords.
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports.

    Raises:
        InputError: There are no keywords, one is invalid, or the threshold is outside [0, 1].
    """

    def __init__(
        self,
        keywords: Iterable[Any] | None = None,
        *,
        threshold: float = 1.0,
        name: str = "keywords",
    ) -> None:
        self._keywords = None if keywords is None else as_keywords(keywords, "keywords")
        if self._keywords == ():
            raise InputError("keywords is empty, which always scores 0")
        required = ("actual_output",) if self._keywords else ("actual_output", "expected_output")
        super().__init__(self._score, threshold, name, required)

    def _score(self, case: EvalCase) -> MetricResult:
        words = self._keywords or as_keywords(case.expected_output, "expected_output")
        if not words:
            raise InputError("'expected_output' has no keywords")
        score = keyword_similarity(words, case.actual_output)
        unmet = map(str, unmet_keywords(words, found_in(words, case.actual_output)))
        reason = "every keyword is satisfied"
        if score < 1.0:
            reason = f"not satisfied: {', '.join(unmet)}"
        return MetricResult.scored(score, passed=score >= self.threshold, reason=reason)


class FactCoverageMetric(FunctionMetric):
    """The fraction of the source's facts that the output keeps.

    A case passes if its score reaches the threshold and every `must` fact is kept. A case without a
    decided fact has no score.

    Args:
        scorer: Extracts and checks; by default `FactCoverage()`, which is offline unless the
            environment names another judge.
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports.

    Raises:
        InputError: The threshold is outside [0, 1].
    """

    def __init__(
        self,
        scorer: FactCoverage | None = None,
        *,
        threshold: float = 0.7,
        name: str = "fact_coverage",
    ) -> None:
        self.scorer = scorer or FactCoverage()
        super().__init__(partial(self._measure, ledger=Ledger()), threshold, name)

    @property
    def identity(self) -> Mapping[str, str]:
        return {k: v for k, v in self.scorer.signature.entries if k != "version"}

    async def _measure(self, case: EvalCase, ledger: Ledger) -> MetricResult:
        if case.source is None and case.facts is None:
            message = f"the case lacks 'source', which {self.name} needs"
            return MetricResult.failed(InputError.code, message)
        source, output = case.source or "", case.actual_output
        try:
            report = await self.scorer.ascore(source, output, facts=case.facts, lead=False)
        except FactcheckError as error:
            return MetricResult.of_error(error)
        ledger.book(report.usage)
        score, counts = report.score, report.counts
        if score is None:
            first = f": {report.undecided[0].message}" if report.undecided else ""
            return MetricResult.failed("undecided", f"no fact could be decided{first}")
        kept = {verdict.fact.id for verdict in report.kept}
        lost = [fact.text for fact in report.facts if fact.must and fact.id not in kept]
        reasons = [f"{counts['kept']:,} of {plural(counts['facts'], 'fact')} kept"]
        reasons += [f"{counts[kind]} {kind}" for kind in ("distorted", "undecided") if counts[kind]]
        reasons += [f"must fact not kept: {text}" for text in lost]
        return MetricResult.scored(
            score,
            passed=score >= self.threshold and not lost,
            reason=", ".join(reasons),
            details={"low": report.low, "high": report.high, "counts": counts},
        )
