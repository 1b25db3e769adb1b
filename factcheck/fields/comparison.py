"""Paired comparison of two runs, overall and by field.

Records are resampled, not fields, because the fields of one record are not independent. Results are
used as scored, after thresholds, weights and post-processing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from factcheck.errors import InputError
from factcheck.fields.figures import N_RESAMPLES, SEED, RunFigures
from factcheck.fields.pages import field_text
from factcheck.fields.records import (
    RecordResult,
    count,
    overall_scores,
    scores_of,
)
from factcheck.fields.schemas import schema_path
from factcheck.fields.types import UNDECIDED, FieldResult
from factcheck.fields.values import plain
from factcheck.reports.comparison import Change, RunComparison
from factcheck.reports.page import Alert
from factcheck.reports.text import p_text, plural, signed, some_of
from factcheck.stats import resampling as stats
from factcheck.stats.resampling import NEGLIGIBLE, Comparison, Matrix, SumScores

_UNDECIDED, _RESULTS = 3, 4
"""Rows of the undecided values and of all results in the counts of a field."""
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
    ids_a, ids_b = _by_id(a, "run a"), _by_id(b, "run b")
    common = [name for name in ids_a if name in ids_b]
    if not common:
        raise InputError(
            f"runs a ({some_of([*ids_a])}) and b ({some_of([*ids_b])}) have no record id in "
            "common; evaluate both with the same id_field"
        )
    records_a, records_b = [ids_a[name] for name in common], [ids_b[name] for name in common]
    _check_gold(records_a, records_b)
    counts_a, counts_b = _count_fields(records_a), _count_fields(records_b)
    every = dict.fromkeys((*counts_a, *counts_b))
    differing = {
        name
        for name in every
        if not np.array_equal(counts_a[name][_UNDECIDED], counts_b[name][_UNDECIDED])
    }
    scores_a, scores_b = overall_scores(records_a), overall_scores(records_b)
    overall, _ = stats.compare_scores(scores_a, scores_b, N_RESAMPLES, SEED)
    no_verdict = ""
    if differing:
        overall = {name: _without_test(one) for name, one in overall.items()}
        no_verdict = _undecided_text(counts_a.values(), counts_b.values())
    compared = [name for name in every if _is_compared(counts_a[name], counts_b[name])]
    tests = _field_differences(counts_a, counts_b, compared)
    changes = [
        _change(name, tests[name], counts_a[name], counts_b[name], is_open=name in differing)
        for name in sorted(compared, key=lambda name: -abs(tests[name].difference))
    ]
    moved = stats.split_changes(
        stats.Change(name, ids_a[name].f1, ids_b[name].f1) for name in common
    )
    n_unusable = (_n_unusable(records_a), _n_unusable(records_b))
    main = overall["mean_f1"]
    alerts = (_schema_warning(a, b), no_verdict)
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
            "better": [one.name for one in moved.better],
            "worse": [one.name for one in moved.worse],
            "equal": len(moved.unchanged),
            "unusable": n_unusable,
        },
        left_out={
            "Only A or B has a score": tuple(
                name for name in every if _is_one_sided(counts_a[name], counts_b[name])
            ),
            "Only in A": tuple(str(name) for name in ids_a if name not in ids_b),
            "Only in B": tuple(str(name) for name in ids_b if name not in ids_a),
        },
        alerts=tuple(Alert(text, "warn") for text in alerts if text),
        lines=tuple(_lines(len(common), moved, n_unusable, changes, is_open=bool(differing))),
        worse=", ".join(worse),
        no_verdict=no_verdict,
        names=names,
    )


def _count_fields(records: Sequence[RecordResult]) -> defaultdict[str, Matrix]:
    """Count the results of each field by record: matched, extracted, gold, undecided, all."""
    fields = defaultdict[str, Matrix](lambda: np.zeros((5, len(records))))
    for place, record in enumerate(records):
        by_field = defaultdict[str, list[FieldResult]](list)
        for result in record.field_results:
            by_field[schema_path(result.path)].append(result)
        for field, own in by_field.items():
            n_undecided = sum(result.status in UNDECIDED for result in own)
            fields[field][:, place] = (*count(own), n_undecided, len(own))
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


def _field_differences(
    a: Mapping[str, Matrix], b: Mapping[str, Matrix], names: Sequence[str]
) -> dict[str, Comparison]:
    """Compare F1 by field, with p-values adjusted for the number of fields."""
    if not names:
        return {}
    scores_a, scores_b = _sums_by_field(a, names), _sums_by_field(b, names)
    differences, randomized = stats.compare_scores(scores_a, scores_b, N_RESAMPLES, SEED)
    # With at most one differing record, no randomization changes the size of the difference.
    is_testable = np.ptp(np.abs(randomized), axis=1) > NEGLIGIBLE
    testable = [name for name, can_vary in zip(names, is_testable, strict=True) if can_vary]
    observed = [differences[name].difference for name in testable]
    randomized = randomized[is_testable]
    spread = np.sqrt(np.mean(randomized**2, axis=1))
    adjusted = dict(zip(testable, stats.step_down(observed, randomized, spread), strict=True))
    return {
        name: replace(difference, p_adjusted=adjusted.get(name, 1.0))
        for name, difference in differences.items()
    }


def _sums_by_field(counts: Mapping[str, Matrix], names: Sequence[str]) -> SumScores:
    return SumScores(names, np.vstack([counts[name][:3] for name in names]), _field_f1)


def _undecided_text(a: Iterable[Matrix], b: Iterable[Matrix]) -> str:
    """Say how many values of some fields are undecided."""
    n_a, n_b = _n_undecided(a), _n_undecided(b)
    return f"{plural(n_a, 'value')} without a verdict in A and {n_b:,} in B"


def _n_undecided(fields: Iterable[Matrix]) -> int:
    return int(sum(counts[_UNDECIDED].sum() for counts in fields))


def _without_test(test: Comparison) -> Comparison:
    return replace(test, interval=None, p_value=None, p_adjusted=None)


def _is_scored(counts: Matrix) -> bool:
    """Whether a field is scored; one without any results is, since records may not contain it."""
    return bool(counts[1:3].any()) or not counts[_RESULTS].any()


def _is_compared(a: Matrix, b: Matrix) -> bool:
    return _is_scored(a) and _is_scored(b) and bool(a[1:3].any() or b[1:3].any())


def _is_one_sided(a: Matrix, b: Matrix) -> bool:
    return _is_scored(a) != _is_scored(b) and bool(a[1:3].any() or b[1:3].any())


def _change(name: str, test: Comparison, a: Matrix, b: Matrix, *, is_open: bool) -> Change:
    absent = ("absent" * (not a[_RESULTS].any()), "absent" * (not b[_RESULTS].any()))
    if is_open:
        why = _undecided_text([a], [b])
        return Change.of_scores("Undecided", name, _without_test(test), *absent, reason=why)
    group = "Unchanged"
    if test.is_significant and test.difference:
        group = "Won" if test.difference > 0 else "Lost"
    return Change.of_scores(group, name, test, *absent)


def _n_unusable(records: Sequence[RecordResult]) -> int:
    return sum(record.failure is not None for record in records)


def _schema_warning(a: RunFigures, b: RunFigures) -> str:
    """Warn that differences may be due to the schema."""
    if a.schema_digest is not None and a.schema_digest == b.schema_digest:
        return ""
    return (
        "A and B were scored by different or unknown schemas, so differences may be due to the "
        "schema; evaluate both by the same one"
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
