"""Comparison of two runs: overall, by field and by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from factcheck.fields.pages import field_text
from factcheck.fields.values import plain
from factcheck.reports import Report
from factcheck.reports.page import (
    MOST_ROWS,
    Alert,
    Case,
    Item,
    Page,
    Section,
    Table,
    filled,
    listed,
)
from factcheck.reports.text import DASH, more_of, name_text, p_text, plural, share, signed
from factcheck.stats.comparison import SIGNIFICANT, Changes, Comparison

FORMAT = "factcheck-fields-comparison/1"
_NOTABLE = 0.2
"""Loss in F1 of a field that is worth a warning."""
_SHOWN_IDS = 5
_COLUMNS = ("A", "B", "B - A", "95 % interval", "p")
_NARROW = ("p", ("95 % interval",))
_LEGEND = f"won, lost: p, adjusted for the number of fields, is below {SIGNIFICANT}"
_ABSENT = "absent"
_ABSENT_LEGEND = "absent: no value in gold or the extraction, which counts as F1 1"
_OVERALL = {
    f"{kind}_{name.lower()}": f"{name} ({word})"
    for kind, word in (("mean", "macro"), ("micro", "micro"))
    for name in ("F1", "precision", "recall")
}
_ROW_COLUMNS = ("field", "verdict", "a", "b", "difference", "low", "high", "p_value", "p_adjusted")

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

    def __str__(self) -> str:
        return (
            f"{plural(self.n_a, 'value')} without a verdict in A and {self.n_b:,} in B; depending "
            f"on them, B - A is {signed(self.low)} to {signed(self.high)}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class RunComparison(Report):
    """Differences from run `a` to run `b`, over their common records."""

    n_records: int
    only_in_a: tuple[str | int, ...]
    """Ids of records excluded because `b` lacks them."""
    only_in_b: tuple[str | int, ...]
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
        """Verdict by field: won, lost, unchanged, undecided or not compared."""
        verdicts = {}
        for name, one in self.fields.items():
            verdicts[name] = "undecided" if name in self.unsettled_fields else "unchanged"
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
        return self._with("unchanged")

    def _with(self, verdict: str) -> tuple[str, ...]:
        names = [name for name, one in self.verdicts.items() if one == verdict]
        return tuple(sorted(names, key=lambda name: -abs(self.fields[name].difference)))

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
        falls = ((self.fields[name].difference, name) for name in self.unchanged)
        fall, name = min(falls, default=(0.0, ""))
        return f"F1 of {field_text(name)} fell by {-fall:.3f}" if fall <= -_NOTABLE else ""

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

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON data, with F1 in both runs for each changed record."""
        lists = (
            *("only_in_a", "only_in_b", "won", "lost", "unchanged", "not_compared"),
            *("absent_in_a", "absent_in_b", "n_unusable"),
        )
        data: dict[str, Any] = plain(
            {
                "format": FORMAT,
                "same_schema": self.same_schema,
                "schemas": self.schemas,
                "n_records": self.n_records,
                **{name: getattr(self, name) for name in lists},
                "overall": {name: found.to_dict() for name, found in self.overall.items()},
                "fields": {name: found.to_dict() for name, found in self.fields.items()},
                "unsettled": self.unsettled and self.unsettled._asdict(),
                "unsettled_fields": {
                    name: found._asdict() for name, found in self.unsettled_fields.items()
                },
                "better": [change._asdict() for change in self.records.better],
                "worse": [change._asdict() for change in self.records.worse],
                "p_value": None if self.unsettled else self.records.p_value,
            }
        )
        return data

    def page(self) -> Page:
        """Build the report: verdict on F1, fields won and lost, records."""
        main = self.overall["mean_f1"]
        verdict = "no verdict" if self.unsettled else "no significant difference"
        if main.is_significant:
            verdict = "B is better" if main.difference > 0 else "B is worse"
        if self.same_schema is False:
            verdict += ", but by a different schema"
        overall = [
            _row(text, d, share(d.a), share(d.b))
            for text, d in ((text, self.overall[name]) for name, text in _OVERALL.items())
        ]
        return Page(
            "F1",
            f"{share(main.a)} → {share(main.b)} ({signed(main.difference)})",
            verdict,
            lines=tuple(self._lines()),
            alerts=tuple(
                Alert(f"Warning: {warning}", "warn")
                for warning in (self.schema_warning, self._no_verdict, self._one_sided)
                if warning
            ),
            sections=filled(
                Section("Overall", table=_table(overall)),
                self._section(Section("Won", "good"), self.won),
                self._section(Section("Lost", "bad"), self.lost),
                self._section(Section("No significant difference"), self.unchanged),
                *(
                    listed(title, "unknown", "", list(texts.items()), _field_item, "field")
                    for title, texts in (
                        ("No verdict", self.unsettled_fields),
                        ("Only one run has a score", dict.fromkeys(self.not_compared, "")),
                    )
                ),
            ),
            suite="fields.compare",
            cases=tuple(self._cases()),
            columns=_ROW_COLUMNS,
            rows=self._rows,
        )

    def _lines(self) -> Iterator[str]:
        records = self.records
        if any(self.names):
            yield f"A is {self.names[0]}, B is {self.names[1]}"
        yield (
            f"{plural(self.n_records, 'record')}: {len(records.better):,} better, "
            f"{len(records.worse):,} worse, {len(records.unchanged):,} equal"
            + ("" if self.unsettled else f" (sign test: p {p_text(records.p_value)})")
        )
        if any(self.n_unusable):
            in_a, in_b = (f"{n:,}" for n in self.n_unusable)
            yield f"Unusable extractions: {in_a} in A, {in_b} in B, of {self.n_records:,} each"
        no_verdict = f", {len(self.unsettled_fields):,} without a verdict"
        yield (
            f"{plural(len(self.fields), 'field')}: {len(self.won):,} won, {len(self.lost):,} lost, "
            f"{len(self.unchanged):,} without significant difference"
            + (no_verdict if self.unsettled_fields else "")
        )
        for side, ids in (("A", self.only_in_a), ("B", self.only_in_b)):
            if ids:
                some = ", ".join(name_text(str(one)) for one in ids[:_SHOWN_IDS])
                dots = ", …" if len(ids) > _SHOWN_IDS else ""
                yield f"Excluded: {plural(len(ids), 'record')} only in {side} ({some}{dots})"

    def _section(self, section: Section, names: Sequence[str]) -> Section:
        differing = [name for name in names if self.fields[name].difference]
        shown = differing[:MOST_ROWS]
        rows = [_row(field_text(name), self.fields[name], *self._f1_texts(name)) for name in shown]
        n_equal = len(names) - len(differing)
        equal = f"{plural(n_equal, 'field')} with equal F1" if n_equal else ""
        more = more_of(len(differing) - len(rows), "field")
        if equal:
            more = f"{more}, {equal}" if more else f"and {equal}" if rows else equal
        legend = [_LEGEND] if rows else []
        if not {*self.absent_in_a, *self.absent_in_b}.isdisjoint(shown):
            legend.append(_ABSENT_LEGEND)
        title = f"{section.title} {len(names):,}"
        return section._replace(title=title, table=_table(rows), more=more, legend=tuple(legend))

    def _f1_texts(self, name: str) -> tuple[str, str]:
        """F1 of a field in both runs, or that the run does not have it."""
        d = self.fields[name]
        return (
            _ABSENT if name in self.absent_in_a else share(d.a),
            _ABSENT if name in self.absent_in_b else share(d.b),
        )

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for name, verdict in self.verdicts.items():
            cells: tuple[Any, ...] = (name, verdict)
            if d := self.fields.get(name):
                ends = d.interval or (None, None)
                cells = (*cells, d.a, d.b, d.difference, *ends, d.p_value, d.p_adjusted)
            yield dict(zip(_ROW_COLUMNS, cells, strict=False))

    def _cases(self) -> Iterator[Case]:
        """One case per field, failed if B is significantly worse."""
        for name, verdict in self.verdicts.items():
            change = "only one run has a score"
            if d := self.fields.get(name):
                change = f"F1 {' → '.join(self._f1_texts(name))} ({signed(d.difference)})"
            if verdict == "lost":
                change += f", p {p_text(self.fields[name].p_adjusted or 0.0)}"
                yield Case(field_text(name), "failed", change, verdict)
            elif verdict in ("undecided", "not compared"):
                yield Case(field_text(name), "skipped", change, verdict)
            else:
                yield Case(field_text(name), message=change)


def _p_value(d: Difference) -> float | None:
    """The p-value, adjusted for the number of fields where it is that of a field."""
    return d.p_value if d.p_adjusted is None else d.p_adjusted


def _is_worse(d: Difference) -> bool:
    p_value = _p_value(d)
    return d.difference < 0 and p_value is not None and p_value / 2 < SIGNIFICANT


def _field_item(entry: tuple[str, object]) -> Item:
    return Item(field_text(entry[0]), str(entry[1]))


def _row(name: str, d: Difference, a: str, b: str) -> tuple[str, ...]:
    p_value = _p_value(d)
    return (
        name,
        a,
        b,
        signed(d.difference),
        " to ".join(map(signed, d.interval)) if d.interval else DASH,
        DASH if p_value is None else p_text(p_value),
    )


def _table(rows: Sequence[tuple[str, ...]]) -> Table:
    columns = ("", *_COLUMNS)[: len(rows[0]) if rows else None]
    return Table(columns, tuple(rows), dispensable=_NARROW)
