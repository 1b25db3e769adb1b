"""Results of one case: pairs, missed and extra cards with their scores, or shown behaviors.

A share of nothing is 1 if the other side is empty too, else 0: no card expected and none generated
is fine; cards on one side only make recall, precision and F1 0. No score is ever NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from factcheck.documents import PlainData, from_plain, parse_json, shown, to_plain
from factcheck.errors import InputError
from factcheck.keywords.guides import AMBIGUOUS, NO_MATCH
from factcheck.reports.report import Report
from factcheck.reports.text import name_text, quote_text
from factcheck.stats.intervals import Interval, wilson

if TYPE_CHECKING:
    from typing_extensions import Self


Status = Literal["passed", "failed", "errored"]
WRONG = "WRONG_BEHAVIOR"
"""A response shows one behavior, but not the expected one."""
ERROR = "ERROR"
"""There is no response."""
_LABEL_SUFFIX = "_BEHAVIOR"


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


class Counts(NamedTuple):
    """What scores are computed from."""

    matched: int = 0
    expected: int = 0
    generated: int = 0
    similarity: float = 0.0
    """Sum of the scores of the matched pairs."""

    def scores(self) -> Scores:
        total = self.expected + self.generated
        nothing = 0.0 if total else 1.0
        return Scores(
            self.matched / self.expected if self.expected else nothing,
            self.matched / self.generated if self.generated else nothing,
            2 * self.matched / total if total else nothing,
            self.similarity / self.matched if self.matched else None,
        )

    def intervals(self) -> dict[str, Interval]:
        """95 % intervals of recall, precision and F1; (0, 1) where there is nothing to count.

        Source:
            Wilson's interval. F1 is the share of matched cards in half the cards of both sides.
        """
        sizes = (self.expected, self.generated, (self.expected + self.generated) / 2)
        return {
            name: wilson(share, size) if size else Interval(0.0, 1.0)
            for name, share, size in zip(Scores._fields[:3], self.scores()[:3], sizes, strict=True)
        }


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
    """Number of the generated card with the highest score, wherever it was matched; `None`: none
    has a keyword in common."""
    score: float
    """Score of that card: below the threshold, or the card was matched with another one."""

    @classmethod
    def of(cls, expected: int, scores: Mapping[int, float]) -> Missed:
        """A missed card, from the scores of its pairs by generated card."""
        nearest = max(scores, key=scores.__getitem__, default=None)
        return cls(expected, nearest, 0.0 if nearest is None else scores[nearest])


@dataclass(frozen=True, slots=True)
class CaseResult(PlainData):
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
    def counts(self) -> Counts:
        similarity = sum(match.score for match in self.matches)
        return Counts(len(self.matches), self.n_expected, self.n_generated, similarity)

    @property
    def recall(self) -> float:
        return self.counts.scores().recall

    @property
    def precision(self) -> float:
        return self.counts.scores().precision

    @property
    def f1(self) -> float:
        return self.counts.scores().f1

    @property
    def average_similarity(self) -> float | None:
        return self.counts.scores().average_similarity

    def intervals(self) -> dict[str, Interval]:
        """95 % Wilson intervals of `recall`, `precision` and `f1`."""
        return self.counts.intervals()

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-ready data, and the scores."""
        return {**to_plain(self), **self.counts.scores()._asdict()}

    def to_rows(self) -> Iterator[dict[str, Any]]:
        """One row for each expected card, then one for each extra card; without the case."""
        rows = [{**to_plain(match), "status": "matched"} for match in self.matches]
        rows += (
            {**to_plain(missed), "status": "missed", "generated": missed.nearest}
            for missed in self.missed
        )
        yield from sorted(rows, key=lambda row: row["expected"])
        for number in self.extra:
            yield {"status": "extra", "generated": number}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Response of one variant to one case."""

    variant: str
    expected: str
    """Label of the expected behavior."""
    label: str | None
    """Label of the response; `None`: there is none."""
    response: str = ""
    hits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a wrong response: the keywords that occur in it, in words, by label."""
    code: str = ""
    """Why there is no response: a code of `factcheck.errors`, or `callable`."""
    message: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the expected behavior shows, and no other."""
        return self.label == self.expected

    @property
    def failure(self) -> str:
        """`AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` or `ERROR`; empty if the response is right."""
        if self.label is None:
            return ERROR
        if self.is_right:
            return ""
        return self.label if self.label in {AMBIGUOUS, NO_MATCH} else WRONG

    @property
    def reason(self) -> str:
        """Expected and shown behavior, or why there is no response; on one line."""
        if self.label is None:
            return quote_text(f"{self.code}: {self.message}")
        return f"expected {behavior_name(self.expected)}, shows {behavior_name(self.label)}"

    @property
    def found(self) -> str:
        hits = (f"{behavior_name(label)}: {', '.join(own)}" for label, own in self.hits.items())
        return quote_text("; ".join(hits))


@dataclass(frozen=True, slots=True)
class BehaviorCaseResult:
    """Outcomes of one case."""

    case_id: str
    outcomes: tuple[Outcome, ...]
    """In the order of the variants."""

    def __post_init__(self) -> None:
        if not self.outcomes:
            raise InputError(f"case {self.case_id!r} has no outcomes; damaged run")

    @property
    def status(self) -> Status:
        """`passed` if all are right; `errored` if a response is missing; else `failed`."""
        if any(outcome.label is None for outcome in self.outcomes):
            return "errored"
        return "passed" if all(outcome.is_right for outcome in self.outcomes) else "failed"


def behavior_name(label: str) -> str:
    """A label in a report: of a behavior without the suffix, in lower case."""
    if label.endswith(_LABEL_SUFFIX):
        return name_text(label.removesuffix(_LABEL_SUFFIX).lower())
    return name_text(label)


class SavedRun(Report):
    """A run that JSON keeps losslessly, marked with its format."""

    __slots__ = ()
    FORMAT: ClassVar[str]
    digests: Mapping[str, str]

    @property
    def case_ids(self) -> list[str]:
        """Ids of all cases, scored or not."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        if not self.digests or sorted(self.case_ids) != sorted(self.digests):
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

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Inverse of `to_json`.

        Raises:
            InputError: Not JSON, or not such a run.
        """
        return cls.from_dict(parse_json(text, "run").value)
