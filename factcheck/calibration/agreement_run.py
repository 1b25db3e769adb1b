"""Agreement of judges with human labels, in metrics with intervals, and its report."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from factcheck.calibration import agreement_metrics as metrics
from factcheck.calibration.agreement_labels import Answer, LabelledPair, read_pairs
from factcheck.calibration.agreement_metrics import Decisions
from factcheck.calibration.texts import (
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
from factcheck.reports.page import Alert, Page, Section, Table
from factcheck.reports.report import Report
from factcheck.reports.text import percent, plural, short, short_range
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.scoring import FactCoverage
from factcheck.stats.intervals import Estimate, kendall, pearson
from factcheck.stats.resampling import bootstrap_groups

_ALIKE = "all labels are equal"
_NO_PROBABILITIES = "the judge gives no probabilities"
_SHOWN = {
    "balanced_accuracy": "balanced accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "auroc": "AUROC",
    "corrected_coverage": "corrected",
    "pearson": "Pearson",
    "kendall": "Kendall",
}
"""Metrics that may be undefined, by their names in tables."""
_MAX_NAMES = 3


_VERDICTS = {
    "facts": "n_pairs",
    "balanced accuracy": "balanced_accuracy",
    "95 %": "balanced_accuracy",
    "over words": "over_baseline",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "AUROC": "auroc",
    "calibration error": "calibration_error",
}
_COVERAGE = {
    "mean": "coverage human_coverage",
    "corrected": "corrected_coverage held_out_human_coverage",
    "95 %": "corrected_coverage",
    "Pearson": "pearson",
    "Kendall": "kendall",
    "of docs": "n_correlated",
}
"""Columns by title, with the count or the metrics shown."""


async def aagreement(
    data: str | PathLike[str] | Iterable[LabelledPair],
    judges: Named[Judge] = ("local",),
    *,
    budget: Budget | None = None,
    n_resamples: int = 500,
) -> AgreementReport:
    """Compare judges with human labels of facts and texts, with word containment as baseline.

    Args:
        data: A file (see `read_pairs`), or pairs.
        judges: Anything `FactCoverage` takes as a judge, or a `FactCoverage` itself; a mapping
            gives them names. Word containment is always included.
        budget: Limits for each judge.
        n_resamples: Resamples of the documents behind each interval; 0 for no intervals.

    Raises:
        InputError: The data cannot be read, or an argument is invalid.
        ConfigError: A judge is unknown, or a key is missing.
    """
    pairs = read_pairs(data) if isinstance(data, (str, PathLike)) else list(data)
    if not pairs:
        raise InputError("there are no labelled pairs")
    checkers = named_judges(judges)
    require_unique("judge", [*(name for name, _ in checkers), BASELINE])

    measure = partial(measure_agreement, n_resamples=n_resamples)
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
) -> JudgeAgreement:
    """All metrics of one judge, from one answer for each pair; see `agreement` for the settings.

    `baseline` holds the answers of word containment on the same pairs.
    """
    places = [place for place, answer in enumerate(answers) if answer.entailed is not None]
    decided = [pairs[place] for place in places]
    rows = _decisions(
        decided, [answers[place] for place in places], baseline and [baseline[n] for n in places]
    )
    texts = _coverages(decided, rows)
    numbers = list(range(len(np.unique(rows.documents))))
    random.Random(0).shuffle(numbers)  # noqa: S311 - repeatable
    half = numbers[::2]

    def estimate(metric: Callable[[Decisions], float | None], why: str = _ALIKE) -> Estimate:
        """A metric with its interval over documents, or why it is undefined."""
        if not len(rows.labels):
            return Estimate(None, why="nothing was decided")
        value = metric(rows)
        if value is None:
            return Estimate(None, why=why)
        interval = bootstrap_groups(
            rows.documents, lambda drawn: metric(rows.of(drawn)), n_resamples, seed=0
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
        n_correlated=len(metrics.comparable(texts)),
        failure=next((answer.why for answer in answers if answer.entailed is None), ""),
    )


def _decisions(
    pairs: Sequence[LabelledPair], answers: Sequence[Answer], words: Sequence[Answer] | None
) -> Decisions:
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


def _coverages(pairs: Sequence[LabelledPair], rows: Decisions) -> metrics.Coverages:
    places: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        places[pair.document, pair.system, pair.text].append(place)
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (document, _, _), of in places.items():
        found[document].append((float(rows.entailed[of].mean()), float(rows.labels[of].mean())))
    return found


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one judge with human labels."""

    judge: str
    metrics: Mapping[str, Estimate]
    """By name:

    - `balanced_accuracy`, `sensitivity`, `specificity`: of its verdicts.
    - `baseline_accuracy`: the balanced accuracy of word containment on the same pairs;
      `over_baseline`: that of the judge minus it.
    - `auroc`, `calibration_error`: of its probabilities.
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
    n_correlated: int
    """Documents behind `pearson` and `kendall`: those with three texts or more."""
    failure: str
    """Why verdicts are missing, the first time."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "undecided": self.n_undecided,
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "correlated_documents": self.n_correlated,
            "failure": self.failure,
        }


@dataclass(frozen=True, slots=True, repr=False)
class AgreementReport(Report):
    """The agreement of judges with human labels, on the same labelled pairs."""

    judges: tuple[JudgeAgreement, ...]
    """In the order given, the baseline last."""
    n_documents: int
    n_pairs: int
    share_entailed: float
    """Share of the pairs with the human label entailed."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "share_entailed": self.share_entailed,
            "judges": [judge.to_dict() for judge in self.judges],
        }

    def page(self) -> Page:
        return Page(
            "Agreement with human labels",
            counts=(
                f"{plural(self.n_pairs, 'fact')}, {plural(self.n_documents, 'document')}, "
                f"{percent(self.share_entailed)} entailed"
            ),
            alerts=tuple(Alert(note, "unknown") for note in self._notes()),
            sections=(
                Section(
                    "Verdicts",
                    legend=("over words: balanced accuracy beyond word containment",),
                    table=self._table(_VERDICTS, "facts", "calibration error", "AUROC"),
                ),
                Section(
                    "Coverage",
                    legend=(
                        "by the judge / by humans; of docs: documents behind the correlations",
                        "corrected on one half of the documents for the error rates on the other",
                    ),
                    table=self._table(_COVERAGE, "95 %", "Pearson"),
                ),
            ),
            columns=("judge", "metric", "value", "low", "high", "why"),
            rows=self._rows,
        )

    def _table(self, columns: Mapping[str, str], *dispensable: str) -> Table:
        rows = (
            (one.judge, *(_cell(one, *column) for column in columns.items())) for one in self.judges
        )
        return Table(("judge", *columns), tuple(rows), dispensable=dispensable)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for judge in self.judges:
            for name, one in judge.metrics.items():
                low, high = one.interval or (None, None)
                values = {"value": one.value, "low": low, "high": high, "why": one.why}
                yield {"judge": judge.judge, "metric": name, **values}

    def _notes(self) -> Iterator[str]:
        for judge in self.judges:
            if judge.n_undecided:
                why = f" ({judge.failure})" if judge.failure else ""
                undecided = plural(judge.n_undecided, "fact")
                yield f"{judge.judge}: {undecided} undecided, outside every metric{why}"
        lacking: dict[tuple[str, str], list[str]] = {}
        for judge in self.judges:
            for why, own in _undefined(judge).items():
                lacking.setdefault((", ".join(own), why), []).append(judge.judge)
        for (names, why), judges in lacking.items():
            shown = ", ".join(judges) if len(judges) <= _MAX_NAMES else f"{len(judges)} judges"
            yield f"{names} of {shown}: undefined, {why}"


def _undefined(judge: JudgeAgreement) -> dict[str, list[str]]:
    """The undefined metrics of a judge, by reason."""
    reasons: dict[str, list[str]] = {}
    for name, label in _SHOWN.items():
        one = judge.metrics[name]
        if one.value is None and one.why != _NO_PROBABILITIES:
            reasons.setdefault(one.why, []).append(label)
    return reasons


def _cell(judge: JudgeAgreement, column: str, names: str) -> str:
    """A count, or the values of metrics, or the interval of one."""
    if names.startswith("n_"):
        return f"{getattr(judge, names):,}"
    found = [judge.metrics[name] for name in names.split()]
    with_sign = names == "over_baseline"
    if column == "95 %":
        return short_range(found[0].interval, with_sign=with_sign)
    return " / ".join(short(one.value, with_sign=with_sign) for one in found)
