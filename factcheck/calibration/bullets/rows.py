"""What one judge made of one variant of a summary: a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from factcheck.facts import CoverageReport, Usage, Verdict
from factcheck.facts.reading import Reader


@dataclass(frozen=True, slots=True)
class VariantRow:
    """The score of a summary of which some bullets are left, by one judge."""

    text: str
    judge: str
    kept: frozenset[int]
    """Bullets left, from 0."""
    score: float | None
    """In [0, 1]; `None` if the judge decided nothing."""
    low: float
    """The score if everything undecided were dropped, in [0, 1]."""
    high: float
    """The score if everything undecided were kept, in [0, 1]."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """For the id of each fact its label, or `"?"` and the code of the failure; empty for a judge
    that gives one figure for the whole."""
    note: str = ""
    """Why there is no score, or what the judge says about it."""
    usage: Usage = field(default_factory=Usage)

    @property
    def complete(self) -> bool:
        """Whether the score rests on an answer to every question."""
        return self.score is not None and self.low == self.high

    @property
    def n_undecided(self) -> int:
        """Facts without a verdict."""
        return sum(label.startswith("?") for label in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data; bullets are counted from 1."""
        return {
            "text": self.text,
            "judge": self.judge,
            "bullets_left": len(self.kept),
            "kept": sorted(bullet + 1 for bullet in self.kept),
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "verdicts": dict(self.verdicts),
            "note": self.note,
            "usage": self.usage.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> VariantRow:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "row of a bullet removal")
        verdicts = Reader(read.mapping_required("verdicts"), "verdicts of a row")
        return cls(
            text=read.text("text"),
            judge=read.text("judge"),
            kept=frozenset(number - 1 for number in read.integers("kept") or ()),
            score=read.optional_number("score"),
            low=read.number("low"),
            high=read.number("high"),
            verdicts={fact: verdicts.text(fact) for fact in read.mapping_required("verdicts")},
            note=read.text("note", ""),
            usage=Usage.from_dict(read.mapping_required("usage")),
        )


def covered(text: str, judge: str, kept: frozenset[int], report: CoverageReport) -> VariantRow:
    """The row of a coverage report."""
    return VariantRow(
        text=text,
        judge=judge,
        kept=kept,
        score=report.score,
        low=report.low,
        high=report.high,
        verdicts={
            result.fact.id: result.label if isinstance(result, Verdict) else f"?{result.code}"
            for result in report.results
        },
        note=report.undecided[0].message if report.undecided else "",
        usage=report.usage,
    )


def unanswered(
    text: str, judge: str, kept: frozenset[int], why: str, usage: Usage | None = None
) -> VariantRow:
    """The row of a variant on which the judge gave nothing at all."""
    return VariantRow(text, judge, kept, None, 0.0, 1.0, note=why, usage=usage or Usage())
