"""What the commands do, those on models and batches too: arguments in, output and exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import factcheck
from factcheck.errors import ConfigError, JudgeUnavailable
from factcheck.scoring import FactCoverage
from factcheck.testing import LocalOpenAIServer
from tests.cli.conftest import SOURCE, Desk, Folder, Run, refused


def test_a_lock_file_is_written_and_renewed(desk: Desk, run: Run) -> None:
    """That its source has changed is a warning; the second time, what changed is told.

    A marked fact that left the source stays, and is missed.
    """
    lock = desk.folder / "facts.yaml"
    score = ("score", desk.source, desk.summary, "--facts", str(lock))
    first = run("facts", desk.source, "--lock", str(lock))
    assert first.err == f"{lock}: 4 facts written\n"
    lock.write_text(lock.read_text().replace("blue.", "blue.\n  must: true"))
    another = "extracted from another source"
    assert another not in run(*score).err
    desk.put("source.txt", SOURCE.replace("old", "new").replace("blue", "red"))

    code, out, err = run(*score)
    assert (code, another in err) == (1, True)
    assert "2 of 4 facts kept" in out
    assert "1 must fact not kept: f3" in err

    code, out, err = run("facts", desk.source, "--lock", str(lock))
    assert code == 0
    assert err.splitlines() == [
        f"{lock}: 2 added (+), 1 removed (-), 1 kept but no longer in the source (?), 2 unchanged",
        "+ The pier is new.",
        "+ The boat is red.",
        "- The pier is old.",
        "? The boat is blue.",
    ]
    assert not out
    printed = run("facts", desk.source, "--format", "json", "--lock", str(lock)).out
    assert [fact["text"] for fact in json.loads(printed)["facts"]] == [
        fact.text for fact in factcheck.read_facts(lock)
    ]


def test_a_detail_whose_core_was_deleted_is_named(desk: Desk, run: Run) -> None:
    """By every command that reads the file; a merge makes it a fact of its own for good."""
    lock = desk.put("facts.yaml", "facts: [{id: f2, text: The pier is old., core: f1}]")
    score = ("score", desk.source, desk.summary, "--facts", str(lock))

    assert "as the fact they add to is not listed: f2" in run(*score).out
    merged = run("facts", desk.source, "--lock", str(lock)).err
    assert "a fact of its own, as its core f1 is gone: The pier is old." in merged
    assert "not listed" not in run(*score).out


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (JudgeUnavailable("cannot reach the judge"), 4, "cannot reach the judge"),
        (ConfigError("unknown judge 'x';\nuse 'local'"), 3, "unknown judge 'x'; use 'local'"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "out of memory; the input is too large"),
        (OSError(28, "No space left on device", "rows"), 2, "rows: No space left on device"),
        (
            LookupError("what"),
            70,
            "unexpected LookupError: what (a bug in factcheck); add --debug for the traceback",
        ),
    ],
)
def test_every_error_is_one_line_with_its_exit_code(
    desk: Desk, run: Run, monkeypatch: pytest.MonkeyPatch, error: Any, code: int, said: str
) -> None:
    """Only an error nobody expected is a bug; none is taken for a failed gate."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("factcheck.scoring.scorer.build_judges", fail)
    monkeypatch.setattr("factcheck.cli.discard_stdout", lambda: None)

    assert run("score", desk.source, desk.summary) == (code, "", f"factcheck: {said}\n")


@pytest.mark.parametrize("before", [True, False])
def test_debug_shows_the_traceback(desk: Desk, run: Run, before: bool) -> None:  # noqa: FBT001
    """--debug works before and after the command; the one line still comes last."""
    desk.unplug()
    score = ("score", desk.source, desk.summary)

    code, _, err = run(*(("--debug", *score) if before else (*score, "--debug")))

    assert code == 4
    assert "Traceback (most recent call last)" in err
    assert err.splitlines()[-1] == "factcheck: cannot reach the judge; check the address"


def test_an_interrupted_model_judge_shows_what_is_cached(
    tmp_path: Path, run: Run, server: LocalOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Folder(tmp_path).put("text.txt", "The lake is deep.\n")
    facts = Folder(tmp_path).put("facts.txt", "The lake is deep.\n")
    command = ("score", text, text, "--judge", "openai/tiny", "--facts", facts)
    assert run(*command).code == 0
    n_sent = len(server.requests)
    Folder(tmp_path).put("facts.txt", "The lake is deep.\nThe pier is old.\n")
    score = FactCoverage.score

    def interrupt(*_: object, **__: object) -> None:
        monkeypatch.setattr(FactCoverage, "score", score)
        raise KeyboardInterrupt

    monkeypatch.setattr(FactCoverage, "score", interrupt)
    code, out, err = run(*command)

    assert len(server.requests) == n_sent
    assert (code, err) == (130, "factcheck: interrupted\n")
    assert "1 of 1 fact kept. 1 undecided." in out


def test_what_the_gate_says_is_what_junit_and_the_exit_code_say(desk: Desk, run: Run) -> None:
    score = ("score", desk.source, desk.summary, "--format", "junit", "--max-distorted")
    failed, passed = run(*score, "0"), run(*score, "1")

    reason = "1 fact distorted, more than 0"
    assert (failed.code, passed.code, passed.err) == (1, 0, "")
    assert failed.err.startswith(f"factcheck: gate failed: {reason}\n")
    assert "f3  The boat is blue.\n" in failed.err
    assert "The boat is blue." in failed.out.split('name="gate"')[1]
    assert (reason in failed.out, "<failure" in passed.out) == (True, False)


def test_key_facts_need_weights(run: Run, tmp_path: Path) -> None:
    source = Folder(tmp_path).put("source.txt", "The lake is deep. The pier is old.")
    score = ("score", source, Folder(tmp_path).put("summary.txt", "The pier is old."))
    refused(run(*score, "--key", "2"), "all weigh the same: --weights lead")

    shown = run(*score, "--weights", "lead", "--key", "1").out
    for said in ("Weighted coverage", "Key facts", "|weights:lead|"):
        assert said in shown


@pytest.mark.usefixtures("server")
def test_a_model_that_answers_is_described(run: Run) -> None:
    shown = run("doctor", "openai/tiny")
    assert shown.code == 0
    assert "4 of 4 facts decided" in shown.out
    assert "asked for    JSON schema" in shown.out


def test_a_model_without_verdicts_exits_with_4(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalOpenAIServer(lambda _: "I would rather not.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        outcome = run("doctor", "openai/tiny")
    assert outcome.code == 4
    assert "no fact was decided" in outcome.err


def test_options_of_a_judge_go_out_and_what_cannot_be_one_is_said_in_one_line(
    run: Run, server: LocalOpenAIServer, tmp_path: Path
) -> None:
    desk = Folder(tmp_path)
    source, summary = desk.put("s.txt", "It rained."), desk.put("t.txt", "It rained.")
    score = ("score", source, summary, "--judge", "openai/tiny", "--judge-option")
    done = run(*score, "temperature=0.5", "--format", "json")
    assert run("doctor", "openai/tiny", "--judge-option", "seed=7").code == 0
    assert done.code == 0, done.err
    assert "temp:0.5" in json.loads(done.out)["signature"]
    assert server.requests[0].body["temperature"] == 0.5
    assert server.requests[-1].body["seed"] == 7
    refused(run(*score, "temprature=1"), "--judge-option: unknown settings: temprature; use", 3)
    refused(run(*score[:4], "local", "--judge-option", "seed=1"), "not for 'local'", 3)
    cascade = "cascade(local, openai/tiny)"
    refused(run(*score[:4], cascade, "--judge-option", "seed=1"), "judges.yaml#NAME", 3)


PAIRS = [
    {"id": "a", "source": "The kiln is hot. It is red.", "summary": "The kiln is hot."},
    {"id": "b", "source": "The well is dry. It is old.", "summary": "The well is old."},
]


@pytest.fixture
def records(tmp_path: Path) -> str:
    return Folder(tmp_path).lines("pairs.jsonl", PAIRS)


def test_two_batches_later_an_ordinary_run_asks_nothing(
    records: str, run: Run, server: LocalOpenAIServer
) -> None:
    command = ("run", records, "--judge", "openai/tiny")
    for phase, requests in (("facts", 2), ("checks", 2)):
        code, out, err = run(*command, "--batch", "submit")
        assert (code, err) == (0, "")
        assert f"{requests} requests submitted" in out
        code, out, _ = run(*command, "--batch", "collect")
        assert code == 0
        assert f"replies cached: {requests}, unmatched: 0;" in out
        assert ("submit again" in out) == (phase == "facts")

    live = [request for request in server.requests if "chat/completions" in request.path]
    code, out, _ = run(*command, "--format", "json")

    assert live == []
    assert code == 0
    assert json.loads(out)["usage"]["calls"] == 0
    assert json.loads(out)["scored"] == 2


def test_a_batch_needs_a_cache_and_is_collected_after_it_was_submitted(
    records: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(run("run", records, "--batch", "collect"), "submit a batch first")
    monkeypatch.setenv("FACTCHECK_CACHE", "off")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    command = ("run", records, "--judge", "openai/t", "--batch", "submit")
    refused(run(*command), "FACTCHECK_CACHE=off", 3)
