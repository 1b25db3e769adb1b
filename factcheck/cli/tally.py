"""What a run over many records has come to, and whether it ended well."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from dataclasses import dataclass, field

from factcheck.cli import gate
from factcheck.datasets import Record
from factcheck.errors import InputError, JudgeError
from factcheck.facts import CoverageReport, FactSet, RunSummary, short_digest
from factcheck.reports.content import lost_musts
from factcheck.scoring import RecordFailure

FINAL = frozenset({"input", "output", "truncated", "refused", "missing", "duplicate", "invalid"})
"""Codes of failures that another run would meet again. Only these are written as rows."""
_BUDGET = "budget"
_N_WORST = 5


@dataclass
class Tally:
    """What a run has come to so far."""

    summary: RunSummary = field(default_factory=RunSummary)
    failures: Counter[str] = field(default_factory=Counter)
    """Records without a report, by code."""
    first_failure: str = ""
    open: int = 0
    """Records that another run should go on with."""
    skipped: int = 0
    """Bad records that were left out."""
    worst: list[tuple[float, str]] = field(default_factory=list)
    """The lowest scores, as a heap of (-score, id)."""
    stopped_by_budget: bool = False
    lost_musts: int = 0
    """Records with a `must` fact that is not known to be kept."""
    first_lost: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    """Short digests of the records that rows are there for, by id."""
    unwritable: str = ""
    """Why no further rows could be written; empty if they could."""
    interrupted: bool = False

    def add(self, record_id: str, outcome: CoverageReport | RecordFailure) -> None:
        """Take one record into account."""
        codes = codes_of(outcome)
        self.open += not codes <= FINAL
        self.stopped_by_budget |= _BUDGET in codes
        if isinstance(outcome, RecordFailure):
            self.failures[outcome.code] += 1
            self.first_failure = self.first_failure or f"{outcome.id}: {outcome.message}"
            return
        self.summary.add(outcome)
        if lost := lost_musts(outcome):
            self.lost_musts += 1
            self.first_lost = self.first_lost or f"{record_id}: {lost}"
        if outcome.score is not None:
            heapq.heappush(self.worst, (-outcome.score, record_id))
            if len(self.worst) > _N_WORST:
                heapq.heappop(self.worst)


def codes_of(outcome: CoverageReport | RecordFailure) -> frozenset[str]:
    """Everything that went wrong with one record."""
    if isinstance(outcome, RecordFailure):
        return frozenset({outcome.code})
    return frozenset(f.code for f in (*outcome.undecided, *outcome.undecided_claims))


def read_back(path: str, tally: Tally) -> None:
    """Take the rows of an earlier run into account.

    Raises:
        InputError: The file is damaged or holds rows of another kind.
    """
    from factcheck.results import read_results

    for row in read_results(path):
        tally.texts[row["id"]] = str(row.get("record", ""))
        error = row.get("error")
        if isinstance(error, dict):
            failure = RecordFailure(row["id"], str(error.get("code")), str(error.get("message")))
            tally.add(row["id"], failure)
        else:
            tally.add(row["id"], CoverageReport.from_dict(row))


def failure(tally: Tally, threshold: float | None) -> gate.GateFailure | None:
    """Why a run did not end well, or `None`."""
    go_on = "; go on with --resume" if tally.open else ""
    if tally.stopped_by_budget:
        return gate.GateFailure(
            JudgeError.exit_code, f"the budget ended the run; this is the result so far{go_on}"
        )
    if tally.open:
        what = tally.first_failure or "some facts could not be checked"
        return gate.GateFailure(
            JudgeError.exit_code, f"{tally.open} records are not finished ({what}){go_on}"
        )
    n_failed = sum(tally.failures.values())
    if n_failed:
        code = InputError.exit_code if set(tally.failures) == {"input"} else JudgeError.exit_code
        noun = "record has" if n_failed == 1 else "records have"
        return gate.GateFailure(code, f"{n_failed} {noun} no report ({tally.first_failure})")
    score = tally.summary.score
    if score is None:
        return gate.GateFailure(JudgeError.exit_code, "nothing was scored: there are no records")
    reasons = []
    if tally.lost_musts:
        reasons.append(f"{tally.lost_musts} records lost a must fact ({tally.first_lost})")
    if threshold is not None and score < threshold:
        reasons.append(f"mean score {score:.4f} is under {threshold:g}")
    if reasons:
        return gate.GateFailure(gate.GATE_FAILED, f"gate failed: {'; '.join(reasons)}")
    return None


def digest_of(record: Record) -> str:
    """What tells a record from another one with the same id."""
    facts = FactSet.of(record.facts).to_dict() if record.facts is not None else None
    parts = (record.source, record.summary, json.dumps(facts, sort_keys=True))
    return short_digest("\0".join(parts))


def require_same(record: Record, tally: Tally) -> None:
    """A record that has a row is the one the row was made of.

    Raises:
        InputError: Its texts or facts are others.
    """
    known = tally.texts.get(record.id)
    if known is not None and known != digest_of(record):
        raise InputError(
            f"{record.where or 'the records'}: record {record.id!r} is not the one its row was "
            "made of; give changed records new ids, or start over without --resume"
        )
