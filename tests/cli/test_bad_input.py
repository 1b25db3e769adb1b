"""Bad files and command lines: one line of error, its exit code, no change, no judge called."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Desk, Run, refused

BAD = {
    ".txt": b'{"id": "\xe9"}\n',
    ".json": b"[" * 10_000,
    ".jsonl": b'{"id": "a", "source": "x", "id": "b"}',
    ".yaml": b"&a [*a]\n",
    ".csv": b'source,summary\n"a,b\n',
}
"""What else is refused in them is said in `tests/documents/test_files.py`."""
KINDS = {
    "facts": (".txt .json .yaml", "check FILE {text}"),
    "lock": (".yaml", "facts {text} --lock FILE"),
    "source": (".txt", "score FILE {text}"),
    "records": (".jsonl .json .csv", "run FILE"),
    "gold": (".json .jsonl .yaml", "fields evaluate FILE {gold}"),
    "extracted": (".json", "fields evaluate {gold} FILE"),
    "schema": (".json .yaml", "fields evaluate {gold} {gold} --schema FILE"),
    "saved report": (".json", "report FILE"),
    "saved run": (".json", "fields compare FILE FILE"),
    "cards": (".json .yaml", "keywords run FILE {gold}"),
    "guides": (".json .yaml", "keywords behaviors FILE {gold}"),
    "labels": (".jsonl .csv", "calibrate agreement FILE"),
    "replayed": (".jsonl .json", "score {text} {text} --judge replay:FILE"),
}


def bad_files(folder: Path, suffix: str) -> Iterator[tuple[str, Path]]:
    """Bad files of a kind, one at a time."""
    path = folder / f"bad{suffix}"
    path.write_bytes(BAD[suffix])
    yield "content", path
    assert path.read_bytes() == BAD[suffix]
    path.unlink()
    path.mkdir()
    yield "directory", path
    path.rmdir()
    os.mkfifo(path)
    yield "pipe", path
    path.unlink()
    for what, target in (("endless", "/dev/zero"), ("dangling link", "/no/where"), ("loop", path)):
        path.symlink_to(target)
        yield what, path
        path.unlink()


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_ends_with_one_line(
    kind: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTCHECK_CACHE_DIR", str(tmp_path / "cache"))
    text, gold = tmp_path / "text.txt", tmp_path / "gold.json"
    text.write_text("The lake is deep.\n")
    gold.write_text('[{"a": 1}]')
    suffixes, command = KINDS[kind]
    for suffix in suffixes.split():
        for what, path in bad_files(tmp_path, suffix):
            words = command.format(text=text, gold=gold).split()

            done = run(*(word.replace("FILE", str(path)) for word in words))

            case = f"{kind} {suffix} {what}: {done}"
            assert done.code == 2, case
            assert done.err.count("\n") == 1, case
            assert path.name in done.err or "source is empty" in done.err, case


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
    },
    "fields": {"evaluate - -": TWICE, "compare - -": TWICE},
    "fields evaluate gold.jsonl extracted.jsonl --schema schema.yaml": {
        "--id-field nope": "gold.jsonl, line 1: the id field 'nope' is missing",
    },
    "keywords run cards.yaml outputs.json": {
        "--threshold 2": "threshold must be a finite number of at least 0 and at most 1, not 2.0",
        "--fail-under 80": "--fail-under is 80; expected a share from 0 to 1",
    },
    "keywords behaviors": {
        "suite.json": "Missing argument 'RESPONSES'",
        "suite.json suite.json": "suite.json, item 1: unknown key 'instruction'",
        "- -": TWICE,
    },
    "references": {
        "good.txt": "Missing argument 'REFERENCE'",
        "good.txt blank.txt": "blank.txt is blank; there is nothing to compare",
        "- -": TWICE,
    },
    "trust": {
        "blank.txt": "blank.txt",
        "gone.jsonl": "gone.jsonl",
        "--labels records.jsonl": "'fact' is missing",
        "records.jsonl --out records.jsonl": "--out would overwrite an input file",
    },
    "calibrate": {
        "bullets --source s.txt": "--source and --summary belong together",
        "bullets --facts f.txt": "--facts needs --source and --summary",
        "bullets --random-orders -1": "random orders",
    },
}


@pytest.mark.parametrize(
    ("command", "rest", "message"),
    [(command, *row) for command, rows in REFUSED.items() for row in rows.items()],
)
def test_an_invalid_command_line_is_refused(
    run: Run, desk: Desk, inputs: Path, command: str, rest: str, message: str
) -> None:
    refused(run(*command.split(), *rest.split()), message)

    assert not desk.checker.calls
