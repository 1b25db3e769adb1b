"""Public test kit: scripted judges, and a local OpenAI-compatible server with fault injection.

It uses only the loopback interface; the server needs aiohttp, which DSPy depends on.
"""

from factcheck.testing.fact_model import (
    FactModel,
    duplicate,
    leave_out,
    overwrite,
    parse_prompt,
    same_words,
    sentences,
    without_key,
)
from factcheck.testing.replies import (
    ChatAnswer,
    ChatRequest,
    EmbeddingsAnswer,
    EmbeddingsRequest,
    Reply,
    Request,
    bad_request,
    dropped,
    garbage,
    hang,
    hashed_embeddings,
    quota_exceeded,
    rate_limited,
    refused,
    sequence,
    server_error,
    truncated,
    unauthorized,
)
from factcheck.testing.scripted import (
    ScriptedChecker,
    ScriptedEmbedder,
    ScriptedExtractor,
    ScriptedPairJudge,
)
from factcheck.testing.server import LocalOpenAIServer

__all__ = [
    "ChatAnswer", "ChatRequest", "EmbeddingsAnswer",
    "EmbeddingsRequest", "FactModel", "LocalOpenAIServer", "Reply", "Request", "ScriptedChecker",
    "ScriptedEmbedder", "ScriptedExtractor", "ScriptedPairJudge",
    "bad_request", "dropped", "duplicate", "garbage", "hang", "hashed_embeddings",
    "leave_out", "overwrite", "parse_prompt", "quota_exceeded", "rate_limited", "refused",
    "same_words", "sentences", "sequence", "server_error", "truncated", "unauthorized",
    "without_key",
]  # fmt: skip
