"""Requests and answers of the service, for validation and for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from factcheck.facts import AtomicFact, CheckFailure, Texts, Usage, Verdict
from factcheck.facts.report import Direction
from factcheck.fields.evaluation import Join
from factcheck.judges.ports import PairVerdict, Specificity
from factcheck.keywords.matching import THRESHOLD, TYPE_WEIGHT, Assignment
from factcheck.references import Aggregation

_SOURCE = "The bakery on Mill Lane opens at seven. It sells rye bread."
_SUMMARY = "The Mill Lane bakery opens at seven."
_FACTS = ["The bakery on Mill Lane opens at seven.", "The bakery sells rye bread."]
_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "x-eval-compare": "exact"}},
}


def _config(**example: Any) -> ConfigDict:
    """Configuration of a request: unknown keys are errors, and values are not converted."""
    return ConfigDict(
        extra="forbid",
        strict=True,
        use_attribute_docstrings=True,
        json_schema_extra={"examples": [example]},
    )


class Document(BaseModel):
    """One of several documents of a source."""

    model_config = _config(id="d1", text=_SOURCE)
    text: str
    id: str | int | None = None
    """By default `d1`, `d2`, ... by position."""


class Fact(BaseModel):
    """A fact to check; only `text` is required."""

    model_config = _config(text=_FACTS[0], must=True)
    text: str
    id: str | None = None
    span: list[int] | None = Field(None, min_length=2, max_length=2)
    """Start and end of the fact in the source, in characters."""
    weight: float = Field(1.0, ge=0)
    must: bool = False
    tags: list[str] = []
    documents: list[str] = []


class Facts(BaseModel):
    """Facts of a source, as `/v1/facts` returns them."""

    model_config = _config(facts=[{"id": "f1", "text": _FACTS[0]}])
    facts: list[Fact]
    source_digest: str | None = None
    made_by: dict[str, str] = {}
    """Extractor and its version."""
    documents: list[str] = []
    extracted: list[str] = []


Source = str | list[str | Document]
GivenFacts = list[str | Fact] | Facts
_JUDGE = Field(
    None,
    description="Name of a judge of the service; its first one by default.",
    examples=["local"],
)


class FactsRequest(BaseModel):
    """A source whose facts to extract."""

    model_config = _config(source=_SOURCE)
    source: Source
    """A text, or a list of documents."""
    judge: str | None = _JUDGE


class CheckRequest(BaseModel):
    """Facts to check against a text."""

    model_config = _config(facts=_FACTS, text=_SUMMARY)
    facts: GivenFacts
    """Statements, facts, or the answer of `/v1/facts`."""
    text: str
    judge: str | None = _JUDGE


class CoverageRequest(BaseModel):
    """A source and a summary of it."""

    model_config = _config(source=_SOURCE, summary=_SUMMARY, facts=_FACTS)
    source: Source
    """A text, or a list of documents."""
    summary: str
    facts: GivenFacts | None = None
    """Facts to check instead of extracting them."""
    direction: Direction = "coverage"
    """`both` also lists claims of the summary that the source does not support."""
    lead: bool = True
    """Whether to compute the lead baseline, with embedded judges."""
    judge: str | None = _JUDGE


class FieldsRequest(BaseModel):
    """Gold and extracted records, with the evaluation schema."""

    model_config = _config(
        schema=_SCHEMA, gold=[{"name": "Mill Lane"}], extracted=[{"name": "Mill Lane"}]
    )
    evaluation_schema: dict[str, Any] = Field(alias="schema")
    """JSON schema with the keys `x-eval-...`."""
    gold: list[dict[str, Any]]
    extracted: list[dict[str, Any] | str]
    """Records, or replies of a model with one JSON object each."""
    id_field: str | None = None
    join: Join = "position"
    judge: str | None = _JUDGE


class Pair(BaseModel):
    """A gold and an extracted value."""

    model_config = _config(gold="7 am", extracted="seven in the morning")
    gold: str
    extracted: str
    path: str = ""
    description: str = ""
    """Description of the field."""
    instructions: str = ""
    """Guidance for comparing its values."""
    specificity: Specificity = "exact"


class EquivalenceRequest(BaseModel):
    """Pairs of values to compare by meaning."""

    model_config = _config(pairs=[{"gold": "7 am", "extracted": "seven in the morning"}])
    pairs: list[Pair]
    judge: str | None = _JUDGE


class ReferencesRequest(BaseModel):
    """An output and the references to compare it with, by words and letters."""

    model_config = _config(actual_output=_SUMMARY, references=_FACTS)
    actual_output: str
    references: list[str]
    aggregation: Aggregation = "max"
    threshold: float = Field(0.7, ge=0, le=1)


class KeywordsRequest(BaseModel):
    """Expected cards with keywords, and generated cards."""

    model_config = _config(
        expected=[{"title_keywords": ["bakery", {"fold": "mill lane"}]}],
        generated=[{"title": "The bakery on Mill Lane"}],
    )
    expected: list[dict[str, Any]]
    """Cards with `FIELD_keywords`; all forms of keywords but `regex`."""
    generated: list[dict[str, Any]]
    threshold: float = Field(THRESHOLD, ge=0, le=1)
    weights: dict[str, float] = {}
    type_weight: float = TYPE_WEIGHT
    assignment: Assignment = "greedy"


class FactsAnswer(BaseModel):
    """Facts of a source, in order."""

    facts: list[AtomicFact]
    source_digest: str | None
    made_by: dict[str, str]
    documents: list[str]


class CheckAnswer(BaseModel):
    """One verdict or failure per fact, in fact order."""

    results: list[Verdict | CheckFailure]


class Numbers(BaseModel):
    """Score and bounds in [0, 1], 95 % interval, and numbers of facts by outcome."""

    score: float | None
    low: float
    high: float
    interval: list[float] | None
    counts: dict[str, int]


class CoverageAnswer(Numbers):
    """A coverage report, which `CoverageReport.from_dict` reads."""

    format: int
    faithfulness: float | None
    documents: dict[str, Numbers]
    signature: str
    usage: Usage
    facts: FactsAnswer
    results: list[Verdict | CheckFailure]
    claims: FactsAnswer | None
    claim_results: list[Verdict | CheckFailure]
    lead: float | None
    judge_quality: str
    texts: Texts | None


class FieldsAnswer(BaseModel):
    """Results by field, which `RunResult.from_dict` reads."""

    model_config = ConfigDict(extra="allow")


class Undecided(BaseModel):
    """Reason why a pair has no verdict."""

    code: str
    message: str


class EquivalenceAnswer(BaseModel):
    """One verdict or failure per pair, in pair order."""

    results: list[PairVerdict | Undecided]


class ReferencesAnswer(BaseModel):
    """Similarity of an output to its references."""

    score: float | None
    passed: bool | None
    threshold: float
    aggregation: Aggregation
    references: list[str]
    similarities: list[float]
    best_index: int | None
    best_reference: str | None
    reason: str
    error: Undecided | None
    usage: Usage
    signature: str


class KeywordsAnswer(BaseModel):
    """Matches and scores of the cards."""

    model_config = ConfigDict(extra="allow")
    recall: float | None
    precision: float | None
    f1: float | None


class Message(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(strict=True, use_attribute_docstrings=True)
    role: str
    content: Any = None
    """Text, or a list of text parts; read in the last message of the user only."""

    @property
    def text(self) -> str:
        """Text of the message, its parts one per line; empty if it has other parts."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts: list[Any] = [part.get("text") if isinstance(part, dict) else None for part in parts]
        return "\n".join(texts) if all(isinstance(text, str) for text in texts) else ""


class ChatRequest(BaseModel):
    """A question in the form of MiniCheck; other parameters of chat requests are ignored."""

    model_config = ConfigDict(
        strict=True,
        use_attribute_docstrings=True,
        json_schema_extra={
            "examples": [
                {
                    "model": "local",
                    "messages": [
                        {"role": "user", "content": f"Document: {_SOURCE}\nClaim: {_SUMMARY}"}
                    ],
                    "logprobs": True,
                }
            ]
        },
    )
    model: str
    """Name of a judge of the service."""
    messages: list[Message]
    """The last message of the user is `Document: ...`, a new line, and `Claim: ...`."""
    logprobs: bool | None = False
    stream: Literal[False] | None = False
    n: Literal[1] | None = 1


class ChatAnswer(BaseModel):
    """A chat completion whose content is `Yes`, `No`, or empty with a reason in `refusal`."""

    model_config = ConfigDict(extra="allow")
    id: str
    object: Literal["chat.completion"]
    model: str
    choices: list[dict[str, Any]]
