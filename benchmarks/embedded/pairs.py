"""Training pairs: short English texts, each with a statement and whether the text entails it.

They come from `../shared/data/nli` and `nli2` (see the data card for sources and licences), and
from `written`: passages written for this, with statements that paraphrase them and statements that
only seem to. Breaking NLI is left out: it is reported. A family of pairs (the same number in their
ids, or the same premise) stands on one side of the split.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LABELS = {
    "entailed": "entailed",
    "entailment": "entailed",
    "contradiction": "contradicted",
    "contradicted": "contradicted",
}
SHARES: dict[str, float] = {
    "news": 3.0,
    "business": 3.0,
    "everyday": 3.0,
    "knowledge": 3.0,
    "abstract": 2.0,
    "minimal": 10.0,
    "summaries": 6.0,
    "documents": 6.0,
    "fever_dev_gold": 5.0,
    "conjnli": 1.5,
    "help_conj": 0.5,
    "med": 1.0,
    "pawsx_en": 3.0,
    "gap_coref": 2.0,
    "hans_sample": 2.0,
    "cad_nli": 4.0,
    "negation_nli": 2.0,
    "megaveridicality": 0.7,
    "fever_symmetric": 0.7,
    "vitaminc_small": 0.5,
    "wice_dev": 0.5,
    "entailmentbank_steps": 0.7,
    "begin_wow": 0.5,
    "refchecker_claims": 1.0,
    "clcd_contradictions": 0.5,
    "rules_wikisplit_en": 5.0,
    "rules_templates_en": 2.0,
    "defacto": 6.0,
    "fib_xsum": 5.0,
    "fib_rules": 3.0,
    "wice": 4.0,
    "summeval": 1.5,
    "evidence_inference": 2.0,
    "infotabs": 4.0,
    "argkp": 2.0,
    "mctest": 1.0,
    "boolq": 3.0,
    "condaqa": 5.0,
    "xquad": 0.5,
    "qamr": 3.0,
    "pubmedqa": 0.7,
    "snli": 2.0,
    "entailment": 1.5,
}
"""How often a source is drawn in training. Weakly licensed files of `nli3` are left out."""
MOST = 24_000
"""Pairs taken from a file at most."""
LONGEST_TEXT = 6_000
"""Characters."""
WRITTEN_SOURCES = frozenset(
    {"news", "business", "everyday", "knowledge", "abstract", "minimal", "summaries", "documents"}
)
WRITTEN = Path(__file__).parent / "written"
CONTRADICTED_KINDS = frozenset(
    {"roles", "units", "quantities", "antonyms", "negation", "names", "dates", "order", "changed"}
)
"""Kinds of false statements that a text contradicts; the others it does not say."""
HELD_OUT = 0.06
"""Share of the families that nothing is trained on."""


class Pair(NamedTuple):
    """A text, a statement, and whether the text entails it."""

    text: str
    fact: str
    label: str
    """`entailed`, `contradicted`, or `other`."""
    source: str
    phenomenon: str
    family: str

    @property
    def held_out(self) -> bool:
        return _fraction(self.family) < HELD_OUT


def _fraction(text: str) -> float:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 0x1_0000_0000


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    yield from map(json.loads, text.decode().splitlines())


def load_pairs(data: Path) -> list[Pair]:
    """The training pairs in a fixed order, those of a file drawn by the digest of the pair."""
    chosen: list[Pair] = []
    for name in sorted(SHARES.keys() - WRITTEN_SOURCES):
        folder = "propositions" if name == "entailment" else "nli*"
        (path,) = sorted(data.glob(f"{folder}/{name}.jsonl*"))
        pairs = [pair for row in read_rows(path) if (pair := _pair(row, name)) is not None]
        pairs.sort(key=lambda pair: _fraction(pair.text + pair.fact))
        chosen += pairs[:MOST]
    return chosen


def load_written() -> list[Pair]:
    """The pairs written for this, in file order."""
    found = []
    for path in sorted(WRITTEN.glob("*.jsonl")):
        for row in read_rows(path):
            text = row["text"]
            labelled = [(fact, "entailed", "true") for fact in row["true"]]
            for kind, fact in row["false"]:
                label = "contradicted" if kind in CONTRADICTED_KINDS else "other"
                labelled.append((fact, label, kind))
            family = row.get("source", text[:80])
            found += [Pair(text, fact, label, path.stem, k, family) for fact, label, k in labelled]
    return found


def _pair(row: dict[str, Any], source: str) -> Pair | None:
    if row.get("lang", "en") != "en":
        return None
    if "premise" in row:
        text, fact = row["premise"], row["hypothesis"]
        label = LABELS.get(row["label"], "other")
    else:
        text, fact, label = row["text"], row["fact"], "entailed" if row["label"] else "other"
    text, fact = clean(text), clean(fact)
    if not text or not fact or len(text) > LONGEST_TEXT or len(fact) > 400:
        return None
    number = re.search(r"\d{2,}", row.get("id", ""))
    shared = source.startswith("rules") and number
    family = f"{source}:{number.group()}" if shared and number else text[:80]
    return Pair(text, fact, label, source, row.get("phenomenon", row.get("dataset", "")), family)


def clean(text: str) -> str:
    """A text without the traces of tokenisation: brackets, quotes, blanks before punctuation."""
    for mark, plain in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]")):
        text = text.replace(mark, plain)
    text = re.sub(r"``\s?|\s?''", '"', text)
    text = re.sub(r"\s+([.,;:!?%)\]])", r"\1", text)
    text = re.sub(r"([(\[])\s+", r"\1", text)
    text = re.sub(r"\s+('s|n't|'re|'ve|'ll|'d)\b", r"\1", text)
    return " ".join(text.split())
