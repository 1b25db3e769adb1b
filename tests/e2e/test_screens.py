"""Pages in Chromium: by keyboard, without serious findings of axe-core, and in notebooks.

axe-core is read from the folder in AXE, or from npm's global folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import factcheck
from factcheck import calibration, fields
from factcheck.facts import AtomicFact, CoverageReport, Evidence, Span, Texts
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import all_groups, both_directions, report_of, verdict

INPUTS = Path(__file__).parents[1] / "goldens" / "inputs"


def sample(name: str) -> str:
    return (files("factcheck") / "samples" / name).read_text("utf-8")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (INPUTS / name).read_text("utf-8").splitlines()]


@cache
def reports() -> tuple[CoverageReport, CoverageReport]:
    """The sample, and the sample without the second half of its summary."""
    source, summary = sample("harbour.txt"), sample("harbour_summary.txt")
    half = summary[: summary.index(".", len(summary) // 2) + 1]
    with factcheck.FactCoverage("local-fast") as scorer:
        facts = scorer.extract(source)
        whole, short = (scorer.score(source, text, facts=facts) for text in (summary, half))
    return whole.named("harbour.txt", "summary.txt"), short.named("harbour.txt", "short.txt")


def run() -> RunReport:
    whole, short = reports()
    failure = RecordFailure("lost", "unavailable", "no reply")
    return RunReport({"whole": whole, "short": short, "lost": failure})


def trust() -> str:
    text = {"source": sample("harbour.txt"), "summary": sample("harbour_summary.txt")}
    labels = [
        calibration.LabelledPair(str(n), "", "A deep lake.", "The lake is deep.", label=n < 2)
        for n in range(3)
    ]
    return calibration.trust("local-fast", [text], labels).to_html()


def evaluated_fields() -> str:
    gold, extracted = rows("gold.jsonl"), rows("extracted.jsonl")
    schema = fields.annotate_xeval(fields.infer_schema(gold))
    return fields.evaluate(gold, extracted, schema, id_field="id").to_html()


def notebook() -> str:
    cell = reports()[0]._repr_html_()
    return f'<!doctype html><html lang="en"><title>Notebook</title><body>{cell}</body></html>'


PAGES: dict[str, Callable[[], str]] = {
    "report": lambda: reports()[0].to_html(),  # noqa: PLW0108 - made when it is needed
    "verdicts": lambda: all_groups().to_html(),
    "claims": lambda: both_directions().to_html(),
    "run": lambda: run().to_html(),
    "compare": lambda: factcheck.compare(*reports()).to_html(),
    "trust": trust,
    "fields": evaluated_fields,
    "notebook": notebook,
}
html = cache(lambda name: PAGES[name]())


@cache
def axe() -> str:
    """The source of axe-core; empty where it is not found."""
    folder = os.environ.get("AXE")
    if folder is None and (npm := shutil.which("npm")):
        found = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
        folder = str(Path(found.stdout.strip()) / "axe-core")
    path = Path(folder or "", "axe.min.js")
    return path.read_text("utf-8") if folder and path.is_file() else ""


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(tab: Any, name: str) -> None:
    if not axe():
        pytest.skip("needs axe-core: npm install -g axe-core, or AXE=FOLDER of its axe.min.js")
    page = tab(html(name))
    page.evaluate(axe())
    assert serious(page) == []
    if name == "run":
        page.locator("[data-open]").last.click()
        page.locator("dialog .page").wait_for()
        assert serious(page) == []


def serious(page: Any) -> list[str]:
    """What axe finds, and what it finds of the colours where the page is dark."""
    page.emulate_media(color_scheme="light")
    found = page.evaluate("axe.run({iframes: false})")
    passed = [one["id"] for one in found["passes"]]
    assert len(passed) > 5
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate("axe.run({iframes: false, runOnly: ['color-contrast']})")
    assert bool(dark["passes"]) is ("color-contrast" in passed)
    return [
        f"{one['help']}: {[node['html'][:200] for node in one['nodes']][:3]}"
        for one in (*found["violations"], *dark["violations"])
        if one["impact"] in ("serious", "critical")
    ]


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
    chart = page.locator(".picture").evaluate(
        "chart => [chart.scrollWidth - chart.clientWidth, getComputedStyle(chart).backgroundColor]"
    )
    assert chart == [0, "rgba(0, 0, 0, 0)"]
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
