"""Results of a case of cards, and what runs over cards and behaviors have in common.

A share of nothing is 1 if the other side is empty too, else 0: no card expected and none generated
is fine; cards on one side only make recall, precision and F1 0. No score is ever NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from factcheck.documents import from_plain, shown, to_plain
from factcheck.errors import InputError
from factcheck.reports.page import Page
from factcheck.reports.report import Report
from factcheck.reports.text import DASH, interval_text, share
from factcheck.stats.intervals import Interval

if TYPE_CHECKING:
    from typing_extensions import Self


class Scores(NamedTuple):
    """Recall, precision and F1 in [0, 1], and the similarity of the matched pairs."""

    recall: float
    """Share of the expected cards that were matched."""
    precision: float
    """Share of the generated cards that were matched."""
    f1: float
    """Harmonic mean of the two."""
    average_similarity: float | None
    """Mean score of the matched pairs; `None` without a match."""

    @classmethod
    def of(cls, cases: Iterable[CaseResult]) -> Scores:
        """The scores over the cards of all cases."""
        every = list(cases)
        pairs = [match.score for case in every for match in case.matches]
        n_expected = sum(case.n_expected for case in every)
        n_generated = sum(case.n_generated for case in every)
        nothing = 0.0 if n_expected + n_generated else 1.0
        return cls(
            len(pairs) / n_expected if n_expected else nothing,
            len(pairs) / n_generated if n_generated else nothing,
            2 * len(pairs) / (n_expected + n_generated) if n_expected + n_generated else nothing,
            sum(pairs) / len(pairs) if pairs else None,
        )


@dataclass(frozen=True, slots=True)
class Match:
    """An expected card and the generated one matched with it."""

    expected: int
    """Number of the expected card, from 0."""
    generated: int
    """Number of the generated card, from 0."""
    score: float
    """In (0, 1]."""
    similarities: Mapping[str, float]
    """By field: the share of keywords that occur."""
    right_type: bool | None
    """Whether it has the expected type; `None` where none is expected."""
    unmet: Mapping[str, tuple[str, ...]]
    """By field: the keywords that do not occur, and the forbidden ones that do, in words."""


@dataclass(frozen=True, slots=True)
class Missed:
    """An expected card without a partner."""

    expected: int
    """Number of the expected card, from 0."""
    nearest: int | None
    """Number of the generated card with the highest score, wherever it was matched; `None`: all
    score 0."""
    score: float
    """Score of that card: below the threshold, or the card was matched with another one."""
    unmet: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """As in `Match`, for that card; all keywords where there is none."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case: matched, missed and extra cards; its scores are those of `Scores`."""

    case_id: str
    n_expected: int
    n_generated: int
    matches: tuple[Match, ...]
    """In the order of the expected cards."""
    missed: tuple[Missed, ...]
    """Expected cards without a partner, in order."""
    extra: tuple[int, ...]
    """Numbers of the generated cards without a partner, in order."""
    note: str = ""
    """How greedy matching differs, with the optimal assignment."""

    def __post_init__(self) -> None:
        matched, missed, extra = (len(own) for own in (self.matches, self.missed, self.extra))
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

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-ready data, and the scores."""
        return {**to_plain(self), **self.scores._asdict()}


class KeywordRun(Report):
    """A run over cases with ids, some of which may be errored."""

    __slots__ = ()
    FORMAT: ClassVar[str]
    FIGURE: ClassVar[str]
    """What the mean score is called."""
    digests: Mapping[str, str]
    """By case id, in order: digest of what is expected; runs are comparable only if they agree."""
    warnings: tuple[str, ...]
    """Valid but probably unintended parts of what is expected."""

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Of each errored case its id and why."""
        raise NotImplementedError

    def every_score(self) -> Iterable[tuple[str, float | None]]:
        """Of each case its id and score, in [0, 1]; `None` for an errored one."""
        raise NotImplementedError

    @property
    def case_scores(self) -> dict[str, float]:
        """By id the score of each scored case: F1; of behaviors 1 if it passed, 0 if it failed."""
        return {name: score for name, score in self.every_score() if score is not None}

    @property
    def mean(self) -> float | None:
        """Mean score of the scored cases; `None` without any."""
        scores = self.case_scores.values()
        return math.fsum(scores) / len(scores) if scores else None

    @property
    def low(self) -> float:
        """The mean score if every errored case had scored 0."""
        return math.fsum(self.case_scores.values()) / len(self.digests)

    @property
    def high(self) -> float:
        """The mean score if every errored case had scored 1."""
        n_errored = len(self.digests) - len(self.case_scores)
        return self.low + n_errored / len(self.digests)

    def headline(self, name: str, counts: str, interval: Interval | None, ends: str) -> Page:
        """The head of the report; `counts` are of the scored cases."""
        mean, shown = self.mean, interval_text(interval)
        n_errored = len(self.digests) - len(self.case_scores)
        if mean is None:
            return Page(name, "unknown", counts)
        line = f"{share(self.low)} {DASH} {share(self.high)} if every errored case {ends}"
        return Page(
            name,
            share(mean),
            f"{counts}, {n_errored:,} more errored" if n_errored else counts,
            f"95 % interval {shown}" if shown else "",
            (line,) if n_errored else (),
        )

    def __post_init__(self) -> None:
        if not self.digests or sorted(name for name, _ in self.every_score()) != sorted(
            self.digests
        ):
            raise InputError("run: no cases, or not those of its digests; damaged run")

    def to_dict(self) -> dict[str, Any]:
        return {"format": self.FORMAT, **to_plain(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Raises:
            InputError: Not such a run, or one of another format version.
        """
        found = data.get("format") if isinstance(data, Mapping) else data
        if found != cls.FORMAT:
            raise InputError(f"run: expected format {cls.FORMAT!r}, got {shown(found)}")
        return from_plain(cls, data, "run")
