"""`--help` of every command: it fits a terminal, shows an example, and loads nothing slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.cli.conftest import Outcome

Run = Callable[..., Outcome]

FAMILIES = {
    "": "score run report compare facts check fields keywords references calibrate cache serve",
    "fields": "evaluate infer-schema suggest compare",
    "keywords": "run behaviors compare",
    "calibrate": "bullets audit agreement cascade",
    "cache": "stats verify prune clear",
}
COMMANDS = [
    f"{family} {name}".strip()
    for family, names in FAMILIES.items()
    for name in names.split()
    if name not in FAMILIES
]
SLOW = ("dspy", "openai", "litellm", "numpy", "yaml", "wordfreq", "pysbd", "factcheck.keywords")


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


def test_the_three_ways_in_are_in_the_help(run: Run) -> None:
    """Score summaries, calibrate the judge, evaluate fields."""
    out = " ".join(run("--help").out.split())

    for said in ("Report which facts in SOURCE", "Measure judges", "structured extraction"):
        assert said in out


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
