"""What matching gives back: pairs, what was missed, what is extra; and the scores of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from factcheck.keywords.forms import Keyword
from factcheck.keywords.metrics import Scores, Sums, macro, micro
from factcheck.keywords.settings import MatchSettings
from factcheck.stats import Interval


class Match(NamedTuple):
    """An expected card and the generated one that belongs to it."""

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
    unmet: Mapping[str, tuple[Keyword, ...]]
    """By field, where there are any: keywords that do not occur, and forbidden ones that do."""


class Missed(NamedTuple):
    """An expected card to which no generated one belongs."""

    expected: int
    """Number of the expected card, from 0."""
    nearest: int | None
    """Number of the generated card with the highest score, whoever got it; `None`: none shares a
    keyword."""
    score: float
    """Of that card: below the threshold, or the card was given to another one."""

    @classmethod
    def of(cls, expected: int, scores: Mapping[int, float]) -> Missed:
        """A missed card, given the scores of its pairs by generated card."""
        nearest = max(scores, key=scores.__getitem__, default=None)
        return cls(expected, nearest, 0.0 if nearest is None else scores[nearest])


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case: which cards are pairs, and which are not."""

    case_id: str
    n_expected: int
    n_generated: int
    matches: tuple[Match, ...]
    """In the order of the expected cards."""
    missed: tuple[Missed, ...]
    """Expected cards without partner, in order."""
    extra: tuple[int, ...]
    """Numbers of the generated cards that nobody expected, in order."""
    note: str = ""
    """How greedy matching differs, where the optimal assignment was asked for."""

    @property
    def sums(self) -> Sums:
        """What the scores are made of."""
        similarity = sum(match.score for match in self.matches)
        return Sums(len(self.matches), self.n_expected, self.n_generated, similarity)

    @property
    def recall(self) -> float:
        """Share of the expected cards that were matched."""
        return self.sums.scores().recall

    @property
    def precision(self) -> float:
        """Share of the generated cards that were matched."""
        return self.sums.scores().precision

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision."""
        return self.sums.scores().f1

    @property
    def average_similarity(self) -> float | None:
        """Mean score of the pairs; `None` without any."""
        return self.sums.scores().average_similarity

    def intervals(self) -> dict[str, Interval]:
        """95 % intervals of `recall`, `precision` and `f1`, by Wilson."""
        return self.sums.intervals()

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        from factcheck.keywords.saved import case_to_dict

        return case_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CaseResult:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        from factcheck.keywords.saved import case_from_dict

        return case_from_dict(data)


@dataclass(frozen=True, slots=True)
class CaseFailure:
    """A case that could not be scored; it counts in no score."""

    case_id: str
    code: str
    """Stable reason: a code of `factcheck.errors`, or `callable` for an error of the caller's."""
    message: str


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """All cases of a dataset, scored. Scores leave out the cases in `failures`."""

    name: str
    version: str
    cases: tuple[CaseResult | CaseFailure, ...]
    """In the order of the dataset."""
    settings: MatchSettings
    digests: Mapping[str, str]
    """By case id: which cards were expected, as a digest; runs with others cannot be compared."""
    warnings: tuple[str, ...] = ()
    """What is allowed in the dataset but hardly meant."""

    @property
    def scored(self) -> tuple[CaseResult, ...]:
        """The cases with a score."""
        return tuple(case for case in self.cases if isinstance(case, CaseResult))

    @property
    def failures(self) -> tuple[CaseFailure, ...]:
        """The cases without."""
        return tuple(case for case in self.cases if isinstance(case, CaseFailure))

    @property
    def macro(self) -> Scores | None:
        """Mean scores of the cases, each counting alike; `None` if none was scored."""
        return macro(case.sums for case in self.scored) if self.scored else None

    @property
    def micro(self) -> Scores | None:
        """Scores over all cards of all cases at once; `None` if no case was scored."""
        return micro(case.sums for case in self.scored) if self.scored else None

    def intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """95 % intervals by resampling cases, as `factcheck.keywords.resampling` says.

        Returns:
            `macro_recall`, `macro_precision`, `macro_f1`, `macro_average_similarity`, and the same
            with `micro_`; (0, 1) where there are fewer than two cases.

        Raises:
            InputError: An argument cannot be used.
        """
        from factcheck.keywords.resampling import card_figures, intervals

        return intervals(card_figures(self.scored), n_resamples, seed)

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each expected card and for each extra one, case by case.

        Its keys are `case`, `status` (`matched`, `missed`, `extra` or `error`), `expected`,
        `generated`, `score`, `unmet` and `message`.
        """
        from factcheck.keywords.saved import card_rows

        return list(card_rows(self.cases))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data, with the scores and intervals for readers."""
        from factcheck.keywords.saved import run_to_dict

        return run_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DatasetResult:
        """Inverse of `to_dict`.

        Raises:
            InputError: The data is no run of cards, or not of this format.
        """
        from factcheck.keywords.saved import run_from_dict

        return run_from_dict(data)

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text; the same run gives the same text."""
        from factcheck.keywords.json_texts import json_text

        return json_text(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> DatasetResult:
        """Inverse of `to_json`.

        Raises:
            InputError: Not JSON, or no run of cards.
        """
        from factcheck.keywords.json_texts import json_data

        return cls.from_dict(json_data(text))
