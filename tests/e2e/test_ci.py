"""The workflow and the test in docs/ci.md do what is said there."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.e2e.conftest import ROOT, blocks

GUIDE = "docs/ci"
FACTS = "The lake is deep.\nThe pier is old.\nThe mole is long.\n"
pytest_plugins = ["pytester"]


@pytest.fixture
def shell(program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text and its summary, and a quick judge."""
    monkeypatch.setenv("FACTCHECK_JUDGE", "local-fast")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "report.txt").write_text(FACTS)
    (tmp_path / "summary.txt").write_text("A deep lake, an old pier.\n")
    return tmp_path


def run(command: str, folder: Path) -> int:
    return subprocess.run(["bash", "-e", "-c", command], cwd=folder, check=False).returncode  # noqa: S603, S607


def test_the_workflow_fails_exactly_when_a_must_fact_is_lost(shell: Path) -> None:
    (command,) = blocks(GUIDE, "bash")
    assert run(command, shell) == 0
    facts = shell / "facts.yaml"
    pier = "text: The pier is old."
    facts.write_text(facts.read_text().replace(pier, f"{pier}\n  must: true"))
    (workflow,) = blocks(GUIDE, "yaml")
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    steps = {step["name"]: step["run"] for step in job["steps"] if "name" in step}
    del steps["Install"]

    assert [run(command, shell) for command in steps.values()] == [0, 0]

    (shell / "summary.txt").write_text("A deep lake, a long mole.\n")
    assert [run(command, shell) for command in steps.values()] == [1, 1]
    comparison = (shell / "summary.md").read_text().split("## Coverage")[-1]
    assert re.search(r"### Lost 1\n.*The pier is old\.", comparison, re.DOTALL)


@pytest.fixture
def plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Tests run with the plugin, and with xdist, but with no other that is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "factcheck.pytest_plugin,xdist.plugin")
    pytester.makeconftest(
        """
        import pytest
        from factcheck import Budget, FactCoverage
        from factcheck.testing import ScriptedChecker

        @pytest.fixture(scope="session")
        def factcheck_judge():
            said = lambda fact, text: "entailed" if fact[4:8] in text else "neutral"
            return ScriptedChecker(said)

        @pytest.fixture(scope="session")
        def factcheck_budget():
            return Budget(max_calls=9, max_cost_usd=1.0)
        """
    )
    return pytester


def test_the_plugin_is_installed_with_the_package() -> None:
    found = re.search(r'pytest11\]\nfactcheck = "(.+)"', (ROOT / "pyproject.toml").read_text())
    assert found is not None
    assert import_module(found[1]).assert_coverage


def test_the_test_in_the_guide_passes(plugin: pytest.Pytester) -> None:
    plugin.makepyfile(*blocks(GUIDE, "python"))
    plugin.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_failing_assertion_prints_at_most_five_facts(plugin: pytest.Pytester) -> None:
    plugin.makepyfile(
        """
        from factcheck import AtomicFact

        FACTS = ["The lake is deep.", "The pier is old.", "The mole is long."]

        def test_it(assert_coverage):
            must = ["f3", "The boat is blue."]
            assert_coverage("", "A deep lake.", min=0.4, must=must, facts=FACTS)

        def test_no_verdict_counts_for_the_score_of_other_facts(assert_coverage):
            report = assert_coverage("", "lake boat", must=["The boat is blue."], facts=FACTS)
            assert report.score == 1 / 3

        def test_of_many_the_most_important_ones(assert_coverage):
            facts = [AtomicFact(f"x{n}", f"The {n:04} is old.", weight=n) for n in range(1, 30)]
            assert_coverage("", "Nothing.", min=0.5, must=["x2"], facts=facts)
        """
    )
    result = plugin.runpytest_subprocess()
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: gate failed: 2 must facts not kept: f3, f4; score 0.33 is under 0.4",
            "E*Not kept 3*most important first*",
            "E*f3 *must*The mole is long.",
            "E*f4 *must*The boat is blue.",
            "E*f2 *The pier is old.",
            "E*Not kept 29*",
            "E*x2 *must*",
            *(f"E*x{n} *" for n in (29, 28, 27, 26)),
            "E*24 more*",
        ]
    )
    assert "x25" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


def test_facts_may_be_a_file_and_bad_limits_are_named(plugin: pytest.Pytester) -> None:
    plugin.makefile(".txt", facts=FACTS)
    plugin.makepyfile(
        """
        import pathlib, pytest
        from factcheck.errors import InputError

        def test_it(assert_coverage):
            report = assert_coverage("", "lake pier", min=0.1, facts="facts.txt")
            assert report.counts["kept"] == 2
            assert_coverage("", "lake pier", min=0.1, facts=pathlib.Path("facts.txt"))
            with pytest.raises(InputError, match="min is 80; expected 0 to 1"):
                assert_coverage("", "lake", min=80, facts="facts.txt")
            with pytest.raises(InputError, match="nothing is asserted; give min, must"):
                assert_coverage("", "lake", facts="facts.txt")
        """
    )
    plugin.runpytest_subprocess().assert_outcomes(passed=1)


def test_workers_share_one_budget(plugin: pytest.Pytester) -> None:
    plugin.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("n", range(4))
        def test_it(assert_coverage, factcheck_scorer, n):
            caps = factcheck_scorer.session.budget._caps
            assert caps == {"max_calls": 4, "max_cost_usd": 0.5}
            assert_coverage("", "A deep lake.", min=1, facts=["The lake is deep."])
        """
    )
    plugin.runpytest_subprocess("-n", "2").assert_outcomes(passed=4)
