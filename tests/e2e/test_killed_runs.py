"""Runs that are killed, and runs that share a cache: the study of benchmarks/runtime, in small."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.runtime.kill import study
from benchmarks.runtime.workload import make_pairs

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


def test_killed_runs_and_shared_caches_lose_nothing(tmp_path: Path) -> None:
    """60 pairs: killed three times and resumed; two processes at once; a half, and then all.

    Rows equal those of an undisturbed run. What is asked again was on its way at a kill, or two
    processes asked at the same time.
    """
    killed, at_once, in_turn = study(tmp_path, make_pairs(6, 10), n_kills=3, seed=5)

    assert (killed.problems, at_once.problems, in_turn.problems) == ((), (), ())
    assert len(killed.kills) == 3
    assert killed.calls == killed.calls_undisturbed + killed.asked_again
    assert killed.asked_again == sum(k.on_the_wire + k.not_yet_kept for k in killed.kills)
    assert not any(kill.torn for kill in killed.kills)
    assert in_turn.calls == in_turn.calls_undisturbed == 66
    assert at_once.calls <= 2 * 66
