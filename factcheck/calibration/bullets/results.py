"""The rows of a bullet removal, and the figures that follow from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path as FilePath
from statistics import fmean
from typing import Any, TypeVar

from factcheck.calibration.bullets.measures import JudgeMeasures, Path, Point, measure
from factcheck.calibration.bullets.orders import RemovalOrder
from factcheck.calibration.bullets.rows import VariantRow
from factcheck.calibration.bullets.subjects import TRUTH, Subject
from factcheck.errors import InputError
from factcheck.facts import Usage
from factcheck.files import file_errors

T = TypeVar("T")
TEXTS_FILE = "texts.jsonl"
ROWS_FILE = "rows.jsonl"


@dataclass(frozen=True)
class BulletRemoval:
    """What judges made of summaries from which bullets were taken out.

    Only texts and rows are stored; every figure is computed from them.
    """

    subjects: tuple[Subject, ...]
    rows: tuple[VariantRow, ...]
    """One for each judge, text and variant."""

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, in the order in which they were named."""
        return tuple(dict.fromkeys(row.judge for row in self.rows))

    @cached_property
    def _by_variant(self) -> Mapping[tuple[str, str, frozenset[int]], VariantRow]:
        return {(row.judge, row.text, row.kept): row for row in self.rows}

    def row(self, judge: str, text: str, kept: Iterable[int]) -> VariantRow:
        """What a judge made of a text with these bullets, counted from 0.

        Raises:
            KeyError: The variant was not asked for.
        """
        return self._by_variant[judge, text, frozenset(kept)]

    def paths(self, judge: str) -> list[Path]:
        """Every removal order of every text as this judge sees it; `"truth"` for the truth."""
        return [
            Path(subject.name, order.name, tuple(self._points(judge, subject, order)))
            for subject in self.subjects
            for order in subject.orders
            if judge != TRUTH or subject.carriers_from == TRUTH
        ]

    def _points(self, judge: str, subject: Subject, order: RemovalOrder) -> Iterable[Point]:
        for kept in order.kept():
            expected = subject.expected(kept)
            row = None if judge == TRUTH else self.row(judge, subject.name, kept)
            yield Point(
                bullets=len(kept) / len(subject.bullets),
                characters=subject.characters(kept),
                facts=subject.facts_left(kept),
                expected=expected,
                score=expected if row is None else row.score if row.complete else None,
                found=None if row is None else _called_entailed(row, subject, is_there=True),
                invented=None if row is None else _called_entailed(row, subject, is_there=False),
            )

    def measures(self, judge: str) -> JudgeMeasures:
        """The figures of one judge; those of the true scores for `"truth"`."""
        return measure(self.paths(judge))

    def usage(self, judge: str) -> Usage:
        """What the answers of one judge cost."""
        return sum((row.usage for row in self.rows if row.judge == judge), Usage())

    def bullet_effects(self, judge: str, text: str) -> list[float | None]:
        """For each bullet of a text, how much the score falls when it goes, on average over orders.

        `None` for a bullet that no step with two complete answers takes out.
        """
        subject = next(subject for subject in self.subjects if subject.name == text)
        falls: list[list[float]] = [[] for _ in subject.bullets.texts]
        for order in subject.orders:
            points = list(self._points(judge, subject, order))
            for place, bullet in enumerate(order.removed):
                before, now = points[place].score, points[place + 1].score
                if before is not None and now is not None:
                    falls[bullet].append(before - now)
        return [fmean(fall) if fall else None for fall in falls]

    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        return [*_notes_on_texts(self.subjects), *_notes_on_answers(self)]

    def to_dict(self) -> dict[str, Any]:
        """The figures of every judge as JSON-ready data; texts and rows are kept by `save`."""
        names = [*self.judges, *([TRUTH] if self.paths(TRUTH) else [])]
        return {
            "texts": [subject.name for subject in self.subjects],
            "judges": {
                name: {**self.measures(name).to_dict(), "usage": self.usage(name).to_dict()}
                for name in names
            },
            "bullet_effects": {
                judge: {s.name: self.bullet_effects(judge, s.name) for s in self.subjects}
                for judge in self.judges
            },
            "notes": self.notes(),
        }

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the texts and the rows into a folder, which is made if need be.

        Raises:
            InputError: The folder cannot be written.
        """
        place = FilePath(folder)
        with file_errors(str(folder), "write"):
            place.mkdir(parents=True, exist_ok=True)
            _write_lines(place / TEXTS_FILE, (subject.to_dict() for subject in self.subjects))
            _write_lines(place / ROWS_FILE, (row.to_dict() for row in self.rows))

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> BulletRemoval:
        """What `save` wrote.

        Raises:
            InputError: A file is missing, or holds other data; names the line.
        """
        place = FilePath(folder)
        subjects = tuple(_read_lines(place / TEXTS_FILE, Subject.from_dict))
        rows = tuple(_read_lines(place / ROWS_FILE, VariantRow.from_dict))
        found = cls(subjects, rows)
        for judge in found.judges:
            for subject in subjects:
                for kept in subject.variants():
                    if (judge, subject.name, kept) not in found._by_variant:
                        raise InputError(
                            f"{place / ROWS_FILE}: no row of {judge} for {subject.name} with the "
                            f"bullets {sorted(bullet + 1 for bullet in kept)}"
                        )
        return found


def _called_entailed(row: VariantRow, subject: Subject, *, is_there: bool) -> float | None:
    """Share of the facts that are in truth there, or not there, which the judge calls entailed."""
    if subject.carriers is None or subject.carriers_from != TRUTH or not row.complete:
        return None
    labels = [
        label
        for fact, label in row.verdicts.items()
        if subject.carriers[fact].isdisjoint(row.kept) != is_there
    ]
    return labels.count("entailed") / len(labels) if labels else None


def _notes_on_texts(subjects: Iterable[Subject]) -> Iterable[str]:
    for subject in subjects:
        if len(subject.bullets) == 1:
            yield f"{subject.name}: one bullet; there is nothing to take out of it"
        for first, second in subject.repeated():
            yield f"{subject.name}: bullet {second + 1} repeats bullet {first + 1}"
        if subject.carriers_from != TRUTH and subject.carriers is not None:
            yield f"{subject.name}: the bullet of each fact is where {subject.carriers_from} saw it"


def _notes_on_answers(run: BulletRemoval) -> Iterable[str]:
    for judge in run.judges:
        rows = [row for row in run.rows if row.judge == judge]
        missing = [row for row in rows if not row.complete]
        if missing:
            low, high = fmean(row.low for row in rows), fmean(row.high for row in rows)
            why = next((row.note for row in missing if row.note), "no reason given")
            yield (
                f"{judge}: {len(missing)} of {len(rows)} variants lack an answer and count in no "
                f"figure; the mean score of all is between {low:.3f} and {high:.3f} ({why})"
            )


def _write_lines(path: FilePath, items: Iterable[Mapping[str, Any]]) -> None:
    lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    path.write_text("".join(lines), encoding="utf-8")


def _read_lines(path: FilePath, read: Callable[[Any], T]) -> Iterable[T]:
    with file_errors(str(path), "read"):
        text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield read(json.loads(line))
        except (ValueError, InputError) as error:
            raise InputError(f"{path}, line {number}: {error}") from None
