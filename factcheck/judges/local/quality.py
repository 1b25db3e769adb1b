"""Agreement of the embedded judges with human labels, measured by `benchmarks/embedded`."""

from __future__ import annotations

_SETS = ("news summaries", "chatbot answers", "adversarial claims")
"""REALSumm, FactCheckGPT and FM2."""
_MEASURED = {
    "local": ("local/6@d7014c22", (0.838, 0.755, 0.684)),
    "containment": ("containment/3@0.65", (0.821, 0.698, 0.529)),
}
"""Version and balanced accuracy on each of the sets, by judge; 0.5 is chance."""


def quality_of(judge: str) -> str:
    """Describe the balanced accuracy of a judge on human-labelled data sets in one line.

    Args:
        judge: Name and version, as in the score signature; the line says if the figures belong to
            another version.
    """
    measured, values = _MEASURED[judge.partition("/")[0]]
    figures = (f"{value:.2f} on {name}" for name, value in zip(_SETS, values, strict=True))
    version = "" if measured == judge else f" of another version, {measured}:"
    return f"balanced accuracy{version} {', '.join(figures)}"
