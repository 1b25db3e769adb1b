"""Reference match as a comparator of `factcheck.fields`: how alike two texts are, by embeddings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from factcheck.errors import ParameterError
from factcheck.references.match import ReferenceMatch
from factcheck.references.results import ReferenceMatchResult

if TYPE_CHECKING:
    from typing_extensions import Self

    from factcheck.facts import Usage
    from factcheck.fields.types import BatchItem, ComparatorResult

_log = logging.getLogger("factcheck.fields")


class ReferenceComparator:
    """Scores a field by the similarity of its extracted text to the gold one, or ones.

    The gold value is a reference; a list of texts is several. The score is the similarity, in
    [0, 1]: set `x-eval-threshold` for what makes a match, and measure it first, for what a
    similarity means depends on who makes the vectors. The texts of many records are embedded
    together, each once. A field whose vectors cannot be had is a `batch_error`.

    Register it under the name that schemas use: `register("reference", ReferenceComparator())`.

    Args:
        embedding_provider: Who turns texts into vectors; as in `ReferenceMatch`.
        name: What results call the comparator.
        settings: What else `ReferenceMatch` takes, by name.

    Raises:
        ConfigError: The provider is not known, or its key or package is missing.
    """

    is_batch: ClassVar[bool] = True
    across_records: ClassVar[bool] = True

    def __init__(
        self, embedding_provider: Any = "local", *, name: str = "reference", **settings: Any
    ) -> None:
        self.name = name
        self._metric = ReferenceMatch.per_case(embedding_provider=embedding_provider, **settings)

    @property
    def usage(self) -> Usage:
        """What was spent over the comparator's life."""
        return self._metric.usage

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters of a field: there are none.

        Raises:
            ParameterError: There is one.
        """
        for key in params:
            raise ParameterError(
                f"{self.name!r} takes no parameters, so no {key!r}; a threshold is written as "
                "x-eval-threshold beside it"
            )

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item, in their order; `None` where no vector could be had."""
        from factcheck.fields.types import ComparatorResult

        open_cases = {}
        answers: list[ComparatorResult | None] = []
        for place, item in enumerate(items):
            known = _known(item.gold_compared, item.extracted_compared)
            answers.append(ComparatorResult(known[0], self.name, known[1]) if known else None)
            if known is None:
                open_cases[place] = _case(item.gold_compared, item.extracted_compared)
        results = self._metric.match_many(open_cases.values())
        for (place, _), result in zip(open_cases.items(), results, strict=True):
            answers[place] = self._answer(items[place], result)
        return answers

    def _answer(self, item: BatchItem, result: ReferenceMatchResult) -> ComparatorResult | None:
        from factcheck.fields.types import ComparatorResult

        if result.score is None:
            why = result.error.message if result.error else "no score"
            _log.warning("%s: %s: %s", item.path, self.name, why)
            return None
        return ComparatorResult(result.score, self.name, result.reason)

    def close(self) -> None:
        """Close connections and the cache; a comparator that is used again opens them again."""
        self._metric.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _known(gold: Any, extracted: Any) -> tuple[float, str] | None:
    """Score and reason where no vector is needed."""
    if gold is None and extracted is None:
        return 1.0, "both are null"
    if gold is None or extracted is None:
        return 0.0, f"{'gold' if gold is None else 'extracted'} is null"
    if isinstance(gold, str) and isinstance(extracted, str):
        if gold == extracted:
            return 1.0, "the same text"
        if not (gold.strip() and extracted.strip()):
            return float(gold.strip() == extracted.strip()), "a text is blank"
    return None


def _case(gold: Any, extracted: Any) -> Mapping[str, Any]:
    references: Sequence[Any] = gold if isinstance(gold, (list, tuple)) else [gold]
    return {"actual_output": extracted, "references": list(references)}
