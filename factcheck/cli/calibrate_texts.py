"""A source and a summary of the user's own, for commands that else take the bundled texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factcheck.errors import InputError
from factcheck.files import read_facts, read_text, refuse_stdin_twice


@dataclass(frozen=True)
class OwnText:
    """Files, or `-` for standard input."""

    source: str | None
    summary: str | None
    facts: str | None


def own_texts(asked: OwnText) -> list[dict[str, Any]] | None:
    """The text as a record; `None` where none is named.

    Raises:
        InputError: Only a part of it is named, or a file cannot be read.
    """
    if (asked.source is None) != (asked.summary is None):
        raise InputError("--source and --summary belong together; give both, or neither")
    if asked.source is None or asked.summary is None:
        if asked.facts is not None:
            raise InputError("--facts belongs to --source and --summary; give these, too")
        return None
    refuse_stdin_twice(asked.source, asked.summary, asked.facts)
    text = {
        "id": "summary" if asked.summary == "-" else Path(asked.summary).stem,
        "source": read_text(asked.source),
        "summary": read_text(asked.summary),
    }
    return [text if asked.facts is None else {**text, "facts": read_facts(asked.facts)}]
