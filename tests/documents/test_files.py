"""Text files and the values in them: what is accepted, and errors that name file and line."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from factcheck.documents import json_text, parse_json, read_text, write_text
from factcheck.documents.files import MAX_TEXT_BYTES
from factcheck.documents.reading import read_document, read_entries
from factcheck.documents.yaml_documents import parse_yaml, yaml_text
from factcheck.errors import InputError

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_byte_order_mark_is_no_text_and_a_dash_is_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_text(put(tmp_path / "a.txt", b"\xef\xbb\xbfW\xc3\xb6rd\r\nnext\rlast\n")) == (
        "Wörd\nnext\nlast\n"
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Tür\n".encode())))
    assert read_text("-") == "Tür\n"
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        read_text("-")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"abc\n\xe9", ", line 2: not UTF-8 (byte 0xe9 at byte 0 of the line); convert it"),
        (b"\xef\xbb\xbfabc\xe9", ", line 1: not UTF-8 (byte 0xe9 at byte 6 of the line)"),
        (b"PK\x03\x04\x00rest", ", line 1: not a text file (NUL byte at byte 4 of the line)"),
        (b"\xff\xfeh\x00i\x00", " is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8"),
    ],
)
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = put(tmp_path / "a.txt", content)

    with pytest.raises(InputError) as caught:
        read_text(path)

    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_or_written_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: str, _flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(InputError, match=r"gone\.txt does not exist; check the path"):
        read_text(tmp_path / "gone.txt")
    with pytest.raises(InputError, match="is a directory; name a file"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="embedded null"):
        read_text("a\0b")
    with pytest.raises(InputError, match=r"missing/a.txt: folder .*missing does not exist"):
        write_text(tmp_path / "missing" / "a.txt", "new")
    with pytest.raises(InputError, match="is a directory; name a file to write"):
        write_text(tmp_path, "new")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=r"cannot read .*a\.txt: Permission denied"):
        read_text(tmp_path / "a.txt")


@posix
def test_pipes_without_a_writer_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(InputError, match="pipe is a pipe without a writer"):
        read_text(pipe)
    with pytest.raises(InputError, match=r"cannot write .*pipe"):
        write_text(pipe, "unread")
    reading, writing = os.pipe()
    os.write(writing, b"Piped.")
    os.close(writing)
    try:
        assert read_text(f"/dev/fd/{reading}") == "Piped."
    finally:
        os.close(reading)


def test_large_files_and_long_lines_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", b'{"a": 1}\n"' + b"x" * MAX_TEXT_BYTES + b'"\n{"a": 2}\n')

    with pytest.raises(InputError, match="larger than the limit of 1,000 bytes"):
        read_text(path, max_bytes=1000)
    first, second, third = read_entries(path)
    assert (first.value, third.value) == ({"a": 1}, {"a": 2})
    assert str(second.value) == f"{path}, line 2: longer than the limit of 16,777,216 bytes"
    for name in ("rows.csv", "noname"):
        text = b"a,b\n1," + b"x" * MAX_TEXT_BYTES + b"\n3,4\n"
        with pytest.raises(InputError, match="line 2: longer than the limit of 16,777,216 bytes"):
            list(read_entries(put(tmp_path / name, text)))


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "report.txt", "old")

    def refuse(_draft: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
            write_text(path, "new")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_written_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    path = put(tmp_path / "old.txt", "old")
    path.chmod(0o640)
    reference = put(tmp_path / "reference.txt", "")

    write_text(path, "new")
    write_text(tmp_path / "new.txt", "new")

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "gone")

    assert os.read(reader, 9) == b"gone"
    os.close(reader)
    assert pipe.is_fifo()
    assert path.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "new.txt").stat().st_mode == reference.stat().st_mode


@posix
def test_a_draft_never_follows_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = put(tmp_path / "victim", "precious")
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (tmp_path / ".factcheck-guessed.tmp").symlink_to(victim)

    with pytest.raises(InputError, match=r"cannot write .*a\.txt: File exists"):
        write_text(tmp_path / "a.txt", "new")

    assert victim.read_text() == "precious"


@posix
def test_a_link_is_followed(tmp_path: Path) -> None:
    target = put(tmp_path / "real.txt", "old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)

    write_text(link, "new")

    assert link.is_symlink()
    assert target.read_text() == "new"


def test_lone_surrogates_are_written_as_json_reads_them(tmp_path: Path) -> None:
    write_text(tmp_path / "a.json", json.dumps(["\ud800"], ensure_ascii=False))

    assert json.loads((tmp_path / "a.json").read_text()) == ["\ud800"]


# A text with control characters, or with half of a surrogate pair, has no plain YAML form.
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="\ufeff"))
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
KEYS = st.text("ab01 .-:#'no{}[],\"\\", max_size=5)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=12
)
EXPLODING = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "\n".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)
)


def lines_by_hand(value: Any, line: int = 1) -> tuple[dict[tuple[Any, ...], int], int]:
    found: dict[tuple[Any, ...], int] = {(): line}
    if isinstance(value, (dict, list)) and value:
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in members:
            own, line = lines_by_hand(inner, line + 1)
            found |= {(key, *path): at for path, at in own.items()}
        line += 1
    return found, line


@given(VALUES)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    assert parse_json(json_text(value, indent=1), "x.json").value == value


def test_parts_of_json_are_named_by_their_path() -> None:
    document = parse_json('{"cases": [1, {"id": 2}]}', "x.json")

    assert document.place(()) == "x.json"
    assert document.place(("cases", 1, "id")) == "x.json: 'cases', item 2: 'id'"


@given(VALUES)
def test_yaml_is_read_alike_by_every_reader_and_json_is_yaml(value: Any) -> None:
    text = yaml_text(value)
    document = parse_yaml(text, "x.yaml")

    assert document.value == value
    assert yaml.safe_load(text) == value
    with pytest.raises(
        InputError, match=r"YAML cannot hold the lone surrogate '\\ud800'; use JSON"
    ):
        yaml_text([value, {"a\ud800": 1}])
    lines, last = lines_by_hand(value)[0], len(text.splitlines())
    assert all(1 <= document.lines[path] <= last for path in lines)
    if isinstance(value, (dict, list)):
        document = parse_yaml(json_text(value, indent=1), "x.yaml")
        assert document.value == value
        assert document.lines == lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json, line 1: not valid JSON (it is empty)"),
        ('{"a": 1}\n{"a": 2}', "line 2: not valid JSON (extra data after the end"),
        ('{"a": "cut', "(unterminated string starting at, but the text ends; it may be cut off)"),
        ('{"a": "one\ntwo"}', r"(invalid control character at, found '\ntwo"),
        ('{"a": \n', "not valid JSON (expecting value, but the text ends; it may be cut off)"),
        (
            '{"a": 1,\n"b": {"c": 1, "c": 2}}',
            "x.json: duplicate key 'c' in an object with c; keep one",
        ),
        ('{"\\u0061": 1, "a": 2}', "line 1: duplicate key 'a' in an object with a"),
        ("[1,\n\nNaN]", "x.json: NaN is not a JSON value; write null"),
        ('["1e999",\n1e999]', "x.json: 1e999 is not a JSON value"),
        (f'["{"9" * 5000}",\n{"9" * 5000}]', "x.json: it contains a number of too many digits"),
        ("[" * 200_000, "x.json, line 1: nested more than 300 levels deep"),
        ('{"' + "k" * 10**6 + '": 1, "' + "k" * 10**6 + '": 2}', "duplicate key 'kkk"),
        (b'"\xe9"', "x.json, line 1: not UTF-8"),
    ],
)
def test_what_json_would_change_silently_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, "x.json")
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize("text", ["no", "12:30", "007", "2024-05-01", "0x1F", "1_000", ".5.1"])
def test_a_string_in_yaml_stays_a_string(text: str) -> None:
    assert parse_yaml(f"- {text}", "x.yaml").value == [text]
    assert parse_yaml(f"{text}: 1", "x.yaml").value == {text: 1}


def test_a_plain_value_in_yaml_is_that_of_json() -> None:
    texts = ("true", "False", "~", "", "-12", "1.50", "1e3", "-.5E-1", "'12'")
    values = [True, False, None, None, -12, 1.5, 1000.0, -0.05, "12"]

    found = parse_yaml("\n".join(f"- {text}" for text in texts), "x.yaml").value

    assert repr(found) == repr(values)  # equal, and of the same types


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "x.yaml, line 3: duplicate key 'a'; keep one"),
        ("a: 1\n2: 3", "x.yaml, line 2: the key 2 is not a string; put it in quotes"),
        ("a: [1,\n&", "x.yaml, line 2: not valid YAML"),
        ("a: 1\n---\nb: 2", "x.yaml, line 2: a second document begins here"),
        ("a: &x 1\nb: *x", "x.yaml, line 2: the alias *x is not JSON; write it out"),
        ("- .nan", ".nan is not a JSON value"),
        ("- 1e999", "1e999 is not a JSON value"),
        ("- !!binary aGk=", "the tag 'tag:yaml.org,2002:binary' is not JSON"),
        ("- !!python/object/apply:os.system [ls]", "is not JSON; quote a string"),
        ("a: 1\n<<: {b: 2}", "x.yaml, line 2: the merge key '<<' is not JSON"),
        ("[" * 400 + "]" * 400, "nested more than 300 levels deep"),
        (EXPLODING, "line 2: the alias *a0 is not JSON"),
        ("a\ud800", "not valid Unicode"),
    ],
)
def test_yaml_that_is_not_json_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "x.yaml")
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_parts_of_yaml_know_their_lines() -> None:
    text = "name: {}\nversion: []\nlist:\n  - &x 007\n  - {a: 1, b: {}}\nempty:\nlast: [1]"
    lines = {(): 1, ("version",): 2, ("list",): 3, ("list", 1): 5, ("last", 0): 7}
    lines |= {("list", 99): 3, ("list", 1, "deeper"): 5, ("unknown",): 1}  # the nearest part

    document = parse_yaml(text, "x.yaml")

    assert {path: document.place(path) for path in lines} == {
        path: f"x.yaml, line {line}" for path, line in lines.items()
    }


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("r.jsonl", '{"a": 1}\n\n{"a": 2}\n', ["line 1", "line 3"]),
        ("r.json", '\ufeff[{"a": 1},\n{"a": 2}]', ["record 1", "record 2"]),
        ("r.yaml", "- a: 1\n- a: 2\n", ["record 1", "record 2"]),
        ("r", '\n{"a": 1}\n{"a": 2}\n', ["line 2", "line 3"]),
        ("r", '\n[{"a": 1},\n\n{"a": 2}]\n', ["record 1", "record 2"]),
        *(("r.json", one, [""]) for one in ('{"a": 1}', '{\n"a": 1\n}')),
        ("r", '{"a": 1}', ["line 1"]),
        ("r", '{\n"a": 1\n}', [""]),
    ],
)
def test_entries_of_every_format_come_with_their_places(
    tmp_path: Path, name: str, content: str | bytes, places: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    entries = [(str(place), value) for place, value in read_entries(path)]

    names = [f"{path}, {place}".removesuffix(", ") for place in places]
    assert entries == [(name, {"a": n}) for n, name in enumerate(names, 1)]


def test_broken_entries_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text('\n[{"a": 1},\n\n{"a": 2]\n')

    with pytest.raises(InputError, match="r, line 4: not valid JSON"):
        list(read_entries(path))
    with pytest.raises(InputError, match=r"expected a \.yaml, \.yml, \.json or \.jsonl file"):
        read_document(tmp_path / "x.csv")
    lines = put(tmp_path / "r.jsonl", '{"a": 1}\n\n{"a": 2}\n')
    assert read_document(lines).value == [{"a": 1}, {"a": 2}]
    assert read_document(lines).place((1, "a")) == f"{lines}, line 3"
    with pytest.raises(InputError, match=r"r\.jsonl, line 2: not valid JSON"):
        read_document(put(lines, '{"a": 1}\n{"a": }\n'))
