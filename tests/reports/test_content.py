"""What reports say first: numbers, counts, order, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from factcheck.facts import AtomicFact, CheckFailure, Usage
from factcheck.reports import content
from tests.reports.examples import all_groups, both_directions, report_of, verdict


def test_counts_are_of_decided_facts_when_some_are_undecided() -> None:
    """The share and the counts beside it are the same fraction."""
    headline = content.coverage_headline(all_groups())

    assert headline.value == "0.50"
    assert headline.counts == "3 of 6 decided facts kept, 2 undecided"
    assert headline.bounds == "0.38 – 0.62 if every undecided fact were dropped / kept"
    assert headline.interval.startswith("95 % interval 0.")


def test_a_report_without_undecided_facts_has_no_bounds() -> None:
    """Bounds are said only where they say something."""
    fact = AtomicFact("f1", "The lake is deep.")
    headline = content.coverage_headline(report_of(verdict(fact, "entailed")))

    assert headline.value == "1.00"
    assert headline.counts == "1 of 1 fact kept"
    assert not headline.bounds


def test_nothing_decided_is_undecided_and_not_zero() -> None:
    """A report of failures shows no score."""
    fact = AtomicFact("f1", "The lake is deep.")
    headline = content.coverage_headline(report_of(CheckFailure(fact, "missing", "")))

    assert headline.value == "undecided"
    assert headline.counts == "no verdict on any of 1 fact"
    assert not headline.interval


@pytest.mark.parametrize(("weights", "name"), [((1, 1), "Coverage"), ((1, 2), "Weighted coverage")])
def test_a_weighted_score_says_so(weights: tuple[float, ...], name: str) -> None:
    """Coverage is called weighted as soon as a weight is not 1."""
    facts = [AtomicFact(f"f{n}", "Text.", weight=weight) for n, weight in enumerate(weights)]
    report = report_of(*(verdict(fact, "entailed") for fact in facts))

    assert content.coverage_headline(report).name == name


def test_weightless_verdicts_are_explained() -> None:
    """Verdicts without weight give no score, and the headline says why."""
    fact = AtomicFact("f1", "Text.", weight=0.0)
    headline = content.coverage_headline(report_of(verdict(fact, "entailed")))

    assert headline.value == "undecided"
    assert "every decided fact has weight 0" in headline.counts


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1.00"), (0.9999, ">0.99"), (0.0, "0.00"), (0.0001, "<0.01"), (2 / 3, "0.67")],
)
def test_a_score_is_perfect_only_if_it_is(value: float, shown: str) -> None:
    """Rounding never turns an almost into an all or a nothing."""
    assert content.number(value) == shown


def test_bounds_that_differ_look_different() -> None:
    """A third decimal is given where two would hide the difference."""
    assert content.number_range(0.5, 0.502) == "0.500 – 0.502"
    assert content.number_range(0.5, 0.5) == "0.50 – 0.50"


def test_groups_come_in_the_order_of_what_hurts() -> None:
    """Distorted, dropped, undecided, kept; each fact in one of them, in fact order."""
    groups = content.fact_groups(all_groups())

    assert [(group.kind, [r.fact.id for r in group.results]) for group in groups] == [
        ("distorted", ["n3"]),
        ("dropped", ["n1", "n5"]),
        ("undecided", ["n2", "n6"]),
        ("kept", ["n0", "n4", "n7"]),
    ]
    assert len({group.mark for group in groups}) == len(groups)


def test_empty_groups_are_left_out() -> None:
    """A report where all is kept has one group."""
    fact = AtomicFact("f1", "Text.")
    groups = content.fact_groups(report_of(verdict(fact, "entailed")))

    assert [group.kind for group in groups] == ["kept"]


def test_must_facts_not_known_to_be_kept_are_named() -> None:
    """Dropped and undecided `must` facts are lost, kept ones are not."""
    fact = [AtomicFact(f"f{n}", "Text.", must=True) for n in range(3)]
    report = report_of(
        verdict(fact[0], "entailed"),
        verdict(fact[1], "neutral"),
        CheckFailure(fact[2], "missing", ""),
    )

    assert content.lost_musts(report) == "2 must facts not kept: f1, f2"
    assert not content.lost_musts(all_groups())


def test_claims_are_told_by_what_the_source_says() -> None:
    """A claim that the source contradicts has another mark than one it does not mention."""
    report = both_directions()
    faithfulness = content.faithfulness_headline(report)
    superfluous, undecided = content.claim_groups(report)

    assert faithfulness is not None
    assert faithfulness.value == "0.33"
    assert faithfulness.counts == "1 of 3 decided claims supported by the source, 1 undecided"
    assert [content.mark(superfluous, result) for result in superfluous.results] == ["≠", "+"]
    assert [result.fact.text for result in undecided.results] == ["claim-four"]
    assert content.faithfulness_headline(all_groups()) is None


def test_a_quote_that_repeats_the_fact_is_left_out() -> None:
    """Evidence is shown where it adds something."""
    fact = AtomicFact("f1", "The lake is deep.")

    assert not content.notes(verdict(fact, "entailed", "the lake  is deep.")).quote
    assert content.notes(verdict(fact, "entailed", "A deep lake")).quote == "A deep lake"


def test_doubts_about_a_verdict_are_shown() -> None:
    """Flags stand behind the reason."""
    found = verdict(AtomicFact("f1", "Text."), "entailed", reason="said so")

    notes = content.notes(replace(found, flags=("quote_not_found",)))

    assert notes.reason == "said so (quote not found)"


def test_long_quotes_are_cut_after_a_word() -> None:
    """A shortened text has at most the limit's characters and ends in an ellipsis."""
    text = "word " * 100

    short = content.shorten(text.strip())

    assert len(short) <= content.QUOTE_LIMIT
    assert short.endswith("word…")
    assert content.shorten("x" * 500) == "x" * (content.QUOTE_LIMIT - 1) + "…"
    assert content.shorten("brief") == "brief"


def test_control_characters_become_visible() -> None:
    """A fact cannot move the cursor or change a colour."""
    assert content.one_line("a\x1b[31mb\n\tc\x00 \ud800") == "a�[31mb c� �"


@pytest.mark.parametrize(
    ("usage", "line"),
    [
        (Usage(), None),
        (Usage(cache_hits=1), "1 answer from the cache"),
        (
            Usage(calls=2, prompt_tokens=1200, completion_tokens=30, cost_usd=0.00456),
            "2 calls, 1,200 prompt + 30 completion tokens, $0.0046",
        ),
        (
            Usage(calls=1, prompt_tokens=5, completion_tokens=1, cost_usd=None, cache_hits=3),
            "1 call, 5 prompt + 1 completion tokens, cost unknown, 3 answers from the cache",
        ),
    ],
)
def test_usage_is_told_where_there_was_any(usage: Usage, line: str | None) -> None:
    """The footer names calls, tokens and cost; nothing for a judge that costs nothing."""
    report = report_of(verdict(AtomicFact("f1", "Text."), "entailed"), usage=usage)

    assert dict(content.footer(report)).get("Usage") == line
    assert dict(content.footer(report))["Judge"] == "scripted"
