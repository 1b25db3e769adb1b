"""Puts the questions of trials to a judge, each once, with nothing kept from earlier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from factcheck.calibration.audit.trials import Question, Trial
from factcheck.errors import JudgeError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet
from factcheck.runtime.loop import together

Answers = Mapping[Question, Mapping[str, CheckResult]]
"""For each question, for the text of each fact, what the judge said."""


class Checks(Protocol):
    """What is needed of a scorer."""

    async def acheck(self, facts: FactSet, text: str) -> tuple[CheckResult, ...]:
        """One result per fact."""
        ...


async def answers_to(
    scorer: Checks, trials: Iterable[Trial], answered: Callable[[], None]
) -> Answers:
    """What a judge says to every question that the trials need.

    Questions about one text are asked one after the other: asked at once, a fact that several of
    them share would be asked only once.
    """
    needed = (one for trial in trials for one in (trial.first, trial.second) if one is not None)
    rounds: list[list[Question]] = []
    n_asked: Counter[str] = Counter()
    for question in dict.fromkeys(needed):
        if n_asked[question.text] == len(rounds):
            rounds.append([])
        rounds[n_asked[question.text]].append(question)
        n_asked[question.text] += 1

    async def one(question: Question) -> Mapping[str, CheckResult]:
        facts = FactSet(tuple(AtomicFact(f"f{n}", t) for n, t in enumerate(question.facts, 1)))
        try:
            results = await scorer.acheck(facts, question.text)
        except JudgeError as error:
            results = tuple(CheckFailure(fact, error.code, str(error)) for fact in facts)
        answered()
        return {result.fact.text: result for result in results}

    answers: dict[Question, Mapping[str, CheckResult]] = {}
    for questions in rounds:
        answers |= zip(questions, await together(map(one, questions)), strict=True)
    return answers
