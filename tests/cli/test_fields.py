"""What the commands on fields do: files in, output and exit code out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from factcheck.fields import ComparatorResult, Registry, RunResult, evaluate, parse_eval_schema
from factcheck.fields.file_runs import GateScores, gate_scores
from factcheck.fields.runs.undecided import Undecided
from factcheck.scoring.gates import fields_gate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from factcheck.fields.types import BatchItem
    from tests.cli.conftest import Outcome

    Run = Callable[..., Outcome]

GOLD: list[dict[str, Any]] = [
    {"id": "r1", "name": "Ann", "age": 30},
    {"id": "r2", "name": "Bob", "age": 40},
    {"id": "r3", "name": "Cid", "age": None},
]
EXTRACTED: list[dict[str, Any]] = [
    {"id": "r1", "name": "Ann", "age": 30},
    {"id": "r2", "name": "Bobby", "age": 40},
    {"id": "r3", "name": "Cid"},
]
SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "x-eval-skip": True},
        "name": {"type": "string", "x-eval-compare": "exact"},
        "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
}


class Files:
    """Files of records, and of a schema for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gold = self.lines("gold.jsonl", GOLD)
        self.extracted = self.lines("out.jsonl", EXTRACTED)
        self.schema = self.put("schema.json", json.dumps(SCHEMA))

    def put(self, name: str, text: str | bytes) -> str:
        """The path of a new file."""
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def lines(self, name: str, records: Sequence[Any]) -> str:
        """The path of a new file with a record a line."""
        return self.put(name, "".join(f"{json.dumps(record)}\n" for record in records))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Three records with one wrong name and one missing age."""
    return Files(tmp_path)


def refused(outcome: Outcome, message: str) -> None:
    """Nothing was printed but one line that says what is wrong."""
    assert outcome.code == 2
    assert not outcome.out
    assert outcome.err.count("\n") == 1
    assert message in outcome.err


def test_records_are_scored_by_a_schema(files: Files, run: Run) -> None:
    """The score comes first, then the fields, then what went wrong."""
    code, out, err = run(
        "fields", "evaluate", files.gold, files.extracted, "--schema", files.schema
    )

    assert (code, err) == (0, "")
    assert out.startswith("F1 0.722   mean over 3 records (macro)")
    assert '1  "Bob" → "Bobby"' in out
    assert "inferred" not in out


def test_without_a_schema_one_is_inferred_and_the_report_says_so(files: Files, run: Run) -> None:
    note = f"Schema inferred from {files.gold}: every field is compared by type"
    arguments = ("fields", "evaluate", files.gold, files.extracted)

    assert note.split() == run(*arguments).out.split("\n\n")[0].split()[-len(note.split()) :]
    assert run(*arguments, "--format", "json").err == f"{note}\n"


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_all_formats_of_records_give_the_same_result(files: Files, run: Run, suffix: str) -> None:
    gold, extracted = (
        files.put(
            f"{name}.{suffix}",
            json.dumps(records) if suffix == "json" else yaml.safe_dump(records, sort_keys=False),
        )
        for name, records in (("g", GOLD), ("e", EXTRACTED))
    )
    rest = ("--schema", files.schema, "--format", "json")

    expected = run("fields", "evaluate", files.gold, files.extracted, *rest)

    assert run("fields", "evaluate", gold, extracted, *rest) == expected


def test_json_is_the_run(files: Files, run: Run) -> None:
    out = run(
        *("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema),
        *("--format", "json", "--id-field", "id"),
    ).out
    found = RunResult.from_json(out)

    assert [record.record_id for record in found.records] == ["r1", "r2", "r3"]
    assert found.mean_f1 == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)


def test_csv_has_a_row_for_each_field_result(files: Files, run: Run) -> None:
    out = run("fields", "evaluate", files.gold, files.extracted, "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(out)))

    assert len(rows) == 9
    assert rows[-1]["status"] == "match"
    assert [row["path"] for row in rows if row["status"] == "omission"] == ["age"]


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.json", '{"format"'), ("r.csv", "record,"), ("r.md", "## F1"), ("r.txt", "F1 0.722")],
)
def test_out_chooses_the_format_by_its_suffix(
    files: Files, run: Run, name: str, start: str
) -> None:
    target = files.folder / name
    given = ("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema)

    code, out, _ = run(*given, "--out", str(target))

    assert code == 0
    assert out == f"F1 0.722   mean over 3 records (macro)   {target}\n"
    assert target.read_text(encoding="utf-8").startswith(start)


def test_any_file_can_hold_a_format_that_is_said(files: Files, run: Run) -> None:
    target = files.folder / "r.html"
    given = ("fields", "evaluate", files.gold, files.extracted, "--format", "markdown")

    assert run(*given, "--out", str(target)).code == 0
    assert target.read_text(encoding="utf-8").startswith("## F1")


def test_null_is_an_extraction_that_is_missing(files: Files, run: Run) -> None:
    extracted = files.lines("e.jsonl", [None, *EXTRACTED[1:]])
    out = run("fields", "evaluate", files.gold, extracted, "--schema", files.schema).out

    assert "3 omission" in out


def test_nulls_may_count_as_absent(files: Files, run: Run) -> None:
    """A gold null against a missing key is then no fault."""
    out = run(
        *("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema),
        "--nulls-absent",
    ).out

    assert "missing" not in out.splitlines()[3]
    assert out.startswith("F1 0.833")


def test_records_are_joined_by_id(files: Files, run: Run) -> None:
    """In any order, and those without partner are missing or invented as a whole."""
    extracted = files.lines("e.jsonl", [EXTRACTED[1], EXTRACTED[0], {"id": "r9", "name": "Zoe"}])
    given = ("fields", "evaluate", files.gold, extracted, "--schema", files.schema)

    out = run(*given, "--id-field", "id", "--join", "id").out

    assert out.startswith("F1 0.375   mean over 4 records (macro)")
    assert 'r9  not in gold → "Zoe"' in out


def test_null_cannot_be_joined_by_id_and_the_message_says_what_to_do(
    files: Files, run: Run
) -> None:
    extracted = files.lines("e.jsonl", [EXTRACTED[0], None])
    given = ("fields", "evaluate", files.gold, extracted, "--id-field", "id", "--join", "id")

    refused(run(*given), "e.jsonl, line 2: null has no id to join by; leave it out")


def test_other_ids_at_the_same_position_are_announced(files: Files, run: Run) -> None:
    extracted = files.lines("e.jsonl", [EXTRACTED[1], EXTRACTED[0], EXTRACTED[2]])

    err = run("fields", "evaluate", files.gold, extracted, "--id-field", "id").err

    assert f"warning: 2 records of {extracted} differ in id from the gold record" in err


def test_totals_are_those_of_the_whole_run(files: Files, run: Run) -> None:
    """Streaming changes no figure; only examples and bootstrap intervals need the records."""
    given = ("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema)
    whole = RunResult.from_json(run(*given, "--format", "json").out)
    totals = RunResult.from_json(run(*given, "--format", "json", "--totals-only").out)

    assert totals.records == []
    assert totals.by_field == whole.by_field
    assert totals.micro == whole.micro
    assert totals.mean_f1 == pytest.approx(whole.mean_f1)
    assert "Examples" not in run(*given, "--totals-only").out
    assert "intervals are Student's t" in run(*given, "--totals-only").out
    assert "Student" not in run(*given).out


def test_totals_are_streamed(files: Files, run: Run) -> None:
    """Lines after a faulty one are never reached, and those before it are scored."""
    gold = files.put("g.jsonl", '{"name": "Ann"}\n' * 3 + "no JSON\n")
    extracted = files.put("e.jsonl", '{"name": "Ann"}\n' * 4 + "no JSON\n")

    outcome = run("fields", "evaluate", gold, extracted, "--schema", files.schema, "--totals-only")

    refused(outcome, "g.jsonl, line 4: not valid JSON")


@pytest.mark.parametrize("totals", [(), ("--totals-only",)])
@pytest.mark.parametrize("longer", ["gold", "out"])
def test_lists_of_different_lengths_are_refused(
    files: Files, run: Run, totals: tuple[str, ...], longer: str
) -> None:
    files.lines(f"{longer}.jsonl", [*GOLD, GOLD[0]])
    given = ("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema)

    outcome = run(*given, *totals)

    shorter = files.extracted if longer == "gold" else files.gold
    if totals:
        refused(outcome, f"{shorter} has 3 records, ")
    else:
        refused(outcome, f"{files.gold} has {len(GOLD) + (longer == 'gold')} records, ")
    assert "--join id" in outcome.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--join", "id"), "--join id needs --id-field"),
        (("--totals-only",), "--totals-only needs --schema"),
        (("--examples", "-1"), "Invalid value for '--examples'"),
        (("--fail-under", "2"), "--fail-under is 2"),
        (
            ("--format", "xml"),
            "'xml' is not one of 'table', 'markdown', 'html', 'junit', 'json', 'csv'",
        ),
        (
            ("--out", "r.pdf"),
            "--out r.pdf: unknown suffix; use .txt, .md, .html, .xml, .json or .csv",
        ),
        (("--id-field", "nope"), "gold.jsonl, line 1: no 'nope'"),
        (("--out", "/no/such/folder/r.json"), "there is no folder"),
        (("--schema", "/no/such/schema.json"), "does not exist"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    files: Files, run: Run, options: tuple[str, ...], message: str
) -> None:
    refused(run("fields", "evaluate", files.gold, files.extracted, *options), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--id-field", "id", "--join", "id"), "leave out --join id"),
        (("--format", "csv"), "one row per field result"),
    ],
)
def test_totals_cannot_do_everything(
    files: Files, run: Run, options: tuple[str, ...], message: str
) -> None:
    given = ("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema)

    refused(run(*given, "--totals-only", *options), message)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "object", "properties": {"age": {"type": "integer", "x-eval-skip": 1}}},
            "s.json: age: x-eval-skip must be true or false, not 1",
        ),
        (
            {"type": "object", "properties": {"age": {"x-eval-compare": "nope", "type": "string"}}},
            "s.json: age: x-eval-compare: Unknown comparator 'nope'; expected one of ",
        ),
        ([], "s.json: a schema is an object, this is array"),
    ],
)
def test_a_bad_schema_is_told_with_its_file_path_and_key(
    files: Files, run: Run, schema: Any, message: str
) -> None:
    path = files.put("s.json", json.dumps(schema))

    refused(run("fields", "evaluate", files.gold, files.extracted, "--schema", path), message)
    refused(run("fields", "validate", files.gold, "--schema", path), message)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b.json", b"\x00\x01\x02", "not a text file"),
        ("b.jsonl", '{"a": 1}\n[2]\n', "line 2: expected an object, got array"),
        ("b.json", '[{"a": 1},\n{"a": NaN}]', "line 2: NaN is not valid JSON"),
        ("b.jsonl", '{"a": 1e400}', "line 1: the number 1e400 is too large"),
        ("b.yaml", "- a: 1\n  a: 2\n", "line 2: duplicate key 'a'"),
        ("b.json", "", "it is empty"),
        ("b.jsonl", "", "holds no records"),
        ("b.jsonl", '{"a":' * 300 + "1" + "}" * 300, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "infer-schema", "validate"])
def test_bad_records_are_told_with_their_place(
    files: Files, run: Run, command: str, name: str, content: str | bytes, message: str
) -> None:
    path = files.put(name, content)
    rest = {
        "evaluate": (path,),
        "infer-schema": (),
        "validate": ("--schema", files.put("any.json", '{"type": "object"}')),
    }
    outcome = run("fields", command, path, *rest[command])

    if command == "validate" and message == "nested too deeply":
        assert outcome.code == 0  # what is compared as a whole may be as deep as it likes
    else:
        refused(outcome, message)
        assert name in outcome.err


def test_numbers_and_nesting_that_can_be_kept_are(files: Files, run: Run) -> None:
    """An integer of 400 digits, and 100 levels."""
    value: Any = 10**400
    for _ in range(100):
        value = {"a": value}
    path = files.lines("big.jsonl", [value])

    code, out, _ = run("fields", "evaluate", path, path)

    assert code == 0
    assert out.startswith("F1 1.000")


def test_doubled_ids_are_told_with_both_lines(files: Files, run: Run) -> None:
    gold = files.lines("g.jsonl", [GOLD[0], GOLD[0]])
    given = ("fields", "evaluate", gold, files.extracted, "--id-field", "id", "--join", "id")

    refused(run(*given), "g.jsonl, line 2: duplicate id 'r1', first in line 1")


def test_ids_that_a_comparison_could_not_pair_are_announced(files: Files, run: Run) -> None:
    gold = files.lines("g.jsonl", [GOLD[0], GOLD[0], GOLD[0]])

    code, _, err = run("fields", "evaluate", gold, gold, "--id-field", "id")

    assert code == 0
    assert err.count("warning: ") == 1
    assert "g.jsonl, line 2: duplicate id 'r1', first in line 1; ids must be unique for" in err


def test_ids_that_differ_only_in_their_type_are_announced(files: Files, run: Run) -> None:
    """Else every record would be missing on one side and invented on the other."""
    gold = files.lines("g.jsonl", [{"id": 7, "name": "Ann"}, {"id": "x", "name": "Bob"}])
    extracted = files.lines("e.jsonl", [{"id": "7", "name": "Ann"}, {"id": "x", "name": "Bob"}])

    err = run("fields", "evaluate", gold, extracted, "--id-field", "id", "--join", "id").err

    assert "warning: 1 id, such as 7, is a string in one file and a number in the other" in err


def test_standard_input_stands_for_one_file(
    files: Files, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(run("fields", "evaluate", "-", "-"), "'-' (standard input) can stand for one file only")
    refused(run("fields", "validate", "-", "--schema", "-"), "for one file only")
    refused(run("fields", "compare", "-", "-"), "for one file only")
    data = "".join(f"{json.dumps(record)}\n" for record in EXTRACTED).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    out = run("fields", "evaluate", files.gold, "-", "--schema", files.schema).out

    assert out.startswith("F1 0.722")


@pytest.mark.parametrize(("threshold", "code"), [("0.72", 0), ("0.73", 1)])
def test_the_gate_is_on_the_mean_over_records(
    files: Files, run: Run, threshold: str, code: int
) -> None:
    """The report is printed in any case; micro F1 would be 0.727."""
    outcome = run(
        *("fields", "evaluate", files.gold, files.extracted, "--schema", files.schema),
        *("--fail-under", threshold),
    )

    assert outcome.code == code
    assert outcome.out.startswith("F1 0.722")
    assert ("gate failed: mean F1 0.7222 is under 0.73" in outcome.err) == bool(code)


def test_a_score_that_looks_like_the_threshold_is_told_exactly() -> None:
    found = fields_gate(GateScores(0.79999999, 0.79999999, 0.79999999), 0.8)

    assert found is not None
    assert "0.79999999 is under 0.8" in found.message


def deaf_run(*answered: str) -> RunResult:
    """Two records; the comparator answers for these values only."""

    class Deaf:
        is_batch = True

        def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
            return [ComparatorResult(0.5, "d") if i.gold_raw in answered else None for i in items]

    registry = Registry()
    registry.register("deaf", Deaf())
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-eval-compare": "deaf"}}}
    return evaluate([{"a": "x"}, {"a": "y"}], [{"a": "x"}, {"a": "y"}], schema, registry=registry)


def test_a_run_that_decided_nothing_is_no_success() -> None:
    """With or without a gate, it ends with the code for a judge that could not be asked."""
    run = deaf_run()
    for threshold in (None, 0.0, 0.9):
        found = fields_gate(gate_scores(run, Undecided({}, run.records)), threshold)
        assert found is not None
        assert found.exit_code == 4
        assert found.message.startswith("nothing was scored: a: 2 values without a verdict")


@pytest.mark.parametrize(
    ("threshold", "code"), [(0.25, None), (0.26, 4), (0.5, 4), (0.51, 1), (None, None)]
)
def test_an_undecided_record_does_not_help_to_pass(
    threshold: float | None, code: int | None
) -> None:
    """In the mean it counts as 1. The others have 0.5, and with it all might have 0.25."""
    run = deaf_run("x")
    assert run.mean_f1 == 0.75

    found = fields_gate(gate_scores(run, Undecided({}, run.records)), threshold)

    assert (found and found.exit_code) == code
    if code == 4:
        assert found is not None
        assert "mean F1 0.2500 is under" in found.message
        assert "(a: 1 value without a verdict)" in found.message


AMOUNTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "amount": {
            "type": "string",
            "x-eval-transform": ["parse_number"],
            "x-eval-compare": "numeric",
        },
    },
}


@pytest.mark.parametrize("totals", [(), ("--totals-only",)])
@pytest.mark.parametrize(("threshold", "code"), [("0.95", 1), ("0.67", 1), ("0.66", 0)])
def test_a_gate_takes_what_cannot_be_compared_for_wrong(
    files: Files, run: Run, totals: tuple[str, ...], threshold: str, code: int
) -> None:
    """An extractor that writes rubbish does not pass; three of six values are it here."""
    gold = files.lines("g.jsonl", [{"name": "A", "amount": "5 EUR"}] * 3)
    rubbish = ({"name": "A", "amount": amount} for amount in ("5", "unknown", "tbd"))
    extracted = files.lines("e.jsonl", list(rubbish))
    schema = files.put("s.json", json.dumps(AMOUNTS))

    outcome = run(
        *("fields", "evaluate", gold, extracted, "--schema", schema, *totals),
        *("--fail-under", threshold),
    )

    assert outcome.code == code
    assert "2 error" in outcome.out
    assert "If every undecided value were wrong / right, F1 would be 0.667 / 1.000" in (outcome.out)
    if code:
        assert "mean F1 1.000 is 0.6667, under " in outcome.err
        assert "amount: 2 values could not be compared, such as: " in outcome.err
        assert "there is no number in 'unknown'" in outcome.err
    else:
        assert outcome.err == ""


def test_weights_count_in_the_gate(files: Files, run: Run) -> None:
    """With a weight of 3, an amount that cannot be compared leaves a quarter."""
    schema = json.loads(json.dumps(AMOUNTS))
    schema["properties"]["amount"]["x-eval-weight"] = 3
    gold = files.lines("g.jsonl", [{"name": "A", "amount": "5"}])
    extracted = files.lines("e.jsonl", [{"name": "A", "amount": "unknown"}])
    given = ("--schema", files.put("s.json", json.dumps(schema)), "--fail-under", "0.26")

    assert "is 0.2500, under 0.26" in run("fields", "evaluate", gold, extracted, *given).err


def test_a_run_in_which_all_is_skipped_is_no_success(files: Files, run: Run) -> None:
    schema = files.put(
        "s.json",
        json.dumps(
            {"type": "object", "properties": {"a": {"type": "string", "x-eval-skip": True}}}
        ),
    )
    path = files.lines("a.jsonl", [{"a": "x"}])

    code, out, err = run("fields", "evaluate", path, path, "--schema", schema)

    assert code == 4
    assert out.startswith("Nothing was scored   1 record")
    assert "nothing was scored: every field is skipped or absent" in err


def test_warnings_are_lines_and_each_is_told_once(files: Files, run: Run) -> None:
    items = {"type": "object", "properties": {"k": {"type": "boolean"}}}
    align = {"match_by": "key_field", "key": "k"}
    array = {"type": "array", "items": items, "x-eval-align": align, "x-eval-odd": 1}
    schema = {"type": "object", "properties": {"a": array}}
    path = files.lines("a.jsonl", [{"a": [{"k": True}]}] * 3)

    err = run(
        "fields", "evaluate", path, path, "--schema", files.put("s.json", json.dumps(schema))
    ).err

    assert err.count("Unknown x-eval key 'x-eval-odd'") == 1
    assert all(line.startswith("factcheck: ") for line in err.splitlines())


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("s.json", ()),
        ("s.yaml", ()),
        ("s.json", ("--format", "yaml")),
        (None, ("--format", "json")),
    ],
)
def test_an_inferred_schema_can_be_used_at_once(
    files: Files, run: Run, name: str | None, chosen: tuple[str, ...]
) -> None:
    out = ("--out", str(files.folder / name)) if name else ()
    code, printed, err = run("fields", "infer-schema", files.gold, *out, *chosen)

    assert (code, err) == (0, "")
    text = (files.folder / name).read_text(encoding="utf-8") if name else printed
    assert (text[0] == "{") == (name != "s.yaml" and chosen != ("--format", "yaml"))
    schema = yaml.safe_load(text)
    assert schema["properties"]["age"] == {"type": "integer", "x-eval-compare": "numeric"}
    parse_eval_schema(schema)
    if name:
        assert printed == f"3 fields of 3 records written to {files.folder / name}\n"


def test_a_schema_is_json_or_yaml(files: Files, run: Run) -> None:
    target = str(files.folder / "s.toml")
    given = ("fields", "infer-schema", files.gold, "--out", target)

    refused(run(*given), "s.toml: unknown suffix; use .json or .yaml")
    assert run(*given, "--format", "json").code == 0


def test_doubts_about_an_inferred_schema_are_told(files: Files, run: Run) -> None:
    outcome = run("fields", "infer-schema", files.lines("p.jsonl", [{"a": 1}, {"a": "x"}]))

    assert outcome.code == 0
    assert "factcheck: warning: a: polymorphic values" in outcome.err


def test_valid_gold_is_valid(files: Files, run: Run) -> None:
    outcome = run("fields", "validate", files.gold, "--schema", files.schema, "--id-field", "id")

    assert outcome == (0, "3 records: 0 errors, 0 warnings\n", "")


def test_all_problems_of_gold_are_listed_in_order(files: Files, run: Run) -> None:
    """Errors of ids and keys, and warnings, each with its line."""
    gold = files.lines(
        "g.jsonl",
        [{"id": "r1", "nam": "Ann"}, GOLD[0], {"id": "r3", "name": "X"}, {"name": "Y", "x": 1}],
    )

    code, out, err = run("fields", "validate", gold, "--schema", files.schema, "--id-field", "id")

    assert (code, err) == (2, "")
    expected = [
        f"error    {gold}, line 1: 'nam' is not in schema; ",
        f"error    {gold}, line 2: duplicate id 'r1', first in line 1; ",
        f"warning  {gold}, line 3: age is missing; ",
        f"error    {gold}, line 4: no 'id', the id field",
        f"error    {gold}, line 4: 'x' is not in schema; ",
        "4 records: 4 errors, 1 warning",
    ]
    assert len(out.splitlines()) == len(expected)
    assert all(map(str.startswith, out.splitlines(), expected))


def test_an_id_need_not_be_in_the_schema(files: Files, run: Run) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    gold = files.lines("g.jsonl", [{"id": 1, "a": 1}, {"id": "2", "a": 1}])
    given = ("fields", "validate", gold, "--schema", files.put("s.json", json.dumps(schema)))

    assert run(*given, "--id-field", "id", "--strict-types").code == 0
    assert run(*given).code == 2


def test_types_are_checked_if_asked_for(files: Files, run: Run) -> None:
    gold = files.lines("g.jsonl", [{**GOLD[0], "age": "thirty"}])
    given = ("fields", "validate", gold, "--schema", files.schema)

    assert run(*given).code == 0
    code, out, _ = run(*given, "--strict-types")
    assert code == 2
    assert f"error    {gold}, line 1: 'age' is 'thirty'" in out


def test_a_check_of_bad_records_ends_at_some_point(files: Files, run: Run) -> None:
    gold = files.lines("g.jsonl", [{"x": 1}] * 500)

    code, out, _ = run("fields", "validate", gold, "--schema", files.schema)

    assert code == 2
    assert out.count("is not in schema") == 100
    assert f"{gold}, line 100: 'x'" in out
    assert "stopped after 100 errors" in out


def test_two_runs_are_compared(files: Files, run: Run) -> None:
    before, after = (str(files.folder / name) for name in ("before.json", "after.json"))
    run("fields", "evaluate", files.gold, files.extracted, "--out", before)
    run("fields", "evaluate", files.gold, files.gold, "--out", after)

    code, out, err = run("fields", "compare", before, after)

    assert (code, err) == (0, "")
    assert "→ 1.000" in out.splitlines()[0]
    assert f"A is {before}, B is {after}" in " ".join(out.split())
    as_json = json.loads(run("fields", "compare", before, after, "--format", "json").out)
    assert as_json["fields"]["name"]["b"] == 1.0
    for chosen, start in (("csv", "field,verdict"), ("markdown", "## F1")):
        found = run("fields", "compare", before, after, "--format", chosen)
        assert found.out.startswith(start)
    target = files.folder / "c.md"
    assert run("fields", "compare", before, after, "--out", str(target)).out.endswith(f"{target}\n")
    assert target.read_text(encoding="utf-8").startswith("## F1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "other.json: run: format None"),
        ("[]", "other.json: a run is an object, this is array"),
        ("", "other.json, line 1: not valid JSON"),
        ("x: 1", "other.json, line 1: not valid JSON"),
    ],
)
def test_what_is_no_run_is_not_compared(files: Files, run: Run, content: str, message: str) -> None:
    other = files.put("other.json", content)

    refused(run("fields", "compare", other, other), message)


def test_runs_on_other_gold_are_not_compared(files: Files, run: Run) -> None:
    before, after = (str(files.folder / name) for name in ("before.json", "after.json"))
    run("fields", "evaluate", files.gold, files.extracted, "--out", before)
    run("fields", "evaluate", files.extracted, files.extracted, "--out", after)

    refused(run("fields", "compare", before, after), "evaluate both runs against the same gold")


def test_runs_by_different_schemas_are_compared_with_a_warning(files: Files, run: Run) -> None:
    """It is in the report and its first line, in JSON, and on standard error where it fits not."""
    a, b, old = (str(files.folder / name) for name in ("a.json", "b.json", "old.json"))
    given = ("fields", "evaluate", files.gold, files.extracted)
    run(*given, "--out", a)
    run(*given, "--schema", files.schema, "--out", b)
    data = json.loads((files.folder / "a.json").read_text(encoding="utf-8"))
    assert len(data.pop("schema_digest")) == 64
    files.put("old.json", json.dumps(data))

    assert "but by another schema" in run("fields", "compare", a, b).out.splitlines()[0]
    assert "Warning: A and B were scored by different schemas" in run("fields", "compare", a, b).out
    assert "Warning" not in run("fields", "compare", a, a).out
    assert "Warning: the schema of B is unknown" in run("fields", "compare", a, old).out
    for other, same in ((a, True), (b, False), (old, None)):
        code, out, err = run("fields", "compare", a, other, "--format", "json")
        assert code == 0
        assert json.loads(out)["same_schema"] is same
        assert err.startswith("factcheck: warning: ") == (not same)


def test_the_help_of_compare_states_the_rule(run: Run) -> None:
    out = " ".join(run("fields", "compare", "--help").out.split())

    assert "p-value, adjusted for the number of fields, is below 0.05" in out
    assert "counts if its 95 % interval" not in out


def test_the_commands_are_in_the_help(run: Run) -> None:
    out = run("fields").out

    assert all(name in out for name in ("evaluate", "infer-schema", "validate", "compare"))
    assert "..." not in out.split("Commands")[1]


class TestSemantic:
    """Fields compared by meaning."""

    GOLD = '{"city": "New York City", "n": 1}\n{"city": "Paris", "n": 2}\n'
    FOUND = '{"city": "NYC", "n": 1}\n{"city": "Rome", "n": 2}\n'

    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[str, str]:
        gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
        gold.write_text(self.GOLD)
        found.write_text(self.FOUND)
        return str(gold), str(found)

    def test_texts_of_an_inferred_schema(self, files: tuple[str, str], run: Run) -> None:
        done = run("fields", "evaluate", *files, "--semantic", "local")

        assert done.code == 0
        assert "strings are compared by meaning" in done.out
        assert "Compared by meaning: judge:local" in done.out
        assert "F1 0.750" in done.out

    def test_a_long_path_is_never_broken(self, tmp_path: Path, run: Run) -> None:
        gold = tmp_path / ("long name " * 12 + "gold.jsonl")
        gold.write_text('{"city": "Oslo"}\n')
        done = run("fields", "evaluate", str(gold), str(gold), "--semantic", "local")

        assert f"Schema inferred from {gold}: strings are compared by meaning" in done.out

    def test_a_schema_may_name_it_and_validate_knows_it(
        self, files: tuple[str, str], tmp_path: Path, run: Run
    ) -> None:
        schema = tmp_path / "schema.json"
        city = {"type": "string", "x-eval-compare": {"semantic": {"instructions": "cities"}}}
        schema.write_text(
            json.dumps({"type": "object", "properties": {"city": city, "n": {"type": "integer"}}})
        )

        assert run("fields", "validate", files[0], "--schema", str(schema)).code == 0
        assert "F1 0.750" in run("fields", "evaluate", *files, "--schema", str(schema)).out

    def test_a_judge_nobody_asks_is_told(
        self, files: tuple[str, str], tmp_path: Path, run: Run
    ) -> None:
        schema = tmp_path / "schema.json"
        schema.write_text('{"type": "object", "properties": {"n": {"type": "integer"}}}')
        done = run("fields", "evaluate", *files, "--schema", str(schema), "--semantic", "local")

        assert "--semantic has no effect" in done.err

    def test_a_judge_that_cannot_be_reached_is_exit_4(
        self, files: tuple[str, str], run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        done = run("fields", "evaluate", *files, "--semantic", "openai/x", "--max-calls", "1")

        assert done.code == 4
        assert "no verdict on any of 2 pairs" in done.err
        assert "2 batch_error" in done.out
        assert "city  2 values without a verdict\n" in done.out

    def test_an_unknown_judge_is_exit_3(self, files: tuple[str, str], run: Run) -> None:
        assert run("fields", "evaluate", *files, "--semantic", "magic").code == 3
