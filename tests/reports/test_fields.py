"""What the reports of field evaluations say, and that nothing in them acts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from factcheck.fields import ComparatorResult, Registry, RunResult, compare_runs, evaluate
from factcheck.fields.types import BatchItem
from factcheck.reports.fields import FieldsReport, fields_report
from factcheck.reports.fields_compare import comparison_report
from factcheck.reports.fields_csv import render_comparison as comparison_csv
from factcheck.reports.fields_csv import render_rows
from factcheck.reports.fields_markdown import render_comparison as comparison_markdown
from factcheck.reports.fields_markdown import render_markdown
from factcheck.reports.fields_table import plain, render, render_comparison
from factcheck.reports.fields_values import LONGEST, shortened_pair, value_text
from factcheck.stats import Interval

NASTY = "[red]|`<b>*_x_* \x1b[31m\u202e\n# y"


def schema_of(**fields: Any) -> dict[str, Any]:
    """A schema of fields with these comparators; `None` skips a field."""
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
    """The run of pairs of a gold and an extracted record."""
    gold, extracted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return evaluate(gold, extracted, schema_of(**fields), registry=_registry)


def deaf(*records: str) -> Registry:
    """A registry whose comparator `deaf` has no answer for records with these values."""

    class Deaf:
        is_batch = True

        def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
            if any(item.gold_raw in records for item in items):
                raise RuntimeError("nobody is there")
            return [ComparatorResult(float(i.gold_raw == i.extracted_raw), "deaf") for i in items]

    registry = Registry()
    registry.register("deaf", Deaf())
    return registry


def mixed() -> RunResult:
    """Four records: `a` wrong twice in the same way and once missing, `b` right, `c` invented."""
    gold = [{"a": "x", "b": "y"}] * 4
    extracted = [{"a": "z", "b": "y"}, {"a": "z", "b": "y"}, {"b": "y"}, {**gold[3], "c": "new"}]
    return run_of(list(zip(gold, extracted, strict=True)), a="exact", b="exact")


def table(report: FieldsReport, width: int = 100) -> str:
    """The report as plain text."""
    return plain(render(report), width)


def line_of(text: str, start: str) -> list[str]:
    """The words of the first line that begins like this."""
    return next(line.split() for line in text.splitlines() if line.startswith(start))


def test_the_scores_come_first() -> None:
    """Mean F1 with its interval, precision and recall, micro beside, then the counts."""
    run = mixed()
    lines = table(fields_report(run, intervals=run.intervals())).splitlines()

    assert lines[0].startswith("F1 0.617   mean over 4 records (macro)   95 % interval 0.5")
    assert lines[1].startswith("Precision 0.667 (0.5")
    assert ", recall 0.625 (0.5" in lines[1]
    assert lines[2] == "All fields at once (micro): F1 0.625, precision 0.625, recall 0.625"
    assert lines[3] == "9 fields: 5 right, 2 wrong, 1 missing, 1 invented"
    assert not lines[4]


def test_fields_are_sorted_by_what_they_cost() -> None:
    """The gain is the difference that a field without faults makes to micro F1."""
    report = fields_report(mixed())

    assert [(row.field, row.gain) for row in report.rows] == [
        ("a", "+0.316"),  # 2 * 8 / (9 + 8) - 2 * 5 / (8 + 8)
        ("c", "+0.042"),  # 2 * 5 / (7 + 8) - 2 * 5 / (8 + 8)
        ("b", ""),
    ]
    assert report.rows[0][2:9] == ("0.286", "0.333", "0.250", 4, 2, 1, 0)


def test_a_gain_takes_weights_into_account() -> None:
    """What hurts most depends on what counts most."""
    pairs = [({"a": "x", "b": "x"}, {"a": "z", "b": "z"})] * 2 + [({"b": "x"}, {"b": "z"})]
    run = run_of(pairs, a="exact", b="exact")

    assert fields_report(run).rows[0].field == "b"
    assert fields_report(run, weights={"a": 5.0}).rows[0].field == "a"


@given(
    st.lists(
        st.tuples(*(st.sampled_from(["x", "z", None]) for _ in range(6))), min_size=1, max_size=6
    )
)
def test_a_field_that_is_right_would_bring_its_gain(rows: list[tuple[str | None, ...]]) -> None:
    """Repairing one field in all records raises micro F1 by what was told."""
    fields: dict[str, Any] = dict.fromkeys("abck", "exact")
    sides = [(_record(row[:3]), _record(row[3:])) for row in rows]
    run = run_of(sides, **fields)
    for found in fields_report(run).rows:
        name = found.field
        pairs = [(g, {**_without(e, name), **_only(g, name)}) for g, e in sides]
        gain = run_of(pairs, **fields).micro.f1 - run.micro.f1
        assert float(found.gain or 0) == pytest.approx(gain, abs=0.00051)
        assert bool(found.gain) == (gain > 1e-9)


def _record(values: Sequence[str | None]) -> dict[str, str]:
    """Two empty records would be a match of their own, so one field is always there."""
    found = {name: v for name, v in zip("abc", values, strict=True) if v is not None}
    return {**found, "k": "x"}


def _without(record: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in record.items() if key != name}


def _only(record: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in record.items() if key == name}


def test_equal_examples_are_told_once_and_counted() -> None:
    """The loss that happened most often comes first; the reason `mismatch` says nothing."""
    text = table(fields_report(mixed()))

    assert '0  "x" → "z"  2 times\n2  "x" → missing' in text
    assert '3  not in gold → "new"' in text
    assert "mismatch" not in text.split("Examples")[1]


def test_the_worst_example_comes_first() -> None:
    """A near miss costs less than a plain mismatch that comes after it."""
    registry = Registry()
    registry.register("near", lambda g, e, _: ComparatorResult(0.9 if e in g else 0.1, "near"))
    pairs = [({"a": "xy"}, {"a": "x"}), ({"a": "xy"}, {"a": "q"})]
    (found,) = fields_report(run_of(pairs, registry, a="near")).examples

    assert [example.extracted for example in found.examples] == ['"q"', '"x"']


def test_examples_are_limited_and_the_rest_is_counted() -> None:
    pairs = [({"a": f"x{n}"}, {"a": "z"}) for n in range(5)]
    report = fields_report(run_of(pairs, a="exact"), examples=2)

    assert [len(found.examples) for found in report.examples] == [2]
    assert "a   and 3 more" in table(report)
    assert fields_report(run_of(pairs, a="exact"), examples=0).examples == ()


def test_nothing_scored_is_no_score() -> None:
    """A run without a single verdict shows no number that could be taken for one."""
    run = run_of([({"a": "x"}, {"a": "x"})] * 2, deaf("x"), a="deaf")
    report = fields_report(run, intervals=run.intervals())

    for text in (table(report), render_markdown(report)):
        assert "Nothing was scored" in text
        assert "2 without an answer" in text
        assert "nobody is there" in text
        assert "F1" not in text
        assert "1.0" not in text


def test_an_empty_run_has_no_score() -> None:
    text = table(fields_report(run_of([], a="exact")))

    assert text == "Nothing was scored   0 records"


def test_undecided_records_are_told_beside_the_mean() -> None:
    """In the mean they count as right, so the mean without them is given, too."""
    pairs = [({"a": "x"}, {"a": "x"}), ({"a": "g"}, {"a": "z"}), ({"a": "h"}, {"a": "h"})]
    text = table(fields_report(run_of(pairs, deaf("x"), a="deaf")))

    assert text.startswith("F1 0.667   mean over 3 records (macro), 1 of them undecided")
    assert "Nothing could be decided in 1 record" in text
    assert "without, F1 is 0.500" in text


def test_a_field_that_was_never_scored_has_no_numbers() -> None:
    text = table(fields_report(run_of([({"a": "x", "b": "y"},) * 2], a="exact", b=None)))

    assert line_of(text, "b ") == ["b", "–", "–", "–", "0", "0", "0", "0"]
    assert "Values outside the score: 1 skipped" in text
    assert "undecided" not in text


def test_a_share_of_nothing_is_no_number() -> None:
    """An invented field has no recall, and a field that is never found no precision."""
    pairs = [({"a": "x", "b": "y"}, {"a": "x", "c": "new"})]
    text = table(fields_report(run_of(pairs, a="exact", b="exact")))

    assert line_of(text, "c ")[:5] == ["c", "0.000", "0.000", "–", "0"]
    assert line_of(text, "b ")[:5] == ["b", "0.000", "–", "0.000", "1"]


def test_weights_are_shown_where_they_differ() -> None:
    """A field that is skipped counts nothing, whatever its weight."""
    run = run_of([({"a": "x", "b": "y", "c": "z"},) * 2], a="exact", b="exact", c=None)
    unlike = fields_report(run, weights={"a": 3.0, "b": 1.0, "c": 5.0})
    alike = fields_report(run, weights={"a": 3.0, "b": 3.0, "c": 5.0})

    assert line_of(table(unlike), "field")[:3] == ["field", "weight", "F1"]
    assert [line_of(table(unlike), f"{name} ")[1] for name in "abc"] == ["3", "1", "–"]
    assert "| field | weight | F1 |" in render_markdown(unlike)
    assert "weight" not in table(alike)
    assert "weight" not in render_markdown(alike)


def test_why_there_is_no_score_is_told_to_the_end() -> None:
    """How many values of which field, and an example with what to do about it."""
    schema = {
        "type": "object",
        "properties": {
            "amount": {
                "type": "string",
                "x-eval-transform": ["parse_number"],
                "x-eval-compare": "numeric",
            }
        },
    }
    found = [{"amount": text} for text in ("1,240", "1,240", "2,480", "7")]
    text = table(fields_report(evaluate(found, found, schema)), 300)

    line = next(line for line in text.splitlines() if line.startswith("amount  3"))
    assert line.startswith("amount  3 values could not be compared, such as: transform of the gold")
    assert "'1,240' can be read in two ways" in line
    assert line.endswith("say which mark is the decimal one: {'parse_number': {'decimal': '.'}}")


def test_a_run_with_undecided_values_has_bounds() -> None:
    """What F1 would be if all of them were wrong, and if all were right."""
    pairs = [({"a": "x", "b": "y"}, {"a": "x", "b": "y"}), ({"a": "g"}, {"a": "z"})]
    text = table(fields_report(run_of(pairs, deaf("x"), a="deaf", b="exact")))

    assert text.startswith("F1 0.500   mean over 2 records (macro)")
    assert "With the undecided values all wrong F1 is 0.250, with all of them right 0.500" in text


def test_one_record_has_no_interval() -> None:
    run = run_of([({"a": "x"}, {"a": "x"})], a="exact")
    text = table(fields_report(run, intervals=run.intervals()))

    assert text.startswith("F1 1.000   1 record\nPrecision 1.000, recall 1.000\n")


def test_numbers_are_exact_where_they_look_it() -> None:
    pairs = [({"a": "x"}, {"a": "x"})] * 9_999 + [({"a": "x"}, {"a": "z"})]
    text = table(fields_report(run_of(pairs, a="exact")))

    assert text.startswith("F1 >0.999   mean over 10,000 records")


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_table_fits_its_width(width: int) -> None:
    """Where it is narrow, names of fields keep their room and shares give way."""
    name = "a_name_of_medium_length"
    fields: dict[str, Any] = {name: "exact", "b" * 200: "exact", "漢字" * 40: "exact"}
    gold = dict.fromkeys(fields, "x" * 500)
    text = table(fields_report(run_of([(gold, dict.fromkeys(fields, "z"))], **fields)), width)

    assert all(Text(line).cell_len <= width for line in text.splitlines())
    assert line_of(text, name)[0] == name
    assert ("P" in line_of(text, "field")) == (width > 60)
    assert text.count("b") >= 400


def test_ten_thousand_fields_are_cut_to_the_costliest() -> None:
    fields: dict[str, Any] = {f"f{n}": "exact" for n in range(10_000)}
    wrong = dict.fromkeys(list(fields)[:50], "z")
    gold = dict.fromkeys(fields, "x")
    report = fields_report(run_of([(gold, gold | wrong)], **fields))

    assert len(report.rows) == 40
    assert len(report.examples) == 10
    assert report.more.startswith("and 9,960 more fields")
    assert len(table(report).splitlines()) < 100


def test_fields_that_lose_nothing_are_not_called_costly() -> None:
    fields: dict[str, Any] = {f"f{n}": "exact" for n in range(50)}
    gold = dict.fromkeys(fields, "x")
    report = fields_report(run_of([(gold, gold)], **fields))

    assert report.more == "and 10 more fields that lose nothing"
    assert report.examples == ()


@pytest.mark.parametrize("renderer", [table, render_markdown])
def test_nothing_in_a_record_acts(renderer: Any) -> None:
    """Markup, control characters and line breaks in names, ids and values are shown as text."""
    gold = {NASTY: NASTY, "id": NASTY}
    run = evaluate(
        [gold], [{"id": NASTY, NASTY: "z", NASTY * 2: 1}], schema_of(**{NASTY: "exact"}), "id"
    )
    text = renderer(fields_report(run, notes=[NASTY.replace("\n", " ")]))

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(line.startswith("# y") for line in text.splitlines())
    if renderer is render_markdown:
        assert "<b>" not in text
        assert "\\[red\\]\\|\\`" in text
    else:
        assert "[red]|`<b>" in text


def test_colour_is_for_terminals() -> None:
    report = fields_report(mixed())
    console = Console(width=80, force_terminal=True, color_system="standard", _environ={})
    with console.capture() as capture:
        console.print(render(report))

    assert "\x1b[31m" in capture.get()
    assert "\x1b" not in table(report)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a  b", '"a  b"'),
        ("a\u00a0b\u200b", '"a\\u00a0b\\u200b"'),
        ("e\u0301 東京 🌉", '"e\u0301 東京 🌉"'),
        ("\t\n\x7f", '"\\t\\n\\u007f"'),
        ("\U000e0001\ud800", '"\\U000e0001\\ud800"'),
        ({"a": [1, None, True]}, '{"a": [1, null, true]}'),
        (float("nan"), "NaN"),
        ({1, 2}, '"{1, 2}"'),
    ],
)
def test_a_value_hides_nothing(value: Any, text: str) -> None:
    """Blanks are kept, what cannot be seen is escaped, and text stays readable."""
    assert value_text(value) == text


def test_a_value_of_any_depth_has_a_text() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]

    assert value_text(value) == "(list that JSON cannot hold)"


@given(st.text("ab", max_size=200), st.text("ab", max_size=200))
def test_shortened_values_that_differ_look_different(first: str, second: str) -> None:
    short = shortened_pair(first, second)

    assert all(len(text) <= LONGEST for text in short)
    assert (short[0] == short[1]) == (first == second)


def test_a_difference_after_a_long_beginning_is_seen() -> None:
    """The middle is what a long text loses, but not where the difference is there."""
    long = "word " * 100
    first, second = shortened_pair(f"{long}left {long}", f"{long}right {long}")

    assert first.startswith("…word word word word left word")
    assert second.startswith("…word word word word right word")
    assert shortened_pair(f"a{long}z", "b") == (f"a{long[:29]}…{long[-28:]}z", "b")


def test_rows_are_safe_in_a_spreadsheet() -> None:
    """Values are told apart from formulas, numbers stay numbers, and every row has all columns."""
    rows: list[dict[str, Any]] = [
        {"record": 7, "gold": "=1+1", "extracted": -1.5},
        {"record": "-x", "gold": None, "extracted": {"a": [1]}, "gold_compared": "a\nb\x1b"},
    ]
    first, second = csv.DictReader(io.StringIO(render_rows(rows)))

    assert (first["record"], first["gold"], first["extracted"]) == ("7", "'=1+1", "-1.5")
    assert (second["record"], second["gold"], second["extracted"]) == ("'-x", "", '{"a": [1]}')
    assert second["gold_compared"] == "a\nb\\u001b"
    assert set(first) == set(second)
    assert len(list(csv.reader(io.StringIO(render_rows(mixed().to_rows()))))) == 10


def compared() -> Any:
    """Thirty records in two runs: the second wins `a`, loses `b`, has one record less."""
    gold = [{"id": n, "a": "x", "b": "y", "c": "w"} for n in range(30)]
    before = [{**record, "a": "z" if n % 2 else "x"} for n, record in enumerate(gold)]
    after = [{**record, "b": "z" if n % 3 else "y"} for n, record in enumerate(gold)]
    schema = schema_of(a="exact", b="exact", c="exact", id=None)
    return compare_runs(
        evaluate(gold, before, schema, "id"), evaluate(gold[:-1], after[:-1], schema, "id")
    )


def test_a_comparison_tells_what_was_won_and_lost() -> None:
    text = plain(render_comparison(comparison_report(compared(), ("one.json", "two.json"))))
    lines = text.splitlines()

    assert lines[0].startswith("F1 0.839 → 0.782 (-0.057): ")
    assert lines[1] == "A is one.json, B is two.json"
    assert lines[2].startswith("29 records: 5 better, 10 worse, 14 equal")
    assert lines[3] == "3 fields: 1 won, 1 lost, 1 without a clear difference"
    assert lines[4] == "Left out: 1 record only in A (29)"
    assert lines[lines.index("Won 1") + 2].startswith("a ")
    assert lines[lines.index("Lost 1") + 2].startswith("b ")
    assert "Without a clear difference 1\n1 field with equal F1" in text


def test_a_comparison_of_equal_runs_wins_nothing() -> None:
    report = comparison_report(compare_runs(mixed(), mixed()))

    assert report.headline == "F1 0.617 → 0.617 (+0.000): no clear difference"
    assert [section.title for section in report.sections] == [
        "Overall",
        "Without a clear difference 3",
    ]


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_comparison_fits_its_width(width: int) -> None:
    text = plain(render_comparison(comparison_report(compared())), width)

    assert all(len(line) <= width for line in text.splitlines())


def test_a_field_that_is_skipped_in_one_run_has_no_score_there() -> None:
    """As in the report of that run; it is neither won nor lost."""
    pairs = [({"a": "x", "b": "y"}, {"a": "x", "b": "z"})] * 9
    skipping, scoring = run_of(pairs, a="exact", b=None), run_of(pairs, a="exact", b="exact")
    found = compare_runs(skipping, scoring)
    text = plain(render_comparison(comparison_report(found)))

    assert (found.won, found.lost, found.unchanged) == ((), (), ("a",))
    assert found.to_dict()["not_compared"] == {"b": {"a": None, "b": 0.0}}
    assert "Without a score in one of the runs 1" in text
    assert line_of(text, "b ") == ["b", "–", "0.000", "–"]
    rows = {row["field"]: row for row in csv.DictReader(io.StringIO(comparison_csv(found)))}
    assert (rows["b"]["verdict"], rows["b"]["a"], rows["b"]["b"]) == ("not compared", "", "0.0")


def test_a_comparison_across_schemas_says_so() -> None:
    pairs = [({"a": "x"}, {"a": "X"})] * 9
    strict = run_of(pairs, a="exact")
    loose = run_of(pairs, a={"oneof": {"values": ["X"]}})
    data = strict.to_dict()
    del data["schema_digest"]

    across = comparison_report(compare_runs(strict, loose))
    unknown = comparison_report(compare_runs(RunResult.from_dict(data), loose))

    assert "by another schema" in across.headline
    assert "A and B were scored by different schemas" in plain(render_comparison(across), 300)
    assert "by another schema" not in unknown.headline
    assert "Warning: A does not say by which schema" in plain(render_comparison(unknown), 300)
    assert "Warning" not in plain(render_comparison(comparison_report(compared())))


def test_a_comparison_is_there_as_markdown_and_csv() -> None:
    found = compared()
    rows = {row["field"]: row for row in csv.DictReader(io.StringIO(comparison_csv(found)))}

    assert "| a | 0.517 | 1.000 | +0.483 |" in comparison_markdown(comparison_report(found))
    assert [rows[name]["verdict"] for name in "abc"] == ["won", "lost", "unchanged"]
    assert float(rows["a"]["difference"]) == pytest.approx(14 / 29)
    assert Interval(float(rows["a"]["low"]), float(rows["a"]["high"])).low > 0
