"""Builds `factcheck/text/wordnet.json` from the WordNet 3.0 database (Debian: `wordnet-base`).

    python benchmarks/embedded/wordnet.py --wordnet /usr/share/wordnet

Kept are irregular forms that the English stemmer cannot bring together, pairs of direct antonyms
of which both words are common (wordfreq), and common nouns that end like words for people and are
none (`boiler`). The same database gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import snowballstemmer
import wordfreq

from factcheck.judges.local.tree import ROLE

TARGET = Path(__file__).parents[2] / "factcheck" / "text" / "wordnet.json"
PARTS = ("noun", "verb", "adj", "adv")
COMMON_FORM, COMMON_ANTONYM, COMMON_THING = 2.5, 2.0, 3.0
"""Zipf frequency from which a form, both words of a pair, and a noun are kept."""
PERSON = "18"
"""Number of the lexicographer file of words for people."""
OTHER_WORDS = frozenset(("lay", "wound"))
"""Forms that are another common word, too."""
MORE = """
allow forbid; allow ban; permit ban; approve reject; back oppose; support oppose; found dissolve;
friend enemy; rise drop; climb fall; increase reduce; increase fall; rise decrease; grow shrink;
expand shrink; gain lose; survive die; succeed fail; hire dismiss; hire fire; build demolish;
arrest release; alive dead; profit loss; win lose; import export; near far; close far; send
receive; accelerate slow; appoint dismiss; arrive depart; arrive leave; enter leave; start end;
open shut; raise lower; raise cut; strengthen weaken; improve worsen; agree refuse; confirm deny;
admit deny; praise criticise; praise criticize; love hate; remember forget; up down; before after;
until since; for against; above below; inside outside; over under; more less; with without; most
least; always never; early late; often rarely; upper lower; victory defeat; ally enemy; majority
minority; guilty innocent; safe dangerous; cheap expensive; public private; empty full
"""
"""Pairs that WordNet leaves out."""
WEAK = frozenset(
    ("come go", "other same", "first second", "even uneven", "cash credit", "employee employer")
)
"""Pairs of words that go together more often than they exclude each other."""
_WORD = re.compile(r"[a-z]{2,}")


def irregular_forms(folder: Path) -> dict[str, str]:
    """Irregular forms and their base form, by `verb.exc` and `noun.exc`; verbs win.

    A form that is more common as a word of its own is left out: `ground`, `better`, `offer`.
    """
    stem = snowballstemmer.stemmer("english").stemWord
    zipf = wordfreq.zipf_frequency
    lemmas = {
        line.split()[0]
        for part in PARTS
        for line in (folder / f"index.{part}").read_text("utf-8").splitlines()
    }
    forms = {"men": "man", "people": "person", "teeth": "tooth"}
    for part in ("verb", "noun", "adj"):
        for line in (folder / f"{part}.exc").read_text("utf-8").splitlines():
            form, base = line.split()[:2]
            if not (_WORD.fullmatch(form) and _WORD.fullmatch(base)) or form in forms:
                continue
            own = zipf(form, "en") > zipf(base, "en") + 0.7 if part == "verb" else form in lemmas
            if own or form in OTHER_WORDS or zipf(form, "en") < COMMON_FORM:
                continue
            if stem(form) != stem(base):
                forms[form] = base
    return {form: base for form, base in sorted(forms.items()) if base not in forms}


def antonyms(folder: Path) -> list[str]:
    """Pairs of lemmas that a `!` pointer joins, each once, alphabetically: `acquit convict`."""
    pairs: set[tuple[str, str]] = set()
    for part in PARTS:
        synsets = {}
        for line in (folder / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields = line.partition("|")[0].split()
            n_words = int(fields[3], 16)
            lemmas = [re.sub(r"\(.*", "", fields[4 + 2 * k]).lower() for k in range(n_words)]
            at = 4 + 2 * n_words
            pointers = [fields[at + 1 + 4 * k : at + 5 + 4 * k] for k in range(int(fields[at]))]
            synsets[fields[0]] = (lemmas, pointers)
        for lemmas, pointers in synsets.values():
            for symbol, offset, _, ends in pointers:
                if symbol == "!" and ends != "0000":
                    here, there = (number - 1 for number in bytes.fromhex(ends))
                    one, other = lemmas[here], synsets[offset][0][there]
                    pairs.add((min(one, other), max(one, other)))
    kept = {f"{one} {other}" for one, other in pairs if _is_common(one, other)} - WEAK
    added = {" ".join(sorted(pair.split())) for pair in MORE.split(";")}
    return sorted(kept | added)


def things(folder: Path) -> list[str]:
    """Nouns that end like words for people, and mean none in their two most frequent senses."""
    lines = (folder / "data.noun").read_text("utf-8").splitlines()
    files = {line.split()[0]: line.split()[1] for line in lines if not line.startswith("  ")}
    found = []
    for line in (folder / "index.noun").read_text("utf-8").splitlines():
        word, *fields = line.split()
        if line.startswith("  ") or not _WORD.fullmatch(word) or not ROLE.search(word):
            continue
        n_senses = int(fields[1])
        senses = [files[offset] for offset in fields[-n_senses:]]
        if PERSON not in senses[:2] and wordfreq.zipf_frequency(word, "en") >= COMMON_THING:
            found.append(word)
    return found


def _is_common(one: str, other: str) -> bool:
    return all(
        _WORD.fullmatch(word) and wordfreq.zipf_frequency(word, "en") >= COMMON_ANTONYM
        for word in (one, other)
    )


def main() -> None:
    """Write the file and say how much is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    folder = parser.parse_args().wordnet
    built = {
        "irregular": irregular_forms(folder),
        "antonyms": antonyms(folder),
        "things": things(folder),
    }
    TARGET.write_text(json.dumps(built, indent=0) + "\n", encoding="utf-8")
    print({name: len(entries) for name, entries in built.items()}, TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
