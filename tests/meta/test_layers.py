"""Imports point one way, and importing the package loads nothing heavy."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import printed_by_python

PACKAGE = Path(__file__).resolve().parents[2] / "factcheck"

REPORTS = ("text", "page", "table", "markdown", "html", "junit", "csv", "report")
LAYERS: tuple[tuple[str, ...], ...] = (
    ("factcheck.errors",),
    ("factcheck.stats",),
    ("factcheck.documents",),
    tuple(f"factcheck.reports.{name}" for name in REPORTS),
    ("factcheck.facts",),
    ("factcheck.settings", "factcheck.records"),
    ("factcheck.judges.ports", "factcheck.files", "factcheck.datasets"),
    ("factcheck.judges.cascade",),
    ("factcheck.runtime",),
    ("factcheck.judges.local",),
    ("factcheck.judges.llm", "factcheck.judges.replay", "factcheck.judges.isolated"),
    ("factcheck.judges.embedders",),
    ("factcheck.judges.factory",),
    ("factcheck.fields.types",),
    ("factcheck.metrics.cases", "factcheck.metrics.results", "factcheck.metrics.ports"),
    ("factcheck.references",),
    ("factcheck.scoring", "factcheck.fields", "factcheck.keywords"),
    ("factcheck.metrics",),
    ("factcheck.calibration",),
    ("factcheck.reports",),
    ("factcheck.cli", "factcheck.__main__"),
)
"""Each layer may import those above it in this list, and itself."""
OUTSIDE = {
    "factcheck.errors": set(),
    "factcheck.facts": set(),
    "factcheck.judges.ports": {"dspy"},  # for types only
    "factcheck.settings": set(),
    "factcheck.scoring": {"typing_extensions"},
}
"""What the inner rooms may import from other packages."""
TESTING = {"factcheck.errors", "factcheck.facts", "factcheck.judges.ports", "factcheck.testing"}
HEAVY = ("dspy", "openai", "litellm", "numpy", "scipy", "fastapi", "pydantic", "wordfreq", "rich")


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, anywhere in it, but those of the standard library."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            names += [
                f"{node.module}.{a.name}"
                for a in node.names
                if f"{node.module}.{a.name}" in MODULES
            ]
        yield from (name for name in names if name.split(".")[0] not in sys.stdlib_module_names)


def within(name: str, rooms: tuple[str, ...] | set[str]) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


def layer_of(name: str) -> int | None:
    return next((place for place, rooms in enumerate(LAYERS) if within(name, rooms)), None)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_a_room(name: str) -> None:
    assert (
        layer_of(name) is not None
        or within(name, {"factcheck.testing"})
        or name
        in {
            "factcheck",
            "factcheck.judges",
        }
    )


@pytest.mark.parametrize("name", MODULES)
def test_imports_follow_the_layers(name: str) -> None:
    own = [other for other in imported(MODULES[name]) if within(other, {"factcheck"})]
    if within(name, {"factcheck.testing"}):
        assert all(within(other, TESTING) for other in own)
    layer = layer_of(name)
    if layer is not None:
        upward = [o for o in own if (layer_of(o) is None or layer_of(o) > layer)]  # type: ignore[operator]
        assert [o for o in upward if o != "factcheck"] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_inner_rooms_know_no_other_package(name: str) -> None:
    for room, allowed in OUTSIDE.items():
        if within(name, {room}):
            foreign = {o.split(".")[0] for o in imported(MODULES[name])} - {"factcheck"}
            assert foreign <= allowed


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, factcheck; print([m for m in {HEAVY!r} if m in sys.modules])"

    assert printed_by_python(code) == "[]"


def test_the_embedded_judge_loads_no_model_library_and_no_network_client() -> None:
    heavy = ("dspy", "openai", "litellm", "numpy", "scipy", "requests", "httpx", "httpx2")
    code = (
        "import sys, factcheck; factcheck.score('It rained in Oslo.', 'Rain fell in Oslo.');"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )

    assert printed_by_python(code) == "[]"
