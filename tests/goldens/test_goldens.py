"""What is frozen has not moved; if it had to: `python -m tests.goldens.record NAME`."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from tests.goldens.record import GOLDENS
from tests.goldens.running import RECORDED

RECORDED_WITH = "1.32.0"
"""Version of onnxruntime; others round differently (and Python 3.10 has none after 1.23)."""
FIGURE = re.compile(r"\d*\.\d+(?:e-\d+)?")
COUNT = re.compile(r'"n_(?:answers|tried|undecided)": \d+|\d+(?= trials)')
"""Numbers of facts that an audit could decide, which depend on that version."""
CLOSE = 0.005
"""Processors round differently, too."""


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    found, recorded = GOLDENS[name](), (RECORDED / f"{name}.txt").read_bytes().decode()
    if version("onnxruntime") == RECORDED_WITH:
        figures = [list(map(float, FIGURE.findall(text))) for text in (found, recorded)]
        assert figures[0] == pytest.approx(figures[1], abs=CLOSE)
    else:
        found, recorded = (COUNT.sub("#", text) for text in (found, recorded))
    assert FIGURE.sub("#", found) == FIGURE.sub("#", recorded)


def test_every_recorded_file_is_looked_at() -> None:
    assert {path.stem for path in RECORDED.iterdir()} == set(GOLDENS)
