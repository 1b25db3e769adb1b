"""Reads facts from text, JSON and YAML files, and from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from factcheck.documents import (
    MAX_TEXT_BYTES,
    Document,
    PathOrDash,
    name_of,
    parse_json,
    plain_document,
    read_text,
    shown,
)
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, free_ids

_FACT_KEYS = ("id", "text", "span", "weight", "must", "tags")
_SET_KEYS = ("source_digest", "made_by", "facts")


def read_facts(path: PathOrDash) -> FactSet:
    """Read facts from a file.

    Args:
        path: `.txt`: one fact a line, blank lines and `#` comments skipped. `.json`, `.yaml`,
            `.yml`: a list of strings or of fact objects, or what `FactSet.to_dict` gives. `-`:
            JSON if it starts like JSON, else lines.

    Returns:
        The facts in file order; those without id are numbered (see `factcheck.facts.free_ids`).

    Raises:
        InputError: Not readable, another shape, or no fact in it; names file and line.
    """
    name = name_of(path)
    suffix = ".txt" if path == "-" else Path(path).suffix.lower()
    if suffix == ".txt":
        text = read_text(path)
        is_json = path == "-" and text.lstrip().startswith(("[", "{"))
        facts = _facts_of(parse_json(text, name)) if is_json else facts_from_lines(text)
    elif suffix in {".json", ".yaml", ".yml"}:
        from factcheck.documents.reading import read_document

        facts = _facts_of(read_document(path, max_bytes=MAX_TEXT_BYTES))
    else:
        raise InputError(f"{name}: facts come from a .txt, .json, .yaml or .yml file")
    if not facts:
        raise InputError(f"{name} holds no facts; write one fact a line")
    return facts


def facts_from_lines(text: str) -> FactSet:
    """One fact a line; blank lines and `#` comments are skipped. May be empty."""
    lines = (line.strip() for line in text.split("\n"))
    return FactSet.of([line for line in lines if line and not line.startswith("#")])


def facts_from_data(data: Any, name: str) -> FactSet:
    """Facts from a list of strings, objects or facts, or from what `FactSet.to_dict` gives.

    Args:
        data: The list; may be empty.
        name: Name of the list for messages.

    Returns:
        The facts; those without id are numbered (see `factcheck.facts.free_ids`).

    Raises:
        InputError: Another shape, or an id used twice; begins with `name`.
    """
    return _facts_of(plain_document(data, name))


def _facts_of(document: Document) -> FactSet:
    head: Mapping[str, Any] = {}
    items = document.value
    under: tuple[str, ...] = ()
    if isinstance(items, Mapping):
        if problem := _unknown_key(items, _SET_KEYS):
            raise document.error((), problem)
        head, items, under = items, items.get("facts"), ("facts",)
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise document.error(
            under, f"expected a list of facts, or 'facts:' with a list under it, got {shown(items)}"
        )
    items = list(items)
    ids = free_ids([_id_of(item) for item in items])
    facts = []
    for position, (item, free_id) in enumerate(zip(items, ids, strict=True)):
        try:
            facts.append(_fact(item, free_id))
        except InputError as error:  # noqa: PERF203 - it names the fact
            problem = f"fact {position + 1}: {str(error).removeprefix('atomic fact: ')}"
            raise document.error((*under, position), problem) from error
    try:
        made = FactSet.from_dict({**head, "facts": []})
        return FactSet(tuple(facts), made.source_digest, made.made_by)
    except InputError as error:
        raise document.error(under, str(error).removeprefix("fact set: ")) from error


def _id_of(item: Any) -> str | None:
    id_ = item.id if isinstance(item, AtomicFact) else None
    if isinstance(item, Mapping):
        id_ = item.get("id")
    return id_ if isinstance(id_, str) else None


def _fact(item: Any, free_id: str) -> AtomicFact:
    if isinstance(item, AtomicFact):
        return item
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise InputError(f"expected a string, got {shown(item)}; put it in quotes")
    if problem := _unknown_key(item, _FACT_KEYS):
        raise InputError(problem)
    return AtomicFact.from_dict({"id": free_id, **item})


def _unknown_key(value: Mapping[Any, Any], known: tuple[str, ...]) -> str:
    """What is wrong with a key of an object; empty if nothing is."""
    unknown = next((key for key in value if key not in known), None)
    if unknown is None:
        return ""
    return (
        f"{shown(unknown)} is not one of {', '.join(known)}; "
        "put a string in quotes if it holds ': '"
    )
