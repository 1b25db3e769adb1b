"""`factcheck serve`: the HTTP service in the foreground."""

from __future__ import annotations

import logging
import re
import signal
import socket
import sys
from contextlib import closing
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

from factcheck.cli import options, output
from factcheck.cli.options import flag, option
from factcheck.errors import ConfigError, InputError, located

if TYPE_CHECKING:
    from types import FrameType

    from factcheck.server import ApiKey

_NAMED = re.compile(r"(?P<name>[\w./:-]+)=(?P<judge>.+)")
_DRAIN_S = 20
"""Seconds for open requests to finish when the service is stopped."""


def serve(  # noqa: PLR0913 - one parameter per option
    *,
    judge: Annotated[
        list[str] | None,
        option(
            "NAME=JUDGE",
            "Judge that callers choose by NAME; repeatable, the first is the default.",
            show_default="$FACTCHECK_JUDGE or local",
        ),
    ] = None,
    host: Annotated[
        str, option("ADDRESS", "Address to listen on; all but loopback need --keys.")
    ] = "127.0.0.1",
    port: Annotated[
        int, option("N", "Port to listen on; 0 for a free one.", min=0, max=65_535)
    ] = 8000,
    keys: Annotated[
        str | None, option("FILE", "API keys (.yaml): a list of name, sha256 and optional limits.")
    ] = None,
    jobs_db: Annotated[str | None, option("FILE", "Accept jobs, and keep them in FILE.")] = None,
    no_ui: Annotated[
        bool, flag("--no-ui", "Serve no pages, neither at the address nor at /docs.")
    ] = False,
    concurrency: options.Concurrency = 32,
    rpm: options.RequestsPerMinute = None,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
) -> None:
    """Serve facts, checks, coverage, fields and jobs over HTTP, until stopped.

    Listens on this machine only, unless there are --keys. Callers choose
    among the judges named here; keys of providers stay with the service.
    """
    _run(
        host,
        port,
        judges=_judges(judge),
        budget=options.budget(max_calls, max_cost_usd),
        concurrency=concurrency,
        rpm=rpm,
        keys=() if keys is None else _read_keys(keys),
        jobs_path=jobs_db,
        ui=not no_ui,
    )


def demo(*, judge: options.Judges = None) -> None:
    """Open a page in the browser that checks an example, or your texts.

    Serves it on this machine only, on a free port, until stopped.
    """
    _run("127.0.0.1", 0, opens="/#demo", judges=_judges(judge))


def _run(host: str, port: int, *, opens: str = "", **options: Any) -> None:
    """Serve until stopped, and open a path in the browser, if any."""
    import webbrowser

    try:
        import uvicorn
    except ImportError as error:
        raise ConfigError.lacking("the service needs uvicorn", "server") from error
    from factcheck.server import ServerConfig, create_app

    config = ServerConfig(host=host, **options)
    with closing(_listen(host, port)) as listener:
        app = create_app(config)
        settings = uvicorn.Config(
            app,
            access_log=False,
            lifespan="on",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_DRAIN_S,
            ws="none",
        )

        class Server(uvicorn.Server):
            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                if app.state.jobs is not None:
                    app.state.jobs.pause()  # leaves the judges to the requests in flight
                super().handle_exit(sig, frame)

        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
        logging.getLogger("factcheck").setLevel(logging.INFO)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn restores and raises it
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}"
        output.print_note(f"Serving {', '.join(config.judges)} on {address}{opens}")
        if opens:  # a browser in the terminal would not return
            Thread(target=webbrowser.open, args=(f"{address}{opens}",), daemon=True).start()
        Server(settings).run(sockets=[listener])


def _judges(given: list[str] | None) -> dict[str, str]:
    if not given:
        from factcheck.settings import Settings

        given = [Settings.from_environment().judge]
    judges: dict[str, str] = {}
    for one in given:
        named = _NAMED.fullmatch(one)
        name, judge = named.groups() if named else (one, one)
        if name in judges:
            raise ConfigError(f"--judge: two judges have the name {name!r:.60}")
        judges[name] = judge
    return judges


def _read_keys(path: str) -> list[ApiKey]:
    from factcheck.documents import from_plain
    from factcheck.documents.reading import read_document
    from factcheck.facts.model import refuse_unknown_keys
    from factcheck.server import ApiKey

    document = read_document(path, expected="keys come from")
    if not isinstance(document.value, list):
        raise document.error((), "expected a list of keys, each with name and sha256")
    if not document.value:
        raise ConfigError(f"{path} names no keys; add one, or start without --keys")
    keys = []
    for place, entry in enumerate(document.value):
        with located(document.place((place,)), ConfigError):
            if isinstance(entry, dict):
                refuse_unknown_keys(entry, ApiKey.__slots__)
            keys.append(from_plain(ApiKey, entry, "key"))
    return keys


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        problem = error.strerror or error
        raise InputError(
            f"cannot listen on {host}, port {port}: {problem}; choose another with --port"
        ) from error
    # asyncio sets it only on sockets with an explicit protocol; without it, answers take 40 ms more
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
