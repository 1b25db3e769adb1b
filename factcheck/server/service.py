"""Judges of the service, the work of requests, and metrics."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import ClientDisconnect

from factcheck.documents import json_text
from factcheck.errors import ConfigError, DeadlineExceeded, InputError
from factcheck.facts import CheckResult, FactSet
from factcheck.fields import SemanticComparator
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.ports import Ledger, PairJudge
from factcheck.runtime.budget import Budget
from factcheck.runtime.deadline import deadline
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage
from factcheck.server.access import Caller, Problem, ServerConfig, problem_of
from factcheck.settings import LOCAL

_MAX_IN_FLIGHT = 64
"""Maximum number of requests judged at the same time."""
_MAX_DEADLINE_S = 120.0
"""Seconds after which undecided facts are returned as such; requests may ask for less."""
_GRACE_S = 5.0
"""Seconds after its deadline at which a request ends, even if its work does not."""
LINES = "application/x-ndjson"
_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 120.0)
"""Upper bounds of the histogram of latencies, in seconds."""
_USAGE = {
    "calls": "Requests to models, without retries",
    "attempts": "Requests to models, with retries",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
    "cache_hits": "Answers from the response cache",
    "cost_usd": "Cost in US dollars; missing if any price is unknown",
}
"""Counters by field of `Usage`."""


class Meters(Collector):
    """Metrics for Prometheus: counts requests and verdicts, reads usage from ledgers by judge."""

    def __init__(self, ledgers: Mapping[str, Ledger]) -> None:
        self._ledgers = ledgers
        self.registry = CollectorRegistry()
        own: Any = {"registry": self.registry, "namespace": "factcheck"}
        self._requests = Counter("requests", "Requests", ["route", "status"], **own)
        self._seconds = Histogram(
            "request_seconds", "Latency of requests in seconds", ["route"], buckets=_BUCKETS, **own
        )
        self._verdicts = Counter("verdicts", "Facts checked", ["judge", "outcome"], **own)
        self.in_flight = Gauge("in_flight", "Requests in progress", **own)
        self.jobs_open = Gauge("jobs_open", "Unfinished jobs", **own)
        self.registry.register(self)

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count(self, judge: str, results: Iterable[CheckResult]) -> None:
        """Count the results of a judge."""
        for one in results:
            self._verdicts.labels(judge, one.status).inc()

    def collect(self) -> Iterator[Metric]:
        """Yield the usage of the judges; called by the registry."""
        for name, text in _USAGE.items():
            family = CounterMetricFamily(f"factcheck_{name}", text, labels=["judge"])
            for judge, ledger in self._ledgers.items():
                value = getattr(ledger.usage, name)
                if value is not None:
                    family.add_metric([judge], value)
            yield family


class Judge(NamedTuple):
    """A judge that callers can name."""

    name: str
    scorer: FactCoverage
    """Its ledger has the total usage of the judge."""
    pair_judge: PairJudge | None
    """`None` if it cannot compare values."""
    comparator: SemanticComparator | None


class Service:
    """Judges shared by all requests."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        budget = config.budget or Budget()
        if budget.max_cost_usd is None and any(key.max_cost_usd is not None for key in config.keys):
            # without a cap of the session, models with an unknown price would count as free
            budget = replace(budget, max_cost_usd=sys.float_info.max)
        self.session = Session(
            cache=config.cache,
            budget=budget,
            concurrency=config.concurrency,
            rpm=config.rpm,
        )
        self.callers = {key.sha256: Caller(key) for key in config.keys}
        self.judges = {name: self._judge(name, spec) for name, spec in config.judges.items()}
        self.is_ready = False
        self.n_in_flight = 0
        self.meters = Meters({name: one.scorer.ledger for name, one in self.judges.items()})
        self.meters.in_flight.set_function(lambda: self.n_in_flight)

    def _judge(self, name: str, spec: Any) -> Judge:
        scorer = FactCoverage(spec, session=self.session)
        try:
            pair_judge = build_pair_judge(spec, self.session)
        except ConfigError:
            return Judge(name, scorer, None, None)
        comparator = SemanticComparator(pair_judge, session=self.session)
        comparator.ledger = scorer.ledger
        return Judge(name, scorer, pair_judge, comparator)

    def judge(self, name: str | None) -> Judge:
        """Return a judge by its name; `None`: the first one."""
        if name is not None and name not in self.judges:
            raise InputError(f"unknown judge {name!r:.60}; use one of {', '.join(self.judges)}")
        return self.judges[name or next(iter(self.judges))]

    async def start(self) -> None:
        """Load the networks of the embedded judge, so that the first request need not wait."""
        for name, spec in self.config.judges.items():
            if spec == LOCAL and self.session.settings.extractor in {None, LOCAL}:
                scorer = self.judges[name].scorer
                await background.hop(scorer.ascore("Rain fell in Oslo.", "It rained in Oslo."))
        self.is_ready = True

    async def stop(self) -> None:
        self.is_ready = False
        await background.hop(self.session.aclose())

    async def answer(
        self,
        request: Request,
        work: Callable[[], Awaitable[Any]],
        deadline_ms: int | None = None,
    ) -> Response:
        """Await `work()` in the background loop and answer with its result as JSON.

        The work of a client that disconnects is cancelled.
        """
        task = self._begin(request, work, deadline_ms)
        gone = asyncio.ensure_future(_disconnect(request))
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return Response(task.result(), media_type="application/json")
        finally:
            gone.cancel()
            task.cancel()

    def stream(
        self,
        request: Request,
        work: Callable[[Callable[[Any], None]], Awaitable[Any]],
        deadline_ms: int | None = None,
    ) -> Response:
        """Answer with JSON lines: what `work` passes on as it comes, and what it returns.

        If the work fails, the last line is `{"problem": ...}`. The work of a client that
        disconnects is cancelled.
        """
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[str | None] = asyncio.Queue()

        def see(value: Any) -> None:
            loop.call_soon_threadsafe(lines.put_nowait, json_text(value))

        def end(task: asyncio.Task[str]) -> None:
            lines.put_nowait(_last_line(task))
            lines.put_nowait(None)

        task = self._begin(request, partial(work, see), deadline_ms)
        task.add_done_callback(end)

        async def body() -> AsyncIterator[str]:
            try:
                while (line := await lines.get()) is not None:
                    yield f"{line}\n"
            finally:
                task.cancel()

        return StreamingResponse(body(), media_type=LINES)

    def _begin(
        self, request: Request, work: Callable[[], Awaitable[Any]], deadline_ms: int | None
    ) -> asyncio.Task[str]:
        """Begin the work of a request; raises `Problem` if too many are in progress."""
        if self.n_in_flight >= _MAX_IN_FLIGHT:
            detail = f"{self.n_in_flight} requests are in progress; try again"
            raise Problem(503, "busy", detail, retry_after_s=1)
        seconds = min(_MAX_DEADLINE_S, deadline_ms / 1_000) if deadline_ms else _MAX_DEADLINE_S
        self.n_in_flight += 1
        task = asyncio.ensure_future(_by_deadline(request.state.caller, work, seconds))
        task.add_done_callback(self._end)
        return task

    def _end(self, _: asyncio.Task[str]) -> None:
        self.n_in_flight -= 1

    async def check(self, judge: Judge, facts: FactSet, text: str) -> tuple[CheckResult, ...]:
        results = await judge.scorer.acheck(facts, text)
        self.meters.count(judge.name, results)
        return results


def _last_line(task: asyncio.Task[str]) -> str:
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    return task.result() if error is None else json_text({"problem": problem_of(error).details})


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _by_deadline(caller: Caller, work: Callable[[], Awaitable[Any]], seconds: float) -> str:
    """Return the result of `work()`, which the caller pays for, as JSON."""

    async def as_json() -> str:
        return json_text(await work())

    with deadline(seconds), caller.budget.spending():
        try:
            return await asyncio.wait_for(background.hop(as_json()), seconds + _GRACE_S)
        except asyncio.TimeoutError:
            raise DeadlineExceeded("undone when the deadline passed") from None
