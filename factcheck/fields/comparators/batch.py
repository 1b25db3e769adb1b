"""Batch comparators to build on: sibling fields scored as one, any judge of pairs, a fake judge."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from factcheck.errors import describe
from factcheck.fields.schemas.structure import parent_and_name
from factcheck.fields.types import BatchItem, ComparatorResult
from factcheck.fields.values import exact_key

_log = logging.getLogger("factcheck.fields")


class CompoundComparator:
    """Scores sibling fields, such as given name and surname, as one; subclasses define `compare`.

    Register an instance and name it in `x-eval-compare` of every field of the group. The primary
    field gets the score and the others are skipped, so that the group counts once. If a field of
    the group is missing, the rest of it is a mismatch.

    Args:
        fields: Names of the fields.
        primary: The field that gets the score.
        name: Name of the comparator in results.

    Raises:
        ValueError: `primary` is not one of `fields`.
    """

    is_batch: ClassVar[bool] = True

    def __init__(self, fields: Sequence[str], primary: str, name: str = "compound") -> None:
        if primary not in fields:
            raise ValueError(f"the primary field {primary!r} is not one of {list(fields)}")
        self.fields = list(fields)
        self.primary = primary
        self.name = name

    def compare(self, gold: dict[str, Any], extracted: dict[str, Any]) -> float:
        """Score a group, in [0, 1].

        Args:
            gold: The gold values by field name, after their transforms.
            extracted: The extracted values by field name, after their transforms.
        """
        raise NotImplementedError(f"{type(self).__name__} must define how its fields are compared")

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item; items with the same parent form a group."""
        groups: dict[str, dict[str, int]] = {}
        for place, item in enumerate(items):
            parent, name = parent_and_name(item.path)
            groups.setdefault(parent, {})[name] = place
        results: list[ComparatorResult | None] = [None] * len(items)
        for group in groups.values():
            missing = [name for name in self.fields if name not in group]
            if missing:
                reason = f"incomplete: {', '.join(missing)} not on both sides"
                for place in group.values():
                    results[place] = ComparatorResult(0.0, self.name, reason)
                continue
            score = self.compare(
                {name: items[group[name]].gold_compared for name in self.fields},
                {name: items[group[name]].extracted_compared for name in self.fields},
            )
            for name, place in group.items():
                results[place] = (
                    ComparatorResult(score, self.name)
                    if name == self.primary
                    else ComparatorResult(0.0, self.name, f"part of {self.primary}", skip=True)
                )
        return results


@dataclass(frozen=True)
class JudgeItem:
    """Two values for a judge to compare."""

    path: str
    gold: Any
    extracted: Any


class Judge(Protocol):
    """Decides which pairs of values mean the same."""

    def judge_batch(self, items: list[JudgeItem]) -> list[float | None]:
        """A score per item, in order; `None` for an item that could not be decided."""
        ...


class SemanticBatchComparator:
    """Sends all pairs of a record that are not equal to a judge, in one call.

    Args:
        judge: The judge.
        name: Name of the comparator in results.
    """

    is_batch: ClassVar[bool] = True

    def __init__(self, judge: Judge, name: str = "semantic") -> None:
        self.judge = judge
        self.name = name

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item; `None` for an item that the judge left undecided."""
        equal = [exact_key(i.gold_compared) == exact_key(i.extracted_compared) for i in items]
        rest = [item for item, is_equal in zip(items, equal, strict=True) if not is_equal]
        scores = iter(self._scores(rest))
        return [
            ComparatorResult(1.0, self.name, "exact") if is_equal else self._result(next(scores))
            for is_equal in equal
        ]

    def _scores(self, items: Sequence[BatchItem]) -> list[float | None]:
        if not items:
            return []
        nothing: list[float | None] = [None] * len(items)
        pairs = [JudgeItem(i.path, i.gold_compared, i.extracted_compared) for i in items]
        try:
            scores = self.judge.judge_batch(pairs)
        except Exception as error:  # noqa: BLE001 - the user's code
            _log.warning("the judge failed on %d pairs: %s", len(items), describe(error))
            return nothing
        return (scores + nothing)[: len(items)] if isinstance(scores, list) else nothing

    def _result(self, score: float | None) -> ComparatorResult | None:
        if score is None:
            return None
        reason = "judge match" if score >= 1.0 else "judge mismatch"
        return ComparatorResult(score, self.name, reason)


class FakeJudge:
    """A judge for tests: answers from a table and records its calls.

    Args:
        responses: Scores by `(gold, extracted)`, both as strings; other values as JSON.
        default_score: The score of any other pair; `None`: 1 if they are equal ignoring case and
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
    """A value as a judge gets it: a string as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
