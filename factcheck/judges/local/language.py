"""Which language a text is in, guessed from its script and its most common words.

The guess chooses stemmers, stop words and abbreviations. It is no language identification: a few
words in a language that is not listed count as English.
"""

from __future__ import annotations

import re

DEFAULT = "en"
"""What is guessed where nothing speaks for any language."""

_SAMPLE = 20_000
"""Characters looked at; enough for any guess, and a bound on the time for one."""
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN_WORDS = re.compile(r"[a-zà-öø-ÿœı]+")
_COMMON = {
    "en": "a the of and to in is was that for it with as his he be on by at are this had not which "
    "but from they have were their been has she you an or we will would who its said after",
    "de": "der die das und den von zu mit sich des dem ist im für nicht ein eine als auch es an "
    "werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so "
    "zum war haben nur oder aber vor zur bis mehr durch man wurde ich wir",
    "fr": "le la les de des du et en un une est que qui dans pour pas au aux sur par plus ne se ce "
    "il elle sont avec son sa ses cette ces mais ou été ont être nous vous leur comme était "
    "je",
    "es": "el la los las de del que y en un una es por con no para su al lo se como más pero sus "
    "le ha este sí porque esta entre cuando muy sin sobre también me hasta hay donde fue son "
    "está",
    "it": "il lo la i gli le di del della dei e che in un una è per con non da si al alla sono nel "
    "nella come più ma anche ha dal dalla questo questa ed sul suo sua essere ci era hanno",
    "pt": "o a os as de do da dos das e que em um uma é por com não para se na no nas nos ao à "
    "mais mas foi como seu sua ou ele ela são também pelo pela até isso está entre era muito",
    "nl": "de het een en van ik te dat die in is niet op aan met als voor zijn er maar om hem dan "
    "zou wat mijn ze wordt werd bij ook door naar uit nog heeft hebben kan deze over tot",
    "sv": "och att det som en på är av för med den till inte han har ett om hade de jag var men "
    "sig från vi så kan hon när år under också efter eller nu sin där vid mot ska skulle",
}
LATIN = frozenset(_COMMON)
"""Languages told apart by their words alone."""
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _listed in _COMMON.items():
    for _word in _listed.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_language)


def guess_language(text: str) -> str:
    """ISO 639-1 code of the language a text seems to be in; `"en"` where nothing tells.

    Args:
        text: Any text; only its beginning is looked at.

    Returns:
        The language of the prevailing script, or for the Latin script the one whose common words
        occur most often. Ties go to English, then to the language listed first.
    """
    sample = text[:_SAMPLE].lower()
    if not sample.isascii():
        letters = len(_LETTERS.findall(sample))
        for language, script in _SCRIPTS:
            share = 0.1 if language == "ja" else 0.3
            if letters and len(script.findall(sample)) >= share * letters:
                return language
    votes = dict.fromkeys(_COMMON, 0)
    for word in _LATIN_WORDS.findall(sample):
        for language in _LANGUAGES_OF.get(word, ()):
            votes[language] += 1
    return max(votes, key=lambda language: votes[language])
