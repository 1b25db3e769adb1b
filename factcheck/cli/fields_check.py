"""`factcheck fields infer-schema` and `validate`: a schema from gold records, and against them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import typer

from factcheck.cli import fields_output, fields_semantic, output
from factcheck.cli.fields import SchemaFormat
from factcheck.errors import GoldValidationError, InputError
from factcheck.fields import validate_gold
from factcheck.fields.reading import (
    Records,
    id_problems,
    infer_schema_of,
    name_of,
    read_records,
    read_schema,
    schema_errors,
)
from factcheck.fields.schemas.structure import SKIP
from factcheck.files import refuse_stdin_twice, write_text
from factcheck.reports.content import one_line
from factcheck.reports.fields import many

_MOST_ERRORS = 100


class _Problem(NamedTuple):
    position: int
    """Of the record; -1 for the schema."""
    what: str
    is_error: bool


def infer(gold: str, chosen: SchemaFormat | None, out: str | None) -> None:
    """Write the schema that the records have in common."""
    output.prepare_out(out, gold)
    made = _format_of(chosen, out)
    records = read_records(gold)
    with fields_output.warnings_told():
        schema = infer_schema_of(records)
    text = _schema_text(schema, made)
    if out is None or out == "-":
        output.print_out(text)
        return
    write_text(out, text)
    n_fields = text.count("x-eval-compare")
    output.print_out(
        f"{many(n_fields, 'field')} of {many(len(records.values), 'record')} written to {out}"
    )


def _format_of(chosen: SchemaFormat | None, out: str | None) -> SchemaFormat:
    suffix = Path(out).suffix.lower() if out else ""
    if chosen is not None or suffix in {"", ".json"}:
        return chosen or SchemaFormat.JSON
    if suffix not in {".yaml", ".yml"}:
        raise InputError(
            f"--out {out}: schemas are written as .json or .yaml; choose one, or say --format"
        )
    return SchemaFormat.YAML


def _schema_text(schema: dict[str, Any], made: SchemaFormat) -> str:
    if made is SchemaFormat.YAML:
        from factcheck.fields.strict_yaml import yaml_text

        return yaml_text(schema)
    return f"{json.dumps(schema, ensure_ascii=False, indent=2)}\n"


def validate(gold: str, schema: str, id_field: str | None, *, strict_types: bool) -> None:
    """List what is wrong with the records; leaves with 2 if there is an error among it."""
    refuse_stdin_twice(gold, schema)
    wanted = read_schema(schema)
    records = read_records(gold)
    with schema_errors(name_of(schema)):
        misfits = _misfits(records, wanted, id_field, strict_types=strict_types)
    found = [*_id_problems(records, id_field), *misfits]
    for problem in sorted(found, key=lambda problem: problem.position):
        kind = "error  " if problem.is_error else "warning"
        where = records.places[problem.position] if problem.position >= 0 else name_of(schema)
        output.print_out(f"{kind}  {one_line(f'{where}: {problem.what}')}")
    n_errors = sum(problem.is_error for problem in found)
    output.print_out(
        f"{many(len(records.values), 'record')}: {many(n_errors, 'error')}, "
        f"{many(len(found) - n_errors, 'warning')}"
    )
    if n_errors:
        raise typer.Exit(InputError.exit_code)


def _id_problems(records: Records, id_field: str | None) -> Iterator[_Problem]:
    for position, what in id_problems(records, id_field, unique=True) if id_field else ():
        yield _Problem(position, what, is_error=True)


def _misfits(
    records: Records, schema: dict[str, Any], id_field: str | None, *, strict_types: bool
) -> list[_Problem]:
    """Where records do not fit the schema: one error at most for each of them."""
    if id_field and isinstance(schema.get("properties"), dict):
        schema["properties"].setdefault(id_field, {"type": ["string", "integer"], SKIP: True})
    found: dict[_Problem, None] = {}
    known = fields_semantic.known_comparators()

    def take(record: logging.LogRecord) -> None:
        found[_warning(record)] = None

    start, n_errors = 0, 0
    with fields_output.gathered(take):
        while n_errors < _MOST_ERRORS:
            # Null fits anything: what was checked already is not checked again, but still counted.
            values = [*repeat(None, start), *records.values[start:]]
            try:
                validate_gold(values, schema, strict_types=strict_types, registry=known)
            except GoldValidationError as error:
                position = int(error.record_id)
                found[_Problem(position, _without_number(str(error), position), True)] = None
                start, n_errors = position + 1, n_errors + 1
            else:
                return list(found)
    what = f"the check ended after {n_errors} errors; mend them and run it again"
    return [*found, _Problem(start - 1, what, is_error=True)]


def _warning(record: logging.LogRecord) -> _Problem:
    """A warning on a gold record knows which; those on the schema come first."""
    text = record.getMessage()
    arguments = record.args if isinstance(record.args, tuple) else ()
    if text.startswith("gold record ") and arguments and isinstance(arguments[0], int):
        return _Problem(arguments[0], _without_number(text, arguments[0]), is_error=False)
    return _Problem(-1, text, is_error=False)


def _without_number(text: str, position: int) -> str:
    return text.removeprefix(f"gold record {position}").lstrip(": ")
