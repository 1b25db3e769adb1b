"""Replies of real models are read strictly: what they do not clearly say stays undecided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.replay.build_cassette import FILE, Reply, build, passage, read_replies, verdicts_of
from benchmarks.replay.run import differs, human_labels, replay
from factcheck.errors import InputError
from factcheck.facts import Evidence

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


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(GOOD),
        json.dumps(GOOD, indent=4),
        f"```json\n{json.dumps(GOOD)}\n```",
        f"```\n{json.dumps(GOOD)}\n```\n",
        json.dumps(list(reversed(GOOD))),
        json.dumps([{**item(FACTS[0].upper()[:-2], "Yes", 1, key="line_number")}, *GOOD[1:]]),
    ],
)
def test_the_shapes_that_models_use_are_read(raw: str) -> None:
    assert labels(reply(raw)) == {"f1": "entailed", "f2": "entailed", "f3": "neutral"}


@pytest.mark.parametrize(
    "raw",
    [
        "", "I cannot help with that.", json.dumps(GOOD)[:-1],
        f"Here you are:\n{json.dumps(GOOD)}", str(GOOD), json.dumps({"facts": GOOD}),
        "[" * 100_000, "[1, null, []]",
    ],
)  # fmt: skip
def test_a_reply_that_is_something_else_gives_no_verdict(raw: str) -> None:
    assert labels(reply(raw)) == {}


@pytest.mark.parametrize(
    "bad",
    [
        item(FACTS[0], "Maybe", 1), item(FACTS[0], ["Yes"], 1), item(FACTS[0], None),
        item("A heron nested in Mai.", "Yes", 1), {"response": "Yes", "line number": [1]},
        {"key fact": FACTS[0]}, "Yes",
    ],
)  # fmt: skip
def test_a_bad_item_leaves_its_fact_out_and_spares_the_others(bad: object) -> None:
    assert labels(reply([bad, *GOOD[1:]])) == {"f2": "entailed", "f3": "neutral"}


def test_a_fact_that_is_answered_twice_is_left_out() -> None:
    assert labels(reply([*GOOD, item(FACTS[1], "Yes", 2)])) == {"f1": "entailed", "f3": "neutral"}


def test_facts_that_differ_in_typesetting_only_cannot_be_told_apart() -> None:
    made = reply(GOOD[:1])._replace(facts=("A heron nested in May .", "a heron nested in May"))
    assert labels(made) == {}


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


def test_a_repeated_line_is_found_where_it_was_cited() -> None:
    assert passage(["one", "two", "one"], (3,)) == Evidence("one", 8, 11)


def test_a_yes_without_a_line_is_kept_with_a_doubt() -> None:
    first = verdicts_of(reply([item(FACTS[0], "Yes", 7, "1", True)]), "model")[0]
    assert (first.label, first.evidence, first.flags) == ("entailed", None, ("quote_not_found",))


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


def test_labels_of_another_summary_are_not_used() -> None:
    def document(**systems: str) -> dict[str, object]:
        made = {name: {"summary": text, "labels": [1, 1, 0]} for name, text in systems.items()}
        return {"d1": {"facts": FACTS, "systems": made}}

    made = reply(GOOD)
    assert human_labels(made, document(abs_heron_net=TEXT)) == dict(  # type: ignore[arg-type]
        zip(FACTS, (1, 1, 0), strict=True)
    )
    assert human_labels(made, document(abs_heron_net="Something else.")) == {}  # type: ignore[arg-type]
    assert human_labels(made, document(ext_heron_net=TEXT)) == {}  # type: ignore[arg-type]
    assert human_labels(made, {}) == {}


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_replies(tmp_path)
    (tmp_path / FILE).write_text('{"doc_id": "d1"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="another shape"):
        read_replies(tmp_path)


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
