"""What stands first weighs most, if asked; details share the weight of their statement."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import FactCoverage
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.facts.groups import root_ids
from factcheck.facts.weights import weigh
from factcheck.reports import render

STATEMENTS = FactSet.of([f"Fact {n}." for n in range(20)])
SOURCE = "The lake is deep. The pier is old. The ferry runs daily."


def test_the_eleventh_statement_weighs_half_of_the_first() -> None:
    weights = [fact.weight for fact in weigh(STATEMENTS, "lead")]
    assert (weights[0], weights[10]) == (1.0, 0.5)
    assert weights == sorted(weights, reverse=True)
    assert weigh(STATEMENTS, "equal") is STATEMENTS


@given(st.lists(st.integers(1, 20), min_size=10, max_size=10))
def test_details_share_the_weight_of_their_statement(cores: list[int]) -> None:
    details = tuple(AtomicFact(f"d{n}", "x", core=f"f{core}") for n, core in enumerate(cores))
    weighed = weigh(FactSet((*STATEMENTS, *details)), "lead")
    roots = root_ids(weighed)
    for fact in weigh(STATEMENTS, "lead"):
        group = [each.weight for each in weighed if roots[each.id] == fact.id]
        assert math.isclose(math.fsum(group), fact.weight)


def test_a_weight_that_a_person_gave_stays() -> None:
    heavy = replace(STATEMENTS[3], weight=7.0)
    assert weigh(FactSet((STATEMENTS[0], heavy)), "lead")[1].weight == 7.0


def test_a_scorer_says_how_it_weighs() -> None:
    first, last = "The lake is deep.", "The ferry runs daily."
    with FactCoverage(weights="lead") as scorer, FactCoverage() as equal:
        one, two = scorer.score_summaries(SOURCE, [first, last])
        plain = equal.score(SOURCE, first)
        assert scorer.signature["weights"] == "lead"
    assert one.score is not None
    assert two.score is not None
    assert plain.score is not None
    assert one.score > plain.score > two.score
    assert "weights" not in dict(plain.signature.entries)
    assert "what the source states first weighs most" in one.to_markdown()
    assert "weighs most" not in plain.to_markdown()


def test_the_heaviest_facts_come_first_whatever_became_of_them() -> None:
    with FactCoverage(weights="lead") as scorer:
        report = scorer.score(SOURCE, "The pier is old.")
    listing = render(report.page(2)).partition("Key facts")[2].partition("Dropped")[0]
    assert listing.index("The lake is deep.") < listing.index("The pier is old.")
    assert "ferry" not in listing


def test_an_unknown_weighting_is_refused() -> None:
    with pytest.raises(InputError, match="'tail' is not one of equal, lead"):
        FactCoverage(weights="tail")  # type: ignore[arg-type]


def test_a_key_fact_weighs_what_it_and_its_details_weigh() -> None:
    with FactCoverage(weights="lead") as scorer:
        report = scorer.score(
            "Anna Kern opened the bridge on Monday. The pier is old.", "It rained."
        )
    core = "Anna Kern opened the bridge."
    (item, *_) = report.page(1).sections[0].items
    assert (item.text, [badge.text for badge in item.badges]) == (core, ["weight 1"])
    assert "on Monday" in item.aside
