"""Comparison of two runs over the same cases.

Cases are paired by id and compared by F1, or for behaviors by whether they passed. The difference
of the means is tested by paired randomization.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from factcheck.documents import PathOrDash, name_of, parse_json, read_text, to_plain
from factcheck.errors import InputError
from factcheck.keywords.behavior_runs import BehaviorRun
from factcheck.keywords.card_runs import DatasetResult
from factcheck.reports import Report
from factcheck.reports.page import MOST_ROWS, Case, Page, Section, Table, Tone, filled, parts_of
from factcheck.reports.text import more_of, name_text, p_text, plural, quote_text, share, signed
from factcheck.stats.comparison import Change, Changes, Comparison, compare_means, split_changes

Run = DatasetResult | BehaviorRun
_MAX_IDS = 5
_VERDICTS = {"better": "B is better", "worse": "B is worse", "unclear": "no clear difference"}


@dataclass(frozen=True, slots=True, repr=False)
class KeywordComparison(Report):
    """Changes from run `a` to run `b`, over the cases that have a score in both."""

    DERIVED = ("n_cases", "verdict")
    kind: Literal["cards", "behaviors"]
    mean: Comparison
    """Comparison of macro F1 or pass rate; the interval is (-1, 1) with fewer than two cases."""
    changes: Changes
    """Cases by id; scores are F1, or for behaviors 1 if passed and 0 if failed."""
    left_out: tuple[str, ...]
    """Ids of cases in only one run, or errored in either."""
    only_a: tuple[str, ...] = ()
    """Ids of cases with a score in run `a` only."""
    notes: tuple[str, ...] = ()
    """Settings that differ between the runs, such as the threshold."""

    @property
    def n_cases(self) -> int:
        return sum(map(len, self.changes[:3]))

    @property
    def verdict(self) -> Literal["better", "worse", "unclear"]:
        """Change from run `a` to run `b`; `unclear` if it is not significant at 0.05."""
        if not self.mean.is_significant:
            return "unclear"
        return "better" if self.mean.difference > 0 else "worse"

    def page(self, names: tuple[str, str] = ("", "")) -> Page:
        """Return the report.

        Args:
            names: Names of the two runs, or empty strings.
        """
        mean, (better, worse, unchanged, _) = self.mean, self.changes
        return Page(
            "F1" if self.kind == "cards" else "Pass rate",
            f"{share(mean.a)} → {share(mean.b)} ({signed(mean.difference)})",
            f"{_VERDICTS[self.verdict]} (p {p_text(mean.p_value or 0.0)})",
            f"95 % interval of the difference {' to '.join(map(signed, mean.interval or ()))}",
            tuple(self._lines(names)),
            parts_of(
                ("good", len(better), "better"),
                ("plain", len(unchanged), "unchanged"),
                ("bad", len(worse), "worse"),
            ),
            filled(
                self._section("Worse", "bad", worse, "passed in A, failed in B"),
                self._section("Better", "good", better, "passed in B, failed in A"),
            ),
            suite="keywords.compare",
            cases=(
                *(
                    Case(str(one.name), "failed", f"{one.a:.3f} → {one.b:.3f}", "worse")
                    for one in worse
                ),
                *(Case(str(one.name)) for one in (*better, *unchanged)),
                *(
                    Case(name, "skipped", "it has no score in both runs", "left_out")
                    for name in self.left_out
                ),
            ),
            columns=("case", "change", "a", "b"),
            rows=lambda: (
                {"case": one.name, "change": kind, "a": one.a, "b": one.b}
                for kind, changes in zip(Changes._fields, self.changes[:3], strict=False)
                for one in changes
            ),
        )

    def _lines(self, names: tuple[str, str]) -> Iterator[str]:
        if any(names):
            yield f"A is {quote_text(names[0])}, B is {quote_text(names[1])}"
        better, worse, unchanged = (f"{len(of):,}" for of in self.changes[:3])
        cases = plural(self.n_cases, "case")
        yield f"{cases}: {better} better, {worse} worse, {unchanged} unchanged"
        if self.left_out:
            out = plural(len(self.left_out), "case")
            yield f"Left out: {out} without a score in both ({_ids(self.left_out)})"
        for note in self.notes:
            yield f"Note: {quote_text(note)}"

    def _section(
        self, title: str, tone: Tone, changes: tuple[Change, ...], meaning: str
    ) -> Section:
        width = 1
        if self.kind == "cards":
            meaning, width = "by F1, largest change first", 4
        rows = tuple(
            (name_text(str(c.name)), share(c.a), share(c.b), signed(c.b - c.a))[:width]
            for c in changes[:MOST_ROWS]
        )
        table = Table(("case", "A", "B", "B - A")[:width], rows)
        more = more_of(len(changes) - MOST_ROWS, "case")
        return Section(f"{title} {len(changes):,}", tone, meaning, table, more=more)


def compare_runs(a: Run, b: Run) -> KeywordComparison:
    """Compare two runs over the same cases.

    Args:
        a: Baseline.
        b: The run to compare with it; its gains are positive.

    Raises:
        InputError: The runs are of different kinds, have no scored case in common, or were
            evaluated with different expectations.
    """
    if type(a) is not type(b) or not isinstance(a, Run):
        raise InputError(
            "both runs must be of cards, or both of behaviors, "
            f"not {type(a).__name__} and {type(b).__name__}"
        )
    of_a, of_b = a.case_scores, b.case_scores
    changes = [Change(name, score, of_b[name]) for name, score in of_a.items() if name in of_b]
    if not changes:
        raise InputError(f"no scored case of run a ({_ids(of_a)}) is in run b ({_ids(of_b)})")
    common = [str(change.name) for change in changes]
    if differing := [name for name in common if a.digests[name] != b.digests[name]]:
        raise InputError(
            f"runs a and b have different expectations in {len(differing)} of "
            f"{plural(len(common), 'case')} ({_ids(differing)}); "
            "evaluate both with the same ones"
        )
    notes: tuple[str, ...] = ()
    if isinstance(a, DatasetResult) and isinstance(b, DatasetResult):
        settings_a, settings_b = to_plain(a.settings), to_plain(b.settings)
        notes = tuple(
            f"{name} is {settings_a[name]!r} in run a and {settings_b[name]!r} in run b"
            for name in settings_a
            if settings_a[name] != settings_b[name]
        )
    return KeywordComparison(
        "cards" if isinstance(a, DatasetResult) else "behaviors",
        compare_means((str(change.name), change.a, change.b) for change in changes),
        split_changes(changes),
        tuple(name for name in {**a.digests, **b.digests} if name not in common),
        tuple(name for name in of_a if name not in of_b),
        notes,
    )


def read_run(path: PathOrDash) -> Run:
    """Read a run from the JSON written by `to_json`.

    Raises:
        InputError: The file cannot be read, or is not a run; names the file.
    """
    name = name_of(path)
    data = parse_json(read_text(path), name).value
    made_by = data.get("format") if isinstance(data, dict) else None
    kinds: dict[Any, type[Run]] = {one.format: one for one in (DatasetResult, BehaviorRun)}
    if made_by not in kinds:
        raise InputError(
            f"{name}: not a saved run; 'factcheck keywords run' and 'behaviors' write one "
            "with --out RUN.json"
        )
    try:
        return kinds[made_by].from_dict(data)
    except InputError as error:
        raise InputError(f"{name}: {str(error).removeprefix('run: ')}") from error


def _ids(ids: Iterable[str]) -> str:
    every = list(ids)
    dots = ", …" if len(every) > _MAX_IDS else ""
    return ", ".join(map(name_text, every[:_MAX_IDS])) + dots
