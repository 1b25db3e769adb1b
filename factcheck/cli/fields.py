"""`factcheck fields`: extracted records against gold ones, field by field."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from factcheck.cli import options

app = typer.Typer(rich_markup_mode=None)


class FieldsFormat(str, Enum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class SchemaFormat(str, Enum):
    """How a schema is written."""

    JSON = "json"
    YAML = "yaml"


class Join(str, Enum):
    """Which records belong together."""

    POSITION = "position"
    ID = "id"


Gold = Annotated[
    str,
    typer.Argument(metavar="GOLD", help="The right records: .json, .jsonl, .jsonl.gz or .yaml."),
]
IdField = Annotated[
    str | None,
    typer.Option("--id-field", metavar="KEY", help="The key whose value names a record."),
]
Format = Annotated[
    FieldsFormat | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="table, json, csv (one row per field result) or markdown.  "
        "[default: as --out ends, or table]",
    ),
]


@app.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    """Score records that were extracted from texts against the right ones, field by field."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("evaluate", epilog="Example: factcheck fields evaluate gold.jsonl out.jsonl")
def evaluate(  # noqa: PLR0913 - one parameter per option
    gold: Gold,
    extracted: Annotated[
        str,
        typer.Argument(
            metavar="EXTRACTED",
            help="The records to score, in the same formats; null where nothing was extracted.",
        ),
    ],
    *,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="JSON schema with x-eval-* keys, .json or .yaml. References are resolved; fields "
            "without x-eval-compare are compared by their type.  [default: inferred from GOLD]",
        ),
    ] = None,
    id_field: IdField = None,
    join: Annotated[
        Join,
        typer.Option(
            "--join",
            metavar="HOW",
            help="Which records belong together: by position, or by the id in --id-field.",
        ),
    ] = Join.POSITION,
    semantic: Annotated[
        str | None,
        typer.Option(
            "--semantic",
            metavar="JUDGE",
            help="Who compares fields with the comparator 'semantic': local, "
            "<provider>/<model>, or 'cascade(local, <provider>/<model>)'. Without --schema, all "
            "texts are compared so.  [default: local]",
        ),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", help="Requests sent at most.")
    ] = None,
    max_cost_usd: Annotated[
        float | None, typer.Option("--max-cost-usd", metavar="X", help="US dollars at most.")
    ] = None,
    nulls_absent: Annotated[
        bool,
        typer.Option("--nulls-absent", help="Count null like a key that is not there."),
    ] = False,
    format_: Format = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            metavar="SHARE",
            help="Exit with 1 if F1, as the mean over records (macro), is lower, e.g. 0.8. A value "
            "that could not be compared counts as wrong; one that nobody judged does not help to "
            "pass (exit code 4).",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", metavar="N", help="Examples shown for each field.")
    ] = 3,
    totals_only: Annotated[
        bool,
        typer.Option(
            "--totals-only",
            help="Keep no single results: JSON lines of any length fit into memory. "
            "Needs --schema.",
        ),
    ] = False,
    _debug: options.Debug = False,
) -> None:
    """Score EXTRACTED against GOLD, field by field.

    Records are objects. A .json or .yaml file holds a list of them, or one; a .jsonl file one a
    line. In YAML, no, on, 12:30 and 2024-05-01 are texts, as in version 1.2.
    """
    from factcheck.cli import fields_run
    from factcheck.runtime.budget import Budget

    given = fields_run.Given(
        gold,
        extracted,
        schema=schema,
        id_field=id_field,
        join=join.value,
        semantic=semantic,
        budget=Budget(max_calls=max_calls, max_cost_usd=max_cost_usd),
        nulls_absent=nulls_absent,
        totals_only=totals_only,
    )
    fields_run.evaluate(given, format_, out, fail_under=fail_under, examples=examples)


@app.command(
    "infer-schema", epilog="Example: factcheck fields infer-schema gold.jsonl --out schema.yaml"
)
def infer_schema(
    gold: Gold,
    *,
    format_: Annotated[
        SchemaFormat | None,
        typer.Option(
            "--format", metavar="FORMAT", help="json or yaml.  [default: as --out ends, or json]"
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the schema there.")
    ] = None,
    _debug: options.Debug = False,
) -> None:
    """Write an evaluation schema that fits GOLD.

    Types are read off the values, and each field gets the comparator of its type: review it.
    """
    from factcheck.cli import fields_check

    fields_check.infer(gold, format_, out)


@app.command(
    "validate", epilog="Example: factcheck fields validate gold.jsonl --schema schema.yaml"
)
def validate(
    gold: Gold,
    *,
    schema: Annotated[
        str, typer.Option("--schema", metavar="FILE", help="The evaluation schema, .json or .yaml.")
    ],
    id_field: IdField = None,
    strict_types: Annotated[
        bool, typer.Option("--strict-types", help="A value of another type is an error, too.")
    ] = False,
    _debug: options.Debug = False,
) -> None:
    """List what is wrong with GOLD.

    A key that the schema does not have is an error, and the exit code is 2. A missing key, or a
    list where an object should be, is worth a warning.
    """
    from factcheck.cli import fields_check

    fields_check.validate(gold, schema, id_field, strict_types=strict_types)


@app.command("compare", epilog="Example: factcheck fields compare before.json after.json")
def compare(
    run_a: Annotated[
        str,
        typer.Argument(metavar="RUN_A", help="What 'evaluate --out RUN.json' wrote; the baseline."),
    ],
    run_b: Annotated[
        str, typer.Argument(metavar="RUN_B", help="Another run on the same gold records.")
    ],
    *,
    format_: Annotated[
        FieldsFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table, json, csv (one row per field) or markdown.  "
            "[default: as --out ends, or table]",
        ),
    ] = None,
    out: options.Out = None,
    _debug: options.Debug = False,
) -> None:
    """Tell which fields RUN_B wins or loses against RUN_A.

    Runs are compared record by record. A field is won or lost if its p-value, adjusted for the
    number of fields, is below 0.05: one whose 95 % interval excludes 0 may still be neither.
    """
    from factcheck.cli import fields_compare

    fields_compare.compare(run_a, run_b, format_, out)
