"""All figures of one judge, from one answer for each labelled pair."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from factcheck.calibration.people import measures
from factcheck.calibration.people.coverage import (
    TextCoverage,
    corrected,
    correlation,
    documents_needed,
    mean_coverage,
    n_comparable,
)
from factcheck.calibration.people.judging import Answer
from factcheck.calibration.people.measures import Array, Figure, Judged, resampled
from factcheck.calibration.people.pairs import LabelledPair
from factcheck.calibration.people.report import JudgeAgreement

N_RESAMPLES = 500
DIFFERENCE = 0.05
_ALIKE = "the labels are all alike"
_NO_PROBABILITIES = "the judge gives no probabilities"
_NO_BASELINE = "this is the baseline, or it was not asked"


def measure_agreement(
    judge: str,
    pairs: Sequence[LabelledPair],
    answers: Sequence[Answer],
    *,
    baseline: Sequence[Answer] | None = None,
    difference: float = DIFFERENCE,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> JudgeAgreement:
    """All figures of one judge, from one answer for each pair; the baseline's beside them."""
    decided = [
        (pair, answer)
        for pair, answer in zip(pairs, answers, strict=True)
        if answer.entailed is not None
    ]
    judged = _columns(decided)
    if baseline is not None:
        judged = judged._replace(baseline=_baseline(answers, baseline))
    texts = _texts(decided)
    figures = _Figures(judged, n_resamples, seed)
    thresholds, tuned = figures.tuned()
    return JudgeAgreement(
        judge=judge,
        figures={
            "balanced_accuracy": figures.of(measures.balanced_accuracy, _ALIKE),
            "sensitivity": figures.of(lambda pairs: measures.rates(pairs)[0], _ALIKE),
            "specificity": figures.of(lambda pairs: measures.rates(pairs)[1], _ALIKE),
            "baseline_accuracy": figures.of_baseline(measures.baseline_accuracy),
            "over_baseline": figures.of_baseline(measures.over_baseline),
            "kappa": figures.of(measures.kappa, "chance alone agrees always"),
            "auroc": figures.of_probabilities(measures.auroc),
            "tuned_accuracy": tuned,
            "calibration_error": figures.of_probabilities(measures.calibration_error),
            "pearson": correlation(texts, "pearson"),
            "kendall": correlation(texts, "kendall"),
            "coverage": mean_coverage(texts, by_people=False),
            "human_coverage": mean_coverage(texts, by_people=True),
            **figures.corrected(),
        },
        n_documents=len({pair.document for pair, _ in decided}),
        n_pairs=len(decided),
        n_undecided=len(pairs) - len(decided),
        thresholds=thresholds,
        curve=tuple(measures.bins(judged)),
        needed=documents_needed(texts, difference),
        n_correlated=n_comparable(texts),
        failure=next((answer.why for answer in answers if answer.entailed is None), ""),
    )


def _columns(decided: Sequence[tuple[LabelledPair, Answer]]) -> Judged:
    import numpy as np

    numbers: dict[str, int] = {}
    given = [answer.probability for _, answer in decided]
    complete = bool(given) and None not in given
    return Judged(
        labels=np.array([pair.label for pair, _ in decided], dtype=bool),
        entailed=np.array([answer.entailed for _, answer in decided], dtype=bool),
        probabilities=np.array(given, dtype=float) if complete else None,
        documents=np.array(
            [numbers.setdefault(pair.document, len(numbers)) for pair, _ in decided], dtype=int
        ),
    )


def _baseline(answers: Sequence[Answer], baseline: Sequence[Answer]) -> Array:
    """What word containment says of the pairs that the judge decided."""
    import numpy as np

    both = zip(answers, baseline, strict=True)
    return np.array([bool(words.entailed) for own, words in both if own.entailed is not None])


def _texts(decided: Sequence[tuple[LabelledPair, Answer]]) -> list[TextCoverage]:
    groups: dict[tuple[str, str, str], list[tuple[bool, bool]]] = {}
    for pair, answer in decided:
        key = (pair.document, pair.system, pair.text)
        groups.setdefault(key, []).append((bool(answer.entailed), pair.label))
    return [
        TextCoverage(
            document,
            system,
            sum(judge for judge, _ in both) / len(both),
            sum(people for _, people in both) / len(both),
            len(both),
        )
        for (document, system, _), both in groups.items()
    ]


class _Figures:
    """Figures of the decided pairs of one judge, with their intervals."""

    def __init__(self, judged: Judged, n_resamples: int, seed: int) -> None:
        self._judged = judged
        self._n_resamples = n_resamples
        self._seed = seed

    def of(self, figure: Callable[[Judged], float | None], why: str) -> Figure:
        value = figure(self._judged) if len(self._judged.labels) else None
        if value is None:
            return Figure(None, None, why if len(self._judged.labels) else "nothing was decided")
        return Figure(
            value,
            resampled(self._judged, figure, n_resamples=self._n_resamples, seed=self._seed),
        )

    def of_probabilities(self, figure: Callable[[Judged], float | None]) -> Figure:
        return self.of(figure, _NO_PROBABILITIES if self._judged.probabilities is None else _ALIKE)

    def of_baseline(self, figure: Callable[[Judged], float | None]) -> Figure:
        return self.of(figure, _NO_BASELINE if self._judged.baseline is None else _ALIKE)

    def _halves(self) -> tuple[Array, Array]:
        """Which pairs are in each half of the documents."""
        import numpy as np

        documents = sorted(set(self._judged.documents.tolist()))
        random.Random(self._seed).shuffle(documents)  # noqa: S311 - repeatable
        first = np.isin(self._judged.documents, documents[::2])
        return first, ~first

    def tuned(self) -> tuple[tuple[float, ...], Figure]:
        """The thresholds of both halves, and the accuracy with each on the other half."""
        if self._judged.probabilities is None:
            return (), Figure(None, None, _NO_PROBABILITIES)
        halves = self._halves()
        chosen = [measures.best_threshold(self._judged.of(half)) for half in halves]
        thresholds = [threshold for threshold in chosen if threshold is not None]
        if len(thresholds) < len(halves):
            return (), Figure(None, None, "a half of the documents has labels all alike")
        entailed = self._judged.entailed.copy()
        for half, threshold in zip(halves, reversed(thresholds), strict=True):
            entailed[half] = self._judged.probabilities[half] >= threshold
        tuned = _Figures(self._judged._replace(entailed=entailed), self._n_resamples, self._seed)
        return tuple(thresholds), tuned.of(measures.balanced_accuracy, _ALIKE)

    def corrected(self) -> dict[str, Figure]:
        """Coverage of the second half of the documents, corrected by the errors on the first."""
        import numpy as np

        held_out = np.unique(self._judged.documents[self._halves()[1]])

        def by_judge(pairs: Judged) -> float | None:
            is_held_out = np.isin(pairs.documents, held_out)
            sensitivity, specificity = measures.rates(pairs.of(~is_held_out))
            if sensitivity is None or specificity is None or not is_held_out.any():
                return None
            share = float(pairs.entailed[is_held_out].mean())
            return corrected(share, sensitivity, specificity)

        def by_people(pairs: Judged) -> float | None:
            labels = pairs.labels[np.isin(pairs.documents, held_out)]
            return float(labels.mean()) if len(labels) else None

        return {
            "corrected_coverage": self.of(by_judge, "the error rates are not known, or too high"),
            "held_out_human_coverage": self.of(by_people, "only one document"),
        }
