"""The pages in headless Chromium: reports and runs by keyboard, reviews by one key a verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from factcheck.calibration import LabelledPair, read_pairs
from factcheck.calibration.agreement_labels import Answer
from factcheck.calibration.review import render
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


NASTY = "The lake </script><script>document.title='owned'</script> froze \u202ein 1903."
ROWS = [
    LabelledPair(
        str(n % 4), "", f"Text {n % 4}.\nThe lake froze.", NASTY if n == 5 else f"Fact {n}"
    )
    for n in range(20)
]
ANSWERS = [Answer(None) if n < 4 else Answer(entailed=True, probability=0.99) for n in range(20)]


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def count(page: Any) -> str:
    return str(page.locator("#count").inner_text())


def test_one_key_a_verdict_and_the_command_reads_what_is_saved(tab: Any, tmp_path: Path) -> None:
    page = tab(render(ROWS, ANSWERS))
    keys = ["1", "k", "2", "x", "3", "d", "2", "u", "1", "Backspace", "1", *"112211221122", "1"]
    press(page, *keys)
    assert count(page) == "20 of 20 seen, 18 labelled"
    assert len(keys) <= 1.2 * 20
    assert page.title() == "Review of facts"
    with page.expect_download() as saved:
        press(page, "s")
    data, labels = tmp_path / "data.jsonl", tmp_path / "labels.jsonl"
    saved.value.save_as(labels)
    data.write_text("".join(json.dumps(row._asdict()) + "\n" for row in ROWS), "utf-8")
    found = read_pairs(data, labels)
    assert [pair._replace(label=None, chance=1.0) for pair in found] == ROWS
    assert sum(pair.label is None for pair in found) == 2
    assert sum(pair.label is True for pair in found) == keys_for(True, keys)
    assert {pair.chance for pair in found} == {1.0}


def keys_for(label: bool, keys: list[str]) -> int:  # noqa: FBT001 - a label
    """How many labels are left after each undo."""
    given: list[bool | None] = []
    for key in keys:
        if key in ("u", "Backspace"):
            given.pop()
        else:
            given.append({"1": True, "k": True, "2": False, "x": False}.get(key))
    return given.count(label)


def test_labels_are_kept_and_chances_saved(tab: Any, tmp_path: Path) -> None:
    html = render(ROWS, ANSWERS)
    page = tab(html)
    seen = []
    for _ in range(4):
        seen.append(page.locator("#text").inner_text().split("\n")[0])
        press(page, "1")
    assert sorted(seen) == [f"Text {n}." for n in range(4)]
    page.reload()
    assert count(page) == "4 of 20 seen, 4 labelled"
    page.get_by_role("button", name="cannot tell").click()
    assert count(page) == "5 of 20 seen, 4 labelled"
    with page.expect_download() as saved:
        page.get_by_role("button", name="save").click()
    saved.value.save_as(tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert len(rows) == 4
    assert all(0 < row["chance"] < 1 and row["label"] is True for row in rows)


def test_what_a_fact_holds_is_shown_and_never_run(tab: Any) -> None:
    page = tab(render(ROWS[5:6], ANSWERS[5:6]), color_scheme="dark")
    assert r"</script><script>document.title='owned'</script> froze \u202ein 1903." in (
        page.locator("#fact").inner_text()
    )
    assert page.title() == "Review of facts"
    assert page.locator("#text mark").all_inner_texts() == ["lake", "froze"]
    press(page, "x")
    assert page.locator("#fact").inner_text().startswith("Done")
    press(page, "x", "q")
    assert count(page) == "1 of 1 seen, 1 labelled"


def test_labels_that_are_there_are_filled_in(tab: Any) -> None:
    rows = [row._replace(label=n == 0) if n < 2 else row for n, row in enumerate(ROWS)]
    page = tab(render(rows, ANSWERS), viewport={"width": 390, "height": 800})
    assert count(page) == "2 of 20 seen, 2 labelled"
