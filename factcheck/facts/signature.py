"""The score signature, one readable line that says how a score was made, and digests of texts.

    facts:12|undecided:1|judge:openai%2Fgpt-x|check:check_facts%2Fv1@7841ba02|version:0.1.0

Values are percent-encoded, because model names hold `:` and `|`. The idea is sacreBLEU's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from factcheck.errors import InputError

_READABLE = "/@,()+ "
_COUNTS = {"facts", "undecided"}
"""Entries that count, and do not say how a score was made."""


@dataclass(frozen=True, slots=True)
class ScoreSignature:
    """Ordered names and values that shaped a score."""

    entries: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.entries]
        if len(set(names)) != len(names):
            raise InputError(f"a score signature names {sorted(names)} more than once")

    @classmethod
    def of(cls, entries: Mapping[str, str] | Iterable[tuple[str, str]]) -> ScoreSignature:
        """A signature from names and values, in their order."""
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        return cls(tuple((name, value) for name, value in pairs))

    def __str__(self) -> str:
        return "|".join(
            ":".join(quote(part, safe=_READABLE, errors="surrogatepass") for part in entry)
            for entry in self.entries
        )

    def __getitem__(self, name: str) -> str:
        return dict(self.entries)[name]

    @property
    def never_flips(self) -> bool:
        """Whether the judge always answers the same question alike: the embedded ones do."""
        return dict(self.entries).get("judge", "").startswith(("local", "containment"))

    def changes(self, other: ScoreSignature) -> dict[str, tuple[str, str]]:
        """The settings that differ in another signature, with both values; counts are no settings.

        The value of a setting that is missing is `default`.
        """
        old, new = (
            {name: value for name, value in one.entries if name not in _COUNTS}
            for one in (self, other)
        )
        return {
            name: (old.get(name, "default"), new.get(name, "default"))
            for name in {**old, **new}
            if old.get(name) != new.get(name)
        }

    @classmethod
    def parse(cls, line: str) -> ScoreSignature:
        """The inverse of `str`.

        Raises:
            InputError: An entry has no colon, a name appears twice, or the line was wrapped.
        """
        if any(character.isspace() and character != " " for character in line):
            raise InputError("score signature: it is one line without tabs; was it wrapped?")
        parts = line.split("|") if line else []
        for part in parts:
            if ":" not in part:
                raise InputError(f"score signature: {part!r} is not of the form name:value")
        pairs = (part.partition(":") for part in parts)
        return cls(tuple((_decode(name), _decode(value)) for name, _, value in pairs))


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes, as 64 hexadecimal digits.

    Lone surrogates are kept distinct rather than refused, so any `str` has a digest.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(text: str) -> str:
    """The first 8 hexadecimal digits of `digest`."""
    return digest(text)[:8]


def _decode(value: str) -> str:
    try:
        return unquote(value, errors="surrogatepass")
    except UnicodeDecodeError:
        raise InputError(f"score signature: {value!r} is not percent-encoded UTF-8") from None
