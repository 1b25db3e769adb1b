"""What the facts of an extractor are compared with, and how near they come."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import snowballstemmer
from scipy.optimize import linear_sum_assignment

from factcheck.text.words import word_set

Extract: TypeAlias = Callable[[str], Sequence[str]]
"""Lists the facts of a text."""
_FUNCTION = word_set(
    "a an the this that these those of in on at by for from to into with as and or but is was "
    "are were be been being has have had do does did he she it they him her them his hers its "
    "their i we you who which what where when there also one s such including"
)
_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their|Him|Them|This|These)\b")
_stem = snowballstemmer.stemmer("english").stemWord


class Rates(NamedTuple):
    """How much of two lists is in both, each in [0, 1]."""

    precision: float
    recall: float

    @property
    def f(self) -> float:
        """Harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


# --- propositions that people marked in sentences -------------------------------------------------


def raters(row: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the propositions of the preferred rater of a sentence, and of another one."""
    first = next((r for r in row["raters"] if r["reference"]), row["raters"][0])
    other = next(rater for rater in row["raters"] if rater is not first)
    return tuple([p["text"] for p in r["propositions"]] for r in (first, other))  # type: ignore[return-value]


def paired(gold: Sequence[str], found: Sequence[str], least: float) -> list[int]:
    """Return which of `found` are paired with one of `gold`, one to one.

    Two are alike if the Jaccard index of their sets of words is `least` or more.
    """
    if not gold or not found:
        return []
    sets = [[frozenset(words_of(text)) for text in texts] for texts in (gold, found)]
    alike = np.array([[len(a & b) / max(1, len(a | b)) for b in sets[1]] for a in sets[0]])
    is_pair = alike >= least
    rows, columns = linear_sum_assignment(-(is_pair + 0.001 * is_pair * alike))
    return [int(column) for row, column in zip(rows, columns, strict=True) if is_pair[row, column]]


def proposition_rates(
    data: Path, part: str, extract: Callable[[dict[str, Any]], Sequence[str]], least: float
) -> tuple[Rates, float, float]:
    """Compare facts with marked propositions.

    Returns:
        Rates, facts a sentence, words a fact.
    """
    rows = [r for r in read_rows(data / "propositions/sentences.jsonl") if r["part"] == part]
    n_gold = n_found = n_paired = n_words = 0
    for row in rows:
        gold, found = raters(row)[0], list(dict.fromkeys(extract(row)))
        n_gold, n_found = n_gold + len(gold), n_found + len(found)
        n_paired += len(paired(gold, found, least))
        n_words += sum(len(fact.split()) for fact in found)
    rates = Rates(n_paired / max(1, n_found), n_paired / n_gold)
    return rates, n_found / len(rows), n_words / max(1, n_found)


# --- facts that people wrote ----------------------------------------------------------------------


def content_f1(one: str, other: str) -> float:
    """Return the F1 of two bags of words without function words, in [0, 1]."""
    a, b = (Counter(w for w in words_of(t) if w not in _FUNCTION) for t in (one, other))
    shared = sum((a & b).values())
    return 2 * shared / (sum(a.values()) + sum(b.values())) if shared else 0.0


def share_found(human: Sequence[str], found: Sequence[str], least: float = 0.5) -> float:
    """Return the share of human facts to which an extracted one is alike."""
    best = [max((content_f1(fact, each) for each in found), default=0.0) for fact in human]
    return sum(value >= least for value in best) / len(human)


class Biographies(NamedTuple):
    """Facts of sentences beside those that people corrected (FActScore)."""

    n_sentences: int
    per_sentence: float
    rates: Rates
    pronouns: float
    """Share of the facts that begin with a pronoun."""


def biographies(data: Path, facts_of: Callable[[str], Sequence[Any]]) -> Biographies:
    """Compare the facts of biographies, read as whole texts, with those of people.

    Two are alike if the F1 of their stems, without function words, pronouns and the name that the
    text is about, is .6 or more.
    """
    texts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(data / "factscore_extract_dev.jsonl"):
        texts[str(row["doc_id"]).rsplit(":", 1)[0]].append(row)
    counts: Counter[str] = Counter()
    for sentences in texts.values():
        for row, facts in zip(sentences, _by_sentence(sentences, facts_of), strict=True):
            name = _stems(str(row["topic"]), frozenset())
            ours = [_stems(fact, name) for fact in facts]
            human = [_stems(fact, name) for fact in row["facts"]]
            counts["facts"] += len(ours)
            counts["human"] += len(human)
            counts["pronouns"] += sum(bool(_PRONOUN.match(fact)) for fact in facts)
            counts["found"] += sum(any(_overlap(a, b) >= 0.6 for b in ours) for a in human)
            counts["right"] += sum(any(_overlap(a, b) >= 0.6 for b in human) for a in ours)
    n_sentences = sum(map(len, texts.values()))
    n_facts = max(1, counts["facts"])
    rates = Rates(counts["right"] / n_facts, counts["found"] / counts["human"])
    return Biographies(
        n_sentences, counts["facts"] / n_sentences, rates, counts["pronouns"] / n_facts
    )


def _by_sentence(
    sentences: Sequence[dict[str, Any]], facts_of: Callable[[str], Sequence[Any]]
) -> Iterator[list[str]]:
    """Yield the facts that begin in each sentence of a text."""
    starts, text = [], ""
    for row in sentences:
        starts.append(len(text))
        text += str(row["text"]) + " "
    found: list[list[str]] = [[] for _ in sentences]
    for fact in facts_of(text):
        at = fact.span.start if fact.span else 0
        found[max(i for i, start in enumerate(starts) if start <= at)].append(fact.text)
    yield from found


def _stems(text: str, without: frozenset[str]) -> frozenset[str]:
    content = [
        _stem(word) for word in re.findall(r"[^\W_]+", text.lower()) if word not in _FUNCTION
    ]
    return frozenset(stem for stem in content if stem not in without) or frozenset(content)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
