"""Comparison of two reports of one metric over the same cases."""

from __future__ import annotations

from factcheck.errors import InputError
from factcheck.metrics.report import MetricReport
from factcheck.reports.comparison import Change, RunComparison
from factcheck.reports.page import Alert
from factcheck.reports.text import p_text, plural, quote_text, signed, some_of
from factcheck.stats.comparison import Change as ScoreChange
from factcheck.stats.comparison import Comparison, compare_means, split_changes

_IGNORED = {"version"}


def compare_runs(
    a: MetricReport, b: MetricReport, *, names: tuple[str, str] = ("", "")
) -> RunComparison:
    """Compare two reports over the cases that have a score in both.

    Cases are paired by id. The difference of the means is tested by paired randomization.

    Args:
        a: Baseline.
        b: The report to compare with it; its gains are positive.
        names: Display names of the reports.

    Raises:
        InputError: The reports are of different kinds, have no scored case in common, or were
            evaluated with different expectations.
    """
    if type(a) is not type(b) or not isinstance(a, MetricReport):
        raise InputError(
            f"both runs must be of one kind, not {type(a).__name__} and {type(b).__name__}"
        )
    of_a, of_b = a.scores, b.scores
    scored = {**of_a, **of_b}
    common = [name for name in of_a if name in of_b]
    if not common:
        ids = f"run a ({some_of([*of_a])}) is in run b ({some_of([*of_b])})"
        raise InputError(f"no scored case of {ids}")
    if differing := [name for name in common if a.digests.get(name) != b.digests.get(name)]:
        raise InputError(
            f"runs a and b have different expectations in {len(differing)} of "
            f"{plural(len(common), 'case')} ({some_of(differing)}); "
            "evaluate both with the same ones"
        )
    main = compare_means((name, of_a[name], of_b[name]) for name in common)
    moved = split_changes(ScoreChange(name, of_a[name], of_b[name]) for name in common)
    groups = {"Lost": moved.worse, "Won": moved.better, "Unchanged": moved.unchanged}
    settings = a.signature.changes(b.signature)
    alerts = (
        f"{name} is {one} in run a and {other} in run b"
        for name, (one, other) in settings.items()
        if name not in _IGNORED
    )
    worse = ""
    if main.difference < 0 and main.is_significant:
        worse = f"{a.title} {signed(main.difference)}, p {p_text(main.p or 0.0)}"
    return RunComparison(
        noun="case",
        metric=a.title,
        main=main,
        basis=f"by case ({plural(len(common), 'case')})",
        changes=tuple(
            Change.of_scores(group, str(name), Comparison(x, y, y - x))
            for group, some in groups.items()
            for name, x, y in some
        ),
        counts={"p_sign_test": moved.p_value},
        left_out={
            "Only A has a score": tuple(name for name in of_a if name not in of_b),
            "Only B has a score": tuple(name for name in of_b if name not in of_a),
            "No score in either run": tuple(
                name for name in {**a.results, **b.results} if name not in scored
            ),
        },
        alerts=tuple(Alert(quote_text(text), "warn") for text in alerts),
        worse=worse,
        names=names,
    )
