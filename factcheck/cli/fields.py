"""`factcheck fields`: extracted records against gold records, field by field."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import partial
from itertools import repeat, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from factcheck.cli import options, output
from factcheck.cli.options import OUTPUT, Format
from factcheck.errors import GoldValidationError, InputError

if TYPE_CHECKING:
    from logging import LogRecord

    from factcheck.fields import FieldResult, Registry, RunResult, SchemaNode, SemanticComparator
    from factcheck.fields.evaluation import FieldEvaluator
    from factcheck.fields.files import Records
    from factcheck.fields.runs.undecided import Undecided
    from factcheck.scoring.gates import FieldScores, GateFailure
    from factcheck.stats import Interval

SEMANTIC = "semantic"
_LOG = "factcheck.fields"
_MAX_ERRORS = 100
_MISSING = object()
_N_RESAMPLES = 2_000
_MANY_RECORDS = 20_000
"""From here on intervals are narrow, and fewer resamples do."""
_NOT_RESAMPLED = (
    "Aggregates only: intervals are Student's t instead of bootstrap intervals and differ "
    "slightly from those of a run that keeps its records"
)

app = typer.Typer(**options.FAMILY, help="Evaluate structured extraction, field by field.")
app.callback()(options.show_help)


class SchemaFormat(str, Enum):
    """Format of a schema."""

    JSON = "json"
    YAML = "yaml"


class Join(str, Enum):
    """How gold and extracted records are paired."""

    POSITION = "position"
    ID = "id"


Gold = Annotated[
    str,
    typer.Argument(metavar="GOLD", help="Gold records: .json, .jsonl, .jsonl.gz or .yaml."),
]
IdField = Annotated[
    str | None, typer.Option("--id-field", metavar="KEY", help="Key that holds the record id.")
]


@app.command("evaluate", epilog="Example: factcheck fields evaluate gold.jsonl out.jsonl")
def evaluate(  # noqa: PLR0913 - one parameter per option
    gold: Gold,
    extracted: Annotated[
        str,
        typer.Argument(
            metavar="EXTRACTED",
            help="Records to evaluate, in the same formats; null if nothing was extracted.",
        ),
    ],
    *,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="JSON schema with x-eval-* keys, .json or .yaml. Fields without "
            "x-eval-compare are compared by type.",
            show_default="inferred from GOLD",
        ),
    ] = None,
    id_field: IdField = None,
    join: Annotated[
        Join,
        typer.Option(
            "--join", metavar="HOW", help="Pair records by position, or by the id in --id-field."
        ),
    ] = Join.POSITION,
    semantic: Annotated[
        str | None,
        typer.Option(
            "--semantic",
            metavar="JUDGE",
            help="Judge of the comparator 'semantic': local, PROVIDER/MODEL or "
            "'cascade(local, PROVIDER/MODEL)'. Without --schema, all strings are compared by it.",
            show_default="local",
        ),
    ] = None,
    nulls_absent: Annotated[
        bool, typer.Option("--nulls-absent", help="Treat null as a missing key.")
    ] = False,
    totals_only: Annotated[
        bool,
        typer.Option(
            "--totals-only",
            help="Stream and keep aggregates only (constant memory); needs --schema.",
        ),
    ] = False,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        options.fail_under(
            "Exit with 1 if the mean F1 over records is lower, e.g. 0.8. Values that could not "
            "be compared count as wrong; values without a verdict never help to pass (exit 4)."
        ),
    ] = None,
    examples: Annotated[int, options.examples("Number of examples per field.")] = 3,
    _debug: options.Debug = False,
) -> None:
    """Evaluate extracted records against gold records, field by field.

    Records are objects: a list of them in .json or .yaml, one per line in
    .jsonl. In YAML, no, on, 12:30 and 2024-05-01 are strings.
    """
    from factcheck.documents import refuse_stdin_twice
    from factcheck.fields import SemanticComparator
    from factcheck.runtime.budget import Budget
    from factcheck.scoring import gates

    gates.check_threshold(fail_under)
    to = output.destination(format_, out, gold, extracted, schema)
    refuse_stdin_twice(gold, extracted, schema)
    _check_options(to.format, schema, id_field, join, totals_only=totals_only)
    budget = Budget(max_calls=max_calls, max_cost_usd=max_cost_usd)
    with (
        output.collect_warnings(_LOG),
        SemanticComparator(semantic or "local", budget=budget) as comparator,
        output.spinner("Comparing"),
    ):
        job = _Evaluation(
            gold, extracted, schema, id_field, join, semantic, comparator, nulls_absent
        )
        if totals_only:
            scored = job.totals()
        else:
            with _without_gc():
                scored = job.results()
    if to.format in {Format.JSON, Format.CSV}:
        for note in scored.notes:
            output.print_note(note)
    failure = gates.fields_gate(field_scores(scored.run, scored.undecided), fail_under)
    if comparator.n_undecided and not comparator.n_judged:
        why = f"no verdict on any of {comparator.n_undecided:,} pairs: {comparator.last_failure}"
        failure = gates.GateFailure(gates.NOTHING_DECIDED, why)
    output.show(_run_report(scored, examples, failure), to)
    output.exit_with(failure)


@app.command(
    "infer-schema", epilog="Example: factcheck fields infer-schema gold.jsonl --out schema.yaml"
)
def infer_schema(
    gold: Gold,
    *,
    format_: Annotated[
        SchemaFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="json or yaml.",
            show_default="by the suffix of --out, or json",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Write the schema to FILE.", rich_help_panel=OUTPUT
        ),
    ] = None,
    _debug: options.Debug = False,
) -> None:
    """Infer an evaluation schema from gold records.

    Types are those of the values, and each field gets the default
    comparator of its type. Review it before use.
    """
    from factcheck.documents import write_text
    from factcheck.fields import files
    from factcheck.reports.text import plural

    output.check_out(out, gold)
    made = _schema_format(format_, out)
    records = files.read_records(gold)
    with output.collect_warnings(_LOG):
        schema = files.infer_schema_of(records)
    if made is SchemaFormat.YAML:
        from factcheck.documents import yaml_text

        text = yaml_text(schema)
    else:
        text = f"{json.dumps(schema, ensure_ascii=False, indent=2)}\n"
    if out is None or out == "-":
        output.print_out(text)
        return
    write_text(out, text)
    fields = plural(text.count("x-eval-compare"), "field")
    output.print_out(f"{fields} of {plural(len(records.values), 'record')} written to {out}")


@app.command(
    "validate", epilog="Example: factcheck fields validate gold.jsonl --schema schema.yaml"
)
def validate(
    gold: Gold,
    *,
    schema: Annotated[
        str, typer.Option("--schema", metavar="FILE", help="Evaluation schema, .json or .yaml.")
    ],
    id_field: IdField = None,
    strict_types: Annotated[
        bool, typer.Option("--strict-types", help="Treat a value of another type as an error.")
    ] = False,
    _debug: options.Debug = False,
) -> None:
    """Validate gold records against a schema.

    An unknown key is an error (exit code 2); a missing key, or a list in
    place of an object, is a warning.
    """
    from factcheck.documents import name_of, refuse_stdin_twice
    from factcheck.fields import files
    from factcheck.reports.text import one_line, plural

    refuse_stdin_twice(gold, schema)
    tree = files.read_schema(schema)
    records = files.read_records(gold)
    with files.schema_errors(name_of(schema)):
        misfits = _misfits(records, tree, id_field, strict_types=strict_types)
    ids = files.id_problems(records, id_field, unique=True) if id_field else ()
    found = [*(_Problem(position, what, True) for position, what in ids), *misfits]
    for problem in sorted(found, key=lambda problem: problem.position):
        kind = "error  " if problem.is_error else "warning"
        at = problem.position
        where = records.places[at] if at >= 0 else name_of(schema)
        output.print_out(f"{kind}  {one_line(f'{where}: {problem.what}')}")
    n_errors = sum(problem.is_error for problem in found)
    output.print_out(
        f"{plural(len(records.values), 'record')}: {plural(n_errors, 'error')}, "
        f"{plural(len(found) - n_errors, 'warning')}"
    )
    if n_errors:
        raise typer.Exit(InputError.exit_code)


@app.command("compare", epilog="Example: factcheck fields compare before.json after.json")
def compare(
    run_a: Annotated[
        str,
        typer.Argument(metavar="RUN_A", help="Baseline: the JSON of 'evaluate --out RUN.json'."),
    ],
    run_b: Annotated[
        str, typer.Argument(metavar="RUN_B", help="Another run on the same gold records.")
    ],
    *,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    _debug: options.Debug = False,
) -> None:
    """Compare two runs, field by field.

    Runs are compared record by record. A field is won or lost if its
    p-value, adjusted for the number of fields, is below 0.05; one whose
    95 % interval excludes 0 may still be neither.
    """
    from factcheck.documents import name_of, refuse_stdin_twice
    from factcheck.fields import compare_runs, files

    to = output.destination(format_, out, run_a, run_b)
    refuse_stdin_twice(run_a, run_b)
    names = (name_of(run_a), name_of(run_b))
    with output.collect_warnings(_LOG), output.spinner("Comparing"), _without_gc():
        comparison = compare_runs(files.read_run(run_a), files.read_run(run_b), names=names)
    if to.format in {Format.JSON, Format.CSV} and comparison.schema_warning:
        output.print_error(f"warning: {comparison.schema_warning}")
    report = output.page_report(comparison.page(), partial(_json, comparison.to_dict()))
    output.show(report, to)


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


# --- evaluate -----------------------------------------------------------------------------------


class _Scored(NamedTuple):
    run: RunResult
    intervals: Mapping[str, Interval]
    weights: Mapping[str, float]
    notes: tuple[str, ...]
    undecided: Undecided


class _Evaluation(NamedTuple):
    """One evaluation: its files, its settings, and the comparator that judges by meaning."""

    gold: str
    extracted: str
    schema: str | None
    id_field: str | None
    join: Join
    semantic: str | None
    comparator: SemanticComparator
    nulls_absent: bool

    def results(self) -> _Scored:
        """Evaluate with all records in memory."""
        from factcheck.fields import files
        from factcheck.fields.runs.undecided import Undecided

        schema = None if self.schema is None else files.read_schema(self.schema)
        gold = files.read_records(self.gold)
        extracted = files.read_records(self.extracted, nullable=True)
        self._check_pairs(gold, extracted)
        notes: tuple[str, ...] = ()
        if schema is None:
            schema = files.infer_schema_of(gold)
            how = "every field is compared by type"
            if self.semantic is not None:
                _compare_by_meaning(schema)
                how = "strings are compared by meaning, everything else by type"
            notes = (f"Schema inferred from {gold.name}: {how}",)
        evaluator = self._evaluator(schema)
        run = evaluator.evaluate(gold.values, extracted.values, join=self.join.value)
        n_resamples = _N_RESAMPLES if run.total_records <= _MANY_RECORDS else _N_RESAMPLES // 4
        weights = _weights(evaluator.schema)
        notes = (*notes, *self._semantic_note(schema))
        undecided = Undecided(weights, run.records)
        return _Scored(run, run.intervals(n_resamples), weights, notes, undecided)

    def totals(self) -> _Scored:
        """Evaluate record by record, keeping aggregates only."""
        from factcheck.fields import files
        from factcheck.fields.runs.tally import RunTally
        from factcheck.fields.runs.undecided import Undecided

        schema = files.read_schema(str(self.schema))
        evaluator = self._evaluator(schema)
        weights = _weights(evaluator.schema)
        tally, undecided = RunTally(weights, evaluator.schema_digest), Undecided(weights)
        for record in evaluator.stream(self._pairs()):
            tally.add(record)
            undecided.add(record)
        notes = (*self._semantic_note(schema), _NOT_RESAMPLED)
        return _Scored(tally.result(), tally.intervals(), weights, notes, undecided)

    def _evaluator(self, schema: dict[str, Any]) -> FieldEvaluator:
        from factcheck.documents import name_of
        from factcheck.fields import NullHandling, files, reclassify_nulls
        from factcheck.fields.evaluation import FieldEvaluator

        if self.semantic is not None and not _is_semantic(schema):
            output.print_error(
                "warning: no field has the comparator 'semantic', so --semantic has no effect"
            )
        post_process: Callable[[list[FieldResult]], list[FieldResult]] | None = None
        if self.nulls_absent:
            post_process = partial(reclassify_nulls, config=NullHandling(missing_is_absent=True))
        with files.schema_errors(name_of(self.schema or self.gold)):
            return FieldEvaluator(
                schema,
                id_field=self.id_field,
                registry=_registry(self.comparator),
                post_process=post_process,
            )

    def _semantic_note(self, schema: dict[str, Any]) -> tuple[str, ...]:
        if not _is_semantic(schema):
            return ()
        from factcheck.facts.page import usage_text

        judge = " ".join(f"{name}:{value}" for name, value in self.comparator.identity.items())
        usage = usage_text(self.comparator.usage)
        return (f"Compared by meaning: {judge}{', ' if usage else ''}{usage}",)

    def _check_pairs(self, gold: Records, extracted: Records) -> None:
        from factcheck.fields import files
        from factcheck.reports.text import plural

        if self.join is Join.ID:
            for records in (gold, extracted):
                for position, what in files.id_problems(records, str(self.id_field), unique=True):
                    raise InputError(f"{records.places[position]}: {what}")
            _warn_of_mixed_id_types(str(self.id_field), gold, extracted)
            return
        if self.id_field:
            for position, what in files.id_problems(gold, self.id_field, unique=False):
                raise InputError(f"{gold.places[position]}: {what}")
        n_gold, n_extracted = len(gold.values), len(extracted.values)
        if n_gold != n_extracted:
            raise _unequal(
                f"{gold.name} has {plural(n_gold, 'record')}, {extracted.name} {n_extracted:,}"
            )
        if self.id_field:
            _warn_of_ids(self.id_field, gold, extracted)

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        from factcheck.documents import name_of
        from factcheck.fields import files
        from factcheck.reports.text import plural

        gold = files.iter_records(self.gold)
        extracted = files.iter_records(self.extracted, nullable=True)
        pairs = zip_longest(gold, extracted, fillvalue=(None, _MISSING))
        for number, ((_, wanted), (_, found)) in enumerate(pairs):
            if wanted is _MISSING or found is _MISSING:
                short, long = map(name_of, (self.gold, self.extracted))
                if found is _MISSING:
                    short, long = long, short
                raise _unequal(f"{short} has {plural(number, 'record')}, {long} more")
            yield wanted, found


def _check_options(
    made: Format, schema: str | None, id_field: str | None, join: Join, *, totals_only: bool
) -> None:
    if join is Join.ID and not id_field:
        raise InputError("--join id needs --id-field KEY, the key that holds the id")
    if not totals_only:
        return
    if join is Join.ID:
        raise InputError("--totals-only pairs records by position; leave out --join id")
    if made is Format.CSV:
        raise InputError("csv has one row per field result, and --totals-only keeps none")
    if schema is None:
        raise InputError(
            "--totals-only needs --schema FILE; 'factcheck fields infer-schema' writes one"
        )


@contextmanager
def _without_gc() -> Iterator[None]:
    """Pause the cycle collector: what is made inside lives on, so scanning it finds nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _unequal(what: str) -> InputError:
    return InputError(
        f"{what}; give null for a missing extraction, "
        "or join the records by id: --join id --id-field KEY"
    )


def _warn_of_ids(id_field: str, gold: Records, extracted: Records) -> None:
    from factcheck.fields.files import id_problems
    from factcheck.reports.text import plural

    if problem := next(id_problems(gold, id_field, unique=True), None):
        output.print_error(
            f"warning: {gold.places[problem[0]]}: {problem[1]} for 'fields compare' to pair records"
        )
    n_others = sum(
        isinstance(record, dict) and record.get(id_field, other[id_field]) != other[id_field]
        for other, record in zip(gold.values, extracted.values, strict=True)
    )
    if n_others:
        output.print_error(
            f"warning: {plural(n_others, 'record')} of {extracted.name} differ in {id_field} "
            "from the gold record at their position; --join id pairs them by id"
        )


def _warn_of_mixed_id_types(id_field: str, gold: Records, extracted: Records) -> None:
    """Warn that 1 and "1" are different ids."""
    from factcheck.reports.text import plural

    ids, others = ({record[id_field] for record in side.values} for side in (gold, extracted))
    alike = {str(one) for one in ids - others} & {str(one) for one in others - ids}
    if alike:
        output.print_error(
            f"warning: {plural(len(alike), 'id')}, such as {min(alike):.80}, "
            f"{'is' if len(alike) == 1 else 'are'} a string in one file and a number in the "
            "other, so the records are not joined; use one type in both"
        )


def _weights(node: SchemaNode) -> dict[str, float]:
    weights = {node.path: node.weight}
    for child in node.children:
        weights |= _weights(child)
    return weights


def _registry(comparator: SemanticComparator) -> Registry:
    """The comparators a schema may name on the command line."""
    from factcheck.fields import Registry
    from factcheck.keywords import KeywordComparator
    from factcheck.references import ReferenceComparator

    registry = Registry()
    registry.register(SEMANTIC, comparator)
    registry.register("keywords", KeywordComparator())
    registry.register("reference", ReferenceComparator())
    return registry


def _is_semantic(schema: Any) -> bool:
    """Whether a schema compares a field by meaning."""
    from factcheck.fields.schemas.structure import COMPARE, sub_schemas

    if not isinstance(schema, dict):
        return False
    entry = schema.get(COMPARE)
    if entry == SEMANTIC or (isinstance(entry, dict) and SEMANTIC in entry):
        return True
    return any(_is_semantic(child.schema) for child in sub_schemas(schema))


def _compare_by_meaning(schema: dict[str, Any]) -> None:
    """Compare the strings of an inferred schema by meaning."""
    from factcheck.fields.schemas.structure import COMPARE, sub_schemas

    children = sub_schemas(schema)
    for child in children:
        _compare_by_meaning(child.schema)
    if not children and schema.get("type") == "string":
        schema[COMPARE] = SEMANTIC


def field_scores(run: RunResult, undecided: Undecided) -> FieldScores:
    """What the gate needs to know of a run."""
    from factcheck.fields.pages import field_text, undecided_text
    from factcheck.scoring.gates import FieldScores

    def first(*statuses: str) -> str:
        for status in statuses:
            for field in undecided.fields:
                if field.status == status:
                    return f"{field_text(field.field)}: {undecided_text(field)}"
        return ""

    never = ""
    for path, field in run.by_field.items():
        if field.counts.get("batch_error") and not field.counts.keys() & {"match", "mismatch"}:
            never = field_text(path)
            break
    return FieldScores(
        f1=undecided.decided_f1(run),
        strict_f1=undecided.strict_f1(run),
        low_f1=undecided.bounds(run)[0],
        never_judged=never,
        not_compared=first("error"),
        no_verdict=first("batch_error", "pending"),
    )


def _run_report(scored: _Scored, examples: int, failure: GateFailure | None) -> output.Report:
    from factcheck.fields.pages import run_page

    page = run_page(
        scored.run,
        intervals=scored.intervals,
        weights=scored.weights,
        examples=examples,
        notes=scored.notes,
        undecided=scored.undecided,
    )
    return output.page_report(page, scored.run.to_json, failure=failure)


# --- infer-schema and validate ------------------------------------------------------------------


def _schema_format(chosen: SchemaFormat | None, out: str | None) -> SchemaFormat:
    suffix = Path(out).suffix.lower() if out else ""
    if chosen is not None or suffix in {"", ".json"}:
        return chosen or SchemaFormat.JSON
    if suffix not in {".yaml", ".yml"}:
        raise InputError(f"--out {out}: unknown suffix; use .json or .yaml, or give --format")
    return SchemaFormat.YAML


class _Problem(NamedTuple):
    position: int
    """Of the record; -1 for the schema."""
    what: str
    is_error: bool


def _misfits(
    records: Records, schema: dict[str, Any], id_field: str | None, *, strict_types: bool
) -> list[_Problem]:
    """Where records do not fit the schema: at most one error for each of them."""
    from factcheck.fields import SemanticComparator, validate_gold
    from factcheck.fields.schemas.structure import SKIP

    if id_field and isinstance(schema.get("properties"), dict):
        schema["properties"].setdefault(id_field, {"type": ["string", "integer"], SKIP: True})
    found: dict[_Problem, None] = {}
    registry = _registry(SemanticComparator("local"))

    def take(record: LogRecord) -> None:
        found[_warning(record)] = None

    start, n_errors = 0, 0
    with output.capture_log(_LOG, take):
        while n_errors < _MAX_ERRORS:
            # Null fits anything: what was checked is not checked again, but still counted.
            values = [*repeat(None, start), *records.values[start:]]
            try:
                validate_gold(values, schema, strict_types=strict_types, registry=registry)
            except GoldValidationError as error:
                position = int(error.record_id)
                found[_Problem(position, _without_number(str(error), position), True)] = None
                start, n_errors = position + 1, n_errors + 1
            else:
                return list(found)
    what = f"stopped after {n_errors} errors; fix them and run it again"
    return [*found, _Problem(start - 1, what, is_error=True)]


def _warning(record: LogRecord) -> _Problem:
    """The problem a warning is about; one on the schema comes first."""
    text = record.getMessage()
    arguments = record.args if isinstance(record.args, tuple) else ()
    if text.startswith("gold record ") and arguments and isinstance(arguments[0], int):
        return _Problem(arguments[0], _without_number(text, arguments[0]), is_error=False)
    return _Problem(-1, text, is_error=False)


def _without_number(text: str, position: int) -> str:
    return text.removeprefix(f"gold record {position}").lstrip(": ")
