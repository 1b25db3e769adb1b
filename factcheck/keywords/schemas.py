"""The shapes of files, as pydantic models, and their errors in our words, with file and line.

`front_keywords`, `strict_keywords` and so on may have any name before `_keywords`; every other key
that is not listed here is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictStr,
    ValidationError,
    model_validator,
)

from factcheck.errors import InputError
from factcheck.keywords.cards import SUFFIX, field_of
from factcheck.keywords.documents import Document, PathInValue
from factcheck.keywords.forms import as_keyword

M = TypeVar("M", bound=BaseModel)
_BY_NAME = "*_keywords"
"""Where the lists of keywords are put together while they are validated."""


def _file_keyword(value: Any) -> Any:
    keyword = as_keyword(value)
    if not keyword:
        raise InputError("the empty text is in every text; write a keyword or leave it out")
    return keyword


def _as_text(value: Any) -> Any:
    """Numbers are texts where an id or a version is meant."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_Label = Annotated[StrictStr, BeforeValidator(_as_text)]
_Keyword = Annotated[Any, PlainValidator(_file_keyword)]


class _WithKeywords(_Strict):
    by_name: dict[str, list[_Keyword]] = Field(alias="*_keywords", min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        named = {name: value for key, value in data.items() if (name := field_of(key))}
        return {k: v for k, v in data.items() if not field_of(k)} | {_BY_NAME: named}


class CardModel(_WithKeywords):
    """An expected card."""

    card_type: StrictStr | None = None


class CaseModel(_Strict):
    """A case of a dataset of cards."""

    id: _Label
    text: StrictStr = ""
    expected_cards: list[CardModel]


class DatasetModel(_Strict):
    """A dataset of cards."""

    name: StrictStr = ""
    version: _Label = ""
    cases: list[CaseModel]


class OutputModel(_Strict):
    """The cards that were generated for a case."""

    id: _Label
    cards: list[dict[str, Any]] | None


class OutputsModel(_Strict):
    """A file of outputs."""

    outputs: list[OutputModel]


class GuideModel(_WithKeywords):
    """The keywords of behaviours."""


class BehaviorCaseModel(_Strict):
    """A case of a suite of behaviours."""

    id: _Label | None = None
    instruction: StrictStr
    input: StrictStr = ""
    output: StrictStr = ""
    evaluation_guide: GuideModel
    expected: dict[str, StrictStr] | None = None


class SuiteModel(_Strict):
    """A suite of behaviours."""

    name: StrictStr = ""
    version: _Label = ""
    cases: list[BehaviorCaseModel]


class ResponseModel(_Strict):
    """What a variant responded to a case."""

    id: _Label
    variant: StrictStr
    response: StrictStr | None


class ResponsesModel(_Strict):
    """A file of responses."""

    responses: list[ResponseModel]


def validated(model: type[M], document: Document, under: str = "") -> M:
    """The value of a document in its shape.

    Args:
        model: The shape.
        document: The value, or, with `under`, what stands under that key of the model.
        under: A key of the model.

    Raises:
        InputError: It has another shape; names file and line of the first fault, an unknown key
            before others, and how many more there are.
    """
    try:
        return model.model_validate({under: document.value} if under else document.value)
    except ValidationError as error:
        faults = error.errors()
    places = [_path(fault["loc"], bool(under)) for fault in faults]

    def order(number: int) -> tuple[bool, int, bool]:
        kind = faults[number]["type"]
        return kind == "too_short", document.line_of(places[number]), kind != "extra_forbidden"

    first = min(range(len(faults)), key=order)
    path, fault = places[first], faults[first]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    shown = _shown(path[:-1] if fault["type"] == "missing" else path)
    raise document.error(path, f"{shown}{_told(fault)}{more}")


def _path(loc: tuple[int | str, ...], is_under: bool) -> PathInValue:  # noqa: FBT001 - one caller
    """The place of a fault in the file: the keys of keywords are put back where they were."""
    path: list[int | str] = []
    steps = iter(loc[is_under:])
    for step in steps:
        name = next(steps, None) if step == _BY_NAME else None
        path.append(step if name is None else f"{name}{SUFFIX}")
    return tuple(path[:-1] if path[-1:] == [_BY_NAME] else path)


def _told(fault: Mapping[str, Any]) -> str:
    """A fault in our words."""
    kind = fault["type"]
    key = fault["loc"][-1] if fault["loc"] else ""
    if kind == "value_error":
        return str(fault["ctx"]["error"])
    if kind == "too_short":
        return f"there are no keywords; name some, as <name>{SUFFIX}"
    words = {
        "missing": f"{key!r} is missing",
        "extra_forbidden": "this key is not known; check its spelling",
        "list_type": "must be a list",
        "string_type": "must be a text; put it in quotes",
        "dict_type": "must be an object",
        "model_type": "must be an object",
    }
    found = "" if kind in {"missing", "extra_forbidden"} else f", not {_kind(fault['input'])}"
    return words.get(kind, str(fault["msg"])) + found


def _kind(value: Any) -> str:
    return "null" if value is None else f"{value!r:.60}"


def _shown(path: PathInValue) -> str:
    """A path as people write it: `cases[0].expected_cards[1].front_keywords: `."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{text.lstrip('.')}: " if text else ""
