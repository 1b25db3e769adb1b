"""Replies of real models are read strictly: what they do not clearly say stays undecided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.replay.build_cassette import Reply, build, passage, read_replies, verdicts_of
from benchmarks.replay.run import differs, replay

LINES = ("the heron nested in may .", "two chicks hatched .", "a fox took one of them .")
TEXT = "\n".join(LINES)
FACTS = ("A heron nested in May .", "Two chicks hatched.", "A storm broke the nest.")


def item(
    fact: str, response: object, *lines: object, key: str = "line number"
) -> dict[str, object]:
    return {"key fact": fact, "response": response, key: list(lines)}


GOOD = [item(FACTS[0], "Yes", 1), item(FACTS[1], "Yes", 2, 3), item(FACTS[2], "No")]


def reply(raw: object, *, recorded: tuple[int, ...] = (1, 1, 0)) -> Reply:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return Reply("d1", "heron_net_abs", LINES, FACTS, text, recorded)


def labels(made: Reply) -> dict[str, str]:
    return {verdict.fact.id: verdict.label for verdict in verdicts_of(made, "model")}


READ = {"f1": "entailed", "f2": "entailed", "f3": "neutral"}
SHAPES = [
    GOOD, f"```json\n{json.dumps(GOOD)}\n```", GOOD[::-1],
    [item(FACTS[0].upper()[:-2], "Yes", 1, key="line_number"), *GOOD[1:]],
]  # fmt: skip
OTHERS: list[object] = [
    "", "I cannot help with that.", json.dumps(GOOD)[:-1], f"Here you are:\n{json.dumps(GOOD)}",
    str(GOOD), {"facts": GOOD}, "[" * 100_000, [1, None, []],
]  # fmt: skip
BAD = [
    item(FACTS[0], "Maybe", 1), item(FACTS[0], ["Yes"], 1), item(FACTS[0], None),
    item("A heron nested in Mai.", "Yes", 1), {"response": "Yes", "line number": [1]},
    {"key fact": FACTS[0]}, "Yes",
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        *((raw, READ) for raw in SHAPES),
        *((raw, {}) for raw in OTHERS),
        *(([bad, *GOOD[1:]], {"f2": "entailed", "f3": "neutral"}) for bad in BAD),
    ],
)
def test_the_shapes_that_models_use_are_read_and_what_is_bad_is_left_out(
    raw: object, expected: dict[str, str]
) -> None:
    assert labels(reply(raw)) == expected


@pytest.mark.parametrize(
    ("cited", "quote"),
    [
        ((2,), LINES[1]), ((2, 3), f"{LINES[1]}\n{LINES[2]}"), ((3, 1), LINES[0]),
        ((9, 3, 0, -1), LINES[2]), ((4,), None), ((), None),
    ],
)  # fmt: skip
def test_cited_lines_become_a_passage_of_the_text(
    cited: tuple[int, ...], quote: str | None
) -> None:
    found = passage(LINES, cited)
    assert (found.quote if found else None) == quote
    assert found is None or TEXT[found.start : found.end] == quote


def test_what_cannot_be_read_is_undecided_in_the_replay() -> None:
    replies = [
        reply([GOOD[0], item(FACTS[1], "Hm"), GOOD[2]]),
        reply("no", recorded=())._replace(lines=("another text",)),
    ]
    document = {
        "facts": FACTS,
        "systems": {"abs_heron_net": {"summary": TEXT.replace(" .", "."), "labels": [1, 1, None]}},
    }
    rows = list(replay("model", replies, {"d1": document}))

    assert [row.label for row in rows] == ["entailed", None, "neutral", None, None, None]
    assert [row.score for row in rows] == [0.5] * 3 + [None] * 3
    assert [row.human for row in rows] == [1, 1, None, None, None, None]
    assert not any(map(differs, rows))
    assert differs(rows[0]._replace(recorded=0))


def test_every_real_reply_is_read_as_its_publishers_read_it(data_dir: Path, tmp_path: Path) -> None:
    replies = read_replies(data_dir)
    rows = [row for judge in replies for row in replay(judge, replies[judge], {})]
    assert len(replies) == 8
    assert not any(map(differs, rows))
    assert sum(row.label is None for row in rows) == 8
    judge = "o3-2025-04-16"
    assert build(replies[judge], judge, tmp_path / "c.jsonl") == sum(
        len(reply.facts) for reply in replies[judge]
    )
