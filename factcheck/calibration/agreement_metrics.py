"""Agreement of verdicts with human labels: metrics of decisions, and of coverage by text.

A metric is `None` where it is undefined: all labels equal, no probabilities, a single document.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, variance
from typing import Any, NamedTuple

from factcheck.calibration.agreement_labels import Answer, LabelledPair
from factcheck.stats.correlation import kendall, pearson, ranks
from factcheck.stats.intervals import Z_95, Estimate
from factcheck.stats.resampling import bootstrap_groups, mean_estimate

Array = Any
"""A numpy array."""
N_BINS = 10
POWER_80 = 0.8416212335729143
"""Standard normal quantile for a power of 80 %."""
_MIN_SYSTEMS = 3
_MIN_DOCUMENTS = 5
"""From which a variance over documents is meaningful."""
_ALIKE = "all labels are equal"
_NO_PROBABILITIES = "the judge gives no probabilities"


class Decisions(NamedTuple):
    """Decided pairs as columns of equal length."""

    labels: Array
    """True where the human label is entailed."""
    entailed: Array
    """True where the judge's is."""
    probabilities: Array | None
    """`None` for a judge that gives none."""
    documents: Array
    """The number of each pair's document, from 0."""
    baseline: Array | None = None
    """True where word containment says entailed; `None` where it was not run."""

    def of(self, rows: Array) -> Decisions:
        return Decisions(*(None if column is None else column[rows] for column in self))


class Bin(NamedTuple):
    """Pairs to which a judge gave about the same probability."""

    n: int
    probability: float
    """Mean probability."""
    share: float
    """Share of them with the human label entailed."""


def rates(pairs: Decisions) -> tuple[float | None, float | None]:
    """Sensitivity and specificity; `None` for one that has no pairs."""
    right = (pairs.entailed[pairs.labels], ~pairs.entailed[~pairs.labels])
    sensitivity, specificity = (float(one.mean()) if len(one) else None for one in right)
    return sensitivity, specificity


def balanced_accuracy(pairs: Decisions) -> float | None:
    """Mean of sensitivity and specificity, in [0, 1]."""
    sensitivity, specificity = rates(pairs)
    if sensitivity is None or specificity is None:
        return None
    return (sensitivity + specificity) / 2


def baseline_accuracy(pairs: Decisions) -> float | None:
    """The balanced accuracy of word containment on the same pairs."""
    if pairs.baseline is None:
        return None
    return balanced_accuracy(pairs._replace(entailed=pairs.baseline))


def over_baseline(pairs: Decisions) -> float | None:
    """The balanced accuracy minus that of word containment, in [-1, 1]."""
    judge, words = balanced_accuracy(pairs), baseline_accuracy(pairs)
    return None if judge is None or words is None else judge - words


def kappa(pairs: Decisions) -> float | None:
    """Agreement beyond chance, in [-1, 1]; `None` where chance alone would always agree.

    Source:
        Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    if not len(pairs.labels):
        return None
    agreed = float((pairs.labels == pairs.entailed).mean())
    human, judge = float(pairs.labels.mean()), float(pairs.entailed.mean())
    chance = human * judge + (1 - human) * (1 - judge)
    return None if chance == 1.0 else (agreed - chance) / (1 - chance)


def auroc(pairs: Decisions) -> float | None:
    """Probability that an entailed pair gets the higher probability; ties count half."""
    n_positive = int(pairs.labels.sum())
    n_negative = len(pairs.labels) - n_positive
    if pairs.probabilities is None or not n_positive or not n_negative:
        return None
    total = float(ranks(pairs.probabilities)[pairs.labels].sum())
    return (total - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def calibration_bins(pairs: Decisions) -> list[Bin]:
    """The calibration curve: ten bins of equal width, without the empty ones."""
    import numpy as np

    if pairs.probabilities is None:
        return []
    place = np.minimum((pairs.probabilities * N_BINS).astype(int), N_BINS - 1)
    masks = [place == number for number in np.unique(place)]
    return [
        Bin(int(m.sum()), float(pairs.probabilities[m].mean()), float(pairs.labels[m].mean()))
        for m in masks
    ]


def calibration_error(pairs: Decisions) -> float | None:
    """Expected calibration error: mean distance of probability and share, weighted by bins.

    Source:
        Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated probabilities".
    """
    found = calibration_bins(pairs)
    n = sum(one.n for one in found)
    return sum(one.n * abs(one.probability - one.share) for one in found) / n if n else None


def best_threshold(pairs: Decisions) -> float | None:
    """The probability from which to call a fact entailed, for the highest balanced accuracy."""
    import numpy as np

    if pairs.probabilities is None or balanced_accuracy(pairs) is None:
        return None
    order = np.argsort(-pairs.probabilities, kind="stable")
    scores, labels = pairs.probabilities[order], pairs.labels[order]
    hits = np.cumsum(labels) / labels.sum()
    false = np.cumsum(~labels) / (~labels).sum()
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    return float(scores[ends[np.argmax(hits[ends] - false[ends])]])


def corrected_share(share: float, sensitivity: float, specificity: float) -> float | None:
    """The true share behind one observed by a judge with known error rates, in [0, 1].

    `None` for a judge no better than chance, which carries no information.

    Source:
        Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test".
    """
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return None
    return min(1.0, max(0.0, (share + specificity - 1) / informed))


class TextCoverage(NamedTuple):
    """The share of its decided facts that one text entails, by the judge and by human labels."""

    document: str
    system: str
    judge: float
    human: float


Coverages = Sequence[TextCoverage]


def comparable(texts: Coverages) -> list[tuple[list[float], list[float]]]:
    """Judge and human scores of each document with three texts for which both differ."""
    groups = ([(t.judge, t.human) for t in group] for group in _by_document(texts))
    columns = [
        (list(judge), list(human)) for judge, human in (zip(*g, strict=True) for g in groups)
    ]
    return [
        (judge, human)
        for judge, human in columns
        if len(judge) >= _MIN_SYSTEMS and len(set(judge)) > 1 and len(set(human)) > 1
    ]


def correlation(
    texts: Coverages, measure: Callable[[Sequence[float], Sequence[float]], float]
) -> Estimate:
    """Mean over documents of the correlation of both scores over the systems of a document."""
    why = "no document has three texts whose coverage differs for both judge and humans"
    return mean_estimate([measure(*both) for both in comparable(texts)], why)


def mean_coverage(texts: Coverages, by: str) -> Estimate:
    """Mean over documents of the mean score of their texts, by the `judge` or the `human`."""
    means = [fmean(getattr(text, by) for text in group) for group in _by_document(texts)]
    return mean_estimate(means, "nothing was decided")


def _by_document(texts: Coverages) -> list[list[TextCoverage]]:
    groups: dict[str, list[TextCoverage]] = defaultdict(list)
    for text in texts:
        groups[text.document].append(text)
    return list(groups.values())


class DocumentsNeeded(NamedTuple):
    """Documents needed to detect a difference of the mean coverage with a power of 80 %."""

    difference: float
    paired: int | None
    """Both systems on the same documents; `None` where no two systems share five."""
    unpaired: int | None
    """For each system, on documents of its own; `None` where no system has five."""
    why: str = ""
    """Why a number is missing."""


def documents_needed(texts: Coverages, difference: float) -> DocumentsNeeded:
    """How many documents a comparison needs, given how much coverage differs between these.

    Two-sided at 5 %, by the normal approximation: n = (z_.975 + z_.80)^2 v / d^2, with v the
    variance over documents of the difference of two systems, averaged over pairs of systems; twice
    the variance of one system for documents of their own. A judge for which all documents are alike
    carries no information.
    """
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for text in texts:
        shares[text.system][text.document].append(text.judge)
    means = [{name: fmean(of[name]) for name in of} for of in shares.values()]
    pairs = [[a[name] - b[name] for name in a.keys() & b.keys()] for a, b in combinations(means, 2)]
    paired = [variance(values) for values in pairs if len(values) >= _MIN_DOCUMENTS]
    single = [variance(of.values()) for of in means if len(of) >= _MIN_DOCUMENTS]

    def needed(variances: Sequence[float], factor: int) -> int | None:
        if not any(variances):
            return None
        spread = factor * fmean(variances)
        return max(2, math.ceil((Z_95 + POWER_80) ** 2 * spread / difference**2))

    why = "" if any(paired) else f"no two systems share {_MIN_DOCUMENTS} documents"
    if not any(paired) and not any(single):
        few = f"no system has {_MIN_DOCUMENTS} documents"
        why = "the judge sees no difference between documents" if single else few
    return DocumentsNeeded(difference, needed(paired, 1), needed(single, 2), why)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one judge with human labels."""

    judge: str
    metrics: Mapping[str, Estimate]
    """By name:

    - `balanced_accuracy`, `sensitivity`, `specificity`, `kappa`: of its verdicts.
    - `baseline_accuracy`: the balanced accuracy of word containment on the same pairs;
      `over_baseline`: that of the judge minus it.
    - `auroc`, `calibration_error`: of its probabilities. `tuned_accuracy`: the balanced accuracy
      with the threshold of each half of the documents chosen on the other half.
    - `pearson`, `kendall`: mean over documents of the correlation with the human coverage, over the
      systems of a document.
    - `coverage`, `human_coverage`: the mean coverage of all documents. `corrected_coverage`: that
      of one half of the documents, corrected for the error rates on the other half (Rogan-Gladen),
      to be compared with `held_out_human_coverage` of the same half.
    """
    n_documents: int
    n_pairs: int
    """Pairs with a label and a verdict."""
    n_undecided: int
    """Pairs with a label but no verdict; outside every metric."""
    thresholds: tuple[float, ...]
    """The two thresholds behind `tuned_accuracy`; empty without probabilities."""
    curve: tuple[Bin, ...]
    """The calibration curve; empty without probabilities."""
    needed: DocumentsNeeded
    n_correlated: int
    """Documents behind `pearson` and `kendall`: those with three texts or more."""
    failure: str
    """Why verdicts are missing, the first time."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "judge": self.judge,
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "undecided": self.n_undecided,
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "thresholds": list(self.thresholds),
            "calibration_curve": [one._asdict() for one in self.curve],
            "correlated_documents": self.n_correlated,
            "documents_needed": self.needed._asdict(),
            "failure": self.failure,
        }


def measure_agreement(
    judge: str,
    pairs: Sequence[LabelledPair],
    answers: Sequence[Answer],
    baseline: Sequence[Answer] | None = None,
    *,
    difference: float = 0.05,
    n_resamples: int = 500,
    seed: int = 0,
) -> JudgeAgreement:
    """All metrics of one judge, from one answer for each pair; see `agreement` for the settings.

    `baseline` holds the answers of word containment on the same pairs.
    """
    import numpy as np

    places = [place for place, answer in enumerate(answers) if answer.entailed is not None]
    decided = [pairs[place] for place in places]
    rows = _decisions(
        decided, [answers[place] for place in places], baseline and [baseline[n] for n in places]
    )
    texts = _texts(decided, rows)
    numbers = list(range(len(np.unique(rows.documents))))
    random.Random(seed).shuffle(numbers)  # noqa: S311 - repeatable
    half = numbers[::2]

    def estimate(
        metric: Callable[[Decisions], float | None], why: str = _ALIKE, rows: Decisions = rows
    ) -> Estimate:
        """A metric with its interval over documents, or why it is undefined."""
        if not len(rows.labels):
            return Estimate(None, why="nothing was decided")
        value = metric(rows)
        if value is None:
            return Estimate(None, why=why)
        interval = bootstrap_groups(
            rows.documents, lambda drawn: metric(rows.of(drawn)), n_resamples, seed
        )
        return Estimate(value, interval)

    def corrected(rows: Decisions) -> float | None:
        """Coverage of the other half of the documents, corrected by the errors on this one."""
        is_known = np.isin(rows.documents, half)
        sensitivity, specificity = rates(rows.of(is_known))
        if sensitivity is None or specificity is None or is_known.all():
            return None
        return corrected_share(float(rows.entailed[~is_known].mean()), sensitivity, specificity)

    def held_out(rows: Decisions) -> float | None:
        labels = rows.labels[~np.isin(rows.documents, half)]
        return float(labels.mean()) if len(labels) else None

    unscaled = untuned = _NO_PROBABILITIES
    if rows.probabilities is not None:
        unscaled, untuned = _ALIKE, "all labels in one half of the documents are equal"
    alone = "this is the baseline, or it was not run" if rows.baseline is None else _ALIKE
    thresholds, tuned = _tuned(rows, np.isin(rows.documents, half))
    return JudgeAgreement(
        judge=judge,
        metrics={
            "balanced_accuracy": estimate(balanced_accuracy),
            "sensitivity": estimate(lambda rows: rates(rows)[0]),
            "specificity": estimate(lambda rows: rates(rows)[1]),
            "baseline_accuracy": estimate(baseline_accuracy, alone),
            "over_baseline": estimate(over_baseline, alone),
            "kappa": estimate(kappa, "chance alone always agrees"),
            "auroc": estimate(auroc, unscaled),
            "tuned_accuracy": estimate(balanced_accuracy, rows=tuned)
            if thresholds
            else Estimate(None, why=untuned),
            "calibration_error": estimate(calibration_error, unscaled),
            "pearson": correlation(texts, pearson),
            "kendall": correlation(texts, kendall),
            "coverage": mean_coverage(texts, "judge"),
            "human_coverage": mean_coverage(texts, "human"),
            "corrected_coverage": estimate(corrected, "the error rates are unknown, or too high"),
            "held_out_human_coverage": estimate(held_out, "only one document"),
        },
        n_documents=len(numbers),
        n_pairs=len(decided),
        n_undecided=len(pairs) - len(decided),
        thresholds=thresholds,
        curve=tuple(calibration_bins(rows)),
        needed=documents_needed(texts, difference),
        n_correlated=len(comparable(texts)),
        failure=next((answer.why for answer in answers if answer.entailed is None), ""),
    )


def _decisions(
    pairs: Sequence[LabelledPair], answers: Sequence[Answer], words: Sequence[Answer] | None
) -> Decisions:
    import numpy as np

    numbers: dict[str, int] = {}
    documents = [numbers.setdefault(pair.document, len(numbers)) for pair in pairs]
    probabilities = [answer.probability for answer in answers]
    return Decisions(
        labels=np.array([pair.label for pair in pairs], dtype=bool),
        entailed=np.array([answer.entailed for answer in answers], dtype=bool),
        probabilities=np.array(probabilities, dtype=float)
        if answers and None not in probabilities
        else None,
        documents=np.array(documents, dtype=int),
        baseline=np.array([one.entailed for one in words], dtype=bool) if words else None,
    )


def _texts(pairs: Sequence[LabelledPair], rows: Decisions) -> list[TextCoverage]:
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        groups[pair.document, pair.system, pair.text].append(place)
    return [
        TextCoverage(
            document, system, float(rows.entailed[of].mean()), float(rows.labels[of].mean())
        )
        for (document, system, _), of in groups.items()
    ]


def _tuned(rows: Decisions, half: Array) -> tuple[tuple[float, ...], Decisions]:
    """The thresholds of both halves, and the decisions with each on the other half."""
    import numpy as np

    own, other = best_threshold(rows.of(half)), best_threshold(rows.of(~half))
    if own is None or other is None:
        return (), rows
    return (own, other), rows._replace(entailed=rows.probabilities >= np.where(half, other, own))
