"""Sections of the report on a run over cards: totals, cases, missed and extra cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from factcheck.keywords.cards import CARD_TYPE, ExpectedCard
from factcheck.keywords.forms import Keyword, Not
from factcheck.keywords.matching import unmet_keywords
from factcheck.keywords.results import CaseResult, Missed, Scores
from factcheck.keywords.similarity import found_in
from factcheck.reports.page import MOST_ROWS, Case, Item, Section, Table, listed
from factcheck.reports.text import DASH, interval_text, more_of, name_text, quote_text, share
from factcheck.stats.intervals import Interval

MEASURES = {
    "recall": "recall",
    "precision": "precision",
    "f1": "F1",
    "average_similarity": "average similarity",
}
_CASE_COLUMNS = ("case", "expected", "found", "matched", "recall", "precision", "F1", "similarity")
_ENOUGH = 20
"""Cases from which bootstrap intervals are wide enough."""
_LONGEST_FIELD = 80
_LONGEST_CARD = 160


class CardTexts(NamedTuple):
    """The contents of the cards, where they are known."""

    expected: Mapping[str, Sequence[ExpectedCard]]
    """By case id."""
    generated: Mapping[str, Sequence[Any] | None]
    """By case id; `None` where nothing was generated."""


def totals_section(
    macro: Scores, micro: Scores, intervals: Mapping[str, Interval], n_cases: int
) -> Section:
    """Macro and micro scores with their intervals; of a single case one column."""
    several = n_cases > 1
    kinds = (("macro", macro), ("micro", micro)) if several else (("macro", macro),)
    rows = []
    for name, title in MEASURES.items():
        row = [title]
        for kind, scores in kinds:
            value = getattr(scores, name)
            interval = interval_text(intervals.get(f"{kind}_{name}"))
            row += [DASH, ""] if value is None else [share(value), interval]
        rows.append(tuple(row))
    columns = ("", "macro", "95 % interval", "micro", "95 % interval")
    few = f"; too narrow for fewer than {_ENOUGH} cases" if n_cases < _ENOUGH else ""
    method = f"bootstrap intervals over cases{few}" if several else "Wilson intervals over cards"
    return Section(
        "Totals",
        meaning="macro: cases are weighted equally; micro: cards are" if several else "",
        table=Table(columns if several else ("", "", "95 % interval"), tuple(rows)),
        more=method,
    )


def cases_section(scored: Sequence[CaseResult]) -> Section:
    """The cases, lowest F1 first."""
    ordered = sorted(scored, key=lambda case: case.f1)
    left_out = ordered[MOST_ROWS:]
    more = more_of(len(left_out), "case")
    if left_out:
        lowest = left_out[0].f1
        more += f", with F1 {share(lowest)}" + (" or more" if lowest < 1.0 else "")
    table = Table(
        _CASE_COLUMNS,
        tuple(map(_case_row, ordered[:MOST_ROWS])),
        dispensable=("similarity", "found", "expected"),
    )
    return Section(f"Cases {len(ordered):,}", meaning="lowest F1 first", table=table, more=more)


def _case_row(case: CaseResult) -> tuple[str, ...]:
    scores = case.counts.scores()
    counts = (case.n_expected, case.n_generated, len(case.matches))
    return (
        name_text(case.case_id),
        *(f"{count:,}" for count in counts),
        *(DASH if value is None else share(value) for value in scores),
    )


def junit_case(case: CaseResult) -> Case:
    """Passed if every card has a partner; else skipped, because the gate takes the mean of F1."""
    if not case.missed and not case.extra:
        return Case(case.case_id)
    message = f"F1 {case.f1:.3f}: {len(case.missed):,} missed, {len(case.extra):,} extra"
    details = [
        f"missed: expected card {missed.expected + 1}, nearest score {missed.score:.3f}"
        for missed in case.missed
    ]
    details += [f"extra: card {number + 1}" for number in case.extra]
    return Case(case.case_id, "skipped", message, "cards", tuple(details))


def missed_section(
    scored: Sequence[CaseResult], texts: CardTexts, threshold: float, limit: int
) -> Section:
    """The first expected cards without a partner, each with the nearest generated one."""
    return listed(
        "Missed",
        "bad",
        "expected cards without a matching generated card; cards are counted from 1",
        [(case, missed) for case in scored for missed in case.missed],
        lambda one: _missed_item(*one, texts, threshold),
        "missed card",
        limit,
    )


def _missed_item(case: CaseResult, missed: Missed, texts: CardTexts, threshold: float) -> Item:
    expected = _at(texts.expected.get(case.case_id), missed.expected)
    generated = texts.generated.get(case.case_id) or ()
    text = f"expected card {missed.expected + 1}"
    if expected is not None:
        text += f"   {_requirements(expected)}"
    if missed.nearest is None:
        notes = [_why_none(case, expected, generated)]
    else:
        notes = [*_nearest(case, missed, threshold)]
        card = _at(generated, missed.nearest)
        if expected is not None and card is not None:
            notes += _content(card, expected)
    return Item(name_text(case.case_id), text, tuple(notes))


def _why_none(case: CaseResult, expected: ExpectedCard | None, generated: Sequence[Any]) -> str:
    for number, card in enumerate(generated, 1):
        for name, words in expected.keywords.items() if expected else ():
            found = found_in(words, str(_value(card, name)))
            if forbidden := [word for word in words if isinstance(word, Not) and word in found]:
                return f"card {number} has a forbidden keyword in its {name}: {_words(forbidden)}"
    return "no generated card has any of it" if case.n_generated else "nothing was generated"


def _nearest(case: CaseResult, missed: Missed, threshold: float) -> Iterator[str]:
    taken = [match for match in case.matches if match.generated == missed.nearest]
    why = f"below the threshold of {threshold:g}"
    if taken and missed.score >= threshold:
        why = f"matched with expected card {taken[0].expected + 1}"
    if missed.nearest is not None:
        yield f"nearest: card {missed.nearest + 1}, score {share(missed.score)}, {why}"


def _content(card: Any, expected: ExpectedCard) -> Iterator[str]:
    """The fields of a card, and which keywords it lacks or must not have."""
    fields = {name: str(_value(card, name)) for name in expected.keywords}
    yield _quoted(fields)
    lacking = []
    for name, words in expected.keywords.items():
        if unmet := unmet_keywords(words, found_in(words, fields[name])):
            lacking.append(f"{name}: {_words(unmet)}")
    kind = _value(card, CARD_TYPE)
    if expected.card_type is not None and getattr(kind, "value", kind) != expected.card_type:
        lacking.append(f"type: {expected.card_type}")
    if lacking:
        yield f"lacks {quote_text('; '.join(lacking), _LONGEST_CARD)}"


def extra_section(scored: Sequence[CaseResult], texts: CardTexts, limit: int) -> Section:
    """The first generated cards without a partner."""
    return listed(
        "Extra",
        "warn",
        "generated cards without a matching expected card",
        [(case, number) for case in scored for number in case.extra],
        lambda one: _extra_item(*one, texts),
        "extra card",
        limit,
    )


def _extra_item(case: CaseResult, number: int, texts: CardTexts) -> Item:
    text = f"card {number + 1}"
    card = _at(texts.generated.get(case.case_id), number)
    if isinstance(card, Mapping):
        text += f"   {quote_text(_quoted(card), _LONGEST_CARD)}"
    return Item(name_text(case.case_id), text)


def _requirements(card: ExpectedCard) -> str:
    """The keywords of an expected card, field by field, and its type."""
    parts = [f"{name}: {_words(words) or '(none)'}" for name, words in card.keywords.items()]
    if card.card_type is not None:
        parts.append(f"type: {card.card_type}")
    return quote_text("; ".join(parts), _LONGEST_CARD)


def _quoted(fields: Mapping[str, Any]) -> str:
    parts = (f"{name}: “{quote_text(str(v), _LONGEST_FIELD)}”" for name, v in fields.items())
    return "; ".join(parts)


def _words(keywords: Sequence[Keyword]) -> str:
    return ", ".join(map(str, keywords))


def _at(cards: Sequence[Any] | None, number: int) -> Any:
    return cards[number] if cards is not None and number < len(cards) else None


def _value(card: Any, name: str) -> Any:
    return card.get(name) if isinstance(card, Mapping) else getattr(card, name, None)
