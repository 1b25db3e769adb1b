"""Describe coverage as a report: distorted facts first, then dropped, undecided and kept ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from factcheck.facts.coverage import share_entailed
from factcheck.facts.model import AtomicFact, CheckFailure, CheckResult, FactSet, Usage, Verdict
from factcheck.facts.signature import ScoreSignature
from factcheck.reports.page import (
    Alert,
    Badge,
    Case,
    Entry,
    Item,
    Page,
    Part,
    Section,
    Status,
    Tone,
    entries,
    filled,
)
from factcheck.reports.text import interval_text, one_line, plural, share, shorten

_DISTORTED = "≠"
COLUMNS = (
    "kind", "id", "text", "status", "label", "probability", "weight", "must", "tags", "quote",
    "reason", "judge", "cached", "code", "message",
)  # fmt: skip
"""Of the rows of a report."""


class _Group(NamedTuple):
    """Results of one kind."""

    labels: tuple[str, ...]
    """Labels of the verdicts; the empty string selects failures."""
    title: str
    tone: Tone
    mark: str
    meaning: str

    def of(self, results: Iterable[CheckResult]) -> list[CheckResult]:
        """The results that belong here."""
        return [result for result in results if _label(result) in self.labels]


class _Metric(NamedTuple):
    """A share of entailed statements: coverage or faithfulness."""

    name: str
    noun: str
    ends: tuple[str, str]
    """Outcome of an undecided statement at worst and at best."""
    groups: tuple[_Group, ...]
    lost: Mapping[str, str]
    """Message for a statement that is not entailed, by label."""


_UNDECIDED = _Group(("",), "Undecided", "unknown", "?", "no verdict")
_FACTS = _Metric(
    "Coverage",
    "fact",
    ("dropped", "kept"),
    (
        _Group(("contradicted",), "Distorted", "bad", _DISTORTED, "contradicted by the text"),
        _Group(("neutral",), "Dropped", "warn", "\u2013", "not in the text"),
        _UNDECIDED,
        _Group(("entailed",), "Kept", "good", "✓", "stated in the text"),
    ),
    {"contradicted": "distorted", "neutral": "dropped"},
)
_CLAIMS = _Metric(
    "Faithfulness",
    "claim",
    ("unsupported", "supported by the source"),
    (
        _Group(
            ("contradicted", "neutral"),
            "Superfluous",
            "warn",
            "+",
            f"not in the source ({_DISTORTED} contradicted by it)",
        ),
        _UNDECIDED._replace(title="Undecided claims"),
    ),
    {"contradicted": "contradicts the source", "neutral": "not in the source"},
)
_kept_first = (_FACTS.groups[-1], *_FACTS.groups[:-1])
PARTS = tuple(Part(group.tone, 0, group.title.lower(), group.mark) for group in _kept_first)
"""Outcomes of facts, best first, without sizes."""


def coverage_page(
    results: Sequence[CheckResult],
    claim_results: Sequence[CheckResult] | None,
    usage: Usage,
    signature: ScoreSignature,
) -> Page:
    """The report of one pair.

    Args:
        results: One result per fact of the source.
        claim_results: One result per claim of the summary; `None` if claims were not checked.
        usage: Cost of the report.
        signature: How the score was made.
    """
    weighted = any(result.fact.weight != 1.0 for result in results)
    metric = _FACTS._replace(name="Weighted coverage") if weighted else _FACTS
    page = _page(metric, results)
    claims = None if claim_results is None else _page(_CLAIMS, claim_results)
    lost = lost_musts(results)
    properties = _properties(results, claim_results, signature)

    def rows() -> Iterator[Mapping[str, Any]]:
        yield from _rows("fact", results, _FACTS)
        yield from _rows("claim", claim_results or (), _CLAIMS)

    return page._replace(
        alerts=(Alert(lost),) if lost else (),
        parts=tuple(
            part._replace(size=n, anchor=part.name)
            for part, group in zip(PARTS, _kept_first, strict=True)
            if (n := len(group.of(results)))
        ),
        footer=_footer((*results, *(claim_results or ())), usage, signature),
        also=(claims,) if claims else (),
        suite="coverage",
        properties=properties,
        columns=COLUMNS,
        rows=rows,
    )


def facts_text(facts: FactSet) -> str:
    """Facts as plain text, one line each: id, badges, statement."""
    lines = [(one_line(fact.id), _badge_text(fact), one_line(fact.text)) for fact in facts]
    width = max((len(id_) for id_, _, _ in lines), default=0)
    return "\n".join(
        "  ".join(part for part in (f"{id_:<{width}}", badges, text) if part)
        for id_, badges, text in lines
    )


def lost_musts(results: Iterable[CheckResult]) -> str:
    """One line about `must` facts that are not known to be kept; empty if there are none."""
    lost = [one_line(r.fact.id) for r in results if r.fact.must and _label(r) != "entailed"]
    return f"{plural(len(lost), 'must fact')} not kept: {', '.join(lost)}" if lost else ""


def usage_text(usage: Usage) -> str:
    """Calls, tokens and cost; empty if nothing was sent."""
    parts = []
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        tokens = f"{usage.prompt_tokens:,} prompt + {usage.completion_tokens:,} completion tokens"
        parts = [plural(usage.calls, "call"), tokens, cost]
    if usage.cache_hits:
        parts.append(f"{plural(usage.cache_hits, 'answer')} from the cache")
    return ", ".join(parts)


def _label(result: CheckResult) -> str:
    return result.label if isinstance(result, Verdict) else ""


def score_text(score: float | None) -> str:
    """A score with two decimals, or `undecided`."""
    return "undecided" if score is None else share(score, 2)


def _page(metric: _Metric, results: Sequence[CheckResult]) -> Page:
    found = share_entailed(results)
    n_undecided = sum(not _label(result) for result in results)
    interval = interval_text(found.interval, 2)
    bounds = ""
    if n_undecided and found.low < found.high:
        low, high = metric.ends
        bounds = (
            f"{interval_text((found.low, found.high), 2)} if every undecided {metric.noun} "
            f"were {low} / {high.split()[0]}"
        )
    return Page(
        metric.name,
        score_text(found.value),
        _counts(metric, results, n_undecided),
        interval and f"95 % interval {interval}",
        lines=(bounds,) if bounds else (),
        sections=filled(*(_section(group, group.of(results)) for group in metric.groups)),
        suite=metric.name.lower(),
        cases=tuple(_case(metric, result) for result in results),
    )


def _counts(metric: _Metric, results: Sequence[CheckResult], n_undecided: int) -> str:
    noun, n_decided = metric.noun, len(results) - n_undecided
    if not results:
        return f"no {noun}s"
    if not n_decided:
        return f"no verdict on any of {plural(len(results), noun)}"
    n_kept = sum(_label(result) == "entailed" for result in results)
    decided = plural(n_decided, f"decided {noun}" if n_undecided else noun)
    counts = f"{n_kept:,} of {decided} {metric.ends[1]}"
    if n_undecided:
        counts += f", {n_undecided:,} undecided"
    if not any(result.fact.weight for result in results if _label(result)):
        counts += f" (every decided {noun} has weight 0)"
    return counts


def _section(group: _Group, results: Sequence[CheckResult]) -> Section:
    reasons = {_reason(result) for result in results}
    is_shared = group.labels == ("",) and len(results) > 1 and len(reasons) == 1
    return Section(
        f"{group.title} {len(results):,}",
        group.tone,
        reasons.pop() if is_shared else group.meaning,
        items=tuple(_item(group, result, with_reason=not is_shared) for result in results),
        mark=group.mark,
        anchor=group.title.lower().replace(" ", "-"),
    )


def _item(group: _Group, result: CheckResult, *, with_reason: bool) -> Item:
    fact, reason = result.fact, _reason(result)
    return Item(
        one_line(fact.id),
        one_line(fact.text),
        (reason,) if reason and with_reason else (),
        mark=_DISTORTED if _label(result) == "contradicted" else group.mark,
        badges=_badges(fact),
        quote=_quote(result),
    )


def _badges(fact: AtomicFact) -> tuple[Badge, ...]:
    must = (Badge("must", "bad"),) if fact.must else ()
    weight = (Badge(f"weight {fact.weight:g}"),) if fact.weight != 1.0 else ()
    return must + weight + tuple(Badge(f"#{one_line(tag)}") for tag in fact.tags)


def _badge_text(fact: AtomicFact) -> str:
    badges = ", ".join(badge.text for badge in _badges(fact))
    return f"[{badges}]" if badges else ""


def _quote(result: CheckResult) -> str:
    """The evidence, shortened; empty if it only repeats the fact."""
    if not isinstance(result, Verdict) or result.evidence is None:
        return ""
    quote = one_line(result.evidence.quote)
    repeats = quote.casefold() == one_line(result.fact.text).casefold()
    return "" if repeats else shorten(quote)


def _reason(result: CheckResult) -> str:
    if isinstance(result, CheckFailure):
        return one_line(": ".join(part for part in (result.code, result.message) if part))
    flags = ", ".join(one_line(flag.replace("_", " ")) for flag in result.flags)
    return f"{one_line(result.reason)} {flags and f'({flags})'}".strip()


def _footer(
    results: Iterable[CheckResult], usage: Usage, signature: ScoreSignature
) -> tuple[Entry, ...]:
    spoke = dict.fromkeys(one_line(r.judge) for r in results if isinstance(r, Verdict) and r.judge)
    judges = tuple(spoke) or tuple(value for key, value in signature.entries if key == "judge")
    return entries(
        ("Judge", ", ".join(judges)),
        ("Usage", usage_text(usage)),
        ("Signature", str(signature)),
    )


def _properties(
    results: Sequence[CheckResult],
    claim_results: Sequence[CheckResult] | None,
    signature: ScoreSignature,
) -> tuple[Entry, ...]:
    """Exact numbers."""
    found = share_entailed(results)
    low, high = found.interval or (None, None)
    values = {
        "score": found.value,
        "low": found.low,
        "high": found.high,
        "interval.low": low,
        "interval.high": high,
        "faithfulness": share_entailed(claim_results or ()).value,
        "signature": signature,
    }
    return tuple(Entry(name, str(value)) for name, value in values.items() if value is not None)


def _case(metric: _Metric, result: CheckResult) -> Case:
    """A test case; claims and facts that may be dropped are skipped, as no gate looks at them."""
    fact = result.fact
    parts = (one_line(fact.id), _badge_text(fact), one_line(fact.text))
    name = " ".join(part for part in parts if part)
    if isinstance(result, CheckFailure):
        unknown: Status = "skipped" if metric is _CLAIMS else "error"
        return Case(name, unknown, "undecided", result.code, (one_line(result.message),))
    if result.supported:
        return Case(name)
    quote = _quote(result)
    details = tuple(line for line in (quote and f"“{quote}”", _reason(result)) if line)
    is_loss = metric is not _CLAIMS and (fact.must or result.label == "contradicted")
    lost: Status = "failed" if is_loss else "skipped"
    return Case(name, lost, metric.lost[result.label], result.label, details)


def _rows(
    kind: str, results: Sequence[CheckResult], metric: _Metric
) -> Iterator[Mapping[str, Any]]:
    states = {"entailed": metric.ends[1].split()[0], "": "undecided", **metric.lost}
    for result in results:
        fact = result.fact
        row: dict[str, Any] = {
            "kind": kind,
            "id": fact.id,
            "text": fact.text,
            "status": states[_label(result)],
            "weight": fact.weight,
            "must": fact.must,
            "tags": ", ".join(fact.tags),
        }
        if isinstance(result, Verdict):
            quote = result.evidence.quote if result.evidence else None
            row |= {"label": result.label, "probability": result.probability, "quote": quote}
            row |= {"reason": result.reason, "judge": result.judge, "cached": result.cached}
        else:
            row |= {"code": result.code, "message": result.message}
        yield row
