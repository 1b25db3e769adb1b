"""`factcheck keywords run`: read, match, show, and say whether a build may pass."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.cli import gate, keywords_output, output
from factcheck.cli.keywords_output import Shown
from factcheck.cli.options import Format
from factcheck.files import refuse_stdin_twice
from factcheck.keywords import DatasetResult, load_dataset, load_outputs
from factcheck.keywords.evaluation import CardEvaluator
from factcheck.keywords.settings import Assignment, MatchSettings
from factcheck.reports.keywords import junit


class Given(NamedTuple):
    """What is to be scored, and how."""

    dataset: str
    outputs: str
    threshold: float
    weights: tuple[str, ...]
    """Each as `FIELD=W`."""
    type_weight: float
    assignment: Assignment


def run(
    given: Given,
    chosen: Format | None,
    out: str | None,
    *,
    fail_under: float | None,
    examples: int,
) -> None:
    """Score the files and show the report; leaves with an exit code where something is wrong."""
    from factcheck.reports.keywords.cards import cards_report

    gate.check_threshold(fail_under)
    keywords_output.check_examples(examples)
    output.prepare_out(out, given.dataset, given.outputs)
    refuse_stdin_twice(given.dataset, given.outputs)
    weights = keywords_output.number_pairs(given.weights, "--weight")
    settings = MatchSettings.of(given.threshold, weights, given.type_weight, given.assignment)
    with keywords_output.quiet_log(), output.waiting("Matching"):
        dataset = load_dataset(given.dataset)
        outputs = load_outputs(given.outputs)
        result = CardEvaluator(dataset, settings, keep=False).evaluate(outputs)
        page = cards_report(result, dataset=dataset, outputs=outputs, examples=examples)
    shown = Shown(
        page,
        lambda: result.to_json(indent=2),
        lambda: junit.render_cards(result, page),
        result.warnings,
    )
    keywords_output.show(shown, chosen, out)
    output.leave(failure(result, fail_under))


def failure(run: DatasetResult, threshold: float | None) -> gate.GateFailure | None:
    """Why a run did not end well, or `None`."""
    score = None if run.macro is None else run.macro.f1
    errored = [(case.case_id, case.message) for case in run.failures]
    return keywords_output.failure("mean F1", score, threshold, errored)
