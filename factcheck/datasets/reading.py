"""Reading a dataset of any format: one record at a time, ids unique, errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from factcheck.datasets.folder import folder_entries
from factcheck.datasets.lines import jsonl_entries
from factcheck.datasets.parquet import parquet_entries
from factcheck.datasets.record import Entry, Place, Record, record_from
from factcheck.datasets.tables import table_entries
from factcheck.errors import InputError
from factcheck.facts import digest
from factcheck.files import PathOrDash


def read_records(
    path: PathOrDash, *, skip_bad: Callable[[InputError], None] | None = None
) -> Iterator[Record]:
    """The records of a dataset, in its order; one is held at a time.

    Args:
        path: By its suffix: `.jsonl` or `.ndjson` (one object a line), `.csv` or `.tsv` (with a
            header line; `facts` as a JSON list, or one a line), either of them with `.gz` after
            it, or `.parquet`. A folder of `NAME.source.txt`, `NAME.summary.txt` and perhaps
            `NAME.facts.yaml`; of `NAME.summary.LABEL.txt`, too, with the id `NAME/LABEL`. `-`:
            JSON lines on standard input. Every record has `source` and `summary`; an `id` (else
            its position, from 1) and `facts` if it likes; what else it has is ignored.
        skip_bad: Called with what is wrong with a record, which is then left out. `None`: the
            first such error is raised.

    Returns:
        The records. Besides one record, about 120 bytes are held for every id seen; of a folder,
        the names of its files, of a Parquet file, a page of each column.

    Raises:
        InputError: The path is unknown or of another format, at once. While reading: a record
            cannot be used (see `skip_bad`), or, in any case, the file as a whole: unreadable, a
            column missing, no records in it.
        ConfigError: pyarrow is needed and not installed.
    """
    name = "standard input" if path == "-" else str(path)
    return _records(_entries(path), name, skip_bad)


def _entries(path: PathOrDash) -> Iterator[Entry]:
    if path == "-":
        return jsonl_entries(path)
    if Path(path).is_dir():
        return folder_entries(Path(path))
    name = str(path).lower()
    bare = name.removesuffix(".gz")
    if not Path(path).exists():
        raise InputError(f"{path} does not exist; check the path")
    if bare.endswith((".jsonl", ".ndjson")):
        return jsonl_entries(path)
    if bare.endswith((".csv", ".tsv")):
        return table_entries(path, "\t" if bare.endswith(".tsv") else ",")
    if name.endswith(".parquet"):
        return parquet_entries(path)
    raise InputError(
        f"{path}: records come from a .jsonl, .ndjson, .csv, .tsv or .parquet file, or a folder"
    )


def _records(
    entries: Iterator[Entry], name: str, skip_bad: Callable[[InputError], None] | None
) -> Iterator[Record]:
    ids = _Ids()
    number = 0
    for number, entry in enumerate(entries, 1):
        record = _record(entry, number, ids)
        if isinstance(record, Record):
            yield record
        elif skip_bad is None:
            raise record
        else:
            skip_bad(record)
    if number == 0:
        raise InputError(f"{name} holds no records")


def _record(entry: Entry, number: int, ids: _Ids) -> Record | InputError:
    if isinstance(entry.data, InputError):
        return entry.data
    try:
        record = record_from(entry.data, number, str(entry.place))
        ids.add(record.id, entry.place)
    except InputError as error:
        return error
    return record


class _Ids:
    """The ids seen, and where; as digests, so that long ids cost no more than short ones."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def add(self, new: str, place: Place) -> None:
        """Remember an id; raises `InputError` if it is known."""
        key = bytes.fromhex(digest(new)[:30])
        first = self._numbers.setdefault(key, place.number)
        if first != place.number:
            raise InputError(
                f"{place}: the id {new!r} was used before, in {place.unit} {first}; "
                "ids must be unique"
            )
