"""Times what a user waits for: the command line from a fresh process, and the embedded judge warm.

Fresh processes are timed in turn with a bare interpreter and shown as multiples of it, because a
machine is never equally fast twice. Warm runs have the word tables loaded, but never see a text
twice: each gets the texts with their words exchanged for each other.

    python benchmarks/speed/run.py
    python benchmarks/speed/run.py --runs 15
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import factcheck
from factcheck.testing.fakes import sentences

COST = Path(__file__).parents[1] / "cost"
_EXCHANGED = re.compile(r"\b(?!\w+(?:ed|ing|s)\b)[a-z]{5,}\b")
"""Words that can stand for each other without turning a sentence into another kind of sentence."""


class Row(NamedTuple):
    """One thing that was timed."""

    what: str
    seconds: tuple[float, ...]
    """Of every run, in order."""
    note: str


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Start-up time and speed of the embedded judge.")
    parser.add_argument("--runs", type=int, default=11, metavar="N", help="runs of each row")
    runs = parser.parse_args().runs
    if runs < 1:
        parser.error("--runs must be at least 1")
    source, summary, second_summary, listed = (
        (COST / f"{name}.txt").read_text(encoding="utf-8").strip()
        for name in ("source", "summary", "second_summary", "facts")
    )
    texts = Texts(source, f"{summary}\n{second_summary}", tuple(listed.splitlines()))
    print(f"{'':<30}     median    fastest")
    for row in (*process_rows(texts, runs), *warm_rows(texts, runs)):
        median, fastest = 1000 * statistics.median(row.seconds), 1000 * min(row.seconds)
        print(f"{row.what:<30}{median:8,.1f} ms{fastest:8,.1f} ms  {row.note}")


class Texts(NamedTuple):
    """What is timed; all about the same things."""

    source: str
    summary: str
    facts: tuple[str, ...]

    def variant(self, seed: int) -> Texts:
        """The same texts with words exchanged for each other, in the same way in all of them."""
        everything = "\n".join((self.source, self.summary, *self.facts))
        words = sorted(set(_EXCHANGED.findall(everything)))
        others = random.Random(seed).sample(words, len(words))  # noqa: S311 - nothing secret
        exchange = dict(zip(words, others, strict=True))

        def exchanged(text: str) -> str:
            return _EXCHANGED.sub(lambda match: exchange[match[0]], text)

        return Texts(
            exchanged(self.source),
            exchanged(self.summary),
            tuple(exchanged(fact) for fact in self.facts),
        )


def process_rows(texts: Texts, runs: int) -> list[Row]:
    """Wall time of fresh processes, timed in turn."""
    bare = "python -c pass"
    with tempfile.TemporaryDirectory() as folder:
        source, summary = Path(folder, "source.txt"), Path(folder, "summary.txt")
        source.write_text(first_words(texts.source, 1_000), encoding="utf-8")
        summary.write_text(first_words(texts.summary, 200), encoding="utf-8")
        cli = ("-m", "factcheck")
        commands = {
            bare: ("-c", "pass"),
            "import factcheck": ("-c", "import factcheck"),
            "factcheck --help": (*cli, "--help"),
            "factcheck score, 1,000 words": (*cli, "score", str(source), str(summary)),
        }
        seconds: dict[str, list[float]] = {what: [] for what in commands}
        for _ in range(runs + 1):
            for what, command in commands.items():
                seconds[what].append(timed_process(command, compiled=Path(folder, "compiled")))
    for times in seconds.values():
        del times[0]  # it had to compile
    reference = statistics.median(seconds[bare])
    return [
        Row(what, tuple(times), f"{statistics.median(times) / reference:.1f} x bare python")
        for what, times in seconds.items()
    ]


def timed_process(arguments: Sequence[str], compiled: Path) -> float:
    """Seconds a fresh interpreter takes that keeps compiled modules, as an installed one does."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FACTCHECK_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPYCACHEPREFIX"] = str(compiled)
    environment["FACTCHECK_CACHE_DIR"] = str(compiled.with_name("cache"))
    start = time.perf_counter()
    subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    return time.perf_counter() - start


def warm_rows(texts: Texts, runs: int) -> Iterator[Row]:
    """Verdicts and words per second of a scorer that has worked before.

    No text is seen twice in all of the rows, because the judge remembers the sentences it read.
    """
    scorer = factcheck.FactCoverage("local", "local")
    many = texts._replace(facts=fifty_statements(texts))
    n_words = len(texts.source.split())
    seeds = count()

    def row(what: str, work: Callable[[Texts], object], of: Texts, amount: int, unit: str) -> Row:
        seconds = [timed(work, of.variant(next(seeds))) for _ in range(runs + 1)][1:]
        return Row(what, tuple(seconds), f"{amount / statistics.median(seconds):,.0f} {unit}")

    def check_short(varied: Texts) -> object:
        return scorer.check(varied.facts, first_words(varied.summary, 200))

    def check_long(varied: Texts) -> object:
        return scorer.check(varied.facts, first_words(varied.source, 1_000))

    def extract(varied: Texts) -> object:
        return scorer.extract(varied.source)

    yield row("check 15 facts, 200 words", check_short, texts, 15, "verdicts/s")
    yield row("check 50 facts, 1,000 words", check_long, many, 50, "verdicts/s")
    yield row(f"extract, {n_words:,} words", extract, texts, n_words, "words/s")


def timed(work: Callable[[Texts], object], texts: Texts) -> float:
    """Seconds some work takes."""
    start = time.perf_counter()
    work(texts)
    return time.perf_counter() - start


def first_words(text: str, count: int) -> str:
    """The first `count` words, with the white space between them."""
    match = re.match(rf"(?:\s*\S+){{{count}}}", text)
    if match is None:
        raise SystemExit(f"a text has fewer than {count} words")
    return match[0]


def fifty_statements(texts: Texts) -> tuple[str, ...]:
    """The facts, the lines of the summaries, and sentences of the source, evenly spaced.

    Most are in other words than the source; about one in three stands in it as it is.
    """
    reworded = [*texts.facts, *(line.removeprefix("- ") for line in texts.summary.splitlines())]
    verbatim = sentences(texts.source)
    missing = 50 - len(reworded)
    return (*reworded, *(verbatim[len(verbatim) * k // missing] for k in range(missing)))


if __name__ == "__main__":
    main()
