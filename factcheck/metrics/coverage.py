"""Fact coverage as a metric: how many facts of a text the output keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from factcheck.errors import FactcheckError, InputError
from factcheck.facts import CoverageReport
from factcheck.judges.ports import Ledger
from factcheck.metrics.cases import EvalCase
from factcheck.metrics.evaluation import each
from factcheck.metrics.results import MetricResult, check_threshold
from factcheck.scoring import FactCoverage

SourceField = Literal["source", "input", "expected_output"]
"""Where in a case the text stands whose facts are looked for."""


class FactCoverageMetric:
    """The share of a text's facts that the output keeps; fulfils `BatchMetric`.

    A case passes if its score reaches the threshold and every fact marked `must` is kept. One on
    which no fact could be decided has no score.

    Args:
        scorer: Extracts and checks; `None`: `FactCoverage()`, which is offline unless the
            environment names another judge.
        threshold: The score from which a case passes, in [0, 1].
        source_field: Where in a case the text stands whose facts are looked for.
        name: What reports call it.

    Raises:
        InputError: The threshold is outside [0, 1], or a case has no such field.
    """

    def __init__(
        self,
        scorer: FactCoverage | None = None,
        *,
        threshold: float = 0.7,
        source_field: SourceField = "source",
        name: str = "fact_coverage",
    ) -> None:
        if source_field not in get_args(SourceField):
            raise InputError(f"source_field {source_field!r} is none of {get_args(SourceField)}")
        self.scorer = scorer or FactCoverage()
        self.threshold = check_threshold(threshold)
        self.name = name
        self._source_field = source_field

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The output. The text it is held against is not needed where the case has the facts."""
        return ("actual_output",)

    @property
    def identity(self) -> Mapping[str, str]:
        """Who extracts and who checks."""
        entries = dict(self.scorer.signature.entries)
        entries.pop("version", None)
        return entries

    async def measure(self, case: EvalCase) -> MetricResult:
        """The result of one case."""
        return (await self.measure_many([case], Ledger()))[0]

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """One result per case, in their order."""

        async def one(case: EvalCase) -> MetricResult:
            source = getattr(case, self._source_field)
            if source is None and case.facts is None:
                said = f"the case lacks {self._source_field!r}, which {self.name} needs"
                return MetricResult.failed(InputError.code, said)
            try:
                report = await self.scorer.ascore(
                    "" if source is None else source, case.actual_output, facts=case.facts
                )
            except FactcheckError as error:
                return MetricResult.failed(error.code, str(error))
            ledger.book(report.usage)
            return self._result(report)

        return await each(one, cases)

    def _result(self, report: CoverageReport) -> MetricResult:
        score, counts = report.score, report.counts
        if score is None:
            first = f": {report.undecided[0].message}" if report.undecided else ""
            return MetricResult.failed("undecided", f"no fact could be decided{first}")
        kept = {verdict.fact.id for verdict in report.kept}
        lost = [fact.text for fact in report.facts if fact.must and fact.id not in kept]
        reasons = [f"{counts['kept']} of {counts['facts']} facts kept"]
        reasons += [f"{counts[kind]} {kind}" for kind in ("distorted", "undecided") if counts[kind]]
        reasons += [f"must be kept and is not: {text}" for text in lost]
        return MetricResult.scored(
            score,
            passed=score >= self.threshold and not lost,
            reason=", ".join(reasons),
            details={"low": report.low, "high": report.high, "counts": counts},
        )
