"""The embedded embedder: what it sees, what it does not, and that it is always the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.embedders.local import NAME, SIZE, embed_text
from factcheck.judges.embedders.vectors import direction_of, similarity
from tests.processes import printed_by_python


def alike(one: str, other: str) -> float:
    return similarity(direction_of(embed_text(one)), direction_of(embed_text(other)))


@given(st.text(st.characters(), max_size=40))
def test_a_vector_is_whole_numbers_of_one_size_whatever_the_text(text: str) -> None:
    vector = embed_text(text)
    assert len(vector) == SIZE
    assert all(number.is_integer() for number in vector)
    assert any(vector) == bool(text.strip())


CODE = """
import hashlib
from factcheck.judges.embedders.local import embed_text
print(hashlib.sha256(embed_text("A diver found the crack.").tobytes()).hexdigest()[:16])
"""


def test_a_version_of_the_embedder_stands_for_its_vectors_in_every_process() -> None:
    """Where this fails, vectors have changed: raise the number in `NAME`, too."""
    for seed in "01":
        found = (NAME, printed_by_python(CODE, PYTHONHASHSEED=seed))
        assert found == ("local/2 (lexical)", "9c3cfe41548b9989")


@pytest.mark.parametrize(
    ("text", "nearer", "farther"),
    [
        ("The diver found a crack.", "A crack was found by divers.", "The engineer found a job."),
        ("It cost 1,200 dollars.", "It cost 1200 dollars.", "It cost 1,300 dollars."),
        ("Ships pass the strait.", "The ship passed the strait.", "The strait is deep."),
        ("Dostoevsky", "Dostoyevsky", "Tolstoy"),
        ("He did not pay.", "He never did not pay.", "He paid."),
        ("La grue du port est rouge.", "Les grues du port sont rouges.", "Le port est petit."),
        ("桥梁于九月关闭", "九月桥梁关闭", "学校于三月开放"),
        ("Dogs bite men.", "The dogs bite the men.", "Men bite dogs."),
    ],
)
def test_what_shares_more_of_its_rare_words_is_nearer(text: str, nearer: str, farther: str) -> None:
    assert alike(text, nearer) > alike(text, farther)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I bought meat.", "I bought meat and vegetables in the market."),
        ("Dogs bite men.", "The dogs bite the men."),
        ("Juan can't help me.", "Juan and the boys can't help me."),
    ],
)
def test_a_short_text_is_read_in_the_language_of_a_longer_one(one: str, other: str) -> None:
    """One word that is common elsewhere does not decide; else not even stems would agree."""
    assert alike(one, other) > 0.5
    assert alike("The physician was exhausted.", "A tired doctor.") < 0.1  # synonyms are not seen
