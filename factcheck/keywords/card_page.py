"""Sections of the report on a run over cards: totals, cases, missed and extra cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from factcheck.errors import Failure
from factcheck.keywords.cards import CARD_TYPE, ExpectedCard, card_value
from factcheck.keywords.forms import Keyword, found_in, unmet_keywords
from factcheck.keywords.results import CaseResult, Missed, Scores
from factcheck.reports.page import MOST_ROWS, Case, Item, Section, Table, listed
from factcheck.reports.text import DASH, interval_text, more_of, name_text, quote_text, share
from factcheck.stats.intervals import Interval

_TITLES = ("recall", "precision", "F1", "average similarity")
_CASE_COLUMNS = ("case", "expected", "found", "matched", "recall", "precision", "F1", "similarity")
_ENOUGH = 20
"""Cases from which bootstrap intervals are wide enough."""
_LONGEST_FIELD = 80
_LONGEST_CARD = 160


class CardTexts(NamedTuple):
    """The contents of the cards by case id, where they are known."""

    expected: Mapping[str, Sequence[ExpectedCard]]
    generated: Mapping[str, Sequence[Any] | None]
    """`None` where nothing was generated."""


def totals_section(
    macro: Scores, micro: Scores, intervals: Mapping[str, Interval], n_cases: int
) -> Section:
    """Macro and micro scores with their intervals; of a single case one column."""
    several = n_cases > 1
    rows = [
        [
            title,
            *_value_and_interval(a, intervals.get(f"macro_{name}")),
            *_value_and_interval(b, intervals.get(f"micro_{name}")),
        ]
        for title, name, a, b in zip(_TITLES, Scores._fields, macro, micro, strict=True)
    ]
    columns = ("", "macro", "95 % interval", "micro", "95 % interval")
    few = f"; too narrow for fewer than {_ENOUGH} cases" if n_cases < _ENOUGH else ""
    return Section(
        "Totals",
        meaning="macro: cases are weighted equally; micro: cards are" if several else "",
        table=Table(columns, tuple(map(tuple, rows)))
        if several
        else Table(("", "", "95 % interval"), tuple((*row[:3],) for row in rows)),
        more=f"bootstrap intervals over cases{few}" if several else "Wilson intervals over cards",
    )


def _value_and_interval(value: float | None, interval: Interval | None) -> tuple[str, str]:
    return (DASH, "") if value is None else (share(value), interval_text(interval))


def cases_section(scored: Sequence[CaseResult]) -> Section:
    ordered = sorted(scored, key=lambda case: case.f1)
    left_out = ordered[MOST_ROWS:]
    more = more_of(len(left_out), "case")
    if left_out:
        lowest = left_out[0].f1
        more += f", with F1 {share(lowest)}" + (" or more" if lowest < 1.0 else "")
    rows = [
        (
            name_text(case.case_id),
            *(f"{n:,}" for n in (case.n_expected, case.n_generated, len(case.matches))),
            *(DASH if value is None else share(value) for value in case.counts.scores()),
        )
        for case in ordered[:MOST_ROWS]
    ]
    table = Table(_CASE_COLUMNS, tuple(rows), dispensable=("similarity", "found", "expected"))
    return Section(f"Cases {len(ordered):,}", meaning="lowest F1 first", table=table, more=more)


def junit_case(case: CaseResult | Failure[str]) -> Case:
    """Passed if every card has a partner; else skipped, because the gate takes the mean of F1."""
    if isinstance(case, Failure):
        return Case(case.subject, "error", "errored", case.code, (case.message,))
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
        parts = [f"{name}: {_words(own) or '(none)'}" for name, own in expected.keywords.items()]
        if expected.card_type is not None:
            parts.append(f"type: {expected.card_type}")
        text += f"   {quote_text('; '.join(parts), _LONGEST_CARD)}"
    if missed.nearest is None:
        why = "no generated card scores above 0" if case.n_generated else "nothing was generated"
        return Item(name_text(case.case_id), text, (why,))
    taken = [match for match in case.matches if match.generated == missed.nearest]
    why = f"below the threshold of {threshold:g}"
    if taken and missed.score >= threshold:
        why = f"matched with expected card {taken[0].expected + 1}"
    notes = [f"nearest: card {missed.nearest + 1}, score {share(missed.score)}, {why}"]
    card = _at(generated, missed.nearest)
    if expected is not None and card is not None:
        notes += _content(card, expected)
    return Item(name_text(case.case_id), text, tuple(notes))


def _content(card: Any, expected: ExpectedCard) -> Iterator[str]:
    """The fields of a card, and which keywords it lacks or must not have."""
    fields = {name: str(card_value(card, name)) for name in expected.keywords}
    yield _quoted(fields)
    lacking = [
        f"{name}: {_words(unmet)}"
        for name, words in expected.keywords.items()
        if (unmet := unmet_keywords(words, found_in(words, fields[name])))
    ]
    kind = card_value(card, CARD_TYPE)
    if expected.card_type is not None and getattr(kind, "value", kind) != expected.card_type:
        lacking.append(f"type: {expected.card_type}")
    if lacking:
        yield f"lacks {quote_text('; '.join(lacking), _LONGEST_CARD)}"


def extra_section(scored: Sequence[CaseResult], texts: CardTexts, limit: int) -> Section:
    """The first generated cards without a partner."""

    def item(one: tuple[str, int]) -> Item:
        name, number = one
        text, card = f"card {number + 1}", _at(texts.generated.get(name), number)
        if isinstance(card, Mapping):
            text += f"   {quote_text(_quoted(card), _LONGEST_CARD)}"
        return Item(name_text(name), text)

    return listed(
        "Extra",
        "warn",
        "generated cards without a matching expected card",
        [(case.case_id, number) for case in scored for number in case.extra],
        item,
        "extra card",
        limit,
    )


def _quoted(fields: Mapping[str, Any]) -> str:
    parts = (f"{name}: “{quote_text(str(v), _LONGEST_FIELD)}”" for name, v in fields.items())
    return "; ".join(parts)


def _words(keywords: Sequence[Keyword]) -> str:
    return ", ".join(map(str, keywords))


def _at(cards: Sequence[Any] | None, number: int) -> Any:
    return cards[number] if cards is not None and number < len(cards) else None
