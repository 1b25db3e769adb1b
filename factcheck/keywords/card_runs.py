"""Runs over a dataset of cards: scores with intervals, JSON, rows and the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from factcheck.documents import Reader, from_plain
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

if TYPE_CHECKING:
    from typing_extensions import Self

CARD_MEASURES = tuple(f"{kind}_{name}" for kind in ("macro", "micro") for name in Scores._fields)
_COLUMNS = ("case", "status", "expected", "generated", "score", "unmet", "message")


@dataclass(frozen=True, slots=True, repr=False)
class DatasetResult(SavedRun):
    """Results of all cases of a dataset. Scores leave out the cases in `failures`."""

    FORMAT = "factcheck-keywords-cards/1"

    name: str
    version: str
    cases: tuple[CaseResult | Failure[str], ...]
    """In the order of the dataset; the subject of a failure is the id of the case."""
    settings: MatchSettings
    digests: Mapping[str, str]
    """By case id: digest of the expected cards; runs are comparable only if they agree."""
    warnings: tuple[str, ...] = ()
    """Valid but probably unintended parts of the dataset."""

    @property
    def scored(self) -> tuple[CaseResult, ...]:
        return tuple(case for case in self.cases if isinstance(case, CaseResult))

    @property
    def failures(self) -> tuple[Failure[str], ...]:
        return tuple(case for case in self.cases if isinstance(case, Failure))

    @property
    def macro(self) -> Scores | None:
        """Mean scores of the cases, equally weighted; `None` if none was scored."""
        return self._averages("macro")

    @property
    def micro(self) -> Scores | None:
        """Scores over all cards of all cases; `None` if no case was scored."""
        return self._averages("micro")

    def _averages(self, kind: str) -> Scores | None:
        if not self.scored:
            return None
        found = dict(zip(CARD_MEASURES, card_measures(self.scored).of_all(), strict=True))
        recall, precision, f1, similarity = (found[f"{kind}_{name}"] for name in Scores._fields)
        return Scores(recall, precision, f1, None if math.isnan(similarity) else similarity)

    @property
    def case_scores(self) -> dict[str, float]:
        """F1 by case id."""
        return {case.case_id: case.f1 for case in self.scored}

    def measures(self, ids: Iterable[str]) -> SumScores:
        """The `CARD_MEASURES` of these cases."""
        cases = {case.case_id: case for case in self.scored}
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
        return bootstrap_scores(card_measures(self.scored), n_resamples, seed)

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each expected card and for each extra one, case by case.

        Its keys are `case`, `status` (`matched`, `missed`, `extra` or `error`), `expected`,
        `generated`, `score`, `unmet` and `message`.
        """
        rows: list[dict[str, Any]] = []
        for case in self.cases:
            if isinstance(case, Failure):
                message = f"{case.code}: {case.message}"
                rows.append({"case": case.subject, "status": "error", "message": message})
            else:
                rows += ({"case": case.case_id, **row} for row in case.to_rows())
        empty: dict[str, Any] = dict.fromkeys(_COLUMNS) | {"unmet": {}, "message": ""}
        return [{name: (empty | row)[name] for name in _COLUMNS} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        cases: list[dict[str, Any]] = []
        for case in self.cases:
            if isinstance(case, Failure):
                failure = {"code": case.code, "message": case.message}
                digest = self.digests[case.subject]
                cases.append({"id": case.subject, "digest": digest, "failure": failure})
            else:
                cases.append({**case.to_dict(), "digest": self.digests[case.case_id]})
        macro, micro = self.macro, self.micro
        return {
            "format": self.FORMAT,
            "name": self.name,
            "version": self.version,
            "settings": self.settings.to_dict(),
            "macro": {} if macro is None else macro._asdict(),
            "micro": {} if micro is None else micro._asdict(),
            "intervals": {name: list(found) for name, found in self.intervals().items()},
            "warnings": list(self.warnings),
            "cases": cases,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Raises:
            InputError: Not a run of cards, or one of another format version.
        """
        read = cls._reader(data)
        cases = read.mappings("cases")
        readers = [Reader(entry, f"run: case {n}") for n, entry in enumerate(cases, 1)]
        settings = read.mapping_required("settings")
        for one in fields(MatchSettings):
            Reader(settings, "settings").get(one.name, Any)
        return cls(
            read.text("name"),
            read.text("version"),
            tuple(map(_case_or_failure, cases)),
            from_plain(MatchSettings, settings, "settings"),
            {own.text("id"): own.text("digest") for own in readers},
            tuple(read.get("warnings", list[str], ())),
        )

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
        scored, failures, macro, micro = self.scored, self.failures, self.macro, self.micro
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
                bounds = f" {DASH} ".join(share(one / len(self.cases)) for one in sums)
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
            cases=tuple(map(junit_case, self.cases)),
            columns=_COLUMNS,
            rows=self.to_rows,
        )

    def _page_intervals(self) -> Mapping[str, Interval]:
        """Intervals by measure; of a single case, those of its cards."""
        if len(self.scored) != 1:
            return self.intervals() if self.scored else {}
        own = self.scored[0].intervals()
        return {f"{kind}_{name}": own[name] for kind in ("macro", "micro") for name in own}

    def _matching(self) -> str:
        settings = self.settings
        shown = ", ".join(f"{name} {weight:g}" for name, weight in settings.weights.items())
        return (
            f"{settings.assignment}, threshold {settings.threshold:g}, "
            f"weights {shown or 'equal'}, type {settings.type_weight:g}"
        )


def _case_or_failure(data: Mapping[str, Any]) -> CaseResult | Failure[str]:
    read = Reader(data, "case")
    failure = read.get("failure", dict | None, None)
    if failure is None:
        return CaseResult.from_dict(data)
    reason = Reader(failure, "failure")
    return Failure(read.text("id"), reason.text("code"), reason.text("message"))


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
