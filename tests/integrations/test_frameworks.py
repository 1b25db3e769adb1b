"""Coverage inside Inspect, MLflow and promptfoo, as each of them calls it."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from factcheck.errors import InputError, JudgeError
from factcheck.facts import AtomicFact, CheckFailure, EntailmentLabel
from factcheck.integrations import explanation, source_in
from factcheck.integrations.promptfoo import get_assert
from factcheck.scoring import FactCoverage
from factcheck.testing import ScriptedChecker

ROOT = Path(__file__).resolve().parents[2]
KEPT = "The bridge reopened on 12 April."
DROPPED = "The mayor cut the ribbon."
UNDECIDED = "About 400 people came."
SOURCE = f"{KEPT} {DROPPED} {UNDECIDED}"
EXAMPLES = re.findall(r"```\w+\n(.*?)```", (ROOT / "docs" / "frameworks.md").read_text(), re.DOTALL)
"""Of Inspect, MLflow and promptfoo."""

pytestmark = pytest.mark.filterwarnings("default")  # of the frameworks, which are not ours


def answer(statement: str, _: str) -> EntailmentLabel | CheckFailure:
    if statement == UNDECIDED:
        return undecided(statement, "")
    return "entailed" if statement == KEPT else "neutral"


def undecided(statement: str, _: str) -> CheckFailure:
    return CheckFailure(AtomicFact("f1", statement), "truncated", "the reply was cut off")


def needed(module: str, extra: str) -> Any:
    return pytest.importorskip(module, reason=f"not installed: extra {extra}")


SOME: Any = ScriptedChecker(answer)
NONE: Any = ScriptedChecker(undecided)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        *((data, "no 'source' in the inputs") for data in (None, {}, "text", {"source": None})),
        ({"article": "x"}, r"\(there: 'article'\); add the source text, or name the key"),
        ({"source": 3}, r"the inputs\['source'\]: expected a string or a l"),
    ],
)
def test_no_source_is_an_error_that_names_the_key(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        source_in(data, "source", "the inputs")


def test_the_explanation_leaves_out_what_is_kept_and_hides_nothing() -> None:
    facts = [KEPT, "The <script> was \u202e\x1b[31mread."]
    with FactCoverage(ScriptedChecker(answer)) as scorer:
        report = scorer.score("", "A summary.", facts=facts)

    for to in ("markdown", "table"):
        text = explanation(report, to)
        assert KEPT not in text
        assert r"\u202e\u001b" in text.replace("\\\\", "\\")
    assert "<script>" not in explanation(report)


class TestPromptfoo:
    """Only the last test needs the program."""

    def test_a_result_has_the_score_and_what_was_lost(self) -> None:
        result = get_assert("A summary.", {"vars": {"source": SOURCE}, "config": {"judge": SOME}})

        assert json.loads(json.dumps(result)) == result
        assert result["pass"] is True
        assert result["score"] == result["named_scores"]["coverage"] == 0.5
        assert DROPPED in result["reason"]
        assert KEPT not in result["reason"]
        assert result["metadata"]["dropped"] == [DROPPED]
        assert result["metadata"]["undecided"] == [UNDECIDED]
        assert result["metadata"]["low"] == pytest.approx(1 / 3)

    def test_nothing_kept_does_not_pass(self) -> None:
        result = get_assert("", {"vars": {"source": SOURCE}})

        assert (result["pass"], result["score"]) == (False, 0.0)

    def test_no_verdict_is_an_error(self) -> None:
        context = {"vars": {"text": SOURCE}, "config": {"judge": NONE, "source": "text"}}

        with pytest.raises(JudgeError, match=r"no score: . undecided, .*was cut off"):
            get_assert("A summary.", context)

    @pytest.mark.parametrize(
        ("output", "context", "message"),
        [
            ("A", {"vars": {"source": " "}}, "the source is empty"),
            ({"a": 1}, {"vars": {"source": SOURCE}}, "the output must be a string, not dict"),
            ("A", {"vars": {}, "config": {"jugde": "x"}}, "unknown key 'jugde'; .* judge, source"),
        ],
    )
    def test_bad_input_is_an_error(self, output: Any, context: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            get_assert(output, context)

    def test_an_evaluation(self, tmp_path: Path) -> None:
        promptfoo = shutil.which("promptfoo")
        if promptfoo is None:
            pytest.skip("promptfoo is not on the PATH: npm install --global promptfoo")
        config = {
            "prompts": ["{{output}}"],
            "providers": ["echo"],
            "defaultTest": yaml.safe_load(EXAMPLES[2]),
            "tests": [
                {"vars": {"output": KEPT, "article": SOURCE}},
                {"vars": {"output": SOURCE, "article": SOURCE}},
                {"vars": {"output": KEPT, "text": SOURCE}},
            ],
        }
        (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
        names = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")
        settings = {f"PROMPTFOO_DISABLE_{name}": "1" for name in names}
        settings |= {"PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_CONFIG_DIR": str(tmp_path)}
        options = ["-c", "config.json", "--no-cache", "--no-share", "-o", "out.json"]
        subprocess.run(  # noqa: S603 - the real program
            [promptfoo, "eval", *options],
            cwd=tmp_path,
            env={**os.environ, **settings, "PYTHONPATH": str(ROOT)},
            check=False,  # 100: a test has failed
            capture_output=True,
            timeout=180,
        )

        results = json.loads((tmp_path / "out.json").read_text("utf-8"))["results"]
        lost, kept, missing = sorted(results["results"], key=lambda result: result["testIdx"])
        assert (lost["success"], kept["success"], missing["success"]) == (False, True, False)
        assert lost["namedScores"]["coverage"] == pytest.approx(1 / 3)
        assert DROPPED in lost["error"]
        assert kept["namedScores"] == {"coverage": 1.0}
        assert "no 'article' in the vars (there: 'output', 'text')" in missing["error"]
        assert missing["namedScores"] == {}
        assert results["prompts"][0]["metrics"]["namedScoresCount"] == {"coverage": 2}


class TestInspect:
    """Through `inspect_ai.eval`, with a mock model."""

    def evaluated(self, tmp_path: Path, task: Any) -> Any:
        inspect_ai = needed("inspect_ai", "inspect")
        from inspect_ai.model import ModelOutput, ModelUsage, get_model

        outputs = [ModelOutput.from_content("mockllm", KEPT) for _ in task.dataset]
        for output in outputs:
            output.usage = ModelUsage()  # or the mock looks for a tokenizer in the network
        (log,) = inspect_ai.eval(
            task,
            model=get_model("mockllm/model", custom_outputs=outputs),
            display="none",
            log_dir=str(tmp_path),
            fail_on_error=False,
        )
        return log

    def task(self, *metadata: Any, judge: Any = None) -> Any:
        inspect_ai = needed("inspect_ai", "inspect")
        from inspect_ai.dataset import Sample

        from factcheck.integrations.inspect_ai import coverage

        samples = [Sample(input="Summarize.", metadata=one) for one in metadata]
        return inspect_ai.Task(dataset=samples, scorer=coverage(judge))

    def test_an_evaluation(self, tmp_path: Path) -> None:
        inspect_ai = needed("inspect_ai", "inspect")
        from inspect_ai.dataset import Sample

        scope = {"Sample": Sample, "Task": inspect_ai.Task, "article": SOURCE}
        exec(EXAMPLES[0], scope)  # noqa: S102 - our own example
        log = self.evaluated(tmp_path, scope["task"])
        assert log.samples[0].scores["coverage"].value == pytest.approx(1 / 3)

        log = self.evaluated(tmp_path, self.task({"source": SOURCE}, {"article": SOURCE}))

        scored, failed = log.samples
        score = scored.scores["coverage"]
        assert score.value == pytest.approx(1 / 3)
        assert score.answer == KEPT
        assert DROPPED in score.explanation
        assert score.metadata["counts"]["kept"] == 1
        assert "no 'source' in the metadata of the sample" in failed.error.message
        assert not failed.scores
        (result,) = log.results.scores
        assert result.metrics["mean"].value == pytest.approx(1 / 3)

    def test_no_verdict_is_unscored(self, tmp_path: Path) -> None:
        log = self.evaluated(tmp_path, self.task({"source": SOURCE}, judge=NONE))

        score = log.samples[0].scores["coverage"]
        assert math.isnan(score.value)
        assert score.reason == "grader_failed"
        assert "the reply was cut off" in score.explanation
        assert log.results.scores[0].unscored_samples == 1
        assert math.isnan(log.results.scores[0].metrics["mean"].value)

    def test_the_scorer_is_found_by_its_name(self) -> None:
        needed("inspect_ai", "inspect")
        from inspect_ai.util import registry_create, registry_info

        scorer = registry_create("scorer", "factcheck/coverage", judge="local")

        assert registry_info(scorer).name == "factcheck/coverage"


class TestMlflow:
    """Through `mlflow.genai.evaluate`, and as it calls a scorer."""

    def test_an_evaluation(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        mlflow = needed("mlflow", "mlflow")
        from factcheck.integrations.mlflow import coverage

        monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
        experiment = mlflow.create_experiment("coverage", artifact_location=tmp_path.as_uri())
        mlflow.set_experiment(experiment_id=experiment)
        scope = {"mlflow": mlflow, "article": SOURCE, "summary": KEPT}
        exec(EXAMPLES[1], scope)  # noqa: S102 - our own example
        assert scope["result"].metrics == {"coverage/mean": pytest.approx(1 / 3)}

        rows = [
            {"inputs": {"text": SOURCE}, "outputs": KEPT},
            {"inputs": {"article": SOURCE}, "outputs": KEPT},
        ]
        result = mlflow.genai.evaluate(data=rows, scorers=[coverage(source="text")])

        assert result.metrics == {"coverage/mean": pytest.approx(1 / 3)}
        both = [one for row in result.result_df["assessments"] for one in row]
        (failed,) = (one for one in both if "error" in one["feedback"])
        (scored,) = (one for one in both if one is not failed)
        assert scored["feedback"]["value"] == pytest.approx(1 / 3)
        assert DROPPED in scored["rationale"]
        error = failed["feedback"]["error"]["error_message"]
        assert "no 'text' in the inputs (there: 'article')" in error
        assert failed["feedback"].get("value") is None

    def test_no_verdict_is_an_error_with_what_is_undecided(self) -> None:
        needed("mlflow", "mlflow")
        from factcheck.integrations.mlflow import coverage

        feedback = coverage(NONE).run(inputs={"source": SOURCE}, outputs=KEPT)

        assert feedback.value is None
        assert "no score: 3 undecided, the first: " in feedback.error.error_message
        assert json.loads(feedback.metadata["undecided"]) == [KEPT, DROPPED, UNDECIDED]

    def test_outputs_that_are_no_text_are_an_error(self) -> None:
        needed("mlflow", "mlflow")
        from factcheck.integrations.mlflow import coverage

        with pytest.raises(InputError, match="outputs must be a string, not dict"):
            coverage().run(inputs={"source": SOURCE}, outputs={"text": KEPT})
