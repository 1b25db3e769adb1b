"""The pages in headless Chromium: reports and runs by keyboard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from factcheck.facts import AtomicFact, CoverageReport, Evidence, Span, Texts
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import report_of, verdict

SOURCE = "It froze in 1903.\n" + "Nothing happened for years.\n" * 200 + "The lake is deep."


def report(label: Any = "contradicted") -> CoverageReport:
    froze = AtomicFact("f1", "The lake froze in 1903.", Span(0, 17))
    deep = AtomicFact("f2", "The lake is deep.", Span(len(SOURCE) - 17, len(SOURCE)))
    found = replace(verdict(froze, label), evidence=Evidence("froze in 1930", 9, 22))
    texts = Texts.of(SOURCE, "The lake froze in 1930.").named("lake.txt", "short.txt")
    return replace(report_of(found, verdict(deep, "neutral")), texts=texts)


def lit(page: Any) -> list[str]:
    """The marked texts that have a background."""
    marks = page.locator("mark").evaluate_all(
        "marks => marks.map(mark => [mark.innerText, getComputedStyle(mark).backgroundColor])"
    )
    return [text for text, colour in marks if colour != "rgba(0, 0, 0, 0)"]


def test_a_fact_lights_its_places(tab: Any) -> None:
    page = tab(report().to_html())
    page.locator("li", has_text="froze in 1903").hover()
    assert lit(page) == ["It froze in 1903.", "froze in 1930"]
    deep = page.locator("li", has_text="The lake is deep.")
    deep.focus()
    assert lit(page) == ["The lake is deep."]
    pane = page.locator(".pane").first.bounding_box()
    mark = page.locator("mark.lit").bounding_box()
    assert pane["y"] <= mark["y"] <= pane["y"] + pane["height"]
    page.locator("mark", has_text="froze in 1930").click()
    assert "The lake froze in 1903." in page.evaluate("document.activeElement.innerText")


def test_a_run_sorts_and_each_row_opens_its_pair(tab: Any) -> None:
    failure = RecordFailure("lost", "unavailable", "no reply")
    run = RunReport({"good": report("entailed"), "bad": report(), "lost": failure})
    page = tab(run.to_html(), viewport={"width": 390, "height": 800}, color_scheme="dark")
    names = page.locator("[data-open]")
    assert names.all_inner_texts() == ["lost", "bad", "good"]
    page.get_by_role("button", name="coverage").click()
    assert names.all_inner_texts() == ["good", "bad", "lost"]
    names.nth(1).focus()
    page.keyboard.press("Enter")
    page.locator("dialog mark", has_text="froze in 1930").wait_for()
    page.get_by_role("button", name="Next").click()
    page.locator("dialog", has_text="no reply").wait_for()
    page.keyboard.press("Escape")
    page.locator("[data-open]:focus", has_text="lost").wait_for()
