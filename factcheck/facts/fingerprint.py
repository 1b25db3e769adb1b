"""Digests that say whether two things are the same text."""

from __future__ import annotations

import hashlib


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes, as 64 hexadecimal digits.

    Lone surrogates are kept distinct rather than refused, so any `str` has a digest.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(text: str) -> str:
    """The first 8 hexadecimal digits of `digest`, for names that people read."""
    return digest(text)[:8]
