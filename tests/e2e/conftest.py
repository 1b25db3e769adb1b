"""Pages in headless Chromium; tests are skipped without playwright or a Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


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
def tab(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Open pages; the test fails if a page logs an error or a request is refused."""
    pages: list[Any] = []
    problems: list[str] = []

    def show(html: str, **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(html, "utf-8")
        page = browser.new_page(**options)
        pages.append(page)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto(path.as_uri())
        return page

    yield show
    assert not problems
    for page in pages:
        page.close()
