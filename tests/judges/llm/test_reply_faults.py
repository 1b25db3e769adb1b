"""Whatever is wrong with a reply, no fact gets a wrong verdict and none is lost; lists of facts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from factcheck import Verdict
from factcheck.errors import JudgeOutputError
from factcheck.facts import CheckResult
from factcheck.judges.llm.modules import FactChecker, KeyFactExtraction
from factcheck.judges.llm.replies import statements

TEXT = "The mill closed in 1987. Ida Berg never owned it."
FACTS = ("The mill closed in 1987.", "It rained.", "Ida Berg owned the mill.")
TRUTH = ("entailed", "neutral", "contradicted")
ANSWERS = ("yes", "no", "contradicted")
LIES = ("no", "yes", "yes")
Pairs = Sequence[tuple[str, Any]]


def verdicts(answers: Sequence[Any]) -> Pairs:
    """Answers with the lines of `TEXT` that they cite; a no cites none."""
    return [
        (f"f{n}", answer if answer == "no" else f"{line} {answer}")
        for n, (answer, line) in enumerate(zip(answers, (1, 1, 2), strict=True), 1)
    ]


def obj(pairs: Pairs) -> str:
    """A JSON object with its keys as they are, also where one comes twice."""
    return f"{{{', '.join(f'{json.dumps(key)}: {json.dumps(value)}' for key, value in pairs)}}}"


def listed(pairs: Pairs) -> list[Any]:
    return [
        {"id": key, **(value if isinstance(value, dict) else {"answer": value})}
        for key, value in pairs
    ]


def readable() -> Iterator[tuple[str, str]]:
    """Replies that leave no doubt: all three verdicts count."""
    pairs = verdicts(ANSWERS)
    right, wrong = obj(pairs), obj(verdicts(LIES))
    yield "as it was asked for", right
    yield "byte order mark", f"\ufeff{right}"
    yield "code fence", f"```json\n{right}\n```"
    yield "open code fence", f"```json\n{right}"
    yield "prose around it", f"Sure!\n{right}\nAnything else?"
    yield "braces in the prose", f"As {{asked}}, the set {{1, 2}}: {right}"
    yield "a brace too many", f"{right}}}"
    yield "twice the same", f"{right}\n{right}"
    yield "an example that is not whole", f"Like {obj(pairs[:1])}: {right}"
    yield "an object that is no answer", f'{{"thought": "hm"}} {right}'
    yield "under one key", f'{{"verdicts": {right}}}'
    yield "a list", json.dumps(listed(pairs))
    yield "another order, and a key that is no id", obj([*reversed(pairs), ("note", "done")])
    for tag in ("think", "THINK", "thought"):
        yield f"<{tag}>", f"<{tag}>So {wrong}?</{tag}>\n{right}"
    yield "a thought without its beginning", f"So {wrong}?</think>{right}"
    yield "thoughts in thoughts", f"<think><think>{wrong}</think>{wrong}</think>{right}"
    yield "capitals and blanks", obj(verdicts([f" {answer.title()} " for answer in ANSWERS]))


def broken() -> Iterator[tuple[str, str]]:
    """Replies that a reader could take for something they do not say."""
    pairs, lies = verdicts(ANSWERS), verdicts(LIES)
    right, wrong = obj(pairs), obj(lies)
    yield "an id doubled, then wrong", obj([*pairs, lies[2]])
    yield "an id doubled, wrong first", obj([lies[0], *pairs])
    yield "an id missing", obj(pairs[1:])
    yield "an id doubled in a list", json.dumps(listed([*pairs, lies[2]]))
    yield "ids from 0", obj([(f"f{n}", value) for n, (_, value) in enumerate(pairs)])
    yield "ids as numbers from 0", obj([(str(n), value) for n, (_, value) in enumerate(pairs)])
    yield "ids of another call", obj([(f"p{n}", value) for n, (_, value) in enumerate(lies, 1)])
    yield "one id too many", obj([*lies, ("f4", pairs[0][1])])
    yield "a list from 0", json.dumps(listed([(f"f{n}", v) for n, (_, v) in enumerate(lies)]))
    yield "a list without ids", json.dumps([value for _, value in lies])
    yield "list key doubled", f'{{"verdicts": {right}, "verdicts": {wrong}}}'
    yield "two keys", f'{{"draft": {wrong}, "final": {right}}}'
    for between in ("\n", " No, wait: ", "</s>"):
        yield f"right {between!r} wrong", f"{right}{between}{wrong}"
        yield f"wrong {between!r} right", f"{wrong}{between}{right}"
    yield "thought without end", f"<think>Maybe {wrong}"
    yield "thought without end after the answer", f"{wrong} <think>No, {right}"
    yield "thought alone", f"<think>{wrong}</think>"
    yield "answer in an open thought after a closed one", f"<think>a</think><think>{wrong}"
    yield "inside an object that breaks off", f'{{"draft": {wrong}, "final": {right[:-9]}'
    yield "inside a list that breaks off", f"[{wrong}, {right[:-9]}"
    yield "JSON in a string", json.dumps(wrong)
    yield "single quotes", wrong.replace('"', "'")
    yield "a comma too many", wrong[:-1] + ",}"
    yield "NaN beside it", wrong[:-1] + ', "probability": NaN}'
    yield "a number without end", wrong[:-1] + f', "n": {"9" * 5_000}}}'
    yield "lone surrogate", wrong[:-1] + ', "note": "\\ud800"}'
    yield "nested too deeply", "[" * 100_000
    yield "too many objects", f"{'{}' * 100} {wrong}"
    yield "too long", wrong + " " * 1_000_000
    for nothing in ("", "{}", "null", "0", "None"):
        yield f"{nothing!r}", nothing
    for value in (None, True, 1, ["yes"], {"answer": {"answer": "yes"}}):
        yield f"{value!r} as every verdict", obj([(key, value) for key, _ in pairs])
        yield f"{value!r} as every answer", obj(verdicts([value] * 3))
    for answer in ("\u0443es", "y\u200bes", "yes.", "no yes", "yes or no", "true", "", "1 2 yes"):
        yield f"answer {answer!r}", obj(verdicts([answer] * 3))
    for cut in range(1, len(wrong)):
        yield f"cut after {cut}", wrong[:cut]
    for line in ("0", "99999", "-1", "1.5", "\u00b9", "1-2"):
        yield f"line {line!r}", obj([(f"f{n}", f"{line} yes") for n in (1, 2, 3)])
    for number in (0, 3, 1.0, "1", None, True):
        given = {"line": number, "answer": "yes"}
        yield f"line {number!r} in an object", obj([(f"f{n}", given) for n in (1, 2, 3)])
    whole, no = '"answer": "yes", "line": 1', '"answer": "no"'
    for item in ('"answer": "yes"', '"line": 1', f"{whole}, {no}", f"{no}, {whole}"):
        yield f"the object {item}", f'{{"f1": {{{item}}}, "f2": {{{item}}}, "f3": {{{item}}}}}'


def read(reply: str) -> tuple[CheckResult, ...]:
    question = FactChecker().question(FACTS, TEXT)
    return tuple(question.find(reply, "judge").values())


def test_a_reply_that_leaves_no_doubt_counts_in_full() -> None:
    for name, reply in readable():
        results = read(reply)
        assert [getattr(result, "label", result) for result in results] == list(TRUTH), name


def test_a_broken_reply_gives_no_wrong_verdict() -> None:
    wrong = {}
    for name, reply in broken():
        try:
            results = read(reply)
        except JudgeOutputError:
            continue
        assert [result.fact.text for result in results] == list(FACTS)
        given = [result.label for result in results if isinstance(result, Verdict)]
        right = [t for r, t in zip(results, TRUTH, strict=True) if isinstance(r, Verdict)]
        if given != right:
            wrong[name] = reply
    assert wrong == {}


def test_an_object_without_an_id_is_no_answer_so_that_another_form_is_tried() -> None:
    with pytest.raises(JudgeOutputError, match="none of the expected ids"):
        read('{"note": "done"}')


LONG = "... and its crew of fourteen left the sinking ferry in two small boats"


@pytest.mark.parametrize(
    ("entries", "written"),
    [
        (
            ["It sank.", "... in May", "… off Crete.", "It was old."],
            ["It sank.", "It sank in May.", "It sank off Crete.", "It was old."],
        ),
        (["It sank", "...in May"], ["It sank", "It sank in May"]),
        (["It sank!", "... in May"], ["It sank!", "It sank in May!"]),
        (["... in May", "... off Crete"], ["in May", "in May off Crete"]),
        (["It sank.", LONG], ["It sank.", LONG.removeprefix("... ")]),
        (["Did it sank?", "...", "It\nsank."], ["It sank."]),
    ],
)
def test_details_are_written_out(entries: Sequence[str], written: Sequence[str]) -> None:
    assert [statement.text for statement in statements(entries)] == written


def test_the_module_gives_whole_statements() -> None:
    scripted = DummyLM([{"facts": ["It sank.", "... in May"]}], adapter=dspy.JSONAdapter())
    with dspy.context(lm=scripted):
        facts = KeyFactExtraction()(source="It sank in May.").facts
    assert facts == ["It sank.", "It sank in May."]
