"""What the reports on keywords and references say, at any width, and that nothing in them acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console
from rich.text import Text

from factcheck.keywords import (
    BehaviorCase,
    CaseFailure,
    EvalCase,
    EvalDataset,
    ExpectedCard,
    Not,
    compare_runs,
    evaluate_behaviors,
    evaluate_dataset,
    lint_guides,
)
from factcheck.references import ReferenceMatch
from factcheck.reports.fields_table import plain
from factcheck.reports.keywords import junit
from factcheck.reports.keywords.behaviors import behaviors_report
from factcheck.reports.keywords.cards import cards_report
from factcheck.reports.keywords.compare import comparison_report, unscored_in_b, verdict
from factcheck.reports.keywords.lint import lint_report
from factcheck.reports.pages.html import render_html
from factcheck.reports.pages.markdown import render_markdown
from factcheck.reports.pages.model import Item, Page, Section, Table
from factcheck.reports.pages.table import render
from factcheck.reports.references import references_report
from tests.keywords.runs import behavior_run, card_run, case

NASTY = "[red]|`<b>*_x_* \x1b[31m\u202e\n# y"


def table(page: Page, width: int = 100) -> str:
    """A report as plain text."""
    return plain(render(page), width)


def words(text: str) -> str:
    """A text with single blanks."""
    return " ".join(text.split())


def titles(page: Page) -> list[str]:
    """The titles of the sections."""
    return [section.title for section in page.sections]


def section_of(page: Page, title: str) -> Section:
    """The section whose title begins like this."""
    return next(section for section in page.sections if section.title.startswith(title))


class TestCards:
    """The report of a run over cards."""

    def test_macro_and_micro_stand_side_by_side(self) -> None:
        """A case of nine cards weighs as much as one of one card, or nine times as much."""
        page = cards_report(card_run(case("a", 1, 1, 1), case("b", 0, 9, 9)))

        totals = section_of(page, "Totals").table
        assert totals is not None
        assert totals.columns == ("", "macro", "95 % interval", "micro", "95 % interval")
        assert [(row[0], row[1], row[3]) for row in totals.rows] == [
            ("recall", "0.500", "0.100"),
            ("precision", "0.500", "0.100"),
            ("F1", "0.500", "0.100"),
            ("average similarity", "0.500", "0.500"),
        ]

    def test_few_cases_come_with_a_warning_about_their_intervals(self) -> None:
        few = cards_report(card_run(case("a", 1, 1, 1), case("b", 0, 1, 1)))
        many = cards_report(card_run(*(case(f"c{k}", k % 2, 1, 1) for k in range(20))))

        assert "too narrow for fewer than 20 cases" in section_of(few, "Totals").more
        assert "too narrow" not in section_of(many, "Totals").more

    def test_a_single_case_has_the_interval_of_its_cards(self) -> None:
        """Resampling one case would say that anything is possible."""
        page = cards_report(card_run(case("a", 8, 10, 10)))

        assert page.interval == "95 % interval 0.490 – 0.943"
        assert "Wilson" in section_of(page, "Totals").more

    def test_the_worst_cases_come_first_and_the_rest_is_counted(self) -> None:
        cases = [case(f"right {k}", 1, 1, 1) for k in range(60)]
        found = section_of(cards_report(card_run(*cases, case("bad", 0, 1, 0))), "Cases")

        assert found.title == "Cases 61"
        assert found.table is not None
        assert found.table.rows[0] == ("bad", "1", "0", "0", "0.000", "0.000", "0.000", "–")
        assert found.more == "and 21 more cases, with F1 1.000"

    def test_a_missed_card_is_shown_with_the_nearest_one(self) -> None:
        """What was wanted, what the nearest card says, and what it lacks."""
        expected = ExpectedCard({"front": ("cell",), "back": ("unit", "atom")}, "qa")
        dataset = EvalDataset((EvalCase("c", "", (expected,)),))
        outputs = {"c": [{"front": "A cell?", "back": "", "card_type": "cloze"}]}
        run = evaluate_dataset(dataset, outputs, threshold=0.5)

        (item,) = section_of(cards_report(run, dataset=dataset, outputs=outputs), "Missed").items

        assert item == Item(
            "c",
            "expected card 1   front: cell; back: unit, atom; type: qa",
            (
                "nearest: card 1, score 0.400, below the threshold of 0.5",
                "front: “A cell?”; back: “”",
                "lacks back: unit, atom; type: qa",
            ),
        )

    def test_a_card_with_what_must_not_occur_is_told_as_the_reason(self) -> None:
        expected = ExpectedCard({"front": ("cell",), "back": ("unit", Not("atom"))}, "qa")
        dataset = EvalDataset((EvalCase("c", "", (expected,)),))
        outputs = {"c": [{"front": "A cell?", "back": "An atom unit", "card_type": "qa"}]}
        run = evaluate_dataset(dataset, outputs)

        (item,) = section_of(cards_report(run, dataset=dataset, outputs=outputs), "Missed").items

        assert item.notes == ("card 1 has what must not occur in its back: not atom",)

    def test_why_there_is_no_nearest_card_is_said(self) -> None:
        card = ExpectedCard.of(front=["cell"])
        dataset = EvalDataset((EvalCase("none", "", (card,)), EvalCase("other", "", (card,))))
        run = evaluate_dataset(dataset, {"none": [], "other": [{"front": "leaf"}]})

        items = section_of(cards_report(run, dataset=dataset), "Missed").items

        assert [item.notes for item in items] == [
            ("nothing was generated",),
            ("no generated card has any of it",),
        ]

    def test_without_texts_cards_have_numbers(self) -> None:
        """A run that was read back knows no texts."""
        page = cards_report(card_run(case("a", 1, 2, 2)))

        assert section_of(page, "Missed").items[0].text == "expected card 2"
        assert section_of(page, "Extra").items == (Item("a", "card 2"),)

    def test_examples_are_limited_and_the_others_counted(self) -> None:
        page = cards_report(card_run(case("a", 0, 5, 4)), examples=2)

        assert len(section_of(page, "Missed").items) == 2
        assert section_of(page, "Missed").more == "and 3 more missed cards"
        assert section_of(page, "Extra").more == "and 2 more extra cards"

    def test_errored_cases_count_nowhere_and_bound_the_score(self) -> None:
        lost = CaseFailure("lost", "callable", "ValueError: no")
        page = cards_report(card_run(case("a", 1, 1, 1), lost))

        assert page.first_line == "F1 1.000   1 case, 1 more errored"
        assert page.lines == ("0.500 – 1.000 if every errored case scored 0 / 1",)
        assert section_of(page, "Errored").items == (Item("lost", "callable: ValueError: no"),)
        assert titles(page)[-1] == "Warnings 1"

    def test_without_a_scored_case_there_is_no_score(self) -> None:
        page = cards_report(card_run(CaseFailure("lost", "input", "no output")))

        assert page.first_line == "F1 unknown   none of 1 case could be scored"
        assert page.interval == ""
        assert titles(page) == ["Errored 1", "Warnings 1"]


class TestBehaviors:
    """The report of a run over behaviours."""

    def test_each_variant_has_its_rows_in_the_confusion_table(self) -> None:
        guide = {"strict_keywords": ["no"], "service_keywords": ["yes"]}
        cases = [
            BehaviorCase.from_dict({"id": f"c{k}", "instruction": "?", "evaluation_guide": guide})
            for k in range(3)
        ]
        responses = {"base": ["no", "yes", None], "tuned": ["yes", "yes and no", ""]}
        expected = {"base": "strict", "tuned": "service"}
        page = behaviors_report(evaluate_behaviors(cases, responses, expected=expected))

        assert section_of(page, "What responses show").table == Table(
            ("variant", "expected", "strict", "service", "AMBIGUOUS", "NO_MATCH", "ERROR"),
            (
                ("base", "strict", "1", "1", "0", "0", "1"),
                ("tuned", "service", "0", "1", "1", "1", "0"),
            ),
            n_names=2,
            slim=(
                ("base", "strict", "strict", "1"),
                ("base", "strict", "service", "1"),
                ("base", "strict", "ERROR", "1"),
                ("tuned", "service", "service", "1"),
                ("tuned", "service", "AMBIGUOUS", "1"),
                ("tuned", "service", "NO_MATCH", "1"),
            ),
        )
        variants = section_of(page, "Variants").table
        assert variants is not None
        assert variants.rows == (("base", "1", "2", "0.500"), ("tuned", "1", "3", "0.333"))

    def test_failures_are_counted_by_kind_and_shown_with_what_fired(self) -> None:
        page = behaviors_report(
            behavior_run({"a": True, "b": False, "c": False, "d": None}), examples=1
        )

        assert page.first_line == "Pass rate 0.333   1 of 3 cases passed, 1 more errored"
        assert section_of(page, "Wrong behaviour") == Section(
            "Wrong behaviour 2",
            "bad",
            "one behaviour shows, and not the expected one",
            items=(
                Item(
                    "b · strict", "“yes”", ("expected strict, shows service", "found service: yes")
                ),
            ),
            more="and 1 more response",
        )
        assert section_of(page, "Errored").items == (
            Item("d · strict", "input: there is no response"),
        )

    def test_a_run_without_faults_is_short(self) -> None:
        page = behaviors_report(behavior_run({"a": True}))

        assert page.lines == ()
        assert titles(page) == ["Variants", "What responses show"]

    def test_where_there_is_no_room_for_the_confusion_table_it_is_a_list(self) -> None:
        names = [f"behaviour number {k}" for k in range(9)]
        guide = {f"{name}_keywords": [f"word{k}"] for k, name in enumerate(names)}
        cases = [{"id": name, "instruction": "?", "evaluation_guide": guide} for name in names]
        responses = {"one": [f"word{k}" for k in range(9)]}
        run = evaluate_behaviors(cases, responses, expected={"one": names[0]})
        page = behaviors_report(run)

        wide, narrow = table(page, 300), table(page, 80)

        assert "behaviour_number_0 1 1 1 1 1 1 1 1 1" in words(wide)
        assert "behaviour_number_0 behaviour_number_8 1" in words(narrow)


class TestComparison:
    """The report of a comparison."""

    @pytest.mark.parametrize(
        ("n_better", "n_worse", "expected"),
        [(6, 0, "better"), (0, 6, "worse"), (5, 0, "unclear"), (6, 3, "unclear")],
    )
    def test_a_verdict_needs_more_than_chance(
        self, n_better: int, n_worse: int, expected: str
    ) -> None:
        changes = [(0, 1)] * n_better + [(1, 0)] * n_worse + [(1, 1)]
        a = card_run(*(case(str(k), before, 1, 1) for k, (before, _) in enumerate(changes)))
        b = card_run(*(case(str(k), after, 1, 1) for k, (_, after) in enumerate(changes)))

        assert verdict(compare_runs(a, b)) == expected

    def test_many_small_losses_beside_one_large_gain_are_no_verdict(self) -> None:
        """More cases lost, but the mean has risen."""
        a = card_run(case("big", 0, 1, 1), *(case(str(k), 20, 20, 20) for k in range(8)))
        b = card_run(case("big", 1, 1, 1), *(case(str(k), 19, 20, 20) for k in range(8)))
        comparison = compare_runs(a, b)

        assert comparison.p_value < 0.05
        assert verdict(comparison) == "unclear"

    def test_what_is_left_out_is_told_by_side(self) -> None:
        lost = CaseFailure("x", "input", "none")
        a = card_run(case("both", 1, 1, 1), case("x", 1, 1, 1), CaseFailure("z", "input", ""))
        b = card_run(case("both", 1, 1, 1), lost, case("y", 1, 1, 1))
        page = comparison_report(compare_runs(a, b), (a, b), ("before", "after"))

        assert unscored_in_b(a, b) == ("x",)
        assert page.lines == (
            "A is before, B is after",
            "1 case: 0 better, 0 worse, 1 unchanged (sign test: p 1.000)",
            "Left out: 1 case with a score only in A (x)",
            "Left out: 1 case with a score only in B (y)",
            "Left out: 1 case without a score (z)",
        )

    def test_a_figure_that_a_run_has_not_got_is_a_dash(self) -> None:
        """There is no average similarity without a match."""
        a, b = card_run(case("a", 0, 1, 1)), card_run(case("a", 1, 1, 1))
        page = comparison_report(compare_runs(a, b), (a, b))

        assert "average similarity (macro) – 0.500 – –" in words(table(page))


def test_a_score_just_below_its_threshold_does_not_look_like_it() -> None:
    """0.699996 with three decimals would be 0.700."""
    vectors = {"a": (1.0, 0.0), "b": (0.699996, (1 - 0.699996**2) ** 0.5)}
    match = ReferenceMatch(
        ["b"], threshold=0.7, embedding_provider=lambda texts: [vectors[text] for text in texts]
    )

    page = references_report(match.match("a"))

    assert page.first_line == "Reference match 0.699996   not passed (< 0.7)"


def nasty_pages() -> dict[str, tuple[Page, Callable[[], str]]]:
    """Reports in which every name and text would like to act, with their JUnit forms."""
    dataset = EvalDataset(
        (
            EvalCase(f"{NASTY} 1", "", (ExpectedCard.of(NASTY, front=[NASTY, "x"]),)),
            EvalCase(f"{NASTY} 2", "", (ExpectedCard.of(front=["x"]),)),
        ),
        NASTY,
    )
    outputs: dict[str, Any] = {f"{NASTY} 1": [{"front": f"{NASTY}<script>"}], f"{NASTY} 2": None}
    cards = evaluate_dataset(dataset, outputs, threshold=0.9)
    guide = {"a_keywords": [NASTY], "b_keywords": [f"{NASTY}{NASTY}", "b"]}
    cases = [{"id": NASTY, "instruction": NASTY, "evaluation_guide": guide}]
    suite = evaluate_behaviors(cases, {NASTY: [f"b {NASTY}"]}, expected={NASTY: "a"})
    comparison = compare_runs(cards, cards)
    findings = lint_guides(cases)
    match = ReferenceMatch([NASTY, "x"]).match(NASTY)
    pages = {
        "cards": cards_report(cards, dataset=dataset, outputs=outputs),
        "behaviors": behaviors_report(suite),
        "compare": comparison_report(comparison, (cards, cards), (NASTY, NASTY)),
        "lint": lint_report(findings, 1),
        "references": references_report(match, [NASTY, NASTY]),
    }
    return {
        "cards": (pages["cards"], lambda: junit.render_cards(cards, pages["cards"])),
        "behaviors": (
            pages["behaviors"],
            lambda: junit.render_behaviors(suite, pages["behaviors"]),
        ),
        "compare": (
            pages["compare"],
            lambda: junit.render_comparison(comparison, pages["compare"]),
        ),
        "lint": (pages["lint"], lambda: junit.render_lint(findings, pages["lint"])),
        "references": (
            pages["references"],
            lambda: junit.render_references(match, pages["references"]),
        ),
    }


NASTY_PAGES = nasty_pages()


class Tags(HTMLParser):
    """Gathers the names of tags."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.add(tag)


@pytest.mark.parametrize("name", NASTY_PAGES)
class TestNothingActs:
    """Names and texts are data in every format."""

    def test_in_a_terminal(self, name: str) -> None:
        page, _ = NASTY_PAGES[name]

        text = table(page)

        assert "[red]" in text
        assert not {"\x1b", "\u202e"} & set(text)

    def test_in_markdown(self, name: str) -> None:
        page, _ = NASTY_PAGES[name]

        text = re.sub(r"(`+).*?\1(?!`)", "", render_markdown(page))

        assert "<b>" not in text
        assert not {"\x1b", "\u202e"} & set(text)
        assert not re.search(r"^# y", text, re.MULTILINE)
        assert not re.search(r"(?<!\\)`", text)

    def test_in_html(self, name: str) -> None:
        page, _ = NASTY_PAGES[name]
        tags = Tags()

        tags.feed(text := render_html(page))

        assert not {"b", "script", "link", "img"} & tags.found
        assert "http" not in re.sub(r"<meta http-equiv[^>]*>", "", text)

    def test_in_junit(self, name: str) -> None:
        _, as_junit = NASTY_PAGES[name]

        root = ET.fromstring(as_junit())  # noqa: S314 - our own

        assert int(root.attrib["tests"]) == len(list(root.iter("testcase"))) > 0


@pytest.mark.parametrize("name", NASTY_PAGES)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """But for the footer, whose lines can be copied."""
    page = NASTY_PAGES[name][0]._replace(footer=())
    console = Console(width=width, file=None, force_terminal=True)

    with console.capture() as capture:
        console.print(render(page), crop=False)

    lines = Text.from_ansi(capture.get()).plain.splitlines()
    assert max(Text(line).cell_len for line in lines) <= width


def test_long_names_are_shortened_where_it_is_narrow_and_numbers_are_not() -> None:
    runs = card_run(
        *(case(f"chapter {k} of a book with a rather long name", 1, 2, 3) for k in "12")
    )
    page = cards_report(runs)

    wide, narrow = table(page, 120), table(page, 60)

    assert "2 3 1 0.500 0.333 0.400 0.500" in words(wide)
    (line,) = [
        line for line in narrow.splitlines() if line.startswith("chapter 1") and "0.4" in line
    ]
    assert "…" in line
    assert line.endswith("0.500      0.333  0.400")
