"""How fast keywords are found, beside the plain loops that say what is to be found.

Every row does the same work in both ways, in turn, on texts that were not searched before, and
compares the results: they must be equal. Times are CPU seconds, the best of several repetitions.

    python -m benchmarks.keywords.run
    python -m benchmarks.keywords.run --part matched --repetitions 9
    python -m benchmarks.keywords.run --count 10000 --out rows.jsonl

Exits with 1 if a target is missed or a result differs.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.keywords import plain, workload
from factcheck.keywords import CardMatcher, ExpectedCard

WIDTH = 120
TIMES_FASTER = 5.0
SHAPES = ((100, 1, True), (50, 1, False), (25, 1, False), (10, 1, False), (10, 20, False))
"""Cards on each side of a case, runs over each case, and whether there is a target."""


class Row(NamedTuple):
    """The same work done in two ways."""

    part: str
    what: str
    plain_s: float
    ours_s: float
    equal: bool
    target: float | None = None

    @property
    def times(self) -> float:
        """How many times faster we are."""
        return self.plain_s / self.ours_s

    @property
    def missed(self) -> str:
        """What is wrong; empty if nothing is."""
        if not self.equal:
            return f"{self.what}: the results differ"
        if self.target is not None and self.times < self.target:
            return f"{self.what}: {self.times:.1f} times faster, target {self.target:.0f}"
        return ""


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Speed of keyword search.")
    parser.add_argument("--part", choices=PARTS, action="append", help="of the study; default all")
    parser.add_argument("--count", type=int, default=100_000, metavar="N", help="pairs of cards")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="the best counts")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    if min(arguments.count, arguments.repetitions) < 1:
        parser.error("--count and --repetitions must be at least 1")
    rows = [
        row
        for part in arguments.part or PARTS
        for row in PARTS[part](arguments.count, arguments.repetitions)
    ]
    for part in dict.fromkeys(row.part for row in rows):
        Console(width=WIDTH).print(table([row for row in rows if row.part == part]), "")
    if arguments.out:
        lines = [json.dumps({**row._asdict(), "times": row.times}) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = [row.missed for row in rows if row.missed]
    for problem in missed:
        print(f"missed: {problem}", file=sys.stderr)
    return 1 if missed else 0


def scored_rows(count: int, repetitions: int) -> Iterator[Row]:
    """The scores of all pairs."""
    for n_cards, n_runs, has_target in SHAPES:
        work = workload.card_work(max(1, count // (n_cards**2 * n_runs)), n_cards, n_runs)

        def by_loops(wanted: Sequence[plain.Wanted], cards: Sequence[plain.Card]) -> Any:
            return plain.all_scores(wanted, cards)

        def ours(matcher: CardMatcher, cards: Sequence[plain.Card]) -> Any:
            return matcher.scores(cards)

        yield _card_row("pairs scored", work, by_loops, ours, _same_scores, repetitions, has_target)


def matched_rows(count: int, repetitions: int) -> Iterator[Row]:
    """Greedy matching, with all that a result tells."""
    for n_cards, n_runs, _ in SHAPES:
        work = workload.card_work(max(1, count // (n_cards**2 * n_runs)), n_cards, n_runs)

        def ours(matcher: CardMatcher, cards: Sequence[plain.Card]) -> Any:
            return matcher.match(cards)

        yield _card_row("pairs matched", work, plain.matched, ours, _same_pairs, repetitions)


def _card_row(
    part: str,
    work: Sequence[workload.CardWork],
    by_loops: Callable[..., Any],
    ours: Callable[..., Any],
    same: Callable[..., bool],
    repetitions: int,
    has_target: bool = False,  # noqa: FBT001, FBT002 - of a shape
) -> Row:
    expected = [[_expected(one) for one in case.wanted] for case in work]

    def plainly(runs: Sequence[Sequence[Sequence[plain.Card]]]) -> Any:
        return [
            [by_loops(case.wanted, cards) for cards in own]
            for case, own in zip(work, runs, strict=True)
        ]

    def fast(runs: Sequence[Sequence[Sequence[plain.Card]]]) -> Any:
        found = []
        for cards, own in zip(expected, runs, strict=True):
            matcher = CardMatcher(cards)
            found.append([ours(matcher, run) for run in own])
        return found

    def given() -> list[list[list[plain.Card]]]:
        return [[workload.fresh_cards(cards) for cards in case.runs] for case in work]

    (plain_s, slow), (ours_s, quick) = in_turn(plainly, fast, given, repetitions)
    equal = all(
        same(one, other, case.wanted, run)
        for case, of_slow, of_quick in zip(work, slow, quick, strict=True)
        for one, other, run in zip(of_slow, of_quick, case.runs, strict=True)
    )
    n_cards, n_runs = len(work[0].wanted), len(work[0].runs)
    what = f"{len(work):,} cases of {n_cards} x {n_cards}, {n_runs} run{'s' * (n_runs > 1)} each"
    return Row(part, what, plain_s, ours_s, equal, TIMES_FASTER if has_target else None)


def _expected(wanted: plain.Wanted) -> ExpectedCard:
    fields = {"front": tuple(wanted.front_keywords), "back": tuple(wanted.back_keywords)}
    return ExpectedCard(fields, wanted.card_type)


def _same_scores(
    slow: Any, quick: Any, wanted: Sequence[plain.Wanted], cards: Sequence[plain.Card]
) -> bool:
    """Equal scores; ours leave out pairs without a common keyword, which have a type at most."""
    return all(
        score == quick[i].get(j, score if score <= 0.2 and not _common(wanted[i], cards[j]) else -1)
        for i, own in enumerate(slow)
        for j, score in enumerate(own)
    )


def _common(wanted: plain.Wanted, card: plain.Card) -> bool:
    """Whether a card has any of the keywords."""
    return any(word in card.front for word in wanted.front_keywords) or any(
        word in card.back for word in wanted.back_keywords
    )


def _same_pairs(slow: Any, quick: Any, *_: Any) -> bool:
    return bool(slow == [(m.expected, m.generated, m.score) for m in quick.matches])


def in_turn(
    one: Callable[[Any], Any],
    other: Callable[[Any], Any],
    given: Callable[[], Any],
    repetitions: int,
) -> list[tuple[float, Any]]:
    """For two ways to do the same their best CPU time and their result; `given` is not timed."""
    best: list[tuple[float, Any]] = []
    for _ in range(repetitions):
        found = []
        for work in (one, other):
            data = given()
            gc.collect()
            start = time.process_time()
            result = work(data)
            found.append((time.process_time() - start, result))
        best = [
            min(pair, key=lambda run: run[0]) for pair in zip(best or found, found, strict=True)
        ]
    return best


PARTS: dict[str, Callable[[int, int], Iterator[Row]]] = {
    "scored": scored_rows,
    "matched": matched_rows,
}


def table(rows: Sequence[Row]) -> Table:
    """Rows of one part as a plain table."""
    made = Table(
        rows[0].part, "plain loops", "factcheck", "times faster", "target", box=None, pad_edge=False
    )
    for column in made.columns[1:]:
        column.justify = "right"
    for row in rows:
        target = "" if row.target is None else f"{row.target:.0f}"
        seconds = (f"{row.plain_s * 1000:,.0f} ms", f"{row.ours_s * 1000:,.0f} ms")
        made.add_row(row.what, *seconds, f"{row.times:.1f}", target)
    return made


if __name__ == "__main__":
    sys.exit(main())
