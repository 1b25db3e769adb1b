"""Runs as tables for the bootstrap and for randomization tests.

Records are the unit that is resampled, since fields of one record are not independent. The results
are taken as post-processing, thresholds and weights left them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from factcheck.errors import InputError
from factcheck.fields.runs.records import RecordResult, RunFigures, Scores
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import Matrix, SumScores, bootstrap_scores, check_resampling

MEASURES = tuple(f"{kind}_{name}" for kind in ("mean", "micro") for name in Scores._fields)
"""`mean_precision` and so on."""
_MAX_NUMBERS = 4_000_000
"""Numbers in one table of fields: 32 MB."""


def run_intervals(run: RunFigures, n_resamples: int, seed: int) -> dict[str, Interval]:
    """The 95 % bootstrap intervals of all `MEASURES`; (0, 1) with fewer than two records.

    Raises:
        InputError: The records were not kept, or a setting is invalid.
    """
    check_resampling(n_resamples, seed)
    return bootstrap_scores(overall_scores(kept_records(run)), n_resamples, seed)


def field_intervals(run: RunFigures, n_resamples: int, seed: int) -> dict[str, Interval]:
    """The 95 % bootstrap intervals of the F1 of each field; (0, 1) with fewer than two records.

    Raises:
        InputError: The records were not kept, or a setting is invalid.
    """
    check_resampling(n_resamples, seed)
    records = kept_records(run)
    found: dict[str, Interval] = {}
    for scores in field_scores(records, counted_fields(records)):
        found |= bootstrap_scores(scores, n_resamples, seed)
    return found


def kept_records(run: RunFigures, name: str = "the run") -> list[RecordResult]:
    """The records of a run, which must all have been kept.

    Raises:
        InputError: They were not.
    """
    if len(run.records) != run.total_records:
        raise InputError(
            f"{name} has {len(run.records)} of its {run.total_records} records, and resampling "
            "needs all of them; for a run of which only totals were kept, RunTally.intervals "
            "gives intervals of the means"
        )
    return run.records


def overall_scores(records: Sequence[RecordResult]) -> SumScores:
    """All `MEASURES` of these records."""
    import numpy as np

    n = len(records)
    rows = [(r.precision, r.recall, r.f1, *r.counts) for r in records]

    def scores(sums: Matrix) -> Matrix:
        return np.concatenate([sums[:3] / n, np.stack(_scores(*sums[3:]))])

    return SumScores(MEASURES, np.array(rows, dtype=float).reshape(n, 6).T.copy(), scores)


def counted_fields(*runs: Sequence[RecordResult], without: Collection[str] = ()) -> list[str]:
    """Schema paths of all fields that count, in order of appearance."""
    paths = dict.fromkeys(
        result.path
        for record in chain.from_iterable(runs)
        for result in record.field_results
        if result.status in COUNTED
    )
    fields = dict.fromkeys(map(schema_path, paths))
    return [field for field in fields if field not in without]


def field_scores(records: Sequence[RecordResult], fields: Sequence[str]) -> Iterator[SumScores]:
    """The F1 of these fields, in tables of bounded size.

    The table of a field has three rows: what is matched, extracted and in gold, by record.
    """
    block = max(1, _MAX_NUMBERS // (3 * max(1, len(records))))
    for start in range(0, len(fields), block):
        names = fields[start : start + block]
        yield SumScores(names, _table(records, {name: k for k, name in enumerate(names)}), _f1)


def _table(records: Sequence[RecordResult], row_of: Mapping[str, int]) -> Matrix:
    import numpy as np

    rows: dict[str, int | None] = {}
    table = np.zeros((3 * len(row_of), len(records)))
    for column, record in enumerate(records):
        for result in record.field_results:
            status = result.status
            if status not in COUNTED:
                continue
            path = result.path
            if path not in rows:
                rows[path] = row_of.get(schema_path(path))
            row = rows[path]
            if row is not None:
                both = status in ("match", "mismatch")
                table[3 * row, column] += result.score * both
                table[3 * row + 1, column] += both or status == "hallucination"
                table[3 * row + 2, column] += both or status == "omission"
    return table


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
