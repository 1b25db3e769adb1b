"""The `factcheck` command: its subcommands, and the one place where errors become exit codes.

Exit codes: 0 fine, 1 a gate failed, 2 bad input, 3 configuration, 4 the judge could not be reached
or decided nothing, 130 interrupted; 70 is a defect of this program.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from factcheck.cli import cache, calibrate, check, facts, fields, keywords, references, score
from factcheck.cli.options import DEBUG, Invocation
from factcheck.cli.output import complain, forget_stdout
from factcheck.errors import FactcheckError, InputError

INTERRUPTED = 130
DEFECT = 70
_UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="factcheck",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("score", epilog="Example: factcheck score report.txt summary.txt --fail-under 0.8")(
    score.score
)
app.command("facts", epilog="Example: factcheck facts report.txt --lock facts.yaml")(facts.facts)
app.command("check", epilog="Example: factcheck check facts.yaml summary.txt")(check.check)
app.add_typer(fields.app, name="fields")
app.add_typer(keywords.app, name="keywords")
app.command("references", epilog="Example: factcheck references answer.txt good.txt other.txt")(
    references.references
)
app.add_typer(calibrate.app, name="calibrate")
app.add_typer(cache.app, name="cache")


def _print_version(value: bool) -> None:  # noqa: FBT001 - the shape of an option's callback
    if value:
        from importlib.metadata import version

        typer.echo(f"factcheck {version('factcheck')}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog="Example: factcheck score report.txt summary.txt",
)
def _root(
    context: typer.Context,
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    _debug: Annotated[bool, DEBUG] = False,
) -> None:
    """Tell which facts of a text a summary keeps, drops or distorts.

    Wherever a file is read, '-' stands for standard input.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    Args:
        arguments: Without the program's name; `None` for those of the process.

    Raises:
        SystemExit: Always; with the exit code.
    """
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: Sequence[str]) -> int:
    invocation = Invocation()
    try:
        code = app(
            args=list(arguments), prog_name="factcheck", standalone_mode=False, obj=invocation
        )
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except FactcheckError as error:
        code = _fail(str(error), error.exit_code, invocation)
    except _UsageError as error:
        where = error.ctx.command_path if error.ctx else "factcheck"
        code = _fail(f"{error.format_message().rstrip('.')}; see '{where} --help'", 2, invocation)
    except OSError as error:
        forget_stdout()
        code = _fail(f"cannot write: {error.strerror or error}", InputError.exit_code, invocation)
    except Exception as error:  # noqa: BLE001 - the last stop before the user
        what = f"unexpected {type(error).__name__}: {error}"
        hint = "" if invocation.debug else "; add --debug for the traceback"
        code = _fail(f"{what} (a defect of factcheck){hint}", DEFECT, invocation)
    if code == INTERRUPTED:
        complain("interrupted")
    return code or 0


def _fail(message: str, code: int, invocation: Invocation) -> int:
    if invocation.debug:
        traceback.print_exc()
    complain(message)
    return code
