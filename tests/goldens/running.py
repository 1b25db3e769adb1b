"""Runs commands and calls where nothing depends on the machine, and writes what is frozen."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

from factcheck.cli import main
from factcheck.facts import EntailmentLabel
from factcheck.testing import FactModel
from tests.embeddings import EmbeddingServer
from tests.goldens.commands import CACHE_ENTRIES, Run
from tests.runtime.cache.stores import stored

HERE = Path(__file__).resolve().parent
INPUTS = HERE / "inputs"
RECORDED = HERE / "recorded"

_PORT = 9
_BASE_URL = f"http://127.0.0.1:{_PORT}/v1"
_ENVIRONMENT = {
    "FACTCHECK_CACHE_DIR": "cache",
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
    "COLUMNS": "100",
    "TZ": "UTC",
}
_VARYING = (
    (r'\\"at\\": \d+', r"\"at\": 0"),
    (r'"seconds": ?[\d.e-]+', '"seconds": 0.0'),
    (r"\bdspy:[^|\s\"]+", "dspy:*"),
    (r"\breplay:[0-9a-f]{8}\b", "replay:*"),
    (r'"dspy": "[^"]+"', '"dspy": "*"'),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d$", "YYYY-MM-DD hh:mm"),
    (r"^size( +).*$", r"size\1*"),
    (r"<dd>\d{4}-\d\d-\d\d</dd>", "<dd>YYYY-MM-DD</dd>"),
)
_OWN_VERSIONS = (
    (r"\blocal/\d+(@[0-9a-f]{8})?", "local/*"),
    (r"(/v\d+[\w-]*)@[0-9a-f]{8}", r"\1@*"),
    (r"\bversion:\d+\.\d+\.\d+", "version:*"),
    (r'"version": "\d+\.\d+\.\d+"', '"version": "*"'),
)
"""Of judges, prompts and this package: frozen once, in `signatures`."""


def record(run: Run) -> str:
    """Exit code and standard output of the last command, and the files that are frozen."""
    with working_folder(), ExitStack() as stack:
        if run.server:
            stack.enter_context(scripted_model())
        code: object = 0
        out = ""
        for command in run.commands:
            code, out = _run(command)
        kept = [f"exit {code}\n{out}"]
        kept += [f"=== {name}\n{Path(name).read_text('utf-8')}" for name in run.files]
        return without_varying("".join(kept).replace(str(Path.cwd()), "FOLDER"))


def without_varying(text: str, *, has_versions: bool = False) -> str:
    """The text without times, sizes and versions; with `has_versions`, those of our own stay."""
    for pattern, constant in _VARYING if has_versions else (*_VARYING, *_OWN_VERSIONS):
        text = re.sub(pattern, constant, text, flags=re.MULTILINE)
    return text


@contextmanager
def working_folder() -> Iterator[None]:
    """A folder with the inputs to work in, an empty cache, and no settings of the user's."""
    foreign = ("FACTCHECK_", "OPENAI_", "DSPY_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    before = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {**kept, **_ENVIRONMENT}, clear=True),
    ):
        shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def scripted_model() -> Iterator[EmbeddingServer]:
    """A model that answers by words, at an address that is the same in every run."""
    connect = socket.socket.connect
    with EmbeddingServer(answer=FactModel(_label)) as server:
        port = int(server.base_url.rpartition(":")[2].partition("/")[0])

        def connect_to_server(sock: socket.socket, address: tuple[str, int]) -> None:
            connect(sock, (address[0], port) if address[1] == _PORT else address)

        with (
            mock.patch.object(socket.socket, "connect", connect_to_server),
            mock.patch.dict(os.environ, {"OPENAI_BASE_URL": _BASE_URL}),
        ):
            yield server


def _label(fact: str, text: str) -> EntailmentLabel:
    """Entailed by a text that has most of the fact's words, unless it lacks one of its numbers."""
    words, present = (set(re.findall(r"\w+", each.lower())) for each in (fact, text))
    if 2 * len(words & present) < len(words):
        return "neutral"
    return (
        "entailed" if all(word in present for word in words if word.isdigit()) else "contradicted"
    )


def _cache_entries() -> str:
    rows = stored(Path("cache")).items()
    good = sorted((key, value) for key, values in rows for value in values)
    return "".join(f"{json.dumps({'key': key, 'value': value})}\n" for key, value in good)


def _run(command: str) -> tuple[object, str]:
    if command == CACHE_ENTRIES:
        return 0, _cache_entries()
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", io.StringIO()):
        try:
            main(shlex.split(command))
        except SystemExit as left:
            return left.code, out.buffer.getvalue().decode("utf-8")
