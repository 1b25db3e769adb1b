"""Sentences: right boundaries, true offsets, nothing lost, and boundaries that stay put."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.sentences import cut_unended, split_passages, split_sentences

PROSE = {
    "titles": "Dr. Olu met Mrs. Kern. ¦They talked.",
    "letters that are no initials": "We chose Option C. ¦It is hepatitis A. ¦He lacks vitamin D.",
    "lower case": "it rained. ¦we left. ¦why? ¦nobody knows",
    "small brand": "He works at eBay. ¦iPads sell well.",
    "ellipsis": "Wait... what? ¦Yes!",
    "words that are no abbreviations": "The goat saw me. ¦Otto said no. ¦She loves art. ¦He left.",
    "German": "Am 3. Mai kostete es z. B. 3,5 Mio. Euro. ¦Dr. Kern zahlte.",
    "French": "M. Roux est parti le 3 mai. ¦Il a dit « Non. » ¦Puis il est revenu.",
    "Spanish": "El Sr. Gil llegó a las 5 p.m. a casa. ¦¿Y ella? ¦¡No!",
    "Chinese": "下雨了。¦他问：“走吗？”¦我们走了！",
    "footnote": "It rained.[12] ¦It stopped.",
    "number inline": "Now 1. ¦Open it. ¦2. Close it.",
}
"""A bar ends each sentence but the last."""


@pytest.mark.parametrize("marked", PROSE.values(), ids=PROSE)
def test_a_sentence_ends_where_a_reader_ends_it(marked: str) -> None:
    found = [sentence.text for sentence in split_sentences(marked.replace("¦", ""))]
    assert found == [piece.strip() for piece in marked.split("¦")]


LAYOUT = {
    "wrapped lines": ("The board of the old\ntown met on Monday in the\nTown Hall. Then\nAnn left.",
        ["The board of the old\ntown met on Monday in the\nTown Hall.", "Then\nAnn left."]),
    "bullets": ("- one\n* two\n• three\n1. four\n2) five\na) six\n- [x] seven",
        ["one", "two", "three", "four", "five", "six", "seven"]),
    "headings": ("# One\nIt rained.\n\nTwo\n---\n**Three**\nWe left.",
        ["One", "It rained.", "Two", "**Three**", "We left."]),
    "table": ("| City | People |\n|---|---:|\n| Ulm | 126 |", ["City | People", "Ulm | 126"]),
    "code": ("Run it.\n```python\nx = 1. + y\n```\nDone.", ["Run it.", "x = 1. + y", "Done."]),
    "quoted lines": ("> It rained and we all\n> went home. Then\n> it stopped.",
        ["It rained and we all\n> went home.", "Then\n> it stopped."]),
    "decoration": ("***\n---\n\n* * *\n...", []),
    "a long line goes on": (
        "The members of the city council and all of their guests met President\nKern. It rained.",
        ["The members of the city council and all of their guests met President\nKern.",
         "It rained."]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LAYOUT.values(), ids=LAYOUT)
def test_lines_and_marks_are_layout(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == expected


PIECES = [
    "It rained. ", "we left! ", "Why? ", '"No." ', "said Dr. Kern ", "in the U.S. ", "3.5 ",
    "e.g. ", "Ulm ", "\n", "\n\n", "- ", "1. ", "# ", "> ", "| a | b |", "```\n", "\r\n", "😀 ",
    "下雨了。", "；", "(see Fig. 3) ", "“Go. ", "Stop.” ", "\ud800 ", "\u2028",
    "a", ".", "*", ":", "---", "\u00a0",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=60)


@given(TEXTS)
def test_sentences_hold_every_word_in_order_where_they_say(text: str) -> None:
    end, outside = 0, list(text)
    for sentence in split_sentences(text):
        assert sentence.span.start >= end
        assert text[sentence.span.start : sentence.span.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        end = sentence.span.end
        outside[sentence.span.start : end] = " " * len(sentence.text)
    letters = [c for c in "".join(outside) if c.isalpha()]
    assert "```" in text or len(letters) <= text.count(")")


WHOLE = [
    "It rained.", "Dr. Kern left!", "She lives in the U.S. now.", "Why did he?", '"No," she said.',
    "He said: “Go. ", "Then stop.”", "It cost 3.5 million (see Fig. 3).", "He lives in the U.S.",
    "Is it? yes.", "iPads sell.", "and so on.", "5 dogs ran.", "The plan B.", "下雨了。", "Wait...",
    "It ends in May.", "He saw me.", 'A "No. 1" hit.', "It is approx. 5.",
    "It ended at 5 p.m.", "'Tis late.", "[1] holds.", "(Not closed.",
    "«Non. »", "It rained.[3]", "no way.",
]  # fmt: skip


@given(st.lists(st.sampled_from(WHOLE), min_size=2, max_size=8), st.data())
def test_deleting_a_sentence_or_a_bullet_leaves_the_others_alone(
    pieces: list[str], data: st.DataObject
) -> None:
    text = " ".join(pieces)
    sentences = split_sentences(text)
    gone = data.draw(st.sampled_from(sentences))
    rest = [sentence.text for sentence in sentences if sentence is not gone]
    shorter = text[: gone.span.start] + text[gone.span.end :]
    assert [sentence.text for sentence in split_sentences(shorter)] == rest
    kept = pieces[1:]
    parts = [sentence.text for piece in kept for sentence in split_sentences(f"- {piece}")]
    bullets = "\n".join(f"- {piece}" for piece in kept)
    assert [sentence.text for sentence in split_sentences(bullets)] == parts


CUT = {
    "country": ("Otto lives in the U.S. ¦The potters work there.", "en"),
    "a wrapped line": (
        "Otto lives far away in the hills of the U.S.\n¦The potters work there.",
        "en",
    ),
    "German": ("Er zahlte 3 Mio. ¦Die Stadt half.", "de"),
    "a name goes on": ("He joined the U.S. Army.", "en"),
    "titles": ("Dr. He met J. The in St. In.", "en"),
    "a caption": ("Anna Kern at the gate of the mill ¦The mayor said it was late.", "en"),
    "a name before": ("Tom Orr arrived in Ulm ¦But he was too late for it.", "en"),
    "a letter": ("The drug was given to people in group A and in group B.", "en"),
    "a title": ("Tom Orr won the race on Push It in May and The Old Mill ran.", "en"),
    "a title behind a preposition": ("She was seen twice in The man of May.", "en"),
    "another language": ("Il a 3 M. The end.", "fr"),
}


@pytest.mark.parametrize(("marked", "language"), CUT.values(), ids=CUT)
def test_a_capital_grammar_word_behind_an_abbreviation_starts_a_sentence(
    marked: str, language: str
) -> None:
    text = marked.replace("¦", "")
    (whole,) = split_sentences(text)
    pieces = cut_unended(whole, language)
    assert [piece.text for piece in pieces] == [part.strip() for part in marked.split("¦")]
    assert [text[slice(*piece.span)] for piece in pieces] == [piece.text for piece in pieces]


def test_marks_without_an_end_are_one_passage() -> None:
    assert len(split_passages("?!" * 100_000)) == 1
    assert len(split_passages("?!" * 50_000 + "a")) == 1


def test_a_sentence_ends_before_any_white_space() -> None:
    text = f"Rome is big.{' ' * 90}Oslo is dry."
    assert len(split_sentences(text)) == len(split_passages(text)) == 2


def test_a_heading_may_have_any_white_space_behind_it() -> None:
    (whole,) = split_sentences(f"Ulm from above the mill and{' ' * 90}The mayor said it was old.")
    assert cut_unended(whole, "en") == (whole,)
