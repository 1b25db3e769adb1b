"""Fits the model of the embedded pair judge on labelled pairs of values.

    python -m benchmarks.pairs.fit --data DIR          # prints the coefficients
    python -m benchmarks.pairs.fit --data DIR --write  # and rewrites model.json

`DIR` (or `FACTCHECK_DATA`) holds `answer_equiv_dev.jsonl`: right answers with their alternatives
and answers of systems. `values.tsv` holds pairs written for this, half of them near misses; every
third is held out. What the rules decide is not fitted. A pair is as likely as its likeliest
alternative: the fit alternates between choosing that one and fitting the weights, whose signs are
fixed. Needs numpy and scipy.
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

from factcheck.judges.local.model import Model
from factcheck.judges.local.pairs import DECISION, judge_pair, texts
from factcheck.judges.local.pairs.texts import FEATURES, probability_by

STRENGTH = 0.3
"""Of the pull towards zero, per weight squared."""
BOUNDS = {
    "least_entailed": (0.0, None),
    "most_entailed": (0.0, None),
    "names": (None, 0.0),
}
"""What each weight may be."""
CAUTION = 5.0
"""How much worse a wrong yes is than a wrong no."""
ROUNDS = 6
HELD_OUT = 3
"""Every so-manieth pair of `values.tsv` is held out."""
MODEL_PATH = Path(texts.__file__).with_name("model.json")


class LabelledPair(NamedTuple):
    """Two values, whether they mean the same, and what belongs together in one fold."""

    golds: tuple[str, ...]
    """The right value and its alternatives."""
    extracted: str
    label: int
    group: str

    @property
    def gold(self) -> str:
        """The alternatives as one value."""
        return " / ".join(self.golds)


class Instances(NamedTuple):
    """What there is to fit on one pair."""

    rows: NDArray[np.float64]
    """Features of each alternative that the model was asked about."""
    by_rules: float
    """The probability that rules alone give."""

    def score(self, model: Model) -> float:
        """The probability by rules and model."""
        return max([self.by_rules, *(probability_by(model, row) for row in self.rows.tolist())])


class Recorder(Model):
    """A model that keeps the features it is asked about."""

    def probability(self, features: Sequence[float], penalty: float = 0.0) -> float:
        """Zero, whatever the features."""
        del penalty
        ASKED.append(tuple(features))
        return 0.0


ASKED: list[tuple[float, ...]] = []
"""Features that were asked about since it was cleared."""


def load_answers(path: Path) -> list[LabelledPair]:
    """Pairs of answers, in file order; a slash joins the alternatives of a right answer."""
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        parts = tuple(part.strip() for part in row["premise"].split("/") if part.strip())
        pairs.append(LabelledPair(parts, row["hypothesis"], int(row["label"]), row["question"]))
    return pairs


def load_table(name: str) -> list[LabelledPair]:
    """The pairs of a table beside this file."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [LabelledPair((a,), b, int(label == "same"), kind) for label, kind, a, b in rows]


def load_values() -> tuple[list[LabelledPair], list[LabelledPair]]:
    """The pairs written for this: those to fit on, and those held out."""
    pairs = load_table("values.tsv")
    held_out = pairs[HELD_OUT - 1 :: HELD_OUT]
    return [pair for k, pair in enumerate(pairs) if (k + 1) % HELD_OUT], held_out


def instances(pair: LabelledPair) -> Instances:
    """The features of what the rules leave open on a pair."""
    ASKED.clear()
    finding = judge_pair(pair.gold, pair.extracted, "exact", Recorder(0.0, (), ""))
    return Instances(np.array(ASKED).reshape(-1, len(FEATURES)), finding.probability)


def fit(pairs: Sequence[LabelledPair], bags: Sequence[Instances]) -> Model:
    """The model that decides best what the rules leave open."""
    used = [k for k, bag in enumerate(bags) if len(bag.rows) and bag.by_rules < DECISION]
    labels = np.array([pairs[k].label for k in used], dtype=float)
    share = labels.mean()
    costs = np.where(labels == 1, 0.5 / share, CAUTION * 0.5 / (1 - share))
    weights = np.array([*(float(BOUNDS[name][0] == 0) for name in FEATURES), 0.0])
    for _ in range(ROUNDS):
        best = [bags[k].rows[np.argmax(bags[k].rows @ weights[:-1])] for k in used]
        weights = _fit_logistic(np.array(best), labels, costs)
    return Model(float(weights[-1]), tuple(map(float, weights[:-1])), "unwritten")


def _fit_logistic(
    rows: NDArray[np.float64], labels: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of a logistic regression, each within its bounds, and the bias."""

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = rows @ weights[:-1] + weights[-1]
        sides = 2 * labels - 1
        value = costs @ np.logaddexp(0, -sides * scores) + STRENGTH * weights[:-1] @ weights[:-1]
        slope = -costs * sides / (1 + np.exp(sides * scores))
        gradient = np.append(rows.T @ slope + 2 * STRENGTH * weights[:-1], slope.sum())
        return float(value), gradient

    bounds = [*(BOUNDS[name] for name in FEATURES), (None, None)]
    start = np.zeros(len(bounds))
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
    weights: NDArray[np.float64] = np.round(found.x, 4)
    return weights


def write_model(model: Model, path: Path) -> None:
    """Write the weights as the package reads them."""
    named = dict(zip([*FEATURES, "bias"], [*model.weights, model.bias], strict=True))
    path.write_text(json.dumps({"weights": named}, indent=2) + "\n", encoding="utf-8")


def data_folder(parser: argparse.ArgumentParser, given: Path | None) -> Path:
    """The data directory, or the end of the program with a message."""
    named = given or os.environ.get("FACTCHECK_DATA")
    if named is None:
        parser.error("name the data directory with --data or FACTCHECK_DATA")
    return Path(named)


def main() -> None:
    """Fit, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--write", action="store_true", help="rewrite model.json")
    options = parser.parse_args()
    folder = data_folder(parser, options.data)
    pairs = [*load_answers(folder / "answer_equiv_dev.jsonl"), *load_values()[0]]
    model = fit(pairs, [instances(pair) for pair in pairs])
    for name, weight in zip([*FEATURES, "bias"], [*model.weights, model.bias], strict=True):
        print(f"  {name:<14} {weight:8.3f}")
    if options.write:
        write_model(model, MODEL_PATH)


if __name__ == "__main__":
    main()
