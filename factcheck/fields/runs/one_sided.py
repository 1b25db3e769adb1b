"""Fields that have a score in one of two runs only, so that there is no difference to speak of."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.fields.runs.comparison import OneSided
from factcheck.fields.runs.metrics import sums_of
from factcheck.fields.runs.results import RecordResult
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED, FieldResult


def one_sided_fields(a: Sequence[RecordResult], b: Sequence[RecordResult]) -> dict[str, OneSided]:
    """The fields that count in one run, and in the other are skipped or undecided throughout.

    A field that is not there at all in a run has nothing to find fault with; it is not among them.
    """
    counted_a, outside_a = _paths(a)
    counted_b, outside_b = _paths(b)
    only_a = [path for path in counted_a if path in outside_b and path not in counted_b]
    only_b = [path for path in counted_b if path in outside_a and path not in counted_a]
    f1_a, f1_b = _f1(a, only_a), _f1(b, only_b)
    return {
        **{path: OneSided(f1_a[path], None) for path in only_a},
        **{path: OneSided(None, f1_b[path]) for path in only_b},
    }


def _paths(records: Sequence[RecordResult]) -> tuple[dict[str, None], dict[str, None]]:
    """Schema paths of what counts, and of what stands outside every share."""
    paths: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for record in records:
        for result in record.field_results:
            paths[result.status not in COUNTED][result.path] = None
    counted, outside = (dict.fromkeys(map(schema_path, some)) for some in paths)
    return counted, outside


def _f1(records: Sequence[RecordResult], paths: Sequence[str]) -> dict[str, float]:
    found: dict[str, list[FieldResult]] = {path: [] for path in paths}
    for record in records if paths else ():
        for result in record.field_results:
            own = found.get(schema_path(result.path))
            if own is not None:
                own.append(result)
    return {path: sums_of(results).scores().f1 for path, results in found.items()}
