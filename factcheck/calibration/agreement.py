"""Agreement of judges with human labels: facts and texts from files, metrics, and the report.

A metric is `None` where it is undefined: all labels equal, or a single document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from os import PathLike
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck.calibration import conclusions
from factcheck.calibration.texts import Judges, check_facts, open_judges
from factcheck.documents import PathOrDash, from_plain, to_plain
from factcheck.documents.reading import read_entries
from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult
from factcheck.judges.local.containment import BASELINE
from factcheck.reports import Report
from factcheck.reports.page import Page
from factcheck.reports.text import percent, plural, quote_text, share
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.scoring import FactCoverage
from factcheck.stats.intervals import Estimate, Interval, share_interval
from factcheck.stats.resampling import bootstrap_groups

Array = Any
"""A numpy array."""

_MEASUREMENT = conclusions.Measurement(
    "Agreement with human labels",
    {
        "sensitivity": ("found, of the facts that people find", share),
        "specificity": ("refused, of the facts that they do not find", share),
        "balanced_accuracy": ("mean of both: balanced accuracy, 0.500 is guessing", share),
    },
    meaning="in brackets: 95 % interval over documents",
)
_RIGHT: Mapping[str, tuple[bool, ...]] = {
    "balanced_accuracy": (True, False),
    "sensitivity": (True,),
    "specificity": (False,),
}
"""The labels whose shares of right verdicts a metric averages."""
COVERED = 0.75
"""Share from which a graded label (1, .5, 0) counts as entailed."""
_YES = ("stated", "entailment", "entailed", "supports", "true", "yes")
_NO = (
    "not stated", "neutral", "contradiction", "contradicted", "refutes", "not enough info", "false",
    "no",
)  # fmt: skip
_UNLABELLED = (None, "", "cannot tell")


class LabelledPair(NamedTuple):
    """A fact, a text, and whether people say that the text entails the fact."""

    document: str
    """Pairs of one document are not independent."""
    system: str
    """Author of the text; empty where there is one text per document."""
    text: str
    fact: str
    label: bool


class Decisions(NamedTuple):
    """Decided pairs as columns of equal length."""

    labels: Array
    """True where the human label is entailed."""
    entailed: Array
    """True where the judge's is."""
    documents: Array
    """The number of each pair's document, from 0."""

    @classmethod
    def of_pairs(cls, pairs: Sequence[LabelledPair], results: Sequence[CheckResult]) -> Decisions:
        """Return the columns of the pairs with a verdict."""
        both = zip(pairs, results, strict=True)
        decided = [(pair, result) for pair, result in both if result.label]
        documents = dict.fromkeys(pair.document for pair, _ in decided)
        numbers = {document: number for number, document in enumerate(documents)}
        return cls(
            np.array([pair.label for pair, _ in decided], dtype=bool),
            np.array([result.supported for _, result in decided], dtype=bool),
            np.array([numbers[pair.document] for pair, _ in decided], dtype=int),
        )

    def select(self, rows: Array) -> Decisions:
        """Return these rows of all columns."""
        return Decisions(self.labels[rows], self.entailed[rows], self.documents[rows])


def read_pairs(path: PathOrDash) -> list[LabelledPair]:
    """Read labelled pairs from JSON lines or a table.

    A row has `fact`, `text` and `label` (true, 1, `"entailment"`), and may have the `system` that
    wrote the text. `doc_id` or `document` groups pairs; pairs that have neither are grouped by
    their text. A label between 0 and 1 (.5 is partly covered) counts as covered from .75 on. Rows
    whose label is `null` are left out.

    Args:
        path: `.jsonl`, `.json`, `.yaml`, `.csv` or `.tsv`; `-` is JSON lines on standard input.

    Raises:
        InputError: The file cannot be read, a row has another shape, no row has a label, or two
            labels of one fact contradict each other; names the line.
    """
    pairs: list[LabelledPair] = []
    seen: dict[tuple[str, ...], bool] = {}
    for place, value in read_entries(path):
        if isinstance(value, InputError):
            raise value
        try:
            pair = _pair(from_plain(_Row, value, "row"))
        except ValueError as error:
            raise InputError(f"{place}: {error}") from None
        if pair is None:
            continue
        *key, label = pair
        if seen.setdefault(tuple(key), label) != label:
            raise InputError(
                f"{place}: the label of {quote_text(pair.fact)} contradicts an earlier one of the "
                "same text; keep one of them"
            )
        pairs.append(pair)
    if not pairs:
        raise InputError(f"{path}: no labelled pair; every fact needs a text and a label")
    return pairs


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a file of labelled pairs."""

    fact: str
    text: str
    label: bool | float | str | None = None
    document: str | int | None = None
    doc_id: str | int | None = None
    system: str | int | None = None


def _pair(row: _Row) -> LabelledPair | None:
    """Return the pair of a row; `None` without a label."""
    if not row.fact.strip():
        raise ValueError("the fact is blank")
    label = _is_covered(row.label)
    if label is None:
        return None
    ids = [str(one) for one in (row.document, row.doc_id) if one not in (None, "")]
    document = ids[-1] if ids else row.text
    return LabelledPair(document, str(row.system or ""), row.text, row.fact, label)


def _is_covered(label: Any) -> bool | None:
    word = label.strip().casefold() if isinstance(label, str) else label
    if word in _UNLABELLED:
        return None
    if word in _YES + _NO:
        return word in _YES
    try:
        graded = float(word)
    except ValueError:
        graded = -1.0
    if not 0 <= graded <= 1:
        words = ", ".join(_YES + _NO)
        raise ValueError(f"label {label!r}: expected true, false, 0 to 1, or one of {words}")
    return graded >= COVERED


async def aagreement(
    data: str | PathLike[str] | Iterable[LabelledPair],
    judges: Judges = ("local",),
    *,
    budget: Budget | None = None,
) -> AgreementReport:
    """Compare judges with human labels of facts and texts, with word containment as baseline.

    Args:
        data: A file (see `read_pairs`), or pairs.
        judges: Anything `FactCoverage` takes as a judge, or a `FactCoverage` itself; a mapping
            gives them names. Word containment is always included.
        budget: Limits for each judge.

    Raises:
        InputError: The data cannot be read, or an argument is invalid.
        ConfigError: A judge is unknown, or a key is missing.
    """
    pairs = read_pairs(data) if isinstance(data, (str, PathLike)) else list(data)
    if not pairs:
        raise InputError("there are no labelled pairs")
    measured = []
    async with AsyncExitStack() as stack:
        for name, scorer in (await open_judges(judges, budget, stack)).items():
            results = await check_pairs(scorer, pairs)
            measured.append(measure_agreement(name, pairs, results))
    return AgreementReport(tuple(measured), tuple(pairs))


agreement = blocking(aagreement)


async def check_pairs(scorer: FactCoverage, pairs: Sequence[LabelledPair]) -> list[CheckResult]:
    """Return the result of each pair; the facts of one text are checked together."""
    facts: dict[str, dict[str, None]] = {}
    for pair in pairs:
        facts.setdefault(pair.text, {})[pair.fact] = None
    checked = await together(check_facts(scorer, list(own), text) for text, own in facts.items())
    by_fact: dict[tuple[str, str], CheckResult] = {}
    for text, results in zip(facts, checked, strict=True):
        by_fact |= {(text, result.fact.text): result for result in results}
    return [by_fact[pair.text, pair.fact] for pair in pairs]


def share_right(pairs: Decisions, labels: Sequence[bool] = (True, False)) -> float | None:
    """Compute the share of right verdicts on a label, in [0, 1], or the mean of several.

    Of both labels, it is the balanced accuracy; `None` if there are no pairs with one of them.
    """
    is_right = [pairs.entailed[pairs.labels == label] == label for label in labels]
    return fmean(float(own.mean()) for own in is_right) if all(map(len, is_right)) else None


def right_interval(pairs: Decisions, labels: Sequence[bool]) -> Interval:
    """Return the interval of the share of right verdicts on a label, or the mean of several."""
    found = []
    for label in labels:
        own = pairs.select(pairs.labels == label)
        n_pairs = np.bincount(own.documents)
        n_right = np.bincount(own.documents, own.entailed == label)
        counts = [(float(n), float(hits)) for n, hits in zip(n_pairs, n_right, strict=True) if n]
        found.append(share_interval(counts) or Interval(0.0, 1.0))
    return Interval(*map(fmean, zip(*found, strict=True)))


def _estimate(pairs: Decisions, labels: Sequence[bool]) -> Estimate:
    """Estimate the share of right verdicts with its interval over documents, if it is defined."""
    value = share_right(pairs, labels)
    if value is None:
        return Estimate(None)
    interval = bootstrap_groups(
        pairs.documents, lambda drawn: share_right(pairs.select(drawn), labels)
    )
    if interval is None or interval.low == interval.high:
        interval = right_interval(pairs, labels)
    return Estimate(value, interval)


def measure_agreement(
    judge: str, pairs: Sequence[LabelledPair], results: Sequence[CheckResult]
) -> JudgeAgreement:
    """Compute all metrics of one judge, given one result for each pair."""
    rows = Decisions.of_pairs(pairs, results)
    return JudgeAgreement(
        judge=judge,
        metrics={name: _estimate(rows, labels) for name, labels in _RIGHT.items()},
        n_documents=len(np.unique(rows.documents)),
        n_pairs=len(rows.labels),
        n_undecided=len(pairs) - len(rows.labels),
        failure=next((one.message for one in results if isinstance(one, CheckFailure)), ""),
    )


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one judge with human labels."""

    DERIVED = ("conclusion",)
    judge: str
    metrics: Mapping[str, Estimate]
    """`balanced_accuracy`, `sensitivity` and `specificity` of its verdicts."""
    n_documents: int
    n_pairs: int
    """Pairs with a verdict."""
    n_undecided: int
    """Pairs without a verdict; outside every metric."""
    failure: str
    """Why verdicts are missing, the first time."""

    @property
    def conclusion(self) -> conclusions.Conclusion:
        """What the judge can be used for, as far as these labels show it."""
        return conclusions.of_agreement(self.metrics, self.n_pairs, self.n_documents)


@dataclass(frozen=True, slots=True, repr=False)
class AgreementReport(Report):
    """The agreement of judges with human labels, on the same labelled pairs."""

    judges: tuple[JudgeAgreement, ...]
    """In the order given, the baseline last."""
    pairs: tuple[LabelledPair, ...]
    """What they were asked about."""

    @property
    def share_entailed(self) -> float:
        """Share of the pairs with the label entailed."""
        return fmean(pair.label for pair in self.pairs)

    @property
    def n_documents(self) -> int:
        """Number of documents of the pairs."""
        return len({pair.document for pair in self.pairs})

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": self.n_documents,
            "pairs": len(self.pairs),
            "share_entailed": self.share_entailed,
            "judges": to_plain(self.judges),
        }

    def page(self) -> Page:
        counts = (
            f"{plural(len(self.pairs), 'fact')}, {plural(self.n_documents, 'document')}, "
            f"{percent(self.share_entailed)} entailed"
        )
        decided = ("labelled facts that it decided", *(f"{one.n_pairs:,}" for one in self.judges))
        return conclusions.judges_page(
            _MEASUREMENT,
            counts,
            {one.judge: one.metrics for one in self.judges},
            {one.judge: one.conclusion for one in self.judges if one.judge != BASELINE},
            more=[decided],
            notes=self._notes(),
        )

    def _notes(self) -> Iterator[str]:
        for judge in self.judges:
            if judge.n_undecided:
                why = f" ({judge.failure})" if judge.failure else ""
                undecided = plural(judge.n_undecided, "fact")
                yield f"{judge.judge}: {undecided} undecided, outside every metric{why}"
