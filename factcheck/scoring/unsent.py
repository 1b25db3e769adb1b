"""Runs that send nothing at once: cached reports, estimates, and batches."""

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

_OWN_OPTIONS = ("judge", "extractor", "batch_size", "cassette")
"""Options of `FactCoverage` that are not options of its session."""
Options = Mapping[str, Any]
"""Keyword arguments of `FactCoverage`."""


@contextmanager
def _scorer(options: Options, transport: Callable[[Any], Any]) -> Iterator[FactCoverage]:
    """A scorer whose requests go through `transport`."""
    settings = dict(options)
    own = {key: settings.pop(key) for key in _OWN_OPTIONS if key in settings}
    with Session(**settings, transport=transport) as session:
        yield FactCoverage(**own, session=session)


def cached_report(
    options: Options, score: Callable[[FactCoverage], CoverageReport]
) -> CoverageReport | None:
    """A report made of cached replies alone, for an interrupted call; nothing is sent.

    What is not in the cache is undecided. `None` for the local judge, which caches nothing and
    would have to start over.

    Raises:
        FactcheckError: Not even the facts are known.
    """
    from factcheck.judges.llm.engine import Meter

    with _scorer({**options, "cassette": None}, Meter().around) as scorer:
        return None if scorer.signature.never_flips else score(scorer)


def estimate(
    options: Options, records: Iterable[Record], direction: Direction = "coverage"
) -> tuple[int, Usage]:
    """The number of records of a run, and an estimate of what they need; nothing is sent.

    Replies in the cache cost nothing. Where the facts of a source are not known yet, those of the
    local extractor stand in for them. Requests and prompt tokens are estimates, completion tokens
    and cost upper bounds.
    """
    from factcheck.judges.llm.engine import Meter

    meter, n_records = Meter(), 0
    with _scorer({**options, "cassette": None}, meter.around) as scorer:
        trial = _Trial(scorer)
        for group in groups_of(records, scorer.summaries_per_call):
            n_records += len(group)
            some = [record for record in group if isinstance(record, Record)]
            facts = trial.facts_of(some[0])
            trial.check(facts, [record.summary for record in some])
            for record in some if facts and direction == "both" else ():
                if record.summary.strip():
                    claims = trial.likely_facts(record.summary)
                    for text in source_texts(record.source):
                        trial.check(claims, [text])
    return n_records, meter.usage


class _Trial:
    """Asks everything once with a scorer that sends nothing."""

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
        said = "\0".join(fact.text for fact in FactSet.of(facts))
        keys = {digest(f"{text}\0{said}"): text for text in texts if text.strip()}
        new = [text for key, text in keys.items() if key not in self._sent]
        self._sent.update(keys)
        if new and said:
            self._scorer.score_summaries("", new, facts=facts)


def run_batch(
    step: Literal["submit", "collect"],
    state: Path,
    options: Options,
    records: Callable[[], Iterable[Record]],
    direction: Direction = "coverage",
) -> Any:
    """Submit a run as a batch, or put the replies of a finished batch into the cache.

    The file `state` remembers what was submitted; `records` reads the records of the run anew.

    Raises:
        ConfigError: The cache is off, or the judge has no batch endpoint.
    """
    from factcheck.judges.llm import batch
    from factcheck.runtime.cache import open_cache

    if open_cache() is None:
        raise ConfigError("--batch needs the cache for its replies; unset FACTCHECK_CACHE=off")
    if step == "collect":
        options = {**options, "budget": None}  # what comes back is paid for already

    def run(around: Any) -> None:
        with _scorer(options, around) as scorer:
            for _ in scorer.score_many(records(), direction=direction):
                pass

    return batch.submit(state, run) if step == "submit" else batch.collect(state, run)
