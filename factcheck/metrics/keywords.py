"""Keywords as metrics: of a text, and of cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from factcheck.errors import InputError
from factcheck.keywords import CardMatcher, MatchSettings, keyword_similarity
from factcheck.keywords.forms import as_keywords
from factcheck.metrics.cases import EvalCase
from factcheck.metrics.results import MetricResult, check_threshold

CardScore = Literal["f1", "recall", "precision"]
"""Which figure of the cards is the score."""


class KeywordMetric:
    """The share of keywords that occur in the output; fulfils `Metric`.

    Args:
        keywords: What to look for, in any form that `factcheck.keywords` knows. `None`: each
            case's `expected_output` is its list of keywords.
        threshold: The score from which a case passes, in [0, 1].
        name: What reports call it.

    Raises:
        InputError: A keyword cannot be used, there are none, or the threshold is outside [0, 1].
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
            raise InputError("keywords is empty, which scores 0 whatever the output; give some")
        self.threshold = check_threshold(threshold)
        self.name = name

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The output, and the keywords where the metric has none."""
        return ("actual_output",) if self._keywords else ("actual_output", "expected_output")

    async def measure(self, case: EvalCase) -> MetricResult:
        """The result of one case."""
        words = self._keywords
        if words is None:
            words = as_keywords(case.expected_output, "expected_output")
            if not words:
                raise InputError("'expected_output' has no keywords; give some")
        missing = [word for word in words if not keyword_similarity([word], case.actual_output)]
        score = keyword_similarity(words, case.actual_output)
        said = ", ".join(map(str, missing))
        return MetricResult.scored(
            score,
            passed=score >= self.threshold,
            reason=f"not satisfied: {said}" if missing else "every keyword is satisfied",
        )


class CardMetric:
    """How well the cards of the output match those that are expected; fulfils `Metric`.

    A case's `expected_output` is the list of expected cards, its `actual_output` the list of
    cards that were made; see `factcheck.keywords.match_cards`.

    Args:
        settings: How cards are scored and matched.
        score: Which figure is the score of a case.
        threshold: The score from which a case passes, in [0, 1].
        name: What reports call it.

    Raises:
        InputError: The score is not known, or the threshold outside [0, 1].
    """

    required_fields: Sequence[str] = ("actual_output", "expected_output")

    def __init__(
        self,
        settings: MatchSettings | None = None,
        *,
        score: CardScore = "f1",
        threshold: float = 0.7,
        name: str = "cards",
    ) -> None:
        if score not in get_args(CardScore):
            raise InputError(f"score must be one of {get_args(CardScore)}, not {score!r}")
        self._settings = settings or MatchSettings()
        self._score = score
        self.threshold = check_threshold(threshold)
        self.name = name

    async def measure(self, case: EvalCase) -> MetricResult:
        """The result of one case."""
        result = CardMatcher(case.expected_output, self._settings).match(case.actual_output)
        score: float = getattr(result, self._score)
        figures: Mapping[str, float] = {name: getattr(result, name) for name in get_args(CardScore)}
        return MetricResult.scored(
            score,
            passed=score >= self.threshold,
            reason=", ".join(f"{name} {value:.3f}" for name, value in figures.items()),
            details=dict(figures),
        )
