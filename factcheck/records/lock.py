"""Writes the facts of a source to a lock file for review, and reads it back."""

from __future__ import annotations

import sys
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from factcheck.documents import write_text
from factcheck.documents.yaml_documents import yaml_text
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.records.facts import facts_from_data, read_facts

_DEFAULTS: dict[str, Any] = {"span": None, "weight": 1.0, "must": False, "tags": []}
_HEADER = """\
# The atomic facts of a source. Review them: reword, delete or add facts, and set
# must (losing it fails a gate), weight (its share in the score) and tags where they matter.
"""


class LockChange(NamedTuple):
    """What writing a lock file changed. Facts are the same if their text is."""

    existed: bool
    """Whether there was a lock file before."""
    added: tuple[AtomicFact, ...]
    removed: tuple[AtomicFact, ...]
    unchanged: int


def load_lock(path: str | PathLike[str]) -> FactSet:
    """Read a lock file.

    Args:
        path: A `.yaml` file that `write_lock` wrote, perhaps edited since. A fact that was added
            needs no id.

    Raises:
        InputError: Not readable, not YAML, another shape, or no fact in it; names file and line.
    """
    _require_yaml(path)
    return read_facts(path)


def write_lock(facts: FactSet, path: str | PathLike[str], *, force: bool = False) -> LockChange:
    """Write the lock file; `load_lock` reads it back.

    Facts that an earlier lock file at this path holds too keep what it says about them: `id`,
    `must`, `weight` and `tags`.

    Args:
        facts: The facts to write.
        path: A `.yaml` file.
        force: Whether facts that only the earlier lock file has may be dropped: those that
            somebody reworded or added, or that the source no longer holds.

    Raises:
        InputError: The path cannot be written, holds something that is not a lock file, or holds
            facts that would be dropped.
    """
    _require_yaml(path)
    before = read_facts(path).facts if Path(path).exists() else None
    left = list(before or ())
    kept = []
    for fact in facts:
        old = next((known for known in left if known.text == fact.text), None)
        kept.append(old)
        if old is not None:
            left.remove(old)
    if left and not force:
        noun = "fact that is" if len(left) == 1 else "facts that are"
        raise InputError(
            f"{path} holds {len(left)} {noun} not found in the source, such as "
            f"{left[0].text!r:.100}; they may be edits: name another file, or drop them "
            "with --force"
        )
    used = {old.id for old in kept if old is not None}
    entries = [
        replace(old, span=fact.span)
        if old is not None
        else (_without_id(fact) if fact.id in used else fact)
        for fact, old in zip(facts, kept, strict=True)
    ]
    marked = facts_from_data(entries, str(path)).facts
    write_text(path, lock_text(replace(facts, facts=marked)))
    added = tuple(fact for fact, old in zip(marked, kept, strict=True) if old is None)
    return LockChange(before is not None, added, tuple(left), len(facts) - len(added))


def lock_text(facts: FactSet) -> str:
    """The facts as YAML, in order, without default values; one fact a line gives short diffs."""
    data = facts.to_dict()
    head = {key: data[key] for key in ("source_digest", "made_by") if data[key]}
    entries = [_entry(fact) for fact in data["facts"]]
    return _HEADER + yaml_text({**head, "facts": entries}, width=sys.maxsize)


def _entry(fact: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in fact.items()
        if _DEFAULTS.get(key, ...) != value
    }


def _without_id(fact: AtomicFact) -> dict[str, Any]:
    return {key: value for key, value in fact.to_dict().items() if key != "id"}


def _require_yaml(path: str | PathLike[str]) -> None:
    if Path(path).suffix.lower() not in {".yaml", ".yml"}:
        raise InputError(f"{path}: a lock file is YAML; name it .yaml")
