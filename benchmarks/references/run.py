"""How well reference match tells like from unlike, beside plain word overlap, and how fast it is.

    python -m benchmarks.references.run --data DIR            # or FACTCHECK_DATA=DIR
    python -m benchmarks.references.run --data DIR --provider openai

`DIR` holds `answer_equiv_dev.jsonl` and the folder `nli`. Every pair goes through
`ReferenceMatch`; AUROC needs no threshold. Intervals are of 500 resamples of whole
groups: all pairs of one question, or of one premise.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.auroc import auroc
from factcheck.metrics import evaluate
from factcheck.references import ReferenceMatch

RESAMPLES = 500
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
N_FOLDS = 10
NLI = ("fever_dev_gold", "breaking_nli", "conjnli", "med", "help_conj")


class Pair(NamedTuple):
    """An output, its references, and whether humans call it right."""

    output: str
    references: tuple[str, ...]
    label: bool
    group: str
    """Pairs of one group are not independent."""


class Scored(NamedTuple):
    """The pairs of one set and what each method says about them."""

    name: str
    labels: NDArray[np.bool_]
    groups: NDArray[np.int64]
    match: NDArray[np.float64]
    jaccard: NDArray[np.float64]


def load(folder: Path) -> Iterator[tuple[str, list[Pair]]]:
    """The sets, by name; those that are not there are left out."""
    answers = folder / "answer_equiv_dev.jsonl"
    if answers.exists():
        yield answers.stem, [_answer(row) for row in _rows(answers)]
    for name in NLI:
        path = folder / "nli" / f"{name}.jsonl"
        if path.exists():
            yield name, [_sentences(row) for row in _rows(path)]


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _answer(row: dict[str, str]) -> Pair:
    """A slash joins the alternatives of a right answer."""
    alternatives = tuple(part.strip() for part in row["premise"].split("/") if part.strip())
    return Pair(row["hypothesis"], alternatives, bool(row["label"]), row["question"])


def _sentences(row: dict[str, str]) -> Pair:
    """Right is what the premise entails; contradictions and the rest are not."""
    premise, hypothesis = row.get("premise") or row["text"], row.get("hypothesis") or row["fact"]
    label = row["label"] in (True, "entailment")
    return Pair(hypothesis, (premise,), label, row.get("doc_id") or premise)


def token_jaccard(one: str, other: str) -> float:
    """Share of the lower-cased words of two texts that both have."""
    words, others = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(words & others) / len(words | others) if words | others else 1.0


def scored(name: str, pairs: Sequence[Pair], metric: ReferenceMatch) -> Scored:
    """What both methods say; a pair without a score stops the run."""
    cases = [{"actual_output": pair.output, "references": pair.references} for pair in pairs]
    results = [*evaluate(cases, [metric])[metric.name].results.values()]
    failed = [result.reason for result in results if result.score is None]
    if failed:
        raise SystemExit(f"{name}: {len(failed)} pairs have no score; the first: {failed[0]}")
    _, groups = np.unique([pair.group for pair in pairs], return_inverse=True)
    return Scored(
        name,
        np.array([pair.label for pair in pairs]),
        groups,
        np.array([result.score for result in results], dtype=np.float64),
        np.array([max(token_jaccard(r, pair.output) for r in pair.references) for pair in pairs]),
    )


def intervals(one: Scored) -> tuple[tuple[float, float], tuple[float, float]]:
    """95 % intervals of the AUROC of the match, and of what it is above that of Jaccard."""
    order = np.argsort(one.groups, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(one.groups[order])) + 1)
    random = np.random.default_rng(7)
    found = []
    for _ in range(RESAMPLES):
        drawn = random.integers(0, len(members), len(members))
        rows = np.concatenate([members[place] for place in drawn])
        match, jaccard = (auroc(s[rows], one.labels[rows]) for s in (one.match, one.jaccard))
        found.append((match, match - jaccard))
    low, high = np.nanpercentile(np.array(found), (2.5, 97.5), axis=0)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def balanced_accuracy(decided: NDArray[np.bool_], labels: NDArray[np.bool_]) -> float:
    """Mean of the shares decided rightly among right and among other pairs."""
    return float((decided[labels].mean() + (~decided[~labels]).mean()) / 2)


def chosen_elsewhere(scores: NDArray[np.float64], one: Scored) -> float:
    """Balanced accuracy with a threshold chosen on the other folds, by group."""
    decided = np.zeros(len(scores), dtype=bool)
    folds = one.groups % N_FOLDS
    for fold in range(N_FOLDS):
        rest = folds != fold
        grid = np.unique(scores[rest])
        best = max(grid, key=lambda t: balanced_accuracy(scores[rest] >= t, one.labels[rest]))
        decided[~rest] = scores[~rest] >= best
    return balanced_accuracy(decided, one.labels)


def print_aurocs(all_scored: Sequence[Scored]) -> None:
    """One row for each set."""
    print(f"{'AUROC':<18}   pairs  right   match     95 %      Jaccard   difference, 95 %")
    for one in all_scored:
        own, difference = intervals(one)
        match, jaccard = (auroc(scores, one.labels) for scores in (one.match, one.jaccard))
        print(
            f"{one.name:<18} {len(one.labels):7,} {one.labels.mean():6.1%} {match:7.3f}"
            f"  {own[0]:.3f} - {own[1]:.3f} {jaccard:8.3f}"
            f"   {match - jaccard:+.3f} ({difference[0]:+.3f} to {difference[1]:+.3f})"
        )


def print_thresholds(one: Scored) -> None:
    """What a threshold lets through, on one set."""
    print(f"\n{one.name}: threshold   right passed   others passed   balanced accuracy")
    for threshold in THRESHOLDS:
        decided = one.match >= threshold
        right, other = decided[one.labels].mean(), decided[~one.labels].mean()
        accuracy = balanced_accuracy(decided, one.labels)
        print(f"{threshold:27.1f} {right:14.3f} {other:15.3f} {accuracy:19.3f}")
    for name, scores in (("match", one.match), ("Jaccard", one.jaccard)):
        print(f"{name + ', chosen on other folds':>42} {chosen_elsewhere(scores, one):35.3f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    parser.add_argument("--provider", default="local", help="as embedding_provider")
    options = parser.parse_args()
    if options.data is None or not Path(options.data).is_dir():
        parser.error("give the folder of the development data with --data or FACTCHECK_DATA")
    sets = list(load(Path(options.data)))
    if not sets:
        parser.error(f"{options.data} holds none of the sets")
    with ReferenceMatch(embedding_provider=options.provider) as metric:
        print(f"\n{metric.identity['embedder']}")
        all_scored = [scored(name, pairs, metric) for name, pairs in sets]
    print_aurocs(all_scored)
    print_thresholds(all_scored[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
