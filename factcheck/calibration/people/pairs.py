"""Facts and texts with the labels of people, from files in the formats that such sets come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, get_args

from factcheck.calibration.people.rows import Row, rows
from factcheck.errors import InputError
from factcheck.files import PathOrDash

COVERED = 0.75
"""Share from which a graded label (1, .5, 0) counts as entailed: only what is fully covered."""
Partly = Literal["not_covered", "left_out"]
"""What becomes of a fact that people call partly covered."""
_YES = ("entailment", "entailed", "supports", "true", "yes")
_NO = ("neutral", "contradiction", "contradicted", "refutes", "not enough info", "false", "no")


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
    system: str = ""
    """Who wrote the text, if that is known."""


class _Given(NamedTuple):
    """What a line says of a fact and a text."""

    document: str
    system: str
    text: Any
    fact: Any
    label: Any


def read_pairs(path: PathOrDash, *, partly: Partly = "not_covered") -> list[LabelledPair]:
    """The labelled pairs of JSON lines, a CSV or a TSV; the format of a row is told by its keys.

    - `facts` and `systems` (`summary`, `labels` of 1, 0, null): many summaries of one document;
    - `facts`, `labels` and `summary` or `text`: one text, by a `system` if it has one;
    - `fact` and `text`, or `hypothesis` and `premise`, with `label` (true, 1, `"entailment"`): one
      pair. In a table every row is one.

    `doc_id` or `document` says what belongs together; pairs that have neither belong together if
    their text is the same. Pairs without a label are left out.

    Args:
        path: The file; `-` is JSON lines on standard input.
        partly: Whether a label between 0 and 1 (.5 is partly covered) counts as not covered (from
            .75, covered), or is left out.

    Raises:
        InputError: The file cannot be read, or a row has another shape; names the line.
    """
    if partly not in get_args(Partly):
        raise InputError(f"partly is {' or '.join(get_args(Partly))}, not {partly!r}")
    pairs = [pair for row, where in rows(path) for pair in _pairs(row, where, partly)]
    if not pairs:
        raise InputError(f"{path}: no labelled pair; every fact needs a text and a label")
    return pairs


def read_recorded(path: PathOrDash) -> list[RecordedVerdict]:
    """Recorded verdicts: `doc_id`, `facts`, `summary_sentences` and `judges: {name: {verdicts}}`.

    Raises:
        InputError: The file cannot be read, or a line has another shape; names the line.
    """
    return [verdict for row, where in rows(path) for verdict in _recorded(row, where)]


def _pairs(row: Row, where: str, partly: Partly) -> list[LabelledPair]:
    for keys, read in _FORMATS:
        if keys <= row.keys():
            try:
                return [pair for given in read(row) if (pair := _pair(given, partly)) is not None]
            except KeyError as error:
                raise InputError(f"{where}: {error.args[0]!r} is missing") from None
            except (TypeError, ValueError) as error:
                raise InputError(f"{where}: {error}") from None
    raise InputError(
        f"{where}: the keys {sorted(row)} are of no known format; a line needs 'fact', 'text' and "
        "'label'"
    )


def _document(row: Row, *keys: str) -> str:
    """The first of these that the row has; "0" is a name, too."""
    named = (row.get(key) for key in keys)
    return next((str(name) for name in named if name is not None and name != ""), "")


def _of_systems(row: Row) -> Iterator[_Given]:
    document = _document(row, "doc_id", "document", "id", "reference", "source")
    for system, given in _mapping(row["systems"], "systems").items():
        one = _mapping(given, f"systems, {system!r}")
        yield from _of_text(one["summary"], row["facts"], one["labels"], document, system)


def _of_one_text(row: Row) -> Iterator[_Given]:
    text = row["summary"] if "summary" in row else row["text"]
    document = _document(row, "doc_id", "document", "id")
    yield from _of_text(text, row["facts"], row["labels"], document, str(row.get("system", "")))


def _of_text(text: Any, facts: Any, labels: Any, document: str, system: str) -> Iterator[_Given]:
    n_facts, n_labels = len(_list(facts, "facts")), len(_list(labels, "labels"))
    if n_facts != n_labels:
        raise ValueError(f"{n_facts} facts and {n_labels} labels; give one for each fact")
    for fact, label in zip(facts, labels, strict=True):
        yield _Given(document, system, text, fact, label)


def _of_pair(row: Row) -> Iterator[_Given]:
    document, system = _document(row, "doc_id", "document"), str(row.get("system") or "")
    yield _Given(document, system, row["text"], row["fact"], row["label"])


def _of_sentences(row: Row) -> Iterator[_Given]:
    if "question" in row:
        raise ValueError(
            "a pair of answers, not a fact and a text; its judge is that of field values: see "
            "benchmarks/pairs"
        )
    document = _document(row, "doc_id", "document")
    yield _Given(document, "", row["premise"], row["hypothesis"], row["label"])


_FORMATS: tuple[tuple[set[str], Callable[[Row], Iterator[_Given]]], ...] = (
    ({"facts", "systems"}, _of_systems),
    ({"facts", "labels"}, _of_one_text),
    ({"fact", "text", "label"}, _of_pair),
    ({"premise", "hypothesis", "label"}, _of_sentences),
)


def _pair(given: _Given, partly: Partly) -> LabelledPair | None:
    if given.label is None or given.label == "":
        return None
    text, fact = given.text, given.fact
    if not isinstance(text, str) or not isinstance(fact, str) or not fact.strip():
        raise TypeError("fact and text must be texts, and the fact not blank")
    share = _share(given.label)
    if partly == "left_out" and 0 < share < 1:
        return None
    return LabelledPair(given.document or text, given.system, text, fact, share >= COVERED)


def _share(label: Any) -> float:
    """How much of a fact people see covered, in [0, 1]."""
    if isinstance(label, str):
        word = label.strip().casefold()
        if word in _YES or word in _NO:
            return float(word in _YES)
        try:
            return _share(float(word))
        except ValueError:
            known = ", ".join(_YES + _NO)
            raise ValueError(f"label {label!r} is no share, and not one of {known}") from None
    if isinstance(label, (bool, int, float)) and 0 <= label <= 1:
        return float(label)
    raise ValueError(f"label {label!r} is neither true nor false nor a number from 0 to 1")


def _recorded(row: Row, where: str) -> Iterator[RecordedVerdict]:
    try:
        facts = _list(row["facts"], "facts")
        document, system = str(row["doc_id"]), str(row.get("system") or "")
        text = " ".join(_list(row["summary_sentences"], "summary_sentences"))
        for judge, reply in _mapping(row["judges"], "judges").items():
            said = _mapping(reply, f"judges, {judge!r}")["verdicts"]
            aligned = isinstance(said, list) and len(said) == len(facts)
            for place, fact in enumerate(facts):
                entailed = _verdict(said[place]) if aligned else None
                yield RecordedVerdict(judge, document, text, fact, entailed, system)
    except KeyError as error:
        message = f"{error.args[0]!r} is missing"
        raise InputError(f"{where}: not a line of recorded verdicts: {message}") from None
    except TypeError as error:
        raise InputError(f"{where}: not a line of recorded verdicts: {error}") from None


def _verdict(said: Any) -> bool | None:
    return bool(said) if isinstance(said, (bool, int)) and said in (0, 1) else None


def _mapping(value: Any, name: str) -> Row:
    if not isinstance(value, dict):
        raise TypeError(f"{name}: expected an object, found {type(value).__name__}")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{name}: expected a list, found {type(value).__name__}")
    return value
