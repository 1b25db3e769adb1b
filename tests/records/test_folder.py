"""Reading records from a folder of texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.records import Record
from factcheck.records.reading import read_records
from tests.records.test_reading import problem_in


def fill(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text, "utf-8")
    return folder


def test_names_pair_a_source_with_its_summaries(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "pairs",
        v1__0__source__md="Source b.",
        v1__0__summary__txt="Summary b.",
        a__summary__long__txt="Long.",
        a__source__txt="Source a.",
        a__summary__brief_v1__2__md="Brief.",
        a__facts__yaml="- text: It is a.\n  must: true\n",
        readme__txt="Nothing to score.",
        __hidden__source__txt="Nothing to score.",
    )
    (folder / "c.source.txt").mkdir()

    facts = FactSet((AtomicFact("f1", "It is a.", must=True),))
    assert list(read_records(folder)) == [
        Record("a/brief_v1.2", "Source a.", "Brief.", facts, f"{folder}/a.summary.brief_v1.2.md"),
        Record("a/long", "Source a.", "Long.", facts, f"{folder}/a.summary.long.txt"),
        Record("v1.0", "Source b.", "Summary b.", None, str(folder / "v1.0.summary.txt")),
    ]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"m__source__txt": "S."}, "m.source.txt: there is no m.summary.txt beside it"),
        ({"m__summary__txt": "T."}, "m.summary.txt: there is no m.source.txt beside it"),
        ({"m__facts__txt": "F."}, "m.facts.txt: there is no m.summary.txt beside it"),
        (
            {"m__source__txt": "S.", "m__source__md": "S.", "m__summary__txt": "T."},
            "m.source.md and m.source.txt stand for the same text",
        ),
        (
            {"m__source__txt": "S.", "m__summary__md": "T.", "m__summary__txt": "T."},
            "m.summary.md and m.summary.txt stand for the same text",
        ),
        (
            {"m__source__txt": "S.", "m__summary__txt": "T.", "m__facts__txt": "# none"},
            "m.facts.txt holds no facts",
        ),
        ({"m__source__txt": "S\0.", "m__summary__txt": "T."}, "m.source.txt, line 1: not a text"),
    ],
)
def test_what_does_not_pair_is_an_error_of_that_record(
    tmp_path: Path, texts: dict[str, str], message: str
) -> None:
    folder = fill(
        tmp_path / "pairs",
        a__source__txt="S.",
        a__summary__txt="T.",
        z__source__txt="S.",
        z__summary__txt="T.",
        **texts,
    )
    errors: list[InputError] = []

    assert message in problem_in(folder)
    records = list(read_records(folder, skip_bad=errors.append))

    assert [record.id for record in records] == ["a", "z"]
    assert len(errors) == 1


def test_a_folder_without_pairs_is_an_error(tmp_path: Path) -> None:
    folder = fill(tmp_path / "pairs", readme__txt="Nothing to score.")

    assert problem_in(folder) == (
        f"{folder} holds no records: no NAME.source.txt with NAME.summary.txt"
    )
