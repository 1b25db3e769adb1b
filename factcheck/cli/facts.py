"""`factcheck facts`: the atomic facts of a text, and the lock file that keeps them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from factcheck.cli import options, output

if TYPE_CHECKING:
    from factcheck.facts import FactSet


class FactsFormat(str, Enum):
    """How facts are written."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def facts(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The text with the facts.")],
    *,
    extractor: Annotated[
        str | None,
        typer.Option(
            "--extractor",
            metavar="JUDGE",
            help="Who lists the facts.  [default: $FACTCHECK_EXTRACTOR, $FACTCHECK_JUDGE or local]",
        ),
    ] = None,
    format_: Annotated[
        FactsFormat, typer.Option("--format", metavar="FORMAT", help="table, json or yaml.")
    ] = FactsFormat.TABLE,
    lock: Annotated[
        str | None,
        typer.Option("--lock", metavar="FILE", help="Also write them to this YAML file to review."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Drop facts of the lock file that are not found again.")
    ] = False,
    _debug: options.Debug = False,
) -> None:
    """List the atomic facts of SOURCE.

    The lock file serves as --facts of 'factcheck score'. Written again, it keeps what was marked
    in it: must, weight and tags. Facts that were reworded, added or are gone from the source are
    not overwritten without --force.
    """
    from factcheck import files
    from factcheck.scoring import FactCoverage

    output.prepare_out(lock, source)
    text = files.read_text(source)
    with FactCoverage(extractor=extractor) as scorer, output.waiting("Extracting facts"):
        found = scorer.extract(text)
    if lock is not None:
        found = _write(found, lock, force=force)
    output.print_out(_text(found, format_))


def _write(found: FactSet, path: str, *, force: bool) -> FactSet:
    from factcheck.files import read_facts
    from factcheck.lock import write_lock

    change = write_lock(found, path, force=force)
    if not change.existed:
        output.remark(f"{path}: {len(found)} facts written")
    else:
        output.remark(
            f"{path}: {len(change.added)} added, {len(change.removed)} removed, "
            f"{change.unchanged} unchanged"
        )
        for sign, some in (("+", change.added), ("-", change.removed)):
            for fact in some:
                output.remark(f"  {sign} {fact.text}")
    return read_facts(path)


def _text(found: FactSet, chosen: FactsFormat) -> str:
    if chosen is FactsFormat.JSON:
        import json

        return json.dumps(found.to_dict(), ensure_ascii=False, indent=2)
    if chosen is FactsFormat.YAML:
        from factcheck.lock import lock_text

        return lock_text(found)
    from factcheck.facts.page import facts_text

    return facts_text(found)
