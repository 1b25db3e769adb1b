"""How much the embedded pair judge can decide alone, and how often it is wrong there.

    python -m benchmarks.pairs.cascade --data DIR        # or FACTCHECK_DATA=DIR

A cascade hands on the pairs whose probability lies strictly between `low` and `high`. For several
ranges: the share that is handed on, and the share of the rest with another human label.
Probabilities are those of a model fitted on other questions.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.pairs.fit import data_folder, instances, load_answers, load_values
from benchmarks.pairs.run import cross_validated
from factcheck.judges.local.pairs import DECISION
from factcheck.judges.ports import HIGH, LOW

LOWS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
HIGHS = (0.7, 0.8, 0.9, 0.95, 0.98)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path)
    folder = data_folder(parser, parser.parse_args().data)
    pairs = load_answers(folder / "answer_equiv_dev.jsonl")
    labels = np.array([pair.label for pair in pairs]) == 1
    scores = cross_validated(pairs, [instances(pair) for pair in pairs], load_values()[0])
    print(f"{len(pairs)} pairs; shipped: low {LOW}, high {HIGH}")
    print("  low  high   handed on   wrong of the refused   wrong of the accepted")
    for low in LOWS:
        for high in HIGHS:
            refused, accepted = scores <= low, scores >= high
            handed_on = 1 - (refused | accepted).mean()
            print(
                f" {low:4.2f}  {high:4.2f}   {handed_on:9.1%}"
                f"   {(labels & refused).sum():4} of {refused.sum():4} {'':9}"
                f" {(~labels & accepted).sum():4} of {accepted.sum():4}"
            )
    wrong = ((scores >= DECISION) != labels).mean()
    print(f"alone, at {DECISION}: {wrong:.1%} decided otherwise")


if __name__ == "__main__":
    main()
