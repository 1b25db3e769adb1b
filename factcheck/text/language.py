"""Guess of the language of a text from its script and most common words.

It selects stemmers and function words. It is not full language identification: text in a language
that is not listed counts as English.
"""

from __future__ import annotations

import re
from functools import lru_cache

from factcheck.text.words import fold_word, frequencies, words

DEFAULT = "en"
"""Language guessed without evidence for any."""
_SAMPLE = 4_000
"""Maximum number of characters examined, which bounds the time."""
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]"), 0.1),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), 0.3),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]"), 0.3),
    ("uk", re.compile(r"[іїєґ]"), 0.03),
    ("ru", re.compile(r"[\u0400-\u04ff]"), 0.3),
    ("el", re.compile(r"[\u0370-\u03ff]"), 0.3),
    ("he", re.compile(r"[\u0590-\u05ff]"), 0.3),
    ("fa", re.compile(r"[پچژگیک]"), 0.05),
    ("ar", re.compile(r"[\u0600-\u06ff]"), 0.3),
    ("hi", re.compile(r"[\u0900-\u097f]"), 0.3),
    ("th", re.compile(r"[\u0e00-\u0e7f]"), 0.3),
)
_LETTERS = re.compile(r"[^\W\d_]")
COMMON_WORDS = {
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
_VOTES = {language: frozenset(common.split()) for language, common in COMMON_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")


def guess_language(text: str) -> str:
    """Guess the language of a text.

    Args:
        text: Any text; only the beginning is examined.

    Returns:
        Two-letter code of the language of the dominant script. For Latin script, the language with
        the most common words in the text, unless English knows at least as many of all words, since
        short texts have few function words, some of them in foreign names. Ties go to English
        unless the other language leads by two common words.
    """
    return _guess(text[:_SAMPLE])


@lru_cache(maxsize=4096)
def _guess(text: str) -> str:
    sample = text.lower()
    letters = 0 if sample.isascii() else len(_LETTERS.findall(sample))
    for language, script, share in _SCRIPTS if letters else ():
        if len(script.findall(sample)) >= share * letters:
            return language
    found = set(_WORD.findall(sample))
    votes = {language: len(found & common) for language, common in _VOTES.items()}
    guess = max(votes, key=lambda language: votes[language])
    if guess == DEFAULT:
        return DEFAULT
    written = [word.text for word in words(text) if word.text.isalpha()]
    forms = {fold_word(word) for word in [w for w in written if w.islower()] or written}
    known, in_english = (len(forms & frequencies(each).keys()) for each in (guess, DEFAULT))
    lead = votes[guess] - votes[DEFAULT]
    return DEFAULT if 0 < in_english >= known + (lead > 1) else guess
