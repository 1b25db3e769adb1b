"""`factcheck score`: one source and one summary, or a file of many."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from factcheck.cli import options, output
from factcheck.errors import InputError

if TYPE_CHECKING:
    from factcheck.runtime.budget import Budget


class Batch(str, Enum):
    """The two steps of a batch."""

    SUBMIT = "submit"
    COLLECT = "collect"


class Direction(str, Enum):
    """Which way the two texts are compared."""

    COVERAGE = "coverage"
    BOTH = "both"


def score(  # noqa: PLR0913 - one parameter per option
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="The text with the facts.")
    ] = None,
    summary: Annotated[
        str | None, typer.Argument(metavar="SUMMARY", help="The text to check.")
    ] = None,
    *,
    facts: Annotated[
        str | None,
        typer.Option(
            "--facts",
            metavar="FILE",
            help="Check these facts instead of extracting them: .txt, .json, .yaml.",
        ),
    ] = None,
    judge: options.Judge = None,
    extractor: options.Extractor = None,
    direction: Annotated[
        Direction,
        typer.Option(
            "--direction",
            metavar="WAY",
            help="coverage, or both: also list claims that the source does not support.",
        ),
    ] = Direction.COVERAGE,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under", metavar="SHARE", help="Exit with 1 if the score is lower, e.g. 0.8."
        ),
    ] = None,
    records: Annotated[
        str | None,
        typer.Option(
            "--records",
            metavar="FILE",
            help="Score many pairs: .jsonl, .csv, .parquet or a folder; --out takes the rows.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the rows that --out has already.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad records out and count them.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what a run would ask, and ask nothing.")
    ] = False,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", help="Requests sent at most.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", help="Tokens used at most.")
    ] = None,
    max_cost_usd: Annotated[
        float | None, typer.Option("--max-cost-usd", metavar="X", help="US dollars at most.")
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            "--record", metavar="FILE", help="Add all answers to a cassette for replay:FILE."
        ),
    ] = None,
    batch: Annotated[
        Batch | None,
        typer.Option(
            "--batch",
            metavar="STEP",
            help="submit or collect: ask OpenAI's Batch endpoint, at half the price.",
        ),
    ] = None,
    batch_file: Annotated[
        str | None,
        typer.Option(
            "--batch-file",
            metavar="FILE",
            help="What was submitted.  [default: the records' name with .batch.json]",
        ),
    ] = None,
    _debug: options.Debug = False,
) -> None:
    """Tell which facts of SOURCE the SUMMARY keeps, drops or distorts.

    A fact marked 'must' that is not kept exits with 1, whatever the score.
    """
    from factcheck.cli import gate

    gate.check_threshold(fail_under)
    _require_either(source, summary, facts, records, resume=resume, skip_bad=skip_bad)
    budget = _budget(max_calls, max_tokens, max_cost_usd)
    given = {"judge": judge, "extractor": extractor, "budget": budget, "cassette": record}
    if records is not None:
        from factcheck.cli import many

        many.require_format(format_)
        if batch is not None:
            many.batch(
                batch.value,
                batch_file or f"{records}.batch.json",
                records,
                given,
                direction.value,
                skip_bad=skip_bad,
            )
        elif dry_run:
            many.dry_run(records, given, direction.value, skip_bad=skip_bad)
        else:
            many.score(
                records,
                given,
                direction.value,
                out=out,
                resume=resume,
                skip_bad=skip_bad,
                chosen=format_,
                fail_under=fail_under,
            )
        return
    if dry_run or batch:
        raise InputError("--dry-run and --batch are for --records FILE")
    _score_pair(
        str(source),
        str(summary),
        facts,
        given,
        direction.value,
        chosen=format_,
        out=out,
        fail_under=fail_under,
    )


def _score_pair(
    source: str,
    summary: str,
    facts: str | None,
    given: dict[str, Any],
    direction: Any,
    *,
    chosen: options.Format | None,
    out: str | None,
    fail_under: float | None,
) -> None:
    from factcheck import files
    from factcheck.cli import gate, pair

    output.prepare_out(out, source, summary, facts)
    files.refuse_stdin_twice(source, summary, facts)
    fact_set = files.read_facts(facts) if facts is not None else None
    source_text, summary_text = files.read_text(source), files.read_text(summary)
    if fact_set is not None and facts is not None:
        output.warn_if_stale(fact_set, source_text, facts)
    report = pair.scored(
        given,
        lambda scorer: scorer.score(source_text, summary_text, facts=fact_set, direction=direction),
        "Scoring",
        chosen,
        out,
        fail_under,
    )
    output.leave(gate.failure(report, fail_under))


def _require_either(
    source: str | None,
    summary: str | None,
    facts: str | None,
    records: str | None,
    *,
    resume: bool,
    skip_bad: bool,
) -> None:
    if records is None:
        if source is None or summary is None:
            raise InputError("give SOURCE and SUMMARY, or --records FILE")
        if resume or skip_bad:
            raise InputError("--resume and --skip-bad are for --records FILE")
    elif source is not None or facts is not None:
        raise InputError("--records FILE holds the texts and facts; give it alone")


def _budget(calls: int | None, tokens: int | None, usd: float | None) -> Budget | None:
    if calls is None and tokens is None and usd is None:
        return None
    from factcheck.runtime.budget import Budget

    return Budget(max_calls=calls, max_tokens=tokens, max_cost_usd=usd)
