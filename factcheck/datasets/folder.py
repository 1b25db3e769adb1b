"""A folder as a dataset: `NAME.source.txt` with `NAME.summary.txt`, and perhaps `NAME.facts.yaml`.

`NAME.summary.LABEL.txt` are further summaries of the same source, with the id `NAME/LABEL`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from factcheck.datasets.record import Entry, Place
from factcheck.errors import InputError
from factcheck.files import file_errors, read_facts, read_text

_TEXT = re.compile(r"(.+)\.(source|summary(?:\.(.+))?)\.(?:txt|md)", re.DOTALL)
_FACTS = re.compile(r"(.+)\.facts\.(?:txt|json|yaml|yml)", re.DOTALL)


@dataclass(slots=True)
class _Group:
    """The files of one name."""

    sources: list[Path] = field(default_factory=list)
    summaries: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))
    """By label; the empty label for `NAME.summary.txt`."""
    facts: list[Path] = field(default_factory=list)

    def files(self) -> list[Path]:
        """All of them, in order."""
        return sorted(chain(self.sources, self.facts, *self.summaries.values()))


def folder_entries(folder: Path) -> Iterator[Entry]:
    """One entry a summary, sorted by name and label. Files with other names are left alone.

    Raises:
        InputError: The folder cannot be read, or no file in it has such a name.
    """
    groups = _groups(folder)
    if not groups:
        raise InputError(f"{folder} holds no records: no NAME.source.txt with NAME.summary.txt")
    for name, group in sorted(groups.items()):
        yield from _entries(folder / name, group)


def _groups(folder: Path) -> Mapping[str, _Group]:
    groups: dict[str, _Group] = defaultdict(_Group)
    with file_errors(str(folder), "read"), os.scandir(folder) as files:
        for file in files:
            path = folder / file.name
            if file.name.startswith(".") or not file.is_file():
                continue
            if match := _FACTS.fullmatch(file.name):
                groups[match[1]].facts.append(path)
            elif match := _TEXT.fullmatch(file.name):
                group = groups[match[1]]
                texts = group.sources if match[2] == "source" else group.summaries[match[3] or ""]
                texts.append(path)
    return groups


def _entries(stem: Path, group: _Group) -> Iterator[Entry]:
    """The entries of one name; its source and its facts are read once."""
    if not group.summaries:
        place = Place(str(group.files()[0]))
        yield Entry(place, InputError(f"{place}: there is no {stem.name}.summary.txt beside it"))
    read_once, read_facts_once = cache(read_text), cache(read_facts)
    for label, summaries in sorted(group.summaries.items()):
        place = Place(str(min(summaries)))
        data: Mapping[str, Any] | InputError
        try:
            data = {
                "id": f"{stem.name}/{label}" if label else stem.name,
                "source": read_once(_source(group, stem, place)),
                "summary": read_text(_only(summaries)),
                "facts": read_facts_once(_only(group.facts)) if group.facts else None,
            }
        except InputError as error:
            data = error
        yield Entry(place, data)


def _source(group: _Group, stem: Path, place: Place) -> Path:
    if not group.sources:
        raise InputError(f"{place}: there is no {stem.name}.source.txt beside it")
    return _only(group.sources)


def _only(paths: Sequence[Path]) -> Path:
    if len(paths) > 1:
        first, second = sorted(paths)[:2]
        raise InputError(f"{first} and {second.name} stand for the same text; keep one")
    return paths[0]
