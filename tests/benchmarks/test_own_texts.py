"""The texts that select the built-in judge are what their README says."""

from __future__ import annotations

from statistics import fmean

import pytest

from benchmarks.embedded.own_texts import copied, texts
from factcheck.calibration import BundledText

every_text = pytest.mark.parametrize("text", texts(), ids=lambda text: text.name)


@every_text
def test_every_text_has_a_source_bullets_and_facts_with_evidence(text: BundledText) -> None:
    assert text.language == "en"
    assert 150 <= len(text.source.split()) <= 300
    assert 5 <= len(text.bullets) <= 8
    assert 9 <= len(text.facts) <= 14
    assert [fact.fact.id for fact in text.facts if fact.fact.span is None] == []
    assert len({fact.fact.id for fact in text.facts}) == len(text.facts)
    assert len({fact.fact.text for fact in text.facts}) == len(text.facts)


@every_text
def test_bullets_exist_and_none_both_carries_and_distorts_a_fact(text: BundledText) -> None:
    for fact in text.facts:
        assert fact.bullets | fact.distorted_by <= set(range(len(text.bullets)))
        assert not fact.bullets & fact.distorted_by
    assert any(fact.bullets for fact in text.facts)
    assert any(fact.distorted_by for fact in text.facts)


def test_the_texts_differ_in_kind_and_the_bullets_paraphrase() -> None:
    assert len({text.field for text in texts()}) == len(texts())
    assert fmean(share for text in texts() for share in copied(text)) <= 1 / 3
