"""Result of a reference match: similarities, the score that follows from them, and the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from factcheck.documents import to_plain
from factcheck.errors import Failure
from factcheck.facts import ScoreSignature, Usage
from factcheck.facts.page import usage_text
from factcheck.metrics.ports import MetricResult, error_data
from factcheck.reports.page import Case, Item, Page, Section, Status, entries, filled
from factcheck.reports.report import Report
from factcheck.reports.text import name_text, plural, quote_text

Aggregation = Literal["max", "mean"]
"""How the similarities to several references become one score."""
_DIGITS = 6
_DETAILS = ("similarities", "best_index", "best_reference")
_METHODS = {"max": "the largest similarity", "mean": "the mean similarity"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReferenceMatchResult(Report):
    """Similarity of one output to its references."""

    actual_output: Any
    """The output, also where it is invalid."""
    references: tuple[str, ...]
    similarities: tuple[float, ...]
    """One for each reference, in order, in [0, 1]; empty on error."""
    aggregation: Aggregation
    threshold: float
    """Score from which an output passes, in [0, 1]."""
    signature: ScoreSignature
    """How the score was made."""
    usage: Usage = field(default_factory=Usage)
    """Cost; zero for one of many, whose texts were embedded together."""
    error: Failure[str] | None = None
    """Why there is no score."""

    @property
    def score(self) -> float | None:
        """Largest or mean similarity, in [0, 1] and rounded to six decimals; `None` on error."""
        if not self.similarities or self.aggregation == "max":
            return max(self.similarities, default=None)
        return round(math.fsum(self.similarities) / len(self.similarities), _DIGITS)

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; `None` on error."""
        score = self.score
        return None if score is None else score >= self.threshold

    @property
    def best_index(self) -> int | None:
        """Position of the most similar reference, the first of equals; `None` on error."""
        if not self.similarities:
            return None
        return self.similarities.index(max(self.similarities))

    @property
    def best_reference(self) -> str | None:
        """The most similar reference, the first of equals; `None` on error."""
        return None if self.best_index is None else self.references[self.best_index]

    @property
    def reason(self) -> str:
        score, best = self.score, self.best_index
        if score is None or best is None:
            return self.error.message if self.error else ""
        nearest = f"reference {best + 1} of {len(self.references)}"
        against = f"{'reaches' if self.passed else 'is below'} {self.threshold:g}"
        if self.aggregation == "max":
            return f"{score:.3f} to {nearest} {against}"
        most = f"{self.similarities[best]:.3f} to {nearest}"
        return f"a mean of {score:.3f} {against}; highest: {most}"

    def as_metric_result(self) -> MetricResult:
        if self.score is None:
            failure = self.error or Failure("", "undecided", "nothing was compared")
            return MetricResult.failed(failure.code, failure.message)
        details = {name: to_plain(getattr(self, name)) for name in _DETAILS}
        passed = self.score >= self.threshold
        return MetricResult.scored(self.score, passed=passed, reason=self.reason, details=details)

    def to_rows(self) -> list[dict[str, Any]]:
        """One JSON-ready dict for each reference; none on error."""
        rows = zip(self.references, self.similarities, strict=False)
        return [
            {"reference": text, "similarity": similarity, "best": place == self.best_index}
            for place, (text, similarity) in enumerate(rows)
        ]

    def to_dict(self) -> dict[str, Any]:
        before = ("score", "passed", "threshold", "aggregation", "references")
        data = {name: getattr(self, name) for name in (*before, *_DETAILS, "reason")}
        data |= {"error": error_data(self.error), "usage": self.usage}
        return {**to_plain(data), "signature": str(self.signature)}

    def page(self, names: Sequence[str] = ()) -> Page:
        """The report.

        Args:
            names: Names of the references; default: their numbers.
        """
        score, sign = self.score, "≥" if self.passed else "<"
        status: Status = "error" if score is None else "passed" if self.passed else "failed"
        verdict = "not passed" if self.passed is False else status
        value = "unknown" if score is None else f"{score:.3f}"
        if score is not None and score < self.threshold <= float(value):
            value = repr(score)  # as many digits as it takes to see that it is below
        items = []
        for place, row in enumerate(self.to_rows()):
            name = name_text(names[place]) if names else f"reference {place + 1}"
            mark = "*" if row["best"] else " "
            quote = f"“{quote_text(row['reference'])}”"
            items.append(Item(f"{row['similarity']:.3f} {mark}", name, (quote,)))
        return Page(
            "Reference match",
            value,
            self.reason if score is None else f"{verdict} ({sign} {self.threshold:g})",
            lines=(f"{_METHODS[self.aggregation]} to {plural(len(self.references), 'reference')}",),
            sections=filled(Section("References", meaning="* most similar", items=tuple(items))),
            footer=entries(("Usage", usage_text(self.usage)), ("Signature", str(self.signature))),
            suite="references",
            cases=(Case("reference match", status, "" if self.passed else self.reason),),
            columns=("reference", "similarity", "best"),
            rows=self.to_rows,
        )
