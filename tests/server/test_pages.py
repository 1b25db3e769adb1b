"""The pages of the service as they are sent; `tests/e2e/test_service_page.py` uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.server.conftest import Judge, api_key, app_of, client_of


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_can_neither_be_framed_nor_ask_another_host(path: str) -> None:
    with client_of(app_of(Judge())) as client:
        page = client.get(path)

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    (policy,) = re.findall(r'Policy" content="(.+?)"', page.text)
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    assert allowed.get("connect-src", "'self'") == "'self'"
    assert all(one.startswith("'sha256-") for one in allowed.get("script-src", "").split())
    assert not re.search(r"(?:src|href)=.?(?:https?:|//)", page.text)
    assert not re.search(r"<[^>]+ on\w+=", page.text)


def test_the_page_asks_for_a_key_and_offers_jobs_where_there_are_any(tmp_path: Path) -> None:
    jobs = str(tmp_path / "jobs.sqlite")
    with client_of(app_of(Judge())) as client:
        plain = client.get("/").text
    with client_of(app_of(Judge(), keys=[api_key("secret")], jobs_path=jobs)) as client:
        whole = client.get("/").text

    for mark in ('id="ask" hidden', 'id="jobs" hidden'):
        assert mark in plain
        assert mark not in whole


def test_the_docs_name_every_request_and_its_example() -> None:
    with client_of(app_of(Judge())) as client:
        page, schema = client.get("/docs").text, client.get("/openapi.json").json()

    for path, operations in schema["paths"].items():
        for method in operations:
            assert f"<h2>{method.upper()} {path}</h2>" in page
    assert "Milliseconds after which undecided facts" in page
    assert "The Mill Lane bakery opens at seven." in page


def test_a_service_without_pages() -> None:
    with client_of(app_of(Judge(), ui=False)) as client:
        found = [client.get(path).status_code for path in ("/", "/docs", "/openapi.json")]

    assert found == [404, 404, 200]
