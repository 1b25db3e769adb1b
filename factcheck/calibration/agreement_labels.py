"""Facts and texts with human labels, from files."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from factcheck.documents import PathOrDash
from factcheck.documents.reading import read_entries
from factcheck.documents.results import is_results
from factcheck.errors import InputError
from factcheck.reports.text import plural, quote_text
from factcheck.scoring.comparison import read_reports

COVERED = 0.75
"""Share from which a graded label (1, .5, 0) counts as entailed."""
_YES = ("stated", "entailment", "entailed", "supports", "true", "yes")
_NO = (
    "not stated", "neutral", "contradiction", "contradicted", "refutes", "not enough info", "false",
    "no",
)  # fmt: skip
_UNLABELLED = ("", "cannot tell")
_DIGEST = 8
"""Digits of the digest that names the source of a report."""
_log = logging.getLogger(__name__)


class LabelledPair(NamedTuple):
    """A fact, a text, and whether people say that the text entails the fact."""

    document: str
    """Pairs of one document are not independent."""
    system: str
    """Author of the text; empty where there is one text per document."""
    text: str
    fact: str
    label: bool | None = None
    """`None`: not labelled; the judge is asked all the same."""
    chance: float = 1.0
    """Probability, in (0, 1], that the fact was chosen for labelling within its document."""


class Answer(NamedTuple):
    """A judge's answer on a labelled pair."""

    entailed: bool | None
    probability: float | None = None
    why: str = ""
    """Why it is undecided."""


def read_pairs(
    path: PathOrDash, labels: PathOrDash | None = None, *, need_labels: bool = True
) -> list[LabelledPair]:
    """Read labelled pairs from JSON lines or a table.

    A row has `fact`, `text` and `label` (true, 1, `"entailment"`), and may have the `system` that
    wrote the text and the `chance` of being labelled. Rows of `factcheck run --out`, or a `.json`
    report of `factcheck score`, are every fact of every summary, without labels.

    `doc_id` or `document` groups pairs; pairs that have neither are grouped by their text. A label
    between 0 and 1 (.5 is partly covered) counts as covered from .75 on; `null` is no label.

    Args:
        path: `.jsonl`, `.yaml`, `.csv`, `.tsv`, `.parquet` or `.json`; `-` is JSON lines or JSON
            on standard input.
        labels: A file of the same formats with labels for facts of `path`, found by their text and
            fact.
        need_labels: Whether pairs without any label are refused.

    Raises:
        InputError: A file cannot be read, a row has another shape, two labels of one fact
            contradict each other, or `labels` has a fact that `path` has not; names the line.
    """
    pairs: list[LabelledPair] = []
    seen: dict[tuple[str, ...], bool] = {}
    for pair, where in _read(path):
        _agree(seen, (pair.document, pair.system, pair.text, pair.fact), pair, where)
        pairs.append(pair)
    if labels is not None:
        pairs = _labelled(pairs, labels)
    if not pairs or (need_labels and all(pair.label is None for pair in pairs)):
        raise InputError(f"{labels or path}: no labelled pair; every fact needs a text and a label")
    return pairs


def _labelled(pairs: Sequence[LabelledPair], path: PathOrDash) -> list[LabelledPair]:
    """Return the pairs with the labels of another file."""
    known = {(pair.text, pair.fact) for pair in pairs}
    labels = {(pair.text, pair.fact): pair.label for pair in pairs if pair.label is not None}
    found: dict[tuple[str, str], LabelledPair] = {}
    strangers: list[str] = []
    for pair, where in _read(path):
        key = (pair.text, pair.fact)
        if pair.label is not None and key in known:
            _agree(labels, key, pair, where)
            found[key] = pair
        elif pair.label is not None:
            strangers.append(f"{where}, {quote_text(pair.fact)}")
    if strangers:
        raise InputError(
            f"{plural(len(strangers), 'label')} of facts or texts that the data do not have "
            f"({strangers[0]}); give the file that the labels were made from"
        )
    both = ((pair, found.get((pair.text, pair.fact), pair)) for pair in pairs)
    return [pair._replace(label=own.label, chance=own.chance) for pair, own in both]


def _agree(seen: dict[Any, bool], key: Any, pair: LabelledPair, where: str) -> None:
    """Note a label, and refuse one that contradicts an earlier one."""
    if pair.label is not None and seen.setdefault(key, pair.label) != pair.label:
        raise InputError(
            f"{where}: the label of {quote_text(pair.fact)} contradicts an earlier one of the same "
            "text; keep one of them"
        )


def _read(path: PathOrDash) -> Iterator[tuple[LabelledPair, str]]:
    """Yield the pairs of reports, or of the rows of a table or of JSON lines, with places."""
    if path != "-" and (str(path).endswith(".json") or is_results(path)):
        reports, partial = read_reports(path)
        if partial:
            _log.warning("%s: %s", path, partial)
        for name, report in reports.items():
            if report.texts is None:
                raise InputError(f"{path}: the report has no text; score it again")
            system, text = name or report.texts.summary.id, report.texts.summary.text
            document = (report.facts.source_digest or system)[:_DIGEST]
            yield from (
                (LabelledPair(document, system, text, fact.text), system) for fact in report.facts
            )
        return
    for place, value in read_entries(path):
        if isinstance(value, InputError):
            raise value
        try:
            pair = _pair(value)
        except (TypeError, ValueError) as error:
            raise InputError(f"{place}: {error}") from None
        yield pair, str(place)


def _pair(row: Any) -> LabelledPair:
    """Return the pair of a row."""
    if not isinstance(row, Mapping):
        raise TypeError(f"expected an object, got {type(row).__name__}")
    if not row.keys() >= {"fact", "text"}:
        raise ValueError(
            f"unknown format with the keys {sorted(row)}; a line needs 'fact', 'text' and 'label'"
        )
    fact, text = row["fact"], row["text"]
    if not isinstance(text, str) or not isinstance(fact, str) or not fact.strip():
        raise TypeError("fact and text must be strings, and the fact not blank")
    document = text
    for given in (row.get("document"), row.get("doc_id")):
        if given is not None and given != "":
            document = str(given)
    system = str(row.get("system") or "")
    label, chance = _is_covered(row.get("label")), _chance(row.get("chance"))
    return LabelledPair(document, system, text, fact, label, chance)


def _chance(value: Any) -> float:
    chance = 1.0 if value is None or value == "" else _number(value)
    if not 0 < chance <= 1:
        raise ValueError(f"chance {value!r}: expected a number above 0, up to 1")
    return chance


def _is_covered(label: Any) -> bool | None:
    word = label.strip().casefold() if isinstance(label, str) else label
    if word is None or word in _UNLABELLED:
        return None
    if word in _YES + _NO:
        return word in _YES
    share = _number(word)
    if not 0 <= share <= 1:
        words = ", ".join(_YES + _NO)
        raise ValueError(f"label {label!r}: expected true, false, 0 to 1, or one of {words}")
    return share >= COVERED


def _number(value: Any) -> float:
    """Return the value of a number or its text; NaN without one."""
    with suppress(TypeError, ValueError):
        return float(value)
    return math.nan
