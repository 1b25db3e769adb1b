"""`factcheck doctor`: try a model out before anything is spent on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from factcheck.cli import options, output

if TYPE_CHECKING:
    from factcheck.judges.llm.doctor import Diagnosis
    from factcheck.settings import Model

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
    with output.spinner(f"Trying {model}"):
        diagnosis = _examined(options.judge_with(model, judge_option) or model)
    as_json = format_ == "json"
    output.print_out(json.dumps(diagnosis.to_dict(), indent=2) if as_json else str(diagnosis))
    if not diagnosis.n_decided:
        output.print_error(f"no fact was decided: {diagnosis.problem}")
        raise typer.Exit(_UNDECIDED)


def _examined(model: str | Model) -> Diagnosis:
    from factcheck.judges.factory import build_model
    from factcheck.judges.llm.doctor import examine
    from factcheck.runtime.loop import background
    from factcheck.runtime.retry import RetryPolicy
    from factcheck.runtime.session import Session

    with Session(retry=RetryPolicy(stop_after_attempt=_ATTEMPTS)) as session:
        return background.run(examine(build_model(model, session)))
