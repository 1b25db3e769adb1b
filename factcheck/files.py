"""Fact files: reading them with errors that say where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from factcheck.documents import (
    PathOrDash,
    check_writable,
    file_errors,
    read_text,
    refuse_stdin_twice,
    write_text,
)
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet

__all__ = [
    "PathOrDash",
    "check_writable",
    "facts_from_data",
    "facts_from_lines",
    "file_errors",
    "read_facts",
    "read_text",
    "refuse_stdin_twice",
    "write_text",
]

_FACT_KEYS = ("id", "text", "span", "weight", "must", "tags")
_SET_KEYS = ("source_digest", "made_by", "facts")


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
