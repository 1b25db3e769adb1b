"""What the README and the pages beside it say of the project is true of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from factcheck.cli import app

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = typer.main.get_command(app)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
)


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def test_files_on_the_way_of_a_score_exist() -> None:
    """A path is given in full once; the next ones in its folder by their name."""
    walk = read("docs/inside.md").split("## Follow one score", 1)[1]
    folder = Path()
    for name in re.findall(r"`([\w/]+\.py)`", walk):
        folder = (ROOT / "factcheck" / name).parent if "/" in name else folder
        assert (folder / Path(name).name).is_file(), name


NOT_OURS = re.compile(r"\binstall (?:-\S+ )*['\"]?factcheck\b|(?<![\w-])factcheck\\?\[[a-z{]")
"""`factcheck` on the package index is another's."""
NOT_THERE = re.compile(
    r"install (?:-\S+ )*['\"]?summary-factcheck(?!\S* @ )|summary-factcheck\\?\[(?!\S+ @ )[a-z{]"
)
"""The distribution is not on the index: only an address installs it."""


def test_nothing_tells_to_install_what_the_index_does_not_have() -> None:
    others = {"CHANGELOG.md", "pyproject.toml"}  # a name of old, and extras that name each other
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name not in others]
    for folder in ("factcheck", "tests", "docs", "benchmarks", ".github"):
        for kind in ("py", "md", "toml", "yaml", "yml", "html", "Dockerfile"):
            files += (ROOT / folder).rglob(f"*{kind}")
    found = {
        str(path.relative_to(ROOT))
        for path in files
        if path != Path(__file__)
        and any(one.search(path.read_text("utf-8")) for one in (NOT_OURS, NOT_THERE))
    }

    assert found == set()


@pytest.mark.parametrize(
    ("page", "named", "folder"),
    [
        ("CONTRIBUTING.md", r"`((?:factcheck|tests|docs|benchmarks)/[\w/]+\.\w+)`", "."),
        ("docs/inside.md", r"^  (\w+(?:/|\.py))", "factcheck"),
    ],
)
def test_files_and_rooms_that_a_page_names_exist(page: str, named: str, folder: str) -> None:
    names = re.findall(named, read(page), re.MULTILINE)

    assert names
    assert [name for name in names if not (ROOT / folder / name).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", read(page))

    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_their_options_exist(page: str) -> None:
    for kind, block in BLOCK.findall(read(page)):
        lines = block if kind in {"", "bash"} else ""
        for line in re.findall(r"^factcheck (.*(?:\n {4,}.*)*)", lines, re.MULTILINE):
            words = line.partition(" # ")[0].split()
            command = COMMANDS
            while words and isinstance(command, typer.core.TyperGroup):
                names = words.pop(0).split("|")
                assert set(names) <= command.commands.keys(), line
                command = command.commands[names[0]]
            known = {option for each in command.params for option in each.opts}
            assert set(re.findall(r"--[a-z-]+", " ".join(words))) <= known, line
