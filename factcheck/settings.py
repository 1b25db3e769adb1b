"""Settings. The environment is read here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

LOCAL = "local"
"""Name of the embedded judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says."""

    judge: str = LOCAL
    """`FACTCHECK_JUDGE`: who checks, where the caller does not say."""
    extractor: str | None = None
    """`FACTCHECK_EXTRACTOR`: who extracts, where the caller does not say; `None`: as the judge."""
    openai_api_key: str | None = field(default=None, repr=False)
    """`OPENAI_API_KEY`."""
    openai_base_url: str | None = None
    """`OPENAI_BASE_URL`: any OpenAI-compatible server."""
    cache: str | None = field(default=None, repr=False)
    """`FACTCHECK_CACHE`: `off`, or the URL of a Redis server; `None`: answers are kept on disk."""
    cache_dir: str | None = None
    """`FACTCHECK_CACHE_DIR`: where; `None`: the user's cache folder of the platform."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings; empty variables count as unset."""
        return cls(
            judge=environment.get("FACTCHECK_JUDGE") or LOCAL,
            extractor=environment.get("FACTCHECK_EXTRACTOR") or None,
            openai_api_key=environment.get("OPENAI_API_KEY") or None,
            openai_base_url=environment.get("OPENAI_BASE_URL") or None,
            cache=environment.get("FACTCHECK_CACHE") or None,
            cache_dir=environment.get("FACTCHECK_CACHE_DIR") or None,
        )
