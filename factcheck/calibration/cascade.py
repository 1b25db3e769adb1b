"""Fit the thresholds of a cascade: how much agreement with the second judge costs how much of it.

The second judge is the yardstick: what goes on to it agrees by definition, what the first judge
keeps may not. For a target agreement, the thresholds are those that send the fewest facts on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from factcheck.calibration.thresholds import (
    ROUNDING,
    JudgedFact,
    Thresholds,
    fit_thresholds,
    sent_held_out,
)
from factcheck.errors import InputError
from factcheck.facts import CheckResult, CoverageReport, FactSet, Verdict, digest
from factcheck.reports.page import Alert, Page, Section, Table, entries
from factcheck.reports.report import Report
from factcheck.reports.text import percent, plural, short, short_range
from factcheck.scoring.comparison import Run, read_reports
from factcheck.settings import LOCAL
from factcheck.stats.intervals import Estimate, share_interval

TARGETS = (0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 0.99, 1.0)
"""Target agreements of the curve."""


@dataclass(frozen=True, slots=True)
class CascadePoint:
    """What a cascade does on documents that its thresholds were not fitted on."""

    target: float
    """Agreement that the thresholds were fitted to, in [0, 1]."""
    sent: Estimate
    """Share of the facts that go on to the second judge."""
    agreement: Estimate
    """Share of the facts on which the cascade says what the second judge says."""
    thresholds: Thresholds
    """Fitted on all documents."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "sent": self.sent.to_dict(),
            "agreement": self.agreement.to_dict(),
            **self.thresholds._asdict(),
        }


@dataclass(frozen=True, slots=True, repr=False)
class CascadeFit(Report):
    """The thresholds of a cascade for a target agreement, and what other targets cost."""

    first: str
    second: str
    n_facts: int
    """Facts with a verdict of the second judge."""
    n_documents: int
    n_undecided: int
    """Facts without a verdict of the second judge, or not judged by both; left out."""
    alone: Estimate
    """Agreement of the first judge alone, where it has a verdict."""
    chosen: CascadePoint
    """The point of the target that was asked for."""
    curve: tuple[CascadePoint, ...]
    """The points of rising targets, that one included; the first judge alone reaches no target
    below them."""

    @property
    def name(self) -> str:
        """The fitted cascade as a judge: `cascade(FIRST, SECOND, low=..., high=...)`."""
        return f"cascade({self.first}, {self.second}, {_settings(self.chosen.thresholds)})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "judge": self.name,
            "facts": self.n_facts,
            "documents": self.n_documents,
            "undecided": self.n_undecided,
            "alone": self.alone.to_dict(),
            "chosen": self.chosen.to_dict(),
            "curve": [point.to_dict() for point in self.curve],
        }

    def page(self) -> Page:
        chosen, alone = self.chosen, self.alone
        agreement = short(chosen.agreement.value)
        lines = [
            f"the first judge alone agrees in {short(alone.value)} ({short_range(alone.interval)})"
        ]
        if self.n_undecided:
            undecided = plural(self.n_undecided, "fact")
            lines.append(f"{undecided} without verdicts of both judges, left out")
        missed = Alert(
            f"on other documents the agreement is {agreement}, below the target of "
            f"{short(chosen.target)}; set a higher target, or fit on more documents",
            "unknown",
        )
        is_missed = (chosen.agreement.value or 0.0) < chosen.target - ROUNDING
        table = Table(
            ("target", "sent", "95 %", "agreement", "95 % ", "thresholds"),
            tuple(map(_row, self.curve)),
            dispensable=("95 %",),
        )
        return Page(
            "Cascade",
            _settings(chosen.thresholds),
            f"{percent(chosen.sent.value or 0.0)} of {plural(self.n_facts, 'fact')} go on, "
            f"agreement {agreement} (target {short(chosen.target)})",
            f"95 % interval of the agreement {short_range(chosen.agreement.interval)}, over "
            f"{plural(self.n_documents, 'document')}",
            tuple(lines),
            sections=(
                Section(
                    "Agreement with the second judge against share sent",
                    meaning="on documents that the thresholds were not fitted on",
                    table=table,
                ),
            ),
            footer=entries(("Judge", self.name)),
            alerts=(missed,) if is_missed else (),
            columns=("target", "sent", "agreement", "low", "high"),
            rows=lambda: [
                {
                    "target": point.target,
                    "sent": point.sent.value,
                    "agreement": point.agreement.value,
                    **point.thresholds._asdict(),
                }
                for point in self.curve
            ],
        )


def _settings(thresholds: Thresholds) -> str:
    low, high = (repr(value).removesuffix(".0") for value in thresholds)
    return f"low={low}, high={high}"


def _row(point: CascadePoint) -> tuple[str, ...]:
    both = (point.sent, point.agreement)
    cells = (cell for one in both for cell in (short(one.value), short_range(one.interval)))
    return short(point.target), *cells, _settings(point.thresholds)


def fit_cascade(
    first: Run,
    second: Run,
    *,
    target: float = 0.95,
) -> CascadeFit:
    """Fit the thresholds of a cascade from the verdicts of both its judges on the same facts.

    Args:
        first: Reports by the first judge: a file of rows that `factcheck run --out` wrote, reports
            by the name of their record, or a list of reports in the order of the records.
        second: The same records and facts, by the second judge. Facts are paired by their text.
        target: Share of the facts, in (0, 1], on which the cascade is to say what the second judge
            says: entailed, or not.

    Returns:
        The fit. A document is a source, or a list of facts where the source is not known.

    Raises:
        InputError: A run cannot be read, the two share too little, or the first judge gives no
            probabilities.
    """
    runs = [read_reports(run) for run in (first, second)]
    documents = {name: _document(report.facts) for name, report in runs[0].items()}
    ours, theirs = (
        {(name, *key): result for name in run for key, result in run[name].by_fact.items()}
        for run in runs
    )
    facts = []
    for key, result in theirs.items():
        own = ours.get(key)
        if own is not None and isinstance(result, Verdict):
            facts.append(JudgedFact(documents[key[0]], *_answer(own), result.supported))
    if not facts:
        raise InputError(
            "the two runs share no fact that the second judge decided; let both judge the same "
            "records, with the same --extractor or with facts"
        )
    return fit_judged(
        facts,
        *map(_judge, runs),
        target=target,
        n_undecided=len(ours.keys() | theirs.keys()) - len(facts),
    )


def _answer(result: CheckResult) -> tuple[bool | None, float | None]:
    return (result.supported, result.probability) if isinstance(result, Verdict) else (None, None)


def _judge(run: Mapping[str, CoverageReport]) -> str:
    """The name of the judge of a run; that of the embedded one without its version."""
    names = (dict(report.signature.entries).get("judge", "") for report in run.values())
    name = next(filter(None, names), "judge")
    return LOCAL if name.startswith(f"{LOCAL}/") else name


def _document(facts: FactSet) -> str:
    return facts.source_digest or digest("\n".join(fact.text for fact in facts))


def fit_judged(
    facts: Sequence[JudgedFact],
    first: str = "first",
    second: str = "second",
    *,
    target: float = 0.95,
    n_undecided: int = 0,
) -> CascadeFit:
    """Fit the thresholds of a cascade from facts that both judges have judged; see `fit_cascade`.

    Args:
        facts: The facts; of at least two documents.
        first: Name of the first judge.
        second: Name of the second judge.
        target: As in `fit_cascade`.
        n_undecided: Facts that were left out.
    """
    if not 0.0 < target <= 1.0:
        raise InputError(f"the target agreement must be in (0, 1], not {target!r}")
    if not any(fact.probability is not None for fact in facts):
        raise InputError(
            f"{first} gives no probabilities, so there is nothing to fit: a cascade keeps all its "
            "verdicts"
        )
    documents = {fact.document for fact in facts}
    if len(documents) < 2:  # noqa: PLR2004 - one to fit on, one to measure on
        raise InputError(
            "the facts are all of one document; thresholds are fitted on some documents and "
            "measured on others"
        )
    decided = [fact for fact in facts if fact.first is not None]
    alone = _estimate(decided, [fact.first == fact.second for fact in decided])
    targets = sorted({target, *(one for one in TARGETS if one > (alone.value or 0.0))})
    curve = [_point(facts, one) for one in targets]
    return CascadeFit(
        first,
        second,
        len(facts),
        len(documents),
        n_undecided,
        alone,
        curve[targets.index(target)],
        tuple(curve),
    )


def _point(facts: Sequence[JudgedFact], target: float) -> CascadePoint:
    sent = sent_held_out(facts, target)
    agrees = [
        goes_on or fact.first == fact.second for fact, goes_on in zip(facts, sent, strict=True)
    ]
    return CascadePoint(
        target, _estimate(facts, sent), _estimate(facts, agrees), fit_thresholds(facts, target)
    )


def _estimate(facts: Sequence[JudgedFact], hits: Sequence[bool]) -> Estimate:
    """The share of hits with an interval by document."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for fact, hit in zip(facts, hits, strict=True):
        counts[fact.document][0] += 1
        counts[fact.document][1] += hit
    if not facts:
        return Estimate(None, why="no verdict")
    return Estimate(
        sum(hits) / len(facts), share_interval([(n, hit) for n, hit in counts.values()])
    )
