"""Command lines that are refused: one line on standard error, before a judge is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Desk, Outcome, refused

TWICE = "'-' (standard input) can stand for one file only"
REFUSED = {
    "": {"scroe": "Did you mean 'score'? See 'factcheck --help'"},
    "score": {
        "": "Missing argument 'SOURCE'",
        "gone.txt gone.txt": "gone.txt does not exist; check the path",
        "a b --colour": "see 'factcheck score --help'",
        "a b --format pdf": "Invalid value for '--format': 'pdf' is not one of 'table', ",
        "- -": TWICE,
    },
    "run": {
        "": "Missing argument",
        "records.jsonl --resume": "--resume needs --out",
        "records.jsonl --out records.jsonl": "--out would overwrite an input file",
        "records.jsonl --out rows.csv": "rows are JSON lines",
        "nowhere.jsonl": "nowhere.jsonl does not exist",
    },
    "fields": {
        "evaluate - -": TWICE,
        "compare - -": TWICE,
    },
    "fields evaluate gold.jsonl extracted.jsonl --schema schema.yaml": {
        "--join id": "--join id needs --id-field",
        "--examples -1": "Invalid value for '--examples'",
        "--fail-under 2": "--fail-under is 2",
        "--id-field nope": "gold.jsonl, line 1: the id field 'nope' is missing",
        "--schema /no/such/schema.json": "does not exist",
    },
    "keywords run cards.yaml outputs.json": {
        "--threshold 2": "threshold must be a finite number of at least 0 and at most 1, not 2.0",
        "--threshold nan": "threshold must be a finite number of at least 0 and at most 1, not nan",
        "--fail-under 80": "--fail-under is 80; expected a share from 0 to 1",
        "--assignment lucky": "'lucky' is not one of",
    },
    "keywords behaviors": {
        "suite.json": "Missing argument 'RESPONSES'",
        "suite.json suite.json": "suite.json, line 4: [0].instruction: unknown key",
        "- -": TWICE,
    },
    "references": {
        "good.txt": "Missing argument 'REFERENCE'",
        "good.txt blank.txt": "blank.txt is blank; there is nothing to compare",
        "blank.txt good.txt": "blank.txt is blank; there is nothing to compare",
        "good.txt nowhere.txt": "nowhere.txt does not exist",
        "- -": TWICE,
        "good.txt good.txt --fail-under 70": "--fail-under is 70",
        "good.txt good.txt --aggregation min": "'min' is not one of",
    },
    "compare": {"nowhere.jsonl nowhere.jsonl": "nowhere.jsonl"},
    "calibrate": {
        "bullets --source s.txt": "--source and --summary belong together",
        "bullets --facts f.txt": "--facts needs --source and --summary",
        "bullets --source source.txt --summary blank.txt": "blank",
        "bullets --random-orders -1": "random orders",
        "audit --source s.txt": "--source and --summary belong together",
        "audit --per-rule 0": "per_rule",
        "cascade records.jsonl": "Missing argument 'SECOND'",
    },
}


@pytest.mark.parametrize(
    ("command", "rest", "message"),
    [(command, *row) for command, rows in REFUSED.items() for row in rows.items()],
)
def test_an_invalid_command_line_is_refused(
    run: Callable[..., Outcome], desk: Desk, inputs: Path, command: str, rest: str, message: str
) -> None:
    refused(run(*command.split(), *rest.split()), message)

    assert not desk.checker.calls
