"""Cases recorded from another implementation of the same specification."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_CHECKOUT = Path(__file__).resolve().parents[2]
_DESIGN_DIR = Path(os.environ.get("FACTCHECK_DESIGN") or _CHECKOUT.parent / "shared" / "design")
_FILE = _DESIGN_DIR / "fields_oracle.jsonl"


class Expected(NamedTuple):
    """What was recorded."""

    results: list[list[Any]]
    """Path, status, score and comparator of each."""
    p: float
    r: float
    f1: float
    totals: list[int]
    """Fields, omissions, hallucinations."""
    per_field: dict[str, list[float]]
    """Mean score, matches, mismatches, omissions and hallucinations of each path."""


class Case(NamedTuple):
    """One record, and what it was scored with."""

    id: int
    note: str
    schema: dict[str, Any]
    """Not annotated."""
    gold: Any
    extracted: Any
    head: Expected


CHANGED = {
    97: "null keys pair", 154: "null keys pair", 378: "null keys pair", 383: "null keys pair",
    197: "an element with a null key has a key, and comes before those without one",
}  # fmt: skip
"""Cases that a later rule of the specification scores otherwise, and the rule."""


def recorded_cases() -> list[Any]:
    if not _FILE.is_file():
        reason = "no recorded cases: set FACTCHECK_DESIGN to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    rows = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
    cases = [Case(**{**row, "head": Expected(**row["head"])}) for row in rows]
    return [pytest.param(case, id=f"{case.id} {case.note}") for case in cases]
