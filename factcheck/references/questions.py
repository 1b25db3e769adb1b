"""From outputs and cases to questions: which output is held against which references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from factcheck.errors import InputError
from factcheck.metrics.cases import EvalCase, as_case


class Question(NamedTuple):
    """An output and what it is compared with."""

    actual_output: str
    references: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that are compared."""
        return (self.actual_output, *self.references)


def question_of(item: Any, references: tuple[str, ...]) -> Question:
    """The question an output, a case or a mapping puts.

    Args:
        item: An output, an `EvalCase`, or a mapping with its fields.
        references: Those of the metric; references of a case take their place.

    Raises:
        InputError: The output is blank or no text, or there are no references.
    """
    output, own = item, references
    if isinstance(item, (EvalCase, Mapping)):
        case = as_case(item)
        output, own = case.actual_output, case.references or references
    if not isinstance(output, str):
        raise InputError(f"the output must be a text, not {type(output).__name__}")
    if not output.strip():
        raise InputError("the output is blank; there is nothing to compare")
    if not own:
        raise InputError("the case has no references; give it some")
    return Question(output, own)


def windows(questions: Iterable[Question], most_texts: int) -> Iterator[list[Question]]:
    """The questions in parts of about so many different texts, so that memory stays bounded."""
    window: list[Question] = []
    texts: set[str] = set()
    for question in questions:
        window.append(question)
        texts.update(question.texts)
        if len(texts) >= most_texts:
            yield window
            window, texts = [], set()
    if window:
        yield window


def distinct_texts(questions: Sequence[Question]) -> list[str]:
    """Every text of some questions once, in order of appearance."""
    return list(dict.fromkeys(chain.from_iterable(question.texts for question in questions)))
