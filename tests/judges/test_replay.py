"""What was recorded is replayed offline."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import FactCoverage
from factcheck.documents.results import ResultsFile
from factcheck.errors import ConfigError, InputError, JudgeRejected, JudgeUnavailable
from factcheck.facts import (
    LABELS,
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
from factcheck.judges.replay import (
    CassetteWriter,
    Recorded,
    RecordingJudge,
    ReplayChecker,
    ReplayExtractor,
    check_id,
    is_same_judge,
    read_cassette,
)
from factcheck.testing import ScriptedChecker, ScriptedExtractor

SOURCE = "The mill on the Dyle burned down in 1911. It was never rebuilt. Nobody was hurt."
FACTS = ("The mill burned down in 1911.", "The mill was never rebuilt.", "Nobody was hurt.")
SUMMARY = "A mill burned down in 1911 and two people were hurt."
BURNED = AtomicFact("f1", FACTS[0])
BY = (("judge", "scripted"),)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cassette.jsonl"


def says(fact: str, text: str) -> Verdict | CheckFailure:
    about = AtomicFact("scripted", fact)
    if fact == FACTS[0]:
        return Verdict(about, "entailed", 0.9, locate("burned down in 1911", text), "said so", "a")
    if fact == FACTS[1]:
        return CheckFailure(about, "invalid", "the reply was garbage")
    return Verdict(about, "contradicted", 0.1, locate("people were hurt", text), judge="a")


def record(path: Path, *, judge: str = "a") -> Any:
    """Score a pair with judges that are recorded, and return the report."""
    cassette = CassetteWriter(path)
    checker = RecordingJudge(ScriptedChecker(says, name=judge), "check", cassette)
    extractor = ScriptedExtractor({SOURCE: FACTS}, name=judge)
    report = FactCoverage(checker, RecordingJudge(extractor, "extract", cassette)).score(
        SOURCE, SUMMARY
    )
    cassette.close()
    return report


def checked(checker: Checker, facts: Sequence[AtomicFact], text: str) -> Sequence[CheckResult]:
    return asyncio.run(checker.check(facts, text, Ledger()))


def test_recording_changes_nothing_and_a_replay_gives_verdicts_facts_and_names(path: Path) -> None:
    plain = FactCoverage(
        ScriptedChecker(says, name="a"), ScriptedExtractor({SOURCE: FACTS}, name="a")
    )
    assert record(path) == plain.score(SOURCE, SUMMARY)
    checker, extractor = ReplayChecker(path), ReplayExtractor(path)
    assert isinstance(checker, Checker)
    assert isinstance(extractor, Extractor)
    scorer = FactCoverage(checker, extractor)
    known = scorer.extract(SOURCE)
    assert [fact.text for fact in known] == [*FACTS]
    assert known.source_digest == digest(SOURCE)
    report = scorer.score(SOURCE, SUMMARY, facts=[known[0], known[2]])
    evidence = Evidence("burned down in 1911", 7, 26)
    burned = Verdict(report.facts[0], "entailed", 0.9, evidence, "said so", "a", cached=True)
    assert report.kept == (burned,)
    assert [v.fact.text for v in report.distorted] == [FACTS[2]]
    assert report.signature["judge"] == "a"
    answers, cassette = read_cassette(path)
    assert (len(answers), report.signature["replay"]) == (3, cassette)
    assert (report.usage.calls, report.usage.cache_hits) == (0, 2)


def test_a_failure_is_not_recorded_but_a_miss(path: Path) -> None:
    record(path)
    with pytest.raises(JudgeRejected, match=r"no verdict on 'The mill was never rebuilt\.' for"):
        checked(ReplayChecker(path), FactSet.of(FACTS), SUMMARY)


def test_another_text_fact_or_source_is_a_miss_but_not_another_id_or_weight(path: Path) -> None:
    record(path)
    other = AtomicFact("f2", "The mill burned down in 1912.")
    for facts, text in (([BURNED], f"{SUMMARY} "), ([other], SUMMARY), ([BURNED, other], SUMMARY)):
        with pytest.raises(JudgeRejected, match="record this run again"):
            checked(ReplayChecker(path), facts, text)
    with pytest.raises(JudgeRejected, match=r"no facts for the source 'Another mill\.'"):
        FactCoverage("local", ReplayExtractor(path)).extract("Another mill.")
    same = AtomicFact("z9", FACTS[0], weight=3.0, must=True)
    assert [result.fact for result in checked(ReplayChecker(path), [same], SUMMARY)] == [same]


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

    cassette = CassetteWriter(path)
    checker = RecordingJudge(Answering({}), "check", cassette)
    assert checked(checker, [BURNED], SUMMARY) == results
    failing = ScriptedExtractor({SOURCE: JudgeUnavailable("no answer")})
    with pytest.raises(JudgeUnavailable):
        asyncio.run(RecordingJudge(failing, "extract", cassette).extract(SOURCE, Ledger()))
    assert path.read_bytes() == b""


def test_evidence_that_was_tampered_with_does_not_count(path: Path) -> None:
    record(path)
    quote = b'"quote": "burned down in 191'
    path.write_bytes(path.read_bytes().replace(quote + b"1", quote + b"2"))
    report = FactCoverage(ReplayChecker(path)).score("", SUMMARY, facts=FACTS[:1])
    assert (report.kept[0].evidence, report.kept[0].flags) == (None, ("quote_not_found",))


def test_a_cassette_is_of_one_judge(path: Path) -> None:
    CassetteWriter(path).close()
    with pytest.raises(ConfigError, match="no judge was recorded"):
        ReplayChecker(path)
    with pytest.raises(ConfigError, match="no extractor was recorded"):
        asyncio.run(ReplayExtractor(path).extract(SOURCE, Ledger()))
    record(path)
    with pytest.raises(ConfigError, match=r"was recorded with .*judge a, .*record to another file"):
        record(path, judge="openai/b")
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]

    def add(ask: str, **by: str) -> None:
        row = next(row for row in rows if row.get("id", "").startswith(ask))
        added = {**row, "id": f"{row['id']} again", "by": {**row["by"], **by}}
        path.write_bytes(path.read_bytes() + json.dumps(added).encode() + b"\n")

    add("extract", rules="v2")
    scorer = FactCoverage(ReplayChecker(path), ReplayExtractor(path))
    assert scorer.score("", SUMMARY, facts=[FACTS[0]]).score == 1.0
    with pytest.raises(ConfigError, match=r"as extractor: it has several .*rules v2"):
        scorer.extract(SOURCE)
    add("check", check="v2")
    with pytest.raises(ConfigError, match=r"as judge: it has several .*check v2"):
        ReplayChecker(path)


def test_a_judge_that_learned_how_it_is_asked_is_the_same(path: Path) -> None:
    asked = (("judge", "m"), ("temp", "0"), ("effort", "low"))
    learned = (("judge", "m"), ("temp", "default"), ("effort", "low"), ("form", "text"))
    assert is_same_judge(asked, learned)
    assert is_same_judge(learned, asked)
    assert not is_same_judge(asked, (("judge", "m"), ("temp", "0.5"), ("effort", "low")))
    cassette = CassetteWriter(path)
    cassette.admit("check", asked)
    cassette.append(of(verdict("One.")._replace(by=asked), verdict("Two.")._replace(by=learned)))
    cassette.close()
    CassetteWriter(path).admit("check", learned)
    assert ReplayChecker(path).identity.items() >= dict(learned).items()


STATEMENTS = st.text(st.characters(), min_size=1).filter(str.strip)


def verdict(statement: str = "The ferry left at noon.", label: Any = "entailed") -> Recorded:
    return Recorded(BY, Verdict(AtomicFact("f1", statement), label, judge="scripted"))


def of(*recorded: Recorded) -> dict[str, Recorded]:
    """Verdicts on one text, by id."""
    facts = [one.answer.fact for one in recorded if isinstance(one.answer, Verdict)]
    return {check_id("0" * 64, fact): one for fact, one in zip(facts, recorded, strict=True)}


def answers(path: Path) -> list[Recorded]:
    return list(read_cassette(path)[0].values())


def record_all(path: Path, recorded: dict[str, Recorded]) -> None:
    cassette = CassetteWriter(path)
    cassette.append(recorded)
    cassette.close()


VERDICTS = st.builds(
    Verdict,
    st.builds(AtomicFact, st.just("f1"), STATEMENTS),
    st.sampled_from(LABELS),
    probability=st.none() | st.floats(0, 1),
    evidence=st.none() | STATEMENTS.map(lambda quote: Evidence(quote, 0, len(quote))),
    reason=st.text(st.characters()),
    flags=st.lists(st.text()).map(tuple),
)
FACT = AtomicFact("f1", "It rained.", Span(3, 5), 0.5, must=True, tags=("a",))


@given(VERDICTS | st.just((FACT,)))
def test_an_answer_reads_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, answer: Verdict | tuple[AtomicFact, ...]
) -> None:
    path = tmp_path_factory.mktemp("cassette") / "c.jsonl"
    name = "check a b" if isinstance(answer, Verdict) else "extract a"
    record_all(path, {name: Recorded(BY, answer)})
    assert read_cassette(path)[0] == {name: Recorded(BY, answer)}


def test_a_question_is_recorded_once_in_this_run_and_in_later_ones(path: Path) -> None:
    cassette = CassetteWriter(path)
    cassette.append(of(verdict()))
    cassette.close()
    before = read_cassette(path)
    cassette.append(of(verdict(label="contradicted"), verdict("It burned.")))  # it opens again
    cassette.close()
    record_all(path, of(verdict(label="contradicted"), verdict("It sank.", "neutral")))
    assert answers(path) == [verdict(), verdict("It burned."), verdict("It sank.", "neutral")]
    assert [*before[0].values()] == [verdict()]
    assert read_cassette(path)[1] != before[1]


def test_many_threads_record_whole_lines(path: Path) -> None:
    cassette = CassetteWriter(path)

    def record(thread: int) -> None:
        for number in range(50):
            cassette.append(of(verdict(f"Fact {thread}.{number}."), verdict(f"Shared {number}.")))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(8)))
    assert len(answers(path)) == 8 * 50 + 50


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"by": {"judge": 1}}, "by: 'judge': expected a string"),
        ({"verdict": {"fact": {"id": "f1", "text": " "}, "label": "neutral"}}, "no text"),
        ({"verdict": {"fact": {"id": "f1", "text": "A."}, "label": "so"}}, "'label': expected"),
        ({"id": "extract a"}, "'facts' is missing"),
    ],
)
def test_a_broken_row_is_named_by_its_line(
    path: Path, change: dict[str, Any], problem: str
) -> None:
    record_all(path, of(verdict("One.")))
    row = {"id": "check a b", **verdict("Two.").to_row(), **change}
    path.write_bytes(path.read_bytes() + json.dumps(row).encode() + b"\n")
    for use in (answers, CassetteWriter):
        with pytest.raises(InputError, match=f"line 3: .*{problem}"):
            use(path)


def test_another_file_is_no_cassette(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"some notes")
    with pytest.raises(InputError, match="is not a"):
        answers(path)
    rows = tmp_path / "rows.jsonl"
    with ResultsFile(rows, lambda: "judge:a", resume=False):
        pass
    for use, problem in ((answers, "not a factcheck cassette"), (CassetteWriter, "not cassette")):
        with pytest.raises(InputError, match=problem):
            use(rows)
        for place in (tmp_path / "none/c.jsonl", tmp_path, tmp_path / ("x" * 5_000)):
            with pytest.raises(InputError, match=r"not exist|no folder|directory|too long"):
                use(place)


def test_a_write_that_fails_stops_the_recording_and_is_told(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    cassette = CassetteWriter(path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("os.write", full)
    with caplog.at_level(logging.WARNING):
        cassette.append(of(verdict("One.")))
        cassette.append(of(verdict("Two.")))
    assert "cannot record to" in caplog.text
    assert caplog.text.count("nothing more is recorded") == 1
