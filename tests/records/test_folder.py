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


def test_names_pair_a_source_with_its_summary(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "pairs",
        v1__0__source__txt="Source b.",
        v1__0__summary__txt="Summary b.",
        a__source__txt="Source a.",
        a__summary__txt="Summary a.",
        a__facts__yaml="- text: It is a.\n  must: true\n",
        readme__txt="Nothing to score.",
        __hidden__source__txt="Nothing to score.",
    )

    facts = FactSet((AtomicFact("f1", "It is a.", must=True),))
    assert list(read_records(folder)) == [
        Record("a", "Source a.", "Summary a.", facts, f"{folder}/a.summary.txt"),
        Record("v1.0", "Source b.", "Summary b.", None, f"{folder}/v1.0.summary.txt"),
    ]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"m__source__txt": "S."}, "m.summary.txt does not exist"),
        ({"m__summary__txt": "T."}, "m.source.txt does not exist"),
        (
            {"m__source__txt": "S.", "m__summary__txt": "T."}
            | {"m__facts__txt": "F.", "m__facts__json": "[]"},
            "m.facts.json and m.facts.txt hold the same facts; keep one",
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
