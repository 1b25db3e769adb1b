"""The bundled texts are what they are said to be; word containment counts words only."""

from __future__ import annotations

import pytest

from factcheck import Verdict, check
from factcheck.calibration import (
    Subject,
    WordContainment,
    audit_judge,
    bullet_removal,
    load_texts,
)
from factcheck.errors import InputError

TEXTS = load_texts()
every_text = pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)


@every_text
def test_facts_are_carried_dropped_or_distorted_and_every_bullet_counts(text: Subject) -> None:
    carried = {id_ for id_, bullets in text.carriers.items() if bullets}
    distorted = {id_ for id_, bullets in text.distorted.items() if bullets}
    assert not carried & distorted
    assert 0.5 <= len(carried) / len(text.facts) <= 0.8
    assert 1 <= len(distorted) <= 3
    assert len(text.facts) - len(carried) - len(distorted) >= 3
    spoken = frozenset[int]().union(*text.carriers.values(), *text.distorted.values())
    assert spoken == set(range(len(text.bullets)))
    assert text.facts_left(spoken) == len(carried) / len(text.facts) > 0.0
    assert text.facts_left(()) == 0.0


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
    assert found.reason == "not found: cost"


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


@pytest.mark.parametrize("name", ["FACTCHECK_JUDGE", "FACTCHECK_EXTRACTOR"])
def test_no_model_of_the_environment_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv(name, "openai/gpt-5-nano")
    text = {"source": "It is deep. It is old.", "summary": "- It is deep.\n- It is old."}
    assert bullet_removal([text], ["local-fast"], n_random=0).judges
    assert audit_judge("local-fast", [text], per_rule=1).n_answers


def test_a_text_without_facts_is_named() -> None:
    with pytest.raises(InputError, match="record 2: no facts found in the source"):
        bullet_removal([{"source": one, "summary": "- A."} for one in ("It is old.", "?")])


def test_a_threshold_out_of_range_is_refused() -> None:
    for threshold in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="threshold"):
            WordContainment(threshold)
