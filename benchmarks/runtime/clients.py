"""CPU time of one chat by the transport of the package, and by the official client.

    python -m benchmarks.runtime.clients

The server is a process of its own; requests are those of a run, 32 at a time, and every way gets
each turn once. A reply is read to the same `Answer` by all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median
from typing import Any

import openai

from benchmarks.runtime.server import ModelProcess
from benchmarks.runtime.workload import make_pairs
from factcheck import FactCoverage, Model
from factcheck.judges.llm.providers import access_to
from factcheck.judges.llm.transports import Answer, ChatTransport, read_completion
from factcheck.runtime.loop import background
from factcheck.settings import Settings

MODEL = "openai/tiny"
AT_ONCE = 32
Send = Callable[[Mapping[str, Any]], Awaitable[Answer]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--requests", type=int, default=600, metavar="N", help="of each turn")
    parser.add_argument("--turns", type=int, default=7, metavar="N")
    arguments = parser.parse_args()
    with ModelProcess(0.0) as server:
        model = Model(MODEL, base_url=server.base_url, api_key="none")
        with FactCoverage(model, cache="off") as scorer:
            list(scorer.score_many(pair.record(with_facts=True) for pair in make_pairs(5, 10)))
        bodies = [body for body in server.bodies() if "messages" in body]
        background.run(measure(server.base_url, model, bodies, arguments.requests, arguments.turns))


async def measure(
    base_url: str, model: Model, bodies: list[dict[str, Any]], n_requests: int, turns: int
) -> None:
    """Print the median CPU time of a request, for each way, and its multiple of the first."""
    own = ChatTransport(access_to(model, Settings()), 60.0)
    clients = {
        "openai, aiohttp": openai.AsyncOpenAI(
            api_key="none",
            base_url=base_url,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(),
        ),
        "openai, httpx2": openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0),
    }

    def official(client: openai.AsyncOpenAI) -> Send:
        async def send(body: Mapping[str, Any]) -> Answer:
            reply: Any = await client.post("/chat/completions", body=body, cast_to=object)
            return read_completion(json.loads(reply) if isinstance(reply, str) else reply)

        return send

    ways: dict[str, Send] = {"the package": own.send}
    ways |= {name: official(client) for name, client in clients.items()}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns + 1):
        for name, send in ways.items():
            taken[name].append(await cpu_us(send, bodies, n_requests))
    medians = {name: median(times[1:]) for name, times in taken.items()}
    for name, us in medians.items():
        print(f"{name:<16} {us:6.0f} µs a request, {us / medians['the package']:.2f} times")
    await own.aclose()
    for client in clients.values():
        await client.close()


async def cpu_us(send: Send, bodies: list[dict[str, Any]], n_requests: int) -> float:
    """Microseconds of CPU time for one of many requests."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(body: Mapping[str, Any]) -> None:
        async with slots:
            await send(body)

    started = time.process_time()
    await asyncio.gather(*(one(bodies[n % len(bodies)]) for n in range(n_requests)))
    return (time.process_time() - started) / n_requests * 1e6


if __name__ == "__main__":
    main()
