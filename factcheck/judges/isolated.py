"""A judge of the caller's own, kept from blocking the event loop that everybody shares."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from factcheck.judges.ports import Ledger
from factcheck.runtime.loop import BackgroundLoop, background


class Isolated:
    """Fulfils every port that the judge inside fulfils.

    Its methods may block. Called from the shared loop they run in a loop of their own; called from
    any other loop they run there, since the judge may hold connections that belong to it.
    """

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        self._loop = BackgroundLoop("factcheck-judge")
        weakref.finalize(self, self._loop.stop)

    @property
    def identity(self) -> Mapping[str, str]:
        identity: Mapping[str, str] = self._judge.identity
        return identity

    async def extract(self, source: str, ledger: Ledger) -> Any:
        return await self._call("extract", source, ledger)

    async def check(self, facts: Sequence[Any], text: str, ledger: Ledger) -> Any:
        return await self._call("check", facts, text, ledger)

    async def compare(self, pairs: Sequence[Any], ledger: Ledger) -> Any:
        return await self._call("compare", pairs, ledger)

    async def rate(self, source: str, summary: str, ledger: Ledger) -> Any:
        return await self._call("rate", source, summary, ledger)

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Any:
        return await self._call("embed", texts, ledger)

    async def _call(self, method: str, *arguments: Any) -> Any:
        async def work() -> Any:
            return await getattr(self._judge, method)(*arguments)

        return await (self._loop.hop(work()) if background.is_current else work())

    async def aclose(self) -> None:
        """End the loop; the next call starts another one."""
        self._loop.stop()
