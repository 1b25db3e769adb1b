"""Two runs over the same cases compared: which cases are better, which worse, and by how much.

Cases are paired by their id. Of cards, a case is better if its F1 is higher; of behaviours, if it
passes and did not. Whether that is more than chance is the exact sign test over the cases that
changed; how large the difference is, an interval by the paired bootstrap. Equal runs and equal
seeds give equal numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from factcheck.errors import InputError
from factcheck.keywords.results import CaseResult, DatasetResult
from factcheck.keywords.suite_results import BehaviorCaseResult, BehaviorRun
from factcheck.stats import Interval, sign_test

FORMAT = "factcheck-keywords-comparison/1"
Run = DatasetResult | BehaviorRun
Case = CaseResult | BehaviorCaseResult
_NEGLIGIBLE = 1e-9
_MOST_SHOWN = 5


class CaseChange(NamedTuple):
    """One case in two runs."""

    case_id: str
    a: float
    """F1 in run `a`; of behaviours 1 if it passed, else 0."""
    b: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One score in two runs, over the cases that both have."""

    a: float | None
    """`None` where there is none: average similarity without any match."""
    b: float | None
    difference: float | None
    """`b - a`: above 0, `b` is better; `None` if either is."""
    interval: Interval
    """95 % interval of the difference; (-1, 1) where there are fewer than two cases."""


@dataclass(frozen=True, slots=True)
class KeywordComparison:
    """What changed from run `a` to run `b`, over the cases that have a score in both."""

    kind: Literal["cards", "behaviors"]
    n_cases: int
    left_out: tuple[str, ...]
    """Ids of the cases that only one run has, or that are errored in either."""
    overall: Mapping[str, Difference]
    """Of cards `macro_f1` and so on, as in `DatasetResult.intervals`; of behaviours `pass_rate`."""
    better: tuple[CaseChange, ...]
    """Cases that gained, the largest gain first."""
    worse: tuple[CaseChange, ...]
    """Cases that lost, the largest loss first."""
    unchanged: tuple[str, ...]
    """Ids of the other cases."""
    p_value: float
    """How likely tossed coins divide `better` and `worse` at least as unevenly."""
    notes: tuple[str, ...] = ()
    """What else differs between the runs, such as the threshold."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "n_cases": self.n_cases,
            "left_out": list(self.left_out),
            "overall": {
                name: {
                    "a": found.a,
                    "b": found.b,
                    "difference": found.difference,
                    "interval": list(found.interval),
                }
                for name, found in self.overall.items()
            },
            "better": [change._asdict() for change in self.better],
            "worse": [change._asdict() for change in self.worse],
            "unchanged": list(self.unchanged),
            "p_value": self.p_value,
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text; the same comparison gives the same text."""
        from factcheck.keywords.json_texts import json_text

        return json_text(self.to_dict(), indent=indent)


def compare_runs(a: Run, b: Run, *, n_resamples: int = 2000, seed: int = 0) -> KeywordComparison:
    """Say what changed from run `a` to run `b`, and whether that is more than chance.

    Args:
        a: What `b` is compared with.
        b: The run in question; its gains are positive.
        n_resamples: Resamples of the cases, for the intervals.
        seed: Equal seeds give equal numbers.

    Raises:
        InputError: The runs are not of one kind, have no scored case in common, or expect different
            things of a case; or the settings cannot be used.
    """
    if not isinstance(a, (DatasetResult, BehaviorRun)) or type(a) is not type(b):
        raise InputError(
            "both runs must be of cards, or both of behaviours, "
            f"not {type(a).__name__} and {type(b).__name__}"
        )
    own, other = _scored(a), _scored(b)
    common = [name for name in own if name in other]
    if not common:
        raise InputError(
            f"no scored case of run a ({_shown([*own])}) is in run b ({_shown([*other])})"
        )
    unlike = [name for name in common if a.digests[name] != b.digests[name]]
    if unlike:
        raise InputError(
            f"{len(unlike)} of {len(common)} cases expect something else in run b than in run a "
            f"({_shown(unlike)}); evaluate both runs with the same expectations"
        )
    cases_a, cases_b = [own[name] for name in common], [other[name] for name in common]
    overall = _overall(cases_a, cases_b, n_resamples, seed)
    changes = [
        CaseChange(name, _score(of_a), _score(of_b))
        for name, of_a, of_b in zip(common, cases_a, cases_b, strict=True)
    ]
    better = sorted((c for c in changes if c.b - c.a > _NEGLIGIBLE), key=lambda c: c.a - c.b)
    worse = sorted((c for c in changes if c.a - c.b > _NEGLIGIBLE), key=lambda c: c.b - c.a)
    everyone = dict.fromkeys([*a.digests, *b.digests])
    return KeywordComparison(
        "cards" if isinstance(a, DatasetResult) else "behaviors",
        len(common),
        tuple(name for name in everyone if name not in own or name not in other),
        overall,
        tuple(better),
        tuple(worse),
        tuple(c.case_id for c in changes if abs(c.b - c.a) <= _NEGLIGIBLE),
        sign_test(len(better), len(worse)),
        _notes(a, b),
    )


def _scored(run: Run) -> dict[str, Case]:
    """The cases that have a score, by id."""
    if isinstance(run, DatasetResult):
        return {case.case_id: case for case in run.scored}
    return {case.case_id: case for case in run.cases if case.status != "errored"}


def _score(case: Case) -> float:
    return case.f1 if isinstance(case, CaseResult) else float(case.status == "passed")


def _overall(
    a: Sequence[Case], b: Sequence[Case], n_resamples: int, seed: int
) -> dict[str, Difference]:
    from factcheck.keywords.resampling import difference_intervals

    of_a, of_b = _figures(a), _figures(b)
    intervals = difference_intervals(of_a, of_b, n_resamples, seed)
    scores_b = of_b.of_all()
    found = {}
    for name, before in of_a.of_all().items():
        after = scores_b[name]
        difference = None if before is None or after is None else after - before
        found[name] = Difference(before, after, difference, intervals[name])
    return found


def _figures(cases: Sequence[Case]) -> Any:
    from factcheck.keywords.resampling import card_figures, share_figures

    cards = [case for case in cases if isinstance(case, CaseResult)]
    if cards:
        return card_figures(cards)
    return share_figures("pass_rate", [_score(case) == 1.0 for case in cases])


def _notes(a: Run, b: Run) -> tuple[str, ...]:
    if not isinstance(a, DatasetResult) or not isinstance(b, DatasetResult):
        return ()
    own, other = a.settings.to_dict(), b.settings.to_dict()
    return tuple(
        f"{name} is {own[name]!r} in run a and {other[name]!r} in run b"
        for name in own
        if own[name] != other[name]
    )


def _shown(names: Sequence[str]) -> str:
    some = ", ".join(f"{name!r:.80}" for name in names[:_MOST_SHOWN])
    return f"{some}, ..." if len(names) > _MOST_SHOWN else some
