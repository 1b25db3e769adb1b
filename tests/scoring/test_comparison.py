"""Two reports or runs compared: what was won and lost, and when a build should stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from factcheck import CoverageReport, FactSet, Verdict, compare
from factcheck.documents.results import ResultsFile
from factcheck.errors import InputError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    ScoreSignature,
    Texts,
    Usage,
)
from factcheck.scoring import RunReport
from factcheck.scoring.gates import (
    GateFailure,
    Limits,
    cases_gate,
    comparison_gate,
    coverage_gate,
    failing_facts,
)
from tests.reports.examples import report_of, verdict

MODEL = "judge:some/model|check:v1@aa|version:0.1.0"


def report(
    labels: str, names: Sequence[str] = (), *, text: str | None = None, signature: str = MODEL
) -> CoverageReport:
    """A report by one letter for each fact: kept, dropped, distorted (x), undecided (?)."""
    texts = names or [f"fact {n}" for n in range(len(labels))]
    facts = FactSet(tuple(AtomicFact(f"f{n}", text) for n, text in enumerate(texts)))
    results = tuple(
        CheckFailure(fact, "unavailable", "gone")
        if letter == "?"
        else Verdict(fact, {"k": "entailed", "x": "contradicted"}.get(letter, "neutral"))  # type: ignore[arg-type]
        for fact, letter in zip(facts, labels, strict=True)
    )
    compared = None if text is None else Texts.of("", text)
    made = ScoreSignature.parse(signature)
    return CoverageReport(facts, results, Usage(), made, texts=compared)


def test_every_change_is_listed_once_by_name() -> None:
    found = compare(report("kkkddxx?k"), report("kdxkxkdkk"))
    assert [c.name for c in found.won] == ["fact 3", "fact 5"]
    assert [c.name for c in found.lost] == ["fact 1"]
    assert [c.name for c in found.newly_distorted] == ["fact 2", "fact 4"]
    assert [c.name for c in found.changes_in("Undecided")] == ["fact 7"]
    numbers = {"facts": 8, "kept": (4, 4), "distorted": (2, 2)}
    assert {name: found.counts[name] for name in numbers} == numbers
    rows = found.to_rows()
    assert sorted(row["name"] for row in rows) == [f"fact {n}" for n in range(1, 8)]


def test_another_judge_and_other_facts_are_said_to_be_no_change_of_the_summaries() -> None:
    """Neither says anything about which summary is better, nor how far to trust one judge."""
    local = "judge:local/12@x|version:0.1.0"
    a = report("kkd", ("one", "two", "three"), text="A summary.", signature=local)
    b = report("dddk", ("one", "two", "four", "five"), text="A summary.")
    found = compare(a, b)
    assert found.answer == (
        "No clear difference: B keeps 0 % of the facts, A 100 %, which may be chance. "
        "Only the 2 facts that both have are compared. The summaries are the same."
    )
    left = "left out: 1 fact only in A, 2 facts only in B; score both with the same facts (--facts,"
    assert found.lines[-1].startswith(left)
    assert not found.trust
    other = compare(a, report("dkd", ("one", "two", "three"), text="Another.", signature=local))
    assert "Only" not in other.answer
    assert "the same." not in other.answer
    assert other.trust


def test_many_newly_distorted_facts_are_not_hidden_by_an_insignificant_coverage() -> None:
    """From 20 to 18 of 40 kept may be chance; that 9 facts are now distorted is not."""
    found = compare(report("k" * 20 + "d" * 20), report("k" * 18 + "dd" + "d" * 11 + "x" * 9))
    assert not found.main.is_significant
    assert found.worse == "distorted facts 0 \u2192 9 (9 newly)"
    assert "Distorted 0 \u2192 9: more than chance (p 0.004)." in str(found)
    assert found.answer.endswith("may be chance. 9 facts newly look wrong; check them.")


@pytest.mark.parametrize(("judge", "is_worse"), [("some/model", False), ("local/3", True)])
def test_one_more_distorted_fact_counts_if_no_verdict_flips(judge: str, *, is_worse: bool) -> None:
    signature = f"judge:{judge}|version:0.1.0"
    a, b = (report(labels, signature=signature) for labels in ("kkd", "kkx"))
    found = compare(a, b)
    assert bool(found.worse) is is_worse
    assert ("Distorted 0 \u2192 1: worse, as this judge" in str(found)) is is_worse


def test_churn_among_distorted_facts_does_not_make_a_run_worse() -> None:
    """A rise of their number has to be unlikely by chance, even by a judge that never flips."""
    signature = "judge:local/3|version:0.1.0"

    def runs(*labels: str) -> dict[str, CoverageReport]:
        one = {str(n): report(each, signature=signature) for n, each in enumerate(labels)}
        return {n: replace(r, facts=replace(r.facts, source_digest=n)) for n, r in one.items()}

    churned = compare(runs(*["xddd"] * 8), runs(*["dxdd"] * 8))
    assert (churned.counts["distorted"], len(churned.newly_distorted)) == ((8, 8), 8)
    assert (churned.worse, churned.alerts) == ("", ())
    one_more = compare(runs(*["xddd"] * 8), runs(*["dxdd"] * 7, "dxxd"))
    assert "Distorted 8 \u2192 9: within chance (p 1.000)." in str(one_more)
    assert not one_more.worse
    risen = compare(runs(*["dddd"] * 8), runs(*["dxdd"] * 8))
    assert risen.worse == "distorted facts 0 \u2192 8 (8 newly)"


def sized(score: int, words: int, source: str) -> CoverageReport:
    """A report that keeps some of ten facts in a summary of so many words."""
    one = report("k" * score + "d" * (10 - score), text="word " * words)
    return replace(one, facts=replace(one.facts, source_digest=source))


@pytest.mark.parametrize(
    ("better", "is_explained"),
    [(lambda n: n % 6 + (-1) ** (n // 6), True), (lambda _: 2, False)],
    ids=["all", "none"],
)
def test_a_difference_that_length_explains_is_said_to_be_so(
    better: Callable[[int], int], *, is_explained: bool
) -> None:
    """B is 0 to 50 words longer, and keeps about a fact more for ten words, or two always."""
    a = {str(n): sized(2, 50, str(n)) for n in range(24)}
    b = {str(n): sized(2 + better(n), 50 + 10 * (n % 6), str(n)) for n in range(24)}
    found = compare(a, b)
    assert found.main.is_significant
    assert found.answer.startswith("B keeps more: ")
    assert ("its summaries are longer, which may explain it" in found.answer) is is_explained
    assert "Length: 50 \u2192 75 words on average; at equal length, the difference" in str(found)
    assert found.counts["words"] == (50.0, 75.0)
    shorter = "its summaries are shorter, which may explain it"
    assert (shorter in compare(b, a).answer) is is_explained


def test_too_few_sources_or_lengths_that_differ_alike_explain_nothing() -> None:
    sides = (2, 50), (4, 56), (2, 56), (4, 50)
    runs = [{str(n): sized(k, w, str(n)) for n in range(6)} for k, w in sides]
    few, less = compare(*runs[:2]), compare(*runs[2:])
    assert "Length: 50 \u2192 56 words on average; at least 10 sources are needed" in str(few)
    assert "which may explain it" in few.answer
    assert "explain it" not in less.answer
    alike = [{str(n): sized(k, w, str(n)) for n in range(12)} for k, w in ((2, 50), (6, 90))]
    assert "they differ too much alike to tell what length explains" in str(compare(*alike))
    same = compare(alike[0], {name: sized(6, 50, name) for name in alike[0]})
    assert "Length: 50 \u2192 50 words on average.\n" in str(same)
    assert "explain" not in same.answer
    assert "any difference may be chance" not in str(same)
    two = [{name: run[name] for name in "01"} for run in alike]
    assert "with 2 sources, any difference may be chance; compare at least 6" in str(compare(*two))
    assert "Length" not in str(compare(report("kd"), report("kk")))


def test_facts_without_a_verdict_are_neither_won_nor_lost_and_equal_texts_go_by_order() -> None:
    found = compare(report("k?dkk"), report("kkk?k"))
    assert (found.counts["facts"], found.main.a, found.main.b) == (3, 2 / 3, 1.0)
    assert (len(found.won), len(found.lost), len(found.changes_in("Undecided"))) == (1, 0, 2)
    noisy = compare(report("kk?k", text="same"), report("kkxd", text="same"))
    assert "noise: 1 of 3 facts" in str(noisy)
    a, b = report("kd", ["same", "same"]), report("kk", ["same", "same"])
    assert [change.name for change in compare(a, b).won] == ["same"]


def test_a_judge_that_was_gone_for_half_of_the_facts_lets_nothing_pass() -> None:
    found = compare(report("k" * 12), report("k" * 6 + "?" * 6))
    assert not found.worse
    assert found.no_verdict == "6 facts kept in A undecided in B, 0 kept in B undecided in A"
    failure = comparison_gate(found.worse, found.missing, found.no_verdict)
    assert failure is not None
    assert failure.exit_code == 4
    assert not compare(report("kkkk"), report("kkk?")).no_verdict


def test_sources_are_the_units_of_the_test() -> None:
    """Of twelve records that all lose half of their facts, or one that loses half of twelve."""
    before, after = ({str(n): report(labels) for n in range(12)} for labels in ("kk", "kd"))
    several = compare(before, after)
    assert several.counts["sources"] == 12
    assert several.main.is_significant
    assert several.worse.startswith("coverage 1.000 \u2192 0.500")
    alone = compare(report("kkkk"), report("kkdd"))
    assert (alone.counts["sources"], alone.main.p_value) == (1, 0.5)
    assert not alone.worse


@pytest.mark.parametrize(
    ("b", "cause"),
    [
        ({"text": "new"}, "Changed: the text\n"),
        ({"signature": MODEL.replace("some", "other")}, "judge some/model \u2192 other/model"),
        ({"signature": MODEL.replace("v1@aa", "v2@bb")}, "prompt v1@aa \u2192 v2@bb"),
        ({"names": ["fact 0", "fact 1", "another"]}, "the list of facts"),
        ({"text": None}, "perhaps the text"),
        ({}, "the judge's own noise: 1 of 3 facts"),
    ],
)
def test_the_report_says_why_facts_moved(b: dict[str, str], cause: str) -> None:
    found = compare(report("kkd", text="old"), report("kdd", **{"text": "old", **b}))
    assert cause in str(found)


def test_what_only_one_run_has_is_counted_and_left_out() -> None:
    a = {"x": report("kd", ["p", "q"]), "y": report("k")}
    b = {"x": report("kk", ["p", "r"]), "z": report("k")}
    found = compare(a, b)
    assert (found.counts["facts"], found.counts["only"]) == (1, (1, 1))
    assert found.left_out == {"Only in A": ("y",), "Only in B": ("z",)}


def test_a_comment_of_two_thousand_long_changes_fits_a_pull_request() -> None:
    names = [f"fact {n} " + "is very long " * 400 for n in range(2000)]
    found = compare(report("k" * 2000, names), report("x" * 1000 + "d" * 1000, names))
    text = found.to_markdown()
    assert len(text) < 65_536  # GitHub's limit of a comment
    assert "Newly distorted 1,000" in text
    assert "Lost 1,000" in text


def test_a_run_is_compared_with_a_run_of_the_same_facts(tmp_path: Path) -> None:
    reports = {"a": report("kd"), "b": report("kk")}
    rows = tmp_path / "rows.jsonl"
    with ResultsFile(rows, lambda: "run", resume=False) as file:
        for name, one in reports.items():
            file.append(name, one.to_dict())
        file.append("c", {"error": {"code": "input", "message": "blank"}})
    run = RunReport.read(rows)
    assert compare(run, reports).changes == ()
    assert compare(report("kd"), report("kk")).won[0].record == ""
    with pytest.raises(InputError, match="two of a kind"):
        compare(report("kd"), run)
    with pytest.raises(InputError, match="no decided fact in common"):
        compare(report("k", ["p"]), report("k", ["q"]))


def result(
    number: int, label: EntailmentLabel | None, *, weight: float = 1.0, must: bool = False
) -> CheckResult:
    fact = AtomicFact(f"f{number}", f"Fact {number}.", weight=weight, must=must)
    return verdict(fact, label) if label else CheckFailure(fact, "missing", "")


LOST = "1 must fact not kept: f0"
LOST_TAGGED = verdict(AtomicFact("f0", "The lake is deep.", tags=("must",)), "neutral")
WEIGHTLESS = report_of(result(0, "neutral", weight=0.0))
HALF = report_of(
    *(result(n, "entailed", weight=0.1) for n in (0, 1)), result(2, "neutral", weight=0.2)
)
TWO_OF_THREE = report("kkd")
LOST_MUST = report_of(result(0, "neutral", must=True))
UNDECIDED_MUST = report_of(result(0, None, must=True), result(1, "entailed"))
GATES: list[tuple[CoverageReport, Limits, int, str]] = [
    (TWO_OF_THREE, Limits(0.7), 1, "gate failed: score 0.67 is under 0.7"),
    (TWO_OF_THREE, Limits(0.6667), 1, "gate failed: score 0.66667 is under 0.6667"),
    (HALF, Limits(0.5), 0, ""),
    (HALF, Limits(0.5 + 1e-12), 0, ""),
    (UNDECIDED_MUST, Limits(), 1, f"gate failed: {LOST} (undecided)"),
    (LOST_MUST, Limits(0.5), 1, f"gate failed: {LOST}; score 0.00 is under 0.5"),
    (report_of(LOST_TAGGED), Limits(), 1, f"gate failed: {LOST}"),
    (WEIGHTLESS, Limits(0.0), 4, "no score to compare with 0: no fact with a weight"),
    (WEIGHTLESS, Limits(), 0, ""),
    (report("x"), Limits(max_distorted=0), 1, "1 fact distorted, more than 0"),
    (report("x"), Limits(max_distorted=1), 0, ""),
]


@pytest.mark.parametrize(("report", "limits", "exit_code", "message"), GATES)
def test_a_gate_fails_with_all_its_reasons(
    report: CoverageReport, limits: Limits, exit_code: int, message: str
) -> None:
    """No must fact may be lost, and no limit be exceeded."""
    code, said, _ = coverage_gate(report, limits) or GateFailure(0, "")
    assert code == exit_code
    assert message in said


def test_only_the_facts_that_fail_a_gate_are_listed_with_their_evidence() -> None:
    lost = (result(n, "neutral", must=n == 8) for n in range(2, 9))
    now = report_of(result(0, "entailed"), result(1, "contradicted"), *lost)
    failure = coverage_gate(now, Limits(fail_under=0.5))
    assert failure is not None
    listed = failing_facts(failure)
    assert re.findall(r"f\d", listed) == ["f8", "f1", "f2", "f3", "f4"]
    assert "f1  Fact 1." in listed
    assert "Not kept 8" in listed
    assert "and 3 more facts" in listed
    assert "If a verdict is wrong: reword the fact" in listed
    assert not failing_facts(GateFailure(4, "no score"))


def test_a_mean_of_cases_must_reach_the_threshold_and_cases_without_a_score_never_pass() -> None:
    lost = [("a", "gone")]
    for mean, threshold, errors, code, message in (
        (0.9, 0.9, [], 0, ""),
        (0.9, None, lost, 0, ""),
        (2 / 3, 0.6667, [], 1, "gate failed: mean F1 0.66667 is under 0.6667"),
        (0.9, 0.1, lost, 1, "gate failed: 1 case could not be scored (a: gone)"),
        (None, None, lost, 4, "no case could be scored (a: gone)"),
    ):
        failure = cases_gate("mean F1", mean, threshold, errors)
        assert (failure or GateFailure(0, "")) == GateFailure(code, message)


@pytest.mark.parametrize(("code", "again"), [("unsure", ""), ("unavailable", "; run it again")])
def test_only_what_may_change_is_to_be_run_again(code: str, again: str) -> None:
    failure = coverage_gate(report_of(CheckFailure(result(0, None).fact, code, "why")))

    assert failure is not None
    assert failure.message.endswith(f"no verdict on any fact ({code}: why){again}")
