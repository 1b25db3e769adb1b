"""Published prompts never change."""

from __future__ import annotations

from pathlib import Path

import pytest

from factcheck.errors import PromptError
from factcheck.judges.llm import prompts

PROMPTS = Path(__file__).resolve().parents[3] / "prompts"


def test_every_prompt_file_is_pinned_and_every_pin_has_its_file() -> None:
    files = {path.relative_to(PROMPTS).as_posix() for path in PROMPTS.rglob("*.md")}
    assert files == set(prompts.pinned())


@pytest.mark.parametrize("path", sorted(prompts.pinned()))
def test_every_published_prompt_is_the_one_that_was_published(path: str) -> None:
    assert prompts.load_prompt(path.removesuffix(".md"))


def test_an_unknown_prompt_is_named_with_those_that_exist() -> None:
    with pytest.raises(PromptError, match=r"check_facts/v1\.md"):
        prompts.load_prompt("check_facts/v0")


def test_a_prompt_that_was_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "check_facts").mkdir()
    (tmp_path / "check_facts/v1.md").write_text("Say yes.", "utf-8")
    monkeypatch.setattr(prompts, "prompts_root", lambda: tmp_path)
    prompts.load_prompt.cache_clear()
    with pytest.raises(PromptError, match="changed after it was published"):
        prompts.load_prompt("check_facts/v1")
