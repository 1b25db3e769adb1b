"""Questions: what one request asks, how its reply is read, and the prompt files behind them.

The engine and DSPy ask the same questions. DSPy's own adapters describe every field in prose,
repair replies that were cut off, and ask a second time under another prompt; none of that is wanted
where each verdict counts. A prompt file is one version, pinned by digest, and never changes once
published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import dspy

from factcheck.errors import JudgeOutputError, PromptError
from factcheck.facts import digest
from factcheck.judges.llm.replies import Answer, Token, find_answer

if TYPE_CHECKING:
    from importlib.abc import Traversable

R = TypeVar("R")
Signature: TypeAlias = type[dspy.Signature]
Form = Literal["schema", "json_object", "text"]
"""How a structured reply is asked for: a JSON schema, any JSON object, or words alone."""
Message: TypeAlias = Mapping[str, str]
"""`role` (`system`, `user` or `assistant`) and `content`."""
VERDICTS = "verdicts"
"""The output field that is the whole object of a reply, with an entry for each id."""


@dataclass(frozen=True, slots=True)
class Question(Generic[R]):
    """The inputs of one request, and how its reply looks and is read."""

    inputs: Mapping[str, Any]
    """By the names of the signature's input fields."""
    schema: Mapping[str, Any]
    """JSON schema of the reply: an object that is closed and whose properties are all required."""
    read: Callable[[Any, str], R]
    """The value of a reply's JSON and the name of the judge; raises `JudgeOutputError`."""
    is_whole: Callable[[R], bool] | None = None
    max_tokens: int = 0
    """Tokens that the reply may take; 0 is no limit. Room to think comes on top."""
    weigh: Callable[[R, Sequence[Token]], R] | None = None
    """The value with the probabilities that the tokens of the reply have."""

    def find(self, reply: str, judge: str = "") -> Answer[R]:
        """The answer in a reply; raises `JudgeOutputError`."""
        return find_answer(reply, lambda data: self.read(data, judge), self.is_whole)


class QuestionAdapter(dspy.Adapter):
    """Sends one question for DSPy: one request, and a reply that is read strictly."""

    def __init__(self, render: Callable[..., list[Message]], question: Question[Any]) -> None:
        super().__init__()
        self.format = render
        self._question = question

    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        try:
            answer = self._question.find(completion)
        except JudgeOutputError as error:
            name = type(self).__name__
            raise dspy.AdapterParseError(name, signature, completion, str(error)) from error
        fields: dict[str, Any] = answer.value
        return {VERDICTS: answer.data} if VERDICTS in signature.output_fields else fields


def response_format(schema: Mapping[str, Any], *, strict: bool = True) -> Mapping[str, Any]:
    """The parameter of a request that makes a server keep to a schema."""
    form = {"name": "reply", **({"strict": True} if strict else {}), "schema": schema}
    return {"type": "json_schema", "json_schema": form}


def by_id_schema(ids: Sequence[str], item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema of an object with one required property for each id."""
    return {
        "type": "object",
        "properties": {key: {"$ref": "#/$defs/v"} for key in ids},
        "required": list(ids),
        "additionalProperties": False,
        "$defs": {"v": item},
    }


def object_schema(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema of a closed object whose properties are all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


CHECK_FACTS = "check_facts/v2"
CHECK_TEXTS = "check_texts/v1"
COMPARE_VALUES = "compare_values/v2"
EXTRACT_FACTS = "extract_facts/v2"
RATE_FAITHFULNESS = "rate_faithfulness/v1"
SUMMARIZE = "summarize/v1"
_PINS = "SHA256SUMS"


def prompts_root() -> Traversable:
    """The prompts shipped in the package, or `prompts/` of an editable checkout."""
    shipped = files("factcheck") / "prompts"
    return shipped if shipped.is_dir() else Path(__file__).resolve().parents[3] / "prompts"


@cache
def pinned() -> Mapping[str, str]:
    """Digest of every published prompt file, by its path below `prompts/`."""
    try:
        lines = (prompts_root() / _PINS).read_text("utf-8").splitlines()
    except OSError as error:
        raise PromptError(f"prompts/{_PINS} cannot be read; reinstall factcheck") from error
    return {path: sha for sha, path in (line.split(maxsplit=1) for line in lines if line.strip())}


@cache
def load_prompt(name: str) -> str:
    path = f"{name}.md"
    expected = pinned().get(path)
    if expected is None:
        raise PromptError(f"no prompt named {name!r}; published: {', '.join(sorted(pinned()))}")
    try:
        text = (prompts_root() / path).read_text("utf-8")
    except OSError as error:
        raise PromptError(f"prompt file {path} cannot be read; reinstall factcheck") from error
    if digest(text) != expected:
        raise PromptError(
            f"prompt file {path} was changed after it was published; "
            "restore it and put new wording into a new version"
        )
    return text.strip()
