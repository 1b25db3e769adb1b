"""Putting foreign text into a prompt so that it stays text.

A text is put between two tags that carry a number it cannot know. Facts get random ids for one
call, so that a text cannot name one. The number depends on the text and on a secret of this
process: it stays the same for the same text, which lets a provider reuse what it read before.
Where a request has to be rendered again later, byte for byte, ids come from a kept secret too.
"""

from __future__ import annotations

import hashlib
import random
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from factcheck.facts import AtomicFact

_SECRET = secrets.token_bytes(16)
_kept_secret: ContextVar[bytes | None] = ContextVar("factcheck_kept_secret", default=None)
_NUMBERED_TAG = re.compile(r"(</?\w+) \d{6}(?=>)")
_IDS = range(100, 1000)


def fence(tag: str, text: str) -> str:
    """`text` between `<tag NUMBER>` and `</tag NUMBER>`, each on a line of its own."""
    number = _number(text)
    return f"<{tag} {number}>\n{text}\n</{tag} {number}>"


def _number(text: str) -> str:
    keyed = hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), key=_kept_secret.get() or _SECRET, digest_size=8
    ).digest()
    return f"{int.from_bytes(keyed, 'big') % 10**6:06d}"


def without_numbers(prompt: str) -> str:
    """A prompt with the numbers of its fences removed, for comparing prompts."""
    return _NUMBERED_TAG.sub(r"\1", prompt)


def random_ids(facts: Sequence[AtomicFact]) -> dict[str, AtomicFact]:
    """The facts by ids that hold for one call: numbers of three digits, one token each."""
    if len(facts) > len(_IDS):
        raise ValueError(f"{len(facts)} facts in one call; there are {len(_IDS)} ids")
    numbers = _source_of_ids(facts).sample(_IDS, len(facts))
    return {str(number): fact for number, fact in zip(numbers, facts, strict=True)}


@contextmanager
def kept_secret(secret: bytes) -> Iterator[None]:
    """Render the same facts and texts in the same way whenever this secret is used."""
    token = _kept_secret.set(secret)
    try:
        yield
    finally:
        _kept_secret.reset(token)


def _source_of_ids(facts: Sequence[AtomicFact]) -> random.Random:
    secret = _kept_secret.get()
    if secret is None:
        return random.Random(secrets.token_bytes(16))  # noqa: S311 - one unknown seed a call
    return random.Random(secret + repr([fact.text for fact in facts]).encode())  # noqa: S311


def one_line(text: str) -> str:
    """`text` with every run of white space turned into one space."""
    return " ".join(text.split())
