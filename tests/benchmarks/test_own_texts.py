"""The texts that select the embedded judge are what their README says."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.embedded.own_texts import (
    LongPair,
    long_pairs,
    minimal_pairs,
    texts,
)
from factcheck.calibration import Subject

every_text = pytest.mark.parametrize("text", texts(), ids=lambda text: text.name)
every_long_pair = pytest.mark.parametrize("pair", long_pairs(), ids=lambda pair: pair.name)


@every_text
def test_every_text_has_a_source_bullets_and_facts_with_evidence(text: Subject) -> None:
    assert text.language == "en"
    assert 150 <= len(text.source.split()) <= 300
    assert 5 <= len(text.bullets) <= 8
    assert 9 <= len(text.facts) <= 14
    assert [fact.id for fact in text.facts if fact.span is None] == []
    assert len({fact.text for fact in text.facts}) == len(text.facts)


@every_text
def test_bullets_exist_and_none_both_carries_and_distorts_a_fact(text: Subject) -> None:
    for fact in text.facts:
        carriers, distorted = text.carriers[fact.id], text.distorted[fact.id]
        assert carriers | distorted <= set(range(len(text.bullets)))
        assert not carriers & distorted
    assert any(text.carriers.values())
    assert any(text.distorted.values())


def test_there_are_forty_minimal_pairs_of_each_kind_over_twenty_texts() -> None:
    pairs = minimal_pairs()
    kinds = Counter(pair.kind for pair in pairs)
    assert len(kinds) == 9
    assert min(kinds.values()) >= 40
    assert len({text.source for text in texts()} & {pair.premise for pair in pairs}) >= 20
    statements = [side for pair in pairs for side in (pair.entailed, pair.not_entailed)]
    assert len({*statements}) == len(statements)


@every_long_pair
def test_a_long_pair_has_two_summaries_of_like_length_and_opposite_truth(pair: LongPair) -> None:
    assert 700 <= len(pair.source.split()) <= 1000
    assert 15 <= len(pair.facts) <= 20
    assert len(set(pair.facts.values())) == len(pair.facts)
    for summary in (pair.good, pair.lying):
        assert 90 <= len(summary.text.split()) <= 130
        assert summary.entails <= pair.facts.keys()
    assert len(pair.good.entails) >= 12
    assert 1 <= len(pair.lying.entails) <= 3
