"""Two runs on the same facts: facts won and lost, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import AtomicFact, CheckFailure, CoverageReport, FactSet, Verdict
from factcheck.calibration import compare_coverage
from factcheck.errors import InputError
from factcheck.facts import ScoreSignature, Usage


def report(labels: str, names: Sequence[str] = ()) -> CoverageReport:
    """A report by one letter for each fact: kept, dropped, distorted (x), undecided (?)."""
    texts = names or [f"fact {n}" for n in range(len(labels))]
    facts = FactSet(tuple(AtomicFact(f"f{n}", text) for n, text in enumerate(texts)))
    results = tuple(
        CheckFailure(fact, "unavailable", "gone")
        if letter == "?"
        else Verdict(fact, {"k": "entailed", "x": "contradicted"}.get(letter, "neutral"))  # type: ignore[arg-type]
        for fact, letter in zip(facts, labels, strict=True)
    )
    return CoverageReport(facts, results, Usage(), ScoreSignature.of({"version": "0"}))


def test_won_and_lost_facts_are_listed() -> None:
    found = compare_coverage([report("kkdx")], [report("kdkk")])
    assert [change.fact for change in found.won] == ["fact 2", "fact 3"]
    assert [change.fact for change in found.lost] == ["fact 1"]
    assert found.won[1].label_a == "contradicted"
    assert (found.n_kept_a, found.n_kept_b, found.by_fact.difference) == (2, 3, 0.25)


@pytest.mark.parametrize(("extra", "p"), [(0, 0.25), (1, 0.375), (2, 0.453125)])
def test_a_step_from_8_to_11_of_15_facts_may_well_be_chance(extra: int, p: float) -> None:
    """From .53 to .73 looks like a leap; on 15 facts of one text it proves nothing."""
    a = report("k" * 8 + "d" * 7)
    b = report("d" * extra + "k" * (8 - extra) + "k" * (3 + extra) + "d" * (4 - extra))
    found = compare_coverage([a], [b])
    assert (found.n_kept_a, found.n_kept_b) == (8, 11)
    assert found.by_fact.p_value == pytest.approx(p)
    low, high = found.by_fact.interval or (0, 0)
    assert low < 0 < high
    assert found.by_document.interval is None


def test_undecided_facts_are_left_out_of_both() -> None:
    found = compare_coverage([report("k?d")], [report("kkk")])
    assert (found.n_facts, found.n_undecided) == (2, 1)
    assert (found.n_kept_a, found.n_kept_b) == (1, 2)


def test_facts_with_the_same_text_are_told_apart_by_their_order() -> None:
    a, b = report("kd", ["same", "same"]), report("kk", ["same", "same"])
    found = compare_coverage([a], [b])
    assert (found.n_facts, found.n_kept_a, found.n_kept_b) == (2, 1, 2)
    assert [change.fact for change in found.won] == ["same"]


def test_what_only_one_run_has_is_counted_and_left_out() -> None:
    a = {"x": report("kd", ["p", "q"]), "y": report("k")}
    b = {"x": report("kk", ["p", "r"]), "z": report("k")}
    found = compare_coverage(a, b)
    assert found.n_facts == 1
    assert found.n_unpaired == 4


def test_documents_have_an_interval_of_their_own() -> None:
    a = {str(n): report("kd") for n in range(12)}
    b = {str(n): report("kk") for n in range(12)}
    found = compare_coverage(a, b)
    assert found.by_document.difference == 0.5
    assert found.by_document.interval == (0.5, 0.5)
    assert found.by_document.p_value == pytest.approx(2 / 2**12)


@given(st.lists(st.tuples(st.sampled_from("kdx?"), st.sampled_from("kdx?")), min_size=1))
def test_the_other_way_round_everything_is_turned(rows: list[tuple[str, str]]) -> None:
    a, b = (report("".join(row[k] for row in rows)) for k in (0, 1))
    try:
        found = compare_coverage([a], [b])
    except InputError:
        assert all("?" in row for row in rows)
        return
    other = compare_coverage([b], [a])
    assert found.by_fact.difference == -other.by_fact.difference
    assert found.by_fact.p_value == other.by_fact.p_value
    assert {change.fact for change in found.won} == {change.fact for change in other.lost}
    assert found.page().value == " \u2192 ".join(reversed(other.page().value.split(" \u2192 ")))


def test_runs_without_a_common_fact_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="share no fact"):
        compare_coverage([report("k", ["p"])], [report("k", ["q"])])
    with pytest.raises(InputError, match="nowhere"):
        compare_coverage(tmp_path / "nowhere.jsonl", [report("k")])
