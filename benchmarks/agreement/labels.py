"""How near labels of a few documents come to the human level, with and without a judge's help.

    python -m benchmarks.agreement.labels --data DIR     # or FACTCHECK_DATA=DIR; --judge NAME

Documents are drawn with replacement, 2,000 times; people label all facts of the first few of them,
and the judge answers for all. Estimates are held against the human level of the 20 documents that
are drawn from. In the last row two summaries of each of the 20 are labelled, which leaves only
those to chance: its interval, which is for other documents too, must hold more often.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.agreement.replies import read_labelled
from benchmarks.agreement.run import data_and_judges
from factcheck.calibration.agreement import check_pairs
from factcheck.scoring import FactCoverage
from factcheck.stats.intervals import Cluster, powered_mean, t_95

N_RESAMPLES = 2000
SIZES = ((10, 20), (14, 20), (10, 100), (14, 100), (20, 100))
"""Labelled documents, and all."""
N_TEXTS = 2


class Document(NamedTuple):
    """What people and the judge say of the texts of a document."""

    texts: Any
    """By text the shares of facts that both accept, people only, the judge only, and neither."""

    @property
    def shares(self) -> Any:
        """The means over its texts."""
        return self.texts.mean(axis=0)


class Drawn(NamedTuple):
    """Of one resample: what is estimated, and from what."""

    labelled: Any
    """Shares as in `Document`, by labelled documents."""
    predictions: Any
    """The judge's level of every document, the labelled ones first."""
    truth: float


def main() -> None:
    """Measure and print."""
    data, judges = data_and_judges(str(__doc__), "repeatable")
    for judge in judges or ["local-fast", "local"]:
        documents = asyncio.run(judged(data, judge))
        levels = np.array(
            [(one.shares[[0, 1]].sum(), one.shares[[0, 2]].sum()) for one in documents]
        )
        r = np.corrcoef(levels.T)[0, 1]
        print(
            f"{judge}: human level {levels.mean(axis=0)[0]:.3f}, correlation of documents {r:.2f}"
        )
        print("  labelled          coverage  alone   RMSE   labels alone  ratio  weight")
        for n, n_all in SIZES:
            show(f"{n} of {n_all} documents", by_documents(documents, n, n_all))
        show(f"{N_TEXTS * len(documents)} summaries", by_texts(documents))


async def judged(data: Path, judge: str) -> list[Document]:
    """The documents with the answers of a judge; an undecided fact counts half."""
    pairs = list(read_labelled(data))
    async with FactCoverage(judge) as scorer:
        answers = await check_pairs(scorer, pairs)
    found: dict[str, dict[tuple[str, str], list[Any]]] = defaultdict(lambda: defaultdict(list))
    for pair, answer in zip(pairs, answers, strict=True):
        yes, says = (
            float(bool(pair.label)),
            0.5 if answer.entailed is None else float(answer.entailed),
        )
        row = (yes * says, yes * (1 - says), (1 - yes) * says, (1 - yes) * (1 - says))
        found[pair.document][pair.system, pair.text].append(row)
    return [
        Document(np.array([np.mean(rows, axis=0) for rows in texts.values()]))
        for texts in found.values()
    ]


def by_documents(documents: Sequence[Document], n: int, n_all: int) -> list[Drawn]:
    shares = np.array([one.shares for one in documents])
    truth, rng, found = float(shares[:, :2].sum(axis=1).mean()), np.random.default_rng(0), []
    for _ in range(N_RESAMPLES):
        drawn = shares[rng.integers(0, len(shares), n_all)]
        found.append(Drawn(drawn[:n], drawn[:, 0] + drawn[:, 2], truth))
    return found


def by_texts(documents: Sequence[Document]) -> list[Drawn]:
    shares = np.array([one.shares for one in documents])
    truth, rng, found = float(shares[:, :2].sum(axis=1).mean()), np.random.default_rng(0), []
    for _ in range(N_RESAMPLES):
        chosen = [rng.choice(one.texts, N_TEXTS, replace=False).mean(axis=0) for one in documents]
        found.append(Drawn(np.array(chosen), shares[:, 0] + shares[:, 2], truth))
    return found


def show(name: str, resamples: Sequence[Drawn]) -> None:
    rows = []
    for labelled, predictions, truth in resamples:
        labels, there = labelled[:, :2].sum(axis=1), labelled[:, 0] + labelled[:, 2]
        own = [Cluster(*three) for three in zip(predictions, labels, there, strict=False)]
        rest = [Cluster(one) for one in predictions[len(own) :]]
        (value, interval, _), weight = powered_mean([*own, *rest])
        low, high = interval or (np.nan, np.nan)
        half = t_95(len(own) - 1) * labels.std(ddof=1) / np.sqrt(len(own))
        errors = np.array([value, labels.mean()], dtype=float)
        is_held = low <= truth <= high, abs(labels.mean() - truth) <= half
        rows.append((*is_held, *np.square(errors - truth), weight))
    held, alone, *squares, weight = np.nanmean(rows, axis=0)
    rmse = np.sqrt(squares)
    print(
        f"  {name:<18}{held:7.3f}{alone:8.3f}{rmse[0]:9.4f}{rmse[1]:12.4f}"
        f"{rmse[0] / rmse[1]:9.2f}{weight:8.2f}"
    )


if __name__ == "__main__":
    main()
