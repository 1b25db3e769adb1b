"""Scorer for Inspect: how much of a source the output of the model keeps."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from factcheck.integrations import details, explanation, source_in
from factcheck.scoring import FactCoverage


@scorer(metrics=[mean(), stderr()])
def coverage(judge: str | None = None, source: str = "source") -> Scorer:
    """Measure coverage of the source in the metadata of each sample, in [0, 1].

    The explanation lists the facts that are distorted, dropped or undecided; the metadata has them
    for programs. A sample on which the judge gives no verdict is unscored. Errors fail the sample:
    no source, no facts in it, a judge that cannot be reached.

    Args:
        judge: Name of a judge, as in `FactCoverage`.
        source: Key of the source in the metadata: a text or documents.
    """
    evaluator = FactCoverage(judge)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the protocol
        text = source_in(state.metadata, source, "the metadata of the sample")
        answer = state.output.completion
        report = await evaluator.ascore(text, answer)
        said = {
            "answer": answer,
            "explanation": explanation(report),
            "metadata": details(report),
        }
        if report.score is None:
            return Score.unscored(reason="grader_failed", **said)
        return Score(value=report.score, **said)

    return score
