"""What every renderer makes of a page, whatever it reports on, and of a coverage report."""

from __future__ import annotations

import csv
import html
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from factcheck.errors import ConfigError, InputError
from factcheck.facts import AtomicFact, CheckFailure
from factcheck.reports import FORMATS, Report, render
from factcheck.reports.markdown import escape
from factcheck.reports.page import (
    Alert,
    Case,
    Item,
    Page,
    Part,
    Section,
    Svg,
    Table,
    entries,
    filled,
    parts_of,
)
from factcheck.reports.table import WIDTH, for_stdout
from factcheck.reports.table import render as table
from factcheck.reports.text import one_line
from tests.reports.examples import all_groups, report_of, verdict

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
MARKUP = [
    *"a1@ #*_`~<>&[]()!|\\-+=.:/$\"'{}", "http", "www", "GH-", "&amp;", "1.", " - ", " #", "b.c",
    "mailto:", "<!--", "-->",
]  # fmt: skip
HIDDEN = "a\x1b[31m\u202e\u200bz"
TABLE = Table(
    ("field", "P", "R", "support", "F1"),
    (("address.city", "0.500", "0.250", "12", "0.333"), ("name", "<0.001", "1.000", "3", "0.001")),
)
PAGE = Page(
    "F1",
    "0.713",
    "3 of 4 records",
    "95 % interval 0.500 – 0.800",
    ("line one",),
    parts_of(("good", 3, "right"), ("bad", 0, "wrong"), ("warn", 1, "missing")),
    (
        Section("Fields", meaning="costliest first; gain: what it costs", table=TABLE),
        Section(
            "Examples",
            "bad",
            items=(
                Item("r1", "city Oslo → Bergen", ("a note",), aside="2 times"),
                Item("r2", "street", badges=("must", "#tag"), quote="said so"),
            ),
            more="and 7 more",
            mark="≠",
        ),
        Section("Right", "good", items=(Item("r3", "all of it"),)),
    ),
    entries(("Judge", "local"), ("Usage", ""), ("Signature", "judge:local|version:0")),
    (Alert("1 must field lost"), Alert("2 fields undecided", "unknown")),
    suite="fields",
    cases=(
        Case("r1", "failed", "mismatch", "mismatch", ("Oslo → Bergen",)),
        Case("r2", "error", "no answer"),
        Case("r3", "skipped", "allowed"),
        Case("r4"),
    ),
)


@dataclass(frozen=True, repr=False)
class Rows(Report):
    """A result with rows of its own."""

    name: str = "=1+1"

    def page(self) -> Page:

        def rows() -> Iterator[dict[str, object]]:
            yield {"name": self.name, "value": 0.5, "parts": ["a", HIDDEN]}
            yield {"name": "b", "value": None, "parts": True}

        return Page("Rows", "2", columns=("name", "value", "parts"), rows=rows)


@pytest.mark.parametrize("to", ["table", "markdown", "html"])
def test_every_part_of_a_page_is_shown(to: str) -> None:
    shown = render(PAGE, to)
    for words in (
        "0.713", "3 of 4 records", "0.500 – 0.800", "line one", "Fields", "costliest first",
        "gain: what it costs", "0.333", "Oslo", "Bergen", "2 times", "must", "#tag", "“said so”",
        "a note", "and 7 more", "≠ Examples" if to == "markdown" else "Examples", "Judge",
        "1 must field lost", "2 fields undecided",
    ):  # fmt: skip
        assert words in shown
    assert "Usage" not in shown


@pytest.mark.parametrize(("width", "name"), [(60, "address.city"), (40, "addr…city")])
def test_a_narrow_table_cuts_names(width: int, name: str) -> None:
    assert re.search(rf"^{name} +0.500 +0.250 +12 +0.333$", table(PAGE, width), re.MULTILINE)


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_hidden_gets_through(to: str) -> None:
    item = Item(HIDDEN, HIDDEN, (HIDDEN,), HIDDEN, (HIDDEN,), HIDDEN, HIDDEN)
    section = Section(
        HIDDEN, "bad", HIDDEN, Table((HIDDEN,), ((HIDDEN,),)), (item,), HIDDEN, HIDDEN
    )
    page = Page(
        HIDDEN, HIDDEN, HIDDEN, HIDDEN, (HIDDEN,), (Part("bad", 1, HIDDEN, HIDDEN),), (section,),
        entries((HIDDEN, HIDDEN)), (Alert(HIDDEN),), suite=HIDDEN,
        cases=(Case(HIDDEN, "failed", HIDDEN, HIDDEN, (HIDDEN,)),),
        columns=("name",), rows=lambda: [{"name": HIDDEN}],
    )  # fmt: skip
    shown = render(page._replace(also=(page,)), to)

    assert not {"\x1b", "\u202e", "\u200b"} & set(shown)
    assert r"\u202e\u200bz" in shown.replace("\\\\", "\\").replace("\n", "")


@given(st.lists(st.sampled_from(MARKUP), min_size=1, max_size=9).map("".join))
def test_markdown_shows_texts_as_they_stand(text: str) -> None:
    """Read by a parser of its own, an escaped text is the text, wherever it stands."""
    text = one_line(text) or "x"
    for before, after in (("", ""), ("- ", ""), ("## ", ""), ("> ", ""), ("**", "**")):
        shown = MARKDOWN.render(f"{before}{escape(text)}{after}").replace("<!-- -->", "")
        assert html.unescape(re.sub(r"<[^>]*>", "", shown)).strip() == text
        assert set(re.findall(r"<(\w+)", shown)) <= {"p", "ul", "li", "h2", "blockquote", "strong"}


def test_a_picture_is_in_the_page_as_it_is() -> None:
    svg = Svg('<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>')
    page = Page("Page", sections=filled(Section("Curve", picture=svg), Section("Empty"), None))
    assert '<div class="picture"><svg viewBox="0 0 1 1">' in render(page, "html")
    assert "svg" not in render(page, "markdown")
    assert len(page.sections) == 1


def test_csv_takes_no_cell_for_a_formula() -> None:
    rows = list(csv.reader(io.StringIO(render(Rows().page(), "csv"))))
    assert rows == [
        ["name", "value", "parts"],
        ["'=1+1", "0.5", r'["a", "a\u001b[31m\u202e\u200bz"]'],
        ["b", "", "true"],
    ]
    with pytest.raises(InputError, match="unknown report format 'pdf'; use table, markdown"):
        render(PAGE, "pdf")


def test_a_result_has_every_rendering_of_its_page(tmp_path: Path) -> None:
    result = Rows("a")
    assert repr(result) == "<Rows: Rows 2>"
    assert f"{result}\n" == render(result.page())
    assert result.to_markdown() == render(result.page(), "markdown")
    assert "<h1>Rows 2</h1>" in html.unescape(result._repr_html_())
    assert result.to_html(tmp_path / "page.html") == result.to_html()
    assert (tmp_path / "page.html").read_text("utf-8") == result.to_html()
    assert result.to_pandas().to_dict("list")["name"] == ["a", "b"]


def test_a_data_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pip install pandas"):
        Rows().to_pandas()


def test_standard_output_gets_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert for_stdout(PAGE) == render(PAGE)
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", "60")
    assert "F1 0.713" in for_stdout(PAGE)
    assert for_stdout(PAGE) != render(PAGE)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<b>&", "&lt;b&gt;&amp;"),
        ("ask @octocat", "ask @<!-- -->octocat"),
        ("see #1 and GH-2", "see #<!-- -->1 and GH-<!-- -->2"),
        ("at https://a.example", "at https:<!-- -->//a.example"),
        ("so :tada: it", "so :<!-- -->tada: it"),
        ("at 12:30:45, a # or @ alone", "at 12:30:45, a # or @ alone"),
        ("Plain - text, no. 1.", "Plain - text, no. 1."),
    ],
)
def test_markdown_escapes_what_could_act(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_junit_parses_whatever_a_fact_holds() -> None:
    fact = AtomicFact("f1", "a\x0bb \x00 \ud800 \ufffe c")
    page = report_of(CheckFailure(fact, "invalid", "\x01")).page()
    case = ET.fromstring(render(page, "junit")).find("testsuite/testcase")  # noqa: S314 - our own
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
    tags = set(re.findall(r"<(\w+)", page))
    assert not tags & {"script", "link", "img", "iframe", "object"}
    assert not any(word in page for word in ("http://", "https://", "url("))
    assert "prefers-color-scheme: dark" in page
