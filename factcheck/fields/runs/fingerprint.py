"""Which schema a run was scored by, as a digest that is saved with the run.

Runs of different schemas are two measurements: what one calls better may be the schema's doing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from factcheck.facts import digest
from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.runs.plain import plain
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.scoring.alignment import strategy_of


def schema_digest(schema: SchemaNode) -> str:
    """SHA-256 of everything in a schema that decides how records are scored.

    Equal for schemas that differ in the order of properties, or in keys that the evaluator does not
    look at. What a name of a comparator or a transform stands for is not part of it.
    """
    settings = [json.dumps(plain(one), sort_keys=True) for one in _settings(schema)]
    return digest("\n".join(sorted(settings)))


def _settings(node: SchemaNode) -> Iterator[list[Any]]:
    """How a node and those below it are scored."""
    if node.skip:
        yield [node.path, "skip"]
        return
    name = node.comparator.name
    if name or not node.children:
        transforms = [[transform.name, transform.params] for transform in node.transforms]
        told = "" if name in COMPARATORS else node.description  # batch comparators are shown it
        yield [
            *(node.path, node.weight, node.threshold, name, node.comparator.params),
            *(transforms, told),
        ]
        return
    align = {} if strategy_of(node.align) == "ordered" else node.align
    yield [node.path, node.weight, node.json_type, align]
    for child in node.children:
        yield from _settings(child)
