"""Measures the house itself: its size, its circles, and the way from `score` to a verdict.

    python benchmarks/house/run.py [CHECKOUT ...] [--steps]

One column per checkout; without any, this one. The interpreter of this script runs all of them.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextvars
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve()
GOALS = {
    "files": "170",
    "lines": "34,000",
    "import circles": "0",
    "test lines": "24,000",
    "comprehensions in 1,000 lines": "25",
    "conditional expressions in 1,000 lines": "15",
    "offline score: files": "25",
    "offline score: functions": "120",
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CO_OPTIMIZED = 1  # of functions, not of modules and class bodies
CLIENTS = (
    ("httpx", "AsyncClient", "send"),
    ("httpx2", "AsyncClient", "send"),
    ("aiohttp", "ClientSession", "_request"),
)
"""The methods of HTTP clients that send."""
SOURCE = "The Aurora left Bergen on 3 May 2023 with 412 passengers."
SUMMARY = "On 3 May, 421 people sailed from Bergen on the Aurora."
WARM_UP = "Snow fell in Oslo on Friday."
Step = tuple[str, str, int]
"""File within the package, function and first line."""


def main() -> None:
    """Measure the checkouts that are named, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[HERE.parents[2]])
    parser.add_argument("--steps", action="store_true", help="list the way to the request")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(probe()))
        return
    columns = {}
    for checkout in map(Path.resolve, options.checkouts):
        columns[checkout.name] = {**structure(checkout), **ways(checkout, show=options.steps)}
    print("\n".join(table(columns)))


def table(columns: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a column for each checkout."""
    yield " | ".join(("| what", *columns, "goal |"))
    yield "|---|" + "---:|" * (len(columns) + 1)
    for row in next(iter(columns.values())):
        cells = [f"{column[row]:,}" for column in columns.values()]
        yield " | ".join((f"| {row}", *cells, f"{GOALS.get(row, '')} |"))


def structure(checkout: Path) -> dict[str, int]:
    """Read off the files what can be."""
    modules: dict[str, ast.Module] = {}
    n_lines = 0
    for path in sorted((checkout / "factcheck").rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        text = path.read_text("utf-8")
        n_lines += text.count("\n")
        modules[".".join(parts).removesuffix(".__init__")] = ast.parse(text)
    nodes = [node for module in modules.values() for node in ast.walk(module)]

    def n_of(*kinds: type[ast.AST]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    tests = (checkout / "tests").rglob("*.py")
    return {
        "files": len(modules),
        "lines": n_lines,
        "functions": n_of(ast.FunctionDef, ast.AsyncFunctionDef),
        "classes": n_of(ast.ClassDef),
        "comprehensions in 1,000 lines": round(1000 * n_of(*COMPREHENSIONS) / n_lines),
        "conditional expressions in 1,000 lines": round(1000 * n_of(ast.IfExp) / n_lines),
        "import circles": len(circles(imports(modules))),
        "test lines": sum(path.read_text("utf-8").count("\n") for path in tests),
    }


def imports(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return which modules each one imports, in functions and under `TYPE_CHECKING`, too."""
    graph: dict[str, set[str]] = {}
    for name, module in modules.items():
        found: set[str] = set()
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                dotted = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= dotted & modules.keys()
                if not dotted <= modules.keys():
                    found.add(str(node.module))
        graph[name] = found & modules.keys() - {name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return groups of modules that reach each other: strongly connected components."""
    reached = {name: _reachable(graph, name) for name in graph}
    groups = set()
    for name, others in reached.items():
        groups.add(frozenset(other for other in others if name in reached[other]))
    return {group for group in groups if len(group) > 1}


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def ways(checkout: Path, *, show: bool) -> dict[str, int]:
    """Return what one score goes through, offline and with a model."""
    foreign = ("FACTCHECK_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, str(HERE), "--probe"],
            env={**kept, "PYTHONPATH": str(checkout), "FACTCHECK_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout)
    if show:
        print(f"{checkout}: from score to the request")
        for place, (file, function, line) in enumerate(found["model"], start=1):
            print(f"{place:>4}  {file}:{line} {function}")
    return {
        "public names": found["public"],
        "offline score: files": len({file for file, _, _ in found["offline"]}),
        "offline score: functions": len(found["offline"]),
        "offline score: threads": found["threads"],
        "model: functions from score to request": len(found["model"]),
        "model: files from score to request": len({file for file, _, _ in found["model"]}),
    }


def probe() -> dict[str, Any]:
    """Follow one score in this process, offline and to a model."""
    import factcheck

    home = str(Path(factcheck.__file__).parent) + os.sep
    entered: set[Step] = set()
    threads: set[int] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (found := step(frame.f_code, home)) is not None:
            entered.add(found)
            threads.add(threading.get_ident())

    threading.setprofile(note)
    sys.setprofile(note)
    factcheck.score(SOURCE, SUMMARY)
    sys.setprofile(None)
    threading.setprofile(None)
    offline = [*entered]  # threads that run go on noting
    n_threads = len(threads)
    n_public = sum(not name.startswith("_") for name in dir(factcheck))
    chain = way_to_model(Chain(home))
    return {"public": n_public, "offline": offline, "threads": n_threads, "model": chain}


def step(code: CodeType, home: str) -> Step | None:
    """Return the step a code object stands for, if it is a function of the package."""
    name = code.co_filename
    own = name.startswith(home) and not name.startswith(f"{home}testing{os.sep}")
    if not own or not code.co_flags & CO_OPTIMIZED or code.co_name.startswith("<"):
        return None
    return name.removeprefix(home), code.co_name, code.co_firstlineno


class Chain:
    """The functions that led to this point, through tasks and threads."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.before: contextvars.ContextVar[tuple[Step, ...]] = contextvars.ContextVar("before")
        self.seen: list[tuple[Step, ...]] = []

    def now(self) -> tuple[Step, ...]:
        """Return the chain up to the caller, outermost first."""
        frames: list[Step] = []
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - a look at the stack
        while frame is not None:
            if (found := step(frame.f_code, self.home)) is not None:
                frames.append(found)
            frame = frame.f_back
        return tuple(dict.fromkeys((*self.before.get(()), *reversed(frames))))

    def carried(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method of an event loop with the chain in the context of what it starts."""

        def carrying(*arguments: Any, **options: Any) -> Any:
            if options.get("context") is None:
                options["context"] = contextvars.copy_context()
                options["context"].run(self.before.set, self.now())
            return function(*arguments, **options)

        return carrying

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a client's method that sends, noting the chain."""

        def watching(*arguments: Any, **options: Any) -> Any:
            self.seen.append(self.now())
            return function(*arguments, **options)

        return watching


def way_to_model(chain: Chain) -> list[Step]:
    """Return the longest chain from `score` to a request that checks one fact."""
    import factcheck
    from factcheck.testing import FactModel, LocalOpenAIServer

    loop: Any = asyncio.base_events.BaseEventLoop
    with ExitStack() as stack:
        server = stack.enter_context(LocalOpenAIServer(FactModel()))
        stack.enter_context(mock.patch.dict(os.environ, {"OPENAI_BASE_URL": server.base_url}))
        factcheck.score(WARM_UP, WARM_UP, facts=[WARM_UP], judge="openai/test-model")
        for name in ("create_task", "call_soon_threadsafe"):
            carried = chain.carried(getattr(loop, name))
            stack.enter_context(mock.patch.object(loop, name, carried))
        for module, name, method in CLIENTS:
            if importlib.util.find_spec(module):
                client = getattr(importlib.import_module(module), name)
                watched = chain.watched(getattr(client, method))
                stack.enter_context(mock.patch.object(client, method, watched))
        factcheck.score(SOURCE, SUMMARY, facts=[SOURCE], judge="openai/test-model")
    longest = max(chain.seen, key=len)
    return list(longest)


if __name__ == "__main__":
    main()
