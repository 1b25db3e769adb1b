"""What `--semantic` means: who compares by meaning, which fields, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from factcheck.fields import Registry, SemanticComparator
from factcheck.fields.schemas.structure import COMPARE, sub_schemas
from factcheck.keywords import KeywordComparator
from factcheck.references import ReferenceComparator
from factcheck.reports.content import usage_in_words
from factcheck.runtime.budget import Budget

NAME = "semantic"


class Semantic(NamedTuple):
    """The comparators of one evaluation, and the one by meaning among them."""

    registry: Registry
    comparator: SemanticComparator

    def note(self) -> str:
        """Who compared by meaning, and what it cost."""
        judge = " ".join(f"{name}:{value}" for name, value in self.comparator.identity.items())
        usage = usage_in_words(self.comparator.usage)
        return f"Compared by meaning: {judge}{', ' if usage else ''}{usage}"


def known_comparators() -> Registry:
    """What a schema may name on the command line; for checking it, not for comparing."""
    return _registry(SemanticComparator("local"))


@contextmanager
def opened(judge: str | None, budget: Budget | None) -> Iterator[Semantic]:
    """A registry in which fields can be compared by meaning; by the embedded judge, if `None`."""
    with SemanticComparator(judge or "local", budget=budget) as comparator:
        yield Semantic(_registry(comparator), comparator)


def _registry(comparator: SemanticComparator) -> Registry:
    """That one, and those of keywords and references, which need no judge."""
    registry = Registry()
    registry.register(NAME, comparator)
    registry.register("keywords", KeywordComparator())
    registry.register("reference", ReferenceComparator())
    return registry


def silence(comparator: SemanticComparator) -> str | None:
    """Why the judge had no verdict at all, where it was asked for some."""
    if comparator.n_judged or not comparator.n_undecided:
        return None
    return f"no verdict on any of {comparator.n_undecided:,} pairs: {comparator.last_failure}"


def is_used(schema: Any) -> bool:
    """Whether a schema compares a field by meaning."""
    if not isinstance(schema, dict):
        return False
    entry = schema.get(COMPARE)
    return (
        entry == NAME
        or (isinstance(entry, dict) and NAME in entry)
        or any(is_used(child.schema) for child in sub_schemas(schema))
    )


def by_meaning(schema: dict[str, Any]) -> None:
    """Compare the texts of an inferred schema by meaning."""
    children = sub_schemas(schema)
    for child in children:
        by_meaning(child.schema)
    if not children and schema.get("type") == "string":
        schema[COMPARE] = NAME
