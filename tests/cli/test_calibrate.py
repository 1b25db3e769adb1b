"""`factcheck calibrate`: bullets and audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factcheck.testing import LocalOpenAIServer
from tests.cli.conftest import SOURCE, Desk, Folder, Run, refused


@pytest.fixture
def bullets(run: Run, desk: Desk) -> Run:
    """`calibrate bullets` on a text of one's own."""
    summary = desk.put(
        "harbour.md", "# The harbour\n- A deep lake.\n- An old pier.\n- A red boat.\n"
    )
    own = ("--source", desk.source, "--summary", summary, "--out", desk.path("out"))
    return lambda *options: run("calibrate", "bullets", *own, *options)


@pytest.fixture
def audit(run: Run, desk: Desk) -> Run:
    """`calibrate audit` on a text of one's own."""
    summary = desk.put("bullets.md", "- The lake is deep.\n- The pier is old.\n")
    own = ("--source", desk.source, "--summary", summary)
    return lambda *options: run("calibrate", "audit", *own, *options)


@pytest.fixture
def agreement(run: Run, desk: Desk) -> Run:
    """`calibrate agreement` with four labels."""
    rows = [
        {"document": "a", "text": "A deep lake.", "fact": "The lake is deep.", "label": True},
        {"document": "a", "text": "A deep lake.", "fact": "The mole is long.", "label": False},
        {"document": "b", "text": "A red boat.", "fact": "The pier is old.", "label": True},
        {"document": "b", "text": "A red boat.", "fact": "The boat is blue.", "label": False},
    ]
    data = desk.lines("labels.jsonl", rows)
    return lambda *options: run("calibrate", "agreement", data, *options)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("bullets", "lack an answer"),
        ("audit", "without an answer"),
        ("agreement", "undecided"),
        ("trust", "Too little was measured"),
    ],
)
def test_a_judge_without_verdicts_ends_with_4(
    request: pytest.FixtureRequest, desk: Desk, command: str, said: str
) -> None:
    """The report is printed all the same."""
    name, *options = command.split()
    calibrate = request.getfixturevalue(name)
    desk.unplug()
    code, out, err = calibrate(*options)
    assert code == 4, err
    assert said in out
    assert "local returned no verdicts" in err


def test_labels_of_some_documents_give_the_human_level(run: Run, desk: Desk) -> None:
    rows = [
        {"document": str(n), "text": f"A deep lake {n}.", "fact": "The lake is deep.", "label": 1}
        for n in range(3)
    ]
    data = desk.lines("data.jsonl", [*rows, {**rows[0], "document": "3", "label": None}])
    measured = run("calibrate", "agreement", data)
    written = run("calibrate", "agreement", data, "--out", desk.path("a.md"))

    assert "3 of 4 facts labelled, 3 of 4 documents labelled" in measured.out
    level = "People would find 100 % of the facts (44–100 %), estimated from your labels and local."
    assert measured.out.startswith(level)
    assert "local: Too little was measured for ranking" in written.out


def test_rows_figures_and_a_page_are_written(bullets: Run, desk: Desk) -> None:
    bullets()
    folder = desk.folder / "out"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rows.jsonl", "bullets.html", "curves.svg"}
    page = (folder / "bullets.html").read_text("utf-8")
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize("command", ["bullets", "audit", "agreement", "trust"])
def test_the_price_of_a_model_is_said_first(
    server: LocalOpenAIServer, run: Run, tmp_path: Path, command: str
) -> None:
    """An audit asks past the cache, so that it pays each time."""
    folder, facts = Folder(tmp_path), SOURCE.splitlines()
    own = ("--source", folder.put("source.txt", SOURCE), "--facts", folder.put("facts.txt", SOURCE))
    summary = ("--summary", folder.put("summary.md", "- A deep lake.\n- An old pier.\n"))
    texts = [{"source": SOURCE, "summary": "- A deep lake.\n- A pier.\n", "facts": facts}]
    labels = [{"text": "A deep lake.", "fact": fact, "label": 1} for fact in facts]
    line = {
        "bullets": ("calibrate", "bullets", *own, *summary, "--out", folder.path("out")),
        "audit": ("calibrate", "audit", *own, *summary),
        "agreement": ("calibrate", "agreement", folder.lines("labels.jsonl", labels)),
        "trust": ("trust", folder.lines("texts.jsonl", texts)),
    }[command]

    for _ in range(2 if command == "audit" else 1):
        n_before = len(server.requests)
        done = run(*line, "--judge", "openai/test-model")
        (said,) = [text for text in done.err.splitlines() if " needs about " in text]
        n_said = int(said.split(" needs about ")[1].split()[0])
        assert n_said == len(server.requests) - n_before > 0
    if command == "bullets":
        assert " needs about " not in run(*line, "--judge", "openai/test-model").err


def test_a_judge_that_ignores_the_text_is_exposed(audit: Run, desk: Desk) -> None:
    desk.verdicts = dict.fromkeys(desk.verdicts, "entailed")
    shown, strict = audit(), audit("--strict")

    assert (shown.code, strict.code) == (0, 1)
    assert strict.err == "factcheck: gate failed: 1 fault (--strict)\n"
    assert shown.out.startswith("4 proven errors in 32 trials. Do not use this judge.\n")
    assert "although the text says: The pier is not old." in shown.out


@pytest.fixture
def trust(run: Run, desk: Desk) -> Run:
    """`trust` on a text of one's own with known facts."""
    record = {
        "id": "harbour",
        "source": "A harbour.",
        "summary": "- The lake is deep.\n- The pier is old.\n- A red boat.\n",
        "facts": list(desk.verdicts),
    }
    texts = desk.lines("texts.jsonl", [record])
    return lambda *options: run("trust", texts, *options)


def test_trust_prints_the_price_then_a_page(trust: Run, desk: Desk) -> None:
    page = desk.path("trust.html")

    code, out, err = trust("--out", page)
    written = json.loads(trust("--format", "json").out)
    shown = (desk.folder / "trust.html").read_text("utf-8")

    assert (code, err) == (
        0,
        "local needs no requests: the judge is local, or replies are cached\n",
    )
    head, _, _ = written["conclusion"].partition(" Rank")
    assert head == "Too little was measured for ranking."
    assert out == f"{head}   Trust in local   trust.html\n"
    assert written["uses"]["rank"] == "open"
    assert written["agreement"] is None
    for part in ("Bullet removal", "Audit of local", "<svg", "Too little was measured"):
        assert part in shown
    assert "Agreement with human labels" not in shown


def test_labels_join_the_figures(trust: Run, desk: Desk) -> None:
    labels = [
        {"text": "A deep lake.", "fact": "The lake is deep.", "label": 1},
        {"text": "A red boat.", "fact": "The mole is long.", "label": 0},
    ]
    code, out, _ = trust("--labels", desk.lines("labels.jsonl", labels), "--format", "json")
    assert code == 0
    assert json.loads(out)["agreement"]["n_pairs"] == 2


def test_a_dry_run_of_trust_only_prints_the_price_and_says_what_extraction_costs(
    trust: Run, run: Run, desk: Desk
) -> None:
    given = trust("--dry-run", "--out", desk.path("trust.json"))
    texts = desk.lines("own.jsonl", [{"source": "A deep lake.", "summary": "- A lake."}])
    extracted = run("trust", texts, "--dry-run")

    assert (given.code, given.out, extracted.code, extracted.out) == (0, "", 0, "")
    assert given.err.startswith("local needs ")
    assert "free of charge" not in given.err
    assert extracted.err.endswith(
        "; facts are extracted by the embedded extractor, free of charge\n"
    )
    assert not (desk.folder / "trust.json").exists()


def test_what_trust_cannot_read_is_refused_before_anything_is_asked(run: Run, desk: Desk) -> None:
    empty, rows = desk.put("empty.jsonl", ""), desk.lines("rows.jsonl", [{"id": "a", "score": 1}])
    texts = desk.lines("texts.jsonl", [{"source": "A.", "summary": "A."}])
    refused(run("trust", empty), "empty.jsonl holds no records")
    refused(run("trust", desk.path("gone.jsonl")), "gone.jsonl")
    refused(run("trust", "--labels", rows), "unknown format with the keys")
    refused(run("trust", texts, "--out", texts), "--out would overwrite an input file")
    assert not desk.checker.calls
