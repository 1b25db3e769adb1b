"""The page at the address of a service in headless Chromium, with real clicks and keys."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from factcheck.calibration import read_pairs
from factcheck.facts import CoverageReport
from tests.e2e.test_screens import axe, serious
from tests.server.conftest import Judge, api_key, app_of

Serve = Callable[[Any], str]
LAST = "The lake froze in 1903."
SOURCE = " ".join([*(f"The pier has {n} lamps." for n in range(33)), LAST])
SUMMARY = "A pier, and a lake that froze in 1930."
PHONE = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}


def verdict(fact: str, _: str) -> Any:
    if fact == LAST:
        return "contradicted"
    return "entailed" if "3 lamps" in fact else "neutral"


class Patient(Judge):
    """Judges the last two facts, or all of them, only once it may."""

    def __init__(self) -> None:
        super().__init__(verdict)
        self.may = threading.Event()

    async def check(self, facts: Any, *others: Any) -> Any:
        while len(facts) in {2, 34} and not self.may.is_set():  # noqa: ASYNC110 - of another loop
            await asyncio.sleep(0.01)
        return await super().check(facts, *others)


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def says(page: Any, text: str) -> None:
    page.locator("#said", has_text=text).wait_for()


def saved(page: Any, name: str, path: Path) -> Path:
    with page.expect_download() as download:
        press(page, name)
    path = path / download.value.suggested_filename
    download.value.save_as(path)
    return path


def checked(page: Any, source: str = SOURCE) -> None:
    page.get_by_role("textbox", name="Source").fill(source)
    page.get_by_role("textbox", name="Summary").fill(SUMMARY)
    press(page, "Check")
    page.locator("#report .findings").wait_for()


def test_facts_appear_and_get_their_colour_as_verdicts_come(
    visit: Any, serve: Serve, tmp_path: Path
) -> None:
    """By keyboard alone."""
    judge = Patient()
    page = visit(serve(app_of(judge)), **PHONE)
    page.locator("#judge option", has_text="main").wait_for(state="attached")
    page.keyboard.press("Tab")
    page.keyboard.insert_text(SOURCE)
    page.keyboard.press("Tab")
    page.keyboard.insert_text(SUMMARY)
    page.keyboard.press("Control+Enter")
    says(page, "32 of 34 facts checked: 3 kept, 29 dropped.")
    facts = page.locator("#facts li")
    assert facts.count() == 34
    assert facts.nth(3).get_attribute("class").strip() == "good"
    assert not facts.nth(33).get_attribute("class")
    judge.may.set()
    page.locator("#report .findings").wait_for()
    says(page, "34 of 34 facts checked: 3 kept, 1 distorted, 30 dropped.")
    assert page.evaluate("document.documentElement.scrollWidth") == 390

    report = CoverageReport.from_json(saved(page, "Download JSON", tmp_path).read_text("utf-8"))
    assert (report.counts["kept"], report.score) == (3, 3 / 34)
    html = saved(page, "Download HTML", tmp_path).read_text("utf-8")
    assert report.to_html() == html


def test_labels_are_read_by_the_agreement_benchmark(
    visit: Any, serve: Serve, tmp_path: Path
) -> None:
    page = visit(serve(app_of(Judge(verdict))))
    checked(page)
    for name, text in (("not stated", LAST), ("not stated", "23 lamps"), ("stated", "23 lamps")):
        item = page.locator("#report li", has_text=text)
        item.get_by_role("button", name=name, exact=True).click()
    other = page.locator("#report li", has_text="8 lamps").first
    for _ in range(2):
        other.get_by_role("button", name="stated", exact=True).click()
    says(page, "2 labelled.")
    found = read_pairs(saved(page, "Download labels.jsonl", tmp_path))

    assert [(pair.text, pair.fact, pair.label) for pair in found] == [
        (SUMMARY, LAST, False),
        (SUMMARY, "The pier has 23 lamps.", True),
    ]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_copied_code_gives_the_report_of_the_page(visit: Any, serve: Serve) -> None:
    url = serve(app_of(Judge(verdict)))
    page = visit(url, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("textbox", name="Source").fill(f"It's 5 $HOME 'quoted'. {LAST}")
    page.get_by_role("textbox", name="Summary").fill('Back\\slash, "quotes"\nand lines')
    for name in ("Copy as curl", "Copy as Python"):
        press(page, name)
        says(page, "Copied.")
        code = page.locator("#code").inner_text()
        assert page.evaluate("navigator.clipboard.readText()") == code
        if name.endswith("curl"):
            done = subprocess.run(  # noqa: S603 - what the page offers
                ["/bin/bash", "-euc", code], capture_output=True, text=True, check=True
            )
            report = CoverageReport.from_json(done.stdout)
        else:
            scope: dict[str, Any] = {}
            exec(code, scope)  # noqa: S102 - what the page offers
            report = scope["report"]
        assert [fact.text for fact in report.facts] == ["It's 5 $HOME 'quoted'.", LAST]
        assert report.texts is not None
        assert report.texts.summary.text == 'Back\\slash, "quotes"\nand lines'


def drop(page: Any, target: str, name: str, data: bytes) -> None:
    files = page.evaluate_handle(
        """([name, bytes]) => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([new Uint8Array(bytes)], name));
            return dropped;
        }""",
        [name, list(data)],
    )
    page.dispatch_event(target, "drop", {"dataTransfer": files})


def test_bad_input_is_named_and_loses_nothing(visit: Any, serve: Serve) -> None:
    page = visit(serve(app_of(Judge(verdict))))
    drop(page, "#source", "source.txt", SOURCE.encode())
    source = page.get_by_role("textbox", name="Source")
    drop(page, "#source", "scan.pdf", b"%PDF\xff\xfe")
    says(page, "scan.pdf is not a text in UTF-8; paste its text instead.")
    assert source.input_value() == SOURCE
    drop(page, "#facts", "elsewhere.txt", b"x")
    for empty in ("", "  "):
        source.fill(empty)
        press(page, "Check")
        says(page, "the source is empty")
        page.evaluate("say('')")
    assert page.locator("#report").is_hidden()
    hostile = "<img src=x onerror=alert(1)> \u202eis old."
    checked(page, hostile)
    assert "<img src=x onerror=alert(1)> \\u202eis old." in page.locator("#report").inner_text()
    assert page.locator("img").count() == 0


def test_a_check_is_cancelled(browser: Any, serve: Serve) -> None:
    app = app_of(Patient())
    page = browser.new_page()
    page.goto(serve(app))
    page.get_by_role("textbox", name="Source").fill(SOURCE)
    page.get_by_role("textbox", name="Summary").fill(SUMMARY)
    press(page, "Check")
    says(page, "32 of 34")
    press(page, "Cancel")
    says(page, "Cancelled.")
    assert page.get_by_role("button", name="Cancel").count() == 0
    while app.state.service.n_in_flight:
        page.wait_for_timeout(20)
    page.close()


def test_where_keys_are_set_the_page_asks_for_one(browser: Any, serve: Serve) -> None:
    page = browser.new_page()
    page.goto(serve(app_of(Judge(verdict), keys=[api_key("secret")])))
    says(page, "This service needs an API key.")
    key = page.get_by_label("API key")
    key.fill("wrong")
    key.press("Tab")
    says(page, "This service does not know that API key.")
    page.get_by_role("textbox", name="Source").fill(SOURCE)
    key.fill("secret")
    key.press("Enter")  # checks before the judges are known
    page.locator("#report .findings").wait_for()
    page.locator("#judge option", has_text="main").wait_for(state="attached")
    press(page, "Copy as curl")
    code = page.locator("#code").inner_text()
    assert "Bearer $FACTCHECK_KEY" in code
    assert "secret" not in code
    page.close()


def test_jobs_have_progress_a_page_and_an_end(visit: Any, serve: Serve, tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    row = {"source": SOURCE, "summary": SUMMARY}
    judge = Patient()
    records.write_text(json.dumps({"id": "first", **row, "facts": [LAST]}) + "\n" + json.dumps(row))
    page = visit(serve(app_of(judge, jobs_path=str(tmp_path / "jobs.sqlite"))), **PHONE)
    page.locator("#jobs summary").focus()
    page.keyboard.press("Enter")
    page.locator("#records").set_input_files(records)
    job = page.get_by_role("list", name="Jobs").locator("li")
    job.get_by_text("1 of 2 records").wait_for()
    assert "records.jsonl, " in job.inner_text()
    cancel = job.get_by_role("button", name="Cancel")
    cancel.focus()
    page.wait_for_timeout(1_500)
    page.locator("#list button:focus", has_text="Cancel").wait_for()
    with page.expect_popup() as opened:
        job.get_by_role("button", name="Report").click()
    opened.value.get_by_role("button", name="first").click()
    opened.value.locator("dialog", has_text=LAST).wait_for()
    cancel.click()
    job.get_by_text("cancelled, 1 of 2 records").wait_for()
    job.get_by_role("button", name="Delete").click()
    job.wait_for(state="detached")


def test_a_job_with_a_bad_line_is_refused_by_its_number(
    browser: Any, serve: Serve, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.goto(serve(app_of(Judge(verdict), jobs_path=str(tmp_path / "jobs.sqlite"))))
    page.locator("#jobs summary").click()
    page.locator("#judge option").wait_for(state="attached")
    for _ in range(2):  # the same file again
        drop(page, "#jobs", "records.jsonl", b'{"source": "a", "summary": "b"}\n{nonsense')
        page.locator("#job-said", has_text="job, line 2").wait_for()
    assert page.locator("#list li").count() == 0
    page.close()


def test_the_demo_opens_the_page_with_the_example(visit: Any) -> None:
    command = [sys.executable, "-m", "factcheck", "demo", "--judge", "local-fast"]
    environment = {**os.environ, "BROWSER": "echo", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.endswith("/#demo")
            page = visit(address)
            page.locator("#report .findings").wait_for()
            sample = (files("factcheck") / "samples" / "harbour.txt").read_text("utf-8")
            assert page.get_by_role("textbox", name="Source").input_value() == sample
            page.locator("#report li", has_text="Traffic returned").focus()
            page.locator("#report mark.lit", has_text="Traffic returned on 12 April.").wait_for()
            page.get_by_role("link", name="All requests").click()
            page.locator("h2", has_text="POST /v1/coverage/stream").click()
        finally:
            process.send_signal(signal.SIGTERM)


def test_axe_finds_nothing_serious(visit: Any, serve: Serve, tmp_path: Path) -> None:
    if not axe():
        pytest.skip("needs axe-core: npm install -g axe-core, or AXE=FOLDER of its axe.min.js")
    url = serve(app_of("local-fast", jobs_path=str(tmp_path / "jobs.sqlite")))
    for address in (f"{url}/#demo", f"{url}/docs"):
        page = visit(address)
        if address.endswith("#demo"):
            page.locator("#report .findings").wait_for()
        closed = page.locator("details:not([open]) > summary:visible")
        for _ in range(min(3, closed.count())):
            closed.first.click()
        page.evaluate(axe())
        assert serious(page) == []
