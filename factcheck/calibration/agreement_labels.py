"""Facts and texts with human labels, and recorded verdicts about them, from files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, Literal, NamedTuple, get_args

from factcheck.documents import PathOrDash, json_lines
from factcheck.documents.reading import table_entries
from factcheck.errors import InputError

COVERED = 0.75
"""Share from which a graded label (1, .5, 0) counts as entailed."""
Partly = Literal["not_covered", "left_out"]
"""How facts with a label between 0 and 1 are treated."""
_YES = ("entailment", "entailed", "supports", "true", "yes")
_NO = ("neutral", "contradiction", "contradicted", "refutes", "not enough info", "false", "no")
_NAMES = ("doc_id", "document")
_BRACKET = re.compile(r"-[lr]rb-", re.IGNORECASE)
Row = Mapping[str, Any]


class LabelledPair(NamedTuple):
    """A fact, a text, and whether human annotators say that the text entails the fact."""

    document: str
    """Pairs of one document are not independent."""
    system: str
    """Author of the text; empty where there is one text per document."""
    text: str
    fact: str
    label: bool


class RecordedVerdict(NamedTuple):
    """A judge's verdict on a fact and a text, from an earlier run."""

    judge: str
    document: str
    text: str
    fact: str
    entailed: bool | None
    """`None` where its reply has no answer for the fact."""
    system: str = ""
    """Author of the text, if known."""


class Answer(NamedTuple):
    """A judge's answer on a labelled pair; `why` it is undecided, if it is."""

    entailed: bool | None
    probability: float | None = None
    why: str = ""


def read_pairs(path: PathOrDash, *, partly: Partly = "not_covered") -> list[LabelledPair]:
    """Read labelled pairs from JSON lines or a table; the keys of a row determine its format.

    - `facts` and `systems` (`summary`, `labels` of 1, 0, null): many summaries of one document;
    - `facts`, `labels` and `summary` or `text`: one text, by a `system` if it has one;
    - `fact` and `text`, or `hypothesis` and `premise`, with `label` (true, 1, `"entailment"`): one
      pair. Every row of a table is one.

    `doc_id` or `document` groups pairs; pairs that have neither are grouped by their text. Pairs
    without a label are left out.

    Args:
        path: `.csv`, `.tsv` or `.parquet`, else JSON lines; `-` is JSON lines on standard input.
        partly: Whether a label between 0 and 1 (.5 is partly covered) counts as not covered (from
            .75, covered), or is left out.

    Raises:
        InputError: The file cannot be read, or a row has another shape; names the line.
    """
    if partly not in get_args(Partly):
        raise InputError(f"partly must be {' or '.join(get_args(Partly))}, not {partly!r}")
    pairs = [pair for row, where in _rows(path) for pair in _pairs(row, where, partly)]
    if not pairs:
        raise InputError(f"{path}: no labelled pair; every fact needs a text and a label")
    return pairs


def read_recorded(path: PathOrDash) -> list[RecordedVerdict]:
    """Read recorded verdicts: `doc_id`, `facts`, `summary_sentences`, `judges: {name: {verdicts}}`.

    Any other shape is an `InputError` that names the line.
    """
    return [verdict for row, where in _rows(path) for verdict in _recorded(row, where)]


def match_recorded(
    verdicts: Iterable[RecordedVerdict], pairs: Sequence[LabelledPair]
) -> tuple[dict[str, list[tuple[LabelledPair, Answer]]], int]:
    """The pairs that each judge saw, with its answers, and how many verdicts match no pair.

    A pair is matched by document, text and fact; texts are equal if their letters and digits are.
    Where the same words of several systems are labelled, the label is that of the verdict's system,
    or else the first.
    """
    known: dict[tuple[str, str, str], list[LabelledPair]] = {}
    for pair in pairs:
        known.setdefault((pair.document, _letters(pair.text), pair.fact), []).append(pair)
    found: dict[str, list[tuple[LabelledPair, Answer]]] = {}
    unmatched = 0
    for verdict in verdicts:
        judge, document, text, fact, entailed, system = verdict
        same = known.get((document, _letters(text), fact))
        if same is None:
            unmatched += 1
            continue
        # Labels may put a kind before the name of a system: `abs_bart` is `bart`.
        label = next((pair for pair in same if pair.system.endswith(system)), same[0]).label
        answer = Answer(entailed, why="the recorded reply has no answer")
        seen = LabelledPair(document, system, text, fact, label)
        found.setdefault(judge, []).append((seen, answer))
    return found, unmatched


def _letters(text: str) -> str:
    return re.sub(r"\W", "", _BRACKET.sub("", text)).lower()


def _rows(path: PathOrDash) -> Iterator[tuple[Row, str]]:
    """The rows of a table or of JSON lines, with their places."""
    suffixes = (".csv", ".tsv", ".parquet")
    is_table = str(path).lower().removesuffix(".gz").endswith(suffixes)
    for place, value in table_entries(path) if is_table else json_lines(path):
        if isinstance(value, InputError):
            raise value
        if not isinstance(value, Mapping):
            raise InputError(f"{place}: expected a JSON object, got {type(value).__name__}")
        yield value, str(place)


def _pairs(row: Row, where: str, partly: Partly) -> list[LabelledPair]:
    found = []
    try:
        for document, system, text, fact, label in _entries(row):
            share = _share(text, fact, label)
            if share is not None and (share in {0.0, 1.0} or partly == "not_covered"):
                found.append(LabelledPair(document or text, system, text, fact, share >= COVERED))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: {_reason(error)}") from None
    return found


def _reason(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _entries(row: Row) -> Iterator[tuple[str, str, Any, Any, Any]]:
    """Document, system, text, fact and label, unchecked; the keys of a row determine its format."""
    keys = row.keys()
    if keys >= {"facts", "systems"}:
        document = _first(row, *_NAMES, "id", "reference", "source")
        for system, given in _typed(row["systems"], dict, "systems").items():
            one = _typed(given, dict, f"systems, {system!r}")
            labelled = _labelled(row["facts"], one["labels"])
            yield from ((document, system, one["summary"], *both) for both in labelled)
    elif keys >= {"facts", "labels"}:
        document, system = _first(row, *_NAMES, "id"), str(row.get("system", ""))
        text = row["summary"] if "summary" in row else row["text"]
        labelled = _labelled(row["facts"], row["labels"])
        yield from ((document, system, text, *both) for both in labelled)
    elif keys >= {"fact", "text", "label"}:
        system = str(row.get("system") or "")
        yield _first(row, *_NAMES), system, row["text"], row["fact"], row["label"]
    elif "question" in keys and keys >= {"premise", "hypothesis", "label"}:
        raise ValueError(
            "a pair of answers, not a fact and a text; its judge is that of field values: see "
            "benchmarks/pairs"
        )
    elif keys >= {"premise", "hypothesis", "label"}:
        yield _first(row, *_NAMES), "", row["premise"], row["hypothesis"], row["label"]
    else:
        raise ValueError(
            f"unknown format with the keys {sorted(row)}; a line needs 'fact', 'text' and 'label'"
        )


def _first(row: Row, *keys: str) -> str:
    """The first of these that the row has; 0 is a name, too."""
    names = (row.get(key) for key in keys)
    return next((str(name) for name in names if name is not None and name != ""), "")


def _labelled(facts: Any, labels: Any) -> Iterator[tuple[Any, Any]]:
    n_facts, n_labels = len(_typed(facts, list, "facts")), len(_typed(labels, list, "labels"))
    if n_facts != n_labels:
        raise ValueError(f"{n_facts} facts and {n_labels} labels; every fact needs one")
    return zip(facts, labels, strict=True)


def _share(text: Any, fact: Any, label: Any) -> float | None:
    """The share of a fact that annotators see covered, in [0, 1]; `None` without a label."""
    if label is None or label == "":
        return None
    if not isinstance(text, str) or not isinstance(fact, str) or not fact.strip():
        raise TypeError("fact and text must be strings, and the fact not blank")
    number, expected = label, "true, false, or a number from 0 to 1"
    if isinstance(label, str):
        word, expected = label.strip().casefold(), f"0 to 1, or one of {', '.join(_YES + _NO)}"
        with suppress(ValueError):
            number = word in _YES if word in _YES + _NO else float(word)
    if not isinstance(number, (bool, int, float)) or not 0 <= number <= 1:
        raise ValueError(f"label {label!r}: expected {expected}")
    return float(number)


def _recorded(row: Row, where: str) -> Iterator[RecordedVerdict]:
    try:
        facts = _typed(row["facts"], list, "facts")
        document, system = str(row["doc_id"]), str(row.get("system") or "")
        text = " ".join(_typed(row["summary_sentences"], list, "summary_sentences"))
        for judge, reply in _typed(row["judges"], dict, "judges").items():
            given = _typed(reply, dict, f"judges, {judge!r}")["verdicts"]
            is_aligned = isinstance(given, list) and len(given) == len(facts)
            for fact, verdict in zip(facts, given if is_aligned else repeat(None), strict=False):
                is_verdict = isinstance(verdict, (bool, int)) and verdict in (0, 1)
                entailed = bool(verdict) if is_verdict else None
                yield RecordedVerdict(judge, document, text, fact, entailed, system)
    except (KeyError, TypeError) as error:
        reason = _reason(error)
        raise InputError(f"{where}: not a line of recorded verdicts: {reason}") from None


def _typed(value: Any, kind: type, name: str) -> Any:
    if not isinstance(value, kind):
        expected = "a list" if kind is list else "an object"
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__}")
    return value
