"""The lock file: the facts of a source, written down so that people can review and mark them."""

from __future__ import annotations

import sys
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.files import read_facts, write_text

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


def write_lock(facts: FactSet, path: str | PathLike[str], *, force: bool = False) -> LockChange:
    """Write the lock file; `files.read_facts` reads it back.

    Facts that an earlier lock file at this path holds too keep the marks given to them there:
    `must`, `weight` and `tags`.

    Args:
        facts: The facts to write.
        path: A `.yaml` file.
        force: Whether facts that only the earlier lock file has may be dropped. They are the ones
            that somebody reworded or added, or that the source has lost.

    Raises:
        InputError: The path cannot be written, holds something that is not a lock file, or holds
            facts that would be dropped.
    """
    if Path(path).suffix.lower() not in {".yaml", ".yml"}:
        raise InputError(f"{path}: a lock file is YAML; name it .yaml")
    before = read_facts(path).facts if Path(path).exists() else None
    left = list(before or ())
    marked, added = [], []
    for fact in facts:
        old = next((known for known in left if known.text == fact.text), None)
        if old is None:
            marked.append(fact)
            added.append(fact)
        else:
            left.remove(old)
            marked.append(replace(fact, must=old.must, weight=old.weight, tags=old.tags))
    if left and not force:
        noun = "fact that is" if len(left) == 1 else "facts that are"
        raise InputError(
            f"{path} holds {len(left)} {noun} not found in the source, such as {left[0].text!r}; "
            "they may be somebody's edits: name another file, or drop them with --force"
        )
    write_text(path, lock_text(replace(facts, facts=tuple(marked))))
    return LockChange(before is not None, tuple(added), tuple(left), len(facts) - len(added))


def lock_text(facts: FactSet) -> str:
    """The facts as YAML, in their order, without the values that are defaults."""
    data = facts.to_dict()
    head = {key: data[key] for key in ("source_digest", "made_by") if data[key]}
    body = yaml.dump(
        {**head, "facts": [_entry(fact) for fact in data["facts"]]},
        Dumper=_LockDumper,
        sort_keys=False,
        allow_unicode=True,
        width=sys.maxsize,  # a statement on one line gives a diff of one line
    )
    return _HEADER + str(body)


def _entry(fact: dict[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in fact.items() if _DEFAULTS.get(key, ...) != value}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}


class _LockDumper(yaml.SafeDumper):
    """Writes tuples as `[0, 42]`, on one line, and escapes what YAML takes for a line break."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if any(c in text for c in "\r\x85\u2028\u2029\ufeff") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_LockDumper.add_representer(str, _represent_text)
_LockDumper.add_representer(
    tuple,
    lambda dumper, value: dumper.represent_sequence(
        "tag:yaml.org,2002:seq", value, flow_style=True
    ),
)
