"""Running Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def printed_by_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints when it runs `code`, stripped."""
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
