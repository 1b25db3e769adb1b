"""The examples of docs/dspy.md, in order: extract, evaluate, optimise, save, load, judge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dspy
import pytest

import factcheck
from factcheck.facts import EntailmentLabel
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dspy.md"


def careless(_fact: str, _text: str) -> EntailmentLabel:
    return "entailed"


def learner(request: ChatRequest) -> str:
    """Entails whatever it is asked, until it is shown how to judge, as a weak model might."""
    is_shown = any(message["role"] == "assistant" for message in request.messages)
    return FactModel()(request) if is_shown else FactModel(careless)(request)


def test_the_page_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    scope: dict[str, Any] = {}
    with LocalOpenAIServer(learner) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        try:
            for block in blocks:
                exec(block, scope)  # noqa: S102 - the page is ours
        finally:
            dspy.configure(lm=None)
    labels, before, _, after, *reports = capsys.readouterr().out.splitlines()
    assert labels == "['entailed', 'entailed', 'entailed']"
    assert [before, after] == ["50.0", "100.0"]
    prompts = re.findall(r"check_facts/v2-line@\w+", "\n".join(reports))
    assert len(prompts) == 2
    assert set(prompts) == {prompts[0]} != {factcheck.FactChecker().fingerprint}
    assert re.match(r"1 of \d facts kept\.", reports[0])
