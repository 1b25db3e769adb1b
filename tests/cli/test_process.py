"""What only shows in a process of its own: imports, pipes, encodings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run Python with these arguments."""
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_the_module_runs(tmp_path: Path) -> None:
    """`python -m factcheck` is the same program, with its exit codes."""
    done = start("-m", "factcheck", "score", str(tmp_path), "-")

    assert done.returncode == 2
    assert done.stderr.decode() == f"factcheck: {tmp_path} is a directory; name a file\n"


PRINT_MUCH = (
    "import sys\nfrom factcheck.cli.output import print_out\n"
    "for _ in range(200): print_out('≠ line ' * 2000)\nsys.exit(3)"
)


def test_output_is_utf_8_whatever_the_locale() -> None:
    """Marks and texts are written as they are where the locale is ASCII."""
    probe = "from factcheck.cli.output import print_out\nprint_out('\\u2260 \\u6771')"

    done = start("-c", probe, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")

    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, "≠ 東\n", b"")


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
