"""Sections cover a long text, overlap a little and do not cut through paragraphs."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.llm.fences import sections
from factcheck.testing import FactModel, parse_prompt
from tests.judges.llm.conftest import MakeSetup

PARAGRAPH = "Mill {0} ground rye. Its owner was miller {0}. The wheel turned until dusk."
PARAGRAPHS = [PARAGRAPH.format(number) for number in range(60)]


@given(st.text(st.sampled_from("ab .\n。"), max_size=400), st.integers(3, 80), st.floats(0.0, 0.49))
def test_sections_cover_the_text_in_order_within_their_size(
    text: str, size: int, share: float
) -> None:
    overlap = int(size * share)
    spans = sections(text, size, overlap)
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    assert all(span.end - span.start <= size for span in spans)
    for one, next_one in pairwise(spans):
        assert one.end - overlap <= next_one.start <= one.end
        assert one.end < next_one.end


def test_cuts_fall_between_paragraphs() -> None:
    text = "\n\n".join(PARAGRAPHS)
    spans = sections(text, 600, 60)
    assert len(spans) > 5
    for span in spans[:-1]:
        assert text[: span.end].endswith("\n\n")


def test_a_paragraph_that_fits_the_overlap_is_whole_in_both_sections() -> None:
    text = "\n\n".join(PARAGRAPHS)
    first, second, *_ = sections(text, 600, 120)
    assert PARAGRAPHS[0] in text[slice(*first)]
    assert text[slice(*second)].startswith("Mill")
    assert second.start < first.end


def test_an_overlap_of_half_a_section_is_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        sections("a b c", 10, 5)


def test_a_long_source_is_extracted_in_sections_and_its_facts_are_not_doubled(
    llm: MakeSetup,
) -> None:
    scorer, server = llm(FactModel())
    extractor = scorer._judges.extractor
    extractor._section = 1_000  # type: ignore[attr-defined]
    text = "\n\n".join(PARAGRAPHS)
    facts = scorer.extract(text)
    assert len(server.requests) > 3
    assert len(facts) == 2 * len(PARAGRAPHS) + 1
    assert [fact.text for fact in facts][:2] == ["Mill 0 ground rye.", "Its owner was miller 0."]
    assert all(fact.span for fact in facts)


def test_a_long_text_is_checked_section_by_section_and_entailed_anywhere_is_entailed(
    llm: MakeSetup,
) -> None:
    scorer, server = llm(FactModel())
    scorer._judges.checker._section = 1_000  # type: ignore[attr-defined]
    text = "\n\n".join(PARAGRAPHS)
    facts = ["Mill 0 ground rye.", "Mill 59 ground rye.", "Mill 60 ground rye."]
    first, last, absent = scorer.check(facts, text)
    assert [first.label, last.label, absent.label] == ["entailed", "entailed", "neutral"]  # type: ignore[union-attr]
    assert last.evidence  # type: ignore[union-attr]
    assert text[last.evidence.start : last.evidence.end] == "Mill 59 ground rye."  # type: ignore[union-attr]
    asked = [len(parse_prompt(request.body).facts) for request in server.requests]
    assert asked[0] == 3
    assert set(asked[1:]) == {2}
