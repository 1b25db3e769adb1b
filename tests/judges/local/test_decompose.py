"""Sentences are told one statement at a time, and only where nothing is changed by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.judges.local.clauses import ParsedSentence
from factcheck.judges.local.pronouns import Mentions
from factcheck.text.syntax import Token, parse
from factcheck.text.words import word_set


def told(sentence: str) -> list[str]:
    return [s.text for s in ParsedSentence(sentence, parse(sentence)).statements()]


SPLIT = {
    "predicates": ("Anna Kern moved to Bonn and joined the guild.", ["Anna Kern moved to Bonn.",
        "Anna Kern joined the guild."]),
    "auxiliaries": ("The old mill was sold in 2010 and has been a museum since then.",
        ["The old mill was sold.", "The old mill was sold in 2010.",
        "The old mill has been a museum.", "The old mill has been a museum since then."]),
    "after birth": ("She was born in London and grew up in Bonn.", ["She was born in London.",
        "She grew up in Bonn."]),
    "contrast": ("Sales rose in May, but travel costs doubled.", ["Sales rose in May.",
        "Travel costs doubled."]),
    "a time at the beginning": ("In May 2019, the firm opened a shop and hired a baker.",
        ["In May 2019, the firm opened a shop.", "In May 2019, the firm hired a baker.",
        "The firm opened a shop."]),
    "a time that is over": ("In May 2019, the firm opened a shop and later hired a baker.",
        ["In May 2019, the firm opened a shop.", "The firm opened a shop.",
        "The firm later hired a baker."]),
    "a source holds for both":
        ("According to the ministry, the repairs will cost 4 million euros and take nine months.",
        ["According to the ministry, the repairs will cost 4 million euros.",
        "According to the ministry, the repairs will take nine months."]),
    "a condition holds for both":
        ("If it rains, the match is moved and the town closes the bridge.",
        ["If it rains, the match is moved.", "If it rains, the town closes the bridge."]),
    "apposition": ("Anna Kern, the mayor of London, opened the bridge.",
        ["Anna Kern is the mayor of London.", "Anna Kern opened the bridge."]),
    "relative clause": ("Anna Kern, who lives in London, opened the bridge.",
        ["Anna Kern lives in London.", "Anna Kern opened the bridge."]),
    "a cause": ("The school closed in May, partly because the roof leaked.",
        ["The school closed in May.", "The school closed partly because the roof leaked.",
        "The roof leaked."]),
    "a cause of what is not so": ("The roof did not leak, because the mason had mended it.",
        ["The roof did not leak.", "The roof did not leak, because the mason had mended it.",
        "The mason had mended it."]),
    "a duty": ("The firm must report damage within two days.",
        ["The firm must report damage.", "The firm must report damage within two days."]),
    "an example that is no list":
        ("She received prizes for her work, including being named the best cook.",
        ["She received prizes.", "She received prizes for her work.",
        "She received prizes including being named the best cook."]),
    "two participles, one irregular": ("The mill was sold and found again in May.",
        ["The mill was sold.", "The mill was found again in May."]),
    "relative clause of an owner":
        ("Rival Polar Kitchen, whose shares rose 2%, declined to comment.",
        ["Rival Polar Kitchen's shares rose 2%.", "Rival Polar Kitchen declined to comment."]),
    "from and to, both dated": ("Sales rose from 9 in May to 11 in June, helped by the strike.",
        ["Sales rose from 9 in May to 11 in June, helped by the strike."]),
    "the year before": ("Sales rose to 7 million in 2024, from 6 million the year before.",
        ["Sales rose to 7 million.", "Sales rose to 7 million in 2024.",
        "Sales rose to 7 million from 6 million the year before."]),
    "from and to": ("The limit was raised from 50 to 60 on Monday.",
        ["The limit was raised from 50 to 60.", "The limit was raised from 50 to 60 on Monday."]),
    "relative clause of what one is": ("Tom Orr is a lawyer who studied in Paris.",
        ["Tom Orr is a lawyer.", "Tom Orr studied in Paris."]),
    "names": ("He played for Ajax, Porto and Lille.", ["He played for Ajax.",
        "He played for Porto.", "He played for Lille."]),
    "examples": ("She has won several awards, including the Weber Prize and the Orr Medal.",
        ["She has won several awards.", "She has won the Weber Prize.",
        "She has won the Orr Medal."]),
    "details": ("He started his career in 1953 with Botafogo.", ["He started his career.",
        "He started his career in 1953.", "He started his career with Botafogo."]),
    "participle at the end": ("He joined Ajax in 1999, scoring 12 goals.", ["He joined Ajax.",
        "He joined Ajax in 1999.", "He scored 12 goals."]),
    "before doing something else": ("Tom Orr left Ajax before moving to Porto.",
        ["Tom Orr left Ajax.", "Tom Orr left Ajax before moving to Porto.",
        "Tom Orr moved to Porto."]),
    "where": ("Tom Orr moved to Ajax, where he won the league.", ["Tom Orr moved to Ajax.",
        "He won the league."]),
    "in brackets": ("Anna Kern (born 4 June 1951) is an Italian lawyer.",
        ["Anna Kern was born 4 June 1951.", "Anna Kern is Italian.",
        "Anna Kern is an Italian lawyer.", "Anna Kern is a lawyer."]),
    "what one was": ("Tom Orr is a former lawyer from Bonn.", ["Tom Orr is a former lawyer.",
        "Tom Orr is a former lawyer from Bonn.", "Tom Orr is from Bonn."]),
    "a place at the beginning": ("In Bonn, Tom Orr opened a shop.",
        ["In Bonn, Tom Orr opened a shop.", "Tom Orr opened a shop."]),
    "two participles": ("The mill was built in 1968 and renovated in 1997.",
        ["The mill was built.", "The mill was built in 1968.", "The mill was renovated in 1997."]),
    "from a year on": ("From 2016 on, Anna Kern grew peas.", ["Anna Kern grew peas.",
        "From 2016 on, Anna Kern grew peas."]),
    "a letter that is no article": ("Plan A closes the street.", ["Plan A closes the street."]),
    "a verb of saying alone": ("The staff left, he reports.", ["The staff left, he reports."]),
    "what one is, not known by name": ("The risk is a worker that stalls in May.",
        ["The risk is a worker that stalls in May."]),
    "place of birth": ("Tom Orr is an actor born on May 8, 1949, in Bonn.",
        ["Tom Orr is an actor.", "Tom Orr was born in Bonn.",
        "Tom Orr was born on May 8, 1949, in Bonn."]),
    "a consequence": ("The mill closed in May, making Tom Orr the last miller.",
        ["The mill closed in May, making Tom Orr the last miller."]),
    "instead": ("Instead of crossing it the dogs swam a mile.",
        ["Instead of crossing it the dogs swam a mile."]),
    "connective": ("However, it rained in London.", ["It rained in London."]),
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "expected"), SPLIT.values(), ids=SPLIT)
def test_a_sentence_is_told_one_statement_at_a_time(sentence: str, expected: list[str]) -> None:
    assert sorted(told(sentence)) == sorted(expected)


WHOLE = [
    "Anna Kern has published papers, three of them as first author.",
    "The minister denied that the bank moved to London and joined the guild.",
    "The firm did not open a shop and hire a baker.",
    "Neither the firm nor the guild opened a shop and hired a baker.",
    "The firm may open a shop in May.",
    "Dogs may be kept in the flat with the written consent of the landlord.",
    "The flat may only be used for residential purposes.",
    "The soup keeps for three days in the fridge.",
    "The train runs from London to Bonn and back.",
    "Tom and Eva moved to London.",
    "She wrote, sang in, and produced the film.",
    "The talks between the union and the firm were held in London.",
    "The group consists of Ajax, the Lions and Porto.",
    "He did not play for Ajax, Porto and Lille.",
    "The rent will be paid back within six months unless there is damage.",
    "The company replaced my first pair, which surprised me.",
    "Sales fell from 300 on Friday to 120 on Sunday, which surprised the mayor.",
    '"The firm opened a shop and hired a baker," she said.',
    "Did the firm open a shop and hire a baker?",
    "Heat the oil and fry the onion.",
    "The mine at Ulm, which closed in May, will reopen.",
    "Residents gathered 340 signatures because they feared the noise.",
    "About 54 percent voted no.",
    "The court ordered the town to open the beach.",
    "The landlady put us in the room of her son.",
    "The rent rose in May, and if it rises again we shall move.",
    "The mill is 29 metres high and painted in red.",
    "The bus was travelling at 14 kilometres an hour.",
    "The stage takes two hours and a half.",
    "Mr Orr was admitted with pain in the hip.",
    "The two hikers were carried away but remained on the surface.",
    "The contact was cleaned and the telephone replaced.",
    "Whoever sees a fire calls out and leaves the room.",
    "Anna Kern grew peas in pots, at the end some four tonnes of peas.",
    "Receipts are photographed and kept for seven years.",
    "The hall replaces the pool, and it costs 2 million pounds.",
    "Option B keeps the old pool and costs 900,000 pounds.",
    "The archer's range falls from 40 to 34 paces, and her arrows no longer pierce shields.",
    "The body is made of steel and glass, the handle of recycled plastic.",
    "The firm has a list of hypertension and type 2 diabetes.",
    "The update failed in May, presumably because your address is written in capitals.",
]


@pytest.mark.parametrize("sentence", WHOLE)
def test_what_could_change_by_a_split_stays_whole(sentence: str) -> None:
    assert told(sentence) == [sentence]


def test_where_the_parser_is_not_sure_the_sentence_stays_whole() -> None:
    sentence = "Anna Kern, the mayor of London, opened the bridge."
    tokens = [
        token._replace(sure=0.4) if token.relation == "appos" else token
        for token in parse(sentence)
    ]
    assert [s.text for s in ParsedSentence(sentence, tokens).statements()] == [sentence]


def test_a_statement_points_at_its_words() -> None:
    sentence = "Anna Kern moved to Bonn and joined the guild."
    first, second = ParsedSentence(sentence, parse(sentence)).statements()
    assert sentence[slice(*first.own)] == "Anna Kern moved to Bonn"
    assert second.own.end == len(sentence)


NAMED = {
    "he": ("Tom Orr was born in Bonn.", "He moved to Paris.", "Tom Orr moved to Paris."),
    "his": ("Tom Orr is a lawyer.", "His career began in Bonn.", "Tom Orr's career began in Bonn."),
    "she": ("Eva Kern is a Dutch lawyer.", "She moved to Paris.", "Eva Kern moved to Paris."),
    "after others": ("Tom Orr is a lawyer.; He met Jan Olson in Bonn.; In 1999 it rained.",
        "He moved to Paris.", "Tom Orr moved to Paris."),
    "another introduced": ("Tom Orr is a lawyer.; Jan Olson is his partner.",
        "He moved to Paris.", "Jan Olson moved to Paris."),
    "a woman's admirer": ("Tom Orr is an admirer of Anna Kern.", "She moved to Paris.",
        "Anna Kern moved to Paris."),
    "the subject of the sentence before": ("Tom Orr moved with Jan Olson to Bonn.",
        "He grew peas.", "Tom Orr grew peas."),
    "a name beside a role": ("The mayor, Eva Kern, opened the mill.", "She thanked the baker.",
        "Eva Kern thanked the baker."),
    "two that are one subject": ("Eva Kern and Anna Orr opened the mill.", "She grew peas.", ""),
    "an unnamed man": ("The chairman met Eva Kern.", "She moved to Paris.",
        "Eva Kern moved to Paris."),
    "one that is not near": ("Tom Orr opened the mill.; The mill is old.", "He moved to Paris.",
        "Tom Orr moved to Paris."),
    "two people": ("Tom Orr met Jan Olson in Bonn.", "He moved to Paris.", ""),
    "an unnamed person": ("Tom Orr met the mayor in Bonn.", "He moved to Paris.", ""),
    "an unnamed person who acts": ("A farmer met Tom Orr.", "He moved to Paris.", ""),
    "another gender": ("Mr. Olson had a fall.; Ms. Kern replaced the joint.",
        "He moved to Paris.", "Mr. Olson moved to Paris."),
    "a Miss": ("Miss Kern wrote to the guild.", "He moved to Paris.", ""),
    "it": ("Tom Orr was born in Bonn.", "It moved to Paris.", ""),
    "a thing": ("The mill opened in May.", "It has two floors.", "The mill has two floors."),
    "things": ("The mills are old.", "They have two floors.", "The mills have two floors."),
    "another thing": ("The firm bought a mill.", "It has two floors.", ""),
    "another subject": ("The mill is old.; The dam is new.", "It has two floors.",
        "The dam has two floors."),
    "no thing": ("The mill opened in May.", "It follows that the town grew.", ""),
    "a greeting": ("Hello Eva, it rained.", "She moved to Paris.", ""),
}  # fmt: skip


@pytest.mark.parametrize(("before", "sentence", "expected"), NAMED.values(), ids=NAMED)
def test_a_pronoun_is_replaced_only_if_one_person_can_be_meant(
    before: str, sentence: str, expected: str
) -> None:
    mentions = Mentions()
    for earlier in before.split("; "):
        mentions.read(ParsedSentence(earlier, parse(earlier)))
    parsed = ParsedSentence(sentence, parse(sentence))
    parsed.named = mentions.read(parsed)
    (statement,) = parsed.statements()
    assert statement.text == (expected or sentence)


WORDS = [
    "Anna Kern,", "the mayor,", "who", "moved", "to", "Bonn", "and", "was", "He", "in", "a",
    "Porto", "for", "joined", "it", "(two", "2019)", ";", "but", "not", "is", "the", ".", "May",
    "including", '"The', 'Mill"', "which", "where", "best", "known",
]  # fmt: skip


RELATIONS = sorted(word_set("nsubj conj cc dobj prep pobj relcl appos advcl acl attr ccomp"))
TAGS = sorted(word_set("NN NNP NNS VBD VBZ VBN VBG IN CC WP DT MD , CD"))
TREES = st.lists(
    st.tuples(
        st.sampled_from([w.strip('",;.()') or "a" for w in WORDS] + [",", '"', "("]),
        st.sampled_from(TAGS),
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(RELATIONS),
        st.sampled_from(["", "PERSON", "DATE", "GPE"]),
    ),
    min_size=1,
    max_size=14,
)


@given(TREES)
def test_any_tree_is_told(drawn: list[tuple[str, str, float, str, str]]) -> None:
    """Also what no parser should make of a sentence: each word under any word before it."""
    text = " ".join(word for word, *_ in drawn)
    tokens, start = [], 0
    for place, (word, tag, share, relation, entity) in enumerate(drawn):
        head = int(share * place)
        is_root = not place
        tokens.append(Token(word, start, "VBD" if is_root else tag, head,
                            "ROOT" if is_root else relation, entity))  # fmt: skip
        start += len(word) + 1
    for statement in ParsedSentence(text, tokens).statements():
        assert statement.text.strip()
        assert 0 <= statement.own.start < statement.own.end <= len(text)
