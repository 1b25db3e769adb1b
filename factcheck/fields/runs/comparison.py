"""Two runs compared: overall, field by field, and record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from factcheck.errors import InputError
from factcheck.fields.runs.plain import plain
from factcheck.fields.runs.results import RecordResult, RunResult
from factcheck.stats import Interval

FORMAT = "factcheck-fields-comparison/1"
_SIGNIFICANT = 0.05
_MOST_CHANGES = 10
_MOST_SHOWN = 5
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """One score in two runs, over the records that both have."""

    a: float
    b: float
    difference: float
    """`b - a`: above 0, `b` is better."""
    interval: Interval
    """95 % confidence interval of the difference; (-1, 1) where there is one record only."""
    p_value: float
    """How likely chance alone makes at least this difference, in either direction."""
    p_adjusted: float
    """Of a field: how likely chance makes so clear a difference anywhere among the fields. The
    overall scores are not adjusted; for them it is the `p_value`."""


class OneSided(NamedTuple):
    """F1 of a field that only one of two runs has a score of; `None` in the other."""

    a: float | None
    b: float | None


class RecordChange(NamedTuple):
    """F1 of one record in two runs."""

    record_id: str | int
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """How the F1 of single records changed from run `a` to run `b`."""

    n_better: int
    n_worse: int
    n_equal: int
    p_value: float
    """Of the exact sign test: how likely tossed coins are at least as one-sided."""
    most_improved: tuple[RecordChange, ...]
    """The largest gains, at most 10."""
    most_worsened: tuple[RecordChange, ...]
    """The largest losses, at most 10."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What changed from run `a` to run `b`, over the records that both have."""

    n_records: int
    only_in_a: tuple[str | int, ...]
    """Ids of the records that are left out because `b` does not have them."""
    only_in_b: tuple[str | int, ...]
    overall: Mapping[str, Difference]
    """`mean_precision`, `mean_recall`, `mean_f1`, `micro_precision`, `micro_recall`, `micro_f1`."""
    fields: Mapping[str, Difference]
    """F1 by path in the schema, of every field that counts in either run and can be compared."""
    records: RecordChanges
    not_compared: Mapping[str, OneSided] = field(default_factory=dict)
    """Fields that have a score in one run only: in the other they are there, but skipped or
    undecided throughout."""
    schemas: tuple[str | None, str | None] = (None, None)
    """The `schema_digest` of both runs."""

    @property
    def same_schema(self) -> bool | None:
        """Whether both runs were scored by the same schema; `None` where that is not known."""
        a, b = self.schemas
        return None if a is None or b is None else a == b

    def __str__(self) -> str:
        """What changed in a few lines; `factcheck fields compare` prints a table."""
        from factcheck.fields.runs.words import comparison_in_words

        return comparison_in_words(self)

    @property
    def won(self) -> tuple[str, ...]:
        """Fields in which `b` is better with an adjusted p-value below 0.05; largest gain first."""
        return tuple(sorted(self._clear(1), key=lambda name: -self.fields[name].difference))

    @property
    def lost(self) -> tuple[str, ...]:
        """Fields in which `a` is better in the same sense; largest loss first."""
        return tuple(sorted(self._clear(-1), key=lambda name: self.fields[name].difference))

    @property
    def unchanged(self) -> tuple[str, ...]:
        """All other fields; that they are equal has not been shown."""
        clear = {*self._clear(1), *self._clear(-1)}
        return tuple(name for name in self.fields if name not in clear)

    def _clear(self, sign: int) -> list[str]:
        return [
            name
            for name, found in self.fields.items()
            if found.p_adjusted < _SIGNIFICANT and found.difference * sign > 0
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        data: dict[str, Any] = plain(
            {
                "format": FORMAT,
                "same_schema": self.same_schema,
                "schemas": dict(zip("ab", self.schemas, strict=True)),
                "n_records": self.n_records,
                "only_in_a": self.only_in_a,
                "only_in_b": self.only_in_b,
                "overall": {name: asdict(found) for name, found in self.overall.items()},
                "fields": {name: asdict(found) for name, found in self.fields.items()},
                "won": self.won,
                "lost": self.lost,
                "unchanged": self.unchanged,
                "not_compared": {name: f1._asdict() for name, f1 in self.not_compared.items()},
                "records": {
                    "better": self.records.n_better,
                    "worse": self.records.n_worse,
                    "equal": self.records.n_equal,
                    "p_value": self.records.p_value,
                    "most_improved": [change._asdict() for change in self.records.most_improved],
                    "most_worsened": [change._asdict() for change in self.records.most_worsened],
                },
            }
        )
        return data


def compare_runs(
    a: RunResult, b: RunResult, *, n_resamples: int = 2000, seed: int = 0
) -> RunComparison:
    """Say what changed from run `a` to run `b`, and what of it is more than chance.

    Records are paired by their id. Intervals are by the paired bootstrap, p-values by paired
    randomization; the methods, and why, are in `factcheck.fields.runs.paired`. With many fields,
    some seem to differ by chance: fields count as won or lost by a p-value that is adjusted for
    their number, so that no more than 1 in 20 comparisons of equal runs has any such field. A field
    whose interval excludes 0 may thus still be `unchanged`.

    Args:
        a: What `b` is compared with.
        b: The run in question; its gains are positive.
        n_resamples: Resamples of the records, and randomizations, if there are as many. The
            smallest p-value is `1 / (n_resamples + 1)`.
        seed: Equal seeds give equal numbers.

    Raises:
        InputError: The runs have no record in common, a run has not kept its records or has two
            with one id, gold records differ between the runs, or the settings cannot be used.
    """
    from factcheck.fields.runs.one_sided import one_sided_fields
    from factcheck.fields.runs.paired import field_differences, overall_differences
    from factcheck.fields.runs.resampling import check_settings, kept_records

    check_settings(n_resamples, seed)
    of_a = _by_id(kept_records(a, "run a"), "run a")
    of_b = _by_id(kept_records(b, "run b"), "run b")
    common = [name for name in of_a if name in of_b]
    if not common:
        raise InputError(
            f"no record of run a ({_shown(list(of_a))}) is in run b ({_shown(list(of_b))}); "
            "records are paired by id: use the same id_field for both"
        )
    pairs = [(of_a[name], of_b[name]) for name in common]
    _check_gold(pairs)
    records_a, records_b = [own for own, _ in pairs], [other for _, other in pairs]
    one_sided = one_sided_fields(records_a, records_b)
    return RunComparison(
        len(common),
        tuple(name for name in of_a if name not in of_b),
        tuple(name for name in of_b if name not in of_a),
        overall_differences(records_a, records_b, n_resamples, seed),
        field_differences(records_a, records_b, n_resamples, seed, without=one_sided),
        _record_changes(pairs),
        one_sided,
        (a.schema_digest, b.schema_digest),
    )


def _by_id(records: Sequence[RecordResult], what: str) -> dict[str | int, RecordResult]:
    by_id = {record.record_id: record for record in records}
    if len(by_id) != len(records):
        counts = Counter(record.record_id for record in records)
        doubled = [name for name, n in counts.items() if n > 1]
        raise InputError(
            f"{what} has several records with the id {_shown(doubled)}; "
            "to be paired, records need ids of their own"
        )
    return by_id


def _check_gold(pairs: Sequence[tuple[RecordResult, RecordResult]]) -> None:
    """Two runs can only be compared where both were asked for the same."""
    unlike = [a.record_id for a, b in pairs if not _same_gold(a.gold, b.gold)]
    if unlike:
        raise InputError(
            f"{len(unlike)} of {len(pairs)} records have another gold record in run b than in "
            f"run a ({_shown(unlike)}); evaluate both runs against the same gold records"
        )


def _same_gold(gold: Any, other: Any) -> bool:
    """Whether two gold records are equal once they are written as JSON, as a saved run is."""
    return gold is other or plain(gold) == plain(other)


def _shown(names: Sequence[str | int]) -> str:
    some = ", ".join(f"{name!r:.80}" for name in names[:_MOST_SHOWN])
    return f"{some}, ..." if len(names) > _MOST_SHOWN else some


def _record_changes(pairs: Sequence[tuple[RecordResult, RecordResult]]) -> RecordChanges:
    from scipy.special import bdtr

    changes = [RecordChange(a.record_id, a.f1, b.f1) for a, b in pairs]
    better = sorted((c for c in changes if c.b - c.a > _NEGLIGIBLE), key=lambda c: c.a - c.b)
    worse = sorted((c for c in changes if c.a - c.b > _NEGLIGIBLE), key=lambda c: c.b - c.a)
    n_better, n_worse = len(better), len(worse)
    tail = float(bdtr(min(n_better, n_worse), n_better + n_worse, 0.5))
    return RecordChanges(
        n_better,
        n_worse,
        len(changes) - n_better - n_worse,
        min(1.0, 2 * tail),
        tuple(better[:_MOST_CHANGES]),
        tuple(worse[:_MOST_CHANGES]),
    )
