"""Reading records from tables: comma and tab separated, and Parquet."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import ConfigError, InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.records import Record, read_records

HEADER = "id,source,summary\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_rows(path: Path, rows: Sequence[Sequence[str]], **dialect: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, **dialect).writerows(rows)
    return path


@pytest.mark.parametrize(("name", "delimiter"), [("pairs.csv", ","), ("pairs.tsv", "\t")])
def test_rows_are_records_whatever_their_texts_hold(
    tmp_path: Path, name: str, delimiter: str
) -> None:
    rows = [
        ["note", "summary", "source", "id"],
        ["x", 'He said: "no,\tno".', "Line one.\nLine two,\r\nand three.", "a"],
        ["", "", " Ö 東 \u2028 " * 50_000, "b"],
    ]
    path = write_rows(tmp_path / name, rows, delimiter=delimiter)

    assert list(read_records(path)) == [
        Record("a", rows[1][2], rows[1][1], None, f"{path}, line 2"),
        Record("b", rows[2][2], "", None, f"{path}, line 5"),
    ]


def test_facts_are_a_json_list_or_one_a_line(tmp_path: Path) -> None:
    rows = [
        ["source", "summary", "facts"],
        ["a", "b", '["It rains.", {"text": "It snows.", "weight": 2}]'],
        ["c", "d", "It rains.\n\n# a remark\nIt snows."],
        ["e", "f", ""],
        ["g", "h", '["It rains."'],
        ["i", "j", "# none"],
    ]
    errors: list[InputError] = []
    path = write_rows(tmp_path / "pairs.csv", rows)

    assert [record.facts for record in read_records(path, skip_bad=errors.append)] == [
        FactSet((AtomicFact("f1", "It rains."), AtomicFact("f2", "It snows.", weight=2.0))),
        FactSet.of(["It rains.", "It snows."]),
        None,
    ]
    assert "line 8: 'facts' starts like a JSON list but is not valid" in str(errors[0])
    assert "line 9: 'facts' is empty" in str(errors[1])


@pytest.mark.parametrize(
    ("rows", "ids", "message"),
    [
        (b'x,"one\ntwo \xff\nthree",b\ny,c,d\n', ["y"], "line 3: not UTF-8 (byte 0xff at byte 4"),
        (b'x,a,b\ny,"open,\nc,d\n', ["x"], "line 3: misplaced quotes (unexpected"),
    ],
)
def test_a_fault_in_a_field_of_several_lines_is_named_by_its_line(
    tmp_path: Path, rows: bytes, ids: list[str], message: str
) -> None:
    path = write(tmp_path / "pairs.csv", HEADER.encode() + rows)
    errors: list[InputError] = []

    assert [record.id for record in read_records(path, skip_bad=errors.append)] == ids
    assert len(errors) == 1
    assert f"{path}, {message}" in str(errors[0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id;source;summary\n1;a;b\n", "separated by ','): no column 'source'; found ['id;sou"),
        ("source,text\na,b\n", "no column 'summary'; found ['source', 'text']"),
        ("source,summary,source\na,b,c\n", "duplicate column 'source'"),
        (b"source,summ\xe9\n", "line 1: not UTF-8"),
        ('source,"summary', "misplaced quotes"),
        ("source,summary\n", "holds no records"),
        ("", "holds no records"),
    ],
)
def test_a_header_that_does_not_fit_is_an_error_even_when_bad_records_are_skipped(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = write(tmp_path / "pairs.csv", content)

    with pytest.raises(InputError) as caught:
        list(read_records(path, skip_bad=lambda error: None))

    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(ConfigError, match=r"pip install 'factcheck\[parquet\]'"):
        read_records(write(tmp_path / "pairs.parquet", ""))


def write_parquet(path: Path, columns: Mapping[str, Any], **options: Any) -> Path:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def test_parquet_rows_are_records_across_row_groups(tmp_path: Path) -> None:
    numbers = range(300)
    path = write_parquet(
        tmp_path / "pairs.parquet",
        {
            "summary": [f"Summary {n}." for n in numbers],
            "extra": list(numbers),
            "id": list(numbers),
            "source": [f"Source {n}." for n in numbers],
        },
        row_group_size=70,
    )

    records = list(read_records(path))

    assert [record.id for record in records] == [str(n) for n in numbers]
    assert records[299] == Record("299", "Source 299.", "Summary 299.", None, f"{path}, row 300")


@pytest.mark.parametrize(
    "facts",
    [
        ["It rains.\nIt snows.", None],
        ['["It rains.", "It snows."]', ""],
        [["It rains.", "It snows."], None],
        [[{"text": "It rains."}, {"text": "It snows.", "id": None}], None],
    ],
)
def test_parquet_facts_are_a_list_or_a_text(tmp_path: Path, facts: Any) -> None:
    path = write_parquet(
        tmp_path / "pairs.parquet", {"source": ["a", "b"], "summary": ["c", "d"], "facts": facts}
    )

    first, second = read_records(path)

    assert first.facts == FactSet.of(["It rains.", "It snows."])
    assert second.facts is None


def test_bad_parquet_rows_are_named_and_can_be_skipped(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "pairs.parquet",
        {"id": ["1", "1", "4"], "source": ["a", "b", "c"], "summary": ["x", "y", None]},
    )
    errors: list[InputError] = []

    assert [record.id for record in read_records(path, skip_bad=errors.append)] == ["1"]
    assert [str(error) for error in errors] == [
        f"{path}, row 2: the id '1' was used before, in row 1; ids must be unique",
        f"{path}, row 3: 'summary': expected a string, got null",
    ]


def test_a_parquet_file_that_does_not_fit_is_an_error_even_when_bad_records_are_skipped(
    tmp_path: Path,
) -> None:
    whole = write_parquet(tmp_path / "a.parquet", {"source": ["a"] * 999, "summary": ["b"] * 999})
    data = bytearray(whole.read_bytes())
    damaged = write(tmp_path / "b.parquet", bytes(data[: len(data) // 2]))
    data[4:40] = b"\xff" * 36
    scrambled = write(tmp_path / "c.parquet", bytes(data))
    other = write_parquet(tmp_path / "d.parquet", {"text": ["a"]})
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    buffers = pyarrow.array([b"a", b"\xff"]).buffers()
    latin = pyarrow.Array.from_buffers(pyarrow.utf8(), 2, buffers)
    mixed = write_parquet(tmp_path / "f.parquet", {"source": latin, "summary": ["x", "y"]})
    empty = write_parquet(tmp_path / "e.parquet", {"source": [], "summary": []})

    for path, message in (
        (damaged, "cannot read"),
        (scrambled, "cannot read"),
        (mixed, "cannot read"),
        (other, "no column 'source'; found ['text']"),
        (empty, "holds no records"),
    ):
        with pytest.raises(InputError) as caught:
            list(read_records(path, skip_bad=lambda error: None))
        assert str(path) in str(caught.value)
        assert message in str(caught.value)
