"""Agreement with people: judges asked about labelled pairs, and what follows from their answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

from factcheck.calibration.containment import JUDGE as BASELINE
from factcheck.calibration.containment import WordContainment
from factcheck.calibration.naming import Judges, named, refuse_doubles
from factcheck.calibration.people.figures import DIFFERENCE, N_RESAMPLES, measure_agreement
from factcheck.calibration.people.judging import Answer, asked, recorded
from factcheck.calibration.people.pairs import (
    LabelledPair,
    Partly,
    RecordedVerdict,
    read_pairs,
    read_recorded,
)
from factcheck.calibration.people.report import AgreementReport, JudgeAgreement
from factcheck.errors import InputError
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import background
from factcheck.scoring import FactCoverage

Data = str | PathLike[str] | Iterable[LabelledPair]


def agreement(
    data: Data,
    judges: Judges = ("local",),
    *,
    replies: str | PathLike[str] | Iterable[RecordedVerdict] = (),
    partly: Partly = "not_covered",
    difference: float = DIFFERENCE,
    budget: Budget | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> AgreementReport:
    """How judges agree with people on labelled facts and texts.

    Args:
        data: A file (see `read_pairs`), or pairs.
        judges: Who is asked: what `FactCoverage` takes as a judge, or a `FactCoverage` itself; a
            mapping gives them names. Word containment is always asked, too.
        replies: Recorded verdicts of further judges (see `read_recorded`); each is measured on the
            labelled pairs that it was asked about.
        partly: What becomes of facts that people call partly covered (see `read_pairs`).
        difference: Of the mean coverage, for which the number of documents needed is told.
        budget: Caps on what each judge may spend.
        n_resamples: Resamples of the documents behind each interval; 0 for none.
        seed: Of the resamples, and of how documents are divided in halves.

    Raises:
        InputError: The data cannot be read, or an argument cannot be used.
        ConfigError: A judge is not known, or a key is missing.
    """
    return background.run(
        aagreement(
            data,
            judges,
            replies=replies,
            partly=partly,
            difference=difference,
            budget=budget,
            n_resamples=n_resamples,
            seed=seed,
        )
    )


async def aagreement(
    data: Data,
    judges: Judges = ("local",),
    *,
    replies: str | PathLike[str] | Iterable[RecordedVerdict] = (),
    partly: Partly = "not_covered",
    difference: float = DIFFERENCE,
    budget: Budget | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> AgreementReport:
    """Asynchronous form of `agreement`."""
    if not 0 < difference < 1:
        raise InputError(f"the difference to be seen is between 0 and 1, not {difference!r}")
    pairs = _pairs(data, partly)
    verdicts = read_recorded(replies) if isinstance(replies, (str, PathLike)) else list(replies)
    of_record, unmatched = recorded(verdicts, pairs)
    names = [*(name for name, _ in named(judges)), *(one.judge for one in of_record), BASELINE]
    refuse_doubles("judge", names)

    words = FactCoverage(WordContainment())
    by_words = await asked(words, pairs)

    def measured(
        name: str,
        answers: Sequence[Answer],
        on: Sequence[LabelledPair] = pairs,
        baseline: Sequence[Answer] | None = by_words,
    ) -> JudgeAgreement:
        return measure_agreement(
            name,
            on,
            answers,
            baseline=baseline,
            difference=difference,
            n_resamples=n_resamples,
            seed=seed,
        )

    found = []
    for name, judge in named(judges):
        if isinstance(judge, FactCoverage):
            found.append(measured(name, await asked(judge, pairs)))
            continue
        async with FactCoverage(judge, budget=budget) as scorer:
            found.append(measured(name, await asked(scorer, pairs)))
    found += [
        measured(one.judge, one.answers, one.pairs, await asked(words, one.pairs))
        for one in of_record
    ]
    found.append(measured(BASELINE, by_words, baseline=None))
    return AgreementReport(
        judges=tuple(found),
        n_documents=len({pair.document for pair in pairs}),
        n_pairs=len(pairs),
        share_entailed=sum(pair.label for pair in pairs) / len(pairs),
        n_unmatched=unmatched,
    )


def _pairs(data: Data, partly: Partly) -> list[LabelledPair]:
    if isinstance(data, (str, PathLike)):
        return read_pairs(data, partly=partly)
    pairs = list(data)
    if not pairs:
        raise InputError("there are no labelled pairs")
    return pairs
