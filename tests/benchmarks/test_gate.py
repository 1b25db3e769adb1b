"""The trial of a gate is what its README says."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.gate.run import entries, subjects, trial
from factcheck import FactCoverage
from factcheck.calibration import WordContainment


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["name"])
def test_every_fact_id_exists_and_no_must_fact_is_left_out(entry: dict[str, Any]) -> None:
    ids = [fact["id"] for fact in entry["facts"]]
    core = {fact["id"]: fact["core"] for fact in entry["facts"] if "core" in fact}
    must = {fact["id"] for fact in entry["facts"] if "must" in fact}
    assert len({*ids}) == len(ids)
    assert {*entry["left_out"], *core.values()} <= {*ids}
    assert {one["fact"] for one in entry["regressions"]} <= {*ids}
    assert core.keys().isdisjoint(core.values())
    assert must.isdisjoint(entry["left_out"])


def test_a_version_that_says_less_fails_and_the_same_words_pass() -> None:
    subject = subjects()[0]
    less, same = subject.versions[2], subject.versions[0]._replace(text=subject.before)
    with FactCoverage(WordContainment()) as scorer:
        rows, _ = trial(scorer, subject._replace(versions=(less, same)))
    assert [row.has_failed for row in rows] == [True, False]
    assert rows[0].behind["f5"] == "dropped"
