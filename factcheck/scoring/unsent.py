"""Runs that send nothing at once: cached reports, estimates, and batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from factcheck.errors import ConfigError, FactcheckError
from factcheck.facts import CoverageReport, FactSet, Usage, digest, merge_documents, source_texts
from factcheck.facts.report import Direction
from factcheck.records import Record
from factcheck.runtime.session import Session
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

    Args:
        options: How the scorer was made.
        score: Makes the report.

    Returns:
        The report, with what is not in the cache undecided. `None` for the local judge, which
        caches nothing and would have to start over.

    Raises:
        FactcheckError: Not even the facts are known.
    """
    from factcheck.judges.llm.engine import Meter

    with _scorer({**options, "cassette": None}, Meter().around) as scorer:
        judge = dict(scorer.signature.entries).get("judge", "")
        return None if judge.startswith("local") else score(scorer)


class Estimate(NamedTuple):
    """Estimate of a run."""

    records: int
    usage: Usage
    """Requests and prompt tokens are estimates, completion tokens and cost upper bounds."""


def estimate(
    options: Options, records: Iterable[Record], direction: Direction = "coverage"
) -> Estimate:
    """Estimate requests, tokens and cost of a run; nothing is sent.

    Replies in the cache cost nothing. Where the facts of a source are not known yet, those of the
    local extractor stand in for them.

    Args:
        options: How the scorer of the run is made.
        records: The records of the run.
        direction: As in `FactCoverage.score`.
    """
    from factcheck.judges.llm.engine import Meter
    from factcheck.judges.local.extractor import extract_facts

    meter, n_records = Meter(), 0
    known: dict[str, FactSet] = {}
    sent: set[str] = set()

    def likely_facts(text: str) -> FactSet:
        key = digest(text)
        if key not in known:
            try:
                known[key] = scorer.extract(text)
            except FactcheckError:
                known[key] = extract_facts(text)
        return known[key]

    def check(facts: Facts, text: str) -> None:
        key = digest("\0".join((text, *(fact.text for fact in FactSet.of(facts)))))
        if key not in sent:
            sent.add(key)
            scorer.check(facts, text)

    with _scorer({**options, "cassette": None}, meter.around) as scorer:
        for n_records, record in enumerate(records, 1):  # noqa: B007 - used after the loop
            facts: Facts | None = record.facts
            source = record.source
            texts = source_texts(source)
            if facts is None:
                found = [likely_facts(text) for text in texts]
                facts = found[0] if isinstance(source, str) else merge_documents(source, found)
            if facts and record.summary.strip():
                check(facts, record.summary)
                for text in texts if direction == "both" else ():
                    check(likely_facts(record.summary), text)
    return Estimate(n_records, meter.usage)


def run_batch(
    step: Literal["submit", "collect"],
    state: Path,
    options: Options,
    records: Callable[[], Iterable[Record]],
    direction: Direction = "coverage",
) -> Any:
    """Submit a run as a batch, or put the replies of a finished batch into the cache.

    Args:
        step: Which of the two.
        state: File that remembers what was submitted.
        options: How the scorer of the run is made.
        records: Reads the records of the run anew.
        direction: As in `FactCoverage.score`.

    Returns:
        `factcheck.judges.llm.batch.Submitted` or `Collected`.

    Raises:
        ConfigError: The cache is off, or the judge has no batch endpoint.
        InputError: The state file does not fit the step.
        JudgeError: The server could not be reached.
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
