"""Jobs without HTTP: rows, bad lines, owners, stops and restarts, a full or shared disk."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from factcheck import Model
from factcheck.errors import ConfigError, InputError
from factcheck.scoring.run_report import RunReport
from factcheck.server.access import ApiKey, Problem, ServerConfig
from factcheck.server.job_store import JobStatus
from factcheck.server.jobs import Jobs, delete
from factcheck.server.service import Service
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, ScriptedChecker
from tests.server.conftest import api_key, app_of, client_of

pytestmark = pytest.mark.anyio
FACTS = ["The lake is deep.", "The pier is old."]


def record(number: int, **others: Any) -> dict[str, Any]:
    own = {"id": f"r{number}", "source": "", "summary": f"Lake {number}.", "facts": FACTS}
    return {**own, **others}


def lines(records: Sequence[Any]) -> list[bytes]:
    """JSON lines; bytes are sent as they are."""
    return [one if isinstance(one, bytes) else json.dumps(one).encode() for one in records]


def checker(name: str = "scripted") -> Any:
    return ScriptedChecker(lambda fact, _: "entailed" if "lake" in fact else "neutral", name=name)


class Bench:
    """Jobs over one database, opened as often as a test likes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "jobs.sqlite"
        self.judges: dict[str, Any] = {"main": checker()}
        self.options: dict[str, Any] = {"cache": "off", "concurrency": 4}
        self.opened: list[Jobs] = []

    def open(self) -> Jobs:
        config = ServerConfig(judges=self.judges, jobs_path=str(self.path), **self.options)
        self.opened.append(Jobs(Service(config)))
        return self.opened[-1]

    def start(self) -> Jobs:
        jobs = self.open()
        jobs.start()
        return jobs

    def app(self) -> Any:
        return app_of(self.judges, jobs_path=str(self.path))

    async def done(self, jobs: Jobs, job: str, owner: str = "") -> JobStatus:
        """The status of a job that has ended."""
        await until(lambda: status(jobs, job, owner).state not in {"queued", "running"})
        return status(jobs, job, owner)


def submit(jobs: Jobs, records: Sequence[Any], owner: str = "", **options: Any) -> str:
    options = {"judge": next(iter(jobs.service.judges)), "direction": "coverage", **options}
    job = jobs.store.add(BytesIO(b"\n".join(lines(records))), owner, **options)
    jobs.wake()
    return job


def status(jobs: Jobs, job: str, owner: str = "") -> JobStatus:
    return jobs.status(jobs.store.find(job, owner))


def report_of(jobs: Jobs, job: str, path: Path) -> RunReport:
    path.write_text("".join(jobs.store.row_lines(jobs.store.find(job, ""))), "utf-8")
    return RunReport.read(path)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    for jobs in bench.opened:
        await jobs.stop()


def test_a_job_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys name the owner; a job that has not ended outlives the application."""
    judges = {"main": checker(), "other": checker("other")}
    keys = [api_key(name, name) for name in ("ann", "bob")]
    ann, bob = ({"Authorization": f"Bearer {name}"} for name in ("ann", "bob"))
    options: Any = {"keys": keys, "jobs_path": str(tmp_path / "jobs.sqlite")}
    body = b"\n".join(lines([record(1), record(2, source=" ", facts=None), record(3)]))
    with client_of(app_of(judges, **options), **ann) as client:
        answer = client.post("/v1/jobs?judge=other", content=body)
        assert answer.status_code == 202
        url = f"/v1/jobs/{answer.json()['id']}"
        while (status := client.get(url).json())["state"] != "done":
            pass
        assert (status["judge"], status["rows"], status["failed"]) == ("other", 3, 1)
        verdicts = 'factcheck_verdicts_total{judge="other",outcome="kept"} 2.0'
        assert verdicts in client.get("/metrics").text
        rows = client.get(f"{url}/rows")
        assert rows.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(row).get("id") for row in rows.text.splitlines()] == [
            *(None, "r1", "r2", "r3", None)
        ]
        for method, path in (
            ("GET", url),
            ("GET", f"{url}/rows"),
            ("GET", f"{url}/page"),
            ("DELETE", url),
        ):
            problem = client.request(method, path, headers=bob)
            assert (problem.status_code, problem.json()["code"]) == (404, "not_found")
        for query in ("judge=x", "direction=up"):
            assert client.post(f"/v1/jobs?{query}", content=body).status_code == 422
        assert client.post("/v1/jobs", content=b"").json()["code"] == "input"
        page = client.get(f"{url}/page")
        assert page.headers["content-type"].startswith("text/html")
        assert "The lake is deep." not in page.text  # packed, for its row to open
        assert ">r2</button>" in page.text
        with monkeypatch.context() as few:
            few.setattr("factcheck.server.jobs._MAX_PAGE", 2)
            problem = client.get(f"{url}/page")
        assert (problem.status_code, problem.json()["code"]) == (413, "too_large")
        last = client.post("/v1/jobs", content=body).json()["id"]
        listed = client.get("/v1/jobs").json()
        assert [job["id"] for job in listed] == [last, status["id"]]
        assert (listed[1]["records"], listed[1]["rows"], listed[1]["failed"]) == (3, 3, 1)
        assert client.get("/v1/jobs", headers=bob).json() == []

    with client_of(app_of(judges, **options), **ann) as client:
        assert client.get(f"/v1/jobs/{last}").json()["records"] == 3
        assert client.delete(url).status_code == 204
        assert client.get(url).status_code == 404


BAD: list[tuple[Any, str]] = [
    (b"{nonsense", "not valid JSON"),
    (b'{"id": "r1", "source": "x", "summary": "y"}', "the id 'r1' was used before, in line 2"),
    (b"\xff", "not UTF-8"),
    (record(9, summary="x" * 200_001), "the texts have"),
    (record(9, facts=["a"] * 501), "a list has 501 items"),
    (record(9, facts=[]), "'facts' is empty"),
    (b"[" + b" " * 2_000_000, "longer than the limit of 2,000,000 bytes"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=range(len(BAD)))
async def test_a_bad_line_is_named_and_nothing_is_kept(
    bench: Bench, line: Any, message: str
) -> None:
    jobs = bench.open()
    with pytest.raises(InputError, match=f"^job, line 4: {message}"):
        submit(jobs, [b"\xef\xbb\xbf", record(1), b" \r", line, record(2)])
    assert [*jobs.store._all("SELECT * FROM jobs"), *jobs.store._all("SELECT * FROM records")] == []


async def test_unfinished_jobs_of_an_owner_are_limited(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck.server.job_store._MAX_OPEN", 2)
    jobs = bench.open()
    first = submit(jobs, [record(1)], owner="ann")
    submit(jobs, [record(1)], owner="ann")
    assert {path.stat().st_mode & 0o777 for path in bench.path.parent.iterdir()} == {0o600}

    with pytest.raises(Problem) as refused:
        submit(jobs, [record(1)], owner="ann")
    assert (refused.value.status_code, refused.value.code) == (429, "rate")
    submit(jobs, [record(1)], owner="bob")
    jobs.store.finish(jobs.store.find(first, "ann"), "cancelled")
    submit(jobs, [record(1)], owner="ann")


async def test_a_cancelled_job_stops_and_the_next_one_runs(
    bench: Bench, model: LocalOpenAIServer, tmp_path: Path
) -> None:
    bench.judges["model"] = "openai/tiny"
    jobs = bench.start()
    job = submit(jobs, [record(n) for n in range(500)], judge="model")
    other = submit(jobs, [record(1)])
    await until(lambda: status(jobs, job).rows >= 5)
    assert status(jobs, job).state == "running"
    with pytest.raises(Problem) as refused:
        delete(jobs, jobs.store.find(job, ""))
    assert refused.value.status_code == 409
    await jobs.cancel(jobs.store.find(job, ""))
    await bench.done(jobs, other)
    n_rows, n_requests = status(jobs, job).rows, len(model.requests)
    await asyncio.sleep(0.1)

    after = status(jobs, job)
    assert (after.state, after.rows, after.records) == ("cancelled", n_rows, 500)
    assert len(model.requests) == n_requests < 100
    shown = str(report_of(jobs, job, tmp_path / "rows.jsonl"))
    assert f"{n_rows} of {n_rows} records scored so far" in shown
    assert "partial result: records are without a row" in shown

    jobs.store.finish(jobs.store.find(other, ""), "cancelled")
    assert status(jobs, other).state == "done"
    delete(jobs, jobs.store.find(job, ""))
    assert [job for (job,) in jobs.store._all("SELECT DISTINCT job FROM records")] == [other]


class Hanging(ScriptedChecker):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__({})
        self.waiting, self.ended = threading.Event(), threading.Event()

    async def check(self, *_: Any) -> Any:
        self.waiting.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.ended.set()


async def test_cancelling_a_job_that_hangs_makes_way_for_the_next(bench: Bench) -> None:
    judge = Hanging()
    bench.judges["hanging"] = judge
    jobs = bench.start()
    job, other = submit(jobs, [record(1)], judge="hanging"), submit(jobs, [record(2)])
    await asyncio.to_thread(judge.waiting.wait)
    for _ in range(2):
        await jobs.cancel(jobs.store.find(job, ""))

    assert await asyncio.to_thread(judge.ended.wait, 5)
    assert status(jobs, job).state == "cancelled"
    assert (await asyncio.wait_for(bench.done(jobs, other), 5)).state == "done"


async def test_requests_go_before_the_records_of_a_job(bench: Bench) -> None:
    """Eight are on their way, and the request is next."""
    bench.options["concurrency"] = 8
    answer = FactModel()
    with LocalOpenAIServer(lambda request: Reply(answer(request), delay_s=1)) as server:
        bench.judges = {"model": Model("openai/tiny", base_url=server.base_url, api_key="none")}
        jobs = bench.start()
        submit(jobs, [record(n) for n in range(100)])
        await until(lambda: server.in_flight == 8)
        await asyncio.sleep(0.3)
        await jobs.service.judges["model"].scorer.acheck(FACTS, "The request.")
        places = [n for n, one in enumerate(server.requests) if "The request." in str(one.body)]
        await jobs.stop()
    assert 8 <= places[0] < 16


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("keys", [[], [ApiKey("ann", "b" * 64)]])
async def test_a_job_waits_for_the_key_that_submitted_it(
    bench: Bench, model: LocalOpenAIServer, keys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a service without keys nor another key of the same name pays for it, or sees it."""
    ann = ApiKey("ann", "a" * 64, max_calls=3)
    other = keys[0].sha256 if keys else ""
    bench.judges = {"model": "openai/tiny"}
    bench.options["keys"] = [ann]
    jobs = bench.open()
    job = submit(jobs, [record(n) for n in range(9)], owner=ann.sha256)
    await jobs.stop()

    bench.options["keys"] = keys
    jobs = bench.start()
    with pytest.raises(Problem, match="no job"):
        jobs.store.find(job, other)
    own = submit(jobs, [record(10)], owner=other)
    assert (await bench.done(jobs, own, other)).state == "done"
    assert status(jobs, job, ann.sha256).rows == 0
    assert len(model.requests) == 1
    assert "1 unfinished job belongs to API keys that this service does not have" in caplog.text
    await jobs.stop()

    bench.options["keys"] = [ann]
    jobs = bench.start()
    ended = await bench.done(jobs, job, ann.sha256)
    assert (ended.rows, ended.problem[:19]) == (3, "the budget is spent")


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


async def test_a_judge_that_has_changed_ends_the_job(bench: Bench) -> None:
    jobs = bench.open()
    job = submit(jobs, [record(1)])
    await jobs.stop()
    change(bench.path, "UPDATE jobs SET signature = 'judge:another'")
    jobs = bench.start()
    ended = await bench.done(jobs, job)
    assert (ended.state, ended.rows) == ("failed", 0)
    assert "the judge 'main' has changed since the job began" in ended.problem
    gone = submit(jobs, [record(1)])
    await jobs.stop()

    bench.judges = {"other": checker()}
    jobs = bench.start()
    assert "no longer has a judge 'main'" in (await bench.done(jobs, gone)).problem


async def test_a_full_disk_delays_the_jobs_and_loses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck.server.jobs._DISK_WAIT_S", 0.05)
    records = [record(n) for n in range(300)]
    jobs = bench.open()
    job = submit(jobs, records)
    (n_pages,) = jobs.store._all("PRAGMA page_count")[0]
    jobs.store._all(f"PRAGMA max_page_count = {n_pages + 20}")
    jobs.start()
    await until(lambda: "within 0.05 s" in status(jobs, job).problem)

    now = status(jobs, job)
    assert now.state == "queued"
    assert "no jobs are scored: database or disk is full; tried again" in now.problem
    with pytest.raises(Problem) as refused:
        submit(jobs, records)
    assert refused.value.status_code == 503
    assert 0 < now.rows < 300
    jobs.store._all(f"PRAGMA max_page_count = {2 * n_pages + 1_000}")
    now = await bench.done(jobs, job)
    assert (now.state, now.rows, now.failed) == ("done", 300, 0)
    await until(lambda: not jobs.problem)


async def test_a_key_names_one_job_of_its_owner(bench: Bench) -> None:
    (body,) = lines([record(1)])
    with client_of(bench.app()) as client:
        once = {"Idempotency-Key": "k"}
        first, again = (client.post("/v1/jobs", content=body, headers=once) for _ in range(2))
        other = client.post("/v1/jobs?direction=both", content=body, headers=once)
        changed = client.post("/v1/jobs", content=body + b"\n", headers=once)
        new = client.post("/v1/jobs", content=body).json()["id"]
        assert client.post(f"/v1/jobs/{new}/cancel").status_code == 200
    jobs = bench.open()
    options = {"key": "k", "digest": "other"}
    submit(jobs, [record(2)], owner="bob", **options)
    with pytest.raises(InputError, match="used for another job; use a new key"):
        submit(jobs, [record(2)], key="k", digest="other")
    submit(jobs, [record(2)], owner="bob", **options)

    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    assert (other.status_code, changed.status_code) == (422, 422)
    owners = [owner for (owner,) in jobs.store._all("SELECT owner FROM jobs ORDER BY number")]
    assert owners == ["", "", "bob"]


async def test_a_job_is_refused_before_its_body_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = bench.app()
    n_read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal n_read
        n_read += 1
        yield lines([record(1)])[0]

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        unknown = await client.post("/v1/jobs?judge=x", content=body())
        monkeypatch.setattr("factcheck.server.job_store._MAX_OPEN", 0)
        many = await client.post("/v1/jobs", content=body())

    assert (unknown.status_code, many.status_code, n_read) == (422, 429, 0)
    await app.state.jobs.stop()


async def test_a_job_that_was_not_received_in_full_is_removed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the next start, as the disk is full."""
    sent = [record(n) for n in range(300)] + [b" "] * 100_000
    jobs = bench.open()
    change = jobs.store._change

    def full(statement: str, *values: Any) -> None:
        if statement.startswith("DELETE"):
            raise sqlite3.OperationalError("database or disk is full")
        change(statement, *values)

    monkeypatch.setattr(jobs.store, "_change", full)
    with pytest.raises(InputError, match="more than 100,000 lines"):
        submit(jobs, sent)
    assert jobs.store._all("SELECT count(*) FROM records")[0][0] == 200
    await jobs.stop()
    jobs = bench.open()
    assert not jobs.store._all("SELECT * FROM records")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"no database" * 500), "file is not a database"),
        (Path.mkdir, "unable to open|is a directory"),
        (
            lambda path: change(path, "PRAGMA user_version = 2"),
            "written by another version; name another file",
        ),
    ],
)
async def test_a_file_that_cannot_be_used_is_refused(
    bench: Bench, make: Callable[[Path], object], message: str
) -> None:
    make(bench.path)
    with pytest.raises((ConfigError, InputError), match=message):
        bench.open()
