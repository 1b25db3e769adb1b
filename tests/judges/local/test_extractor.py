"""The embedded extractor: every fact has its place, and its own source says it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.facts import FactSet, Usage, digest
from factcheck.judges.local.extractor import LocalExtractor, extract_facts
from factcheck.judges.ports import Extractor, Ledger

REPORT = """# Bridge news

Hello everyone,

Anna Kern, the mayor of Ulm, opened the new bridge on Monday. However, the minister denied that
the bridge had cost 3 million euros. The work started in 2019 and was finished in 2021; the old
bridge was closed in 2018. Is it safe?

- **Price:** 2 EUR a crossing
- *Width:* 14 metres

| City | People |
|------|--------|
| Ulm  | 126000 |

Tom Orr was born in Bonn. He moved to Ulm in 1999. Anna Kern opened the bridge on Monday.

Thank you for reading!
"""


def texts(source: str) -> list[str]:
    return [fact.text for fact in extract_facts(source)]


def test_a_text_is_taken_apart_into_its_facts() -> None:
    assert texts(REPORT) == [
        "Anna Kern opened the new bridge.", "Anna Kern opened the new bridge on Monday.",
        "Anna Kern is the mayor of Ulm.",
        "The minister denied that the bridge had cost 3 million euros.",
        "The work started in 2019.", "The work was finished.",
        "The work was finished in 2021.", "The old bridge was closed.",
        "The old bridge was closed in 2018.", "Price: 2 EUR a crossing.", "Width: 14 metres.",
        "Tom Orr was born in Bonn.", "Tom Orr moved to Ulm.",
        "Tom Orr moved to Ulm in 1999.", "Anna Kern opened the bridge.",
        "Anna Kern opened the bridge on Monday.",
    ]  # fmt: skip


def test_a_detail_names_its_core() -> None:
    facts = extract_facts(REPORT)
    by_id = {fact.id: fact.text for fact in facts}
    assert {fact.text: by_id[fact.core] for fact in facts if fact.core} == {
        "Anna Kern opened the new bridge on Monday.": "Anna Kern opened the new bridge.",
        "The work was finished in 2021.": "The work was finished.",
        "The old bridge was closed in 2018.": "The old bridge was closed.",
        "Tom Orr moved to Ulm in 1999.": "Tom Orr moved to Ulm.",
        "Anna Kern opened the bridge on Monday.": "Anna Kern opened the bridge.",
    }


def test_a_fact_points_at_the_passage_it_comes_from() -> None:
    passages = {f.text: REPORT[slice(*f.span)] for f in extract_facts(REPORT) if f.span}
    assert passages["Anna Kern is the mayor of Ulm."] == "Anna Kern, the mayor of Ulm"
    denial = "The minister denied that the bridge had cost 3 million euros."
    assert passages[denial].startswith("the minister denied")
    assert passages["The work started in 2019."] == "The work started in 2019"
    assert passages["The work was finished in 2021."].endswith("was finished in 2021;")
    assert passages["Price: 2 EUR a crossing."] == "Price:** 2 EUR a crossing"
    assert passages["Tom Orr moved to Ulm in 1999."] == "He moved to Ulm in 1999."


def test_the_port_is_filled_with_facts_that_say_where_they_come_from() -> None:
    judge, ledger = LocalExtractor(), Ledger()
    assert isinstance(judge, Extractor)
    facts = asyncio.run(judge.extract(REPORT, ledger))
    assert facts == extract_facts(REPORT)
    assert [fact.id for fact in facts] == [f"f{n}" for n in range(1, len(facts) + 1)]
    assert (facts.source_digest, facts.made_by) == (digest(REPORT), tuple(judge.identity.items()))
    assert (ledger.usage, judge.identity) == (Usage(), {"extractor": "local/31"})


@pytest.mark.parametrize("source", ["", " \n\t", "Hello!", "# Title", "???", "---\n\n***", "Why?"])
def test_a_source_that_states_nothing_has_no_facts(source: str) -> None:
    assert extract_facts(source) == FactSet((), digest(source), (("extractor", "local/31"),))


LANGUAGES = {
    "de": "Die Stadt hat 3,5 Mio. Einwohner; sie liegt an der Donau. Am 3. Mai wurde die "
    "Brücke eröffnet, die Dr. Kern plante.\n\n- Preis: 20 Euro\n",
    "fr": "La ville compte 500 000 habitants ; elle est située sur le fleuve. M. Roux a dit non.",
    "zh": "这座城市位于河边；城里有两座古桥。公司2020年收入为3亿元，同比增长5%。市长没有出席。",
    "ru": "Мэр открыл мост в понедельник. В 2020 году население составило 12 тысяч человек.",
    "lower case": "the mayor opened the bridge on monday. it cost 3 million euros.",
    "one blob": "the mayor opened the bridge on monday it cost 3 million euros it is not safe " * 5,
}


@pytest.mark.parametrize("source", LANGUAGES.values(), ids=LANGUAGES)
def test_texts_in_all_languages_have_facts_with_places(source: str) -> None:
    facts = extract_facts(source)
    assert facts
    assert all(f.span and source[slice(*f.span)].strip() for f in facts)


PARTS = st.sampled_from(
    [
        "Anna Kern, the mayor of Ulm, opened the bridge.",
        "She moved to Bonn in 1999 and joined the guild.",
        "The mill was not sold; it was closed in 2004.",
        "Sales rose by 4.5% to $3 million in May.", "Sales fell by 4.5% to $3 million in June.",
        "The minister denied that sales fell.", "He played for Ajax, Porto and Lille.",
        "Tom Orr was born in Ulm.", "He left.", "in the U.S.", "Costs: 20 EUR", "Was it safe?",
        "“We will win,” said Dr. Orr.", "no end here", "Milk", "下雨了；我们走了。",
    ]
)  # fmt: skip
LINES = st.tuples(st.sampled_from(["", "- ", "# ", "1. ", "> ", "\n"]), st.lists(PARTS, max_size=3))
SOURCES = st.lists(LINES.map(lambda line: line[0] + " ".join(line[1])), max_size=6).map("\n".join)


@given(SOURCES | st.text(max_size=80))
def test_any_text_is_extracted_alike_twice_and_has_its_places(source: str) -> None:
    facts = extract_facts(source)
    assert extract_facts(source) == facts
    assert all(f.span and source[slice(*f.span)].strip() for f in facts)


HOSTILE = {
    "one word": "a" * 20_000, "brackets": "a(" * 9_000, "links": "[a](" * 5_000,
    "addresses": "a@" * 9_000, "stars": "**a " * 5_000, "not": "not " * 5_000,
    "semicolons": "Anna moved;" * 300, "values": "3 a in b and " * 2_000 + ".",
    "digits": "1" * 20_000, "hyphens": "A-" * 90_000, "codes": "AB-1" * 9_000,
    "line of a signature": "Tenant" + "_" * 60 + " signs here.",
    "quotes": '"The ' * 4_000, "marks": "!" * 20_000,
    "tags": '<a href="' * 3_000, "entities": "&amp" * 9_000,
    "capitals": "ANNA KERN MET TOM. " * 200, "right to left": "שלום " * 4_000,
}  # fmt: skip


def test_a_mark_may_be_joined_to_a_noun() -> None:
    said = "The party spokesman and co-founder, Tom Kern, whom Orr is accused of choking, told "
    assert texts(said + "the court he was leaving.")


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_has_few_facts(source: str) -> None:
    assert len(extract_facts(source).facts) <= 1


TOLD = {
    "two between which": ("A cabbit is a hybrid between a cat and a rabbit.",
        ["A cabbit is a hybrid between a cat and a rabbit."]),
    "who heads a town": ("The plan was made by the mayor of the town, Anna Kern.",
        ["The plan was made.", "The plan was made by the mayor of the town.",
        "Anna Kern is the mayor of the town."]),
    "part in something": ("Anna Kern took part in a strike.", ["Anna Kern took part in a strike."]),
    "one of several who are accused": ("Anna Kern was one of six Britons accused of theft.",
        ["Anna Kern was one of six Britons accused of theft."]),
    "hands": ("Anna Kern and Tom Orr shook hands.", ["Anna Kern and Tom Orr shook hands."]),
    "a clause with being": ("The club has won nine cups, the last being that of 2003.",
        ["The club has won nine cups."]),
    "scores against several": ("Ulm were beaten 24-18 by Bonn and 37-14 by Kiel.",
        ["Ulm were beaten 24-18 by Bonn and 37-14 by Kiel."]),
    "been": ("We have played well and been unlucky.",
        ["We have played well.", "We have been unlucky."]),
    "by whom something is": ("The film was directed by Anna Kern in 2016.",
        ["The film was directed by Anna Kern.", "The film was directed by Anna Kern in 2016."]),
    "a place for something": ("The meeting took place in Ulm.", ["The meeting took place in Ulm."]),
    "a thing beside another of the kind":
        ("The bile duct is short. It is joined by the liver duct.",
        ["The bile duct is short.", "The bile duct is joined by the liver duct."]),
    "the best of two": ("This secured the best treatment and care.",
        ["This secured the best treatment.", "This secured the best care."]),
    "a year before a name": ("From 1930 to 1990 Velmia was a kingdom.",
        ["Velmia was a kingdom.", "From 1930 to 1990 Velmia was a kingdom."]),
    "a husband of nobody knows whom": ("The police heard husband Tom Orr.",
        ["The police heard husband Tom Orr."]),
    "what a page puts before a sentence":
        ("1 October 2014 Last updated at 19:45 BST Anna Kern sold the mill.",
        ["Anna Kern sold the mill."]),
    "who is quoted as saying it": ('The media office quoted Tom Orr as saying: "The mill is old."',
        ["Tom Orr said: The mill is old."]),
    "who was quoted as saying it": ('Tom Orr was quoted by it as saying: "The mill is old."',
        ["Tom Orr said: The mill is old."]),
    "what was previously known":
        ("The mill, previously known as Red Mill, is old.",
        ["The mill is old.", "The mill was known as Red Mill.",
        "The mill was previously known as Red Mill."]),
    "twice": ("Ulm scored twice in three minutes.",
        ["Ulm scored twice in three minutes."]),
    "what covers something": ("The area was covered by ash.", ["The area was covered by ash."]),
    "a caption in a quotation":
        ('"We won the game. Tom Orr (right) scored the goal. "It was hard," Anna Kern said.',
        ["Anna Kern said: We won the game.", "Tom Orr scored the goal.",
        "Anna Kern said: It was hard."]),
    "a gerund of who": ("Hart, who set a record by playing for Ulm for 20 years, praised Orr.",
        ["Hart praised Orr.", "Hart set a record.", "Hart played for Ulm for 20 years."]),
    "a name behind a long role": ("The head of the Bank of Ulm, Ann Orr, resigned.",
        ["The head of the Bank of Ulm resigned.", "Ann Orr is the head of the Bank of Ulm."]),
    "what several are together": ("Ann Orr and Tom Kern were named as the opening acts.",
        ["Ann Orr and Tom Kern were named as the opening acts."]),
    "what is caused": ("The owner had a door installed.", ["The owner had a door installed."]),
    "what goes with a participle": ("With ten films released, the series is complete.",
        ["The series is complete.", "With ten films released, the series is complete."]),
    "an active verb in the plural": ("The bears were sold and live in Ulm.",
        ["The bears were sold.", "The bears live in Ulm."]),
    "marks beside the wrong words": (
        "Kern said:' I like the mill. It is old.' I run it with my son.",
        ["Kern said: I like the mill.", "Kern said: It is old.", "Kern said: I run it.",
        "Kern said: I run it with my son."]),
    "what is not so": ("Not that it seemed to affect Orr.", ["Not that it seemed to affect Orr."]),
    "an unknown owner": ("Bashar Orr, his ally, left Ulm.", ["Bashar Orr left Ulm."]),
    "an object again": ("Anna Kern took the car and sold it in May.",
        ["Anna Kern took the car.", "Anna Kern sold the car.", "Anna Kern sold the car in May."]),
    "what a statement said": ("A statement said Mr Orr left the club. He had worked there.",
        ["A statement said Mr Orr left the club.", "Mr Orr had worked there."]),
    "a title with an owner": ("Ann Orr lives in Ulm. Her Majesty met Tom Kern.",
        ["Ann Orr lives in Ulm.", "Her Majesty met Tom Kern."]),
    "somebody by his country": ('The Englishman said it was late. "The mill is old," he said.',
        ["The Englishman said it was late.", "The Englishman said: The mill is old."]),
    "a total": ("More than 50,000 people came as guests to dinners and balls.",
        ["More than 50,000 people came as guests to dinners and balls."]),
    "when a work is from": ('Ida Lim starred in "Possessed" (1947).',
        ['Ida Lim starred in "Possessed".', '"Possessed" is from 1947.']),
    "the name of a firm": ("Apple, Inc. said it sold 3 mills in May.",
        ["Apple, Inc. said it sold 3 mills.", "Apple, Inc. said it sold 3 mills in May."]),
    "one of several": ("The firm is one of the three biggest mills and dams in Ulm.",
        ["The firm is one of the three biggest mills and dams in Ulm."]),
    "a quoted clause": ('The council said Orr was late, and staff were "very angry" about it.',
        ["The council said Orr was late.", 'The council said staff were "very angry" about it.']),
    "a quotation of the rest": ('Shells were fired, the ministry said, "causing smoke and fires".',
        ["The ministry said shells were fired."]),
    "a thing in one sentence": ("The bank fell about 5% after it agreed a deal.",
        ["The bank fell about 5%.", "The bank fell about 5% after it agreed a deal.",
        "The bank agreed a deal."]),
    "commas of a list without its brackets":
        ("The films were The Mill (1996), The Barn (1999) and Ulm (2001).",
        ["The films were The Mill, The Barn (1999) and Ulm (2001).", "The Mill is from 1996."]),
    "works with their years":
        ("She starred in The Long Road (1996), Great Tales! (1999) and Lost in Velm (2001).",
        ["She starred in The Long Road.", "She starred in Great Tales!",
        "She starred in Lost in Velm.", "The Long Road is from 1996.",
        "Great Tales! is from 1999.", "Lost in Velm is from 2001."]),
    "an old work": ("Orr sang in the opera Faust (1859).",
        ["Orr sang in the opera Faust.", "Faust is from 1859."]),
    "places with years": ("She won gold in Bonn (2008) and Ulm (2012).",
        ["She won gold in Bonn.", "She won gold in Bonn (2008).", "She won gold in Ulm.",
        "She won gold in Ulm (2012)."]),
    "a work at the end": ('Kern starred in the film "The Long Road".',
        ['Kern starred in the film "The Long Road".', '"The Long Road" is a film.']),
    "when somebody lived": ("Anna Kern (4 April 1920 \u2013 2 May 1990) was a judge.",
        ["Anna Kern was a judge.", "Anna Kern was born 4 April 1920.",
        "Anna Kern died 2 May 1990."]),
    "when and where somebody was born":
        ("Anna Kern (Welsh: Ann; born 4 April 1920 in Ulm) is a judge.",
        ["Anna Kern is a judge.", "Anna Kern was born 4 April 1920.",
        "Anna Kern was born in Ulm."]),
    "a birth behind a name": ("Tom Orr, born April 4, 1979 in Ulm, sells pumps.",
        ["Tom Orr sells pumps.", "Tom Orr was born in Ulm.", "Tom Orr was born April 4, 1979."]),
    "examples without an `and`": ("The farm grows crops such as wheat, rye, hops.",
        ["The farm grows crops.", "The farm grows wheat.", "The farm grows rye.",
        "The farm grows hops."]),
    "names that are shown":
        ("She starred in films such as Lights Out, Wish You Were Here and Born on the Hill.",
        ["She starred in films.", "She starred in Lights Out.",
        "She starred in Wish You Were Here.", "She starred in Born on the Hill.",
        "Lights Out is a film.", "Wish You Were Here is a film.", "Born on the Hill is a film."]),
    "quoted names with their commas":
        ('Her songs include "Good Day," "The Red Shoes," and "Love Poem."',
        ['Her songs include "Good Day".', 'Her songs include "The Red Shoes".',
        'Her songs include "Love Poem".']),
    "where something happened": ("Orr played for the national team, where he met Tom Frey.",
        ["Orr played for the national team.", "Orr met Tom Frey."]),
    "what somebody does as well": ("Anna Kern is a campaigner against violence, author, and judge.",
        ["Anna Kern is a campaigner.", "Anna Kern is a campaigner against violence.",
        "Anna Kern is an author.", "Anna Kern is a judge."]),
    "a clause behind a passive one": ("The pilot was jailed in 1990, but he escaped.",
        ["The pilot was jailed.", "The pilot was jailed in 1990.", "The pilot escaped."]),
    "a club is nobody":
        ("Dani was a player. After leaving Velm FC in 1998, he played for Bonn. He retired in May.",
        ["Dani was a player.", "Dani played for Bonn.", "Dani left Velm FC in 1998.",
        "Dani retired.", "Dani retired in May."]),
    "one verb of several amounts":
        ("In 2023, income was \u20ac18,250, spending \u20ac16,900 and debt \u20ac200.",
        ["Income was \u20ac18,250.", "In 2023, income was \u20ac18,250.",
        "Spending was \u20ac16,900.", "In 2023, spending was \u20ac16,900.",
        "Debt was \u20ac200.", "In 2023, debt was \u20ac200."]),
    "years of a life": ("Anna Kern (1912\u20132006) was a judge.",
        ["Anna Kern was a judge.", "Anna Kern was born in 1912.", "Anna Kern died in 2006."]),
    "years of a reign": ("Karl (1910\u20131950) was the king of Velm.",
        ["Karl was the king of Velm.", "Karl (1910\u20131950) was the king of Velm."]),
    "who made something": ("Anna Kern is a judge who made her debut in Ulm.",
        ["Anna Kern is a judge.", "Anna Kern made her debut.", "Anna Kern made her debut in Ulm."]),
    "one of a series": ('Orr wrote the series "Red Mill" and "Blue Mill".',
        ['Orr wrote the series "Red Mill".', 'Orr wrote the series "Blue Mill".']),
    "whose it is":
        ("Tom Orr was a pilot. His interest was sparked by Max Frey, who had earned his license.",
        ["Tom Orr was a pilot.", "Tom Orr's interest was sparked.",
        "Tom Orr's interest was sparked by Max Frey.",
        "Max Frey had earned his license."]),
    "anybody who did something": ("Police want to hear from anyone who saw the fire.",
        ["Police want to hear from anyone who saw the fire."]),
    "a name with an age": ("The driver, Marco Lenz, 34, was arrested in Ulm.",
        ["The driver was arrested.", "The driver was arrested in Ulm.",
        "Marco Lenz is the driver.", "Marco Lenz is 34."]),
    "a vote": ("The motion was carried by 25 votes to 17.",
        ["The motion was carried.", "The motion was carried by 25 votes to 17."]),
    "a time for each place": ("In 2019 she moved to Bonn and in 2021 to Kiel.",
        ["In 2019 she moved to Bonn and in 2021 to Kiel."]),
    "works without a verb": ("Films: The Long Road (2007), Candy (2006) and Hamlet (2009).",
        ["Films: The Long Road is from 2007.", "Films: Candy is from 2006.",
        "Films: Hamlet is from 2009."]),
    "winners without a verb": ("(1990), Tom Orr (2005), Anna Kern (2006) and Max Frey (2007).",
        ["(1990), Tom Orr (2005), Anna Kern (2006) and Max Frey (2007)."]),
    "names of several things": ("She lived in the towns Ulm and Bonn.",
        ["She lived in Ulm.", "She lived in Bonn.", "Ulm is a town.", "Bonn is a town."]),
    "two adjectives": ("She carries a small, sharp knife.",
        ["She carries a small knife.", "She carries a sharp knife."]),
    "what something was": ("Velm, once a port, is a town.",
        ["Velm is a town.", "Velm was once a port."]),
    "a helping verb of both": ("The man was in danger of being robbed and beaten in Ulm.",
        ["The man was in danger of being robbed.", "The man was in danger of being beaten.",
        "The man was in danger of being beaten in Ulm."]),
    "a phrase in a phrase": ("Anna Kern walked from near Ulm to Bonn.",
        ["Anna Kern walked from near Ulm to Bonn."]),
    "what holds for all": ("Ajax, Celtic and Porto are all keen.",
        ["Ajax, Celtic and Porto are all keen."]),
    "a word said twice": ("Anna felt better and better.", ["Anna felt better and better."]),
    "what would be so": ("Orr said it was hard to drive when it has snowed.",
        ["Orr said it was hard to drive when it has snowed."]),
    "what something is like": ("It looked like a cone that had been dropped.",
        ["It looked like a cone that had been dropped."]),
    "a short form in a name": ("The season is produced by Warner Bros. Television and Kern.",
        ["The season is produced.", "The season is produced by Warner Bros. Television.",
        "The season is produced by Kern."]),
    "where somebody is strongest": ("Labor is strongest in the western suburbs.",
        ["Labor is strongest in the western suburbs."]),
    "where it is so": ("It is based on the dialect as spoken in Ulm.",
        ["It is based on the dialect as spoken in Ulm."]),
    "a clause behind a date": ("They boarded a boat on April 14, which had 105 passengers aboard.",
        ["They boarded a boat.", "They boarded a boat on April 14.",
        "A boat had 105 passengers aboard."]),
    "a past form behind a passive verb": ("She was born in Ulm and came to Bonn later.",
        ["She was born in Ulm.", "She came to Bonn.", "She came to Bonn later."]),
    "what turned out": ("The library, whose lift turned out not to work, is closed.",
        ["The library is closed.", "The library's lift turned out not to work."]),
    "what was said in another tense":
        ("He said it was not his choice and he would like to have a home.",
        ["He said it was not his choice.", "He said he would like to have a home."]),
    "who is told of": ("Mr Orr said the town had 13 men who had fled.",
        ["Mr Orr said the town had 13 men.",
        "Mr Orr said the town had 13 men who had fled."]),
    "what is seen": ("Two doctors found many men suffering from cold.",
        ["Two doctors found many men suffering from cold."]),
    "where it holds": ("In most countries it is legal to own a cat.",
        ["In most countries it is legal to own a cat."]),
    "who does it": ("After reading the report, the bridge was closed by the mayor.",
        ["The bridge was closed.", "After reading the report, the bridge was closed.",
        "The bridge was closed by the mayor."]),
    "adjectives": ("It has a dry, cold and dark cellar.",
        ["It has a dry cellar.", "It has a cold cellar.", "It has a dark cellar."]),
    "a role of one": ("Council leader Ann Orr resigned.",
        ["Council leader Ann Orr resigned.", "Ann Orr is the council leader."]),
    "a hearer": ("Kern told a court he had been there.", ["Kern told a court he had been there."]),
    "a sum": ("The town had 400 visitors in Ulm and Bonn.",
        ["The town had 400 visitors.", "The town had 400 visitors in Ulm and Bonn."]),
    "no verb": ("A retrospective study of the care of old men.", []),
    "page furniture": ("More on this and other stories from Ulm Tom Kern said it was late.",
        ["Tom Kern said it was late."]),
    "a war with a number": ("He was a rebel in World War I. Mr Orr was not.",
        ["He was a rebel.", "He was a rebel in World War I.", "Mr Orr was not."]),
    "a crew": ("The crew of Tom Kern, Ida Lund and Max Orr missed a medal.",
        ["The crew of Tom Kern, Ida Lund and Max Orr missed a medal."]),
    "what may be so": ("Orr was filmed fighting, reportedly after they refused him entry.",
        ["Orr was filmed fighting.",
        "Orr was filmed fighting, reportedly after they refused him entry."]),
    "a thing that a phrase brings in": ("CBS answered with a song. It was shown in May.",
        ["CBS answered with a song.", "It was shown.", "It was shown in May."]),
    "one who says what another said": ('Police said that Tom Orr said: "I lost the key."',
        ["Police said that Tom Orr said: I lost the key."]),
    "what has yet to come": ("The river has yet to freeze.", ["The river has yet to freeze."]),
    "a list below a ban": ("The tenant must not:\n- smoke in the flat.\n- keep dogs.",
        ["The tenant must not: Smoke in the flat.", "The tenant must not: Keep dogs."]),
    "a list below a decision": ("The council decided:\n- The mill will be sold.",
        ["The mill will be sold."]),
    "a share": ("The hotel has 210 rooms, 30 of them with a view of the lake.",
        ["The hotel has 210 rooms."]),
    "a verb left out": ("Spain won two medals and Italy three.",
        ["Spain won two medals and Italy three."]),
    "a copula left out": ("Anna Kern is the mayor and Tom Orr the treasurer.",
        ["Anna Kern is the mayor and Tom Orr the treasurer."]),
    "both": ("He sold both the mill and the dam.", ["He sold the mill.", "He sold the dam."]),
    "bounds": ("Between 30 and 40 people were hurt.", ["Between 30 and 40 people were hurt."]),
    "names in code": ("Call `db.fetch_all()` once. Set snake_case_name to 5.",
        ["Call db.fetch_all() once.", "Set snake_case_name to 5."]),
    "one who may be a man": (
        "Tom Orr met Eva Kern. Hobbs ignored three calls, the court said. He also left early.",
        ["Tom Orr met Eva Kern.", "The court said Hobbs ignored three calls.",
        "Hobbs left early."]),
    "a quotation behind a report": (
        'Anna Kern said it was late. "The mill burned." Tom Orr slept. "Nobody came to us."',
        ["Anna Kern said it was late.", "Anna Kern said: The mill burned.", "Tom Orr slept.",
        '"Nobody came to us."']),
    "other quantities": ("Some doctors and most nurses left.",
        ["Some doctors left.", "Most nurses left."]),
    "a number in brackets": ("The invoice you received (no. 7712) is wrong.",
        ["The invoice you received (no. 7712) is wrong."]),
    "what is said nowhere": ("The unions said in a statement it would end.",
        ["The unions said in a statement it would end."]),
    "who speaks": ("Anna: The mill is sold. I saw the deed. It rained.\n\nTom: We knew it.",
        ["Anna: The mill is sold.", "Anna: I saw the deed.", "It rained.", "Tom: We knew it."]),
    "fragments and titles": ("A mill that was sold\n\nThe mill is old. Room 4. On the law.",
        ["The mill is old."]),
    "verbs that are taken for nouns": ("The pier froze. The boat 0 sails. Water boils. Ice.",
        ["The pier froze.", "The boat 0 sails.", "Water boils."]),
    "numbers of a list in one paragraph": ("1. Drain the peas and wash them. 2. Heat the oil.",
        ["Drain the peas and wash them.", "Heat the oil."]),
    "a role beside a name": ("The mayor, Eva Kern, met her son.",
        ["The mayor met her son.", "Eva Kern is the mayor."]),
    "no thing over a paragraph": ("The mill is in Bonn.\n\nIt is old.",
        ["The mill is in Bonn.", "It is old."]),
    "a thing of another paragraph": ("The mill is old.\n\nIt has two floors.",
        ["The mill is old.", "It has two floors."]),
    "a list of names or numbers": ("Anna, Tom, Ida, Bert and Dora. 1, 2, 3, 4.5, 6 and 7.", []),
    "a quotation in another": ("Anna wrote \"Tom said 'the ship sank' to me\" on Monday.",
        ["Anna wrote \"Tom said 'the ship sank' to me\" on Monday."]),
    "a clause that the parser garbles": (
        "Anna Kern came fourth with two songs and say wonderful things.",
        ["Anna Kern came fourth with two songs."]),
    "a quotation is what somebody said": (
        '"The mill closed in May," she said. "Two men lost their work. The dam held." It rained.',
        ["She said: The mill closed in May.", "She said: Two men lost their work.",
        "She said: The dam held.", "It rained."]),
    "a quotation before its speaker": (
        '"The dam held. Nobody was hurt," Anna Kern said.',
        ["Anna Kern said: The dam held.", "Anna Kern said: Nobody was hurt."]),
    "a quotation mark that stands alone opens nothing": (
        ('Anna Kern said: "The dam held." The pipe is 5" wide. Two men left. It rained. '
        "The road is wet. The ferry left. The hall is full. The baker rests. The mill is old."),
        ["Anna Kern said: The dam held.", 'The pipe is 5" wide.', "Two men left.", "It rained.",
        "The road is wet.", "The ferry left.", "The hall is full.", "The baker rests.",
        "The mill is old."]),
    "a quotation that each paragraph opens again": (
        'Anna Kern added: "The dam held. "But two men left." The mill closed in May.',
        ["Anna Kern added: The dam held.", "Anna Kern added: Two men left.",
        "The mill closed in May."]),
    "single marks, and a phrase before the speaker": (
        "Asked why, Anna Kern said: 'The dam held. Two men left the boys' home.' It rained.",
        ["Anna Kern said: The dam held.", "Anna Kern said: Two men left the boys' home.",
        "It rained."]),
    "a report before the speaker": (
        'Asked about reported interest from Porto, Kern said: "It is just paper talk."',
        ["Kern said: It is just paper talk.",
        "Kern was asked about reported interest from Porto."]),
    "what is told of a speaker": (
        ('"We grew," said chief Ida Holm, who joined in May. '
        '"We won," said Tom Orr, adding that he left.'),
        ['Chief Ida Holm said: "We grew".', "Chief Ida Holm joined in May.",
        'Tom Orr said: "We won".', "Tom Orr added that he left."]),
    "what a speaker calls ours, later": (
        "Agent: Our best plan is the Gold Plan. It pays for cars.\n\nClient: Certainly.",
        ["Agent: Our best plan is the Gold Plan.", "Agent: Our best plan pays for cars."]),
    "a speaker who says I is a person": (
        '"I was sure of it," Crofts told the paper. Tom Orr laughed. Crofts began his career.',
        ["Crofts said: I was sure of it.", "Tom Orr laughed.", "Crofts began his career."]),
    "a speaker whom the text introduced": (
        'Eva Kern is a nurse. Eva Kern said: "She left me in May."',
        ["Eva Kern is a nurse.", "Eva Kern said: She left me.",
        "Eva Kern said: She left me in May."]),
    "names in other languages": (
        "Velm (Dutch: Velm (old) or Velmen; French: Velme) is a village in Belgium.",
        ["Velm is a village.", "Velm is a village in Belgium.",
        "Velm (Dutch: Velm (old) or Velmen; French: Velme) is a village."]),
    "a list behind a colon": ("They chose two towns in May: Ulm and Bonn.",
        ["They chose two towns.", "They chose two towns in May: Ulm.",
        "They chose two towns in May: Bonn."]),
    "a subject behind its helping verb": ("Only then did the town comply with the order.",
        ["Only then did the town comply with the order."]),
    "two apostrophes for a mark": ("''The dam held in the end,\" said Anna Kern. It rained.",
        ["Anna Kern said: The dam held in the end.", "It rained."]),
    "a phrase without a verb": ("Only six have been seen so far, all of them males.",
        ["Only six have been seen so far."]),
    "a verb that is left out": ("The mill was built in 1900 and the dam in 1910.",
        ["The mill was built in 1900 and the dam in 1910."]),
    "furniture of a page": ("Scroll down for video Anna Kern opened the mill.",
        ["Anna Kern opened the mill."]),
    "a ruling that came": ("The ruling came after a court disqualified the list.",
        ["The ruling came after a court disqualified the list.",
        "A court disqualified the list."]),
    "a speaker who speaks of another": (
        'Gary Beattie is ill. Gary said: "We were shocked when he was diagnosed."',
        ["Gary Beattie is ill.", "Gary said: We were shocked when he was diagnosed.",
        "Gary said: He was diagnosed."]),
    "what several own": ("The polls were the first. Their delay was ordered.",
        ["The polls were the first.", "The polls' delay was ordered."]),
    "a closing mark that was put before the next sentence": (
        'Anna Kern said: "The dam held. Nobody was hurt. " The mill closed. "We left," Ed said.',
        ["Anna Kern said: The dam held.", "Anna Kern said: Nobody was hurt.", "The mill closed.",
        'Ed said: "We left".']),
    "a quotation without a speaker is not the next one's": (
        '"Nobody was hurt." The mill closed. "We left," Tom Orr said.',
        ['"Nobody was hurt."', "The mill closed.", 'Tom Orr said: "We left".']),
    "a sentence without its subject": ("Anna Kern won in 1997. Also won in 1999.",
        ["Anna Kern won in 1997.", "Anna Kern won in 1999."]),
    "lines that are no titles": ("The mill is old. It burned.\n\nOld Mill Burns\n\nIt will reopen.",
        ["The mill is old.", "The mill burned.", "It will reopen."]),
    "no word is lost around an abbreviation": (
        ('Otto met Ann at 5 p.m. He had a "No. 1" hit. He lives in the U.S. '
        "The potters work there. It shuts in May. The baker rests."),
        ["Otto met Ann.", "Otto met Ann at 5 p.m.", 'Otto had a "No. 1" hit.',
        "Otto lives in the U.S.", "The potters work there.", "It shuts in May.",
        "The baker rests."]),
    "a denial ends with its sentence": (
        "Otto denied that he lives in the U.S. The potters work there.",
        ["Otto denied that he lives in the U.S.", "The potters work there."]),
    "a mark torn off": ('Otto said: "It was hot. I am glad." The 5" pipe broke.',
        ["Otto said: It was hot.", "Otto said: I am glad.", 'The 5" pipe broke.']),
    "labels": (
        "Date: 4 May\nPresent: Otto, Ann\nPlace: Room 7\nLocation: Bonn\nNotes:\n\nWe met.",
        ["Present: Otto, Ann.", "Place: Room 7.", "We met."]),
    "semicolons": ("The tenant pays small repairs; the landlord bears all other costs.",
        ["The tenant pays small repairs.", "The landlord bears all other costs."]),
    "semicolons between full clauses": (
        "Passwords must have at least 12 characters; accounts with shorter ones are locked.",
        ["Passwords must have at least 12 characters.", "Accounts with shorter ones are locked."]),
    "a semicolon behind a clause that the parser reads with its full stop": (
        ("Families who cannot pay the whole sum may turn in confidence to Mrs Albright; "
        "the fund has helped in all cases."),
        ["Families who cannot pay the whole sum may turn in confidence to Mrs Albright.",
        "The fund has helped.", "The fund has helped in all cases."]),
    "a semicolon before a pronoun": ("The hall replaces the pool; it costs 2 million pounds.",
        ["The hall replaces the pool.", "It costs 2 million pounds."]),
    "a value for each of two": ("Sales rose 3.5 per cent in Norway and 5 per cent in Sweden.",
        ["Sales rose 3.5 per cent in Norway.", "Sales rose 5 per cent in Sweden."]),
    "values behind a preposition": ("Profit fell by 12 per cent in May and by 9 per cent in June.",
        ["Profit fell by 12 per cent in May.", "Profit fell by 9 per cent in June."]),
    "values of three": ("Anna worked 3 years in Bonn, 5 years in Ulm and 9 years in Riga.",
        ["Anna worked 3 years in Bonn.", "Anna worked 5 years in Ulm.",
        "Anna worked 9 years in Riga."]),
    "values for different things": (
        "Prices rose 3 per cent in May and June and 5 per cent in July.",
        ["Prices rose 3 per cent in May and June and 5 per cent in July."]),
    "a clause that begins with a number": (
        "Rain fell for 3 days in May and 40 houses in Ulm were flooded.",
        ["Rain fell for 3 days.", "Rain fell in May.",
        "40 houses in Ulm were flooded."]),
    "one way from value to value": (
        "The price rose from $20 in 2019 to $25 in 2020 and $31 in 2021.",
        ["The price rose from $20 in 2019 to $25 in 2020 and $31 in 2021."]),
    "the sum of two": ("In total 12 people in Ulm and 9 people in Bonn were hurt.",
        ["In total 12 people in Ulm and 9 people in Bonn were hurt."]),
    "a semicolon in a report": ("He said the city was old; it had two bridges.",
        ["He said the city was old; it had two bridges."]),
    "an agency before a report": ("(CNN) Two men died in Ulm. (Reuters) - Rain fell.",
        ["Two men died.", "Two men died in Ulm.", "Rain fell."]),
    "an aim, not a finding": ("To examine whether fatigue matters. It matters to nurses.",
        ["It matters to nurses."]),
    "a text without capitals": (
        "anna kern lives in bonn. ' rain fell, tom orr said. ' she opened a shop.",
        ["Anna kern lives in bonn.", "Tom orr said rain fell.", "Anna kern opened a shop."]),
    "a speaker is not who she speaks of": (
        '"My worry is that she might leave," said Eva Kern.',
        ["Eva Kern said: My worry is that she might leave."]),
    "a title": ("Rain fell on the town, mayor Ms. Petra Voss said.",
        ["Mayor Ms. Petra Voss said rain fell on the town.", "Ms. Petra Voss is the mayor."]),
    "HTML": (
        ("<p>The <b>bridge</b> reopened.<br/>It cost <i class='x'>&euro;5&nbsp;million</i>.</p>"
        "<p>AT&amp;T paid.</p><ul><li>Anna Kern spoke.</li></ul><script>p = 1</script>"),
        ["The bridge reopened.", "It cost \u20ac5 million.", "AT&T paid.", "Anna Kern spoke."]),
    "less and more": ("It holds if a<b and c>d. R&D grew.",
        ["It holds if a<b and c>d.", "R&D grew."]),
    "a short word behind a bracket": ("Tolva (pop. 80,000) voted no.",
        ["Tolva voted no.", "Tolva (pop. 80,000) voted no."]),
    "one value each": ("Ulm, Bonn and Velm grew 3%, 4% and 5% respectively.",
        ["Ulm, Bonn and Velm grew 3%, 4% and 5% respectively."]),
    "values with intervals": (
        "The loss was 7 kg (5 to 8) in the first group and 6 kg (4) in the other.",
        ["The loss was 7 kg (5 to 8) in the first group.", "The loss was 6 kg (4) in the other."]),
    "a number twice": ("Kern pays within thirty (30) days.", ["Kern pays within thirty days."]),
    "a year before": ("It fell to 3 tonnes from 5 tonnes a year earlier.",
        ["It fell to 3 tonnes.", "It fell to 3 tonnes from 5 tonnes a year earlier."]),
    "who two of several are": (
        "Only two of the nine members, Anna Kern and Tom Orr, did not sign.",
        ["Only two of the nine members, Anna Kern and Tom Orr, did not sign."]),
    "doses of two drugs": (
        "She was treated with ceftriaxone 2 g daily and azithromycin 500 mg twice a day.",
        ["She was treated with ceftriaxone 2 g daily.",
        "She was treated with azithromycin 500 mg twice a day."]),
    "measures behind with": (
        "Velm is a kettle with a capacity of 2 litres and a power of 900 watts.",
        ["Velm is a kettle.", "Velm is a kettle with a capacity of 2 litres.",
        "Velm is a kettle with a power of 900 watts."]),
    "a role behind with": ("Anna is a nurse with a degree in law and a member of the council.",
        ["Anna is a nurse.", "Anna is a nurse with a degree.",
        "Anna is a nurse with a degree in law.", "Anna is a member of the council."]),
    "votes of two sides": ("Orr voted against the delay and the other three for it.",
        ["Orr voted against the delay and the other three for it."]),
    "a vote for one and against another": ("She voted for the motion and against the delay.",
        ["She voted for the motion.", "She voted against the delay."]),
    "a share each": ("Anna and Tom were each paid 5 crowns.",
        ["Anna and Tom were each paid 5 crowns."]),
    "items under a label": (
        ("- Otto Kern:\n  - order two new kilns\n    - check the old glaze\n- sweep the yard\n"
        "- The guild met.\n  - It paid 5 crowns.\n"),
        ["Otto Kern: Order two new kilns.", "Check the old glaze.", "Sweep the yard.",
        "The guild met.", "It paid 5 crowns."]),
    "a brother of the subject": ("Tom Orr left in May while his brother Jan stayed.",
        ["Tom Orr left in May.", "Tom Orr left in May while his brother Jan stayed.",
        "Tom Orr's brother Jan stayed.",
        "Jan is Tom Orr's brother."]),
    "a relative with a name": ("Eva Kern sold the mill. Her daughter, Ida, bought a barn.",
        ["Eva Kern sold the mill.", "Eva Kern's daughter bought a barn.",
        "Ida is Eva Kern's daughter."]),
    "whom somebody meets": ("Tom Orr was ill. Ida Kern advised him to stop.",
        ["Tom Orr was ill.", "Ida Kern advised Tom Orr to stop."]),
    "who did it before":
        ("That fire came just 10 days after Torres, responding to a report, shot Terry Knight.",
        ["That fire came just 10 days after Torres shot Terry Knight.",
        "That fire responded to a report.", "Torres shot Terry Knight."]),
    "what somebody says around":
        ("The delay, she said, would avoid noise. Rates, he added, may rise.",
        ["The delay, she said, would avoid noise.", "Rates, he added, may rise."]),
    "a share that is left out": (
        "One third is due on delivery, one third on signature and the rest in June.",
        ["One third is due on delivery, one third on signature and the rest in June."]),
    "two subjects of a verb": ("Ida Lim from the firm Peter Brett agreed.",
        ["Ida Lim from the firm Peter Brett agreed."]),
    "a list with semicolons": ("The sponsors were Kern, five (41%); Orr, three (25%); Lim, one.",
        ["The sponsors were Kern, five (41%); Orr, three (25%); Lim, one."]),
    "spaces in short forms":
        ("His friends didn ' t have a car. It wasn ' t late.",
        ["His friends didn't have a car.", "It wasn't late."]),
    "a letter in marks": ("The 's' key broke. Jacobus van 't Hoff taught.",
        ["The 's' key broke.", "Jacobus van 't Hoff taught."]),
    "a word with a colon": ("Analysis: Kern is a reporter. Our team was late.",
        ["Analysis: Kern is a reporter.", "Our team was late."]),
    "a title of who speaks": ('Velm grew. "It is late," said its founder, Eva Kern.',
        ["Velm grew.", "Eva Kern said: It is late."]),
    "who says more": ('Tom Orr met Jan Olson. "It is late," he said. "Nobody has come," he added.',
        ["Tom Orr met Jan Olson.", "Tom Orr said: It is late.", "Tom Orr added: Nobody has come."]),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), TOLD.values(), ids=TOLD)
def test_what_a_text_is_told_as(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


NO_FACTS = {
    "question": "Was the bridge closed?", "greeting": "Hello everyone!",
    "thanks": "Thank you for reading.",
    "question to come": "The next question is:.", "furniture": "Skip to content.",
    "small talk": "Great, thanks!", "lead-in": "The council decided:",
    "title": "Quarterly Report", "heading": "What went well.",
    "rest of a formula": "where h is the height of the Wall.",
    "dated title": "Release notes for Copperleaf 3.2, published 3 May",
    "address": "https://a.example/b", "one word": "Yes.",
    "code": "- x = f(1)", "metadata": "Priority: high",
    "ingredients": "## Ingredients\n\n- 1 onion",
    "amount": "- 200 g red lentils", "item heading": "3. New website",
    "log": "2024-05-01 12:00:01 ERROR disk",
    "traceback": '```\nFile "auth.py", line 88\n```',
}  # fmt: skip


@pytest.mark.parametrize("source", NO_FACTS.values(), ids=NO_FACTS)
def test_what_states_nothing_is_no_fact(source: str) -> None:
    assert texts(source) == []


KEPT = {
    "abstract": ["We found no effect of age or sex.", "Evidence in older adults is mixed."],
    "chat": ["Paul says the insurance only covers 200 euros."],
    "contract": [
        "The flat may only be used for residential purposes.",
        "The landlord bears all other costs.",
    ],
    "cv": ["Amira Haddad speaks Arabic, German and English."],
    "minutes": ["Travel costs doubled.", "Omar Reyes: Cancel the old hosting contract."],
    "news": ["Voss said: Nobody was hurt.", "Traffic was diverted through the old town."],
    "recipe": ["The soup freezes well if no cream is added."],
    "review": ["The case feels cheap."],
    "ticket": ["The bug does not occur on Linux."],
}


@pytest.mark.parametrize(("name", "expected"), KEPT.items())
def test_facts_of_texts_of_ten_kinds(name: str, expected: list[str]) -> None:
    found = texts((Path(__file__).parent / "texts" / f"{name}.txt").read_text("utf-8"))
    assert [fact for fact in expected if fact not in found] == []
