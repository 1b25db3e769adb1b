"""Labelled cases for fitting and measuring the embedded judge.

A case is a fact, the text it is held against, and whether the text entails it. `group` is what must
stay on one side of a split: a document or a family of pairs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.embedded.own_texts import minimal_pairs, texts
from benchmarks.embedded.pairs import Pair, load_pairs, load_written

FITTED = ("realsumm", "summhay", "factcheckgpt", "written", "summaries")
"""Sets with a part in the fit; what is reported of them is cross-validated."""
N_TOGETHER = 4
UNTOUCHED = ("pairs", "fm2", "summedits", "breaking", "own", "minimal")


class Case(NamedTuple):
    """A fact, a text, and whether the text entails the fact."""

    dataset: str
    group: str
    """What must not be split: a document, or a family of pairs."""
    text_id: str
    """What a coverage is computed over."""
    fact: str
    text: str
    label: float
    """1 entailed, 0 not, 0.5 in part."""
    kind: str = ""


def load_cases(data: Path, dataset: str) -> list[Case]:
    """The cases of one set, in a fixed order."""
    return list(_READERS[dataset](data))


def _rows(data: Path, name: str) -> Iterator[dict[str, Any]]:
    with (data / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _realsumm(data: Path) -> Iterator[Case]:
    for row in _rows(data, "realsumm_dev"):
        for system, found in row["systems"].items():
            for fact, label in zip(row["facts"], found["labels"], strict=True):
                if label is not None:
                    text_id = f"{row['doc_id']}/{system}"
                    yield Case(
                        "realsumm", row["doc_id"], text_id, fact, found["summary"], float(label)
                    )


def _summhay(data: Path) -> Iterator[Case]:
    for row in _rows(data, "summhay_dev"):
        for fact, label in zip(row["facts"], row["labels"], strict=True):
            text_id = f"{row['doc_id']}/{row['system']}"
            yield Case("summhay", row["doc_id"], text_id, fact, row["summary"], float(label))


def _claims(dataset: str, name: str) -> Any:
    def read(data: Path) -> Iterator[Case]:
        for row in _rows(data, name):
            label = float(row["label"])
            yield Case(dataset, row["doc_id"], row["id"], row["fact"], row["text"], label)

    return read


def _summedits(data: Path) -> Iterator[Case]:
    for row in _rows(data, "summedits_sales_dev"):
        for fact, label in zip(row["facts"], row["labels"], strict=True):
            yield Case("summedits", row["doc_id"], row["doc_id"], fact, row["text"], float(label))


def _pairs(data: Path) -> Iterator[Case]:
    for pair in load_pairs(data):
        if pair.held_out:
            label = float(pair.label == "entailed")
            yield Case(
                "pairs", pair.family, pair.family, pair.fact, pair.text, label, pair.phenomenon
            )


def _written(data: Path) -> Iterator[Case]:
    """Held-out passages, several of which stand together as one text."""
    del data
    by_text: dict[str, list[Pair]] = {}
    for pair in load_written():
        if pair.held_out and pair.source != "summaries":
            by_text.setdefault(pair.text, []).append(pair)
    passages = iter(by_text)
    while together := list(islice(passages, N_TOGETHER)):
        text = "\n".join(together)
        for pair in (pair for passage in together for pair in by_text[passage]):
            yield _case("written", pair, text)


def _summaries(data: Path) -> Iterator[Case]:
    """Held-out summaries, with facts that the embedded extractor found in their sources."""
    del data
    for pair in load_written():
        if pair.held_out and pair.source == "summaries":
            yield _case("summaries", pair, pair.text)


def _case(dataset: str, pair: Pair, text: str) -> Case:
    label = float(pair.label == "entailed")
    group = pair.family if dataset == "summaries" else text
    return Case(dataset, group, text, pair.fact, text, label, pair.phenomenon)


def _breaking(data: Path) -> Iterator[Case]:
    rows = list(_rows(data / "nli", "breaking_nli"))
    for row in rows[:: max(1, len(rows) // 1_000)]:
        label = float(row["label"] == "entailment")
        premise = row["premise"]
        yield Case("breaking", premise, premise, row["hypothesis"], premise, label, row["label"])


def _own(data: Path) -> Iterator[Case]:
    del data
    for text in texts():
        for fact in text.facts:
            kind = "distorted" if text.distorted[fact.id] else ""
            label = float(bool(text.carriers[fact.id]))
            yield Case("own", text.name, text.name, fact.text, text.summary, label, kind)


def _minimal(data: Path) -> Iterator[Case]:
    del data
    for pair in minimal_pairs():
        for fact, label in ((pair.entailed, 1.0), (pair.not_entailed, 0.0)):
            yield Case(
                "minimal", pair.entailed, pair.entailed, fact, pair.premise, label, pair.kind
            )


_READERS = {
    "realsumm": _realsumm,
    "summhay": _summhay,
    "factcheckgpt": _claims("factcheckgpt", "factcheckgpt_dev"),
    "fm2": _claims("fm2", "fm2_dev"),
    "summedits": _summedits,
    "pairs": _pairs,
    "written": _written,
    "summaries": _summaries,
    "breaking": _breaking,
    "own": _own,
    "minimal": _minimal,
}
