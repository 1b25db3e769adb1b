"""What the features see, and that those of the whole text cannot rise by deletion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.features import (
    FACT_FEATURES,
    PASSAGE_FEATURES,
    TEXT_FEATURES,
    overlap,
    statement,
    text_features,
)
from factcheck.judges.local.model import load_model
from factcheck.judges.local.passages import analyse, statements
from factcheck.judges.local.readings import readings

LINES = (
    "The harbour of Lund was closed in 2019.", "Anna Berg did not visit it.",
    "It cost 12 million euros.", "A discovery was made there.",
)  # fmt: skip


def feature(name: str, fact: str, sentence: str) -> float:
    (found,) = readings(statement(statements(fact, "en")[0]), analyse(sentence, "en"))
    return found.features[PASSAGE_FEATURES.index(name)]


def test_each_feature_has_a_weight_and_those_of_the_whole_text_are_not_negative() -> None:
    """The promise about deleting sentences rests on it."""
    model = load_model()
    assert min(model.whole_weights[: len(TEXT_FEATURES)]) >= 0
    assert max(model.whole_weights[: len(TEXT_FEATURES)]) > 0
    assert len(model.passage_weights) == len(PASSAGE_FEATURES)
    assert len(model.whole_weights) == len(TEXT_FEATURES) + len(FACT_FEATURES)


@given(st.sets(st.integers(0, len(LINES) - 1), min_size=1), st.integers(0, len(LINES) - 1))
def test_whole_text_features_never_rise_by_deletion(kept: set[int], dropped: int) -> None:
    wanted = statement(statements("Anna Berg discovered Lund for 12 million euros.", "en")[0])

    def features(lines: set[int]) -> tuple[float, ...]:
        text = analyse(" ".join(LINES[k] for k in sorted(lines)), "en")
        return text_features(wanted, overlap(wanted, text).anywhere)

    fewer = features(kept - {dropped})
    assert all(few <= many for few, many in zip(fewer, features(kept), strict=True))


def test_coverage_counts_rare_words_more() -> None:
    sentence = "The xylophone broke."
    assert feature("coverage", "The xylophone broke.", sentence) == pytest.approx(1)
    assert feature("coverage", "Many xylophones came.", sentence) > feature(
        "plain_coverage", "Many xylophones came.", sentence
    )


def test_a_related_form_counts_for_less() -> None:
    exact = feature("plain_coverage", "discovery", "A discovery.")
    related = feature("plain_coverage", "It was discovered in Lund.", "A discovery in Lund.")
    assert 0.5 < related < exact == 1
