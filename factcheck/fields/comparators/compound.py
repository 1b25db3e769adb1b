"""Fields that only make sense together, such as given name and surname, scored as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from factcheck.fields.schemas.structure import parent_and_name
from factcheck.fields.types import BatchItem, ComparatorResult


class CompoundComparator:
    """Scores sibling fields as one; subclasses say how in `compare`.

    Register an instance and name it in `x-eval-compare` of every field that belongs to it. The
    primary field gets the score, the others are skipped, so that the group counts once. Where one
    of the fields is missing, the rest of the group is a mismatch.

    Args:
        fields: Names of the fields.
        primary: The one that gets the score.
        name: What results call the comparator.

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
        """How well the group matches, in [0, 1].

        Args:
            gold: The gold values by field name, after their transforms.
            extracted: The extracted values likewise.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how its fields are compared")

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item; items with the same parent are one group."""
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
