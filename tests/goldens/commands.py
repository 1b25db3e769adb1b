"""Frozen runs of the command line: a name, and the commands that make its output.

Only what a user types stands here, so a renamed command or option is one changed line. The commands
of a run share a folder with a copy of `inputs/`; the exit code and standard output of the last one
are frozen, and the files named in `files`. What goes to standard error is worded elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

MODEL = "openai/test-model"
"""Answered by a local server at a fixed address, so that keys and signatures are the same."""
SCORE = "score source.txt summary.txt"
RUN = "run"
COMPARE_RUNS = "compare"
FIELDS = "fields evaluate gold.jsonl extracted.jsonl --schema schema.yaml"
CARDS = "keywords run cards.yaml outputs.json"
SUITE = "keywords behaviors suite.json responses.json"
REFERENCES = "references answer.txt good.txt other.txt"
OWN_TEXT = "--source source.txt --summary summary.txt --facts facts.txt"
CACHE_ENTRIES = "(the entries of the cache)"
"""Stands for a command that prints them, by key."""


class Run(NamedTuple):
    """Commands in order; with `server`, a scripted model answers at `OPENAI_BASE_URL`."""

    commands: tuple[str, ...]
    files: tuple[str, ...] = ()
    server: bool = False


def run(*commands: str, files: tuple[str, ...] = (), server: bool = False) -> Run:
    """A run of these commands."""
    return Run(commands, files, server)


RUNS: dict[str, Run] = {
    "score-table": run(SCORE),
    "score-both-json": run(f"{SCORE} --direction both --format json"),
    "score-facts-markdown": run(f"{SCORE} --facts facts.yaml --format markdown"),
    "score-facts-html": run(f"{SCORE} --facts facts.yaml --format html"),
    "score-facts-junit": run(f"{SCORE} --facts facts.yaml --format junit"),
    **{
        f"score-documents-{kind}": run(
            f"{SCORE} --source source_b.txt --direction both --format {kind}"
        )
        for kind in ("table", "json", "markdown")
    },
    "score-out": run(f"{SCORE} --out report.json", files=("report.json",)),
    "score-gate": run(f"{SCORE} --fail-under 0.9"),
    "score-missing-file": run("score source.txt nowhere.txt"),
    "score-model": run(f"{SCORE} --judge {MODEL} --format json", server=True),
    "score-cascade": run(
        f"{SCORE} --judge 'cascade(local, {MODEL})' --extractor local", server=True
    ),
    "score-replayed": run(
        f"{SCORE} --judge {MODEL} --out saved.json",
        f"{SCORE} --judge replay:saved.json --extractor replay:saved.json",
        server=True,
    ),
    "facts-table": run("facts source.txt"),
    "facts-json": run("facts source.txt --format json"),
    "facts-lock": run("facts source.txt --lock lock.yaml --format json", files=("lock.yaml",)),
    "check-table": run("check facts.txt summary.txt"),
    "check-json": run("check facts.yaml summary.txt --format json"),
    "run-table": run(f"{RUN} records.jsonl"),
    "run-rows": run(f"{RUN} records.jsonl --out rows.jsonl", files=("rows.jsonl",)),
    "run-json": run(f"{RUN} records.jsonl --format json"),
    "run-model-dry": run(f"{RUN} records.jsonl --judge {MODEL} --dry-run", server=True),
    "fields-table": run(FIELDS),
    "fields-json": run(f"{FIELDS} --format json"),
    "fields-csv": run(f"{FIELDS} --format csv"),
    "fields-markdown": run(f"{FIELDS} --format markdown --id-field id"),
    "fields-semantic": run(
        "fields evaluate gold.jsonl extracted.jsonl --id-field id --semantic local"
    ),
    "fields-cascade": run(f"{FIELDS} --semantic 'cascade(local, {MODEL})'", server=True),
    "fields-infer-schema": run("fields infer-schema gold.jsonl"),
    "fields-compare": run(
        "fields evaluate gold.jsonl extracted.jsonl --schema schema.yaml --out a.json",
        "fields evaluate gold.jsonl extracted_b.jsonl --schema schema.yaml --out b.json",
        "fields compare a.json b.json",
    ),
    "keywords-run-table": run(CARDS),
    "keywords-run-json": run(f"{CARDS} --format json --assignment optimal"),
    "keywords-behaviors-table": run(SUITE),
    "keywords-behaviors-json": run(f"{SUITE} --format json"),
    "keywords-compare": run(
        f"{CARDS} --out a.json",
        "keywords run cards.yaml outputs_b.json --out b.json",
        "keywords compare a.json b.json --fail-if-worse",
    ),
    "keywords-compare-behaviors-json": run(
        f"{SUITE} --out a.json",
        "keywords behaviors suite.json responses_b.json --out b.json",
        "keywords compare a.json b.json --format json",
    ),
    "references-table": run(REFERENCES),
    "references-json": run(f"{REFERENCES} --aggregation mean --format json --fail-under 0.9"),
    "calibrate-bullets-table": run(
        f"calibrate bullets {OWN_TEXT} --random-orders 1 --out removal",
        files=("removal/rows.jsonl",),
    ),
    "calibrate-audit-table": run(f"calibrate audit {OWN_TEXT}"),
    "calibrate-audit-json": run(f"calibrate audit {OWN_TEXT} --format json"),
    "calibrate-agreement-table": run("calibrate agreement labels.jsonl"),
    "calibrate-agreement-json": run("calibrate agreement labels.jsonl --format json"),
    "compare-table": run(
        f"{RUN} records.jsonl --out a.jsonl",
        f"{RUN} records_b.jsonl --out b.jsonl",
        f"{COMPARE_RUNS} a.jsonl b.jsonl",
    ),
    "compare-json": run(
        f"{RUN} records.jsonl --out a.jsonl",
        f"{RUN} records_b.jsonl --out b.jsonl",
        f"{COMPARE_RUNS} a.jsonl b.jsonl --format json",
    ),
    "cache-stats": run(f"{SCORE} --judge {MODEL}", "cache stats", server=True),
    # The entries of the cache: whoever moves one of these keys makes users pay again.
    "keys-extract-and-check": run(f"{SCORE} --judge {MODEL}", CACHE_ENTRIES, server=True),
    "keys-reasoning-model": run(f"{SCORE} --judge openai/gpt-5-nano", CACHE_ENTRIES, server=True),
    "keys-pairs": run(
        f"{FIELDS} --semantic {MODEL}", f"{RUN} records.jsonl", CACHE_ENTRIES, server=True
    ),
    "keys-rating": run(
        f"calibrate bullets {OWN_TEXT} --random-orders 0 --rater {MODEL} --out removal",
        CACHE_ENTRIES,
        server=True,
    ),
    "keys-embeddings": run(
        f"{REFERENCES} --embedder openai/test-embedder", CACHE_ENTRIES, server=True
    ),
}
