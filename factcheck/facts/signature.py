"""Score signature, one readable line that identifies how a score was produced; text digests.

    facts:12|undecided:1|judge:openai%2Fgpt-x|check:check_facts%2Fv1@7841ba02|version:0.1.0

Values are percent-encoded, because model names may contain `:` and `|`. Modelled on sacreBLEU's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from factcheck.errors import InputError

_READABLE = "/@,()+ "
_COUNTS = {"facts", "undecided"}
"""Entries that are counts rather than settings."""


@dataclass(frozen=True, slots=True)
class ScoreSignature:
    """Ordered names and values of the settings behind a score."""

    entries: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.entries]
        if len(set(names)) != len(names):
            raise InputError(f"a score signature names {sorted(names)} more than once")

    @classmethod
    def of(cls, entries: Mapping[str, str] | Iterable[tuple[str, str]]) -> ScoreSignature:
        """Make a signature from names and values, in order."""
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        return cls(tuple((name, value) for name, value in pairs))

    def __str__(self) -> str:
        return "|".join(
            ":".join(quote(part, safe=_READABLE, errors="surrogatepass") for part in entry)
            for entry in self.entries
        )

    def as_plain(self) -> str:
        return str(self)

    def __getitem__(self, name: str) -> str:
        return dict(self.entries)[name]

    @property
    def never_flips(self) -> bool:
        """Whether the judge is deterministic, as the embedded ones are."""
        return dict(self.entries).get("judge", "").startswith(("local", "containment"))

    def changes(self, other: ScoreSignature) -> dict[str, tuple[str, str]]:
        """Settings that differ in another signature, with both values; counts are ignored.

        A missing setting has the value `default`.
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
        """Inverse of `str`.

        Raises:
            InputError: An entry without a colon, a duplicate name, or a wrapped line.
        """
        if any(character.isspace() and character != " " for character in line):
            raise InputError("score signature: it is one line without tabs; was it wrapped?")
        entries = []
        for part in line.split("|") if line else []:
            name, colon, value = part.partition(":")
            if not colon:
                raise InputError(f"score signature: {part!r} is not of the form name:value")
            entries.append((_decode(name), _decode(value)))
        return cls(tuple(entries))


def digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes as 64 hexadecimal digits.

    Any `str` has a digest: lone surrogates are encoded, not rejected.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(text: str) -> str:
    """Return the first 8 hexadecimal digits of `digest`."""
    return digest(text)[:8]


def _decode(value: str) -> str:
    try:
        return unquote(value, errors="surrogatepass")
    except UnicodeDecodeError:
        raise InputError(f"score signature: {value!r} is not percent-encoded UTF-8") from None
