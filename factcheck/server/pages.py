"""Pages for people: texts to check in a browser, and the requests of the service explained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from factcheck.reports.html import document_html, script

_HEADERS = {
    "Content-Security-Policy": "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""What a page cannot say of itself; its own policy is in its head."""
_SAMPLES = {"source-example": "harbour.txt", "summary-example": "harbour_summary.txt"}
router = APIRouter(include_in_schema=False)


@router.get("/")
async def check(request: Request) -> HTMLResponse:
    """Return the page that checks texts."""
    room, state = files("factcheck.server"), request.app.state
    body = (room / "page.html").read_text("utf-8")
    if state.service.callers:
        body = body.replace('id="ask" hidden', 'id="ask"')
    if state.jobs is not None:
        body = body.replace('id="jobs" hidden', 'id="jobs"')
    for name, file in _SAMPLES.items():
        text = (files("factcheck") / "samples" / file).read_text("utf-8")
        body += f'<template id="{name}">{escape(text)}</template>\n'
    own = (room / "page.js").read_text("utf-8")
    html = document_html("factcheck", body, script(), own, policy="; connect-src 'self'")
    return HTMLResponse(html, headers=_HEADERS)


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Return the OpenAPI description as a page, which asks no other host for anything."""
    schema = request.app.openapi()
    body = "\n".join(
        _operation(schema, method, path, operation)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    )
    head = '<h1>factcheck</h1><p class="value words">Requests of the service</p>'
    about = '<p class="soft">As a file: <a href="openapi.json">openapi.json</a></p>'
    html = document_html(
        "Requests of the service", f'<main class="page">{head}{about}{body}</main>'
    )
    return HTMLResponse(html, headers=_HEADERS)


def _operation(
    schema: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]
) -> str:
    """Describe a request: what it does, its parameters, its body and an example."""
    first, _, rest = operation.get("description", "").partition("\n\n")
    parts = [f"<li>{escape(rest)}</li>"] if rest else []
    names = [_row(one["name"], one) for one in operation.get("parameters", ())]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        body = _resolved(schema, content["schema"])
        names += [_row(name, one) for name, one in body.get("properties", {}).items()]
        examples = [content["example"]] if "example" in content else body.get("examples", ())
        for one in examples:
            shown = one if isinstance(one, str) else json.dumps(one, indent=2, ensure_ascii=False)
            parts.append(f'<li>{escape(kind)}<pre class="text">{escape(shown)}</pre></li>')
    if names:
        parts.insert(bool(rest), f"<li>{''.join(names)}</li>")
    return (
        f'<details class="group plain"><summary><h2>{method.upper()} {escape(path)}</h2> '
        f'<span class="soft">{escape(first)}</span></summary><ol>{"".join(parts)}</ol></details>'
    )


def _row(name: str, described: Mapping[str, Any]) -> str:
    kinds = " or ".join(dict.fromkeys(_kinds(described.get("schema", described))))
    text = described.get("description", "")
    return f'<p><b>{escape(name)}</b> <span class="soft">{escape(kinds)}</span> {escape(text)}</p>'


def _kinds(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the types or the values that a schema allows."""
    for one in schema.get("anyOf", [schema]):
        if "$ref" in one:
            yield one["$ref"].rsplit("/", 1)[-1]
        elif "enum" in one:
            yield from map(json.dumps, one["enum"])
        else:
            yield str(one.get("type", "any"))


def _resolved(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of the schema, or the component that it names."""
    if "$ref" not in part:
        return part
    found: Mapping[str, Any] = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[-1]]
    return found
