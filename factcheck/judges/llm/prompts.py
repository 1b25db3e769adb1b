"""Prompt files: one file a version, pinned by digest, never changed once published."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from factcheck.errors import PromptError
from factcheck.facts import digest

if TYPE_CHECKING:
    from importlib.abc import Traversable

CHECK_FACTS = "check_facts/v2"
CHECK_TEXTS = "check_texts/v1"
COMPARE_VALUES = "compare_values/v2"
EXTRACT_FACTS = "extract_facts/v2"
RATE_FAITHFULNESS = "rate_faithfulness/v1"
SUMMARIZE = "summarize/v1"
_PINS = "SHA256SUMS"


def prompts_root() -> Traversable:
    """The prompts shipped in the package, or `prompts/` of an editable checkout."""
    shipped = files("factcheck") / "prompts"
    return shipped if shipped.is_dir() else Path(__file__).resolve().parents[3] / "prompts"


@cache
def pinned() -> Mapping[str, str]:
    """Digest of every published prompt file, by its path below `prompts/`."""
    try:
        lines = (prompts_root() / _PINS).read_text("utf-8").splitlines()
    except OSError as error:
        raise PromptError(f"prompts/{_PINS} cannot be read; reinstall factcheck") from error
    return {path: sha for sha, path in (line.split(maxsplit=1) for line in lines if line.strip())}


@cache
def load_prompt(name: str) -> str:
    path = f"{name}.md"
    expected = pinned().get(path)
    if expected is None:
        raise PromptError(f"no prompt named {name!r}; published: {', '.join(sorted(pinned()))}")
    try:
        text = (prompts_root() / path).read_text("utf-8")
    except OSError as error:
        raise PromptError(f"prompt file {path} cannot be read; reinstall factcheck") from error
    if digest(text) != expected:
        raise PromptError(
            f"prompt file {path} was changed after it was published; "
            "restore it and put new wording into a new version"
        )
    return text.strip()
