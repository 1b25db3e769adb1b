"""Compare two reports or runs: facts won, lost and newly distorted, and possible causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from statistics import fmean
from typing import Any

from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult, CoverageReport, share_entailed
from factcheck.facts.coverage import is_embedded, trust_lines
from factcheck.reports.comparison import Change, RunComparison, interval_words
from factcheck.reports.page import Alert
from factcheck.reports.text import (
    more_of,
    p_text,
    percent,
    plural,
    quote_text,
    share,
    signed,
    some_of,
)
from factcheck.scoring.run_report import RunReport
from factcheck.stats.intervals import paired_share_interval, sign_test
from factcheck.stats.resampling import (
    FEW_UNITS,
    NEGLIGIBLE,
    SIGNIFICANT,
    Comparison,
    at_equal_length,
    compare_means,
)

Run = CoverageReport | RunReport | Mapping[str, CoverageReport] | Iterable[CoverageReport]
"""A report; a run; reports by record name; or reports in record order."""
Reports = Sequence[tuple[CoverageReport, CoverageReport]]
"""Reports of a record in both runs."""
UNDECIDED = "undecided"
_SAME_FACTS = "score both with the same facts (--facts, or 'facts' of the records)"
_FEWEST = 6
"""Minimum number of sources for a p-value below 0.05: with one fewer, the least is 2 / 2**5."""
_ALIKE = 0.1
"""Share of its length by which a summary may be longer and still count as equally long."""


def compare(a: Run, b: Run) -> RunComparison:
    """Compare the coverage of a report or run with that of an earlier one.

    Facts are paired by text, records by name. Facts and records of one side only are excluded and
    counted, and so are facts that one side did not decide, unless B distorts them. Coverage is the
    mean over records; with several sources, its interval and p-value are by source (paired
    randomization), with one, by fact (McNemar's exact test), assuming that facts are independent.

    B is worse if coverage is significantly lower, a `must` fact was lost, or more facts are
    distorted than in A: significantly more, or in a single report of a deterministic judge any
    more. There is no verdict if significantly more facts kept in the other run are undecided in B,
    or a run is not complete.

    The length of the summaries stands beside the difference, with what that would be at equal
    length (`at_equal_length`).

    Args:
        a: Baseline; see `Run`.
        b: Report or run to compare with it.

    Returns:
        The comparison; its `counts` are `sources`, `facts` (decided in both runs), of both runs
        `kept`, `distorted`, `only` (facts that the other run lacks) and `words` (of a summary, on
        average; `None` if unknown), and `at_equal_length`, the difference there with its interval.

    Raises:
        InputError: One is a report and the other a run, or the two have no decided fact in common.
    """
    (first, gap_a), (second, gap_b) = reports_of(a), reports_of(b)
    if ("" in first) != ("" in second):
        raise InputError("cannot compare a single report with a run; compare two of a kind")
    reports = {name: (first[name], second[name]) for name in first if name in second}
    changes: list[Change] = []
    decided: list[tuple[CheckResult, CheckResult]] = []
    scores: list[tuple[str, float, float]] = []
    lengths: list[tuple[str, float, int, int]] = []
    distorted, only = [0, 0], [0, 0]
    for name, (old, new) in reports.items():
        ours, theirs = old.by_fact, new.by_fact
        only[0] += len(ours.keys() - theirs.keys())
        only[1] += len(theirs.keys() - ours.keys())
        known = []
        for one, other in ((ours[key], theirs[key]) for key in ours if key in theirs):
            distorted[0] += one.status == "distorted"
            distorted[1] += other.status == "distorted"
            if one.status != other.status:
                changes.append(_change(name, one, other))
            if one.label and other.label:
                known.append((one, other))
        decided += known
        x = share_entailed([one for one, _ in known]).value
        y = share_entailed([other for _, other in known]).value
        if x is not None and y is not None:
            source = old.source_digest or name
            scores.append((source, x, y))
            if old.texts is not None and new.texts is not None:
                n_words = old.texts.summary.n_words, new.texts.summary.n_words
                lengths.append((source, y - x, *n_words))
    if not scores:
        raise InputError(f"the two have no decided fact in common; {_SAME_FACTS}")
    sources = {source for source, _, _ in scores}
    counts = {
        "sources": len(sources),
        "facts": len(decided),
        "kept": tuple(sum(two[side].supported for two in decided) for side in (0, 1)),
        "distorted": tuple(distorted),
        "only": tuple(only),
        **_length_counts(lengths),
    }
    main = compare_means(scores) if len(sources) > 1 else _compare_facts(scores, decided)
    gaps = "; ".join(f"{side}: {gap}" for side, gap in (("A", gap_a), ("B", gap_b)) if gap)
    found = _concluded([*reports.values()], changes, main, counts, gaps)
    return replace(
        found,
        differences=tuple(y - x for _, x, y in scores),
        left_out={
            "Only in A": tuple(name for name in first if name not in second),
            "Only in B": tuple(name for name in second if name not in first),
        },
    )


def _concluded(
    reports: Reports,
    changes: Sequence[Change],
    main: Comparison,
    counts: dict[str, Any],
    gaps: str,
) -> RunComparison:
    """Say what the changes mean; `gaps` says why a run is not complete."""
    signatures = [str(one.signature) for two in reports for one in two]
    local = signatures[0] if all(map(is_embedded, signatures)) else ""
    (kept_a, kept_b), (n_a, n_b) = counts["kept"], counts["distorted"]
    n_new = sum(change.group == "Newly distorted" for change in changes)
    n_no_longer = sum(change.a == "distorted" and change.b != UNDECIDED for change in changes)
    p_distorted = sign_test(n_new, n_no_longer)
    is_certain = len(reports) == 1 and all(one.signature.never_flips for one in reports[0])
    is_more = n_new > n_no_longer and (is_certain or p_distorted < SIGNIFICANT)
    is_lower = main.difference < 0 and main.is_significant
    musts = _lost_musts(changes)
    worse = (
        f"coverage {share(main.a)} → {share(main.b)}" if is_lower else "",
        f"distorted facts {n_a:,} → {n_b:,} ({n_new:,} newly)" if is_more else "",
        musts,
    )
    unsettled = "; ".join(filter(None, (gaps, _undecided_text(changes))))
    n_sources, few = counts["sources"], ""
    if 1 < n_sources < _FEWEST:
        few = f"with {n_sources} sources, any difference may be chance; compare at least {_FEWEST}"
    lines = [f"Kept {kept_a:,} → {kept_b:,} of {plural(counts['facts'], 'fact')} decided in both."]
    if n_a != n_b:
        chance = "more than chance" if p_distorted < SIGNIFICANT else "within chance"
        means = f"{chance} (p {p_text(p_distorted)})"
        if is_certain and is_more:
            means = "worse, as this judge always gives the same verdict"
        lines.append(f"Distorted {n_a:,} → {n_b:,}: {means}.")
    lines += _length_lines(counts, len(reports))
    lines += _causes_lines(reports, changes, counts)
    only = zip("AB", counts["only"], strict=True)
    if left := ", ".join(f"{plural(n, 'fact')} only in {side}" for side, n in only if n):
        lines.append(f"left out: {left}; {_SAME_FACTS}")
    unit = "by fact" if n_sources == 1 else "by source"
    texts = [(a.texts, b.texts) for a, b in reports]
    is_same = all(a and b and a.summary.text == b.summary.text for a, b in texts)
    return RunComparison(
        noun="fact",
        metric="Coverage",
        main=main,
        basis=f"{unit} ({plural(n_sources, 'source')})",
        changes=tuple(changes),
        counts={**counts, "p_distorted": p_distorted},
        answer=_answer(main, counts, n_new, is_same=is_same),
        trust=trust_lines(local) if local else (),
        alerts=tuple(Alert(text) for text in (musts, unsettled, few) if text),
        lines=tuple(lines),
        worse=", ".join(filter(None, worse)),
        no_verdict=unsettled,
    )


def _answer(main: Comparison, counts: Mapping[str, Any], n_new: int, *, is_same: bool) -> str:
    """Say which of the two keeps more, what length has to do with it, and what to check."""
    a, b = _percents(main.a, main.b)
    if abs(main.difference) <= NEGLIGIBLE:
        said = f"A and B keep the same share of the facts, {percent(main.a)}"
    elif not main.is_significant:
        said = f"No clear difference: B keeps {b} of the facts, A {a}, which may be chance"
    else:
        more = "more" if main.difference > 0 else "less"
        said = f"B keeps {more}: {b} of the facts instead of {a}"
        if _may_be_length(main, counts):
            longer = "longer" if main.difference > 0 else "shorter"
            said += f", but its summaries are {longer}, which may explain it"
    said += "."
    if any(counts["only"]):
        said += f" Only the {plural(counts['facts'], 'fact')} that both have are compared."
    if is_same and abs(main.difference) > NEGLIGIBLE:
        said += " The summaries are the same."
    if n_new == 1:
        said += " 1 fact newly looks wrong; check it."
    elif n_new:
        said += f" {n_new:,} facts newly look wrong; check them."
    return said


def _percents(a: float, b: float) -> tuple[str, str]:
    """Format two shares, with a decimal if they would look the same."""
    if percent(a) == percent(b):
        return f"{100 * a:.1f} %", f"{100 * b:.1f} %"
    return percent(a), percent(b)


def _length_counts(lengths: Sequence[tuple[str, float, int, int]]) -> dict[str, Any]:
    """Return the mean lengths of the summaries, and the difference at equal length."""
    if not lengths:
        return {"words": None, "at_equal_length": None}
    words = fmean(a for *_, a, _ in lengths), fmean(b for *_, b in lengths)
    found = [(source, more, log((b + 1) / (a + 1))) for source, more, a, b in lengths]
    return {"words": words, "at_equal_length": at_equal_length(found).as_plain()}


def _may_be_length(main: Comparison, counts: Mapping[str, Any]) -> bool:
    """Whether B is longer where it keeps more, or shorter where less, and no more than that."""
    if counts["words"] is None or not main.is_significant:
        return False
    a, b = counts["words"]
    if (b - a) * main.difference <= 0 or abs(b - a) < _ALIKE * a:
        return False
    low, high = counts["at_equal_length"]["interval"] or (-1.0, 1.0)
    return round(low, 3) <= 0.0 <= round(high, 3)  # as shown


def _length_lines(counts: Mapping[str, Any], n_records: int) -> list[str]:
    """Describe the lengths of the summaries, and the difference that they leave."""
    if counts["words"] is None:
        return []
    a, b = counts["words"]
    mean = "" if n_records == 1 else " on average"
    line = f"Length: {a:,.0f} → {b:,.0f} words{mean}"
    equal = counts["at_equal_length"]
    if abs(b - a) < _ALIKE * a:
        return [f"{line}."]
    if equal["interval"] is not None:
        interval = interval_words(equal["interval"])
        line += f"; at equal length, the difference would be {signed(equal['value'])}"
        return [f"{line} ({interval})."]
    if counts["sources"] < FEW_UNITS:
        return [f"{line}; at least {FEW_UNITS} sources are needed to tell what length explains."]
    return [f"{line}; they differ too much alike to tell what length explains."]


def _lost_musts(changes: Sequence[Change]) -> str:
    lost = [c.name for c in changes if c.must and c.a == "kept" and c.b != UNDECIDED]
    if lost:
        return f"{plural(len(lost), 'must fact')} lost: {some_of(lost)}"
    return ""


def _undecided_text(changes: Sequence[Change]) -> str:
    """Say so if significantly more facts kept in A are undecided in B than the other way round."""
    open_ = [change for change in changes if change.group == "Undecided"]
    n_b = sum(change.a == "kept" for change in open_)
    n_a = sum(change.b == "kept" for change in open_)
    if n_b <= n_a or sign_test(n_a, n_b) >= SIGNIFICANT:
        return ""
    return f"{plural(n_b, 'fact')} kept in A undecided in B, {n_a:,} kept in B undecided in A"


def _change(record: str, a: CheckResult, b: CheckResult) -> Change:
    return Change(
        _group(a.status, b.status),
        b.fact.text,
        a.status,
        b.status,
        record=record,
        id=b.fact.id,
        must=a.fact.must or b.fact.must,
        quote=b.evidence.quote if b.evidence else "",
        reason=b.message if isinstance(b, CheckFailure) else b.reason,
    )


def _group(a: str, b: str) -> str:
    if b == "distorted":
        return "Newly distorted"
    if UNDECIDED in (a, b):
        return "Undecided"
    if b == "dropped":
        return "Lost" if a == "kept" else "No longer distorted"
    return "Won"


def _compare_facts(
    scores: Sequence[tuple[str, float, float]], decided: Sequence[tuple[CheckResult, CheckResult]]
) -> Comparison:
    """Compare the coverage of one source, fact by fact."""
    a, b = fmean(a for _, a, _ in scores), fmean(b for _, _, b in scores)
    n_won = sum(y.supported and not x.supported for x, y in decided)
    n_lost = sum(x.supported and not y.supported for x, y in decided)
    interval = paired_share_interval(len(decided), n_won, n_lost)
    return Comparison(a, b, b - a, interval, sign_test(n_won, n_lost))


def _causes_lines(
    reports: Reports, changes: Sequence[Change], counts: Mapping[str, Any]
) -> list[str]:
    """Say why facts moved: what else changed, or else that the judge is noisy."""
    causes, is_known = _causes(reports, has_other_facts=any(counts["only"]))
    if causes:
        alone = "" if len(causes) == 1 else "; these runs cannot tell which moved a fact"
        return [f"Changed: {'; '.join(causes)}{alone}"]
    if not changes or not is_known:
        return []
    n_facts, n = counts["facts"], sum(UNDECIDED not in (change.a, change.b) for change in changes)
    noise = f"{n:,} of {plural(n_facts, 'fact')} ({percent(n / n_facts)})"
    same = "texts, facts, judge and prompts are the same"
    return [f"Why: {same}, so this is the judge's own noise: {noise}"]


def _causes(pairs: Reports, *, has_other_facts: bool) -> tuple[tuple[str, ...], bool]:
    """List differences in inputs and settings; also return whether all texts are known."""
    counts = {"the text": 0, "perhaps the text": 0, "the source": 0}
    for one, other in pairs:
        if one.texts is None or other.texts is None:
            counts["perhaps the text"] += 1
        else:
            counts["the text"] += one.texts.summary.text != other.texts.summary.text
        digests = one.facts.source_digest, other.facts.source_digest
        counts["the source"] += None not in digests and digests[0] != digests[1]
    of = "" if len(pairs) == 1 else " of {:,} of {:,} records"
    found = [what + of.format(n, len(pairs)) for what, n in counts.items() if n]
    if has_other_facts:
        found.append("the list of facts")
    settings: dict[str, dict[tuple[str, str], None]] = {}
    for a, b in pairs:
        for name, values in a.signature.changes(b.signature).items():
            settings.setdefault(name, {})[values] = None
    for name, changes in settings.items():
        old, new = next(iter(changes))
        more = more_of(len(changes) - 1, "change")
        title = {"check": "prompt", "extract": "extraction prompt"}.get(name, name)
        found.append(f"{title} {old} → {new} {more}".rstrip())
    return tuple(map(quote_text, found)), not counts["perhaps the text"]


def reports_of(run: Run) -> tuple[dict[str, CoverageReport], str]:
    """Return the reports of a run by record name, omitting records without a report.

    A single report has the empty name. The second value says why the run is not complete; empty
    for one that is.
    """
    if isinstance(run, CoverageReport):
        return {"": run}, ""
    if isinstance(run, RunReport):
        outcomes = (run.outcomes or {}).items()
        reports = {name: one for name, one in outcomes if isinstance(one, CoverageReport)}
        return reports, run.partial
    if isinstance(run, Mapping):
        return dict(run), ""
    return {str(number): report for number, report in enumerate(run, 1)}, ""
