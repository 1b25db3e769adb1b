"""Runs over a dataset of cards: scores with intervals, JSON, rows and the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from factcheck.documents import to_plain
from factcheck.errors import Failure
from factcheck.keywords.card_page import (
    CardTexts,
    cases_section,
    extra_section,
    junit_case,
    missed_section,
    totals_section,
)
from factcheck.keywords.cards import CardDataset
from factcheck.keywords.matching import MatchSettings
from factcheck.keywords.results import CaseResult, SavedRun, Scores
from factcheck.reports.page import Item, Page, entries, filled, listed, parts_of, warnings_section
from factcheck.reports.text import DASH, any_of, interval_text, name_text, plural, quote_text, share
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import Matrix, SumScores, bootstrap_scores, check_resampling

CARD_MEASURES = tuple(f"{kind}_{name}" for kind in ("macro", "micro") for name in Scores._fields)
_COLUMNS = ("case", "status", "expected", "generated", "score", "unmet", "message")


@dataclass(frozen=True, slots=True, repr=False)
class DatasetResult(SavedRun):
    """Results of all cases of a dataset. Scores leave out those in `failures`."""

    FORMAT = "factcheck-keywords-cards/2"

    name: str
    version: str
    cases: tuple[CaseResult, ...]
    """The scored cases, in the order of the dataset."""
    failures: tuple[Failure[str], ...]
    """The others; their subjects are the ids of the cases."""
    settings: MatchSettings
    digests: Mapping[str, str]
    """By case id, in the order of the dataset: digest of the expected cards; runs are comparable
    only if they agree."""
    warnings: tuple[str, ...] = ()
    """Valid but probably unintended parts of the dataset."""

    @property
    def case_ids(self) -> list[str]:
        return [case.case_id for case in self.cases] + [one.subject for one in self.failures]

    @property
    def macro(self) -> Scores | None:
        """Mean scores of the cases, equally weighted; `None` if none was scored."""
        return self._averages("macro")

    @property
    def micro(self) -> Scores | None:
        """Scores over all cards of all cases; `None` if no case was scored."""
        return self._averages("micro")

    def _averages(self, kind: str) -> Scores | None:
        if not self.cases:
            return None
        found = dict(zip(CARD_MEASURES, card_measures(self.cases).of_all(), strict=True))
        recall, precision, f1, similarity = (found[f"{kind}_{name}"] for name in Scores._fields)
        return Scores(recall, precision, f1, None if math.isnan(similarity) else similarity)

    @property
    def case_scores(self) -> dict[str, float]:
        """F1 by case id."""
        return {case.case_id: case.f1 for case in self.cases}

    def measures(self, ids: Iterable[str]) -> SumScores:
        """The `CARD_MEASURES` of these cases."""
        cases = {case.case_id: case for case in self.cases}
        return card_measures([cases[name] for name in ids])

    def intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """95 % percentile bootstrap intervals, from resampling the cases.

        Returns:
            `macro_recall`, `macro_precision`, `macro_f1`, `macro_average_similarity`, and the same
            with `micro_`; (0, 1) with fewer than two cases.

        Raises:
            InputError: `n_resamples` below 1, or a negative seed.
        """
        check_resampling(n_resamples, seed)
        return bootstrap_scores(card_measures(self.cases), n_resamples, seed)

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each expected card and for each extra one, case by case.

        Its keys are `case`, `status` (`matched`, `missed`, `extra` or `error`), `expected`,
        `generated`, `score`, `unmet` and `message`.
        """
        rows = [{"case": case.case_id, **row} for case in self.cases for row in case.to_rows()]
        rows += (
            {"case": one.subject, "status": "error", "message": f"{one.code}: {one.message}"}
            for one in self.failures
        )
        empty: dict[str, Any] = dict.fromkeys(_COLUMNS) | {"unmet": {}, "message": ""}
        return [{name: (empty | row)[name] for name in _COLUMNS} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """All fields and the scores as JSON-ready data."""
        macro, micro = self.macro, self.micro
        return {
            **SavedRun.to_dict(self),
            "cases": [case.to_dict() for case in self.cases],
            "macro": {} if macro is None else macro._asdict(),
            "micro": {} if micro is None else micro._asdict(),
            "intervals": to_plain(self.intervals()),
        }

    def page(
        self,
        *,
        dataset: CardDataset | None = None,
        outputs: Mapping[str, Sequence[Any] | None] | None = None,
        examples: int = 10,
    ) -> Page:
        """The report. Cards are counted from 1.

        Args:
            dataset: Shows the expected cards; default: their numbers only.
            outputs: By case id, the generated cards, to show them; default: their numbers only.
            examples: Maximum number of missed cards shown, and of extra ones.
        """
        scored, failures, macro, micro = self.cases, self.failures, self.macro, self.micro
        cases = dataset.cases if dataset is not None else ()
        texts = CardTexts({case.id: case.expected_cards for case in cases}, outputs or {})
        intervals = self._page_intervals()
        interval = interval_text(intervals.get("macro_f1"))
        totals, counts = None, f"no score for {any_of(len(failures), 'case')}"
        lines: list[str] = []
        if macro is not None and micro is not None:
            totals = totals_section(macro, micro, intervals, len(scored))
            counts = plural(len(scored), "case")
            counts = f"mean over {counts} (macro)" if len(scored) > 1 else counts
            if failures:
                counts += f", {len(failures):,} more errored"
                sums = [math.fsum(case.f1 for case in scored)]
                sums.append(sums[0] + len(failures))
                bounds = f" {DASH} ".join(share(one / len(self.digests)) for one in sums)
                lines.append(f"{bounds} if every errored case scored 0 / 1")
        return Page(
            "F1",
            "unknown" if macro is None else share(macro.f1),
            counts,
            f"95 % interval {interval}" if interval else "",
            tuple(lines),
            parts_of(
                ("good", sum(len(case.matches) for case in scored), "matched"),
                ("bad", sum(len(case.missed) for case in scored), "missed"),
                ("warn", sum(len(case.extra) for case in scored), "extra"),
            ),
            filled(
                totals,
                cases_section(scored),
                missed_section(scored, texts, self.settings.threshold, examples),
                extra_section(scored, texts, examples),
                listed(
                    "Pairs that differ from greedy matching",
                    "plain",
                    "",
                    [case for case in scored if case.note],
                    lambda case: Item(name_text(case.case_id), case.note),
                    "case",
                ),
                listed(
                    "Errored",
                    "unknown",
                    "cases without a score; excluded from all scores",
                    failures,
                    lambda one: Item(
                        name_text(one.subject), quote_text(f"{one.code}: {one.message}")
                    ),
                    "case",
                ),
                warnings_section(self.warnings),
            ),
            entries(
                ("Dataset", " ".join(map(quote_text, filter(None, (self.name, self.version))))),
                ("Matching", self._matching()),
            ),
            suite="keywords.cards",
            cases=(*map(junit_case, self.cases), *map(junit_case, self.failures)),
            columns=_COLUMNS,
            rows=self.to_rows,
        )

    def _page_intervals(self) -> Mapping[str, Interval]:
        """Intervals by measure; of a single case, those of its cards."""
        if len(self.cases) != 1:
            return self.intervals() if self.cases else {}
        own = self.cases[0].intervals()
        return {f"{kind}_{name}": own[name] for kind in ("macro", "micro") for name in own}

    def _matching(self) -> str:
        settings = self.settings
        shown = ", ".join(f"{name} {weight:g}" for name, weight in settings.weights.items())
        return (
            f"{settings.assignment}, threshold {settings.threshold:g}, "
            f"weights {shown or 'equal'}, type {settings.type_weight:g}"
        )


def card_measures(cases: Sequence[CaseResult]) -> SumScores:
    """The `CARD_MEASURES` of these cases as functions of sums over cases."""
    import numpy as np

    rows = []
    for case in cases:
        scores = case.counts.scores()
        similarity = scores.average_similarity
        means = (scores.recall, scores.precision, scores.f1, similarity or 0.0)
        rows.append((*means, 1.0, float(similarity is not None), *case.counts))
    table = np.array(rows, dtype=float).reshape(len(rows), 10).T
    return SumScores(CARD_MEASURES, table, _measures_of_sums)


def _measures_of_sums(sums: Matrix) -> Matrix:
    """From the rows of `card_measures`, summed, to the measures."""
    import numpy as np

    recall, precision, f1, similarity, n_cases, n_with_match = sums[:6]
    matched, expected, generated, total_similarity = sums[6:]
    nothing = np.where(expected + generated == 0, 1.0, 0.0)
    undefined = np.full_like(matched, np.nan)

    def ratio(part: Matrix, whole: Matrix, otherwise: Matrix) -> Matrix:
        found: Matrix = np.divide(part, whole, out=otherwise.copy(), where=whole > 0)
        return found

    return np.vstack(
        [
            *(ratio(part, n_cases, undefined) for part in (recall, precision, f1)),
            ratio(similarity, n_with_match, undefined),
            ratio(matched, expected, nothing),
            ratio(matched, generated, nothing),
            ratio(2 * matched, expected + generated, nothing),
            ratio(total_similarity, matched, undefined),
        ]
    )
