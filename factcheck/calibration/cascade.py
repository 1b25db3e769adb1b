"""Fit the thresholds of a cascade: how much agreement with the second judge costs how much of it.

The second judge is the yardstick: what goes on to it agrees by definition, what the first judge
keeps may not. For a target agreement, the thresholds are those that send the fewest facts on.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from factcheck.calibration.conclusions import figure_text
from factcheck.errors import InputError
from factcheck.facts import CoverageReport, Verdict, digest
from factcheck.reports import Report
from factcheck.reports.page import Alert, Page, entries
from factcheck.reports.text import percent, plural, short, short_range
from factcheck.scoring.comparison import Run, read_reports
from factcheck.settings import LOCAL
from factcheck.stats.intervals import Estimate, share_interval

_MAX_FOLDS = 10
_ROUNDING = 1e-9
"""Shares that do not come out exactly in binary must not miss a target."""


class JudgedFact(NamedTuple):
    """A fact and a text on which both judges gave their verdict."""

    document: str
    """Facts of one document are not independent."""
    first: bool | None
    """Whether the first judge says entailed; `None`: it has no verdict, so the fact goes on."""
    probability: float | None
    """Of the first judge, in [0, 1]; without one its verdict stands."""
    second: bool
    """Whether the second judge says entailed."""


class Thresholds(NamedTuple):
    """The first judge keeps what is not strictly between them."""

    low: float
    high: float

    def __str__(self) -> str:
        low, high = (repr(value).removesuffix(".0") for value in self)
        return f"low={low}, high={high}"


@dataclass(frozen=True, slots=True, repr=False)
class CascadeFit(Report):
    """The thresholds of a cascade for a target agreement, and what it does on other documents."""

    DERIVED = ("name",)
    first: str
    second: str
    n_facts: int
    """Facts with a verdict of the second judge."""
    n_documents: int
    n_undecided: int
    """Facts without a verdict of the second judge, or not judged by both; left out."""
    alone: Estimate
    """Agreement of the first judge alone, where it has a verdict."""
    target: float
    """Agreement that the thresholds were fitted to, in [0, 1]."""
    sent: Estimate
    """Share of the facts that go on to the second judge; as `agreement`, on documents that the
    thresholds were not fitted on."""
    agreement: Estimate
    """Share of the facts on which the cascade says what the second judge says."""
    thresholds: Thresholds
    """Fitted on all documents."""

    @property
    def name(self) -> str:
        """The fitted cascade as a judge: `cascade(FIRST, SECOND, low=..., high=...)`."""
        return f"cascade({self.first}, {self.second}, {self.thresholds})"

    def page(self) -> Page:
        agreement = short(self.agreement.value)
        alerts: tuple[Alert, ...] = ()
        lines = [
            f"{figure_text(self.sent, short)} of the facts go on",
            f"the first judge alone agrees in {figure_text(self.alone, short)}",
        ]
        if self.n_undecided:
            undecided = plural(self.n_undecided, "fact")
            lines.append(f"{undecided} without verdicts of both judges, left out")
        if (self.agreement.value or 0.0) < self.target - _ROUNDING:
            missed = (
                f"on other documents the agreement is {agreement}, below the target of "
                f"{short(self.target)}; set a higher target, or fit on more documents"
            )
            alerts = (Alert(missed, "unknown"),)
        return Page(
            "Cascade",
            str(self.thresholds),
            f"{percent(self.sent.value or 0.0)} of {plural(self.n_facts, 'fact')} go on, "
            f"agreement {agreement} (target {short(self.target)})",
            f"95 % interval of the agreement {short_range(self.agreement.interval)}, over "
            f"{plural(self.n_documents, 'document')}",
            tuple(lines),
            footer=entries(("Judge", self.name)),
            alerts=alerts,
            columns=("judge", "target", "sent", "agreement", "low", "high"),
            rows=lambda: [
                {
                    "judge": self.name,
                    "target": self.target,
                    "sent": self.sent.value,
                    "agreement": self.agreement.value,
                    **self.thresholds._asdict(),
                }
            ],
        )


def fit_cascade(first: Run, second: Run, *, target: float = 0.95) -> CascadeFit:
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
    runs = [read_reports(run)[0] for run in (first, second)]
    ours, theirs = (
        {(name, *key): result for name in run for key, result in run[name].by_fact.items()}
        for run in runs
    )
    facts = []
    for key, result in theirs.items():
        own = ours.get(key)
        if own is not None and isinstance(result, Verdict):
            source = runs[0][key[0]].facts
            document = source.source_digest or digest("\n".join(fact.text for fact in source))
            first_says, probability = None, None
            if isinstance(own, Verdict):
                first_says, probability = own.supported, own.probability
            facts.append(JudgedFact(document, first_says, probability, result.supported))
    if not facts:
        raise InputError(
            "the two runs share no fact that the second judge decided; let both judge the same "
            "records, with the same --extractor or with facts"
        )
    n_undecided = len(ours.keys() | theirs.keys()) - len(facts)
    return fit_judged(facts, *map(_judge, runs), target=target, n_undecided=n_undecided)


def _judge(run: Mapping[str, CoverageReport]) -> str:
    """The name of the judge of a run; that of the embedded one without its version."""
    names = (dict(report.signature.entries).get("judge", "") for report in run.values())
    name = next(filter(None, names), "judge")
    return LOCAL if name.startswith(f"{LOCAL}/") else name


def fit_judged(
    facts: Sequence[JudgedFact],
    first: str = "first",
    second: str = "second",
    *,
    target: float = 0.95,
    n_undecided: int = 0,
) -> CascadeFit:
    """Fit the thresholds of a cascade from facts of two documents or more; see `fit_cascade`.

    `n_undecided` facts were left out.
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
    sent = sent_held_out(facts, target)
    agrees = [on or fact.first == fact.second for fact, on in zip(facts, sent, strict=True)]
    return CascadeFit(
        first,
        second,
        len(facts),
        len(documents),
        n_undecided,
        alone,
        target,
        _estimate(facts, sent),
        _estimate(facts, agrees),
        fit_thresholds(facts, target),
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


def sent_held_out(facts: Sequence[JudgedFact], target: float) -> list[bool]:
    """Which facts go on, each by thresholds that were fitted on other documents.

    The documents are split at random into up to ten folds.
    """
    documents = sorted({fact.document for fact in facts})
    random.Random(0).shuffle(documents)  # noqa: S311 - repeatable, not secret
    n_folds = min(_MAX_FOLDS, len(documents))
    fold = {document: place % n_folds for place, document in enumerate(documents)}
    fits = [
        fit_thresholds([fact for fact in facts if fold[fact.document] != number], target)
        for number in range(n_folds)
    ]
    sent = []
    for fact in facts:
        low, high = fits[fold[fact.document]]
        is_between = fact.probability is not None and low < fact.probability < high
        sent.append(fact.first is None or is_between)
    return sent


def fit_thresholds(facts: Sequence[JudgedFact], target: float) -> Thresholds:
    """The thresholds that send the fewest facts on while the cascade agrees in `target` of them.

    Where nothing reaches the target, all go on but those of probability 0 and 1.
    """
    n_wrong_allowed = math.floor((1.0 - target) * len(facts) + _ROUNDING)
    at: dict[float, list[int]] = defaultdict(lambda: [0, 0, 0])
    for fact in facts:
        is_wrong = fact.first != fact.second
        if fact.first is not None and fact.probability is None:
            n_wrong_allowed -= is_wrong
        elif fact.first is not None and fact.probability is not None:
            counts = at[fact.probability]
            at[fact.probability] = [counts[0] + 1, counts[1] + is_wrong, counts[2] + fact.first]
    values = sorted(at)
    n = len(values)
    # of the i lowest values: facts, wrong ones, entailed ones; above: of those from the j-th on
    below = np.cumsum([[0, 0, 0], *(at[value] for value in values)], axis=0)
    above = below[-1] - below
    first, last = int(0.0 in at), n - int(1.0 in at)
    lowest = np.searchsorted(below[:, 1], below[:, 1] + above[0, 1] - n_wrong_allowed)
    ways = []
    for i in range(first, n + 1):
        j = max(i, min(int(lowest[i]), last))
        n_kept, n_wrong, _ = below[i] + above[j]
        if n_wrong <= n_wrong_allowed:
            # of equals, the one that keeps few entailed facts for their low probability
            ways.append((n_kept, -n_wrong, -below[i, 2], i, j))
    *_, i, j = max(ways, default=(first, max(first, last)))
    return Thresholds(_between(values, i), _between(values, j))


def _between(values: Sequence[float], place: int) -> float:
    """The shortest decimal between the values before and at a place; 0 or 1 at the ends."""
    if place in {0, len(values)}:
        return float(place > 0)
    below, above = values[place - 1], values[place]
    candidates = ((math.floor(below * 10**n) + 1) / 10**n for n in range(1, 17))
    return next((value for value in candidates if below < value < above), (below + above) / 2)
