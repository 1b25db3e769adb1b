"""Suites of behaviours and responses from files, checked, with errors that name file and line."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError
from factcheck.files import PathOrDash
from factcheck.keywords.datasets import refuse_doubled
from factcheck.keywords.documents import Document, plain_document, read_document
from factcheck.keywords.guides import Behavior, Guide
from factcheck.keywords.suite_model import BehaviorCase, case_warnings

if TYPE_CHECKING:
    from factcheck.keywords.schemas import BehaviorCaseModel

_log = logging.getLogger("factcheck.keywords")


def load_cases(path: PathOrDash) -> tuple[BehaviorCase, ...]:
    """The cases of a suite of behaviours.

    What is allowed but hardly meant, such as an empty list of keywords, is written to the log.

    Args:
        path: `.json`, `.jsonl`, `.yaml` or `.yml`: a list of cases, or an object with `cases` and
            perhaps `name` and `version`. A case has `instruction` and `evaluation_guide`, which has
            lists of keywords, `<behaviour>_keywords`; and perhaps `id` (else its position, from 1),
            `input`, `output` and `expected`: which behaviour each variant is to show. Without that,
            each behaviour is a variant, which is to show it.

    Raises:
        InputError: Not readable, an unknown key, a keyword that cannot be used, or a doubled id;
            names file and line.
    """
    from factcheck.keywords.schemas import SuiteModel, validated

    document = read_document(path)
    under = "cases" if isinstance(document.value, list) else ""
    models = validated(SuiteModel, document, under).cases
    place = () if under else ("cases",)
    ids = [_id(model, number) for number, model in enumerate(models, 1)]
    refuse_doubled(document, place, ids)
    cases = []
    for position, (model, name) in enumerate(zip(models, ids, strict=True)):
        try:
            cases.append(_case(model, name))
        except InputError as error:  # noqa: PERF203 - it names the case
            raise document.error((*place, position), str(error)) from error
    if not cases:
        raise document.error(place, "the suite has no cases")
    for warning in case_warnings(cases):
        _log.warning("%s: %s", document.name, warning)
    return tuple(cases)


def case_from_data(data: Any, number: int) -> BehaviorCase:
    """A case from what a file would hold.

    Raises:
        InputError: It has another shape; says where.
    """
    from factcheck.keywords.schemas import BehaviorCaseModel, validated

    model = validated(BehaviorCaseModel, plain_document(data, f"case {number}"))
    return _case(model, _id(model, number))


def load_responses(path: PathOrDash) -> dict[str, Any]:
    """Responses, for `evaluate_behaviors`.

    Args:
        path: `.json` or `.yaml`: a mapping from variant to a list of responses, or to a mapping
            from case id to response; or from case id to a mapping from variant to response. Or a
            list (in `.jsonl`, one a line) of objects with `id`, `variant` and `response`.

    Raises:
        InputError: Not readable, another shape, or two responses of one variant to one case; names
            file and line.
    """
    from factcheck.keywords.schemas import ResponsesModel, validated

    document = read_document(path)
    if isinstance(document.value, dict):
        for name, members in document.value.items():
            _check_members(document, name, members)
        return document.value
    responses: dict[str, dict[str, str | None]] = {}
    rows = validated(ResponsesModel, document, "responses").responses
    for position, row in enumerate(rows):
        own = responses.setdefault(row.variant, {})
        if row.id in own:
            raise document.error(
                (position,), f"a second response of {row.variant!r} to case {row.id!r}; keep one"
            )
        own[row.id] = row.response
    return responses


def _id(model: BehaviorCaseModel, number: int) -> str:
    return str(number) if model.id is None else model.id


def _case(model: BehaviorCaseModel, name: str) -> BehaviorCase:
    behaviors = (
        Behavior(behavior, tuple(words))
        for behavior, words in model.evaluation_guide.by_name.items()
    )
    return BehaviorCase(
        name,
        model.instruction,
        Guide(tuple(behaviors)),
        model.input,
        model.output,
        model.expected or {},
    )


def _check_members(document: Document, name: str, members: Any) -> None:
    if not isinstance(members, (list, dict)):
        raise document.error((name,), f"{name}: expected a list or mapping of responses")
    entries = members.items() if isinstance(members, dict) else enumerate(members)
    for key, response in entries:
        if response is not None and not isinstance(response, str):
            raise document.error(
                (name, key), f"{name}: a response must be a text, not {response!r:.60}"
            )
