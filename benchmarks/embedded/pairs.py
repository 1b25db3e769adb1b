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
MOST: dict[str, int] = {
    "fever_dev_gold": 14_000,
    "conjnli": 4_500,
    "help_conj": 1_500,
    "med": 2_500,
    "pawsx_en": 4_000,
    "gap_coref": 4_000,
    "hans_sample": 4_000,
    "cad_nli": 11_500,
    "negation_nli": 4_500,
    "megaveridicality": 1_500,
    "fever_symmetric": 1_500,
    "vitaminc_small": 400,
    "wice_dev": 400,
    "entailmentbank_steps": 1_200,
    "begin_wow": 800,
    "refchecker_claims": 1_000,
    "clcd_contradictions": 800,
    "rules_wikisplit_en": 18_000,
    "rules_templates_en": 5_000,
}
"""Pairs taken from a file at most; templates together are under a fifth."""
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
    for name, most in MOST.items():
        (path,) = sorted(data.glob(f"nli*/{name}.jsonl*"))
        pairs = [pair for row in read_rows(path) if (pair := _pair(row, name)) is not None]
        pairs.sort(key=lambda pair: _fraction(pair.text + pair.fact))
        chosen += pairs[:most]
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
    if not text or not fact or len(text) > 1_500 or len(fact) > 400:
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
