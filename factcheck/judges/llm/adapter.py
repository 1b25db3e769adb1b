"""A DSPy adapter with short prompts and strict replies; always one request for one question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import dspy
import pydantic

from factcheck.errors import JudgeOutputError
from factcheck.judges.llm.fences import fence, one_line
from factcheck.judges.llm.replies import FactQuestion, read_json

if TYPE_CHECKING:
    Signature = type[dspy.Signature]
    Message = dict[str, Any]


class StrictJSONAdapter(dspy.Adapter):
    """Instructions as they are written, inputs in fences, one JSON object as the reply.

    DSPy's own adapters describe every field in prose, repair replies that were cut off, and ask a
    second time under another prompt; none of that is wanted where each verdict counts.
    """

    def __call__(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Signature, demos: Any, inputs: Any
    ) -> Any:
        _ask_for_schema(lm, lm_kwargs, signature)
        return super().__call__(lm, lm_kwargs, signature, demos, inputs)

    async def acall(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Signature, demos: Any, inputs: Any
    ) -> Any:
        _ask_for_schema(lm, lm_kwargs, signature)
        return await super().acall(lm, lm_kwargs, signature, demos, inputs)

    def format(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[Message]:
        messages: list[Message] = [{"role": "system", "content": signature.instructions}]
        for demo in demos:
            reply = {name: demo[name] for name in signature.output_fields}
            messages.append({"role": "user", "content": _user_message(signature, demo)})
            messages.append({"role": "assistant", "content": json.dumps(_plain(reply))})
        messages.append({"role": "user", "content": _user_message(signature, inputs)})
        return messages

    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        try:
            data = read_json(completion)
            fields = _output_types(signature)  # type: ignore[arg-type] # a class is hashable
            return {name: field.validate_python(data[name]) for name, field in fields.items()}
        except KeyError as error:
            message = f"the reply has no {error.args[0]!r}"
        except JudgeOutputError as error:
            message = str(error)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            message = f"{first['msg']} at {where!r}" if where else first["msg"]
        raise dspy.AdapterParseError(type(self).__name__, signature, completion, message)


class FramedAdapter(StrictJSONAdapter):
    """The same, with words of ours below the instructions.

    What an optimizer rewrites are the instructions; that texts are data, and how a reply has to
    look, is not for it to forget.
    """

    def __init__(self, frame: str) -> None:
        super().__init__()
        self._frame = frame

    def format(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[Message]:
        framed = signature.with_instructions(f"{signature.instructions}\n\n{self._frame}")
        return super().format(framed, demos, inputs)


@lru_cache
def _output_types(signature: Signature) -> dict[str, pydantic.TypeAdapter[Any]]:
    return {
        name: pydantic.TypeAdapter(_with_constraints(field))
        for name, field in signature.output_fields.items()
    }


def _with_constraints(field: Any) -> Any:
    """The declared type of a field; pydantic stores its annotations separately."""
    declared = (field.annotation, *field.metadata)
    return Annotated[declared] if field.metadata else field.annotation


@lru_cache
def response_schema(signature: Signature) -> Mapping[str, Any]:
    """The `response_format` that makes a server keep to a signature's output fields."""
    fields = {name: (f.annotation, ...) for name, f in signature.output_fields.items()}
    model = pydantic.create_model("reply", **fields)  # type: ignore[call-overload]
    schema = model.model_json_schema()
    _close(schema)
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": schema},
    }


def _ask_for_schema(lm: Any, lm_kwargs: dict[str, Any], signature: Signature) -> None:
    if lm.supports_response_schema:
        lm_kwargs["response_format"] = response_schema(signature)  # type: ignore[arg-type] # as above


def _user_message(signature: Signature, inputs: Mapping[str, Any]) -> str:
    return "\n".join(fence(name, _as_text(inputs[name])) for name in signature.input_fields)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(item, FactQuestion) for item in value):
        return "\n".join(f"{item.id}: {one_line(item.fact)}" for item in value)
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    return pydantic.TypeAdapter(Any).dump_python(value, mode="json")


def _close(schema: Any) -> None:
    """Make every object of a JSON schema closed and complete, as strict mode demands.

    Titles and descriptions go: servers that count the schema count them on every call.
    """
    if isinstance(schema, dict):
        for key in ("title", "description"):
            if isinstance(schema.get(key), str):
                del schema[key]
        if schema.get("type") == "object":
            schema["additionalProperties"] = False
            schema["required"] = list(schema.get("properties", {}))
        for value in schema.values():
            _close(value)
    elif isinstance(schema, list):
        for value in schema:
            _close(value)
