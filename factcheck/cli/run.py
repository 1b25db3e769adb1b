"""`factcheck run`, `report` and `compare`: score many records, show and compare results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal

from factcheck.cli import options, output
from factcheck.cli.options import argument, flag, option
from factcheck.errors import InputError, JudgeError

if TYPE_CHECKING:
    from factcheck.facts import CoverageReport
    from factcheck.fields import RunResult
    from factcheck.metrics import MetricReport
    from factcheck.records import Record
    from factcheck.reports.comparison import RunComparison
    from factcheck.reports.page import Page
    from factcheck.scoring.many import Show
    from factcheck.scoring.run_report import RunReport

_SAVED = (
    "rows of 'run --out' (.jsonl), or the JSON of 'score', 'fields evaluate', 'keywords run' or "
    "'keywords behaviors'"
)
Step = Literal["submit", "collect"]
Field = Annotated[str | None, option("NAME", "Name of this field or column in the records.")]


def run(  # noqa: PLR0913 - one parameter per option
    files: Annotated[list[str], argument("FILE", "Records: .jsonl, .json, .yaml, .csv or .tsv.")],
    *,
    judge: options.Judge = None,
    judge_option: options.JudgeOption = None,
    extractor: options.Extractor = None,
    weights: options.Weights = "equal",
    direction: options.Direction = "coverage",
    dry_run: options.DryRun = False,
    concurrency: options.Concurrency = 32,
    jobs: Annotated[int, option("N", "Number of processes (local judges).", min=1)] = 1,
    rpm: options.RequestsPerMinute = None,
    max_calls: options.MaxCalls = None,
    max_cost_usd: options.MaxCost = None,
    source_field: Field = None,
    summary_field: Field = None,
    id_field: Field = None,
    out: Annotated[
        str | None, option("ROWS", "Write one row per record to this .jsonl file.")
    ] = None,
    resume: Annotated[bool, flag("--resume", "Resume from the rows in --out.")] = False,
    batch: Annotated[
        Step | None,
        option("STEP", "submit or collect: use a batch of OpenAI or Anthropic at half the price."),
    ] = None,
    engine: Annotated[
        Literal["ray"] | None,
        option(
            "ray", "Score Parquet files on a Ray cluster, with --jobs actors; --out is a folder."
        ),
    ] = None,
    format_: options.ReportFormat = None,
    fail_under: options.FailUnder = None,
    max_distorted: options.MaxDistorted = None,
) -> None:
    """Score many summaries: one row per record, plus totals.

    A record has 'source', 'summary' and optionally 'id' and 'facts'.
    Continue an interrupted run with --resume; cached replies are not paid
    for again.
    """
    from factcheck.documents import refuse_stdin_twice
    from factcheck.documents.results import ResultsFile
    from factcheck.records import read_records
    from factcheck.reports.text import plural
    from factcheck.scoring import FactCoverage, gates, runs

    settings: dict[str, Any] = {
        "judge": options.judge_with(judge, judge_option),
        "extractor": extractor,
        "concurrency": concurrency,
        "rpm": rpm,
        "budget": options.budget(max_calls, max_cost_usd),
    }
    names = {"source": source_field, "summary": summary_field, "id": id_field}
    fields = {key: name for key, name in names.items() if name}
    if engine is not None:
        unsupported = {
            "--direction both": direction == "both",
            "--dry-run": dry_run,
            "--batch": batch,
            "--weights lead": weights == "lead",
            "--source-field, --summary-field and --id-field": fields,
            "--fail-under and --max-distorted": fail_under is not None or max_distorted is not None,
        }
        _run_on_ray(files, out, unsupported, actors=jobs, **settings)
        return
    settings |= {"weights": weights, "processes": jobs}
    refuse_stdin_twice(*files)
    _check_rows(files, out, resume=resume)

    def records() -> Iterator[Record]:
        return read_records(*files, fields=fields)

    if batch is not None:
        state = Path(f"{files[0]}.batch.json")
        _show_batch(runs.run_batch(batch, state, settings, records, direction), batch)
        return
    if dry_run:
        n_records, usage, models = runs.estimate(settings, records(), direction)
        needs = "needs" if n_records == 1 else "need"
        needed = output.estimate_text(usage, models)
        output.print_out(f"{plural(n_records, 'record')} {needs} {needed}")
        return
    with ExitStack() as stack:
        scorer = stack.enter_context(FactCoverage(**settings))
        signature = partial(runs.run_signature, scorer, direction)
        rows = stack.enter_context(ResultsFile(out, signature, resume=resume)) if out else None
        show = stack.enter_context(_progress(files, fields, len(rows.done) if rows else 0))
        run = runs.score_run(scorer, records(), direction=direction, rows=rows, on_record=show)
    failure = gates.run_gate(run, fail_under, max_distorted)
    output.report(run, output.Destination(format_ or "table"), failure)
    if run.interrupted:
        go_on = f"continue with --out {out} --resume" if out else "--out ROWS would keep its rows"
        output.print_note(f"Interrupted after {plural(len(run.rows), 'record')}; {go_on}.")
        raise KeyboardInterrupt
    output.exit_with(failure)


def report(
    file: Annotated[str, argument("FILE", f"Saved result: {_SAVED}.")],
    *,
    format_: options.ReportFormat = None,
    out: options.Out = None,
) -> None:
    """Show saved results as HTML, Markdown, CSV or JUnit.

    The HTML page of a run is sortable, and each row opens its source and
    summary with the facts marked. Nothing is scored again.
    """
    from factcheck.scoring.run_report import RunReport

    to = output.destination(format_, out, file)
    saved = _read_saved(file)
    warnings = [saved.partial] if isinstance(saved, RunReport) and saved.partial else []
    output.report(saved, to, page=_saved_page(saved), warnings=warnings)


def view(file: Annotated[str, argument("FILE", f"Saved result: {_SAVED}.")]) -> None:
    """Open a saved result as a page in the browser.

    The page is a temporary file, which nobody else on this machine can
    read; 'factcheck report FILE --out PAGE.html' makes one to keep.
    """
    import webbrowser

    from factcheck.reports import render

    html = render(_saved_page(_read_saved(file)), "html")
    with NamedTemporaryFile(
        "w", prefix="factcheck-", suffix=".html", encoding="utf-8", delete=False
    ) as page:
        page.write(html)
    opened = webbrowser.open(Path(page.name).as_uri())
    output.print_note(page.name if opened else f"{page.name}: no browser was found; open it in one")


def _saved_page(saved: CoverageReport | RunReport | RunResult | MetricReport) -> Page:
    from factcheck.fields import RunResult

    if isinstance(saved, RunResult) and saved.records:
        return saved.page(intervals=saved.intervals())
    return saved.page()


def compare(
    a: Annotated[str, argument("A", f"Baseline: {_SAVED}.")],
    b: Annotated[str, argument("B", "Another result on the same facts, gold or cases.")],
    *,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_if_worse: Annotated[
        bool,
        flag(
            "--fail-if-worse",
            "Exit with 1 if the second run is worse or lacks results of the first; with 4 if too "
            "many verdicts are missing to tell.",
        ),
    ] = False,
) -> None:
    """Compare two saved results: facts, fields or cases won and lost.

    Coverage of B is worse if it is significantly lower (p below 0.05, by
    source), a 'must' fact was lost, or significantly more facts are
    distorted (in a single report by a local judge: any more). The length
    of the summaries is shown beside it. A field is won or lost if its
    p-value, adjusted for the number of fields, is below 0.05. Fields,
    cards and behaviors are worse if mean F1 or pass rate fell
    significantly, or a field was lost.
    """
    from factcheck.scoring import gates

    to = output.destination(format_, out, a, b)
    with output.spinner("Comparing"):
        found = _compared(a, b)
        page = found.page()
    failure = None
    if fail_if_worse:
        failure = gates.comparison_gate(found.worse, found.missing, found.no_verdict)
    warnings = () if out else [alert.text for alert in page.alerts]
    output.report(found, to, failure, page=page, warnings=warnings)
    output.exit_with(failure)


def _compared(a: str, b: str) -> RunComparison:
    """Compare two files."""
    from factcheck.documents import name_of
    from factcheck.facts import CoverageReport
    from factcheck.scoring import compare
    from factcheck.scoring.run_report import RunReport

    names, one, two = (name_of(a), name_of(b)), _read_saved(a), _read_saved(b)
    coverage = CoverageReport, RunReport
    if isinstance(one, coverage) and isinstance(two, coverage):
        return compare(one, two).named(*names)
    from factcheck import fields, metrics

    if isinstance(one, fields.RunResult) and isinstance(two, fields.RunResult):
        return fields.compare_runs(one, two, names=names)
    if isinstance(one, metrics.MetricReport) and isinstance(two, metrics.MetricReport):
        return metrics.compare_runs(one, two, names=names)
    raise InputError(f"cannot compare {names[0]} with {names[1]}: results of different commands")


def _read_saved(path: str) -> CoverageReport | RunReport | RunResult | MetricReport:
    """Read rows of a run, or a result saved as JSON."""
    from factcheck.documents import name_of
    from factcheck.documents.reading import read_document
    from factcheck.facts import CoverageReport
    from factcheck.scoring.run_report import RunReport

    if path.endswith((".jsonl", ".ndjson")):
        saved = RunReport.read(path)
        if not (saved.rows or saved.complete):
            raise InputError(f"{name_of(path)} has no rows: its run ended early; run it again")
        return saved
    data = read_document(path, expected="a saved result comes from").value
    made_by = data.get("format") if isinstance(data, dict) else None
    try:
        if isinstance(made_by, str):  # a coverage report has a number
            from factcheck import fields, keywords, metrics

            kinds = (fields.RunResult, keywords.CardRun, keywords.BehaviorRun, metrics.MetricReport)
            for kind in kinds:
                if kind.format == made_by:
                    return kind.from_dict(data)
        return CoverageReport.from_dict(data)
    except InputError as error:
        raise InputError(f"{name_of(path)}: {error}") from error


def _run_on_ray(
    files: list[str], out: str | None, unsupported: dict[str, Any], **settings: Any
) -> None:
    from factcheck.distributed import score_dataset
    from factcheck.reports.text import plural

    for name in (name for name, value in unsupported.items() if value):
        raise InputError(f"--engine ray does not support {name}")
    if out is None:
        raise InputError("--engine ray needs --out FOLDER, for its Parquet files")
    counts = score_dataset(files, out, **settings)
    output.print_out(
        f"{plural(counts['records'], 'record')} scored, {counts['skipped']:,} skipped that had "
        f"rows in {out}; {counts['failed']:,} without a report; requests: {counts['calls']:,}"
    )
    for name, n in sorted(counts.items()):
        if name.startswith("facts "):
            output.print_out(f"{name}: {n:,}")
    if counts["unfinished"]:
        records = plural(counts["unfinished"], "record")
        raise JudgeError(f"{records} without rows, as requests failed; run again to retry")


@contextmanager
def _progress(files: list[str], fields: Mapping[str, str], n_done: int) -> Iterator[Show]:
    """Show progress, with the time left unless an input can be read only once."""
    from factcheck.records import read_records
    from factcheck.scoring.many import show_progress

    n_left = 0
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if is_terminal and all(Path(file).is_file() for file in files):
        with suppress(InputError):  # which the run reports when it comes to it
            n_left = sum(1 for _ in read_records(*files, fields=fields))
    with show_progress(max(0, n_left - n_done)) as show:
        yield show


def _check_rows(files: list[str], out: str | None, *, resume: bool) -> None:
    if out is None and resume:
        raise InputError("--resume needs --out ROWS, the rows to resume from")
    if out is not None and not out.endswith((".jsonl", ".ndjson")):
        raise InputError(f"--out {out}: rows are JSON lines; name the file .jsonl")
    output.check_out(out, *files)


def _show_batch(done: Any, step: Step) -> None:
    from factcheck.reports.text import plural

    if step == "submit" and not done.batches:
        output.print_out("every reply is in the cache; run again without --batch")
        return
    if step == "submit":
        names = ", ".join(one.batch_id or "?" for one in done.batches)
        noun = "batch" if len(done.batches) == 1 else "batches"
        output.print_out(
            f"{plural(done.requests, 'request')} submitted ({noun} {names}); "
            "collect them with --batch collect"
        )
    else:
        for one in done.batches:
            problem = f" ({one.problem})" if one.problem else ""
            output.print_note(
                f"{one.model}: {one.status}, {one.completed:,} of {one.requests:,}{problem}"
            )
        if not done.final:
            raise JudgeError("the batch has not finished; collect it later")
        then = "submit again for those, or " if done.unanswered else ""
        output.print_out(
            f"replies cached: {done.used:,}, unmatched: {done.unused:,}; requests without a reply: "
            f"{done.unanswered:,}; {then}run again without --batch for the report"
        )
