"""`factcheck calibrate`, `trust` and `doctor`: test and measure judges."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from factcheck.cli import options, output
from factcheck.cli.options import argument, flag, option
from factcheck.errors import InputError, JudgeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from factcheck.scoring.gates import GateFailure

Source = Annotated[
    str | None, option("FILE", "Source text; with --summary.", show_default="the bundled texts")
]
Summary = Annotated[str | None, option("FILE", "Its summary, in bullets or sentences.")]
Facts = Annotated[
    str | None, option("FILE", "Its facts.", show_default="extracted from the source")
]


def bullets(  # noqa: PLR0913 - one parameter per option
    *,
    judge: options.Judges = None,
    judge_option: options.JudgeOption = None,
    rater: Annotated[
        list[str] | None, option("MODEL", "Model that rates each variant from 1 to 5; repeatable.")
    ] = None,
    random_orders: Annotated[int, option("N", "Random orders per text.")] = 4,
    source: Source = None,
    summary: Summary = None,
    facts: Facts = None,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    out: Annotated[str, option("DIR", "Folder for rows, plot and page.")] = "bullet-removal",
    format_: options.ReportFormat = None,
) -> None:
    """Remove bullets from summaries one by one and measure the score.

    A valid score falls with the information. The price of each judge is
    printed first; a rater takes one request per variant. Limits apply per
    judge.
    """
    from factcheck.calibration import BASELINE, abullet_removal, bullet_removal

    if (rows := Path(out) / "rows.jsonl").exists():
        raise InputError(f"{rows} exists; name another folder with --out, or remove it")
    texts = _own_text(source, summary, facts)

    def measure(judge: Any, texts: Any) -> Any:
        return abullet_removal(texts, [judge], n_random=random_orders)

    judges = _judges(judge, judge_option, measure, texts) if judge or not rater else {}
    limits = options.budget(max_calls, max_cost_usd)
    with output.spinner("Removing bullets"):
        run = bullet_removal(
            texts, judges, raters=rater or [], budget=limits, n_random=random_orders
        )
    files = run.save(out)
    heard = {BASELINE, *(row.judge for row in run.rows if row.score is not None)}
    failure = _no_verdicts((row.judge, row.note) for row in run.rows if row.judge not in heard)
    output.report(run, output.Destination(format_ or "table"), failure)
    output.print_note(f"{', '.join(files)} in {out}")
    output.exit_with(failure)


def audit(  # noqa: PLR0913 - one parameter per option
    *,
    judge: options.Judge = None,
    judge_option: options.JudgeOption = None,
    source: Source = None,
    summary: Summary = None,
    facts: Facts = None,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    strict: Annotated[bool, flag("--strict", "Exit with 1 if the judge has faults.")] = False,
    format_: options.ReportFormat = None,
    out: options.Out = None,
) -> None:
    """Find provably wrong verdicts of a judge, without labels.

    Shuffled facts get the same verdicts, and a changed number is another
    fact: each violation is a provable error, and a frequent one a fault. JSON
    lists all errors with texts and verdicts.
    """
    from factcheck.calibration import aaudit_judge, audit_judge
    from factcheck.scoring import gates

    to = output.destination(format_, out, source, summary, facts)
    texts = _own_text(source, summary, facts)
    ((name, one),) = _judges([judge] if judge else None, judge_option, aaudit_judge, texts).items()
    limits = options.budget(max_calls, max_cost_usd)
    with output.spinner(f"Auditing {name}"):
        report = audit_judge(one, texts, name=name, budget=limits)
    failure = _no_verdicts([(name, report.failure)] if not report.n_answers else [])
    if strict and failure is None:
        failure = gates.strict_gate(len(report.faults), report.n_errors)
    output.finish(report, to, failure)


def agreement(
    data: Annotated[str, argument("DATA", "Rows with 'fact', 'text', 'label' and 'document'.")],
    *,
    judge: options.Judges = None,
    judge_option: options.JudgeOption = None,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
) -> None:
    """Compare judges with human labels, with word containment as baseline.

    Facts whose label is null are left out.
    """
    from factcheck.calibration import BASELINE, read_pairs
    from factcheck.calibration import agreement as measure
    from factcheck.calibration.agreement import check_pairs

    to = output.destination(format_, out, data)
    pairs = read_pairs(data)
    judges = _judges(judge, judge_option, lambda scorer, _: check_pairs(scorer, pairs))
    limits = options.budget(max_calls, max_cost_usd)
    with output.spinner("Checking facts"):
        report = measure(pairs, judges, budget=limits)
    failure = _no_verdicts(
        (one.judge, one.failure)
        for one in report.judges
        if one.judge != BASELINE and not one.n_pairs
    )
    output.finish(report, to, failure)


def trust(  # noqa: PLR0913 - one parameter per option
    texts: Annotated[
        str | None, argument("TEXTS", "Your records, as for 'factcheck run', or the bundled texts.")
    ] = None,
    *,
    judge: options.Judge = None,
    judge_option: options.JudgeOption = None,
    labels: Annotated[
        str | None, option("FILE", "Human labels, as for 'factcheck calibrate agreement'.")
    ] = None,
    dry_run: options.DryRun = False,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
) -> None:
    """Measure how far a judge can be trusted, and for what.

    Prints the price first; then removes bullets, audits and, with
    --labels, compares with humans. --out page.html shows all of it.
    """
    from factcheck.calibration import atrust, read_pairs
    from factcheck.calibration import trust as measure
    from factcheck.records import read_records

    to = output.destination(format_, out, texts, labels)
    records = None if texts is None else list(read_records(texts))
    pairs = [] if labels is None else read_pairs(labels)
    priced = partial(atrust, pairs=pairs)
    ((name, one),) = _judges([judge] if judge else None, judge_option, priced, records).items()
    if dry_run:
        return
    limits = options.budget(max_calls, max_cost_usd)
    with output.spinner(f"Measuring {name}"):
        report = measure(one, records, pairs, name=name, budget=limits)
    failure = _no_verdicts([(name, report.audit.failure)] if not report.audit.n_answers else [])
    output.finish(report, to, failure)


def doctor(
    model: Annotated[
        str, argument("MODEL", "PROVIDER/MODEL, or FILE.yaml#NAME from a settings file.")
    ],
    *,
    judge_option: options.JudgeOption = None,
) -> None:
    """Test MODEL: accepted request format, trial verdicts and cost.

    Checks four facts twice and one with a long text, in three to seven
    requests, of which nothing is cached. Exits with 4 if no fact was decided.
    """
    from factcheck.judges.factory import build_model
    from factcheck.judges.llm.doctor import examine
    from factcheck.runtime.loop import background
    from factcheck.runtime.retry import RetryPolicy
    from factcheck.runtime.session import Session

    chosen = options.judge_with(model, judge_option) or model
    retry = RetryPolicy(stop_after_attempt=2)  # the user is waiting
    with output.spinner(f"Trying {model}"), Session(cache="off", retry=retry) as session:
        diagnosis = background.run(examine(build_model(chosen, session)))
    output.print_out(str(diagnosis))
    if not diagnosis.n_decided:
        output.print_error(f"no fact was decided: {diagnosis.problem}")
        raise typer.Exit(JudgeError.exit_code)


def _no_verdicts(judges: Iterable[tuple[str, str]]) -> GateFailure | None:
    """Make the failure of the first of the judges without a verdict, given with their reasons."""
    from factcheck.scoring.gates import NOTHING_DECIDED, GateFailure

    for judge, reason in judges:
        return GateFailure(NOTHING_DECIDED, f"{judge} returned no verdicts: {reason}")
    return None


def _judges(
    names: list[str] | None,
    settings: list[str] | None,
    measure: Callable[..., Any],
    texts: Any = None,
) -> dict[str, Any]:
    """Map names to judges with the settings of `--judge-option`, and say what each may spend."""
    from factcheck.calibration import price
    from factcheck.calibration.texts import require_unique
    from factcheck.settings import Settings

    names = names or [Settings.from_environment().judge]
    require_unique("judge", names)
    judges = {name: options.judge_with(name, settings) for name in names}
    for name, judge in judges.items():
        needed = output.estimate_text(price(measure, judge, texts))
        output.print_note(f"{name} needs {needed}")
    return judges


def _own_text(
    source: str | None, summary: str | None, facts: str | None
) -> list[dict[str, Any]] | None:
    """Read the user's text as a record; `None` for the bundled texts."""
    from factcheck.documents import read_text, refuse_stdin_twice
    from factcheck.records import read_facts

    if (source is None) != (summary is None):
        raise InputError("--source and --summary belong together; give both, or neither")
    if source is None or summary is None:
        if facts is not None:
            raise InputError("--facts needs --source and --summary")
        return None
    refuse_stdin_twice(source, summary, facts)
    text: dict[str, Any] = {
        "id": "summary" if summary == "-" else Path(summary).stem,
        "source": read_text(source),
        "summary": read_text(summary),
    }
    return [text if facts is None else {**text, "facts": read_facts(facts)}]
