"""What a user may rely on with the embedded judge."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import factcheck
from factcheck.facts import CoverageReport
from tests.processes import printed_by_python

TEXTS = {
    "news": (
        "The old lighthouse at Varn Point was sold on 3 March 2021 for 1.2 million euros. Its new "
        "owner, Petra Holm, wants to open a museum. She has not asked the council yet. The keeper, "
        "who lived there for 30 years, moved to Oslo. Visitors paid 12 euros in 2019; most came "
        "by boat."
    ),
    "list": (
        "# Release notes\n\n- The parser is 3.5 times faster.\n"
        "- Python 3.8 is no longer supported.\n1. See https://example.org/a.b?c=d for details.\n"
        "2. Dr. A. Sun fixed e.g. the U.S. dates."
    ),
    "german": (
        "Die Brücke wurde am 3. Mai eröffnet. Sie kostete z. B. 1,5 Mio. Euro mehr als geplant. "
        "Der Bürgermeister war nicht da."
    ),
    "french": "Le pont a coûté 3,5 millions d'euros. M. Dupont n'était pas là. Il a plu le 4 mai.",
    "spanish": "El puente costó 3,5 millones. La alcaldesa no vino. ¿Cuándo abrirá? Abrió en mayo.",
    "chinese": "大桥于5月3日开通。造价为3.5亿元。市长没有出席。",
    "quotes": '“We lost,” said Ann. "It was 3–2," she added. Nobody smiled.',
}
ENGLISH = ("list", "news", "quotes")
UNRELATED = "Basil grows well in warm kitchens. Water it twice a week. Bees like thyme."


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_keeps_all_of_itself(text: str) -> None:
    report = factcheck.score(text, text)
    assert report.score == 1.0
    assert len(report.facts) >= 3
    assert all(fact.span and text[slice(*fact.span)].strip() for fact in report.facts)


@pytest.mark.parametrize("name", ENGLISH)
def test_an_unrelated_text_keeps_nothing(name: str) -> None:
    assert factcheck.score(TEXTS[name], UNRELATED).score == 0.0


@pytest.mark.parametrize("name", ["german", "chinese"])
def test_other_languages_are_undecided_and_the_report_says_so(name: str) -> None:
    report = factcheck.score(TEXTS[name], UNRELATED)
    assert report.score is None
    assert "the embedded judge reads English" in report.to_markdown()


@settings(max_examples=40)
@given(st.data(), st.sampled_from(ENGLISH), st.permutations(range(8)))
def test_removing_a_sentence_never_raises_the_score(
    data: st.DataObject, name: str, order: list[int]
) -> None:
    source = TEXTS[name]
    facts = factcheck.extract(source)
    pool = [*(fact.text for fact in facts), *UNRELATED.split(". ")]
    sentences = [pool[k % len(pool)] for k in order[: data.draw(st.integers(1, 8))]]
    removed = data.draw(st.integers(0, len(sentences) - 1))
    shorter = sentences[:removed] + sentences[removed + 1 :]

    def scored(summary: list[str]) -> CoverageReport:
        return factcheck.score(source, "\n".join(f"- {line}" for line in summary), facts=facts)

    before, after = scored(sentences), scored(shorter)

    assert before.score is not None
    assert after.score is not None
    assert after.score <= before.score


def test_a_changed_number_is_a_distortion_with_its_evidence() -> None:
    report = factcheck.score(
        "The lighthouse was sold for 12 euros.", "The lighthouse was sold for 21 euros."
    )
    (verdict,) = report.distorted
    assert verdict.evidence is not None
    assert verdict.evidence.quote == "The lighthouse was sold for 21 euros."
    assert "21" in verdict.reason


def test_the_same_input_gives_the_same_bytes_in_every_process() -> None:
    code = (
        "import factcheck;"
        f"print(factcheck.score({TEXTS['news']!r}, {TEXTS['news'][:200]!r}).to_json())"
    )
    one, other = (printed_by_python(code, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert one == other


def test_the_embedded_judge_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FACTCHECK_CACHE", raising=False)
    factcheck.score(TEXTS["news"], UNRELATED)
    assert not [*tmp_path.iterdir()]
