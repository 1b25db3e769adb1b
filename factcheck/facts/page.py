"""Coverage as a page: distorted facts first, then dropped, undecided and kept ones."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from factcheck.facts.coverage import Share, share_entailed
from factcheck.facts.groups import Group, added_words, group_results
from factcheck.facts.model import (
    COUNTS,
    FOREIGN,
    LABELS,
    AtomicFact,
    CheckFailure,
    CheckResult,
    FactSet,
    ScoreSignature,
    Usage,
    Verdict,
    digest,
)
from factcheck.reports.page import (
    Alert,
    Case,
    Item,
    Page,
    Part,
    Section,
    Status,
    Table,
    entries,
    filled,
)
from factcheck.reports.text import (
    DASH,
    interval_text,
    more_of,
    name_text,
    one_line,
    percent,
    plural,
    share,
    shorten,
    some_of,
)

_DISTORTED = "≠"
_MAX_DOCUMENTS = 3
"""Maximum number of document ids shown per fact."""
_LONGEST_FACT = 1_000
_LONGEST_QUOTE = 400
_LONGEST_SENTENCE = 100
"""In words."""
_BY_PLACE = "Weights: what the source states first weighs most."
_ENGLISH_ONLY = "English only; use a language model as judge, such as openai/NAME."
_WORD = re.compile(r"\w+")
COLUMNS = (
    "kind", "id", "text", "status", "label", "probability", "weight", "must", "core", "tags",
    "quote", "reason", "judge", "cached", "code", "message", "documents",
)  # fmt: skip
"""Columns of CSV and data frames."""


class _Metric(NamedTuple):
    """Wording for coverage or faithfulness."""

    name: str
    noun: str
    best: str
    """Best possible outcome of a statement."""
    groups: Mapping[tuple[str, ...], Section]
    """Sections by the labels of their verdicts; the empty string stands for failures."""
    lost: Mapping[str, str]
    """Messages for statements that are not entailed, by label."""
    names_judges: bool = False
    """Whether reasons name the judge, as results are of several."""


_UNDECIDED = Section("Undecided", "unknown", "no verdict", mark="?")
_FACTS = _Metric(
    "Coverage",
    "fact",
    "kept",
    {
        ("contradicted",): Section("Distorted", "bad", "contradicted by the text", mark=_DISTORTED),
        ("neutral",): Section("Dropped", "warn", "not in the text", mark=DASH, head=10),
        ("",): _UNDECIDED,
        ("entailed",): Section("Kept", "good", "stated in the text", mark="✓", head=5),
    },
    {"contradicted": "distorted", "neutral": "dropped"},
)
_DETAILS = {"with": ("entailed",), "without": ("neutral",), "undecided": ("",)}
"""What the details of a kept fact are listed under, by label."""
_NOT_IN_SOURCE = f"not in the source ({_DISTORTED} contradicted by it)"
_CLAIMS = _Metric(
    "Faithfulness",
    "claim",
    "supported by the source",
    {
        ("contradicted", "neutral"): Section("Superfluous", "warn", _NOT_IN_SOURCE, mark="+"),
        ("",): _UNDECIDED._replace(title="Undecided claims"),
    },
    {"contradicted": "contradicts the source", "neutral": "not in the source"},
)


*_WORST_FIRST, _KEPT = _FACTS.groups.values()
_BEST_FIRST = (_KEPT, *_WORST_FIRST)


def parts(counts: Mapping[str, int]) -> tuple[Part, ...]:
    """Split a stacked bar by the outcomes that occur, best first."""
    named = [(group.title.lower(), group) for group in _BEST_FIRST]
    return tuple(Part(one.tone, counts[n], n, one.mark) for n, one in named if counts[n])


def coverage_page(
    results: Sequence[CheckResult],
    claim_results: Sequence[CheckResult] | None,
    documents: Mapping[str, tuple[Share, Mapping[str, int]]],
    usage: Usage,
    signature: ScoreSignature,
    trust: tuple[str, ...],
    n_key: int,
) -> Page:
    """Build the page of one report; `claim_results` is `None` if no claims were checked."""
    claims, counts = claim_results or (), Counter(result.status for result in results)
    weighted = any(result.fact.weight != 1.0 for result in results)
    page = _page(_FACTS._replace(name="Weighted coverage") if weighted else _FACTS, results)
    facts, lost = [result.fact for result in results], lost_musts(results)
    alerts = (Alert(lost),) if lost else ()
    by_place = dict(signature.entries).get("weights") == "lead"
    judges = Counter(one_line(r.judge) for r in (*results, *claims) if r.judge)
    names = (f"{name} ({plural(n, 'verdict')})" for name, n in judges.items())
    judge = ", ".join(names if len(judges) > 1 else judges)
    judge = judge or dict(signature.entries).get("judge", "")
    if by_place and trust:
        trust = (*trust, _BY_PLACE)
    is_decided = len(results) > counts["undecided"]
    codes = {result.code for result in results if isinstance(result, CheckFailure)}
    answer, sections = answer_text(counts), page.sections
    if not is_decided and codes == {"language"}:
        answer, sections = _ENGLISH_ONLY, tuple(map(_without_notes, sections))
    return page._replace(
        answer=answer,
        trust=trust if is_decided else (),
        sections=filled(_key_facts(results, n_key), *sections, _documents(documents)),
        alerts=(*alerts, *(Alert(text, "warn") for text in fact_warnings(facts))),
        parts=parts(counts),
        footer=entries(
            ("Judge", judge), ("Usage", usage_text(usage)), ("Signature", str(signature))
        ),
        also=() if claim_results is None else (_page(_CLAIMS, claims),),
        suite="coverage",
        columns=COLUMNS,
        rows=lambda: (*_rows(_FACTS, results), *_rows(_CLAIMS, claims)),
    )


def _without_notes(section: Section) -> Section:
    return section._replace(items=tuple(item._replace(notes=()) for item in section.items))


def _key_facts(results: Sequence[CheckResult], n_key: int) -> Section:
    """List the heaviest facts with what became of them, heaviest first; details add to a weight."""

    def weight(group: Group) -> float:
        results = (group.core, *group.details, *group.apart)
        return math.fsum(result.fact.weight for result in results)

    items = []
    for group in sorted(group_results(results), key=weight, reverse=True)[:n_key]:
        together = " with details" if group.details or group.apart else ""
        badge = f"weight {weight(group):.2g}{together}"
        items.append(_item(_FACTS, group)._replace(badges=(badge,)))
    return Section("Key facts", meaning="the heaviest ones", items=tuple(items))


def answer_text(counts: Mapping[str, int]) -> str:
    """Say in a sentence or two what became of the facts, given their number by outcome."""
    kept, distorted, undecided = (
        counts.get(kind, 0) for kind in ("kept", "distorted", "undecided")
    )
    n_decided = kept + distorted + counts.get("dropped", 0)
    if not n_decided:
        return f"No verdict on {plural(undecided, 'fact')}." if undecided else "No facts to check."
    said = f"{kept:,} of {plural(n_decided, 'fact')} kept."
    if 1 < kept == n_decided and not undecided:
        said = f"All {kept:,} facts kept."
    if distorted == 1:
        said += " 1 looks wrong; check it."
    elif distorted:
        said += f" {distorted:,} look wrong; check them."
    if undecided:
        said += f" {undecided:,} undecided."
    return said


def bounds_text(noun: str, bounds: tuple[float, float]) -> str:
    """Say how far undecided facts or claims could move a score."""
    return f"Undecided {noun}s could move this to {interval_text(bounds, 2)}."


def _documents(documents: Mapping[str, tuple[Share, Mapping[str, int]]]) -> Section:
    rows = []
    for name, (found, counts) in documents.items():
        score = score_text(found.value) if counts["facts"] else DASH
        numbers = (f"{count:,}" for count in counts.values())
        rows.append((name_text(name), score, interval_text(found.interval, 2), *numbers))
    header = ("document", "coverage", "95 %", *COUNTS)
    return Section("Documents", meaning="what is kept of each").tabled(Table(header, tuple(rows)))


def facts_text(facts: FactSet) -> str:
    """Format facts as plain text, one per line: id, badges, statement.

    A fact that adds a detail to the one before it is shortened to that: `+ in May`.
    """
    width = max((len(one_line(fact.id)) for fact in facts), default=0)
    lines = []
    core = None
    for fact in facts:
        if fact.core is None:
            core = fact
        label, text = _label_and_text(fact)
        if core is not None and fact.core == core.id:
            text = f"  + {one_line(added_words(core.text, fact.text))}"
        lines.append("  ".join(filter(None, (f"{one_line(fact.id):<{width}}", label, text))))
    return "\n".join(lines)


def fact_warnings(facts: Sequence[AtomicFact]) -> list[str]:
    """Name details without their core, facts as long as a text, and those with foreign words."""
    ids = {None, *(fact.id for fact in facts)}
    alone = [one_line(fact.id) for fact in facts if fact.core not in ids]
    long = [one_line(fact.id) for fact in facts if len(fact.text.split()) > _LONGEST_SENTENCE]
    foreign = [one_line(fact.id) for fact in facts if FOREIGN in fact.tags]
    found = []
    if foreign:
        found.append(f"few words of these facts are in the source: {some_of(foreign)}; check them")
    if alone:
        found.append(f"facts of their own, as the fact they add to is not listed: {some_of(alone)}")
    if long:
        what = "the text has hardly any sentence ends, and facts are as long as it is"
        found.append(f"{what}: {some_of(long)}; end its sentences, or give facts (--facts)")
    return found


def unread_warning(facts: FactSet, source: str) -> str:
    """Say so if the facts of a source are found in less than half of it; empty otherwise."""
    spans = [fact.span for fact in facts if fact.span]
    if len(spans) < len(facts) or facts.source_digest != digest(source):
        return ""
    is_told = bytearray(len(source))
    for start, end in spans:
        is_told[start:end] = b"\1" * (end - start)
    letters = [at for at, letter in enumerate(source) if letter.isalnum()]
    n_read = sum(is_told[at] for at in letters)
    if 2 * n_read >= len(letters):
        return ""
    part = percent(n_read / len(letters))
    add = "add what else it states (factcheck facts --lock)"
    return f"the facts come from {part} of the source; {add}"


def lost_musts(results: Iterable[CheckResult]) -> str:
    """Describe the `must` facts that are not kept, or undecided; empty if there are none."""
    lost = [
        one_line(r.fact.id) + " (undecided)" * (not r.label)
        for r in results
        if r.fact.must and not r.supported
    ]
    return f"{plural(len(lost), 'must fact')} not kept: {', '.join(lost)}" if lost else ""


def usage_text(usage: Usage) -> str:
    """Describe calls, tokens, cost and savings; empty if nothing was sent or saved."""
    texts = []
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        tokens = f"{usage.prompt_tokens:,} prompt + {usage.completion_tokens:,} completion tokens"
        texts = [plural(usage.calls, "call"), tokens, cost]
    if usage.cache_hits:
        texts.append(f"{plural(usage.cache_hits, 'answer')} from the cache")
    if usage.kept_in_front:
        texts.append(f"{usage.kept_in_front:,} decided by the first judge")
    return ", ".join(texts)


def score_text(score: float | None) -> str:
    """Format a score with two decimals, or `undecided`."""
    return "undecided" if score is None else share(score, 2)


def _page(metric: _Metric, results: Sequence[CheckResult]) -> Page:
    found, n_undecided = share_entailed(results), sum(not result.label for result in results)
    interval = interval_text(found.interval, 2)
    bounds = ""
    if 0 < n_undecided < len(results) and found.low < found.high:
        bounds = bounds_text(metric.noun, (found.low, found.high))
    metric = metric._replace(names_judges=len({r.judge for r in results if r.label}) > 1)
    keys = {r.fact.id: f"{metric.noun[0]}{number}" for number, r in enumerate(results, 1)}
    groups = group_results(results, are_claims=metric.noun == "claim")
    sections = (
        _section(metric, section, labels, groups, keys) for labels, section in metric.groups.items()
    )
    return Page(
        metric.name,
        score_text(found.value),
        _counts(metric, results, n_undecided),
        interval and f"95 % interval {interval}",
        lines=(bounds,) if bounds else (),
        sections=filled(*sections),
        suite=metric.name.lower(),
        cases=tuple(_case(metric, result) for result in results),
    )


def _counts(metric: _Metric, results: Sequence[CheckResult], n_undecided: int) -> str:
    noun, n_decided = metric.noun, len(results) - n_undecided
    if not results:
        return f"no {noun}s"
    if not n_decided:
        return f"no verdict on {plural(len(results), noun)}"
    n_kept = sum(result.supported for result in results)
    decided = plural(n_decided, f"decided {noun}" if n_undecided else noun)
    counts = f"{n_kept:,} of {decided} {metric.best}"
    if n_undecided:
        counts += f", {n_undecided:,} undecided"
    return counts


def _section(
    metric: _Metric,
    section: Section,
    labels: tuple[str, ...],
    groups: Sequence[Group],
    keys: Mapping[str, str],
) -> Section:
    """List the groups whose core has one of some labels, and details that stand apart."""
    own = [group for group in groups if group.core.label in labels]
    own += (Group(one) for group in groups for one in group.apart if one.label in labels)
    places = {id_: place for place, id_ in enumerate(keys)}
    own.sort(key=lambda group: (not group.core.fact.must, places[group.core.fact.id]))
    within = [(each.core, sum(one.label in labels for one in each.details)) for each in groups]
    n_results = len(own) + sum(n for _, n in within)
    elsewhere = {core.fact.id: n for core, n in within if n and core.label not in labels}
    more = ""
    if elsewhere:
        more = f"{plural(sum(elsewhere.values()), 'detail')} of {some_of([*elsewhere])}"
    reasons = [_reason(metric, group.core) for group in own]
    is_shared = section.tone == "unknown" and len(own) > 1 and len({*reasons}) == 1
    items = tuple(_item(metric, group, keys[group.core.fact.id]) for group in own)
    section = section._replace(
        title=f"{section.title} {n_results:,}",
        meaning=reasons[0] if is_shared else section.meaning,
        items=items,
        more=more,
    )
    return _without_notes(section) if is_shared else section


def _item(metric: _Metric, group: Group, key: str = "") -> Item:
    label, reason = group.core.label, _reason(metric, group.core)
    mark = next(section.mark for labels, section in metric.groups.items() if label in labels)
    return Item(
        one_line(group.core.fact.id),
        shorten(one_line(group.core.fact.text), _LONGEST_FACT),
        (reason,) if reason else (),
        mark=_DISTORTED if label == "contradicted" else mark,
        badges=_badges(group.core.fact),
        quote=_quote(group.core),
        aside=_details(group),
        key=key,
    )


def item_of(result: CheckResult) -> Item:
    """Describe one result of coverage, without its details."""
    return _item(_FACTS, Group(result))


def _details(group: Group) -> str:
    """Describe the details of a fact: `with: in May; without: off Crete`."""
    core = group.core
    names = _DETAILS if core.label == "entailed" else {"details": (*LABELS, "")}
    parts = []
    for name, labels in names.items():
        words = [
            added_words(core.fact.text, r.fact.text) for r in group.details if r.label in labels
        ]
        if words:
            parts.append(f"{name}: {' · '.join(map(one_line, words))}")
    return "; ".join(parts)


def _badges(fact: AtomicFact) -> tuple[str, ...]:
    must = ("must",) if fact.must else ()
    weight = (f"weight {fact.weight:.2g}",) if fact.weight != 1.0 else ()
    tags = (f"#{one_line(tag)}" for tag in fact.tags)
    documents = [name_text(name) for name in fact.documents[:_MAX_DOCUMENTS]]
    if more := more_of(len(fact.documents) - _MAX_DOCUMENTS, "document"):
        documents.append(more)
    return (*must, *weight, *tags, *documents)


def _label_and_text(fact: AtomicFact) -> tuple[str, str]:
    badges = ", ".join(_badges(fact))
    return badges and f"[{badges}]", shorten(one_line(fact.text), _LONGEST_FACT)


def _quote(result: CheckResult) -> str:
    """Format the evidence, shortened if necessary; empty if it only repeats the fact."""
    if not isinstance(result, Verdict) or result.evidence is None:
        return ""
    quote, fact = one_line(result.evidence.quote), one_line(result.fact.text).casefold()
    if quote.casefold() == fact:
        return ""
    if len(quote) <= _LONGEST_QUOTE:
        return quote
    # Keep the deciding words: those that it shares with the reason, or else with the fact.
    words, reasons = {*_WORD.findall(fact)}, {*_WORD.findall(result.reason.casefold())}
    found = [(match[0].casefold(), match.span()) for match in _WORD.finditer(quote)]
    places = [span for word, span in found if word in reasons - words]
    places = places or [span for word, span in found if word in words] or [(0, 0)]
    first, last = places[0][0], min(places[-1][1], places[0][0] + _LONGEST_FACT)
    if last < _LONGEST_QUOTE:
        return shorten(quote, _LONGEST_QUOTE)
    start = quote.rfind(" ", 0, max(1, first - _LONGEST_QUOTE // 4)) + 1
    return ("…" if start else "") + shorten(quote[start:], max(_LONGEST_QUOTE, last - start + 1))


def _reason(metric: _Metric, result: CheckResult) -> str:
    """Format reason and flags, with the judge if a report has several."""
    if isinstance(result, CheckFailure):
        return one_line(": ".join(filter(None, (result.code, result.message))))
    flags = ", ".join(one_line(flag.replace("_", " ")) for flag in result.flags)
    judge = f"[{one_line(result.judge)}]" if metric.names_judges and result.judge else ""
    return " ".join(filter(None, (one_line(result.reason), flags and f"({flags})", judge)))


def _case(metric: _Metric, result: CheckResult) -> Case:
    """Make a test case; claims and optional facts that are lost count as skipped."""
    fact, is_fact = result.fact, metric.noun == "fact"
    name = " ".join(filter(None, (one_line(fact.id), *_label_and_text(fact))))
    if isinstance(result, CheckFailure):
        unknown: Status = "error" if is_fact else "skipped"
        return Case(name, unknown, "undecided", result.code, (one_line(result.message),))
    if result.supported:
        return Case(name)
    quote = _quote(result)
    details = tuple(filter(None, (quote and f"“{quote}”", _reason(metric, result))))
    is_loss = is_fact and (fact.must or result.label == "contradicted")
    lost: Status = "failed" if is_loss else "skipped"
    return Case(name, lost, metric.lost[result.label], result.label, details)


def _rows(metric: _Metric, results: Sequence[CheckResult]) -> Iterator[Mapping[str, Any]]:
    states = {"entailed": metric.best.split()[0], "": "undecided", **metric.lost}
    for result in results:
        row = {**result.fact.to_dict(), **result.to_dict(), "kind": metric.noun}
        row |= {"status": states[result.label], "tags": ", ".join(result.fact.tags)}
        row["documents"] = ", ".join(result.fact.documents)
        if isinstance(result, Verdict):
            row["quote"] = result.evidence.quote if result.evidence else None
        yield {name: row[name] for name in COLUMNS if name in row}
