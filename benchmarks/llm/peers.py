"""Three other evaluators and ours on the kinds of servers of our tests.

Each is used as its documentation says for an OpenAI-compatible server, with its defaults: DeepEval
`FaithfulnessMetric` with `LocalModel`, RAGAS `Faithfulness` with `llm_factory`, Inspect
`model_graded_fact` with `openai-api/...`. All judge the same three facts on the same text, two of
which it states. The scripted model answers their own prompts correctly, in the form they ask for;
what a server refuses or dresses up is the same for all. A result is right if it is the one from a
server that takes everything; anything else that is given as a result is wrong, not missing.

The others live in environments of their own, since their dependencies exclude each other:

    python -m venv /tmp/deepeval && /tmp/deepeval/bin/pip install deepeval==4.3.1
    python -m venv /tmp/ragas && /tmp/ragas/bin/pip install ragas==0.4.3 'langchain-community<0.4'
    python -m venv /tmp/inspect && /tmp/inspect/bin/pip install inspect-ai==0.3.285 'openai>=3.4'
    python -m benchmarks.llm.peers deepeval=/tmp/deepeval ragas=/tmp/ragas inspect=/tmp/inspect
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from factcheck.testing import LocalOpenAIServer, Request

_SECONDS = 600
"""Time for all servers together, after which a tool has no result on those that are left."""
_QUESTION = "What does the report say?"


class Result(NamedTuple):
    """What a tool made of one server."""

    value: Any
    """Its score, or one for each fact; `None` without any."""
    requests: int
    problem: str = ""


def main() -> None:
    """Run all tools on all servers, and print a table in Markdown."""
    from factcheck.testing import FactModel, LocalOpenAIServer
    from tests.server_kinds import SERVER_KINDS

    environments = dict(argument.split("=", 1) for argument in sys.argv[1:])
    results: dict[str, dict[str, Result]] = {}
    for tool in ("factcheck", *environments):
        with ExitStack() as stack:
            answer = FactModel() if tool == "factcheck" else _answer
            servers = {
                kind.name: stack.enter_context(LocalOpenAIServer(kind.around(answer)))
                for kind in SERVER_KINDS
            }
            python = Path(environments[tool]) / "bin" / "python" if tool in environments else None
            results[tool] = dict(_results(tool, python, servers))
    _print(results)


def _results(
    tool: str, python: Path | None, servers: dict[str, LocalOpenAIServer]
) -> Iterator[tuple[str, Result]]:
    urls = [server.base_url for server in servers.values()]
    command = [str(python or sys.executable), __file__, "--worker", tool, *urls]
    given: dict[str, Any] = {}
    with tempfile.TemporaryFile("w+") as out:
        try:
            subprocess.run(  # noqa: S603 - this file
                command, stdout=out, stderr=subprocess.DEVNULL, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{tool}: not done after {_SECONDS} s", file=sys.stderr)
        out.seek(0)
        for line in filter(lambda line: line.startswith('{"url"'), out):
            read = json.loads(line)
            given[read["url"]] = read
    for name, server in servers.items():
        found = given.get(server.base_url, {"value": None, "problem": "no result in time"})
        yield name, Result(found["value"], len(server.requests), found["problem"])


def _print(results: dict[str, dict[str, Result]]) -> None:
    plain = {tool: next(iter(of_tool.values())) for tool, of_tool in results.items()}
    for tool, first in plain.items():
        print(f"{tool}: {first.value} in {first.requests} requests where everything is taken")
    print("\n| server |", " | ".join(results), "|\n|---|" + "---|" * len(results))
    counts = dict.fromkeys(results, 0)
    for kind in next(iter(results.values())):
        cells = []
        for tool, of_tool in results.items():
            result, more = of_tool[kind], of_tool[kind].requests - plain[tool].requests
            right = result.value is not None and result.value == plain[tool].value
            counts[tool] += right
            word = "right" if right else "none" if result.value is None else "**wrong**"
            cells.append(f"{word}{f' ({more:+d})' if more else ''}")
        print(f"| {kind} |", " | ".join(cells), "|")
    print("| **right** |", " | ".join(f"**{n}**" for n in counts.values()), "|")
    for tool, of_tool in results.items():
        for kind, result in of_tool.items():
            if result.problem:
                print(f"{tool}, {kind}: {result.problem[:160]}", file=sys.stderr)


def _answer(request: Request) -> str:
    """What the other tools' prompts ask for."""
    from tests.server_kinds import FACTS, LABELS, TEXT

    asked = str(request.messages[-1]["content"])
    stated = [label == "entailed" for label in LABELS]
    if "GRADE: $LETTER" in asked:
        fact = asked.partition("[Expert]: ")[2].partition("\n")[0]
        return f"I compared them.\n\nGRADE: {'C' if stated[FACTS.index(fact)] else 'I'}"
    if "'truths'" in asked or '"truths"' in asked:
        return json.dumps({"truths": TEXT.split(". ")})
    if "'claims'" in asked or '"claims"' in asked:
        return json.dumps({"claims": list(FACTS)})
    if "Break down each sentence" in asked:
        return json.dumps({"statements": list(FACTS)})
    if '"verdicts"' in asked or "'verdicts'" in asked:
        said = [{"verdict": "yes" if yes else "no", "reason": "It says so."} for yes in stated]
        return json.dumps({"verdicts": said})
    judged = zip(FACTS, stated, strict=True)
    return json.dumps(
        {
            "statements": [
                {"statement": f, "reason": "So.", "verdict": int(yes)} for f, yes in judged
            ]
        }
    )


def work(tool: str, urls: Sequence[str]) -> None:
    """Judge the facts with one tool at every address, and print a line of JSON for each."""
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true"}
    facts = [
        "Anna glazed 31 bowls.",
        "The bowls were sold in May.",
        "The kiln reached 900 degrees.",
    ]
    text = "The kiln in Faenza reached 900 degrees. Anna glazed 31 bowls on Tuesday."
    for url in urls:
        value, problem = None, ""
        try:
            value = TOOLS[tool](url, facts, text)
        except Exception as error:  # noqa: BLE001 - that is what is counted
            problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
        print(json.dumps({"url": url, "value": value, "problem": problem}), flush=True)


def _factcheck(url: str, facts: Sequence[str], text: str) -> Any:
    import factcheck

    judge = factcheck.Model("openai/m", base_url=url)
    with factcheck.FactCoverage(judge, cache="off") as scorer:
        return scorer.score("", text, facts=facts).score


def _deepeval(url: str, facts: Sequence[str], text: str) -> Any:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase

    model = LocalModel(model="m", base_url=url, api_key="none")
    metric = FaithfulnessMetric(model=model, include_reason=False)
    case = LLMTestCase(input=_QUESTION, actual_output=" ".join(facts), retrieval_context=[text])
    metric.measure(case, _show_indicator=False)
    return metric.score


def _ragas(url: str, facts: Sequence[str], text: str) -> Any:
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.metrics.collections import Faithfulness

    async def score() -> Any:
        llm = llm_factory("m", client=AsyncOpenAI(base_url=url, api_key="none"))
        result = await Faithfulness(llm=llm).ascore(
            user_input=_QUESTION, response=" ".join(facts), retrieved_contexts=[text]
        )
        return result.value

    return asyncio.run(score())


def _inspect(url: str, facts: Sequence[str], text: str) -> Any:
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import Sample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import model_graded_fact
    from inspect_ai.solver import solver

    @solver  # type: ignore[untyped-decorator]
    def given() -> Any:
        async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001 - Inspect's protocol
            state.output.completion = text
            return state

        return solve

    model = get_model("openai-api/local/m", base_url=url, api_key="none")
    task = Task(
        dataset=[Sample(input=_QUESTION, target=fact) for fact in facts],
        solver=given(),
        scorer=model_graded_fact(model=model),
    )
    with tempfile.TemporaryDirectory() as folder:
        (log,) = run(task, model=model, display="none", log_dir=folder)
        if log.status != "success":
            raise RuntimeError(log.error.message if log.error else log.status)
        values = [sample.scores["model_graded_fact"].value for sample in log.samples or ()]
    return values if all(isinstance(value, str) for value in values) else None


TOOLS: dict[str, Callable[[str, Sequence[str], str], Any]] = {
    "factcheck": _factcheck,
    "deepeval": _deepeval,
    "ragas": _ragas,
    "inspect": _inspect,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], sys.argv[3:])
    else:
        main()
