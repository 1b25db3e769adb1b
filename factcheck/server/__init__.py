"""HTTP service: the Python API as JSON over HTTP, with keys, limits, deadlines and metrics.

Needs the extra `server`.
"""

from __future__ import annotations

from factcheck.errors import ConfigError, how_to_install

__all__ = ["ApiKey", "ServerConfig", "create_app"]

try:
    from factcheck.server.access import ApiKey, ServerConfig
    from factcheck.server.app import create_app
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"fastapi", "starlette", "prometheus_client"}:
        raise
    raise ConfigError(
        f"the service needs {error.name}; install it: {how_to_install('server')}"
    ) from error
