"""What the commands on keywords and references print, and what stands in their way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from factcheck.cli import gate, output
from factcheck.cli.options import Format
from factcheck.errors import InputError

if TYPE_CHECKING:
    from factcheck.reports.pages.model import Page

_BY_SUFFIX = {
    ".json": Format.JSON,
    ".md": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xml": Format.JUNIT,
}
_WIDEST = 120
_MOST_WARNINGS = 20
_ROUNDING = 1e-9


class Shown(NamedTuple):
    """A report, ready to be shown."""

    page: Page
    json: Callable[[], str]
    junit: Callable[[], str]
    warnings: Sequence[str] = ()
    """What is told on standard error, too, where the report is not printed for reading."""


def show(shown: Shown, chosen: Format | None, out: str | None) -> None:
    """Print a report, or write it to `out` and print its first line."""
    made = chosen or _BY_SUFFIX.get(Path(out or "").suffix.lower(), Format.TABLE)
    to_file = out is not None and out != "-"
    if to_file or made not in {Format.TABLE, Format.MARKDOWN}:
        _tell(shown.warnings)
    if not to_file:
        output.print_out(_printed(shown, made))
        return
    from factcheck.files import write_text

    try:
        write_text(str(out), _text(shown, made))
    except InputError:
        output.print_out(_text(shown, Format.TABLE))
        raise
    output.print_out(f"{shown.page.first_line}   {out}")


def number_pairs(pairs: Sequence[str], option: str) -> dict[str, float]:
    """Names with numbers, from `NAME=NUMBER`.

    Raises:
        InputError: One has another shape, or a name is there twice.
    """
    texts = text_pairs(pairs, option)
    return {name: _number(text, f"{option} {name}={text}") for name, text in texts.items()}


def text_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Names with values, from `NAME=VALUE`.

    Raises:
        InputError: One has another shape, or a name is there twice.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = (part.strip() for part in pair.rpartition("="))
        if not (name and sign and value):
            raise InputError(f"{option} {pair!r}: write it as NAME=VALUE")
        if name in found:
            raise InputError(f"{option}: {name!r} is there twice; give it one value")
        found[name] = value
    return found


def check_examples(examples: int) -> None:
    """Refuse a number of examples that makes no sense.

    Raises:
        InputError: Below 0.
    """
    if examples < 0:
        raise InputError(f"--examples is {examples}; give a number from 0")


def failure(
    name: str,
    score: float | None,
    threshold: float | None,
    errored: Sequence[tuple[str, str]],
) -> gate.GateFailure | None:
    """Why a run did not end well, or `None`. An errored case never helps to pass.

    Args:
        name: What the score is called.
        score: The score of the other cases; `None` if there are none.
        threshold: What it must reach; `None`: anything will do.
        errored: The ids of the errored cases, each with what is wrong.
    """
    first = f"{errored[0][0]}: {errored[0][1]}" if errored else ""
    if score is None:
        return gate.GateFailure(gate.NOTHING_DECIDED, f"no case could be scored ({first})")
    if threshold is None:
        return None
    reasons = []
    if score < threshold - _ROUNDING:
        reasons.append(f"{name} {below_text(score, threshold)} is under {threshold:g}")
    if errored:
        noun = "case is" if len(errored) == 1 else "cases are"
        reasons.append(f"{len(errored):,} {noun} errored ({first})")
    if not reasons:
        return None
    return gate.GateFailure(gate.GATE_FAILED, f"gate failed: {'; '.join(reasons)}")


def below_text(score: float, threshold: float) -> str:
    """A score with three decimals, or as many as it takes to see that it is below."""
    text = f"{score:.3f}"
    return repr(score) if score < threshold <= float(text) else text


@contextmanager
def quiet_log() -> Iterator[None]:
    """What is logged in a `with` block is not printed: the report says it."""
    log = logging.getLogger("factcheck.keywords")
    handler = logging.NullHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{where}: {text!r} is no number") from None


def _tell(warnings: Sequence[str]) -> None:
    for message in warnings[:_MOST_WARNINGS]:
        output.complain(f"warning: {message}")
    if len(warnings) > _MOST_WARNINGS:
        output.complain(f"warning: {len(warnings) - _MOST_WARNINGS:,} others of this kind")


def _text(shown: Shown, made: Format) -> str:
    if made is Format.JSON:
        return f"{shown.json()}\n"
    if made is Format.JUNIT:
        return shown.junit()
    if made is Format.MARKDOWN:
        from factcheck.reports.pages.markdown import render_markdown

        return render_markdown(shown.page)
    if made is Format.HTML:
        from factcheck.reports.pages.html import render_html

        return render_html(shown.page)
    from factcheck.reports.fields_table import plain
    from factcheck.reports.pages.table import render

    return f"{plain(render(shown.page))}\n"


def _printed(shown: Shown, made: Format) -> str:
    if made is not Format.TABLE:
        return _text(shown, made)
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        return _text(shown, made)
    from factcheck.reports.pages.table import render

    console.width = min(console.width, _WIDEST)
    with console.capture() as capture:
        console.print(render(shown.page), crop=False)
    return capture.get()
