"""Counts the tokens that one source and one summary with 15 facts cost over an LLM.

Nothing is estimated: the requests go over HTTP to a local server, and what is counted is the
content of the messages it received. The second table is the bill: schema and reply count, too,
both without blanks, and a token of the reply as 8 of the prompt. A scripted model answers, so no
key is needed and nothing is spent. Every number is counted with the same tokenizer, `o200k_base`.

    python benchmarks/cost/run.py
    python benchmarks/cost/run.py --out rows.jsonl

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import factcheck
from factcheck.facts import EntailmentLabel
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Request, parse_prompt

HERE = Path(__file__).parent
MODEL = "openai/bench"
SIZES = {
    "source": range(1_640, 1_701),
    "summary": range(200, 211),
    "second_summary": range(200, 211),
    "facts": range(235, 246),
}
"""Tokens each text may have: the rows of other tools hold for a pair of this size."""
_TOKENIZER_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""Under which tiktoken looks for `o200k_base`."""

Count = Callable[[str], int]


class Row(NamedTuple):
    """What one way of scoring sends."""

    what: str
    calls: int
    prompt_tokens: int
    measured: str = "now"
    """`now`, or `earlier`: the prompts of a tool that is not run here, rendered by that release
    and counted in the same way for a pair of the same size (1,667, 205 and 236 tokens)."""
    target_calls: int | None = None
    """Exactly; fewer would mean that something was not asked."""
    target_tokens: int | None = None
    """At most."""

    @property
    def missed(self) -> Iterator[str]:
        """The targets that are missed, and by what."""
        if self.target_calls not in {None, self.calls}:
            yield f"{self.what}: {self.calls} calls, target {self.target_calls}"
        if self.target_tokens is not None and self.prompt_tokens > self.target_tokens:
            yield f"{self.what}: {self.prompt_tokens:,} tokens, target {self.target_tokens:,}"


REPLY_WEIGHT = 8
"""What a token of a reply costs in tokens of a prompt, as at most providers."""
THOUGHT = (3, 10)
"""What reply and thought come to in replies, of a model that thinks without being told how much."""
LABELS: tuple[EntailmentLabel, ...] = ("entailed",) * 9 + ("neutral",) * 4 + ("contradicted",) * 2
"""Scripted verdicts on the 15 facts of the next summary."""


class Bill(NamedTuple):
    """What further summaries of the source cost."""

    what: str
    prompt: int
    schema: int
    reply: int
    """Tokens of the compact reply."""
    target: int | None = None

    @property
    def total(self) -> int:
        """In tokens of a prompt."""
        return self.prompt + self.schema + REPLY_WEIGHT * self.reply

    def with_thought(self, times: int) -> int:
        """In tokens of a prompt, if a model thinks until reply and thought are so many times it."""
        return self.total + (times - 1) * REPLY_WEIGHT * self.reply

    @property
    def missed(self) -> Iterator[str]:
        """The target, if it is missed."""
        if self.target is not None and self.total > self.target:
            yield f"{self.what}: {self.total:,} tokens of a prompt, target {self.target:,}"


BEFORE = Bill("next summary, prompts v1", 644, 131, 395)
"""Quote, reason and label for each fact (ee02c99), counted in the same way for the same texts."""
OTHERS = (
    Row("one judge call, a mark from 1 to 5", 1, 2_090, "earlier"),
    Row("FineSurE a914583, machine key facts", 3, 4_781, "earlier"),
    Row("RAGAS 0.4.3 FactualCorrectness", 4, 6_487, "earlier"),
    Row("plain DSPy 3.4.1, one fact per call", 16, 8_001, "earlier"),
    Row("DeepEval 4.3.1 SummarizationMetric", 7, 8_034, "earlier"),
)


class Exchange(NamedTuple):
    """The requests behind the rows, by what they were sent for."""

    pair: tuple[Request, ...]
    next_summary: tuple[Request, ...]
    one_by_one: tuple[Request, ...]
    pair_replies: tuple[str, ...]
    """To the requests of the pair, in order."""
    reply: str
    """To the request for the next summary."""
    signature: str


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Prompt tokens of one source and one summary.")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    texts = {name: (HERE / f"{name}.txt").read_text(encoding="utf-8").strip() for name in SIZES}
    count = o200k_counter()
    sizes = {name: count(text) for name, text in texts.items()}
    exchange = exchange_requests(texts)
    rows = [*cost_rows(exchange, count), *schema_rows(exchange, count), *OTHERS]
    print("tokens:", ", ".join(f"{name} {size:,}" for name, size in sizes.items()))
    Console().print(table(rows))
    listed = bills(exchange, count)
    Console().print(bill_table(listed))
    print(exchange.signature)
    if arguments.out:
        lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = [
        f"{name}.txt: {sizes[name]} tokens, from {allowed.start} to {allowed.stop - 1} wanted"
        for name, allowed in SIZES.items()
        if sizes[name] not in allowed
    ]
    missed += [target for row in rows for target in row.missed]
    missed += [target for each in listed for target in each.missed]
    for target in missed:
        print(f"missed: {target}", file=sys.stderr)
    return 1 if missed else 0


def o200k_counter() -> Count:
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


def exchange_requests(texts: Mapping[str, str]) -> Exchange:
    """Score the pair, a further summary with the same facts, and the pair one fact at a time."""
    listed = tuple(texts["facts"].splitlines())
    places = {fact: place for place, fact in enumerate(listed)}
    replies: list[str] = []

    def labels(fact: str, text: str) -> EntailmentLabel:
        """The same number of each for every text, at other facts."""
        return LABELS[(places[fact] + len(text)) % len(LABELS)]

    model = FactModel(labels, facts=lambda _: listed)

    def answer(request: ChatRequest) -> str:
        replies.append(model(request))
        return replies[-1]

    with LocalOpenAIServer(answer) as server:
        os.environ.update(
            OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="not-needed", FACTCHECK_CACHE="off"
        )
        with factcheck.FactCoverage(MODEL, MODEL) as scorer:
            report = scorer.score(texts["source"], texts["summary"])
            pair, pair_replies = server.requests, tuple(replies)
            server.clear()
            scorer.score(texts["source"], texts["second_summary"], facts=report.facts)
            next_summary = server.requests
            reply = replies[-1]
            server.clear()
        with factcheck.FactCoverage(MODEL, MODEL, batch_size=1) as scorer:
            scorer.score(texts["source"], texts["summary"])
            one_by_one = server.requests
    if tuple(fact.text for fact in report.facts) != listed or report.undecided:
        raise SystemExit("the scripted facts did not all come back with a verdict")
    return Exchange(pair, next_summary, one_by_one, pair_replies, reply, str(report.signature))


def cost_rows(exchange: Exchange, count: Count) -> list[Row]:
    """The contents of the messages that were sent."""

    def sent(requests: Sequence[Request]) -> tuple[int, int]:
        contents = [message["content"] for r in requests for message in r.body["messages"]]
        return len(requests), sum(map(count, contents))

    return [
        Row("factcheck: extraction", *sent(of_kind("extract", exchange.pair))),
        Row("factcheck: check of 15 facts", *sent(of_kind("check", exchange.pair))),
        Row(
            "factcheck: the pair",
            *sent(exchange.pair),
            target_calls=2,
            target_tokens=2_400,
        ),
        Row(
            "factcheck: next summary of the source",
            *sent(exchange.next_summary),
            target_calls=1,
            target_tokens=660,
        ),
        Row("factcheck: the pair, batch_size=1", *sent(exchange.one_by_one), target_calls=16),
    ]


def schema_rows(exchange: Exchange, count: Count) -> list[Row]:
    """The forms of reply that were asked for. Outside the messages; some providers count them."""

    def schemas(requests: Sequence[Request]) -> tuple[int, int]:
        return len(requests), sum(count(json.dumps(r.body["response_format"])) for r in requests)

    return [
        Row("beside it: schema of the extraction", *schemas(of_kind("extract", exchange.pair))),
        Row("beside it: schema of the check", *schemas(of_kind("check", exchange.pair))),
    ]


def bills(exchange: Exchange, count: Count) -> list[Bill]:
    """The bills of the pair and of a further summary as they are now."""
    extraction, check = (
        bill(what, request, reply, count)
        for what, request, reply in zip(
            ("the pair: extraction", "the pair: check"),
            exchange.pair,
            exchange.pair_replies,
            strict=True,
        )
    )
    (request,) = exchange.next_summary
    return [
        extraction,
        check,
        BEFORE,
        bill("next summary, now", request, exchange.reply, count, target=1_700),
    ]


def bill(
    what: str, request: Request, reply: str, count: Count, *, target: int | None = None
) -> Bill:
    """The bill of one request, with schema and reply without blanks between their parts."""
    schema, said = (
        json.dumps(data, separators=(",", ":"))
        for data in (request.body["response_format"], json.loads(reply))
    )
    prompt = sum(count(message["content"]) for message in request.body["messages"])
    return Bill(what, prompt, count(schema), count(said), target)


def bill_table(bills: Sequence[Bill]) -> Table:
    """The bills as a plain table."""
    made = Table(
        "bill", "prompt", "schema", "reply", "together", "with thought", "target",
        box=None, pad_edge=False,
    )  # fmt: skip
    for column in made.columns[1:]:
        column.justify = "right"
    for each in bills:
        target = "" if each.target is None else f"<= {each.target:,}"
        numbers = (each.prompt, each.schema, each.reply, each.total)
        thought = " to ".join(f"{each.with_thought(times):,}" for times in THOUGHT)
        made.add_row(each.what, *(f"{number:,}" for number in numbers), thought, target)
    return made


def of_kind(kind: str, requests: Sequence[Request]) -> list[Request]:
    """The requests that ask to extract, or to check."""
    return [request for request in requests if parse_prompt(request.body).kind == kind]


def table(rows: Sequence[Row]) -> Table:
    """The rows as a plain table."""
    made = Table("what", "calls", "prompt tokens", "target", "measured", box=None, pad_edge=False)
    for column in made.columns[1:4]:
        column.justify = "right"
    for row in rows:
        target = "" if row.target_tokens is None else f"<= {row.target_tokens:,}"
        made.add_row(row.what, str(row.calls), f"{row.prompt_tokens:,}", target, row.measured)
    return made


if __name__ == "__main__":
    sys.exit(main())
