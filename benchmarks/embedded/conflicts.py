"""How often conflicts are found in false pairs, and in true ones, beside the old rules.

    python benchmarks/embedded/conflicts.py --data DIR               # the untouched half
    python benchmarks/embedded/conflicts.py --data DIR --half dev    # the half to develop on

`DIR` holds `nli`, `nli2` and `realsumm_dev.jsonl`. A file is split by the family of its pairs, so
that no sentence is on both sides. `before.json` holds the counts of the rules that this replaced.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from factcheck.judges.local.analysis import analyse
from factcheck.judges.local.conflicts import find_conflicts
from factcheck.judges.local.sentences import split_passages
from factcheck.text.language import guess_language

FILES = (
    "nli2/rules_wikisplit_en.jsonl.gz",
    "nli2/rules_templates_en.jsonl",
    "nli2/hans_sample.jsonl.gz",
    "nli2/pawsx_en.jsonl",
    "nli2/negation_nli.jsonl",
    "nli2/fever_symmetric.jsonl",
    "nli2/vitaminc_small.jsonl",
    "nli/breaking_nli.jsonl",
)
BEFORE = Path(__file__).with_name("before.json")
MOST = 1_500
"""Pairs of one phenomenon and label that are looked at."""


class Pair(NamedTuple):
    """A fact, a text, and whether the text says the fact."""

    phenomenon: str
    family: str
    fact: str
    text: str
    is_true: bool


def load(folder: Path) -> Iterator[Pair]:
    """Every labelled pair, in the order of the files."""
    for name in FILES:
        path = folder / name
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        for line in text.decode().splitlines():
            row = json.loads(line)
            yield Pair(
                f"{path.name.partition('.')[0]}: {row.get('phenomenon') or row.get('category')}",
                family(row.get("id") or row["premise"]),
                row["hypothesis"],
                row["premise"],
                row["label"] in {"entailed", "entailment"},
            )
    for line in (folder / "realsumm_dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        for system in row["systems"].values():
            for fact, label in zip(row["facts"], system["labels"], strict=True):
                if label is not None:
                    yield Pair("realsumm_dev", row["doc_id"], fact, system["summary"], label == 1)


def family(identity: str) -> str:
    """What the pairs of one sentence have in common: the part and the line of their id."""
    found = re.search(r"(validation|test|tune|dev)-(\d+?)\d?(?:c.*|~.*|)$", identity)
    if "c" in identity.rpartition("-")[2]:
        found = re.search(r"(validation|test|tune|dev)-(\d+)c", identity)
    return "-".join(found.groups()) if found else re.sub(r"[a-z~]+\d?$", "", identity)


def chosen(pairs: Iterator[Pair], half: str) -> list[Pair]:
    """The pairs of one half, at most `MOST` of a phenomenon and label, drawn by their content."""
    groups: dict[tuple[str, bool], list[tuple[str, Pair]]] = defaultdict(list)
    for pair in pairs:
        digest = hashlib.sha256(pair.family.encode()).hexdigest()
        if (int(digest[0], 16) % 2 == 0) == (half == "dev"):
            key = hashlib.sha256((pair.fact + pair.text).encode()).hexdigest()
            groups[pair.phenomenon, pair.is_true].append((key, pair))
    return [pair for group in groups.values() for _, pair in sorted(group)[:MOST]]


def kinds(pair: Pair) -> set[str]:
    """The kinds of the conflicts that speak against a fact in any sentence of a text."""
    language = guess_language(pair.fact)
    fact = analyse(pair.fact, language)
    passages = [analyse(passage.text, language) for passage in split_passages(pair.text)]
    known = {stem for passage in passages for stem in passage.places}
    return {
        conflict.kind
        for passage in passages
        for conflict in find_conflicts(fact, passage, known)
        if conflict.contradicts
    }


def count(pairs: list[Pair], judge: Callable[[Pair], set[str]]) -> dict[str, list[int]]:
    """For each phenomenon: false pairs, those with a conflict, true pairs, those with one."""
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for pair in pairs:
        row = table[pair.phenomenon]
        row[2 * pair.is_true] += 1
        row[2 * pair.is_true + 1] += bool(judge(pair))
    return dict(sorted(table.items()))


def show(table: dict[str, list[int]], before: dict[str, list[int]]) -> None:
    """Print the shares, those of the old rules in brackets."""
    print(
        f"{'phenomenon':<52} {'false':>6} {'found':>6} {'(before)':>8} {'true':>6} {'accused':>7}"
    )
    for name, row in table.items():
        old = before.get(name, [0, 0, 0, 0])
        shares = [_share(row, 0), _share(old, 0), _share(row, 2), _share(old, 2)]
        print(
            f"{name:<52} {row[0]:6} {shares[0]:>6} {shares[1]:>8} {row[2]:6} {shares[2]:>7} "
            f"{shares[3]:>8}"
        )


def _share(row: list[int], at: int) -> str:
    return f"{row[at + 1] / row[at]:.1%}" if row[at] else ""


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FACTCHECK_DATA"))
    parser.add_argument("--half", choices=("dev", "test"), default="test")
    parser.add_argument("--only", default="", help="phenomena whose name has this in it")
    parser.add_argument("--sample", type=int, default=0, help="print so many wrong pairs of each")
    options = parser.parse_args()
    if options.data is None:
        parser.error("name the data directory with --data or FACTCHECK_DATA")
    every = (pair for pair in load(Path(options.data)) if options.only in pair.phenomenon)
    pairs = chosen(every, options.half)
    before = json.loads(BEFORE.read_text("utf-8"))[options.half]
    show(count(pairs, kinds), before)
    if options.sample:
        if options.half == "test":
            sys.exit("the untouched half is not to be looked at; use --half dev")
        wrong = [pair for pair in pairs if bool(kinds(pair)) == pair.is_true]
        for is_true in (True, False):
            some = [pair for pair in wrong if pair.is_true == is_true]
            for pair in some[:: max(1, len(some) // options.sample)][: options.sample]:
                print(f"\n{pair.phenomenon} {is_true} {kinds(pair)}\n  {pair.text}\n  {pair.fact}")


if __name__ == "__main__":
    main()
