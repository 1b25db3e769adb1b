"""The review page in headless Chromium: one key a verdict, and labels that the command reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from factcheck.calibration import LabelledPair, read_pairs
from factcheck.calibration.agreement_labels import Answer
from factcheck.calibration.review import render

NASTY = "The lake </script><script>document.title='owned'</script> froze \u202ein 1903."
ROWS = [
    LabelledPair(
        str(n % 4), "", f"Text {n % 4}.\nThe lake froze.", NASTY if n == 5 else f"Fact {n}"
    )
    for n in range(20)
]
ANSWERS = [Answer(None) if n < 4 else Answer(entailed=True, probability=0.99) for n in range(20)]


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def count(page: Any) -> str:
    return str(page.locator("#count").inner_text())


def test_one_key_a_verdict_and_the_command_reads_what_is_saved(tab: Any, tmp_path: Path) -> None:
    page = tab(render(ROWS, ANSWERS))
    keys = ["1", "k", "2", "x", "3", "d", "2", "u", "1", "Backspace", "1", *"112211221122", "1"]
    press(page, *keys)
    assert count(page) == "20 of 20 seen, 18 labelled"
    assert len(keys) <= 1.2 * 20
    assert page.title() == "Review of facts"
    with page.expect_download() as saved:
        press(page, "s")
    data, labels = tmp_path / "data.jsonl", tmp_path / "labels.jsonl"
    saved.value.save_as(labels)
    data.write_text("".join(json.dumps(row._asdict()) + "\n" for row in ROWS), "utf-8")
    found = read_pairs(data, labels)
    assert [pair._replace(label=None, chance=1.0) for pair in found] == ROWS
    assert sum(pair.label is None for pair in found) == 2
    assert sum(pair.label is True for pair in found) == keys_for(True, keys)
    assert {pair.chance for pair in found} == {1.0}


def keys_for(label: bool, keys: list[str]) -> int:  # noqa: FBT001 - a label
    """How many labels are left after each undo."""
    given: list[bool | None] = []
    for key in keys:
        if key in ("u", "Backspace"):
            given.pop()
        else:
            given.append({"1": True, "k": True, "2": False, "x": False}.get(key))
    return given.count(label)


def test_labels_are_kept_and_chances_saved(tab: Any, tmp_path: Path) -> None:
    html = render(ROWS, ANSWERS)
    page = tab(html)
    seen = []
    for _ in range(4):
        seen.append(page.locator("#text").inner_text().split("\n")[0])
        press(page, "1")
    assert sorted(seen) == [f"Text {n}." for n in range(4)]
    page.reload()
    assert count(page) == "4 of 20 seen, 4 labelled"
    page.get_by_role("button", name="cannot tell").click()
    assert count(page) == "5 of 20 seen, 4 labelled"
    with page.expect_download() as saved:
        page.get_by_role("button", name="save").click()
    saved.value.save_as(tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert len(rows) == 4
    assert all(0 < row["chance"] < 1 and row["label"] is True for row in rows)


def test_what_a_fact_holds_is_shown_and_never_run(tab: Any) -> None:
    page = tab(render(ROWS[5:6], ANSWERS[5:6]), color_scheme="dark")
    assert r"</script><script>document.title='owned'</script> froze \u202ein 1903." in (
        page.locator("#fact").inner_text()
    )
    assert page.title() == "Review of facts"
    assert page.locator("#text mark").all_inner_texts() == ["lake", "froze"]
    press(page, "x")
    assert page.locator("#fact").inner_text().startswith("Done")
    press(page, "x", "q")
    assert count(page) == "1 of 1 seen, 1 labelled"


def test_labels_that_are_there_are_filled_in(tab: Any) -> None:
    rows = [row._replace(label=n == 0) if n < 2 else row for n, row in enumerate(ROWS)]
    page = tab(render(rows, ANSWERS), viewport={"width": 390, "height": 800})
    assert count(page) == "2 of 20 seen, 2 labelled"
