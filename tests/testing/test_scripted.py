"""Judges that answer from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from factcheck.errors import Failure, InputError, JudgeUnavailable
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet, Usage, Verdict, digest
from factcheck.judges.ports import (
    Checker,
    Embedder,
    Extractor,
    Ledger,
    PairJudge,
    PairResult,
    PairVerdict,
    Rater,
    Rating,
    RatingResult,
    ValuePair,
)
from factcheck.testing import (
    CompareCall,
    ScriptedChecker,
    ScriptedEmbedder,
    ScriptedExtractor,
    ScriptedPairJudge,
    ScriptedRater,
)
from factcheck.testing.scripted import CheckCall, EmbedCall, ExtractCall, RateCall

MOSS = AtomicFact("a", "Moss has no roots.", weight=2.0)
FERN = AtomicFact("b", "Ferns make seeds.")


def check(
    checker: ScriptedChecker,
    facts: Sequence[AtomicFact] = (MOSS, FERN),
    text: str = "On moss.",
    ledger: Ledger | None = None,
) -> Sequence[CheckResult]:
    """The results of one call."""
    return asyncio.run(checker.check(facts, text, ledger or Ledger()))


def test_ports() -> None:
    """Scripted judges fulfil the ports and name themselves."""
    checker, extractor = ScriptedChecker({}, name="x"), ScriptedExtractor({}, name="y")
    assert isinstance(checker, Checker)
    assert isinstance(extractor, Extractor)
    assert isinstance(ScriptedPairJudge({}), PairJudge)
    assert ScriptedPairJudge({}, name="z").identity == {"judge": "z"}
    assert (checker.identity, extractor.identity) == ({"judge": "x"}, {"extractor": "y"})


def test_labels_by_statement() -> None:
    """A mapping gives a verdict for each fact, in fact order."""
    checker = ScriptedChecker({FERN.text: "contradicted", MOSS.text: "entailed"})
    assert check(checker) == (
        Verdict(MOSS, "entailed", judge="scripted"),
        Verdict(FERN, "contradicted", judge="scripted"),
    )


def test_results_by_statement() -> None:
    """Scripted verdicts and failures are given for the fact that was asked."""
    other = AtomicFact("other", MOSS.text)
    checker = ScriptedChecker(
        {
            MOSS.text: Verdict(other, "entailed", probability=0.75, judge="j"),
            FERN.text: CheckFailure(other, "missing", "no reply"),
        }
    )
    assert check(checker) == (
        Verdict(MOSS, "entailed", probability=0.75, judge="j"),
        CheckFailure(FERN, "missing", "no reply"),
    )


def test_function_of_fact_and_text() -> None:
    """A function sees the statement and the text."""
    checker = ScriptedChecker(lambda fact, text: "entailed" if fact in text else "neutral")
    labels = [
        result.label
        for result in check(checker, text=f"Note: {FERN.text}")
        if isinstance(result, Verdict)
    ]
    assert labels == ["neutral", "entailed"]


def test_fact_without_a_script() -> None:
    """A fact the script does not know is an error that names it, never a label."""
    with pytest.raises(InputError, match=r"no result for the fact 'Ferns make seeds\.'"):
        check(ScriptedChecker({MOSS.text: "entailed"}))


def test_scripted_exception() -> None:
    """A scripted exception is raised; what the call cost is booked and recorded all the same."""
    checker = ScriptedChecker(
        {MOSS.text: "entailed", FERN.text: JudgeUnavailable("down")}, usage=Usage(calls=1)
    )
    ledger = Ledger()
    with pytest.raises(JudgeUnavailable, match="down"):
        check(checker, ledger=ledger)
    assert ledger.usage == Usage(calls=1)
    assert len(checker.calls) == 1


def test_check_calls() -> None:
    """Every call is recorded with its statements and its text, and costs what was said."""
    checker = ScriptedChecker(lambda _fact, _text: "neutral", usage=Usage(calls=1, cost_usd=0.5))
    ledger = Ledger()
    check(checker, ledger=ledger)
    check(checker, (FERN,), "On ferns.", ledger)
    assert checker.calls == (
        CheckCall((MOSS.text, FERN.text), "On moss."),
        CheckCall((FERN.text,), "On ferns."),
    )
    assert ledger.usage == Usage(calls=2, cost_usd=1.0)


def test_extracted_facts() -> None:
    """Facts come as a set that knows its source and its maker; calls are recorded and paid for."""
    extractor = ScriptedExtractor({"On moss.": ["Moss is green.", MOSS]}, usage=Usage(calls=1))
    ledger = Ledger()
    facts = asyncio.run(extractor.extract("On moss.", ledger))
    assert facts == FactSet(
        (AtomicFact("f1", "Moss is green."), MOSS),
        source_digest=digest("On moss."),
        made_by=(("extractor", "scripted"),),
    )
    assert extractor.calls == (ExtractCall("On moss."),)
    assert ledger.usage == Usage(calls=1)


def test_function_of_source() -> None:
    """A function sees the source."""
    facts = asyncio.run(ScriptedExtractor(str.splitlines).extract("One.\nTwo.", Ledger()))
    assert [fact.text for fact in facts] == ["One.", "Two."]


def test_source_without_a_script() -> None:
    """A source the script does not know is an error, and so is a scripted exception."""
    extractor = ScriptedExtractor({"Down.": JudgeUnavailable("down")})
    with pytest.raises(InputError, match=r"no facts for the source 'Up\.'"):
        asyncio.run(extractor.extract("Up.", Ledger()))
    with pytest.raises(JudgeUnavailable, match="down"):
        asyncio.run(extractor.extract("Down.", Ledger()))


OAK = ValuePair("oak", "oak tree", "tree")


def compare(
    judge: ScriptedPairJudge, *pairs: ValuePair, ledger: Ledger | None = None
) -> Sequence[PairResult]:
    """The results of one call."""
    return asyncio.run(judge.compare(pairs, ledger or Ledger()))


def test_scripted_pairs() -> None:
    """A script says yes or no, how likely it is, or the whole result."""
    whole = PairVerdict(True, 0.25, "because", "j")
    failure = Failure(None, "missing", "no reply")
    said: dict[str, bool | float | PairVerdict | Failure[None]] = {
        "a": True,
        "b": False,
        "c": 0.5,
        "d": 0.25,
        "e": whole,
        "f": failure,
    }
    judge = ScriptedPairJudge({(gold, "x"): result for gold, result in said.items()})
    assert compare(judge, *(ValuePair(gold, "x") for gold in said)) == (
        PairVerdict(True, None, "scripted", "scripted"),
        PairVerdict(False, None, "scripted", "scripted"),
        PairVerdict(True, 0.5, "scripted", "scripted"),
        PairVerdict(False, 0.25, "scripted", "scripted"),
        whole,
        failure,
    )


def test_scripted_pair_the_other_way_round() -> None:
    """A mapping holds for the mirror image of a pair, too, but not where its order says a thing."""
    judge = ScriptedPairJudge({("oak tree", "oak"): 1.0})
    assert compare(judge, OAK) == (PairVerdict(True, 1.0, "scripted", "scripted"),)
    with pytest.raises(InputError, match=r"no result for the pair \('oak', 'oak tree'\)"):
        compare(judge, ValuePair("oak", "oak tree", specificity="allow_more_specific"))


def test_function_of_pair() -> None:
    """A function sees the whole pair; an exception it gives is raised."""
    judge = ScriptedPairJudge(lambda pair: pair.path == "tree")
    (result,) = compare(judge, OAK)
    assert isinstance(result, PairVerdict)
    assert result.equivalent
    with pytest.raises(JudgeUnavailable, match="down"):
        compare(ScriptedPairJudge(lambda _: JudgeUnavailable("down")), OAK)


def test_compare_calls() -> None:
    """Every call is recorded with its pairs, and costs what was said."""
    judge = ScriptedPairJudge(lambda _: True, usage=Usage(calls=1))
    ledger = Ledger()
    compare(judge, OAK, OAK, ledger=ledger)
    compare(judge, ledger=ledger)
    assert judge.calls == (CompareCall((OAK, OAK)), CompareCall(()))
    assert ledger.usage.calls == 2


SUMMARY = "- It rained in Oslo."


def rated(rater: Rater, summary: str, ledger: Ledger | None = None) -> RatingResult:
    """One rating."""
    return asyncio.run(rater.rate("It rained in Oslo.", summary, ledger or Ledger()))


def test_scripted_ratings() -> None:
    """A script gives numbers, ratings and failures, by summary or by both texts."""
    failure = Failure(None, "refused", "no")
    mine = Rating(2, "mine", "other")
    by_summary = ScriptedRater({"a": 4, "b": mine, "c": failure}, name="me")
    assert [rated(by_summary, text) for text in "abc"] == [
        Rating(4, "scripted", "me"),
        mine,
        failure,
    ]
    by_both = ScriptedRater(lambda source, summary: 5 if summary == f"- {source}" else 1)
    assert rated(by_both, SUMMARY) == Rating(5, "scripted", "scripted")
    assert isinstance(by_both, Rater)
    assert by_summary.identity == {"judge": "me"}


def test_summary_without_a_script() -> None:
    """A summary missing from the script is an error that names it."""
    with pytest.raises(InputError, match=r"no rating for '- It rained in Oslo\.'"):
        rated(ScriptedRater({}), SUMMARY)


def test_scripted_exception_of_a_rater() -> None:
    """An exception in the script is raised."""
    with pytest.raises(JudgeUnavailable, match="down"):
        rated(ScriptedRater({SUMMARY: JudgeUnavailable("down")}), SUMMARY)


def test_rate_calls() -> None:
    """Calls are recorded, and what they cost is booked, even where they fail."""
    ledger = Ledger()
    rater = ScriptedRater({SUMMARY: 3}, usage=Usage(calls=1))
    rated(rater, SUMMARY, ledger)
    with pytest.raises(InputError):
        rated(rater, "another", ledger)
    assert rater.calls == (
        RateCall("It rained in Oslo.", SUMMARY),
        RateCall("It rained in Oslo.", "another"),
    )
    assert ledger.usage.calls == 2


def test_the_scripted_embedder_fulfils_the_port_and_remembers_what_it_was_asked() -> None:
    failure = Failure(None, "refused", "no")
    embedder = ScriptedEmbedder({"a": (1.0,), "b": failure}, usage=Usage(calls=1))
    ledger = Ledger()

    assert isinstance(embedder, Embedder)
    assert asyncio.run(embedder.embed(["b", "a"], ledger)) == (failure, (1.0,))
    assert embedder.calls == (EmbedCall(("b", "a")),)
    assert ledger.usage.calls == 1


def test_a_script_may_be_a_function_and_may_raise() -> None:
    embedder = ScriptedEmbedder(lambda text: ValueError(text) if text == "x" else (1.0,))

    with pytest.raises(ValueError, match="x"):
        asyncio.run(embedder.embed(["a", "x"], Ledger()))
    with pytest.raises(InputError, match="no vector for 'c'"):
        asyncio.run(ScriptedEmbedder({}).embed(["c"], Ledger()))
