"""Imports point one way, and importing the package loads nothing heavy."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.processes import printed_by_python

PACKAGE = Path(__file__).resolve().parents[2] / "factcheck"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("factcheck.errors",),
    ("factcheck.stats",),
    ("factcheck.documents",),
    ("factcheck.reports",),
    ("factcheck.facts",),
    ("factcheck.text",),
    ("factcheck.settings", "factcheck.records"),
    ("factcheck.judges.ports",),
    ("factcheck.judges.cascade",),
    ("factcheck.runtime",),
    ("factcheck.judges.local",),
    ("factcheck.judges.llm", "factcheck.judges.replay"),
    ("factcheck.judges.embedders",),
    ("factcheck.judges.factory",),
    ("factcheck.fields.types",),
    ("factcheck.metrics.report",),
    ("factcheck.metrics",),
    ("factcheck.references",),
    ("factcheck.scoring", "factcheck.fields", "factcheck.keywords"),
    ("factcheck.calibration",),
    ("factcheck.server", "factcheck.distributed"),
    ("factcheck.cli", "factcheck.__main__", "factcheck.pytest_plugin", "factcheck.integrations"),
)
"""Each layer may import those above it in this list, and itself."""
TESTING = {"factcheck.errors", "factcheck.facts", "factcheck.judges.ports", "factcheck.testing"}
HEAVY = (
    "dspy",
    "openai",
    "litellm",
    "tenacity",
    "diskcache",
    "numpy",
    "scipy",
    "fastapi",
    "uvicorn",
    "prometheus_client",
    "pydantic",
    "rich",
    "onnxruntime",
)


OTHER_NAMES = {"dspy": "dspy_ai", "lap": "lapx", "yaml": "pyyaml"}
"""Names of packages whose module has another one."""
BROUGHT = {"pydantic_core", "starlette", "typing_extensions"}
"""Modules of packages that pydantic and FastAPI bring."""


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, anywhere in it, except those of the standard library."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else node.module or "" for name in dotted]
        yield from (name for name in names if name.split(".")[0] not in sys.stdlib_module_names)


IMPORTS = {name: tuple(imported(path)) for name, path in MODULES.items()}


def within(name: str, rooms: tuple[str, ...] | set[str]) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


def layer_of(name: str) -> int | None:
    return next((place for place, rooms in enumerate(LAYERS) if within(name, rooms)), None)


def test_every_module_has_a_room() -> None:
    homeless = [
        name
        for name in MODULES
        if layer_of(name) is None
        and not within(name, {"factcheck.testing"})
        and name not in {"factcheck", "factcheck.judges"}
    ]
    assert homeless == []


def test_imports_follow_the_layers() -> None:
    upward = []
    for name, others in IMPORTS.items():
        layer = layer_of(name)
        for other in (o for o in others if within(o, {"factcheck"}) and o != "factcheck"):
            above = layer_of(other)
            if layer is not None and (above is None or above > layer):
                upward.append((name, other))
    assert upward == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even within functions or for types only."""
    graph = {name: set(others) & set(MODULES) - {name} for name, others in IMPORTS.items()}
    while ends := {name for name, others in graph.items() if not others}:
        graph = {name: others - ends for name, others in graph.items() if name not in ends}
    assert graph == {}


def test_every_package_that_is_imported_is_declared() -> None:
    text = PACKAGE.with_name("pyproject.toml").read_text("utf-8")
    declared = {name.replace("-", "_") for name in re.findall(r'^.*?"([\w-]+)', text, re.MULTILINE)}
    declared |= {name.replace("-", "_") for name in re.findall(r', "([\w-]+)', text)}
    used = {other.split(".")[0] for others in IMPORTS.values() for other in others}
    names = {OTHER_NAMES.get(name, name) for name in used - BROUGHT - {"factcheck"}}
    assert names <= declared


def test_the_test_kit_imports_only_the_inner_rooms() -> None:
    kit = [name for name in MODULES if within(name, {"factcheck.testing"})]
    outer = [
        (name, other)
        for name in kit
        for other in IMPORTS[name]
        if within(other, {"factcheck"}) and not within(other, TESTING)
    ]
    assert kit
    assert outer == []


CLIENTS = ("dspy", "openai", "litellm", "scipy", "requests", "httpx", "httpx2")
LIGHT: dict[str, tuple[str, Iterable[str]]] = {
    "the package": ("import factcheck", HEAVY),
    "the embedded judge": (
        "import factcheck; factcheck.score('It rained in Oslo.', 'Rain fell in Oslo.')",
        CLIENTS,
    ),
    "the embedded embedder": (
        "from factcheck.judges.embedders.local import embed_text; embed_text('It rained.')",
        (*CLIENTS, "numpy", "torch"),
    ),
    "an embedder on a server": (
        """
from factcheck.judges.factory import build_embedder
from factcheck.runtime.session import Session
from factcheck.settings import Settings
settings = Settings(variables={'OPENAI_API_KEY': 'x'})
build_embedder('openai', Session(cache='off', settings=settings))""",
        ("dspy", "litellm", "openai"),
    ),
    "a cache that is not used": (
        "import factcheck.runtime.cache as cache; cache.DiskCache('x')",
        ("diskcache", "sqlite3", "redis", "platformdirs"),
    ),
    "the test kit": ("import factcheck.testing", ("openai", "dspy", "pytest", "numpy", "pydantic")),
}


@pytest.mark.parametrize(("code", "heavy"), LIGHT.values(), ids=LIGHT)
def test_what_is_slow_to_load_is_loaded_where_it_is_needed(code: str, heavy: Iterable[str]) -> None:
    shown = f"{code}\nimport sys; print([m for m in {tuple(heavy)!r} if m in sys.modules])"
    assert printed_by_python(shown) == "[]"
