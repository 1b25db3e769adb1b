"""What a metric is. Any object with these names is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from factcheck.judges.ports import Ledger
from factcheck.metrics.cases import EvalCase
from factcheck.metrics.results import MetricResult


@runtime_checkable
class Metric(Protocol):
    """Scores one case."""

    @property
    def name(self) -> str:
        """What reports call it; unique within an evaluation."""
        ...

    @property
    def threshold(self) -> float:
        """The score from which a case passes, in [0, 1]."""
        ...

    @property
    def required_fields(self) -> Sequence[str]:
        """Fields of `EvalCase` it cannot do without; a case that lacks one is not measured."""
        ...

    async def measure(self, case: EvalCase) -> MetricResult:
        """The result of a case. An error that it raises is that case's result and no other's."""
        ...


@runtime_checkable
class BatchMetric(Metric, Protocol):
    """Scores many cases together, says how it was made, and books what it costs."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that shape its scores, as entries for the score signature."""
        ...

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """One result per case, in their order, each as if the case were the only one."""
        ...
