"""Cards: datasets of expected ones, matched with generated ones by the keywords they contain.

A generated card is a mapping, or an object with attributes such as a dataclass, a named tuple or a
pydantic model.

A field scores the fraction of its keywords that occur, without forbidden ones. If a forbidden one
occurs, the field and the card score 0. A field with forbidden keywords only scores 1 if none
occurs, and one with an empty list scores 0. The fields of a card weigh equally; its type, if one is
expected, adds 0.2.

Greedy matching processes the expected cards in order, so an early card may take the only match of a
later one. The optimal assignment maximises the total score, independent of the order.

With no expected and no generated cards, recall, precision and F1 are 1; with cards on one side
only, they are 0. Scores are never NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from factcheck.documents import Document, PathInValue, PathOrDash, PlainData, shown
from factcheck.documents.reading import read_document
from factcheck.errors import InputError, located
from factcheck.facts import Usage, short_digest
from factcheck.keywords.forms import (
    SUFFIX,
    Keyword,
    as_keyword_lists,
    as_keywords,
    search,
    without_suffix,
)
from factcheck.metrics import (
    Identified,
    MetricReport,
    MetricResult,
    as_id,
    cases_by_id,
    require_keys,
    signature_of,
)
from factcheck.reports.page import Section, Table
from factcheck.reports.text import DASH, interval_text, share
from factcheck.settings import require_list, require_number
from factcheck.stats.intervals import assign
from factcheck.stats.resampling import mean_interval

CARD_TYPE = "card_type"
"""Key or attribute with the type of a card."""
THRESHOLD = 0.3
_TITLES = ("recall", "precision", "F1", "average similarity")
TYPE_WEIGHT = 0.2
"""Weight of the correct type in the score of a card with an expected type."""
Assignment = Literal["greedy", "optimal"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)
_MAX_IDS = 5
T = TypeVar("T", bound=Identified)


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


class Scores(NamedTuple):
    """Recall, precision, F1 and average similarity, in [0, 1]."""

    recall: float
    """Fraction of the expected cards that were matched."""
    precision: float
    """Fraction of the generated cards that were matched."""
    f1: float
    """Harmonic mean of recall and precision."""
    average_similarity: float | None
    """Mean score of the matched pairs; `None` without a match."""

    def as_plain(self) -> dict[str, float | None]:
        return self._asdict()

    @classmethod
    def of(cls, pairs: Sequence[float], n_expected: int, n_generated: int) -> Scores:
        """Compute the scores from those of the matched pairs."""
        n_cards = n_expected + n_generated
        default = 0.0 if n_cards else 1.0
        return cls(
            len(pairs) / n_expected if n_expected else default,
            len(pairs) / n_generated if n_generated else default,
            2 * len(pairs) / n_cards if n_cards else default,
            sum(pairs) / len(pairs) if pairs else None,
        )


@dataclass(frozen=True, slots=True)
class Match:
    """An expected card and a generated one, and how well they fit."""

    expected: int
    """Index of the expected card."""
    generated: int
    """Index of the generated card."""
    score: float
    """In [0, 1]."""
    similarities: Mapping[str, float]
    """Fraction of keywords that occur, by field."""
    right_type: bool | None
    """Whether it has the expected type; `None` if none is expected."""
    unmet: Mapping[str, tuple[str, ...]]
    """Descriptions of missing keywords and of forbidden ones that occur, by field."""


@dataclass(frozen=True, slots=True)
class Missed:
    """An expected card without a match."""

    expected: int
    """Index of the expected card."""
    nearest: int | None
    """Index of the generated card with the highest score, matched or not; `None` if all scores are
    0."""
    score: float
    """Score of that card: below the threshold, unless it was matched with another card."""
    unmet: Mapping[str, tuple[str, ...]]
    """As in `Match`, for that card; all keywords if there is none."""


@dataclass(frozen=True, slots=True)
class CaseResult(PlainData):
    """Scores, and the matched, missed and extra cards."""

    recall: float
    precision: float
    f1: float
    average_similarity: float | None
    """As in `Scores`, like the three above."""
    matches: tuple[Match, ...]
    """In the order of the expected cards."""
    missed: tuple[Missed, ...]
    """Expected cards without a match, in order."""
    extra: tuple[int, ...]
    """Indices of the generated cards without a match, in order."""


def keyword_similarity(keywords: Iterable[Any], text: str) -> float:
    """Return the fraction of keywords, strings or forms, that occur in a text; 0 without keywords.

    Raises `InputError` if a keyword is invalid or empty, or the text is not a string.
    """
    require_string(text, "text")
    return search(as_keywords(keywords, "keywords"), text).share


def score_pair(expected: Any, card: Any) -> float:
    """Score one pair of cards as `match_cards` does; 0 if a forbidden keyword occurs."""
    [expected_card] = as_expected_cards([expected])
    return _pair(0, expected_card, 0, card).score


def match_cards(
    expected: Iterable[Any],
    generated: Iterable[Any],
    threshold: float = THRESHOLD,
    *,
    assignment: Assignment = "greedy",
) -> CaseResult:
    """Match generated cards with expected ones, and list the unmatched ones of both.

    Args:
        expected: `ExpectedCard`s, or mappings or objects with `<field>_keywords` and optionally
            `card_type`. Their order affects greedy matching.
        generated: Mappings, or objects with attributes such as dataclasses or pydantic models.
        threshold: Minimum score of a pair, in [0, 1]; pairs with a score of 0 never match.
        assignment: `"greedy"`, or `"optimal"` for the maximum total score.

    Raises:
        InputError: A card or setting is invalid.
    """
    check_matching(threshold, assignment)
    wanted, cards = as_expected_cards(expected), require_list("cards", generated)
    pairs = []
    gains = np.zeros((len(wanted), len(cards)))
    for i, one in enumerate(wanted):
        row = [_pair(i, one, n, card) for n, card in enumerate(cards)]
        gains[i] = [pair.score if pair.score >= threshold else 0.0 for pair in row]
        pairs.append(row)
    partners = assign(gains) if assignment == "optimal" else _greedy(gains)
    matches = [pairs[i][n] for i, n in sorted(partners.items())]
    missed = [_missed(i, wanted[i], row) for i, row in enumerate(pairs) if i not in partners]
    extra = sorted({*range(len(cards))} - {*partners.values()})
    found = Scores.of([match.score for match in matches], len(wanted), len(cards))
    return CaseResult(*found, tuple(matches), tuple(missed), tuple(extra))


def check_matching(threshold: float, assignment: str) -> None:
    """Raise `InputError` for an invalid setting."""
    require_number("threshold", threshold, 0, high=1)
    if assignment not in ASSIGNMENTS:
        raise InputError(f"assignment must be one of {', '.join(ASSIGNMENTS)}, got {assignment!r}")


def _pair(i: int, expected: ExpectedCard, n: int, card: Any) -> Match:
    right_type, bonus = None, 0.0
    if expected.card_type is not None:
        right_type, bonus = type_of(card) == expected.card_type, TYPE_WEIGHT
    weight = (1 - bonus) * (1.0 / len(expected.keywords))
    score, is_forbidden = 0.0, False
    similarities, unmet = {}, {}
    for name, words in expected.keywords.items():
        text = _value(card, name)
        require_string(text, f"generated card {n + 1}: {name!r}")
        found = search(words, text)
        score += found.share * weight
        is_forbidden = is_forbidden or found.is_forbidden
        similarities[name] = found.share
        if found.unmet:
            unmet[name] = tuple(map(str, found.unmet))
    if right_type:
        score += bonus
    return Match(i, n, 0.0 if is_forbidden else min(1.0, score), similarities, right_type, unmet)


def _missed(i: int, expected: ExpectedCard, row: Sequence[Match]) -> Missed:
    nearest = max(row, key=lambda pair: pair.score, default=None)
    if nearest is not None and nearest.score > 0.0:
        return Missed(i, nearest.generated, nearest.score, nearest.unmet)
    empty = dict.fromkeys(expected.keywords, "")
    return Missed(i, None, 0.0, _pair(i, expected, 0, empty).unmet)


def _greedy(gains: Any) -> dict[int, int]:
    """Match each expected card in turn with the best card left, the first of equals."""
    partners: dict[int, int] = {}
    left = gains.copy()
    for i in range(len(gains)):
        if left[i].max(initial=0.0) > 0.0:
            partners[i] = int(left[i].argmax())
            left[:, partners[i]] = 0.0
    return partners


def as_expected_cards(cards: Any) -> tuple[ExpectedCard, ...]:
    """Convert mappings and objects with `<field>_keywords` attributes to expected cards."""
    found = []
    for number, card in enumerate(require_list("cards", cards), 1):
        with located(f"expected card {number}"):
            found.append(ExpectedCard.of(card))
    return tuple(found)


def type_of(card: Any) -> Any:
    """Return the type of a card, `None` without one."""
    return _plain_type(_value(card, CARD_TYPE))


def _plain_type(kind: Any) -> Any:
    return kind.value if isinstance(kind, Enum) else kind


def _value(card: Any, key: str) -> Any:
    if isinstance(card, Mapping):
        return card.get(key)
    return getattr(card, key, None)


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
    def of(cls, data: Any, number: int) -> CardCase:  # noqa: ARG003 - as of other cases
        """Convert a mapping with `id`, `text` and `expected_cards`."""
        if isinstance(data, CardCase):
            return data
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
        cases = cases_by_id(self.cases, CardCase.of)
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
            duplicate id; names the file and the place of the case.
    """
    data, cases = read_suite(path, CardCase.of)
    name = data.get("name", "") or ("" if path == "-" else Path(path).stem)
    return CardDataset(cases, str(name), str(data.get("version", "")))


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

    def read(row: Any, _: int) -> Row:
        require_keys(row, "id", "cards")
        return Row(as_id(row["id"]), row["cards"])

    document = read_document(path)
    if isinstance(document.value, dict):
        return dict(document.value)
    return {row.id: row.value for row in read_rows(document, document.value, (), read)}


@dataclass(frozen=True, slots=True, repr=False)
class CardRun(MetricReport):
    """Results of all cases of a dataset; the score of a case is F1."""

    DERIVED = (*MetricReport.DERIVED, "macro", "micro")
    format: ClassVar[str] = "factcheck-cards/4"
    FIGURE: ClassVar[str] = "mean F1"
    DETAILS: ClassVar[Any] = CaseResult

    def _columns(self) -> list[list[float]]:
        """Return the scores of the measured cases by name, without undefined ones."""
        columns: list[list[float]] = []
        for name in Scores._fields:
            scores = [getattr(one, name) for one in self.details()]
            columns.append([score for score in scores if score is not None])
        return columns

    @property
    def macro(self) -> Scores | None:
        """Mean scores of the cases, equally weighted; `None` if none was measured."""
        if not self.scores:
            return None
        recall, precision, f1, similarity = self._columns()
        average = fmean(similarity) if similarity else None
        return Scores(fmean(recall), fmean(precision), fmean(f1), average)

    @property
    def micro(self) -> Scores | None:
        """Scores over all cards of all cases; `None` if no case was measured."""
        cases = self.details()
        pairs = [match.score for case in cases for match in case.matches]
        n_expected = len(pairs) + sum(len(case.missed) for case in cases)
        n_generated = len(pairs) + sum(len(case.extra) for case in cases)
        if cases:
            return Scores.of(pairs, n_expected, n_generated)
        return None

    def tables(self) -> tuple[Section, ...]:
        """Return macro and micro scores; of a single case, they coincide."""
        macro, micro = self.macro, self.micro
        if macro is None or micro is None:
            return ()
        intervals = map(interval_text, map(mean_interval, self._columns()))
        rows = zip(_TITLES, map(_share, macro), map(_share, micro), intervals, strict=True)
        table = Table(("", "macro", "micro", "95 % interval of macro"), tuple(rows))
        meaning = "macro: cases are weighted equally; micro: cards are"
        return (Section("Totals", meaning=meaning, table=table),)


def _share(score: float | None) -> str:
    return DASH if score is None else share(score)


def evaluate_dataset(
    dataset: CardDataset,
    outputs: Mapping[str, Any] | Sequence[Any],
    threshold: float = THRESHOLD,
    *,
    assignment: Assignment = "greedy",
) -> CardRun:
    """Match the generated cards of every case with the expected ones.

    A case whose output is missing or invalid is errored. It is excluded from all scores and does
    not affect the other cases.

    Args:
        dataset: The expected cards.
        outputs: A mapping from case id to cards, or a list of cards for each case in order. Cards
            are mappings or objects with attributes, such as pydantic models.
        threshold: As in `match_cards`, like the next one.
        assignment: `"greedy"` or `"optimal"`.

    Raises:
        InputError: A setting is invalid, or the outputs are of an invalid type, name an unknown
            case, or differ in number from the cases.
    """
    check_matching(threshold, assignment)
    if not isinstance(dataset, CardDataset):
        kind = type(dataset).__name__
        raise InputError(f"expected a CardDataset, as from load_dataset, got {kind}")
    given = by_case((case.id for case in dataset.cases), outputs, "outputs")
    identity = {"assignment": assignment, "pair_threshold": f"{threshold:g}"}
    return CardRun(
        "cards",
        1.0,
        signature_of("cards", identity),
        Usage(),
        {
            case.id: _result(case, given.get(case.id), threshold, assignment)
            for case in dataset.cases
        },
        {case.id: case.digest for case in dataset.cases},
    )


def _result(case: CardCase, output: Any, threshold: float, assignment: Assignment) -> MetricResult:
    if output is None:
        return MetricResult.failed(InputError.code, "there is no output")
    try:
        cards = require_list("cards", output)
        found = match_cards(case.expected_cards, cards, threshold, assignment=assignment)
    except Exception as error:  # noqa: BLE001 - raised by the user's objects
        return MetricResult.of_error(error)
    is_right = found.f1 == 1.0
    return MetricResult.scored(
        found.f1,
        passed=is_right,
        reason="" if is_right else f"{len(found.missed):,} missed, {len(found.extra):,} extra",
        lines=[*_lines(found, cards, threshold)],
        details=found.to_dict(),
    )


def _lines(found: CaseResult, cards: Sequence[Any], threshold: float) -> Iterator[str]:
    """Describe the cards without a match; they are counted from 1."""
    partner = {match.generated: match.expected for match in found.matches}
    for missed in found.missed:
        lacking = _fields(missed.unmet)
        yield f"missed: expected card {missed.expected + 1}" + f", lacks {lacking}" * bool(lacking)
        if missed.nearest is None:
            yield "no generated card scores above 0" if cards else "nothing was generated"
            continue
        why = f"below the threshold of {threshold:g}"
        if missed.score >= threshold:
            why = f"matched with expected card {partner[missed.nearest] + 1}"
        content = _content(cards[missed.nearest])
        yield f"nearest: card {missed.nearest + 1}, score {share(missed.score)}, {why}{content}"
    for place in found.extra:
        yield f"extra: card {place + 1}{_content(cards[place])}"


def _content(card: Any) -> str:
    """Format the fields of a generated card that is a mapping."""
    if not isinstance(card, Mapping):
        return ""
    return f": {_fields({name: (f'“{value}”',) for name, value in card.items()})}"


def _fields(texts: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name}: {', '.join(lines)}" for name, lines in texts.items())


class Row(NamedTuple):
    """An output in a file, and the id of its case, in responses with the variant in front."""

    id: Any
    value: Any


def read_suite(
    path: PathOrDash, read: Callable[[Any, int], T]
) -> tuple[Mapping[str, Any], tuple[T, ...]]:
    """Read a list of cases, or an object with `cases`, which is returned, too."""
    document = read_document(path)
    if isinstance(document.value, list):
        return {}, read_rows(document, document.value, (), read)
    with located(document.place(())):
        require_keys(document.value, "cases", optional=("name", "version"))
    return document.value, read_rows(document, document.value["cases"], ("cases",), read)


def read_rows(
    document: Document, rows: Any, path: PathInValue, read: Callable[[Any, int], T]
) -> tuple[T, ...]:
    """Read a list at `path` as cases with unique ids; errors name the line of the row."""
    with located(document.place(path)):
        if not isinstance(rows, list) or not rows:
            raise InputError(f"expected a list of one or more cases, got {shown(rows)}")
    cases = cases_by_id(rows, read, lambda number: located(document.place((*path, number - 1))))
    return tuple(cases.values())


def require_string(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a string, got {shown(value)}")


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
