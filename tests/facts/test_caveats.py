"""What a score by the embedded judge shows: said beside the number, from figures of its card."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from factcheck.documents.yaml_documents import parse_yaml
from factcheck.facts import AtomicFact, CoverageReport, ScoreSignature, Texts
from factcheck.facts.caveats import caveats, gate_caveat, is_paraphrase, usual_range
from factcheck.reports import render
from factcheck.reports.page import gated
from factcheck.scoring import compare
from factcheck.scoring.gates import comparison_gate
from factcheck.scoring.run_report import RunReport, Tally
from factcheck.scoring.texts import lead_of
from tests.reports.examples import report_of, verdict

CARD = Path(__file__).parents[2] / "benchmarks" / "embedded"
LOCAL = ScoreSignature.of({"judge": "local/8@x"})
FACT = AtomicFact("f1", "The ferry carried 412 passengers.")
SOURCE = "The ferry Aurora left Bergen with 412 passengers. Nobody was hurt when it burned."
COPY = "The ferry Aurora left Bergen with 412 passengers."
PARAPHRASE = "Four hundred and twelve people sailed from the Norwegian port on board of Aurora."
UNRANKED = "one side copies and the other paraphrases; use a language model"
NO_PROOF = "No distorted facts is no proof: this judge misses 7 of 10 distortions"
NO_LOSS = "Low coverage is no evidence of loss: the summary paraphrases"
READ = "Check the distorted fact first: in tests, 69 of 84 such facts were distorted or dropped"


def found(summary: str, label: str, signature: ScoreSignature = LOCAL) -> CoverageReport:
    one = report_of(verdict(FACT, label))  # type: ignore[arg-type]
    return replace(one, signature=signature, texts=Texts.of(SOURCE, summary))


@pytest.mark.parametrize(
    ("summary", "label", "lines"),
    [
        (COPY, "neutral", [NO_PROOF]),
        (PARAPHRASE, "neutral", [NO_PROOF, NO_LOSS]),
        (PARAPHRASE, "contradicted", [READ, NO_LOSS]),
        (COPY, "contradicted", [READ]),
    ],
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
    assert run.rows[0].copied == one.copied
    assert one.to_dict()["copied"] == one.copied


def test_a_judge_of_words_says_what_it_cannot_see() -> None:
    words = found(PARAPHRASE, "neutral", ScoreSignature.of({"judge": "containment/4@0.65"}))
    assert "paraphrases count as dropped, it finds no distortion" in str(words)


def test_other_judges_and_undecided_reports_say_nothing() -> None:
    signature = ScoreSignature.of({"judge": "some/model"})
    assert not found(PARAPHRASE, "neutral", signature).page().alerts
    undecided = replace(found(COPY, "neutral"), results=(), facts=report_of().facts)
    assert not undecided.page().alerts
    assert not gate_caveat(str(signature))


def test_a_run_counts_its_paraphrases() -> None:
    shares = [0.05, 0.1, 0.9]
    for n_distorted in (0, 4):
        said = caveats("judge:local/8@x", shares, n_distorted)
        assert "loss: 2 of 3 summaries paraphrase" in said[1]


def test_low_scores_of_a_run_say_what_shows_of_them() -> None:
    outcomes = {"lie": found(COPY, "contradicted"), "free": found(PARAPHRASE, "neutral")}
    outcomes["plain"] = found(COPY, "neutral")
    text = render(Tally.page(RunReport(outcomes, str(LOCAL))))
    lowest = [line.split() for line in text.splitlines() if line.startswith("0.00")]
    assert lowest == [
        ["0.00", "lie", "1", "distorted"], ["0.00", "free", "paraphrases"], ["0.00", "plain"],
    ]  # fmt: skip


def test_an_empty_summary_is_named() -> None:
    empty, full = found(" \n", "neutral"), found(COPY, "neutral")
    (alert,) = empty.page().alerts
    assert alert.text == "The summary is empty, so nothing is kept"
    run = RunReport({f"r{n}": one for n, one in enumerate([full, *[empty] * 7])}, str(LOCAL))
    first = run.page().alerts[0].text
    assert first.startswith("7 summaries are empty and score 0.00")
    assert first.endswith("r1, r2, r3, r4, r5, …")
    assert "empty" not in str(RunReport({"r": full}, str(LOCAL)))


def test_a_copy_and_a_paraphrase_are_not_ranked() -> None:
    copy, other = found(COPY, "entailed"), found(PARAPHRASE, "neutral")
    two = compare(copy, other)
    assert two.unequal.startswith("No ranking: A copies 100 % of its phrases from the source")
    assert "not comparable" in two.page().first_line
    assert two.unequal in render(two.page(), "markdown")
    equal = compare(found(COPY, "neutral"), other)
    assert "not comparable" in equal.page().first_line
    runs = [{f"r{n}": with_source(one, n) for n in range(8)} for one in (copy, other)]
    lower = compare(*runs)
    assert lower.coverage.is_significant
    assert (lower.worse, lower.unsettled) == ("", UNRANKED)
    assert "difference" not in str(lower)
    failure = comparison_gate(lower.worse, (), lower.unsettled)
    assert failure is not None
    assert failure.exit_code == 4
    assert not compare(copy, copy).unequal
    assert not compare(copy, copy).caution
    model = ScoreSignature.of({"judge": "some/model"})
    assert not compare(found(COPY, "entailed", model), other).unequal


def test_paraphrases_that_come_out_equal_may_differ() -> None:
    two = compare(found(PARAPHRASE, "neutral"), found(f"{PARAPHRASE} So it did.", "neutral"))
    assert "equal" in two.page().first_line
    assert two.caution.startswith("No difference is no proof: these summaries paraphrase")
    assert two.caution in render(two.page(), "markdown")


def test_written_paraphrases_and_copies_are_told_apart() -> None:
    pairs = parse_yaml((CARD / "texts" / "long_pairs.yaml").read_text("utf-8"), "pairs").value
    assert len(pairs) == 5
    for pair in pairs:
        source, good = pair["source"], pair["good"]["text"]
        lead = lead_of(source, len(good.split()))
        shares = [
            replace(found(COPY, "neutral"), texts=Texts.of(source, text)).copied
            for text in (good, pair["lying"]["text"], lead)
        ]
        assert [is_paraphrase(share) for share in shares] == [True, False, False]


def with_source(one: CoverageReport, number: int) -> CoverageReport:
    return replace(one, facts=replace(one.facts, source_digest=str(number)))


MEASURED = "extractor:local/17|judge:local/8@x"


@pytest.mark.parametrize(
    ("signature", "lead", "copied"),
    [
        ("extractor:given|judge:local/8@x", 0.5, 0.9),
        ("extractor:local/17|judge:some/model", 0.5, 0.9),
        (MEASURED, None, 0.9),
        (MEASURED, 0.0, 0.9),
        (MEASURED, 0.5, None),
        (MEASURED, 0.5, 0.31),
    ],
)
def test_what_is_usual_is_not_said_where_it_was_not_measured(
    signature: str, lead: float | None, copied: float | None
) -> None:
    assert usual_range(MEASURED, 0.5, 0.9).startswith("usual: 0.35 \u2013 0.60 (0.7 to 1.2 times")
    assert usual_range(MEASURED, 0.9, 0.9).startswith("usual: 0.63 \u2013 1.00 (")
    assert not usual_range(signature, lead, copied)


def test_what_is_usual_stands_beside_the_lead() -> None:
    signature = ScoreSignature.of({"extractor": "local/17", "judge": "local/8@x"})
    one = replace(found(COPY, "neutral", signature), lead=0.5)
    lead, usual = one.page().lines[:2]
    assert (lead.split(":")[0], usual.split(":")[0]) == ("lead baseline", "usual")
    assert len(replace(one, lead=None).page().lines) == 0


def test_every_figure_is_one_of_the_card() -> None:
    cases = [([share], n) for share in (0.0, 1.0) for n in (0, 2)]
    said = [line for shares, n in cases for line in caveats("judge:local/8@x", shares, n)]
    card = (CARD / "README.md").read_text("utf-8").replace("| .", "| 0.").replace(" to .", " to 0.")
    for line in (*said, gate_caveat("judge:local/8@x"), usual_range(MEASURED, 1.0, 1.0)):
        for figure in re.findall(
            r"\d[\d.]* (?:%|of|to) ?[\d.]*\d?", line.replace("(0 % copied)", "")
        ):
            assert figure.strip() in card, figure
