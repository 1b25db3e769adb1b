"""`factcheck fields`: evaluate extracted records against gold records, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from factcheck.cli import options, output
from factcheck.cli.options import argument, flag, option
from factcheck.errors import InputError

_LOG = "factcheck.fields"
Gold = Annotated[str, argument("GOLD", "Gold records: .json, .jsonl or .yaml.")]


def evaluate(  # noqa: PLR0913 - one parameter per option
    gold: Gold,
    extracted: Annotated[
        str, argument("EXTRACTED", "Records to evaluate, or model replies with a JSON object each.")
    ],
    *,
    schema: Annotated[
        str | None,
        option("FILE", "JSON schema with x-eval-* keys.", show_default="suggested from GOLD"),
    ] = None,
    id_field: Annotated[
        str | None,
        option("KEY", "Key that holds the record id.", show_default="an id by its name"),
    ] = None,
    join: Annotated[
        Literal["position", "id"],
        option("MODE", "Pair records by position, or by id."),
    ] = "position",
    semantic: Annotated[
        str | None,
        option("JUDGE", "Judge for the comparator 'semantic'.", show_default="local"),
    ] = None,
    nulls_absent: Annotated[bool, flag("--nulls-absent", "Treat null as a missing key.")] = False,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: options.FailUnder = None,
) -> None:
    """Evaluate extracted records against gold records, field by field.

    Exits with 4 if the gate depends on undecided values.

    Records are objects: a list of them in .json or .yaml, one per line in
    .jsonl; null if nothing was extracted. In YAML, no, on, 12:30 and 2024-05-01 are strings.
    """
    from factcheck.fields import SemanticComparator
    from factcheck.fields.files import evaluate_files, gate_scores
    from factcheck.reports.text import plural
    from factcheck.scoring import gates

    to = output.destination(format_, out, gold, extracted, schema)
    budget = options.budget(max_calls, max_cost_usd)
    with (
        output.show_log(_LOG),
        SemanticComparator(semantic or "local", budget=budget) as comparator,
        output.spinner("Comparing"),
    ):
        run = evaluate_files(
            gold,
            extracted,
            comparator,
            schema_path=schema,
            id_field=id_field,
            join=join,
            nulls_absent=nulls_absent,
        )
    if to.format in {"json", "csv"}:
        for note in (*run.alerts, *run.notes):
            output.print_note(note)
    failure = gates.fields_gate(*gate_scores(run), fail_under)
    if comparator.n_undecided and not comparator.n_judged:
        pairs = plural(comparator.n_undecided, "pair")
        reason = f"no verdict on {pairs}: {comparator.last_failure}"
        failure = gates.GateFailure(gates.NOTHING_DECIDED, reason)
    output.report(run, to, failure, page=run.page(intervals=run.intervals()))
    output.exit_with(failure)


SchemaOut = Annotated[str | None, option("FILE", "Write the schema to FILE, .json or .yaml.")]


def infer_schema(gold: Gold, *, out: SchemaOut = None) -> None:
    """Infer an evaluation schema from gold records.

    Types are inferred from the values; each field gets the default
    comparator of its type. Review the schema before use.
    """
    _write_schema(gold, out, suggest=False)


def suggest(
    gold: Gold,
    *,
    schema: Annotated[
        str | None,
        option("FILE", "JSON schema, .json or .yaml.", show_default="inferred from GOLD"),
    ] = None,
    out: SchemaOut = None,
) -> None:
    """Suggest how each field is compared and each list aligned.

    Comparators, transforms, tolerances and keys are derived from names, types,
    formats and gold values; x-eval-reason gives the reason for each. Fields
    with x-eval-compare in the schema are left unchanged.
    """
    _write_schema(gold, out, suggest=True, schema=schema)


def _write_schema(gold: str, out: str | None, *, suggest: bool, schema: str | None = None) -> None:
    from factcheck.documents import json_text, refuse_stdin_twice, write_text
    from factcheck.documents.yaml_documents import yaml_text
    from factcheck.fields import files
    from factcheck.reports.text import plural

    suffix = Path(out).suffix.lower() if out else ""
    if suffix not in {"", ".json", ".yaml", ".yml"}:
        raise InputError(f"--out {out}: unknown suffix; use .json or .yaml")
    refuse_stdin_twice(gold, schema)
    output.check_out(out, gold, schema)
    with output.show_log(_LOG):
        records = files.read_records(gold)
        result = files.make_schema(records, schema, suggest=suggest)
    as_json = suffix in {"", ".json"}
    text = f"{json_text(result, indent=2)}\n" if as_json else yaml_text(result)
    if out is None or out == "-":
        output.print_out(text)
        return
    write_text(out, text)
    fields = plural(text.count("x-eval-compare"), "field")
    output.print_out(f"{fields} of {plural(len(records), 'record')} written to {out}")
