"""How well the embedded pair judge agrees with labels, and how much it can decide alone.

    python -m benchmarks.pairs.run --data DIR            # or FACTCHECK_DATA=DIR
    python -m benchmarks.pairs.run --data DIR --errors   # and every answer decided otherwise

`DIR` holds `answer_equiv_dev.jsonl` and, for the table of swapped words, `nli/breaking_nli.jsonl`.
Coefficients are those of a model fitted on other questions; so are the thresholds of the
baselines, which have no threshold of their own. `values.tsv` beside this file holds pairs written
for this; every third was never fitted on. No rule was made from the pairs of `unseen.tsv`; those of
`exact.tsv` are codes, routes, dates and the like, of which every character may count; `labels.tsv`
are labels without a word in common; `further.tsv` holds doses, spellings, relations and marks. A
cascade hands on the pairs whose probability lies strictly between two bounds; for some of them, the
share handed on and the errors among the rest.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.auroc import auroc
from benchmarks.pairs.fit import (
    Instances,
    LabelledPair,
    data_folder,
    fit,
    instances,
    load_answers,
    load_table,
    load_values,
)
from factcheck.judges.local.pairs import DECISION, compare_values
from factcheck.judges.ports import HIGH, LOW, ValuePair

N_FOLDS = 10
CASCADES = ((LOW, HIGH), (0.05, 0.95), (0.1, 0.9), (0.2, 0.9), (0.3, 0.9))
"""Ranges of probabilities that a cascade hands on; the first is shipped."""
N_SWAPPED = 1_000
"""Pairs of sentences of each label, drawn with a fixed seed."""


def folds(pairs: Sequence[LabelledPair]) -> NDArray[np.int64]:
    """The fold of each pair; pairs of one question share it."""
    questions = sorted({pair.group for pair in pairs})
    fold_of = {question: place % N_FOLDS for place, question in enumerate(questions)}
    return np.array([fold_of[pair.group] for pair in pairs])


def cross_validated(
    pairs: Sequence[LabelledPair], bags: Sequence[Instances], values: Sequence[LabelledPair]
) -> NDArray[np.float64]:
    """For each answer, the probability by a model fitted on other questions and the values."""
    value_bags = [instances(pair) for pair in values]
    fold_of = folds(pairs)
    scores = np.zeros(len(pairs))
    for fold in range(N_FOLDS):
        rest = np.flatnonzero(fold_of != fold).tolist()
        model = fit([*(pairs[k] for k in rest), *values], [*(bags[k] for k in rest), *value_bags])
        for k in np.flatnonzero(fold_of == fold).tolist():
            scores[k] = bags[k].score(model)
    return scores


def share_of_words(pairs: Sequence[LabelledPair]) -> NDArray[np.float64]:
    """For each pair, the share of the words of the best alternative that the answer has."""

    def words(text: str) -> set[str]:
        return set(re.findall(r"\w+", text.lower()))

    return np.array(
        [
            max(len(words(g) & words(p.extracted)) / max(len(words(g)), 1) for g in p.golds)
            for p in pairs
        ]
    )


def balanced_accuracy(decided: NDArray[np.bool_], labels: NDArray[np.int64]) -> float:
    """Mean of the shares decided rightly among equivalent and among other pairs."""
    return float((decided[labels == 1].mean() + (~decided[labels == 0]).mean()) / 2)


def held_back(
    scores: NDArray[np.float64], labels: NDArray[np.int64], fold_of: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """What scores decide whose threshold is chosen on the other folds."""
    decided = np.zeros(len(scores), dtype=bool)
    for fold in range(N_FOLDS):
        rest = fold_of != fold
        grid = np.unique(scores[rest])
        best = max(grid, key=lambda t: balanced_accuracy(scores[rest] >= t, labels[rest]))
        decided[~rest] = scores[~rest] >= best
    return decided


def print_row(
    name: str, scores: NDArray[np.float64], decided: NDArray[np.bool_], labels: NDArray[np.int64]
) -> None:
    """One row: what is found of the equivalent pairs, what is refused of the others."""
    found, refused = decided[labels == 1].mean(), (~decided[labels == 0]).mean()
    print(
        f"{name:<40} {balanced_accuracy(decided, labels):17.3f} {auroc(scores, labels):7.3f}"
        f" {found:7.3f} {refused:9.3f}"
    )


def print_tables(pairs: Sequence[LabelledPair], *, with_errors: bool) -> None:
    """The tables of the answers and of the values held out, and the errors if asked for."""
    values, held_out = load_values()
    print(f"{'':<40} balanced accuracy   AUROC   found   refused")
    labels = np.array([pair.label for pair in pairs])
    bags = [instances(pair) for pair in pairs]
    scores = cross_validated(pairs, bags, values)
    rules = np.array([bag.by_rules for bag in bags])
    shares = share_of_words(pairs)
    print(f"{len(pairs)} answers, {N_FOLDS} folds by question")
    print_row("  share of the best words", shares, held_back(shares, labels, folds(pairs)), labels)
    print_row("  rules of this judge", rules, rules >= DECISION, labels)
    print_row("  this judge", scores, scores >= DECISION, labels)
    print_cascades(scores, labels == 1)
    for k in np.argsort(-np.abs(scores - DECISION)) if with_errors else ():
        if (scores[k] >= DECISION) != labels[k]:
            print(
                f"{scores[k]:.2f} {'-+'[labels[k]]} {pairs[k].gold[:70]!r} {pairs[k].extracted!r}"
            )
    tables = {"fitted on": values, "held out": held_out}
    tables |= {name: load_table(f"{name}.tsv") for name in ("unseen", "exact", "further", "labels")}
    for name, some in tables.items():
        labels = np.array([pair.label for pair in some])
        verdicts = [compare_values(ValuePair(pair.gold, pair.extracted)) for pair in some]
        scores = np.array([verdict.probability for verdict in verdicts])
        shares = share_of_words(some)
        print(f"{len(some)} values, {name}")
        print_row("  share of the words, all of them", shares, shares >= 1, labels)
        print_row("  this judge", scores, scores >= DECISION, labels)


def print_cascades(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> None:
    """For several ranges, the share handed on and the errors among the rest."""
    for low, high in CASCADES:
        refused, accepted = scores <= low, scores >= high
        print(
            f"  {low:.2f} to {high:.2f}: handed on {1 - (refused | accepted).mean():.1%}, wrong "
            f"{(labels & refused).sum()} of {refused.sum()} refused, "
            f"{(~labels & accepted).sum()} of {accepted.sum()} accepted"
        )
    print(f"  alone, {((scores >= DECISION) != labels).mean():.1%} decided otherwise")


def print_swapped_words(path: Path) -> None:
    """How many sentences with one word swapped count as equivalent, by label."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    random.Random(1).shuffle(rows)  # noqa: S311 - a sample
    print("one word swapped (Breaking NLI): counted as equivalent")
    for label in ("contradiction", "entailment"):
        some = [row for row in rows if row["label"] == label][:N_SWAPPED]
        same: Counter[bool] = Counter(
            compare_values(ValuePair(row["premise"], row["hypothesis"])).equivalent for row in some
        )
        print(f"  {label:<14} {same[True]:5} of {len(some):5}")


def print_speed(pairs: Sequence[LabelledPair]) -> None:
    """Pairs a second on values never seen before, in one thread."""
    start = time.perf_counter()
    for pair in pairs:
        compare_values(ValuePair(pair.gold, pair.extracted))
    seconds = time.perf_counter() - start
    print(f"{len(pairs) / seconds:,.1f} pairs a second ({len(pairs):,} answers)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--errors", action="store_true", help="list the pairs decided otherwise")
    options = parser.parse_args()
    folder = data_folder(parser, options.data)
    pairs = load_answers(folder / "answer_equiv_dev.jsonl")
    print_speed(pairs)
    print_tables(pairs, with_errors=options.errors)
    swapped = folder / "nli" / "breaking_nli.jsonl"
    if swapped.exists():
        print_swapped_words(swapped)


if __name__ == "__main__":
    main()
