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
from factcheck.errors import InputError, located
from factcheck.facts import short_digest
from factcheck.keywords.forms import SUFFIX, Keyword, as_keyword_lists, without_suffix
from factcheck.metrics.evaluation import as_id, cases_by_id, require_keys
from factcheck.settings import require_list

CARD_TYPE = "card_type"
"""Key or attribute with the type of a card."""
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
        if keywords is not None and lists:
            raise InputError(f"give 'keywords' or <field>{SUFFIX}, not both")
        what = "an expected card"
        named = without_suffix(lists, what) if keywords is None else keywords
        object.__setattr__(self, "keywords", as_keyword_lists(named, what))
        object.__setattr__(self, CARD_TYPE, _plain_type(card_type))

    @classmethod
    def of(cls, item: Any) -> ExpectedCard:
        """Convert a mapping or an object with `<field>_keywords` and optionally `card_type`."""
        if isinstance(item, ExpectedCard):
            return item
        if isinstance(item, Mapping):
            lists = {str(key): words for key, words in item.items() if key != CARD_TYPE}
        else:
            lists = {name: getattr(item, name) for name in dir(item) if name.endswith(SUFFIX)}
        return cls(None, type_of(item), **lists)


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
        object.__setattr__(self, "id", as_id(self.id))
        require_string(self.text, f"case {self.id!r}: text")
        object.__setattr__(self, "expected_cards", as_expected_cards(self.expected_cards))

    @classmethod
    def of(cls, data: Any) -> CardCase:
        """Convert a mapping with `id`, `text` and `expected_cards`."""
        require_keys(data, "id", "expected_cards", optional=("text",))
        return cls(data["id"], data.get("text", ""), data["expected_cards"])

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
        cases = cases_by_id(self.cases, lambda case, _: (case.id, case))
        if not cases:
            raise InputError("the dataset has no cases")
        object.__setattr__(self, "cases", tuple(cases.values()))


def load_dataset(path: PathOrDash) -> CardDataset:
    """Load a dataset of cases with expected cards.

    Args:
        path: `.yaml`, `.yml` or `.json` with `name`, `version` and `cases`; a case has `id`, `text`
            and `expected_cards`; a card has lists of keywords, `<field>_keywords`, and optionally
            `card_type`. For the notation of keywords, see `factcheck.keywords.forms`.

    Raises:
        InputError: The file cannot be read, or has an unknown key, an invalid keyword or a
            duplicate id; names the file and the line of the case.
    """

    def read(item: Any, _: int) -> tuple[str, CardCase]:
        case = CardCase.of(item)
        return case.id, case

    data, cases = read_suite(path, read)
    name = data.get("name", "") or ("" if path == "-" else Path(path).stem)
    return CardDataset(tuple(cases), str(name), str(data.get("version", "")))


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

    def read(row: Any, _: int) -> tuple[str, Any]:
        require_keys(row, "id", "cards")
        return as_id(row["id"]), row["cards"]

    document = read_document(path)
    if isinstance(document.value, dict):
        return dict(document.value)
    return read_rows(document, document.value, (), read)


def read_suite(
    path: PathOrDash, read: Callable[[Any, int], tuple[str, T]]
) -> tuple[Mapping[str, Any], Iterable[T]]:
    """Read a list of cases, or an object with `cases`, which is returned, too."""
    document = read_document(path)
    if isinstance(document.value, list):
        return {}, read_rows(document, document.value, (), read).values()
    with document.at(()):
        require_keys(document.value, "cases", optional=("name", "version"))
    cases = read_rows(document, document.value["cases"], ("cases",), read)
    return document.value, cases.values()


def read_rows(
    document: Document, rows: Any, path: PathInValue, read: Callable[[Any, int], tuple[Any, T]]
) -> dict[Any, T]:
    """Read a list at `path` as values by unique keys; errors name the line of the row."""
    with document.at(path):
        if not isinstance(rows, list) or not rows:
            raise InputError(f"expected a list of one or more cases, got {shown(rows)}")
    return cases_by_id(rows, read, lambda number: document.at((*path, number - 1)))


def require_string(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a string, got {shown(value)}")


def as_expected_cards(cards: Any) -> tuple[ExpectedCard, ...]:
    """Convert mappings and objects with `<field>_keywords` attributes to expected cards."""
    found = []
    for number, card in enumerate(require_list("cards", cards), 1):
        with located(f"expected card {number}"):
            found.append(ExpectedCard.of(card))
    return tuple(found)


def field_text(card: Any, field: str, number: int) -> str:
    """Return a field of a generated card; raises `InputError` if it is not a string."""
    text = _value(card, field)
    require_string(text, f"generated card {number}: {field!r}")
    return str(text)


def type_of(card: Any) -> Any:
    """Return the type of a card, `None` without one."""
    return _plain_type(_value(card, CARD_TYPE))


def _plain_type(kind: Any) -> Any:
    return kind.value if isinstance(kind, Enum) else kind


def _value(card: Any, key: str) -> Any:
    if isinstance(card, Mapping):
        return card.get(key)
    return getattr(card, key, None)


def by_case(ids: Iterable[str], data: Any, what: str) -> Mapping[str, Any]:
    """Key data by case id, given as such a mapping or as a list in the order of the cases."""
    known = dict.fromkeys(ids)
    if isinstance(data, Mapping):
        if unknown := [name for name in data if name not in known]:
            names = ", ".join(f"{name!r:.80}" for name in unknown[:_MAX_IDS])
            raise InputError(f"{what}: {len(unknown)} for unknown cases: {names}")
        return data
    if isinstance(data, (str, bytes)) or not isinstance(data, Sequence):
        kind = type(data).__name__
        raise InputError(f"{what}: expected a mapping from case id, or a list, got {kind}")
    if len(data) != len(known):
        raise InputError(f"{what}: {len(data)} for {len(known)} cases; give one for each")
    return dict(zip(known, data, strict=True))
