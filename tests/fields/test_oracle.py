"""Both evaluations, of the package and the naive one, agree with another implementation."""

from __future__ import annotations

import json
import os
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from factcheck.fields import annotate_xeval, evaluate
from tests.fields.naive import evaluate as naive_evaluate

_CHECKOUT = Path(__file__).resolve().parents[2]
_DESIGN_DIR = Path(os.environ.get("FACTCHECK_DESIGN") or _CHECKOUT.parent / "shared" / "design")
_FILE = _DESIGN_DIR / "fields_oracle.jsonl"
CHANGED = {
    97: "null keys pair", 154: "null keys pair", 378: "null keys pair", 383: "null keys pair",
    197: "an element with a null key has a key, and comes before those without one",
}  # fmt: skip
"""Cases that a later rule of the specification scores otherwise, and the rule."""


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


def recorded_cases() -> list[Any]:
    if not _FILE.is_file():
        reason = "no recorded cases: set FACTCHECK_DESIGN to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    rows = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=f"{row['id']} {row['note']}") for row in rows]


@pytest.mark.parametrize("case", recorded_cases())
def test_evaluate_gives_what_was_recorded(case: dict[str, Any]) -> None:
    """Results in order; only where several pairings are equally good, just how many of each."""
    schema, gold, extracted = case["schema"], case["gold"], case["extracted"]
    run = evaluate([gold], [extracted], annotate_xeval(deepcopy(schema)))
    naive = naive_evaluate(schema, gold, extracted)

    [record] = run.records
    expected = Expected(**case["head"])
    rows = [[r.path, r.status, r.score, r.comparator] for r in record.field_results]
    naive_rows = [list(row) for row in naive.rows]
    if case["id"] in CHANGED:
        assert rows == naive_rows != expected.results
        return
    if naive.ties:
        recorded = Counter(row[1] for row in expected.results)
        assert Counter(row[1] for row in rows) == recorded
        assert Counter(row[1] for row in naive_rows) == recorded
    else:
        assert rows == naive_rows == expected.results
        assert list(run.per_field) == list(expected.per_field)
        for path, field in run.per_field.items():
            counts = [field.matches, field.mismatches, field.omissions, field.hallucinations]
            assert [field.mean_score, *counts] == pytest.approx(expected.per_field[path])
    assert [run.total_fields, run.total_omissions, run.total_hallucinations] == expected.totals
    for metrics in (
        (record.precision, record.recall, record.f1),
        (run.mean_precision, run.mean_recall, run.mean_f1),
        (naive.precision, naive.recall, naive.f1),
    ):
        assert metrics == pytest.approx((expected.p, expected.r, expected.f1), abs=1e-12)
