"""Tables in, tables out; and the same on a Ray cluster, whatever is killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factcheck import Budget, FactCoverage, Model
from factcheck.cli import main
from factcheck.distributed import score_batch, score_dataset
from factcheck.errors import ConfigError, InputError
from factcheck.facts import AtomicFact, CheckFailure
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, ScriptedChecker
from tests.runtime.cache.conftest import redis_url as redis_url  # noqa: PLC0414 - a fixture
from tests.scoring.test_processes import record as pair

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")
JUDGE: dict[str, Any] = {"judge": "local-fast"}


def record(number: int) -> dict[str, Any]:
    return {**pair(number), "summary": f"The mill has {number} sails."}


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows = [row for path in folder.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["id"], row["fact_id"] or ""))


class TestScoreBatch:
    """One row per fact, and errors as rows."""

    def test_a_row_says_of_each_fact_what_the_report_says(self) -> None:
        table = pa.Table.from_pylist([{**record(1), "other": 1}, record(2)])
        found = score_batch(table, judge="local").to_pylist()
        report = FactCoverage("local").score(record(1)["source"], record(1)["summary"])

        assert [row["id"] for row in found].count("r1") == len(report.results) == 4
        for row, result in zip(found, report.results, strict=False):
            said = (result.fact.text, result.fact.id, result.label)
            assert (row["fact"], row["fact_id"], row["verdict"]) == said
        assert found[0]["verdict"] == "entailed"
        assert found[0]["evidence"] == "The mill has 1 sails."
        assert found[0]["error"] is None

    def test_facts_are_lists_or_json_and_errors_are_rows(self) -> None:
        records = [
            {**record(1), "facts": '["The mill has sails."]'},
            {**record(2), "facts": "[broken"},
            {**record(3), "facts": "One fact.\nAnother."},
            {**record(4), "summary": None},
            {**record(5), "source": " "},
        ]
        found = score_batch(pa.Table.from_pylist(records), **JUDGE).to_pylist()

        assert [row["id"] for row in found] == ["r1", "r2", "r3", "r3", "r4", "r5"]
        assert [row["error"] for row in found] == [None, "input", None, None, *["input"] * 2]
        assert all((row["verdict"] is None) == (row["error"] is not None) for row in found)

    def test_structs_of_facts_and_an_empty_table(self) -> None:
        facts = [{"text": "The mill has sails.", "weight": 2.0}, {"text": "It burns."}]
        table = pa.Table.from_pylist([{**record(1), "facts": facts}])
        with FactCoverage("local-fast") as scorer:
            full, empty = score_batch(table, scorer), score_batch(table.slice(1), scorer)

        assert full["fact"].to_pylist() == ["The mill has sails.", "It burns."]
        assert (empty.num_rows, empty.schema) == (0, full.schema)

    def test_a_fact_without_a_verdict_is_a_row_with_its_reason(self) -> None:
        fact = "The mill has sails."
        silent = ScriptedChecker({fact: CheckFailure(AtomicFact("f1", fact), "missing", "none")})
        table = pa.Table.from_pylist([{**record(1), "facts": json.dumps([fact])}])
        with FactCoverage(silent) as scorer:
            (row,) = score_batch(table, scorer).to_pylist()
        assert (row["fact"], row["verdict"], row["error"]) == (fact, None, "missing")

    def test_arguments_that_contradict(self) -> None:
        table = pa.Table.from_pylist([{"id": "a", "source": "It rained."}])
        with pytest.raises(InputError, match="a column is missing: summary; found id, source"):
            score_batch(table)
        with pytest.raises(InputError, match="the scorer brings its own judge"):
            score_batch(table, FactCoverage("local-fast"), **JUDGE)


SCRIPT = """
import sys, ray
from factcheck import Model
from factcheck.distributed import score_dataset

data, out, address, cache = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
judge = Model("openai/tiny", base_url=address, api_key="sk-test")
score_dataset(data, out, judge=judge, extractor="local", cache=cache, shard_size=50, concurrency=8)
"""


def actors_of(driver: int) -> list[int]:
    """Process ids of the actors of a driver with a cluster of its own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"_Actor" not in (folder / "cmdline").read_bytes():
                continue
            pid = int(folder.name)
            while pid > 1 and pid != driver:
                status = Path(f"/proc/{pid}/stat").read_text("utf-8")
                pid = int(status.rpartition(")")[2].split()[1])
        except OSError:
            continue
        if pid == driver:
            found.append(int(folder.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="finds the actors in /proc")
def test_a_killed_actor_and_a_killed_driver_cost_hardly_a_call(
    tmp_path: Path, redis_url: str
) -> None:
    """The run that follows ends with the rows of one process."""
    pytest.importorskip("ray", reason="Ray is not installed: extra ray")
    n = 1000
    data, out = tmp_path / "data.parquet", tmp_path / "out"
    pq.write_table(pa.Table.from_pylist([record(number) for number in range(n)]), data)
    model = FactModel()
    with LocalOpenAIServer(lambda request: Reply(model(request), delay_s=0.05)) as server:
        command = [sys.executable, "-c", SCRIPT, str(data), str(out), server.base_url, redis_url]

        def wait_for_requests(number: int, driver: subprocess.Popen[bytes]) -> None:
            while len(server.requests) < number:
                assert driver.poll() is None
                time.sleep(0.02)

        with subprocess.Popen(command) as driver:  # noqa: S603 - our own script
            wait_for_requests(n // 4, driver)
            os.kill(actors_of(driver.pid)[0], signal.SIGKILL)
            wait_for_requests(n // 2, driver)
            driver.kill()
        subprocess.run(command, check=True)  # noqa: S603 - our own script
        n_requests = len(server.requests)
        single = score_batch(pq.read_table(data), judge=model_at(server), extractor="local")

    assert n <= n_requests <= 1.02 * n
    assert rows_of(out) == sorted(single.to_pylist(), key=lambda row: (row["id"], row["fact_id"]))


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed: extra ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("default")
class TestRay:
    """On a cluster of two CPUs."""

    @pytest.fixture
    def data(self, tmp_path: Path) -> str:
        records = [record(number) for number in range(60)]
        records[7] = {**records[7], "source": " "}
        pq.write_table(pa.Table.from_pylist(records), tmp_path / "data.parquet", row_group_size=25)
        return str(tmp_path / "data.parquet")

    def test_rows_are_those_of_one_process_and_a_second_run_has_none(
        self, ray: Any, data: str, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        first = score_dataset(data, out, shard_size=10, **JUDGE)
        files = {path.name: path.read_bytes() for path in out.glob("*.parquet")}
        second = score_dataset(ray.data.read_parquet(data), out, shard_size=7, **JUDGE)

        single = score_batch(pq.read_table(data), **JUDGE).to_pylist()
        assert rows_of(out) == sorted(single, key=lambda row: (row["id"], row["fact_id"] or ""))
        assert (first["records"], first["skipped"], first["failed"]) == (60, 0, 1)
        assert sum(n for name, n in first.items() if name.startswith("facts ")) == len(single)
        assert (second["records"], second["skipped"]) == (0, 60)
        assert {path.name: path.read_bytes() for path in out.glob("*.parquet")} == files
        with pytest.raises(InputError, match=r"has rows of a run with .*not "):
            score_dataset(data, out, judge="local")

    def test_a_budget_is_that_of_all_actors_and_what_it_leaves_that_of_the_next_run(
        self, ray: Any, data: str, tmp_path: Path, redis_url: str
    ) -> None:
        """The actor that has the only shard may spend all of it; another run has a new one."""
        with LocalOpenAIServer(FactModel()) as server:
            options: dict[str, Any] = {
                "judge": model_at(server),
                "extractor": "local",
                "cache": redis_url,
                "rpm": 60_000,
                "budget": Budget(max_calls=21),
            }
            found = [
                score_dataset(data, tmp_path / "out", shard_size=size, run=run, **options)
                for size, run in ((60, "a"), (10, "a"), (10, "b"), (10, "c"))
            ]
            n_requests = len(server.requests)

        assert [counts["calls"] for counts in found] == [21, 0, 21, 17]
        assert [counts["unfinished"] for counts in found] == [38, 38, 17, 0]
        assert n_requests == 59
        assert len(rows_of(tmp_path / "out")) == 59 * 3 + 1

    def test_several_actors_share_no_limits_without_redis(
        self, ray: Any, data: str, tmp_path: Path
    ) -> None:
        for options in ({"rpm": 60}, {"budget": Budget(max_calls=1)}):
            with pytest.raises(ConfigError, match="set FACTCHECK_CACHE=redis://"):
                score_dataset(data, tmp_path / "out", cache="off", **JUDGE, **options)
        with pytest.raises(InputError, match="concurrency=1 is less than the number of actors, 2"):
            score_dataset(data, tmp_path / "out", concurrency=1, **JUDGE)

    def test_the_command_prints_counts_and_refuses_what_it_does_not_do(
        self, ray: Any, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out, options = str(tmp_path / "out"), ("--judge", "local-fast", "--engine", "ray")
        for more, code, message in (
            (("--out", out), 0, f"60 records scored, 0 skipped that had rows in {out}; 1 without"),
            (("--out", out, "--jobs", "2"), 0, "0 records scored, 60 skipped"),
            (("--out", out, "--dry-run"), 2, "--engine ray does not support --dry-run"),
            ((), 2, "--engine ray needs --out FOLDER"),
        ):
            with pytest.raises(SystemExit) as left:
                main(["run", data, *options, *more])
            assert left.value.code == code
            assert message in "".join(capsys.readouterr())

    def test_two_drivers_and_no_workers(
        self, ray: Any, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from factcheck import distributed

        with (
            distributed._locked(tmp_path / "out"),
            pytest.raises(InputError, match="another run is writing to"),
        ):
            score_dataset(data, tmp_path / "out", **JUDGE)
        ray.shutdown()
        monkeypatch.setattr(distributed, "START_S", 5.0)
        ray.init(num_cpus=0, include_dashboard=False, log_to_driver=False)
        with pytest.raises(ConfigError, match="started no task within 5 s"):
            score_dataset(data, tmp_path / "out", **JUDGE)
        ray.shutdown()


def model_at(server: LocalOpenAIServer) -> Model:
    return Model("openai/tiny", base_url=server.base_url, api_key="sk-test")


def example(package: str) -> Any:
    """The function of the page for one engine."""
    page = (Path(__file__).resolve().parents[1] / "docs" / "scale.md").read_text("utf-8")
    code = page.split(f"With {package}:\n\n```python\n")[1].split("```")[0]
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "docs/scale.md", "exec"), scope)  # noqa: S102 - our own example
    return scope["facts_of"]


TWO = [
    {"id": "a", "source": "It rained in Oslo. The mill burned.", "summary": "Rain fell in Oslo."},
    {"id": "b", "source": " ", "summary": "It rained."},
]


def check_rows_of_two(rows: list[dict[str, Any]]) -> None:
    found = sorted((row["id"], row["fact"] or "", row["verdict"], row["error"]) for row in rows)
    assert found == [
        ("a", "It rained in Oslo.", "entailed", None),
        ("a", "The mill burned.", "neutral", None),
        ("b", "", None, "input"),
    ]


@pytest.mark.filterwarnings("default")
def test_the_example_with_daft(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("DAFT_ANALYTICS_ENABLED", "0")
    daft = pytest.importorskip("daft")
    check_rows_of_two(example("Daft")(daft.from_pylist(TWO)).to_pylist())


@pytest.mark.filterwarnings("default")
def test_the_example_with_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("no Java here")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        rows = example("Spark")(spark.createDataFrame(TWO)).collect()
    finally:
        spark.stop()
    check_rows_of_two([row.asDict() for row in rows])
