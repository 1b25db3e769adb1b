"""Agreement of judges with human labels, in metrics with intervals."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from os import PathLike

from factcheck.calibration import agreement_metrics as metrics
from factcheck.calibration.agreement_labels import (
    Answer,
    LabelledPair,
    Partly,
    RecordedVerdict,
    match_recorded,
    read_pairs,
    read_recorded,
)
from factcheck.calibration.agreement_metrics import Array, Decisions, TextCoverage
from factcheck.calibration.agreement_report import AgreementReport, JudgeAgreement
from factcheck.calibration.containment import BASELINE, WordContainment
from factcheck.calibration.judges import (
    Judge,
    Named,
    blocking,
    check_texts,
    named_judges,
    open_scorer,
    require_unique,
)
from factcheck.errors import InputError
from factcheck.facts import Verdict
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import together
from factcheck.scoring import FactCoverage
from factcheck.stats import Estimate, bootstrap_groups

N_RESAMPLES = 500
DIFFERENCE = 0.05
_ALIKE = "all labels are equal"
_NO_PROBABILITIES = "the judge gives no probabilities"
_NO_BASELINE = "this is the baseline, or it was not run"
_Metric = Callable[[Decisions], float | None]


@dataclass(frozen=True)
class MetricSettings:
    """Settings of the metrics; see `agreement`."""

    difference: float = DIFFERENCE
    n_resamples: int = N_RESAMPLES
    seed: int = 0


DEFAULTS = MetricSettings()


async def aagreement(
    data: str | PathLike[str] | Iterable[LabelledPair],
    judges: Named[Judge] = ("local",),
    *,
    replies: str | PathLike[str] | Iterable[RecordedVerdict] = (),
    partly: Partly = "not_covered",
    difference: float = DIFFERENCE,
    budget: Budget | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> AgreementReport:
    """Compare judges with human labels of facts and texts, with word containment as baseline.

    Args:
        data: A file (see `read_pairs`), or pairs.
        judges: Anything `FactCoverage` takes as a judge, or a `FactCoverage` itself; a mapping
            gives them names. Word containment is always included.
        replies: Recorded verdicts of further judges (see `read_recorded`); each is measured on the
            labelled pairs that it answered.
        partly: How partly covered facts are treated (see `read_pairs`).
        difference: Difference of the mean coverage, in (0, 1), for which the number of documents
            needed is computed.
        budget: Limits for each judge.
        n_resamples: Resamples of the documents behind each interval; 0 for no intervals.
        seed: Random seed of the resamples, and of the halves of the documents.

    Raises:
        InputError: The data cannot be read, or an argument is invalid.
        ConfigError: A judge is unknown, or a key is missing.
    """
    if not 0 < difference < 1:
        raise InputError(f"the difference must be between 0 and 1, not {difference!r}")
    settings = MetricSettings(difference, n_resamples, seed)
    pairs = read_pairs(data, partly=partly) if isinstance(data, (str, PathLike)) else list(data)
    if not pairs:
        raise InputError("there are no labelled pairs")
    verdicts = read_recorded(replies) if isinstance(replies, (str, PathLike)) else list(replies)
    recorded, n_unmatched = match_recorded(verdicts, pairs)
    asked = named_judges(judges)
    names = [*(name for name, _ in asked), *(one.judge for one in recorded), BASELINE]
    require_unique("judge", names)

    words = FactCoverage(WordContainment())
    by_words = await _answers(words, pairs)
    found = []
    for name, judge in asked:
        async with AsyncExitStack() as stack:
            answers = await _answers(await open_scorer(judge, budget, stack), pairs)
        found.append(measure_agreement(name, pairs, answers, by_words, settings))
    for judge, seen, replied in recorded:
        baseline = await _answers(words, seen)
        found.append(measure_agreement(judge, seen, replied, baseline, settings))
    found.append(measure_agreement(BASELINE, pairs, by_words, None, settings))
    return AgreementReport(
        judges=tuple(found),
        n_documents=len({pair.document for pair in pairs}),
        n_pairs=len(pairs),
        share_entailed=sum(pair.label for pair in pairs) / len(pairs),
        n_unmatched=n_unmatched,
    )


agreement = blocking(aagreement)


async def _answers(scorer: FactCoverage, pairs: Sequence[LabelledPair]) -> list[Answer]:
    """One answer for each pair; the facts of one text are checked together."""
    by_text: dict[str, dict[str, list[int]]] = {}
    for place, pair in enumerate(pairs):
        by_text.setdefault(pair.text, {}).setdefault(pair.fact, []).append(place)
    answers: list[Answer] = [Answer(None)] * len(pairs)

    async def one(text: str, places: dict[str, list[int]]) -> None:
        for result in await check_texts(scorer, list(places), text):
            for place in places[result.fact.text]:
                answers[place] = (
                    Answer(result.supported, result.probability)
                    if isinstance(result, Verdict)
                    else Answer(None, why=result.message)
                )

    await together(one(text, places) for text, places in by_text.items())
    return answers


def measure_agreement(
    judge: str,
    pairs: Sequence[LabelledPair],
    answers: Sequence[Answer],
    baseline: Sequence[Answer] | None = None,
    settings: MetricSettings = DEFAULTS,
) -> JudgeAgreement:
    """All metrics of one judge.

    Args:
        judge: Its name.
        pairs: The labelled pairs.
        answers: One for each pair.
        baseline: The answers of word containment on the same pairs.
        settings: Settings of the metrics.
    """
    decided = [
        (pair, answer)
        for pair, answer in zip(pairs, answers, strict=True)
        if answer.entailed is not None
    ]
    decisions = _decisions(decided)
    if baseline is not None:
        decisions = decisions._replace(baseline=_decided_by_words(answers, baseline))
    texts = _texts(decided)
    measured = _Measured(decisions, settings)
    thresholds, tuned = measured.tuned()
    return JudgeAgreement(
        judge=judge,
        metrics={
            "balanced_accuracy": measured.estimate(metrics.balanced_accuracy),
            "sensitivity": measured.estimate(lambda rows: metrics.rates(rows)[0]),
            "specificity": measured.estimate(lambda rows: metrics.rates(rows)[1]),
            "baseline_accuracy": measured.of_baseline(metrics.baseline_accuracy),
            "over_baseline": measured.of_baseline(metrics.over_baseline),
            "kappa": measured.estimate(metrics.kappa, "chance alone always agrees"),
            "auroc": measured.of_probabilities(metrics.auroc),
            "tuned_accuracy": tuned,
            "calibration_error": measured.of_probabilities(metrics.calibration_error),
            "pearson": metrics.correlation(texts, "pearson"),
            "kendall": metrics.correlation(texts, "kendall"),
            "coverage": metrics.mean_coverage(texts, lambda text: text.judge_score),
            "human_coverage": metrics.mean_coverage(texts, lambda text: text.human_score),
            **measured.corrected(),
        },
        n_documents=len({pair.document for pair, _ in decided}),
        n_pairs=len(decided),
        n_undecided=len(pairs) - len(decided),
        thresholds=thresholds,
        curve=tuple(metrics.calibration_bins(decisions)),
        needed=metrics.documents_needed(texts, settings.difference),
        n_correlated=metrics.n_comparable(texts),
        failure=next((answer.why for answer in answers if answer.entailed is None), ""),
    )


def _decisions(decided: Sequence[tuple[LabelledPair, Answer]]) -> Decisions:
    import numpy as np

    numbers: dict[str, int] = {}
    given = [answer.probability for _, answer in decided]
    is_complete = bool(given) and None not in given
    return Decisions(
        labels=np.array([pair.label for pair, _ in decided], dtype=bool),
        entailed=np.array([answer.entailed for _, answer in decided], dtype=bool),
        probabilities=np.array(given, dtype=float) if is_complete else None,
        documents=np.array(
            [numbers.setdefault(pair.document, len(numbers)) for pair, _ in decided], dtype=int
        ),
    )


def _decided_by_words(answers: Sequence[Answer], baseline: Sequence[Answer]) -> Array:
    """The baseline's answers on the pairs that the judge decided."""
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
            sum(human for _, human in both) / len(both),
            len(both),
        )
        for (document, system, _), both in groups.items()
    ]


class _Measured:
    """Metrics of one judge's decisions, with intervals over documents."""

    def __init__(self, decisions: Decisions, settings: MetricSettings) -> None:
        self._decisions = decisions
        self._settings = settings

    def estimate(self, metric: _Metric, why: str = _ALIKE) -> Estimate:
        decisions = self._decisions
        if not len(decisions.labels):
            return Estimate(None, why="nothing was decided")
        value = metric(decisions)
        if value is None:
            return Estimate(None, why=why)
        interval = bootstrap_groups(
            decisions.documents,
            lambda rows: metric(decisions.of(rows)),
            n_resamples=self._settings.n_resamples,
            seed=self._settings.seed,
        )
        return Estimate(value, interval)

    def of_probabilities(self, metric: _Metric) -> Estimate:
        missing = self._decisions.probabilities is None
        return self.estimate(metric, _NO_PROBABILITIES if missing else _ALIKE)

    def of_baseline(self, metric: _Metric) -> Estimate:
        return self.estimate(metric, _NO_BASELINE if self._decisions.baseline is None else _ALIKE)

    def _halves(self) -> tuple[Array, Array]:
        """The pairs of each half of the documents, as masks."""
        import numpy as np

        documents = sorted(set(self._decisions.documents.tolist()))
        random.Random(self._settings.seed).shuffle(documents)  # noqa: S311 - repeatable
        first = np.isin(self._decisions.documents, documents[::2])
        return first, ~first

    def tuned(self) -> tuple[tuple[float, ...], Estimate]:
        """The thresholds of both halves, and the accuracy with each on the other half."""
        decisions = self._decisions
        if decisions.probabilities is None:
            return (), Estimate(None, why=_NO_PROBABILITIES)
        first, second = self._halves()
        thresholds = [metrics.best_threshold(decisions.of(half)) for half in (first, second)]
        if None in thresholds:
            return (), Estimate(None, why="all labels in one half of the documents are equal")
        entailed = decisions.entailed.copy()
        for half, threshold in zip((second, first), thresholds, strict=True):
            entailed[half] = decisions.probabilities[half] >= threshold
        tuned = _Measured(decisions._replace(entailed=entailed), self._settings)
        return tuple(t for t in thresholds if t is not None), tuned.estimate(
            metrics.balanced_accuracy
        )

    def corrected(self) -> dict[str, Estimate]:
        """Coverage of the second half of the documents, corrected by the errors on the first."""
        import numpy as np

        held_out = np.unique(self._decisions.documents[self._halves()[1]])

        def corrected_coverage(pairs: Decisions) -> float | None:
            is_held_out = np.isin(pairs.documents, held_out)
            sensitivity, specificity = metrics.rates(pairs.of(~is_held_out))
            if sensitivity is None or specificity is None or not is_held_out.any():
                return None
            share = float(pairs.entailed[is_held_out].mean())
            return metrics.corrected_share(share, sensitivity, specificity)

        def human_coverage(pairs: Decisions) -> float | None:
            labels = pairs.labels[np.isin(pairs.documents, held_out)]
            return float(labels.mean()) if len(labels) else None

        why = "the error rates are unknown, or too high"
        return {
            "corrected_coverage": self.estimate(corrected_coverage, why),
            "held_out_human_coverage": self.estimate(human_coverage, "only one document"),
        }
