"""A report is its facts and results; everything else follows, and nothing is lost in JSON."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    CoverageReport,
    FactSet,
    ScoreSignature,
    Usage,
    Verdict,
    digest,
    locate,
    share_entailed,
)
from factcheck.facts.sources import fold_text
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


def test_a_weight_may_be_any_real_number() -> None:
    assert AtomicFact("f1", "A is B.", weight=Fraction(1, 2)).weight == 0.5  # type: ignore[arg-type]
    for weight in (-1, math.nan, math.inf, True, "1", 10**400):
        with pytest.raises(InputError, match="fact 'f1': weight must be"):
            AtomicFact("f1", "A is B.", weight=weight)  # type: ignore[arg-type]


def verdict(label: str, weight: float = 1.0, number: int = 1) -> Verdict:
    return Verdict(AtomicFact(f"f{number}", "A is B.", weight=weight), label)  # type: ignore[arg-type]


def failure() -> CheckFailure:
    return CheckFailure(AtomicFact("f99", "A is B."), "missing", "no answer")


def test_an_undecided_fact_is_outside_the_score_and_weights_count_as_that_many_facts() -> None:
    share = share_entailed([verdict("entailed"), verdict("neutral"), failure()])
    assert share.value == 0.5
    assert (share.low, share.high) == pytest.approx((1 / 3, 2 / 3))
    assert share_entailed([verdict("entailed", 3.0), verdict("contradicted", 1.0)]).value == 0.75


def test_the_expected_share_is_the_mean_of_the_probabilities_by_weight() -> None:
    likely = replace(verdict("entailed", 3.0), probability=0.9)
    doubted = replace(verdict("neutral"), probability=0.3)
    assert share_entailed([likely, doubted, failure()]).expected == pytest.approx(0.75)
    assert share_entailed([likely, verdict("neutral")]).expected is None
    cores = [replace(verdict("entailed", number=n), probability=0.8) for n in (1, 2)]
    detail = AtomicFact("f3", "A is B in May.", core="f2")
    lost = replace(verdict("neutral"), fact=detail, probability=0.2)
    assert share_entailed([*cores, lost]).expected == pytest.approx(0.65)
    assert share_entailed([failure()]).expected is None


@pytest.mark.parametrize("results", [[], [failure()], [verdict("entailed", 0.0)]])
def test_nothing_decided_is_no_score_rather_than_a_number(results: list[CheckResult]) -> None:
    share = share_entailed(results)
    assert share.value is None
    assert share.interval is None
    assert (share.low, share.high) == (0.0, 1.0)


@given(result_lists())
def test_score_bounds_and_interval_stay_in_order_and_in_range(
    results: tuple[CheckResult, ...],
) -> None:
    share = share_entailed(results)
    assert 0.0 <= share.low <= share.high <= 1.0
    if share.value is not None:
        assert share.interval is not None
        assert share.low <= share.value <= share.high
        assert 0.0 <= share.interval.low <= share.value <= share.interval.high <= 1.0


FACT = AtomicFact("f1", "A is B.")


@pytest.mark.parametrize("facts", ["A is B.", b"x", {"a": 1}, 7, None, ["ok", 7], ["ok", " "]])
def test_anything_but_a_sequence_of_statements_is_refused(facts: object) -> None:
    with pytest.raises(InputError):
        FactSet.of(facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FactSet((FACT, FACT)), "two facts have the id 'f1'"),
        *((partial(Verdict, FACT, "neutral", p), "probability") for p in (-0.1, 1.1, math.nan)),
        (lambda: Verdict(FACT, "supported"), "supported"),  # type: ignore[arg-type]
    ],
)
def test_what_would_be_a_wrong_number_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=0.25)).cost_usd == 0.75
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=None)).cost_usd is None


@given(st.text())
def test_any_text_has_a_digest_also_with_a_lone_surrogate(text: str) -> None:
    assert len(digest(text)) == 64
    assert digest(f"{text}\ud800") != digest(f"{text}\ud801")


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_a_signature_parses_back_whatever_it_holds(entries: dict[str, str]) -> None:
    signature = ScoreSignature.of(entries)
    assert ScoreSignature.parse(str(signature)) == signature


@pytest.mark.parametrize("line", ["judge", "a:1|a:2", "a:%ff"])
def test_a_line_that_is_no_signature_is_refused(line: str) -> None:
    with pytest.raises(InputError):
        ScoreSignature.parse(line)


FOLDED = [
    ("the  bridge\nopened", "The bridge opened"),
    ("“It’s open”", '"it\'s open"'),
    ("cafe\u0301", "Café"),
    ("Stra\u00dfe", "STRASSE"),
    ("co\u00adoperate", "cooperate"),
    ("한글", unicodedata.normalize("NFD", "한글")),
    ("İstanbul", "i\u0307stanbul"),
]


@pytest.mark.parametrize(("one", "other"), FOLDED)
def test_differences_of_form_do_not_tell_statements_apart(one: str, other: str) -> None:
    assert fold_text(one) == fold_text(other)
    assert fold_text("It cost 4.2 million.") != fold_text("It cost 42 million.")


def test_a_quote_is_found_as_it_stands() -> None:
    found = locate(" Open\n", "open, then Open")
    assert found is not None
    assert (found.quote, found.start, found.end) == ("Open", 11, 15)
    for quote, text in (("", "abc"), (" \n", "abc"), ("abd", "abc"), ("abc", "")):
        assert locate(quote, text) is None
