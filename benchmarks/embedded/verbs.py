"""Counts which verbs need an object or a phrase, in the parsed sentences that taught the parser.

    python -m benchmarks.embedded.verbs --work FOLDER

Reads `parsed.jsonl`, which `syntax.py` left in the folder, and writes `verbs.json` beside the rules
of the embedded extractor.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from factcheck.judges.local.roles import COMPLEMENTS
from factcheck.text.words import irregular_forms, word_set

TARGET = Path("factcheck/judges/local/verbs.json")
FEWEST_VERBS, FEWEST_NOUNS, FEWEST_FORMS = 12, 15, 2
"""Occurrences."""
TRANSITIVE, INTRANSITIVE = 0.8, 0.25
"""Share of the occurrences of a verb that have an object: at least, and less than."""
ALONE = 0.06
"""Least share of the occurrences of an intransitive verb that have nothing behind them."""
GOVERNS = 0.25
"""Least share of the occurrences of a word that have a preposition."""
USUAL = {"verb": 6, "noun": 8}
"""How many times the share of all verbs, or of all nouns, that is at least."""
_NOT_PREDICATES = word_set("aux auxpass amod compound")
_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
_SHORTEST = 3


class Word(NamedTuple):
    """A verb or noun of a parsed sentence, with what stands behind it."""

    form: str
    stem: str
    kind: str
    """`verb`, `passive` or `noun`."""
    has_object: bool
    is_alone: bool
    """Nothing is behind it."""
    prepositions: frozenset[str]


def words(row: dict[str, Any]) -> Iterator[Word]:
    """Yield the verbs and common nouns of a sentence."""
    behind = defaultdict(list)
    for place, head in enumerate(row["heads"]):
        if place > head:
            behind[head].append(place)
    for place, (text, tag) in enumerate(zip(row["words"], row["tags"], strict=True)):
        relations = [row["relations"][k] for k, head in enumerate(row["heads"]) if head == place]
        relation = row["relations"][place]
        kind = "noun" if tag in ("NN", "NNS") else ""
        if tag[0] == "V" and relation not in _NOT_PREDICATES:
            is_passive = "auxpass" in relations or (tag == "VBN" and relation == "acl")
            kind = "passive" if is_passive else "verb"
        if kind and text.isalpha() and stem(text.lower()) != "b":  # all forms of `be`
            has_object = any(row["relations"][k] in COMPLEMENTS for k in behind[place])
            found = {row["words"][k].lower() for k in behind[place] if _is_led(row, k)}
            is_alone = not any(row["words"][k].isalnum() for k in behind[place])
            yield Word(
                text.lower(), stem(text.lower()), kind, has_object, is_alone, frozenset(found)
            )


def _is_led(row: dict[str, Any], place: int) -> bool:
    return bool(row["relations"][place] == "prep" and row["words"][place].isalpha())


def stem(word: str) -> str:
    """Return what the forms of a word have in common."""
    word = irregular_forms().get(word, word)
    for ending, put in _ENDINGS:
        base = word.removesuffix(ending) + put
        if word.endswith(ending) and len(base) >= _SHORTEST:
            return re.sub(r"([^lsz])\1\Z", r"\1", base).rstrip("e")
    return word.rstrip("e")


def lexicon(found: list[Word]) -> dict[str, str]:
    """Return the forms of verbs by what they need, and the pairs of words that go together."""
    forms: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    objects: Counter[tuple[str, str]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, str, str]] = Counter()
    usual: Counter[tuple[str, str]] = Counter()
    n_kinds = Counter("noun" if word.kind == "noun" else "verb" for word in found)
    for word in found:
        key = word.kind, word.stem
        forms[key][word.form] += 1
        objects[key] += word.has_object
        alone[key] += word.is_alone
        for preposition in word.prepositions:
            pairs[word.kind, word.stem, preposition] += 1
            usual["noun" if word.kind == "noun" else "verb", preposition] += 1
    lists: dict[str, list[str]] = defaultdict(list)
    for key, counts in forms.items():
        n = counts.total()
        if key[0] != "verb" or n < FEWEST_VERBS:
            continue
        if objects[key] >= TRANSITIVE * n:
            lists["transitive"] += _common(counts)
        elif objects[key] < INTRANSITIVE * n and alone[key] >= ALONE * n:
            lists["intransitive"] += _common(counts)
    names = {"verb": "governing", "passive": "governing passive", "noun": "governing nouns"}
    for (kind, stem_, preposition), n in pairs.items():
        counts = forms[kind, stem_]
        of = "noun" if kind == "noun" else "verb"
        share, expected = n / counts.total(), usual[of, preposition] / n_kinds[of]
        is_known = counts.total() >= (FEWEST_NOUNS if of == "noun" else FEWEST_VERBS)
        if is_known and share >= GOVERNS and share >= USUAL[of] * expected:
            lists[names[kind]] += [f"{form}_{preposition}" for form in _common(counts)]
    return {name: " ".join(sorted(set(lists[name]))) for name in sorted(lists)}


def _common(counts: Counter[str]) -> list[str]:
    return [form for form, n in counts.items() if n >= FEWEST_FORMS]


def main() -> None:
    parser = argparse.ArgumentParser(description="count what verbs need")
    parser.add_argument("--work", type=Path, required=True, help="the folder of syntax.py")
    path = parser.parse_args().work / "parsed.jsonl"
    found: list[Word] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            found += words(json.loads(line))
    counted = lexicon(found)
    TARGET.write_text(json.dumps(counted, indent=1) + "\n", encoding="utf-8")
    print({name: len(value.split()) for name, value in counted.items()})


if __name__ == "__main__":
    main()
