"""What each evaluator sees and what it costs, on the same pairs with human labels.

    python -m benchmarks.choosing.run --data DIR            # or FACTCHECK_DATA=DIR

`DIR` holds the development sets. Each pair is a text that is expected and a text that was given;
people say whether the second says the first. Every method gives a score, and AUROC needs no
threshold. Keywords are all words of the expected text, which is what somebody without time would
choose. Seconds are of one run on one thread, given as ratios to keywords.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.auroc import auroc
from benchmarks.embedded.cases import load_cases
from factcheck import AtomicFact, FactCoverage, Verdict
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.ports import Ledger, PairVerdict, ValuePair
from factcheck.keywords import Folded, Word, keyword_similarity
from factcheck.metrics import evaluate
from factcheck.references import ReferenceMatch
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session

MOST_PAIRS = 3000
_WORD = re.compile(r"\w+")


class Pair(NamedTuple):
    """What is expected, what was given, and whether people find the one in the other."""

    expected: str
    given: str
    label: bool


Method = Callable[[Sequence[Pair]], list[float]]


def answers(folder: Path) -> list[Pair]:
    """Short answers; the alternatives of a right one are joined by a slash."""
    rows = _rows(folder / "answer_equiv_dev.jsonl")
    return [Pair(row["premise"], row["hypothesis"], bool(row["label"])) for row in rows]


def cases(name: str) -> Callable[[Path], list[Pair]]:
    """Facts and texts of a set that measures the embedded judge."""

    def load(folder: Path) -> list[Pair]:
        return [Pair(case.fact, case.text, case.label > 0) for case in load_cases(folder, name)]

    return load


def sentences(name: str) -> Callable[[Path], list[Pair]]:
    """Claims, and the sentence or passage that does or does not entail them."""

    def load(folder: Path) -> list[Pair]:
        return [
            Pair(
                row.get("hypothesis") or row["fact"],
                row.get("premise") or row["text"],
                row["label"] in (True, "entailment"),
            )
            for row in _rows(folder / "nli" / f"{name}.jsonl")
        ]

    return load


SETS: dict[str, Callable[[Path], list[Pair]]] = {
    "short answers": answers,
    "facts in summaries (REALSumm)": cases("realsumm"),
    "claims against a passage (FEVER)": sentences("fever_dev_gold"),
    "adversarial claims (FM2)": cases("fm2"),
    "one word swapped (Breaking NLI)": sentences("breaking_nli"),
    "one edit in a summary (SummEdits)": cases("summedits"),
}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_keywords(pairs: Sequence[Pair]) -> list[float]:
    """The share of the expected words that occur."""
    return [
        keyword_similarity([Folded(Word(word)) for word in _WORD.findall(p.expected)], p.given)
        for p in pairs
    ]


def by_reference(pairs: Sequence[Pair]) -> list[float]:
    """The similarity of the embedded embedder."""
    cases = [{"actual_output": p.given, "references": [p.expected]} for p in pairs]
    [report] = evaluate(cases, [ReferenceMatch()]).values()
    return [result.score or 0.0 for result in report.results.values()]


def by_pair_judge(pairs: Sequence[Pair]) -> list[float]:
    """The probability of the embedded judge of value pairs."""
    judge = build_pair_judge("local", Session(cache="off"))
    values = [ValuePair(p.expected, p.given) for p in pairs]
    results = background.run(judge.compare(values, Ledger()))
    return [r.probability or 0.0 if isinstance(r, PairVerdict) else 0.0 for r in results]


def by_coverage(pairs: Sequence[Pair]) -> list[float]:
    """The probability of the embedded judge of facts."""
    with FactCoverage("local") as scorer:
        found = [scorer.check([AtomicFact("f", p.expected)], p.given)[0] for p in pairs]
    return [r.probability or 0.0 if isinstance(r, Verdict) else 0.0 for r in found]


METHODS: dict[str, Method] = {
    "keywords": by_keywords,
    "reference": by_reference,
    "pair judge": by_pair_judge,
    "fact check": by_coverage,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the data directory with --data or FACTCHECK_DATA")
    folder = Path(options.data)
    for method in METHODS.values():
        method([Pair("A first text.", "It loads what is loaded once.", label=False)])
    print(f"{'AUROC':<36} pairs " + "".join(f"{name:>12}" for name in METHODS))
    seconds = dict.fromkeys(METHODS, 0.0)
    n_all = 0
    for name, load in SETS.items():
        pairs = load(folder)
        pairs = random.Random(7).sample(pairs, min(MOST_PAIRS, len(pairs)))  # noqa: S311 - repeatable
        labels = np.array([pair.label for pair in pairs])
        cells = []
        for method_name, method in METHODS.items():
            start = time.perf_counter()
            scores = np.array(method(pairs))
            seconds[method_name] += time.perf_counter() - start
            cells.append(f"{auroc(scores, labels):12.3f}")
        n_all += len(pairs)
        print(f"{name:<36} {len(pairs):5,} {''.join(cells)}", flush=True)
    fastest = seconds["keywords"]
    ratios = "".join(f"{value / fastest:12.1f}" for value in seconds.values())
    print(f"{'time, keywords = 1':<36} {n_all:5,} {ratios}")
    print(f"keywords: {1e6 * fastest / n_all:.0f} us a pair")


if __name__ == "__main__":
    main()
