"""Facts refuse what would turn into a wrong number later."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, ScoreSignature, Usage, Verdict, digest


def test_plain_strings_become_numbered_facts() -> None:
    facts = FactSet.of(["A is B.", " C  is\nD. "])
    assert [(fact.id, fact.text) for fact in facts] == [("f1", "A is B."), ("f2", "C is D.")]


@pytest.mark.parametrize("facts", ["A is B.", b"x", {"a": 1}, 7, None, ["ok", 7], ["ok", " "]])
def test_anything_but_a_sequence_of_statements_is_refused(facts: object) -> None:
    with pytest.raises(InputError):
        FactSet.of(facts)  # type: ignore[arg-type]


def test_an_id_used_twice_is_refused() -> None:
    with pytest.raises(InputError, match="two facts have the id 'f1'"):
        FactSet.of([AtomicFact("f1", "A is B."), AtomicFact("f1", "C is D.")])


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_is_no_share_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight"):
        AtomicFact("f1", "A is B.", weight=weight)


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_a_probability_outside_zero_to_one_is_refused(probability: float) -> None:
    with pytest.raises(InputError, match="probability"):
        Verdict(AtomicFact("f1", "A is B."), "neutral", probability)


def test_a_label_outside_the_three_is_refused() -> None:
    with pytest.raises(InputError, match="supported"):
        Verdict(AtomicFact("f1", "A is B."), "supported")  # type: ignore[arg-type]


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=0.25)).cost_usd == 0.75
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=None)).cost_usd is None


@given(st.text())
def test_any_text_has_a_digest(text: str) -> None:
    assert len(digest(text)) == 64


def test_texts_that_differ_in_a_lone_surrogate_differ_in_their_digest() -> None:
    assert digest("a\ud800") != digest("a\ud801")


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_a_signature_parses_back_whatever_it_holds(entries: dict[str, str]) -> None:
    signature = ScoreSignature.of(entries)
    assert ScoreSignature.parse(str(signature)) == signature


def test_model_names_with_colons_and_bars_survive_in_a_signature() -> None:
    line = str(ScoreSignature.of({"judge": "ollama/qwen:7b|q4", "temp": "0"}))
    assert line == "judge:ollama/qwen%3A7b%7Cq4|temp:0"


@pytest.mark.parametrize("line", ["judge", "a:1|a:2", "a:%ff"])
def test_a_line_that_is_no_signature_is_refused(line: str) -> None:
    with pytest.raises(InputError):
        ScoreSignature.parse(line)
