"""OpenTelemetry spans around requests, where that package is installed; nothing where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def span(name: str, **attributes: str | float) -> Iterator[Any]:
    """A span around a `with` block; gives it, or `None` without OpenTelemetry.

    Args:
        name: What is done.
        attributes: Names after the conventions for generative AI, with `_` for `.` at the first
            two places: `gen_ai_request_model` is `gen_ai.request.model`. Never texts or keys.
    """
    tracer = _tracer()
    if tracer is None:
        yield None
        return
    named = {_dotted(key): value for key, value in attributes.items()}
    with tracer.start_as_current_span(name, attributes=named) as current:
        yield current


def note(current: Any, **attributes: str | float) -> None:
    """Add attributes to a span from `span`; nothing where that was `None`."""
    if current is not None:
        current.set_attributes({_dotted(key): value for key, value in attributes.items()})


def _dotted(name: str) -> str:
    prefix, group, rest = name.removeprefix("gen_ai_").partition("_")
    return f"gen_ai.{prefix}.{rest}" if group else f"gen_ai.{prefix}"


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("factcheck")
