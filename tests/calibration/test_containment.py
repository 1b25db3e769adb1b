"""Word containment counts words, and nothing else."""

from __future__ import annotations

import pytest

from factcheck import Verdict, check
from factcheck.calibration import WordContainment
from factcheck.errors import InputError


def verdict(fact: str, text: str, threshold: float = 0.6) -> Verdict:
    (result,) = check([fact], text, judge=WordContainment(threshold))
    assert isinstance(result, Verdict)
    return result


def test_the_probability_rises_with_the_share_of_words_found() -> None:
    fact, text = "The fires cost two lives.", "Two people lost their life in the fire."
    assert verdict(fact, text, threshold=3 / 4).probability == 0.5
    found = verdict(fact, text)
    assert 0.5 < (found.probability or 0.0) < (verdict(fact, fact).probability or 0.0)
    assert found.supported
    assert found.reason == "missing: cost"


def test_it_counts_words_without_grammar_order_or_negation() -> None:
    assert verdict("The mayor of the town.", "The roof of the house.").label == "neutral"
    assert verdict("Dogs bite men.", "Men never bite dogs.").supported
    assert verdict("Dogs bite men.", "Men run.").label == "neutral"
    assert verdict("Dogs bite men.", "Men run.", threshold=0.3).label == "entailed"
    assert not verdict("!?", "!?").supported


def test_each_fact_is_read_in_its_own_language() -> None:
    german = "Die Brücken wurden gesperrt."
    (one, other) = check([german, "Bridges closed."], german, judge=WordContainment())
    assert isinstance(one, Verdict)
    assert isinstance(other, Verdict)
    assert (one.supported, other.supported) == (True, False)


def test_it_is_the_judge_local_fast() -> None:
    (result,) = check(["The fires cost two lives."], "A fire cost two lives.", judge="local-fast")
    assert isinstance(result, Verdict)
    assert (result.label, result.judge) == ("entailed", "containment")


def test_a_threshold_out_of_range_is_refused() -> None:
    for threshold in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="threshold"):
            WordContainment(threshold)
