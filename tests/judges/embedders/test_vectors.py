"""Vectors, and the embedded embedder: what it sees, and that it stays the same."""

from __future__ import annotations

import base64
import math
import struct
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import JudgeOutputError
from factcheck.judges.embedders.local import NAME, SIZE, embed_text
from factcheck.judges.embedders.vectors import direction_of, packed, similarity, single_precision
from tests.processes import printed_by_python

numbers = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(width=32, allow_nan=False, allow_infinity=False)
whole = st.lists(st.integers(-(2**40), 2**40).map(float), min_size=3, max_size=3).filter(any)


@st.composite
def pairs_of_vectors(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    size = draw(st.integers(1, 8))
    vectors = st.lists(numbers, min_size=size, max_size=size).filter(any)
    return draw(vectors), draw(vectors)


def cosine(one: Any, other: Any) -> float:
    return similarity(direction_of(one), direction_of(other))


@given(pairs_of_vectors())
def test_similarity_is_symmetric_and_within_bounds(pair: tuple[list[float], list[float]]) -> None:
    one, other = pair
    assert 0.0 <= cosine(one, other) <= 1.0
    assert cosine(one, other) == cosine(other, one)
    assert cosine(one, one) == 1.0


@given(whole, whole, st.integers(-900, 900))
def test_only_the_direction_counts(one: list[float], other: list[float], power: int) -> None:
    """Doubling and halving are exact here, so the result is equal to the last bit."""
    longer = [math.ldexp(x, power) for x in one]
    assert cosine(longer, other) == cosine(one, other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 0], [1, 0], 1.0), ([1, 0], [0, 1], 0.0), ([1, 1], [1, 0], 0.707107),
        ([3, 4], [4, 3], 0.96), ([1e308, 1e308], [1e308, 1e308], 1.0),
        ([5e-324, 0], [5e-324, 5e-324], 0.707107), ([1.0, 0.2], [-1.0, 0.1], 0.0),
        ((1.0, 2.0), array("f", [1, 2]), 1.0),
        (np.array([1, 2], dtype=np.float16), np.array([1, 2]), 1.0),
    ],
)  # fmt: skip
def test_the_similarity_is_the_cosine_whatever_holds_the_numbers(
    one: Any, other: Any, expected: float
) -> None:
    assert cosine(one, other) == expected


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ([], "empty"), ([0.0, -0.0], "all zero"), ([1.0, math.nan], "NaN or infinity"),
        ([1.0, math.inf], "NaN or infinity"), ([[1.0, 2.0]], "flat list of numbers"),
        (["1.0", "2.0"], "flat list of numbers"), ([True, False], "flat list of numbers"),
        ([1.0, None], "flat list of numbers"), ([1.0, 1j], "flat list of numbers"),
        (1.0, "flat list of numbers"), (None, "flat list of numbers"),
        ({"a": 1.0}, "flat list of numbers"), ([[1.0], [1.0, 2.0]], "cannot be read"),
    ],
)  # fmt: skip
def test_what_points_nowhere_is_an_error(vector: Any, says: str) -> None:
    with pytest.raises(JudgeOutputError, match=says):
        direction_of(vector)


def test_vectors_of_different_length_are_not_compared() -> None:
    with pytest.raises(JudgeOutputError, match="vectors of 2 and 3 numbers cannot be compared"):
        cosine([1.0, 2.0, 3.0], [1.0, 2.0])


@given(st.lists(singles, min_size=1, max_size=20).filter(any))
def test_a_packed_vector_comes_back_as_it_was_and_so_does_a_list(vector: list[float]) -> None:
    assert list(single_precision(packed(vector))) == vector
    assert list(single_precision(vector)) == vector


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (None, "list of numbers, or base64"), ({"0": 1.0}, "list of numbers, or base64"),
        ([1.0, "2.0"], "list of numbers, or base64"), ([1.0, True], "list of numbers, or base64"),
        ([], "empty"), ("", "empty"), ("AAAA", "not base64 of 4-byte numbers"),
        ("no base64!", "not base64 of 4-byte numbers"), ([1.0, math.nan], "NaN or infinity"),
        ([1.0, 1e39], "NaN or infinity|beyond single precision"),
        ([1, 10**400], "beyond single precision"), ([1e-60, 0.0], "all zero"),
        (base64.b64encode(struct.pack("<2f", math.inf, 1.0)).decode(), "NaN or infinity"),
    ],
)  # fmt: skip
def test_what_a_server_sends_is_a_vector_or_an_error(sent: Any, says: str) -> None:
    with pytest.raises(JudgeOutputError, match=says):
        single_precision(sent)


def alike(one: str, other: str) -> float:
    return cosine(embed_text(one), embed_text(other))


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
