"""Compound sentences are told one statement at a time, and only where nothing is changed by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.pronouns import with_name
from factcheck.judges.local.statements import is_statement, split_statements
from factcheck.text.blocks import BlockKind

SPLIT = {
    "predicates": (
        "Anna Kern moved to Ulm and joined the guild.",
        ["Anna Kern moved to Ulm.", "Anna Kern joined the guild."],
    ),
    "auxiliaries": (
        "The old mill was sold in 2010 and has been a museum since then.",
        ["The old mill was sold in 2010.", "The old mill has been a museum since then."],
    ),
    "passive twice": (
        "The strip was printed in Rome and was sold in ten countries.",
        ["The strip was printed in Rome.", "The strip was sold in ten countries."],
    ),
    "after birth": (
        "She was born in Ulm and grew up in Bonn.",
        ["She was born in Ulm.", "She grew up in Bonn."],
    ),
    "contrast": (
        "Olu is a left-hander but throws with his right hand.",
        ["Olu is a left-hander.", "Olu throws with his right hand."],
    ),
    "an opening holds for both": (
        "In May 2019, the firm opened a shop and hired a baker.",
        ["In May 2019, the firm opened a shop.", "In May 2019, the firm hired a baker."],
    ),
    "an opening does not hold for later": (
        "In May 2019, the firm opened a shop and later hired a baker.",
        ["In May 2019, the firm opened a shop.", "The firm later hired a baker."],
    ),
    "clauses": (
        "The river rose by two metres, and the town closed the bridge.",
        ["The river rose by two metres.", "The town closed the bridge."],
    ),
    "semicolon": (
        "The river rose by two metres; the town closed the bridge.",
        ["The river rose by two metres.", "The town closed the bridge."],
    ),
    "apposition": (
        "Anna Kern, the mayor of Ulm, opened the bridge.",
        ["Anna Kern is the mayor of Ulm.", "Anna Kern opened the bridge."],
    ),
    "apposition before a report": (
        "Anna Kern, the mayor of Ulm, said the bridge was safe.",
        ["Anna Kern is the mayor of Ulm.", "Anna Kern said the bridge was safe."],
    ),
    "relative clause": (
        "Anna Kern, who lives in Ulm, opened the bridge.",
        ["Anna Kern lives in Ulm.", "Anna Kern opened the bridge."],
    ),
    "relative clause at the end": (
        "He married Eva Orr, who owned a mill.",
        ["He married Eva Orr.", "Eva Orr owned a mill."],
    ),
    "names": (
        "He played for Ajax, the Lions and Porto.",
        ["He played for Ajax.", "He played for the Lions.", "He played for Porto."],
    ),
    "connective": ("However, it rained in Ulm.", ["It rained in Ulm."]),
}


@pytest.mark.parametrize(("sentence", "expected"), SPLIT.values(), ids=SPLIT)
def test_a_compound_sentence_is_told_one_statement_at_a_time(
    sentence: str, expected: list[str]
) -> None:
    assert [statement.text for statement in split_statements(sentence, "en")] == expected


WHOLE = [
    "The minister denied that the bank moved to Ulm and joined the guild.",
    "The minister said the bank moved to Ulm and the guild was closed.",
    "If it rains, the match is moved and the town closes the bridge.",
    "The firm did not open a shop and hired a baker.",
    "Neither the firm nor the guild opened a shop and hired a baker.",
    "The firm may open a shop and has hired a baker.",
    "According to Anna, the firm opened a shop and hired a baker.",
    "The train runs from Ulm to Bonn and back.",
    "Tom and Eva moved to Ulm.",
    "He sold cars and used furniture.",
    "She played the song recorded by Olu and produced by Eva.",
    "The house built in 1990 and renovated in 2000 was sold.",
    "She was born in Ulm and raised in Bonn.",
    "She wrote, sang in, and produced the film.",
    "He praised the woman who sang in Ulm and moved to Bonn.",
    "The talks between the union and the firm were held in Ulm.",
    "The group consists of Ajax, the Lions and Porto.",
    "He won three titles with Ajax, Porto and Lille.",
    "He did not play for Ajax, Porto and Lille.",
    "Anna Kern, Tom Orr, and Eva Olu moved to Ulm.",
    "Anna Kern, who is said to live in Ulm or Bonn, opened the bridge.",
    "The guests came from Ulm, Germany; Lille, France; and Porto, Portugal.",
    '"The firm opened a shop and hired a baker," she said.',
    "He recognised a gap between the hand and the room and this was used.",
    "Did the firm open a shop and hire a baker?",
]


@pytest.mark.parametrize("sentence", WHOLE)
def test_what_could_change_by_a_split_stays_whole(sentence: str) -> None:
    assert [statement.text for statement in split_statements(sentence, "en")] == [sentence]


OTHER_LANGUAGES = {
    "German": (
        "de",
        "Die Stadt liegt an der Donau; sie hat zwei alte Brücken.",
        ["Die Stadt liegt an der Donau", "sie hat zwei alte Brücken."],
    ),
    "German report": ("de", "Er sagte, die Stadt sei alt; sie habe zwei alte Brücken.", None),
    "German and": ("de", "Sie zog nach Ulm und wurde Mitglied der Zunft.", None),
    "Chinese": (
        "zh", "这座城市位于河边；城里有两座古桥。", ["这座城市位于河边", "城里有两座古桥。"],
    ),
    "Chinese report": ("zh", "他说这座城市很老；城里有两座古桥。", None),
    "no table": ("pl", "Miasto leży nad rzeką; ma też dwa stare mosty.", None),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "sentence", "expected"), OTHER_LANGUAGES.values(), ids=OTHER_LANGUAGES
)
def test_other_languages_are_split_at_semicolons_only(
    language: str, sentence: str, expected: list[str] | None
) -> None:
    told = [statement.text for statement in split_statements(sentence, language)]
    assert told == (expected or [sentence])


def test_markdown_is_left_out_of_the_statement() -> None:
    sentence = "The **old** [bridge](https://a.example/b) has *two* `arches`, 2 * 3 m wide."
    (statement,) = split_statements(sentence, "en")
    assert statement.text == "The old bridge has two arches, 2 * 3 m wide."


CLAIMS: dict[str, tuple[str, BlockKind, bool]] = {
    "sentence": ("It rained.", "prose", True),
    "sentence without end": ("The council approved the budget", "prose", True),
    "bullet": ("Price: 20 EUR", "item", True),
    "one word bullet": ("Milk", "item", True),
    "row": ("Ulm | 126000", "row", True),
    "heading": ("The council approved the budget", "heading", False),
    "code": ("x = 1", "code", False),
    "plain title": ("Quarterly Report", "prose", False),
    "question": ("Was the bridge closed?", "prose", False),
    "greeting": ("Hello everyone!", "prose", False),
    "thanks": ("Thank you for reading.", "prose", False),
    "long thanks": (
        "Thanks to a grant of the city the bridge was repaired in 2019.", "prose", True,
    ),
    "lead-in": ("The council decided:", "prose", False),
    "bold lead-in": ("**Costs:**", "item", False),
    "address": ("https://a.example/b", "prose", False),
    "marks": ("... !", "prose", False),
    "one word": ("Yes.", "prose", False),
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "kind", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_only_what_states_something_counts(
    sentence: str, kind: BlockKind, *, expected: bool
) -> None:
    assert is_statement(sentence, kind, "en") is expected


NAMED = {
    "he": ("He moved to Ulm.", "Tom Orr was born in Bonn.", "Tom Orr moved to Ulm."),
    "with a role": (
        "She moved to Ulm.",
        "Dr. Eva Kern is a Dutch lawyer from Bonn.",
        "Dr. Eva Kern moved to Ulm.",
    ),
    "two people": ("He moved to Ulm.", "Tom Orr met Jan Olu in Bonn.", None),
    "an unnamed person": ("He moved to Ulm.", "Tom Orr met the mayor in Bonn.", None),
    "no person first": ("He moved to Ulm.", "In Bonn it rained.", None),
    "it": ("It moved to Ulm.", "Tom Orr was born in Bonn.", None),
    "a name alone": ("He moved to Ulm.", "Acme was founded in Bonn.", None),
}


@pytest.mark.parametrize(("statement", "previous", "expected"), NAMED.values(), ids=NAMED)
def test_a_pronoun_is_resolved_only_if_one_person_can_be_meant(
    statement: str, previous: str, expected: str | None
) -> None:
    assert with_name(statement, previous) == (expected or statement)


WORDS = [
    "Anna Kern,", "the mayor,", "who", "moved", "to", "Ulm", "and", "was", "He", "in", "a", "Ajax,",
    "Porto", "for", "joined", "it", "(two", "2019)", ";", "but", "not", "is", "the", ".", "May",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=20).map(" ".join))
def test_statements_have_text_and_a_passage(sentence: str) -> None:
    for statement in split_statements(sentence, "en"):
        assert statement.text.strip()
        assert 0 <= statement.own.start < statement.own.end <= len(sentence)
