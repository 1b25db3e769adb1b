"""Comparison of two runs: overall, by field and by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from factcheck.fields.pages import field_text
from factcheck.reports import Report
from factcheck.reports.comparison import Unit, comparison_page, scored_unit, unit_table
from factcheck.reports.page import Alert, Item, Page, Section
from factcheck.reports.text import p_text, plural, signed
from factcheck.stats.comparison import SIGNIFICANT, Changes, Comparison

_NOTABLE = 0.2
"""Loss in F1 of a field that is worth a warning."""
_ABSENT = "absent"
_CLEAR = f"p, adjusted for the number of fields, is below {SIGNIFICANT}"
_OVERALL = {
    f"{kind}_{name.lower()}": f"{name} ({word})"
    for kind, word in (("mean", "macro"), ("micro", "micro"))
    for name in ("F1", "precision", "recall")
}
_OPEN = "without significant difference"
_GROUPS = (
    Section("Won", "good", _CLEAR),
    Section("Lost", "bad", _CLEAR),
    Section(_OPEN.capitalize(), "plain", "by p adjusted for the number of fields"),
    Section("Undecided", "unknown", "values without a verdict differ"),
    Section("Not compared", "unknown", "only one run has a score"),
)

Difference = Comparison
"""One score in two runs, over their common records."""


class Unsettled(NamedTuple):
    """Undecided values that differ between two runs, and the resulting bounds of `b - a`."""

    n_a: int
    n_b: int
    low: float
    """`b - a` if all were wrong in `b` and right in `a`."""
    high: float
    """`b - a` if all were right in `b` and wrong in `a`."""

    def as_plain(self) -> dict[str, Any]:
        return self._asdict()

    def __str__(self) -> str:
        return (
            f"{plural(self.n_a, 'value')} without a verdict in A and {self.n_b:,} in B; depending "
            f"on them, B - A is {signed(self.low)} to {signed(self.high)}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class RunComparison(Report):
    """Differences from run `a` to run `b`, over their common records."""

    DERIVED = ("same_schema", "won", "lost", "unchanged", "worse", "no_verdict")
    n_records: int
    only_a: tuple[str | int, ...]
    """Ids of records excluded because `b` lacks them."""
    only_b: tuple[str | int, ...]
    overall: Mapping[str, Difference]
    """`mean_precision`, `mean_recall`, `mean_f1`, `micro_precision`, `micro_recall`, `micro_f1`;
    their p-values are not adjusted."""
    fields: Mapping[str, Difference]
    """F1 by path in the schema, for fields scored in either run and comparable."""
    records: Changes
    """Changes in F1 by record."""
    not_compared: tuple[str, ...] = ()
    """Fields with a score in one run, and only skipped or undecided results in the other."""
    schemas: tuple[str | None, str | None] = (None, None)
    """The `schema_digest` of both runs."""
    names: tuple[str, str] = ("", "")
    """Display names of the runs; may be empty."""
    unsettled: Unsettled | None = None
    """Bounds of the difference in mean F1, in place of intervals and p-values, if other
    values are undecided in one run than in the other."""
    unsettled_fields: Mapping[str, Unsettled] = field(default_factory=dict)
    """Bounds of the difference in F1 by field; these are neither won, lost nor unchanged."""
    n_unusable: tuple[int, int] = (0, 0)
    """Number of common records whose extraction is unusable in `a` and in `b`."""
    absent_in_a: tuple[str, ...] = ()
    """Fields in `fields` without any result in `a`, whose F1 is therefore 1."""
    absent_in_b: tuple[str, ...] = ()

    @property
    def same_schema(self) -> bool | None:
        """Whether both runs were scored by the same schema; `None` if unknown."""
        return None if None in self.schemas else self.schemas[0] == self.schemas[1]

    @property
    def schema_warning(self) -> str:
        """Warning that differences may be due to the schema; empty if it is the same."""
        if self.same_schema:
            return ""
        problem = "A and B were scored by different schemas"
        if unknown := [run for run, one in zip("AB", self.schemas, strict=True) if one is None]:
            problem = f"the schema of {' and '.join(unknown)} is unknown"
        return f"{problem}, so differences may be due to the schema; evaluate both by the same one"

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict by field: the title of its group, in lower case."""
        verdicts = {}
        for name, one in self.fields.items():
            verdicts[name] = "undecided" if name in self.unsettled_fields else _OPEN
            if one.is_significant and one.difference:
                verdicts[name] = "won" if one.difference > 0 else "lost"
        return {**verdicts, **dict.fromkeys(self.not_compared, "not compared")}

    @property
    def won(self) -> tuple[str, ...]:
        """Fields in which `b` is significantly better (adjusted p-value); largest gain first."""
        return self._with("won")

    @property
    def lost(self) -> tuple[str, ...]:
        """Fields in which `a` is significantly better (adjusted p-value); largest loss first."""
        return self._with("lost")

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Fields without a significant difference, not necessarily equal; largest first."""
        return self._with(_OPEN)

    def _with(self, verdict: str) -> tuple[str, ...]:
        names = [name for name, one in self.verdicts.items() if one == verdict]
        sizes = {name: abs(one.difference) for name, one in self.fields.items()}
        return tuple(sorted(names, key=lambda name: -sizes.get(name, 0.0)))

    @property
    def worse(self) -> str:
        """Scores in which `b` is significantly worse, as text; empty if there are none.

        Gains are not in question, so one-sided p-values count, half of the two-sided ones: five
        records in which a field is worse, and none in which it is better, suffice.
        """
        main = self.overall["mean_f1"]
        parts = [f"F1 {signed(main.difference)}"] if _is_worse(main) else []
        parts += [f"lost {field_text(name)}" for name in self.lost]
        parts += [
            f"{field_text(name)} {signed(self.fields[name].difference)}"
            for name in self.unchanged
            if _is_worse(self.fields[name])
        ]
        return ", ".join(parts)

    @property
    def doubt(self) -> str:
        """The largest loss of a field that is not significant, if it is 0.2 or more, as text."""
        falls = ((self.fields[name], name) for name in self.unchanged)
        open_ = ((one.difference, name) for one, name in falls if not _is_worse(one))
        fall, name = min(open_, default=(0.0, ""))
        return (
            f"F1 of {field_text(name)} fell by {-fall:.3f}; that may be chance"
            if fall <= -_NOTABLE
            else ""
        )

    @property
    def _one_sided(self) -> str:
        is_hidden = self.worse and not (self.lost or self.overall["mean_f1"].is_significant)
        return f"B is worse if only losses are tested ({self.worse})" if is_hidden else ""

    @property
    def no_verdict(self) -> str:
        """Reason why it is unknown whether `b` is worse; empty if it is known."""
        return self._no_verdict if self.unsettled and self.unsettled.low < 0 else ""

    @property
    def _no_verdict(self) -> str:
        return f"{self.unsettled}, so there is no verdict" if self.unsettled else ""

    def page(self) -> Page:
        """Build the report: verdict on F1, fields won and lost, records."""
        page = comparison_page(
            "F1",
            "field",
            self.overall["mean_f1"],
            {one: [*map(self._unit, self._with(one.title.lower()))] for one in _GROUPS},
            f"by record ({plural(self.n_records, 'record')})",
            self._lines(),
            names=self.names,
            left_out={"Only in A": self.only_a, "Only in B": self.only_b},
        )
        overall = (scored_unit("", text, self.overall[name]) for name, text in _OVERALL.items())
        warnings = (self.schema_warning, self._no_verdict, self._one_sided, self.doubt)
        return page._replace(
            counts=page.counts + "; by a different schema" * (self.same_schema is False),
            alerts=tuple(Alert(text, "warn") for text in warnings if text),
            sections=(unit_table(Section("Overall"), "score", overall), *page.sections),
            suite="fields.compare",
        )

    def _lines(self) -> Iterator[str]:
        records = self.records
        p_value = "" if self.unsettled else f" (sign test: p {p_text(records.p_value)})"
        yield (
            f"{plural(self.n_records, 'record')}: {len(records.better):,} better, "
            f"{len(records.worse):,} worse, {len(records.unchanged):,} equal{p_value}"
        )
        if any(self.n_unusable):
            in_a, in_b = (f"{n:,}" for n in self.n_unusable)
            yield f"Unusable extractions: {in_a} in A, {in_b} in B, of {self.n_records:,} each"
        if self.absent_in_a or self.absent_in_b:
            yield "absent: no value in gold or the extraction, which counts as F1 1"

    def _unit(self, name: str) -> Unit:
        label = field_text(name)
        if name not in self.fields:
            return Unit(label, "only one run has a score", Item(label), data={"field": name})
        absent = (_ABSENT * (name in side) for side in (self.absent_in_a, self.absent_in_b))
        unit = scored_unit("field", label, self.fields[name], *absent)
        unit = unit._replace(change=f"F1 {unit.change}")
        if name not in self.unsettled_fields:
            return unit
        return unit._replace(item=Item(label, str(self.unsettled_fields[name])))


def _is_worse(d: Difference) -> bool:
    return d.difference < 0 and d.p is not None and d.p / 2 < SIGNIFICANT
