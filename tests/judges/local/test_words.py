"""What counts as the same word, for the embedded judge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.language import guess_language
from factcheck.judges.local.words import words


def stems(text: str, language: str = "en") -> list[str]:
    return [word.stem for word in words(text, language)]


def telling(text: str, language: str = "en") -> set[str]:
    return {word.stem for word in words(text, language) if word.kind != "function"}


@given(st.text(max_size=80), st.sampled_from(["en", "de", "fr", "es", "zh", "xx"]))
def test_words_know_their_places(text: str, language: str) -> None:
    end = 0
    for word in words(text, language):
        assert text[word.start : word.end] == word.text != ""
        assert word.start >= end
        assert word.stem
        assert 0 < word.rarity <= 5
        end = word.end


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200", "1200"), ("twelve", "12"), ("1.5 million", "1500000"), ("1.50", "1.5"),
        ("50%", "50 percent"), ("50 per cent", "50 percent"), ("£3m", "£3 million"),
        ("$2.5bn", "$2,500,000,000"), ("twenty-one", "21"),
        ("two hundred and fifty thousand", "250,000"), ("a dozen", "12"), ("third", "3rd"),
        ("the nineties", "the 1990s"), ("12km", "12 kilometres"), ("May 3, 2021", "2021-05-03"),
        ("3 May 2021", "2021-05-03"), ("3rd of May 2021", "May 3rd 2021"),
        ("January 3, 2021", "3 January 2021"), ("Sept. 9", "9 September"), ("14:30", "2:30 pm"),
        ("5 p.m.", "17:00"), ("12 am", "00:00"), ("10.15 pm", "22:15"), ("12.500", "12,500"),
        ("Houses", "house"), ("went", "go"), ("café", "CAFE\u0301"), ("Anna's boat", "Anna boat"),
        ("O\u2019Neill", "O'Neill"), ("well-known", "well known"),
    ],
)  # fmt: skip
def test_spellings_of_one_thing_are_equal(one: str, other: str) -> None:
    assert telling(one) == telling(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.5", "15"), ("three", "third"), ("-5 degrees", "5 degrees"), ("3 May", "5 March"),
        ("the 1990s", "1990"), ("a wall 3m high", "a wall of £3m"), ("B52", "B53"),
        ("5 am", "5 pm"), ("2:30", "14:30"), ("1.125", "1,125"), ("10:15:30", "10:15"),
    ],
)  # fmt: skip
def test_different_things_stay_apart(one: str, other: str) -> None:
    assert telling(one) != telling(other)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("1.200,5 Euro", "de", "1200.5"), ("1,5 Millionen", "de", "1500000"),
        ("1,5 Mio. Euro", "de", "1500000"), ("14.30 Uhr", "de", "time:14:30"),
        ("14 Uhr", "de", "time:14:00"), ("einundzwanzig Boote", "de", "21"),
        ("1\u202f200 euros", "fr", "1200"), ("le 3 mai", "fr", "month:5"),
        ("El 3 de mayo", "es", "month:5"), ("en août", "fr", "month:8"),
        ("3. März", "de", "month:3"),
    ],
)  # fmt: skip
def test_numbers_follow_the_language(text: str, language: str, expected: str) -> None:
    assert expected in stems(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("She didn't go", "en"), ("She did n't go", "en"), ("She cannot go", "en"),
        ("She never goes", "en"), ("Sie geht nicht", "de"), ("Keine Boote", "de"),
        ("Elle n'est pas là", "fr"), ("No vino nadie", "es"), ("他没有去", "zh"),
    ],
)  # fmt: skip
def test_negations_are_seen(text: str, language: str) -> None:
    assert any(word.kind == "negation" for word in words(text, language))


def test_a_month_of_ambiguous_name_needs_a_hint() -> None:
    assert "month:5" in stems("It ended in May")
    assert "month:5" not in stems("They may march")


def test_capital_letters_mark_names() -> None:
    names = [word.text for word in words("The boat of Anna Berg left. Water came.", "en")]
    marked = [w.text for w in words("The boat of Anna Berg left. Water came.", "en") if w.is_name]
    assert marked == ["Anna", "Berg"]
    assert "Water" in names


def test_rare_words_tell_more() -> None:
    by_text = {word.text: word.rarity for word in words("the house of xylophones", "en")}
    assert by_text["the"] < by_text["house"] < by_text["xylophones"]


def test_scripts_without_spaces_give_characters() -> None:
    assert stems("北京", "zh") == ["北", "京"]


def test_symbols_are_no_content_words_and_units_are_no_numbers() -> None:
    kinds = {word.text: word.kind for word in words("rent | 5 % + $ 3 kiln", "en")}
    assert kinds == {
        "rent": "content", "|": "function", "5": "number", "%": "unit", "+": "function",
        "$": "unit", "3": "number", "kiln": "content",
    }  # fmt: skip


TEXTS = {
    "en": "The bridge was opened by the mayor on Monday, and it is open to all.",
    "de": "Die Brücke wurde am Montag von der Bürgermeisterin eröffnet und ist für alle offen.",
    "fr": "Le pont a été ouvert lundi par la maire de la ville et il est ouvert à tous.",
    "es": "El puente fue abierto el lunes por la alcaldesa de la ciudad y está abierto a todos.",
    "it": "Il ponte è stato aperto lunedì dalla sindaca della città ed è aperto a tutti.",
    "pt": "A ponte foi aberta na segunda-feira pela prefeita da cidade e não é só para carros.",
    "nl": "De brug is maandag door de burgemeester geopend en wordt door het hele dorp gebruikt.",
    "sv": "Bron öppnades på måndagen av borgmästaren och den är öppen för alla som vill gå.",
    "zh": "市长星期一为大桥揭幕。",
    "ja": "市長は月曜日に橋を開通させた。",
    "ko": "시장은 월요일에 다리를 개통했다.",
    "ru": "Мэр открыл мост в понедельник.",
    "ar": "افتتح العمدة الجسر يوم الاثنين.",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items(), ids=TEXTS)
def test_a_sentence_is_enough(language: str, text: str) -> None:
    assert guess_language(text) == guess_language(text.upper()) == language


@pytest.mark.parametrize("text", ["", "  \n", "42 %", "Ulm", "😀", "Python 3.12"])
def test_nothing_to_go_by_is_english(text: str) -> None:
    assert guess_language(text) == "en"


def test_a_foreign_name_does_not_change_the_language() -> None:
    assert guess_language("The city of Beijing (北京) is the capital of China.") == "en"
    assert guess_language("公司 Acme 发布了新产品 Widget。") == "zh"


@given(st.text())
def test_any_text_has_a_language(text: str) -> None:
    language = guess_language(text)
    assert language.islower()
    assert guess_language(text) == language
