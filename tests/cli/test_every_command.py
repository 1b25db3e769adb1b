"""What holds for every command: its help and formats, and what only shows in a process."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import Run
from tests.processes import printed_by_python

pytestmark = pytest.mark.usefixtures("inputs")
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
        f"print(sorted(set({SLOW!r}) & set(sys.modules)))"
    )

    assert printed_by_python(code).splitlines()[-1] == "[]"


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


EVALUATORS = {
    "score source.txt summary.txt --direction both": "--fail-under 0.99",
    "check facts.txt summary.txt": "",
    "run records.jsonl": "--fail-under 0.99",
    "fields evaluate gold.jsonl extracted.jsonl": "--fail-under 0.99",
    "fields compare gold.json extracted.json": "",
    "keywords run cards.yaml outputs.json": "--fail-under 0.99",
    "keywords behaviors suite.json responses.json": "--fail-under 0.99",
    "references answer.txt good.txt other.txt": "--fail-under 0.99",
    "calibrate agreement labels.jsonl": "",
    "calibrate audit --source source.txt --summary summary.txt": "",
}


@pytest.mark.parametrize("command", EVALUATORS)
def test_a_report_has_every_format(command: str, run: Run) -> None:
    shown = {
        name: run(*command.split(), "--format", name).out
        for name in ("table", "markdown", "html", "junit", "json", "csv")
    }

    first_line = shown["table"].splitlines()[0]
    name = first_line.split("   ")[0]
    assert name in shown["markdown"].replace("\\", "")
    assert name.split()[0] in shown["html"]
    assert shown["html"].startswith("<!doctype html>")
    assert json.loads(shown["json"])
    assert len(list(csv.reader(io.StringIO(shown["csv"])))) > 1
    assert ET.fromstring(shown["junit"]).find("testsuite") is not None  # noqa: S314 - our own


@pytest.mark.parametrize("command", EVALUATORS)
def test_junit_and_the_exit_code_agree(command: str, run: Run) -> None:
    codes = []
    for gate in ("", EVALUATORS[command]):
        done = run(*command.split(), "--format", "junit", *gate.split())
        root = ET.fromstring(done.out)  # noqa: S314 - our own
        assert (root.attrib["failures"] + root.attrib["errors"] != "00") is (done.code != 0)
        codes.append(done.code)
    assert codes == [0, 1 if EVALUATORS[command] else 0]


TO_FILES = [command for command in EVALUATORS if not command.startswith("run")]
STARTS: dict[str, str | tuple[str, ...]] = {
    "md": "## ",
    "html": "<!doctype html>",
    "xml": "<?xml",
    "json": ("{", "["),
    "txt": "",
}


@pytest.mark.parametrize(
    "command",
    ["score source.txt summary.txt --direction both", "keywords run cards.yaml outputs.json"],
)
def test_the_suffix_of_out_chooses_the_format(command: str, run: Run) -> None:
    """One line says what was found and where the report is; how far to trust it follows."""
    for suffix, start in STARTS.items():
        code, out, _ = run(*command.split(), "--out", f"report.{suffix}")

        assert code == 0
        lines = out.splitlines()
        assert any(line.startswith("Faithfulness 0.") for line in lines) is ("both" in command)
        assert len(lines) == (3 if "both" in command else 1)
        assert lines[0].endswith(f"   report.{suffix}")
        assert Path(f"report.{suffix}").read_text("utf-8").startswith(start)
    run(*command.split(), "--out", "report.json", "--format", "markdown")
    assert Path("report.json").read_text("utf-8").startswith("## ")


@pytest.mark.parametrize("command", TO_FILES)
def test_out_is_refused_before_anything_is_done(command: str, run: Run) -> None:
    """A slip of the hand does not cost an input file."""
    read = next(word for word in command.split() if "." in word)
    before = Path(read).read_bytes()
    refusals = {
        ".": "is a directory",
        "missing/report.html": "does not exist",
        "report.pdf": "unknown suffix; use .txt, .md, .html, .xml, .json or .csv",
        read: "--out would overwrite an input file",
    }
    for target, said in refusals.items():
        code, out, err = run(*command.split(), "--out", target)

        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
    assert Path(read).read_bytes() == before
