"""`factcheck score`, `facts` and `check`: score one summary, extract and check facts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from factcheck.cli import options, output
from factcheck.cli.options import argument, option
from factcheck.errors import FactcheckError, InputError

if TYPE_CHECKING:
    from factcheck.facts import CoverageReport, FactSet
    from factcheck.scoring import FactCoverage
    from factcheck.scoring.gates import GateFailure, Limits


def score(  # noqa: PLR0913 - one parameter per option
    source: Annotated[str, argument("SOURCE", "Source text.")],
    summary: Annotated[str, argument("SUMMARY", "Summary to score.")],
    *,
    more_sources: options.MoreSources = None,
    facts: Annotated[
        str | None,
        option("FILE", "Check these facts instead of extracting them: .txt, .json or .yaml."),
    ] = None,
    judge: options.Judge = None,
    judge_option: options.JudgeOption = None,
    extractor: options.Extractor = None,
    weights: options.Weights = "equal",
    key: Annotated[int, option("N", "List the N heaviest facts first, kept or not.", min=0)] = 0,
    direction: options.Direction = "coverage",
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: options.FailUnder = None,
    max_distorted: options.MaxDistorted = None,
) -> None:
    """Report which facts in SOURCE the SUMMARY keeps, distorts or drops.

    With --source, several documents form one source; the report shows
    which of them state a fact, and the coverage of each. Exits with 1 if a
    'must' fact is not kept, regardless of the score. Facts that would fail
    the gate are checked again by a language model, and 'must' facts twice,
    so that a single wrong verdict does not decide.
    """
    from factcheck.documents import read_text
    from factcheck.facts import digest, source_key
    from factcheck.records import read_facts, read_source
    from factcheck.scoring import gates

    sources = [source, *(more_sources or ())]
    to = output.destination(format_, out, *sources, summary, facts)
    fact_set = read_facts(facts) if facts is not None else None
    limits = gates.Limits(fail_under, max_distorted)
    texts = read_source(sources), read_text(summary)
    names = _file_name(source), _file_name(summary)
    digests = {None, digest(source_key(texts[0]))}
    if fact_set is not None and fact_set.source_digest not in digests:
        output.print_error(
            f"warning: {facts} was extracted from another source, or another version of it; "
            "list the facts again, in a lock file with 'factcheck facts SOURCE --lock FILE.yaml'"
        )
    if fact_set is not None and direction == "coverage":
        extractor = extractor or "local"  # nothing is extracted, so no key is asked for
    settings = {
        "judge": options.judge_with(judge, judge_option),
        "extractor": extractor,
        "budget": options.budget(max_calls, max_cost_usd),
        "weights": weights,
    }
    if key and weights == "equal" and len({fact.weight for fact in fact_set or ()}) < 2:  # noqa: PLR2004
        raise InputError("--key lists the heaviest facts, but all weigh the same: --weights lead")
    _show_scored(
        settings,
        lambda scorer: scorer.score(*texts, facts=fact_set, direction=direction).named(*names),
        "Scoring",
        to,
        limits,
        key,
    )


def _show_scored(
    settings: dict[str, Any],
    score: Callable[[FactCoverage], CoverageReport],
    message: str,
    to: output.Destination,
    limits: Limits | None = None,
    n_key: int = 0,
) -> None:
    """Score, show the report and exit with the code of the gate.

    Raises:
        KeyboardInterrupt: Interrupted; a report from cached replies has been shown.
    """
    from factcheck.scoring import FactCoverage
    from factcheck.scoring.gates import NO_LIMITS, coverage_gate, settled
    from factcheck.scoring.runs import cached_report

    required = limits or NO_LIMITS

    def show(report: CoverageReport) -> GateFailure | None:
        failure = coverage_gate(report, required)
        output.report(report, to, failure, page=report.page(n_key))
        return failure

    try:
        with FactCoverage(**settings) as scorer, output.spinner(message):
            report = settled(scorer, score(scorer), required)
    except KeyboardInterrupt:
        with suppress(FactcheckError):
            if (partial := cached_report(settings, score)) is not None:
                show(partial)
        raise
    output.exit_with(show(report))


def facts(
    source: Annotated[str, argument("SOURCE", "Source text.")],
    *,
    more_sources: options.MoreSources = None,
    extractor: options.Extractor = None,
    format_: Annotated[
        Literal["table", "json"], option("FORMAT", "table or json.", "--format")
    ] = "table",
    lock: Annotated[
        str | None, option("FILE", "Write the facts to this YAML file and show what changed.")
    ] = None,
) -> None:
    """List the atomic facts of SOURCE.

    'factcheck score --facts' reads the lock file. An existing one is
    merged: facts reworded, added, removed or marked in it stay so, and new
    facts of SOURCE are appended.
    """
    from factcheck.documents import json_text, refuse_stdin_twice
    from factcheck.facts.page import fact_warnings, facts_text, unread_warning
    from factcheck.records import read_source
    from factcheck.scoring import FactCoverage

    sources = [source, *(more_sources or ())]
    refuse_stdin_twice(*sources)
    output.check_out(lock, *sources, option="--lock")
    documents = read_source(sources)
    with FactCoverage(extractor=extractor) as scorer, output.spinner("Extracting facts"):
        found = scorer.extract(documents)
    if lock is not None:
        found = _write_lock(found, lock)
    if lock is None or format_ != "table":
        as_json = format_ == "json"
        output.print_out(json_text(found.to_dict(), indent=2) if as_json else facts_text(found))
    unread = unread_warning(found, documents) if isinstance(documents, str) else ""
    output.print_warnings([*fact_warnings(found), *filter(None, [unread])])


def check(
    facts: Annotated[str, argument("FACTS", "Facts: .txt (one per line), .json or .yaml.")],
    text: Annotated[str, argument("TEXT", "Text to check them against.")],
    *,
    judge: options.Judge = None,
    judge_option: options.JudgeOption = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
) -> None:
    """Check given facts against TEXT.

    Exits with 1 if a 'must' fact is not kept.
    """
    from factcheck.documents import read_text
    from factcheck.records import read_facts

    to = output.destination(format_, out, facts, text)
    fact_set, summary = read_facts(facts), read_text(text)
    _show_scored(
        {"judge": options.judge_with(judge, judge_option)},
        lambda scorer: scorer.score("", summary, facts=fact_set).named("", _file_name(text)),
        "Checking",
        to,
    )


def _file_name(path: str) -> str:
    from factcheck.documents import name_of

    return Path(name_of(path)).name


def _write_lock(found: FactSet, path: str) -> FactSet:
    from factcheck.records import read_facts, write_lock
    from factcheck.reports.text import plural

    change = write_lock(found, path)
    if not change.existed:
        output.print_note(f"{path}: {plural(len(found), 'fact')} written")
    else:
        output.print_note(
            f"{path}: {len(change.added)} added (+), {len(change.removed)} removed (-), "
            f"{len(change.lost)} kept but no longer in the source (?), {change.unchanged} unchanged"
        )
        for sign, group in (("+", change.added), ("-", change.removed), ("?", change.lost)):
            for fact in group:
                output.print_note(f"  {sign} {fact.text}")
        for fact in change.alone:
            output.print_note(f"  a fact of its own, as its core {fact.core} is gone: {fact.text}")
    return read_facts(path)
