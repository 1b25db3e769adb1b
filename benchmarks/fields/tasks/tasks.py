"""The evaluator's verdicts on three extraction tasks, beside those of a careful person."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from factcheck.fields import evaluate, suggest_schema
from factcheck.fields.records import f1_of

TASKS = ("invoices", "cvs", "lab_reports")
PARTS = ("development", "held")


def read(task: str, part: str, name: str) -> list[Any]:
    """Read `gold`, `extracted` or `edits`: one JSON value a line."""
    path = Path(__file__).parent / task / part / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a record with their paths, as in `items[0].amount`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{n}]")
    else:
        yield path, value


def person_verdicts(gold: Any, extracted: Any, edits: dict[str, str]) -> dict[str, str]:
    """Return the verdict on each gold value, by path, and on invented ones, by `+` and path."""
    if "" in edits:  # the reply is wrapped
        (extracted,) = extracted.values()
    verdicts = {path: "same" for path, _ in leaves(gold)}
    for path, verdict in edits.items():
        is_invented = verdict == "invented"
        for leaf, _ in leaves(extracted if is_invented else gold):
            if leaf == path or leaf.startswith((f"{path}.", f"{path}[")):
                verdicts[f"+{leaf}" if is_invented else leaf] = verdict
    return verdicts


def person_f1(verdicts: dict[str, str]) -> float:
    n = Counter(verdicts.values())
    compared = n["same"] + n["wrong"]
    return f1_of(n["same"], compared + n["invented"], compared + n["missing"])


def main() -> None:
    parser = argparse.ArgumentParser(description="The evaluator beside a careful person.")
    parser.add_argument("--held", action="store_true", help="the parts that are held for the end")
    parser.add_argument("--errors", action="store_true", help="list what is judged wrongly")
    arguments = parser.parse_args()
    for task in TASKS:
        _report(task, PARTS[arguments.held], with_errors=arguments.errors)


def _report(task: str, part: str, *, with_errors: bool) -> None:
    gold, extracted, edits = (read(task, part, name) for name in ("gold", "extracted", "edits"))
    run = evaluate(gold, extracted, suggest_schema(gold), semantic="local")
    f1, accepted, refused = list[float](), list[str](), list[str]()
    for line, record in enumerate(run.records, 1):
        own = {edit["path"]: edit["verdict"] for edit in edits if edit["line"] == line}
        verdicts = person_verdicts(gold[line - 1], extracted[line - 1], own)
        f1.append(person_f1(verdicts))
        same = {path for path, verdict in verdicts.items() if verdict == "same"}
        match = {one.path for one in record.field_results if one.status == "match"}
        accepted += [f"  accepted: line {line}, {path}" for path in sorted(match - same)]
        refused += [f"  refused: line {line}, {path}" for path in sorted(same - match)]
    n_rows = len([*leaves(gold)])
    right = 1 - (len(accepted) + len(refused)) / n_rows
    print(f"{task}: F1 {run.mean_f1:.3f}, by a careful person {fmean(f1):.3f}")
    print(f"  {right:.3f} of {n_rows} values judged right, ", end="")
    print(f"{len(accepted)} wrong ones accepted, {len(refused)} right ones refused")
    if with_errors:
        print(*accepted, *refused, sep="\n")


if __name__ == "__main__":
    main()
