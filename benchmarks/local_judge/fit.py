"""Fits the model of the embedded checker and measures it on documents it was not fitted on.

The features and the verdicts are those of the package, so what is measured is what ships. Needs
numpy and scipy beside the package (`pip install numpy scipy`); the package itself needs neither.

    python benchmarks/local_judge/fit.py --data DIR          # prints the cross-validated table
    python benchmarks/local_judge/fit.py --data DIR --write  # and rewrites model.json

`DIR` holds `realsumm_dev.jsonl`; it may be named by `FACTCHECK_DATA` instead. Each sentence of a
summary is an instance of its (fact, summary) pair, and a pair is entailed by its best sentence:
the fit alternates between choosing that sentence and fitting the weights. Weights that express
evidence are kept from going negative, those of the whole text above all: the checker's promise
that deleting a sentence never raises a probability rests on them.
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

from factcheck.judges.local import model as shipped
from factcheck.judges.local.checker import DECISION, judge_fact
from factcheck.judges.local.features import FACT_FEATURES, FEATURES, PASSAGE_FEATURES, statement
from factcheck.judges.local.language import guess_language
from factcheck.judges.local.model import Model
from factcheck.judges.local.passages import analyse, statements
from factcheck.judges.local.readings import VERBATIM, readings

AGAINST = ("rarest_missing",)
"""Features that speak against entailment: their weights are kept from going positive."""
STRENGTH = 2.0
"""Of the pull towards zero, per weight squared."""
ROUNDS = 8
N_FOLDS = 10


class Pair(NamedTuple):
    """One fact, one summary, and whether people found the fact in it."""

    document: str
    fact: str
    text: str
    label: int


def load_pairs(path: Path) -> list[Pair]:
    """All pairs with a label, in file order."""
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for system in row["systems"].values():
            for fact, label in zip(row["facts"], system["labels"], strict=True):
                if label is not None:
                    pairs.append(Pair(row["doc_id"], fact, system["summary"], label))
    return pairs


def instances(pair: Pair) -> NDArray[np.float64]:
    """One row of features for each sentence of the summary that nothing bars or settles."""
    language = guess_language(pair.fact)
    parts = statements(pair.fact, language)
    rows = [
        (*reading.features, *reading.whole)
        for reading in readings(statement(parts[0]), analyse(pair.text, language))
        if reading.lowest == 0 and reading.highest == VERBATIM
    ]
    return np.array(rows).reshape(-1, len(FEATURES))


def fit(pairs: Sequence[Pair], bags: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Weights for `FEATURES` and, last, the bias."""
    used = [k for k, bag in enumerate(bags) if len(bag)]
    labels = np.array([pairs[k].label for k in used], dtype=float)
    share = np.mean([pair.label for pair in pairs])
    costs = np.where(labels == 1, 0.5 / share, 0.5 / (1 - share))
    weights = np.zeros(len(FEATURES) + 1)
    weights[0] = 1.0
    for _ in range(ROUNDS):
        best = [bags[k][np.argmax(bags[k] @ weights[:-1])] for k in used]
        weights = fit_logistic(np.array(best), labels, costs)
    return weights


def fit_logistic(
    rows: NDArray[np.float64], labels: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of a logistic regression with signs fixed in advance."""

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = rows @ weights[:-1] + weights[-1]
        signs = 2 * labels - 1
        value = costs @ np.logaddexp(0, -signs * scores) + STRENGTH * weights[:-1] @ weights[:-1]
        slope = -costs * signs / (1 + np.exp(signs * scores))
        gradient = np.append(rows.T @ slope + 2 * STRENGTH * weights[:-1], slope.sum())
        return float(value), gradient

    bounds = [_bounds(name) for name in FEATURES]
    start = np.zeros(rows.shape[1] + 1)
    found = minimize(loss, start, jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B")
    weights: NDArray[np.float64] = np.round(found.x, 4)
    return weights


def _bounds(name: str) -> tuple[float | None, float | None]:
    if name in FACT_FEATURES:
        return None, None
    return (None, 0.0) if name in AGAINST else (0.0, None)


def as_model(weights: NDArray[np.float64]) -> Model:
    """The weights in the form the package uses."""
    n = len(PASSAGE_FEATURES)
    values = [float(weight) for weight in weights]
    return Model(values[-1], tuple(values[:n]), tuple(values[n:-1]), "unwritten")


def cross_validated(
    pairs: Sequence[Pair], bags: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """For each pair, the probability by a model fitted on other documents."""
    documents = sorted({pair.document for pair in pairs})
    fold_of = {document: place % N_FOLDS for place, document in enumerate(documents)}
    scores = np.zeros(len(pairs))
    for fold in range(N_FOLDS):
        rest = [k for k, pair in enumerate(pairs) if fold_of[pair.document] != fold]
        model = as_model(fit([pairs[k] for k in rest], [bags[k] for k in rest]))
        for k, pair in enumerate(pairs):
            if fold_of[pair.document] == fold:
                scores[k] = judge_fact(pair.fact, pair.text, model).probability
    return scores


def containment(pair: Pair) -> float:
    """The baseline: share of the fact's lower-cased words that the summary has."""
    wanted = {word.strip(".,;:!?\"'()") for word in pair.fact.lower().split()}
    present = {word.strip(".,;:!?\"'()") for word in pair.text.lower().split()}
    return len(wanted & present) / len(wanted)


def balanced_accuracy(
    scores: NDArray[np.float64], labels: NDArray[np.int64], threshold: float = DECISION
) -> float:
    """Mean of the shares decided rightly among entailed and among other pairs."""
    decided = scores >= threshold
    return float((decided[labels == 1].mean() + (~decided[labels == 0]).mean()) / 2)


def auroc(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Probability that an entailed pair scores higher than another one; ties count half."""
    positive, negative = scores[labels == 1], np.sort(scores[labels == 0])
    below = np.searchsorted(negative, positive, side="left")
    ties = np.searchsorted(negative, positive, side="right") - below
    return float((below + ties / 2).mean() / len(negative))


def held_back_threshold(
    pairs: Sequence[Pair], scores: NDArray[np.float64], labels: NDArray[np.int64]
) -> float:
    """Balanced accuracy of scores that need a threshold, chosen on the other documents."""
    decided = np.zeros(len(scores))
    documents = np.array([pair.document for pair in pairs])
    grid = np.linspace(0.05, 1, 39)
    for document in sorted(set(documents)):
        rest = documents != document
        best = max(grid, key=lambda t: balanced_accuracy(scores[rest], labels[rest], t))
        decided[~rest] = scores[~rest] >= best
    return balanced_accuracy(decided, labels)


def write_model(weights: NDArray[np.float64], path: Path) -> None:
    """Write the weights as the package reads them."""
    named = dict(zip([*FEATURES, "bias"], [float(weight) for weight in weights], strict=True))
    path.write_text(json.dumps({"weights": named}, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Fit, measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    parser.add_argument("--write", action="store_true", help="rewrite model.json")
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the data directory with --data or FACTCHECK_DATA")
    pairs = load_pairs(Path(options.data) / "realsumm_dev.jsonl")
    labels = np.array([pair.label for pair in pairs])
    bags = [instances(pair) for pair in pairs]
    weights = fit(pairs, bags)
    scores = cross_validated(pairs, bags)
    fitted = np.array([judge_fact(p.fact, p.text, as_model(weights)).probability for p in pairs])
    words = np.array([containment(pair) for pair in pairs])
    print(f"{len(pairs)} pairs, {labels.mean():.1%} entailed, {N_FOLDS} folds by document")
    print("judge                          balanced accuracy   AUROC")
    for name, value, area in (
        ("word containment, held back", held_back_threshold(pairs, words, labels), words),
        ("this model, cross-validated", balanced_accuracy(scores, labels), scores),
        ("this model, on its own data", balanced_accuracy(fitted, labels), fitted),
    ):
        print(f"{name:<30} {value:17.3f} {auroc(area, labels):7.3f}")
    for name, weight in zip([*FEATURES, "bias"], weights, strict=True):
        print(f"  {name:<16} {weight:8.3f}")
    if options.write:
        write_model(weights, Path(shipped.__file__).with_name("model.json"))


if __name__ == "__main__":
    main()
