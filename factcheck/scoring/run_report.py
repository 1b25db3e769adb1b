"""All records of a run as one report: worst first, each with a page of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factcheck.documents import PathOrDash
from factcheck.documents.results import read_results, read_signature
from factcheck.facts import CoverageReport
from factcheck.facts.page import lost_musts, score_text
from factcheck.reports.page import Case, Page, Section, Table, filled
from factcheck.reports.report import Report
from factcheck.reports.text import DASH, name_text, one_line
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.runs import COUNTS, Tally, outcome_of

if TYPE_CHECKING:
    from typing_extensions import Self

COLUMNS = (
    "id", "score", "low", "high", "lead", "faithfulness", *COUNTS, "lost_must", "code", "message",
)  # fmt: skip
"""Of the rows for CSV and data frames."""
_N_BINS = 10
_LONGEST_BAR = 15


class RunReport(Report):
    """The records of a run with their reports, and the mean.

    Args:
        outcomes: Reports and failures by the id of their records.
        signature: How the scores were made.
    """

    def __init__(
        self, outcomes: Mapping[str, CoverageReport | RecordFailure], signature: str = ""
    ) -> None:
        self.tally = Tally(signature)
        """Totals."""
        for place, (name, outcome) in enumerate(outcomes.items()):
            self.tally.add(name, outcome, place)
        self.outcomes = dict(sorted(outcomes.items(), key=lambda item: _rank(item[1])))
        """Worst first: without a report, undecided, then by score and distorted facts."""

    @classmethod
    def read(cls, path: PathOrDash) -> Self:
        """Read the rows that `factcheck run --out` wrote.

        Raises:
            InputError: The file is damaged or holds rows of another kind.
        """
        outcomes = {row["id"]: outcome_of(row) for row in read_results(path)}
        return cls(outcomes, read_signature(path))

    def page(self) -> Page:
        page, names = self.tally.page(), list(self.outcomes)
        return page._replace(
            sections=filled(
                self._distribution(),
                Section(
                    "Records",
                    meaning="lowest coverage first",
                    table=self._table()._replace(details=lambda place: self._detail(names[place])),
                ),
            ),
            cases=tuple(_case(name, outcome) for name, outcome in self.outcomes.items()),
            columns=COLUMNS,
            rows=self._rows,
        )

    def to_dict(self) -> dict[str, Any]:
        """The totals, and a row for each record."""
        return {
            **self.tally.to_dict(),
            "records": [{name: row.get(name) for name in COLUMNS} for row in self._rows()],
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        for name, outcome in self.outcomes.items():
            if isinstance(outcome, RecordFailure):
                yield {"id": name, "code": outcome.code, "message": outcome.message}
                continue
            scores = ("score", "low", "high", "lead", "faithfulness")
            numbers = {score: getattr(outcome, score) for score in scores}
            lost = lost_musts(outcome.results) or None
            yield {"id": name, **numbers, **outcome.counts, "lost_must": lost}

    def _table(self) -> Table:
        shown: tuple[str, ...] = COUNTS
        if any(
            isinstance(x, CoverageReport) and x.lead is not None for x in self.outcomes.values()
        ):
            shown = ("lead", *COUNTS)
        rows = []
        for name, outcome in self.outcomes.items():
            cells = {"coverage": "no report"}
            if isinstance(outcome, CoverageReport):
                cells = {kind: f"{count:,}" for kind, count in outcome.counts.items()}
                lead = "" if outcome.lead is None else score_text(outcome.lead)
                cells |= {"coverage": score_text(outcome.score), "lead": lead}
            values = (cells.get(column, "") for column in ("coverage", *shown))
            rows.append((name_text(name), *values))
        return Table(("record", "coverage", *shown), tuple(rows), dispensable=("facts", "lead"))

    def _distribution(self) -> Section:
        scores = (x.score for x in self.outcomes.values() if isinstance(x, CoverageReport))
        bins = Counter(min(int(x * _N_BINS), _N_BINS - 1) for x in scores if x is not None)
        rows = []
        for place in range(_N_BINS if bins else 0):
            bar = "█" * -(-_LONGEST_BAR * bins[place] // max(bins.values()))
            low, high = place / _N_BINS, (place + 1) / _N_BINS
            rows.append((f"{low:.1f}{DASH}{high:.1f}", bar, f"{bins[place]:,}"))
        table = Table(("coverage", "distribution", "records"), tuple(rows), n_names=2)
        return Section("Distribution", meaning="of coverage", table=table)

    def _detail(self, name: str) -> Page:
        outcome = self.outcomes[name]
        if isinstance(outcome, RecordFailure):
            return Page(name_text(name), "no report", one_line(outcome.message))
        page = outcome.page()
        return page._replace(name=f"{name_text(name)}: {page.name.lower()}")


def _rank(outcome: CoverageReport | RecordFailure) -> tuple[int, float, int]:
    if isinstance(outcome, RecordFailure):
        return 0, 0.0, 0
    if outcome.score is None:
        return 1, 0.0, 0
    return 2, outcome.score, -len(outcome.distorted)


def _case(name: str, outcome: CoverageReport | RecordFailure) -> Case:
    """A test case of a record; it fails if a `must` fact is lost, as the gate of a run does."""
    if isinstance(outcome, RecordFailure):
        return Case(one_line(name), "error", one_line(outcome.message), outcome.code)
    title = f"{one_line(name)} coverage {score_text(outcome.score)}"
    distorted = tuple(
        f"distorted: {one_line(verdict.fact.id)} {one_line(verdict.fact.text)}"
        for verdict in outcome.distorted
    )
    if lost := lost_musts(outcome.results):
        return Case(title, "failed", lost, "must", distorted)
    return Case(title)
