"""Hypothesis strategies for keywords, texts and cards: few letters, so that keywords do occur."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.keywords.naive import Card, Wanted

LETTERS = "abcdeé可以拒绝罚款\U0001f600\u0301 "
texts = st.text(LETTERS, max_size=25)
keywords = st.text(LETTERS, min_size=1, max_size=3)
keyword_lists = st.lists(keywords, max_size=5)
any_text = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=12)
"""Any code points at all: controls, non-characters, halves of surrogate pairs."""
types = st.sampled_from([None, "qa", "cloze"])
wanted_cards = st.builds(Wanted, keyword_lists, keyword_lists, types)
cards = st.builds(Card, texts, texts, types)
thresholds = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0])


@st.composite
def texts_with(draw: st.DrawFn, words: list[str]) -> str:
    """A text that is made of some words, cut and joined in any way."""
    parts = st.one_of(st.sampled_from(words), texts) if words else texts
    text = "".join(draw(st.lists(parts, max_size=6)))
    start = draw(st.integers(0, min(2, len(text))))
    return text[start:]
