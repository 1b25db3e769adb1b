"""Keys differ where questions differ; a sealed value is taken only if it is whole."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.runtime.cache import JSON, answer_key, entries
from factcheck.runtime.cache.entries import seal, unseal
from tests.runtime.cache.conftest import KEY, OTHER

TEXTS = st.text(st.characters(), max_size=20)
PARTS = st.dictionaries(
    st.sampled_from(["task", "model", "text", "parameters"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=6,
    ).filter(lambda value: value not in (float("inf"), float("-inf"))),
)


def test_a_key_is_the_hash_of_canonical_json() -> None:
    canonical = '{"key_schema":2,"parts":{"fact":"Ä","task":"check"}}'
    assert answer_key(task="check", fact="Ä") == hashlib.sha256(canonical.encode()).hexdigest()


@given(PARTS, PARTS)
def test_other_parts_give_another_key(one: dict[str, Any], two: dict[str, Any]) -> None:
    try:
        first, second = answer_key(**one), answer_key(**two)
    except ValueError:
        return  # an infinity inside a list
    assert len(first) == entries.KEY_DIGITS
    assert (first == second) == (repr(_plain(one)) == repr(_plain(two)))
    assert first == answer_key(**dict(reversed(list(one.items()))))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in sorted(value.items())}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def test_types_and_surrogates_are_told_apart() -> None:
    values: tuple[JSON, ...] = ("1", 1, True, None, "", [], {}, "\U0001f6a2", "\ud83d\udea2")
    assert len({answer_key(part=value) for value in values}) == len(values)


def test_a_new_schema_finds_no_old_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "KEY_SCHEMA", 3)
    assert answer_key(fact="The lake is deep.") != KEY


def test_what_is_not_json_has_no_key() -> None:
    with pytest.raises(TypeError):
        answer_key(part={1, 2})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Out of range"):
        answer_key(part=float("nan"))


@given(TEXTS, st.data())
def test_a_sealed_value_comes_back_unless_a_bit_is_flipped(value: str, data: st.DataObject) -> None:
    sealed = bytearray(seal(KEY, value))
    assert unseal(KEY, bytes(sealed)) == value
    assert unseal(OTHER, bytes(sealed)) is None
    bit = data.draw(st.integers(0, 8 * len(sealed) - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    assert unseal(KEY, bytes(sealed)) is None


@pytest.mark.parametrize("stored", [None, b"", b"short", "text", 7])
def test_what_was_not_sealed_is_refused(stored: object) -> None:
    assert unseal(KEY, stored) is None
