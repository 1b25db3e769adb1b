"""Field comparator `reference`: embedding similarity of an extracted text to the gold one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from factcheck.errors import ParameterError
from factcheck.references.match import ReferenceMatch
from factcheck.runtime.session import Closing

if TYPE_CHECKING:
    from factcheck.facts import Usage
    from factcheck.fields.types import BatchItem, ComparatorResult
    from factcheck.judges.ports import EmbedderSpec

_log = logging.getLogger("factcheck.fields")


class ReferenceComparator(Closing):
    """Scores a field by the similarity of its extracted text to the gold one, or ones.

    The gold value is a reference, or a list of several. The score is the similarity, in [0, 1]: set
    `x-eval-threshold` for what makes a match, and calibrate it, because similarities depend on the
    embedder. The texts of many records are embedded together, each once. A field without usable
    vectors is a `batch_error`.

    Register it under the name that schemas use: `register("reference", ReferenceComparator())`.

    Args:
        embedding_provider: Embedder, as in `ReferenceMatch`.
        name: Name of the comparator in results.
        settings: Other arguments of `ReferenceMatch`, by name.

    Raises:
        ConfigError: Unknown embedder, or a missing key or package.
    """

    is_batch: ClassVar[bool] = True
    across_records: ClassVar[bool] = True

    def __init__(
        self,
        embedding_provider: EmbedderSpec = "local",
        *,
        name: str = "reference",
        **settings: Any,
    ) -> None:
        self.name = name
        self._metric = ReferenceMatch.per_case(embedding_provider=embedding_provider, **settings)

    @property
    def usage(self) -> Usage:
        return self._metric.usage

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters of a field.

        Raises:
            ParameterError: There is one.
        """
        if params:
            raise ParameterError(
                f"{self.name!r} takes no parameters, got {next(iter(params))!r}; "
                "a threshold is written as x-eval-threshold beside it"
            )

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item, in order; `None` without a usable vector."""
        from factcheck.fields.types import ComparatorResult

        results: list[ComparatorResult | None] = [None] * len(items)
        cases = {}
        for place, item in enumerate(items):
            gold, extracted = item.gold_compared, item.extracted_compared
            if known := _known(gold, extracted):
                results[place] = ComparatorResult(known[0], self.name, known[1])
            else:
                references = list(gold) if isinstance(gold, (list, tuple)) else [gold]
                cases[place] = {"actual_output": extracted, "references": references}
        matched = self._metric.match_many(cases.values())
        for place, found in zip(cases, matched, strict=True):
            if found.score is None:
                _log.warning("%s: %s: %s", items[place].path, self.name, found.reason)
            else:
                results[place] = ComparatorResult(found.score, self.name, found.reason)
        return results

    def close(self) -> None:
        """Close connections and the cache; a comparator that is used again opens them again."""
        self._metric.close()

    async def aclose(self) -> None:
        """Asynchronous form of `close`."""
        await self._metric.aclose()


def _known(gold: Any, extracted: Any) -> tuple[float, str] | None:
    """Score and reason of a pair that needs no vectors."""
    if gold is None and extracted is None:
        return 1.0, "both are null"
    if gold is None or extracted is None:
        return 0.0, f"{'gold' if gold is None else 'extracted'} is null"
    if not isinstance(extracted, str) and isinstance(gold, (str, list, tuple)):
        return 0.0, f"only text has an embedding, and extracted is {type(extracted).__name__}"
    if isinstance(gold, str) and isinstance(extracted, str):
        if gold == extracted:
            return 1.0, "the same text"
        if not (gold.strip() and extracted.strip()):
            return float(gold.strip() == extracted.strip()), "a text is blank"
    return None
