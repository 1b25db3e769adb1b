"""The embedded embedder: what it sees, what it does not, and that it is always the same."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.embedders.local import NAME, SIZE, embed_text
from factcheck.judges.embedders.vectors import direction_of, similarity
from tests.processes import printed_by_python
from tests.strategies import prose

TEXTS = (
    "The crack was found by a diver in September 2023.",
    "Die Brücke wurde am 12. April gesperrt.",
    "桥梁于九月关闭。",
    "1,200 tonnes",
    "!?",
)
CODE = f"""
import hashlib
from factcheck.judges.embedders.local import embed_text
print(hashlib.sha256(b"".join(embed_text(text).tobytes() for text in {TEXTS!r})).hexdigest())
"""


def alike(one: str, other: str) -> float:
    return similarity(direction_of(embed_text(one)), direction_of(embed_text(other)))


@given(prose, prose)
def test_any_two_texts_have_a_similarity_with_its_laws(one: str, other: str) -> None:
    assert 0.0 <= alike(one, other) <= 1.0
    assert alike(one, other) == alike(other, one)
    assert alike(one, one) == 1.0


@given(st.text(st.characters(), max_size=40))
def test_a_vector_is_whole_numbers_of_one_size_whatever_the_text(text: str) -> None:
    vector = embed_text(text)
    assert len(vector) == SIZE
    assert all(number.is_integer() for number in vector)
    assert any(vector) == bool(text.strip())


def test_the_same_text_gives_the_same_bytes_in_every_process() -> None:
    here = hashlib.sha256(b"".join(embed_text(text).tobytes() for text in TEXTS)).hexdigest()
    for seed in "01":
        assert printed_by_python(CODE, PYTHONHASHSEED=seed) == here


def test_a_version_of_the_embedder_stands_for_its_vectors() -> None:
    """Where this fails, vectors have changed: raise the number in `NAME`, too."""
    digest = hashlib.sha256(embed_text("A diver found the crack.").tobytes()).hexdigest()
    assert (NAME, digest[:16]) == ("local/2 (lexical)", "9c3cfe41548b9989")


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


def test_it_needs_neither_network_client_nor_model_library() -> None:
    heavy = ("dspy", "openai", "litellm", "numpy", "scipy", "torch", "requests", "httpx")
    code = (
        "import sys; from factcheck.judges.embedders.local import embed_text; "
        "embed_text('It rained.');"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )

    assert printed_by_python(code) == "[]"
