"""Paired comparison of two runs, overall and by field.

Records are resampled, not fields, because the fields of one record are not independent. Results are
used as scored, after thresholds, weights and post-processing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from factcheck.errors import InputError
from factcheck.fields.figures import RunFigures
from factcheck.fields.pages import field_text
from factcheck.fields.records import RecordResult, count, overall_scores, scores_of
from factcheck.fields.schemas import schema_path
from factcheck.fields.types import FieldResult
from factcheck.fields.values import plain
from factcheck.reports.comparison import Change, RunComparison
from factcheck.reports.page import Alert
from factcheck.reports.text import p_text, plural, signed, some_of
from factcheck.stats import resampling as stats
from factcheck.stats.resampling import NEGLIGIBLE, Comparison, Matrix, SumScores

_OVERALL = {
    "mean_f1": "F1 (macro)",
    "mean_precision": "precision (macro)",
    "mean_recall": "recall (macro)",
    "micro_f1": "F1 (micro)",
    "micro_precision": "precision (micro)",
    "micro_recall": "recall (micro)",
}
"""Titles of the overall scores."""


def compare_runs(
    a: RunFigures, b: RunFigures, *, names: tuple[str, str] = ("", "")
) -> RunComparison:
    """Compare run `b` with run `a` and test the differences for significance.

    Records are paired by id. Intervals come from a paired bootstrap of 2,000 resamples, p-values
    from as many paired randomizations, or all if there are fewer. Fields are won or lost by
    p-values adjusted for the number of fields (family-wise error rate of 5 %), so a field whose
    interval excludes 0 may still be unchanged. `b` is worse if F1 is significantly lower or a field
    is lost. If other values are undecided in one run than in the other, there is no verdict.

    Args:
        a: Baseline; what `b` gains over it is positive.
        b: Run to compare.
        names: Display names of the runs.

    Returns:
        The comparison of F1, with the fields by largest difference. Its `counts` are the ids of
        `better` and `worse` records, largest change first, the number of `equal` ones, and those
        of `unusable` extractions of both runs.

    Raises:
        InputError: The runs have no record in common, a run did not keep its records or has
            duplicate ids, or gold records differ between the runs.
    """
    records_a, records_b = _by_id(a, "run a"), _by_id(b, "run b")
    common = [name for name in records_a if name in records_b]
    if not common:
        raise InputError(
            f"runs a ({some_of([*records_a])}) and b ({some_of([*records_b])}) have no record id "
            "in common; evaluate both with the same id_field"
        )
    runs = [records_a[name] for name in common], [records_b[name] for name in common]
    _check_gold(*runs)
    for side, records in zip("ab", runs, strict=True):
        if not any(record.counts.has_score for record in records):
            raise InputError(
                f"run {side} has no verdict on any value of the records in common; evaluate it "
                "again, since there is nothing to compare"
            )
    counts_a, counts_b = map(_count_fields, runs)
    names_of_fields = dict.fromkeys((*counts_a, *counts_b))
    fields = [_Field(name, counts_a[name], counts_b[name]) for name in names_of_fields]
    with_values = [field for field in fields if field.has_values]
    scores_a, scores_b = map(overall_scores, runs)
    overall, _ = stats.compare_scores(scores_a, scores_b)
    no_verdict = ""
    if any(field.is_open for field in fields):
        overall = {name: _without_test(one) for name, one in overall.items()}
        no_verdict = _undecided_text(fields)
    changes = _changes([field for field in with_values if field.is_scored])
    f1s = ((name, records_a[name].f1, records_b[name].f1) for name in common)
    moved = stats.split_changes(
        [(name, x, y) for name, x, y in f1s if x is not None and y is not None]
    )
    n_unusable = [sum(record.failure is not None for record in records) for records in runs]
    main = overall["mean_f1"]
    alerts = [*_warnings(a, b), no_verdict]
    worse = [f"F1 {signed(main.difference)}"] if main.is_significant and main.difference < 0 else []
    worse += [f"lost {field_text(one.name)}" for one in changes if one.group == "Lost"]
    return RunComparison(
        noun="field",
        metric="F1",
        main=main,
        basis=f"by record ({plural(len(common), 'record')})",
        changes=tuple(changes),
        scores={text: overall[name] for name, text in _OVERALL.items()},
        counts={
            "better": [name for name, _, _ in moved.better],
            "worse": [name for name, _, _ in moved.worse],
            "equal": len(moved.unchanged),
            "unusable": tuple(n_unusable),
        },
        left_out={
            "Only A or B has a score": tuple(
                field.name for field in with_values if not field.is_scored
            ),
            "Only in A": tuple(str(name) for name in records_a if name not in records_b),
            "Only in B": tuple(str(name) for name in records_b if name not in records_a),
        },
        alerts=tuple(Alert(text, "warn") for text in alerts if text),
        lines=tuple(_lines(len(common), moved, n_unusable, changes, is_open=bool(no_verdict))),
        worse=", ".join(worse),
        no_verdict=no_verdict,
        names=names,
    )


class _Field(NamedTuple):
    """Results of a field, by run and record: matched, extracted, gold, undecided and all."""

    name: str
    a: Matrix
    b: Matrix

    @property
    def is_open(self) -> bool:
        """Whether other values are undecided in one run than in the other."""
        return not np.array_equal(self.a[3], self.b[3])

    @property
    def has_values(self) -> bool:
        return bool(self.a[1:3].any() or self.b[1:3].any())

    @property
    def is_scored(self) -> bool:
        """Whether both runs score it; one without any result does, since records may lack it."""
        sides = (self.a, self.b)
        return all(counts[1:3].any() or not counts[4].any() for counts in sides)


def _count_fields(records: Sequence[RecordResult]) -> defaultdict[str, Matrix]:
    """Count the results of each field by record: matched, extracted, gold, undecided, all."""
    fields = defaultdict[str, Matrix](lambda: np.zeros((5, len(records))))
    for place, record in enumerate(records):
        by_field = defaultdict[str, list[FieldResult]](list)
        for result in record.field_results:
            by_field[schema_path(result.path)].append(result)
        for field, own in by_field.items():
            fields[field][:, place] = (*count(own), len(own))
    return fields


def _field_f1(sums: Matrix) -> Matrix:
    """Compute F1 by field and resample, from sums of matched, extracted and gold counts."""
    return scores_of(*np.moveaxis(sums.reshape(-1, 3, sums.shape[-1]), 1, 0))[2]


def _by_id(run: RunFigures, name: str) -> dict[str | int, RecordResult]:
    records = run.kept_records(name)
    by_id = {record.record_id: record for record in records}
    if len(by_id) != len(records):
        counts = Counter(record.record_id for record in records)
        duplicates = [record_id for record_id, n in counts.items() if n > 1]
        raise InputError(
            f"{name} has duplicate record ids ({some_of(duplicates)}); "
            "ids must be unique for records to be paired"
        )
    return by_id


def _check_gold(a: Sequence[RecordResult], b: Sequence[RecordResult]) -> None:
    """Raise `InputError` unless both runs have the same gold records, compared as JSON."""
    differing = [
        record.record_id
        for record, other in zip(a, b, strict=True)
        if record.gold is not other.gold and plain(record.gold) != plain(other.gold)
    ]
    if differing:
        raise InputError(
            f"gold differs between the runs in {len(differing)} of {len(a)} records "
            f"({some_of(differing)}); evaluate both runs against the same gold records"
        )


def _changes(fields: Sequence[_Field]) -> list[Change]:
    """Compare F1 by field, with p-values adjusted for their number; largest difference first."""
    if not fields:
        return []
    names = [field.name for field in fields]
    sums_a = SumScores(names, np.vstack([field.a[:3] for field in fields]), _field_f1)
    sums_b = SumScores(names, np.vstack([field.b[:3] for field in fields]), _field_f1)
    tests, randomized = stats.compare_scores(sums_a, sums_b)
    # With at most one differing record, no randomization changes the size of the difference.
    is_testable = np.ptp(np.abs(randomized), axis=1) > NEGLIGIBLE
    testable = [name for name, can_vary in zip(names, is_testable, strict=True) if can_vary]
    observed = [tests[name].difference for name in testable]
    randomized = randomized[is_testable]
    spread = np.sqrt(np.mean(randomized**2, axis=1))
    adjusted = dict(zip(testable, stats.step_down(observed, randomized, spread), strict=True))
    changes = [
        _change(field, replace(tests[field.name], p_adjusted=adjusted.get(field.name, 1.0)))
        for field in fields
    ]
    return sorted(changes, key=lambda change: -abs(tests[change.name].difference))


def _undecided_text(fields: Iterable[_Field]) -> str:
    """Say how many values of some fields are undecided."""
    n_a, n_b = np.sum([(field.a[3].sum(), field.b[3].sum()) for field in fields], axis=0, dtype=int)
    return f"{plural(n_a, 'value')} without a verdict in A and {n_b:,} in B"


def _without_test(test: Comparison) -> Comparison:
    return replace(test, interval=None, p_value=None, p_adjusted=None)


def _change(field: _Field, test: Comparison) -> Change:
    absent = ("absent" * (not field.a[4].any()), "absent" * (not field.b[4].any()))
    group, reason = "Unchanged", ""
    if field.is_open:
        group, test, reason = "Undecided", _without_test(test), _undecided_text([field])
    elif test.is_significant and test.difference:
        group = "Won" if test.difference > 0 else "Lost"
    return Change.of_scores(group, field.name, test, *absent, reason=reason)


def _warnings(a: RunFigures, b: RunFigures) -> Iterator[str]:
    """Warn that differences may be due to the schema or the judge."""
    if a.schema_digest is None or a.schema_digest != b.schema_digest:
        yield (
            "A and B were scored by different or unknown schemas, so differences may be due to the "
            "schema; evaluate both by the same one"
        )
    if a.judge != b.judge:
        yield (
            f"A and B were compared by different judges ({a.judge or 'unknown'} in A, "
            f"{b.judge or 'unknown'} in B), so differences may be due to the judge; evaluate both "
            "by the same one"
        )


def _lines(
    n_records: int,
    moved: stats.Changes,
    n_unusable: Sequence[int],
    changes: Sequence[Change],
    *,
    is_open: bool,
) -> list[str]:
    p_value = "" if is_open else f" (sign test: p {p_text(moved.p_value)})"
    counts = f"{len(moved.better):,} better, {len(moved.worse):,} worse"
    equal = f"{len(moved.unchanged):,} equal{p_value}"
    lines = [f"{plural(n_records, 'record')}: {counts}, {equal}"]
    if any(n_unusable):
        in_a, in_b = n_unusable
        lines.append(f"Unusable extractions: {in_a:,} in A, {in_b:,} in B, of {n_records:,} each")
    if any("absent" in (one.a, one.b) for one in changes):
        lines.append("absent: no value in gold or the extraction, which counts as F1 1")
    return lines
