"""What the report of a run over behaviours says: pass rate, kinds of failure, who shows what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from factcheck.keywords import AMBIGUOUS, NO_MATCH, BehaviorRun, Outcome
from factcheck.keywords.suite_results import ERROR, WRONG, Example
from factcheck.reports.fields import many, share
from factcheck.reports.pages.model import (
    DASH,
    Item,
    Page,
    Section,
    Table,
    Tone,
    filled,
    more_of,
    name_text,
    parts_of,
    range_text,
    shown_text,
    warnings_section,
)

_SUFFIX = "_BEHAVIOR"


class _Kind(NamedTuple):
    """A kind of failure."""

    title: str
    tone: Tone
    meaning: str


KINDS: Mapping[str, _Kind] = {
    WRONG: _Kind("Wrong behaviour", "bad", "one behaviour shows, and not the expected one"),
    AMBIGUOUS: _Kind("Ambiguous", "warn", "several behaviours show"),
    NO_MATCH: _Kind("No match", "warn", "no behaviour shows"),
    ERROR: _Kind("Errored", "unknown", "there is no response"),
}


def behaviors_report(run: BehaviorRun, *, examples: int = 3) -> Page:
    """The report of a run.

    Args:
        run: The run.
        examples: Responses shown of each kind of failure.
    """
    rate, interval, counts = run.pass_rate, run.interval, run.counts
    return Page(
        "Pass rate",
        "unknown" if rate is None else share(rate),
        _counts(run),
        "" if interval is None else f"95 % interval {range_text(interval)}",
        tuple(_bounds(run)),
        parts_of(
            ("good", counts["passed"], "passed"),
            ("bad", counts["failed"], "failed"),
            ("unknown", counts["errored"], "errored"),
        ),
        filled(
            _failures(run),
            _variants(run),
            _confusion(run),
            *_examples(run, examples),
            warnings_section(run.warnings),
        ),
    )


def behavior_name(label: str) -> str:
    """What a label is called in a report: a behaviour without the suffix, in small letters."""
    if label.endswith(_SUFFIX):
        return name_text(label.removesuffix(_SUFFIX).lower())
    return name_text(label)


def outcome_reason(outcome: Outcome) -> str:
    """What was expected of a response, and what it shows instead; or why there is none."""
    if outcome.label is None:
        return shown_text(f"{outcome.code}: {outcome.message}")
    return f"expected {behavior_name(outcome.expected)}, shows {behavior_name(outcome.label)}"


def fired(outcome: Outcome) -> str:
    """The keywords that occur in a response, by behaviour; empty if there are none."""
    parts = (
        f"{behavior_name(label)}: {', '.join(map(str, words))}"
        for label, words in outcome.hits.items()
    )
    return shown_text("; ".join(parts))


def _counts(run: BehaviorRun) -> str:
    counts = run.counts
    n_decided = counts["passed"] + counts["failed"]
    if not n_decided:
        return f"no response to any of {many(len(run.cases), 'case')}"
    words = f"{counts['passed']:,} of {many(n_decided, 'case')} passed"
    return f"{words}, {counts['errored']:,} more errored" if counts["errored"] else words


def _bounds(run: BehaviorRun) -> Iterator[str]:
    if run.counts["errored"]:
        yield (
            f"{share(run.low)} {DASH} {share(run.high)} if every errored case had failed / passed"
        )


def _failures(run: BehaviorRun) -> Section:
    found = run.failures
    rows = tuple(
        (kind.title.lower(), kind.meaning, f"{found[name]:,}")
        for name, kind in KINDS.items()
        if found[name]
    )
    n_all = sum(len(case.outcomes) for case in run.cases)
    title = f"Failures {sum(found.values()):,}"
    return Section(
        title, "bad", f"of {many(n_all, 'response')}", Table(("", "", "responses"), rows, n_names=2)
    )


def _variants(run: BehaviorRun) -> Section:
    """How often each variant is right; nothing if there is one."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in run.cases:
        for outcome in case.outcomes:
            total[outcome.variant] += outcome.label is not None
            right[outcome.variant] += outcome.is_right
    rows = tuple(
        (
            name_text(variant),
            f"{right[variant]:,}",
            f"{n:,}",
            share(right[variant] / n) if n else DASH,
        )
        for variant, n in total.items()
    )
    table = Table(("variant", "right", "responses", "share"), rows if len(rows) > 1 else ())
    return Section("Variants", table=table)


def _confusion(run: BehaviorRun) -> Section:
    """What was shown where what was expected; by variant, if there are several."""
    variants = list(dict.fromkeys(o.variant for case in run.cases for o in case.outcomes))
    tables = {variant: run.confusion(variant) for variant in variants}
    shown = _in_order(label for table in tables.values() for row in table.values() for label in row)
    expected = _in_order(label for table in tables.values() for label in table)
    columns = [label for label in expected if label in shown]
    columns += [label for label in shown if label not in expected]
    several = len(variants) > 1
    rows: list[tuple[str, ...]] = []
    slim: list[tuple[str, ...]] = []
    for variant, found in tables.items():
        for label, row in found.items():
            names = (*([name_text(variant)] if several else []), behavior_name(label))
            rows.append((*names, *(f"{row.get(column, 0):,}" for column in columns)))
            slim += [(*names, behavior_name(c), f"{row[c]:,}") for c in columns if c in row]
    header = (*(["variant"] if several else []), "expected", *map(behavior_name, columns))
    table = Table(header, tuple(rows), n_names=1 + several, slim=tuple(slim))
    return Section("What responses show", meaning="by what was expected", table=table)


def _in_order(labels: Iterator[str]) -> list[str]:
    """Different labels: behaviours as they come, then those of failures."""
    found = dict.fromkeys(labels)
    last = [name for name in (AMBIGUOUS, NO_MATCH, ERROR) if name in found]
    return [name for name in found if name not in last] + last


def _examples(run: BehaviorRun, limit: int) -> Iterator[Section]:
    found, counts = run.examples(limit), run.failures
    for name, kind in KINDS.items():
        own = found.get(name, ())
        yield Section(
            f"{kind.title} {counts[name]:,}",
            kind.tone,
            kind.meaning,
            items=tuple(map(_item, own)),
            more=more_of(counts[name] - len(own), "response") if own else "",
        )


def _item(example: Example) -> Item:
    outcome = example.outcome
    name = f"{name_text(example.case_id)} · {name_text(outcome.variant)}"
    if outcome.label is None:
        return Item(name, outcome_reason(outcome))
    words = fired(outcome)
    said = shown_text(outcome.response) or "(empty)"
    return Item(
        name, f"“{said}”", (outcome_reason(outcome), *((f"found {words}",) if words else ()))
    )
