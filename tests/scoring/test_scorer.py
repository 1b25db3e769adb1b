"""Scoring with judges of one's own, and several documents as one source."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import (
    AtomicFact,
    CheckFailure,
    CoverageReport,
    Evidence,
    FactCoverage,
    FactSet,
    SourceDocument,
    Verdict,
    ascore,
    check,
    extract,
    score,
)
from factcheck.errors import ConfigError, InputError, JudgeNotAsked
from factcheck.facts import CheckResult, as_source
from factcheck.facts.model import combined
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker, ScriptedExtractor

TEXT = "The tide was high and the ferry stayed in port."
FACTS = FactSet.of(["The tide was high.", "The ferry sailed.", "It was Tuesday."])


@pytest.mark.parametrize("source", [str, lambda text: [text]])
def test_accents_may_be_written_in_two_ways(source: Any) -> None:
    apart = "Jose\u0301 said the cafe\u0301 would close. E\u0301lodie left."
    report = score(source(apart), apart)
    assert report.score == 1
    assert [each.fact.text for each in report.kept][1] == "\u00c9lodie left."


results_of_any_kind: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(FACTS).map(lambda fact: Verdict(fact, "entailed")),
    st.sampled_from(FACTS).map(
        lambda fact: Verdict(fact, "contradicted", evidence=Evidence("ferry", 0, 5))
    ),
    st.sampled_from(FACTS).map(lambda fact: CheckFailure(fact, "odd", "odd")),
    st.just(Verdict(AtomicFact("f1", "Another text."), "entailed")),
    st.just(Verdict(AtomicFact("f9", "Nobody asked."), "entailed")),
    st.none() | st.booleans() | st.text(max_size=3),
)


@given(st.lists(results_of_any_kind, max_size=8))
def test_every_fact_has_exactly_one_result_whatever_a_checker_returns(results: list[Any]) -> None:
    async def check(*_: Any) -> list[Any]:
        return results

    checker: Any = SimpleNamespace(identity={"judge": "any"}, check=check)
    report = FactCoverage(checker).score("", TEXT, facts=FACTS)
    groups: list[CheckResult] = [*report.kept, *report.dropped, *report.distorted]
    groups += report.undecided
    assert sorted(item.fact.id for item in groups) == ["f1", "f2", "f3"]
    for verdict in report.distorted:
        assert verdict.evidence is None
        assert verdict.flags == ("quote_not_found",)
    found = Counter(r.fact for r in results if isinstance(r, (Verdict, CheckFailure)))
    for failure in report.undecided:
        code = {0: "missing", 1: "odd"}.get(found[failure.fact], "duplicate")
        assert failure.code == code


@pytest.mark.parametrize("summary", ["", " \n\t"])
def test_an_empty_summary_keeps_nothing_and_asks_nobody(summary: str) -> None:
    checker = ScriptedChecker({})
    report = FactCoverage(checker).score(TEXT, summary, direction="both")
    assert (report.score, report.faithfulness, report.superfluous) == (0.0, None, ())
    assert checker.calls == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"source": None}, "the source: expected a string or a list of documents, got null"),
        ({"source": ["", " "]}, "source is empty"),
        ({"source": ["", "---"]}, "no facts found"),
        ({"source": "| a | b |\n|---|---|\n| 1 | 2 |\n"}, r"or give the facts \(--facts\)"),
        ({"summary": 7}, "must be a string"),
        ({"direction": "back"}, "direction 'back'"),
        ({"facts": []}, "the list of facts is empty"),
    ],
)
def test_what_cannot_be_scored_says_what_to_do(arguments: Any, says: str) -> None:
    given = {"source": TEXT, "summary": TEXT, **arguments}
    with pytest.raises(InputError, match=says):
        score(**given)
    with FactCoverage("local-fast") as scorer, pytest.raises(InputError, match=says):
        scorer.score(**given, see=print)


def test_the_asynchronous_form_and_the_two_halves_give_the_same_report() -> None:
    report, facts = score(TEXT, TEXT), extract(TEXT)
    assert asyncio.run(ascore(TEXT, TEXT)) == report
    assert check(facts, TEXT) == report.results
    assert facts.source_digest is not None


def test_a_fact_and_its_details_are_checked_together_also_live() -> None:
    """A detail is refused with its core, so apart it could have another verdict."""
    facts = [AtomicFact(f"f{n}", f"The tide was high on day {n}.") for n in range(8)]
    facts.insert(7, AtomicFact("d", "The tide was high on day 7 in Ulm.", core="f7"))
    with FactCoverage("local") as scorer:
        live = scorer.score("", "Ulm is old.", facts=facts, see=lambda _: None)
        assert live == scorer.score("", "Ulm is old.", facts=facts)
    assert [result.fact.id for result in live.results] == [fact.id for fact in facts]
    assert "says more of f7" in str(live.results[7])


def test_the_environment_names_a_judge_but_a_key_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert score(TEXT, TEXT).signature["judge"].startswith("local/")
    monkeypatch.setenv("FACTCHECK_JUDGE", "nobody")
    with pytest.raises(ConfigError, match="nobody"):
        FactCoverage()
    assert FactCoverage("local").score(TEXT, TEXT).score == 1.0


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
    ("source", "says"),
    [
        ({"text": "a"}, "expected a string or a list of documents, got an object"),
        ([None], "the source, item 1: expected an object, got null"),
        ([{"id": "a"}], "the source, item 1: 'text' is missing"),
        ([{"id": " ", "text": ""}], "the id of a document is blank"),
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


def test_all_documents_are_queued_before_their_facts_are_missed() -> None:
    extractor = ScriptedExtractor(lambda _: JudgeNotAsked("queued"))
    with pytest.raises(JudgeNotAsked, match="queued"):
        FactCoverage(ScriptedChecker({}), extractor).extract([LAKE, BOAT])
    assert len(extractor.calls) == 2


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
