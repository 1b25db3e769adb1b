"""What was recorded is replayed offline to the same result; a cassette survives being cut off."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import FactCoverage
from factcheck.documents import Place
from factcheck.errors import ConfigError, InputError, JudgeRejected, JudgeUnavailable
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    Evidence,
    FactSet,
    Span,
    Verdict,
    digest,
    locate,
)
from factcheck.judges.ports import Checker, Extractor, Ledger
from factcheck.judges.replay.cassette import (
    HEADER,
    CassetteWriter,
    Recorded,
    RecordedFacts,
    RecordedVerdict,
    is_same_judge,
    parse_answer,
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


PLACE = Place("cassette.jsonl", "line", 2)
TEXT = "The ferry left Bergen at noon."
BY = (("judge", "scripted"),)
STATEMENTS = st.text(st.characters(), min_size=1).filter(str.strip)


def verdict(statement: str = "The ferry left at noon.", label: str = "entailed") -> RecordedVerdict:
    fact = AtomicFact("recorded", statement)
    return RecordedVerdict(digest(TEXT), BY, Verdict(fact, label, judge="scripted"))  # type: ignore[arg-type]


def answers(path: Path) -> list[Recorded]:
    return read_cassette(path).answers


@given(
    statement=STATEMENTS,
    label=st.sampled_from(["entailed", "neutral", "contradicted"]),
    probability=st.none() | st.floats(0, 1),
    reason=st.text(st.characters()),
    quote=st.none() | st.text(st.characters(), min_size=1),
    flags=st.lists(st.text()).map(tuple),
)
def test_a_verdict_is_one_line_and_reads_back_as_it_was(
    statement: str,
    label: str,
    probability: float | None,
    reason: str,
    quote: str | None,
    flags: tuple[str, ...],
) -> None:
    evidence = Evidence(quote, 0, len(quote)) if quote else None
    recorded = replace(
        verdict(statement, label).verdict,
        probability=probability,
        reason=reason,
        evidence=evidence,
        flags=flags,
    )
    line = RecordedVerdict("0" * 64, BY, recorded).to_line()
    assert line.count(b"\n") == 1
    assert parse_answer(line, PLACE) == RecordedVerdict("0" * 64, BY, recorded)


@given(statements=st.lists(STATEMENTS, unique=True))
def test_facts_read_back_with_all_their_marks(statements: list[str]) -> None:
    facts = tuple(
        AtomicFact(f"f{n}", text, Span(n, n + 3), 0.5, must=True, tags=("a",))
        for n, text in enumerate(statements)
    )
    recorded = RecordedFacts("0" * 64, (("extractor", "x"), ("extract", "v1")), facts)
    assert parse_answer(recorded.to_line(), PLACE) == recorded


def test_a_question_is_recorded_once_in_this_run_and_in_later_ones(path: Path) -> None:
    cassette = CassetteWriter(path)
    cassette.append([verdict(), verdict(label="neutral")])
    cassette.append([verdict(label="contradicted")])
    CassetteWriter(path).append([verdict(label="contradicted"), verdict("It sank.", "neutral")])
    assert answers(path) == [verdict(), verdict("It sank.", "neutral")]


def test_many_threads_record_whole_lines(path: Path) -> None:
    cassette = CassetteWriter(path)

    def record(thread: int) -> None:
        for number in range(50):
            cassette.append([verdict(f"Fact {thread}.{number}."), verdict(f"Shared {number}.")])

    threads = [threading.Thread(target=record, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers(path)) == 8 * 50 + 50


def test_a_file_cut_anywhere_in_its_last_line_loses_that_line_only(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    CassetteWriter(path).append([verdict("One."), verdict("Zwölf.")])
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for end in range(start + 1, len(whole) - 1):
        path.write_bytes(whole[:end])
        caplog.clear()
        assert answers(path) == [verdict("One.")]
        assert "line 3: cut off" in caplog.text
        CassetteWriter(path).append([verdict("Zwölf.")])
        assert path.read_bytes() == whole


def test_blank_lines_and_a_missing_line_feed_at_the_end_do_no_harm(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(HEADER + b"\n" + verdict("One.").to_line()[:-1])
    assert answers(path) == [verdict("One.")]
    CassetteWriter(path).append([verdict("Two.")])
    path.write_bytes(path.read_bytes() + b"  \r\n")
    assert answers(path) == [verdict("One."), verdict("Two.")]
    assert not caplog.records


@pytest.mark.parametrize("length", range(len(HEADER)))
def test_recording_starts_anew_where_not_even_the_header_was_written(
    path: Path, length: int
) -> None:
    path.write_bytes(HEADER[:length])
    CassetteWriter(path).append([verdict()])
    assert answers(path) == [verdict()]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{\n", "not valid JSON"),
        (b'{"ask": "\xff"}\n', "not UTF-8"),
        (b"[" * 100_000 + b"\n", "nested more than"),
        (b"7\n", "expected an object"),
        (b'{"ask": "guess", "by": {}}\n', "'ask': expected one of extract, check"),
        (b'{"ask": "check", "text": "0", "fact": "It sank.", "verdict": {}}\n', "'by' is missing"),
        (b'{"ask": "check", "by": {"judge": 1}}\n', "by: 'judge': expected a string"),
        (b'{"ask": "check", "by": {}, "text": "0", "fact": " ", "verdict": {}}\n', "no text"),
        (verdict().to_line().replace(b"entailed", b"supported"), "'label': expected one of"),
        (verdict().to_line().replace(b"null", b"NaN", 1), "NaN is not valid JSON"),
    ],
)
def test_a_broken_line_is_named_by_its_number(path: Path, line: bytes, problem: str) -> None:
    path.write_bytes(HEADER + verdict().to_line() + line + verdict("Two.").to_line())
    with pytest.raises(InputError, match=f"line 3: .*{problem}"):
        answers(path)
    with pytest.raises(InputError, match="line 3"):
        CassetteWriter(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (HEADER[:9], "is empty|not a cassette"),
        (b"some notes", "not a cassette"),
        (b"notes\nmore notes", "not a cassette"),
        (b'{"a": 1}\n', "not a cassette"),
        (b"\x80\x04", "not a cassette"),
        (b'{"factcheck_cassette": 2}\n', "format 2; this release reads format 1"),
    ],
)
def test_another_file_is_refused_and_left_as_it_is(
    path: Path, content: bytes, problem: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        answers(path)
    if not HEADER.startswith(content):
        with pytest.raises(InputError, match=problem):
            CassetteWriter(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("place", "problem"), [("none/c.jsonl", "not exist|no folder"), ("", "directory")]
)
def test_paths_that_cannot_be_used_say_why(tmp_path: Path, place: str, problem: str) -> None:
    for use in (answers, CassetteWriter):
        with pytest.raises(InputError, match=problem):
            use(tmp_path / place)


def test_a_write_that_fails_stops_the_recording_and_is_told(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cassette = CassetteWriter(path)
    path.unlink()
    with caplog.at_level(logging.WARNING):
        cassette.append([verdict("One.")])
        cassette.append([verdict("Two.")])
    assert "cannot record to" in caplog.text
    assert caplog.text.count("nothing more is recorded") == 1
    assert not path.exists()


def test_an_answer_that_could_not_be_read_back_is_not_written(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cassette = CassetteWriter(path)
    cassette.append([verdict("One.")])
    odd = replace(verdict("Two.").verdict, reason=None)  # type: ignore[arg-type]
    cassette.append([RecordedVerdict(digest(TEXT), BY, odd)])
    assert "read back" in caplog.text
    assert answers(path) == [verdict("One.")]


def test_two_versions_of_a_judge_are_not_recorded_in_one_file(path: Path) -> None:
    CassetteWriter(path).append([verdict()])
    cassette = CassetteWriter(path)
    cassette.admit(RecordedVerdict, BY)
    with pytest.raises(ConfigError, match="judge scripted, this is judge scripted, check v2"):
        cassette.admit(RecordedVerdict, (*BY, ("check", "v2")))
    with pytest.raises(ConfigError, match="judge scripted, this is judge other"):
        cassette.admit(RecordedVerdict, (("judge", "other"),))


def test_a_judge_that_learned_how_it_is_asked_is_the_same(path: Path) -> None:
    asked = (("judge", "m"), ("temp", "0"), ("effort", "low"))
    learned = (("judge", "m"), ("temp", "default"), ("effort", "low"), ("form", "text"))
    assert is_same_judge(asked, learned)
    assert is_same_judge(learned, asked)
    assert not is_same_judge(asked, (("judge", "m"), ("temp", "0.5"), ("effort", "low")))
    cassette = CassetteWriter(path)
    cassette.admit(RecordedVerdict, asked)
    cassette.append([verdict("One.")._replace(by=asked), verdict("Two.")._replace(by=learned)])
    CassetteWriter(path).admit(RecordedVerdict, learned)
    assert ReplayChecker(path).identity.items() >= dict(learned).items()


def test_the_digest_stands_for_the_content(path: Path, tmp_path: Path) -> None:
    CassetteWriter(path).append([verdict("One.")])
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    before, same = read_cassette(path), read_cassette(copy)
    CassetteWriter(path).append([verdict("Two.")])
    after = read_cassette(path)
    assert before == same
    assert len(after.answers) == 2
    assert after.digest != before.digest
