"""Read facts from files and plain data; write and merge lock files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from factcheck.documents import (
    MAX_TEXT_BYTES,
    Document,
    PathInValue,
    PathOrDash,
    name_of,
    parse_json,
    read_text,
    write_text,
)
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, SourceDocument, as_source, free_ids, short_digest
from factcheck.facts.model import InvalidFact, refuse_unknown_keys

_SET_KEYS = ("source_digest", "made_by", "documents", "extracted", "facts")
_DEFAULTS = {**AtomicFact("f", "x").to_dict(), "id": None, "text": None}
_HEADER = """\
# The atomic facts of a source. Review them: reword, delete or add facts, and set
# must (losing it fails a gate), weight (its share in the score) and tags where they matter.
"""


def read_facts(path: PathOrDash) -> FactSet:
    """Read facts from a file.

    Args:
        path: `.txt`: one fact per line; blank lines and `#` comments are skipped. `.json`, `.yaml`,
            `.yml`: a list of strings or fact objects, the output of `FactSet.to_dict`, or a report.
            `-`: JSON if it starts like JSON, else lines.

    Returns:
        The facts in file order, numbered if they have no id (see `factcheck.facts.free_ids`).

    Raises:
        InputError: Unreadable, malformed or empty; names file and line.
    """
    name = name_of(path)
    suffix = ".txt" if path == "-" else Path(path).suffix.lower()
    if suffix == ".txt":
        text = read_text(path)
        is_json = path == "-" and text.lstrip().startswith(("[", "{"))
        facts = facts_of(parse_json(text, name)) if is_json else facts_from_lines(text)
    elif suffix in {".json", ".yaml", ".yml"}:
        from factcheck.documents.reading import read_document

        facts = facts_of(read_document(path, max_bytes=MAX_TEXT_BYTES))
    else:
        raise InputError(f"{name}: facts come from a .txt, .json, .yaml or .yml file")
    if not facts:
        raise InputError(f"{name} holds no facts; write one fact per line")
    return facts


def read_source(paths: Sequence[PathOrDash]) -> str | tuple[SourceDocument, ...]:
    """Read one file as a text, or several as documents whose ids are their file names.

    If two files share a name, the ids are their paths. Duplicate files are an `InputError`.
    """
    if len(paths) == 1:
        return read_text(paths[0])
    names = [Path(name_of(path)).name for path in paths]
    if len(set(names)) < len(names):
        names = [name_of(path) for path in paths]
    texts = [{"id": name, "text": read_text(path)} for name, path in zip(names, paths, strict=True)]
    source: str | tuple[SourceDocument, ...] = as_source(texts)
    return source


def facts_from_lines(text: str) -> FactSet:
    """Parse one fact per line, skipping blank lines and `#` comments. May be empty."""
    lines = (line.strip() for line in text.split("\n"))
    return FactSet.of([line for line in lines if line and not line.startswith("#")])


def facts_of(document: Document) -> FactSet:
    """Parse a list of facts, the output of `FactSet.to_dict`, or a report. May be empty."""
    value: Any = document.value
    path: PathInValue = ()
    if isinstance(value, Mapping) and isinstance(value.get("facts"), Mapping):
        value, path = value["facts"], ("facts",)
    head: Mapping[str, Any] = {}
    try:
        if isinstance(value, Mapping):
            refuse_unknown_keys(value, _SET_KEYS)
            value, path, head = value.get("facts"), (*path, "facts"), value
        return replace(FactSet.from_dict({**head, "facts": []}), facts=FactSet.of(value).facts)
    except InvalidFact as problem:
        raise document.error((*path, problem.position), str(problem)) from problem
    except InputError as problem:
        raise document.error(path, str(problem).removeprefix("fact set: ")) from problem


class LockChange(NamedTuple):
    """Changes made by `write_lock`. Facts are identified by their text."""

    existed: bool
    """Whether the lock file existed before."""
    added: tuple[AtomicFact, ...]
    """Facts that are new in the source."""
    removed: tuple[AtomicFact, ...]
    """Unedited facts that are no longer in the source; removed from the file."""
    lost: tuple[AtomicFact, ...]
    """Edited facts that are no longer in the source; kept in the file, without a span."""
    unchanged: int
    """Number of the other facts that were kept."""


def load_lock(path: str | PathLike[str]) -> FactSet:
    """Read a lock file.

    Args:
        path: A `.yaml` file from `write_lock`, possibly edited. Added facts need no id.

    Raises:
        InputError: Unreadable, not YAML, malformed or empty; names file and line.
    """
    _require_yaml(path)
    return read_facts(path)


def write_lock(facts: FactSet, path: str | PathLike[str]) -> LockChange:
    """Write a lock file, or merge facts into an existing one; `load_lock` reads it back.

    The merge is three-way and applies changes of the source as well as edits of the file: facts
    that were reworded, added or marked are kept with `id`, `must`, `weight` and `tags`; deleted
    facts stay deleted; new facts are appended. A reworded fact keeps its span as long as the fact
    that it was made from is in the source.

    Args:
        facts: Facts of the source.
        path: A `.yaml` file. Delete it to start over.

    Raises:
        InputError: The path is not writable, or the existing file is not a lock file.
    """
    _require_yaml(path)
    existed = Path(path).exists()
    before = read_facts(path) if existed else FactSet(())
    entries = (entry.partition("=") for entry in before.extracted)
    base = {key: id_ for key, _, id_ in entries} or {
        short_digest(fact.text): fact.id for fact in before if fact.span
    }
    originals = {id_: key for key, id_ in base.items() if id_}
    is_same_source = before.source_digest == facts.source_digest
    found: dict[str, list[AtomicFact]] = {}
    for fact in facts:
        found.setdefault(fact.text, []).append(fact)
    by_digest = {short_digest(fact.text): fact for fact in facts}
    kept: list[AtomicFact] = []
    removed: list[AtomicFact] = []
    lost: list[AtomicFact] = []
    owners: dict[str, str] = {}
    ids: dict[str | None, str] = {}
    for old in before:
        key, original = short_digest(old.text), originals.get(old.id, "")
        if matches := found.get(old.text):
            new = matches.pop(0)
            kept.append(replace(old, span=new.span, documents=new.documents))
            ids[new.id] = old.id
        elif old.span is not None and original in by_digest:
            new = by_digest[original]
            kept.append(replace(old, span=new.span, documents=new.documents))
            owners[original] = old.id
            ids[new.id] = old.id
        elif is_same_source:
            kept.append(old)
        elif key in base and not (old.must or old.tags or old.weight != 1.0):
            removed.append(old)
        else:
            kept.append(replace(old, span=None, documents=()))
            if old.span is not None or key in base:
                lost.append(old)
    known = {*base, *(short_digest(fact.text) for fact in kept)}
    added = [fact for fact in facts if short_digest(fact.text) not in known]
    used = [fact.id for fact in kept]
    wished = [None if fact.id in used else fact.id for fact in added]
    free = free_ids([*used, *wished])[len(kept) :]
    ids.update((fact.id, id_) for fact, id_ in zip(added, free, strict=True))
    new_facts = [replace(fact, id=ids[fact.id], core=ids.get(fact.core)) for fact in added]
    known_ids = {*used, *free}
    kept = [fact if fact.core in known_ids else replace(fact, core=None) for fact in kept]
    merged = [*kept, *new_facts]
    for fact in merged:
        owners.setdefault(short_digest(fact.text), fact.id)
    extracted = tuple(f"{key}={owners[key]}" if key in owners else key for key in by_digest)
    locked = replace(facts, facts=tuple(merged), extracted=extracted)
    write_text(path, lock_text(locked))
    return LockChange(existed, tuple(new_facts), tuple(removed), tuple(lost), len(kept) - len(lost))


def lock_text(facts: FactSet) -> str:
    """Format facts as YAML, one per line for short diffs, in order, without default values."""
    from factcheck.documents.yaml_documents import yaml_text

    data = facts.to_dict()
    head = {key: data[key] for key in ("source_digest", "made_by", "documents") if data[key]}
    if facts.extracted:
        head["extracted"] = facts.extracted
    entries = list(map(_entry, data["facts"]))
    return _HEADER + yaml_text({**head, "facts": entries}, width=sys.maxsize)


def _entry(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Return a fact without defaults; lists are tuples, which YAML shows on one line."""
    entry = {key: value for key, value in fact.items() if _DEFAULTS.get(key, ...) != value}
    for key, value in entry.items():
        if isinstance(value, list):
            entry[key] = tuple(value)
    return entry


def _require_yaml(path: str | PathLike[str]) -> None:
    if Path(path).suffix.lower() not in {".yaml", ".yml"}:
        raise InputError(f"{path}: a lock file is YAML; name it .yaml")
