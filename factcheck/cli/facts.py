"""`factcheck facts` and `factcheck check`: list the facts of a text, and check given facts."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from factcheck.cli import options, output

if TYPE_CHECKING:
    from factcheck.facts import FactSet


class FactsFormat(str, Enum):
    """Format of a list of facts."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def facts(
    source: Annotated[str, options.argument("SOURCE", "Source text.")],
    *,
    more_sources: options.MoreSources = None,
    extractor: Annotated[
        str | None,
        options.option(
            "--extractor",
            "MODEL",
            "Extractor: local, PROVIDER/MODEL or replay:FILE.",
            show_default="$FACTCHECK_EXTRACTOR, $FACTCHECK_JUDGE or local",
        ),
    ] = None,
    format_: Annotated[
        FactsFormat, options.option("--format", "FORMAT", "table, json or yaml.", options.OUTPUT)
    ] = FactsFormat.TABLE,
    lock: Annotated[
        str | None,
        options.option(
            "--lock", "FILE", "Also write the facts to this YAML file, for review.", options.OUTPUT
        ),
    ] = None,
    force: Annotated[
        bool,
        options.flag(
            "--force", "Drop facts of the lock file that are no longer found.", options.OUTPUT
        ),
    ] = False,
    _debug: options.Debug = False,
) -> None:
    """List the atomic facts of SOURCE.

    'factcheck score --facts' reads the lock file. Updating it keeps
    the marks made in it: must, weight and tags. Facts that were edited,
    added or are gone from SOURCE are not overwritten without --force.
    """
    from factcheck.documents import refuse_stdin_twice
    from factcheck.records.facts import read_source
    from factcheck.scoring import FactCoverage

    sources = [source, *(more_sources or ())]
    refuse_stdin_twice(*sources)
    output.check_out(lock, *sources, option="--lock")
    documents = read_source(sources)
    with FactCoverage(extractor=extractor) as scorer, output.spinner("Extracting facts"):
        found = scorer.extract(documents)
    if lock is not None:
        found = _write(found, lock, force=force)
    output.print_out(_text(found, format_))


def check(
    facts: Annotated[str, options.argument("FACTS", "Facts: .txt (one per line), .json or .yaml.")],
    text: Annotated[str, options.argument("TEXT", "Text to check them against.")],
    *,
    judge: options.Judge = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    _debug: options.Debug = False,
) -> None:
    """Check given facts against TEXT.

    A fact marked 'must' that is not kept exits with 1.
    """
    from factcheck.cli.score import show_scored
    from factcheck.documents import read_text
    from factcheck.records.facts import read_facts
    from factcheck.scoring import gates

    to = output.destination(format_, out, facts, text)
    given, checked = read_facts(facts), read_text(text)
    report = show_scored(
        {"judge": judge}, lambda scorer: scorer.score("", checked, facts=given), "Checking", to
    )
    output.exit_with(gates.coverage_gate(report))


def _write(found: FactSet, path: str, *, force: bool) -> FactSet:
    from factcheck.records.facts import read_facts, write_lock
    from factcheck.reports.text import plural

    change = write_lock(found, path, force=force)
    if not change.existed:
        output.print_note(f"{path}: {plural(len(found), 'fact')} written")
    else:
        output.print_note(
            f"{path}: {len(change.added)} added, {len(change.removed)} removed, "
            f"{change.unchanged} unchanged"
        )
        for sign, some in (("+", change.added), ("-", change.removed)):
            for fact in some:
                output.print_note(f"  {sign} {fact.text}")
    return read_facts(path)


def _text(found: FactSet, made: FactsFormat) -> str:
    if made is FactsFormat.JSON:
        return json.dumps(found.to_dict(), ensure_ascii=False, indent=2)
    if made is FactsFormat.YAML:
        from factcheck.records.facts import lock_text

        return lock_text(found)
    from factcheck.facts.page import facts_text

    return facts_text(found)
