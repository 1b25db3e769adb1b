"""What `factcheck references` does: texts in, output and exit code out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from factcheck.testing import EmbeddingsRequest, LocalOpenAIServer, hashed_embeddings
from tests.cli.conftest import Folder, Outcome

Run = Callable[..., Outcome]


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str, str]:
    """A text, one that is like it, and one that is not."""
    put = Folder(tmp_path).put
    return (
        put("a.txt", "The train to Oslo leaves at nine.\n"),
        put("b.txt", "Cats sleep all day."),
        put("c.txt", "At nine the train leaves for Oslo."),
    )


def test_only_fail_under_is_a_gate(texts: tuple[str, ...], run: Run) -> None:
    """Without it, 0.7 says what 'passed' means, and changes no exit code."""
    far = ("references", *texts[:2])

    shown = run(*far)
    assert (shown.code, "not passed (< 0.7)" in shown.out) == (0, True)
    failed = run(*far, "--fail-under", "0.4")
    assert failed.code == 1
    assert "not passed (< 0.4)" in failed.out
    assert failed.err.startswith("factcheck: gate failed: score ")
    assert run("references", *texts, "--fail-under", "0.4").code == 0
    assert run("references", texts[0], texts[0], "--fail-under", "1").code == 0


def test_the_final_line_feed_is_no_part_of_a_text_and_one_request_does(
    texts: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalOpenAIServer(lambda _: "", embed=hashed_embeddings) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("FACTCHECK_CACHE", "off")

        outcome = run("references", *texts, "--embedder", "openai")

    (request,) = server.requests
    assert isinstance(request, EmbeddingsRequest)
    assert request.texts == (
        "The train to Oslo leaves at nine.",
        "Cats sleep all day.",
        "At nine the train leaves for Oslo.",
    )
    assert outcome.code == 0
    assert "1 call" in outcome.out
