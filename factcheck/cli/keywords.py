"""`factcheck keywords` and `factcheck references`: evaluation without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from factcheck.cli import options, output
from factcheck.cli.options import argument, option
from factcheck.errors import InputError

if TYPE_CHECKING:
    from factcheck.metrics import MetricReport

_THRESHOLD = 0.7


def run(
    dataset: Annotated[str, argument("DATASET", "Expected cards: .yaml or .json with 'cases'.")],
    outputs: Annotated[
        str, argument("OUTPUTS", "Generated cards by case id: .json, .jsonl or .yaml.")
    ],
    *,
    assignment: Annotated[
        Literal["greedy", "optimal"],
        option("METHOD", "greedy: the best card for each in turn; optimal: the best total score."),
    ] = "greedy",
    threshold: Annotated[float, option("SCORE", "Minimum score of a pair of cards.")] = 0.3,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: options.FailUnder = None,
) -> None:
    """Match generated cards with expected cards.

    Recall is the share of expected cards that were matched, precision
    that of generated cards. A case without a valid output is an error and
    excluded from the scores. 'factcheck keywords compare' reads --out
    RUN.json. The files are described in factcheck/keywords/README.md.
    """
    from factcheck.keywords import evaluate_dataset, load_dataset, load_outputs

    to = output.destination(format_, out, dataset, outputs)
    with output.spinner("Matching"):
        expected, generated = load_dataset(dataset), load_outputs(outputs)
        result = evaluate_dataset(expected, generated, threshold, assignment=assignment)
    _finish(result, to, fail_under)


def behaviors(
    cases: Annotated[str, argument("CASES", "Suite: .json, .jsonl or .yaml.")],
    responses: Annotated[
        str, argument("RESPONSES", "Responses of each variant: .json, .jsonl or .yaml.")
    ],
    *,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: options.FailUnder = None,
) -> None:
    """Classify the behaviors of responses.

    A case passes if every variant shows its expected behavior and no
    other. A case with a missing response is an error: it neither passes
    nor fails. 'factcheck keywords compare' reads --out RUN.json. The files
    are described in factcheck/keywords/README.md.
    """
    from factcheck.keywords import evaluate_behaviors, load_cases, load_responses

    to = output.destination(format_, out, cases, responses)
    result = evaluate_behaviors(load_cases(cases), load_responses(responses))
    _finish(result, to, fail_under)


def _finish(result: MetricReport, to: output.Destination, fail_under: float | None) -> None:
    from factcheck.scoring import gates

    failure = gates.cases_gate(result.FIGURE, result.mean, fail_under, result.errors)
    output.finish(result, to, failure)


def references(
    actual: Annotated[str, argument("ACTUAL", "Text to score.")],
    reference: Annotated[list[str], argument("REFERENCE", "Reference texts.")],
    *,
    aggregation: Annotated[
        Literal["max", "mean"],
        option("METHOD", "max or mean of the similarities to the references."),
    ] = "max",
    embedder: Annotated[
        str, option("NAME", "local (lexical, offline), openai or openai/MODEL.")
    ] = "local",
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: options.FailUnder = None,
) -> None:
    """Compare a text with references by embedding similarity.

    All arguments are files. The passing score is --fail-under, or 0.7,
    which suits embedding models; with the local embedder, 0.3 to 0.4
    separates correct from wrong short answers best.
    """
    from factcheck.metrics import evaluate
    from factcheck.references import ReferenceMatch

    to = output.destination(format_, out, actual, *reference)
    threshold = _THRESHOLD if fail_under is None else fail_under
    text, *others = map(_text, (actual, *reference))
    with (
        ReferenceMatch(others, aggregation, threshold, embedder) as metric,
        output.spinner("Comparing"),
    ):
        [result] = evaluate([{"actual_output": text}], [metric]).values()
    _finish(result, to, fail_under)


def _text(path: str) -> str:
    from factcheck.documents import name_of, read_text

    text = read_text(path).strip()
    if not text:
        raise InputError(f"{name_of(path)} is blank; there is nothing to compare")
    return text
