"""Counts the tokens that one source and one summary with 15 facts cost over an LLM.

Nothing is estimated: the requests go over HTTP to a local server, and what is counted is the
content of the messages it received, the schema and the reply, both without blanks. A token of the
reply is billed as 8 of the prompt. A scripted model answers, so no key is needed and nothing is
spent. Every number is counted with the same tokenizer, `o200k_base`.

    python benchmarks/cost/run.py

Exits with 1 if there are more or fewer calls than one for the facts and one for each check.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import factcheck
from factcheck.facts import EntailmentLabel
from factcheck.testing import FactModel, LocalOpenAIServer, Request

HERE = Path(__file__).parent
MODEL = "openai/bench"
_TOKENIZER_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""Under which tiktoken looks for `o200k_base`."""
REPLY_WEIGHT = 8
"""What a token of a reply costs in tokens of a prompt, as at most providers."""
THOUGHT = (3, 10)
"""What reply and thought come to in replies, of a model that thinks without being told how much."""
LABELS: tuple[EntailmentLabel, ...] = ("entailed",) * 9 + ("neutral",) * 4 + ("contradicted",) * 2
"""Scripted verdicts on the 15 facts."""


class Bill(NamedTuple):
    """What one request costs, in tokens."""

    prompt: int
    schema: int
    reply: int

    def total(self, thought: int = 1) -> int:
        """In tokens of a prompt, if thought and reply are so many times the reply."""
        return self.prompt + self.schema + thought * REPLY_WEIGHT * self.reply


class Exchanges:
    """The scripted model, which remembers what was sent and what it replied."""

    def __init__(self, facts: tuple[str, ...]) -> None:
        self.facts = facts
        self._model = FactModel(self._label, facts=lambda _: facts)
        self._seen: list[tuple[Request, str]] = []

    def __call__(self, request: Request) -> str:
        reply = self._model(request)
        self._seen.append((request, reply))
        return reply

    def clear(self) -> None:
        self._seen.clear()

    def bills(self, count: Callable[[str], int]) -> Iterator[Bill]:
        """Yield the bill of each request, in order."""
        for request, reply in self._seen:
            prompt = sum(count(message["content"]) for message in request.messages)
            schema, said = (
                json.dumps(data, separators=(",", ":"))
                for data in (request.body["response_format"], json.loads(reply))
            )
            yield Bill(prompt, count(schema), count(said))

    def _label(self, fact: str, text: str) -> EntailmentLabel:
        """The same number of each label for every text, at other facts."""
        return LABELS[(self.facts.index(fact) + len(text)) % len(LABELS)]


def main() -> int:
    """Measure, print, and return the exit code."""
    names = ("source", "summary", "second_summary", "facts")
    texts = {name: (HERE / f"{name}.txt").read_text(encoding="utf-8").strip() for name in names}
    count = o200k_counter()
    print("tokens:", ", ".join(f"{name} {count(text):,}" for name, text in texts.items()))
    exchanges = Exchanges(tuple(texts["facts"].splitlines()))
    with LocalOpenAIServer(exchanges) as server:
        os.environ.update(
            OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="not-needed", FACTCHECK_CACHE="off"
        )
        with factcheck.FactCoverage(MODEL, MODEL) as scorer:
            report = scorer.score(texts["source"], texts["summary"])
            scorer.score(texts["source"], texts["second_summary"], facts=report.facts)
            bills = list(exchanges.bills(count))
        exchanges.clear()
        with factcheck.FactCoverage(MODEL, MODEL, batch_size=1) as scorer:
            scorer.score(texts["source"], texts["summary"])
        one_by_one = list(exchanges.bills(count))
    if tuple(fact.text for fact in report.facts) != exchanges.facts or report.undecided:
        raise SystemExit("the scripted facts did not all come back with a verdict")
    print(f"{'':<24}prompt  schema  reply    bill   with thought")
    for what, bill in zip(
        ("the pair: extraction", "the pair: check", "next summary"), bills, strict=True
    ):
        thought = " to ".join(f"{bill.total(times):,}" for times in THOUGHT)
        numbers = f"{bill.prompt:8,}{bill.schema:8,}{bill.reply:7,}{bill.total():8,}"
        print(f"{what:<22}{numbers}   {thought}")
    n_tokens = sum(bill.prompt for bill in one_by_one)
    print(f"the pair, one fact a call: {len(one_by_one)} calls, prompt {n_tokens:,}")
    print(report.signature)
    return int((len(bills), len(one_by_one)) != (3, 1 + len(exchanges.facts)))


def o200k_counter() -> Callable[[str], int]:
    """Counts tokens with the copy of `o200k_base` that LiteLLM carries; nothing is downloaded."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        raise SystemExit("LiteLLM is not installed; it carries the tokenizer that counts here")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    if not (folder / _TOKENIZER_FILE).is_file():
        raise SystemExit(f"this LiteLLM carries no o200k_base under the name {_TOKENIZER_FILE}")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


if __name__ == "__main__":
    sys.exit(main())
