"""What a tutorial prints is what stands in it."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ("factcheck/fields/README.md", "factcheck/keywords/README.md")
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_example_prints_what_stands_below_it(name: str) -> None:
    blocks = _BLOCK.findall((ROOT / name).read_text("utf-8"))
    assert [kind for kind, _ in blocks] == ["python", "text"] * (len(blocks) // 2)
    scope: dict[str, Any] = {"__name__": "tutorial"}

    for (_, code), (_, expected) in zip(blocks[::2], blocks[1::2], strict=True):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, name, "exec"), scope)  # noqa: S102 - our own examples

        assert printed.getvalue() == expected
