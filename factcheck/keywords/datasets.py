"""Datasets of cards and outputs from files, checked, with errors that name file and line."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError
from factcheck.files import PathOrDash
from factcheck.keywords.cards import ExpectedCard
from factcheck.keywords.documents import Document, plain_document, read_document
from factcheck.keywords.model import EvalCase, EvalDataset

if TYPE_CHECKING:
    from factcheck.keywords.schemas import DatasetModel

_log = logging.getLogger("factcheck.keywords")


def load_dataset(path: PathOrDash) -> EvalDataset:
    """A dataset of cases and the cards that are expected for them.

    What is allowed but hardly meant, such as an empty list of keywords, is written to the log and
    stands in `EvalDataset.warnings`.

    Args:
        path: `.yaml`, `.yml` or `.json` with `name`, `version` and `cases`; a case has `id`, `text`
            and `expected_cards`; a card has lists of keywords, `<field>_keywords`, and perhaps
            `card_type`. How keywords are written: `factcheck.keywords.forms`.

    Raises:
        InputError: Not readable, an unknown key, a keyword that cannot be used, or a doubled id;
            names file and line.
    """
    document = read_document(path)
    dataset = _dataset(document, "" if path == "-" else Path(path).stem)
    for warning in dataset.warnings:
        _log.warning("%s: %s", document.name, warning)
    return dataset


def dataset_from_data(data: Any) -> EvalDataset:
    """A dataset from what a file would hold.

    Raises:
        InputError: It has another shape; says where.
    """
    return _dataset(plain_document(data, "dataset"), "")


def load_outputs(path: PathOrDash) -> dict[str, list[dict[str, Any]] | None]:
    """The generated cards of each case, for `evaluate_dataset`.

    Args:
        path: A mapping from case id to a list of cards, or a list (in `.jsonl`, one a line) of
            objects with `id` and `cards`; null instead of a list where nothing could be generated.

    Raises:
        InputError: Not readable, another shape, or a doubled id; names file and line.
    """
    from factcheck.keywords.schemas import OutputsModel, validated

    document = read_document(path)
    if isinstance(document.value, Mapping):
        return {name: _cards_of(document, name, cards) for name, cards in document.value.items()}
    outputs = validated(OutputsModel, document, "outputs").outputs
    refuse_doubled(document, (), [output.id for output in outputs])
    return {output.id: output.cards for output in outputs}


def refuse_doubled(document: Document, under: tuple[str, ...], ids: list[str]) -> None:
    """The ids of the entries of a list are different.

    Raises:
        InputError: Two are the same; names the lines of both.
    """
    first: dict[str, int] = {}
    for position, name in enumerate(ids):
        if not name.strip():
            raise document.error((*under, position, "id"), "the id is blank; fill it in")
        before = first.setdefault(name, position)
        if before != position:
            line = document.line_of((*under, before, "id"))
            where = f"on line {line}" if line else f"in entry {before + 1}"
            raise document.error(
                (*under, position, "id"),
                f"the id {name!r} was used before, {where}; ids must be unique",
            )


def _dataset(document: Document, name: str) -> EvalDataset:
    from factcheck.keywords.schemas import DatasetModel, validated

    model = validated(DatasetModel, document)
    refuse_doubled(document, ("cases",), [case.id for case in model.cases])
    try:
        return EvalDataset(_cases(model), model.name or name, model.version)
    except InputError as error:
        raise document.error(("cases",), str(error)) from error


def _cases(model: DatasetModel) -> tuple[EvalCase, ...]:
    return tuple(
        EvalCase(
            case.id,
            case.text,
            tuple(
                ExpectedCard({n: tuple(words) for n, words in card.by_name.items()}, card.card_type)
                for card in case.expected_cards
            ),
        )
        for case in model.cases
    )


def _cards_of(document: Document, name: str, cards: Any) -> list[dict[str, Any]] | None:
    if cards is None:
        return None
    if not isinstance(cards, list) or not all(isinstance(card, dict) for card in cards):
        raise document.error((name,), f"{name}: expected a list of cards, which are objects")
    return cards
