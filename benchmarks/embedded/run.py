"""Measures the embedded judge beside what it has to beat: all figures of the model card.

    python -m benchmarks.embedded.run ../shared/data [--features FILE]

Stemmed containment has a threshold chosen on REALSumm. The first five sets have a part in the fit
of the coefficients: for them the judge's figures are cross-validated by document or family. The two
lines below them have the shipped coefficients, with and without the conflicts of `conflicts.md`.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.stats import kendalltau

from benchmarks.embedded.cases import FITTED, UNTOUCHED, Case
from benchmarks.embedded.fit import (
    FloatArray,
    Measured,
    cross_validate,
    figures,
    load_or_measure,
    score,
)
from benchmarks.embedded.own_texts import long_pairs, minimal_pairs, texts
from factcheck.facts import AtomicFact, Verdict
from factcheck.facts.coverage import Share, share_entailed
from factcheck.judges.local.checker import check_facts
from factcheck.judges.local.extractor import extract_facts
from factcheck.judges.local.model import load_model
from factcheck.text.words import content_stems


def containment(cases: Sequence[Case]) -> FloatArray:
    """Share of the stemmed content words of each fact that its text has."""
    shares = []
    for case in cases:
        fact = content_stems(case.fact, "en")
        shares.append(len(fact & content_stems(case.text, "en")) / max(1, len(fact)))
    return np.array(shares)


def row(name: str, values: Sequence[float | None]) -> str:
    cells = ("       -" if v is None or np.isnan(v) else f"{v:8.3f}" for v in values)
    return f"  {name:22}{''.join(cells)}"


def table(measured: dict[str, list[Measured]]) -> None:
    """Each set by each judge."""
    model = load_model()
    weights = np.array([model.bias, *model.weights])
    together = [each for name in FITTED for each in measured[name]]
    crossed = cross_validate(together)
    news = measured["realsumm"]
    shares = containment([each.case for each in news])
    thresholds = np.unique(shares).tolist()
    least = max(thresholds, key=lambda least: figures(news, shares - least)[1] or 0.0)
    print(f"{'':24}    bAcc   found refused   AUROC       r")
    for name in (*FITTED, *UNTOUCHED):
        own = measured[name]
        if name in FITTED:
            odds = crossed[[each.case.dataset == name for each in together]]
        else:
            odds = np.array([score(weights, each) for each in own])
        print(f"{name} ({len(own):,})")
        contained = containment([each.case for each in own]) - least
        print(row("stemmed containment", figures(own, contained)[1:]))
        print(row("embedded judge", figures(own, odds)[1:]))
        free = [m._replace(in_conflict=[[False] * len(d) for d in m.in_conflict]) for m in own]
        for what, some in (("not cross-validated", own), ("without conflicts", free)):
            odds = np.array([score(weights, each) for each in some])
            print(row(f"  {what}", figures(some, odds)[1:]))


def coverage(facts: Sequence[AtomicFact], text: str) -> Share:
    return share_entailed(check_facts(facts, text))


def own_texts() -> None:
    """Coverage of the own texts: errors, order under removal, intervals, own facts."""
    errors, taus, inside, own, hand, truths = [], [], 0, [], [], []
    for text in texts():
        facts = list(text.facts)
        scores, true = [], []
        for n_kept in range(len(text.bullets) + 1):
            found = coverage(facts, text.bullets.kept(range(n_kept)))
            scores.append(found.value or 0.0)
            true.append(text.facts_left(range(n_kept)) or 0.0)
        found = coverage(facts, text.summary)
        truth = true[-1]
        errors.append(abs((found.value or 0.0) - truth))
        taus.append(kendalltau(scores, true).statistic)
        if found.interval:
            inside += found.interval.low <= truth <= found.interval.high
        own.append(coverage(extract_facts(text.source).facts, text.summary).value or 0.0)
        hand.append(found.value or 0.0)
        truths.append(truth)
    print(
        f"own texts ({len(errors)}): mean error of the coverage {fmean(errors):.3f}, Kendall over"
    )
    print(f"  removal {np.nanmean(taus):.3f}, truth inside the interval {inside} of {len(errors)}")
    print(f"  mean score: true {fmean(truths):.3f}, hand-written facts {fmean(hand):.3f}, ", end="")
    print(f"own facts {fmean(own):.3f}")


def reports(news: Sequence[Case]) -> None:
    """The figures of `factcheck/facts/coverage.py`: facts called contradicted."""
    outcomes: Counter[tuple[str, str]] = Counter()
    for text in texts():
        results = check_facts(list(text.facts), text.summary)
        for fact, result in zip(text.facts, results, strict=True):
            is_kept = text.carriers[fact.id]
            truth = "kept" if is_kept else "distorted" if text.distorted[fact.id] else "dropped"
            outcomes[truth, result.status] += 1
    kept = {"kept": outcomes["kept", "distorted"], "all": called(outcomes)}
    for pair in long_pairs():
        facts = [AtomicFact(id_, fact) for id_, fact in pair.facts.items()]
        for summary in (pair.good, pair.lying):
            for result in check_facts(facts, summary.text):
                if result.status == "distorted":
                    kept["all"] += 1
                    kept["kept"] += result.fact.id in summary.entails
    truths = ("kept", "distorted", "dropped")
    sizes = {truth: sum(n for (one, _), n in outcomes.items() if one == truth) for truth in truths}
    noticed = outcomes["dropped", "dropped"] + outcomes["dropped", "distorted"]
    print(f"called distorted on own texts: {kept['all']}, of which kept {kept['kept']}")
    print(
        f"  dropped facts noticed: {noticed} of {sizes['dropped']}, distorted ones called so: ",
        end="",
    )
    print(
        f"{outcomes['distorted', 'distorted']} of {sizes['distorted']}, kept ones called dropped: ",
        end="",
    )
    print(f"{outcomes['kept', 'dropped']} of {sizes['kept']}")
    denied: Counter[float] = Counter()
    for case in news:
        (result,) = check_facts([AtomicFact("f", case.fact)], case.text)
        denied[case.label] += result.status == "distorted"
    print(f"called distorted on news: kept {denied[1.0]}, not kept {denied[0.0]}")


def called(outcomes: Counter[tuple[str, str]]) -> int:
    """Number of facts called distorted."""
    return sum(n for (_, status), n in outcomes.items() if status == "distorted")


def minimal() -> None:
    """What becomes of the minimal pairs: true ones kept, false ones let through or denied."""
    kept: Counter[tuple[str, bool]] = Counter()
    total: Counter[tuple[str, bool]] = Counter()
    denied: Counter[bool] = Counter()
    for pair in minimal_pairs():
        for statement, is_true in ((pair.entailed, True), (pair.not_entailed, False)):
            (result,) = check_facts([AtomicFact("f", statement)], pair.premise)
            total[pair.kind, is_true] += 1
            kept[pair.kind, is_true] += isinstance(result, Verdict) and result.supported
            if not is_true and pair.kind != "added_detail":
                denied[isinstance(result, Verdict) and result.label == "contradicted"] += 1
    print(f"{'minimal pairs':24}  found  passed   ({denied[True]} of {denied.total()} denied)")
    for kind in sorted({kind for kind, _ in total}):
        shares = [kept[kind, truth] / total[kind, truth] for truth in (True, False)]
        print(f"  {kind:22}{shares[0]:7.2f}{shares[1]:8.2f}")


def speed() -> None:
    """Verdicts a second of one thread: 12 to 14 facts against 200 to 260 words."""
    seconds = []
    for one, other in zip(texts()[::2], texts()[1::2], strict=True):
        facts = list(one.facts)
        start = time.process_time()
        check_facts(facts, one.source)
        middle = time.process_time()
        check_facts(facts, other.source)
        seconds.append(((middle - start) / len(facts), (time.process_time() - middle) / len(facts)))
    first, second = np.median(np.array(seconds), axis=0).tolist()
    print(f"verdicts a second: {1 / first:.0f}, the next text of the same facts {1 / second:.0f}")
    print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--features", type=Path, help="numbers of all cases, kept by `fit`")
    arguments = parser.parse_args()
    check_facts([AtomicFact("f", "Boats came.")], "Boats left.")
    speed()
    measured = load_or_measure(arguments.data, arguments.features)
    table(measured)
    reports([each.case for each in measured["realsumm"]])
    minimal()
    own_texts()


if __name__ == "__main__":
    main()
