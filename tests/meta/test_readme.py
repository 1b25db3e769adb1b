"""What the README says of the project is true of it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_files_on_the_way_of_a_score_exist() -> None:
    """A path is given in full once; the next ones in its folder by their name."""
    walk = README.split("### Follow one score", 1)[1]
    folder = Path()
    for name in re.findall(r"`([\w/]+\.py)`", walk):
        folder = (ROOT / "factcheck" / name).parent if "/" in name else folder
        assert (folder / Path(name).name).is_file(), name


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
