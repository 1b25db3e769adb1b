"""What holds for a coverage report in every format."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck.facts import AtomicFact, CheckFailure, CoverageReport, EntailmentLabel
from factcheck.reports import render
from factcheck.reports.markdown import escape
from factcheck.reports.table import WIDTH
from tests.reports.examples import all_groups, report_of, verdict

SHOWN = ["table", "markdown", "html", "junit"]
LABELS: list[EntailmentLabel | None] = ["entailed", "contradicted", "neutral", None]
NASTY = [
    "[bold]loud[/bold] :smile:",
    "<b>bold</b> &amp; <script>alert(1)</script>",
    "a | b | c",
    "*star* _line_ `tick` ~~gone~~",
    "Ünïcødé 東京の橋 🌉 مرحبا",
    "\"quoted\" 'and' \\backslash\\",
    "]]> <!-- --> {braces} %s $HOME",
]


def tags(page: str) -> set[str]:
    return set(re.findall(r"<(\w+)", page))


def parsed(report: CoverageReport) -> ET.Element:
    return ET.fromstring(render(report.page(), "junit"))  # noqa: S314 - our own


@pytest.mark.parametrize("to", [*SHOWN, "csv"])
@given(labels=st.lists(st.sampled_from(LABELS), min_size=1, max_size=12))
@example(labels=LABELS * 100)
def test_every_fact_appears_exactly_once(to: str, labels: list[EntailmentLabel | None]) -> None:
    facts = [AtomicFact(f"id{n}", f"Statement-{n}-ends.") for n in range(len(labels))]
    report = report_of(
        *(
            verdict(fact, label) if label else CheckFailure(fact, "missing", "no answer")
            for fact, label in zip(facts, labels, strict=True)
        )
    )
    rendered = render(report.page(), to)
    assert [rendered.count(fact.text) for fact in facts] == [1] * len(facts)


@pytest.mark.parametrize("text", NASTY)
def test_texts_are_shown_as_they_stand(text: str) -> None:
    """Markup in a fact, a quote or a reason is text in every format; Markdown has its own test."""
    report = report_of(verdict(AtomicFact("<[red]>", text), "contradicted", text + "!", text + "?"))
    plain = report_of(verdict(AtomicFact("f1", "Plain."), "contradicted", "quoted", "reason"))
    page = report.to_html()
    assert " ".join(str(report).split()).count(text) == 3
    assert html.unescape(re.sub(r"<[^>]*>", "", page)).count(text) == 3
    assert tags(page) == tags(plain.to_html())
    case = parsed(report).find("testsuite/testcase")
    assert case is not None
    assert case.attrib["name"] == f"<[red]> {text}"
    assert case.findtext("failure") == f"“{text}!”\n{text}?"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<b>&", "&lt;b&gt;&amp;"),
        ("ask @octocat", "ask @<!-- -->octocat"),
        ("mail a@b.example", "mail a@<!-- -->b.example"),
        ("see #1 and GH-2", "see #<!-- -->1 and GH-<!-- -->2"),
        ("at https://a.example", "at https:<!-- -->//a.example"),
        ("www.a.example", "www<!-- -->.a.example"),
        ("so :tada: it", "so :<!-- -->tada: it"),
        ("at 12:30:45, a # or @ alone", "at 12:30:45, a # or @ alone"),
        ("3.5 metres", "3.5 metres"),
        ("Plain - text, no. 1.", "Plain - text, no. 1."),
    ],
)
def test_markdown_escapes_what_could_act(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_junit_parses_whatever_a_fact_holds() -> None:
    fact = AtomicFact("f1", "a\x0bb \x00 \ud800 \ufffe c")
    case = parsed(report_of(CheckFailure(fact, "invalid", "\x01"))).find("testsuite/testcase")
    assert case is not None
    assert case.attrib["name"] == r"f1 a b \u0000 \ud800 \ufffe c"


def test_plain_text_has_no_colour_and_keeps_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """`str(report)` is plain, at most 100 columns wide, without trailing blanks, everywhere."""
    fact = AtomicFact("a-rather-long-identifier", "https://example.org/" + "§" * 300 + " end")
    report = report_of(verdict(fact, "contradicted", "long quote " * 30, "because"))
    text = str(report)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    assert str(report) == text
    assert "\x1b" not in text
    assert all(len(line) <= WIDTH and line == line.rstrip() for line in text.splitlines())
    assert text.count("§") == 300


def test_the_page_requests_nothing() -> None:
    """No script, no link, no image, no address of another host."""
    page = all_groups().to_html()
    assert not tags(page) & {"script", "link", "img", "iframe", "object"}
    assert not any(word in page for word in ("http://", "https://", "url("))
    assert "prefers-color-scheme: dark" in page
