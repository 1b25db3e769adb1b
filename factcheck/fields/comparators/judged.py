"""A batch comparator around any judge of value pairs, and a judge for tests."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from factcheck.fields.comparators.builtin import exact_key
from factcheck.fields.scoring.nodes import told
from factcheck.fields.types import BatchItem, ComparatorResult

_log = logging.getLogger("factcheck.fields")


@dataclass(frozen=True)
class JudgeItem:
    """Two values to be judged."""

    path: str
    gold: Any
    extracted: Any


class Judge(Protocol):
    """Says which pairs of values mean the same."""

    def judge_batch(self, items: list[JudgeItem]) -> list[float | None]:
        """A score per item, in their order; `None` where it cannot decide."""
        ...


class SemanticBatchComparator:
    """Asks a judge about all pairs of a record that are not equal anyway, in one call.

    Args:
        judge: Who is asked.
        name: What results call the comparator.
    """

    is_batch: ClassVar[bool] = True

    def __init__(self, judge: Judge, name: str = "semantic") -> None:
        self.judge = judge
        self.name = name

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item; `None` for what the judge left open."""
        equal = [_equal(item.gold_compared, item.extracted_compared) for item in items]
        open_items = [item for item, is_equal in zip(items, equal, strict=True) if not is_equal]
        scores = iter(self._scores(open_items))
        return [
            ComparatorResult(1.0, self.name, "exact") if is_equal else self._judged(next(scores))
            for is_equal in equal
        ]

    def _scores(self, items: Sequence[BatchItem]) -> list[float | None]:
        if not items:
            return []
        nothing: list[float | None] = [None] * len(items)
        asked = [JudgeItem(i.path, i.gold_compared, i.extracted_compared) for i in items]
        try:
            scores = self.judge.judge_batch(asked)
        except Exception as error:  # noqa: BLE001 - the user's code
            _log.warning("the judge failed on %d pairs: %s", len(items), told(error))
            return nothing
        return (scores + nothing)[: len(items)] if isinstance(scores, list) else nothing

    def _judged(self, score: float | None) -> ComparatorResult | None:
        if score is None:
            return None
        return ComparatorResult(
            score, self.name, "judge match" if score >= 1.0 else "judge mismatch"
        )


def _equal(gold: Any, extracted: Any) -> bool:
    return exact_key(gold) == exact_key(extracted)


class FakeJudge:
    """A judge for tests: answers from a table and remembers what it was asked.

    Args:
        responses: Scores by `(gold, extracted)`, each as text; other values as JSON.
        default_score: The score of other pairs; `None`: 1 if they are equal but for case and
            white space, else 0.
    """

    def __init__(
        self,
        responses: Mapping[tuple[str, str], float | None] | None = None,
        default_score: float | None = None,
    ) -> None:
        self.responses = dict(responses or {})
        self.default_score = default_score
        self.calls: list[list[JudgeItem]] = []
        """The items of each call."""

    def judge_batch(self, items: list[JudgeItem]) -> list[float | None]:
        """A score per item."""
        self.calls.append(items)
        return [self._score(as_text(item.gold), as_text(item.extracted)) for item in items]

    def _score(self, gold: str, extracted: str) -> float | None:
        if (gold, extracted) in self.responses:
            return self.responses[gold, extracted]
        if self.default_score is not None:
            return self.default_score
        return float(gold.casefold().split() == extracted.casefold().split())


def as_text(value: Any) -> str:
    """A value as a judge sees it: strings as they are, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
