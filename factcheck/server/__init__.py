"""HTTP service: the Python API as JSON over HTTP, with keys, limits, deadlines and metrics.

Needs the extra `server`.
"""

from __future__ import annotations

from factcheck.errors import ConfigError

__all__ = ["ApiKey", "ServerConfig", "create_app"]

try:
    from factcheck.server.access import ApiKey, ServerConfig
    from factcheck.server.app import create_app
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"fastapi", "starlette", "prometheus_client"}:
        raise
    raise ConfigError.lacking(f"the service needs {error.name}", "server") from error
