"""Texts and numbers as reports print them, and texts beside their facts."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import pytest

import factcheck
from factcheck.facts import AtomicFact, CoverageReport, Evidence, FactSet, Span, Texts
from factcheck.reports import render
from factcheck.reports.page import Mark, MarkedText, Page, RawText
from factcheck.reports.text import (
    LONGEST_QUOTE,
    interval_text,
    more_of,
    one_line,
    p_text,
    plural,
    share,
    shorten,
    signed,
    value_text,
    visible,
)
from tests.reports.examples import report_of, verdict

SOURCE = "The lake is deep. It froze in 1903.\nBoats cross it."
SUMMARY = "The lake froze in 1930."
HOSTILE = "<script>alert(1)</script>\u202eevil\x1b[31m </div>\n\tend"


def report() -> CoverageReport:
    froze = AtomicFact("f1", "The lake froze in 1903.", Span(18, 35))
    deep = AtomicFact("f2", "The lake is deep.", Span(0, 17))
    found = replace(
        verdict(froze, "contradicted", reason="says 1930, the fact says 1903"),
        evidence=Evidence(SUMMARY, 0, len(SUMMARY)),
    )
    return replace(report_of(found, verdict(deep, "neutral")), texts=Texts.of(SOURCE, SUMMARY))


def marked(page: str) -> list[tuple[str, str, str]]:
    return re.findall(r'<mark class="(\w+)" data-k="([^"]+)">([^<]*)</mark>', page)


def test_facts_are_marked_in_both_texts() -> None:
    named = report().named("lake.txt", "short.txt")
    assert marked(named.to_html()) == [
        ("warn", "f2", "The lake is deep."),
        ("bad", "f1", "It froze in 1903."),
        ("bad", "f1", "The lake froze in 1930."),
    ]
    assert "<script" not in named._repr_html_()


def test_where_marks_overlap_the_worst_shows_and_the_text_stands_once() -> None:
    marks = (Mark(0, 6, "a", "good"), Mark(3, 9, "b", "bad"), Mark(2, 2, "c", "warn"))
    page = Page("Name", texts=(MarkedText("Source", "", RawText("abc & def"), marks),))
    assert marked(render(page, "html")) == [
        ("good", "a", "ab"),
        ("good", "a", "c"),
        ("bad", "a b", " &amp; "),
        ("bad", "b", "def"),
    ]


@pytest.mark.parametrize(
    ("digest", "span", "summary", "n_marked"),
    [
        (None, Span(0, 17), SUMMARY, 3),
        ("0123", Span(0, 17), SUMMARY, 1),
        (None, Span(40, 99), SUMMARY, 1),
        (None, Span(40, 99), SUMMARY.replace("lake", "pond"), 0),
    ],
)
def test_places_that_do_not_fit_the_text_are_left_out(
    digest: str | None, span: Span, summary: str, n_marked: int
) -> None:
    """Facts of another version of the source, spans beyond its end, evidence not in the text."""
    found = replace(report(), texts=Texts.of(SOURCE, summary))
    facts = FactSet(
        tuple(replace(one.fact, span=span) for one in found.results), source_digest=digest
    )
    results = tuple(replace(one, fact=fact) for one, fact in zip(found.results, facts, strict=True))
    page = replace(found, facts=facts, results=results).to_html()
    assert sum(len(keys.split()) for _, keys, _ in marked(page)) == n_marked


def test_hostile_texts_are_shown_and_never_act() -> None:
    fact = AtomicFact("<b>", HOSTILE * 20_000, Span(0, 40))
    found = replace(
        report_of(verdict(fact, "neutral", reason=HOSTILE)),
        texts=Texts.of(HOSTILE * 20_000, "").named(HOSTILE, HOSTILE),
    )
    page = found.to_html()
    assert not any(character in page for character in "\u202e\x1b")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert (
        page.count("alert(1)") == 20_000 + page.split('class="findings"')[1].count("alert(1)") + 2
    )
    assert "(empty)" in page


def test_a_report_keeps_its_texts_and_the_quality_of_its_judge() -> None:
    facts = ["The lake is deep.", "Boats cross it."]
    found = factcheck.score(SOURCE, "A deep lake it is.", facts=facts, judge="local-fast")
    assert found.judge_quality.startswith("balanced accuracy 0.")
    assert CoverageReport.from_json(found.to_json()) == found


def test_evidence_is_never_cut_before_the_word_that_decided() -> None:
    fact = AtomicFact("f1", "The lake froze in 1903.")
    quote = "It was cold on the lake, " * 100 + "which froze in 1930" + ", or so they say" * 100
    found = verdict(fact, "contradicted", quote, "says 1930, the fact says 1903")
    shown = report_of(found).page().sections[0].items[0].quote
    assert "froze in 1930" in shown
    assert len(shown) < 600


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1.00"), (0.9999, ">0.99"), (0.0, "0.00"), (0.0001, "<0.01"), (2 / 3, "0.67")],
)
def test_a_share_is_perfect_only_if_it_is(value: float, shown: str) -> None:
    assert share(value, 2) == shown


def test_numbers_in_words() -> None:
    assert interval_text((0.5, 0.502), 2) == "0.500 – 0.502"
    assert interval_text((0.5, 0.5), 2) == "0.50 – 0.50"
    assert interval_text(None) == ""
    assert [signed(value) for value in (0.25, -0.25, -0.0001)] == ["+0.250", "-0.250", "+0.000"]
    assert [p_text(value) for value in (0.0001, 0.04)] == ["<0.001", "0.040"]
    assert [plural(1, "fact"), plural(1204, "fact")] == ["1 fact", "1,204 facts"]
    assert [more_of(0, "row"), more_of(2, "row")] == ["", "and 2 more rows"]


def test_long_quotes_are_cut_after_a_word() -> None:
    short = shorten(("word " * 100).strip())
    assert len(short) <= LONGEST_QUOTE
    assert short.endswith("word…")
    assert shorten("x" * 500) == "x" * (LONGEST_QUOTE - 1) + "…"
    assert shorten("brief") == "brief"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\n\tc\x00 \ud800", r"a\u001b[31mb c\u0000 \ud800"),
        ("pay \u202e001$", r"pay \u202e001$"),
        ("pass\u200dword", r"pass\u200dword"),
        ("1\u00a0000\u202f€", "1 000 €"),
        ("می‌خواهم 👩‍🚀 naïve 東京", "می‌خواهم 👩‍🚀 naïve 東京"),
    ],
)
def test_nothing_in_a_text_is_hidden(text: str, shown: str) -> None:
    """Joiners stay where a script or an emoji needs them."""
    assert one_line(text) == shown
    assert visible(shown) == shown


def test_values_show_the_kind_of_their_blanks() -> None:
    assert value_text("a\u00a0b\n") == r'"a\u00a0b\n"'
