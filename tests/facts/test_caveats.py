"""What a report says first, and how far to trust it: said once, without figures in the prose."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from factcheck.facts import AtomicFact, CheckFailure, CoverageReport, FactSet, ScoreSignature, Texts
from factcheck.facts.coverage import ALIKE, trust_lines
from factcheck.facts.page import answer_text, unread_warning
from factcheck.reports import render
from factcheck.scoring import FactCoverage
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import report_of, verdict

LOCAL = ScoreSignature.of({"judge": "local/8@x"})
FACT = AtomicFact("f1", "The ferry carried 412 passengers.")
SOURCE = "The ferry Aurora left Bergen with 412 passengers. Nobody was hurt when it burned."
COPY = "The ferry Aurora left Bergen with 412 passengers."
PARAPHRASE = "Four hundred and twelve people sailed from the Norwegian port on board of Aurora."


def found(summary: str, label: str, signature: ScoreSignature = LOCAL) -> CoverageReport:
    one = report_of(verdict(FACT, label))  # type: ignore[arg-type]
    return replace(one, signature=signature, texts=Texts.of(SOURCE, summary))


def test_how_far_to_trust_a_score_is_said_once_and_folds() -> None:
    """One line, and what is behind it; the pages that the rows of a run open do not repeat it."""
    one = found(COPY, "neutral")
    run = RunReport({"r": one}, str(LOCAL))
    for to in ("markdown", "html", "junit"):
        for report in (one, run):
            text = render(report.page(), to)
            assert text.count(ALIKE) == 1
            assert "misses many distortions" in text
    assert " ".join(str(one).split()).count(f"How far to trust this: {ALIKE}") == 1
    assert "misses many distortions" not in str(one)
    folded = re.search(r'<details class="trust">.*?</details>', one.to_html(), re.DOTALL)
    assert folded is not None
    assert "misses many distortions" in folded.group()
    assert not one.page().alerts


@pytest.mark.parametrize(
    ("counts", "answer"),
    [
        ({}, "No facts to check."),
        ({"undecided": 2}, "No verdict on any of 2 facts."),
        ({"kept": 12}, "All 12 facts kept."),
        ({"kept": 1}, "1 of 1 fact kept."),
        ({"kept": 3, "distorted": 2}, "3 of 5 facts kept. 2 look wrong; check them."),
    ],
)
def test_the_answer_is_a_sentence(counts: dict[str, int], answer: str) -> None:
    assert answer_text(counts) == answer


def test_a_text_in_another_language_gets_one_sentence() -> None:
    failure = CheckFailure(FACT, "language", "not English")
    german = replace(found(COPY, "neutral"), results=(failure,))
    page = german.page()
    assert page.answer == "English only; use a language model as judge, such as openai/NAME."
    assert (page.lines, page.trust) == ((), ())
    assert "not English" not in str(german)


def test_a_judge_of_words_says_what_it_cannot_see() -> None:
    words = found(PARAPHRASE, "neutral", ScoreSignature.of({"judge": "containment/4@0.65"}))
    assert "it finds no distortion" in " ".join(str(words).split())


def test_other_judges_and_undecided_reports_say_nothing() -> None:
    for first in ("local/9@x", "containment/4"):
        cascade = {
            "judge": "cascade(0.05, 0.9)",
            "first.judge": first,
            "second.judge": "some/model",
        }
        for judge in ({"judge": "some/model"}, cascade):
            one = found(PARAPHRASE, "neutral", ScoreSignature.of(judge))
            assert not one.page().trust
    undecided = replace(found(COPY, "neutral"), results=(), facts=report_of().facts)
    assert not undecided.page().trust


def test_an_empty_summary_is_named() -> None:
    page = found(" \n", "neutral").page()
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
