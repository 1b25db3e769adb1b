"""Routes that judge: requests and answers are values of the Python API, as JSON.

All of them have strict JSON, deadlines and examples. The last one has the form of MiniCheck: chat
completions that check a claim.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal, get_type_hints
from uuid import uuid4

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from factcheck.documents import Document, parse_json, to_plain
from factcheck.errors import DeadlineExceeded, Failure, InputError
from factcheck.facts import CheckFailure, CheckResult, FactSet, Verdict
from factcheck.facts.report import Direction
from factcheck.fields import FieldEvaluator
from factcheck.fields.evaluation import Join
from factcheck.fields.schemas.references import annotate_xeval, resolved
from factcheck.judges.ports import PairVerdict, ValuePair
from factcheck.records import facts_of
from factcheck.runtime.deadline import run_in_thread
from factcheck.server.access import RESPONSES, Problem, require_bounded
from factcheck.server.service import LINES, Service

_JSON = "application/json"
_CLAIM = re.compile(r"\n[ \t]*Claim:")
_LEAST_LOGPROB = -9999.0
"""Log probability of a token with probability 0, as OpenAI reports it."""
KEY = Depends(HTTPBearer(auto_error=False))
"""Documents the API key, which `Gate` checks."""
Work = Callable[[Service, Any], Awaitable[Any]]


class _StrictRoute(APIRoute):
    """A route whose body is JSON without duplicate keys or NaN, in the limits of the service."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Any:
            kind = request.headers.get("content-type", "").partition(";")[0].strip()
            if kind.lower() != _JSON:
                detail = f"the body must be JSON; send it with 'Content-Type: {_JSON}'"
                raise Problem(415, "unsupported_media_type", detail)
            data = parse_json(await request.body(), "the body").value
            require_bounded(data)
            return await handle(request)

        return strict


DeadlineMs = Annotated[
    int | None,
    Header(
        ge=1,
        le=10**12,
        description="Milliseconds after which undecided facts are returned as such.",
    ),
]


router = APIRouter(route_class=_StrictRoute, responses=RESPONSES, dependencies=[KEY])


def judged(path: str, answer: Any) -> Callable[[Work], Work]:
    """Serve a function of the service and a request; its result has the form of `answer`."""

    def add(work: Work) -> Work:
        async def endpoint(
            request: Request,
            body: Any,
            factcheck_deadline_ms: DeadlineMs = None,
        ) -> Response:
            service: Service = request.app.state.service
            return await service.answer(
                request, partial(work, service, body), factcheck_deadline_ms
            )

        endpoint.__name__, endpoint.__doc__ = work.__name__, work.__doc__
        endpoint.__annotations__["body"] = get_type_hints(work)["body"]
        router.add_api_route(path, endpoint, methods=["POST"], response_model=answer)
        return work

    return add


def example(**example: Any) -> ConfigDict:
    """Return the configuration of a request with an example."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class Body(BaseModel):
    """A request; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


SOURCE = "The bakery on Mill Lane opens at seven. It sells rye bread."
SUMMARY = "The Mill Lane bakery opens at seven."
_FACTS = ["The bakery on Mill Lane opens at seven.", "The bakery sells rye bread."]


class _Judged(Body):
    judge: str | None = Field(
        None,
        description="Name of a judge of the service; its first one by default.",
        examples=["local"],
    )


Source = str | list[Any]
GivenFacts = list[Any] | dict[str, Any]


class FactsRequest(_Judged):
    """A source whose facts to extract."""

    model_config = example(source=SOURCE)
    source: Source
    """A text, or a list of documents: texts, or objects with `text` and optionally `id`."""


@judged("/v1/facts", dict[str, Any])
async def extract(service: Service, body: FactsRequest) -> Any:
    """Extract the atomic facts of a source; `FactSet.from_dict` reads the answer."""
    return (await service.judge(body.judge).scorer.aextract(body.source)).to_dict()


class CheckRequest(_Judged):
    """Facts to check against a text."""

    model_config = example(facts=_FACTS, text=SUMMARY)
    facts: GivenFacts
    """Statements, objects with `text` and optionally `id`, `span`, `weight`, `must` and `tags`, or
    the answer of `/v1/facts`."""
    text: str


class CheckAnswer(BaseModel):
    """One verdict or failure per fact, in fact order."""

    results: list[Verdict | CheckFailure]


@judged("/v1/check", CheckAnswer)
async def check(service: Service, body: CheckRequest) -> Any:
    """Check facts against a text."""
    judge = service.judge(body.judge)
    return {"results": to_plain(await service.check(judge, _facts(body.facts), body.text))}


def _facts(given: GivenFacts) -> FactSet:
    if not (facts := facts_of(Document("facts", given))):
        raise InputError("the list of facts is empty; there is nothing to check")
    return facts


class CoverageRequest(_Judged):
    """A source and a summary of it."""

    model_config = example(source=SOURCE, summary=SUMMARY, facts=_FACTS)
    source: Source
    """A text, or a list of documents."""
    summary: str
    facts: GivenFacts | None = None
    """Facts to check instead of extracting them."""
    direction: Direction = "coverage"
    """`both` also lists claims of the summary that the source does not support."""


class CoverageAnswer(BaseModel):
    """The report: score and bounds in [0, 1], 95 % interval, numbers of facts by outcome, results.

    `CoverageReport.from_dict` reads the answer, which has more.
    """

    score: float | None
    low: float
    high: float
    interval: list[float] | None
    expected: float | None
    counts: dict[str, int]
    faithfulness: float | None
    results: list[Verdict | CheckFailure]
    claim_results: list[Verdict | CheckFailure]


@judged("/v1/coverage", CoverageAnswer)
async def coverage(service: Service, body: CoverageRequest) -> Any:
    """Score how much of a source a summary keeps."""
    judge = service.judge(body.judge)
    facts = None if body.facts is None else _facts(body.facts)
    report = await judge.scorer.ascore(
        body.source, body.summary, facts=facts, direction=body.direction
    )
    service.meters.count(judge.name, (*report.results, *report.claim_results))
    return report.to_dict()


@router.post(
    "/v1/coverage/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}}},
)
async def stream(
    request: Request, body: CoverageRequest, factcheck_deadline_ms: DeadlineMs = None
) -> Response:
    """Answer as `/v1/coverage` does, with JSON lines as the work goes on.

    First comes `facts`, then `results` of some facts each, at last `report` with its `page` as
    HTML; or `problem`, the problem details of an error.
    """
    service: Service = request.app.state.service
    judge = service.judge(body.judge)
    facts = None if body.facts is None else _facts(body.facts)

    async def work(see: Callable[[Any], None]) -> Any:
        def pass_on(found: Any) -> None:
            name = "facts" if isinstance(found, FactSet) else "results"
            see({name: to_plain(tuple(found))})

        report = await judge.scorer.ascore(
            body.source, body.summary, facts=facts, direction=body.direction, see=pass_on
        )
        service.meters.count(judge.name, (*report.results, *report.claim_results))
        return {"report": report.to_dict(), "page": report.to_html()}

    return service.stream(request, work, factcheck_deadline_ms)


class FieldsRequest(_Judged):
    """Gold and extracted records, with the evaluation schema."""

    model_config = example(
        schema={"properties": {"name": {"type": "string", "x-eval-compare": "exact"}}},
        gold=[{"name": "Mill Lane"}],
        extracted=[{"name": "Mill Lane"}],
    )
    evaluation_schema: dict[str, Any] = Field(alias="schema")
    """JSON schema with the keys `x-eval-...`; leaves without one get their default."""
    gold: list[dict[str, Any]]
    extracted: list[dict[str, Any] | str]
    """Records, or replies of a model with one JSON object each."""
    id_field: str | None = None
    join: Join = "position"


@judged("/v1/fields", dict[str, Any])
async def fields(service: Service, body: FieldsRequest) -> Any:
    """Score extracted records field by field; `RunResult.from_dict` reads the answer."""
    comparator = service.judge(body.judge).comparator

    def work() -> Any:
        schema = annotate_xeval(resolved(body.evaluation_schema))
        evaluator = FieldEvaluator(schema, id_field=body.id_field, semantic=comparator)
        return evaluator.evaluate(body.gold, body.extracted, join=body.join).to_dict()

    return await run_in_thread(work)


class EquivalenceRequest(_Judged):
    """Pairs of values to compare by meaning."""

    model_config = example(pairs=[{"gold": "7 am", "extracted": "seven in the morning"}])
    pairs: list[ValuePair]


class Undecided(BaseModel):
    """Reason for a missing result."""

    code: str
    message: str


class EquivalenceAnswer(BaseModel):
    """One verdict or failure per pair, in pair order."""

    results: list[PairVerdict | Undecided]


@judged("/v1/equivalence", EquivalenceAnswer)
async def equivalence(service: Service, body: EquivalenceRequest) -> Any:
    """Compare pairs of values by meaning."""
    judge = service.judge(body.judge)
    if judge.pair_judge is None:
        raise InputError(f"the judge {judge.name!r} checks facts and cannot compare values")
    try:
        found = await judge.pair_judge.compare(body.pairs, judge.scorer.ledger)
    except DeadlineExceeded as error:
        found = [Failure.of(None, error)] * len(body.pairs)
    return {"results": to_plain(found)}


class Message(Body):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")
    role: str
    content: Any = None
    """Text, or a list of text parts; read in the last message of the user only."""


class ChatRequest(Body):
    """A question in the form of MiniCheck; other parameters of chats are ignored."""

    model_config = ConfigDict(
        extra="ignore",
        **example(
            model="local",
            messages=[{"role": "user", "content": f"Document: {SOURCE}\nClaim: {SUMMARY}"}],
            logprobs=True,
        ),
    )
    model: str
    """Name of a judge of the service."""
    messages: list[Message]
    """The last message of the user is `Document: ...`, a new line, and `Claim: ...`."""
    logprobs: StrictBool | None = False
    stream: Literal[False] | None = False
    n: Literal[1] | None = 1


class ChatAnswer(BaseModel):
    """A chat completion; `content` is `Yes` or `No`, or empty with a `refusal` that says why."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]


@judged("/v1/chat/completions", ChatAnswer)
async def chat(service: Service, body: ChatRequest) -> Any:
    """Check a claim for clients of MiniCheck."""
    judge = service.judge(body.model)
    contents = [message.content for message in body.messages if message.role == "user"]
    found = _claim_of(_text_of(contents[-1]) if contents else "")
    if found is None:
        raise InputError(
            "the last user message must be 'Document: ...', a new line and 'Claim: ...'"
        )
    document, claim = found
    (result,) = await service.check(judge, FactSet.of([claim]), document)
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": judge.name,
        "choices": [_choice(result, logprobs=bool(body.logprobs))],
    }


def _claim_of(prompt: str) -> tuple[str, str] | None:
    """Return document and claim of a prompt in MiniCheck's form."""
    head, *claims = _CLAIM.split(prompt)
    document = head.lstrip()
    if not document.startswith("Document:") or len(claims) != 1 or not claims[0].strip():
        return None
    return document.removeprefix("Document:").strip(), claims[0].strip()


def _text_of(content: Any) -> str:
    """Return the text of a message, its parts one per line; empty if it has other parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts: list[Any] = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return "\n".join(texts) if all(isinstance(text, str) for text in texts) else ""


def _choice(result: CheckResult, *, logprobs: bool) -> dict[str, Any]:
    content, refusal, tokens = "", None, None
    if isinstance(result, CheckFailure):
        refusal = f"{result.code}: {result.message}"
    else:
        content = "Yes" if result.supported else "No"
        if logprobs and result.probability is not None:
            tokens = _tokens(content, result.probability)
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": "stop", "logprobs": tokens}


def _tokens(content: str, probability: float) -> dict[str, Any]:
    """Return the log probabilities of `Yes` and `No`, as OpenAI would."""
    tops: list[dict[str, Any]] = [
        {"token": text, "logprob": _logprob(p), "bytes": list(text.encode())}
        for text, p in (("Yes", probability), ("No", 1.0 - probability))
    ]
    (token,) = (one for one in tops if one["token"] == content)
    tops.sort(key=lambda one: -one["logprob"])
    return {"content": [{**token, "top_logprobs": tops}], "refusal": None}


def _logprob(probability: float) -> float:
    return max(math.log(probability), _LEAST_LOGPROB) if probability > 0 else _LEAST_LOGPROB
