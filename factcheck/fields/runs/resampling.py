"""Bootstrap intervals of a run, and paired comparison of two runs.

Records are resampled, not fields, because the fields of one record are not independent. Results are
used as scored, after thresholds, weights and post-processing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from factcheck.errors import InputError
from factcheck.fields.runs.comparison import Difference, RunComparison, Unsettled
from factcheck.fields.runs.records import Counts, RecordResult, RunFigures, Scores, Undecided
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED, UNDECIDED
from factcheck.fields.values import plain
from factcheck.settings import require_integer
from factcheck.stats.comparison import Change, compare_scores, split_changes, step_down
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import Matrix, SumScores, bootstrap_scores

MEASURES = tuple(f"{kind}_{name}" for kind in ("mean", "micro") for name in Scores._fields)
"""Names of the overall scores, `mean_precision` to `micro_f1`."""


def run_intervals(run: RunFigures, n_resamples: int, seed: int) -> dict[str, Interval]:
    """Compute 95 % bootstrap intervals of all `MEASURES`; (0, 1) with fewer than two records."""
    require_integer("n_resamples", n_resamples, 1)
    require_integer("seed", seed, 0)
    return bootstrap_scores(overall_scores(kept_records(run)), n_resamples, seed)


def kept_records(run: RunFigures, name: str = "the run") -> list[RecordResult]:
    """Return the records of a run; raise `InputError` if any were not kept."""
    if len(run.records) != run.total_records:
        raise InputError(
            f"resampling needs all records, but {name} kept {len(run.records)} of "
            f"{run.total_records}; FieldEvaluator.evaluate keeps all"
        )
    return run.records


def overall_scores(records: Sequence[RecordResult]) -> SumScores:
    import numpy as np

    n = len(records)
    rows = [(r.precision, r.recall, r.f1, *r.counts) for r in records]

    def scores(sums: Matrix) -> Matrix:
        return np.concatenate([sums[:3] / n, np.stack(_scores(*sums[3:]))])

    return SumScores(MEASURES, np.array(rows, dtype=float).reshape(n, 6).T.copy(), scores)


class FieldCounts:
    """Counts of a field by record."""

    def __init__(self, n_records: int) -> None:
        import numpy as np

        self.sums = np.zeros((3, n_records))
        """Rows: matched, extracted and gold counts; columns: records."""
        self.n_undecided = 0

    @property
    def counts(self) -> bool:
        return bool(self.sums[1:].any())

    def bounds(self) -> tuple[float, float]:
        """Bounds of F1: all undecided values wrong, all right."""
        n, decided = self.n_undecided, Counts(*self.sums.sum(axis=1).tolist())
        low, high = (decided.plus(Counts(matched, n, n)).scores().f1 for matched in (0, n))
        return low, high


def count_fields(records: Sequence[RecordResult]) -> defaultdict[str, FieldCounts]:
    """Count the results of each field by schema path."""
    fields = defaultdict[str, FieldCounts](partial(FieldCounts, len(records)))
    for place, record in enumerate(records):
        for result in record.field_results:
            field, status = fields[schema_path(result.path)], result.status
            if status in COUNTED:
                both = status in ("match", "mismatch")
                field.sums[0, place] += result.score * both
                field.sums[1, place] += both or status == "hallucination"
                field.sums[2, place] += both or status == "omission"
            field.n_undecided += status in UNDECIDED
    return fields


def _f1(sums: Matrix) -> Matrix:
    import numpy as np

    matched, n_extracted, n_gold = np.moveaxis(sums.reshape(-1, 3, sums.shape[-1]), 1, 0)
    return _scores(matched, n_extracted, n_gold)[2]


def _scores(matched: Matrix, n_extracted: Matrix, n_gold: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """`Counts.scores` for arrays of counts."""
    import numpy as np

    precision = np.divide(
        matched, n_extracted, out=np.ones_like(n_extracted), where=n_extracted != 0
    )
    recall = np.divide(matched, n_gold, out=np.ones_like(n_gold), where=n_gold != 0)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    return precision, recall, f1


_SHOWN_IDS = 5
_ROUNDING = 1e-9


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
    by_id_a = _by_id(kept_records(a, "run a"), "run a")
    by_id_b = _by_id(kept_records(b, "run b"), "run b")
    common = [name for name in by_id_a if name in by_id_b]
    if not common:
        raise InputError(
            f"runs a ({_ids(list(by_id_a))}) and b ({_ids(list(by_id_b))}) have no record id in "
            "common; evaluate both with the same id_field"
        )
    records_a, records_b = [by_id_a[name] for name in common], [by_id_b[name] for name in common]
    _check_gold(records_a, records_b)
    overall, _ = compare_scores(
        overall_scores(records_a), overall_scores(records_b), n_resamples, seed
    )
    counts = count_fields(records_a), count_fields(records_b)
    counted = dict.fromkeys(name for side in counts for name in side if side[name].counts)
    # a field without any results in one run is compared: records may just not contain it
    not_compared = tuple(
        name for name in counted if any(name in side and not side[name].counts for side in counts)
    )
    compared = [name for name in counted if name not in not_compared]
    fields = _field_differences(*counts, compared, n_resamples, seed)
    unsettled_fields = {
        name: _unsettled(*((side[name].n_undecided, side[name].bounds()) for side in counts))
        for name in fields
        if counts[0][name].n_undecided != counts[1][name].n_undecided
    }
    unsettled = None
    totals = [sum(field.n_undecided for field in side.values()) for side in counts]
    if totals[0] != totals[1]:
        f1 = [_f1_bounds(records, a.weights) for records in (records_a, records_b)]
        unsettled = _unsettled((totals[0], f1[0]), (totals[1], f1[1]))
    if unsettled:
        overall = {name: _without_test(difference) for name, difference in overall.items()}
    fields |= {name: _without_test(fields[name]) for name in unsettled_fields}
    changes = (Change(name, by_id_a[name].f1, by_id_b[name].f1) for name in common)
    return RunComparison(
        len(common),
        tuple(name for name in by_id_a if name not in by_id_b),
        tuple(name for name in by_id_b if name not in by_id_a),
        overall,
        fields,
        split_changes(changes),
        not_compared,
        (a.schema_digest, b.schema_digest),
        names,
        unsettled,
        unsettled_fields,
    )


def _without_test(difference: Difference) -> Difference:
    return replace(difference, interval=None, p_value=None, p_adjusted=None)


def _f1_bounds(
    records: Sequence[RecordResult], weights: Mapping[str, float]
) -> tuple[float, float]:
    mean = sum(record.f1 for record in records) / len(records)
    return Undecided(weights, records).bounds(mean, len(records))


def _unsettled(a: tuple[int, tuple[float, float]], b: tuple[int, tuple[float, float]]) -> Unsettled:
    """Bound `b - a`, given the number of undecided values and the bounds of F1 in each run."""
    return Unsettled(a[0], b[0], b[1][0] - a[1][1], b[1][1] - a[1][0])


def _by_id(records: Sequence[RecordResult], run: str) -> dict[str | int, RecordResult]:
    by_id = {record.record_id: record for record in records}
    if len(by_id) != len(records):
        counts = Counter(record.record_id for record in records)
        duplicates = [name for name, n in counts.items() if n > 1]
        raise InputError(
            f"{run} has duplicate record ids ({_ids(duplicates)}); "
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
            f"({_ids(differing)}); evaluate both runs against the same gold records"
        )


def _ids(names: Sequence[Any]) -> str:
    some = ", ".join(f"{name!r:.80}" for name in names[:_SHOWN_IDS])
    return f"{some}, ..." if len(names) > _SHOWN_IDS else some


def _field_differences(
    a: Mapping[str, FieldCounts],
    b: Mapping[str, FieldCounts],
    names: Sequence[str],
    n_resamples: int,
    seed: int,
) -> dict[str, Difference]:
    """Compare F1 by field, with p-values adjusted for the number of fields."""
    import numpy as np

    if not names:
        return {}
    scores_a, scores_b = (
        SumScores(names, np.vstack([side[name].sums for name in names]), _f1) for side in (a, b)
    )
    differences, randomized = compare_scores(scores_a, scores_b, n_resamples, seed)
    # With at most one differing record, no randomization changes the size of the difference.
    is_testable = np.ptp(np.abs(randomized), axis=1) > _ROUNDING
    testable = [name for name, can_vary in zip(names, is_testable, strict=True) if can_vary]
    observed = [differences[name].difference for name in testable]
    randomized = randomized[is_testable]
    spread = np.sqrt(np.mean(randomized**2, axis=1))
    adjusted = dict(zip(testable, step_down(observed, randomized, spread), strict=True))
    return {
        name: replace(difference, p_adjusted=adjusted.get(name, 1.0))
        for name, difference in differences.items()
    }
