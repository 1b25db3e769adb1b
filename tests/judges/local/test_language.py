"""The language of a text is guessed from its script and its common words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.language import guess_language

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
