"""A cassette keeps every answer once, survives being cut off, and says where it is broken."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.documents import Place
from factcheck.errors import ConfigError, InputError
from factcheck.facts import AtomicFact, Evidence, Span, Verdict, digest
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
from factcheck.judges.replay.judges import ReplayChecker

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
