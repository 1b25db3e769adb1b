"""`.ci/lowest.txt`, with which the service is tested, has the bounds of `pyproject.toml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)")
_OF_OTHERS = {"all", "dev", "docs", "inspect", "mlflow", "ray"}
"""Extras that are combinations, tools, or frameworks with narrow bounds of their own."""


def project() -> dict[str, Any]:
    toml = pytest.importorskip("tomllib")  # from Python 3.11
    found: dict[str, Any] = toml.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def test_the_lowest_versions_are_those_of_the_bounds() -> None:
    extras = project()["optional-dependencies"]
    named = {one for name in extras.keys() - _OF_OTHERS for one in extras[name]}
    found = [_BOUND.match(one) for one in {*project()["dependencies"], *named}]
    bounds = {(match[1], match[2]) for match in found if match is not None}
    lines = (ROOT / ".ci" / "lowest.txt").read_text("utf-8").splitlines()
    pins = {one.partition(";")[0] for one in lines if not one.startswith(("#", "litellm=="))}
    assert None not in found
    assert {f"{name}=={version}" for name, version in bounds} == pins
