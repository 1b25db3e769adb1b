"""How well the embedded pair judge agrees with human labels on whether two answers are equivalent.

    python -m benchmarks.pairs.run --data DIR            # or FACTCHECK_DATA=DIR
    python -m benchmarks.pairs.run --data DIR --errors   # and every pair decided otherwise

`DIR` holds `answer_equiv_dev.jsonl` and, for the table of swapped words, `nli/breaking_nli.jsonl`.
Coefficients are those of a model fitted on other questions; so are the thresholds of the
baselines, which have no threshold of their own.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pairs.fit import AnswerPair, as_model, data_folder, fit, instances, load_pairs
from factcheck.judges.local.pairs import DECISION, compare_values, judge_pair
from factcheck.judges.local.pairs.model import FEATURES, PairModel, load_pair_model
from factcheck.judges.ports import Specificity, ValuePair

N_FOLDS = 10
SETTLED = PairModel(5.0, (0.0,) * len(FEATURES), "rules")
"""A model that is sure of whatever the rules leave to it."""


def folds(pairs: Sequence[AnswerPair]) -> NDArray[np.int64]:
    """The fold of each pair; pairs of one question share it."""
    questions = sorted({pair.question for pair in pairs})
    fold_of = {question: place % N_FOLDS for place, question in enumerate(questions)}
    return np.array([fold_of[pair.question] for pair in pairs])


def cross_validated(
    pairs: Sequence[AnswerPair], specificity: Specificity = "exact"
) -> NDArray[np.float64]:
    """For each pair, the probability by a model fitted on other questions."""
    bags = [instances(pair) for pair in pairs]
    fold_of = folds(pairs)
    scores = np.zeros(len(pairs))
    for fold in range(N_FOLDS):
        rest = np.flatnonzero(fold_of != fold).tolist()
        model = as_model(fit([pairs[k] for k in rest], [bags[k] for k in rest]))
        for k in np.flatnonzero(fold_of == fold).tolist():
            finding = judge_pair(pairs[k].gold, pairs[k].answer, specificity, model)
            scores[k] = finding.probability
    return scores


def token_jaccard(one: str, other: str) -> float:
    """Share of the lower-cased words of two texts that both have."""
    words, others = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(words & others) / len(words | others) if words | others else 1.0


def edit_similarity(one: str, other: str) -> float:
    """One minus the share of letters that have to be changed."""
    from rapidfuzz.fuzz import ratio

    return ratio(one.lower(), other.lower()) / 100


def part_similarity(one: str, other: str) -> float:
    """The same for the best matching part of the longer text."""
    from rapidfuzz.fuzz import partial_ratio

    return partial_ratio(one.lower(), other.lower()) / 100


def by_baseline(
    pairs: Sequence[AnswerPair], similarity: Callable[[str, str], float]
) -> NDArray[np.float64]:
    """For each pair, the similarity of the closest alternative."""
    return np.array(
        [max(similarity(one, pair.answer) for one in pair.alternatives) for pair in pairs]
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


def auroc(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Probability that an equivalent pair scores higher than another one; ties count half."""
    positive, negative = scores[labels == 1][:, None], scores[labels == 0][None]
    return float((positive > negative).mean() + (positive == negative).mean() / 2)


def print_answers(pairs: Sequence[AnswerPair], *, with_errors: bool) -> None:
    """The table of the answers, and the errors if asked for."""
    labels = np.array([pair.label for pair in pairs])
    fold_of = folds(pairs)
    print(f"{len(pairs)} pairs, {labels.mean():.1%} equivalent, {N_FOLDS} folds by question")
    print(f"{'':<34} balanced accuracy   AUROC   found   refused")
    for name, similarity in (
        ("token Jaccard", token_jaccard),
        ("edit similarity", edit_similarity),
        ("edit similarity of the best part", part_similarity),
    ):
        scores = by_baseline(pairs, similarity)
        print_row(name, scores, held_back(scores, labels, fold_of), labels)
    exact = cross_validated(pairs)
    more = cross_validated(pairs, "allow_more_specific")
    shipped = scored(pairs, load_pair_model())
    rules = scored(pairs, SETTLED)
    print_row("this judge, exact", exact, exact >= DECISION, labels)
    print_row("this judge, allow_more_specific", more, more >= DECISION, labels)
    print_row("  exact, on its own data", shipped, shipped >= DECISION, labels)
    print_row("  exact, rules without a model", rules, rules >= DECISION, labels)
    for k in np.argsort(-np.abs(exact - DECISION)) if with_errors else ():
        if (exact[k] >= DECISION) != labels[k]:
            print(
                f"{exact[k]:.2f} {'+-'[1 - labels[k]]} {pairs[k].gold[:70]!r} {pairs[k].answer!r}"
            )


def scored(pairs: Sequence[AnswerPair], model: PairModel) -> NDArray[np.float64]:
    """For each pair, the probability by one model."""
    return np.array([judge_pair(p.gold, p.answer, "exact", model).probability for p in pairs])


def print_row(
    name: str, scores: NDArray[np.float64], decided: NDArray[np.bool_], labels: NDArray[np.int64]
) -> None:
    """One row: what is found of the equivalent pairs, what is refused of the others."""
    found, refused = decided[labels == 1].mean(), (~decided[labels == 0]).mean()
    print(
        f"{name:<34} {balanced_accuracy(decided, labels):17.3f} {auroc(scores, labels):7.3f}"
        f" {found:7.3f} {refused:9.3f}"
    )


def print_swapped_words(path: Path) -> None:
    """How many sentences with one word swapped count as equivalent, by what was swapped."""
    total: Counter[tuple[str, str]] = Counter()
    equivalent: Counter[tuple[str, str]] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = (row["label"], row["category"])
        verdict = compare_values(ValuePair(row["premise"], row["hypothesis"]))
        total[key] += 1
        equivalent[key] += verdict.equivalent
    print("one word swapped (Breaking NLI): counted as equivalent")
    for key in sorted(total):
        print(f"  {key[0]:<14} {key[1]:<22} {equivalent[key]:5} of {total[key]:5}")


def print_speed(pairs: Sequence[AnswerPair]) -> None:
    """Pairs a second on values never seen before, in one thread."""
    values = [(one, pair.answer) for pair in pairs for one in pair.alternatives]
    compare_values(ValuePair("warm", "up"))
    start = time.perf_counter()
    for gold, answer in values:
        compare_values(ValuePair(gold, answer))
    seconds = time.perf_counter() - start
    print(f"{len(values) / seconds:,.0f} pairs a second ({len(values):,} pairs of short values)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--errors", action="store_true", help="list the pairs decided otherwise")
    options = parser.parse_args()
    folder = data_folder(parser, options.data)
    pairs = load_pairs(folder / "answer_equiv_dev.jsonl")
    print_speed(pairs)
    print_answers(pairs, with_errors=options.errors)
    swapped = folder / "nli" / "breaking_nli.jsonl"
    if swapped.exists():
        print_swapped_words(swapped)


if __name__ == "__main__":
    main()
