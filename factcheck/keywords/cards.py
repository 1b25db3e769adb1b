"""Expected and generated cards, datasets of cases, and loaders for both.

A generated card is a mapping, or an object with attributes such as a dataclass, a named tuple or a
pydantic model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from factcheck.documents import PathOrDash, shown
from factcheck.errors import InputError
from factcheck.facts import short_digest
from factcheck.keywords.forms import SUFFIX, Keyword, as_keywords, field_of, is_forbidden
from factcheck.keywords.nodes import Node, require_id, require_unique_ids

CARD_TYPE = "card_type"
"""Key or attribute with the type of a card."""
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class ExpectedCard:
    """Keywords expected in each field of a card, and optionally its type."""

    keywords: Mapping[str, tuple[Keyword, ...]]
    """Keywords by field, such as `front` and `back`; an empty list scores 0."""
    card_type: str | None = None
    """Expected type; `None` for any."""

    def __post_init__(self) -> None:
        if not isinstance(self.keywords, Mapping) or not self.keywords:
            raise InputError(f"an expected card needs keywords, as <field>{SUFFIX}")
        object.__setattr__(self, CARD_TYPE, type_of(self))
        by_field = {
            str(name): as_keywords(words, f"{name}{SUFFIX}")
            for name, words in self.keywords.items()
        }
        object.__setattr__(self, "keywords", by_field)


@dataclass(frozen=True, slots=True)
class CardCase:
    """A text, and the cards expected for it."""

    id: str
    """Unique within its dataset."""
    text: str
    """Input of the model; may be empty if outputs come from files."""
    expected_cards: tuple[ExpectedCard, ...]
    """Expected cards; their order affects greedy matching. May be empty."""

    def __post_init__(self) -> None:
        require_id(self.id)
        if not isinstance(self.text, str):
            raise InputError(f"case {self.id!r}: text: expected a string, got {shown(self.text)}")
        object.__setattr__(self, "expected_cards", as_expected_cards(self.expected_cards))

    @property
    def digest(self) -> str:
        """Digest of the expected cards: 8 hexadecimal digits."""
        return short_digest(repr(self.expected_cards))


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
        require_unique_ids([case.id for case in self.cases])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Descriptions of valid but probably unintended parts, such as empty lists of keywords."""
        found = []
        for case in self.cases:
            for number, card in enumerate(case.expected_cards, 1):
                for name, words in card.keywords.items():
                    list_ = f"case {case.id!r}, expected card {number}: {name}{SUFFIX}"
                    if not words:
                        found.append(f"{list_} is empty, which scores 0")
                    elif all(map(is_forbidden, words)):
                        found.append(f"{list_} has forbidden keywords only, so most texts match")
        return tuple(found)


def load_dataset(path: PathOrDash) -> CardDataset:
    """Load a dataset of cases with expected cards.

    Valid but probably unintended parts are listed in `CardDataset.warnings`.

    Args:
        path: `.yaml`, `.yml` or `.json` with `name`, `version` and `cases`; a case has `id`, `text`
            and `expected_cards`; a card has lists of keywords, `<field>_keywords`, and optionally
            `card_type`. For the notation of keywords, see `factcheck.keywords.forms`.

    Raises:
        InputError: The file cannot be read, or has an unknown key, an invalid keyword or a
            duplicate id; names the file and line.
    """
    node = Node.read(path)
    node.require_keys("name", "version", "cases")
    nodes = node.member("cases").cases("dataset")
    cases = tuple(map(_case, nodes))
    require_unique_ids([case.id for case in cases], nodes)
    name = node.member("name", "").text() or ("" if path == "-" else Path(path).stem)
    return CardDataset(cases, name, node.member("version", "").text(numbers=True))


def _case(node: Node) -> CardCase:
    node.require_keys("id", "text", "expected_cards")
    name, text = node.member("id").id(), node.member("text", "").text()
    return CardCase(name, text, tuple(map(_card, node.member("expected_cards").items())))


def _card(node: Node) -> ExpectedCard:
    node.require_keys(CARD_TYPE, keywords=True)
    kind = node.member(CARD_TYPE, None)
    return ExpectedCard(node.keywords(), None if kind.value is None else kind.text())


def load_outputs(path: PathOrDash) -> dict[str, Any]:
    """Load the generated cards of each case, for `evaluate_dataset`.

    Args:
        path: A mapping from case id to a list of cards, or a list (in `.jsonl`, one per line) of
            objects with `id` and `cards`; null instead of a list if generation failed.

    Returns:
        Lists by case id, not validated; `evaluate_dataset` reports invalid ones as errored cases.

    Raises:
        InputError: The file cannot be read, has an unexpected structure or a duplicate id; names
            the file and line.
    """
    node = Node.read(path)
    if isinstance(node.value, dict):
        return dict(node.value)
    rows = [(name.id(), name, cards.value) for name, cards in node.rows("id", "cards")]
    require_unique_ids([name for name, _, _ in rows], [node for _, node, _ in rows])
    return {name: cards for name, _, cards in rows}


def as_expected_cards(cards: Any) -> tuple[ExpectedCard, ...]:
    """Convert mappings and objects with `<field>_keywords` attributes to expected cards."""
    found = []
    for number, card in enumerate(as_cards(cards), 1):
        try:
            found.append(_as_expected(card))
        except InputError as error:  # noqa: PERF203 - the message names the card
            raise InputError(f"expected card {number}: {error}") from error
    return tuple(found)


def _as_expected(item: Any) -> ExpectedCard:
    if isinstance(item, ExpectedCard):
        return item
    data = item
    if not isinstance(item, Mapping):
        names = getattr(type(item), "__dataclass_fields__", None) or dir(item)
        keys = [name for name in names if field_of(name)]
        if not keys:
            raise InputError(f"an expected card needs <field>{SUFFIX}, got {_type_and_value(item)}")
        data = {CARD_TYPE: type_of(item), **{key: getattr(item, key) for key in keys}}
    return _card(Node.plain(data, "expected card"))


def as_cards(cards: Any) -> Sequence[Any]:
    """Convert an iterable of cards to a sequence; raises `InputError` for anything else."""
    kind = type(cards)
    is_one = hasattr(kind, "model_fields") or hasattr(kind, "_fields")
    if is_one or isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        raise InputError(f"expected a list of cards, got {_type_and_value(cards)}")
    return cards if isinstance(cards, (list, tuple)) else list(cards)


def field_text(card: Any, field: str, number: int) -> str:
    """Return a field of a generated card; raises `InputError` if it is missing or not a string."""
    text = _value(card, field, _MISSING)
    if text is _MISSING:
        raise InputError(f"generated card {number} ({_type_and_value(card)}) has no {field!r}")
    if not isinstance(text, str):
        got = _type_and_value(text)
        raise InputError(f"generated card {number}: {field!r}: expected a string, got {got}")
    return text


def type_of(card: Any) -> Any:
    """Return the type of a card, `None` without one; enumeration members give their value."""
    kind = _value(card, CARD_TYPE, None)
    return kind.value if isinstance(kind, Enum) else kind


def _value(card: Any, key: str, default: Any) -> Any:
    return card.get(key, default) if isinstance(card, Mapping) else getattr(card, key, default)


def _type_and_value(value: Any) -> str:
    return "null" if value is None else f"{type(value).__name__} {value!r:.60}"
