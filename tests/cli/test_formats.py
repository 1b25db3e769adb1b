"""Every evaluator has every format, and JUnit fails exactly if the exit code does."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import Run

COMMANDS = {
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


pytestmark = pytest.mark.usefixtures("inputs")


@pytest.mark.parametrize("command", COMMANDS)
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


def test_every_format_of_a_run_has_the_faithfulness(run: Run) -> None:
    args = "run records.jsonl --direction both --judge local-fast --out both.jsonl"
    assert "Faithfulness: " in run(*args.split()).out
    for name in ("table", "markdown", "html", "junit", "json", "csv"):
        assert "aithfulness" in run("report", "both.jsonl", "--format", name).out
    Path("both.jsonl").unlink()


@pytest.mark.parametrize("command", COMMANDS)
def test_junit_and_the_exit_code_agree(command: str, run: Run) -> None:
    codes = []
    for gate in ("", COMMANDS[command]):
        done = run(*command.split(), "--format", "junit", *gate.split())
        root = ET.fromstring(done.out)  # noqa: S314 - our own
        assert (root.attrib["failures"] + root.attrib["errors"] != "00") is (done.code != 0)
        codes.append(done.code)
    assert codes == [0, 1 if COMMANDS[command] else 0]


TO_FILES = [command for command in COMMANDS if not command.startswith("run")]
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
