"""Guides, which distinguish behaviors by keywords, and suites of cases with guides.

A response shows a behavior if it contains any of its keywords and none of its forbidden ones. The
label of a response is that of its only behavior, such as `STRICT_BEHAVIOR`, or else `AMBIGUOUS` for
several and `NO_MATCH` for none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from factcheck.documents import PathOrDash, shown, to_plain
from factcheck.documents.reading import read_document
from factcheck.errors import InputError, located
from factcheck.facts import Usage, short_digest
from factcheck.keywords.cards import (
    Row,
    by_case,
    read_rows,
    read_suite,
    require_string,
)
from factcheck.keywords.forms import (
    SUFFIX,
    Keyword,
    as_keyword_lists,
    is_forbidden,
    search,
    without_suffix,
)
from factcheck.metrics import (
    MetricReport,
    MetricResult,
    as_id,
    cases_by_id,
    require_keys,
    signature_of,
)
from factcheck.reports.page import Section, Table
from factcheck.stats.intervals import Interval

AMBIGUOUS = "AMBIGUOUS"
"""Label of a response that shows several behaviors."""
NO_MATCH = "NO_MATCH"
"""Label of a response that shows no behavior."""
WRONG = "WRONG_BEHAVIOR"
"""Failure of a response that shows exactly one behavior, but not the expected one."""
ERROR = "ERROR"
"""Failure of a missing response."""
_TEXTS = ("instruction", "input", "output")


@dataclass(frozen=True, slots=True)
class Guide:
    """Behaviors and their keywords, for classifying responses."""

    keywords: Mapping[str, tuple[Keyword, ...]]
    """Keywords by behavior, such as `strict`; a behavior without keywords is never shown."""

    def __post_init__(self) -> None:
        found = as_keyword_lists(self.keywords, "a guide")
        object.__setattr__(self, "keywords", found)
        for name, words in found.items():
            if words and all(map(is_forbidden, words)):
                raise InputError(f"{name}{SUFFIX} has forbidden keywords only; add another one")
        for label, n in Counter(self.labels.values()).items():
            if n > 1:
                raise InputError(f"two behaviors of a guide have the label {label}; rename one")

    @property
    def labels(self) -> dict[str, str]:
        """Labels by behavior, such as `STRICT_BEHAVIOR`."""
        names = {name: name.strip().upper().replace(" ", "_") for name in self.keywords}
        return {name: f"{upper}_BEHAVIOR" for name, upper in names.items()}

    @classmethod
    def of(cls, data: Any) -> Guide:
        """Convert a mapping from `<behavior>_keywords` to lists of keywords."""
        if isinstance(data, Guide):
            return data
        return cls(without_suffix(data, "a guide"))

    def label_of(self, name: str) -> str:
        """Resolve the name of a behavior, or a label; raises `InputError` if unknown."""
        labels = self.labels
        if name in {AMBIGUOUS, NO_MATCH, *labels.values()}:
            return name
        if name not in labels:
            raise InputError(f"unknown behavior {name!r}; the guide has {', '.join(labels)}")
        return labels[name]

    def classify(self, response: str) -> tuple[str, dict[str, tuple[Keyword, ...]]]:
        """Return the label of a response, and the keywords that it contains by label."""
        labels = self.labels.items()
        found = {label: search(self.keywords[name], response) for name, label in labels}
        hits = {label: one.words for label, one in found.items() if one.words}
        shows = [label for label in hits if not found[label].is_forbidden]
        if len(shows) > 1:
            return AMBIGUOUS, hits
        return (shows[0] if shows else NO_MATCH), hits


def classify_behavior(response: str, guide: Guide | Mapping[str, Any]) -> str:
    """Classify a response by the behavior that it shows: `<NAME>_BEHAVIOR`, or a constant above.

    Raises `InputError` if the response is not a string, or the guide is invalid; as a mapping, its
    keys are such as `strict_keywords` and `service_keywords`.
    """
    require_string(response, "response")
    return Guide.of(guide).classify(response)[0]


def evaluate_conflict_behavior(response: str, evaluation_guide: Guide | Mapping[str, Any]) -> str:
    """Do as `classify_behavior`."""
    return classify_behavior(response, evaluation_guide)


@dataclass(frozen=True, slots=True)
class BehaviorCase:
    """A prompt, and the guide for classifying responses to it."""

    id: str
    """Unique within its suite."""
    instruction: str
    guide: Guide
    input: str = ""
    output: str = ""
    """A reference response; informational."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """Expected label by variant; names of behaviors are accepted. If empty, each behavior of the
    guide is a variant that is expected to show it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", as_id(self.id))
        with located(f"case {self.id!r}"):
            for name in _TEXTS:
                require_string(getattr(self, name), repr(name))
            if not isinstance(self.expected, Mapping):
                raise InputError(f"'expected': expected an object, got {shown(self.expected)}")
            guide = Guide.of(self.guide)
            labels = {name: guide.label_of(label) for name, label in self.expected.items()}
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "expected", labels or guide.labels)

    @classmethod
    def of(cls, data: Any, number: int) -> BehaviorCase:
        """Convert a mapping; without an `id`, it gets its number."""
        if isinstance(data, BehaviorCase):
            return data
        optional = ("id", "input", "output", "expected")
        require_keys(data, "instruction", "evaluation_guide", optional=optional)
        given = {key: value for key, value in data.items() if value is not None or key in _TEXTS}
        guide = given.pop("evaluation_guide", None)
        return cls(**{"id": number, **given, "guide": guide})

    @property
    def digest(self) -> str:
        """Digest of guide and expectations: 8 hexadecimal digits."""
        return short_digest(repr((self.guide, self.expected)))


def load_cases(path: PathOrDash) -> tuple[BehaviorCase, ...]:
    """Load the cases of a suite of behaviors.

    Args:
        path: `.json`, `.jsonl`, `.yaml` or `.yml`: a list of cases, or an object with `cases` and
            optionally `name` and `version`. A case has `instruction` and `evaluation_guide`, with
            lists of keywords, `<behavior>_keywords`; and optionally `id` (default: its position,
            from 1), `input`, `output` and `expected`: the expected behavior by variant (default:
            each behavior is a variant that is expected to show it).

    Raises:
        InputError: The file cannot be read, or has an unknown key, an invalid keyword or a
            duplicate id; names the file and the place of the case.
    """
    return read_suite(path, BehaviorCase.of)[1]


def load_responses(path: PathOrDash) -> dict[str, Any]:
    """Load responses, for `evaluate_behaviors`.

    Args:
        path: `.json` or `.yaml`: a mapping from variant to a list of responses, or to a mapping
            from case id to response; or a list (in `.jsonl`, one per line) of objects with `id`,
            `variant` and `response`. A response that is not a string makes its case errored.

    Raises:
        InputError: The file cannot be read, has an unexpected structure, or has two responses of
            one variant to one case; names the file and place.
    """

    def read(row: Any, _: int) -> Row:
        require_keys(row, "id", "variant", "response")
        return Row((as_id(row["variant"]), as_id(row["id"])), row["response"])

    document = read_document(path)
    if isinstance(document.value, dict):
        return dict(document.value)
    responses: dict[str, dict[str, Any]] = {}
    for (variant, id_), response in read_rows(document, document.value, (), read):
        responses.setdefault(variant, {})[id_] = response
    return responses


@dataclass(frozen=True, slots=True)
class Outcome:
    """Classified response of one variant to one case."""

    variant: str
    expected: str
    """Label of the expected behavior."""
    label: str | None
    """Label of the response; `None` if it is missing."""
    response: str = ""
    hits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Descriptions of the keywords found in a wrong response, by label."""
    message: str = ""
    """Reason for a missing response."""

    @classmethod
    def of(cls, case: BehaviorCase, variant: str, response: Any) -> Outcome:
        expected = case.expected[variant]
        if isinstance(response, str):
            label, hits = case.guide.classify(response)
            found = {name: tuple(map(str, words)) for name, words in hits.items()}
            return cls(variant, expected, label, response, {} if label == expected else found)
        message = "there is no response"
        if response is not None:
            message = f"expected a string as response, got {type(response).__name__}"
        return cls(variant, expected, None, message=message)

    @property
    def failure(self) -> str:
        """`AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` or `ERROR`; empty if the response is right."""
        if self.label is None:
            return ERROR
        if self.label == self.expected:
            return ""
        if self.label in {AMBIGUOUS, NO_MATCH}:
            return self.label
        return WRONG

    @property
    def line(self) -> str:
        """The response with the expected and the shown behavior and the keywords found."""
        if self.label is None:
            return f"{self.variant}: {self.message}"
        hits = [f"; {label}: {', '.join(words)}" for label, words in self.hits.items()]
        wrong = f"expected {self.expected}, shows {self.label}{''.join(hits)}"
        return f"{self.variant}: {wrong}; “{self.response}”"


@dataclass(frozen=True, slots=True, repr=False)
class BehaviorRun(MetricReport):
    """Results of all cases of a suite; a case passes if every variant shows what is expected."""

    DERIVED = (*MetricReport.DERIVED, "failures")
    format: ClassVar[str] = "factcheck-behaviors/5"
    FIGURE: ClassVar[str] = "pass rate"
    DETAILS: ClassVar[Any] = Mapping[str, tuple[Outcome, ...]]

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes of all cases, by case and variant."""
        return [outcome for case in self.details() for outcome in case["outcomes"]]

    @property
    def failures(self) -> dict[str, int]:
        """Number of `AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` and `ERROR` responses."""
        found = Counter(outcome.failure for outcome in self.outcomes())
        return {kind: found[kind] for kind in (AMBIGUOUS, NO_MATCH, WRONG, ERROR)}

    def mean_interval(self) -> Interval | None:
        return self.interval

    def tables(self) -> tuple[Section, ...]:
        """Return the number of failures by kind."""
        rows = tuple((kind, f"{n:,}") for kind, n in self.failures.items() if n)
        table = Table(("failure", "responses"), rows)
        return (Section("Failures", table=table),) if rows else ()


def evaluate_behaviors(
    cases: Iterable[BehaviorCase | Mapping[str, Any]], responses: Mapping[str, Any]
) -> BehaviorRun:
    """Check for each case whether every variant shows its expected behavior.

    A case passes if all of them do. A case with a missing or invalid response is errored: it
    neither passes nor fails, and does not affect the other cases.

    Args:
        cases: `BehaviorCase`s, or mappings with `instruction`, `input`, `output`,
            `evaluation_guide`, and optionally `id` and `expected`.
        responses: A mapping from variant to its responses: a list in the order of the cases, or a
            mapping from case id.

    Raises:
        InputError: A case is invalid, or the responses are of an invalid type or name unknown
            variants or cases.
    """
    suite = cases_by_id(cases, BehaviorCase.of)
    if not suite:
        raise InputError("the suite has no cases")
    if not isinstance(responses, Mapping):
        raise InputError(
            f"responses: expected a mapping from variant, got {type(responses).__name__}"
        )
    variants = dict.fromkeys(variant for case in suite.values() for variant in case.expected)
    if unknown := [name for name in responses if name not in variants]:
        known = ", ".join(map(repr, variants))
        raise InputError(f"responses: unknown variant {unknown[0]!r}; variants are {known}")
    given = {name: by_case(suite, own, f"variant {name!r}") for name, own in responses.items()}
    results = {}
    for id_, case in suite.items():
        said = {variant: given.get(variant, {}).get(id_) for variant in case.expected}
        results[id_] = _result([Outcome.of(case, *one) for one in said.items()])
    return BehaviorRun(
        "behaviors",
        1.0,
        signature_of("behaviors", {}),
        Usage(),
        results,
        {id_: case.digest for id_, case in suite.items()},
    )


def _result(outcomes: Sequence[Outcome]) -> MetricResult:
    details = to_plain({"outcomes": outcomes})
    for outcome in outcomes:
        if outcome.label is None:
            return MetricResult.failed(InputError.code, outcome.line, details)
    wrong = [outcome for outcome in outcomes if outcome.failure]
    return MetricResult.scored(
        float(not wrong),
        passed=not wrong,
        reason=", ".join(f"{outcome.variant}: {outcome.failure}" for outcome in wrong),
        lines=[outcome.line for outcome in wrong],
        details=details,
    )
