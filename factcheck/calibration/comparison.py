"""Two summarizers or prompts on the same facts: which facts were won and lost, and how surely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from statistics import fmean
from typing import Any, NamedTuple

from factcheck.documents.results import read_results
from factcheck.errors import InputError
from factcheck.facts import CheckResult, CoverageReport, Verdict
from factcheck.reports.page import Item, Page, Section, Tone, filled
from factcheck.reports.report import Report
from factcheck.reports.text import more_of, name_text, plural, quote_text, short, short_range
from factcheck.stats.comparison import Comparison
from factcheck.stats.intervals import paired_share_interval, sign_test
from factcheck.stats.resampling import bootstrap_mean

Run = str | PathLike[str] | Mapping[str, CoverageReport] | Iterable[CoverageReport]

_MAX_SHOWN = 20


class FactChange(NamedTuple):
    """A fact that one of two summaries keeps."""

    document: str
    fact: str
    label_a: str
    label_b: str


@dataclass(frozen=True, slots=True, repr=False)
class CoverageComparison(Report):
    """The second run compared with the first, over facts that both decided."""

    documents: Mapping[str, tuple[float, float]]
    """Coverage of each document in the first and in the second run, in [0, 1]."""
    n_facts: int
    """Facts that both runs decided."""
    n_undecided: int
    """Facts that one of them did not decide; outside every number."""
    n_unpaired: int
    """Documents and facts that only one run has."""
    n_kept_a: int
    n_kept_b: int
    won: tuple[FactChange, ...]
    """Facts that only the second run keeps."""
    lost: tuple[FactChange, ...]
    """Facts that only the first run keeps."""

    @property
    def by_fact(self) -> Comparison[float]:
        """Share of the facts kept, with McNemar's exact test.

        The interval holds for independent facts; facts of one text are not.
        """
        n, n_won, n_lost = self.n_facts, len(self.won), len(self.lost)
        return Comparison(
            self.n_kept_a / n,
            self.n_kept_b / n,
            (self.n_kept_b - self.n_kept_a) / n,
            paired_share_interval(n, n_won, n_lost),
            sign_test(n_won, n_lost),
        )

    @property
    def by_document(self) -> Comparison[float]:
        """Mean coverage over documents, with the sign test; no interval for a single document."""
        differences = [b - a for a, b in self.documents.values()]
        return Comparison(
            fmean(a for a, _ in self.documents.values()),
            fmean(b for _, b in self.documents.values()),
            fmean(differences),
            bootstrap_mean(differences),
            sign_test(sum(d > 0 for d in differences), sum(d < 0 for d in differences)),
        )

    def to_dict(self) -> dict[str, Any]:
        by_fact, by_document = self.by_fact.to_dict(), self.by_document.to_dict()
        return {
            "documents": {name: list(both) for name, both in self.documents.items()},
            "facts": self.n_facts,
            "undecided": self.n_undecided,
            "unpaired": self.n_unpaired,
            "kept": [self.n_kept_a, self.n_kept_b],
            "difference": by_fact["difference"],
            "fact_interval": by_fact["interval"],
            "p_facts": by_fact["p_value"],
            "mean_difference": by_document["difference"],
            "document_interval": by_document["interval"],
            "p_documents": by_document["p_value"],
            "won": [change._asdict() for change in self.won],
            "lost": [change._asdict() for change in self.lost],
        }

    def page(self) -> Page:
        by_fact = self.by_fact
        both: tuple[tuple[str, Tone, tuple[FactChange, ...]], ...]
        both = (("won", "good", self.won), ("lost", "warn", self.lost))
        verdict = "as many facts won as lost"
        if by_fact.difference:
            chance = "unlikely to be chance" if by_fact.is_significant else "but that may be chance"
            verdict = f"{'more' if by_fact.difference > 0 else 'fewer'}, {chance}"
        facts = plural(self.n_facts, "fact")
        return Page(
            "Coverage",
            f"{short(by_fact.a)} \u2192 {short(by_fact.b)}",
            f"{self.n_kept_a} \u2192 {self.n_kept_b} of {facts} kept: {verdict}",
            lines=tuple(self._lines()),
            sections=filled(*(_section(name.title(), tone, of) for name, tone, of in both)),
            columns=("change", *FactChange._fields),
            rows=lambda: [{"change": n, **one._asdict()} for n, _, of in both for one in of],
        )

    def _lines(self) -> Iterator[str]:
        by_fact, by_document = self.by_fact, self.by_document
        yield (
            f"{plural(len(self.won), 'fact')} won, {len(self.lost):,} lost: "
            f"p = {short(by_fact.p_value)} (McNemar, exact)"
        )
        yield (
            f"difference {short(by_fact.difference, with_sign=True)}, "
            f"95 % {short_range(by_fact.interval, with_sign=True)} if facts were independent"
        )
        if by_document.interval is None:
            yield "only one document: the spread between documents is unknown"
        else:
            yield (
                f"by document ({len(self.documents)}): mean difference "
                f"{short(by_document.difference, with_sign=True)}, "
                f"95 % {short_range(by_document.interval, with_sign=True)}, "
                f"sign test p = {short(by_document.p_value)}"
            )
        if self.n_undecided:
            yield f"{plural(self.n_undecided, 'fact')} undecided in one of the runs, left out"
        if self.n_unpaired:
            items = plural(self.n_unpaired, "item")
            yield f"{items} (documents or facts) in one run only, left out"


def _section(title: str, tone: Tone, changes: Sequence[FactChange]) -> Section:
    return Section(
        title,
        tone,
        items=tuple(Item(name_text(c.document), quote_text(c.fact)) for c in changes[:_MAX_SHOWN]),
        more=more_of(len(changes) - _MAX_SHOWN, "fact"),
    )


def compare_coverage(a: Run, b: Run) -> CoverageComparison:
    """Compare the coverage of the second run with that of the first.

    Args:
        a: A file of rows that `factcheck run --out` wrote, reports by the name of their document,
            or a list of reports in the order of the documents.
        b: The same documents and facts, other summaries. Facts are paired by their text.

    Raises:
        InputError: A run cannot be read, or the two share no fact that both decided.
    """
    first, second = read_reports(a), read_reports(b)
    documents: dict[str, tuple[float, float]] = {}
    changes: list[FactChange] = []
    n_undecided = 0
    n_unpaired = len(first.keys() ^ second.keys())
    for name in (name for name in first if name in second):
        ours, theirs = _labels(first[name]), _labels(second[name])
        n_unpaired += len(ours.keys() ^ theirs.keys())
        both = [(fact, ours[fact], theirs[fact]) for fact in ours if fact in theirs]
        decided = [FactChange(name, text, x, y) for (text, _), x, y in both if x and y]
        n_undecided += len(both) - len(decided)
        if decided:
            kept = [(c.label_a == "entailed", c.label_b == "entailed") for c in decided]
            a_share, b_share = (sum(side) / len(decided) for side in zip(*kept, strict=True))
            documents[name] = (a_share, b_share)
            changes += decided
    if not changes:
        raise InputError(
            "the two runs share no fact that both decided; score both with the same --facts, so "
            "that they are about the same facts"
        )
    kept_a, kept_b = ([c for c in changes if c[side] == "entailed"] for side in (2, 3))
    return CoverageComparison(
        documents=documents,
        n_facts=len(changes),
        n_undecided=n_undecided,
        n_unpaired=n_unpaired,
        n_kept_a=len(kept_a),
        n_kept_b=len(kept_b),
        won=tuple(change for change in kept_b if change.label_a != "entailed"),
        lost=tuple(change for change in kept_a if change.label_b != "entailed"),
    )


def results_by_fact(report: CoverageReport) -> dict[tuple[str, int], CheckResult]:
    """The result of each fact, by its text; equal texts differ by their count."""
    seen: Counter[str] = Counter()
    results = {}
    for result in report.results:
        text = result.fact.text
        results[text, seen[text]] = result
        seen[text] += 1
    return results


def _labels(report: CoverageReport) -> dict[tuple[str, int], str | None]:
    """The label of each fact; `None` where it is undecided."""
    results = results_by_fact(report).items()
    return {key: one.label if isinstance(one, Verdict) else None for key, one in results}


def read_reports(run: Run) -> dict[str, CoverageReport]:
    """The reports of a run by the name of their record; rows without a report are left out."""
    if isinstance(run, (str, PathLike)):
        rows = (row for row in read_results(run) if "error" not in row)
        return {str(row["id"]): CoverageReport.from_dict(row) for row in rows}
    if isinstance(run, Mapping):
        return dict(run)
    return {str(number): report for number, report in enumerate(run, 1)}
