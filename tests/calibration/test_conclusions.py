"""Conclusions follow from figures by fixed rules."""

from __future__ import annotations

from factcheck.calibration import conclusions
from factcheck.stats.intervals import Estimate, Interval

SURE = 0.02


def around(value: float | None, half: float = SURE) -> Estimate:
    if value is None:
        return Estimate(None)
    return Estimate(value, Interval(max(0.0, value - half), min(1.0, value + half)))


def bullets(n_texts: int = 12, **changed: float | Estimate | None) -> conclusions.Conclusion:
    """Of a judge that is good at everything but for what is changed."""
    figures: dict[str, float | Estimate | None] = {
        "kendall": 0.95,
        "kendall_bullets": 0.95,
        "rising_steps": 0.01,
        "found": 0.95,
        "invented": 0.03,
        **changed,
    }
    metrics = {
        name: one if isinstance(one, Estimate) else around(one) for name, one in figures.items()
    }
    return conclusions.of_bullets(metrics, n_texts, "12 texts, 300 variants")


def agreement(
    found: float, specificity: float, n_facts: int = 400, half: float = SURE
) -> conclusions.Conclusion:
    metrics = {
        "balanced_accuracy": around((found + specificity) / 2, half),
        "sensitivity": around(found, half),
        "specificity": around(specificity, half),
    }
    return conclusions.of_agreement(metrics, n_facts, 20)


def test_a_judge_that_finds_half_ranks_and_quotes_no_level() -> None:
    found = bullets(found=0.58)

    assert found.uses == {"rank": "yes", "gate": "yes", "level": "no"}
    assert str(found).startswith(
        "Use this judge to rank summaries or as a gate, not to quote a level: "
        "it finds 58 % (56\u201360 %) of the facts that are there, and 3 % (1\u20135 %) of those"
    )
    assert str(found).endswith("(12 texts, 300 variants).")


def test_a_good_judge_may_be_used_for_everything() -> None:
    assert set(bullets().uses.values()) == {"yes"}
    assert set(agreement(0.95, 0.96).uses.values()) == {"yes"}


def test_one_that_says_yes_to_everything_is_good_for_nothing() -> None:
    constant = bullets(kendall=None, kendall_bullets=None, found=1.0, invented=1.0)

    assert str(constant).startswith("Do not use this judge: it finds 100 %")
    assert agreement(1.0, 0.0).uses["rank"] == "no"


def test_one_that_rises_when_text_is_removed_does_not_rank() -> None:
    rising = bullets(rising_steps=0.3)
    assert rising.uses["rank"] == "no"
    assert "rises at 30 % (28\u201332 %) of the removals" in str(rising)


def test_an_interval_across_a_limit_leaves_a_use_open() -> None:
    wide = bullets(found=around(0.93, 0.06))

    assert wide.uses == {"rank": "yes", "gate": "yes", "level": "open"}
    head = (
        "Use this judge to rank summaries or as a gate; too little was measured to use it to quote"
    )
    assert str(wide).startswith(head)
    mixed = bullets(kendall=around(0.8, 0.1), found=0.4)
    assert str(mixed).startswith(
        "Do not use this judge as a gate or to quote a level; too little was measured to use it to "
        "rank summaries: it finds"
    )


def test_few_labels_or_texts_allow_and_exclude_nothing() -> None:
    assert set(bullets(n_texts=9).uses.values()) == {"open"}
    assert str(bullets(n_texts=9)).endswith("; at least 10 texts are needed).")
    assert set(agreement(1.0, 1.0, n_facts=49, half=0.0).uses.values()) == {"open"}
    few = str(agreement(0.2, 0.2, n_facts=10))
    assert few.startswith("Too little was measured")
    assert few.endswith("(10 labelled facts of 20 documents; 50 facts of 10 documents are needed).")


def test_texts_without_known_facts_show_ranking_alone() -> None:
    own = bullets(kendall=None, found=None, invented=None)

    assert own.uses == {"rank": "yes"}
    assert "with the bullets left" in str(own)


def test_without_a_step_or_a_verdict_there_is_no_recommendation() -> None:
    nothing = bullets(rising_steps=None)
    assert str(nothing).startswith("Too little was measured to use this judge to rank summaries:")
    silent = conclusions.of_audit((), 0, 0, is_constant=False)
    assert silent.uses == {"rank": "open"}
    undefined = Estimate(None, why="all labels are equal")
    metrics = dict.fromkeys(("balanced_accuracy", "sensitivity", "specificity"), undefined)
    assert "all labels are equal" in str(conclusions.of_agreement(metrics, 60, 20))


def test_an_audit_excludes_and_a_merge_keeps_the_worst() -> None:
    sound = conclusions.of_audit((), 100, 1, is_constant=False)
    faulty = conclusions.of_audit(("it goes by the words",), 100, 40, is_constant=False)
    constant = conclusions.of_audit(("it says yes",), 100, 40, is_constant=True)

    assert str(sound).startswith("Nothing here speaks against this judge")
    assert str(faulty).startswith("Do not use this judge as a gate: it goes by the words")
    assert str(constant).startswith("Do not use this judge: it says yes")
    assert conclusions.merged([bullets()], sound).uses == bullets().uses
    merged = conclusions.merged([bullets(), agreement(0.7, 0.95)], faulty)
    assert merged.uses == {"rank": "yes", "gate": "no", "level": "no"}
    assert "balanced accuracy .825" in str(merged)
    assert "goes by the words" in str(merged)
