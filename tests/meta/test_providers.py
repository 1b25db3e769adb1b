"""The page of providers says what is in the tables of the package."""

from __future__ import annotations

from pathlib import Path

from factcheck.judges.llm.providers import PROVIDERS
from tests.server_kinds import SERVER_KINDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "providers.md").read_text("utf-8")


def test_every_provider_is_there_with_its_variables_and_address() -> None:
    for name, provider in PROVIDERS.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}/MODEL` |"))
        assert f"`{provider.key}`" in row
        assert f"`{provider.address}`" in row
        assert row.endswith(f"| {provider.url} |")
        assert ("may be missing" in row) == provider.keyless


def test_every_kind_of_server_is_there() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.count(" | ") == 4]
    kinds = [first.removeprefix("| ") for first, *_ in rows]
    assert kinds == ["server", *(kind.name for kind in SERVER_KINDS), "**right**"]
