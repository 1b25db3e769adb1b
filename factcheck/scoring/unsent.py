"""Runs without immediate requests: reports from the cache, dry runs and batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from factcheck.errors import ConfigError, FactcheckError
from factcheck.facts import CoverageReport, FactSet, Usage, digest, merge_documents, source_texts
from factcheck.facts.report import Direction
from factcheck.records import Record
from factcheck.runtime.session import Session
from factcheck.scoring.many import groups_of
from factcheck.scoring.scorer import FactCoverage, Facts

_OWN_OPTIONS = ("judge", "extractor", "batch_size", "cassette", "card", "processes")
"""Keyword arguments of `FactCoverage` that are not passed to its session."""
Options = Mapping[str, Any]
"""Keyword arguments of `FactCoverage`."""


@contextmanager
def _scorer(options: Options, transport: Callable[[Any], Any]) -> Iterator[FactCoverage]:
    """Open a scorer whose requests go through `transport`."""
    settings = dict(options)
    own = {key: settings.pop(key) for key in _OWN_OPTIONS if key in settings}
    with Session(**settings, transport=transport) as session:
        yield FactCoverage(**own, session=session)


def cached_report(
    options: Options, score: Callable[[FactCoverage], CoverageReport]
) -> CoverageReport | None:
    """Build the report of an interrupted call from cached replies, without sending requests.

    Facts without a cached verdict are undecided. Returns `None` for local judges, which do not
    cache.

    Raises:
        FactcheckError: The facts are not cached.
    """
    from factcheck.judges.llm.engine import Meter

    with _scorer({**options, "cassette": None}, Meter().around) as scorer:
        return None if scorer.signature.never_flips else score(scorer)


def estimate(
    options: Options, records: Iterable[Record], direction: Direction = "coverage"
) -> tuple[int, Usage]:
    """Count the records of a run and estimate its usage, without sending requests.

    Cached replies cost nothing. Facts that are not known yet are approximated by those of the local
    extractor. Requests and prompt tokens are estimates; completion tokens and cost are upper
    bounds.
    """
    from factcheck.judges.llm.engine import Meter

    meter, n_records = Meter(), 0
    with _scorer({**options, "cassette": None}, meter.around) as scorer:
        dry_run = _DryRun(scorer)
        for group in groups_of(records, scorer.summaries_per_call):
            n_records += len(group)
            valid = [record for record in group if isinstance(record, Record)]
            facts = dry_run.facts_of(valid[0])
            dry_run.check(facts, [record.summary for record in valid])
            for record in valid if facts and direction == "both" else ():
                if record.summary.strip():
                    claims = dry_run.likely_facts(record.summary)
                    for text in source_texts(record.source):
                        dry_run.check(claims, [text])
    return n_records, meter.usage


class _DryRun:
    """Makes every request of a run once, with a scorer that only counts them."""

    def __init__(self, scorer: FactCoverage) -> None:
        self._scorer = scorer
        self._facts: dict[str, FactSet] = {}
        self._sent: set[str] = set()

    def likely_facts(self, text: str) -> FactSet:
        from factcheck.judges.local.extractor import extract_facts

        key = digest(text)
        if key not in self._facts:
            try:
                self._facts[key] = self._scorer.extract(text)
            except FactcheckError:
                self._facts[key] = extract_facts(text)
        return self._facts[key]

    def facts_of(self, record: Record) -> Facts:
        if record.facts is not None:
            return record.facts
        found = [self.likely_facts(text) for text in source_texts(record.source)]
        return found[0] if isinstance(record.source, str) else merge_documents(record.source, found)

    def check(self, facts: Facts, texts: Iterable[str]) -> None:
        statements = "\0".join(fact.text for fact in FactSet.of(facts))
        keys = {digest(f"{text}\0{statements}"): text for text in texts if text.strip()}
        new = [text for key, text in keys.items() if key not in self._sent]
        self._sent.update(keys)
        if new and statements:
            self._scorer.score_summaries("", new, facts=facts)


def run_batch(
    step: Literal["submit", "collect"],
    state: Path,
    options: Options,
    records: Callable[[], Iterable[Record]],
    direction: Direction = "coverage",
) -> Any:
    """Submit a run as a batch, or store the replies of a finished batch in the cache.

    The file `state` records the submitted requests; `records` must return the same records again.

    Raises:
        ConfigError: The cache is off, or the judge has no batch endpoint.
    """
    from factcheck.judges.llm import batch
    from factcheck.runtime.cache import open_cache

    if open_cache() is None:
        raise ConfigError("--batch stores replies in the cache; unset FACTCHECK_CACHE=off")
    if step == "collect":
        options = {**options, "budget": None}  # the replies are already paid for

    def run(around: Any) -> None:
        with _scorer(options, around) as scorer:
            for _ in scorer.score_many(records(), direction=direction):
                pass

    return batch.submit(state, run) if step == "submit" else batch.collect(state, run)
