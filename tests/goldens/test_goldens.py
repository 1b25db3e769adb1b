"""What is frozen has not moved; if it had to: `python -m tests.goldens.record NAME`."""

from __future__ import annotations

import pytest

from tests.goldens.record import GOLDENS
from tests.goldens.running import RECORDED


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    assert GOLDENS[name]() == (RECORDED / f"{name}.txt").read_bytes().decode()


def test_every_recorded_file_is_looked_at() -> None:
    assert {path.stem for path in RECORDED.iterdir()} == set(GOLDENS)
