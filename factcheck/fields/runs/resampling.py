"""The figures of records as arrays, and the scores of any choice of records.

A score of many records depends on nothing but sums over them, so a resample is one product of a
matrix of figures with a vector that says how often each record was drawn.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from factcheck.errors import InputError
from factcheck.fields.runs.metrics import Scores
from factcheck.fields.runs.results import RecordResult, RunResult
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED, FieldResult

Matrix = np.ndarray[Any, np.dtype[np.float64]]

MEASURES = tuple(f"{kind}_{name}" for kind in ("mean", "micro") for name in Scores._fields)
"""`mean_precision` and so on."""
_MOST_NUMBERS = 4_000_000
"""Numbers in an array of draws: 32 MB."""
_MOST_FIELDS = 2_000
"""Fields whose resamples are held at a time."""


@dataclass(frozen=True)
class Figures:
    """What the scores of records are made of."""

    names: Sequence[str]
    matrix: Any
    """Figures by records; sparse, so that sums are added up in one order on all machines."""
    scores: Callable[[Matrix], Matrix]
    """From the sums of the figures to the scores, one row a name; resamples are columns."""

    def of(self, draws: Matrix) -> Matrix:
        """The scores of some resamples, given how often each holds each record."""
        return self.scores(self.matrix @ draws)


def check_settings(n_resamples: int, seed: int) -> None:
    """Both can be used.

    Raises:
        InputError: One cannot.
    """
    for name, value, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")


def kept_records(run: RunResult, what: str = "the run") -> list[RecordResult]:
    """The records of a run, all of which must be there.

    Raises:
        InputError: They are not.
    """
    if len(run.records) != run.total_records:
        raise InputError(
            f"{what} has {len(run.records)} of its {run.total_records} records, and resampling "
            "needs all of them; of a run of which only the totals were kept, RunTally.intervals "
            "gives intervals of the means"
        )
    return run.records


def drawn(n: int, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """How often each of `n` records is drawn, records by resamples, some resamples at a time."""
    rng = np.random.default_rng(seed)
    for size in _sizes(n, n_resamples):
        draws = np.empty((size, n))
        for row in draws:
            row[:] = np.bincount(rng.integers(0, n, n, np.int32), minlength=n)
        yield draws.T


def coins(n: int, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """Zeros and ones, each as likely, in the shape of `drawn`.

    Where there are no more ways to toss than resamples, each way but all zeros comes once.
    """
    if n < (n_resamples + 1).bit_length():
        ways = np.arange(1, 2**n)
        yield (ways >> np.arange(n)[:, None] & 1).astype(float)
        return
    rng = np.random.default_rng(seed)
    for size in _sizes(n, n_resamples):
        yield rng.integers(0, 2, (n, size), np.int8).astype(float)


def _sizes(n: int, n_resamples: int) -> Iterator[int]:
    most = max(1, _MOST_NUMBERS // max(1, n))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)


def overall_figures(records: Sequence[RecordResult]) -> Figures:
    """Figures for all `MEASURES`."""
    n = len(records)
    figures = [(r.precision, r.recall, r.f1, *r.sums) for r in records]

    def scores(sums: Matrix) -> Matrix:
        return np.concatenate([sums[:3] / n, np.stack(shares(*sums[3:]))])

    return Figures(MEASURES, csc_array(np.array(figures, dtype=float).reshape(n, 6).T), scores)


def numbered_fields(*runs: Sequence[RecordResult], without: Collection[str] = ()) -> dict[str, int]:
    """The schema paths of everything that counts, numbered in the order in which they come up.

    Args:
        runs: The records of each run.
        without: Schema paths that are left out.
    """
    rows: dict[str, int] = {}
    for path in chain.from_iterable(_counted_paths(records) for records in runs):
        name = schema_path(path)
        if name not in without:
            rows.setdefault(name, len(rows))
    return rows


def _counted_paths(records: Sequence[RecordResult]) -> dict[str, None]:
    return {
        result.path: None
        for record in records
        for result in record.field_results
        if result.status in COUNTED
    }


def field_figures(records: Sequence[RecordResult], rows: Mapping[str, int]) -> Iterator[Figures]:
    """Figures for the F1 of fields, some fields at a time.

    Args:
        records: One column each.
        rows: The schema paths, numbered from 0; what is not in them is left out.
    """
    names = list(rows)
    matrix = _field_matrix(records, rows)
    for start in range(0, len(names), _MOST_FIELDS):
        some = names[start : start + _MOST_FIELDS]
        yield Figures(some, matrix[3 * start : 3 * (start + len(some))], _f1)


def _field_matrix(records: Sequence[RecordResult], rows: Mapping[str, int]) -> Any:
    """Fields by records; of each field three rows: what is matched, found and wanted."""
    places: dict[str, int] = {}
    values, indices, ends = array("d"), array("q"), array("q", [0])
    for record in records:
        own: dict[int, list[float]] = {}
        for result in record.field_results:
            if result.status in COUNTED:
                place = places.get(result.path)
                if place is None:
                    place = places[result.path] = rows.get(schema_path(result.path), -1)
                if place < 0:
                    continue
                _count(result, own.setdefault(place, [0.0, 0.0, 0.0]))
        for place, sums in own.items():
            values.extend(sums)
            indices.extend(range(3 * place, 3 * place + 3))
        ends.append(len(values))
    parts = [np.frombuffer(part, kind) for part, kind in ((values, float), (indices, np.int64))]
    shape = (3 * len(rows), len(records))
    return csc_array((*parts, np.frombuffer(ends, np.int64)), shape)


def _count(result: FieldResult, sums: list[float]) -> None:
    both = result.status in ("match", "mismatch")
    sums[0] += result.score * both
    sums[1] += both or result.status == "hallucination"
    sums[2] += both or result.status == "omission"


def _f1(sums: Matrix) -> Matrix:
    matched, found, wanted = np.moveaxis(sums.reshape(-1, 3, sums.shape[-1]), 1, 0)
    return shares(matched, found, wanted)[2]


def shares(matched: Matrix, found: Matrix, wanted: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Precision, recall and F1 as `Sums.scores` has them, of many sums at once."""
    precision = np.divide(matched, found, out=np.ones_like(found), where=found != 0)
    recall = np.divide(matched, wanted, out=np.ones_like(wanted), where=wanted != 0)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    return precision, recall, f1
