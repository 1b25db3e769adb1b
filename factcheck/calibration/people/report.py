"""What a comparison of judges with people says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factcheck.calibration.people.coverage import DocumentsNeeded
from factcheck.calibration.people.measures import Bin, Figure

FIGURES = (
    "balanced_accuracy",
    "sensitivity",
    "specificity",
    "baseline_accuracy",
    "over_baseline",
    "kappa",
    "auroc",
    "tuned_accuracy",
    "calibration_error",
    "pearson",
    "kendall",
    "coverage",
    "human_coverage",
    "corrected_coverage",
    "held_out_human_coverage",
)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How one judge agrees with people."""

    judge: str
    figures: Mapping[str, Figure]
    """By the names in `FIGURES`:

    - `balanced_accuracy`, `sensitivity`, `specificity`, `kappa`: of its verdicts.
    - `baseline_accuracy`: the balanced accuracy of word containment on the same pairs;
      `over_baseline`: by how much the judge is above it.
    - `auroc`, `calibration_error`: of its probabilities. `tuned_accuracy`: the balanced accuracy
      with the threshold of each half of the documents chosen on the other half.
    - `pearson`, `kendall`: mean over documents of the correlation with people's coverage, over the
      systems of a document.
    - `coverage`, `human_coverage`: the mean coverage of all documents. `corrected_coverage`:
      that of one half of the documents, corrected for the error rates on the other half
      (Rogan-Gladen), to be held against `held_out_human_coverage`, of the same half.
    """
    n_documents: int
    n_pairs: int
    """Pairs with a label and a verdict."""
    n_undecided: int
    """Pairs with a label on which the judge gave no verdict; outside of every figure."""
    thresholds: tuple[float, ...]
    """The two thresholds behind `tuned_accuracy`; empty without probabilities."""
    curve: tuple[Bin, ...]
    """The calibration curve; empty without probabilities."""
    needed: DocumentsNeeded
    n_correlated: int = 0
    """Documents that `pearson` and `kendall` rest on: those with three texts or more."""
    failure: str = ""
    """Why verdicts are missing, the first time."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "judge": self.judge,
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "undecided": self.n_undecided,
            "figures": {
                name: {
                    "value": figure.value,
                    "interval": figure.interval and [*figure.interval],
                    **({"why": figure.why} if figure.why else {}),
                }
                for name, figure in self.figures.items()
            },
            "thresholds": list(self.thresholds),
            "calibration_curve": [one._asdict() for one in self.curve],
            "correlated_documents": self.n_correlated,
            "documents_needed": self.needed._asdict(),
            "failure": self.failure,
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """How judges agree with people, on the same labelled pairs."""

    judges: tuple[JudgeAgreement, ...]
    """In the order in which they were named; recorded ones after them, the baseline last."""
    n_documents: int
    n_pairs: int
    share_entailed: float
    """Share of the pairs that people call entailed."""
    n_unmatched: int = 0
    """Recorded verdicts of which no labelled pair has the same document, text and fact."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "share_entailed": self.share_entailed,
            "unmatched_recorded": self.n_unmatched,
            "judges": [judge.to_dict() for judge in self.judges],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)
