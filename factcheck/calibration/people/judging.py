"""What judges say about labelled pairs: asked now, or recorded earlier."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from factcheck.calibration.people.pairs import LabelledPair, RecordedVerdict
from factcheck.errors import JudgeError
from factcheck.facts import AtomicFact, CheckFailure, FactSet
from factcheck.runtime.loop import together
from factcheck.scoring import FactCoverage

_BRACKET = re.compile(r"-[lr]rb-", re.IGNORECASE)


class Answer(NamedTuple):
    """What a judge says about a pair."""

    entailed: bool | None
    """`None` where it decided nothing."""
    probability: float | None = None
    why: str = ""
    """Why it decided nothing."""


async def asked(scorer: FactCoverage, pairs: Sequence[LabelledPair]) -> list[Answer]:
    """One answer for each pair; the facts of one text are asked for together."""
    by_text: dict[str, dict[str, list[int]]] = {}
    for place, pair in enumerate(pairs):
        by_text.setdefault(pair.text, {}).setdefault(pair.fact, []).append(place)
    answers: list[Answer] = [Answer(None)] * len(pairs)

    async def one(text: str, places: dict[str, list[int]]) -> None:
        for fact, answer in zip(places, await _answers(scorer, list(places), text), strict=True):
            for place in places[fact]:
                answers[place] = answer

    await together(one(text, places) for text, places in by_text.items())
    return answers


async def _answers(scorer: FactCoverage, facts: Sequence[str], text: str) -> list[Answer]:
    asked_for = FactSet(tuple(AtomicFact(f"f{n}", fact) for n, fact in enumerate(facts, 1)))
    try:
        results = await scorer.acheck(asked_for, text)
    except JudgeError as error:
        return [Answer(None, why=str(error))] * len(facts)
    return [
        Answer(None, why=result.message)
        if isinstance(result, CheckFailure)
        else Answer(result.supported, result.probability)
        for result in results
    ]


class Recorded(NamedTuple):
    """The recorded verdicts of one judge for which there is a label; the pairs as it saw them."""

    judge: str
    pairs: list[LabelledPair]
    answers: list[Answer]


def recorded(
    verdicts: Iterable[RecordedVerdict], pairs: Sequence[LabelledPair]
) -> tuple[list[Recorded], int]:
    """The verdicts of each judge beside the pairs they are about, and how many belong to none.

    A pair is found by document, text and fact; texts are the same if their letters and digits are.
    Where people labelled the same words for several systems, the label is that of the verdict's
    system, or else the first.
    """
    known: dict[tuple[str, str, str], list[LabelledPair]] = {}
    for pair in pairs:
        known.setdefault((pair.document, _letters(pair.text), pair.fact), []).append(pair)
    found: dict[str, Recorded] = {}
    unmatched = 0
    for verdict in verdicts:
        same = known.get((verdict.document, _letters(verdict.text), verdict.fact))
        if same is None:
            unmatched += 1
            continue
        one = found.setdefault(verdict.judge, Recorded(verdict.judge, [], []))
        # Labels may put a kind before the name of a system: `abs_bart` is `bart`.
        of_system = (pair for pair in same if pair.system.endswith(verdict.system))
        label = next(of_system, same[0]).label
        one.pairs.append(
            LabelledPair(verdict.document, verdict.system, verdict.text, verdict.fact, label)
        )
        why = "" if verdict.entailed is not None else "the recorded reply has no answer"
        one.answers.append(Answer(verdict.entailed, why=why))
    return list(found.values()), unmatched


def _letters(text: str) -> str:
    return re.sub(r"\W", "", _BRACKET.sub("", text)).lower()
