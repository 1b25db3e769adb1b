"""What the report of a run over cards says: scores, cases, and what was missed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from factcheck.keywords import CaseFailure, CaseResult, DatasetResult, EvalDataset
from factcheck.keywords.metrics import Scores
from factcheck.reports.content import Entry
from factcheck.reports.fields import many, share
from factcheck.reports.keywords.missed import Texts, extra_section, missed_section
from factcheck.reports.pages.model import (
    DASH,
    MOST_ROWS,
    Item,
    Page,
    Section,
    Table,
    filled,
    more_of,
    name_text,
    parts_of,
    range_text,
    shown_text,
    warnings_section,
)
from factcheck.stats import Interval

CASE_COLUMNS = ("case", "expected", "found", "matched", "recall", "precision", "F1", "similarity")
_ENOUGH = 20
"""Cases from which resampling them gives intervals that are wide enough."""
MEASURES = {
    "recall": "recall",
    "precision": "precision",
    "f1": "F1",
    "average_similarity": "average similarity",
}


def cards_report(
    run: DatasetResult,
    *,
    dataset: EvalDataset | None = None,
    outputs: Mapping[str, Sequence[Any] | None] | None = None,
    examples: int = 10,
) -> Page:
    """The report of a run. Cards are counted from 1.

    Args:
        run: The run.
        dataset: What was expected, to show it; `None`: cards are shown by number.
        outputs: By case id, the cards that were generated; `None`: as above.
        examples: Cards shown that were missed, and that nobody expected.
    """
    texts = Texts.of(dataset, outputs)
    intervals = _intervals(run)
    return Page(
        "F1",
        "unknown" if run.macro is None else share(run.macro.f1),
        _counts(run),
        _interval_in_words(intervals.get("macro_f1")),
        tuple(_bounds(run)),
        _parts(run),
        filled(
            _totals(run, intervals),
            _cases(run),
            missed_section(run, texts, examples),
            extra_section(run, texts, examples),
            _notes(run),
            _failures(run.failures),
            warnings_section(run.warnings),
        ),
        _footer(run),
    )


def _counts(run: DatasetResult) -> str:
    n_scored, n_failed = len(run.scored), len(run.failures)
    if not n_scored:
        return f"none of {many(n_failed, 'case')} could be scored"
    counts = many(n_scored, "case")
    if n_scored > 1:
        counts = f"mean over {counts} (macro)"
    return f"{counts}, {n_failed:,} more errored" if n_failed else counts


def _bounds(run: DatasetResult) -> Iterator[str]:
    n_scored, n_failed = len(run.scored), len(run.failures)
    if n_scored and n_failed:
        total = math.fsum(case.f1 for case in run.scored)
        low, high = total / (n_scored + n_failed), (total + n_failed) / (n_scored + n_failed)
        yield f"{share(low)} {DASH} {share(high)} if every errored case scored 0 / 1"


def _interval_in_words(interval: Interval | None) -> str:
    return "" if interval is None else f"95 % interval {range_text(interval)}"


def _intervals(run: DatasetResult) -> Mapping[str, Interval]:
    """Intervals by measure; of a single case, those of its cards."""
    if len(run.scored) != 1:
        return run.intervals() if run.scored else {}
    own = run.scored[0].intervals()
    return {f"{kind}_{name}": own[name] for kind in ("macro", "micro") for name in own}


def _how(run: DatasetResult) -> str:
    """How the intervals were made."""
    if len(run.scored) == 1:
        return "intervals by the number of cards (Wilson)"
    few = f"; too narrow for fewer than {_ENOUGH} cases" if len(run.scored) < _ENOUGH else ""
    return f"intervals by resampling cases{few}"


def _totals(run: DatasetResult, intervals: Mapping[str, Interval]) -> Section:
    macro, micro = run.macro, run.micro
    if macro is None or micro is None:
        return Section("Totals")
    several = len(run.scored) > 1
    rows = tuple(
        (
            words,
            *_figure(macro, "macro", name, intervals),
            *(_figure(micro, "micro", name, intervals) if several else ()),
        )
        for name, words in MEASURES.items()
    )
    columns = ("", "macro", "95 % interval", "micro", "95 % interval")
    return Section(
        "Totals",
        meaning="macro: each case counts alike; micro: each card does" if several else "",
        table=Table(columns if several else ("", "", "95 % interval"), rows),
        more=_how(run),
    )


def _figure(
    scores: Scores, kind: str, name: str, intervals: Mapping[str, Interval]
) -> tuple[str, str]:
    value = getattr(scores, name)
    if value is None:
        return DASH, ""
    return share(value), range_text(intervals.get(f"{kind}_{name}"))


def _parts(run: DatasetResult) -> Any:
    n_matched = sum(len(case.matches) for case in run.scored)
    n_missed = sum(len(case.missed) for case in run.scored)
    n_extra = sum(len(case.extra) for case in run.scored)
    return parts_of(
        ("good", n_matched, "matched"), ("bad", n_missed, "missed"), ("warn", n_extra, "extra")
    )


def _cases(run: DatasetResult) -> Section:
    """The cases, lowest F1 first."""
    ordered = sorted(run.scored, key=lambda case: case.f1)
    left_out = ordered[MOST_ROWS:]
    more = more_of(len(left_out), "case")
    if left_out:
        lowest = left_out[0].f1
        more += f", with F1 {share(lowest)}" + (" or more" if lowest < 1.0 else "")
    rows = tuple(_case_row(case) for case in ordered[:MOST_ROWS])
    table = Table(CASE_COLUMNS, rows, dispensable=("similarity", "found", "expected"))
    return Section(f"Cases {len(ordered):,}", meaning="lowest F1 first", table=table, more=more)


def _case_row(case: CaseResult) -> tuple[str, ...]:
    similarity = case.average_similarity
    return (
        name_text(case.case_id),
        f"{case.n_expected:,}",
        f"{case.n_generated:,}",
        f"{len(case.matches):,}",
        share(case.recall),
        share(case.precision),
        share(case.f1),
        DASH if similarity is None else share(similarity),
    )


def _notes(run: DatasetResult) -> Section:
    found = [case for case in run.scored if case.note]
    return Section(
        f"Pairs that greedy matching would not make {len(found):,}",
        items=tuple(Item(name_text(case.case_id), case.note) for case in found[:MOST_ROWS]),
        more=more_of(len(found) - MOST_ROWS, "case"),
    )


def _failures(failures: Sequence[CaseFailure]) -> Section:
    return Section(
        f"Errored {len(failures):,}",
        "unknown",
        "cases without a score; they count nowhere",
        items=tuple(
            Item(name_text(case.case_id), shown_text(f"{case.code}: {case.message}"))
            for case in failures[:MOST_ROWS]
        ),
        more=more_of(len(failures) - MOST_ROWS, "case"),
    )


def _footer(run: DatasetResult) -> tuple[Entry, ...]:
    settings = run.settings
    weights = ", ".join(f"{name} {weight:g}" for name, weight in settings.weights.fields.items())
    dataset = " ".join(shown_text(part) for part in (run.name, run.version) if part)
    matching = (
        f"{settings.assignment}, threshold {settings.threshold:g}, "
        f"weights {weights or 'equal'}, type {settings.weights.card_type:g}"
    )
    entries = (Entry("Dataset", dataset), Entry("Matching", matching))
    return tuple(entry for entry in entries if entry.value)
