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
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # else DSPy fetches a price table

import dspy

from factcheck import CoverageReport, FactcheckError, FactCoverage, Summarizer, read_records
from factcheck.calibration import load_texts
from factcheck.errors import ConfigError, InputError
from factcheck.facts.sources import source_texts
from factcheck.judges.llm.errors import from_dspy
from factcheck.scoring.dspy_metric import CoverageMetric

THIRDS = 3
NAME = 40


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


def improve(
    parts: Sequence[list[dspy.Example]],
    metric: CoverageMetric,
    model: dspy.LM,
    reflector: dspy.LM,
    calls: int,
) -> Summarizer:
    """Optimise on the first part, and select on the second."""
    student = Summarizer()
    try:
        student(source=parts[0][0].source)  # a wrong key or name is one error, not one a text
    except dspy.LMError as error:
        raise from_dspy(error, model.model) from error
    except dspy.AdapterParseError:
        pass  # a bad reply is what optimising is for
    program: Summarizer = dspy.GEPA(
        metric,
        max_metric_calls=calls,
        reflection_lm=reflector,
        reflection_minibatch_size=min(3, len(parts[0])),
        use_merge=False,  # there is one instruction, so there is nothing to merge
    ).compile(student, trainset=parts[0], valset=parts[1])
    return program


def scores(
    program: Summarizer, examples: Sequence[dspy.Example], metric: CoverageMetric
) -> dict[str, CoverageReport]:
    """What the program's summaries keep, by text; nothing where there is no summary or score."""
    found: dict[str, CoverageReport] = {}

    def note(example: dspy.Example, prediction: dspy.Prediction) -> float:
        found[example.id] = metric.report(example, prediction)
        return float(metric(example, prediction))

    dspy.Evaluate(devset=list(examples), metric=note, max_errors=len(examples) + 1)(program)
    return found


def show(before: dict[str, CoverageReport], after: dict[str, CoverageReport]) -> None:
    """A table of the texts that nothing was tuned on."""
    print(f"\n| {'text':{NAME}} | before | after |\n|{'-' * (NAME + 2)}|-------:|------:|")
    pairs = []
    for name in before.keys() & after.keys():
        pair = before[name].score or 0.0, after[name].score or 0.0
        pairs.append(pair)
        print(f"| {name[:NAME]:{NAME}} | {pair[0]:>6.3f} | {pair[1]:>5.3f} |")
    if pairs:
        means = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
        print(f"| {f'mean of {len(pairs)}':{NAME}} | {means[0]:>6.3f} | {means[1]:>5.3f} |")


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, save. What cannot be run is one line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--model", default="openai/gpt-4.1-mini", help="who summarizes")
    parser.add_argument("--reflection-model", default="openai/gpt-4.1", help="who proposes")
    parser.add_argument("--judge", default="local", help="who checks the facts")
    parser.add_argument("--extractor", help="who lists the facts where none are given")
    parser.add_argument("--data", type=Path, help="texts of your own")
    parser.add_argument("--calls", type=int, default=150, help="summaries to be scored, about")
    parser.add_argument("--out", type=Path, help="where to save the improved program")
    args = parser.parse_args(argv)
    try:
        model = language_model(args.model, None)
        reflector = language_model(args.reflection_model, 1.0)
        texts = load_examples(args.data)
        examples = random.Random(0).sample(texts, len(texts))  # noqa: S311 - repeatable
        parts = [examples[place::THIRDS] for place in range(THIRDS)]
        with FactCoverage(args.judge, args.extractor) as scorer, dspy.context(lm=model):
            metric = scorer.as_dspy_metric()
            program = improve(parts, metric, model, reflector, args.calls)
            show(scores(Summarizer(), parts[2], metric), scores(program, parts[2], metric))
    except FactcheckError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"\nInstructions:\n{program.summarize.signature.instructions}")
    if args.out is not None:
        program.save(args.out)
    for failure in metric.failures.values():
        print(f"no score, counted as 0 by DSPy: {failure}", file=sys.stderr)
    return 4 if metric.failures else 0


if __name__ == "__main__":
    sys.exit(main())
