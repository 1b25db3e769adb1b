"""What every rendering of a report says, and in which order: words and numbers, no layout.

The order is that of what hurts: distorted facts first, kept facts last.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from factcheck.facts import AtomicFact, CheckResult, CoverageReport, Usage, Verdict, share_entailed

GroupKind = Literal["distorted", "dropped", "undecided", "kept", "superfluous", "undecided-claims"]
_DASH = "\u2013"
_DISTORTED = "≠"
QUOTE_LIMIT = 160
"""Longest quote shown, in characters."""


class Group(NamedTuple):
    """Results of one kind."""

    kind: GroupKind
    title: str
    meaning: str
    """What it means to be in this group, in a few words."""
    mark: str
    """One character that tells the group without colour."""
    results: tuple[CheckResult, ...]


class Headline(NamedTuple):
    """A share in words."""

    name: str
    value: str
    """The share with two decimals, or `undecided`."""
    counts: str
    interval: str
    """Empty when nothing was decided."""
    bounds: str
    """What the undecided could change; empty when they change nothing."""


class Notes(NamedTuple):
    """What stands beside a fact. Either may be empty."""

    quote: str
    """Evidence, on one line and shortened, without quotation marks."""
    reason: str


class Entry(NamedTuple):
    """One named line of the footer."""

    name: str
    value: str


def fact_groups(report: CoverageReport) -> tuple[Group, ...]:
    """The facts by what became of them, in reading order, without empty groups."""
    groups = (
        Group("distorted", "Distorted", "the text says otherwise", _DISTORTED, report.distorted),
        Group("dropped", "Dropped", "the text does not say it", _DASH, report.dropped),
        Group("undecided", "Undecided", "no verdict could be had", "?", report.undecided),
        Group("kept", "Kept", "the text says it", "✓", report.kept),
    )
    return tuple(group for group in groups if group.results)


def claim_groups(report: CoverageReport) -> tuple[Group, ...]:
    """The claims that the source does not support, without empty groups."""
    groups = (
        Group(
            "superfluous",
            "Superfluous",
            f"the source does not say it ({_DISTORTED} says otherwise)",
            "+",
            report.superfluous,
        ),
        Group(
            "undecided-claims",
            "Undecided claims",
            "no verdict could be had",
            "?",
            report.undecided_claims,
        ),
    )
    return tuple(group for group in groups if group.results)


def coverage_headline(report: CoverageReport) -> Headline:
    """The score in words."""
    weighted = any(fact.weight != 1.0 for fact in report.facts)
    return _headline(
        "Weighted coverage" if weighted else "Coverage", report.results, "fact", ("dropped", "kept")
    )


def faithfulness_headline(report: CoverageReport) -> Headline | None:
    """The share of supported claims in words; `None` if claims were not asked for."""
    if report.claims is None:
        return None
    return _headline(
        "Faithfulness", report.claim_results, "claim", ("unsupported", "supported by the source")
    )


def _headline(
    name: str, results: Sequence[CheckResult], noun: str, ends: tuple[str, str]
) -> Headline:
    share = share_entailed(results)
    verdicts = [result for result in results if isinstance(result, Verdict)]
    kept = sum(verdict.supported for verdict in verdicts)
    undecided = len(results) - len(verdicts)
    if not results:
        counts = f"no {noun}s"
    elif not verdicts:
        counts = f"no verdict on any of {_many(len(results), noun)}"
    elif undecided:
        counts = f"{kept} of {_many(len(verdicts), 'decided ' + noun)} {ends[1]}"
        counts += f", {undecided} undecided"
    else:
        counts = f"{kept} of {_many(len(verdicts), noun)} {ends[1]}"
    if verdicts and share.value is None:
        counts += f" (every decided {noun} has weight 0)"
    interval = f"95 % interval {number_range(*share.interval)}" if share.interval else ""
    bounds = ""
    if undecided and share.low < share.high:
        bounds = (
            f"{number_range(share.low, share.high)} "
            f"if every undecided {noun} were {ends[0]} / {ends[1].split()[0]}"
        )
    return Headline(name, number(share.value), counts, interval, bounds)


def number(value: float | None) -> str:
    """A share with two decimals that shows 1.00 and 0.00 only where they are exact."""
    if value is None:
        return "undecided"
    text = f"{value:.2f}"
    if text == "1.00" and value < 1.0:
        return ">0.99"
    return "<0.01" if text == "0.00" and value > 0.0 else text


def number_range(low: float, high: float) -> str:
    """Two shares with an en dash; a third decimal where two would hide that they differ."""
    digits = 3 if low < high and f"{low:.2f}" == f"{high:.2f}" else 2
    return f"{low:.{digits}f} {_DASH} {high:.{digits}f}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def lost_musts(report: CoverageReport) -> str:
    """One line about `must` facts that are not known to be kept; empty if there are none."""
    lost = [
        result.fact.id
        for result in report.results
        if result.fact.must and not (isinstance(result, Verdict) and result.supported)
    ]
    if not lost:
        return ""
    return f"{_many(len(lost), 'must fact')} not kept: {', '.join(one_line(id_) for id_ in lost)}"


def badges(fact: AtomicFact) -> tuple[str, ...]:
    """What sets a fact apart: `must`, a weight other than 1, its tags."""
    must = ("must",) if fact.must else ()
    weight = (f"weight {fact.weight:g}",) if fact.weight != 1.0 else ()
    return must + weight + tuple(f"#{one_line(tag)}" for tag in fact.tags)


def label(fact: AtomicFact) -> str:
    """The badges in one pair of brackets; empty if there are none."""
    return f"[{', '.join(found)}]" if (found := badges(fact)) else ""


def mark(group: Group, result: CheckResult) -> str:
    """The mark of one result: its group's, or that of a distortion where a claim is one."""
    contradicted = isinstance(result, Verdict) and result.label == "contradicted"
    return _DISTORTED if contradicted else group.mark


def notes(result: CheckResult) -> Notes:
    """Evidence and reason of one result.

    A quote that repeats the fact says nothing new and is left out.
    """
    if not isinstance(result, Verdict):
        return Notes(
            "", one_line(f"{result.code}: {result.message}" if result.message else result.code)
        )
    quote = one_line(result.evidence.quote) if result.evidence else ""
    if quote.casefold() == one_line(result.fact.text).casefold():
        quote = ""
    reason = one_line(result.reason)
    flags = ", ".join(one_line(flag.replace("_", " ")) for flag in result.flags)
    return Notes(shorten(quote), f"{reason} ({flags})".strip() if flags else reason)


def shared_reason(group: Group) -> str:
    """The one reason why several facts have no verdict; empty if there are several, or one fact."""
    reasons = {notes(result).reason for result in group.results}
    undecided = not any(isinstance(result, Verdict) for result in group.results)
    return reasons.pop() if undecided and len(group.results) > 1 and len(reasons) == 1 else ""


def one_line(text: str) -> str:
    """`text` with white space folded and control characters made visible as `�`."""
    line = " ".join(text.split())
    return "".join("�" if unicodedata.category(c) in {"Cc", "Cs"} else c for c in line)


def shorten(text: str, limit: int = QUOTE_LIMIT) -> str:
    """At most `limit` characters, cut after a word where there is one, with an ellipsis."""
    if len(text) <= limit:
        return text
    head, space, _ = text[:limit].rpartition(" ")
    return (head if space and len(head) > limit // 2 else text[: limit - 1]) + "…"


def footer(report: CoverageReport) -> tuple[Entry, ...]:
    """Who judged, what it cost, and how the score was made."""
    entries = (
        Entry("Judge", ", ".join(_judges(report))),
        Entry("Usage", usage_in_words(report.usage)),
        Entry("Signature", str(report.signature)),
    )
    return tuple(entry for entry in entries if entry.value)


def _judges(report: CoverageReport) -> tuple[str, ...]:
    results = (*report.results, *report.claim_results)
    spoke = dict.fromkeys(
        one_line(result.judge) for result in results if isinstance(result, Verdict) and result.judge
    )
    return tuple(spoke) or tuple(v for k, v in report.signature.entries if k == "judge")


def usage_in_words(usage: Usage) -> str:
    """Calls, tokens and cost; empty where nothing was asked."""
    parts = []
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        parts += [
            _many(usage.calls, "call"),
            f"{usage.prompt_tokens:,} prompt + {usage.completion_tokens:,} completion tokens",
            cost,
        ]
    if usage.cache_hits:
        parts.append(f"{_many(usage.cache_hits, 'answer')} from the cache")
    return ", ".join(parts)
