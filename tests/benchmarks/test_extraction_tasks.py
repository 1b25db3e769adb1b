"""The extraction tasks are what their README says."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from typing import Any

import pytest

from benchmarks.fields.tasks.tasks import PARTS, TASKS, leaves, person_f1, person_verdicts, read

every_part = pytest.mark.parametrize(("task", "part"), [*product(TASKS, PARTS)])


def without(record: Any, paths: list[str]) -> dict[str, Any]:
    """The values of a record but those at some paths, each the last of its list or object."""
    return {
        path: value
        for path, value in leaves(record)
        if not any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in paths)
    }


@every_part
def test_the_edits_are_exactly_the_paths_that_differ(task: str, part: str) -> None:
    edits = read(task, part, "edits")
    records = zip(read(task, part, "gold"), read(task, part, "extracted"), strict=True)
    for line, (gold, reply) in enumerate(records, 1):
        own = {edit["path"]: edit["verdict"] for edit in edits if edit["line"] == line}
        extracted = reply
        if own.pop("", "") == "same":
            (extracted,) = reply.values()
        only = {side: [p for p, verdict in own.items() if verdict == side] for side in own.values()}
        kept = without(gold, only.get("missing", []))
        found = without(extracted, only.get("invented", []))
        assert [*kept] == [*found]
        differing = {path for path in kept if repr(kept[path]) != repr(found[path])}
        assert differing == {p for p, verdict in own.items() if verdict in ("same", "wrong")}
        assert all(without(gold, [path]) != dict(leaves(gold)) for path in only.get("missing", []))


def test_the_person_counts_as_the_evaluator_does() -> None:
    gold = {"a": "x", "tax": 1, "tax_rate": 2, "items": [{"b": 1, "c": 2}]}
    extracted = {"a": "X", "tax": 3, "items": [{"b": 1, "c": 2}, {"b": 5, "c": 6}]}
    edits = {"a": "same", "tax": "wrong", "tax_rate": "missing", "items[1]": "invented"}
    verdicts = person_verdicts(gold, {"data": deepcopy(extracted)}, {**edits, "": "same"})
    assert verdicts == {
        "a": "same", "tax": "wrong", "tax_rate": "missing", "items[0].b": "same",
        "items[0].c": "same", "+items[1].b": "invented", "+items[1].c": "invented",
    }  # fmt: skip
    assert person_f1(verdicts) == pytest.approx(2 * (3 / 6) * (3 / 5) / (3 / 6 + 3 / 5))
