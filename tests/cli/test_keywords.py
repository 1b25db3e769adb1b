"""What the commands on keywords do: files in, output and exit code out."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from factcheck.keywords import BehaviorRun, DatasetResult
from tests.cli.conftest import Folder, Outcome, refused

Run = Callable[..., Outcome]

DATASET: dict[str, Any] = {
    "name": "biology",
    "version": "1",
    "cases": [
        {
            "id": "cell",
            "text": "Cells.",
            "expected_cards": [
                {"front_keywords": ["cell"], "back_keywords": ["unit", "life"], "card_type": "qa"},
                {"front_keywords": ["membrane"], "back_keywords": ["lipid"]},
            ],
        },
        {
            "id": "leaf",
            "text": "Leaves.",
            "expected_cards": [{"front_keywords": ["leaf"], "back_keywords": ["light"]}],
        },
    ],
}
OUTPUTS: dict[str, Any] = {
    "cell": [
        {"front": "What is a cell?", "back": "A unit of life", "card_type": "qa"},
        {"front": "What is a membrane?", "back": "A wall"},
        {"front": "Who was Hooke?", "back": "Somebody"},
    ],
    "leaf": [{"front": "What does a leaf do?", "back": "It takes up light"}],
}
GUIDE = {"strict_keywords": ["cannot", "charge"], "service_keywords": ["gladly", "no charge"]}
CASES = [
    {"id": name, "instruction": f"May I, {name}?", "evaluation_guide": GUIDE}
    for name in ("ann", "bob", "cid")
]
RESPONSES: dict[str, Any] = {
    "strict": ["You cannot.", "You cannot.", "We charge for it."],
    "service": ["Yes, gladly.", "There is no charge.", "Yes, gladly."],
}
MODEL = """
import os, signal, threading

def ask(case, variant):
    if case.id == "bob" and variant == "strict":
        raise RuntimeError("no answer")
    return {"strict": "cannot", "service": "gladly"}[variant]

async def gently(case, variant):
    return {"strict": "cannot", "service": "gladly"}[variant]

def stop(case, variant):
    if case.id == "cid":
        never(case, variant)
    return {"strict": "cannot", "service": "gladly"}[variant]

def never(case, variant):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

def leave(case, variant):
    raise SystemExit("enough")

NUMBER = 3
"""


class Files(Folder):
    """Files of cards and of behaviours."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.dataset = self.put("dataset.yaml", yaml.safe_dump(DATASET, sort_keys=False))
        self.outputs = self.put("outputs.json", OUTPUTS)
        self.cases = self.put("cases.json", CASES)
        self.responses = self.put("responses.json", RESPONSES)
        self.model = self.put("model.py", MODEL)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Two cases of cards, of which all match but one extra; three of behaviours, one ambiguous."""
    return Files(tmp_path)


def interrupted(files: Files, function: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The program asks a function that interrupts it, in a process of its own."""
    call = ("--call", f"{files.model}:{function}", "--concurrency", "1", *options)
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "factcheck", "keywords", "behaviors", files.cases, *call],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )


def words(text: str) -> str:
    """A text with single blanks."""
    return " ".join(text.split())


class TestRun:
    """`factcheck keywords run`."""

    def test_cards_are_scored(self, files: Files, run: Run) -> None:
        """Scores first, then cases, then the cards without partner."""
        code, out, err = run("keywords", "run", files.dataset, files.outputs)

        assert (code, err) == (0, "")
        assert out.startswith("F1 0.900   mean over 2 cases (macro)   95 % interval 0.800")
        assert "cell 2 3 2 1.000 0.667 0.800 0.750" in words(out)
        assert "cell card 3 front: “Who was Hooke?”; back: “Somebody”" in words(out)

    def test_options_decide_what_matches(self, files: Files, run: Run) -> None:
        """With a threshold above 0.5 the membrane is missed, unless only its front counts."""
        arguments = ("keywords", "run", files.dataset, files.outputs, "--threshold", "0.6")

        strict = run(*arguments).out
        fronts = run(*arguments, "--weight", "front=1", "--weight", "back=0").out

        assert "score 0.500, below the threshold of 0.6" in words(strict)
        assert "lacks back: lipid" in strict
        assert fronts.startswith("F1 0.900")
        assert "weights front 1, back 0" in fronts

    def test_the_optimal_assignment_says_where_greedy_differs(self, files: Files, run: Run) -> None:
        """The first card would take what the second needs."""
        expected = [{"text_keywords": ["a"]}, {"text_keywords": ["a", "b"]}]
        dataset = files.put("d.json", {"cases": [{"id": "x", "expected_cards": expected}]})
        outputs = files.put("o.json", {"x": [{"text": "a b"}, {"text": "a"}]})
        arguments = ("keywords", "run", dataset, outputs, "--threshold", "0.6")

        greedy = run(*arguments).out
        optimal = run(*arguments, "--assignment", "optimal").out

        assert greedy.startswith("F1 0.500")
        assert "nearest: card 1, score 1.000, matched with expected card 1" in words(greedy)
        assert optimal.startswith("F1 1.000")
        assert "Pairs that differ from greedy matching 1" in optimal

    def test_json_is_the_run(self, files: Files, run: Run) -> None:
        out = run("keywords", "run", files.dataset, files.outputs, "--format", "json").out

        assert getattr(DatasetResult.from_json(out).cases[0], "case_id", None) == "cell"
        assert json.loads(out)["macro"]["f1"] == pytest.approx(0.9)

    @pytest.mark.parametrize(("threshold", "code"), [("0.9", 0), ("0.901", 1), ("1", 1)])
    def test_the_gate_compares_mean_f1(
        self, files: Files, run: Run, threshold: str, code: int
    ) -> None:
        outcome = run("keywords", "run", files.dataset, files.outputs, "--fail-under", threshold)

        assert outcome.code == code
        assert ("mean F1 0.900 is under" in outcome.err) == bool(code)

    @pytest.mark.parametrize(
        ("output", "said"),
        [
            (None, "leaf: expected a list of cards, got null"),
            ([{"front": "leaf"}], "leaf: generated card 1"),
        ],
    )
    def test_an_errored_case_fails_the_gate_however_good_the_others_are(
        self, files: Files, run: Run, output: Any, said: str
    ) -> None:
        """Without a gate it is shown, counts nowhere, and the others are scored as usual."""
        outputs = files.put("o.json", {**OUTPUTS, "leaf": output})
        arguments = ("keywords", "run", files.dataset, outputs)

        shown = run(*arguments)
        gated = run(*arguments, "--fail-under", "0")

        assert shown.code == 0
        assert shown.out.startswith("F1 0.800   1 case, 1 more errored")
        assert "0.400 – 0.900 if every errored case scored 0 / 1" in shown.out
        assert gated.code == 1
        assert gated.err.startswith(f"factcheck: gate failed: 1 case could not be scored ({said}")

    def test_nothing_scored_is_not_a_success(self, files: Files, run: Run) -> None:
        outcome = run("keywords", "run", files.dataset, files.put("o.json", {}))

        assert outcome.code == 4
        assert outcome.out.startswith("F1 unknown   none of 2 cases could be scored")
        assert "no case could be scored (cell: there is no output for this case)" in outcome.err

    def test_warnings_stand_in_the_report_or_on_standard_error(
        self, files: Files, run: Run, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Where a report is read by people they are in it; nothing is said twice."""
        cases = [{"id": "x", "expected_cards": [{"front_keywords": []}]}]
        arguments = (
            *("keywords", "run", files.put("d.json", {"cases": cases})),
            files.put("o.json", {"x": []}),
        )
        caplog.set_level(logging.CRITICAL)
        said = "case 'x', expected card 1: front_keywords is empty, which scores 0"

        table, as_json = run(*arguments), run(*arguments, "--format", "json")

        assert said in table.out
        assert not table.err
        assert as_json.err == f"factcheck: warning: {said}\n"

    def test_standard_input_is_read(
        self, files: Files, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import io

        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(OUTPUTS).encode()))
        monkeypatch.setattr("sys.stdin", stdin)

        assert run("keywords", "run", files.dataset, "-").out.startswith("F1 0.900")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--threshold", "2"), "threshold must be a number from 0 to 1, got 2.0"),
            (("--threshold", "nan"), "threshold must be a number from 0 to 1, got nan"),
            (("--type-weight", "-1"), "type_weight must be a number from 0 to 1"),
            (("--weight", "front"), "--weight 'front': expected NAME=VALUE"),
            (("--weight", "front=much"), "expected a number, got 'much'"),
            (("--weight", "front=1", "--weight", "front=2"), "duplicate name 'front'"),
            (("--weight", "front=1"), "the field 'back' has no weight"),
            (("--fail-under", "80"), "--fail-under is 80; expected a share from 0 to 1"),
            (("--examples", "-1"), "Invalid value for '--examples'"),
            (("--assignment", "lucky"), "'lucky' is not one of"),
            (("--out", "/nowhere/r.json"), "there is no folder /nowhere"),
        ],
    )
    def test_settings_that_cannot_be_used_are_refused(
        self, files: Files, run: Run, options: tuple[str, ...], message: str
    ) -> None:
        refused(run("keywords", "run", files.dataset, files.outputs, *options), message)

    @pytest.mark.parametrize(
        ("outputs", "message"),
        [
            ({"cell": "text"}, "cell: expected a list of cards"),
            ({"nobody": []}, "for cases not in the dataset: 'nobody'"),
            ([{"id": "cell", "cards": []}] * 2, "duplicate id 'cell'"),
        ],
    )
    def test_outputs_that_cannot_be_used_are_refused(
        self, files: Files, run: Run, outputs: Any, message: str
    ) -> None:
        refused(run("keywords", "run", files.dataset, files.put("o.json", outputs)), message)

    def test_a_dataset_with_an_unknown_key_is_refused_with_its_line(
        self, files: Files, run: Run
    ) -> None:
        text = yaml.safe_dump(DATASET, sort_keys=False).replace("back_keywords", "back_keyword", 1)

        outcome = run("keywords", "run", files.put("d.yaml", text), files.outputs)

        refused(outcome, "d.yaml, line 9: cases[0].expected_cards[0].back_keyword: unknown key")


class TestBehaviors:
    """`factcheck keywords behaviors`."""

    def test_responses_are_judged(self, files: Files, run: Run) -> None:
        code, out, err = run("keywords", "behaviors", files.cases, files.responses)

        assert (code, err) == (0, "")
        assert out.startswith("Pass rate 0.667   2 of 3 cases passed   95 % interval 0.208")
        assert "ambiguous several behaviors show 1" in words(out)
        assert "service service 0 2 1" in words(out)
        assert "bob · service “There is no charge.”" in words(out)
        assert "found strict: charge; service: no charge" in out

    def test_a_missing_response_is_errored_and_fails_the_gate(self, files: Files, run: Run) -> None:
        responses = files.put("r.json", {**RESPONSES, "strict": ["cannot", "cannot", None]})
        arguments = ("keywords", "behaviors", files.cases, responses)

        shown, gated = run(*arguments), run(*arguments, "--fail-under", "0.1")

        assert shown.code == 0
        assert shown.out.startswith("Pass rate 0.500   1 of 2 cases passed, 1 more errored")
        assert "0.333 – 0.667 if every errored case had failed / passed" in shown.out
        assert gated.code == 1
        assert "1 case could not be scored (cid: strict: there is no response)" in gated.err

    def test_the_gate_compares_the_pass_rate(self, files: Files, run: Run) -> None:
        arguments = ("keywords", "behaviors", files.cases, files.responses, "--fail-under")

        assert run(*arguments, "0.66").code == 0
        assert run(*arguments, "0.67").code == 1
        # Three decimals would not show that it is lower.
        assert "0.66667 is under 0.6667" in run(*arguments, "0.6667").err

    def test_a_function_is_asked(
        self, files: Files, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By file, or as a module of the working directory; an error is an errored case."""
        monkeypatch.chdir(files.folder)
        monkeypatch.setattr("sys.path", [*sys.path])
        monkeypatch.delitem(sys.modules, "model", raising=False)

        by_file = run("keywords", "behaviors", files.cases, "--call", f"{files.model}:ask")
        by_name = run("keywords", "behaviors", files.cases, "--call", "model:gently")

        assert by_file.out.startswith("Pass rate 1.000   2 of 2 cases passed, 1 more errored")
        assert "bob · strict callable: RuntimeError: no answer" in words(by_file.out)
        assert by_name.out.startswith("Pass rate 1.000   3 of 3 cases passed")

    def test_an_interrupt_shows_what_was_answered(self, files: Files) -> None:
        """What a slow model has said so far is not lost, and can be saved; nobody waits for it."""
        out = files.folder / "run.json"

        done = interrupted(files, "stop", "--out", str(out))

        assert done.returncode == 130
        assert done.stdout.startswith("Pass rate 1.000   2 of 2 cases passed, 1 more errored")
        assert "the result so far" in done.stderr
        saved = BehaviorRun.from_json(out.read_text("utf-8"))
        assert saved.counts == {"passed": 2, "failed": 0, "errored": 1}

    def test_an_interrupt_before_the_first_answer_shows_nothing(self, files: Files) -> None:
        done = interrupted(files, "never")

        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr == "factcheck: interrupted\n"

    def test_a_function_that_leaves_the_program_does_not(self, files: Files, run: Run) -> None:
        outcome = run("keywords", "behaviors", files.cases, "--call", f"{files.model}:leave")

        assert outcome.code == 4
        assert "no case could be scored (ann: strict: SystemExit: enough)" in outcome.err

    def test_expectations_can_be_given(self, files: Files, run: Run) -> None:
        """Variants need not be called like behaviours."""
        responses = files.put("r.json", {"tuned": ["Yes, gladly."] * 3})

        outcome = run(
            *("keywords", "behaviors", files.cases, responses, "--expect", "tuned=service")
        )

        assert outcome.out.startswith("Pass rate 1.000   3 of 3 cases passed")

    def test_junit_has_a_test_for_each_case(self, files: Files, run: Run) -> None:
        responses = files.put("r.json", {**RESPONSES, "strict": ["cannot", "cannot", None]})

        def kinds(*options: str) -> list[list[str]]:
            out = run(
                "keywords", "behaviors", files.cases, responses, "--format", "junit", *options
            ).out
            root = ET.fromstring(out)  # noqa: S314 - our own
            return [
                [test.attrib["name"], *(one.tag for one in test)] for test in root.iter("testcase")
            ]

        assert kinds() == [["ann"], ["bob", "skipped"], ["cid", "skipped"]]
        assert kinds("--fail-under", "1") == [
            ["ann"], ["bob", "failure"], ["cid", "error"], ["gate", "failure"]
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            ("model", "expected MODULE:FUNCTION"),
            ("nowhere_at_all:ask", "no module named 'nowhere_at_all'"),
            ("nowhere.py:ask", "no such file"),
            ("MODEL:NUMBER", "has no function 'NUMBER'"),
            ("MODEL:nobody", "has no function 'nobody'"),
            ("BROKEN:ask", "import failed (ZeroDivisionError"),
        ],
    )
    def test_a_function_that_is_not_there_is_a_matter_of_configuration(
        self, files: Files, run: Run, call: str, message: str
    ) -> None:
        broken = files.put("broken.py", "1 / 0")
        call = call.replace("MODEL", files.model).replace("BROKEN", broken)

        refused(run("keywords", "behaviors", files.cases, "--call", call), message, 3)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("CASES",), "give either RESPONSES or --call MODULE:FUNCTION"),
            (("CASES", "RESPONSES", "--call", "m:f"), "give either RESPONSES or"),
            (
                ("CASES", "RESPONSES", "--expect", "strict"),
                "--expect 'strict': expected NAME=VALUE",
            ),
            (("CASES", "RESPONSES", "--expect", "a=nobody"), "unknown behavior 'nobody'"),
            (("CASES", "CASES"), "cases.json, line 1: [0].instruction: unknown key"),
            (("-", "-"), "'-' (standard input) can stand for one file only"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, files: Files, run: Run, arguments: tuple[str, ...], message: str
    ) -> None:
        paths = {"CASES": files.cases, "RESPONSES": files.responses}

        refused(run("keywords", "behaviors", *(paths.get(a, a) for a in arguments)), message)


class TestLint:
    """`factcheck keywords lint`."""

    def test_faults_are_listed_with_their_cases(self, files: Files, run: Run) -> None:
        """A keyword that never fires is found where there are responses."""
        alone = run("keywords", "lint", files.cases)
        responses = files.put("r.json", {"strict": ["You cannot."] * 3})
        both = run("keywords", "lint", files.cases, responses)

        assert alone.code == 0
        assert alone.out.startswith("Findings 1   in the guides of 3 cases")
        assert "strict: 'charge' is part of service: 'no charge'" in alone.out
        assert "3 cases: ann, bob, cid" in alone.out
        assert "service: 'gladly' occurs in none of the responses" in both.out

    def test_findings_fail_only_if_asked(self, files: Files, run: Run) -> None:
        good = [{**CASES[0], "evaluation_guide": {"strict_keywords": ["cannot"]}}]

        assert run("keywords", "lint", files.cases, "--strict").code == 1
        clean = run("keywords", "lint", files.put("good.json", good), "--strict")

        assert clean == (0, "Findings none   in the guides of 1 case\n", "")

    def test_json_and_junit_have_the_same_findings(self, files: Files, run: Run) -> None:
        as_json = run("keywords", "lint", files.cases, "--format", "json").out
        as_junit = run("keywords", "lint", files.cases, "--format", "junit").out

        messages = [finding["message"] for finding in json.loads(as_json)["findings"]]
        root = ET.fromstring(as_junit)  # noqa: S314 - our own
        assert [test.attrib["name"] for test in root.iter("testcase")] == messages


class TestCompare:
    """`factcheck keywords compare`."""

    def saved(self, files: Files, run: Run, name: str, n_right: int, n_errored: int = 0) -> str:
        """A saved run over eight cases, of which the first ones are right, the last errored."""
        cases = [{"id": f"c{k}", "expected_cards": [{"text_keywords": ["x"]}]} for k in range(8)]
        right = {f"c{k}": [{"text": "x" if k < n_right else "-"}] for k in range(8 - n_errored)}
        dataset = files.put("eight.json", {"cases": cases})
        out = files.path(name)
        run("keywords", "run", dataset, files.put("o.json", right), "--out", out)
        return out

    def test_cases_are_told_apart(self, files: Files, run: Run) -> None:
        """Six of eight cases lost is no chance; one is."""
        a = self.saved(files, run, "a.json", 8)
        b, c = self.saved(files, run, "b.json", 2), self.saved(files, run, "c.json", 7)

        worse, unclear = run("keywords", "compare", a, b), run("keywords", "compare", a, c)

        assert worse.code == 0
        assert worse.out.startswith("F1 1.000 → 0.250 (-0.750)   B is worse")
        assert "8 cases: 0 better, 6 worse, 2 unchanged (sign test: p 0.031)" in worse.out
        assert "c7 1.000 0.000 -1.000" in words(worse.out)
        assert unclear.out.startswith("F1 1.000 → 0.875 (-0.125)   no clear difference")

    def test_the_gate_fails_if_b_is_worse(self, files: Files, run: Run) -> None:
        a, b = self.saved(files, run, "a.json", 8), self.saved(files, run, "b.json", 2)

        failed = run("keywords", "compare", a, b, "--fail-if-worse")

        assert failed.code == 1
        assert failed.err == "factcheck: gate failed: run B is worse (F1 -0.750, p 0.031)\n"
        assert run("keywords", "compare", b, a, "--fail-if-worse").code == 0

    def test_a_case_that_lost_its_score_fails_the_gate(self, files: Files, run: Run) -> None:
        """Or a run would pass by failing where it is bad."""
        a, b = self.saved(files, run, "a.json", 8), self.saved(files, run, "b.json", 7, 1)

        failed = run("keywords", "compare", a, b, "--fail-if-worse")

        assert "Left out: 1 case with a score only in A (c7)" in failed.out
        assert failed.code == 1
        assert "1 case has no score in run B (c7)" in failed.err

    def test_other_settings_are_told(self, files: Files, run: Run) -> None:
        a, b = files.path("a.json"), files.path("b.json")
        run("keywords", "run", files.dataset, files.outputs, "--out", a)
        run("keywords", "run", files.dataset, files.outputs, "--threshold", "0.4", "--out", b)

        outcome = run("keywords", "compare", a, b)

        assert "Note: threshold is 0.3 in run a and 0.4 in run b" in outcome.out

    def test_behaviours_are_compared_too(self, files: Files, run: Run) -> None:
        a, b = files.path("a.json"), files.path("b.json")
        good = files.put("good.json", {**RESPONSES, "service": ["gladly"] * 3})
        run("keywords", "behaviors", files.cases, good, "--out", a)
        run("keywords", "behaviors", files.cases, files.responses, "--out", b)

        outcome = run("keywords", "compare", a, b)
        as_junit = run("keywords", "compare", a, b, "--format", "junit").out

        assert outcome.out.startswith("Pass rate 1.000 → 0.667 (-0.333)   no clear difference")
        assert "Worse 1 passed in A, failed in B case bob" in words(outcome.out)
        root = ET.fromstring(as_junit)  # noqa: S314 - our own
        assert [t.attrib["name"] for t in root.iter("testcase") if len(t)] == ["bob"]

    def test_json_is_the_comparison(self, files: Files, run: Run) -> None:
        a = self.saved(files, run, "a.json", 8)

        data = json.loads(run("keywords", "compare", a, a, "--format", "json").out)

        assert (data["kind"], data["n_cases"], data["p_value"]) == ("cards", 8, 1.0)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "b.json, line 1: not valid JSON"),
            ("[]", "b.json: not a saved run; 'factcheck keywords run'"),
            ('{"format": "factcheck-keywords-cards/1"}', "b.json: 'cases' is missing"),
            ('{"format": "factcheck-keywords-cards/9"}', "b.json: not a saved run"),
        ],
    )
    def test_a_file_that_is_no_run_is_named(
        self, files: Files, run: Run, text: str, message: str
    ) -> None:
        a = self.saved(files, run, "a.json", 8)

        refused(run("keywords", "compare", a, files.put("b.json", text)), message)

    def test_runs_of_two_kinds_are_refused(self, files: Files, run: Run) -> None:
        a, b = self.saved(files, run, "a.json", 8), files.path("b.json")
        run("keywords", "behaviors", files.cases, files.responses, "--out", b)

        refused(run("keywords", "compare", a, b), "both runs must be of cards, or both of")
