"""The trial of a gate is what its README says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks.gate.run import Subject, entries, subjects, trial
from factcheck import FactCoverage
from factcheck.calibration import WordContainment

every_subject = pytest.mark.parametrize("subject", subjects(), ids=lambda subject: subject.name)


def test_there_are_sixty_regressions_and_sixty_rewordings_of_all_kinds() -> None:
    versions = [version for subject in subjects() for version in subject.versions]
    regressions = Counter(version.kind for version in versions if version.fact)
    rewordings = Counter(version.kind for version in versions if not version.fact)
    assert regressions.total() == 60
    assert rewordings.total() == 60
    assert {*regressions} == {
        *("lost", "number", "date", "unit", "name", "role", "polarity", "only", "antonym"),
        "exchanged",
    }
    assert {*rewordings} == {
        *("synonyms", "voice", "order", "structure", "numbers", "format", "negation"),
    }
    assert min(*regressions.values(), *rewordings.values()) >= 4
    assert len({version.text for version in versions}) == len(versions)


@every_subject
def test_every_regression_is_of_a_must_fact(subject: Subject) -> None:
    must = {fact.id for fact in subject.facts if fact.must}
    assert 2 <= len(must) <= 3
    assert {version.fact for version in subject.versions} - {""} <= must


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
