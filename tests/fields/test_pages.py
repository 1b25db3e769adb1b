"""The reports of runs and comparisons: what they say, and that nothing in a record acts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    Registry,
    RunResult,
    annotate_xeval,
    compare_runs,
    evaluate,
)
from factcheck.reports import render
from factcheck.reports.page import Page
from factcheck.reports.table import render as table

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
NASTY = "[red]|`<b>*_x_* \x1b[31m\u202e\n# y"


def schema_of(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "x-eval-skip": True}
            if comparator is None
            else {"type": "string", "x-eval-compare": comparator}
            for name, comparator in fields.items()
        },
    }


def run_of(
    pairs: Sequence[tuple[Any, Any]], _registry: Registry | None = None, **fields: Any
) -> RunResult:
    gold, extracted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return evaluate(gold, extracted, schema_of(**fields), registry=_registry)


def silent(*records: str) -> Registry:
    class Silent:
        is_batch = True

        def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
            if any(item.gold_raw in records for item in items):
                raise RuntimeError("nobody is there")
            return [ComparatorResult(float(i.gold_raw == i.extracted_raw), "silent") for i in items]

    registry = Registry()
    registry.register("silent", Silent())
    return registry


def mixed() -> RunResult:
    gold = [{"a": "x", "b": "y"}] * 4
    extracted = [{"a": "z", "b": "y"}, {"a": "z", "b": "y"}, {"b": "y"}, {**gold[3], "c": "new"}]
    return run_of(list(zip(gold, extracted, strict=True)), a="exact", b="exact")


def rows_of(page: Page) -> dict[str, tuple[str, ...]]:
    [found] = [section.table for section in page.sections if section.title == "Fields by gain"]
    assert found is not None
    return {row[0]: row[1:] for row in found.rows}


def line_of(text: str, start: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(start))


def test_the_scores_come_first() -> None:
    run = mixed()
    lines = table(run.page(intervals=run.intervals())).splitlines()

    assert lines[0].startswith("F1 0.617   mean over 4 records (macro)   95 % interval 0.5")
    assert lines[1].startswith("Precision 0.667 (0.5")
    assert ", recall 0.625 (0.5" in lines[1]
    assert lines[2] == "All fields (micro): F1 0.625, precision 0.625, recall 0.625"
    assert lines[3] == "9 fields: 5 match, 2 mismatch, 1 omission, 1 hallucination"
    assert not lines[4]


def test_a_run_prints_its_report() -> None:
    run = mixed()
    assert str(run) == table(run.page())
    assert repr(run) == "<RunResult: F1 0.617   mean over 4 records (macro)>"


def test_fields_are_sorted_by_gain() -> None:
    rows = rows_of(mixed().page())

    assert [(field, row[-1]) for field, row in rows.items()] == [
        ("a", "+0.316"),  # 2 * 8 / (9 + 8) - 2 * 5 / (8 + 8)
        ("c", "+0.042"),  # 2 * 5 / (7 + 8) - 2 * 5 / (8 + 8)
        ("b", ""),
    ]
    assert rows["a"][:-1] == ("0.286", "0.333", "0.250", "4", "2", "1", "0")


def test_a_gain_takes_weights_into_account() -> None:
    pairs = [({"a": "x", "b": "x"}, {"a": "z", "b": "z"})] * 2 + [({"b": "x"}, {"b": "z"})]
    run = run_of(pairs, a="exact", b="exact")
    assert next(iter(rows_of(run.page()))) == "b"
    assert next(iter(rows_of(replace(run, weights={"a": 5.0}).page()))) == "a"


@given(
    st.lists(
        st.tuples(*(st.sampled_from(["x", "z", None]) for _ in range(6))), min_size=1, max_size=6
    )
)
def test_a_gain_is_what_a_perfect_field_would_add(rows: list[tuple[str | None, ...]]) -> None:
    fields: dict[str, Any] = dict.fromkeys("abck", "exact")

    def record(values: Sequence[str | None]) -> dict[str, str]:
        found = {name: v for name, v in zip("abc", values, strict=True) if v is not None}
        return {**found, "k": "x"}  # two empty records would be a match of their own

    sides = [(record(row[:3]), record(row[3:])) for row in rows]
    run = run_of(sides, **fields)
    for name, row in rows_of(run.page()).items():
        perfect = [
            (g, {key: v for key, v in {**e, name: g.get(name)}.items() if v is not None})
            for g, e in sides
        ]
        gain = run_of(perfect, **fields).micro.f1 - run.micro.f1
        assert float(row[-1] or 0) == pytest.approx(gain, abs=0.00051)
        assert bool(row[-1]) == (gain > 1e-9)


def test_the_worst_example_comes_first() -> None:
    registry = Registry()
    registry.register("near", lambda g, e, _: ComparatorResult(0.9 if e in g else 0.1, "near"))
    pairs = [({"a": "xy"}, {"a": "x"}), ({"a": "xy"}, {"a": "q"})]
    [section] = run_of(pairs, registry, a="near").page().sections[1:]
    assert [item.change and item.change[1] for item in section.items] == ['"q"', '"x"']


def test_examples_are_limited_and_the_rest_is_counted() -> None:
    run = run_of([({"a": f"x{n}"}, {"a": "z"}) for n in range(5)], a="exact")
    [_, section] = run.page(examples=2).sections
    assert (len(section.items), section.more) == (2, "and 3 more")
    assert len(run.page(examples=0).sections) == 1


def test_nothing_scored_is_no_score() -> None:
    """A run without a verdict shows no number that could be taken for one."""
    run = run_of([({"a": "x"}, {"a": "x"})] * 2, silent("x"), a="silent")
    page = run.page(intervals=run.intervals())

    for text in (table(page), render(page, "markdown")):
        assert "Nothing was scored" in text
        assert "2 values without a verdict: comparator" in text
        assert "nobody is there" in text
        assert "F1" not in text
        assert "1.0" not in text
    assert table(run_of([], a="exact").page()) == "Nothing was scored   0 records"


def test_undecided_records_are_reported_beside_the_mean() -> None:
    """In the mean they count as right, so the mean without them is given, too."""
    pairs = [({"a": "x"}, {"a": "x"}), ({"a": "g"}, {"a": "z"}), ({"a": "h"}, {"a": "h"})]
    text = table(run_of(pairs, silent("x"), a="silent").page())
    assert text.startswith("F1 0.667   mean over 3 records (macro), 1 of them undecided")
    assert "Mean F1 counts 1 record without any verdict as 1" in text
    assert "without such records it is 0.500" in text


def test_undecided_values_give_bounds() -> None:
    pairs = [({"a": "x", "b": "y"}, {"a": "x", "b": "y"}), ({"a": "g"}, {"a": "z"})]
    text = table(run_of(pairs, silent("x"), a="silent", b="exact").page())
    assert text.startswith("F1 0.500   mean over 2 records (macro)")
    assert "If every undecided value were wrong / right, F1 would be 0.250 / 0.500" in text


def test_a_field_that_was_never_scored_has_no_numbers() -> None:
    text = table(run_of([({"a": "x", "b": "y"},) * 2], a="exact", b=None).page())
    assert line_of(text, "b ") == ["b", "–", "–", "–", "0", "0", "0", "0"]
    assert "Not counted: 1 skipped" in text
    assert "undecided" not in text


def test_a_share_of_nothing_is_no_number() -> None:
    """A hallucinated field has no recall, and a field that is never extracted no precision."""
    pairs = [({"a": "x", "b": "y"}, {"a": "x", "c": "new"})]
    text = table(run_of(pairs, a="exact", b="exact").page())
    assert line_of(text, "c ")[:5] == ["c", "0.000", "0.000", "–", "0"]
    assert line_of(text, "b ")[:5] == ["b", "0.000", "–", "0.000", "1"]


def test_why_there_is_no_score_is_said_to_the_end() -> None:
    amount = {"x-eval-transform": ["parse_number"], "x-eval-compare": "numeric"}
    schema = {"type": "object", "properties": {"amount": {"type": "string", **amount}}}
    found = [{"amount": text} for text in ("1,240", "1,240", "2,480", "7")]
    text = table(evaluate(found, found, schema).page(), 300)

    line = next(line for line in text.splitlines() if line.startswith("amount  3"))
    assert line.startswith("amount  3 values could not be compared, for example: transform of")
    assert "'1,240' is ambiguous" in line
    assert line.endswith("set 'decimal' to '.' or ','")


def test_one_record_has_no_interval() -> None:
    run = run_of([({"a": "x"}, {"a": "x"})], a="exact")
    text = table(run.page(intervals=run.intervals()))
    assert text.startswith("F1 1.000   1 record\nPrecision 1.000, recall 1.000\n")


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_table_fits_its_width(width: int) -> None:
    """In a narrow one, names of fields keep their room and shares give way."""
    name = "a_name_of_medium_length"
    fields: dict[str, Any] = {name: "exact", "b" * 200: "exact", "漢字" * 40: "exact"}
    gold = dict.fromkeys(fields, "x" * 500)
    text = table(run_of([(gold, dict.fromkeys(fields, "z"))], **fields).page(), width)

    assert all(Text(line).cell_len <= width for line in text.splitlines())
    assert line_of(text, name)[0] == name
    assert ("P" in line_of(text, "field")) == (width > 60)


def test_many_fields_are_cut_to_the_costliest() -> None:
    fields: dict[str, Any] = {f"f{n}": "exact" for n in range(2_000)}
    gold = dict.fromkeys(fields, "x")
    page = run_of([(gold, gold | dict.fromkeys(list(fields)[:50], "z"))], **fields).page()

    assert len(rows_of(page)) == 40
    assert len(page.sections) == 1 + 10
    assert page.sections[0].more == "and 1,960 more fields"


@pytest.mark.parametrize("to", ["table", "markdown", "html", "junit", "csv"])
def test_nothing_in_a_record_acts(to: str) -> None:
    """Markup, control characters and line breaks in names, ids and values are shown as text."""
    gold = {NASTY: NASTY, "id": NASTY}
    extracted = {"id": NASTY, NASTY: "z", NASTY * 2: 1}
    run = evaluate([gold], [extracted], schema_of(**{NASTY: "exact"}), "id")
    text = render(run.page(notes=[NASTY.replace("\n", " ")]), to)

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert ("<b>" in text) == (to in {"table", "csv"})
    if to != "csv":
        assert not any(line.startswith("# y") for line in text.splitlines())


def test_a_run_is_a_suite_with_a_case_for_each_field() -> None:
    """Those that lost something fail; `gated` skips them where no gate fails."""
    cases = {case.name: (case.status, case.message) for case in mixed().page().cases}
    assert {name: status for name, (status, _) in cases.items()} == {
        "a": "failed", "b": "passed", "c": "failed"
    }  # fmt: skip
    assert cases["a"][1].startswith("F1 0.286: ")


def test_html_shows_gold_beside_extracted_and_filters_without_scripts() -> None:
    pairs = [({"a": "same", "b": "2024"}, {"a": "same", "b": "2025"}), ({"a": "x"}, {"c": NASTY})]
    text = render(run_of(pairs, a="exact", b="exact").page(), "html")
    sheet = text[text.index('<section class="sheet">') : text.index("</main>")]

    assert [sheet.count(f">{name}</option>") for name in ("a", "b", "c")] == [1, 1, 1]
    assert sheet.count('type="checkbox"') == 4
    assert "202<mark>4</mark>" in sheet
    assert "202<mark>5</mark>" in sheet
    assert sheet.index("1: F1 0.000, 2 fields lost") < sheet.index("0: F1 0.500, 1 field lost")
    assert "<b>" not in sheet
    assert "<script" not in text


def test_a_sheet_has_the_worst_records() -> None:
    pairs = [({"a": str(n)}, {"a": "7"}) for n in range(250)]
    text = render(run_of(pairs, a="exact").page(), "html")
    assert text.count("<details open><summary>") == 200
    assert "and 50 more records" in text
    assert "7: F1 1.000" not in text


def test_objects_and_lists_have_the_sums_of_their_fields() -> None:
    item = {
        "type": "object",
        "properties": {"n": INTEGER, "tags": {"type": "array", "items": TEXT}},
    }
    box = {"type": "object", "properties": {"lines": {"type": "array", "items": item}}}
    schema = annotate_xeval({"type": "object", "properties": {"box": box, "a.b": TEXT}})
    schema["properties"]["box"]["properties"]["lines"]["items"]["properties"]["n"][
        "x-eval-weight"
    ] = 3
    gold = {"a.b": "x", "box": {"lines": [{"n": 1, "tags": ["a", "b"]}]}}
    run = evaluate([gold], [{"box": {"lines": [{"n": 1, "tags": ["a", "c"]}]}}], schema)

    assert list(run.rollup()) == ["box", "box.lines", "box.lines[].tags"]
    assert run.rollup()["box"].counts == {"match": 2, "mismatch": 1}
    assert [one.f1 for one in run.rollup().values()] == pytest.approx([0.8, 0.8, 0.5])
    assert "box.lines[].tags  0.500  0.500  0.500        2         1" in table(run.page())


def test_csv_has_a_row_for_each_field_result() -> None:
    rows = list(csv.DictReader(io.StringIO(render(mixed().page(), "csv"))))

    assert len(rows) == 9
    assert rows[0]["gold"] == "x"
    assert [row["status"] for row in rows if row["field"] == "a"] == [
        *("mismatch", "mismatch", "omission", "match")
    ]


def compared(names: tuple[str, str] = ("", "")) -> Any:
    gold = [{"id": n, "a": "x", "b": "y", "c": "w"} for n in range(30)]
    before = [{**record, "a": "z" if n % 2 else "x"} for n, record in enumerate(gold)]
    after = [{**record, "b": "z" if n % 3 else "y"} for n, record in enumerate(gold)]
    score = partial(evaluate, schema=schema_of(a="exact", b="exact", c="exact", id=None))
    return compare_runs(
        score(gold, before, id_field="id"), score(gold[:-1], after[:-1], id_field="id"), names=names
    )


def test_a_comparison_lists_fields_won_and_lost() -> None:
    lines = str(compared(("one.json", "two.json"))).splitlines()

    assert lines[0].startswith("F1 0.839 → 0.782 (-0.057)   ")
    assert lines[1] == "A is one.json, B is two.json"
    assert lines[2].startswith("29 records: 5 better, 10 worse, 14 equal")
    assert lines[3] == "3 fields: 1 won, 1 lost, 1 without significant difference"
    assert lines[4] == "Excluded: 1 record only in A (29)"
    assert lines[lines.index("Won 1") + 3].startswith("a ")
    assert lines[lines.index("Lost 1") + 3].startswith("b ")
    assert lines[lines.index("No significant difference 1") + 1] == "1 field with equal F1"


def test_a_comparison_of_equal_runs_wins_nothing() -> None:
    page = compare_runs(mixed(), mixed()).page()

    assert page.first_line == "F1 0.617 → 0.617 (+0.000)   no significant difference"
    assert [section.title for section in page.sections] == [
        "Overall",
        "No significant difference 3",
    ]


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_comparison_fits_its_width(width: int) -> None:
    text = table(compared().page(), width)
    assert all(len(line) <= width for line in text.splitlines())


def test_a_comparison_has_every_format() -> None:
    page = compared().page()
    rows = {row["field"]: row for row in csv.DictReader(io.StringIO(render(page, "csv")))}
    suite = ET.fromstring(render(page, "junit")).find("testsuite")  # noqa: S314 - our own

    assert "| a | 0.517 | 1.000 | +0.483 |" in render(page, "markdown")
    assert [rows[name]["verdict"] for name in "abc"] == ["won", "lost", "unchanged"]
    assert float(rows["a"]["difference"]) == pytest.approx(14 / 29)
    assert float(rows["a"]["low"]) > 0
    assert suite is not None
    assert [bool(list(case)) for case in suite.iter("testcase")] == [False, True, False]
    assert "<h1>" in render(page, "html")
