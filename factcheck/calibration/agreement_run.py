"""Agreement of judges with human labels, in metrics with intervals."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
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
from factcheck.stats.intervals import Estimate
from factcheck.stats.resampling import bootstrap_groups

N_RESAMPLES = 500
DIFFERENCE = 0.05
_ALIKE = "all labels are equal"
_NO_PROBABILITIES = "the judge gives no probabilities"
_NO_BASELINE = "this is the baseline, or it was not run"
_Metric = Callable[[Decisions], float | None]
_Decided = Sequence[tuple[LabelledPair, Answer, bool | None]]
"""Pairs with the judge's answer, and whether word containment says entailed."""


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
        (pair, answer, None if baseline is None else bool(baseline[place].entailed))
        for place, (pair, answer) in enumerate(zip(pairs, answers, strict=True))
        if answer.entailed is not None
    ]
    decisions, texts = _decisions(decided), _texts(decided)
    estimate = partial(_estimate, settings, decisions)
    unscaled = _NO_PROBABILITIES if decisions.probabilities is None else _ALIKE
    alone = _NO_BASELINE if decisions.baseline is None else _ALIKE
    thresholds, tuned = _tuned(settings, decisions)
    return JudgeAgreement(
        judge=judge,
        metrics={
            "balanced_accuracy": estimate(metrics.balanced_accuracy),
            "sensitivity": estimate(lambda rows: metrics.rates(rows)[0]),
            "specificity": estimate(lambda rows: metrics.rates(rows)[1]),
            "baseline_accuracy": estimate(metrics.baseline_accuracy, alone),
            "over_baseline": estimate(metrics.over_baseline, alone),
            "kappa": estimate(metrics.kappa, "chance alone always agrees"),
            "auroc": estimate(metrics.auroc, unscaled),
            "tuned_accuracy": tuned,
            "calibration_error": estimate(metrics.calibration_error, unscaled),
            "pearson": metrics.correlation(texts, "pearson"),
            "kendall": metrics.correlation(texts, "kendall"),
            "coverage": metrics.mean_coverage(texts, lambda text: text.judge_score),
            "human_coverage": metrics.mean_coverage(texts, lambda text: text.human_score),
            **_corrected(settings, decisions),
        },
        n_documents=len({pair.document for pair, *_ in decided}),
        n_pairs=len(decided),
        n_undecided=len(pairs) - len(decided),
        thresholds=thresholds,
        curve=tuple(metrics.calibration_bins(decisions)),
        needed=metrics.documents_needed(texts, settings.difference),
        n_correlated=metrics.n_comparable(texts),
        failure=next((answer.why for answer in answers if answer.entailed is None), ""),
    )


def _decisions(decided: _Decided) -> Decisions:
    import numpy as np

    numbers: dict[str, int] = {}
    labels = [pair.label for pair, *_ in decided]
    documents = [numbers.setdefault(pair.document, len(numbers)) for pair, *_ in decided]
    probabilities = [answer.probability for _, answer, _ in decided]
    by_words = [words for *_, words in decided]
    return Decisions(
        labels=np.array(labels, dtype=bool),
        entailed=np.array([answer.entailed for _, answer, _ in decided], dtype=bool),
        probabilities=_column(probabilities, float),
        documents=np.array(documents, dtype=int),
        baseline=_column(by_words, bool),
    )


def _column(values: Sequence[object], kind: type) -> Array | None:
    """The values as an array; `None` where one is missing, or all are."""
    import numpy as np

    return np.array(values, dtype=kind) if values and None not in values else None


def _texts(decided: _Decided) -> list[TextCoverage]:
    groups: dict[tuple[str, str, str], list[tuple[bool, bool]]] = {}
    for pair, answer, _ in decided:
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


def _estimate(
    settings: MetricSettings, decisions: Decisions, metric: _Metric, why: str = _ALIKE
) -> Estimate:
    """A metric with its interval over documents, or why it is undefined."""
    if not len(decisions.labels):
        return Estimate(None, why="nothing was decided")
    value = metric(decisions)
    if value is None:
        return Estimate(None, why=why)
    interval = bootstrap_groups(
        decisions.documents,
        lambda rows: metric(decisions.of(rows)),
        n_resamples=settings.n_resamples,
        seed=settings.seed,
    )
    return Estimate(value, interval)


def _halves(settings: MetricSettings, decisions: Decisions) -> tuple[Array, Array]:
    """The pairs of each half of the documents, as masks."""
    import numpy as np

    documents = sorted(set(decisions.documents.tolist()))
    random.Random(settings.seed).shuffle(documents)  # noqa: S311 - repeatable
    first = np.isin(decisions.documents, documents[::2])
    return first, ~first


def _tuned(settings: MetricSettings, decisions: Decisions) -> tuple[tuple[float, ...], Estimate]:
    """The thresholds of both halves, and the accuracy with each on the other half."""
    if decisions.probabilities is None:
        return (), Estimate(None, why=_NO_PROBABILITIES)
    first, second = _halves(settings, decisions)
    own = metrics.best_threshold(decisions.of(first))
    other = metrics.best_threshold(decisions.of(second))
    if own is None or other is None:
        return (), Estimate(None, why="all labels in one half of the documents are equal")
    entailed = decisions.entailed.copy()
    for half, threshold in ((second, own), (first, other)):
        entailed[half] = decisions.probabilities[half] >= threshold
    tuned = decisions._replace(entailed=entailed)
    return (own, other), _estimate(settings, tuned, metrics.balanced_accuracy)


def _corrected(settings: MetricSettings, decisions: Decisions) -> dict[str, Estimate]:
    """Coverage of the second half of the documents, corrected by the errors on the first."""
    import numpy as np

    held_out = np.unique(decisions.documents[_halves(settings, decisions)[1]])

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
        "corrected_coverage": _estimate(settings, decisions, corrected_coverage, why),
        "held_out_human_coverage": _estimate(
            settings, decisions, human_coverage, "only one document"
        ),
    }
