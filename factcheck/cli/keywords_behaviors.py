"""`factcheck keywords behaviors`: read or ask, label, show, and say whether a build may pass."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.cli import gate, keywords_output, output
from factcheck.cli.keywords_calling import Remembering, function_of
from factcheck.cli.keywords_output import Shown
from factcheck.cli.options import Format
from factcheck.errors import InputError
from factcheck.files import refuse_stdin_twice
from factcheck.keywords import BehaviorRun, evaluate_behaviors, load_cases, load_responses
from factcheck.reports.keywords import junit


class Given(NamedTuple):
    """What is to be judged."""

    cases: str
    responses: str | None
    call: str | None
    """Who is asked for responses, as `MODULE:FUNCTION`."""
    concurrency: int
    expect: tuple[str, ...]
    """Each as `VARIANT=BEHAVIOUR`; none: what the cases say."""


def run(
    given: Given,
    chosen: Format | None,
    out: str | None,
    *,
    fail_under: float | None,
    examples: int,
) -> None:
    """Judge the responses and show the report; leaves with an exit code where all is not well."""
    from factcheck.reports.keywords.behaviors import behaviors_report

    gate.check_threshold(fail_under)
    keywords_output.check_examples(examples)
    output.prepare_out(out, given.cases, given.responses)
    refuse_stdin_twice(given.cases, given.responses)
    if (given.responses is None) == (given.call is None):
        raise InputError("give RESPONSES, or --call MODULE:FUNCTION; one of them")
    with keywords_output.quiet_log():
        judged = _judged(given)
    result = judged.run
    page = behaviors_report(result, examples=examples)
    shown = Shown(
        page,
        lambda: result.to_json(indent=2),
        lambda: junit.render_behaviors(result, page),
        result.warnings,
    )
    keywords_output.show(shown, chosen, out)
    if judged.interrupted:
        output.remark("This is the result so far; the cases that were not asked are errored.")
        raise KeyboardInterrupt
    output.leave(failure(result, fail_under))


def failure(run: BehaviorRun, threshold: float | None) -> gate.GateFailure | None:
    """Why a run did not end well, or `None`."""
    errored = [
        (case.case_id, f"{outcome.variant}: {outcome.message}")
        for case in run.cases
        for outcome in [o for o in case.outcomes if o.label is None][:1]
    ]
    return keywords_output.failure("pass rate", run.pass_rate, threshold, errored)


class _Judged(NamedTuple):
    run: BehaviorRun
    interrupted: bool = False


def _judged(given: Given) -> _Judged:
    expected = keywords_output.text_pairs(given.expect, "--expect") or None
    cases = load_cases(given.cases)
    if given.call is None:
        responses = load_responses(str(given.responses))
        return _Judged(evaluate_behaviors(cases, responses, expected=expected))
    asked = Remembering(function_of(given.call))
    try:
        run = evaluate_behaviors(
            cases, asked, expected=expected, concurrency=given.concurrency, progress=True
        )
    except KeyboardInterrupt:
        if not asked.so_far:
            raise
        return _Judged(evaluate_behaviors(cases, asked.so_far, expected=expected), True)
    return _Judged(run)
