"""Scoring with judges of one's own: the report holds whatever they do."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import (
    AtomicFact,
    CheckFailure,
    Evidence,
    FactCoverage,
    FactSet,
    Verdict,
    ascore,
    check,
    extract,
    score,
)
from factcheck.errors import ConfigError, InputError, JudgeError
from factcheck.facts import CheckResult, Usage
from factcheck.judges.ports import Ledger
from factcheck.testing import ScriptedChecker, ScriptedExtractor

TEXT = "The tide was high and the ferry stayed in port."
FACTS = FactSet.of(["The tide was high.", "The ferry sailed.", "It was Tuesday."])


class Returning:
    """A checker that returns whatever it is given."""

    identity = {"judge": "returning"}  # noqa: RUF012 - a constant

    def __init__(self, results: Sequence[Any]) -> None:
        self.results = results

    async def check(self, facts: Sequence[AtomicFact], text: str, ledger: Ledger) -> Sequence[Any]:
        return self.results


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
    report = FactCoverage(Returning(results)).score("", TEXT, facts=FACTS)
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


def test_the_report_says_who_spoke_and_what_it_cost_and_the_scorer_what_all_calls_cost() -> None:
    checker = ScriptedChecker(
        lambda fact, _: "entailed" if "tide" in fact else "neutral", usage=Usage(calls=1)
    )
    extractor = ScriptedExtractor({TEXT: ["The tide was high.", "It was Tuesday."]})
    scorer = FactCoverage(checker, extractor)
    report = scorer.score(TEXT, TEXT)
    assert report.score == 0.5
    assert report.usage.calls == 1
    assert (report.signature["judge"], report.signature["facts"]) == ("scripted", "2")
    scorer.check(FACTS, TEXT)
    assert scorer.ledger.usage.calls == 2


@pytest.mark.parametrize("summary", ["", " \n\t"])
def test_an_empty_summary_keeps_nothing_and_asks_nobody(summary: str) -> None:
    checker = ScriptedChecker({})
    report = FactCoverage(checker).score(TEXT, summary, direction="both")
    assert (report.score, report.faithfulness, report.superfluous) == (0.0, None, ())
    assert checker.calls == ()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((None, TEXT), "the source: expected a string or a list of documents, got null"),
        (([], TEXT), "the source is an empty list"),
        ((["", " "], TEXT), "source is empty"),
        ((["", "---"], TEXT), "no facts found"),
        ((TEXT, 7), "must be a string"),
        ((TEXT, b"bytes"), "must be a string"),
        (("", TEXT), "source is empty"),
        ((" \n", TEXT), "source is empty"),
        (("# Title\n\n---\n", TEXT), "no facts found"),
    ],
)
def test_texts_that_cannot_be_scored_say_what_to_do(arguments: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        score(*arguments)
    with pytest.raises(InputError, match="direction 'back'"):
        score(TEXT, TEXT, direction="back")  # type: ignore[arg-type]


@pytest.mark.parametrize("judge", ["gpt-5", "", "local/", "openai", object(), 7, ScriptedChecker])
def test_an_unknown_judge_is_named_with_what_can_be_used(judge: Any) -> None:
    with pytest.raises(ConfigError, match=r"local|check\(facts"):
        FactCoverage(judge)


@pytest.mark.parametrize(
    "options",
    [
        *({"batch_size": value} for value in (0, 101, 2.5)),
        *({"concurrency": value} for value in (0, 1.5, True)),
        *({"timeout_s": value} for value in (0, float("nan"), "60")),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        FactCoverage(**options)


def test_an_error_of_the_judge_reaches_the_caller() -> None:
    checker = ScriptedChecker({fact.text: JudgeError("out of order") for fact in FACTS})
    with pytest.raises(JudgeError, match="out of order"):
        FactCoverage(checker).check(FACTS, TEXT)


def test_claims_have_ids_of_their_own() -> None:
    report = score(TEXT, "The tide was high. It snowed.", direction="both")
    assert report.claims is not None
    assert [claim.id for claim in report.claims] == ["c1", "c2"]
    assert [verdict.fact.text for verdict in report.superfluous] == ["It snowed."]


def test_the_asynchronous_form_and_the_two_halves_give_the_same_report() -> None:
    report, facts = score(TEXT, TEXT), extract(TEXT)
    assert asyncio.run(ascore(TEXT, TEXT)) == report
    assert check(facts, TEXT) == report.results
    assert facts.source_digest is not None


def test_the_environment_may_name_the_judge_but_a_key_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert score(TEXT, TEXT).signature["judge"].startswith("local/")
    monkeypatch.setenv("FACTCHECK_JUDGE", "nobody")
    with pytest.raises(ConfigError, match="nobody"):
        FactCoverage()
    assert FactCoverage("local").score(TEXT, TEXT).score == 1.0
