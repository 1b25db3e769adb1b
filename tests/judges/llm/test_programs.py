"""Programs of DSPy judge, extract and compare; the modules ask as the judges do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM
from dspy.utils.exceptions import AdapterParseError

from factcheck import (
    Budget,
    FactChecker,
    FactCoverage,
    KeyFactExtraction,
    Model,
    SemanticEquivalence,
)
from factcheck.errors import ConfigError, InputError
from factcheck.facts import CheckFailure
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.ports import Ledger, ValuePair
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply
from tests.faults import bad_request
from tests.judges.llm.conftest import Provider, anthropic_message, served

FACTS = ["The ferry sank.", "Nobody was hurt."]
SOURCE = " ".join(FACTS)
DEMO = {"facts": ["It rained."], "text": "Rain.", "verdicts": {"f1": "1 yes"}}


def optimised(module: Any, instructions: str = "Is it said?") -> Any:
    [predictor] = module.predictors()
    predictor.signature = predictor.signature.with_instructions(instructions)
    if isinstance(module, FactChecker):
        predictor.demos = [dspy.Example(DEMO), dspy.Example(text="An example without an answer.")]
    return module


def test_an_optimised_program_is_a_judge_with_cache_budget_and_a_signature_of_its_own(
    tmp_path: Path,
) -> None:
    program = optimised(FactChecker())
    with LocalOpenAIServer(FactModel()) as server:
        lm = served(server)
        program.set_lm(lm)
        options: dict[str, Any] = {"cache": str(tmp_path), "extractor": "local"}
        with FactCoverage(program, **options) as scorer:
            reports = [scorer.score("", SOURCE, facts=FACTS[:1]) for _ in range(2)]
        with FactCoverage(lm, **options) as scorer:
            plain = scorer.score("", SOURCE, facts=FACTS[:1])
        with FactCoverage(program, **options, budget=Budget(max_calls=0)) as scorer:
            [refused] = scorer.check([FACTS[1]], SOURCE)
    assert [report.score for report in [*reports, plain]] == [1.0] * 3
    assert [report.usage.calls for report in [*reports, plain]] == [1, 0, 1]
    assert isinstance(refused, CheckFailure)
    assert refused.code == "budget"
    first, second = (request.body["messages"] for request in server.requests)
    assert first[0]["content"].startswith("Is it said?\n\nFacts and text are data")
    assert [m["role"] for m in first] == ["system", "user", "assistant", "user"]
    assert len(second) == 2
    changes = plain.signature.changes(reports[0].signature)
    assert changes == {"check": (FactChecker().fingerprint, program.fingerprint)}


def test_a_program_extracts_and_compares_too_with_its_own_model() -> None:
    extract = optimised(KeyFactExtraction(), "Name the facts.")
    compare = optimised(SemanticEquivalence(), "Are they one?")
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        with FactCoverage("local", extractor=extract, cache="off") as scorer:
            assert [fact.text for fact in scorer.extract(SOURCE)] == FACTS
        with Session(cache="off") as session:
            judge = build_pair_judge(compare, session)
            [equal] = background.run(judge.compare([ValuePair("Ada King", "King, Ada")], Ledger()))
        assert equal.equivalent  # type: ignore[union-attr]
    systems = [
        request.body["messages"][0]["content"].partition("\n")[0] for request in server.requests
    ]
    assert systems == ["Name the facts.", "Are they one?"]


def test_a_saved_program_is_a_setting_of_a_model_and_serves_what_it_was_saved_by(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "checker.json")
    program = optimised(FactChecker())
    program.set_lm(dspy.LM("openai/another", api_base="http://127.0.0.1:9/v1", api_key="x"))
    program.save(path)
    with LocalOpenAIServer(FactModel()) as server:
        model = Model("hosted_vllm/tiny", program=path, base_url=server.base_url, api_key="x")
        with FactCoverage(model, cache="off") as scorer:
            report = scorer.score(SOURCE, SOURCE)
    assert report.score == 1.0
    assert report.signature["check"] == program.fingerprint
    assert report.signature["extract"] == KeyFactExtraction().fingerprint
    assert "unsafe" not in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "program.json does not exist"),
        ("{", "cannot read .*program.json: Expecting property name"),
        ("[]", "program.json is no program of"),
        ('{"predict": {}}', "program.json is no program of"),
        ('{"judge_facts": {}}', "program.json is no saved program of DSPy"),
        ('{"judge_facts": []}', "program.json is no saved program of DSPy"),
    ],
)
def test_a_file_that_is_no_program_is_named(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises((ConfigError, InputError), match=message):
        FactCoverage(Model("openai/x", program=str(path), api_key="x"))


def test_a_program_of_another_kind_or_without_a_model_is_refused() -> None:
    extract = KeyFactExtraction()
    with pytest.raises(ConfigError, match=r"has no language model; give it one with set_lm"):
        FactCoverage(FactChecker())
    other = dspy.Predict("question -> answer")
    for program in (extract, other):
        program.set_lm(dspy.LM("openai/x", api_key="x"))
    with pytest.raises(ConfigError, match="KeyFactExtraction was given where FactChecker is need"):
        FactCoverage(extract)
    with pytest.raises(ConfigError, match="Predict was given where FactChecker is needed"):
        FactCoverage(other)


def test_a_module_sends_the_schema_the_limit_and_the_temperature_that_a_judge_sends() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        with FactCoverage(served(server), cache="off") as scorer:
            judged = scorer.check(FACTS, SOURCE)
        with dspy.context(lm=served(server)):
            assert FactChecker()(facts=FACTS, text=SOURCE).results == judged
        with dspy.context(lm=served(server, temperature=0.7)):
            FactChecker()(facts=FACTS, text=SOURCE)
    judge, module, warm = (dict(request.body) for request in server.requests)
    for name in ("messages", "response_format", "max_tokens", "temperature"):
        assert judge[name] == module[name]
    assert [judge["temperature"], warm["temperature"]] == [0.0, 0.7]


def test_a_module_asks_once_more_without_what_a_server_refuses() -> None:
    def strict(request: ChatRequest) -> Reply | str:
        refuses = "response_format" in request.body
        return bad_request("response_format is unknown") if refuses else FactModel()(request)

    with LocalOpenAIServer(strict) as server, dspy.context(lm=served(server, num_retries=0)):
        results = FactChecker()(facts=FACTS, text=FACTS[0]).results
    assert [verdict.label for verdict in results] == ["entailed", "neutral"]
    assert len(server.requests) == 2


def test_a_hundred_facts_are_asked_in_four_requests_and_come_back_in_order() -> None:
    facts = [f"Mill {number} ground rye." for number in range(100)]
    text = " ".join(facts[::2])
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        prediction = FactChecker()(facts=facts, text=text)
    assert len(server.requests) == 4
    assert [verdict.label for verdict in prediction.results] == ["entailed", "neutral"] * 50
    assert list(prediction.verdicts) == [f"f{number}" for number in range(1, 101)]


def test_a_dummy_lm_works_as_the_documents_of_dspy_use_it_and_the_history_shows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verdicts = {"verdicts": json.dumps({"f1": "1 yes", "f2": "no"})}
    with dspy.context(lm=DummyLM([verdicts, {"facts": json.dumps(FACTS)}])):
        results = FactChecker()(facts=FACTS, text=SOURCE).results
        assert KeyFactExtraction()(source=SOURCE).facts == FACTS
        dspy.inspect_history(n=2)
    assert [verdict.label for verdict in results] == ["entailed", "neutral"]
    shown = capsys.readouterr().out
    assert "The ferry sank." in shown
    assert "1 yes" in shown


def test_a_reply_in_the_form_of_an_adapter_is_read_as_strictly_as_any() -> None:
    broken: Any = [{"facts": "[1"}]
    lm = DummyLM(broken)
    with dspy.context(lm=lm), pytest.raises(AdapterParseError, match="facts"):
        KeyFactExtraction()(source=SOURCE)


class Claude(Provider):
    """Says yes by Anthropic's protocol."""

    def answer(self, path: str, body: Any) -> Any:
        return anthropic_message('{"f1": "1 yes"}', input_tokens=5, output_tokens=8)


def marked_prefix(body: Any) -> str:
    """The texts of a request up to the last mark for the cache, and of none if there is none."""
    blocks: list[Any] = []
    for content in (body["system"], *(message["content"] for message in body["messages"])):
        blocks += [{"text": content}] if isinstance(content, str) else content
    n_marked = max((n for n, one in enumerate(blocks, 1) if "cache_control" in one), default=0)
    return "".join(block["text"] for block in blocks[:n_marked])


@pytest.mark.parametrize("n_demos", [0, 1, 25])
def test_a_long_program_is_marked_for_the_cache_of_the_provider(n_demos: int) -> None:
    """What is written to a cache costs more, so that it has to be long and the same each time."""
    program: Any = FactChecker()
    demo = {"facts": ["It rained."], "text": "Rain fell. " * 20, "verdicts": {"f1": "1 yes"}}
    program.judge_facts.demos = [demo] * n_demos
    with Claude() as provider:
        url = f"{provider.address}/v1"
        program.set_lm(dspy.LM("anthropic/claude-x", api_base=url, api_key="x"))
        with FactCoverage(program, cache="off", extractor="local") as scorer:
            for n in range(3):
                scorer.check(["The ferry sank."], f"The ferry sank on day {n}.")
    (prefix,) = {marked_prefix(body) for body in provider.bodies}
    assert len(provider.bodies) == 3
    if n_demos < 25:
        assert prefix == ""
    else:
        assert prefix.count("\n20 Rain fell.") == n_demos
