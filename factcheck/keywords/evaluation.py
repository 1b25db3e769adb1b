"""Evaluation of a dataset of cards or a suite of behaviors; both are metrics over cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any, ClassVar

from factcheck.documents import PlainData
from factcheck.errors import Failure, InputError
from factcheck.keywords.behaviors import (
    AMBIGUOUS,
    LABEL_SUFFIX,
    NO_MATCH,
    BehaviorCase,
    as_cases,
)
from factcheck.keywords.cards import CardCase, CardDataset, as_cards
from factcheck.keywords.matching import (
    THRESHOLD,
    Assignment,
    CaseResult,
    Scores,
    check_matching,
    match_cards,
)
from factcheck.metrics.cases import EvalCase, MetricResult
from factcheck.metrics.evaluation import PureMetric, measure
from factcheck.metrics.report import MetricReport
from factcheck.reports.page import Section, Table
from factcheck.reports.text import DASH, interval_text, name_text, share
from factcheck.runtime.loop import blocking, call, each
from factcheck.settings import require_integer
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import mean_interval

_MAX_IDS = 5
_TITLES = ("recall", "precision", "F1", "average similarity")
WRONG = "WRONG_BEHAVIOR"
"""Failure of a response that shows exactly one behavior, but not the expected one."""
ERROR = "ERROR"
"""Failure of a missing response."""


@dataclass(frozen=True, slots=True, repr=False)
class CardRun(MetricReport):
    """Results of all cases of a dataset; the score of a case is F1."""

    DERIVED = (*MetricReport.DERIVED, "macro", "micro")
    format: ClassVar[str] = "factcheck-cards/4"
    FIGURE: ClassVar[str] = "mean F1"
    DETAILS: ClassVar[Any] = CaseResult

    def _columns(self) -> list[list[float]]:
        """Return the scores of the measured cases by name, without undefined ones."""
        columns: list[list[float]] = []
        for name in Scores._fields:
            scores = [getattr(one, name) for one in self.details()]
            columns.append([score for score in scores if score is not None])
        return columns

    @property
    def macro(self) -> Scores | None:
        """Mean scores of the cases, equally weighted; `None` if none was measured."""
        if not self.scores:
            return None
        recall, precision, f1, similarity = self._columns()
        average = fmean(similarity) if similarity else None
        return Scores(fmean(recall), fmean(precision), fmean(f1), average)

    @property
    def micro(self) -> Scores | None:
        """Scores over all cards of all cases; `None` if no case was measured."""
        cases = self.details()
        pairs = [match.score for case in cases for match in case.matches]
        n_expected = len(pairs) + sum(len(case.missed) for case in cases)
        n_generated = len(pairs) + sum(len(case.extra) for case in cases)
        if cases:
            return Scores.of(pairs, n_expected, n_generated)
        return None

    def tables(self) -> tuple[Section, ...]:
        """Return macro and micro scores; of a single case, they coincide."""
        macro, micro = self.macro, self.micro
        if macro is None or micro is None:
            return ()
        rows = []
        columns = zip(_TITLES, macro, micro, map(mean_interval, self._columns()), strict=True)
        for title, one, other, interval in columns:
            rows.append((title, _share(one), _share(other), interval_text(interval)))
        table = Table(("", "macro", "micro", "95 % interval of macro"), tuple(rows))
        meaning = "macro: cases are weighted equally; micro: cards are"
        return (Section("Totals", meaning=meaning, table=table),)


def _share(score: float | None) -> str:
    return DASH if score is None else share(score)


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
    code: str = ""
    """Reason for a missing response: that of a `Failure`."""
    message: str = ""

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
        hits = [f"{_behavior(label)}: {', '.join(words)}" for label, words in self.hits.items()]
        found = f"; found {'; '.join(hits)}" if hits else ""
        wrong = f"expected {_behavior(self.expected)}, shows {_behavior(self.label)}"
        return f"{self.variant}: {wrong}{found}; “{self.response}”"


@dataclass(frozen=True, slots=True)
class Outcomes(PlainData):
    """Outcomes of one case."""

    outcomes: tuple[Outcome, ...]
    """In the order of the variants."""


@dataclass(frozen=True, slots=True, repr=False)
class BehaviorRun(MetricReport):
    """Results of all cases of a suite; a case passes if every variant shows what is expected."""

    DERIVED = (*MetricReport.DERIVED, "failures", "confusion")
    format: ClassVar[str] = "factcheck-behaviors/4"
    FIGURE: ClassVar[str] = "pass rate"
    DETAILS: ClassVar[Any] = Outcomes

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes of all cases, by case and variant."""
        return [outcome for case in self.details() for outcome in case.outcomes]

    @property
    def failures(self) -> dict[str, int]:
        """Number of `AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` and `ERROR` responses."""
        found = Counter(outcome.failure for outcome in self.outcomes())
        return {kind: found[kind] for kind in (AMBIGUOUS, NO_MATCH, WRONG, ERROR)}

    @property
    def confusion(self) -> dict[str, dict[str, int]]:
        """Number of responses by expected and then by shown label; `ERROR` for missing ones."""
        table: dict[str, Counter[str]] = {}
        for outcome in self.outcomes():
            table.setdefault(outcome.expected, Counter())[outcome.label or ERROR] += 1
        return {expected: dict(row) for expected, row in table.items()}

    def mean_interval(self) -> Interval | None:
        return self.interval

    def tables(self) -> tuple[Section, ...]:
        """Return the confusion table: expected behaviors first, then others, then failures."""
        confusion = self.confusion
        found = {label for row in confusion.values() for label in row}
        last = [label for label in (AMBIGUOUS, NO_MATCH, ERROR) if label in found]
        others = sorted(found - {*confusion, *last})
        columns = [label for label in (*confusion, *others, *last) if label in found]
        rows = []
        for label, row in confusion.items():
            counts = [f"{row.get(column, 0):,}" for column in columns]
            rows.append((_behavior(label), *counts))
        table = Table(("expected", *map(_behavior, columns)), tuple(rows))
        return (Section("Shown behaviors", meaning="by expected behavior", table=table),)


async def aevaluate_dataset(
    dataset: CardDataset,
    outputs: Mapping[str, Any] | Sequence[Any] | Callable[[CardCase], Any],
    threshold: float = THRESHOLD,
    *,
    assignment: Assignment = "greedy",
    concurrency: int = 8,
) -> CardRun:
    """Match the generated cards of every case with the expected ones.

    A case whose output is missing or invalid, or for which a callable raises, is errored. It is
    excluded from all scores and does not affect the other cases.

    Args:
        dataset: The expected cards.
        outputs: A mapping from case id to cards, a list of cards for each case in order, or a
            callable, sync or async, that takes a `CardCase` and returns its cards. Cards are
            mappings or objects with attributes, such as pydantic models.
        threshold: As in `match_cards`, like the next one.
        assignment: `"greedy"` or `"optimal"`.
        concurrency: Maximum number of concurrent calls of a callable.

    Raises:
        InputError: A setting is invalid, or the outputs are of an invalid type, name an unknown
            case, or differ in number from the cases.
    """
    check_matching(threshold, assignment)
    if not isinstance(dataset, CardDataset):
        kind = type(dataset).__name__
        raise InputError(f"expected a CardDataset, as from load_dataset, got {kind}")
    if callable(outputs):
        calls = [(case,) for case in dataset.cases]
        generated = await _call_each(outputs, calls, concurrency)
    else:
        by_case = _by_case([case.id for case in dataset.cases], outputs, "outputs")
        generated = [by_case.get(case.id) for case in dataset.cases]
    cases = [
        EvalCase(id=case.id, actual_output=output, expected_output=case.expected_cards)
        for case, output in zip(dataset.cases, generated, strict=True)
    ]
    matching = partial(_match, threshold=threshold, assignment=assignment)
    identity = {"assignment": assignment, "pair_threshold": f"{threshold:g}"}
    metric = PureMetric(matching, 1.0, "cards", identity=identity)
    digests = {case.id: case.digest for case in dataset.cases}
    make = partial(CardRun, digests=digests, warnings=dataset.warnings)
    return await measure(metric, {str(case.id): case for case in cases}, make)


evaluate_dataset = blocking(aevaluate_dataset)


def _match(case: EvalCase, threshold: float, assignment: Assignment) -> MetricResult:
    cards = as_cards(case.actual_output)
    found = match_cards(case.expected_output, cards, threshold, assignment=assignment)
    reason = f"{len(found.missed):,} missed, {len(found.extra):,} extra"
    return MetricResult.scored(
        found.f1,
        passed=found.f1 == 1.0,
        reason="" if found.f1 == 1.0 else reason,
        lines=[*_lines(found, cards, threshold)],
        details=found.to_dict(),
    )


def _lines(found: CaseResult, cards: Sequence[Any], threshold: float) -> Iterator[str]:
    """Describe the cards without a match; they are counted from 1."""
    partner = {match.generated: match.expected for match in found.matches}
    for missed in found.missed:
        lacking = _fields(missed.unmet)
        yield f"missed: expected card {missed.expected + 1}" + f", lacks {lacking}" * bool(lacking)
        if missed.nearest is None:
            yield "no generated card scores above 0" if cards else "nothing was generated"
            continue
        why = f"below the threshold of {threshold:g}"
        if missed.score >= threshold:
            why = f"matched with expected card {partner[missed.nearest] + 1}"
        content = _content(cards[missed.nearest])
        yield f"nearest: card {missed.nearest + 1}, score {share(missed.score)}, {why}{content}"
    for place in found.extra:
        yield f"extra: card {place + 1}{_content(cards[place])}"


def _content(card: Any) -> str:
    """Format the fields of a generated card that is a mapping."""
    if not isinstance(card, Mapping):
        return ""
    return f": {_fields({name: (f'“{value}”',) for name, value in card.items()})}"


def _fields(texts: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name}: {', '.join(lines)}" for name, lines in texts.items())


async def aevaluate_behaviors(
    cases: Iterable[BehaviorCase | Mapping[str, Any]],
    responses: Mapping[str, Any] | Callable[[BehaviorCase, str], Any],
    *,
    expected: Mapping[str, str] | None = None,
    concurrency: int = 8,
) -> BehaviorRun:
    """Check for each case whether every variant shows its expected behavior.

    A case passes if all of them do. A case with a missing or invalid response is errored: it
    neither passes nor fails, and does not affect the other cases.

    Args:
        cases: `BehaviorCase`s, or mappings with `instruction`, `input`, `output`,
            `evaluation_guide`, and optionally `id` and `expected`.
        responses: A callable, sync or async, that takes a case and the name of a variant; or a
            mapping from variant to its responses: a list in the order of the cases, or a mapping
            from case id.
        expected: Expected behavior of each variant in every case, by name or label; by default,
            that of the cases.
        concurrency: Maximum number of concurrent calls.

    Raises:
        InputError: A case is invalid, or the responses are of an invalid type or name unknown
            variants or cases.
    """
    suite = as_cases(cases, expected)
    pairs = [(case, variant) for case in suite for variant in case.expected]
    if callable(responses):
        received = await _call_each(responses, pairs, concurrency)
    else:
        received = _given_responses(suite, pairs, responses)
    outputs: dict[str, dict[str, Any]] = {case.id: {} for case in suite}
    for (case, variant), response in zip(pairs, received, strict=True):
        outputs[case.id][variant] = response
    measured = {
        case.id: EvalCase(id=case.id, actual_output=outputs[case.id], expected_output=case)
        for case in suite
    }
    digests = {case.id: case.digest for case in suite}
    warnings = tuple(warning for case in suite for warning in case.warnings)
    make = partial(BehaviorRun, digests=digests, warnings=warnings)
    return await measure(PureMetric(_classify, 1.0, "behaviors"), measured, make)


evaluate_behaviors = blocking(aevaluate_behaviors)


def _given_responses(
    suite: Sequence[BehaviorCase], pairs: Sequence[tuple[BehaviorCase, str]], responses: Any
) -> list[Any]:
    if not isinstance(responses, Mapping):
        kind = type(responses).__name__
        raise InputError(f"responses: expected a mapping or a callable, got {kind}")
    variants = dict.fromkeys(variant for _, variant in pairs)
    if unknown := [name for name in responses if name not in variants]:
        known = ", ".join(map(repr, variants))
        raise InputError(f"responses: unknown variant {unknown[0]!r}; variants are {known}")
    ids = [case.id for case in suite]
    given = {name: _by_case(ids, own, f"variant {name!r}") for name, own in responses.items()}
    return [given.get(variant, {}).get(case.id) for case, variant in pairs]


def _classify(case: EvalCase) -> MetricResult:
    responses = case.actual_output.items()
    outcomes = [_outcome(case.expected_output, *entry) for entry in responses]
    wrong = [outcome for outcome in outcomes if outcome.failure]
    details = Outcomes(tuple(outcomes)).to_dict()
    missing = next((outcome for outcome in outcomes if outcome.label is None), None)
    if missing is not None:
        return MetricResult.failed(missing.code, missing.line, details)
    return MetricResult.scored(
        float(not wrong),
        passed=not wrong,
        reason=", ".join(f"{outcome.variant}: {outcome.failure}" for outcome in wrong),
        lines=[outcome.line for outcome in wrong],
        details=details,
    )


def _outcome(case: BehaviorCase, variant: str, response: Any) -> Outcome:
    expected = case.expected[variant]
    if isinstance(response, str):
        label, hits = case.guide.label(response), case.guide.hits(response)
        found = {name: tuple(map(str, words)) for name, words in hits.items()}
        return Outcome(variant, expected, label, response, {} if label == expected else found)
    if isinstance(response, Failure):
        return Outcome(variant, expected, None, code=response.code, message=response.message)
    why = f"expected a string as response, got {type(response).__name__}"
    why = "there is no response" if response is None else why
    return Outcome(variant, expected, None, code="input", message=why)


def _behavior(label: str) -> str:
    """Format a label: behaviors in lower case and without the suffix."""
    if label.endswith(LABEL_SUFFIX):
        return name_text(label.removesuffix(LABEL_SUFFIX).lower())
    return name_text(label)


def _by_case(ids: Sequence[str], data: Any, what: str) -> Mapping[str, Any]:
    """Key data by case id, given as such a mapping or as a list in the order of the cases."""
    if isinstance(data, Mapping):
        known = set(ids)
        if unknown := [name for name in data if name not in known]:
            names = ", ".join(f"{name!r:.80}" for name in unknown[:_MAX_IDS])
            raise InputError(f"{what}: {len(unknown)} for unknown cases: {names}")
        return data
    if isinstance(data, (str, bytes)) or not isinstance(data, Sequence):
        kind = type(data).__name__
        raise InputError(f"{what}: expected a mapping from case id, or a list, got {kind}")
    if len(data) != len(ids):
        raise InputError(f"{what}: {len(data)} for {len(ids)} cases; give one for each")
    return dict(zip(ids, data, strict=True))


async def _call_each(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], concurrency: int
) -> list[Any]:
    """Call the function concurrently; returns one result, or a `Failure` if it raised, per call."""
    require_integer("concurrency", concurrency, 1)
    failed = partial(Failure.of, "")
    return await each(lambda one: call(function, *one, failed=failed), calls, concurrency)
