"""`--help` of every command, and what only shows in a process: imports, pipes, encodings."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.conftest import Run
from tests.processes import printed_by_python

FAMILIES = {
    "": "score run report view compare facts check fields keywords references calibrate cache "
    "demo serve",
    "fields": "evaluate infer-schema suggest compare",
    "keywords": "run behaviors compare",
    "calibrate": "bullets audit agreement",
    "cache": "stats clear",
}
COMMANDS = [
    f"{family} {name}".strip()
    for family, names in FAMILIES.items()
    for name in names.split()
    if name not in FAMILIES
]
SLOW = ("dspy", "openai", "litellm", "numpy", "yaml", "pysbd", "factcheck.keywords")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("option", [(), ("--help",)])
def test_a_family_lists_its_commands(run: Run, family: str, option: tuple[str, ...]) -> None:
    code, out, err = run(*family.split(), *option)

    assert (code, err) == (0, "")
    listed = [line.split()[1] for line in out.splitlines() if line.startswith("│ ")]
    assert [name for name in listed if name in FAMILIES[family].split()]
    assert {*FAMILIES[family].split()} <= {*listed}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_a_terminal_and_has_an_example(run: Run, command: str) -> None:
    """Of 80 columns; no default and no argument is lost to the markup of the help."""
    code, out, err = run(*command.split(), "--help")

    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert f"Usage: factcheck {command} " in " ".join(out.split())
    assert f"Example: factcheck {command}" in out


@pytest.mark.parametrize("command", ["score", "keywords run", "fields evaluate"])
def test_help_loads_nothing_slow(command: str) -> None:
    """Neither judge nor client nor tables, nor what the command itself is made of."""
    code = (
        "import sys\nfrom factcheck.cli import main\n"
        f"try:\n    main({[*command.split(), '--help']!r})\nexcept SystemExit:\n    pass\n"
        f"print(sorted(set({SLOW!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )

    assert done.stderr.strip() == "[]"


PRINT_MUCH = (
    "import sys\nfrom factcheck.cli.output import print_out\n"
    "for _ in range(200): print_out('≠ line ' * 2000)\nsys.exit(3)"
)


def test_output_is_utf_8_whatever_the_locale() -> None:
    """Marks and texts are written as they are where the locale is ASCII."""
    probe = "from factcheck.cli.output import print_out\nprint_out('\\u2260 \\u6771')"

    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}

    assert printed_by_python(probe, **ascii_only) == "≠ 東"


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_closed_pipe_ends_quietly() -> None:
    """`| head` gives no traceback, and the exit code stays the command's own."""
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", PRINT_MUCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("≠".encode())
        process.stdout.close()
        errors = process.stderr.read()

    assert (process.returncode, errors) == (3, b"")
