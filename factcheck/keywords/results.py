"""Results of one case of cards, and the base of runs over cards and behaviors.

With no expected and no generated cards, recall, precision and F1 are 1; with cards on one side
only, they are 0. Scores are never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from factcheck.documents import PlainData, from_plain, shown
from factcheck.errors import InputError
from factcheck.reports import Report
from factcheck.reports.page import Page
from factcheck.reports.text import interval_text, share
from factcheck.stats.intervals import Interval

if TYPE_CHECKING:
    from typing_extensions import Self


class Scores(NamedTuple):
    """Recall, precision, F1 and average similarity, in [0, 1]."""

    recall: float
    """Fraction of the expected cards that were matched."""
    precision: float
    """Fraction of the generated cards that were matched."""
    f1: float
    """Harmonic mean of recall and precision."""
    average_similarity: float | None
    """Mean score of the matched pairs; `None` without a match."""

    def as_plain(self) -> dict[str, float | None]:
        return self._asdict()

    @classmethod
    def of(cls, cases: Iterable[CaseResult]) -> Scores:
        """Compute the scores over the cards of all cases."""
        every = list(cases)
        pairs = [match.score for case in every for match in case.matches]
        n_expected = sum(case.n_expected for case in every)
        n_generated = sum(case.n_generated for case in every)
        default = 0.0 if n_expected + n_generated else 1.0
        return cls(
            len(pairs) / n_expected if n_expected else default,
            len(pairs) / n_generated if n_generated else default,
            2 * len(pairs) / (n_expected + n_generated) if n_expected + n_generated else default,
            sum(pairs) / len(pairs) if pairs else None,
        )


@dataclass(frozen=True, slots=True)
class Match:
    """An expected card and the generated card matched with it."""

    expected: int
    """Index of the expected card."""
    generated: int
    """Index of the generated card."""
    score: float
    """In (0, 1]."""
    similarities: Mapping[str, float]
    """Fraction of keywords that occur, by field."""
    right_type: bool | None
    """Whether it has the expected type; `None` if none is expected."""
    unmet: Mapping[str, tuple[str, ...]]
    """Descriptions of missing keywords and of forbidden ones that occur, by field."""


@dataclass(frozen=True, slots=True)
class Missed:
    """An expected card without a match."""

    expected: int
    """Index of the expected card."""
    nearest: int | None
    """Index of the generated card with the highest score, matched or not; `None` if all scores are
    0."""
    score: float
    """Score of that card: below the threshold, unless it was matched with another card."""
    unmet: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """As in `Match`, for that card; all keywords if there is none."""


@dataclass(frozen=True, slots=True)
class CaseResult(PlainData):
    """Matched, missed and extra cards of one case, and its scores."""

    DERIVED = Scores._fields
    case_id: str
    n_expected: int
    n_generated: int
    matches: tuple[Match, ...]
    """In the order of the expected cards."""
    missed: tuple[Missed, ...]
    """Expected cards without a match, in order."""
    extra: tuple[int, ...]
    """Indices of the generated cards without a match, in order."""
    note: str = ""
    """Difference of greedy matching to the optimal assignment, if that was used."""

    def __post_init__(self) -> None:
        matched, missed, extra = map(len, (self.matches, self.missed, self.extra))
        if (matched + missed, matched + extra) != (self.n_expected, self.n_generated):
            raise InputError(f"case {self.case_id!r}: card counts do not add up; damaged run")

    @property
    def scores(self) -> Scores:
        return Scores.of([self])

    @property
    def recall(self) -> float:
        return self.scores.recall

    @property
    def precision(self) -> float:
        return self.scores.precision

    @property
    def f1(self) -> float:
        return self.scores.f1

    @property
    def average_similarity(self) -> float | None:
        return self.scores.average_similarity


class KeywordRun(Report):
    """Base of runs over cases with ids, some of which may be errored."""

    __slots__ = ()
    format: ClassVar[str]
    FIGURE: ClassVar[str]
    """Name of the mean score."""
    digests: Mapping[str, str]
    """Digests of the expectations by case id, in order; runs are comparable only if they agree."""
    warnings: tuple[str, ...]
    """Valid but probably unintended parts of the expectations."""

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Id and error message of each errored case."""
        raise NotImplementedError

    def every_score(self) -> Iterable[tuple[str, float | None]]:
        """Id and score of each case, in [0, 1]; `None` if errored."""
        raise NotImplementedError

    @property
    def case_scores(self) -> dict[str, float]:
        """Scores of the cases that are not errored, by id: F1, or 1 if passed and 0 if failed."""
        return {name: score for name, score in self.every_score() if score is not None}

    @property
    def mean(self) -> float | None:
        """Mean score of the scored cases; `None` without any."""
        scores = self.case_scores.values()
        return math.fsum(scores) / len(scores) if scores else None

    def headline(self, name: str, counts: str, interval: Interval | None) -> Page:
        """Return the head of the report: the mean score under `name`, and its 95 % interval."""
        if self.mean is None:
            return Page(name, "unknown", counts)
        if n_errored := len(self.digests) - len(self.case_scores):
            counts += f", {n_errored:,} more errored"
        text = interval_text(interval)
        return Page(name, share(self.mean), counts, f"95 % interval {text}" if text else "")

    def __post_init__(self) -> None:
        if not self.digests or sorted(name for name, _ in self.every_score()) != sorted(
            self.digests
        ):
            raise InputError("run: no cases, or not those of its digests; damaged run")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Raises:
            InputError: Not such a run, or one of another format version.
        """
        found = data.get("format") if isinstance(data, Mapping) else data
        if found != cls.format:
            raise InputError(f"run: expected format {cls.format!r}, got {shown(found)}")
        return from_plain(cls, data, "run")
