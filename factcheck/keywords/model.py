"""Cases and datasets: plain, frozen values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from factcheck.errors import InputError
from factcheck.facts.fingerprint import short_digest
from factcheck.keywords.cards import ExpectedCard, as_cards, as_expected


@dataclass(frozen=True, slots=True)
class EvalCase:
    """A text, and the cards that should be made of it."""

    id: str
    """Unique within its dataset."""
    text: str
    """What the model is given; may be empty where outputs come from files."""
    expected_cards: tuple[ExpectedCard, ...]
    """In order, which matters to greedy matching; empty where nothing should be made."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.strip():
            raise InputError(f"a case has the id {self.id!r}; give each a text of its own")
        if not isinstance(self.text, str):
            raise InputError(f"case {self.id!r}: the text is {type(self.text).__name__}")
        cards = tuple(as_expected(card) for card in as_cards(self.expected_cards))
        object.__setattr__(self, "expected_cards", cards)

    @property
    def digest(self) -> str:
        """Which cards are expected, as 8 hexadecimal digits."""
        cards = [card.to_dict() for card in self.expected_cards]
        return short_digest(json.dumps(cards, ensure_ascii=False))

    def to_dict(self) -> dict[str, Any]:
        """The case as it is written in a file."""
        cards = [card.to_dict() for card in self.expected_cards]
        return {"id": self.id, "text": self.text, "expected_cards": cards}


@dataclass(frozen=True, slots=True)
class EvalDataset:
    """Cases with ids of their own."""

    cases: tuple[EvalCase, ...]
    name: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", tuple(self.cases))
        if not self.cases:
            raise InputError("the dataset has no cases")
        for case in self.cases:
            if not isinstance(case, EvalCase):
                raise InputError(f"a dataset holds EvalCase, not {type(case).__name__}")
        if twice := doubled(case.id for case in self.cases):
            raise InputError(f"the id {twice!r} is there twice; ids must be unique")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed but hardly meant, such as an empty list of keywords."""
        return tuple(
            f"case {case.id!r}, expected card {number}: {warning}"
            for case in self.cases
            for number, card in enumerate(case.expected_cards, 1)
            for warning in card.warnings()
        )

    def to_dict(self) -> dict[str, Any]:
        """The dataset as it is written in a file."""
        cases = [case.to_dict() for case in self.cases]
        return {"name": self.name, "version": self.version, "cases": cases}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EvalDataset:
        """Inverse of `to_dict`.

        Raises:
            InputError: The data is no dataset; says where.
        """
        from factcheck.keywords.datasets import dataset_from_data

        return dataset_from_data(data)


def doubled(ids: Iterable[str]) -> str | None:
    """The first id that was there before, or `None`."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            return name
        seen.add(name)
    return None
