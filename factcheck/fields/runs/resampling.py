"""Paired comparison of two runs.

Records are resampled, not fields, because the fields of one record are not independent. Results are
used as scored, after thresholds, weights and post-processing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from factcheck.errors import InputError
from factcheck.fields.runs.comparison import Difference, RunComparison, Unsettled
from factcheck.fields.runs.figures import RunFigures
from factcheck.fields.runs.records import (
    Counts,
    RecordResult,
    Undecided,
    count,
    overall_scores,
    scores_of,
)
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import UNDECIDED, FieldResult
from factcheck.fields.values import plain
from factcheck.reports.text import some_of
from factcheck.settings import require_integer
from factcheck.stats.comparison import (
    NEGLIGIBLE,
    Change,
    compare_scores,
    split_changes,
    step_down,
)
from factcheck.stats.resampling import Matrix, SumScores

_UNDECIDED = 3
"""Row of the undecided values in the counts of a field."""


def _count_fields(records: Sequence[RecordResult]) -> defaultdict[str, Matrix]:
    """Count the results of each field by record: matched, extracted, gold, undecided."""
    fields = defaultdict[str, Matrix](lambda: np.zeros((4, len(records))))
    for place, record in enumerate(records):
        by_field = defaultdict[str, list[FieldResult]](list)
        for result in record.field_results:
            by_field[schema_path(result.path)].append(result)
        for field, own in by_field.items():
            n_undecided = sum(result.status in UNDECIDED for result in own)
            fields[field][:, place] = (*count(own), n_undecided)
    return fields


def _bounds(counts: Matrix) -> tuple[int, float, float]:
    """Number of undecided values of a field, and bounds of F1: all of them wrong, all right."""
    *counted, n = counts.sum(axis=1).tolist()
    return int(n), *Counts(*counted).f1_bounds(n)


def _field_f1(sums: Matrix) -> Matrix:
    """F1 by field and resample, from sums of matched, extracted and gold counts."""
    return scores_of(*np.moveaxis(sums.reshape(-1, 3, sums.shape[-1]), 1, 0))[2]


def compare_runs(
    a: RunFigures,
    b: RunFigures,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    names: tuple[str, str] = ("", ""),
) -> RunComparison:
    """Compare run `b` with run `a` and test the differences for significance.

    Records are paired by id. Intervals come from a paired bootstrap, p-values from paired
    randomization. Fields are won or lost by p-values adjusted for the number of fields (family-wise
    error rate of 5 %), so a field whose interval excludes 0 may still be `unchanged`.

    Args:
        a: Baseline run.
        b: Run to compare; gains over the baseline are positive.
        n_resamples: Number of bootstrap resamples, and maximum number of randomizations. The
            smallest p-value is `1 / (n_resamples + 1)`.
        seed: Random seed; equal seeds give equal results.
        names: Display names of the runs.

    Raises:
        InputError: The runs have no record in common, a run did not keep its records or has
            duplicate ids, gold records differ between the runs, or a setting is invalid.
    """
    require_integer("n_resamples", n_resamples, 1)
    require_integer("seed", seed, 0)
    ids_a, ids_b = _by_id(a, "run a"), _by_id(b, "run b")
    common = [name for name in ids_a if name in ids_b]
    if not common:
        raise InputError(
            f"runs a ({some_of([*ids_a])}) and b ({some_of([*ids_b])}) have no record id in "
            "common; evaluate both with the same id_field"
        )
    records_a, records_b = [ids_a[name] for name in common], [ids_b[name] for name in common]
    _check_gold(records_a, records_b)
    scores_a, scores_b = overall_scores(records_a), overall_scores(records_b)
    overall, _ = compare_scores(scores_a, scores_b, n_resamples, seed)
    counts_a, counts_b = _count_fields(records_a), _count_fields(records_b)
    compared: list[str] = []
    not_compared: list[str] = []
    for name in {**counts_a, **counts_b}:
        # a field without any results in one run is compared: records may just not contain it
        are_scored = [bool(side[name][1:3].any()) for side in (counts_a, counts_b) if name in side]
        if any(are_scored):
            (compared if all(are_scored) else not_compared).append(name)
    absent = [tuple(name for name in compared if name not in side) for side in (counts_a, counts_b)]
    fields = _field_differences(counts_a, counts_b, compared, n_resamples, seed)
    differing = {
        name
        for name in {**counts_a, **counts_b}
        if not np.array_equal(counts_a[name][_UNDECIDED], counts_b[name][_UNDECIDED])
    }
    unsettled = None
    if differing:
        unsettled = _unsettled(*(_f1_bounds(side, a.weights) for side in (records_a, records_b)))
        overall = {name: _without_test(difference) for name, difference in overall.items()}
    unsettled_fields = {}
    for name in [name for name in fields if name in differing]:
        unsettled_fields[name] = _unsettled(_bounds(counts_a[name]), _bounds(counts_b[name]))
        fields[name] = _without_test(fields[name])
    return RunComparison(
        len(common),
        tuple(name for name in ids_a if name not in ids_b),
        tuple(name for name in ids_b if name not in ids_a),
        overall,
        fields,
        split_changes(Change(name, ids_a[name].f1, ids_b[name].f1) for name in common),
        tuple(not_compared),
        (a.schema_digest, b.schema_digest),
        names,
        unsettled,
        unsettled_fields,
        (_n_unusable(records_a), _n_unusable(records_b)),
        *absent,
    )


def _n_unusable(records: Sequence[RecordResult]) -> int:
    return sum(record.failure is not None for record in records)


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
    a: Mapping[str, Matrix],
    b: Mapping[str, Matrix],
    names: Sequence[str],
    n_resamples: int,
    seed: int,
) -> dict[str, Difference]:
    """Compare F1 by field, with p-values adjusted for the number of fields."""
    if not names:
        return {}
    scores_a, scores_b = (
        SumScores(names, np.vstack([side[name][:3] for name in names]), _field_f1)
        for side in (a, b)
    )
    differences, randomized = compare_scores(scores_a, scores_b, n_resamples, seed)
    # With at most one differing record, no randomization changes the size of the difference.
    is_testable = np.ptp(np.abs(randomized), axis=1) > NEGLIGIBLE
    testable = [name for name, can_vary in zip(names, is_testable, strict=True) if can_vary]
    observed = [differences[name].difference for name in testable]
    randomized = randomized[is_testable]
    spread = np.sqrt(np.mean(randomized**2, axis=1))
    adjusted = dict(zip(testable, step_down(observed, randomized, spread), strict=True))
    return {
        name: replace(difference, p_adjusted=adjusted.get(name, 1.0))
        for name, difference in differences.items()
    }


def _without_test(difference: Difference) -> Difference:
    return replace(difference, interval=None, p_value=None, p_adjusted=None)


def _f1_bounds(
    records: Sequence[RecordResult], weights: Mapping[str, float]
) -> tuple[int, float, float]:
    """Number of undecided values, and bounds of mean F1: all of them wrong, all right."""
    undecided = Undecided(weights, records)
    mean = sum(record.f1 for record in records) / len(records)
    n_values = sum(field.n_values for field in undecided.fields)
    return n_values, *undecided.bounds(mean, len(records))


def _unsettled(a: tuple[int, float, float], b: tuple[int, float, float]) -> Unsettled:
    return Unsettled(a[0], b[0], b[1] - a[2], b[2] - a[1])
