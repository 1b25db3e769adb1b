"""What the reports on keywords and references say, at any width, and that nothing in them acts."""

from __future__ import annotations

import pytest

from factcheck.keywords import (
    CardCase,
    CardDataset,
    ExpectedCard,
    Not,
    evaluate_dataset,
)
from factcheck.references import ReferenceMatch
from factcheck.reports.page import Item, Page, Section
from tests.keywords.runs import card_run, case


def section_of(page: Page, title: str) -> Section:
    """The section whose title begins like this."""
    return next(section for section in page.sections if section.title.startswith(title))


def test_the_worst_cases_come_first_and_the_rest_is_counted() -> None:
    cases = [case(f"right {k}", 1, 1, 1) for k in range(60)]
    found = section_of(card_run(*cases, case("bad", 0, 1, 0)).page(), "Cases")
    assert found.title == "Cases 61"
    assert found.table is not None
    assert found.table.rows[0] == ("bad", "1", "0", "0", "0.000", "0.000", "0.000", "–")
    assert found.more == "and 21 more cases"


def test_a_missed_card_is_shown_with_the_nearest_one() -> None:
    """What it lacks, and what it says."""
    expected = ExpectedCard({"front": ("cell",), "back": ("unit", "atom")}, "qa")
    dataset = CardDataset((CardCase("c", "", (expected,)),))
    outputs = {"c": [{"front": "A cell?", "back": "", "card_type": "cloze"}]}
    run = evaluate_dataset(dataset, outputs, threshold=0.5)

    (item,) = section_of(run.page(outputs=outputs), "Missed").items

    assert item == Item(
        "c",
        "expected card 1   lacks back: unit, atom",
        (
            "nearest: card 1, score 0.400, below the threshold of 0.5",
            "front: “A cell?”; back: “”; card_type: “cloze”",
        ),
    )


@pytest.mark.parametrize(
    ("cards", "note"),
    [
        ([], "nothing was generated"),
        ([{"front": "A cell?", "back": "An atom"}], "no generated card scores above 0"),
    ],
)
def test_a_missed_card_without_a_nearest_one_says_why(
    cards: list[dict[str, str]], note: str
) -> None:
    expected = ExpectedCard({"front": ("cell",), "back": ("unit", Not("atom"))})
    run = evaluate_dataset(CardDataset((CardCase("c", "", (expected,)),)), {"c": cards})
    (item,) = section_of(run.page(), "Missed").items
    assert item.notes == (note,)


def test_without_texts_cards_have_numbers_and_examples_are_limited() -> None:
    """A run that was read back has no texts."""
    page = card_run(case("a", 0, 15, 14)).page()
    missed, extra = section_of(page, "Missed"), section_of(page, "Extra")
    assert [item.text for item in missed.items[:2]] == ["expected card 1", "expected card 2"]
    assert missed.more == "and 5 more missed cards"
    assert extra.items[:2] == (Item("a", "card 1"), Item("a", "card 2"))
    assert extra.more == "and 4 more extra cards"


def test_a_score_just_below_its_threshold_does_not_look_like_it() -> None:
    """0.699996 with three decimals would be 0.700."""
    vectors = {"a": (1.0, 0.0), "b": (0.699996, (1 - 0.699996**2) ** 0.5)}
    match = ReferenceMatch(
        ["b"], threshold=0.7, embedding_provider=lambda texts: [vectors[text] for text in texts]
    )
    page = match.match("a").page()
    assert page.first_line == "Reference match 0.699996   not passed (< 0.7)"
