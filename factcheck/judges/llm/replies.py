"""Replies of a model: typed, read strictly, and accounted for id by id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import pydantic
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictBool,
    StringConstraints,
)
from pydantic.json_schema import SkipJsonSchema

from factcheck.errors import Failure, JudgeOutputError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, EntailmentLabel, Verdict, locate
from factcheck.judges.llm.fences import one_line
from factcheck.judges.ports import PairResult, PairVerdict, ValuePair

QUOTE_NOT_FOUND = "quote_not_found"
"""Flag of a verdict whose quote does not stand in the text."""
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)
_MARKER = re.compile(r"^[-*•–]( |$)")  # noqa: RUF001 - a dash is a marker, too
_json: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Any)

KeyFact = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""One atomic fact as a model writes it."""


def _not_a_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")  # noqa: TRY004 - pydantic's protocol
    return value


def _without_marker(bullet: str) -> str:
    text = _MARKER.sub("", one_line(bullet))
    if not text:
        raise ValueError("a bullet is blank")
    return text


Faithfulness = Annotated[Literal[1, 2, 3, 4, 5], BeforeValidator(_not_a_truth_value)]
"""A rating as a model writes it; anything else is not a rating, and is not rounded to one."""
Bullets = Annotated[
    list[Annotated[str, AfterValidator(_without_marker)]], pydantic.Field(min_length=1)
]
"""The bullets of a summary as a model writes them, each on one line and without a marker."""


class FactQuestion(BaseModel):
    """One fact to check, under the id it has in this call."""

    model_config = ConfigDict(frozen=True)

    id: str
    fact: str


class FactVerdict(BaseModel):
    """One verdict as a model writes it."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    quote: str
    """The shortest passage that decides, copied exactly; may be empty."""
    reason: str
    label: EntailmentLabel


class ValueVerdict(BaseModel):
    """One verdict on a pair of values as a model writes it."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    reason: str
    equivalent: StrictBool


class Unreadable(BaseModel):
    """An item of a reply that is not a verdict; keeps its id, if it has one."""

    model_config = ConfigDict(frozen=True)

    id: str | None


def _or_set_aside(verdict: type[BaseModel]) -> BeforeValidator:
    def read(item: Any) -> Any:
        try:
            return verdict.model_validate(item)
        except pydantic.ValidationError:
            found = item.get("id") if isinstance(item, Mapping) else None
            return Unreadable(id=str(found) if isinstance(found, (str, int)) else None)

    return BeforeValidator(read)


VerdictItem = Annotated[FactVerdict | SkipJsonSchema[Unreadable], _or_set_aside(FactVerdict)]
"""A verdict, or what stands in its place; one bad item does not spoil its neighbours."""
ValueVerdictItem = Annotated[ValueVerdict | SkipJsonSchema[Unreadable], _or_set_aside(ValueVerdict)]
"""The same for a pair of values."""
V = TypeVar("V", bound=FactVerdict | ValueVerdict)


def read_json(reply: str) -> dict[str, Any]:
    text = reply.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        data = _json.validate_json(fenced.group(1) if fenced else text)
    except pydantic.ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise JudgeOutputError(f"the reply is not JSON ({problem})") from error
    if not isinstance(data, dict):
        raise JudgeOutputError(f"the reply is a JSON {type(data).__name__}, not an object")
    return data


def account(
    asked: Mapping[str, AtomicFact], items: Iterable[VerdictItem], text: str, judge: str
) -> dict[str, CheckResult]:
    """One result per id that was asked, in that order, whatever came back.

    An id that was not asked counts for nothing. An id that is missing, comes twice or has an
    item that is not a verdict becomes a `CheckFailure`. A quote counts only if it is found in
    `text`; a verdict that rests on text and has none that is found carries `QUOTE_NOT_FOUND`.
    """
    return {
        call_id: CheckFailure(
            asked[call_id], answer.code, f"{judge} gave {answer.what} for this fact"
        )
        if isinstance(answer, _NoVerdict)
        else _verdict(asked[call_id], answer, text, judge)
        for call_id, answer in _answers(asked, items).items()
    }


def account_pairs(
    asked: Mapping[str, ValuePair], items: Iterable[ValueVerdictItem], judge: str
) -> dict[str, PairResult]:
    """The same for pairs of values: one result per id, in the order asked."""
    return {
        call_id: Failure(asked[call_id], answer.code, f"{judge} gave {answer.what} for this pair")
        if isinstance(answer, _NoVerdict)
        else PairVerdict(answer.equivalent, None, answer.reason.strip(), judge)
        for call_id, answer in _answers(asked, items).items()
    }


class _NoVerdict(NamedTuple):
    code: str
    what: str
    """Description of the reply in its place."""


def _answers(asked: Iterable[str], items: Iterable[V | Unreadable]) -> dict[str, V | _NoVerdict]:
    """The one verdict under each id that was asked, or why there is none."""
    answers: dict[str, list[V | Unreadable]] = {call_id: [] for call_id in asked}
    for item in items:
        if item.id in answers:
            answers[item.id].append(item)
    return {call_id: _only(got) for call_id, got in answers.items()}


def _only(got: Sequence[V | Unreadable]) -> V | _NoVerdict:
    if not got:
        return _NoVerdict("missing", "no verdict")
    if len(got) > 1:
        return _NoVerdict("duplicate", f"{len(got)} verdicts")
    answer = got[0]
    if isinstance(answer, Unreadable):
        return _NoVerdict("invalid", "something that is not a verdict")
    return answer


def _verdict(fact: AtomicFact, answer: FactVerdict, text: str, judge: str) -> Verdict:
    rests_on_text = answer.label != "neutral"
    evidence = locate(answer.quote, text) if rests_on_text else None
    return Verdict(
        fact=fact,
        label=answer.label,
        evidence=evidence,
        reason=answer.reason.strip(),
        judge=judge,
        flags=(QUOTE_NOT_FOUND,) if rests_on_text and evidence is None else (),
    )
