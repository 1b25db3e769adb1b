"""Improves `factcheck.Summarizer` with `dspy.GEPA`, by the facts that its summaries keep.

    python -m benchmarks.gepa.run                                   # needs OPENAI_API_KEY
    python -m benchmarks.gepa.run --model openai/gpt-4.1-mini --reflection-model openai/gpt-4.1
    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 python -m benchmarks.gepa.run --model openai/NAME

Texts are the bundled ones, or those of `--data FILE`, in the format of `factcheck run`
(the summaries in it are not read; facts are, where there are any). A third is shown to the
reflection model, a third selects among its proposals, and a third that neither has seen is
reported.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # else DSPy fetches a price table

import dspy

from factcheck import (
    CoverageReport,
    FactcheckError,
    FactCoverage,
    Summarizer,
    read_records,
)
from factcheck.calibration import load_texts
from factcheck.errors import ConfigError, InputError
from factcheck.facts.sources import source_texts
from factcheck.judges.llm.errors import from_dspy
from factcheck.scoring.dspy_metric import CoverageMetric
from factcheck.stats.intervals import sign_test

THIRDS = 3
NAME = 40


class Parts(NamedTuple):
    """Examples for reflection, for selection, and for the report."""

    train: list[dspy.Example]
    val: list[dspy.Example]
    test: list[dspy.Example]


class Row(NamedTuple):
    """One text that nothing was tuned on; `None` where there is no score."""

    id: str
    before: CoverageReport | None
    after: CoverageReport | None


class Outcome(NamedTuple):
    """What came of it."""

    program: Summarizer
    rows: tuple[Row, ...]
    failures: tuple[FactcheckError, ...]

    @property
    def instructions(self) -> str:
        """Those of the improved program."""
        return str(self.program.summarize.signature.instructions)


def language_model(name: str, temperature: float | None) -> dspy.LM:
    """The model of a name, at OpenAI, at the server of `OPENAI_BASE_URL`, or where DSPy finds it.

    Raises:
        ConfigError: It is one of OpenAI's, and there is no key and no server.
    """
    key, base_url = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
    options: dict[str, Any] = {"temperature": temperature, "cache": False}
    if not name.startswith("openai/"):
        return dspy.LM(name, **options)
    if base_url:
        served = name.replace("openai/", "hosted_vllm/", 1)  # DSPy's word for any such server
        return dspy.LM(served, api_base=base_url, api_key=key or "none", **options)
    if not key:
        raise ConfigError(
            f"{name!r} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
        )
    return dspy.LM(name, api_key=key, **options)


def load_examples(path: Path | None) -> list[dspy.Example]:
    """Sources, with their facts where they are known.

    Raises:
        InputError: They cannot be read, or are too few to be divided.
    """
    if path is None:
        found = [_example(t.name, t.source, list(t.facts)) for t in load_texts()]
    else:
        found = [
            _example(r.id, "\n\n".join(source_texts(r.source)), r.facts) for r in read_records(path)
        ]
    if len(found) < THIRDS:
        raise InputError(f"{len(found)} texts are too few; {THIRDS} are the least")
    return found


def _example(name: str, source: str, facts: Any) -> dspy.Example:
    return dspy.Example(id=name, source=source, facts=facts).with_inputs("source")


def divided(examples: Sequence[dspy.Example], seed: int) -> Parts:
    """Every example in one of three parts of about the same size."""
    mixed = random.Random(seed).sample(list(examples), len(examples))  # noqa: S311
    return Parts(*(mixed[place::THIRDS] for place in range(THIRDS)))


def improve(
    parts: Parts, scorer: FactCoverage, model: dspy.LM, reflector: dspy.LM, args: argparse.Namespace
) -> Outcome:
    """Optimise on two parts, and report on the third."""
    metric = scorer.as_dspy_metric()
    student = Summarizer()
    optimizer = dspy.GEPA(
        metric,
        max_metric_calls=args.calls,
        reflection_lm=reflector,
        reflection_minibatch_size=min(3, len(parts.train)),
        num_threads=args.threads,
        use_merge=False,  # there is one instruction, so there is nothing to merge
        seed=args.seed,
    )
    with dspy.context(lm=model):
        _ask_once(student, parts.train[0], model.model)
        program = optimizer.compile(student, trainset=parts.train, valset=parts.val)
        befores, afters = (
            reports(each, parts.test, metric, args.threads) for each in (student, program)
        )
    rows = (
        Row(example.id, before, after)
        for example, before, after in zip(parts.test, befores, afters, strict=True)
    )
    return Outcome(program, tuple(rows), tuple(metric.failures.values()))


def _ask_once(student: Summarizer, example: dspy.Example, name: str) -> None:
    """A wrong key or name is one error now, instead of one a text later."""
    try:
        student(source=example.source)
    except dspy.LMError as error:
        raise from_dspy(error, name) from error
    except dspy.AdapterParseError:
        return  # a bad reply is what optimising is for


def reports(
    program: Summarizer, examples: Sequence[dspy.Example], metric: CoverageMetric, threads: int
) -> list[CoverageReport | None]:
    """What the program's summaries keep; `None` where there is no summary, or no score."""
    found: dict[str, CoverageReport] = {}

    def note(example: dspy.Example, prediction: dspy.Prediction) -> float:
        found[example.id] = metric.report(example, prediction)
        return float(metric(example, prediction))

    evaluate = dspy.Evaluate(
        devset=list(examples), metric=note, num_threads=threads, max_errors=len(examples) + 1
    )
    evaluate(program)
    return [found.get(example.id) for example in examples]


def print_outcome(outcome: Outcome) -> None:
    """A table of the texts that nothing was tuned on, and the instructions that were found."""
    print(f"\n| {'text':{NAME}} | before | after |\n|{'-' * (NAME + 2)}|-------:|------:|")
    for row in outcome.rows:
        print(f"| {row.id[:NAME]:{NAME}} | {_shown(row.before):>6} | {_shown(row.after):>5} |")
    pairs = [(r.before, r.after) for r in outcome.rows if r.before and r.after]
    if pairs:
        before, after = (_mean(column) for column in zip(*pairs, strict=True))
        print(f"| {f'mean of {len(pairs)}':{NAME}} | {before:>6.3f} | {after:>5.3f} |")
    won, lost = changes(outcome.rows)
    print(f"\nFacts won: {won}, lost: {lost}; sign test over facts: p = {sign_test(won, lost):.3f}")
    print(f"\nInstructions:\n{outcome.instructions}")


def changes(rows: Sequence[Row]) -> tuple[int, int]:
    """How many facts are kept after and not before, and the other way round."""
    won = lost = 0
    for row in rows:
        if row.before and row.after:
            before, after = ({v.fact.id for v in r.kept} for r in (row.before, row.after))
            decided_twice = _decided(row.before) & _decided(row.after)
            won += len((after - before) & decided_twice)
            lost += len((before - after) & decided_twice)
    return won, lost


def _decided(report: CoverageReport) -> set[str]:
    return {fact.id for fact in report.facts} - {failure.fact.id for failure in report.undecided}


def _mean(column: Sequence[CoverageReport]) -> float:
    return sum(report.score or 0.0 for report in column) / len(column)


def _shown(report: CoverageReport | None) -> str:
    return "–" if report is None or report.score is None else f"{report.score:.3f}"  # noqa: RUF001


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The settings of a run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="openai/gpt-4.1-mini", help="who summarizes")
    parser.add_argument("--reflection-model", default="openai/gpt-4.1", help="who proposes")
    parser.add_argument("--temperature", type=float, help="of who summarizes; else the provider's")
    parser.add_argument("--judge", default="local", help="who checks the facts")
    parser.add_argument("--extractor", help="who lists the facts where none are given")
    parser.add_argument("--data", type=Path, help="texts of your own")
    parser.add_argument("--calls", type=int, default=150, help="summaries to be scored, about")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to save the improved program")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, save. What cannot be run is one line."""
    args = parsed(argv)
    try:
        model = language_model(args.model, args.temperature)
        reflector = language_model(args.reflection_model, temperature=1.0)
        parts = divided(load_examples(args.data), args.seed)
        with FactCoverage(args.judge, args.extractor) as scorer:
            outcome = improve(parts, scorer, model, reflector, args)
    except FactcheckError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print_outcome(outcome)
    if args.out is not None:
        outcome.program.save(args.out)
    for failure in outcome.failures:
        print(f"no score, counted as 0 by DSPy: {failure}", file=sys.stderr)
    return 4 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
