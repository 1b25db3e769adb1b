"""Fits the coefficients of the embedded judge, and writes them as `model.json`.

    python -m benchmarks.embedded.fit ../shared/data [--features FILE] [--write]

Each set has the weight in `SHARES`; within a set, entailed and other cases weigh the same. The
passage that counts for a case is the best by the coefficients so far, found anew after each fit. No
coefficient has the wrong sign, so more text never lowers a probability. Prints cross-validated
figures for the sets that are fitted on, and figures for those that are not.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.auroc import auroc
from benchmarks.embedded.cases import FITTED, UNTOUCHED, Case, load_cases
from factcheck.calibration.agreement import Decisions, share_right
from factcheck.judges.local import evidence, model
from factcheck.judges.local.conflicts import find_conflict

SHARES = {
    "realsumm": 0.35,
    "summhay": 0.2,
    "factcheckgpt": 0.15,
    "written": 0.15,
    "summaries": 0.15,
}
RIDGE = 0.3
N_FOLDS = 10
ENTAILED = model.NAMES.index("reader.entailed")
READER = slice(ENTAILED, len(model.NAMES))
N_PASSAGES = 3
"""Passages that are read for each sentence of a fact."""
NO_PASSAGE = model.Features(0.0, 0.0, -3.0, 0.0)
AT_BEST = (evidence.ENTAILED_RANGE[1], evidence.CONTRADICTED_RANGE[0])
AGAINST = {"reader.contradicted"}
"""Coefficients that are never positive; all others are never negative."""
FloatArray = NDArray[np.float64]


class Measured(NamedTuple):
    """A case with the numbers of each passage of each of its sentences."""

    case: Case
    statements: list[FloatArray]
    """One array a sentence of the fact: passages x numbers."""
    in_conflict: list[list[bool]]
    """For the same passages."""


def measure(case: Case) -> Measured:
    """The numbers of the best matching passages."""
    text = evidence.read_text(case.text)
    values, in_conflict = [], []
    for statement in evidence.split_fact(case.fact):
        found = list(islice(evidence.passages(statement, text), N_PASSAGES))
        rows = [passage.read() for passage in found]
        conflicts = [find_conflict(statement, each.sentences[0]) for each in found]
        in_conflict.append([conflict is not None for conflict in conflicts] or [False])
        values.append(np.array(rows or [NO_PASSAGE]))
    return Measured(case, values, in_conflict)


def score(weights: FloatArray, measured: Measured) -> float:
    """Log odds of a case: the worst of its sentences, each by its best passage.

    As in the checker, a passage whose best case is below even odds counts as unread.
    """
    statements = zip(measured.statements, measured.in_conflict, strict=True)
    odds = []
    for rows, in_conflict in statements:
        at_best, unread = rows.copy(), rows.copy()
        at_best[:, READER], unread[:, READER] = AT_BEST, NO_PASSAGE[READER]
        is_read = at_best @ weights[1:] + weights[0] >= 0
        counted = np.where(is_read[:, None], rows, unread)
        penalties = [
            model.Features(*row).penalty(is_conflict=is_conflict)
            for row, is_conflict in zip(counted.tolist(), in_conflict, strict=True)
        ]
        matched = counted @ weights[1:] - np.array(penalties) * is_read
        odds.append(float(matched.max() + weights[0]))
    return min(odds)


def fit(cases: Sequence[Measured], *, rounds: int = 4) -> FloatArray:
    """The bias and the coefficients."""
    decided = [each for each in cases if each.case.label != 0.5]
    labels = np.array([each.case.label for each in decided])
    shares = _weigh(decided)
    weights: FloatArray = np.zeros(1 + len(model.NAMES))
    weights[1:] = [float(name == "passage.mean") for name in model.NAMES]
    bounds: list[Any] = [(None, None)]
    bounds += [(None, 0.0) if name in AGAINST else (0.0, None) for name in model.NAMES]
    for _ in range(rounds):
        rows = np.array([_deciding(weights, each) for each in decided])
        middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
        scaled = (rows - middle) / spread

        def loss(w: FloatArray, scaled: FloatArray = scaled) -> tuple[float, FloatArray]:
            chance = 1 / (1 + np.exp(-np.clip(w[0] + scaled @ w[1:], -30, 30)))
            right = np.where(labels == 1, chance, 1 - chance)
            error = shares * (chance - labels)
            penalty = RIDGE / len(labels) * w[1:]
            value = -(shares * np.log(right + 1e-12)).sum() + 0.5 * (penalty * w[1:]).sum()
            return float(value), np.concatenate([[error.sum()], scaled.T @ error + penalty])

        start = np.zeros_like(weights)
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        scaled_back = found[1:] / spread
        weights = np.concatenate([[found[0] - scaled_back @ middle], scaled_back])
    return weights


def _deciding(weights: FloatArray, measured: Measured) -> FloatArray:
    best = [rows[np.argmax(rows @ weights[1:])] for rows in measured.statements]
    worst: FloatArray = min(best, key=lambda row: float(row @ weights[1:]))
    return worst


def _weigh(cases: Sequence[Measured]) -> FloatArray:
    """The share of each case in the loss."""
    keys = [(each.case.dataset, each.case.label) for each in cases]
    counts = {key: keys.count(key) for key in set(keys)}
    shares: FloatArray = np.array([SHARES[key[0]] / 2 / counts[key] for key in keys])
    total: FloatArray = shares / shares.sum()
    return total


def cross_validate(cases: Sequence[Measured]) -> FloatArray:
    """Log odds of each case from coefficients fitted on the other groups."""
    groups = sorted({each.case.group for each in cases})
    fold = {group: number % N_FOLDS for number, group in enumerate(groups)}
    odds = np.zeros(len(cases))
    for number in range(N_FOLDS):
        weights = fit([each for each in cases if fold[each.case.group] != number])
        for at, each in enumerate(cases):
            if fold[each.case.group] == number:
                odds[at] = score(weights, each)
    return odds


def coverage_correlation(cases: Sequence[Case], odds: FloatArray) -> float:
    """Pearson's r of mean probability and true coverage over the texts of a group, on average."""
    texts: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for case, value in zip(cases, odds, strict=True):
        pair = (case.label, float(1 / (1 + np.exp(-value))))
        texts.setdefault((case.group, case.text_id), []).append(pair)
    groups: dict[str, list[FloatArray]] = {}
    for (group, _), values in texts.items():
        groups.setdefault(group, []).append(np.mean(np.array(values), axis=0))
    r = [
        np.corrcoef(np.array(rows).T)[0, 1]
        for rows in groups.values()
        if len(rows) > 3 and np.std([row[0] for row in rows]) > 0
    ]
    return float(np.mean(r)) if r else float("nan")


def figures(cases: Sequence[Measured], odds: FloatArray) -> tuple[float | None, ...]:
    """Cases, balanced accuracy, shares found and refused, AUROC, and r of the coverage."""
    labels = np.array([each.case.label for each in cases])
    sure = labels != 0.5
    pairs = Decisions(labels[sure] == 1, odds[sure] >= 0, np.zeros(sure.sum(), int))
    r = coverage_correlation([each.case for each in cases], odds)
    return (
        int(sure.sum()),
        share_right(pairs),
        share_right(pairs, (True,)),
        share_right(pairs, (False,)),
        auroc(odds[sure], pairs.labels),
        r,
    )


def load_or_measure(data: Path, features: Path | None) -> dict[str, list[Measured]]:
    """The numbers of all sets; from a file, or written there, if one is named."""
    if features is not None and features.exists():
        found: dict[str, list[Measured]] = pickle.loads(features.read_bytes())  # noqa: S301
        return found
    measured = {}
    with ProcessPoolExecutor() as pool:
        for name in (*FITTED, *UNTOUCHED):
            measured[name] = list(pool.map(measure, load_cases(data, name), chunksize=40))
            print(f"measured {name}", flush=True)
    if features is not None:
        features.write_bytes(pickle.dumps(measured))
    return measured


def main() -> None:
    """Measure, cross-validate, fit, and write the coefficients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--features", type=Path, help="keep the numbers in this file")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    measured = load_or_measure(arguments.data, arguments.features)
    together = [each for name in FITTED for each in measured[name]]
    weights = fit(together)
    odds = cross_validate(together)
    names = ("bias", *model.NAMES)
    named = {name: round(weight, 6) for name, weight in zip(names, weights.tolist(), strict=True)}
    print({name: round(weight, 3) for name, weight in named.items()})
    print(f"{'set':14}{'cases':>7}{'bAcc':>8}{'found':>8}{'refused':>8}{'AUROC':>8}{'r':>8}")
    for name in (*FITTED, *UNTOUCHED):
        own = measured[name]
        if name in FITTED:
            own_odds = odds[[each.case.dataset == name for each in together]]
        else:
            own_odds = np.array([score(weights, each) for each in own])
        count, *rest = figures(own, own_odds)
        cells = "".join(f"{value:8.3f}" if value is not None else "       -" for value in rest)
        print(f"{name:14}{count:7}{cells}")
    if arguments.write:
        path = Path(str(model.__file__)).with_name("model.json")
        path.write_text(json.dumps({"weights": named}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
