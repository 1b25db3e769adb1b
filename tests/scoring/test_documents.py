"""Several documents as one source: extracted each, counted once, reported for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from factcheck import (
    AtomicFact,
    CheckFailure,
    CoverageReport,
    FactCoverage,
    SourceDocument,
    Verdict,
    score,
)
from factcheck.errors import InputError
from factcheck.facts import CheckResult, as_source, merge_documents
from factcheck.scoring.texts import combined
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker, ScriptedExtractor

LAKE = SourceDocument("lake.txt", "The lake is deep. The pier is old.")
BOAT = SourceDocument("boat.txt", "The boat is blue. The PIER is  old!")
BLANK = SourceDocument("blank.txt", "\n")
SUMMARY = "The pier is old, the boat is blue."


def test_a_fact_of_several_documents_counts_once_and_carries_them() -> None:
    report = score([LAKE, BOAT, BLANK], SUMMARY)
    facts = {fact.text: fact for fact in report.facts}
    assert [fact.id for fact in report.facts] == ["f1", "f2", "f3"]
    assert facts["The pier is old."].documents == ("lake.txt", "boat.txt")
    assert facts["The boat is blue."].documents == ("boat.txt",)
    assert [v.fact.text for v in report.kept] == ["The pier is old.", "The boat is blue."]
    for fact in report.facts:
        text = LAKE.text if fact.documents[0] == "lake.txt" else BOAT.text
        assert fact.span is not None
        assert text[slice(*fact.span)].split() == fact.text.split()
    parts = report.by_document
    assert [*parts] == ["lake.txt", "boat.txt", "blank.txt"]
    assert [part.score for part in parts.values()] == [0.5, 1.0, None]
    assert parts["boat.txt"].signature["facts"] == "2"
    assert CoverageReport.from_json(report.to_json()) == report
    assert report.to_dict()["documents"]["lake.txt"]["counts"]["kept"] == 1
    assert score(LAKE.text, SUMMARY).to_dict()["documents"] == {}


@pytest.mark.parametrize(
    ("one", "other", "n_facts"),
    [
        ("The lake is deep.", " the  LAKE is deep", 1),
        ("“It rose”, he said.", '"It rose", he said.', 1),
        ("It cost 4.2 million.", "It cost 42 million.", 2),
        ("It fell by -5 %.", "It fell by 5 %.", 2),
        ("A beat B.", "B beat A.", 2),
        ("The bridge is closed.", "The bridge was closed.", 2),
    ],
)
def test_only_the_same_words_are_the_same_fact(one: str, other: str, n_facts: int) -> None:
    facts = merge_documents([LAKE, BOAT], [[AtomicFact("f1", one)], [AtomicFact("f1", other)]])
    assert len(facts) == n_facts


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ({"text": "a"}, "expected a string or a list of documents, got an object"),
        (b"a", "expected a string or a list"),
        ([None], "document 1: expected a string or an object with 'text'"),
        ([{"id": "a"}], "document 1: 'text' is missing"),
        ([{"id": " ", "text": ""}], "'id': expected a string that is not blank"),
        ([{"id": True, "text": ""}], "'id': expected a string"),
        ([{"text": 3}], "'text': expected a string, got 3"),
        (["a", {"id": "d1", "text": "b"}], "two documents have the id 'd1'"),
    ],
)
def test_what_is_no_source_is_refused(source: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        as_source(source)  # type: ignore[arg-type]


def test_another_document_costs_only_its_own_extraction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTCHECK_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("FACTCHECK_CACHE", raising=False)
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage("openai/x") as scorer:
            first = scorer.score([LAKE, BOAT], SUMMARY)
            assert len(server.requests) == 3
            second = scorer.score([LAKE, SourceDocument("new", "The mole is long."), BOAT], SUMMARY)
            assert len(server.requests) == 5
    assert {v.fact.text for v in first.kept} == {v.fact.text for v in second.kept}
    assert len(second.facts) == len(first.facts) + 1


def test_a_claim_is_supported_by_any_document() -> None:
    checker = ScriptedChecker(lambda fact, text: "entailed" if fact[0] in text else "neutral")
    with FactCoverage(checker, ScriptedExtractor(lambda text: text.split(". "))) as scorer:
        report = scorer.score(["A", "B", "A. B", ""], "A. B. C", direction="both")
    claims = report.claims or ()
    assert [claim.documents for claim in claims] == [("d1", "d3"), ("d2", "d3"), ()]
    assert report.faithfulness == pytest.approx(2 / 3)


LOST = CheckFailure(AtomicFact("c", "Claim."), "missing", "")


def of(label: str) -> Verdict:
    return Verdict(LOST.fact, label)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("results", "label", "documents"),
    [
        ([of("neutral"), of("contradicted"), of("entailed")], "entailed", ("3",)),
        ([of("neutral"), LOST, of("contradicted")], "", ()),
        ([of("neutral"), of("contradicted"), of("contradicted")], "contradicted", ("2", "3")),
        ([of("neutral"), of("neutral")], "neutral", ()),
    ],
)
def test_what_documents_say_about_a_claim(
    results: list[CheckResult], label: str, documents: tuple[str, ...]
) -> None:
    result = combined(["1", "2", "3"][: len(results)], results)
    assert (result.label, result.fact.documents) == (label, documents)


def test_given_facts_keep_their_documents() -> None:
    facts = [AtomicFact("a", "The pier is old.", documents=("x",)), AtomicFact("b", "It rains.")]
    report = score("", SUMMARY, facts=facts)
    assert [*report.by_document] == ["x"]
    assert report.by_document["x"].score == 1.0


def test_records_metrics_and_examples_of_dspy_may_have_documents() -> None:
    import dspy

    from factcheck import metrics

    texts = [LAKE.text, BOAT.text]
    with FactCoverage("local") as scorer:
        (report,) = scorer.score_many([{"source": texts, "summary": SUMMARY}])
        metric = scorer.as_dspy_metric(source="contexts")
        by_dspy = metric(dspy.Example(contexts=texts), dspy.Prediction(summary=SUMMARY))
    assert isinstance(report, CoverageReport)
    assert [*report.by_document] == ["d1", "d2"]
    case = {"actual_output": SUMMARY, "source": texts}
    done = metrics.evaluate([case], [metrics.FactCoverageMetric()])
    assert done.metrics[0].mean == by_dspy == pytest.approx(2 / 3)
