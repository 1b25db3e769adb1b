"""Bullet removal: summaries are split, every variant scored, and metrics counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import AtomicFact, CheckFailure, Evidence, Verdict
from factcheck.calibration import BulletRemoval, bullet_removal, load_texts
from factcheck.calibration.bullets import variants
from factcheck.calibration.bullets_metrics import TextScores, mean_curve, measure_texts
from factcheck.calibration.texts import removal_orders, split_bullets
from factcheck.errors import InputError
from factcheck.facts import Usage
from factcheck.stats.intervals import wilson
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker

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
    ("function", "arguments", "message"),
    [
        (bullet_removal, [[{**TEXT, "summary": " "}], ["local"]], "blank"),
        (bullet_removal, [[{**TEXT, "source": " ", "facts": None}], ["local"]], "source"),
        (bullet_removal, [[], ["local"]], "no texts"),
        (bullet_removal, [[TEXT, TEXT], ["local"]], "two texts are called 'zoo'"),
        (bullet_removal, [[TEXT], ["local", "local"]], "two judges are called 'local'"),
        (bullet_removal, [[TEXT], "local"], "judges must be a list"),
        *((split_bullets, [summary], "blank") for summary in ("", " \n\t", None, 7)),
        *((removal_orders, [5, n_random], "random orders") for n_random in (-1, 1001, True)),
    ],
)
def test_what_cannot_be_used_is_refused(function: Any, arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)


def test_a_judge_that_fails_for_some_facts_is_missing_where_it_failed() -> None:
    run = bullet_removal([TEXT], {"spotter": spotter(failing=["bear"])}, n_random=0)
    row = run.row("spotter", "zoo", {0, 1, 2})
    assert row.score == pytest.approx(2 / 3)
    assert (row.low, row.high) == (0.5, 0.75)
    assert row.verdicts["f3"] == "?unavailable"
    with_tiger = [kept for kept in every(run) if 1 in kept]
    (scores,) = run.scores("spotter")
    assert sum(np.isnan(path[:, 2]).sum() for path in scores.paths) == 4
    (note,) = [note for note in run.notes() if note.startswith("spotter:")]
    assert note.startswith(f"spotter: {len(with_tiger)} of 5 variants lack an answer")
    assert "the line is dead" in note


@pytest.fixture
def uncached_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("FACTCHECK_CACHE", "off")


@pytest.mark.usefixtures("uncached_key")
def test_a_model_rates_whole_variants_on_the_same_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that always says 5 is seen as saturated, and a failed rating is missing."""
    models = {
        "big": FactModel(rate=lambda _source, summary: 5 if "tiger" in summary else 2),
        "always": FactModel(rate=lambda _source, _summary: 5),
        "bad": FactModel(rate=lambda _source, _summary: "good"),
    }
    raters = [f"openai/{name}" for name in models]
    with LocalOpenAIServer(lambda request: models[request.body["model"]](request)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        run = bullet_removal([TEXT], {"spotter": spotter()}, raters=raters, n_random=0)
        asked = [request.body["model"] for request in server.requests]
    names = [f"{rater} (1-5)" for rater in raters]
    assert run.judges == ("spotter", *names, "containment")
    assert run.row(names[0], "zoo", {0, 1, 2}).score == 1.0
    row = run.row(names[0], "zoo", {0})
    assert (row.score, row.note) == (0.25, "rated 2 of 5")
    assert asked.count("big") == len(every(run))
    saturated = run.metrics(names[1])
    assert (saturated["at_ceiling"].value, saturated["kendall_bullets"].value) == (1.0, None)
    assert run.row(names[2], "zoo", {0}).score is None
    assert any(note.startswith(names[2]) for note in run.notes())


def test_verdicts_are_compared_with_the_truth_fact_by_fact() -> None:
    """A generous judge may be right on average and wrong on every fact it is asked about."""
    text = next(text for text in load_texts() if text.name == "news")
    generous = bullet_removal(
        [text], {"yes": ScriptedChecker(lambda _fact, _text: "entailed")}, n_random=0
    )
    metrics = generous.metrics("yes")
    assert metrics["found"].value == metrics["invented"].value == 1.0
    truth = {fact.text: text.carriers[fact.id] for fact in text.facts}
    unsure = ScriptedChecker(
        lambda fact, _text: "entailed" if truth[fact] else CheckFailure(FACT, "unsure", "")
    )
    metrics = bullet_removal([text], {"unsure": unsure}, n_random=0).metrics("unsure")
    assert (metrics["found"].value, metrics["invented"].value) == (1.0, None)
    exact = ScriptedChecker(
        lambda fact, variant: (
            "entailed"
            if any(text.bullets.texts[bullet] in variant for bullet in truth[fact])
            else "neutral"
        )
    )
    run = bullet_removal([text], {"exact": exact}, n_random=2)
    metrics = run.metrics("exact")
    assert (metrics["found"].value, metrics["invented"].value) == (1.0, 0.0)
    assert metrics["error"].value == pytest.approx(0.0, abs=1e-6)
    assert metrics["kendall"].value == pytest.approx(1.0)


FACTS = [0.8, 0.6, 0.4, 0.2]


def path(scores: Sequence[float | None], facts: Sequence[float | None] | None = None) -> Any:
    """An order in which the score falls like this; the true score, too, or as given."""
    n, facts = len(scores), scores if facts is None else facts
    left = [(n - k) / n for k in range(n)]
    return np.array([left, facts, scores], dtype=float).T


def metrics(*paths: Any) -> dict[str, float | None]:
    return {name: one.value for name, one in measure_texts([TextScores(paths)]).items()}


NO_STEPS = {"rising_steps": 0.0, "unchanged_steps": 0.0}


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (path(FACTS), {"kendall": 1.0, "kendall_bullets": 1.0, "error": 0.0, "full_score": 0.8,
                       "at_ceiling": 0.0, **NO_STEPS}),
        (path([1.0] * 4, FACTS), {"kendall": None, "at_ceiling": 1.0, "unchanged_steps": 1.0,
                                  "error": 0.5}),
        (path([0.5, 0.6, 0.4, 0.4]), {"rising_steps": 1 / 3, "unchanged_steps": 1 / 3}),
        (path([0.9, None, 0.5, 0.4], [0.9, 0.7, 0.5, 0.4]), {"error": 0.0, **NO_STEPS}),
        (path([None, None], [0.5, 0.4]), dict.fromkeys(metrics())),
        (path([0.5, 0.4], [None, None]), {"kendall": None, "error": None, "kendall_bullets": 1.0}),
        (path([0.1 + 0.2, 0.3]), {"unchanged_steps": 1.0}),
    ],
    ids=["truth", "saturated", "rising", "an answer missing", "no answer", "no truth", "rounding"],
)  # fmt: skip
def test_by_hand(order: Any, expected: dict[str, Any]) -> None:
    """A missing answer takes both its steps with it."""
    found = metrics(order)
    for name, value in expected.items():
        assert found[name] == (value if value is None else pytest.approx(value)), name


def test_texts_count_alike_however_many_orders_they_have() -> None:
    texts = [TextScores([path([0.9, 0.5])]), TextScores([path([0.5, 0.5], [0.5, 0.4])] * 5)]
    assert measure_texts(texts)["unchanged_steps"].value == 0.5


def test_few_texts_have_wilsons_interval_for_shares_and_students_for_means() -> None:
    one = TextScores([path([0.9, 0.5])], found=[True, False, False], invented=[False] * 4)
    alone, both = measure_texts([one]), measure_texts([one, one._replace(paths=[path([0.7, 0.5])])])
    assert alone["full_score"].interval is None
    assert both["full_score"].interval == (0.0, 1.0)
    assert both["kendall"].interval == pytest.approx((2 * wilson(1.0, 2).low - 1, 1.0))
    assert alone["found"] == (1 / 3, wilson(1 / 3, 3), "")
    assert both["found"].interval == wilson(1 / 3, 6)
    assert both["invented"].interval == wilson(0.0, 8)
    many = measure_texts([one, one._replace(found=[True, True])] * 6)
    assert many["rising_steps"].interval == wilson(0.0, 12)
    low, high = many["found"].interval or (0, 0)
    assert 0.4 < low < 2 / 3 < high < 0.9


def test_a_curve_has_a_point_for_each_number_of_bullets_that_all_texts_reach() -> None:
    alone = mean_curve([TextScores([path([0.9, 0.6, 0.3])])])
    assert [point.left for point in alone] == pytest.approx([1, 2 / 3, 1 / 3])
    assert [point.score for point in alone] == pytest.approx([0.9, 0.6, 0.3])
    orders = [[path([0.8, 0.4])], [path([0.8, 0.6, 0.4, 0.2])], []]
    points = {round(point.left, 1): point.score for point in mean_curve(map(TextScores, orders))}
    assert min(points) == 0.5
    assert points[1.0] == pytest.approx(0.8)
    assert points[0.5] == pytest.approx(0.4)


LINES = st.sampled_from(
    ["- one", "* two", "  - deep", "1. first", "2) second", "# Head", "Key points:", "plain words.",
     "    goes on", "", "\u2022 dot", "\u2013 dash", "Two. Sentences.", "**Bold**", "-", "\u3002"]
)  # fmt: skip


@given(st.lists(LINES, min_size=1).map("\n".join).filter(str.strip))
def test_the_pieces_are_the_summary(summary: str) -> None:
    bullets = split_bullets(summary)
    assert "".join(bullets.pieces) == summary.strip()
    assert bullets.kept(range(len(bullets))) == summary.strip()


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("- one\n- two", ("- one", "- two")),
        ("\u2022 one\n\u2013 two", ("\u2022 one", "\u2013 two")),
        ("1. one\n2) two\n(3) three", ("1. one", "2) two", "(3) three")),
        ("- one\n  goes on\nand on\n- two", ("- one\n  goes on\nand on", "- two")),
        ("- one\n  - deep\n- two", ("- one", "- deep", "- two")),
        ("- one\n\nA paragraph.", ("- one", "A paragraph.")),
        ("One thing. Mr. Smith did two.", ("One thing.", "Mr. Smith did two.")),
        ("Wrapped\nline. Next.", ("Wrapped\nline.", "Next.")),
    ],
)  # fmt: skip
def test_what_a_bullet_is(summary: str, expected: tuple[str, ...]) -> None:
    assert split_bullets(summary).texts == expected


@pytest.mark.parametrize("heading", ["# Results", "Key points:", "**Results**", "**Results:**"])
def test_headings_stay_whatever_goes(heading: str) -> None:
    bullets = split_bullets(f"{heading}\n- one\n- two")
    assert bullets.texts == ("- one", "- two")
    assert bullets.kept({1}) == f"{heading}\n- two"
    assert bullets.kept(()) == heading


def test_few_bullets_have_few_orders() -> None:
    assert [[*map(set, order)][-1:] for order in removal_orders(2, 5)] == [[{0}], [{1}]]
    assert removal_orders(0, 5) == removal_orders(1, 5) == ()
