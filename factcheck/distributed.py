"""Score tables with any engine (`score_batch`), and data sets on a Ray cluster (`score_dataset`).

The output has one row per fact. The actors of a run share response cache, rate and budget in Redis.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from factcheck.documents.results import lock_for_writing
from factcheck.errors import ConfigError, FactcheckError, InputError, JudgeError, describe
from factcheck.facts import CheckFailure, digest
from factcheck.judges.ports import ExtractorSpec, JudgeSpec
from factcheck.runtime.cache import open_cache
from factcheck.runtime.cache.redis import RedisCache
from factcheck.runtime.session import SessionOptions
from factcheck.scoring import FactCoverage, RecordFailure
from factcheck.scoring.many import Outcome
from factcheck.scoring.run_report import FINAL, codes_of
from factcheck.scoring.runs import run_signature
from factcheck.settings import require_integer

if TYPE_CHECKING:
    from typing_extensions import Unpack

_INPUT = ("id", "source", "summary", "facts")
_OUTPUT = (
    *("record", "id", "fact_id", "fact", "verdict", "probability"),
    *("evidence", "error", "message"),
)
_SIGNATURE = b"factcheck_run"
"""Key of the run signature in the metadata of a table."""
_READ_CPUS = 0.25
START_S = 60.0
"""Maximum number of seconds for the cluster to start a task."""
_RESTARTS = 3
"""Maximum number of times that an actor, or a shard, is started again."""


class ScorerOptions(SessionOptions, total=False):
    """Keyword arguments of `FactCoverage` for a scorer with a session of its own."""

    judge: JudgeSpec | None
    extractor: ExtractorSpec | None
    batch_size: int


def score_batch(
    table: Any, scorer: FactCoverage | None = None, **options: Unpack[ScorerOptions]
) -> Any:
    """Score the records of a `pyarrow.Table`; a record that fails is a row with its error.

    Args:
        table: Columns `id`, `source`, `summary` and, optionally, `facts`, as in a Parquet file of
            records; others are ignored.
        scorer: Scorer for many tables; `None`: a temporary one.
        options: Keyword arguments of `FactCoverage`, without `scorer`.

    Returns:
        A `pyarrow.Table` with one row per fact, in order: `record` (digest of the record), `id`,
        `fact_id`, `fact`, `verdict` (`entailed`, `contradicted` or `neutral`), `probability` in
        [0, 1], `evidence` (a quote), and, for a fact without verdict, `error` (a code) and
        `message`. A record without a report has one row, without a fact.

    Raises:
        InputError: A column is missing, or a scorer is combined with options.
        ConfigError: As for `FactCoverage`; or pyarrow is not installed.
    """
    if scorer is not None and options:
        raise InputError(f"the scorer brings its own {', '.join(options)}; give one or the other")
    _require_columns(table.column_names)
    with nullcontext(scorer) if scorer else FactCoverage(**options) as used:
        scored = _scored(table.to_pylist(), used)
        return _table([row for one in scored for row in _rows(*one)], used)


def score_dataset(
    data: Any,
    out: str | os.PathLike[str],
    *,
    actors: int = 2,
    shard_size: int = 256,
    **options: Unpack[ScorerOptions],
) -> Counter[str]:
    """Score a data set on a Ray cluster and write Parquet shards of the rows of `score_batch`.

    Records that have rows in `out` are skipped, so the same call continues a run that was stopped.
    A record whose failure may pass, such as an exhausted budget, gets no row; call again to retry.

    Args:
        data: A `ray.data.Dataset`, or what `ray.data.read_parquet` reads: files, a folder, a URL.
        out: Folder that all machines see; another run cannot write to it at the same time.
        actors: Number of actors, each with a scorer. `concurrency` is divided among them; `rpm`
            and `budget` they share, and need a `redis://` cache for. Every call has the whole
            budget, unless it names the `run` of an earlier one.
        shard_size: Maximum number of records per shard.
        options: Keyword arguments of `FactCoverage`. Keys and addresses come from the environment
            of the cluster; the cache may come from that of this process.

    Returns:
        Counts: `records` scored, `skipped` (they have rows), `failed` (their row is an error),
        `unfinished` (no rows), `calls` to language models, and `facts` by verdict and error code.

    Raises:
        InputError: A column is missing, `out` is in use or has rows of another run, or
            `concurrency` is less than the number of actors.
        ConfigError: As for `FactCoverage`; Ray is not installed, the cluster starts no task, or
            several actors have limits to share but no Redis.
        JudgeError: Ray gave up on a shard; the others are kept.
    """
    require_integer("actors", actors, 1)
    require_integer("shard_size", shard_size, 1)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigError.lacking("this needs Ray", "ray") from error
    shared = _shared(options, actors)
    with FactCoverage(**shared) as scorer:
        signature = run_signature(scorer, "coverage")
    counts: Counter[str] = Counter()
    with _locked(out) as folder, _cluster(ray):
        done = ray.put(_finished(folder, signature))
        try:
            if not isinstance(data, ray.data.Dataset):
                data = ray.data.read_parquet(data, num_cpus=_READ_CPUS)
            columns = data.schema().names
            _require_columns(columns)
            cpus = max(1.0, ray.cluster_resources().get("CPU", 1.0))
            data = data.select_columns([name for name in _INPUT if name in columns])
            data = data.repartition(target_num_rows_per_block=shard_size)
            shards = data.map_batches(
                _Actor,
                fn_constructor_args=(shared, str(folder), done),
                batch_size=shard_size,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(size=actors),
                num_cpus=round(min(1.0, (cpus - 1) / actors) / 2, 4),  # leaves CPUs for reading
                max_restarts=_RESTARTS,
                max_task_retries=_RESTARTS,
            )
            for shard in shards.iter_rows():
                counts.update(json.loads(shard["counts"]))
        except FactcheckError:
            raise
        except (ray.exceptions.RayError, OSError) as error:
            raise JudgeError(
                f"the run stopped ({describe(error)}); finished shards are kept: run again"
            ) from error
    return counts


class _Actor:
    """Scores batches with one scorer and writes a shard for each."""

    def __init__(self, options: ScorerOptions, folder: str, done: Any) -> None:
        import ray

        self._scorer = FactCoverage(**options)
        self._folder = Path(folder)
        self._done: frozenset[str] = ray.get(done)

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        records = {_digest(row): row for row in batch.to_pylist()}
        rows = [row for key, row in records.items() if key not in self._done]
        counts = Counter(skipped=len(batch) - len(rows))
        calls = self._scorer.ledger.usage.calls
        final = []
        for row, outcome in _scored(rows, self._scorer):
            if not codes_of(outcome) <= FINAL:
                counts["unfinished"] += 1
                continue
            final += (of_record := _rows(row, outcome))
            counts["records"] += 1
            counts["failed"] += isinstance(outcome, RecordFailure)
            counts.update(f"facts {one.get('verdict') or one['error']}" for one in of_record)
        counts["calls"] = self._scorer.ledger.usage.calls - calls
        if final:
            table = _table(final, self._scorer)
            names = dict.fromkeys(row["record"] for row in final)
            name = digest("\0".join([table.schema.metadata[_SIGNATURE].decode(), *names]))
            draft = self._folder / f".{name}.{os.getpid()}"
            pq.write_table(table, draft)
            draft.replace(self._folder / f"{name}.parquet")
        return pa.table({"counts": [json.dumps(counts)]})


def _scored(
    rows: list[dict[str, Any]], scorer: FactCoverage
) -> Iterator[tuple[dict[str, Any], Outcome]]:
    """Score rows of the input; yields each with its outcome, in order."""
    found = (one.outcome for one in scorer.score_records(rows))
    yield from zip(rows, found, strict=True)


def _rows(row: Mapping[str, Any], outcome: Outcome) -> list[dict[str, Any]]:
    """Return the rows of a record: one per fact, or one with the error of the record."""
    record = {"record": _digest(row), "id": None if row["id"] is None else str(row["id"])}
    if isinstance(outcome, RecordFailure):
        return [{**record, "error": outcome.code, "message": outcome.message}]
    rows: list[dict[str, Any]] = []
    for result in outcome.results:
        if isinstance(result, CheckFailure):
            found: dict[str, Any] = {"error": result.code, "message": result.message}
        else:
            quote = result.evidence.quote if result.evidence else None
            found = {"verdict": result.label, "probability": result.probability, "evidence": quote}
        rows.append({**record, "fact_id": result.fact.id, "fact": result.fact.text, **found})
    return rows


def _table(rows: list[dict[str, Any]], scorer: FactCoverage) -> Any:
    import pyarrow as pa

    fields = {**dict.fromkeys(_OUTPUT, pa.string()), "probability": pa.float64()}
    metadata = {_SIGNATURE: run_signature(scorer, "coverage").encode()}
    return pa.Table.from_pylist(rows, pa.schema(fields, metadata=metadata))


def _digest(row: Mapping[str, Any]) -> str:
    return digest(json.dumps([row.get(name) for name in _INPUT], default=str))


def _require_columns(names: list[str]) -> None:
    if missing := [name for name in _INPUT[:3] if name not in names]:
        raise InputError(f"a column is missing: {', '.join(missing)}; found {', '.join(names)}")


def _shared(options: ScorerOptions, actors: int) -> ScorerOptions:
    """Return the options of each actor: a part of the concurrency, the other limits in Redis."""
    most = options.get("concurrency", max(32, actors))
    if most < actors:
        raise InputError(f"concurrency={most} is less than the number of actors, {actors}")
    shared: ScorerOptions = {**options, "concurrency": most // actors}
    cache = open_cache(options.get("cache"))
    if isinstance(cache, RedisCache):
        return {"run": uuid4().hex, **shared, "cache": cache.url}
    if actors > 1 and any(options.get(name) for name in ("rpm", "budget")):
        raise ConfigError(
            "actors share rpm and a budget in Redis; set FACTCHECK_CACHE=redis://HOST:6379/0, "
            "or use one actor (--jobs 1)"
        )
    return shared


def _finished(folder: Path, signature: str) -> frozenset[str]:
    """Read the digests of all records with rows."""
    import pyarrow.parquet as pq

    done: set[str] = set()
    for path in folder.glob("*.parquet"):
        table = pq.read_table(path, columns=["record"])
        theirs = (table.schema.metadata or {}).get(_SIGNATURE, b"").decode()
        if theirs != signature:
            raise InputError(
                f"{path} has rows of a run with {theirs or 'no signature'}, not {signature}; "
                "name another folder"
            )
        done.update(table["record"].unique().to_pylist())
    return frozenset(done)


@contextmanager
def _locked(out: str | os.PathLike[str]) -> Iterator[Path]:
    if "://" in os.fspath(out):
        raise InputError(f"{out} is a URL; name a folder that all machines see, such as a mount")
    folder = Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "_lock").open("w") as lock:
        lock_for_writing(lock.fileno(), out)
        yield folder


@contextmanager
def _cluster(ray: Any) -> Iterator[None]:
    """Connect to the cluster, or start one here, and wait until it runs a task."""
    ours = not ray.is_initialized()
    try:
        if ours:
            ray.init(log_to_driver=False)
        ray.get(ray.remote(num_cpus=_READ_CPUS)(lambda: None).remote(), timeout=START_S)
    except (ConnectionError, ray.exceptions.RayError, TimeoutError) as error:
        raise ConfigError(
            f"the Ray cluster started no task within {START_S:g} s; it needs a worker with a free "
            f"CPU ({describe(error)})"
        ) from error
    try:
        yield
    finally:
        if ours:
            ray.shutdown()
