"""Batches end to end: submitted and collected over real HTTP, behind the same cache."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from factcheck import CoverageReport, FactCoverage, Model, Verdict
from factcheck.errors import ConfigError, InputError, JudgeQueued, JudgeRejected, JudgeUnavailable
from factcheck.judges.llm.batch import Outcome, collect, request_files, request_id, submit
from factcheck.runtime.budget import Price
from factcheck.runtime.session import Session
from factcheck.testing import ChatAnswer, FactModel, LocalOpenAIServer, Reply, Request, parse_prompt
from tests.batch_server import BatchPlan, BatchServer, form_of
from tests.faults import rate_limited
from tests.judges.llm.conftest import MODEL, QUICK, Provider, anthropic_message

FACTS = [f"Kiln {number} fires {number + 30} bowls." for number in range(1, 7)]
SOURCE = " ".join(FACTS)
SUMMARIES = (" ".join(FACTS[:2]), " ".join(FACTS[3:]), "Nothing is said of any kiln.")
SCORES = [2 / 6, 3 / 6, 0.0]
KEY = "sk-never-in-a-file"
Transport = Callable[[Any], Any]


@dataclass
class Pottery:
    """A server, a cache and a state file, and the runs that use them."""

    server: LocalOpenAIServer
    folder: Path
    facts: Sequence[str] | None = field(default_factory=lambda: list(FACTS))
    options: dict[str, Any] = field(default_factory=dict)
    reports: list[Any] = field(default_factory=list)
    """Of the last run; `None` where facts are still to be listed."""

    @property
    def state(self) -> Path:
        return self.folder / "bowls.json"

    @property
    def cache(self) -> str:
        return str(self.folder / "cache")

    @property
    def scores(self) -> list[float | None]:
        return [report.score for report in self.reports]

    @property
    def undecided(self) -> list[dict[str, str]]:
        return [{one.fact.text: one.code for one in report.undecided} for report in self.reports]

    def run(self, transport: Transport) -> None:
        options = {"cache": self.cache, "retry": QUICK, **self.options}
        judge, size = options.pop("judge", MODEL), options.pop("batch_size", 32)
        with Session(transport=transport, **options) as session:
            scorer = FactCoverage(judge, batch_size=size, session=session)
            self.reports = [self._score(scorer, summary) for summary in SUMMARIES]

    def _score(self, scorer: FactCoverage, summary: str) -> CoverageReport | None:
        try:
            return scorer.score(SOURCE, summary, facts=self.facts)
        except JudgeQueued:
            return None

    def live(self) -> list[Any]:
        self.run(lambda transport: transport)
        return self.reports

    def submit(self) -> Outcome:
        return submit(self.state, self.run)

    def submitted(self) -> Pottery:
        self.submit()
        return self

    def collect(self) -> Outcome:
        return collect(self.state, self.run)

    def posts(self, path: str) -> int:
        return sum(r.method == "POST" and r.path == path for r in self.server.requests)

    def asked(self) -> list[Any]:
        """The requests in the file that was uploaded last."""
        uploads = [form_of(r)["file"] for r in self.server.requests if r.path == "/v1/files"]
        return [json.loads(line) for line in uploads[-1].splitlines()]


MakePottery = Callable[..., Pottery]


@pytest.fixture
def pottery(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MakePottery]:
    with ExitStack() as stack:

        def make(answer: ChatAnswer | None = None, **options: Any) -> Pottery:
            plan = BatchPlan(**options.pop("plan", {}))
            server = BatchServer(answer or FactModel(), plan)
            stack.enter_context(server)
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            return Pottery(server, tmp_path, **options)

        yield make


def comparable(reports: Sequence[CoverageReport]) -> list[Any]:
    """Reports without what they cost and from whom; who paid is not part of the verdict."""
    return [
        [
            (r.fact.text, r.label, r.evidence, r.reason) if isinstance(r, Verdict) else r
            for r in report.results
        ]
        for report in reports
    ]


def test_a_batch_gives_the_report_of_a_live_run_and_leaves_a_warm_cache(
    pottery: MakePottery,
) -> None:
    job = pottery(plan={"polls": 1})
    out, under_way, done = job.submit(), job.collect(), job.collect()
    collected, warm = job.reports, job.live()
    assert job.posts("/v1/chat/completions") == 0
    written, job.options = job.asked(), {"cache": "off"}
    live = job.live()
    sent = [r.body for r in job.server.requests if "chat" in r.path]

    assert (out.requests, len(out.batches)) == (3, 1)
    assert (under_way.final, under_way.used) == (False, 0)
    assert [batch.status for batch in under_way.batches] == ["in_progress"]
    assert (done.final, done.used, done.unused, done.unanswered) == (True, 3, 0, 0)
    assert [(r.usage.calls, r.usage.attempts) for r in collected] == [(1, 1)] * 3
    assert comparable(collected) == comparable(warm) == comparable(live)
    assert job.scores == SCORES
    assert [report.signature for report in warm] == [report.signature for report in live]
    assert not job.state.exists()
    assert {line["url"] for line in written} == {"/v1/chat/completions"}
    assert {line["custom_id"] for line in written} == set(map(request_id, sent))
    assert all(line["body"] in sent for line in written)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (None, "queued"),
        (rate_limited(), "queued"),
        (Reply(status=500), "queued"),
        (Reply(raw_body=b"no completion"), "queued"),
        (Reply(None, refusal="No."), "refused"),
    ],
    ids=["missing", "429", "500", "garbage", "refusal"],
)
def test_a_line_that_is_no_answer_leaves_exactly_its_facts_undecided_until_the_next_run(
    pottery: MakePottery, fault: Reply | None, code: str
) -> None:
    model, hit = FactModel(), (SUMMARIES[1], FACTS[2:3])
    lost: list[int] = []

    def is_hit(body: Any) -> bool:
        asked = parse_prompt(body)
        return (asked.text, [*asked.facts.values()]) == hit

    def answer(request: Request) -> Reply | str:
        return fault if fault and is_hit(request.body) else model(request)

    job = pottery(answer, options={"batch_size": 1}, plan={"lost": lost}).submitted()
    lost += [n for n, line in enumerate(job.asked()) if not fault and is_hit(line["body"])]
    done = job.collect()
    assert job.undecided == [{}, {FACTS[2]: code}, {}]
    assert done.unanswered == (code == "queued")
    assert all(r.usage.attempts <= len(FACTS) for r in job.reports)
    fault = None
    job.live()
    assert (job.scores, job.posts("/v1/chat/completions")) == (SCORES, 1)


@pytest.mark.parametrize("ending", ["expired", "failed"])
def test_a_batch_that_ends_early_gives_what_it_has_and_the_rest_is_submitted_again(
    pottery: MakePottery, ending: str
) -> None:
    job = pottery(plan={"ending": ending, "carried_out": 2}).submitted()
    (batch,) = job.collect().batches
    n_done = 0 if ending == "failed" else 2
    assert (batch.status, batch.completed) == (ending, n_done)
    assert batch.problem == ("the batch failed as planned" if ending == "failed" else None)
    assert sorted(map(len, job.undecided)) == [0] * n_done + [6] * (3 - n_done)
    assert job.submit().requests == 3 - n_done


def test_a_submission_that_fails_leaves_the_batches_before_it(pottery: MakePottery) -> None:
    """Each model has a batch of its own."""
    job = pottery(plan={"creations": [True, False]})
    numbers = []

    def run(transport: Transport) -> None:
        with Session(cache=job.cache, transport=transport) as session:
            scorer = FactCoverage(MODEL, "openai/lister", session=session)
            listed = 0
            with suppress(JudgeQueued):
                listed = len(scorer.extract(SOURCE))
            report = scorer.score(SOURCE, SUMMARIES[0], facts=FACTS)
            numbers.append((listed, len(report.kept)))

    with pytest.raises(JudgeUnavailable):
        submit(job.state, run)
    first = collect(job.state, run)
    rest = submit(job.state, run)
    collect(job.state, run)
    assert (first.used, first.unanswered, numbers[-1]) == (1, 1, (6, 2))
    assert {one.model for one in (*first.batches, *rest.batches)} == {"openai/lister", MODEL}


def test_a_batch_that_was_created_without_a_reply_is_found_and_not_paid_twice(
    pottery: MakePottery,
) -> None:
    job = pottery(plan={"creations": [None]})
    batch_id = job.submit().batches[0].batch_id
    assert job.posts("/v1/batches") == 1
    assert (job.collect().unanswered, batch_id) == (0, "batch_0")


def test_a_batch_that_is_not_collected_is_private_and_not_submitted_over(
    pottery: MakePottery,
) -> None:
    job = pottery().submitted()
    before = job.state.read_bytes()
    with pytest.raises(InputError, match="not collected yet"):
        job.submit()
    assert job.state.read_bytes() == before
    assert job.posts("/v1/files") == 1
    assert [*job.folder.glob("bowls*")] == [job.state]
    assert stat.S_IMODE(job.state.stat().st_mode) == 0o600
    assert not re.search(f"{KEY}|Kiln", before.decode())


@pytest.mark.parametrize(
    "change",
    [{"options": {"judge": "openai/huge"}}, {"facts": FACTS[:3]}],
    ids=["model", "records"],
)
def test_what_is_not_the_batch_that_was_submitted_is_refused(
    pottery: MakePottery, change: dict[str, Any]
) -> None:
    job = replace(pottery().submitted(), **change)
    with pytest.raises(InputError, match="none of the 3 answers to"):
        job.collect()


def test_a_server_that_does_not_know_the_batch_costs_nothing(pottery: MakePottery) -> None:
    job = pottery().submitted()
    pottery()
    with pytest.raises(JudgeRejected, match="check the model's name and OPENAI_BASE_URL"):
        job.collect()
    assert job.state.exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 1}', "no json", '"x"'])
def test_a_file_that_is_no_state_is_refused_and_left_alone(
    pottery: MakePottery, content: str
) -> None:
    job = pottery()
    job.state.write_text(content)
    for command, says in ((job.submit, "collect it first"), (job.collect, "not the state of a")):
        with pytest.raises(InputError, match=says):
            command()
    assert job.state.read_text() == content


def test_a_run_that_cannot_be_a_batch_leaves_nothing_behind(pottery: MakePottery) -> None:
    job = pottery()

    def failing(transport: Transport) -> None:
        job.run(transport)
        raise InputError("line 4: not JSON")

    with pytest.raises(InputError, match="line 4"):
        submit(job.state, failing)
    assert not job.state.exists()
    with pytest.raises(InputError, match="cannot write"):
        replace(job, folder=Path("/nowhere"), options={"cache": "off"}).submit()
    for judge, says in (
        ("local", "uses no language model"),
        ("anthropic/claude", "set ANTHROPIC_API_KEY"),
        ("cohere/command", "does not support batches; use a judge 'openai/MODEL' or 'anth"),
        (Model("anthropic/claude", base_url=job.server.base_url), "does not support batches"),
    ):
        job.options = {"judge": judge}
        with pytest.raises(ConfigError, match=says):
            job.submit()
    assert job.server.requests == ()


def test_requests_are_split_at_the_limits_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factcheck.judges.llm.batch.MAX_REQUESTS", 2)
    monkeypatch.setattr("factcheck.judges.llm.batch.MAX_BYTES", 10_000)
    few, long = [b"%d" % n for n in range(5)], [b"%d" % n * 4_000 for n in range(3)]
    assert [*request_files(few)] == [few[:2], few[2:4], few[4:]]
    assert [*request_files(long)] == [long[:2], long[2:]]


class Messages(Provider):
    """Anthropic's Message Batches, and its messages one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.queued: list[Any] = []
        self.n_alone = 0

    def answer(self, path: str, body: Any) -> Any:
        batch = {"id": "msgbatch_1", "processing_status": "ended", "type": "message_batch"}
        if path.endswith("/batches"):
            self.queued = body["requests"]
            return {**batch, "processing_status": "in_progress"}
        if path.endswith("/msgbatch_1"):
            counts = {"succeeded": len(self.queued) - 1, "errored": 1}
            url = f"{self.address}/v1/messages/batches/msgbatch_1/results"
            return {**batch, "request_counts": counts, "results_url": url}
        if path.endswith("/results"):
            return "\n".join(json.dumps(self._result(line)) for line in reversed(self.queued))
        self.n_alone += 1
        return self._message(body)

    def _result(self, line: Any) -> Any:
        result = {"type": "succeeded", "message": self._message(line["params"])}
        if line["custom_id"] == "0":
            error = {"type": "overloaded_error", "message": "too much to do"}
            result = {"type": "errored", "error": {"type": "error", "error": error}}
        return {"custom_id": line["custom_id"], "result": result}

    def _message(self, params: Any) -> Any:
        system = {"role": "system", "content": params["system"]}
        body = {**params, "messages": [system, *params["messages"]]}
        text = FactModel()(Request("POST", "/v1/messages", {}, body, 0, 1))
        return anthropic_message(text, input_tokens=90, output_tokens=9)


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[Messages]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with Messages() as server:
        monkeypatch.setattr("factcheck.judges.llm.batch._ANTHROPIC_URL", f"{server.address}/v1")
        yield server


def test_a_batch_of_anthropic_is_collected_and_what_failed_is_sent_by_the_next_run(
    pottery: MakePottery, anthropic: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    price = Price(1.0, 0.1, 5.0)
    monkeypatch.setattr("factcheck.judges.llm.language_model.price_of", lambda _: price)
    job = pottery(options={"judge": "anthropic/claude-x"})
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert job.submit().requests == 3
    assert stat.S_IMODE(job.state.stat().st_mode) == 0o600
    assert KEY not in job.state.read_text()
    done = job.collect()
    assert (done.final, done.used, done.unused, done.unanswered) == (True, 3, 0, 1)
    assert sorted(len(undecided) for undecided in job.undecided) == [0, 0, 6]
    assert sum(report.usage.prompt_tokens for report in job.reports) == 180
    costs = [report.usage.cost_usd for report in job.reports if not report.undecided]
    assert costs == [0.5 * (90 * 1.0 + 9 * 5.0) / 1e6] * 2
    assert anthropic.n_alone == 0
    assert not job.state.exists()


def test_a_batch_is_not_sent_with_other_settings_than_its_signature_says(
    pottery: MakePottery, anthropic: Messages
) -> None:
    job = pottery(options={"judge": Model("anthropic/claude-x", seed=3)})
    with pytest.raises(ConfigError, match=r"anthropic/claude-x takes no seed as set"):
        job.submit()
    assert not anthropic.bodies
    assert not job.state.exists()


def test_a_submission_to_anthropic_without_a_reply_says_where_to_look(
    pottery: MakePottery, anthropic: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anthropic, "answer", lambda *_: 500)
    job = pottery(options={"judge": "anthropic/claude-x"})
    with pytest.raises(JudgeUnavailable, match=r"before you submit again, look in Anthropic's"):
        job.submit()
    assert len(anthropic.bodies) == 1
    assert not job.state.exists()
