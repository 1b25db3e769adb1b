"""What was scored and saved is replayed offline."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage
from factcheck.documents.results import ResultsFile
from factcheck.errors import ConfigError, InputError, JudgeRejected
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


def test_facts_that_were_given_are_not_replayed_as_extracted(path: Path) -> None:
    path.write_text(scorer().score(SOURCE, SUMMARY, facts=FACTS).to_json(), "utf-8")
    with FactCoverage(f"replay:{path}") as replayed:
        assert replayed.score("", SUMMARY, facts=[FACTS[0]]).score == 1.0
        with pytest.raises(JudgeRejected, match="no facts for the source"):
            replayed.extract(SOURCE)


def test_evidence_that_was_tampered_with_does_not_count(path: Path) -> None:
    data = json.loads(path.read_text("utf-8"))
    data["results"][0]["evidence"]["quote"] = "burned down in 1912"
    path.write_text(json.dumps(data), "utf-8")
    report = FactCoverage(ReplayChecker(path)).score("", SUMMARY, facts=FACTS[:1])
    assert (report.kept[0].evidence, report.kept[0].flags) == (None, ("quote_not_found",))


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", "some notes"), ("a.json", "{}"), ("a.jsonl", "{}\n")]
)
def test_another_file_is_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    for kind in (ReplayChecker, ReplayExtractor):
        with pytest.raises(InputError, match=f"cannot replay {path}: "):
            kind(path)


def test_a_report_without_texts_has_no_verdicts(path: Path) -> None:
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**data, "texts": None}), "utf-8")
    with pytest.raises(ConfigError, match="holds no verdicts with their texts"):
        ReplayChecker(path)
