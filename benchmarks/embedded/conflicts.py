"""What the conflicts of `factcheck/judges/local/conflicts.py` buy: each set with and without them.

    python -m benchmarks.embedded.conflicts ../shared/data [--features FILE]

`FILE` is that of `fit`. What each kind of conflict buys, and those that were dropped because they
bought nothing, is in `conflicts.md`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.embedded.fit import figures, load_or_measure, score
from factcheck.judges.local.model import load_model


def main() -> None:
    """Print both rows of each set."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--features", type=Path, help="keep the numbers in this file")
    arguments = parser.parse_args()
    model = load_model()
    weights = np.array([model.bias, *model.weights])
    print(f"{'set':14}{'conflicts':>10}{'bAcc':>8}{'found':>8}{'refused':>8}{'AUROC':>8}")
    for name, own in load_or_measure(arguments.data, arguments.features).items():
        n_denied = sum(any(map(any, each.is_denied)) for each in own)
        without = [
            each._replace(is_denied=[[False] * len(flags) for flags in each.is_denied])
            for each in own
        ]
        for shown, some in ((n_denied, own), (0, without)):
            odds = np.array([score(weights, each) for each in some])
            cells = "".join(f"{value or 0:8.3f}" for value in figures(some, odds)[1:5])
            print(f"{name:14}{shown:10}{cells}")


if __name__ == "__main__":
    main()
