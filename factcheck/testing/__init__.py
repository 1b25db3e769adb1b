"""Public test kit: scripted judges, and a local OpenAI-compatible server that fails on demand.

Standard library only, and no network but the loopback interface.
"""

from factcheck.testing.batches import BatchPlan
from factcheck.testing.fact_model import (
    FactModel,
    Mangle,
    bad_quote,
    duplicate,
    in_code_fence,
    in_prose,
    invent,
    label_by_words,
    leave_out,
    overwrite,
    sentences,
    swapped_ids,
    without_key,
)
from factcheck.testing.faults import (
    bad_request,
    dropped,
    every,
    garbage,
    hang,
    http_date,
    quota_exceeded,
    random_faults,
    rate_limited,
    refused,
    sequence,
    server_error,
    truncated,
    unauthorized,
)
from factcheck.testing.prompts import ParsedPrompt, parse_prompt
from factcheck.testing.replies import (
    ChatAnswer,
    ChatRequest,
    EmbeddingsAnswer,
    EmbeddingsRequest,
    Reply,
    Request,
    hashed_embeddings,
)
from factcheck.testing.scripted import CheckCall, ExtractCall, ScriptedChecker, ScriptedExtractor
from factcheck.testing.server import LocalOpenAIServer

__all__ = [
    "BatchPlan",
    "ChatAnswer",
    "ChatRequest",
    "CheckCall",
    "EmbeddingsAnswer",
    "EmbeddingsRequest",
    "ExtractCall",
    "FactModel",
    "LocalOpenAIServer",
    "Mangle",
    "ParsedPrompt",
    "Reply",
    "Request",
    "ScriptedChecker",
    "ScriptedExtractor",
    "bad_quote",
    "bad_request",
    "dropped",
    "duplicate",
    "every",
    "garbage",
    "hang",
    "hashed_embeddings",
    "http_date",
    "in_code_fence",
    "in_prose",
    "invent",
    "label_by_words",
    "leave_out",
    "overwrite",
    "parse_prompt",
    "quota_exceeded",
    "random_faults",
    "rate_limited",
    "refused",
    "sentences",
    "sequence",
    "server_error",
    "swapped_ids",
    "truncated",
    "unauthorized",
    "without_key",
]
