"""All records of a run in one report: order, totals, what a row opens, and every format."""

from __future__ import annotations

import base64
import csv
import re
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, CoverageReport, Texts
from factcheck.reports import render
from factcheck.reports.page import MOST_ROWS
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import report_of, verdict

FACT = AtomicFact("f1", "The lake is deep.")
HOSTILE = "<script>alert(1)</script>\u202e"


def outcomes() -> dict[str, CoverageReport | RecordFailure]:
    must = replace(FACT, id="f2", must=True)
    kept = report_of(verdict(FACT, "entailed"))
    return {
        "good": replace(kept, lead=0.5, texts=Texts.of("A deep lake.", "It is deep.")),
        "bad": report_of(verdict(FACT, "contradicted"), verdict(must, "neutral")),
        HOSTILE: RecordFailure(HOSTILE, "unavailable", HOSTILE),
        "half": report_of(verdict(FACT, "entailed"), verdict(replace(FACT, id="f3"), "neutral")),
    }


def opened(page: str) -> list[str]:
    """What the rows of a page open."""
    (packed,) = re.findall(r'<script type="text/plain" id="packed">(.*?)</script>', page, re.DOTALL)
    return [zlib.decompress(base64.b64decode(line)).decode() for line in packed.split("\n")]


def test_the_worst_record_comes_first_and_each_row_opens_its_own() -> None:
    page = RunReport(outcomes()).to_html()
    buttons = re.findall(r'data-open="(\d)">([^<]*)<', page)
    assert [name for _, name in buttons][1:] == ["bad", "half", "good"]
    failed, bad, _, good = opened(page)
    assert "no report" in failed
    assert "1 must fact not kept: f2" in bad
    assert "A deep lake." in good
    assert "<script" not in failed
    assert "\u202e" not in page + failed


def test_every_format_has_every_record() -> None:
    report = RunReport(outcomes(), "judge:scripted")
    rows = list(csv.DictReader(render(report.page(), "csv").splitlines()))
    assert [row["score"] for row in rows] == ["", "0.0", "0.5", "1.0"]
    assert rows[1]["lost_must"] == "1 must fact not kept: f2"
    assert report.to_pandas()["lead"].to_list()[-1] == 0.5
    suite = ET.fromstring(render(report.page(), "junit"))[0]  # noqa: S314 - our own
    tags = [test[0].tag if len(test) else "" for test in suite.iter("testcase")]
    assert tags == ["error", "failure", "", ""]
    assert "lead baseline: 0.50, mean of 1 record" in report.to_markdown()
    assert repr(report) == "<RunReport: Mean coverage 0.50   3 of 4 records scored>"


def test_a_run_that_has_not_ended_and_skipped_records_are_told_in_every_format() -> None:
    report = RunReport(outcomes())
    assert report.to_dict()["ended"] is True
    report.ended, report.skipped = False, 1
    texts = [render(report.page(), f) for f in ("table", "markdown", "html", "junit")]
    for text in texts:
        assert "3 of 4 records scored so far" in text
        assert "partial result: the run that wrote these rows has not ended; continue with" in text
        assert "1 invalid record skipped" in text
    *_, last = ET.fromstring(texts[-1]).iter("testcase")  # noqa: S314 - our own
    assert (last.get("name"), last[0].tag, last[0].get("type")) == (
        "all records",
        "error",
        "partial",
    )
    assert report.to_dict().items() >= {"ended": False, "skipped": 1, "missing": 0}.items()


def test_only_html_lists_thousands_of_records() -> None:
    many = {f"r{n}": report_of(verdict(FACT, "entailed")) for n in range(MOST_ROWS + 5)}
    report = RunReport(many)
    assert len(opened(report.to_html())) == MOST_ROWS + 5
    for brief in (str(report), report.to_markdown(), report._repr_html_()):
        assert "and 5 more records" in brief
        assert "data-open" not in brief


def test_rows_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"factcheck_results": 1, "run": "x"}\n{"id": "a", "score": 1}\n', "utf-8")
    with pytest.raises(InputError, match="format"):
        RunReport.read(path)
