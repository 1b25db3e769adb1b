"""`factcheck keywords`: generated cards and behaviours, told good from bad by their keywords."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from factcheck.cli import options

app = typer.Typer(rich_markup_mode=None)


class Assignment(str, Enum):
    """How pairs of cards are chosen."""

    GREEDY = "greedy"
    OPTIMAL = "optimal"


Cases = Annotated[
    str,
    typer.Argument(
        metavar="CASES",
        help="A suite: .json, .jsonl or .yaml; each case has an 'instruction' and an "
        "'evaluation_guide' with lists of keywords, <behaviour>_keywords.",
    ),
]


@app.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    """Score cards and behaviours by keywords.

    Fast, free and without a model: what was left out is found, not what was got wrong.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("run", epilog="Example: factcheck keywords run dataset.yaml outputs.json --out a.json")
def run(  # noqa: PLR0913 - one parameter per option
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="What is expected: .yaml or .json with 'cases'; each has an 'id', a 'text' and "
            "'expected_cards' with lists of keywords, <field>_keywords.",
        ),
    ],
    outputs: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUTS",
            help="The generated cards: .json or .yaml with lists of cards by case id, or .jsonl "
            "with an 'id' and 'cards' a line; null where nothing was generated.",
        ),
    ],
    *,
    assignment: Annotated[
        Assignment,
        typer.Option(
            "--assignment",
            metavar="HOW",
            help="greedy: each expected card in turn takes the best one left; optimal: the pairs "
            "with the highest total score.",
        ),
    ] = Assignment.GREEDY,
    threshold: Annotated[
        float,
        typer.Option("--threshold", metavar="SCORE", help="The score that a pair of cards needs."),
    ] = 0.3,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="FIELD=W",
            help="How much a field counts, in any unit; once for each field.  [default: all alike]",
        ),
    ] = None,
    type_weight: Annotated[
        float,
        typer.Option(
            "--type-weight",
            metavar="SHARE",
            help="The share of the score that a right card_type makes, where one is expected.",
        ),
    ] = 0.2,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            metavar="SHARE",
            help="Exit with 1 if F1, as the mean over cases (macro), is lower, e.g. 0.8, or if a "
            "case is errored.",
        ),
    ] = None,
    examples: Annotated[
        int,
        typer.Option("--examples", metavar="N", help="Missed cards shown, and extra ones."),
    ] = 10,
    _debug: options.Debug = False,
) -> None:
    """Match generated cards with expected ones.

    A card is good if the keywords occur in it: recall is the share of expected cards that were
    matched, precision that of generated cards. With --out RUN.json the run is saved for 'factcheck
    keywords compare'. A case without output, or with one that cannot be used, is errored: it counts
    in no score, and the others are scored as usual.
    """
    from factcheck.cli import keywords_run

    given = keywords_run.Given(
        dataset,
        outputs,
        threshold=threshold,
        weights=tuple(weight or ()),
        type_weight=type_weight,
        assignment=assignment.value,
    )
    keywords_run.run(given, format_, out, fail_under=fail_under, examples=examples)


@app.command("behaviors", epilog="Example: factcheck keywords behaviors cases.json responses.json")
def behaviors(  # noqa: PLR0913 - one parameter per option
    cases: Cases,
    responses: Annotated[
        str | None,
        typer.Argument(
            metavar="RESPONSES",
            help="What the variants of a model said: .json or .yaml with a list of responses, or "
            "one by case id, for each variant; or .jsonl with 'id', 'variant' and 'response'.",
            show_default=False,
        ),
    ] = None,
    *,
    call: Annotated[
        str | None,
        typer.Option(
            "--call",
            metavar="MODULE:FUNCTION",
            help="Ask a Python function, asynchronous or not, instead: it is given a case, whose "
            "prompt is case.prompt, and the name of a variant. A path will do: model.py:ask.",
        ),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option("--concurrency", metavar="N", help="Calls of --call under way at most."),
    ] = 8,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--expect",
            metavar="VARIANT=BEHAVIOUR",
            help="What a variant is to show in every case; once for each variant.  "
            "[default: what the cases say, else each behaviour is a variant that is to show it]",
        ),
    ] = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            metavar="SHARE",
            help="Exit with 1 if the pass rate is lower, e.g. 0.9, or if a case is errored.",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", metavar="N", help="Examples of each kind of failure.")
    ] = 3,
    _debug: options.Debug = False,
) -> None:
    """Tell which behaviours responses show.

    A case passes if every variant shows the behaviour expected of it, and no other. One in which a
    response is missing, or could not be had, is errored: it neither passes nor fails. With --out
    RUN.json the run is saved for 'factcheck keywords compare'.
    """
    from factcheck.cli import keywords_behaviors

    given = keywords_behaviors.Given(
        cases, responses, call=call, concurrency=concurrency, expect=tuple(expect or ())
    )
    keywords_behaviors.run(given, format_, out, fail_under=fail_under, examples=examples)


@app.command("lint", epilog="Example: factcheck keywords lint cases.json responses.json")
def lint(
    cases: Cases,
    responses: Annotated[
        str | None,
        typer.Argument(
            metavar="RESPONSES",
            help="As for 'behaviors': also finds keywords that never fire.",
            show_default=False,
        ),
    ] = None,
    *,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything is found.")
    ] = False,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    _debug: options.Debug = False,
) -> None:
    """List the faults of keyword guides.

    To be mended before a model is asked: keywords that two behaviours share or that stand inside
    another's, that are short, doubled or empty, that the prompt has, and, with RESPONSES, that
    occur in none of them.
    """
    from factcheck.cli import keywords_lint

    keywords_lint.lint(cases, responses, format_, out, strict=strict)


@app.command("compare", epilog="Example: factcheck keywords compare before.json after.json")
def compare(
    run_a: Annotated[
        str,
        typer.Argument(
            metavar="RUN_A",
            help="What 'run' or 'behaviors' wrote with --out RUN.json; the baseline.",
        ),
    ],
    run_b: Annotated[
        str, typer.Argument(metavar="RUN_B", help="Another run of the same kind and cases.")
    ],
    *,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit with 1 if RUN_B is worse, or has no score for a case that RUN_A has one "
            "for.",
        ),
    ] = False,
    _debug: options.Debug = False,
) -> None:
    """Tell what changed between two runs.

    A run is better or worse if the sign test over the cases that changed says so (p below 0.05) and
    F1, or the pass rate, has gone the same way.
    """
    from factcheck.cli import keywords_compare

    keywords_compare.compare(run_a, run_b, format_, out, fail_if_worse=fail_if_worse)
