"""Read records and facts from files; write and merge lock files of facts.

Records are read one at a time, from every format, with unique ids and errors that name the place.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from factcheck.documents import (
    MAX_TEXT_BYTES,
    Document,
    Entry,
    PathInValue,
    PathOrDash,
    name_of,
    parse_json,
    read_text,
    shown,
    write_text,
)
from factcheck.documents.reading import read_document, read_entries
from factcheck.documents.yaml_documents import yaml_text
from factcheck.errors import InputError
from factcheck.facts import (
    AtomicFact,
    FactSet,
    Source,
    SourceDocument,
    as_source,
    free_ids,
    short_digest,
)
from factcheck.facts.model import FOREIGN, InvalidFact, refuse_unknown_keys

_REQUIRED = ("source", "summary")
_OPTIONAL = ("id", "facts")
_HINT = "; name other columns with --source-field and --summary-field (of factcheck run)"
_NO_NAMES: Mapping[str, str] = {}
_SET_KEYS = ("source_digest", "made_by", "documents", "extracted", "facts")
_HEADER = """\
# The atomic facts of a source. Review them: reword, delete or add facts, and set
# must (losing it fails a gate), weight (its share in the score) and tags where they matter.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """A source and one summary of it."""

    id: str
    """Unique within its dataset."""
    source: str | tuple[SourceDocument, ...]
    """A text, or several documents."""
    summary: str
    facts: FactSet | tuple[str | AtomicFact, ...] | None = None
    """Facts of the source; `None`: extract them."""
    where: str = ""
    """Location for messages, such as `pairs.jsonl, line 7`."""


RecordLike: TypeAlias = "Record | Mapping[str, Any] | tuple[Source, str]"
"""A record, a mapping with its fields, or a source and a summary."""


def as_record(item: RecordLike, number: int) -> Record:
    """Convert a mapping with `source`, `summary` and optional `id` and `facts` to a record.

    A pair is a source and a summary. Other keys are ignored; a `Record` is validated in the same
    way. `number`, the 1-based position, is the id of a record without one.

    Raises:
        InputError: The record is invalid; names the place.
    """
    where = f"record {number}"
    if isinstance(item, Record):
        fields = {key: getattr(item, key) for key in ("id", "source", "summary", "facts")}
        return _record(fields, number, item.where or where)
    if isinstance(item, tuple) and len(item) == len(_REQUIRED):
        item = dict(zip(_REQUIRED, item, strict=True))
    return _record(item, number, where, hint="; rename its fields")


def _record(
    data: Any, number: int, where: str, fields: Mapping[str, str] = _NO_NAMES, hint: str = ""
) -> Record:
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object with source and summary, got {shown(data)}")
    source, summary, id_, facts = names = [fields.get(key, key) for key in _REQUIRED + _OPTIONAL]
    for name in names[: len(_REQUIRED)]:
        if name not in data:
            found = reprlib.repr(list(data))
            raise InputError(f"{where}: {name!r} is missing; found {found}{hint}")
    if not isinstance(data[summary], str):
        raise InputError(f"{where}: {summary!r}: expected a string, got {shown(data[summary])}")
    return Record(
        id=_id(data.get(id_), number, where),
        source=as_source(data[source], f"{where}: {source!r}"),
        summary=data[summary],
        facts=_facts(data.get(facts), where),
        where=where,
    )


def _id(value: Any, number: int, where: str) -> str:
    if value is None:
        return str(number)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where}: 'id': expected a string or whole number, got {shown(value)}")
    if not value.strip():
        raise InputError(f"{where}: 'id' is blank; fill it in, or leave it out of every record")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: 'id' is not valid Unicode: {value!a:.80}") from error
    return value


def _facts(value: Any, where: str) -> FactSet | None:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value, "cell").value
        except InputError as error:
            raise InputError(
                f"{where}: 'facts' starts like a JSON list but is not valid ({error}); "
                "write a JSON list, or one fact per line"
            ) from error
    elif isinstance(value, str):
        value = facts_from_lines(value) if value.strip() else None
    elif isinstance(value, list):  # in Arrow, a struct has every field in every row
        value = [_without_nulls(fact) for fact in value]
    if value is None:
        return None
    facts = value if isinstance(value, FactSet) else facts_of(Document(where, value))
    if not facts:
        raise InputError(f"{where}: 'facts' is empty; leave it out to have the facts extracted")
    return facts


def _without_nulls(fact: Any) -> Any:
    if not isinstance(fact, dict):
        return fact
    return {key: value for key, value in fact.items() if value is not None}


def read_records(*paths: PathOrDash, fields: Mapping[str, str] | None = None) -> Iterator[Record]:
    """Read the records of one or more files lazily, in order.

    Args:
        paths: `.jsonl` or `.ndjson` (one object per line), `.csv` or `.tsv` (with a header; `facts`
            may be a JSON list), `.json` or `.yaml` (a list, loaded as a whole). `-`:
            JSON lines or JSON on standard input. Every record has `source` and `summary`; `id`
            (default: 1-based position) and `facts` (a list, or one per line) are optional; other
            keys are ignored. Except in CSV and TSV, `source` may be a list of documents: strings,
            or objects with `text` and optional `id`.
        fields: Names of `source`, `summary`, `id` or `facts` in the dataset, such as
            `{"source": "article"}`.

    Returns:
        The records. Memory holds one record and all ids.

    Raises:
        InputError: Immediately if a path is missing or of another format. While reading: the file
            is unreadable or empty, a column is missing, or a record is invalid.
    """
    names = fields or _NO_NAMES
    required = [names.get(key, key) for key in _REQUIRED]
    sources = [(name_of(path), read_entries(path, required, _HINT)) for path in paths]
    return _records(sources, names)


def _records(
    sources: Iterable[tuple[str, Iterable[Entry]]], fields: Mapping[str, str]
) -> Iterator[Record]:
    first_use: dict[str, str] = {}
    for name, entries in sources:
        number = 0
        for number, (place, data) in enumerate(entries, 1):
            if isinstance(data, InputError):
                raise data
            record = _record(data, number, place, fields, _HINT)
            if record.id in first_use:
                where = first_use[record.id].removeprefix(f"{name}, ")
                used = f"the id {record.id!r:.80} was used before, in {where}"
                raise InputError(f"{place}: {used}; ids must be unique")
            first_use[record.id] = place
            yield record
        if number == 0:
            raise InputError(f"{name} holds no records")


def read_facts(path: PathOrDash) -> FactSet:
    """Read facts from a file.

    Args:
        path: `.txt`: one fact per line; blank lines and `#` comments are skipped. `.json`, `.yaml`,
            `.yml`: a list of strings or fact objects, the output of `FactSet.to_dict`, or a report.
            `-`: JSON if it starts like JSON, else lines.

    Returns:
        The facts in file order, numbered if they have no id (see `factcheck.facts.free_ids`).

    Raises:
        InputError: Unreadable, malformed or empty; names file and place.
    """
    name = name_of(path)
    suffix = ".txt" if path == "-" else Path(path).suffix.lower()
    if suffix == ".txt":
        text = read_text(path)
        is_json = path == "-" and text.lstrip().startswith(("[", "{"))
        facts = facts_of(parse_json(text, name)) if is_json else facts_from_lines(text)
    elif suffix in {".json", ".yaml", ".yml"}:
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
    alone: tuple[AtomicFact, ...]
    """Details whose core is no longer in the file: facts of their own from now on."""


def write_lock(facts: FactSet, path: str | PathLike[str]) -> LockChange:
    """Write a lock file, or merge facts into an existing one; `read_facts` reads it back.

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
    if Path(path).suffix.lower() not in {".yaml", ".yml"}:
        raise InputError(f"{path}: a lock file is YAML; name it .yaml")
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
        elif key in base and not (old.must or {*old.tags} - {FOREIGN} or old.weight != 1.0):
            removed.append(old)
        else:
            kept.append(replace(old, span=None, documents=()))
            if old.span is not None or key in base:
                lost.append(old)
    known = {*base, *(short_digest(fact.text) for fact in kept)}
    added = [fact for fact in facts if short_digest(fact.text) not in known]
    cores: dict[str | None, str] = {fact.id: fact.id for fact in kept}
    wished = [None if fact.id in cores else fact.id for fact in added]
    free = free_ids([*cores.values(), *wished])[len(kept) :]
    ids.update((fact.id, id_) for fact, id_ in zip(added, free, strict=True))
    new_facts = [replace(fact, id=ids[fact.id], core=ids.get(fact.core)) for fact in added]
    alone = tuple(fact for fact in kept if fact.core not in {None, *cores})
    kept = [replace(fact, core=cores.get(fact.core)) for fact in kept]
    merged = [*kept, *new_facts]
    for fact in merged:
        owners.setdefault(short_digest(fact.text), fact.id)
    extracted = tuple(f"{key}={owners.get(key, '')}".removesuffix("=") for key in by_digest)
    locked = replace(facts, facts=tuple(merged), extracted=extracted)
    write_text(path, lock_text(locked))
    n_same = len(kept) - len(lost)
    return LockChange(existed, tuple(new_facts), tuple(removed), tuple(lost), n_same, alone)


def lock_text(facts: FactSet) -> str:
    """Format facts as YAML, one per line for short diffs, in order, without default values."""
    data = facts.to_dict()
    head = {key: data[key] for key in ("source_digest", "made_by", "documents") if data[key]}
    if facts.extracted:
        head["extracted"] = facts.extracted
    defaults = {**AtomicFact("f", "x").to_dict(), "id": None, "text": None}
    entries = []
    for fact in data["facts"]:
        entry = {key: value for key, value in fact.items() if value != defaults[key]}
        for key, value in entry.items():
            if isinstance(value, list):  # which YAML shows on one line as a tuple
                entry[key] = tuple(value)
        entries.append(entry)
    return _HEADER + yaml_text({**head, "facts": entries}, width=sys.maxsize)
