"""Built-in metrics: fact coverage, and keywords in a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from factcheck.errors import FactcheckError, InputError
from factcheck.facts import CoverageReport
from factcheck.judges.ports import Ledger
from factcheck.keywords import keyword_similarity
from factcheck.keywords.forms import as_keywords, found_in, unmet_keywords
from factcheck.metrics.evaluation import CONCURRENCY, FunctionMetric, failed_by
from factcheck.metrics.ports import EvalCase, MetricResult, check_threshold
from factcheck.reports.text import plural
from factcheck.runtime.loop import each
from factcheck.scoring import FactCoverage


class FactCoverageMetric:
    """The share of a text's facts that the output keeps.

    A case passes if its score reaches the threshold and every `must` fact is kept. A case without a
    decided fact has no score.

    Args:
        scorer: Extracts and checks; default: `FactCoverage()`, which is offline unless the
            environment names another judge.
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports.

    Raises:
        InputError: A threshold outside [0, 1].
    """

    required_fields: Sequence[str] = ("actual_output",)
    """The source is not required, because a case may have the facts."""

    def __init__(
        self,
        scorer: FactCoverage | None = None,
        *,
        threshold: float = 0.7,
        name: str = "fact_coverage",
    ) -> None:
        self.scorer = scorer or FactCoverage()
        self.threshold = check_threshold(threshold)
        self.name = name

    @property
    def identity(self) -> Mapping[str, str]:
        return {k: v for k, v in self.scorer.signature.entries if k != "version"}

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        async def one(case: EvalCase) -> MetricResult:
            if case.source is None and case.facts is None:
                message = f"the case lacks 'source', which {self.name} needs"
                return MetricResult.failed(InputError.code, message)
            try:
                report = await self.scorer.ascore(
                    case.source or "",
                    case.actual_output,
                    facts=case.facts,
                    lead=False,
                )
            except FactcheckError as error:
                return failed_by(error)
            ledger.book(report.usage)
            return self._result(report)

        return await each(one, cases, CONCURRENCY)

    def _result(self, report: CoverageReport) -> MetricResult:
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


class KeywordMetric(FunctionMetric):
    """The share of keywords that occur in the output.

    Args:
        keywords: Keywords in any form of `factcheck.keywords`; default: the `expected_output` of
            each case is its list of keywords.
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports.

    Raises:
        InputError: No keywords, an invalid one, or a threshold outside [0, 1].
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
        missing = map(str, unmet_keywords(words, found_in(words, case.actual_output)))
        reason = f"not satisfied: {', '.join(missing)}"
        reason = "every keyword is satisfied" if score == 1.0 else reason
        return MetricResult.scored(score, passed=score >= self.threshold, reason=reason)
