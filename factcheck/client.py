"""Client of a service started by `factcheck serve`."""

from __future__ import annotations

import asyncio
import json
import math
import sys
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from factcheck.documents import json_text, to_plain
from factcheck.errors import (
    ConfigError,
    FactcheckError,
    InputError,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeUnavailable,
    error_kinds,
)
from factcheck.facts import (
    CheckFailure,
    CheckResult,
    CoverageReport,
    FactSet,
    Source,
    Verdict,
    as_source,
)
from factcheck.facts.report import Direction
from factcheck.judges.llm.errors import UNREADABLE, redacted, retry_after_s
from factcheck.judges.llm.http import close_in
from factcheck.judges.llm.providers import check_address
from factcheck.records import RecordLike
from factcheck.runtime.deadline import remaining_s, require_time
from factcheck.runtime.loop import PerProcess, background, blocking
from factcheck.runtime.retry import RetryPolicy
from factcheck.runtime.session import Closing
from factcheck.scoring import Facts
from factcheck.scoring.many import Outcome, outcomes, score_records
from factcheck.settings import require_number, require_text

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
_IN_FLIGHT = 16
"""Maximum number of records that `score_many` sends at the same time."""
_MOST_AGAIN = 4
"""Maximum number of repetitions of a request to a service that cannot be reached."""
_GRACE_S = 10.0
"""Seconds for an answer to arrive after its deadline."""


class Client(Closing):
    """Scores summaries with a judge of a service; has the methods of `FactCoverage`.

    Every method has a synchronous and an asynchronous form (`score`, `ascore`). Requests that the
    service turned away are repeated for `timeout_s` seconds, and up to four times if the service
    cannot be reached. Close the client, or use it as a context manager.

    Args:
        url: Address of the service, such as `"http://127.0.0.1:8000"`.
        key: API key; not needed for a service without keys.
        judge: Name of one of the judges of the service; `None` for its first.
        timeout_s: Seconds for an answer; facts that are undecided by then, or when a surrounding
            `factcheck.deadline` ends, have the code `deadline`. The service may allow less.

    Raises:
        ConfigError: The URL is not an HTTP address, or the key cannot be sent.
        InputError: The timeout is not greater than 0.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        judge: str | None = None,
        timeout_s: float = 120.0,
    ) -> None:
        if key is not None and not (key.strip().isascii() and key.strip().isprintable()):
            raise ConfigError("an API key has only visible ASCII characters")
        self.url = check_address("the address of the service", url).rstrip("/").removesuffix("/v1")
        self._judge = judge
        self._timeout_s = require_number("timeout_s", timeout_s, above=0)
        self._retry = RetryPolicy(stop_after_attempt=sys.maxsize, stop_after_delay=timeout_s)
        self._headers = {"Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key.strip()}"
        self._session = PerProcess(self._connect)

    async def aextract(self, source: Source) -> FactSet:
        """Extract the atomic facts of a source; see `FactCoverage.extract`."""
        return await self._post("facts", {"source": to_plain(as_source(source))}, FactSet.from_dict)

    extract = blocking(aextract)

    async def acheck(self, facts: Facts, text: str) -> tuple[CheckResult, ...]:
        """Check facts against a text; see `FactCoverage.check`."""
        require_text(text, "the text")
        body = {"facts": FactSet.of(facts).to_dict(), "text": text}
        return await self._post(
            "check", body, lambda answer: tuple(map(_result, answer["results"]))
        )

    check = blocking(acheck)

    async def ascore(
        self,
        source: Source,
        summary: str,
        *,
        facts: Facts | None = None,
        direction: Direction = "coverage",
        lead: bool = True,
    ) -> CoverageReport:
        """Score how much of a source a summary keeps; see `FactCoverage.score`."""
        require_text(summary, "the summary")
        body = {
            "source": to_plain(as_source(source)),
            "summary": summary,
            "facts": None if facts is None else FactSet.of(facts).to_dict(),
            "direction": direction,
            "lead": lead,
        }
        return await self._post("coverage", body, CoverageReport.from_dict)

    score = blocking(ascore)

    def score_many(
        self,
        records: Iterable[RecordLike],
        *,
        direction: Direction = "coverage",
        progress: bool = False,
    ) -> Generator[Outcome, None, None]:
        """Score many records lazily, in order, 16 at a time; see `FactCoverage.score_many`."""
        score = partial(self.ascore, direction=direction, lead=False)
        return outcomes(score_records(score, records, in_flight=_IN_FLIGHT), progress=progress)

    async def aclose(self) -> None:
        """Close the connections; the next use reopens them."""
        session = self._session.take()
        if session is not None:
            await background.hop(session.close())

    def close(self) -> None:
        background.run(self.aclose())

    async def _post(self, path: str, body: Any, read: Callable[[Any], T]) -> T:
        data = json_text({**body, "judge": self._judge}).encode()
        require_time()
        seconds = min(self._timeout_s, remaining_s() or math.inf)
        headers = {**self._headers, "Factcheck-Deadline-Ms": str(math.ceil(1_000 * seconds))}
        again = iter(range(_MOST_AGAIN))
        send = partial(self._send, f"{self.url}/v1/{path}", data, headers, again)
        answer: Any = await background.hop(self._retry.attempts()(send))
        if isinstance(answer, FactcheckError):
            raise answer
        try:
            return read(answer)
        except (InputError, KeyError, TypeError, AttributeError) as error:
            raise JudgeOutputError(f"{self.url} does not answer like factcheck: {error}") from error

    async def _send(
        self, url: str, data: bytes, headers: Mapping[str, str], again: Iterator[int]
    ) -> Any:
        """Return the answer, or the error that is final; raise one that may pass.

        One that cannot be reached is final when `again` has ended.
        """
        import aiohttp

        try:
            async with self._session().post(
                url, data=data, headers=headers, allow_redirects=False
            ) as response:
                text, status = await response.read(), response.status
        except asyncio.TimeoutError:
            return JudgeUnavailable(f"{url}: no answer within {self._timeout_s:g} seconds")
        except (aiohttp.ClientError, OSError) as error:
            unreachable = JudgeUnavailable(f"{url}: cannot be reached ({redacted(error)})")
            if next(again, None) is None:
                return unreachable
            raise unreachable from error
        try:
            answer = json.loads(text)
        except UNREADABLE:
            answer = None
        if status == HTTPStatus.OK:
            return answer
        problem = answer if isinstance(answer, dict) else {}
        has_failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        hint = "" if has_failed else "; no 'factcheck serve' is there"
        message = str(problem.get("detail") or f"{url} answers HTTP {status}{hint}")
        is_limited = status == HTTPStatus.TOO_MANY_REQUESTS  # perhaps by a gateway in between
        code = str(problem.get("code") or ("rate" if is_limited else ""))
        refusal = _KINDS.get(code, JudgeUnavailable if has_failed else ConfigError)(message)
        if code in _TURNED_AWAY and isinstance(refusal, (JudgeRateLimited, JudgeUnavailable)):
            refusal.retry_after_s = retry_after_s(response.headers)
            raise refusal
        return refusal

    def _connect(self) -> aiohttp.ClientSession:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=self._timeout_s + _GRACE_S)
        session = aiohttp.ClientSession(timeout=timeout)
        weakref.finalize(self, close_in, asyncio.get_running_loop(), session)
        return session


_TURNED_AWAY = frozenset({"rate", "busy"})
"""Codes of requests that were not begun."""
_KINDS = {
    **error_kinds(),
    "rate": JudgeRateLimited,
    "timeout": JudgeUnavailable,
    "too_large": InputError,
}
"""Errors by the codes of problems."""


def _result(data: Mapping[str, Any]) -> CheckResult:
    return (Verdict if "label" in data else CheckFailure).from_dict(data)
