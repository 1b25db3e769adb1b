"""Networks run without a word to others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_a_network_leaves_nothing_behind(tmp_path: Path) -> None:
    code = "from factcheck.text.syntax import parse; parse('It rained.')"
    places = dict.fromkeys(("HOME", "USERPROFILE", "XDG_CACHE_HOME"), str(tmp_path))
    kept = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], env={**kept, **places}, check=True)  # noqa: S603
    assert list(tmp_path.rglob("*")) == []
