"""Agreement of judges with human labels, in metrics with intervals."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from os import PathLike

from factcheck.calibration import agreement_metrics as metrics
from factcheck.calibration.agreement_labels import (
    Answer,
    LabelledPair,
    Partly,
    read_pairs,
)
from factcheck.calibration.agreement_metrics import Decisions, TextCoverage
from factcheck.calibration.agreement_report import AgreementReport, JudgeAgreement
from factcheck.calibration.judges import (
    Judge,
    Named,
    check_texts,
    named_judges,
    open_scorer,
    require_unique,
)
from factcheck.errors import InputError
from factcheck.facts import Verdict
from factcheck.judges.local.containment import BASELINE, WordContainment
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.scoring import FactCoverage
from factcheck.stats.intervals import Estimate, kendall, pearson
from factcheck.stats.resampling import bootstrap_groups

_ALIKE = "all labels are equal"
_NO_PROBABILITIES = "the judge gives no probabilities"


async def aagreement(
    data: str | PathLike[str] | Iterable[LabelledPair],
    judges: Named[Judge] = ("local",),
    *,
    partly: Partly = "not_covered",
    budget: Budget | None = None,
    n_resamples: int = 500,
    seed: int = 0,
) -> AgreementReport:
    """Compare judges with human labels of facts and texts, with word containment as baseline.

    Args:
        data: A file (see `read_pairs`), or pairs.
        judges: Anything `FactCoverage` takes as a judge, or a `FactCoverage` itself; a mapping
            gives them names. Word containment is always included.
        partly: How partly covered facts are treated (see `read_pairs`).
        budget: Limits for each judge.
        n_resamples: Resamples of the documents behind each interval; 0 for no intervals.
        seed: Random seed of the resamples, and of the halves of the documents.

    Raises:
        InputError: The data cannot be read, or an argument is invalid.
        ConfigError: A judge is unknown, or a key is missing.
    """
    pairs = read_pairs(data, partly=partly) if isinstance(data, (str, PathLike)) else list(data)
    if not pairs:
        raise InputError("there are no labelled pairs")
    checkers = named_judges(judges)
    require_unique("judge", [*(name for name, _ in checkers), BASELINE])

    measure = partial(measure_agreement, n_resamples=n_resamples, seed=seed)
    by_words = await check_pairs(FactCoverage(WordContainment()), pairs)
    found = []
    for name, judge in checkers:
        async with AsyncExitStack() as stack:
            answers = await check_pairs(await open_scorer(judge, budget, stack), pairs)
        found.append(measure(name, pairs, answers, by_words))
    found.append(measure(BASELINE, pairs, by_words))
    return AgreementReport(
        judges=tuple(found),
        n_documents=len({pair.document for pair in pairs}),
        n_pairs=len(pairs),
        share_entailed=sum(pair.label for pair in pairs) / len(pairs),
    )


agreement = blocking(aagreement)


async def check_pairs(scorer: FactCoverage, pairs: Sequence[LabelledPair]) -> list[Answer]:
    """One answer for each pair; the facts of one text are checked together."""
    facts: dict[str, dict[str, None]] = {}
    for pair in pairs:
        facts.setdefault(pair.text, {})[pair.fact] = None
    checked = await together(check_texts(scorer, list(of), text) for text, of in facts.items())
    answers = {
        (text, result.fact.text): Answer(result.supported, result.probability)
        if isinstance(result, Verdict)
        else Answer(None, why=result.message)
        for text, results in zip(facts, checked, strict=True)
        for result in results
    }
    return [answers[pair.text, pair.fact] for pair in pairs]


def measure_agreement(
    judge: str,
    pairs: Sequence[LabelledPair],
    answers: Sequence[Answer],
    baseline: Sequence[Answer] | None = None,
    *,
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

    def estimate(metric: Callable[[Decisions], float | None], why: str = _ALIKE) -> Estimate:
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
        sensitivity, specificity = metrics.rates(rows.of(is_known))
        if sensitivity is None or specificity is None or is_known.all():
            return None
        return metrics.corrected_share(
            float(rows.entailed[~is_known].mean()), sensitivity, specificity
        )

    def held_out(rows: Decisions) -> float | None:
        labels = rows.labels[~np.isin(rows.documents, half)]
        return float(labels.mean()) if len(labels) else None

    unscaled = _NO_PROBABILITIES if rows.probabilities is None else _ALIKE
    alone = "this is the baseline, or it was not run" if rows.baseline is None else _ALIKE
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
            "calibration_error": estimate(metrics.calibration_error, unscaled),
            "pearson": metrics.correlation(texts, pearson),
            "kendall": metrics.correlation(texts, kendall),
            "coverage": metrics.mean_coverage(texts, "judge"),
            "human_coverage": metrics.mean_coverage(texts, "human"),
            "corrected_coverage": estimate(corrected, "the error rates are unknown, or too high"),
            "held_out_human_coverage": estimate(held_out, "only one document"),
        },
        n_documents=len(numbers),
        n_pairs=len(decided),
        n_undecided=len(pairs) - len(decided),
        curve=tuple(metrics.calibration_bins(rows)),
        n_correlated=len(metrics.comparable(texts)),
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
