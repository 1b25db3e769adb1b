"""The `factcheck` command: registers subcommands and maps errors to exit codes.

Exit codes: 0 success, 1 gate failed, 2 invalid input, 3 configuration error, 4 judge unreachable or
nothing decided, 70 bug in this program, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer

from factcheck.cli import cache, calibrate, fields, keywords, run, score, serve
from factcheck.cli.options import flag
from factcheck.cli.output import discard_stdout, print_error
from factcheck.errors import FactcheckError, InputError

INTERRUPTED = 130
BUG = 70
DEBUG = "--debug"
_STYLE: dict[str, Any] = {"rich_markup_mode": "rich"}

app = typer.Typer(
    name="factcheck",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_STYLE,
)
_FAMILIES = {
    "fields": "Evaluate structured extraction, field by field.",
    "keywords": "Evaluate cards and behaviors by keywords: fast, free, without a model.",
    "calibrate": "Measure judges: bullet removal, audit, agreement.",
    "cache": "Show or clear the response cache.",
}
_COMMANDS: dict[str, tuple[tuple[Callable[..., None], str], ...]] = {
    "Score summaries": (
        (score.score, "score report.txt summary.txt --fail-under 0.8"),
        (run.run, "run pairs.jsonl --out rows.jsonl --resume"),
        (run.compare, "compare before.jsonl after.jsonl --fail-if-worse"),
        (run.report, "report rows.jsonl --out run.html"),
        (run.view, "view report.json"),
        (score.facts, "facts report.txt --lock facts.yaml"),
        (score.check, "check facts.yaml summary.txt"),
    ),
    "Calibrate judges": (
        (calibrate.trust, "trust --judge openai/gpt-5-nano --out trust.html"),
        (calibrate.doctor, "doctor openai/gpt-5-nano"),
        (calibrate.bullets, "calibrate bullets --out removal"),
        (calibrate.audit, "calibrate audit --judge openai/gpt-5-nano"),
        (calibrate.agreement, "calibrate agreement labelled.jsonl"),
    ),
    "Evaluate other outputs": (
        (keywords.references, "references answer.txt good.txt other.txt"),
        (fields.evaluate, "fields evaluate gold.jsonl out.jsonl"),
        (fields.infer_schema, "fields infer-schema gold.jsonl --out schema.yaml"),
        (fields.suggest, "fields suggest gold.jsonl --out schema.yaml"),
        (run.compare, "fields compare before.json after.json"),
        (keywords.run, "keywords run dataset.yaml outputs.json --out a.json"),
        (keywords.behaviors, "keywords behaviors cases.json responses.json"),
        (run.compare, "keywords compare before.json after.json"),
    ),
    "Serve others": (
        (serve.demo, "demo"),
        (serve.serve, "serve --judge main=openai/gpt-5-nano --jobs-db jobs.sqlite"),
    ),
    "Maintenance": ((cache.stats, "cache stats"), (cache.clear, "cache clear --yes")),
}
"""Commands by the panel of the help, each with an example."""


def _show_help(context: typer.Context) -> None:
    """Show the help of a command group called without a subcommand."""
    if context.invoked_subcommand is None and (text := context.get_help()):
        typer.echo(text)


def _register() -> None:
    """Add every command to the program or to its family."""
    families = {name: typer.Typer(**_STYLE, help=about) for name, about in _FAMILIES.items()}
    for panel, commands in _COMMANDS.items():
        for function, line in commands:
            epilog = f"Example: factcheck {line}"
            first, second, *_ = f"{line} ".split(" ")
            if first not in families:
                app.command(first, rich_help_panel=panel, epilog=epilog)(function)
                continue
            family = families[first]
            if not family.registered_commands:
                family.callback(invoke_without_command=True)(_show_help)
                app.add_typer(family, name=first, rich_help_panel=panel)
            family.command(second, epilog=epilog)(function)


_register()


def _print_version(value: bool) -> None:  # noqa: FBT001 - signature of an option callback
    if value:
        from importlib.metadata import version

        typer.echo(f"factcheck {version('summary-factcheck')}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog="Example: factcheck score report.txt summary.txt")
def _root(
    context: typer.Context,
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    _debug: Annotated[
        bool, flag(DEBUG, "Show a traceback on errors; allowed anywhere in the command.")
    ] = False,
) -> None:
    """Measure what a summary keeps of its source: atomic facts, verdicts, and a score.

    Works offline with the local judge; --judge PROVIDER/MODEL uses a language model.
    Any input file may be '-' for standard input.
    """
    _show_help(context)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, by default that of the process, and exit with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    others = [argument for argument in given if argument != DEBUG]
    code = _run(others, debug=DEBUG in given)
    if code == INTERRUPTED and arguments is None:
        # a network that still runs in a thread makes the end of the interpreter an abort
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _run(arguments: Sequence[str], *, debug: bool) -> int:
    try:
        code = app(args=arguments, prog_name="factcheck", standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - top-level handler
        if debug:
            traceback.print_exc()
        message, code = _explain(error)
        hint = "; add --debug for the traceback" if code == BUG and not debug else ""
        print_error(message + hint)
    if code == INTERRUPTED:
        print_error("interrupted")
    return int(code)


def _explain(error: Exception) -> tuple[str, int]:
    """Return the message for an error and its exit code."""
    if isinstance(error, FactcheckError):
        return str(error), error.exit_code
    if isinstance(error, typer.TyperException):
        where = getattr(getattr(error, "ctx", None), "command_path", "factcheck")
        message = error.format_message().rstrip(".").replace(": Value error, ", ": ")
        see = " See" if message.endswith("?") else "; see"
        return f"{message}{see} '{where} --help'", InputError.exit_code
    if isinstance(error, OSError):
        discard_stdout()
        what = f"{error.filename}: " if error.filename else "cannot read or write: "
        return f"{what}{error.strerror or error}", InputError.exit_code
    if isinstance(error, MemoryError):
        return "out of memory; the input is too large", InputError.exit_code
    return f"unexpected {type(error).__name__}: {error} (a bug in factcheck)", BUG
