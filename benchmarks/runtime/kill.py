"""Kills a run of 1,000 pairs at random moments, resumes it until it is done, and compares.

The run is the real command line; its judge is a server in another process. The rows must equal
those of a run that nobody disturbed, and no answer that was kept may be asked for again. Then two
processes score the same records with one cache, at the same time and one after the other.

    python -m benchmarks.runtime.kill
    python -m benchmarks.runtime.kill --kills 20 --seed 7 --out rows.jsonl

Exits with 1 if anything differs. Needs POSIX signals.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from rich.console import Console
from rich.table import Table

from benchmarks.runtime.server import ROOT, Asked, ModelProcess
from benchmarks.runtime.workload import Pair, make_pairs
from factcheck.documents.results import read_results
from factcheck.runtime.cache.disk import database
from tests.runtime.cache.stores import stored

MODEL = "openai/bench"
LATENCY_S = 0.1
_POLL_S = 0.002
_PATIENCE_S = 120.0
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["factcheck.judges.llm.language_model", "litellm", "openai", "factcheck.cli"]
)
"""Runs are forks of a process without threads that has imported what they all import."""


class Kill(NamedTuple):
    """One SIGKILL, and what it cost."""

    at: float
    """`time.monotonic()`."""
    requests: int
    """That the server had seen by then, over all runs so far."""
    rows: int
    """Whole rows in the results file."""
    torn: bool
    """Whether the file ended inside a row."""
    on_the_wire: int
    """Requests that no answer had been sent to, and that were asked again."""
    not_yet_kept: int
    """Requests that were answered just before, and asked again all the same."""
    oldest_loss_s: float
    """How long before the kill the oldest of these answers was sent; 0 if there is none."""


class Row(NamedTuple):
    """One comparison with the undisturbed run."""

    what: str
    records: int
    calls: int
    calls_undisturbed: int
    asked_again: int
    """Requests for what had been asked before."""
    oldest_s: float = 0.0
    """The largest time between an answer and the next time its question came."""
    kills: tuple[Kill, ...] = ()
    problems: tuple[str, ...] = ()


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Killed and resumed runs.")
    parser.add_argument("--sources", type=int, default=100, metavar="N")
    parser.add_argument("--summaries", type=int, default=10, metavar="N", help="of each source")
    parser.add_argument("--kills", type=int, default=12, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="chooses the moments")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    pairs = make_pairs(arguments.sources, arguments.summaries)
    with tempfile.TemporaryDirectory() as folder:
        rows = study(Path(folder), pairs, n_kills=arguments.kills, seed=arguments.seed)
    Console().print(table(rows))
    Console().print(kill_table(rows[0].kills))
    if arguments.out:
        lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    problems = [f"{row.what}: {problem}" for row in rows for problem in row.problems]
    for problem in problems:
        print(f"missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


def study(folder: Path, pairs: Sequence[Pair], *, n_kills: int, seed: int) -> list[Row]:
    """All comparisons with one undisturbed run."""
    records = folder / "records.jsonl"
    lines = (json.dumps(pair.record(), ensure_ascii=False) + "\n" for pair in pairs)
    records.write_text("".join(lines), encoding="utf-8")
    with ModelProcess(LATENCY_S) as server:
        desk = Desk(server, records, folder)
        undisturbed = desk.run("undisturbed")
        calls = server.count()
        expected = comparable(undisturbed)
        problems = (
            [] if [row["id"] for row in expected] == [pair.id for pair in pairs] else ["order"]
        )
        if len(pairs) + len({pair.source for pair in pairs}) != calls:
            problems.append(f"{calls} calls in the undisturbed run")
        return [
            killed(desk, expected, calls, n_kills=n_kills, seed=seed),
            shared(desk, expected, calls),
            shared_in_turn(desk, expected, calls, problems),
        ]


class Desk(NamedTuple):
    """Where the runs of a study find their records and leave their rows."""

    server: ModelProcess
    records: Path
    folder: Path

    def start(self, name: str, *, cache: str | None = None, records: Path | None = None) -> Run:
        """Start the command line; its rows go to a file of that name, and are resumed."""
        out = self.folder / f"{name}.jsonl"
        errors = self.folder / f"errors of {name}.txt"
        command = ["run", str(records or self.records), "--judge", MODEL]
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": self.server.base_url,
            "OPENAI_API_KEY": "not-needed",
            "FACTCHECK_CACHE_DIR": str(self.folder / f"cache of {cache or name}"),
        }
        arguments = [*command, "--out", str(out), "--resume"]
        process = _FORKS.Process(target=_command_line, args=(arguments, environment, errors))
        process.start()
        return Run(process, out, errors)

    def run(self, name: str, *, cache: str | None = None, records: Path | None = None) -> Path:
        """Run the command line to its end, and give its rows."""
        return self.start(name, cache=cache, records=records).finished()


def _command_line(
    arguments: Sequence[str], environment: Mapping[str, str], errors: Path
) -> NoReturn:
    """The real command line, in a process of its own."""
    from factcheck.cli import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until it ends
    sys.stderr = errors.open("w", encoding="utf-8")
    main(arguments)


class Run(NamedTuple):
    """A process at work."""

    process: BaseProcess
    out: Path
    errors: Path

    def finished(self) -> Path:
        """Wait for a good end.

        Raises:
            SystemExit: It was none.
        """
        self.process.join(_PATIENCE_S)
        if self.process.exitcode != 0:
            self.process.kill()
            errors = self.errors.read_text("utf-8")
            raise SystemExit(f"a run ended with {self.process.exitcode}: {errors}")
        return self.out

    def killed_at(self, server: ModelProcess, requests: int, wait_s: float) -> float | None:
        """Kill it a moment after the server has seen so many requests; `None` if it ends first."""
        while server.count() < requests:
            if self.process.exitcode is not None:
                return None
            time.sleep(_POLL_S)
        time.sleep(wait_s)
        self.process.kill()
        at = time.monotonic()
        self.process.join()
        return at if self.process.exitcode == -signal.SIGKILL else None


def killed(desk: Desk, expected: list[Any], calls: int, *, n_kills: int, seed: int) -> Row:
    """One run that is killed again and again, and resumed until it is done."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    desk.server.clear()
    targets = sorted(chance.sample(range(calls), n_kills))
    moments: list[tuple[float, int, bytes]] = []
    ends = [0.0]
    stored: Counter[tuple[str, str]] = Counter()
    for target in targets:
        run = desk.start("killed")
        requests = max(target, desk.server.count() + 1)
        at = run.killed_at(desk.server, requests, chance.uniform(0.0, 2 * LATENCY_S))
        if at is not None:
            time.sleep(LATENCY_S)  # until the server has read what the dead process sent
            ends.append(time.monotonic())
            seen = run.out.read_bytes() if run.out.exists() else b""
            moments.append((at, desk.server.count(), seen))
            stored |= kept(desk.folder / "cache of killed")
    rows = comparable(desk.run("killed"))
    log = desk.server.log()
    kills = tuple(
        _cost((start, end), *moment, log, desk.server.latency_s)
        for start, end, moment in zip(ends, ends[1:], moments, strict=False)
    )
    again = len(log) - len({asked.question for asked in log})
    problems = _differences(expected, rows)
    at_the_end = kept(desk.folder / "cache of killed")
    if doubled := at_the_end.total() - len(at_the_end):
        problems.append(f"{doubled} answers were kept and asked for again all the same")
    if gone := len(stored - at_the_end):
        problems.append(f"{gone} answers were kept at a kill and are no longer there")
    lost = sum(kill.on_the_wire + kill.not_yet_kept for kill in kills)
    if len(kills) < n_kills:
        problems.append(f"only {len(kills)} of {n_kills} kills")
    if again != lost or len(log) != calls + again:
        problems.append(f"{again} requests asked again, {lost} of them lost in kills")
    return Row(
        f"killed {len(kills)} times",
        len(rows),
        len(log),
        calls,
        again,
        oldest_s=max((kill.oldest_loss_s for kill in kills), default=0.0),
        kills=kills,
        problems=tuple(problems),
    )


def kept(folder: Path) -> Counter[tuple[str, str]]:
    """How often each answer is in a cache; one that was paid for twice is there twice."""
    rows = stored(folder).items()
    entries = ((key, json.loads(value)) for key, values in rows for value in values or ())
    return Counter((key, name) for key, data in entries for name in data.get("answers", ()))


def _cost(
    run: tuple[float, float],
    at: float,
    requests: int,
    seen: bytes,
    log: Sequence[Asked],
    latency_s: float,
) -> Kill:
    """What a run between two moments had asked, and another had to ask again."""
    start, end = run
    again = {asked.question for asked in log if asked.arrived > end}
    lost = [
        asked.arrived + latency_s
        for asked in log
        if start < asked.arrived <= end and asked.question in again
    ]
    answered = [at - sent for sent in lost if sent <= at]
    return Kill(
        at,
        requests,
        rows=max(0, seen.count(b"\n") - 1),
        torn=bool(seen) and not seen.endswith(b"\n"),
        on_the_wire=len(lost) - len(answered),
        not_yet_kept=len(answered),
        oldest_loss_s=max(answered, default=0.0),
    )


def shared(desk: Desk, expected: list[Any], calls: int) -> Row:
    """Two processes at the same time with the same records and one cache."""
    desk.server.clear()
    runs = [desk.start(name, cache="both") for name in ("first of two", "second of two")]
    outs = [run.finished() for run in runs]
    problems = [problem for out in outs for problem in _differences(expected, comparable(out))]
    log = desk.server.log()
    again = len(log) - calls
    if max(Counter(asked.question for asked in log).values()) > len(runs):
        problems.append("something was asked more than twice")
    problems += cache_problems(desk.folder / "cache of both")
    return Row(
        "two at the same time",
        len(expected),
        len(log),
        calls,
        again,
        oldest_s=_oldest_s(log, desk.server.latency_s),
        problems=tuple(problems),
    )


def _oldest_s(log: Sequence[Asked], latency_s: float) -> float:
    """The largest time between an answer and the next time its question came."""
    answered: dict[str, float] = {}
    ages = [0.0]
    for asked in log:
        if asked.question in answered:
            ages.append(asked.arrived - answered[asked.question])
        answered[asked.question] = asked.arrived + latency_s
    return max(ages)


def shared_in_turn(desk: Desk, expected: list[Any], calls: int, problems: Sequence[str]) -> Row:
    """A process that scores a half, then another that scores everything with its cache."""
    desk.server.clear()
    lines = desk.records.read_text(encoding="utf-8").splitlines(keepends=True)
    half = desk.folder / "half of the records.jsonl"
    half.write_text("".join(lines[::2]), encoding="utf-8")
    desk.run("half", cache="turns", records=half)
    rows = comparable(desk.run("after half", cache="turns"))
    n_calls = desk.server.count()
    found = [*problems, *_differences(expected, rows)]
    if n_calls != calls:
        found.append(f"{n_calls} calls instead of {calls}")
    found += cache_problems(desk.folder / "cache of turns")
    return Row(
        "a half, then all", len(rows), n_calls, calls, n_calls - calls, problems=tuple(found)
    )


def cache_problems(folder: Path) -> list[str]:
    """What is wrong with the rows or the file of a cache."""
    n_refused = list(stored(folder).values()).count(None)
    problems = [f"{n_refused} rows of the cache are refused"] if n_refused else []
    with closing(sqlite3.connect(database(folder))) as connection:
        ((finding,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    return problems if finding == "ok" else [*problems, f"the cache is damaged: {finding}"]


def comparable(path: Path) -> list[Any]:
    """The rows without what may differ: usage (calls, tokens, seconds) and the `cached` flags."""
    return [_without(row, {"usage", "cached"}) for row in read_results(path)]


def _without(data: Any, names: set[str]) -> Any:
    if isinstance(data, dict):
        return {key: _without(value, names) for key, value in data.items() if key not in names}
    return [_without(item, names) for item in data] if isinstance(data, list) else data


def _differences(expected: Sequence[Any], rows: Sequence[Any]) -> list[str]:
    """How rows differ from those of the undisturbed run; `read_results` refuses doubled ids."""
    if [row["id"] for row in rows] != [row["id"] for row in expected]:
        return [f"{len(rows)} rows in another order or number than {len(expected)}"]
    changed = sum(row != other for row, other in zip(rows, expected, strict=True))
    return [f"{changed} rows differ"] if changed else []


def table(rows: Sequence[Row]) -> Table:
    """The comparisons as a plain table."""
    made = Table(
        "what", "records", "calls", "undisturbed", "asked again", "oldest answer", "rows",
        box=None, pad_edge=False,
    )  # fmt: skip
    for column in made.columns[1:6]:
        column.justify = "right"
    for row in rows:
        numbers = (row.records, row.calls, row.calls_undisturbed, row.asked_again)
        age = f"{1000 * row.oldest_s:.0f} ms" if row.oldest_s else ""
        problems = "; ".join(row.problems) or "equal"
        made.add_row(row.what, *(f"{n:,}" for n in numbers), age, problems)
    return made


def kill_table(kills: Sequence[Kill]) -> Table:
    """What each kill cost."""
    made = Table(
        "kill", "calls so far", "rows", "torn", "on the wire", "answered, not kept", "oldest",
        box=None, pad_edge=False,
    )  # fmt: skip
    for column in made.columns:
        column.justify = "right"
    for number, kill in enumerate(kills, 1):
        made.add_row(
            str(number),
            f"{kill.requests:,}",
            f"{kill.rows:,}",
            "yes" if kill.torn else "no",
            str(kill.on_the_wire),
            str(kill.not_yet_kept),
            f"{1000 * kill.oldest_loss_s:.0f} ms" if kill.not_yet_kept else "",
        )
    return made


if __name__ == "__main__":
    sys.exit(main())
