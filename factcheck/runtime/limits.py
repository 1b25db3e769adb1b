"""Limits of a run: turns of its rate and parts of its budget, in this process or in Redis for all.

Both kinds are used in the background loop and are not thread-safe.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from factcheck.errors import ConfigError, JudgeUnavailable
from factcheck.runtime.cache.redis import PREFIX, RedisCache
from factcheck.runtime.loop import PerProcess

Amounts = Mapping[str, float]
"""Parts of a budget, by name of the cap."""
HOLD_S = 180
"""Seconds for which others wait for what a request may leave of the budget."""
_KEPT_S = 30 * 86_400
"""Seconds for which the spending of a run is kept after its last request."""
_SETTLED_S = 3_600
"""Seconds within which a cost that is settled again counts once."""
_POLL_S = 0.2
"""Seconds until requests of other processes may have cost less than they had reserved."""
_JUMP_S = 86_400
"""Seconds until a turn that only a jump of the server's clock explains."""
_TURN = """
local time = redis.call('TIME')
local now, next_at = time[1] + time[2] / 1e6, tonumber(redis.call('GET', KEYS[1]) or 0)
if next_at > now + ARGV[2] then next_at = 0 end
local turn = math.max(now, next_at)
redis.call('SET', KEYS[1], string.format('%.6f', turn + ARGV[1]), 'EX', ARGV[2])
return string.format('%.6f', turn - now)
"""
_RESERVE = """
local now, mine = tonumber(redis.call('TIME')[1]), cjson.decode(ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
local holds = redis.call('ZRANGE', KEYS[2], 0, -1)
local none_ends = redis.call('ZCOUNT', KEYS[2], now, '+inf') == 0
local refused, is_final, known, all_spent = '', 0, cjson.decode(ARGV[3]), {}
for name, cap in pairs(cjson.decode(ARGV[2])) do
  local spent = math.max(tonumber(redis.call('HGET', KEYS[1], name) or 0), known[name] or 0)
  redis.call('HSET', KEYS[1], name, spent)
  local held = 0
  all_spent[name] = spent
  for _, hold in ipairs(holds) do held = held + (cjson.decode(hold)[name] or 0) end
  if spent + held + mine[name] > cap then
    refused = name
    if none_ends or spent + mine[name] > cap then is_final = 1 end
  end
end
if refused == '' then redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[1]) end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[5]) end
return {refused, is_final, cjson.encode(all_spent)}
"""
_SETTLE = """
redis.call('ZREM', KEYS[2], ARGV[1])
local is_new, known = redis.call('SET', KEYS[3], 1, 'NX', 'EX', ARGV[4]), cjson.decode(ARGV[3])
local all_spent = {}
for name, amount in pairs(cjson.decode(ARGV[2])) do
  local spent = math.max(tonumber(redis.call('HGET', KEYS[1], name) or 0), known[name] or 0)
  all_spent[name] = spent + (is_new and amount or 0)
  redis.call('HSET', KEYS[1], name, all_spent[name])
end
return cjson.encode(all_spent)
"""


class LocalLimits:
    """The rate of one connection, or one budget, in one process."""

    def __init__(self) -> None:
        self._next_at = 0.0
        """When the next request may be sent."""
        self._spent: Counter[str] = Counter()
        self._reserved: PerProcess[list[Amounts]] = PerProcess(list)
        self._changed = PerProcess(asyncio.Event)

    async def turn(self, _model: str, share_s: float) -> float:
        """Take the next turn, of the model if it is shared, and return the seconds until then.

        `share_s` are the seconds from this turn to the next.
        """
        now = time.monotonic()
        turn = max(now, self._next_at)
        self._next_at = turn + share_s
        return turn - now

    async def reserve(self, needed: Amounts, caps: Amounts) -> tuple[Amounts, str]:
        """Reserve a part of the budget once others leave enough of it.

        Returns the reservation, and the name of a cap that does not allow it, or `""`.
        """
        reserved = self._reserved()
        while cap := self._exceeded_cap(caps, [needed, *reserved]):
            if not reserved or cap == self._exceeded_cap(caps, [needed]):
                return needed, cap
            await self._changed().wait()
        reserved.append(needed)
        return needed, ""

    def _exceeded_cap(self, caps: Amounts, requests: Iterable[Amounts]) -> str:
        """Return the name of a cap that these requests could exceed, or `""`."""
        needed = self._spent.copy()
        for request in requests:
            needed.update(request)
        return next((name for name, cap in caps.items() if needed[name] > cap), "")

    async def settle(self, hold: Amounts, actual: Amounts) -> None:
        """Replace a reservation by the actual cost."""
        self._reserved().remove(hold)
        self._spent.update(actual)
        if waited_for := self._changed.take():
            waited_for.set()


class SharedLimits:
    """Limits of all processes of a run, in the Redis server of their cache; else as `LocalLimits`.

    While the server does not answer, nothing is sent: every call raises `JudgeUnavailable`. If it
    loses its data, it learns from the processes what had been spent. Any other cache is a
    `ConfigError`.
    """

    def __init__(self, cache: object, run: str) -> None:
        if not isinstance(cache, RedisCache):
            raise ConfigError(f"the run {run!r:.60} needs a cache in Redis; give a redis:// URL")
        self._cache = cache
        self._run = f"{PREFIX}run {run} "
        self._budget = [f"{self._run}spent", f"{self._run}holds"]
        self._spent: Counter[str] = Counter()
        """What the run had spent at the last answers, by cap."""
        self._unsettled: list[tuple[str, Amounts]] = []

    async def turn(self, model: str, share_s: float) -> float:
        keys = [f"{self._run}turn {model}"]
        return float(await self._answer(_TURN, keys, share_s, _JUMP_S))

    async def reserve(self, needed: Amounts, caps: Amounts) -> tuple[str, str]:
        hold = json.dumps({**needed, "id": uuid4().hex})
        while True:
            await self._settle_all()
            arguments = hold, json.dumps(caps), json.dumps(self._spent), HOLD_S, _KEPT_S
            refused, is_final, spent = await self._answer(_RESERVE, self._budget, *arguments)
            self._spent |= Counter(json.loads(spent))
            if is_final or not refused:
                return hold, refused.decode()
            await asyncio.sleep(_POLL_S)

    async def settle(self, hold: str, actual: Amounts) -> None:
        """Replace a reservation now, or once the server answers."""
        self._unsettled.append((hold, actual))
        with suppress(JudgeUnavailable):
            await self._settle_all()

    async def _settle_all(self) -> None:
        while self._unsettled:
            hold, actual = one = self._unsettled.pop()
            keys = [*self._budget, f"{self._run}settled {json.loads(hold)['id']}"]
            arguments = hold, json.dumps(actual), json.dumps(self._spent), _SETTLED_S
            try:
                spent = await self._answer(_SETTLE, keys, *arguments)
            except JudgeUnavailable:
                self._unsettled.append(one)
                raise
            self._spent |= Counter(json.loads(spent))

    async def _answer(self, script: str, keys: Sequence[str], *arguments: object) -> Any:
        found = await asyncio.to_thread(self._cache.evaluate, script, keys, *arguments)
        if found is None:
            raise JudgeUnavailable(
                "the limits of the run are in Redis, which does not answer; run again once it "
                "does: responses so far are in the cache",
                retry_after_s=self._cache.pause_s,
            )
        return found


Limits = LocalLimits | SharedLimits
