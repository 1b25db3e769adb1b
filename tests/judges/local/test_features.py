"""What the features see, and that those of the whole text cannot rise by deletion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.differences import Mismatch
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
from factcheck.judges.local.readings import Reading, readings

LINES = (
    "The harbour of Lund was closed in 2019.", "Anna Berg did not visit it.",
    "It cost 12 million euros.", "A discovery was made there.",
)  # fmt: skip


def read(fact: str, sentence: str) -> Reading:
    (found,) = readings(statement(statements(fact, "en")[0]), analyse(sentence, "en"))
    return found


def feature(name: str, fact: str, sentence: str) -> float:
    return read(fact, sentence).features[PASSAGE_FEATURES.index(name)]


def mismatch(fact: str, sentence: str) -> Mismatch | None:
    return read(fact, sentence).mismatch


def test_whole_text_weights_are_not_negative() -> None:
    """The promise about deleting sentences rests on it."""
    weights = load_model().whole_weights[: len(TEXT_FEATURES)]
    assert min(weights) >= 0
    assert max(weights) > 0


def test_the_model_has_a_weight_for_each_feature() -> None:
    model = load_model()
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


@pytest.mark.parametrize(
    ("name", "other", "credit"),
    [
        ("Petersen", "Peterson", 0.8), ("Johanson", "Johansson", 0.8),
        ("Johansson", "Johanson", 0.8), ("Hansen", "Hanson", 0), ("Bodan", "Bdan", 0),
        ("Petersen", "Pitersan", 0), ("Johansson", "Joansonn", 0),
    ],
)  # fmt: skip
def test_one_letter_of_a_long_name_may_be_misspelt(name: str, other: str, credit: float) -> None:
    wanted = statement(statements(f"They met {name}.", "en")[0])
    assert overlap(wanted, analyse(f"They met {other}.", "en")).anywhere == (1, credit)


@pytest.mark.parametrize(
    ("fact", "sentence", "kind"),
    [
        ("The boat sank in 2019.", "The boat sank in 2018.", "number"),
        ("Boats carried 3 dogs and 5 cats.", "Boats carried 5 dogs and 3 cats.", "number"),
        ("The boat of Anna sank.", "The boat of Maria sank.", "name"),
        ("The boat did not sink.", "The boat sank.", "negation"),
        ("The boat sank.", "The boat did not sink.", "negation"),
        ("Anna beat Maria.", "Maria beat Anna.", "order"),
        ("The old boat sank.", "The new boat sank.", "word"),
        ("The boat sank in 2019.", "The boat sank.", "gap"),
    ],
)
def test_mismatches_are_told_apart(fact: str, sentence: str, kind: str) -> None:
    found = mismatch(fact, sentence)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    ("fact", "sentence"),
    [
        ("The boat sank.", "The boat sank, but the ship did not sink far away."),
        ("Anna and Maria won.", "Maria and Anna won."),
        ("Maria was beaten by Anna.", "Anna beat Maria."),
        ("Not only boats sank.", "Boats sank."),
        ("The boat sank in 2019.", "In 2019 the boat sank, and 12 people swam."),
    ],
)
def test_other_differences_are_no_mismatch(fact: str, sentence: str) -> None:
    assert mismatch(fact, sentence) is None
