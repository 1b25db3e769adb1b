"""The results of a run as rows, one for each field of each record.

A row has the keys of `COLUMNS`; the last two only where transforms changed the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from factcheck.errors import ConfigError
from factcheck.fields.runs.results import RecordResult
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import FieldResult

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "record",
    "path",
    "field",
    "status",
    "score",
    "comparator",
    "reason",
    "gold",
    "extracted",
    "gold_compared",
    "extracted_compared",
)
"""`record` is the id of the record, `path` the place in it, and `field` the path in the schema."""


def iter_rows(records: Iterable[RecordResult]) -> Iterator[dict[str, Any]]:
    """One row after the other; values are the objects that were scored."""
    fields: dict[str, str] = {}
    for record in records:
        for result in record.field_results:
            path = result.path
            field = fields.get(path)
            if field is None:
                field = fields[path] = schema_path(path)
            row = {
                "record": record.record_id,
                "path": path,
                "field": field,
                "status": result.status,
                "score": result.score,
                "comparator": result.comparator,
                "reason": result.reason,
                "gold": result.gold_value,
                "extracted": result.extracted_value,
            }
            if _was_compared(result):
                if differ(result.gold_value, result.gold_compared):
                    row["gold_compared"] = result.gold_compared
                if differ(result.extracted_value, result.extracted_compared):
                    row["extracted_compared"] = result.extracted_compared
            yield row


def frame(records: Iterable[RecordResult]) -> pd.DataFrame:
    """All rows as a table, in which every row has all columns.

    Raises:
        ConfigError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ConfigError("a table of rows needs pandas; install it: pip install pandas") from error
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in iter_rows(records):
        for name, values in columns.items():
            values.append(row.get(name))
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=float if name == "score" else object)
            for name, values in columns.items()
        }
    )


def differ(value: Any, other: Any) -> bool:
    """Whether two values are written differently; 1, 1.0 and true all are."""
    if value is other:
        return False
    if type(value) is not type(other):
        return True
    if isinstance(value, str):
        return bool(value != other)
    try:
        return repr(value) != repr(other)
    except Exception:  # noqa: BLE001 - the user's own type, or nested too deeply
        return True


def _was_compared(result: FieldResult) -> bool:
    """Whether a comparator saw the values, after transforms that may have made them null."""
    if result.gold_compared is not None or result.extracted_compared is not None:
        return True
    return bool(result.comparator) and result.status in ("match", "mismatch")
