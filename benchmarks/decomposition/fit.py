"""Fits the acceptor of the embedded extractor, in a minute.

    python -m benchmarks.decomposition.fit ../shared/data

Learns from the propositions that people marked in the development part, and from `labels.jsonl`:
propositions of our own sentences, which somebody read and called good, or bad where they are cut
short, garbled or not what the sentence says. Prints how the choice does on sentences that were
left out in turn, and writes `acceptor.json` beside the acceptor.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.decomposition.measures import paired, raters, read_rows, words_of
from factcheck.judges.local import acceptor
from factcheck.judges.local.asides import read_tokens
from factcheck.judges.local.propositions import Proposition, Propositions
from factcheck.judges.local.wording import Wording
from factcheck.text.syntax import parse

Array: TypeAlias = "npt.NDArray[np.float64]"
TARGET = Path("factcheck/judges/local/acceptor.json")
LABELS = Path(__file__).with_name("labels.jsonl")
WRITTEN = Path("benchmarks/embedded/written")
N_SENTENCES = 6_000
"""Sentences of ours in which neighbouring parts of speech are counted."""
FEWEST_PAIRS = 3
MARKED, LABELLED = 0.5, 2.0
"""Weights of a marked sentence's propositions and of labelled ones: marks leave out much that is
good, too."""
PENALTY = 3.0
FOLDS = 8
LIKENESS = 0.5
"""Jaccard index from which a proposition is the one that a person marked."""


class Example(NamedTuple):
    """The propositions of a sentence; those without a label have weight 0."""

    tree: Propositions
    found: Sequence[Proposition]
    texts: Sequence[str]
    labels: Array
    weights: Array
    marked: Sequence[str] | None
    """Propositions of the preferred rater; `None` for labelled sentences."""


def joined() -> dict[str, float]:
    """Count which part of speech follows which in our written sentences."""
    sentences = [
        sentence
        for path in sorted(WRITTEN.glob("*.jsonl"))
        for row in read_rows(path)
        for sentence in row["true"][:2]
    ]
    np.random.default_rng(0).shuffle(sentences)
    pairs: Counter[tuple[str, str]] = Counter()
    firsts: Counter[str] = Counter()
    for sentence in sentences[:N_SENTENCES]:
        tags = [token.tag for token in parse(sentence)]
        firsts.update(tags[:-1])
        pairs.update(pairwise(tags))
    return {
        f"{one} {two}": round(math.log(n / firsts[one]), 2)
        for (one, two), n in sorted(pairs.items())
        if n >= FEWEST_PAIRS
    }


def examples(data: Path) -> Iterator[Example]:
    """Yield the propositions of marked and labelled sentences."""
    for row in read_rows(data / "propositions/sentences.jsonl"):
        if row["part"] == "dev":
            tree, found, texts = _read(row["sentence"])
            marked = raters(row)[0]
            labels = np.zeros(len(found))
            labels[paired(marked, texts, LIKENESS)] = 1
            yield Example(tree, found, texts, labels, np.full(len(found), MARKED), marked)
    for row in read_rows(LABELS):
        tree, found, texts = _read(row["sentence"])
        known = {_key(text): 1.0 for text in row["good"]} | {_key(text): 0.0 for text in row["bad"]}
        labels = np.array([known.get(_key(text), 0.0) for text in texts])
        weights = np.array([LABELLED if _key(text) in known else 0.0 for text in texts])
        yield Example(tree, found, texts, labels, weights, None)


def _read(sentence: str) -> tuple[Propositions, list[Proposition], list[str]]:
    tree = Propositions(sentence, read_tokens(sentence))
    found = tree.read()
    wording = Wording(tree, {})
    return tree, found, [wording.tell(each.segments, each.singular).text for each in found]


def _key(text: str) -> str:
    return " ".join(words_of(text))


def fit(rows: Sequence[tuple[Example, Sequence[Mapping[str, float]]]]) -> dict[str, float]:
    """Return the weights of a logistic regression."""
    names = sorted({name for _, described in rows for values in described for name in values})
    table = np.array([[v.get(n, 0.0) for n in names] for _, described in rows for v in described])
    labels = np.concatenate([example.labels for example, _ in rows])
    weights = np.concatenate([example.weights for example, _ in rows])

    def loss(at: Array) -> tuple[float, Array]:
        odds = table @ at
        log_likelihood = labels * odds - np.logaddexp(0, odds)
        slope = table.T @ (weights * (1 / (1 + np.exp(-odds)) - labels)) + PENALTY * at
        return float(PENALTY / 2 * at @ at - weights @ log_likelihood), slope

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x
    return {name: round(float(value), 3) for name, value in zip(names, found, strict=True)}


def store(weights: Mapping[str, float], pairs: Mapping[str, float]) -> None:
    stored = {"weights": weights, "joined": pairs}
    TARGET.write_text(json.dumps(stored, indent=0) + "\n", encoding="utf-8")
    acceptor.load_weights.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser(description="fit the acceptor")
    parser.add_argument("data", type=Path, help="the folder with propositions/")
    data = parser.parse_args().data
    pairs = joined()
    store({}, pairs)
    rows = [
        (each, acceptor.features(each.tree, each.found, each.texts))
        for each in examples(data)
        if each.found
    ]
    fold = np.random.default_rng(1).integers(FOLDS, size=len(rows))
    n_marked = n_kept = n_paired = good = good_kept = bad_kept = 0
    for number in range(FOLDS):
        store(fit([row for row, at in zip(rows, fold, strict=True) if at != number]), pairs)
        for example, _ in (row for row, at in zip(rows, fold, strict=True) if at == number):
            kept = np.array(acceptor.accept(example.tree, example.found, example.texts))
            if example.marked is None:
                is_good = (example.weights > 0) & (example.labels > 0)
                good, good_kept = good + is_good.sum(), good_kept + (kept & is_good).sum()
                bad_kept += (kept & (example.weights > 0) & ~is_good).sum()
            else:
                told = [text for text, keep in zip(example.texts, kept, strict=True) if keep]
                told = told or [example.tree.text]
                n_marked, n_kept = n_marked + len(example.marked), n_kept + len(told)
                n_paired += len(paired(example.marked, told, LIKENESS))
    print(f"marked sentences: F {2 * n_paired / (n_marked + n_kept):.3f} of {n_kept} propositions")
    share = good_kept / (good_kept + bad_kept)
    print(
        f"labelled: {share:.3f} of the kept are good, {good_kept / good:.3f} of the good are kept"
    )
    store(fit(rows), pairs)


if __name__ == "__main__":
    main()
