"""Lists of facts as models write them: a statement, then the words that continue it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import dspy
import pytest
from dspy.utils import DummyLM
from hypothesis import given
from hypothesis import strategies as st

from factcheck import KeyFactExtraction
from factcheck.facts import FactSet
from factcheck.judges.llm.replies import statements
from factcheck.testing import FactModel
from tests.judges.llm.conftest import MakeSetup

LONG = "... and its crew of fourteen left the sinking ferry in two small boats"


@pytest.mark.parametrize(
    ("entries", "written"),
    [
        (
            ["It sank.", "... in May", "… off Crete.", "It was old."],
            ["It sank.", "It sank in May.", "It sank off Crete.", "It was old."],
        ),
        (["It sank", "...in May"], ["It sank", "It sank in May"]),
        (["It sank!", "... in May"], ["It sank!", "It sank in May!"]),
        (["... in May", "... off Crete"], ["in May", "in May off Crete"]),
        (["It sank.", LONG], ["It sank.", LONG.removeprefix("... ")]),
        (["Did it sank?", "...", "It\nsank."], ["It sank."]),
    ],
)
def test_details_are_written_out(entries: Sequence[str], written: Sequence[str]) -> None:
    assert [statement.text for statement in statements(entries)] == written


@given(st.lists(st.text(alphabet="ab .…?", min_size=1)))
def test_a_detail_names_a_statement_that_came_before_it(entries: Sequence[str]) -> None:
    seen: set[str | None] = {None}
    for statement in statements(entries):
        assert statement.core in seen
        seen.add(statement.text)


def linked(facts: FactSet) -> list[tuple[str, str, str | None]]:
    return [(fact.id, fact.text, fact.core) for fact in facts]


def test_details_know_their_core_also_from_the_cache(llm: MakeSetup, tmp_path: Path) -> None:
    entries = ("It sank.", "... in May", "It sank.", "... off Crete")
    scorer, server = llm(FactModel(facts=lambda _source: entries), cache=tmp_path)
    expected = [
        ("f1", "It sank.", None),
        ("f2", "It sank in May.", "f1"),
        ("f3", "It sank off Crete.", "f1"),
    ]
    assert linked(scorer.extract("It sank in May off Crete.")) == expected
    assert linked(scorer.extract("It sank in May off Crete.")) == expected
    assert len(server.requests) == 1


def test_what_two_sections_say_alike_is_one_group(llm: MakeSetup) -> None:
    source = "It sank in May off Crete. " * 1_000
    answers = {
        True: ("The old ferry sank.", "... in May"),
        False: ("The ferry sank.", "... in May"),
    }
    firsts: list[str] = []

    def facts(section: str) -> Sequence[str]:
        firsts.append(section)
        return answers[len(firsts) == 1]

    scorer, server = llm(FactModel(facts=facts))
    assert linked(scorer.extract(source)) == [
        ("f1", "The old ferry sank.", None),
        ("f2", "The old ferry sank in May.", "f1"),
    ]
    assert len(server.requests) > 1


def test_the_module_gives_whole_statements() -> None:
    scripted = DummyLM([{"facts": ["It sank.", "... in May"]}], adapter=dspy.JSONAdapter())
    with dspy.context(lm=scripted):
        facts = KeyFactExtraction()(source="It sank in May.").facts
    assert facts == ["It sank.", "It sank in May."]
