"""`factcheck calibrate`: bullets and audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factcheck.testing import LocalOpenAIServer
from tests.cli.conftest import SOURCE, Desk, Folder, Run


def lines_on(folder: Folder) -> dict[str, tuple[str, ...]]:
    """Each command, on texts of one's own."""
    facts = SOURCE.splitlines()
    summary = "- The lake is deep.\n- The pier is old.\n- A red boat.\n"
    texts = [{"id": "harbour", "source": SOURCE, "summary": summary, "facts": facts}]
    labels = [{"text": f"Lake {n % 2}.", "fact": fact, "label": 1} for n, fact in enumerate(facts)]
    source, given = folder.put("source.txt", SOURCE), folder.put("facts.txt", SOURCE)
    own = ("--source", source, "--facts", given, "--summary", folder.put("summary.md", summary))
    return {
        "bullets": ("calibrate", "bullets", *own, "--out", folder.path("out")),
        "audit": ("calibrate", "audit", *own),
        "agreement": ("calibrate", "agreement", folder.lines("labels.jsonl", labels)),
        "trust": ("trust", folder.lines("texts.jsonl", texts)),
    }


@pytest.fixture
def calibrate(run: Run, desk: Desk) -> Run:
    lines = lines_on(desk)
    return lambda name, *options: run(*lines[name], *options)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("bullets", "lack an answer"),
        ("audit", "without an answer"),
        ("agreement", "undecided"),
        ("trust", "Too little was measured"),
    ],
)
def test_no_verdicts_end_with_4(calibrate: Run, desk: Desk, command: str, said: str) -> None:
    """The report is printed all the same."""
    desk.unplug()
    code, out, err = calibrate(command)
    assert code == 4, err
    assert said in out
    assert "local returned no verdicts" in err


def test_rows_figures_and_a_page_are_written(calibrate: Run, desk: Desk) -> None:
    calibrate("bullets")
    folder = desk.folder / "out"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rows.jsonl", "bullets.html", "curves.svg"}
    page = (folder / "bullets.html").read_text("utf-8")
    assert (page.count("<svg"), page.count("<polyline")) == (1, 2)
    rows = (folder / "rows.jsonl").read_bytes()
    code, _, err = calibrate("bullets")
    assert (code, (folder / "rows.jsonl").read_bytes()) == (2, rows)
    assert "rows.jsonl exists; name another folder with --out, or remove it" in err
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize("command", ["bullets", "audit", "agreement", "trust"])
def test_the_price_of_a_model_is_said_first(
    server: LocalOpenAIServer, run: Run, tmp_path: Path, command: str
) -> None:
    """An audit asks past the cache, so that it pays each time."""
    line = lines_on(Folder(tmp_path))[command]
    for _ in range(2 if command == "audit" else 1):
        n_before = len(server.requests)
        done = run(*line, "--judge", "openai/test-model")
        (said,) = [text for text in done.err.splitlines() if " needs about " in text]
        n_said = int(said.split(" needs about ")[1].split()[0])
        assert n_said == len(server.requests) - n_before > 0
    if command == "bullets":
        assert " needs about " not in run(*line, "--judge", "openai/test-model").err


def test_a_judge_that_ignores_the_text_is_exposed(calibrate: Run, desk: Desk) -> None:
    desk.verdicts = dict.fromkeys(desk.verdicts, "entailed")
    shown, strict = calibrate("audit"), calibrate("audit", "--strict")

    assert (shown.code, strict.code) == (0, 1)
    assert strict.err.endswith("factcheck: gate failed: 1 fault in 4 proven errors (--strict)\n")
    assert ". Do not use this judge.\n" in shown.out
    assert "although the text says: " in shown.out


def test_trust_prints_the_price_then_a_page(calibrate: Run, desk: Desk) -> None:
    page = desk.path("trust.html")

    code, out, err = calibrate("trust", "--out", page)
    written = json.loads(calibrate("trust", "--format", "json").out)
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


def test_a_dry_run_of_trust_only_prints_the_price(calibrate: Run, desk: Desk) -> None:
    code, out, err = calibrate("trust", "--dry-run", "--out", desk.path("trust.json"))

    assert (code, out) == (0, "")
    assert err.startswith("local needs ")
    assert not (desk.folder / "trust.json").exists()
