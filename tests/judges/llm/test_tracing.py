"""Spans say what was asked and what it cost, and never what was in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from factcheck import FactCoverage
from factcheck.judges.llm import engine
from factcheck.testing import FactModel, LocalOpenAIServer, sequence, server_error

TEXT = "The secret recipe has saffron."


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    engine._tracer.cache_clear()
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    engine._tracer.cache_clear()


def test_each_question_is_one_span_with_model_and_tokens(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalOpenAIServer(sequence(server_error(), then=FactModel())) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage("openai/tiny", cache="off") as scorer:
            scorer.score(TEXT, TEXT)
    extracting, checking = spans.get_finished_spans()
    assert (extracting.name, checking.name) == ("extract openai/tiny", "check openai/tiny")
    assert checking.attributes is not None
    assert checking.attributes["gen_ai.request.model"] == "openai/tiny"
    assert checking.attributes["gen_ai.usage.input_tokens"]
    assert "saffron" not in repr(
        [(span.name, dict(span.attributes or {})) for span in (extracting, checking)]
    )


def test_without_the_package_requests_go_out_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_tracer", lambda: None)
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage("openai/tiny", cache="off") as scorer:
            assert scorer.score(TEXT, TEXT).score == 1.0


def test_neither_keys_nor_texts_are_logged_above_debug_level(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with LocalOpenAIServer(sequence(server_error(), "nonsense", then=FactModel())) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-private")
        with FactCoverage("openai/tiny", cache="off") as scorer:
            scorer.score(TEXT, TEXT)
    assert "sk-very-private" not in caplog.text
    assert "saffron" not in caplog.text
