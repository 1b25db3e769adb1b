"""The application: routes, headers, health and metrics."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.exceptions import HTTPException

import factcheck
from factcheck.documents import parse_json, plain_document, to_plain
from factcheck.errors import FactcheckError, InputError
from factcheck.facts import CheckFailure, CheckResult, FactSet, Verdict
from factcheck.judges.ports import ValuePair
from factcheck.keywords import match_cards
from factcheck.records.facts import facts_of
from factcheck.references import ReferenceMatch
from factcheck.server import jobs, models
from factcheck.server.access import Gate, ServerConfig, require_bounded
from factcheck.server.problems import RESPONSES, Problem, answer_problem
from factcheck.server.service import Options, Service


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            data = parse_json(await self.body(), "the body").value
        except InputError as error:
            raise Problem(400, InputError.code, str(error)) from None
        try:
            require_bounded(data, self.app.state.service.config)
        except InputError as error:
            raise Problem(422, InputError.code, str(error)) from None
        return data


_JSON = "application/json"


class StrictRoute(APIRoute):
    """A route whose body is strict JSON within the limits of the service."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Any:
            given = request.headers.get("content-type", "")
            if self.body_field is not None and given.partition(";")[0].strip().lower() != _JSON:
                detail = f"the body must be JSON; send it with 'Content-Type: {_JSON}'"
                raise Problem(415, "unsupported_media_type", detail)
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Shared = Annotated[Service, Depends(_service)]


async def _options(
    service: Shared,
    factcheck_deadline_ms: Annotated[
        int | None,
        Header(
            ge=1,
            le=10**12,
            description="Milliseconds after which undecided facts are returned as such.",
        ),
    ] = None,
    idempotency_key: jobs.IdempotencyKey = None,
) -> Options:
    most = service.config.max_deadline_s
    ms = factcheck_deadline_ms
    return Options(most if ms is None else min(most, ms / 1_000), idempotency_key)


Asked = Annotated[Options, Depends(_options)]
router = APIRouter(
    route_class=StrictRoute,
    responses=RESPONSES,
    dependencies=[Depends(HTTPBearer(auto_error=False))],
)


def _facts(given: Any) -> FactSet:
    if isinstance(given, models.Facts):
        data: Any = given.model_dump(exclude_none=True)
    else:
        data = [f if isinstance(f, str) else f.model_dump(exclude_none=True) for f in given]
    if not (facts := facts_of(plain_document(data, "facts"))):
        raise InputError("the list of facts is empty; there is nothing to check")
    return facts


def _source(given: Any) -> Any:
    if isinstance(given, str):
        return given
    return [one if isinstance(one, str) else one.model_dump() for one in given]


@router.post("/v1/facts", response_model=models.FactsAnswer)
async def extract(
    request: Request, body: models.FactsRequest, service: Shared, options: Asked
) -> Response:
    """Extract the atomic facts of a source."""
    scorer, source = service.judge(body.judge).scorer, _source(body.source)

    async def work() -> Any:
        return (await scorer.aextract(source)).to_dict()

    return await service.answer(request, options, work)


@router.post("/v1/check", response_model=models.CheckAnswer)
async def check(
    request: Request, body: models.CheckRequest, service: Shared, options: Asked
) -> Response:
    """Check facts against a text."""
    judge, facts = service.judge(body.judge), _facts(body.facts)

    async def work() -> Any:
        return {"results": to_plain(await service.check(judge, facts, body.text))}

    return await service.answer(request, options, work)


@router.post("/v1/coverage", response_model=models.CoverageAnswer)
async def coverage(
    request: Request, body: models.CoverageRequest, service: Shared, options: Asked
) -> Response:
    """Score how much of a source a summary keeps."""
    judge, source = service.judge(body.judge), _source(body.source)
    facts = None if body.facts is None else _facts(body.facts)

    async def work() -> Any:
        report = await judge.scorer.ascore(
            source, body.summary, facts=facts, direction=body.direction, lead=body.lead
        )
        service.meters.count(judge.name, (*report.results, *report.claim_results))
        return report.to_dict()

    return await service.answer(request, options, work)


@router.post("/v1/fields", response_model=models.FieldsAnswer)
async def fields(
    request: Request, body: models.FieldsRequest, service: Shared, options: Asked
) -> Response:
    """Score extracted records against gold records, field by field."""
    judge = service.judge(body.judge)
    return await service.answer(request, options, lambda: service.score_fields(body, judge))


@router.post("/v1/equivalence", response_model=models.EquivalenceAnswer)
async def equivalence(
    request: Request, body: models.EquivalenceRequest, service: Shared, options: Asked
) -> Response:
    """Compare pairs of values by meaning."""
    judge = service.judge(body.judge)
    pairs = [ValuePair(**pair.model_dump()) for pair in body.pairs]

    async def work() -> Any:
        return {"results": await service.compare(judge, pairs)}

    return await service.answer(request, options, work)


@router.post("/v1/references", response_model=models.ReferencesAnswer)
async def references(
    request: Request, body: models.ReferencesRequest, service: Shared, options: Asked
) -> Response:
    """Compare an output with references by their words; no judge is asked."""
    match = ReferenceMatch(
        body.references, body.aggregation, body.threshold, session=service.session
    )

    async def work() -> Any:
        return (await match.amatch(body.actual_output)).to_dict()

    return await service.answer(request, options, work)


@router.post("/v1/keywords", response_model=models.KeywordsAnswer)
async def keywords(
    request: Request, body: models.KeywordsRequest, service: Shared, options: Asked
) -> Response:
    """Match generated cards with expected ones by keywords; no judge is asked."""
    if any(_has_regex(list(card.values())) for card in body.expected):
        raise InputError("keywords of the form 'regex' are not accepted by a service")

    async def work() -> Any:
        result = await asyncio.to_thread(
            match_cards,
            body.expected,
            body.generated,
            body.threshold,
            weights=body.weights,
            type_weight=body.type_weight,
            assignment=body.assignment,
        )
        return result.to_dict()

    return await service.answer(request, options, work)


def _has_regex(value: Any) -> bool:
    """Whether a keyword is a regular expression, which may take exponential time."""
    if isinstance(value, dict):
        return "regex" in value or _has_regex(list(value.values()))
    return isinstance(value, list) and any(map(_has_regex, value))


_QUESTION = re.compile(r"\s*Document:(?P<document>.*)\nClaim:(?P<claim>.*)", re.DOTALL)
_CLAIM = "\nClaim:"
_LEAST_LOGPROB = -9999.0
"""Log probability of a token with probability 0, as OpenAI reports it."""


@router.post("/v1/chat/completions", response_model=models.ChatAnswer)
async def chat(
    request: Request, body: models.ChatRequest, service: Shared, options: Asked
) -> Response:
    """Check a claim against a document in the form of MiniCheck, for clients that know it."""
    judge = service.judge(body.model)
    prompts = [message.text for message in body.messages if message.role == "user"]
    prompt = prompts[-1] if prompts else ""
    question = _QUESTION.fullmatch(prompt)
    if question is None or prompt.count(_CLAIM) != 1 or not question["claim"].strip():
        raise InputError(
            "the last user message must be 'Document: ...', a new line and 'Claim: ...', once each"
        )
    facts = FactSet.of([question["claim"].strip()])

    async def work() -> Any:
        (result,) = await service.check(judge, facts, question["document"].strip())
        return _completion(judge.name, result, logprobs=bool(body.logprobs))

    return await service.answer(request, options, work)


def _completion(name: str, result: CheckResult, *, logprobs: bool) -> dict[str, Any]:
    """Make a chat completion; an undecided claim is a refusal, neither `Yes` nor `No`."""
    message: dict[str, Any] = {"role": "assistant", "content": "", "refusal": None}
    tokens = None
    if isinstance(result, CheckFailure):
        message["refusal"] = f"{result.code}: {result.message}"
    else:
        message["content"] = "Yes" if result.supported else "No"
        if logprobs and result.probability is not None:
            tokens = {"content": [_token(result, result.probability)], "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": tokens}
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [choice],
    }


def _token(verdict: Verdict, probability: float) -> dict[str, Any]:
    """Describe the single token of an answer with the probabilities of both answers."""
    both = [
        {"token": text, "logprob": _logprob(p), "bytes": list(text.encode())}
        for text, p in (("Yes", probability), ("No", 1.0 - probability))
    ]
    both = both if verdict.supported else both[::-1]
    return {**both[0], "top_logprobs": sorted(both, key=lambda token: -float(token["logprob"]))}


def _logprob(probability: float) -> float:
    return max(math.log(probability), _LEAST_LOGPROB) if probability > 0 else _LEAST_LOGPROB


open_router = APIRouter()


@open_router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answer while the process runs."""
    return {"status": "ok"}


@open_router.get("/readyz", responses={503: RESPONSES[503]})
async def readyz(request: Request, service: Shared) -> dict[str, str]:
    """Answer whether requests are served; `detail` says why jobs are not, if so."""
    queue: jobs.Jobs | None = request.app.state.jobs
    if not service.is_ready:
        raise Problem(503, "busy", "the service is starting or stopping")
    if queue is not None and queue.problem:
        return {"status": "degraded", "detail": queue.problem}
    return {"status": "ready"}


@router.get("/metrics", response_class=Response)
async def metrics(service: Shared) -> Response:
    """Return requests, latencies, verdicts, usage and open jobs in the format of Prometheus."""
    text = await asyncio.to_thread(generate_latest, service.meters.registry)
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


def create_app(config: ServerConfig) -> FastAPI:
    """Create the application; the caller serves it on `config.host`.

    Raises:
        ConfigError: A judge is unknown, its key is missing, the cache is invalid, or the file of
            the jobs cannot be used.
    """
    service = Service(config)
    queue = jobs.Jobs(service) if config.jobs_path is not None else None
    service.meters.jobs_open.set_function(lambda: queue.store.n_open if queue is not None else 0)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        if queue is not None:
            queue.start()
        try:
            yield
        finally:
            if queue is not None:
                await queue.stop()
            await service.stop()

    app = FastAPI(
        title="factcheck",
        version=factcheck.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would name the host that the caller claims
    )
    app.state.service = service
    app.state.jobs = queue
    for part in (router, jobs.router, open_router):
        app.include_router(part)
    for kind in (HTTPException, RequestValidationError, FactcheckError):
        app.add_exception_handler(kind, answer_problem)
    app.add_middleware(Gate, config=config, callers=service.callers, observe=service.meters.observe)
    return app
