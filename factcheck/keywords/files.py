"""Datasets, outputs, suites and responses from files; errors name the file and line."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from factcheck.documents import PathOrDash, shown
from factcheck.documents.reading import read_document
from factcheck.keywords.cards import CardDataset
from factcheck.keywords.nodes import Node, require_unique_ids
from factcheck.keywords.suites import BehaviorCase, case_warnings

_log = logging.getLogger("factcheck.keywords")


def load_dataset(path: PathOrDash) -> CardDataset:
    """Load a dataset of cases with expected cards.

    Valid but probably unintended parts, such as an empty list of keywords, are logged as warnings
    and listed in `CardDataset.warnings`.

    Args:
        path: `.yaml`, `.yml` or `.json` with `name`, `version` and `cases`; a case has `id`, `text`
            and `expected_cards`; a card has lists of keywords, `<field>_keywords`, and optionally
            `card_type`. Notation of keywords: `factcheck.keywords.forms`.

    Raises:
        InputError: Not readable, an unknown key, an invalid keyword or a duplicate id; names the
            file and line.
    """
    document = read_document(path)
    dataset = CardDataset.from_node(Node.of(document), "" if path == "-" else Path(path).stem)
    _log_warnings(document.name, dataset.warnings)
    return dataset


def load_outputs(path: PathOrDash) -> dict[str, list[Any] | None]:
    """Load the generated cards of each case, for `evaluate_dataset`.

    Args:
        path: A mapping from case id to a list of cards, or a list (in `.jsonl`, one a line) of
            objects with `id` and `cards`; null instead of a list where nothing was generated.

    Returns:
        Lists by case id. An invalid card in one is an error of its case when it is evaluated.

    Raises:
        InputError: Not readable, another shape, or a duplicate id; names the file and line.
    """
    node = Node.of(read_document(path))
    if isinstance(node.value, dict):
        return {name: _list_or_null(node.member(name)) for name in node.value}
    rows = node.items()
    outputs = {}
    for row in rows:
        row.require_keys("id", "cards")
        name = row.id()
        if "cards" not in row.value:
            raise row.error("'cards' is missing")
        outputs[name] = _list_or_null(row.member("cards"))
    require_unique_ids(rows, [row.id() for row in rows])
    return outputs


def load_cases(path: PathOrDash) -> tuple[BehaviorCase, ...]:
    """Load the cases of a suite of behaviors.

    Valid but probably unintended parts, such as an empty list of keywords, are logged as warnings.

    Args:
        path: `.json`, `.jsonl`, `.yaml` or `.yml`: a list of cases, or an object with `cases` and
            optionally `name` and `version`. A case has `instruction` and `evaluation_guide`, with
            lists of keywords, `<behavior>_keywords`; and optionally `id` (default: its position,
            from 1), `input`, `output` and `expected`: the behavior expected of each variant
            (default: each behavior is a variant that should show it).

    Raises:
        InputError: Not readable, an unknown key, an invalid keyword or a duplicate id; names the
            file and line.
    """
    node = Node.of(read_document(path))
    if not isinstance(node.value, list):
        node.require_keys("name", "version", "cases")
        nodes = node.items("cases")
        node = node.member("cases")
    else:
        nodes = node.items()
    if not nodes:
        raise node.error("the suite has no cases")
    cases = [BehaviorCase.from_node(one, number) for number, one in enumerate(nodes, 1)]
    require_unique_ids(nodes, [case.id for case in cases])
    _log_warnings(node.document.name, case_warnings(cases))
    return tuple(cases)


def load_responses(path: PathOrDash) -> dict[str, Any]:
    """Load responses, for `evaluate_behaviors`.

    Args:
        path: `.json` or `.yaml`: a mapping from variant to a list of responses, or to a mapping
            from case id to response; or from case id to a mapping from variant to response. Or a
            list (in `.jsonl`, one a line) of objects with `id`, `variant` and `response`.

    Raises:
        InputError: Not readable, another shape, or two responses of one variant to one case; names
            the file and line.
    """
    node = Node.of(read_document(path))
    if isinstance(node.value, dict):
        for name in node.value:
            _check_members(node.member(name))
        return dict(node.value)
    responses: dict[str, dict[str, str | None]] = {}
    for row in node.items():
        row.require_keys("id", "variant", "response")
        name, variant = row.id(), row.text("variant")
        own = responses.setdefault(variant, {})
        if name in own:
            raise row.error(f"duplicate response of variant {variant!r} to case {name!r}")
        has_response = row.has("response") or "response" not in row.value
        own[name] = row.text("response") if has_response else None
    return responses


def _list_or_null(node: Node) -> list[Any] | None:
    if node.value is not None and not isinstance(node.value, list):
        raise node.error(f"expected a list of cards, got {shown(node.value)}")
    return node.value


def _check_members(node: Node) -> None:
    if not isinstance(node.value, (list, dict)):
        raise node.error(f"expected a list or mapping of responses, got {shown(node.value)}")
    keys: Iterable[Any] = node.value if isinstance(node.value, dict) else range(len(node.value))
    for key in keys:
        response = node.member(key)
        if response.value is not None and not isinstance(response.value, str):
            raise response.error(f"expected a string, got {shown(response.value)}; quote it")


def _log_warnings(name: str, warnings: Iterable[str]) -> None:
    for warning in warnings:
        _log.warning("%s: %s", name, warning)
