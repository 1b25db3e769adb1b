"""Facts and texts with the labels of people, from files in the formats that such sets come in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from factcheck.errors import InputError
from factcheck.files import file_errors

COVERED = 0.75
"""Share from which a graded label (1, .5, 0) counts as entailed: only what is fully covered."""


class LabelledPair(NamedTuple):
    """A fact, a text, and whether people say that the text entails the fact."""

    document: str
    """What the pair belongs to; pairs of one document are not independent."""
    system: str
    """Who wrote the text; empty where there is one text for each document."""
    text: str
    fact: str
    label: bool


class RecordedVerdict(NamedTuple):
    """What a judge said of a fact and a text, some time ago."""

    judge: str
    document: str
    text: str
    fact: str
    entailed: bool | None
    """`None` where its reply has no answer for the fact."""


def read_pairs(path: str | Path) -> list[LabelledPair]:
    """The labelled pairs of a file of JSON lines; the format of each line is told by its keys.

    - `facts` and `systems` (`summary`, `labels` of 1, 0, null): many summaries of one document;
    - `facts`, `labels` and `summary` or `text`: one text; a label of .5 is not covered;
    - `fact` and `text`, or `hypothesis` and `premise`, with `label` (true, 1, `"entailment"`): one
      pair; `doc_id` or `document` and `system`, if there are any, say what it belongs to.

    Pairs without a label are left out.

    Raises:
        InputError: The file cannot be read, or a line has another shape; names the line.
    """
    pairs = [pair for row, where in _lines(path) for pair in _pairs(row, where)]
    if not pairs:
        raise InputError(f"{path}: no labelled pair; every fact needs a text and a label")
    return pairs


def read_recorded(path: str | Path) -> list[RecordedVerdict]:
    """Recorded verdicts: `doc_id`, `facts`, `summary_sentences` and `judges: {name: {verdicts}}`.

    Raises:
        InputError: The file cannot be read, or a line has another shape; names the line.
    """
    return [verdict for row, where in _lines(path) for verdict in _recorded(row, where)]


def _lines(path: str | Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    with file_errors(str(path), "read"):
        text = Path(path).read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise InputError(f"{where}: expected an object, found {type(row).__name__}")
        yield row, where


def _pairs(row: Mapping[str, Any], where: str) -> list[LabelledPair]:
    document = str(row.get("doc_id") or row.get("document") or row.get("id") or where)
    for keys, read in _FORMATS:
        if keys <= row.keys():
            try:
                return [pair for pair in read(row, document) if pair is not None]
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                raise InputError(f"{where}: {_told(error)}") from None
    raise InputError(
        f"{where}: the keys {sorted(row)} are of no known format; a line needs 'fact', 'text' and "
        "'label'"
    )


def _told(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _of_systems(row: Mapping[str, Any], document: str) -> Iterator[LabelledPair | None]:
    for system, given in row["systems"].items():
        yield from _of_text(given["summary"], row["facts"], given["labels"], document, system)


def _of_one_text(row: Mapping[str, Any], document: str) -> Iterator[LabelledPair | None]:
    text = row["summary"] if "summary" in row else row["text"]
    yield from _of_text(text, row["facts"], row["labels"], document, str(row.get("system", "")))


def _of_text(
    text: Any, facts: Sequence[Any], labels: Sequence[Any], document: str, system: str
) -> Iterator[LabelledPair | None]:
    if len(facts) != len(labels):
        raise ValueError(f"{len(facts)} facts and {len(labels)} labels; give one for each fact")
    for fact, label in zip(facts, labels, strict=True):
        yield _pair(text, fact, label, document, system)


def _of_pair(row: Mapping[str, Any], document: str) -> Iterator[LabelledPair | None]:
    yield _pair(row["text"], row["fact"], row["label"], document, str(row.get("system", "")))


def _of_sentences(row: Mapping[str, Any], document: str) -> Iterator[LabelledPair | None]:
    if "question" in row:
        raise ValueError(
            "a pair of answers, not a fact and a text; its judge is that of field values: see "
            "benchmarks/pairs"
        )
    group = str(row.get("doc_id") or row["premise"])
    del document
    yield _pair(row["premise"], row["hypothesis"], row["label"], group, "")


def _pair(text: Any, fact: Any, label: Any, document: str, system: str) -> LabelledPair | None:
    if label is None:
        return None
    if not isinstance(text, str) or not isinstance(fact, str) or not fact.strip():
        raise TypeError("fact and text must be texts, and the fact not blank")
    return LabelledPair(document, system, text, fact, _entailed(label))


def _entailed(label: Any) -> bool:
    if isinstance(label, str):
        known = {"entailment": True, "entailed": True, "supports": True}
        known |= dict.fromkeys(("neutral", "contradiction", "contradicted", "refutes"), False)
        if label.casefold() not in known:
            raise ValueError(f"label {label!r} is not one of {', '.join(known)}")
        return known[label.casefold()]
    if isinstance(label, (bool, int, float)) and 0 <= label <= 1:
        return label >= COVERED
    raise ValueError(f"label {label!r} is neither true nor false nor a number from 0 to 1")


_Read = Callable[[Mapping[str, Any], str], Iterable[LabelledPair | None]]
_FORMATS: tuple[tuple[set[str], _Read], ...] = (
    ({"facts", "systems"}, _of_systems),
    ({"facts", "labels"}, _of_one_text),
    ({"fact", "text", "label"}, _of_pair),
    ({"premise", "hypothesis", "label"}, _of_sentences),
)


def _recorded(row: Mapping[str, Any], where: str) -> Iterator[RecordedVerdict]:
    try:
        text, facts = " ".join(row["summary_sentences"]), row["facts"]
        for judge, reply in row["judges"].items():
            verdicts = reply["verdicts"]
            aligned = isinstance(verdicts, list) and len(verdicts) == len(facts)
            for place, fact in enumerate(facts):
                said = verdicts[place] if aligned else None
                entailed = bool(said) if said in (0, 1) else None
                yield RecordedVerdict(judge, str(row["doc_id"]), text, fact, entailed)
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{where}: not a line of recorded verdicts: {_told(error)}") from None
