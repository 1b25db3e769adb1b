"""`factcheck fields`: files in, output and exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from factcheck.fields import ComparatorResult, RunResult, evaluate, parse_eval_schema
from factcheck.fields.files import gate_scores
from factcheck.scoring.gates import fields_gate
from tests.cli.conftest import Folder, Outcome, Run, refused
from tests.fields.builders import Recorder, registry_of

GOLD: list[dict[str, Any]] = [
    {"id": "r1", "name": "Ann", "age": 30},
    {"id": "r2", "name": "Bob", "age": 40},
    {"id": "r3", "name": "Cid", "age": None},
]
EXTRACTED: list[Any] = [GOLD[0], {**GOLD[1], "name": "Bobby"}, {"id": "r3", "name": "Cid"}]


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
SCHEMA = schema_of(
    id={"type": "string", "x-eval-skip": True},
    name={"type": "string", "x-eval-compare": "exact"},
    age={"anyOf": [INTEGER, {"type": "null"}]},
)


class Files(Folder):
    """Three records with one wrong name and one missing age, and the commands run on them."""

    def __init__(self, folder: Path, run: Run) -> None:
        super().__init__(folder)
        self.run = run
        self.gold = self.lines("gold.jsonl", GOLD)
        self.extracted = self.lines("out.jsonl", EXTRACTED)

    def evaluate(
        self, *options: str, gold: Any = None, extracted: Any = None, schema: Any = SCHEMA
    ) -> Outcome:
        """Evaluate these files or lists of records; `schema=None` infers the schema."""
        if isinstance(gold, list):
            gold = self.lines("g.jsonl", gold)
        if isinstance(extracted, list):
            extracted = self.lines("e.jsonl", extracted)
        chosen = () if schema is None else ("--schema", self.put("s.json", schema))
        paths = (gold or self.gold, extracted or self.extracted)
        return self.run("fields", "evaluate", *paths, *chosen, *options)

    def save(self, name: str, **given: Any) -> str:
        self.evaluate("--out", self.path(name), **{"schema": None, **given})
        return self.path(name)

    def compare(self, *arguments: str) -> Outcome:
        return self.run("fields", "compare", *arguments)


@pytest.fixture
def files(folder: Folder, run: Run) -> Files:
    return Files(folder.folder, run)


def test_where_a_schema_comes_from_is_in_the_report_or_on_standard_error(files: Files) -> None:
    note = f"Schema suggested from {files.gold}: 'fields suggest' shows why"

    assert files.evaluate().err == ""
    assert f"Note  {note}" in files.evaluate(schema=None).out.splitlines()
    assert files.evaluate("--format", "json", schema=None).err.startswith(f"{note}\n")


def test_null_is_a_missing_extraction_or_a_missing_key(files: Files) -> None:
    """A null record is an omission; with --nulls-absent, a null value is no fault."""
    out = files.evaluate(extracted=[None, *EXTRACTED[1:]]).out
    assert "3 omission" in out
    assert out.index("r3  null → missing") < out.index("r1  30 → missing")
    assert files.evaluate("--nulls-absent").out.startswith("F1 0.833")


def test_records_are_named_by_their_id_without_being_told_also_in_a_saved_run(files: Files) -> None:
    out, note = files.evaluate().out, "\n\nNote  Records are named by 'id' and paired by position"
    again = files.run("report", files.save("run.json", schema=SCHEMA))

    assert 'r2  "Bob" → "Bobby"' in out
    assert note in out
    assert (again.code, again.err, again.out) == (0, "", out)
    unnamed = [{**one, "id": "r1"} for one in GOLD]
    assert '1  "Bob" → "Bobby"' in files.evaluate(gold=unnamed, extracted=EXTRACTED).out


def test_records_in_another_order_are_announced_and_joined_by_their_id(files: Files) -> None:
    alert = "The 'id' of 2 of 3 records is at another position: pair by it with --join id"
    turned = files.lines("turned.jsonl", EXTRACTED[::-1])
    saved = files.save("turned.json", extracted=turned)

    assert files.run("report", saved).out.splitlines()[1] == alert
    assert alert in files.evaluate("--format", "json", extracted=turned).err
    for options in ((), ("--id-field", "id")):
        joined = files.evaluate("--join", "id", *options, extracted=turned).out.splitlines()
        assert joined[:9] == files.evaluate().out.splitlines()[:9]
    misread = [GOLD[1], *EXTRACTED[1:]]
    assert "--join id" not in files.evaluate(extracted=misread).out
    unnamed = files.evaluate("--join", "id", gold=[{"name": "Ann"}], extracted=turned)
    refused(unnamed, "--join id: g.jsonl has no key with the name and values of an id; name the")
    assert "or set 'join' to 'id'" in files.evaluate(extracted=EXTRACTED[:2]).err


def test_warnings_are_lines_and_each_is_printed_once(files: Files) -> None:
    gold: list[Any] = [{"id": 7, "name": "Ann"}, {"id": "x", "name": "Bob"}]
    schema = schema_of(id={"type": ["integer", "string"]}, name={**STRING, "x-eval-odd": 1})
    by_id = ("--id-field", "id", "--join", "id")
    found = [{**gold[0], "id": "7"}, gold[1]]
    done = files.evaluate(*by_id, gold=gold, extracted=found, schema=schema)

    assert done.code == 0
    for warning in ("some ids are strings on one side and numbers", "name: Unknown x-eval key"):
        assert done.err.count(f"factcheck: warning: {warning}") == 1
    assert all(line.startswith("factcheck: ") for line in done.err.splitlines())


def test_a_saved_report_says_what_has_no_verdict(files: Files) -> None:
    day = schema_of(day={**STRING, "x-eval-compare": "date"})
    gold, found = [{"day": "03/04/2024"}, {"day": "1 May 2024"}], [{"day": "2024-04-03"}] * 2
    done = files.evaluate("--out", "r.html", gold=gold, extracted=found, schema=day)
    assert "Not counted: 1 error" in done.out
    assert "Error:" not in Path("r.html").read_text("utf-8")


def deaf_run(*answered: str) -> RunResult:
    """Two records; the comparator answers for these values only."""
    deaf = Recorder(lambda i: ComparatorResult(0.5, "d") if i.gold_raw in answered else None)
    records, schema = [{"a": "x"}, {"a": "y"}], schema_of(a={**STRING, "x-eval-compare": "deaf"})
    return evaluate(records, records, schema, registry=registry_of(deaf=deaf))


IF_WRONG = "if every value without a verdict is wrong (a: 1 value without a verdict: the comparator"


@pytest.mark.parametrize(
    ("answered", "threshold", "code", "said"),
    [
        ("", 0.9, 4, "nothing was scored: a: 2 values without a verdict"),
        ("x", None, None, ""),
        ("x", 0.26, 4, f"mean F1 0.2500 is under 0.26 {IF_WRONG}"),
        ("x", 0.5, 4, f"mean F1 0.2500 is under 0.5 {IF_WRONG}"),
        ("x", 0.51, 1, "mean F1 0.5000 is under 0.51"),
    ],
)
def test_an_undecided_record_does_not_help_to_pass(
    answered: str, threshold: float | None, code: int | None, said: str
) -> None:
    """It is not in the mean; if it is wrong, the mean is 0.25.

    A run that decided nothing never passes, with or without a threshold.
    """
    run = deaf_run(*answered)

    found = fields_gate(*gate_scores(run), threshold)

    assert run.mean_f1 == (0.5 if answered else None)
    assert (found and found.exit_code) == code
    assert said in (found.message if found else "")


@pytest.mark.parametrize("name", ["s.json", "s.yaml", None])
@pytest.mark.parametrize("command", ["infer-schema", "suggest"])
def test_a_schema_made_from_gold_can_be_used(files: Files, command: str, name: str | None) -> None:
    out = ("--out", files.path(name)) if name else ()
    code, printed, err = files.run("fields", *command.split(), files.gold, *out)

    assert (code, err) == (0, "")
    text = (files.folder / name).read_text(encoding="utf-8") if name else printed
    assert (text[0] == "{") == (name != "s.yaml")
    schema = yaml.safe_load(text)
    age, why = schema["properties"]["age"], "a number; no tolerance"
    assert age["x-eval-compare"] == "numeric"
    assert age.get("x-eval-reason") == (why if "suggest" in command else None)
    parse_eval_schema(schema)
    if name:
        assert printed == f"3 fields of 3 records written to {files.folder / name}\n"


def test_a_schema_of_types_gets_suggestions_where_it_says_nothing(files: Files) -> None:
    given = files.put("j.json", json.dumps(schema_of(age={**INTEGER, "x-eval-compare": "exact"})))
    printed = files.run("fields", "suggest", files.gold, "--schema", given).out
    assert json.loads(printed)["properties"] == {"age": {**INTEGER, "x-eval-compare": "exact"}}


def test_an_inferred_schema_comes_with_its_doubts(files: Files) -> None:
    path = files.lines("p.jsonl", [{"a": 1}, {"a": "x"}])
    given = ("fields", "infer-schema", path)

    refused(files.run(*given, "--out", files.path("s.toml")), "s.toml: unknown suffix; use .json")
    assert "factcheck: warning: a: polymorphic values" in files.run(*given).err


def test_a_judge_that_cannot_be_reached_is_exit_4(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    gold, found = ([{"city": one} for one in names] for names in (("Bern", "Oslo"), ("B", "O")))
    by_model = ("--semantic", "openai/x", "--max-calls", "1")
    done = files.evaluate(*by_model, gold=gold, extracted=found, schema=None)

    assert done.code == 4
    assert "no verdict on 2 pairs" in done.err
    assert "2 batch_error" in done.out
    assert "city  2 values without a verdict" in done.out
