"""The page of coverage: numbers, counts, order, trust, and what JUnit calls a failure."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    CoverageReport,
    FactSet,
    ScoreSignature,
    Texts,
    Usage,
)
from factcheck.facts.coverage import ALIKE, trust_lines
from factcheck.facts.page import answer_text, unread_warning
from factcheck.reports import render
from factcheck.reports.page import Page, gated
from factcheck.scoring import FactCoverage
from factcheck.scoring.gates import Limits, coverage_gate
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import all_groups, both_directions, report_of, verdict
from tests.strategies import result_lists

FACT = AtomicFact("f1", "The lake is deep.")


def listed(page: Page) -> list[tuple[str, list[str]]]:
    return [(one.title, [item.name for item in one.items]) for one in page.sections]


def test_a_detail_without_its_core_and_a_fact_without_an_end_are_named() -> None:
    detail = replace(FACT, id="f2", core="f9")
    endless = AtomicFact("f3", "the lake is deep and " * 25)
    page = report_of(*(verdict(fact, "neutral") for fact in (FACT, detail, endless))).page()
    alone, long = (alert.text for alert in page.alerts)
    assert alone == "facts of their own, as the fact they add to is not listed: f2"
    assert long.startswith(
        "the text has hardly any sentence ends, and facts are as long as it is: f3; end its"
    )
    linked = replace(detail, core="f1")
    assert not report_of(verdict(FACT, "neutral"), verdict(linked, "neutral")).page().alerts


def test_the_most_severe_facts_come_first_and_counts_are_of_decided_facts() -> None:
    """The share and the counts beside it are the same fraction."""
    page = all_groups().page()
    assert page.answer == "3 of 6 facts kept. 1 looks wrong; check it. 2 undecided."
    assert page.value == "0.50"
    assert page.counts == "3 of 6 decided facts kept, 2 undecided"
    assert page.lines == ("Undecided facts could move this to 0.38 – 0.62.",)
    assert page.interval.startswith("95 % interval 0.")
    assert listed(page) == [
        ("Distorted 1", ["n3"]),
        ("Dropped 2", ["n1", "n5"]),
        ("Undecided 2", ["n2", "n6"]),
        ("Kept 3", ["n0", "n4", "n7"]),
    ]
    assert len({section.mark for section in page.sections}) == 4
    assert [part.name for part in page.parts] == ["kept", "distorted", "dropped", "undecided"]


@pytest.mark.parametrize(
    ("results", "first_line"),
    [
        ((), "Coverage undecided   no facts"),
        ((CheckFailure(FACT, "missing", ""),), "Coverage undecided   no verdict on 1 fact"),
        (
            (verdict(replace(FACT, weight=0.0), "entailed"),),
            "Weighted coverage undecided   1 of 1 fact kept",
        ),
        (
            (verdict(FACT, "entailed"), verdict(replace(FACT, id="f2", weight=3.0), "neutral")),
            "Weighted coverage 0.25   1 of 2 facts kept",
        ),
    ],
)
def test_nothing_decided_is_undecided_and_a_weighted_score_says_so(
    results: tuple[CheckResult, ...], first_line: str
) -> None:
    page = report_of(*results).page()
    assert page.first_line == first_line
    assert bool(page.interval) is ("undecided" not in first_line)


def test_a_quote_that_repeats_the_fact_is_left_out_and_flags_stand_behind_the_reason() -> None:
    for quote, shown in (("the lake  is deep.", ""), ("A deep lake", "A deep lake")):
        found = replace(verdict(FACT, "entailed", quote, "said so"), flags=("quote_not_found",))
        item = report_of(found).page().sections[0].items[0]
        assert (item.quote, item.notes) == (shown, ("said so (quote not found)",))


def test_a_reason_that_all_undecided_facts_share_is_given_once() -> None:
    facts = [AtomicFact(f"f{n}", "Text.") for n in range(3)]
    page = report_of(*(CheckFailure(fact, "unavailable", "no key") for fact in facts)).page()
    assert page.sections[0].meaning == "unavailable: no key"
    assert not any(item.notes for item in page.sections[0].items)


@pytest.mark.parametrize(
    ("usage", "line"),
    [
        (Usage(), None),
        (Usage(cache_hits=1), "1 answer from the cache"),
        (Usage(2, 1200, 30, 0.00456), "2 calls, 1,200 prompt + 30 completion tokens, $0.0046"),
    ],
)
def test_the_footer_says_what_a_report_cost(usage: Usage, line: str | None) -> None:
    footer = dict(report_of(verdict(FACT, "entailed"), usage=usage).page().footer)
    assert footer.get("Usage") == line
    assert footer["Judge"] == "scripted"


@given(results=result_lists(), threshold=st.sampled_from([None, 0.0, 0.5, 1.0]))
def test_junit_fails_exactly_if_the_gate_does(
    results: tuple[CheckResult, ...], threshold: float | None
) -> None:
    """The build server and the exit code never disagree; claims have no gate."""
    both = both_directions()
    report = replace(report_of(*results), claims=both.claims, claim_results=both.claim_results)

    failure = coverage_gate(report, Limits(threshold))
    page = gated(report.page(), failure.message if failure else "")

    statuses = {case.status for metric in (page, *page.also) for case in metric.cases}
    assert bool(statuses & {"failed", "error"}) is (failure is not None)
    distorted = [case for case in page.cases if case.kind == "contradicted"]
    assert all(case.status == ("failed" if failure else "skipped") for case in distorted)


def test_a_report_and_a_fact_set_have_a_short_repr() -> None:
    report = report_of(*(verdict(AtomicFact(f"f{n}", f"Text {n}."), "entailed") for n in range(99)))
    assert repr(report) == "<CoverageReport: Coverage 1.00   99 of 99 facts kept>"
    assert repr(report.facts) == "<FactSet of 99: 'Text 0.', 'Text 1.', 'Text 2.', ...>"


LOCAL = ScoreSignature.of({"judge": "local/8@x"})


def trusted(signature: ScoreSignature = LOCAL, summary: str = "It froze.") -> CoverageReport:
    one = report_of(verdict(FACT, "neutral"))
    return replace(one, signature=signature, texts=Texts.of("The lake is deep.", summary))


def test_how_far_to_trust_a_score_is_said_once_and_folds() -> None:
    """One line, and what is behind it; the pages that the rows of a run open do not repeat it."""
    one = trusted()
    run = RunReport({"r": one}, str(LOCAL))
    for to in ("markdown", "html", "junit"):
        for report in (one, run):
            text = render(report.page(), to)
            assert text.count(ALIKE) == 1
            assert "is no proof that there is none" in text
    assert " ".join(str(one).split()).count(f"How far to trust this: {ALIKE}") == 1
    assert "is no proof that there is none" not in str(one)
    folded = re.search(r'<details class="trust">.*?</details>', one.to_html(), re.DOTALL)
    assert folded is not None
    assert "is no proof that there is none" in folded.group()
    assert not one.page().alerts


@pytest.mark.parametrize(
    ("counts", "answer"),
    [
        ({}, "No facts to check."),
        ({"undecided": 2}, "No verdict on 2 facts."),
        ({"kept": 12}, "All 12 facts kept."),
        ({"kept": 1}, "1 of 1 fact kept."),
        ({"kept": 3, "distorted": 2}, "3 of 5 facts kept. 2 look wrong; check them."),
    ],
)
def test_the_answer_is_a_sentence(counts: dict[str, int], answer: str) -> None:
    assert answer_text(counts) == answer


def test_a_text_in_another_language_gets_one_sentence() -> None:
    failure = CheckFailure(FACT, "language", "not English")
    german = replace(trusted(), results=(failure,))
    page = german.page()
    assert page.answer == "English only; use a language model as judge, such as openai/NAME."
    assert (page.lines, page.trust) == ((), ())
    assert "not English" not in str(german)


def test_a_judge_of_words_says_what_it_cannot_see() -> None:
    words = trusted(ScoreSignature.of({"judge": "containment/4@0.65"}))
    assert "it finds no distortion" in " ".join(str(words).split())


def test_other_judges_and_undecided_reports_say_nothing() -> None:
    cascade = "judge:cascade(0.05, 0.9)|second.judge:some/model|first.judge:"
    for line in ("judge:some/model", f"{cascade}local/9@x", f"{cascade}containment/4"):
        assert not trusted(ScoreSignature.parse(line)).page().trust
    undecided = replace(trusted(), results=(), facts=report_of().facts)
    assert not undecided.page().trust


def test_an_empty_summary_is_named() -> None:
    page = trusted(summary=" \n").page()
    assert (page.answer, page.trust) == ("The summary is empty, so nothing is kept.", ())


def test_figures_of_a_judge_are_in_one_place() -> None:
    """What is said of the judge in words has none of its own."""
    assert not re.search(r"\d", " ".join(trust_lines("judge:local/8@x")))
    assert trust_lines("judge:local/8@x", "balanced accuracy 0.84")[-1] == (
        "Judge: balanced accuracy 0.84; 0.50 is guessing"
    )
    assert trust_lines("judge:some/model", "Good for ranking.") == ("Good for ranking.",)


def test_a_source_that_is_mostly_unread_is_named() -> None:
    """Tables and questions state no facts; facts given by hand say nothing of what was read."""
    source = (
        "The pier is old.\n\n| Boat | Crew |\n|---|---|\n| Aurora | 12 |\n\nWho pays for the crew?"
    )
    with FactCoverage() as scorer:
        extracted = scorer.extract(source)
        half = scorer.extract("The pier is old. Who paid?")
    assert "the facts come from 2" in unread_warning(extracted, source)
    assert unread_warning(half, "The pier is old. Who paid?") == ""
    assert unread_warning(FactSet.of(["The pier is old."]), source) == ""
    with FactCoverage() as scorer:
        report = scorer.score(source, "The pier is old.")
    assert [one.text for one in report.page().alerts] == [unread_warning(extracted, source)]
