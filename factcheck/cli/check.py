"""`factcheck check`: verdicts for facts that are given."""

from __future__ import annotations

from typing import Annotated

import typer

from factcheck.cli import options, output


def check(
    facts: Annotated[
        str, typer.Argument(metavar="FACTS", help="The facts: .txt (one a line), .json, .yaml.")
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to check.")],
    *,
    judge: options.Judge = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    _debug: options.Debug = False,
) -> None:
    """Check given facts: does TEXT say them?

    A fact marked 'must' that is not kept exits with 1.
    """
    from factcheck import files
    from factcheck.cli import gate, pair

    output.prepare_out(out, facts, text)
    files.refuse_stdin_twice(facts, text)
    given = files.read_facts(facts)
    checked = files.read_text(text)
    report = pair.scored(
        {"judge": judge},
        lambda scorer: scorer.score("", checked, facts=given),
        "Checking",
        format_,
        out,
    )
    output.leave(gate.failure(report))
