"""Two summarizers, or two prompts, on the same facts: won, lost, and how sure that is."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from statistics import fmean
from typing import Any, NamedTuple

from factcheck.calibration.resampling import interval_of_mean
from factcheck.errors import InputError
from factcheck.facts import CoverageReport, Verdict
from factcheck.results import read_results
from factcheck.stats import Z_95, Interval, sign_test

Run = str | PathLike[str] | Mapping[str, CoverageReport] | Iterable[CoverageReport]


class FactChange(NamedTuple):
    """A fact that one of two summaries keeps."""

    document: str
    fact: str
    label_a: str
    label_b: str


@dataclass(frozen=True, slots=True)
class CoverageComparison:
    """The second run against the first, over facts that both decided."""

    documents: Mapping[str, tuple[float, float]]
    """For each document the coverage by the first and by the second run, in [0, 1]."""
    n_facts: int
    """Facts that both runs decided."""
    n_undecided: int
    """Facts that one of them did not; outside of every figure."""
    n_unpaired: int
    """Documents and facts that only one run has."""
    n_kept_a: int
    n_kept_b: int
    won: tuple[FactChange, ...]
    """Facts that only the second run keeps."""
    lost: tuple[FactChange, ...]
    """Facts that only the first run keeps."""

    @property
    def difference(self) -> float:
        """Share of facts that the second run keeps, less that of the first, in [-1, 1]."""
        return (self.n_kept_b - self.n_kept_a) / self.n_facts

    @property
    def fact_interval(self) -> Interval:
        """95 % interval of `difference` if facts were independent; within a text they are not.

        Source:
            Agresti and Min (2005), "Simple improved confidence intervals for comparing matched
            proportions": half a fact is added to each kind.
        """
        n, up, down = self.n_facts + 2, len(self.won) + 0.5, len(self.lost) + 0.5
        centre = (up - down) / n
        spread = Z_95 * math.sqrt((up + down) / n - centre**2) / math.sqrt(n)
        return Interval(max(-1.0, centre - spread), min(1.0, centre + spread))

    @property
    def p_facts(self) -> float:
        """McNemar's exact test: how likely a coin divides won and lost facts as unevenly."""
        return sign_test(len(self.won), len(self.lost))

    @property
    def mean_difference(self) -> float:
        """Mean over documents of the difference of their coverage, in [-1, 1]."""
        return fmean(b - a for a, b in self.documents.values())

    @property
    def document_interval(self) -> Interval | None:
        """95 % interval of `mean_difference`, by resampling documents; `None` for one document."""
        return interval_of_mean([b - a for a, b in self.documents.values()])

    @property
    def p_documents(self) -> float:
        """Sign test over documents: those that became better against those that became worse."""
        better = sum(b > a for a, b in self.documents.values())
        return sign_test(better, sum(b < a for a, b in self.documents.values()))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        interval = self.document_interval
        return {
            "documents": {name: list(both) for name, both in self.documents.items()},
            "facts": self.n_facts,
            "undecided": self.n_undecided,
            "unpaired": self.n_unpaired,
            "kept": [self.n_kept_a, self.n_kept_b],
            "difference": self.difference,
            "fact_interval": list(self.fact_interval),
            "p_facts": self.p_facts,
            "mean_difference": self.mean_difference,
            "document_interval": None if interval is None else list(interval),
            "p_documents": self.p_documents,
            "won": [change._asdict() for change in self.won],
            "lost": [change._asdict() for change in self.lost],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)


def compare_coverage(a: Run, b: Run) -> CoverageComparison:
    """The second run against the first.

    Args:
        a: A file that `factcheck score --records --out` wrote, reports by the name of their
            document, or a list of reports in the order of the documents.
        b: The same documents and facts, other summaries. Facts are paired by their text.

    Raises:
        InputError: A run cannot be read, or the two share no fact that both decided.
    """
    first, second = _reports(a), _reports(b)
    documents: dict[str, tuple[float, float]] = {}
    won, lost = [], []
    undecided = unpaired = n_facts = kept_a = kept_b = 0
    unpaired += len(first.keys() ^ second.keys())
    for name in first:
        if name not in second:
            continue
        ours, theirs = _results(first[name]), _results(second[name])
        unpaired += len(ours.keys() ^ theirs.keys())
        both = [(fact, ours[fact], theirs[fact]) for fact in ours if fact in theirs]
        decided = [(f, x, y) for f, x, y in both if x is not None and y is not None]
        undecided += len(both) - len(decided)
        if not decided:
            continue
        keeps_a = sum(x == "entailed" for _, x, _ in decided)
        keeps_b = sum(y == "entailed" for _, _, y in decided)
        documents[name] = (keeps_a / len(decided), keeps_b / len(decided))
        n_facts, kept_a, kept_b = n_facts + len(decided), kept_a + keeps_a, kept_b + keeps_b
        changes = [FactChange(name, text, x, y) for (text, _), x, y in decided]
        won += [c for c in changes if c.label_a != "entailed" and c.label_b == "entailed"]
        lost += [c for c in changes if c.label_a == "entailed" and c.label_b != "entailed"]
    if not n_facts:
        raise InputError(
            "the two runs share no fact that both decided; score both with the same --facts, so "
            "that they are about the same facts"
        )
    return CoverageComparison(
        documents, n_facts, undecided, unpaired, kept_a, kept_b, tuple(won), tuple(lost)
    )


def _results(report: CoverageReport) -> dict[tuple[str, int], str | None]:
    """For each fact, by its text, its label; `None` where it is undecided.

    Facts with the same text are told apart by their order.
    """
    seen: Counter[str] = Counter()
    labels: dict[tuple[str, int], str | None] = {}
    for result in report.results:
        text = result.fact.text
        labels[text, seen[text]] = result.label if isinstance(result, Verdict) else None
        seen[text] += 1
    return labels


def _reports(run: Run) -> dict[str, CoverageReport]:
    if isinstance(run, (str, PathLike)):
        return dict(_of_file(run))
    if isinstance(run, Mapping):
        return dict(run)
    return {str(number): report for number, report in enumerate(run, 1)}


def _of_file(path: str | PathLike[str]) -> Iterator[tuple[str, CoverageReport]]:
    for row in read_results(path):
        if "error" not in row:
            yield str(row["id"]), CoverageReport.from_dict(row)
