"""The rows of a bullet removal: one judge's score of one variant, and their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from factcheck.documents import Reader, json_lines, write_text
from factcheck.errors import InputError
from factcheck.facts import CoverageReport, Usage, Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One judge's score of a summary of which some bullets are left."""

    text: str
    judge: str
    kept: frozenset[int]
    """Bullets left, from 0."""
    score: float | None
    """In [0, 1]; `None` if the judge decided nothing."""
    low: float
    """The score if every undecided fact were dropped, in [0, 1]."""
    high: float
    """The score if every undecided fact were kept, in [0, 1]."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """For the id of each fact its label, or `"?"` and the code of the failure; empty for a judge
    that gives one number for the whole text."""
    note: str = ""
    """Why there is no score, or a remark of the judge."""
    usage: Usage = field(default_factory=Usage)

    @property
    def complete(self) -> bool:
        """Whether the score rests on an answer to every question."""
        return self.score is not None and self.low == self.high

    @classmethod
    def of(cls, text: str, judge: str, kept: frozenset[int], report: CoverageReport) -> VariantRow:
        """The row of a coverage report."""
        verdicts = {
            result.fact.id: result.label if isinstance(result, Verdict) else f"?{result.code}"
            for result in report.results
        }
        note = report.undecided[0].message if report.undecided else ""
        bounds = (report.score, report.low, report.high)
        return cls(text, judge, kept, *bounds, verdicts, note, report.usage)

    @classmethod
    def missing(
        cls, text: str, judge: str, kept: frozenset[int], why: str, usage: Usage | None = None
    ) -> VariantRow:
        """The row of a variant for which the judge gave no answer at all."""
        return cls(text, judge, kept, None, 0.0, 1.0, note=why, usage=usage or Usage())

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
            kept=frozenset(number - 1 for number in read.get("kept", list[int])),
            score=read.get("score", float | None, None),
            low=read.number("low"),
            high=read.number("high"),
            verdicts={fact: verdicts.text(fact) for fact in read.mapping_required("verdicts")},
            note=read.text("note", ""),
            usage=Usage.from_dict(read.mapping_required("usage")),
        )


def write_lines(path: Path, items: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines; the folder must exist."""
    lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    write_text(path, "".join(lines))


def read_lines(path: Path, read: Callable[[Any], T]) -> Iterator[T]:
    """Read JSON lines.

    Raises:
        InputError: The file cannot be read, or a line holds other data; names the line.
    """
    for place, value in json_lines(path):
        yield _read(read, value, str(place))


def _read(read: Callable[[Any], T], value: Any, place: str) -> T:
    try:
        return read(value)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
