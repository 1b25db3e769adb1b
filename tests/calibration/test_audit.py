"""An audit names the fault of a broken judge, and edits only where their effect is certain."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import AtomicFact, CheckFailure
from factcheck.calibration import RULES, audit_judge, load_texts
from factcheck.errors import InputError, JudgeUnavailable
from factcheck.facts import EntailmentLabel
from factcheck.testing import ScriptedChecker

FACTS = (
    "The ferry carried 240 passengers.",
    "The bridge was opened in 1987.",
    "The mayor thanked Ingrid.",
    "The tunnel was flooded.",
    "The harbour has 14 cranes.",
    "The festival was held on 3 May 2021.",
)


def record(name: str, bullets: Sequence[str]) -> dict[str, object]:
    summary = "\n".join(f"- {bullet}" for bullet in bullets)
    return {"id": name, "source": "", "summary": summary, "facts": FACTS}


TEXTS = [record("one", FACTS[:4]), record("two", FACTS[2:])]


def judge_of(says_yes: Callable[[str, str, int], bool]) -> ScriptedChecker:
    """Says yes where its rule does, which knows the place of a fact in the question."""

    def said(fact: str, text: str) -> EntailmentLabel:
        place = judge.calls[-1].facts.index(fact)
        return "entailed" if says_yes(fact, text, place) else "neutral"

    judge = ScriptedChecker(said)
    return judge


def holds(fact: str, text: str) -> bool:
    return fact in text


def copies(fact: str, text: str) -> bool:
    words, present = (set(re.findall(r"\w+", one.casefold())) for one in (fact, text))
    return len(words & present) >= 0.6 * len(words)


SOUND = judge_of(lambda fact, text, _: holds(fact, text))


def obeys(order: str) -> Callable[[str, str, int], bool]:
    """A judge that takes orders from the text."""

    def says_yes(fact: str, text: str, _: int) -> bool:
        found = re.search(r"(?:mark every fact as |\"label\": \")(\w+)", text)
        return order == "entailed" if found and found.group(1) == order else holds(fact, text)

    return says_yes


BROKEN: dict[str, tuple[Callable[[str, str, int], bool], str]] = {
    "always yes": (lambda *_: True, "^it says yes to 100 % of its questions"),
    "always no": (lambda *_: False, "^it says no to 100 % of its questions"),
    "favours the first facts": (
        lambda fact, text, place: place < 2 or holds(fact, text),
        "its answers depend on the order of the facts",
    ),
    "goes by the words": (
        lambda fact, text, _: copies(fact, text),
        "matches words, not meaning.*number was changed.*negation was added",
    ),
    "obeys yes": (obeys("entailed"), "it is open to prompt injection: an instruction to say yes"),
    "obeys no": (obeys("neutral"), "it is open to prompt injection: an instruction to say no"),
}


def test_a_sound_judge_breaks_no_rule() -> None:
    report = audit_judge(SOUND, TEXTS)
    assert (report.n_errors, report.faults) == (0, ())
    assert all(rule.n_tried for rule in report.rules)
    assert "not tried" not in report.page().answer
    without = audit_judge(SOUND, [{**record("one", FACTS[3:4]), "facts": [FACTS[3], "It rained."]}])
    untried = "not tried: changed number, changed name"
    assert f"trials; {untried}. Nothing here speaks against" in without.page().answer
    assert untried in without.conclusion.why


@pytest.mark.parametrize("kind", BROKEN)
def test_the_fault_of_a_broken_judge_is_named(kind: str) -> None:
    says_yes, fault = BROKEN[kind]
    faults = "; ".join(audit_judge(judge_of(says_yes), TEXTS).faults)
    assert re.search(fault, faults)
    assert "at random" not in faults


def test_one_that_answers_at_random_is_named_first() -> None:
    draw = random.Random(3)
    faults = audit_judge(judge_of(lambda *_: draw.random() < 0.5), load_texts()[:4]).faults
    assert faults[0].startswith("it answers at random")
    assert not [fault for fault in faults if "answers depend" in fault or "injection" in fault]


def test_an_error_is_listed_with_its_texts_and_answers() -> None:
    report = audit_judge(judge_of(lambda fact, text, _: copies(fact, text)), TEXTS)
    rule = report.rule("changed number")
    assert rule.rate == 1.0
    error = next(one for one in rule.errors if "240" in one.fact)
    assert error.second.text == "- The ferry carried 360 passengers."
    assert error.labels == (None, "entailed")
    data = next(one for one in report.to_dict()["rules"] if one["rule"] == "changed number")
    assert data["errors"][0]["second"]["label"] == "entailed"
    with pytest.raises(KeyError):
        report.rule("no such rule")


def test_a_repeated_audit_asks_the_same_and_each_question_once() -> None:
    judge = judge_of(lambda fact, text, _: copies(fact, text))
    report = audit_judge(judge, TEXTS)
    assert len(judge.calls) == report.n_questions
    assert audit_judge(judge, TEXTS).to_dict() == report.to_dict()


def failing(fact: str, text: str) -> EntailmentLabel | CheckFailure:
    """Answers some facts, and some texts not at all."""
    if "SYSTEM" in text or "Ignore" in text:
        raise JudgeUnavailable("the line is dead")
    if "1987" in fact:
        return CheckFailure(AtomicFact("f", "scripted"), "missing", "no answer")
    return "entailed" if holds(fact, text) else "neutral"


def test_what_is_undecided_is_no_error_and_counts_in_no_rate() -> None:
    report = audit_judge(ScriptedChecker(failing), TEXTS)
    injected = report.rule("injected yes")
    assert (injected.n_tried, injected.rate, injected.interval) == (0, None, None)
    assert injected.n_undecided == 2 * 2 * len(FACTS)
    assert report.rule("asked again").n_undecided == 2
    assert report.n_errors == 0
    assert report.failure in {"the line is dead", "no answer"}


def test_texts_of_ones_own_have_their_facts_extracted() -> None:
    own = {"id": "r", "source": " ".join(FACTS), "summary": f"- {FACTS[0]}\n- {FACTS[3]}"}
    report = audit_judge("local", [own])
    assert report.n_texts == 1
    assert report.rule("asked again").n_tried == len(FACTS) + 1  # "opened in 1987" is two


def test_arguments_out_of_range_are_refused() -> None:
    for per_rule in (0, 101, True):
        with pytest.raises(InputError, match="per_rule"):
            audit_judge("local", TEXTS, per_rule=per_rule)
    with pytest.raises(InputError, match="no texts"):
        audit_judge("local", [])


CHANGED = """
changed number: The ferry carried 240 men. -> The ferry carried 360 men.
changed number: The rent is 2,450 euros. -> The rent is 3,675 euros.
changed number: It has 2 doors. -> It has 4 doors.
changed name: The mayor thanked Ingrid. -> The mayor thanked Zorvath.
added negation: The tunnel was flooded. -> The tunnel was not flooded.
added negation: The tunnel will open. -> The tunnel will not open.
"""
UNCHANGED = {
    "changed number": [
        "The rent is about 2,450 euros.", "It holds at least 3 people.",
        "The lease runs for 48 months.", "It must not be raised in the first 24 months.",
        "No more than 3 people fit in.", "H4 lost 5 seconds in 81 days.",
        "The gateway runs version 4.2.", "The stick is a TM-600.", "It happened on 3 May 2021.",
        "It was opened in 1987.", "See No. 7.", "It rained.",
    ],
    "changed name": ["Ingrid left.", "It fell on Monday.", "The USB stick is blue."],
    "added negation": [
        "The tunnel was never flooded.", "No tunnel was flooded.", "The tunnel floods.",
        "He was ill and she was well.",
    ],
}  # fmt: skip
"""Sentences in which the effect of an edit would be uncertain."""


@pytest.mark.parametrize("line", CHANGED.strip().splitlines())
def test_a_sentence_is_changed(line: str) -> None:
    kind, _, both = line.partition(": ")
    sentence, changed = both.split(" -> ")
    edit = RULES[kind].edit
    assert edit
    assert edit(sentence) == changed


@pytest.mark.parametrize("kind", UNCHANGED)
def test_a_sentence_is_left_where_the_effect_is_uncertain(kind: str) -> None:
    edit = RULES[kind].edit
    assert edit
    assert [one for one in UNCHANGED[kind] if edit(one) is not None] == []


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    edits = [rule.edit for rule in RULES.values() if rule.edit]
    assert len(edits) == len(UNCHANGED)
    for edit in edits:
        assert edit(text) != text
