"""Expected and generated cards, datasets of cases, and loaders for both.

A generated card is a mapping, or an object with attributes such as a dataclass, a named tuple or a
pydantic model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from factcheck.documents import Document, PathInValue, PathOrDash, shown
from factcheck.documents.reading import read_document
from factcheck.errors import InputError
from factcheck.facts import short_digest
from factcheck.keywords.forms import SUFFIX, Keyword, as_keywords, field_of

CARD_TYPE = "card_type"
"""Key or attribute with the type of a card."""
_MISSING: Any = object()
_MAX_IDS = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False)
class ExpectedCard:
    """Keywords expected in each field of a card, and optionally its type.

    `ExpectedCard(front_keywords=["tea"])` is `ExpectedCard({"front": ["tea"]})`.
    """

    keywords: Mapping[str, tuple[Keyword, ...]]
    """Keywords by field, such as `front` and `back`; an empty list scores 0."""
    card_type: str | None = None
    """Expected type; `None` for any."""

    def __init__(
        self,
        keywords: Mapping[str, Iterable[Any]] | None = None,
        card_type: Any = None,
        **lists: Iterable[Any],
    ) -> None:
        """Make a card from keywords by field, or from `<field>_keywords`."""
        named = {}
        for key, words in lists.items():
            name = field_of(key)
            if name is None:
                raise InputError(f"unknown key {key!r}; use <field>{SUFFIX} and {CARD_TYPE}")
            named[name] = words
        given = named if keywords is None else keywords
        if not isinstance(given, Mapping) or not given or (named and given is not named):
            raise InputError(f"an expected card needs keywords, as <field>{SUFFIX}")
        by_field = {name: as_keywords(words, f"{name}{SUFFIX}") for name, words in given.items()}
        object.__setattr__(self, "keywords", by_field)
        object.__setattr__(self, CARD_TYPE, _plain_type(card_type))

    @classmethod
    def of(cls, item: Any) -> ExpectedCard:
        """Convert a mapping or an object with `<field>_keywords` and optionally `card_type`."""
        if isinstance(item, ExpectedCard):
            return item
        data = item
        if not isinstance(item, Mapping):
            names = [name for name in dir(item) if name == CARD_TYPE or field_of(name)]
            data = {name: getattr(item, name) for name in names}
        lists = {str(key): words for key, words in data.items() if key != CARD_TYPE}
        return cls(None, data.get(CARD_TYPE), **lists)


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

    @classmethod
    def of(cls, data: Any) -> CardCase:
        """Convert a mapping with `id`, `text` and `expected_cards`."""
        require_keys(data, "id", "text", "expected_cards", required=("id", "expected_cards"))
        return cls(as_id(data["id"]), data.get("text", ""), data["expected_cards"])

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
        seen: dict[str, CardCase] = {}
        for case in self.cases:
            add_unique(seen, case.id, case)


def load_dataset(path: PathOrDash) -> CardDataset:
    """Load a dataset of cases with expected cards.

    Args:
        path: `.yaml`, `.yml` or `.json` with `name`, `version` and `cases`; a case has `id`, `text`
            and `expected_cards`; a card has lists of keywords, `<field>_keywords`, and optionally
            `card_type`. For the notation of keywords, see `factcheck.keywords.forms`.

    Raises:
        InputError: The file cannot be read, or has an unknown key, an invalid keyword or a
            duplicate id; names the file and the place of the case.
    """

    def read(item: Any, _: int) -> tuple[str, CardCase]:
        case = CardCase.of(item)
        return case.id, case

    document = read_document(path)
    data = document.value
    with document.at(()):
        require_keys(data, "name", "version", "cases", required=("cases",))
    cases = read_rows(document, data["cases"], ("cases",), read)
    name = data.get("name", "") or ("" if path == "-" else Path(path).stem)
    return CardDataset(tuple(cases.values()), str(name), str(data.get("version", "")))


def load_outputs(path: PathOrDash) -> dict[str, Any]:
    """Load the generated cards of each case, for `evaluate_dataset`.

    Args:
        path: A mapping from case id to a list of cards, or a list (in `.jsonl`, one per line) of
            objects with `id` and `cards`; null instead of a list if generation failed.

    Returns:
        Lists by case id, not validated; `evaluate_dataset` reports invalid ones as errored cases.

    Raises:
        InputError: The file cannot be read, has an unexpected structure or a duplicate id; names
            the file and place.
    """

    def read(row: Any, _: int) -> tuple[str, Any]:
        require_keys(row, "id", "cards", required=("id", "cards"))
        return as_id(row["id"]), row["cards"]

    document = read_document(path)
    if isinstance(document.value, dict):
        return dict(document.value)
    return read_rows(document, document.value, (), read)


def read_rows(
    document: Document,
    rows: Any,
    path: PathInValue,
    read: Callable[[Any, int], tuple[Any, T]],
) -> dict[Any, T]:
    """Read a list at `path` as values by unique keys; errors name the line of the row."""
    with document.at(path):
        if not isinstance(rows, list):
            raise InputError(f"expected a list, got {shown(rows)}")
        if not rows:
            raise InputError("there are no cases")
    found: dict[Any, T] = {}
    for place, row in enumerate(rows):
        with document.at((*path, place)):
            key, value = read(row, place + 1)
            add_unique(found, key, value)
    return found


def as_id(value: Any) -> str:
    """Convert an id in a file, a string or a number."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    name = str(value) if is_number else value
    require_id(name)
    return str(name)


def require_id(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the id of a case must be a string that is not blank, got {shown(name)}")


def add_unique(found: dict[Any, T], key: Any, value: T) -> None:
    if key in found:
        raise InputError(f"duplicate id {key!r}; ids must be unique")
    found[key] = value


def require_keys(data: Any, *known: str, required: Sequence[str]) -> None:
    """Raise unless the data is a mapping of these keys, and has the required ones."""
    if not isinstance(data, Mapping):
        raise InputError(f"expected an object with {', '.join(known)}, got {shown(data)}")
    if unknown := [key for key in data if key not in known]:
        raise InputError(f"unknown key {unknown[0]!r}; use {', '.join(known)}")
    if missing := [key for key in required if key not in data]:
        raise InputError(f"{missing[0]!r} is missing")


def as_expected_cards(cards: Any) -> tuple[ExpectedCard, ...]:
    """Convert mappings and objects with `<field>_keywords` attributes to expected cards."""
    found = []
    for number, card in enumerate(as_cards(cards), 1):
        try:
            found.append(ExpectedCard.of(card))
        except InputError as error:  # noqa: PERF203 - the message names the card
            raise InputError(f"expected card {number}: {error}") from error
    return tuple(found)


def as_cards(cards: Any) -> Sequence[Any]:
    """Convert an iterable of cards to a sequence; raises `InputError` for anything else."""
    kind = type(cards)
    is_one = hasattr(kind, "model_fields") or hasattr(kind, "_fields")
    if is_one or isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        raise InputError(f"expected a list of cards, got {shown(cards)}")
    return list(cards)


def field_text(card: Any, field: str, number: int) -> str:
    """Return a field of a generated card; raises `InputError` if it is missing or not a string."""
    text = _value(card, field, _MISSING)
    if text is _MISSING:
        raise InputError(f"generated card {number} has no {field!r}: {card!r:.60}")
    if not isinstance(text, str):
        raise InputError(
            f"generated card {number}: {field!r}: expected a string, got {shown(text)}"
        )
    return text


def type_of(card: Any) -> Any:
    """Return the type of a generated card, `None` without one."""
    return _plain_type(_value(card, CARD_TYPE, None))


def _plain_type(kind: Any) -> Any:
    return kind.value if isinstance(kind, Enum) else kind


def _value(card: Any, key: str, default: Any) -> Any:
    if isinstance(card, Mapping):
        return card.get(key, default)
    return getattr(card, key, default)


def by_case(ids: Sequence[str], data: Any, what: str) -> Mapping[str, Any]:
    """Key data by case id, given as such a mapping or as a list in the order of the cases."""
    if isinstance(data, Mapping):
        known = set(ids)
        if unknown := [name for name in data if name not in known]:
            names = ", ".join(f"{name!r:.80}" for name in unknown[:_MAX_IDS])
            raise InputError(f"{what}: {len(unknown)} for unknown cases: {names}")
        return data
    if isinstance(data, (str, bytes)) or not isinstance(data, Sequence):
        kind = type(data).__name__
        raise InputError(f"{what}: expected a mapping from case id, or a list, got {kind}")
    if len(data) != len(ids):
        raise InputError(f"{what}: {len(data)} for {len(ids)} cases; give one for each")
    return dict(zip(ids, data, strict=True))
