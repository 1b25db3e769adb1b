"""What the report of a run over cards says of cards without partner: what they say and lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from factcheck.keywords import CaseResult, DatasetResult, EvalDataset, ExpectedCard
from factcheck.keywords.cards import CARD_TYPE
from factcheck.keywords.forms import Keyword, Not, SearchedText, occurs
from factcheck.keywords.results import Missed
from factcheck.keywords.settings import MatchSettings
from factcheck.reports.fields import share
from factcheck.reports.pages.model import Item, Section, more_of, name_text, shown_text

_LONGEST_FIELD = 80


class Texts(NamedTuple):
    """What the cards say, where that is known."""

    expected: Mapping[str, Sequence[ExpectedCard]]
    """By case id."""
    generated: Mapping[str, Sequence[Any] | None]
    """By case id; `None` where nothing was generated."""

    @classmethod
    def of(
        cls, dataset: EvalDataset | None, outputs: Mapping[str, Sequence[Any] | None] | None
    ) -> Texts:
        """The texts of a dataset and of the outputs for it."""
        cases = dataset.cases if dataset is not None else ()
        return cls({case.id: case.expected_cards for case in cases}, outputs or {})


def missed_section(run: DatasetResult, texts: Texts, limit: int) -> Section:
    """The first expected cards without partner, each with the nearest generated one."""
    found = [(case, missed) for case in run.scored for missed in case.missed]
    return Section(
        f"Missed {len(found):,}",
        "bad",
        "expected cards to which no generated one belongs; cards are counted from 1",
        items=tuple(
            _missed_item(case, missed, texts, run.settings) for case, missed in found[:limit]
        ),
        more=more_of(len(found) - limit, "missed card"),
    )


def _missed_item(case: CaseResult, missed: Missed, texts: Texts, settings: MatchSettings) -> Item:
    expected = _at(texts.expected.get(case.case_id), missed.expected)
    words = f"expected card {missed.expected + 1}"
    if expected is not None:
        words += f"   {_wanted(expected)}"
    return Item(
        name_text(case.case_id), words, tuple(_nearest(case, missed, expected, texts, settings))
    )


def _nearest(
    case: CaseResult,
    missed: Missed,
    expected: ExpectedCard | None,
    texts: Texts,
    settings: MatchSettings,
) -> Iterator[str]:
    """Why no card belongs to an expected one, and what the nearest one says and lacks."""
    if missed.nearest is None:
        if banned := _banned(expected, texts.generated.get(case.case_id) or ()):
            yield banned
        elif case.n_generated:
            yield "no generated card has any of it"
        else:
            yield "nothing was generated"
        return
    why = _why(case, missed, settings.threshold)
    yield f"nearest: card {missed.nearest + 1}, score {share(missed.score)}, {why}"
    card = _at(texts.generated.get(case.case_id), missed.nearest)
    if expected is None or card is None:
        return
    yield _said(card, expected)
    if lacking := _lacking(card, expected):
        yield f"lacks {lacking}"


def _why(case: CaseResult, missed: Missed, threshold: float) -> str:
    taken = [match for match in case.matches if match.generated == missed.nearest]
    if taken and missed.score >= threshold:
        return f"which belongs to expected card {taken[0].expected + 1}"
    return f"below the threshold of {threshold:g}"


def _banned(expected: ExpectedCard | None, cards: Sequence[Any]) -> str:
    """The first card with a keyword that must not occur, which makes it no match at all."""
    for number, card in enumerate(cards, 1):
        for name, words in expected.keywords.items() if expected else ():
            searched = SearchedText(str(_value(card, name)))
            broken = [word for word in words if isinstance(word, Not) and occurs(word, searched)]
            if broken:
                return f"card {number} has what must not occur in its {name}: {_words(broken)}"
    return ""


def _at(cards: Sequence[Any] | None, number: int) -> Any:
    return cards[number] if cards is not None and number < len(cards) else None


def _wanted(card: ExpectedCard) -> str:
    """The keywords of an expected card, field by field, and its type."""
    parts = [f"{name}: {_words(words) or '(none)'}" for name, words in card.keywords.items()]
    if card.card_type is not None:
        parts.append(f"type: {card.card_type}")
    return shown_text("; ".join(parts), 2 * _LONGEST_FIELD)


def _words(keywords: Sequence[Keyword]) -> str:
    return ", ".join(map(str, keywords))


def _said(card: Any, expected: ExpectedCard) -> str:
    parts = [
        f"{name}: “{shown_text(str(_value(card, name)), _LONGEST_FIELD)}”"
        for name in expected.keywords
    ]
    return "; ".join(parts)


def _lacking(card: Any, expected: ExpectedCard) -> str:
    """The keywords that a card lacks, or has though it must not, and the type if it is another."""
    parts = []
    for name, words in expected.keywords.items():
        searched = SearchedText(str(_value(card, name)))
        unmet = [word for word in words if occurs(word, searched) == isinstance(word, Not)]
        if unmet:
            parts.append(f"{name}: {_words(unmet)}")
    kind = _value(card, CARD_TYPE)
    if expected.card_type is not None and getattr(kind, "value", kind) != expected.card_type:
        parts.append(f"type: {expected.card_type}")
    return shown_text("; ".join(parts), 2 * _LONGEST_FIELD)


def _value(card: Any, name: str) -> Any:
    return card.get(name) if isinstance(card, Mapping) else getattr(card, name, None)


def extra_section(run: DatasetResult, texts: Texts, limit: int) -> Section:
    """The first generated cards that nobody expected."""
    found = ((case, number) for case in run.scored for number in case.extra)
    n_extra = sum(len(case.extra) for case in run.scored)
    return Section(
        f"Extra {n_extra:,}",
        "warn",
        "generated cards that nobody expected",
        items=tuple(_extra_item(case, number, texts) for case, number in islice(found, limit)),
        more=more_of(n_extra - limit, "extra card"),
    )


def _extra_item(case: CaseResult, number: int, texts: Texts) -> Item:
    words = f"card {number + 1}"
    card = _at(texts.generated.get(case.case_id), number)
    if isinstance(card, Mapping):
        said = (f"{k}: “{shown_text(str(v), _LONGEST_FIELD)}”" for k, v in card.items())
        words += f"   {shown_text('; '.join(said), 2 * _LONGEST_FIELD)}"
    return Item(name_text(case.case_id), words)
