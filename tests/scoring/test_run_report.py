"""The report of a run, and what a user may rely on with the embedded judge."""

from __future__ import annotations

import base64
import csv
import re
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import factcheck
from factcheck.facts import AtomicFact, CoverageReport, Texts
from factcheck.reports import render
from factcheck.scoring.gates import GateFailure, run_gate
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.run_report import RunReport
from tests.processes import printed_by_python
from tests.reports.examples import both_directions, report_of, verdict

FACT = AtomicFact("f1", "The lake is deep.")
HOSTILE = "<script>alert(1)</script>\u202e"


def outcomes() -> dict[str, CoverageReport | RecordFailure]:
    must = replace(FACT, id="f2", must=True)
    kept = report_of(verdict(FACT, "entailed"))
    return {
        "good": replace(kept, texts=Texts.of("A deep lake.", "It is deep.")),
        "bad": report_of(verdict(FACT, "contradicted"), verdict(must, "neutral")),
        HOSTILE: RecordFailure(HOSTILE, "unavailable", HOSTILE),
        "half": report_of(verdict(FACT, "entailed"), verdict(replace(FACT, id="f3"), "neutral")),
    }


def opened(page: str) -> list[str]:
    (packed,) = re.findall(r'<script type="text/plain" id="packed">(.*?)</script>', page, re.DOTALL)
    return [zlib.decompress(base64.b64decode(line)).decode() for line in packed.split("\n")]


def test_the_worst_record_comes_first_and_each_row_opens_its_own() -> None:
    page = RunReport(outcomes()).to_html()
    buttons = re.findall(r'data-open="(\d)">([^<]*)<', page)
    assert [name for _, name in buttons][1:] == ["bad", "half", "good"]
    failed, bad, _, good = opened(page)
    assert "no report" in failed
    assert "1 must fact not kept: f2" in bad
    assert page.count("<rect") == 3
    assert page.count('<td class="small">') == 4
    assert "A deep lake." in good
    assert "<script" not in failed
    assert "\u202e" not in page + failed


def test_records_of_one_text_with_given_facts_have_one_source() -> None:
    kept = report_of(verdict(FACT, "entailed"))
    texts = [Texts.of("A deep lake.", "It is deep."), Texts.of("A deep lake.", "It is not."), None]
    run = RunReport({str(n): replace(kept, texts=one) for n, one in enumerate(texts)})
    assert [len(scores) for scores in run.by_source.values()] == [2, 1]


def test_every_format_has_every_record() -> None:
    report = RunReport(outcomes(), "judge:scripted")
    rows = list(csv.DictReader(render(report.page(), "csv").splitlines()))
    assert [row["score"] for row in rows] == ["", "0.0", "0.5", "1.0"]
    assert rows[1]["lost_must"] == "1 must fact not kept: f2"
    suite = ET.fromstring(render(report.page(), "junit"))[0]  # noqa: S314 - our own
    tags = [test[0].tag if len(test) else "" for test in suite.iter("testcase")]
    assert tags == ["error", "failure", "", ""]
    assert repr(report) == "<RunReport: Mean coverage 0.50   3 of 4 records scored>"
    assert report.page().lines == ("1 without a report (unavailable)",)
    assert [one.text for one in report.page().alerts] == ["1 record lost a must fact: bad"]
    assert report.to_dict()["interval"] == list(report.interval or ())
    assert [{*row.counts.values()} for row in report.rows] == [{0}, *[{0, 1}] * 3]


def test_claims_and_a_budget_that_ran_out_are_in_the_report() -> None:
    lost = {"b": RecordFailure("b", "budget", "no more")}
    scored = replace(both_directions(), judge_quality="not measured")
    report = RunReport({"a": scored, **lost}, "judge:local/12@x")
    assert report.judge_quality == "not measured"
    assert str(report).startswith("1 of 2 records scored: ")
    assert "Faithfulness: 0.33, mean of the records" in str(report)
    rows = [line.split() for line in str(report).splitlines() if line.startswith("a ")]
    assert rows == [["a", "1.00", "0.33", "1", "1", "0", "0", "0"]]
    assert report.page().trust
    assert not RunReport(lost, report.signature).page().trust
    assert report.budget_exhausted
    failure = run_gate(report)
    assert failure is not None
    assert "the budget is exhausted" in failure.message


@pytest.mark.parametrize(
    ("codes", "exit_code", "message"),
    [
        ("input", 2, "1 record without report (input: why)"),
        ("input output", 4, "2 records without report (input: why)"),
        ("unavailable", 4, "1 record not finished (unavailable: why); continue with --resume"),
    ],
)
def test_records_without_a_report_fail_the_gate(codes: str, exit_code: int, message: str) -> None:
    """Where all of them are invalid, the input is."""
    report = RunReport({code: RecordFailure(code, code, "why") for code in codes.split()})
    assert run_gate(report) == GateFailure(exit_code, message)
    report.interrupted = True
    assert run_gate(report) == GateFailure(130, "the run was interrupted")


NEWS = (
    "The old lighthouse at Varn Point was sold on 3 March 2021 for 1.2 million euros. Its new "
    "owner, Petra Holm, wants to open a museum. She has not asked the council yet."
)


def test_the_same_input_gives_the_same_bytes_in_every_process() -> None:
    code = f"import factcheck; print(factcheck.score({NEWS!r}, {NEWS[:120]!r}).to_json())"
    here = factcheck.score(NEWS, NEWS[:120]).to_json().strip()
    assert printed_by_python(code, PYTHONHASHSEED="1") == here


def test_the_embedded_judge_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FACTCHECK_CACHE", raising=False)
    factcheck.score(NEWS, NEWS)
    assert not [*tmp_path.iterdir()]
