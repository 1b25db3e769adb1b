"""`factcheck doctor`: try a model out before anything is spent on it."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from factcheck.cli import options, output

_UNDECIDED = 4
_ATTEMPTS = 2
"""Requests for one answer: who asks for a diagnosis waits for it."""


def doctor(
    model: Annotated[
        str, options.argument("MODEL", "PROVIDER/MODEL, or FILE.yaml#NAME for one with settings.")
    ],
    *,
    judge_option: options.JudgeOption = None,
    format_: Annotated[
        Literal["table", "json"],
        options.option("--format", "FORMAT", "table or json.", options.OUTPUT),
    ] = "table",
    _debug: options.Debug = False,
) -> None:
    """Try MODEL out: how its server wants to be asked, a trial, and the price.

    Asks about four facts twice, with two to six requests. What is learned is
    kept in the cache for later runs; the answers are not. Exits with 4 if no
    fact was decided.
    """
    from factcheck.judges.factory import build_model
    from factcheck.judges.llm.doctor import examine
    from factcheck.runtime.loop import background
    from factcheck.runtime.retry import RetryPolicy
    from factcheck.runtime.session import Session

    chosen = options.judge_with(model, judge_option) or model
    retry = RetryPolicy(stop_after_attempt=_ATTEMPTS)
    with output.spinner(f"Trying {model}"), Session(retry=retry) as session:
        diagnosis = background.run(examine(build_model(chosen, session)))
    as_json = format_ == "json"
    output.print_out(json.dumps(diagnosis.to_dict(), indent=2) if as_json else str(diagnosis))
    if not diagnosis.n_decided:
        output.print_error(f"no fact was decided: {diagnosis.problem}")
        raise typer.Exit(_UNDECIDED)
