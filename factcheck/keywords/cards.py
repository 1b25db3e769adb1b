"""Expected cards, and the cards that a model gave, whatever type they have.

A card is a mapping, or an object with attributes: a dataclass, a named tuple, a pydantic model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.forms import Keyword, Not, as_keywords, to_data

CARD_TYPE = "card_type"
"""The key, or attribute, that holds the type of a card."""
SUFFIX = "_keywords"
"""After the name of a field: its keywords."""
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class ExpectedCard:
    """What a card should say: keywords for each of its fields, and perhaps a type."""

    keywords: Mapping[str, tuple[Keyword, ...]]
    """By field, such as `front` and `back`; an empty list scores 0."""
    card_type: str | None = None
    """The type it should have; `None`: any."""

    def __post_init__(self) -> None:
        if not isinstance(self.keywords, Mapping) or not self.keywords:
            raise InputError("an expected card has no keywords; name those of a field")
        if self.card_type is not None and not isinstance(self.card_type, str):
            object.__setattr__(self, CARD_TYPE, _plain_type(self.card_type))
        named = {
            str(name): as_keywords(words, f"{name}{SUFFIX}")
            for name, words in self.keywords.items()
        }
        object.__setattr__(self, "keywords", named)

    @classmethod
    def of(cls, card_type: str | None = None, **fields: Iterable[Any]) -> ExpectedCard:
        """A card from keywords by field: `ExpectedCard.of(front=["cell"], back=["unit"])`."""
        return cls({name: as_keywords(words, name) for name, words in fields.items()}, card_type)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExpectedCard:
        """A card from `<field>_keywords` lists and perhaps a `card_type`.

        Raises:
            InputError: Another key, no keywords, or keywords that cannot be used.
        """
        fields: dict[str, Any] = {}
        for key, value in data.items():
            name = field_of(key)
            if name is not None:
                fields[name] = value
            elif key != CARD_TYPE:
                raise InputError(
                    f"an expected card has {key!r}; its keys are <field>{SUFFIX} and {CARD_TYPE}"
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
        """What is allowed but hardly meant."""
        found = []
        for name, words in self.keywords.items():
            if not words:
                found.append(f"{name}{SUFFIX} is empty, which scores 0")
            elif all(isinstance(word, Not) for word in words):
                found.append(f"{name}{SUFFIX} only says what must not occur, so most texts fit")
        return found


def field_of(key: Any) -> str | None:
    """The field whose keywords a key holds, or `None`."""
    if isinstance(key, str) and key.endswith(SUFFIX):
        return key.removesuffix(SUFFIX) or None
    return None


def as_expected(item: Any) -> ExpectedCard:
    """An expected card from itself, a mapping, or an object with `<field>_keywords` attributes.

    Raises:
        InputError: It has no such keywords, or they cannot be used.
    """
    if isinstance(item, ExpectedCard):
        return item
    if isinstance(item, Mapping):
        return ExpectedCard.from_dict(item)
    named = getattr(type(item), "__dataclass_fields__", None) or dir(item)
    fields = {name: getattr(item, key) for key in named if (name := field_of(key)) is not None}
    if not fields:
        raise InputError(f"an expected card has <field>{SUFFIX}, this is {_kind(item)} without any")
    return ExpectedCard(fields, getattr(item, CARD_TYPE, None))


def as_cards(cards: Any) -> Sequence[Any]:
    """The cards that a model gave, as a sequence.

    Raises:
        InputError: A single card, a text, or nothing that can be gone through.
    """
    kind = type(cards)
    is_one = hasattr(kind, "model_fields") or hasattr(kind, "_fields")
    if is_one or isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        raise InputError(f"expected a list of cards, found {_kind(cards)}")
    return cards if isinstance(cards, (list, tuple)) else list(cards)


def field_texts(cards: Sequence[Any], field: str) -> list[str]:
    """The text that each card has in a field.

    Raises:
        InputError: A card has no such field, or no text in it; names the card, counted from 1.
    """
    texts = _values(cards, field, _MISSING)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            card = cards[number - 1]
            raise InputError(
                f"generated card {number} ({_kind(card)}) has no {field!r}"
                if text is _MISSING
                else f"generated card {number}: {field!r} must be a text, not {_kind(text)}"
            )
    return texts


def types_of(cards: Sequence[Any]) -> list[Any]:
    """The type of each card, that of an enumeration as its value; `None` where there is none."""
    return [_plain_type(kind) for kind in _values(cards, CARD_TYPE, None)]


def _values(cards: Sequence[Any], key: str, default: Any) -> list[Any]:
    is_mapping = {kind: issubclass(kind, Mapping) for kind in set(map(type, cards))}
    return [
        card.get(key, default) if is_mapping[type(card)] else getattr(card, key, default)
        for card in cards
    ]


def _plain_type(kind: Any) -> Any:
    return kind.value if isinstance(kind, Enum) else kind


def _kind(value: Any) -> str:
    return "null" if value is None else f"{type(value).__name__} {value!r:.60}"
