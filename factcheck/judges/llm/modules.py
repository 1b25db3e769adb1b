"""DSPy modules that extract facts, check them, compare values, and rate or write summaries.

These are ordinary `dspy.Module`s: they use the language model of the surrounding `dspy.context` and
can be saved and optimised. The judges in this package render the same questions and parse replies
in the same way, but send them without DSPy and add sections, batches and retries. An optimizer
rewrites the first part of a prompt file; the part after the last blank line, which says that texts
are data and how to reply, is fixed. A prompt file is one version, immutable once published.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args

import dspy

from factcheck.documents import file_errors
from factcheck.errors import ConfigError, Failure, InputError, JudgeOutputError, describe
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet, short_digest
from factcheck.judges.llm.fences import (
    fenced,
    numbered,
    one_line,
    render_pairs,
    visible,
    without_numbers,
)
from factcheck.judges.llm.replies import (
    ANSWERS,
    BULLETS,
    FACTS,
    NO,
    PAIR,
    RATING,
    Fields,
    find_answer,
    read_fields,
    read_items,
    read_pair_verdict,
    read_verdict,
    statements,
)
from factcheck.judges.ports import PairResult, Specificity, ValuePair
from factcheck.runtime.budget import least_effort
from factcheck.settings import FACTS_PER_CALL

R = TypeVar("R")
Signature: TypeAlias = type[dspy.Signature]
Form = Literal["schema", "json_object", "text"]
"""Reply format of a request: a JSON schema, any JSON object, or the prompt's instructions alone."""
Message: TypeAlias = Mapping[str, str]
"""`role` (`system`, `user` or `assistant`) and `content`."""
VERDICTS = "verdicts"
"""Output field whose value is the whole reply object, with one entry per id."""
_VERDICT: Mapping[str, Any] = {
    "type": "string",
    "pattern": f"^([0-9]+ ({'|'.join(a for a in ANSWERS if a != NO)})|{NO})$",
}
_TOKENS_PER_VERDICT = 32
_TOKENS_PER_PAIR = 64
_TOKENS_PER_REPLY = 64
_TOKENS_PER_RATING = 192
_MIN_TOKENS_FOR_FACTS = 1024
"""Token limits of replies. Unused tokens cost nothing but count against rate limits."""
_PREDICTORS = frozenset({"list_facts", "judge_facts", "judge_pairs", "rate"})
"""Keys of the programs that judges ask with."""
_REFUSALS = (dspy.LMInvalidRequestError, dspy.LMUnsupportedFeatureError)
"""Errors of DSPy that may be due to a parameter."""


@dataclass(frozen=True, slots=True)
class Question(Generic[R]):
    """The inputs of one request, and the schema and parser of its reply."""

    inputs: Mapping[str, Any]
    """Keyed by the names of the signature's input fields."""
    schema: Mapping[str, Any]
    """JSON schema of the reply: a closed object with all properties required."""
    read: Callable[[Any, str], R]
    """Parses a reply's JSON, given the judge's name; raises `JudgeOutputError`."""
    max_tokens: int = 0
    """Token limit of the reply, reasoning excluded; 0 for no limit."""

    @classmethod
    def of_fields(
        cls, inputs: Mapping[str, Any], fields: Fields, max_tokens: int = 0
    ) -> Question[dict[str, Any]]:
        """Return a question whose reply is an object with these fields."""
        schema = _object_schema({name: kind.json_schema() for name, kind in fields.items()})
        return Question(inputs, schema, lambda data, _: read_fields(data, fields), max_tokens)

    def find(self, reply: str, judge: str = "") -> R:
        """Parse a reply; raises `JudgeOutputError`."""
        value, _ = find_answer(reply, lambda data: self.read(data, judge))
        return value


class QuestionAdapter(dspy.Adapter):
    """DSPy adapter that sends a question as one request and parses the reply strictly."""

    def __init__(self, render: Callable[..., list[Message]], question: Question[Any]) -> None:
        super().__init__()
        self.format = render
        self._question = question

    def parse(self, signature: Signature, completion: str) -> dict[str, Any]:
        try:
            value, data = find_answer(completion, lambda data: self._question.read(data, ""))
        except JudgeOutputError as error:
            name = type(self).__name__
            raise dspy.AdapterParseError(name, signature, completion, str(error)) from error
        return {VERDICTS: data} if VERDICTS in signature.output_fields else value


def response_format(schema: Mapping[str, Any], *, strict: bool = True) -> Mapping[str, Any]:
    """Return the `response_format` parameter for a JSON schema."""
    form = {"name": "reply", **({"strict": True} if strict else {}), "schema": schema}
    return {"type": "json_schema", "json_schema": form}


def _object_schema(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of a closed object with all properties required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _by_id_schema(ids: Sequence[str], item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of a closed object with one required property per id."""
    properties = {key: {"$ref": "#/$defs/v"} for key in ids}
    return {**_object_schema(properties), "$defs": {"v": item}}


@cache
def load_prompt(name: str) -> str:
    """Return a published prompt; a changed one would have another fingerprint."""
    shipped = files("factcheck") / "prompts"
    root = shipped if shipped.is_dir() else Path(__file__).resolve().parents[3] / "prompts"
    return (root / f"{name}.md").read_text("utf-8").strip()


class _OneCall(dspy.Module):
    """Base of modules that make one request."""

    prompt: str
    """Name of the prompt file."""
    asks: ClassVar[str]
    """DSPy signature: input and output fields."""
    predictor: ClassVar[str]
    """Attribute name of the predictor, which is also its key in saved programs."""
    sample: ClassVar[Mapping[str, Any]]
    """Placeholder inputs for the fingerprint."""
    show: ClassVar[Mapping[str, Callable[[Any], str]]] = {}
    """Renderers of inputs that are not plain strings, by input name."""
    question: Callable[..., Question[Any]]
    """Builds the question for the inputs of a call."""

    def __init__(self) -> None:
        super().__init__()
        instructions, _, self._frame = load_prompt(self.prompt).rpartition("\n\n")
        setattr(self, self.predictor, dspy.Predict(dspy.Signature(self.asks, instructions)))

    @property
    def _predict(self) -> Any:
        return getattr(self, self.predictor)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        question = self.question(**inputs)
        with dspy.context(adapter=QuestionAdapter(self._render, question)):
            try:
                reply = self._predict(**question.inputs, config=self._config(question))
            except _REFUSALS:
                reply = self._predict(**question.inputs, config=self._limit(question))
        return self._prediction(reply, question)

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        return await dspy.asyncify(self.forward)(**inputs)

    def request(self, **inputs: Any) -> tuple[Sequence[Message], Question[Any]]:
        """Return the messages for the inputs of a call, and the question that parses the reply."""
        question, predict = self.question(**inputs), self._predict
        return self._render(predict.signature, predict.demos, question.inputs), question

    @property
    def fingerprint(self) -> str:
        """Prompt name and digest: `check_facts/v2-line@1a2b3c4d`.

        The digest covers a request rendered with placeholder inputs, so it changes with the prompt
        file, the field names, the label set and the rendering of inputs.
        """
        messages, question = self.request(**self.sample)
        sent = {"messages": messages, "response_format": response_format(question.schema)}
        digest = short_digest(without_numbers(json.dumps(sent, sort_keys=True)))
        return f"{self.prompt}@{digest}"

    def _render(
        self, signature: Signature, demos: Sequence[Mapping[str, Any]], inputs: Mapping[str, Any]
    ) -> list[Message]:
        """Render the messages of a request; the frame follows whatever an optimizer has written."""
        system = f"{signature.instructions}\n\n{self._frame}"
        messages: list[Message] = [{"role": "system", "content": system}]
        for demo in demos:
            if not {*signature.input_fields, *signature.output_fields} <= set(demo.keys()):
                continue  # an example without an answer shows nothing
            fields = {name: demo[name] for name in signature.output_fields}
            reply = json.dumps(fields.get(VERDICTS, fields), ensure_ascii=False)
            messages.append({"role": "user", "content": self._render_inputs(signature, demo)})
            messages.append({"role": "assistant", "content": reply})
        return [*messages, {"role": "user", "content": self._render_inputs(signature, inputs)}]

    def _render_inputs(self, signature: Signature, inputs: Mapping[str, Any]) -> str:
        return fenced(
            {name: self.show.get(name, visible)(inputs[name]) for name in signature.input_fields}
        )

    @property
    def lm(self) -> Any:
        """The language model of the program, or of DSPy's settings; `None` if there is none."""
        return self._predict.lm or dspy.settings.lm

    def _config(self, question: Question[Any]) -> dict[str, Any]:
        """Return what a judge sends, too; a server may refuse it."""
        config, lm = self._limit(question), self.lm
        is_plain = type(lm) is dspy.LM
        if is_plain or getattr(lm, "supports_response_schema", False):
            config["response_format"] = response_format(question.schema)
        if is_plain and lm.kwargs.get("temperature") is None and not least_effort(lm.model):
            config["temperature"] = 0.0
        return config

    def _limit(self, question: Question[Any]) -> dict[str, Any]:
        return {"max_tokens": question.max_tokens} if question.max_tokens else {}

    def _prediction(self, reply: dspy.Prediction, question: Question[Any]) -> dspy.Prediction:
        """Convert the output of the predictor: results by id, or its fields as they are."""
        if VERDICTS not in self.asks:
            return reply
        results = question.read(reply.verdicts, self.lm.model)
        return dspy.Prediction(results=tuple(results.values()))


def programmed(module: _OneCall, program: Any) -> Any:
    """Return the module to ask with: one, or as another of its kind was optimised.

    The program is another module, or the file of a saved one, which changes nothing if it is of
    another kind. Raises `ConfigError` if a module is, or the file cannot be read.
    """
    if program is None:
        return module
    if not isinstance(program, str):
        if not isinstance(program, type(module)):
            kind, needed = type(program).__name__, type(module).__name__
            raise ConfigError(f"a program {kind} was given where {needed} is needed")
        return program
    try:
        with file_errors(program, "read"):
            state = json.loads(Path(program).read_text("utf-8"))
        if not _PREDICTORS.intersection(state):
            raise ConfigError(f"{program} is no program of {', '.join(sorted(_PREDICTORS))}")
        if module.predictor in state:  # its language model is that of the judge
            module.load_state({module.predictor: {**state[module.predictor], "lm": None}})
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{program} is no saved program of DSPy ({describe(error)})") from error
    return module


class KeyFactExtraction(_OneCall):
    """Extracts the atomic facts of one section of text in one request.

    Call it with `source=`; the prediction's `facts` are whole statements, in source order. In the
    reply, and so in a demonstration, `... in May` stands for the statement before it with a detail.
    """

    prompt = "extract_facts/v3"
    asks = "source -> facts: list[str]"
    predictor = "list_facts"
    sample: ClassVar[Mapping[str, Any]] = {"source": "<<source>>"}

    def question(self, source: str) -> Question[dict[str, Any]]:
        # Half a token per character: facts repeat names, so their list can outgrow the text.
        limit = max(_MIN_TOKENS_FOR_FACTS, len(source) // 2)
        return Question.of_fields({"source": source}, FACTS, limit)

    def _prediction(self, reply: dspy.Prediction, question: Any) -> dspy.Prediction:  # noqa: ARG002
        facts = (statement.text for statement in statements(reply.facts))
        return dspy.Prediction(facts=list(dict.fromkeys(facts)))


def _fact_lines(facts: Sequence[str]) -> str:
    return "\n".join(f"f{place} {one_line(visible(fact))}" for place, fact in enumerate(facts, 1))


class FactChecker(_OneCall):
    """Checks several facts against a text in one request.

    Call it with `facts=` (a `FactSet`, atomic facts or strings) and `text=`; the prediction's
    `results` hold one `Verdict` or `CheckFailure` per fact, in fact order. The reply schema
    requires an entry per fact, so a server that enforces schemas omits none. More than 32 facts
    take several requests.
    """

    prompt = "check_facts/v2-line"
    asks = "facts: list[str], text -> verdicts: dict"
    predictor = "judge_facts"
    sample: ClassVar[Mapping[str, Any]] = {"facts": ["<<fact>>"], "text": "<<text>>"}
    show: ClassVar = {"facts": _fact_lines, "text": lambda text: numbered(text).text}

    def forward(  # type: ignore[override]  # has the inputs of this module
        self, facts: Sequence[AtomicFact | str], text: str
    ) -> dspy.Prediction:
        known = FactSet.of(facts).facts
        results: list[CheckResult] = []
        for start in range(0, max(1, len(known)), FACTS_PER_CALL):
            batch = FactSet(known[start : start + FACTS_PER_CALL])
            results += super().forward(facts=batch, text=text).results
        return dspy.Prediction(results=tuple(results))

    def question(
        self, facts: Sequence[AtomicFact | str], text: str
    ) -> Question[dict[str, CheckResult]]:
        by_id = {f"f{place}": fact for place, fact in enumerate(FactSet.of(facts), 1)}
        lines = numbered(text).spans

        def read(data: Any, judge: str) -> dict[str, CheckResult]:
            read_one = partial(read_verdict, text=text, lines=lines, judge=judge)
            return read_items(data, by_id, read_one, CheckFailure, judge)

        return Question(
            {"facts": [fact.text for fact in by_id.values()], "text": text},
            _by_id_schema(list(by_id), _VERDICT),
            read,
            _TOKENS_PER_REPLY + _TOKENS_PER_VERDICT * len(by_id),
        )


class SemanticEquivalence(_OneCall):
    """Decides for several pairs of values in one request whether they are equivalent.

    Call it with `pairs=` (`ValuePair`s, or tuples of a gold and an extracted value); the
    prediction's `results` hold one `PairVerdict` or `Failure` per pair, in pair order.
    """

    prompt = "compare_values/v2"
    show: ClassVar = {"pairs": str}
    asks = "pairs -> verdicts: dict"
    predictor = "judge_pairs"
    sample: ClassVar[Mapping[str, Any]] = {
        "pairs": [
            ValuePair("1", "0", "path", "says", "do", specificity)
            for specificity in get_args(Specificity)
        ]
    }

    def question(
        self, pairs: Sequence[ValuePair | tuple[str, str]]
    ) -> Question[dict[str, PairResult]]:
        by_id: dict[str, ValuePair] = {}
        for place, pair in enumerate(pairs, 1):
            by_id[f"p{place}"] = pair if isinstance(pair, ValuePair) else ValuePair(*pair)
        verdict = _object_schema({name: kind.json_schema() for name, kind in PAIR.items()})

        def read(data: Any, judge: str) -> dict[str, PairResult]:
            read_one = partial(read_pair_verdict, judge=judge)
            return read_items(data, by_id, read_one, Failure, judge)

        return Question(
            {"pairs": render_pairs(by_id)},
            _by_id_schema(list(by_id), verdict),
            read,
            _TOKENS_PER_REPLY + _TOKENS_PER_PAIR * len(by_id),
        )


class LLMJudge(_OneCall):
    """Rates the faithfulness of a summary in one request: the common baseline.

    Call it with `source_text=` and `summary=`; the prediction has `faithfulness`, an integer from 1
    to 5, and `reason`, a sentence. Texts are never truncated, because a rating of a part would pass
    for one of the whole; the provider rejects texts beyond the model's context window.
    """

    prompt = "rate_faithfulness/v1"
    asks = "source_text, summary -> reason, faithfulness: int"
    predictor = "rate"
    sample: ClassVar[Mapping[str, Any]] = {
        "source_text": "<<source_text>>",
        "summary": "<<summary>>",
    }

    def question(self, source_text: str, summary: str) -> Question[dict[str, Any]]:
        inputs = {"source_text": source_text, "summary": summary}
        return Question.of_fields(inputs, RATING, _TOKENS_PER_RATING)


class Summarizer(_OneCall):
    """Summarizes a source in bullet points that keep its facts, in one request.

    Call it with `source=`; the prediction has `summary`, Markdown with one line `- ...` per bullet,
    and `bullets`, the same as a non-empty list. The source is never truncated. The language model's
    settings limit the length of the reply; a truncated reply is an error.
    """

    prompt = "summarize/v1"
    asks = "source_text -> bullets: list[str]"
    predictor = "summarize"
    sample: ClassVar[Mapping[str, Any]] = {"source": "<<source_text>>"}

    def question(self, source: str) -> Question[dict[str, Any]]:
        return Question.of_fields({"source_text": source}, BULLETS)

    def _prediction(self, reply: dspy.Prediction, question: Any) -> dspy.Prediction:  # noqa: ARG002
        summary = "\n".join(f"- {bullet}" for bullet in reply.bullets)
        return dspy.Prediction(summary=summary, bullets=reply.bullets)
