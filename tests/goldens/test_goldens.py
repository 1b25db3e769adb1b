"""What is frozen has not moved; if it had to: `python -m tests.goldens.record NAME`."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from tests.goldens.record import GOLDENS
from tests.goldens.running import RECORDED

RECORDED_WITH = "1.32.0"
"""Version of onnxruntime; others round differently (and Python 3.10 has none after 1.23)."""
ROUNDED = re.compile(r'\d*\.\d+(?:e-\d+)?|"n_(?:answers|tried|undecided)": \d+|\d+(?= trials)')
"""Figures that depend on it: fractions, and the numbers of facts that an audit could decide."""


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    found, recorded = GOLDENS[name](), (RECORDED / f"{name}.txt").read_bytes().decode()
    if version("onnxruntime") != RECORDED_WITH:
        found, recorded = (ROUNDED.sub("#", text) for text in (found, recorded))
    assert found == recorded


def test_every_recorded_file_is_looked_at() -> None:
    assert {path.stem for path in RECORDED.iterdir()} == set(GOLDENS)
