"""Expected cards and generated ones, and datasets of cases with expected cards.

A generated card is a mapping, or an object with attributes: a dataclass, a named tuple, a pydantic
model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.facts import short_digest
from factcheck.keywords.forms import Keyword, Not, as_keywords, to_data
from factcheck.keywords.nodes import SUFFIX, Node, field_of, require_unique_ids

CARD_TYPE = "card_type"
"""Key or attribute with the type of a card."""
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class ExpectedCard:
    """Keywords expected in each field of a card, and optionally its type."""

    keywords: Mapping[str, tuple[Keyword, ...]]
    """By field, such as `front` and `back`; an empty list scores 0."""
    card_type: str | None = None
    """Expected type; `None`: any."""

    def __post_init__(self) -> None:
        if not isinstance(self.keywords, Mapping) or not self.keywords:
            raise InputError(f"an expected card needs keywords, as <field>{SUFFIX}")
        object.__setattr__(self, CARD_TYPE, _plain_type(self.card_type))
        by_field = {
            str(name): as_keywords(words, f"{name}{SUFFIX}")
            for name, words in self.keywords.items()
        }
        object.__setattr__(self, "keywords", by_field)

    @classmethod
    def of(cls, card_type: str | None = None, **fields: Iterable[Any]) -> ExpectedCard:
        """A card from keywords by field: `ExpectedCard.of(front=["cell"], back=["unit"])`."""
        return cls({name: as_keywords(words, name) for name, words in fields.items()}, card_type)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExpectedCard:
        """A card from `<field>_keywords` lists and optionally a `card_type`.

        Raises:
            InputError: An unknown key, no keywords, or invalid ones.
        """
        fields = {}
        for key, value in data.items():
            name = field_of(key)
            if name is not None:
                fields[name] = value
            elif key != CARD_TYPE:
                raise InputError(
                    f"unknown key {key!r} in an expected card; use <field>{SUFFIX} or {CARD_TYPE}"
                )
        return cls(fields, data.get(CARD_TYPE))

    def __getattr__(self, name: str) -> tuple[Keyword, ...]:
        """`front_keywords` and so on, by the name of the field."""
        field = field_of(name)
        if field is None or field not in self.keywords:
            raise AttributeError(f"this expected card has no {name!r}")
        return self.keywords[field]

    def to_dict(self) -> dict[str, Any]:
        """Inverse of `from_dict`."""
        data: dict[str, Any] = {
            f"{name}{SUFFIX}": [to_data(keyword) for keyword in words]
            for name, words in self.keywords.items()
        }
        return data if self.card_type is None else {**data, CARD_TYPE: self.card_type}

    def warnings(self) -> list[str]:
        """Valid but probably unintended."""
        found = []
        for name, words in self.keywords.items():
            if not words:
                found.append(f"{name}{SUFFIX} is empty, which scores 0")
            elif all(isinstance(word, Not) for word in words):
                found.append(f"{name}{SUFFIX} has forbidden keywords only, so most texts match")
        return found


@dataclass(frozen=True, slots=True)
class CardCase:
    """A text, and the cards expected for it."""

    id: str
    """Unique within its dataset."""
    text: str
    """Input of the model; may be empty where outputs come from files."""
    expected_cards: tuple[ExpectedCard, ...]
    """In order, which matters to greedy matching; empty where no card is expected."""

    def __post_init__(self) -> None:
        require_id(self.id)
        if not isinstance(self.text, str):
            raise InputError(f"case {self.id!r}: text: expected a string, got {shown(self.text)}")
        cards = tuple(as_expected(card) for card in as_cards(self.expected_cards))
        object.__setattr__(self, "expected_cards", cards)

    @property
    def digest(self) -> str:
        """Digest of the expected cards: 8 hexadecimal digits."""
        cards = [card.to_dict() for card in self.expected_cards]
        return short_digest(json.dumps(cards, ensure_ascii=False))

    def to_dict(self) -> dict[str, Any]:
        """The case as in a file."""
        cards = [card.to_dict() for card in self.expected_cards]
        return {"id": self.id, "text": self.text, "expected_cards": cards}


@dataclass(frozen=True, slots=True)
class CardDataset:
    """Cases with distinct ids."""

    cases: tuple[CardCase, ...]
    name: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", tuple(self.cases))
        if not self.cases:
            raise InputError("the dataset has no cases")
        for case in self.cases:
            if not isinstance(case, CardCase):
                raise InputError(f"a dataset consists of CardCase, not {type(case).__name__}")
        require_unique(case.id for case in self.cases)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Valid but probably unintended, such as an empty list of keywords."""
        return tuple(
            f"case {case.id!r}, expected card {number}: {warning}"
            for case in self.cases
            for number, card in enumerate(case.expected_cards, 1)
            for warning in card.warnings()
        )

    def to_dict(self) -> dict[str, Any]:
        """The dataset as in a file."""
        cases = [case.to_dict() for case in self.cases]
        return {"name": self.name, "version": self.version, "cases": cases}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CardDataset:
        """Inverse of `to_dict`.

        Raises:
            InputError: Invalid; names the part.
        """
        return cls.from_node(Node.plain(data, "dataset"))

    @classmethod
    def from_node(cls, node: Node, name: str = "") -> CardDataset:
        """A dataset from a document; `name` is used where it has none.

        Raises:
            InputError: Invalid; names the line.
        """
        node.require_keys("name", "version", "cases")
        nodes = node.items("cases")
        if not nodes:
            raise node.member("cases").error("the dataset has no cases")
        cases = [_case_of(one) for one in nodes]
        require_unique_ids(nodes, [case.id for case in cases])
        return cls(
            tuple(cases), node.text("name", "") or name, node.text("version", "", numbers=True)
        )


def _case_of(node: Node) -> CardCase:
    node.require_keys("id", "text", "expected_cards")
    name, text = node.id(), node.text("text", "")
    cards = []
    for card in node.items("expected_cards"):
        card.require_keys(CARD_TYPE, keywords=True)
        kind = card.text(CARD_TYPE) if card.has(CARD_TYPE) else None
        cards.append(ExpectedCard(card.keywords(), kind))
    return CardCase(name, text, tuple(cards))


def require_id(name: Any) -> None:
    """Raise `InputError` for an id that is blank or not a string."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the id of a case must be a string that is not blank, got {shown(name)}")


def require_unique(ids: Iterable[str]) -> None:
    """Raise `InputError` for a duplicate id."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise InputError(f"duplicate id {name!r}")
        seen.add(name)


def as_expected(item: Any) -> ExpectedCard:
    """An expected card from itself, a mapping, or an object with `<field>_keywords` attributes."""
    if isinstance(item, ExpectedCard):
        return item
    if isinstance(item, Mapping):
        return ExpectedCard.from_dict(item)
    names = getattr(type(item), "__dataclass_fields__", None) or dir(item)
    fields = {name: getattr(item, key) for key in names if (name := field_of(key)) is not None}
    if not fields:
        raise InputError(f"an expected card needs <field>{SUFFIX}, got {kind_of(item)}")
    return ExpectedCard(fields, getattr(item, CARD_TYPE, None))


def as_cards(cards: Any) -> Sequence[Any]:
    """A list of cards as a sequence; raises `InputError` for a single card or another value."""
    kind = type(cards)
    is_one = hasattr(kind, "model_fields") or hasattr(kind, "_fields")
    if is_one or isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        raise InputError(f"expected a list of cards, got {kind_of(cards)}")
    return cards if isinstance(cards, (list, tuple)) else list(cards)


def field_texts(cards: Sequence[Any], field: str) -> list[str]:
    """The text of each generated card in a field; raises `InputError` if one has none."""
    texts = _values(cards, field, _MISSING)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(
                f"generated card {number} ({kind_of(cards[number - 1])}) has no {field!r}"
                if text is _MISSING
                else f"generated card {number}: {field!r}: expected a string, got {kind_of(text)}"
            )
    return texts


def types_of(cards: Sequence[Any]) -> list[Any]:
    """The type of each generated card (of an enumeration: its value); `None` without one."""
    return [_plain_type(kind) for kind in _values(cards, CARD_TYPE, None)]


def _values(cards: Sequence[Any], key: str, default: Any) -> list[Any]:
    is_mapping = {kind: issubclass(kind, Mapping) for kind in set(map(type, cards))}
    return [
        card.get(key, default) if is_mapping[type(card)] else getattr(card, key, default)
        for card in cards
    ]


def _plain_type(kind: Any) -> Any:
    return kind.value if isinstance(kind, Enum) else kind


def kind_of(value: Any) -> str:
    """Type and value in an error message; a long value is cut."""
    return "null" if value is None else f"{type(value).__name__} {value!r:.60}"
