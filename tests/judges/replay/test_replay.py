"""What was recorded is replayed offline to the same result, and nothing else is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage
from factcheck.errors import ConfigError, InputError, JudgeRejected, JudgeUnavailable
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    Evidence,
    FactSet,
    Verdict,
    digest,
    locate,
)
from factcheck.judges.ports import Checker, Extractor, Ledger
from factcheck.judges.replay.cassette import (
    HEADER,
    CassetteWriter,
    RecordedVerdict,
    read_cassette,
)
from factcheck.judges.replay.judges import (
    RecordingChecker,
    RecordingExtractor,
    ReplayChecker,
    ReplayExtractor,
)
from factcheck.testing import ScriptedChecker, ScriptedExtractor

SOURCE = "The mill on the Dyle burned down in 1911. It was never rebuilt. Nobody was hurt."
FACTS = ("The mill burned down in 1911.", "The mill was never rebuilt.", "Nobody was hurt.")
SUMMARY = "A mill burned down in 1911 and two people were hurt."
BURNED = AtomicFact("f1", FACTS[0])


def says(fact: str, text: str) -> Verdict | CheckFailure:
    about = AtomicFact("scripted", fact)
    if fact == FACTS[0]:
        return Verdict(about, "entailed", 0.9, locate("burned down in 1911", text), "said so", "a")
    if fact == FACTS[1]:
        return CheckFailure(about, "invalid", "the reply was garbage")
    return Verdict(about, "contradicted", 0.1, locate("people were hurt", text), judge="a")


def record(path: Path, *, judge: str = "a", script: Any = says) -> None:
    cassette = CassetteWriter(path)
    scorer = FactCoverage(
        judge=RecordingChecker(ScriptedChecker(script, name=judge), cassette),
        extractor=RecordingExtractor(ScriptedExtractor({SOURCE: FACTS}, name=judge), cassette),
    )
    scorer.score(SOURCE, SUMMARY)


def checked(checker: Checker, facts: Sequence[AtomicFact], text: str) -> Sequence[CheckResult]:
    return asyncio.run(checker.check(facts, text, Ledger()))


def test_recording_changes_nothing_about_a_result(path: Path) -> None:
    judge, lister = ScriptedChecker(says), ScriptedExtractor({SOURCE: FACTS})
    cassette = CassetteWriter(path)
    checker, extractor = RecordingChecker(judge, cassette), RecordingExtractor(lister, cassette)
    plain, recorded = FactCoverage(judge, lister), FactCoverage(checker, extractor)
    assert recorded.score(SOURCE, SUMMARY) == plain.score(SOURCE, SUMMARY)
    assert isinstance(checker, Checker)
    assert isinstance(extractor, Extractor)
    assert isinstance(ReplayChecker(path), Checker)
    assert isinstance(ReplayExtractor(path), Extractor)


def test_a_replay_gives_the_recorded_verdicts_facts_and_names(path: Path) -> None:
    record(path)
    scorer = FactCoverage(ReplayChecker(path, missing="undecided"), ReplayExtractor(path))
    report = scorer.score(SOURCE, SUMMARY)

    fact = report.facts[0]
    evidence = Evidence("burned down in 1911", 7, 26)
    assert report.kept == (Verdict(fact, "entailed", 0.9, evidence, "said so", "a", cached=True),)
    assert [v.fact.text for v in report.distorted] == [FACTS[2]]
    assert report.facts.source_digest == digest(SOURCE)
    assert report.signature["judge"] == report.signature["extractor"] == "a"
    cassette = read_cassette(path)
    assert len(cassette.answers) == 3
    assert report.signature["replay"] == cassette.digest
    assert report.usage.calls == 0
    assert report.usage.cache_hits == 3


def test_a_failure_is_not_recorded_but_a_miss_which_can_be_left_undecided(path: Path) -> None:
    record(path)
    with pytest.raises(JudgeRejected, match=r"no verdict on 'The mill was never rebuilt\.' for"):
        checked(ReplayChecker(path), FactSet.of(FACTS), SUMMARY)
    results = checked(ReplayChecker(path, missing="undecided"), FactSet.of(FACTS), SUMMARY)
    assert [getattr(result, "code", None) for result in results] == [None, "missing", None]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ([BURNED], SUMMARY + " "),
        ([AtomicFact("f1", "The mill burned down in 1912.")], SUMMARY),
        ([BURNED, AtomicFact("f2", "The mill stood on the Dyle.")], SUMMARY),
    ],
)
def test_another_text_fact_or_source_is_a_miss_that_says_so(
    path: Path, facts: list[AtomicFact], text: str
) -> None:
    record(path)
    with pytest.raises(JudgeRejected, match="record this run again"):
        checked(ReplayChecker(path), facts, text)
    with pytest.raises(JudgeRejected, match=r"no facts for the source 'Another mill\.'"):
        FactCoverage("local", ReplayExtractor(path)).extract("Another mill.")


def test_a_verdict_holds_for_the_statement_whatever_its_id_and_weight(path: Path) -> None:
    record(path)
    fact = AtomicFact("z9", FACTS[0], weight=3.0, must=True)
    assert [result.fact for result in checked(ReplayChecker(path), [fact], SUMMARY)] == [fact]


def test_errors_are_passed_on_and_not_recorded(path: Path) -> None:
    error = JudgeUnavailable("no answer")
    cassette = CassetteWriter(path)
    checker = RecordingChecker(ScriptedChecker({FACTS[0]: error}), cassette)
    extractor = RecordingExtractor(ScriptedExtractor({SOURCE: error}), cassette)
    with pytest.raises(JudgeUnavailable):
        checked(checker, [BURNED], SUMMARY)
    with pytest.raises(JudgeUnavailable):
        asyncio.run(extractor.extract(SOURCE, Ledger()))
    assert path.read_bytes() == HEADER


@pytest.mark.parametrize(
    "results",
    [
        (Verdict(BURNED, "entailed"), Verdict(BURNED, "neutral")),
        (Verdict(BURNED, "entailed"), CheckFailure(BURNED, "invalid", "")),
        (Verdict(AtomicFact("f7", "Not asked."), "entailed"),),
        (Verdict(AtomicFact("f1", "Another statement."), "entailed"),),
    ],
)
def test_what_the_scorer_would_not_count_is_not_recorded(
    path: Path, results: tuple[CheckResult, ...]
) -> None:
    class Answering(ScriptedChecker):
        async def check(self, *_: Any) -> tuple[CheckResult, ...]:
            return results

    checker = RecordingChecker(Answering({}), CassetteWriter(path))
    assert checked(checker, [BURNED], SUMMARY) == results
    assert path.read_bytes() == HEADER


def test_evidence_that_was_tampered_with_does_not_count(path: Path) -> None:
    record(path)
    path.write_bytes(path.read_bytes().replace(b"burned down in 1911", b"burned down in 1912"))
    report = FactCoverage(ReplayChecker(path)).score(
        "", SUMMARY, facts=["The mill burned down in 1912."]
    )
    assert report.kept[0].evidence is None
    assert report.kept[0].flags == ("quote_not_found",)


def test_a_cassette_is_of_one_judge(path: Path) -> None:
    record(path)
    with pytest.raises(ConfigError, match=r"was recorded with .*judge a, .*record to another file"):
        record(path, judge="openai/b")
    lines = path.read_bytes().splitlines(keepends=True)
    facts, verdict = (
        next(line for line in lines if ask in line) for ask in (b'"extract"', b'"check"')
    )
    with path.open("ab") as file:
        file.write(facts.replace(b'"by": {', b'"by": {"rules": "v2", '))
    scorer = FactCoverage(ReplayChecker(path), ReplayExtractor(path))
    assert scorer.score("", SUMMARY, facts=[FACTS[0]]).score == 1.0
    with pytest.raises(ConfigError, match=r"as extractor: it has several .*rules v2"):
        scorer.extract(SOURCE)
    with path.open("ab") as file:
        file.write(verdict.replace(b'"by": {', b'"by": {"check": "v2", '))
    with pytest.raises(ConfigError, match=r"as judge: it has several .*check v2"):
        ReplayChecker(path)


def test_a_cassette_without_verdicts_is_no_judge(path: Path) -> None:
    CassetteWriter(path)
    with pytest.raises(ConfigError, match="no judge was recorded"):
        ReplayChecker(path)
    with pytest.raises(ConfigError, match="no extractor was recorded"):
        asyncio.run(ReplayExtractor(path).extract(SOURCE, Ledger()))


def test_of_several_answers_the_first_counts(path: Path) -> None:
    by = (("judge", "a"),)
    lines = [
        RecordedVerdict(digest(SUMMARY), by, Verdict(BURNED, label)).to_line()
        for label in ("neutral", "entailed", "neutral", "contradicted")
    ]
    path.write_bytes(HEADER + b"".join(lines))
    (result,) = checked(ReplayChecker(path), [BURNED], SUMMARY)
    assert isinstance(result, Verdict)
    assert result.label == "neutral"


def test_a_name_that_is_too_long_is_invalid_input() -> None:
    with pytest.raises(InputError, match="File name too long"):
        ReplayChecker("x" * 5_000)
