"""The results file: rows are whole, single and in order, whatever happens to the run."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from factcheck.documents.results import ResultsFile, read_results, read_run
from factcheck.errors import InputError

RUN = "judge:local|version:1"
IDS = ("a", "Ö/東", 'c "x"\n')


def signature() -> str:
    return RUN


def write_rows(path: Path, ids: Iterable[str] = IDS, *, resume: bool = True) -> Path:
    with ResultsFile(path, signature, resume=resume) as results:
        for name in ids:
            if name not in results.done:
                results.append(name, {"text": f"Row of {name}, ü \u2028"})
    return path


def test_resuming_knows_what_is_done_and_appends(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "out.jsonl", IDS[:2])
    before = path.read_bytes()

    with ResultsFile(path, signature, resume=True) as results:
        assert results.done == {*IDS[:2]}
        results.append(IDS[2], {})
        assert [row["id"] for row in read_results(path)] == list(IDS)
        with pytest.raises(InputError, match="already has a row"):
            results.append(IDS[2], {})

    results.close()
    with pytest.raises(InputError, match="was closed"):
        results.append("d", {})
    assert path.read_bytes().startswith(before)


def test_rows_are_only_continued_by_their_own_run_and_on_request(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.touch()
    write_rows(path, (), resume=False)
    write_rows(path, resume=False)
    before = path.read_bytes()

    with pytest.raises(InputError, match="already has results; continue with --resume"):
        ResultsFile(path, signature, resume=False)
    with pytest.raises(InputError) as caught:
        ResultsFile(path, lambda: RUN.replace("local", "other"), resume=True)

    assert "rows of a run with judge:local, not judge:other; use" in str(caught.value)
    assert path.read_bytes() == before


def test_a_file_cut_off_anywhere_is_resumed_to_the_undisturbed_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    whole = write_rows(tmp_path / "whole.jsonl").read_bytes()
    path = tmp_path / "out.jsonl"

    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        rows_before = max(0, whole[:size].count(b"\n") - 1)
        with ResultsFile(path, signature, resume=True) as results:
            assert len(results.done) == rows_before
        write_rows(path)
        assert path.read_bytes() == whole


def test_a_run_is_complete_if_its_closing_line_is_whole_and_no_row_follows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Resuming takes the line away, and only a resumed run without new rows puts it back."""
    caplog.set_level(logging.CRITICAL)
    path = write_rows(tmp_path / "out.jsonl", IDS[:2])
    assert not read_run(path)[2]
    n_rows = len(path.read_bytes())
    with ResultsFile(path, signature, resume=True) as results:
        results.complete = True
    whole = path.read_bytes()
    assert read_run(path) == (RUN, [*read_results(path)], True)
    with ResultsFile(path, signature, resume=True):
        assert len(path.read_bytes()) == n_rows
    assert path.read_bytes() == whole

    for size in range(n_rows, len(whole)):
        path.write_bytes(whole[:size])
        assert (read_run(path)[2], len(read_run(path)[1])) == (False, 2)
    path.write_bytes(whole)
    write_rows(path)
    assert (read_run(path)[2], len(read_run(path)[1])) == (False, 3)

    path.write_bytes(whole[:n_rows] + b'{"complete": 7}\n')
    with pytest.raises(InputError, match="line 4: the row has no id"):
        read_run(path)


@pytest.mark.parametrize("tail", [b'{"id": "d", "tex', b"\0\0\0\0", b'{"id": "d"\n'])
def test_a_last_line_that_is_not_whole_is_no_row(
    tmp_path: Path, tail: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_rows(tmp_path / "out.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + tail)

    assert [row["id"] for row in read_results(path)] == list(IDS)
    assert path.read_bytes() == whole + tail
    assert write_rows(path).read_bytes() == whole
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}, line 5 was cut off; it is ignored",
        f"{path}, line 5 was cut off; it is ignored",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "d"', "line 3: not a JSON object; the file is damaged"),
        (b"[1]", "line 3: not a JSON object"),
        (b'{"row": "d"}', "line 3: the row has no id"),
        (b'{"id": "a"}', "line 3: 'a' has two rows"),
    ],
)
def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_changed(
    tmp_path: Path, line: bytes, message: str
) -> None:
    path = write_rows(tmp_path / "out.jsonl")
    lines = path.read_bytes().split(b"\n")
    damaged = b"\n".join([*lines[:2], line, *lines[2:]])
    path.write_bytes(damaged)

    with pytest.raises(InputError, match=message):
        list(read_results(path))
    with pytest.raises(InputError, match=message):
        ResultsFile(path, signature, resume=True)
    assert path.read_bytes() == damaged


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
@pytest.mark.parametrize("content", [b"my notes", b'{"id": "a"}\n'])
def test_a_file_that_is_none_of_ours_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)

    for refused in (
        lambda: ResultsFile(path, signature, resume=True),
        lambda: ResultsFile(path, signature, resume=False),
        lambda: [*read_results(path)],
    ):
        with pytest.raises(InputError, match="is not a results file"):
            refused()
    assert path.read_bytes() == content
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for other, why in ((tmp_path, "is a directory"), (pipe, "not a regular file")):
        with pytest.raises(InputError, match=why):
            ResultsFile(other, signature, resume=False)
    path.write_text('{"factcheck_results": 2, "run": "x"}\n')
    with pytest.raises(InputError, match="written by another version"):
        list(read_results(path))


@pytest.mark.parametrize("row", [{"x": float("nan")}, {"x": {1, 2}}])
def test_what_is_no_row_leaves_no_trace(tmp_path: Path, row: dict[str, Any]) -> None:
    with ResultsFile(tmp_path / "out.jsonl", signature, resume=False) as results:
        with pytest.raises((TypeError, ValueError)):
            results.append("a", row)
        results.append("a", {})

    assert list(read_results(tmp_path / "out.jsonl")) == [{"id": "a"}]


@pytest.mark.skipif(os.name == "nt", reason="no flock")
def test_two_runs_cannot_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    refused = pytest.raises(InputError, match="another run is writing to")
    with ResultsFile(path, signature, resume=False), refused:
        ResultsFile(path, signature, resume=True)
    ResultsFile(path, signature, resume=True).close()
