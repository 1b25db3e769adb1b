"""A run of cards as JSON and back, and as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from factcheck.errors import InputError
from factcheck.facts.reading import Reader
from factcheck.keywords.forms import Keyword, as_keywords, to_data
from factcheck.keywords.metrics import Scores
from factcheck.keywords.results import CaseFailure, CaseResult, DatasetResult, Match, Missed
from factcheck.keywords.settings import MatchSettings

FORMAT = "factcheck-keywords-cards/1"


def run_to_dict(run: DatasetResult) -> dict[str, Any]:
    """Everything about a run; its scores are there to be read, and made anew on reading."""
    return {
        "format": FORMAT,
        "name": run.name,
        "version": run.version,
        "settings": run.settings.to_dict(),
        "macro": _scores_to_dict(run.macro),
        "micro": _scores_to_dict(run.micro),
        "intervals": {name: list(found) for name, found in run.intervals().items()},
        "warnings": list(run.warnings),
        "cases": [_entry_to_dict(case, run.digests[case.case_id]) for case in run.cases],
    }


def run_from_dict(data: Any) -> DatasetResult:
    """Inverse of `run_to_dict`.

    Raises:
        InputError: The data is no run of cards, or not of this format; says where.
    """
    read = Reader(data, "run")
    if data.get("format") != FORMAT:
        raise InputError(
            f"run: format {data.get('format')!r} is not {FORMAT!r}; it was written by another "
            "version, or is no run of cards (DatasetResult.to_json writes one)"
        )
    entries = read.mappings("cases")
    readers = [Reader(entry, f"run: case {n}") for n, entry in enumerate(entries, 1)]
    return DatasetResult(
        read.text("name"),
        read.text("version"),
        tuple(_entry_from_dict(entry) for entry in entries),
        MatchSettings.from_dict(read.mapping_required("settings")),
        {reader.text("id"): reader.text("digest") for reader in readers},
        tuple(read.texts("warnings")),
    )


def case_to_dict(case: CaseResult) -> dict[str, Any]:
    """Everything about a case, with its scores for readers."""
    return {
        "id": case.case_id,
        "n_expected": case.n_expected,
        "n_generated": case.n_generated,
        **_scores_to_dict(case.sums.scores()),
        "matches": [_match_to_dict(match) for match in case.matches],
        "missed": [missed._asdict() for missed in case.missed],
        "extra": list(case.extra),
        "note": case.note,
    }


def case_from_dict(data: Any) -> CaseResult:
    """Inverse of `case_to_dict`.

    Raises:
        InputError: A value is missing or of the wrong type.
    """
    read = Reader(data, "case")
    case = CaseResult(
        read.text("id"),
        read.integer("n_expected"),
        read.integer("n_generated"),
        tuple(_match(item) for item in read.mappings("matches")),
        tuple(_missed(item) for item in read.mappings("missed")),
        tuple(read.integers("extra") or ()),
        read.text("note", ""),
    )
    n_matched = len(case.matches)
    if (
        n_matched + len(case.missed) != case.n_expected
        or n_matched + len(case.extra) != case.n_generated
    ):
        raise InputError(f"case {case.case_id!r}: its cards do not add up; the run is damaged")
    return case


def card_rows(cases: Iterable[CaseResult | CaseFailure]) -> Iterator[dict[str, Any]]:
    """One row for each expected card, then one for each extra one, case by case."""
    for case in cases:
        if isinstance(case, CaseFailure):
            yield _row(case.case_id, "error", message=f"{case.code}: {case.message}")
            continue
        by_number: dict[int, Match | Missed] = {match.expected: match for match in case.matches}
        by_number |= {missed.expected: missed for missed in case.missed}
        for number in sorted(by_number):
            yield _card_row(case.case_id, by_number[number])
        for number in case.extra:
            yield _row(case.case_id, "extra", generated=number)


def _card_row(case_id: str, outcome: Match | Missed) -> dict[str, Any]:
    if isinstance(outcome, Missed):
        return _row(case_id, "missed", outcome.expected, outcome.nearest, outcome.score)
    unmet = _unmet_to_dict(outcome.unmet)
    return _row(case_id, "matched", outcome.expected, outcome.generated, outcome.score, unmet)


def _row(
    case: str,
    status: str,
    expected: int | None = None,
    generated: int | None = None,
    score: float | None = None,
    unmet: Mapping[str, Any] | None = None,
    message: str = "",
) -> dict[str, Any]:
    return {
        "case": case,
        "status": status,
        "expected": expected,
        "generated": generated,
        "score": score,
        "unmet": dict(unmet or {}),
        "message": message,
    }


def _scores_to_dict(scores: Scores | None) -> dict[str, Any]:
    return {} if scores is None else scores._asdict()


def _entry_to_dict(case: CaseResult | CaseFailure, digest: str) -> dict[str, Any]:
    if isinstance(case, CaseFailure):
        failure = {"code": case.code, "message": case.message}
        return {"id": case.case_id, "digest": digest, "failure": failure}
    return {**case_to_dict(case), "digest": digest}


def _entry_from_dict(data: Mapping[str, Any]) -> CaseResult | CaseFailure:
    read = Reader(data, "case")
    failure = read.mapping("failure")
    if failure is None:
        return case_from_dict(data)
    reason = Reader(failure, "failure")
    return CaseFailure(read.text("id"), reason.text("code"), reason.text("message"))


def _match_to_dict(match: Match) -> dict[str, Any]:
    return {
        **match._asdict(),
        "similarities": dict(match.similarities),
        "unmet": _unmet_to_dict(match.unmet),
    }


def _unmet_to_dict(unmet: Mapping[str, tuple[Keyword, ...]]) -> dict[str, Any]:
    return {name: [to_data(word) for word in words] for name, words in unmet.items()}


def _match(data: Mapping[str, Any]) -> Match:
    read = Reader(data, "match")
    similarities = Reader(read.mapping_required("similarities"), "match: similarities")
    right = data.get("right_type")
    return Match(
        read.integer("expected"),
        read.integer("generated"),
        read.number("score"),
        {name: similarities.number(name) for name in read.mapping_required("similarities")},
        None if right is None else read.flag("right_type", default=False),
        {n: as_keywords(words, n) for n, words in read.mapping_required("unmet").items()},
    )


def _missed(data: Mapping[str, Any]) -> Missed:
    read = Reader(data, "missed")
    nearest = None if data.get("nearest") is None else read.integer("nearest")
    return Missed(read.integer("expected"), nearest, read.number("score"))
