"""What counts as the same word, and in which language a text is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import factcheck.text
from factcheck.text.language import guess_language
from factcheck.text.words import (
    MAX_RARITY,
    content_stems,
    fold_word,
    irregular_forms,
    rarity,
    words,
)

LANGUAGES = ("en", "de", "fr", "es", "zh", "xx")


def stems(text: str, language: str = "en") -> list[str]:
    return [word.stem for word in words(text, language)]


@given(st.text(max_size=80), st.sampled_from(LANGUAGES))
def test_words_know_their_places(text: str, language: str) -> None:
    end = 0
    assert len(guess_language(text)) == 2
    for word in words(text, language):
        assert text[word.start : word.end] == word.text != ""
        assert word.start >= end
        assert word.form
        assert word.stem
        assert 0 < rarity(word.form, language) <= MAX_RARITY
        end = word.end


@given(st.text(max_size=20))
def test_folding_a_folded_word_changes_nothing(word: str) -> None:
    assert fold_word(fold_word(word)) == fold_word(word)


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(LANGUAGES))
def test_another_line_takes_no_content_away(text: str, more: str, language: str) -> None:
    kinds = {word.kind for word in words(text, language)}
    if kinds & {"content", "number"}:
        assert content_stems(text, language) <= content_stems(f"{text}\n{more}", language)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Houses", "house"), ("sold", "selling"), ("went", "goes"), ("children", "child"),
        ("café", "CAFE\u0301"), ("Anna's boat", "Anna boat"), ("O\u2019Neill", "O'Neill"),
        ("well-known", "well known"), ("didn\u2019t", "did n't"), ("cannot go", "not going"),
        ("won't", "will n't"), ("ＦＵＬＬ", "full"), ("𝐧𝐨𝐭", "not"),
    ],
)  # fmt: skip
def test_spellings_of_one_word_are_equal(one: str, other: str) -> None:
    assert stems(one) == stems(other)


@pytest.mark.parametrize(
    "written",
    ["n\u043et", "N\u041eT", "\u039dOT", "no\u0442", "n\u03bft", "n\u200bot", "no\u00adt", "nót"],
)
def test_a_letter_that_looks_like_another_does_not_hide_a_negation(written: str) -> None:
    (word,) = words(written)
    assert (word.form, word.kind) == ("not", "negation")
    assert fold_word("нос") == "нос"  # no Latin letter


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("He did not pay 12km", "function function negation content number content"),
        ("$5 %", "symbol number symbol"),
        ("Er hat nicht bezahlt", "function function negation content"),
        ("桥没", "content negation"),
        ("😀 شَجَرَة", "symbol content"),
    ],
)
def test_kinds(text: str, kinds: str) -> None:
    language = guess_language(text)
    assert [word.kind for word in words(text, language)] == kinds.split()


def test_irregular_forms_lead_to_their_base_and_no_further() -> None:
    forms = irregular_forms()
    assert (forms["sold"], forms["men"]) == ("sell", "man")
    assert "ground" not in forms
    assert not set(forms) & set(forms.values())


def test_the_notice_of_wordnet_lies_beside_its_data() -> None:
    folder = Path(factcheck.text.__path__[0])
    assert "Princeton University" in (folder / "WORDNET.txt").read_text("utf-8")
    pairs = json.loads((folder / "wordnet.json").read_text("utf-8"))["antonyms"]
    assert "acquit convict" in pairs


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"), ("12 km", "en"), ("El Al flies to Los Angeles in nine hours.", "en"),
        ("Die Brücke wurde am Montag gesperrt.", "de"), ("Мост закрыт.", "ru"),
        ("Le siège social de Boeing est au Canada.", "fr"), ("Міст закрито.", "uk"),
        ("El puente fue cerrado por la policía.", "es"), ("پل بسته شد و گفت", "fa"),
        ("Il ponte è stato chiuso dalla polizia.", "it"), ("أغلق الجسر", "ar"),
        ("桥梁于九月关闭。", "zh"), ("橋は九月に閉鎖された。", "ja"),
    ],
)  # fmt: skip
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert guess_language(text) == language
