"""Public test kit: scripted judges, and a local OpenAI-compatible server with a model by rules.

It uses only the loopback interface; the server needs aiohttp, which DSPy depends on.
"""

from factcheck.testing.fakes import (
    FactModel,
    ScriptedChecker,
    ScriptedExtractor,
    ScriptedPairJudge,
    parse_prompt,
)
from factcheck.testing.server import ChatAnswer, LocalOpenAIServer, Reply, Request

__all__ = [
    "ChatAnswer", "FactModel", "LocalOpenAIServer", "Reply", "Request",
    "ScriptedChecker", "ScriptedExtractor", "ScriptedPairJudge", "parse_prompt",
]  # fmt: skip
