"""A fact and its details: one line of a report, one batch, one weight; else facts of their own."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import FactCoverage, score
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, CheckFailure, FactSet, Span
from factcheck.facts.groups import added_words, group_results, weigh
from factcheck.facts.model import CheckResult, root_ids
from factcheck.facts.report import CoverageReport
from factcheck.facts.sources import SourceDocument, Texts, merge_documents
from factcheck.reports import render
from tests.reports.examples import report_of, verdict

SANK = AtomicFact("f1", "The boat sank.", must=True)
IN_MAY = AtomicFact("f2", "The boat sank in May.", core="f1")
OFF_CRETE = AtomicFact("f3", "The boat sank off Crete.", core="f1")
DEEP = AtomicFact("f4", "The boat sank off Crete in a storm.", core="f3")


def result(fact: AtomicFact, label: str) -> CheckResult:
    if not label:
        return CheckFailure(fact, "unsure", "too close")
    return verdict(fact, label)  # type: ignore[arg-type]


def report(*labels: str) -> CoverageReport:
    return report_of(*map(result, (SANK, IN_MAY, OFF_CRETE, DEEP), labels))


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=3, max_size=3))
def test_every_fact_is_in_one_group_and_a_circle_of_cores_is_refused(
    cores: list[str | None],
) -> None:
    facts = [AtomicFact(i, i, core=core) for i, core in zip("abc", cores, strict=True)]
    try:
        FactSet(tuple(facts))
    except InputError as error:
        assert "its core leads in a circle" in str(error)
        return
    groups = group_results(result(fact, "neutral") for fact in facts)
    listed = [each.fact for group in groups for each in (group.core, *group.details, *group.apart)]
    assert sorted(listed, key=lambda fact: fact.id) == facts


@pytest.mark.parametrize(
    ("core", "detail", "added"),
    [
        ("The boat sank.", "The boat sank in May.", "in May"),
        ("The firm hired her.", "In May 2019, the firm hired her.", "in May 2019"),
        ("A crater was named.", "A crater on the Moon was named.", "on the Moon"),
        ("Anna left.", "Old Anna left in May.", "old … in May"),
        ("It sank.", "It sank.", "It sank."),
        ("She joined Fell Inc.", "She joined Fell Inc. in May.", "in May"),
        ("The old boat sank.", "The boat sank in May.", "The boat sank in May."),
    ],
)
def test_what_a_detail_adds(core: str, detail: str, added: str) -> None:
    assert added_words(core, detail) == added


@pytest.mark.parametrize("style", ["table", "markdown", "html"])
def test_a_kept_fact_says_which_details_are_lost(style: str) -> None:
    text = render(report("entailed", "neutral", "entailed", "").page(), style)
    assert "with: off Crete; without: in May; undecided: off Crete in a storm" in text
    assert "The boat sank in May." not in text


def test_a_distorted_detail_stands_alone() -> None:
    distorted = render(report("entailed", "contradicted").page(), "table")
    assert "Distorted 1" in distorted
    assert "The boat sank in May." in distorted


def test_a_lost_must_detail_has_a_line_of_its_own_before_other_facts() -> None:
    must = replace(IN_MAY, must=True)
    plain = replace(OFF_CRETE, core=None)
    page = report_of(result(SANK, "entailed"), result(plain, "neutral"), result(must, "neutral"))
    dropped, kept = page.page().sections
    assert [(item.name, item.badges) for item in dropped.items] == [("f2", ("must",)), ("f3", ())]
    assert (dropped.more, kept.items[0].aside) == ("", "")


def test_counts_are_counts_of_facts_and_the_rest_says_where_it_is() -> None:
    for core, n_kept in (("entailed", 1), ("contradicted", 0)):
        text = render(report(core, "neutral", "neutral").page(), "table")
        assert f"{n_kept} of 3 facts kept" in text
        assert "Dropped 2" in text
        assert "2 details of f1" in text


def test_what_a_claim_adds_to_an_unsupported_one_is_not_supported_and_on_its_line() -> None:
    source, summary = (
        "The ferry sank. It was new.",
        "The ferry sank in May. Dr. Olsen retired in Rome.",
    )
    report = score(source, summary, direction="both")
    assert [claim.core for claim in report.claims or ()] == [None, "c1", None, "c3"]
    (superfluous,) = report.page().also[0].sections
    shown = [(item.text, item.aside) for item in superfluous.items]
    assert shown == [("The ferry sank in May.", ""), ("Dr. Olsen retired.", "details: in Rome")]
    assert {mark.key for mark in report.page().texts[1].marks} == {"c1", "c2", "c3", "f1"}


def test_a_must_core_does_not_drag_its_details_along() -> None:
    assert "must fact" not in render(report("entailed", "neutral", "neutral").page(), "table")
    assert "1 must fact not kept" in render(report("neutral", "neutral").page(), "table")


def test_marks_of_details_belong_to_the_line_that_shows_them() -> None:
    facts = [
        AtomicFact("f1", "It sank.", Span(0, 8)),
        AtomicFact("f2", "It sank in May.", Span(0, 15), core="f1"),
    ]
    texts = Texts.of("It sank in May.", "It sank.")
    marks = texts.marked(None, [result(f, "neutral") for f in facts], ())[0].marks
    assert [mark.key for mark in marks] == ["f1", "f1"]


def test_documents_are_merged_with_their_groups() -> None:
    documents = [SourceDocument("a", "x"), SourceDocument("b", "y")]
    other = [
        AtomicFact("f1", "The tide turned."),
        AtomicFact("f2", "The tide turned at 5.", core="f1"),
    ]
    merged = merge_documents(documents, [[SANK, IN_MAY], other])
    assert [(fact.id, fact.core) for fact in merged] == [
        ("f1", None), ("f2", "f1"), ("f3", None), ("f4", "f3")]  # fmt: skip


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
        one, two = (scorer.score(SOURCE, summary) for summary in (first, last))
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
    report = score(SOURCE, "The pier is old.", weights="lead")
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
    assert (item.text, list(item.badges)) == (core, ["weight 1 with details"])
    assert "on Monday" in item.aside
