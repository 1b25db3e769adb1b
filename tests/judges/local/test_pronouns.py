"""A pronoun is replaced by a name only if one person, or one thing, can be meant."""

from __future__ import annotations

import pytest

from factcheck.judges.local.grammar import read_tokens
from factcheck.judges.local.pronouns import Mentions
from factcheck.judges.local.propositions import Propositions
from factcheck.judges.local.tree import Tree
from factcheck.judges.local.wording import Wording

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
    "a thing that ends like a role": ("Tom Orr said the boiler burns wood.", "He will retire.",
        "Tom Orr will retire."),
    "a thing in -er": ("The boiler burns wood.", "It leaks.", "The boiler leaks."),
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
    "a drug that begins a sentence": ("Troponin was raised at 0.8 units.",
        "She moved to Paris.", ""),
    "one that is explained": ("Tom Orr is a lawyer.", "He (the child) moved to Paris.", ""),
    "a team": ("Ajax have a clause in the deal.", "He moved to Paris.", ""),
    "a greeting": ("Hello Eva, it rained.", "She moved to Paris.", ""),
}  # fmt: skip


@pytest.mark.parametrize(("before", "sentence", "expected"), NAMED.values(), ids=NAMED)
def test_a_pronoun_is_replaced_only_if_one_person_can_be_meant(
    before: str, sentence: str, expected: str
) -> None:
    mentions = Mentions()
    for earlier in before.split("; "):
        mentions.read(Tree(earlier, read_tokens(earlier)))
    tree = Propositions(sentence, read_tokens(sentence))
    named = mentions.read(tree)
    longest = max(tree.read(), key=lambda each: len(each.segments[0]))
    assert Wording(tree, named).tell(longest.segments, None).text == (expected or sentence)
