"""A report is its facts and results; everything else follows, and nothing is lost in JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.facts import CheckResult, CoverageReport, FactSet, ScoreSignature, Usage, Verdict
from tests.strategies import result_lists

SIGNATURE = ScoreSignature.of({"judge": "openai/gpt-x:1|2", "version": "0.1.0"})


def report_of(
    results: tuple[CheckResult, ...], claims: tuple[CheckResult, ...] | None = None
) -> CoverageReport:
    def facts(of: tuple[CheckResult, ...]) -> FactSet:
        return FactSet(tuple(r.fact for r in of), "ab" * 32, (("extractor", "local/1"),))

    return CoverageReport(
        facts=facts(results),
        results=results,
        usage=Usage(calls=2, prompt_tokens=7, cost_usd=None, seconds=0.25),
        signature=SIGNATURE,
        claims=None if claims is None else facts(claims),
        claim_results=claims or (),
    )


@given(result_lists())
def test_the_four_groups_are_exactly_the_facts(results: tuple[CheckResult, ...]) -> None:
    report = report_of(results)
    groups: list[CheckResult] = [*report.kept, *report.dropped, *report.distorted]
    groups += report.undecided
    assert sorted(item.fact.id for item in groups) == sorted(fact.id for fact in report.facts)


@given(result_lists(), st.none() | result_lists())
def test_json_loses_nothing(
    results: tuple[CheckResult, ...], claims: tuple[CheckResult, ...] | None
) -> None:
    report = report_of(results, claims)
    again = CoverageReport.from_json(report.to_json())
    assert again == report
    assert again.to_json() == report.to_json()
    decided = [claim for claim in claims or () if isinstance(claim, Verdict)]
    assert len(report.superfluous) == sum(not claim.supported for claim in decided)
    assert (report.faithfulness is None) == (not any(c.fact.weight for c in decided))


@given(result_lists(min_size=1))
def test_a_report_refuses_results_that_are_not_one_per_fact(
    results: tuple[CheckResult, ...],
) -> None:
    report = report_of(results)
    with pytest.raises(InputError, match="one result per fact"):
        CoverageReport(report.facts, results[1:], Usage(), SIGNATURE)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not valid JSON"),
        ("[]", "expected an object"),
        ("{}", "format null"),
        ('{"format": 1}', "'facts' is missing"),
        ('{"format": 1, "facts": {"facts": [{"id": 1}]}}', "'id': expected a string, got 1"),
    ],
)
def test_data_that_is_no_report_says_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        CoverageReport.from_json(text)


@given(st.data(), result_lists(min_size=1))
def test_a_damaged_report_is_refused_or_read_but_never_crashes(
    data: st.DataObject, results: tuple[CheckResult, ...]
) -> None:
    tree = json.loads(report_of(results).to_json())
    target = data.draw(st.sampled_from([tree, tree["results"][0], tree["usage"], tree["facts"]]))
    key = data.draw(st.sampled_from(sorted(target)))
    target[key] = data.draw(st.sampled_from([None, 0, "x", [], {}, [1], True]))
    try:
        CoverageReport.from_dict(tree)
    except InputError as error:
        assert str(error)
