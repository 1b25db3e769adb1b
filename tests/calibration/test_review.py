"""Facts for review come in an informative order whose chances are known."""

from __future__ import annotations

import json
import math
import random
import re
from statistics import fmean

import pytest

from factcheck import AtomicFact, CheckFailure
from factcheck.calibration import LabelledPair, review_page
from factcheck.calibration.agreement_labels import Answer
from factcheck.calibration.agreement_metrics import by_document, human_level
from factcheck.calibration.review import draw, render
from factcheck.errors import JudgeError
from factcheck.testing import ScriptedChecker

SURE, UNDECIDED = Answer(entailed=True, probability=0.99), Answer(None)


def rows(n_documents: int, n_facts: int) -> list[LabelledPair]:
    return [
        LabelledPair(f"d{document}", "", f"text {document}", f"fact {document}.{n}")
        for document in range(n_documents)
        for n in range(n_facts)
    ]


def data_of(html: str) -> dict[str, list[dict[str, object]]]:
    found = re.search(r'<script type="application/json" id="data">(.*)</script>', html)
    assert found is not None
    data: dict[str, list[dict[str, object]]] = json.loads(found[1])
    return data


def test_undecided_facts_come_early_and_documents_in_turn() -> None:
    pairs = rows(30, 10)
    answers = [UNDECIDED if n % 10 < 2 else SURE for n in range(300)]
    order = data_of(render(pairs, answers))["facts"]
    undecided = {pair.fact for n, pair in enumerate(pairs) if answers[n] is UNDECIDED}
    for turn in range(10):
        assert len({one["document"] for one in order[30 * turn : 30 * turn + 30]}) == 30
    early = sum(one["fact"] in undecided for one in order[:60])
    assert early > 30  # of 60; at random it would be 12


def test_the_order_is_the_same_in_every_run_and_has_each_fact_once() -> None:
    pairs = rows(3, 4)
    html = render([*pairs, pairs[0]], [SURE] * 13)
    assert html == render([*pairs, pairs[0]], [SURE] * 13)
    assert len(data_of(html)["facts"]) == 12
    assert len(data_of(render(rows(50, 20), [SURE] * 1000))["facts"]) == 400


def test_chances_undo_the_choice_of_facts() -> None:
    """Undecided facts, which people never find, are labelled first: unweighted, they mislead."""
    rng = random.Random(0)
    pairs = rows(400, 20)
    answers = [UNDECIDED if n % 20 < 6 else SURE for n in range(8000)]
    truth = [answer is SURE and rng.random() < 0.8 for answer in answers]
    labels = {pair.fact: label for pair, label in zip(pairs, truth, strict=True)}
    chosen: dict[str, LabelledPair] = {}
    for facts in draw(pairs, answers).values():
        for _, weight, pair in facts[:6]:
            chance = 1 - math.exp(-weight * facts[6].key)
            chosen[pair.fact] = pair._replace(label=labels[pair.fact], chance=chance)
    assert fmean(pair.label is True for pair in chosen.values()) < 0.45
    reviewed = [chosen.get(pair.fact, pair) for pair in pairs]
    level, _, _ = human_level(by_document(reviewed, answers), None, (None, None))
    assert fmean(truth) == pytest.approx(0.56, abs=0.01)
    assert level.value == pytest.approx(fmean(truth), abs=0.025)


def test_a_judge_without_verdicts_makes_no_page() -> None:
    failure = CheckFailure(AtomicFact("f", "any"), "unavailable", "the line is dead")
    with pytest.raises(JudgeError, match="returned no verdicts: the line is dead"):
        review_page(rows(1, 2), ScriptedChecker(lambda *_: failure))
