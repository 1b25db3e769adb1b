"""Fits the model of the embedded pair judge on pairs of answers with human labels.

The features and the rules are those of the package, so what is fitted is what ships. Needs numpy
and scipy.

    python -m benchmarks.pairs.fit --data DIR          # prints the coefficients
    python -m benchmarks.pairs.fit --data DIR --write  # and rewrites model.json

`DIR` holds `answer_equiv_dev.jsonl`; it may be named by `FACTCHECK_DATA` instead. Each alternative
of a right answer is an instance of its pair, and a pair is decided by its likeliest alternative:
the fit alternates between choosing that one and fitting the weights. No weight may be positive,
since what only one of two values says never speaks for them, and some have a least strength.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from factcheck.judges.local.pairs import DECISION, judge_pair
from factcheck.judges.local.pairs import model as shipped
from factcheck.judges.local.pairs.model import FEATURES, PairModel

STRENGTH = 0.1
"""Of the pull towards zero, per weight squared."""
AT_LEAST = {
    "loss": 2.0,
    "frame": 1.0,
    "aside": 1.0,
    "title": 0.5,
    "degree": 0.5,
    "counted": 0.5,
    "numbers": 0.5,
    "letters": 1.0,
}
"""How much each difference must count, whatever the data says: they hold few of some kinds."""
ROUNDS = 8
MODEL_PATH = Path(shipped.__file__).with_name("model.json")


class AnswerPair(NamedTuple):
    """A right answer with its alternatives, the answer of a system, and the human label."""

    question: str
    alternatives: tuple[str, ...]
    answer: str
    label: int

    @property
    def gold(self) -> str:
        """The alternatives as one value."""
        return " / ".join(self.alternatives)


class Instances(NamedTuple):
    """What there is to fit on one pair."""

    rows: NDArray[np.float64]
    """Features of each alternative that the model has to decide."""
    is_settled: bool
    """Whether the rules alone find an alternative equivalent."""


class Recorder(PairModel):
    """A model that keeps the features it is asked about."""

    def probability(self, features: Sequence[float]) -> float:
        """Zero, whatever the features."""
        ASKED.append(tuple(features))
        return 0.0


ASKED: list[tuple[float, ...]] = []
"""Features that were asked about since it was cleared."""


def load_pairs(path: Path) -> list[AnswerPair]:
    """All pairs, in file order; a slash joins the alternatives of a right answer."""
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        parts = tuple(part.strip() for part in row["premise"].split("/") if part.strip())
        pairs.append(AnswerPair(row["question"], parts, row["hypothesis"], int(row["label"])))
    return pairs


def instances(pair: AnswerPair) -> Instances:
    """The features of every alternative, and whether one is settled without them."""
    recorder = Recorder(0.0, (), "")
    rows = []
    is_settled = False
    for alternative in pair.alternatives:
        ASKED.clear()
        finding = judge_pair(alternative, pair.answer, "exact", recorder)
        is_settled |= finding.probability >= DECISION
        rows.extend(ASKED[:1])
    return Instances(np.array(rows).reshape(-1, len(FEATURES)), is_settled)


def fit(pairs: Sequence[AnswerPair], bags: Sequence[Instances]) -> NDArray[np.float64]:
    """Weights for `FEATURES` and, last, the bias."""
    used = [k for k, bag in enumerate(bags) if len(bag.rows) and not bag.is_settled]
    labels = np.array([pairs[k].label for k in used], dtype=float)
    share = labels.mean()
    costs = np.where(labels == 1, 0.5 / share, 0.5 / (1 - share))
    weights = np.full(len(FEATURES) + 1, -1.0)
    for _ in range(ROUNDS):
        best = [bags[k].rows[np.argmax(bags[k].rows @ weights[:-1])] for k in used]
        weights = fit_logistic(np.array(best), labels, costs)
    return weights


def fit_logistic(
    rows: NDArray[np.float64], labels: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of a logistic regression, all of them at least as strong as they must be."""

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = rows @ weights[:-1] + weights[-1]
        signs = 2 * labels - 1
        value = costs @ np.logaddexp(0, -signs * scores) + STRENGTH * weights[:-1] @ weights[:-1]
        slope = -costs * signs / (1 + np.exp(signs * scores))
        gradient = np.append(rows.T @ slope + 2 * STRENGTH * weights[:-1], slope.sum())
        return float(value), gradient

    start = np.array([*(-AT_LEAST.get(name, 0.0) for name in FEATURES), 0.0])
    bounds = [*((None, largest) for largest in start[:-1]), (None, None)]
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
    weights: NDArray[np.float64] = np.round(found.x, 4)
    return weights


def as_model(weights: NDArray[np.float64]) -> PairModel:
    """The weights in the form the package uses."""
    values = [float(weight) for weight in weights]
    return PairModel(values[-1], tuple(values[:-1]), "unwritten")


def write_model(weights: NDArray[np.float64], path: Path) -> None:
    """Write the weights as the package reads them."""
    named = dict(zip([*FEATURES, "bias"], [float(weight) for weight in weights], strict=True))
    path.write_text(json.dumps({"weights": named}, indent=2) + "\n", encoding="utf-8")


def data_folder(parser: argparse.ArgumentParser, given: Path | None) -> Path:
    """The data directory, or the end of the program with a message."""
    named = given or os.environ.get("FACTCHECK_DATA")
    if named is None:
        parser.error("name the data directory with --data or FACTCHECK_DATA")
    return Path(named)


def main() -> None:
    """Fit, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--write", action="store_true", help="rewrite model.json")
    options = parser.parse_args()
    pairs = load_pairs(data_folder(parser, options.data) / "answer_equiv_dev.jsonl")
    weights = fit(pairs, [instances(pair) for pair in pairs])
    for name, weight in zip([*FEATURES, "bias"], weights, strict=True):
        print(f"  {name:<10} {weight:8.3f}")
    if options.write:
        write_model(weights, MODEL_PATH)


if __name__ == "__main__":
    main()
