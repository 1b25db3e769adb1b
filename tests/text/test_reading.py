"""Words, numbers, units and dates: what is read and means the same."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import factcheck.text
from factcheck.text.dates import Moment, differ, meet
from factcheck.text.numbers import read_digits
from factcheck.text.units import Quantity, agree, comparable, named_units, read
from factcheck.text.words import content_stems, fold_word, guess_language, irregular_forms, words


def quantity(text: str, language: str = "en") -> Quantity:
    (only,) = read(text, language).quantities
    return only


def moment(text: str, language: str = "en") -> Moment:
    (only,) = read(text, language).moments
    return only


def keys(text: str, language: str = "en") -> list[str]:
    found = read(text, language)
    of_moments = [key for each in found.moments for key in each.keys]
    return of_moments + [
        part for each in found.quantities for part in (each.key, *(u.name for u in each.units))
    ]


LANGUAGES = ("en", "de", "fr", "es", "zh", "xx")


@example("<0", "en")
@given(st.text(max_size=80), st.sampled_from(LANGUAGES))
def test_words_and_what_is_read_in_them_know_their_places(text: str, language: str) -> None:
    found = read(text, language)
    end = 0
    for word in found.words:
        assert text[word.start : word.end] == word.text != ""
        assert word.start >= end
        assert word.form
        assert word.stem
        end = word.end
    taken = [(each.first, each.last) for each in found.moments]
    taken += [(each.first, each.last) for each in found.quantities]
    for first, last in taken:
        assert 0 <= first < last <= len(found.words)
    places = sorted(taken)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(places))
    assert all(each.low <= each.high or each.units for each in found.quantities)
    assert all(type(each.value) is float for each in found.quantities)


READINGS: dict[str, list[tuple[str, str]]] = {}
"""Pairs of texts that mean the same, agree, meet or do not, and texts with their language."""
for row in (Path(__file__).parent / "readings.jsonl").read_text("utf-8").splitlines():
    what, first, second = json.loads(row)
    READINGS.setdefault(what, []).append((first, second))
SAME, OTHER = READINGS["same"], READINGS["other"]
AGREE, DISAGREE = READINGS["agree"], READINGS["disagree"]
MEET, DIFFER = READINGS["meet"], READINGS["differ"]


@pytest.mark.parametrize(("one", "other"), SAME + OTHER)
def test_spellings_of_one_thing_are_equal_and_of_two_are_not(one: str, other: str) -> None:
    assert (keys(one) == keys(other)) is ((one, other) in SAME)
    assert keys(one) or (one, other) in OTHER


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("1.200,5 Euro", "de", "1200.5"), ("1,5 Mio. Euro", "de", "1500000"),
        ("14.30 Uhr", "de", "time:14:30"), ("einundzwanzig Boote", "de", "21"),
        ("1\u202f200 euros", "fr", "1200"), ("El 3 de mayo", "es", "month:5"),
        ("en août", "fr", "month:8"),
    ],
)  # fmt: skip
def test_numbers_follow_the_language(text: str, language: str, expected: str) -> None:
    assert expected in keys(text, language)


@pytest.mark.parametrize(
    "text",
    ["", "10.15.30.2", "I may go", "an hour", "They march", "many", "second to none"[7:], "9" * 40],
)
def test_nothing_is_read_where_nothing_is_sure(text: str) -> None:
    assert keys(text) == []


@pytest.mark.parametrize(("one", "other"), AGREE + DISAGREE)
def test_what_can_both_be_true(one: str, other: str) -> None:
    assert agree(quantity(one), quantity(other)) is ((one, other) in AGREE)
    assert agree(quantity(other), quantity(one)) is ((one, other) in AGREE)


def test_rates_and_short_units_are_read_in_running_text() -> None:
    assert agree(quantity("They pay 250 dollars a day."), quantity("$250 per day"))
    assert not comparable(quantity("He works 8 hours a day."), quantity("8 hours"))
    assert agree(quantity("The way is 200 mi long."), quantity("200 miles"))
    assert quantity("17,000 U.S. soldiers came.").units == ()


def test_only_like_is_compared_with_like() -> None:
    assert comparable(quantity("30 days"), quantity("2 hours"))
    assert not comparable(quantity("30 days"), quantity("30 km"))
    assert not comparable(quantity("30 dollars"), quantity("30 euros"))
    assert not comparable(quantity("third"), quantity("3"))
    assert not comparable(quantity("30"), quantity("30 days"))


def test_both_ends_have_the_range_and_the_unit_except_those_of_a_change() -> None:
    low, high = read("It takes 10 to 20 days.", "en").quantities
    assert (low.low, low.high, high.low, high.high) == (10, 20, 10, 20)
    assert [unit.name for unit in low.units] == ["day"]
    assert [each.high for each in read("won 1 and 3 games", "en").quantities] == [1, 3]
    assert quantity("at least 5").high == math.inf
    for change, before, after in (
        ("rose in May from 9 to 11 euros", 9, 11),
        ("fell from 9 days to 7", 9, 7),
    ):
        first, second = read(f"The value {change}.", "en").quantities
        assert (first.low, first.high) == (before, before)
        assert (second.low, second.high) == (after, after)
        assert first.units == second.units != ()


def test_a_separator_is_read_by_the_language() -> None:
    assert read_digits("1.250") == 1250
    assert read_digits("1.255", "de") == 1255
    assert read_digits("1.255") == 1.255
    assert read_digits("1.2.3") is None


@pytest.mark.parametrize(("one", "other"), [*MEET, *DIFFER, ("Monday", "in 1985")])
def test_moments_meet_or_differ_in_a_part_that_both_give(one: str, other: str) -> None:
    assert meet(moment(one), moment(other)) is ((one, other) in MEET)
    assert differ(moment(one), moment(other)) is ((one, other) in DIFFER)


@pytest.mark.parametrize(
    "part",
    ["not ", "1 ", "1,", "a", "A. ", "two thousand ", "May ", "'", "at least ", "-\n", "12 \u202e"],
)
def test_hostile_texts_are_read_whole(part: str) -> None:
    text = part * 3_000
    found = read(text, "en")
    assert all(text[word.start : word.end] == word.text for word in found.words)
    assert len(found.words) in {0, 1, 3_000, 6_000}


def stems(text: str, language: str = "en") -> list[str]:
    return [word.stem for word in words(text, language)]


@given(st.text(max_size=80))
def test_any_text_has_a_language(text: str) -> None:
    assert len(guess_language(text)) == 2


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
        ("went", "goes"), ("children", "child"),
        ("café", "CAFE\u0301"), ("Anna's boat", "Anna boat"), ("O\u2019Neill", "O'Neill"),
        ("cannot go", "not going"), ("won't", "will n't"), ("𝐧𝐨𝐭", "not"),
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
        ("Er hat nicht bezahlt", "function function negation content"),
        ("桥没", "content negation"),
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


@pytest.mark.parametrize(("text", "language"), READINGS["language"])
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mM", "mmol/l"),
        ("°C", "degrees Celsius"),
        ("€", "EUR"),
    ],
)
def test_a_unit_without_a_number_is_read_in_any_notation(one: str, other: str) -> None:
    assert named_units(one) == named_units(other) != frozenset()


def test_capitals_tell_units_apart_and_other_texts_name_none() -> None:
    assert (
        len({named_units(unit) for unit in ("mm", "mM", "Mm", "mW", "MW", "nm", "nM", "Nm")}) == 8
    )
    assert not any(map(named_units, ("", "pump", "5 mg", "mg or so", "two metres", "m" * 50)))
