"""What was scored and saved is replayed offline."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage
from factcheck.documents.results import ResultsFile
from factcheck.errors import ConfigError, JudgeRejected
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CoverageReport,
    FactSet,
    SourceDocument,
    Verdict,
    locate,
)
from factcheck.judges.ports import Checker, Extractor, Ledger
from factcheck.judges.replay import ReplayChecker, ReplayExtractor
from factcheck.records import Record
from factcheck.scoring.runs import score_run
from factcheck.testing import ScriptedChecker, ScriptedExtractor

SOURCE = "The mill on the Dyle burned down in 1911. It was never rebuilt. Nobody was hurt."
FACTS = ("The mill burned down in 1911.", "The mill was never rebuilt.", "Nobody was hurt.")
SUMMARY = "A mill burned down in 1911 and two people were hurt."


def says(fact: str, text: str) -> Verdict | CheckFailure:
    about = AtomicFact("scripted", fact)
    if fact == FACTS[0]:
        return Verdict(about, "entailed", 0.9, locate("burned down in 1911", text), "said so", "a")
    if fact == FACTS[1]:
        return CheckFailure(about, "invalid", "the reply was garbage")
    return Verdict(about, "contradicted", 0.1, locate("people were hurt", text), judge="a")


def scorer(**options: Any) -> FactCoverage:
    extractor = ScriptedExtractor({SOURCE: FACTS, SUMMARY: FACTS[::2], "Nobody.": FACTS[2:]})
    return FactCoverage(ScriptedChecker(says, name="a"), extractor, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_text(scorer().score(SOURCE, SUMMARY, direction="both").to_json(), "utf-8")
    return path


def test_a_replay_gives_facts_verdicts_and_names(path: Path) -> None:
    checker, extractor = ReplayChecker(path), ReplayExtractor(path)
    assert isinstance(checker, Checker)
    assert isinstance(extractor, Extractor)
    with FactCoverage(checker, extractor) as replayed:
        facts = replayed.extract(SOURCE)
        found = replayed.score(SOURCE, SUMMARY, direction="both")
    saved = CoverageReport.from_json(path.read_text("utf-8"))

    assert (facts.facts, facts.source_digest) == (saved.facts.facts, saved.facts.source_digest)
    assert found.undecided == saved.undecided
    assert (*found.kept, *found.distorted) == tuple(
        Verdict(v.fact, v.label, v.probability, v.evidence, v.reason, v.judge, cached=True)
        for v in (*saved.kept, *saved.distorted)
    )
    assert [one.status for one in found.claim_results] == ["kept", "distorted"]
    assert found.signature["judge"] == saved.signature["judge"] == "a"
    assert found.signature["replay"] == checker.identity["replay"]
    assert (found.usage.calls, found.usage.cache_hits) == (0, 7)


def test_rows_are_replayed_with_their_documents_and_without_weights(tmp_path: Path) -> None:
    rows = ResultsFile(tmp_path / "rows.jsonl", lambda: "run", resume=False)
    documents = (SourceDocument("x", SOURCE), SourceDocument("y", "Nobody."))
    records = [Record("1", documents, SUMMARY), Record("2", " ", SUMMARY), Record("3", SOURCE, "")]
    weighed = scorer(weights="lead")
    score_run(weighed, records, rows=rows)
    replayed = FactCoverage(ReplayChecker(rows.path), ReplayExtractor(rows.path))

    assert replayed.extract(documents).facts == weighed.extract(documents).facts
    assert "weights" not in dict(replayed.signature.entries)
    assert replayed.check([FACTS[0]], SUMMARY)[0].label == "entailed"


def test_another_text_fact_or_source_has_no_answer(path: Path) -> None:
    def check(text: str, *facts: str) -> Any:
        return asyncio.run(ReplayChecker(path).check(FactSet.of(facts).facts, text, Ledger()))

    for text, fact in ((f"{SUMMARY} ", FACTS[0]), (SUMMARY, "The mill burned down in 1912.")):
        with pytest.raises(JudgeRejected, match=r"no verdict on .* score this pair again"):
            check(text, fact)
    with pytest.raises(JudgeRejected, match=r"no facts for the source 'Another mill\.'"):
        FactCoverage("local", ReplayExtractor(path)).extract("Another mill.")


def test_a_report_without_texts_has_no_verdicts(path: Path) -> None:
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**data, "texts": None}), "utf-8")
    with pytest.raises(ConfigError, match="holds no verdicts with their texts"):
        ReplayChecker(path)
