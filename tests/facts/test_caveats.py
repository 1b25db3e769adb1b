"""What a score by the embedded judge shows: said beside the number, from figures of its card."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from factcheck.facts import AtomicFact, CoverageReport, ScoreSignature, Texts
from factcheck.facts.coverage import PARAPHRASES, caveats
from factcheck.reports import render
from factcheck.reports.page import gated
from factcheck.scoring import compare
from factcheck.scoring.gates import comparison_gate
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import report_of, verdict

CARD = Path(__file__).parents[2] / "benchmarks" / "embedded"
LOCAL = ScoreSignature.of({"judge": "local/8@x"})
FACT = AtomicFact("f1", "The ferry carried 412 passengers.")
SOURCE = "The ferry Aurora left Bergen with 412 passengers. Nobody was hurt when it burned."
COPY = "The ferry Aurora left Bergen with 412 passengers."
PARAPHRASE = "Four hundred and twelve people sailed from the Norwegian port on board of Aurora."
NO_PROOF = "No distorted facts is no proof: this judge misses 2 of 3 distortions"
NO_LOSS = "Low coverage of a paraphrase is no evidence of loss"
READ = "Check the distorted fact first: in tests, 114 of 124 such facts were distorted or dropped"


def found(summary: str, label: str, signature: ScoreSignature = LOCAL) -> CoverageReport:
    one = report_of(verdict(FACT, label))  # type: ignore[arg-type]
    return replace(one, signature=signature, texts=Texts.of(SOURCE, summary))


@pytest.mark.parametrize(
    ("summary", "label", "lines"),
    [(COPY, "neutral", [NO_PROOF, NO_LOSS]), (PARAPHRASE, "contradicted", [READ, NO_LOSS])],
)
def test_what_a_score_shows_stands_in_every_report(
    summary: str, label: str, lines: list[str]
) -> None:
    one = found(summary, label)
    run = RunReport({"r": one}, str(LOCAL))
    gate = render(gated(one.page(), "gate failed"), "junit").split('name="gate"')[1]
    reports = [render(one.page(), to) for to in ("table", "markdown", "html", "junit")]
    for report in (*reports, gate, str(run)):
        for line in lines:
            assert line in " ".join(report.split())


def test_a_copy_and_a_paraphrase_are_not_ranked() -> None:
    copy, other = found(COPY, "entailed"), found(PARAPHRASE, "neutral")
    runs = [
        {f"r{n}": replace(one, facts=replace(one.facts, source_digest=str(n))) for n in range(8)}
        for one in (copy, other)
    ]
    lower = compare(*runs)
    assert (lower.main.difference < 0, lower.worse) == (True, "")
    assert "not comparable" in lower.page().first_line
    assert lower.no_verdict.startswith("A copies 100 % of its phrases from the source and B 0 %")
    assert lower.no_verdict in render(lower.page(), "markdown")
    assert ("difference" in str(lower), PARAPHRASES in str(lower)) == (False, False)
    failure = comparison_gate(lower.worse, (), lower.no_verdict)
    assert failure is not None
    assert failure.exit_code == 4
    assert not compare(copy, copy).no_verdict
    cascade = {"judge": "cascade(0.05, 0.9)", "first.judge": "local/9@x"}
    for judge in ({"judge": "some/model"}, cascade):
        one, two = (found(text, "neutral", ScoreSignature.of(judge)) for text in (COPY, PARAPHRASE))
        assert not compare(one, two).no_verdict


def test_a_judge_of_words_says_what_it_cannot_see() -> None:
    words = found(PARAPHRASE, "neutral", ScoreSignature.of({"judge": "containment/4@0.65"}))
    assert "paraphrases count as dropped, it finds no distortion" in str(words)


def test_other_judges_and_undecided_reports_say_nothing() -> None:
    for first in ("local/9@x", "containment/4"):
        cascade = {
            "judge": "cascade(0.05, 0.9)",
            "first.judge": first,
            "second.judge": "some/model",
        }
        for judge in ({"judge": "some/model"}, cascade):
            one = found(PARAPHRASE, "neutral", ScoreSignature.of(judge))
            assert not one.page().alerts
    undecided = replace(found(COPY, "neutral"), results=(), facts=report_of().facts)
    assert not undecided.page().alerts


def test_an_empty_summary_is_named() -> None:
    (alert,) = found(" \n", "neutral").page().alerts
    assert alert.text == "The summary is empty, so nothing is kept"


def test_a_comparison_says_what_cannot_be_ranked() -> None:
    two = compare(found(COPY, "entailed"), found(COPY, "neutral"))
    assert "Do not rank a paraphrase and a copy" in " ".join(str(two).split())
    model = ScoreSignature.of({"judge": "some/model"})
    assert not compare(*(found(COPY, "entailed", model),) * 2).page().alerts


def test_every_figure_is_one_of_the_card() -> None:
    said = [line for n in (0, 2) for line in caveats("judge:local/8@x", n)]
    card = (CARD / "README.md").read_text("utf-8").replace("| .", "| 0.").replace(" to .", " to 0.")
    for line in said:
        for figure in re.findall(r"\d[\d.]* (?:%|of|to) ?[\d.]*\d?", line):
            assert figure.strip() in card, figure
