"""What holds for every rendering, and what is special to one."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, CoverageReport, EntailmentLabel
from factcheck.facts.page import facts_text
from factcheck.reports import render
from factcheck.reports.markdown import escape
from factcheck.reports.table import WIDTH, renderable
from tests.reports.examples import all_groups, both_directions, report_of, verdict

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ["table", "markdown", "html", "junit"]
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


class Page(HTMLParser):
    """The visible text of a page, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the tag."""
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        """Remember the text."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All text, one piece a line."""
        return "\n".join(self.words)


def rendered_as(to: str, report: CoverageReport) -> str:
    """The report in one of the formats."""
    return render(report.page(), to)


def result_of(fact: AtomicFact, label: EntailmentLabel | None) -> CheckResult:
    """A verdict, or a failure for no label."""
    return verdict(fact, label) if label else CheckFailure(fact, "missing", "no answer")


def parsed(report: CoverageReport) -> ET.Element:
    """The report as JUnit XML, read back."""
    return ET.fromstring(rendered_as("junit", report))  # noqa: S314 - our own


def unfolded(text: str) -> str:
    """`text` with wrapped lines joined."""
    return " ".join(text.split())


@pytest.mark.parametrize("to", FORMATS)
@given(labels=st.lists(st.sampled_from(LABELS), min_size=1, max_size=12))
def test_every_fact_appears_exactly_once(to: str, labels: list[EntailmentLabel | None]) -> None:
    """No rendering loses a fact or shows one twice, whatever the verdicts."""
    facts = [AtomicFact(f"id{n}", f"Statement-{n}-ends.") for n in range(len(labels))]
    report = report_of(*(result_of(*pair) for pair in zip(facts, labels, strict=True)))

    rendered = rendered_as(to, report)

    assert [rendered.count(fact.text) for fact in facts] == [1] * len(facts)


@pytest.mark.parametrize("to", FORMATS)
def test_hundreds_of_facts_are_all_there(to: str) -> None:
    """Nothing is cut off at the end of a long list."""
    facts = [AtomicFact(f"f{n}", f"Statement-{n}-ends.") for n in range(400)]
    report = report_of(*(result_of(fact, LABELS[n % 4]) for n, fact in enumerate(facts)))

    rendered = rendered_as(to, report)

    assert all(rendered.count(fact.text) == 1 for fact in facts)


@pytest.mark.parametrize("to", FORMATS)
def test_evidence_reasons_and_messages_are_shown(
    to: str,
) -> None:
    """What stands behind a loss is there in every rendering."""
    rendered = rendered_as(to, all_groups())

    for word in ("quote-1", "reason-1", "quote-3", "reason-3", "message-2", "message-6"):
        assert rendered.count(word) == 1


@pytest.mark.parametrize("to", FORMATS)
def test_an_empty_report_can_be_rendered(to: str) -> None:
    """A report without facts claims no score."""
    rendered = rendered_as(to, report_of())

    assert "0.00" not in rendered
    assert "1.00" not in rendered


@pytest.mark.parametrize("to", FORMATS)
def test_must_and_weight_are_shown_at_the_fact(
    to: str,
) -> None:
    """A lost `must` fact cannot be overlooked."""
    fact = AtomicFact("f1", "Text.", must=True, weight=2.5, tags=("money",))

    rendered = rendered_as(to, report_of(verdict(fact, "neutral")))

    assert "must" in rendered
    assert "weight 2.5" in rendered
    assert "#money" in rendered


@pytest.mark.parametrize("text", NASTY)
def test_the_table_shows_texts_as_they_stand(text: str) -> None:
    """Rich markup and emoji codes in a fact are text."""
    report = report_of(verdict(AtomicFact("[red]", text), "contradicted", text + "!", text + "?"))

    assert unfolded(rendered_as("table", report)).count(text) == 3


@pytest.mark.parametrize("text", NASTY)
def test_the_page_shows_texts_as_they_stand(text: str) -> None:
    """HTML in a fact, a quote or a reason is text, and adds no tag."""
    plain = report_of(verdict(AtomicFact("f1", "Plain."), "neutral", "quoted", "reason"))
    nasty = report_of(verdict(AtomicFact("<i>", text), "neutral", text + "!", text + "?"))

    page = Page(rendered_as("html", nasty))

    assert page.text.count(text) == 3
    assert page.tags == Page(rendered_as("html", plain)).tags


@pytest.mark.parametrize("text", NASTY)
def test_junit_carries_texts_as_they_stand(text: str) -> None:
    """A parser gives back what was put in."""
    fact = AtomicFact("f1", text, must=True)
    root = parsed(report_of(verdict(fact, "neutral", text + "!", "because")))

    case = root.find("testsuite/testcase")
    assert case is not None
    assert case.attrib["name"] == f"f1 [must] {text}"
    assert case.findtext("failure") == f"“{text}!”\nbecause"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a | b", r"a \| b"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("*x* _y_ `z`", r"\*x\* \_y\_ \`z\`"),
        ("[a](b)", r"\[a\](b)"),
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("- no list", r"\- no list"),
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
    """Markup is escaped, plain prose is left readable."""
    assert escape(text) == escaped


def test_characters_that_xml_forbids_are_replaced() -> None:
    """The file parses whatever a fact holds."""
    fact = AtomicFact("f1", "a\x0bb \x00 \ud800 \ufffe c")

    root = parsed(report_of(CheckFailure(fact, "invalid", "\x01")))

    case = root.find("testsuite/testcase")
    assert case is not None
    assert case.attrib["name"] == r"f1 a b \u0000 \ud800 \ufffe c"


def test_junit_counts_failures_and_errors() -> None:
    """A gate that fails, fails for what is distorted and what must not be lost."""
    report = all_groups()
    must = replace(report.facts[1], must=True)
    marked = [replace(r, fact=must) if r.fact.id == "n1" else r for r in report.results]
    root = parsed(report_of(*marked))
    suite = root.find("testsuite")

    assert suite is not None
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "skipped", "errors")}
    assert counts == {"tests": "8", "failures": "2", "skipped": "1", "errors": "2"}
    outcomes = {
        case.attrib["name"].split()[0]: [child.tag for child in case]
        for case in suite.iter("testcase")
    }
    assert outcomes["n0"] == []
    assert outcomes["n1"] == ["failure"]
    assert outcomes["n2"] == ["error"]
    assert outcomes["n3"] == ["failure"]
    assert outcomes["n5"] == ["skipped"]


def test_junit_has_the_exact_score_as_a_property() -> None:
    """Numbers are not rounded for machines; one that is not known is not there."""
    root = parsed(all_groups())
    found = {p.attrib["name"]: p.attrib["value"] for p in root.iter("property")}

    assert float(found["score"]) == all_groups().score
    assert float(found["low"]) == all_groups().low
    assert found["signature"] == str(all_groups().signature)
    assert "faithfulness" not in found


@pytest.mark.parametrize("to", FORMATS)
def test_superfluous_claims_are_listed(to: str) -> None:
    """With both directions, claims that the source does not support are there once."""
    rendered = rendered_as(to, both_directions())

    assert "aithfulness" in rendered
    for claim in ("claim-two", "claim-three", "claim-four"):
        assert rendered.count(claim) == 1


def test_plain_text_has_no_colour_and_keeps_its_width() -> None:
    """`str(report)` is plain, at most 100 columns wide, without trailing blanks."""
    fact = AtomicFact("a-rather-long-identifier", "https://example.org/" + "§" * 300 + " end")
    text = str(report_of(verdict(fact, "contradicted", "long quote " * 30, "because")))

    assert "\x1b" not in text
    assert all(len(line) <= WIDTH and line == line.rstrip() for line in text.splitlines())
    assert text.count("§") == 300


def test_plain_text_ignores_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment changes nothing in `str(report)`."""
    expected = rendered_as("table", all_groups())
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")

    assert rendered_as("table", all_groups()) == expected


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_a_terminal_gets_colour_unless_it_refuses(environment: dict[str, str]) -> None:
    """Groups are coloured on a terminal; without colour their marks tell them apart."""
    console = Console(width=80, force_terminal=True, color_system="standard", _environ=environment)
    with console.capture() as capture:
        console.print(renderable(all_groups().page()))

    assert ("\x1b[1;31m" in capture.get()) is not bool(environment)
    assert all(mark in capture.get() for mark in "≠–?✓")


def test_the_first_line_is_the_score() -> None:
    """What is read first is the number with its counts and its interval."""
    first, second, *_ = rendered_as("table", all_groups()).splitlines()

    assert first.startswith(
        "Coverage 0.50   3 of 6 decided facts kept, 2 undecided   95 % interval"
    )
    assert second == "0.38 – 0.62 if every undecided fact were dropped / kept"


def test_the_page_asks_for_nothing() -> None:
    """No script, no link, no image, no address of another host."""
    page = rendered_as("html", all_groups())

    assert not Page(page).tags & {"script", "link", "img", "iframe", "object"}
    assert "http://" not in page
    assert "https://" not in page
    assert "url(" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_page_replaces_an_older_one(tmp_path: Path) -> None:
    """`to_html` writes the page; a folder that is not there is an error of one line."""
    target = tmp_path / "report.html"
    target.write_text("old", encoding="utf-8")

    all_groups().to_html(target)

    assert target.read_text(encoding="utf-8") == rendered_as("html", all_groups())
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="no folder"):
        all_groups().to_html(tmp_path / "missing" / "report.html")


def test_facts_are_listed_one_a_line() -> None:
    """Id, what sets it apart, statement."""
    facts = report_of(
        verdict(AtomicFact("f1", "Short\nlines."), "entailed"),
        verdict(AtomicFact("f10", "Long.", must=True), "entailed"),
    ).facts

    assert facts_text(facts).splitlines() == ["f1   Short lines.", "f10  [must]  Long."]
