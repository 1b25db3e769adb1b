"""Bullet removal scores every variant with every judge, and stores the rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from factcheck import AtomicFact, Budget, CheckFailure, Evidence, FactCoverage, Verdict
from factcheck.calibration import BulletRemoval, audit_judge, bullet_removal, load_texts
from factcheck.calibration.bullets import variants
from factcheck.errors import Failure, InputError, JudgeUnavailable
from factcheck.facts import Usage
from factcheck.testing import (
    FactModel,
    LocalOpenAIServer,
    ScriptedChecker,
    ScriptedExtractor,
    ScriptedRater,
)

TEXT = {
    "id": "zoo",
    "source": "The zoo has a lion. The zoo has a tiger. The zoo has a bear. The zoo is old.",
    "summary": "- There is a lion.\n- There is a tiger and a bear.\n- It is nice.",
    "facts": ["lion", "tiger", "bear", "old"],
}


FACT = AtomicFact("f", "scripted")


def spotter(failing: Sequence[str] = (), name: str = "spotter") -> ScriptedChecker:
    """Entails a fact if its word stands in the text, and shows where."""

    def said(fact: str, text: str) -> Verdict | CheckFailure:
        if fact in failing and "tiger" in text:
            return CheckFailure(FACT, "unavailable", "the line is dead")
        start = text.find(fact)
        if start < 0:
            return Verdict(FACT, "neutral")
        return Verdict(FACT, "entailed", evidence=Evidence(fact, start, start + len(fact)))

    return ScriptedChecker(said, name=name, usage=Usage(calls=1, attempts=1))


def every(run: BulletRemoval) -> tuple[frozenset[int], ...]:
    (subject,) = run.subjects
    return variants(subject, run.orders[subject.name])


def test_every_variant_is_scored_by_itself_and_asked_for_once() -> None:
    judge = spotter()
    run = bullet_removal([TEXT], {"spotter": judge}, n_random=3)
    assert run.judges == ("spotter", "containment")
    assert run.usage("spotter").calls == len(every(run))
    assert run.usage("containment").calls == 0
    whole, *_ = every(run)
    assert run.row("spotter", "zoo", whole).score == 0.75
    assert run.row("spotter", "zoo", {0, 1}).score == 0.75
    assert run.row("spotter", "zoo", {0}).score == 0.25
    assert run.row("spotter", "zoo", {0}).verdicts == {
        "f1": "entailed", "f2": "neutral", "f3": "neutral", "f4": "neutral",
    }  # fmt: skip
    assert len(every(run)) == len(set(every(run)))
    texts = [run.subjects[0].bullets.kept(kept) for kept in every(run)]
    assert sorted(call.text for call in judge.calls) == sorted(texts)


def test_without_the_truth_bullets_are_what_is_left_and_one_leaves_nothing_to_remove() -> None:
    run = bullet_removal([TEXT], {"spotter": spotter()})
    metrics = run.metrics("spotter")
    assert metrics["kendall"].value is metrics["error"].value is None
    assert metrics["kendall_bullets"].value is not None
    assert list(run.notes()) == []
    short = bullet_removal([{**TEXT, "summary": "- There is a lion."}], {"spotter": spotter()})
    assert {one.value for one in short.metrics("spotter").values()} == {None}
    assert "zoo: only one bullet; there is nothing to remove" in short.notes()


@pytest.mark.parametrize(
    ("texts", "judges", "message"),
    [
        ([{**TEXT, "summary": " "}], ["local"], "blank"),
        ([{**TEXT, "facts": []}], ["local"], "'facts' is empty"),
        ([{**TEXT, "source": " ", "facts": None}], ["local"], "source"),
        ([], ["local"], "no texts"),
        ([TEXT, TEXT], ["local"], "two texts are called 'zoo'"),
        ([TEXT], ["local", "local"], "two judges are called 'local'"),
        ([TEXT], "local", "judges must be a list"),
        ([TEXT], 7, "judges must be a list"),
    ],
)
def test_invalid_input_is_refused(texts: list[Any], judges: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bullet_removal(texts, judges)


def test_a_blank_summary_is_refused_before_anything_is_extracted() -> None:
    extractor = ScriptedExtractor(lambda _: ["A fact."])
    text = {"source": "There is a lion.", "summary": " "}
    with pytest.raises(InputError, match="the summary is blank"):
        bullet_removal([text], ["local"], extractor=extractor)
    with pytest.raises(InputError, match="the summary is blank"):
        audit_judge("local", [text], extractor=extractor)
    assert not extractor.calls


def test_a_judge_that_fails_for_some_facts_is_missing_where_it_failed() -> None:
    run = bullet_removal([TEXT], {"spotter": spotter(failing=["bear"])}, n_random=0)
    row = run.row("spotter", "zoo", {0, 1, 2})
    assert row.score == pytest.approx(2 / 3)
    assert (row.low, row.high) == (0.5, 0.75)
    assert row.verdicts["f3"] == "?unavailable"
    with_tiger = [kept for kept in every(run) if 1 in kept]
    (scores,) = run.scores("spotter")
    points = [point for path in scores.paths for point in path]
    assert sum(point.score is None for point in points) == 4
    (note,) = [note for note in run.notes() if note.startswith("spotter:")]
    assert note.startswith(f"spotter: {len(with_tiger)} of 5 variants lack an answer")
    assert "the line is dead" in note


def test_a_judge_nobody_can_reach_has_no_score_and_keeps_the_others_whole() -> None:
    gone = ScriptedChecker(lambda _fact, _text: JudgeUnavailable("nobody answers"))
    run = bullet_removal([TEXT], {"spotter": spotter(), "gone": gone}, n_random=0)
    row = run.row("gone", "zoo", {0})
    assert (row.score, row.low, row.high) == (None, 0.0, 1.0)
    assert "nobody answers" in row.note
    assert run.metrics("gone")["at_ceiling"].value is None
    assert all(run.row("spotter", "zoo", kept).complete for kept in every(run))


def test_rows_are_saved_and_a_scorer_of_ones_own_is_a_judge(tmp_path: Path) -> None:
    with FactCoverage(spotter(["bear"], name="mine")) as scorer:
        run = bullet_removal([TEXT], [scorer], n_random=1)
    assert run.judges == ("mine", "containment")
    run.save(tmp_path / "run")
    lines = (tmp_path / "run" / "rows.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [row.to_dict() for row in run.rows]


def test_a_rater_is_asked_about_whole_variants_and_put_on_the_same_scale() -> None:
    """One that always says 5 is seen as saturated, and a failed rating is missing."""
    rater = ScriptedRater(lambda _source, summary: 5 if "tiger" in summary else 2)
    always = ScriptedRater(lambda _source, _summary: 5)
    failing = ScriptedRater(lambda _source, _summary: Failure(None, "output", "not a number"))
    raters = {"big": rater, "always": always, "bad": failing}
    run = bullet_removal([TEXT], {"spotter": spotter()}, raters=raters, n_random=0)
    names = ("big (1-5)", "always (1-5)", "bad (1-5)")
    assert run.judges == ("spotter", *names, "containment")
    assert run.row(names[0], "zoo", {0, 1, 2}).score == 1.0
    row = run.row(names[0], "zoo", {0})
    assert (row.score, row.note) == (0.25, "rated 2 of 5")
    assert {call.source for call in rater.calls} == {TEXT["source"]}
    assert len(rater.calls) == len(every(run))
    saturated = run.metrics(names[1])
    assert (saturated["at_ceiling"].value, saturated["kendall_bullets"].value) == (1.0, None)
    assert run.row(names[2], "zoo", {0}).score is None
    assert any("not a number" in note for note in run.notes())


def test_over_http_both_kinds_of_judges_are_paid_for_within_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("FACTCHECK_CACHE", "off")
        run = bullet_removal([TEXT], ["openai/fake"], raters=["openai/fake"], n_random=0)
        budget = Budget(max_calls=2)
        capped = bullet_removal([TEXT], [], raters=["openai/fake"], budget=budget, n_random=0)
    assert run.judges == ("openai/fake", "openai/fake (1-5)", "containment")
    assert run.usage("openai/fake (1-5)").calls == len(every(run))
    assert all(row.complete for row in run.rows)
    assert sum(row.score is not None for row in capped.rows if row.judge != "containment") == 2
    assert capped.usage("openai/fake (1-5)").attempts == 2


def test_verdicts_are_compared_with_the_truth_fact_by_fact() -> None:
    """A generous judge may be right on average and wrong on every fact it is asked about."""
    text = next(text for text in load_texts() if text.name == "news")
    generous = bullet_removal(
        [text], {"yes": ScriptedChecker(lambda _fact, _text: "entailed")}, n_random=0
    )
    metrics = generous.metrics("yes")
    assert metrics["found"].value == metrics["invented"].value == 1.0
    truth = {fact.fact.text: fact.bullets for fact in text.facts}
    unsure = ScriptedChecker(
        lambda fact, _text: "entailed" if truth[fact] else CheckFailure(FACT, "unsure", "")
    )
    metrics = bullet_removal([text], {"unsure": unsure}, n_random=0).metrics("unsure")
    assert (metrics["found"].value, metrics["invented"].value) == (1.0, None)
    exact = ScriptedChecker(
        lambda fact, variant: (
            "entailed"
            if any(text.bullets[bullet] in variant for bullet in truth[fact])
            else "neutral"
        )
    )
    run = bullet_removal([text], {"exact": exact}, n_random=2)
    metrics = run.metrics("exact")
    assert (metrics["found"].value, metrics["invented"].value) == (1.0, 0.0)
    assert metrics["error"].value == pytest.approx(0.0, abs=1e-6)
    assert metrics["kendall"].value == pytest.approx(1.0)
    assert run.metrics("truth")["kendall"].value == pytest.approx(1.0)
