"""Reading and writing text files: what is accepted, and errors that name file and line."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest

from factcheck.documents import json_lines, read_text, write_text, write_with
from factcheck.documents.files import MAX_TEXT_BYTES
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
def test_endless_devices_and_pipes_without_a_writer_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(InputError, match="/dev/zero, line 1: not a text file"):
        read_text("/dev/zero")
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
    packed = put(tmp_path / "a.jsonl.gz", gzip.compress(path.read_bytes()))

    with pytest.raises(InputError, match="larger than the limit of 1,000 bytes"):
        read_text(path, max_bytes=1000)
    for file in (path, packed):
        with pytest.raises(InputError, match="line 2: longer than the limit of 16,777,216 bytes"):
            list(json_lines(file))


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
    with pytest.raises(ZeroDivisionError):
        write_with(path, lambda stream: stream.write(b"new") / 0)

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_written_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    path = put(tmp_path / "old.txt", "old")
    path.chmod(0o640)
    reference = put(tmp_path / "reference.txt", "")

    write_text(path, "new")
    write_text(tmp_path / "new.txt", "new")

    write_text(os.devnull, "gone")

    assert Path(os.devnull).is_char_device()
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
def test_a_link_is_followed_unless_another_user_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = put(tmp_path / "real.txt", "old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)

    write_text(link, "new")

    assert link.is_symlink()
    assert target.read_text() == "new"

    if os.geteuid() == 0:
        os.lchown(link, 1234, 1234)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 1234)
        monkeypatch.setattr(Path, "stat", lambda *_, **__: os.stat_result((0o40777,) + (0,) * 9))
    with pytest.raises(InputError, match="a link created by another user"):
        write_text(link, "newer")


def test_lone_surrogates_are_written_as_json_reads_them(tmp_path: Path) -> None:
    write_text(tmp_path / "a.json", json.dumps(["\ud800"], ensure_ascii=False))

    assert json.loads((tmp_path / "a.json").read_text()) == ["\ud800"]
