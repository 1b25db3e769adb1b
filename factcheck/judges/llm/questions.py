"""Questions: the inputs of a request, its reply schema and parser, and the prompt files.

The engine and DSPy share them. DSPy's own adapters describe every field in prose, repair truncated
replies and retry under a different prompt; `QuestionAdapter` does none of that, because every
verdict counts. A prompt file is one version, immutable once published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import dspy

from factcheck.errors import JudgeOutputError
from factcheck.judges.llm.replies import Field, find_answer, read_fields

R = TypeVar("R")
Signature: TypeAlias = type[dspy.Signature]
Form = Literal["schema", "json_object", "text"]
"""Reply format of a request: a JSON schema, any JSON object, or the prompt's instructions alone."""
Message: TypeAlias = Mapping[str, str]
"""`role` (`system`, `user` or `assistant`) and `content`."""
VERDICTS = "verdicts"
"""Output field whose value is the whole reply object, with one entry per id."""


@dataclass(frozen=True, slots=True)
class Question(Generic[R]):
    """The inputs of one request, and the schema and parser of its reply."""

    inputs: Mapping[str, Any]
    """Keyed by the names of the signature's input fields."""
    schema: Mapping[str, Any]
    """JSON schema of the reply: a closed object with all properties required."""
    read: Callable[[Any, str], R]
    """Parses a reply's JSON, given the judge's name; raises `JudgeOutputError`."""
    max_tokens: int = 0
    """Token limit of the reply, reasoning excluded; 0 for no limit."""

    @classmethod
    def of_fields(
        cls, inputs: Mapping[str, Any], fields: Mapping[str, Field], max_tokens: int = 0
    ) -> Question[dict[str, Any]]:
        """Return a question whose reply is an object with these fields."""
        schema = object_schema(**{name: field.schema for name, field in fields.items()})
        return Question(inputs, schema, lambda data, _: read_fields(data, fields), max_tokens)

    def find(self, reply: str, judge: str = "") -> R:
        """Parse a reply; raises `JudgeOutputError`."""
        value, _ = find_answer(reply, lambda data: self.read(data, judge))
        return value


class QuestionAdapter(dspy.Adapter):
    """DSPy adapter that sends a question as one request and parses the reply strictly."""

    def __init__(self, render: Callable[..., list[Message]], question: Question[Any]) -> None:
        super().__init__()
        self.format = render
        self._question = question

    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        try:
            value, data = find_answer(completion, lambda data: self._question.read(data, ""))
        except JudgeOutputError as error:
            name = type(self).__name__
            raise dspy.AdapterParseError(name, signature, completion, str(error)) from error
        return {VERDICTS: data} if VERDICTS in signature.output_fields else value


def response_format(schema: Mapping[str, Any], *, strict: bool = True) -> Mapping[str, Any]:
    """Return the `response_format` parameter for a JSON schema."""
    form = {"name": "reply", **({"strict": True} if strict else {}), "schema": schema}
    return {"type": "json_schema", "json_schema": form}


def object_schema(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of a closed object with all properties required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def by_id_schema(ids: Sequence[str], item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of a closed object with one required property per id."""
    properties = {key: {"$ref": "#/$defs/v"} for key in ids}
    return {**object_schema(**properties), "$defs": {"v": item}}


@cache
def load_prompt(name: str) -> str:
    """Return a published prompt; a changed one would have another fingerprint."""
    shipped = files("factcheck") / "prompts"
    root = shipped if shipped.is_dir() else Path(__file__).resolve().parents[3] / "prompts"
    return (root / f"{name}.md").read_text("utf-8").strip()
