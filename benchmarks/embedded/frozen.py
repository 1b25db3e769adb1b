"""Measures a frozen encoder beside words: what token match adds, before anything is trained.

    python -m benchmarks.embedded.frozen ../shared/data WEIGHTS_FOLDER

For every word piece of a fact the best cosine among those of the text is taken. Regressions on
words alone, on the match alone and on both are fitted on REALSumm, SummHay and FactCheckGPT (.6, .2
and .2 of the weight, both labels alike) and cross-validated by document; the other sets have no
part in the fit. The rules are the embedded judge of commit fc2754d.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.embedded.cases import SETS, Case, load_cases
from benchmarks.embedded.encoder import Encoder, match
from factcheck.calibration.agreement_metrics import Decisions, auroc, balanced_accuracy, rates
from factcheck.judges.local.sentences import split_passages
from factcheck.text.words import content_stems, words

SHARES = {"realsumm": 0.6, "summhay": 0.2, "factcheckgpt": 0.2}
RIDGE = 3.0
N_FOLDS = 10
FEATURES = ("words", "words in a sentence", "mean", "third", "worst", "mean in a sentence")
COLUMNS = {"words": (0, 1), "match": (2, 3, 4, 5), "both": (0, 1, 2, 3, 4, 5)}
FloatArray = NDArray[np.float64]


def features(case: Case, encoder: Encoder) -> list[float]:
    """The numbers of `FEATURES`: shares of content words, and cosines."""
    sentences = [piece.text for piece in split_passages(case.text)] or [case.text]
    fact, *readings = encoder.read([case.fact, *sentences])
    matches = np.stack([match(fact, reading) for reading in readings])
    whole = matches.max(axis=0)
    content = [
        (word.start, word.end)
        for word in words(case.fact)
        if word.kind in {"content", "number", "negation"}
    ]
    inside = [any(a < end and start < b for start, end in content) for a, b in fact.spans[1:-1]]
    worst = np.sort(whole[inside] if any(inside) else whole)
    stems = content_stems(case.fact, "en")
    held = [content_stems(sentence, "en") for sentence in sentences]
    return [
        len(stems & frozenset().union(*held)) / len(stems),
        max(len(stems & each) for each in held) / len(stems),
        float(whole.mean()),
        float(worst[: max(1, len(worst) // 3)].mean()),
        float(worst[0]),
        float(matches.mean(axis=1).max()),
    ]


def fit(rows: FloatArray, labels: FloatArray, shares: FloatArray) -> FloatArray:
    """Bias and coefficients; none of these is negative, so more text never lowers a probability."""
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    scaled = (rows - middle) / spread

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        chance = 1 / (1 + np.exp(-np.clip(weights[0] + scaled @ weights[1:], -30, 30)))
        right = np.where(labels == 1, chance, 1 - chance)
        error = shares * (chance - labels)
        penalty = RIDGE / len(labels) * weights[1:]
        value = -(shares * np.log(right + 1e-12)).sum() + 0.5 * (penalty * weights[1:]).sum()
        return float(value), np.concatenate([[error.sum()], scaled.T @ error + penalty])

    bounds = [(None, None), *((0.0, None) for _ in middle)]
    found = minimize(loss, np.zeros(1 + len(middle)), jac=True, method="L-BFGS-B", bounds=bounds).x
    scaled_back = found[1:] / spread
    return np.concatenate([[found[0] - scaled_back @ middle], scaled_back])


def figures(labels: FloatArray, odds: FloatArray) -> tuple[float | None, ...]:
    """Balanced accuracy, the shares found and refused, and AUROC."""
    pairs = Decisions(labels == 1, odds >= 0, odds, np.zeros(len(odds), int))
    return balanced_accuracy(pairs), *rates(pairs), auroc(pairs)


def weigh(cases: Sequence[Case]) -> FloatArray:
    """The share of each case in the loss; none for other sets and for labels in between."""
    keys = [(case.dataset, case.label) for case in cases]
    counts = {key: keys.count(key) for key in set(keys)}
    shares = [SHARES.get(name, 0.0) * (label != 0.5) / counts[name, label] for name, label in keys]
    return np.array(shares) / sum(shares)


def cross_validate(cases: Sequence[Case], rows: FloatArray) -> FloatArray:
    """Log odds of each case from coefficients that no case of its group had a part in."""
    labels, shares = np.array([case.label for case in cases]), weigh(cases)
    groups = sorted({case.group for case in cases if case.dataset in SHARES})
    fold = {group: number % N_FOLDS for number, group in enumerate(groups)}
    folds = np.array([fold.get(case.group, -1) for case in cases])
    odds = np.zeros(len(cases))
    for number in range(-1, N_FOLDS):
        used = (shares > 0) & (folds != number)
        weights = fit(rows[used], labels[used], shares[used] / shares[used].sum())
        odds[folds == number] = weights[0] + rows[folds == number] @ weights[1:]
    return odds


def row(name: str, values: Sequence[Any]) -> str:
    return f"  {name:12}" + "".join(f"{value:9.3f}" for value in values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    arguments = parser.parse_args()

    encoder = Encoder(arguments.weights)
    cases = [case for name in SETS for case in load_cases(arguments.data, name)]
    rows = np.array([features(case, encoder) for case in cases])
    before = json.loads((Path(__file__).parent / "before_rules.json").read_text("utf-8"))["sets"]
    odds = {name: cross_validate(cases, rows[:, list(at)]) for name, at in COLUMNS.items()}
    print(f"{'':14}     bAcc    found  refused    AUROC")
    for name in SETS:
        chosen = np.array([case.dataset == name and case.label != 0.5 for case in cases])
        labels = np.array([case.label for case in cases])[chosen]
        print(f"{name} ({len(labels):,})")
        old = before[name]
        keys = ("balanced_accuracy", "found", "refused", "auroc")
        print(row("rules", [old[key] for key in keys]))
        for kind, values in odds.items():
            print(row(kind, figures(labels, values[chosen])))


if __name__ == "__main__":
    main()
