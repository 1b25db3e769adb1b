"""Compares extracted facts with those that people wrote, and with what people found in summaries.

    python -m benchmarks.decomposition.run ../shared/data [--extractor SPEC] [--part P] [--scores]

Prints one line a measure; the README beside this file says what each one means. `--scores` checks
the facts of 20 articles against all of their summaries with the embedded judge, which takes about a
quarter of an hour.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.decomposition.measures import (
    biographies,
    proposition_rates,
    raters,
    read_rows,
    share_found,
)
from benchmarks.embedded.own_texts import long_pairs, texts
from factcheck import FactCoverage
from factcheck.errors import InputError
from factcheck.facts import FactSet, Verdict
from factcheck.facts.coverage import share_entailed
from factcheck.facts.groups import weigh
from factcheck.judges.local.sentences import split_sentences

SEED = 1
LARGE = 250_000
"""Characters of a text whose extraction is timed."""


class Scored(NamedTuple):
    """A summary with the share of human facts that people found in it, and our results."""

    article: str
    system: str
    human: float
    n_words: int
    kept: Sequence[float]
    """For each fact: 1 kept, 0 not, .5 undecided."""
    expected: float
    """Share of the statements that is expected to be kept."""
    facts: FactSet


def line(name: str, *values: float | str) -> None:
    cells = (f"{value:12.3f}" if isinstance(value, float) else f"{value:>12}" for value in values)
    print(f"{name:58}{''.join(cells)}", flush=True)


def propositions(data: Path, part: str, facts: Callable[[str], Sequence[str]]) -> None:
    """Print how near facts, a second rater and whole sentences come to marked propositions."""
    kinds: dict[str, Callable[[dict[str, Any]], Sequence[str]]] = {
        "facts": lambda row: facts(str(row["sentence"])),
        "a second rater": lambda row: raters(row)[1],
        "the whole sentence": lambda row: [str(row["sentence"])],
    }
    titles = ("F at .5", "F at .7", "precision", "recall", "a sentence", "words")
    line(f"propositions, {part} part", *titles)
    for name, extract in kinds.items():
        rates, per_sentence, n_words = proposition_rates(data, part, extract, 0.5)
        strict = proposition_rates(data, part, extract, 0.7)[0]
        line(f"  {name}", rates.f, strict.f, *rates, per_sentence, n_words)


def articles(data: Path) -> list[tuple[dict[str, Any], str]]:
    sources = {r["doc_id"]: r["source"] for r in read_rows(data / "realsumm_dev_sources.jsonl")}
    return [(row, sources[row["doc_id"]]) for row in read_rows(data / "realsumm_dev.jsonl")]


def score(
    rows: Sequence[tuple[dict[str, Any], str]], scorer: FactCoverage, text_key: str
) -> list[Scored]:
    """Check the facts of each article, or of its reference, against its summaries."""
    found = []
    for row, source in rows:
        facts = scorer.extract(source if text_key == "source" else str(row[text_key]))
        for system, each in row["systems"].items():
            labels = [label for label in each["labels"] if label is not None]
            results = scorer.check(facts, each["summary"])
            kept = [float(r.supported) if isinstance(r, Verdict) else 0.5 for r in results]
            expected = share_entailed(results).expected or 0.0
            human, n_words = fmean(labels), len(each["summary"].split())
            document = str(row["doc_id"])
            found.append(Scored(document, system, human, n_words, kept, expected, facts))
    return found


def mean_score(each: Scored, weights: Sequence[float]) -> float:
    decided = [(k, w) for k, w in zip(each.kept, weights, strict=True) if k != 0.5]
    total = sum(w for _, w in decided)
    return sum(k * w for k, w in decided) / total if total else 0.0


def agreement(name: str, scored: Sequence[Scored], values: Sequence[float]) -> None:
    """Print mean, error and correlations of scores with human coverage."""
    human = np.array([each.human for each in scored])
    ours = np.array(values)
    by_article: dict[str, list[int]] = {}
    by_system: dict[str, list[int]] = {}
    for at, each in enumerate(scored):
        by_article.setdefault(each.article, []).append(at)
        by_system.setdefault(each.system, []).append(at)
    within = [
        float(np.corrcoef(ours[at], human[at])[0, 1])
        for at in by_article.values()
        if np.std(ours[at]) > 0 and np.std(human[at]) > 0
    ]
    common = [at for at in by_system.values() if len(at) * 2 > len(by_article)]
    systems = np.corrcoef([ours[at].mean() for at in common], [human[at].mean() for at in common])
    error = float(np.abs(ours - human).mean())
    line(f"  {name}", float(ours.mean()), error, fmean(within), float(systems[0, 1]))


def scores(data: Path, scorer: FactCoverage) -> None:
    """Print how scores agree with what people found in the summaries of 20 articles."""
    rows = articles(data)
    scored = score(rows, scorer, "source")
    human = fmean(each.human for each in scored)
    title = f"scores of {len(scored)} summaries (people: {human:.3f})"
    line(title, "mean", "error", "r within", "r systems")
    agreement("facts of the source", scored, [mean_score(s, [1.0] * len(s.kept)) for s in scored])
    agreement("the same, expected", scored, [each.expected for each in scored])
    by_place = [[fact.weight for fact in weigh(s.facts, "lead")] for s in scored]
    agreement("the same, weighted by their place", scored, list(map(mean_score, scored, by_place)))
    reference = score(rows, scorer, "reference")
    agreement("facts of the reference summary", reference,
              [mean_score(s, [1.0] * len(s.kept)) for s in reference])  # fmt: skip
    longest = max(each.n_words for each in scored)
    agreement("length alone", scored, [each.n_words / longest for each in scored])


def lengths(data: Path, facts: Callable[[str], Sequence[str]]) -> None:
    """Print the words of a fact, and the share of human facts that are found."""
    line("facts of whole texts", "a text", "words", "found")
    news: list[tuple[str, list[str]]] = [
        (source, list(row["facts"])) for row, source in articles(data)
    ]
    found_in("own texts", own_pairs(), facts)
    found_in("news", news, facts)


def own_pairs() -> list[tuple[str, list[str]]]:
    """Return our own texts with the facts written for them."""
    return [(text.source, [fact.text for fact in text.facts]) for text in texts()]


def found_in(
    name: str,
    pairs: Sequence[tuple[str, Sequence[str]]],
    facts: Callable[[str], Sequence[str]],
) -> None:
    """Print how the facts of texts agree with those of people."""
    listed = [(facts(source), human) for source, human in pairs]
    n_facts = sum(len(found) for found, _ in listed)
    n_words = sum(len(fact.split()) for found, _ in listed for fact in found)
    n_human = sum(len(human) for _, human in listed)
    found = sum(share_found(human, each) * len(human) for each, human in listed)
    line(f"  {name}", n_facts / len(pairs), n_words / n_facts, found / n_human)


def long_texts(scorer: FactCoverage) -> None:
    """Print the scores of faithful, false and lead summaries of five long texts."""
    print("long texts                                                faithful    false     lead")
    for pair in long_pairs():
        facts, good = scorer.extract(pair.source), pair.good.text
        texts = good, pair.lying.text, lead_of(pair.source, len(good.split()))
        line(
            f"  {pair.name}", *(scorer.score("", text, facts=facts).score or 0.0 for text in texts)
        )


def lead_of(source: str, n_words: int) -> str:
    """The first sentences of a source, as close to `n_words` words as possible."""
    total, end = 0, 0
    for sentence in split_sentences(source):
        n = len(sentence.text.split())
        if end and total + n / 2 > n_words:
            break
        total, end = total + n, sentence.span.end
    return source[:end].strip()


def speed(facts: Callable[[str], Sequence[str]]) -> None:
    written = [row["text"] for path in sorted(WRITTEN.glob("*.jsonl")) for row in read_rows(path)]
    random.Random(SEED).shuffle(written)  # noqa: S311
    text = "\n\n".join(written)[:LARGE]
    start = time.process_time()
    facts(text)
    line(f"{LARGE:,} characters, seconds of CPU", time.process_time() - start)


WRITTEN = Path(__file__).parents[1] / "embedded" / "written"


def main() -> None:
    """Print all measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--extractor", default="local")
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--texts", type=int, help="only this many of our own texts")
    arguments = parser.parse_args()
    scorer = FactCoverage(judge="local", extractor=arguments.extractor)

    def facts(text: str) -> list[str]:
        try:
            return [fact.text for fact in scorer.extract(text)]
        except InputError:  # the text states nothing
            return []

    if arguments.texts:
        line("facts of whole texts", "a text", "words", "found")
        found_in("own texts", own_pairs()[: arguments.texts], facts)
        print(scorer.ledger.usage)
        return
    propositions(arguments.data, arguments.part, facts)
    found = biographies(arguments.data, scorer.extract)
    line("biographies", "precision", "recall", "a sentence", "pronouns")
    line("  facts", *found.rates, found.per_sentence, found.pronouns)
    lengths(arguments.data, facts)
    if arguments.extractor == "local":
        speed(facts)
    if arguments.scores:
        long_texts(scorer)
        scores(arguments.data, scorer)


if __name__ == "__main__":
    main()
