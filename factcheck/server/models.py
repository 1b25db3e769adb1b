"""Requests and answers of the service, for validation and for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from factcheck.facts import CheckFailure, Verdict


class Body(BaseModel):
    """Base of requests: unknown keys are errors, and values are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Judged(Body):
    """Base of requests to a judge."""

    judge: str | None = Field(None, examples=["local"])
    """Name of a judge of the service; its first one by default."""


class FactModel(Body):
    """A fact; only `text` is required."""

    id: str | None = None
    text: str
    span: list[int] | None = None
    weight: float = 1.0
    must: bool = False
    tags: list[str] = []
    documents: list[str] = []


class CheckRequest(Judged):
    """Facts to check against a text."""

    facts: list[str | FactModel] | dict[str, Any]
    """Statements, facts, or the answer of `/v1/facts`."""
    text: str
    """Text to check the facts against."""


class CheckAnswer(BaseModel):
    """Results of a check."""

    results: list[Verdict | CheckFailure]
    """One verdict or failure per fact, in fact order."""
