"""Replies of real models are read strictly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.replay.replies import Reply, passage, read_replies
from benchmarks.replay.run import differs, replay

LINES = ("the heron nested in may .", "two chicks hatched .", "a fox took one of them .")
NOTES = "\n".join(LINES)
HERON = ("A heron nested in May .", "Two chicks hatched.", "A storm broke the nest.")


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
    assert found is None or NOTES[found.start : found.end] == quote


def test_what_cannot_be_read_is_undecided_in_the_replay() -> None:
    said = [
        {"key fact": fact, "response": response, "line number": [1]}
        for fact, response in zip(HERON, ("Yes", "Hm", "No"), strict=True)
    ]
    replies = [
        Reply("d1", "heron_net_abs", LINES, HERON, json.dumps(said), (1, 1, 0)),
        Reply("d1", "heron_net_abs", ("another text",), HERON, "no", ()),
    ]
    document = {
        "facts": HERON,
        "systems": {"abs_heron_net": {"summary": NOTES.replace(" .", "."), "labels": [1, 1, None]}},
    }
    rows = list(replay("model", replies, {"d1": document}))

    assert [row.label for row in rows] == ["entailed", None, "neutral", None, None, None]
    assert [row.score for row in rows] == [0.5] * 3 + [None] * 3
    assert [row.human for row in rows] == [1, 1, None, None, None, None]
    assert not any(map(differs, rows))
    assert differs(rows[0]._replace(recorded=0))


def test_every_real_reply_is_read_as_its_publishers_read_it(data_dir: Path) -> None:
    replies = read_replies(data_dir)
    rows = [row for judge in replies for row in replay(judge, replies[judge], {})]
    assert len(replies) == 8
    assert not any(map(differs, rows))
    assert sum(row.label is None for row in rows) == 8
