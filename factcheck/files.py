"""Texts and fact files: reading them with errors that say where, writing them in one step.

Every problem with a file is an `InputError` of one line that names the file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Union

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet

PathOrDash = Union[str, "os.PathLike[str]"]
"""A file, or `-` for standard input."""

_FACT_KEYS = ("id", "text", "span", "weight", "must", "tags")
_SET_KEYS = ("source_digest", "made_by", "facts")


def refuse_stdin_twice(*paths: PathOrDash | None) -> None:
    """Standard input can be read once.

    Raises:
        InputError: More than one path is `-`.
    """
    if sum(path == "-" for path in paths) > 1:
        raise InputError("'-' (standard input) can stand for one file only; name a file instead")


def read_text(path: PathOrDash) -> str:
    """The text of a UTF-8 file, with line feeds as line ends and without byte order mark.

    Raises:
        InputError: Missing, a directory, not readable, binary, or not UTF-8.
    """
    name = "standard input" if path == "-" else str(path)
    if path == "-" and sys.stdin is None:
        raise InputError("standard input is closed; name a file instead")
    with file_errors(name, "read"):
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name} is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8")
    if (offset := data.find(b"\0")) >= 0:
        raise InputError(
            f"{name} is not a text file (NUL byte at byte {offset}); give plain text in UTF-8"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # 'utf-8-sig' counts from after the byte order mark.
        offset = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise InputError(
            f"{name} is not UTF-8 (byte 0x{data[offset]:02x} at offset {offset}); "
            "convert it, for example: iconv -f LATIN1 -t UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_text(path: PathOrDash, text: str) -> None:
    """Write a UTF-8 file in one step: whoever reads it finds the old text or the new one.

    Raises:
        InputError: A directory, a missing folder, or not writable.
    """
    check_writable(path)
    # Lone surrogates have no UTF-8 form; as `\udcff` they stay visible, and valid inside JSON.
    data = text.encode("utf-8", "backslashreplace")
    with file_errors(str(path), "write"):
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe cannot be replaced
            return
        draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            draft.write_bytes(data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def check_writable(path: PathOrDash) -> None:
    """A file can be written there, as far as can be told before trying.

    Raises:
        InputError: A directory, or a folder that does not exist.
    """
    with file_errors(str(path), "write"):
        target = Path(path)
        if target.is_dir():
            raise InputError(f"{path} is a directory; name a file to write")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {target.parent}")


@contextmanager
def file_errors(name: str, verb: str) -> Iterator[None]:
    """Inside, whatever the system says about a file is an `InputError` that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist; check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a directory; name a file") from error
    except PermissionError as error:
        raise InputError(f"cannot {verb} {name}: permission denied") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot {verb} {name}: {error.strerror or error}") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot {verb} {name!r}: {error}") from error


def read_facts(path: PathOrDash) -> FactSet:
    """Facts from a file.

    Args:
        path: `.txt`: one fact a line, blank lines and `#` comments skipped. `.json`, `.yaml`,
            `.yml`: a list of strings or of fact objects, or what `FactSet.to_dict` gives. `-`:
            JSON if it starts like JSON, else lines.

    Returns:
        The facts in file order; those without id are numbered `f1`, `f2`, ... by position.

    Raises:
        InputError: Not readable, another shape, or no fact in it; names file and line or entry.
    """
    text = read_text(path)
    name = "standard input" if path == "-" else str(path)
    suffix = Path(path).suffix.lower()
    if path == "-":
        suffix = ".json" if text.lstrip()[:1] in {"[", "{"} else ".txt"
    if suffix == ".txt":
        facts = facts_from_lines(text)
    elif suffix == ".json":
        facts = facts_from_data(_parse_json(text, name), name)
    elif suffix in {".yaml", ".yml"}:
        facts = facts_from_data(_parse_yaml(text, name), name)
    else:
        raise InputError(f"{name}: facts come from a .txt, .json, .yaml or .yml file")
    if not facts:
        raise InputError(f"{name} holds no facts; write one fact a line")
    return facts


def facts_from_lines(text: str) -> FactSet:
    """One fact a line; blank lines and `#` comments are skipped. May be empty."""
    lines = (line.strip() for line in text.split("\n"))
    return FactSet.of([line for line in lines if line and not line.startswith("#")])


def _parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        detail = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise InputError(f"{name}{where}: not valid JSON ({detail})") from error


def _parse_yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        detail = getattr(error, "problem", None) or str(error).split("\n", maxsplit=1)[0]
        raise InputError(
            f"{name}{where}: not valid YAML ({detail}); put the text in quotes if it holds ': '"
        ) from error


def facts_from_data(data: Any, name: str) -> FactSet:
    """Facts from a list of strings, objects or facts, or from `FactSet.to_dict`. May be empty.

    Raises:
        InputError: Another shape; begins with `name` and says which fact.
    """
    made: Mapping[str, Any] = {}
    if isinstance(data, Mapping):
        _refuse_unknown(data, _SET_KEYS, name)
        made, data = data, data.get("facts")
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise InputError(f"{name}: expected a list of facts, or 'facts:' with a list under it")
    facts = [_fact(item, f"{name}, fact {n}", f"f{n}") for n, item in enumerate(data, 1)]
    try:
        head = FactSet.from_dict({**made, "facts": []})
        return replace(head, facts=tuple(facts))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _fact(item: Any, where: str, default_id: str) -> AtomicFact:
    if isinstance(item, AtomicFact):
        return item
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise InputError(f"{where}: expected a text, found {item!r}; put it in quotes")
    _refuse_unknown(item, _FACT_KEYS, where)
    try:
        fact = AtomicFact.from_dict({"id": default_id, **item})
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return fact


def _refuse_unknown(data: Mapping[Any, Any], known: Sequence[str], where: str) -> None:
    unknown = [key for key in data if key not in known]
    if unknown:
        raise InputError(
            f"{where}: {unknown[0]!r} is not one of {', '.join(known)}; "
            "put a text in quotes if it holds ': '"
        )
