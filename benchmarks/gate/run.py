"""Does a gate in CI notice regressions of a summary, and let rewordings pass?

    python -m benchmarks.gate.run                        # the embedded judge
    python -m benchmarks.gate.run --judge openai/NAME

For each text of `pairs.yaml`, every new version of the summary goes through the gate of
`docs/ci.md`: no `must` fact lost.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from factcheck import AtomicFact, FactCoverage
from factcheck.documents.yaml_documents import parse_yaml
from factcheck.scoring.gates import Limits, coverage_gate, settled

PAIRS = Path(__file__).with_name("pairs.yaml")


class Version(NamedTuple):
    """A new version of a summary."""

    text: str
    kind: str
    fact: str = ""
    """Id of the fact that a regression loses or distorts; empty for a rewording."""


class Subject(NamedTuple):
    """A source with facts, a summary of it, and new versions of the summary."""

    name: str
    source: str
    facts: tuple[AtomicFact, ...]
    before: str
    versions: tuple[Version, ...]


class Row(NamedTuple):
    """What the gate says of a new version."""

    subject: str
    version: Version
    has_failed: bool
    behind: dict[str, str]
    """Status of the facts behind a failure, by id."""


def entries() -> list[dict[str, Any]]:
    return [*parse_yaml(PAIRS.read_text(encoding="utf-8"), PAIRS.name).value]


def subjects() -> tuple[Subject, ...]:
    return tuple(map(_subject, entries()))


def _subject(entry: dict[str, Any]) -> Subject:
    facts = entry["facts"]
    return Subject(
        entry["name"],
        entry["source"],
        tuple(AtomicFact(one["id"], one["text"], must=one.get("must", False)) for one in facts),
        entry["before"],
        tuple(Version(**one) for one in [*entry["regressions"], *entry["rewordings"]]),
    )


def trial(scorer: FactCoverage, subject: Subject) -> tuple[list[Row], list[str]]:
    """Put all versions through the gate; facts that the first summary loses are not `must`."""
    before = scorer.score(subject.source, subject.before, facts=subject.facts)
    lost = [one.fact.id for one in before.results if one.fact.must and not one.supported]
    facts = [replace(one, must=one.must and one.id not in lost) for one in subject.facts]
    rows = []
    for version in subject.versions:
        report = scorer.score(subject.source, version.text, facts=facts)
        failure = coverage_gate(settled(scorer, report, Limits()))
        behind = {one.fact.id: one.status for one in failure.results} if failure else {}
        rows.append(Row(subject.name, version, failure is not None, behind))
    return rows, lost


def print_table(rows: Sequence[Row]) -> None:
    """Print the regressions caught, by kind, and what the gate says wrongly, pair by pair."""
    regressions = [row for row in rows if row.version.fact]
    print("regressions   caught   by the changed fact")
    for kind in ["all", *sorted({row.version.kind for row in regressions})]:
        of_kind = [row for row in regressions if kind in ("all", row.version.kind)]
        caught = [row for row in of_kind if row.has_failed]
        by_fact = [row for row in caught if row.version.fact in row.behind]
        print(f"{kind:12} {len(caught):3} of {len(of_kind):2} {len(by_fact):10}")
    alarms = [row for row in rows if row.has_failed and not row.version.fact]
    print(f"\n{len(alarms)} false alarms of {len(rows) - len(regressions)} rewordings")
    for row in (*alarms, *(row for row in regressions if not row.has_failed)):
        what = f"missed {row.version.fact}" if row.version.fact else f"alarm {row.behind}"
        print(f"{row.subject:16} {row.version.kind:10} {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description="The gate of docs/ci.md on 60 + 60 new versions.")
    parser.add_argument("--judge", default="local")
    rows: list[Row] = []
    with FactCoverage(parser.parse_args().judge) as scorer:
        for subject in subjects():
            found, lost = trial(scorer, subject)
            rows += found
            if lost:
                print(f"{subject.name}: the first summary loses {', '.join(lost)}, no longer must")
    print_table(rows)


if __name__ == "__main__":
    main()
