"""Follows one `score` through a checkout; run by `run.py` with that checkout on the path.

Prints one JSON object: what an offline score enters, and the chain of own functions that leads from
`score` to the request on the way to a model.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import factcheck

HOME = str(Path(factcheck.__file__).parent) + os.sep
TESTING = HOME + "testing" + os.sep
SOURCE = "The Aurora left Bergen on 3 May 2023 with 412 passengers."
SUMMARY = "On 3 May, 421 people sailed from Bergen on the Aurora."
WARM_UP = "Snow fell in Oslo on Friday."
CO_OPTIMIZED = 1  # of functions, not of modules and class bodies
Step = tuple[str, str, int]
"""File within the package, function and first line."""


def step(code: CodeType) -> Step | None:
    """The step a code object stands for, if it is a function of the package."""
    name = code.co_filename
    own = name.startswith(HOME) and not name.startswith(TESTING)
    if not own or not code.co_flags & CO_OPTIMIZED or code.co_name.startswith("<"):
        return None
    return name.removeprefix(HOME), code.co_name, code.co_firstlineno


class Entered:
    """Code of the package that was entered, by any thread."""

    def __init__(self) -> None:
        self.code: set[Step] = set()
        self.functions: set[Step] = set()
        self.threads: set[int] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Called by the interpreter."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HOME):
            self.code.add((code.co_filename, code.co_name, code.co_firstlineno))
            self.threads.add(threading.get_ident())
            if (found := step(code)) is not None:
                self.functions.add(found)


def offline() -> dict[str, Any]:
    """What the first score of a fresh process enters, imports included."""
    entered = Entered()
    threading.setprofile(entered)
    sys.setprofile(entered)
    factcheck.score(SOURCE, SUMMARY)
    sys.setprofile(None)
    threading.setprofile(None)
    return {
        "files": len({file for file, _, _ in entered.code}),
        "code": len(entered.code),
        "functions": len(entered.functions),
        "threads": len(entered.threads),
    }


CLIENTS = (
    ("httpx", "AsyncClient", "send"),
    ("httpx2", "AsyncClient", "send"),
    ("aiohttp", "ClientSession", "_request"),
)
"""The methods of HTTP clients that send."""


class Chain:
    """The functions that led to this point, through tasks and threads."""

    def __init__(self) -> None:
        self.before: contextvars.ContextVar[tuple[Step, ...]] = contextvars.ContextVar("before")
        self.seen: list[tuple[Step, ...]] = []

    def now(self) -> tuple[Step, ...]:
        """The chain up to the caller, outermost first."""
        frames: list[Step] = []
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - a look at the stack
        while frame is not None:
            if (found := step(frame.f_code)) is not None:
                frames.append(found)
            frame = frame.f_back
        steps = self.before.get(())
        return tuple(dict.fromkeys((*steps, *reversed(frames))))

    def context(self) -> contextvars.Context:
        """A copy of the context that remembers the chain."""
        context = contextvars.copy_context()
        context.run(self.before.set, self.now())
        return context

    def carried(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The method of an event loop with the chain in the context it starts things in."""

        def carrying(*arguments: Any, **options: Any) -> Any:
            if options.get("context") is None:
                options["context"] = self.context()
            return function(*arguments, **options)

        return carrying

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A client's method that sends, noting the chain."""

        def watching(*arguments: Any, **options: Any) -> Any:
            self.seen.append(self.now())
            return function(*arguments, **options)

        return watching


@contextmanager
def patched(chain: Chain) -> Iterator[None]:
    """The chain is carried by event loops and noted by HTTP clients."""
    loop: Any = asyncio.base_events.BaseEventLoop
    with (
        mock.patch.object(loop, "create_task", chain.carried(loop.create_task)),
        mock.patch.object(loop, "call_soon_threadsafe", chain.carried(loop.call_soon_threadsafe)),
    ):
        clients = [
            (getattr(importlib.import_module(module), name), method)
            for module, name, method in CLIENTS
            if importlib.util.find_spec(module)
        ]
        before = [getattr(client, method) for client, method in clients]
        for (client, method), send in zip(clients, before, strict=True):
            setattr(client, method, chain.watched(send))
        try:
            yield
        finally:
            for (client, method), send in zip(clients, before, strict=True):
                setattr(client, method, send)


def model() -> list[Step]:
    """The longest chain from `score` to a request that checks one fact."""
    from factcheck.testing import FactModel, LocalOpenAIServer

    chain = Chain()
    with (
        LocalOpenAIServer(FactModel()) as server,
        mock.patch.dict(os.environ, {"OPENAI_BASE_URL": server.base_url}),
    ):
        judge = "openai/test-model"
        factcheck.score(WARM_UP, WARM_UP, facts=[WARM_UP], judge=judge)
        with patched(chain):
            factcheck.score(SOURCE, SUMMARY, facts=[SOURCE], judge=judge)
    longest = max(chain.seen, key=len)
    return list(longest)


def public_names() -> int:
    """Names that `dir(factcheck)` lists without an underscore."""
    return sum(not name.startswith("_") for name in dir(factcheck))


def main() -> None:
    """Print the measurements as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(FACTCHECK_CACHE_DIR=folder, LITELLM_LOCAL_MODEL_COST_MAP="true")
        found = {"public": public_names(), "offline": offline(), "model": model()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
