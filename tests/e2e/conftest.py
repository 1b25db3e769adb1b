"""Documented code, the program on the path, and pages in Chromium where playwright finds one."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import model, serve, start

__all__ = ["model", "serve", "start"]
ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: str, *kinds: str) -> list[str]:
    """The code of these kinds on a page, in order."""
    text = (ROOT / f"{page}.md").read_text("utf-8")
    return [block for kind, block in BLOCK.findall(text) if kind in kinds]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Open addresses; the test fails if a page logs an error or a request is refused."""
    pages: list[Any] = []
    problems: list[str] = []

    def show(address: str, **options: Any) -> Any:
        page = browser.new_page(**options)
        pages.append(page)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto(address)
        return page

    yield show
    assert not problems
    for page in pages:
        page.close()


@pytest.fixture
def tab(visit: Any, tmp_path: Path) -> Any:
    """Open pages that are given as HTML, as `visit` does."""

    def show(html: str, **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(html, "utf-8")
        return visit(path.as_uri(), **options)

    return show


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts find `factcheck`, of this checkout, on their path."""
    path = tmp_path / "bin" / "factcheck"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m factcheck "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
